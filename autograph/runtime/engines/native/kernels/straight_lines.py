"""Statements on small arrays, one after the other, that become one piece of machine code, as a loop does.

A kernel takes half a microsecond to get its arguments, however small the arrays are, and NumPy at least as long for
each operation. So where several of them would follow each other, or NumPy would compute something alone, as in

    lap[1:] = a * x[:-1]
    lap[:-1] += a * x[1:]

their nodes become the block of an `if True:`, which is a region.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from autograph.runtime.engines.native.analysis.part_sizes import note_sizes
from autograph.runtime.engines.native.analysis.structure import used_in
from autograph.runtime.engines.native.analysis.view_groups import (
    LARGE,
    LONG,
    computes_long,
    is_plain_view,
    makes_array,
    makes_view,
)
from autograph.runtime.engines.native.kernels.fusion import Fuser
from autograph.runtime.engines.native.kernels.kernel import Kernel
from autograph.runtime.graph.effects import effect_of
from autograph.runtime.graph.graph import Block, Graph, Node, Value, map_args, piece, walk
from autograph.runtime.graph.opdef import OPS, PURE, VIEW, WRITE
from autograph.runtime.graph.operands import COMPLEX, DTYPES
from autograph.runtime.graph.recursion import calls_itself
from autograph.runtime.graph.traits import MAKES_VIEWS, READS_VIEWS, SLOW_IN_NUMPY, SLOW_ON_LIST
from autograph.runtime.graph.types import ObjectType, TensorType

STATEMENTS = 3      # on arrays, at least, each of which would be a call of a kernel or of NumPy
_KNOWN = DTYPES | COMPLEX


def straight_lines(nodes: Sequence[Node], used: Counter[Value]) -> Iterator[Node]:
    """The nodes of a block; those that may become one region as the block of a node.

    Args:
        used: how often the graph uses each value.
    """
    small, sizes = set[Value](), dict[Value, int]()
    groups = [(fits, list(group)) for fits, group in groupby(nodes, lambda node: _fits(node, small, sizes))]
    is_all = not any(_uses_arrays(node) for fits, found in groups if not fits for node in found)
    for fits, found in groups:
        if not fits or not any(map(_is_statement, found)):
            yield from found
            continue
        piece, views = _piece(found, used)
        if not _pays(piece.blocks[0], is_all):
            yield from found
        else:
            yield from (piece, *views)


def views_in(block: Block) -> list[Node]:
    """The nodes of a piece that make views for which there is no object."""
    return [node for node in block.nodes if is_plain_view(node)]


def is_straight(node: Node) -> bool:
    """Whether a node is such a piece."""
    return node.op == "if" and node.args[0] is True and node.blocks[1].results is None and not calls_itself(node)


def inline(piece: Node) -> list[Node]:
    """The nodes of such a piece, with its outputs in the place of theirs."""
    block = piece.blocks[0]
    pairs = zip(block.results or (), piece.outputs)
    values = {value: output for value, output in pairs if isinstance(value, Value) and value.node is not None}

    def replaced(leaf: Any) -> Any:
        return values.get(leaf, leaf) if isinstance(leaf, Value) else leaf

    for node in block.nodes:
        node.args, node.kwargs = map_args(replaced, (node.args, node.kwargs))
        node.outputs = list(map(replaced, node.outputs))
        for value in node.outputs:
            value.node = node
    return block.nodes


def _pays(block: Block, is_all: bool) -> bool:
    """Whether machine code of nodes is faster than the calls of kernels and of NumPy that there would be otherwise.

    Args:
        is_all: whether there are no other nodes with arrays, which might be part of the same kernels.
    """
    nodes = Fuser(Graph("piece", block), Kernel, lambda graph: None).graph.block.nodes
    statements = [node for node in nodes if _is_statement(node)]
    calls = len(statements) + sum(node.op == "call" for node in nodes)
    is_one = is_all and not all(map(makes_array, statements))
    return calls >= STATEMENTS or is_one or any(map(_is_slow, statements))


def _piece(nodes: list[Node], used: Counter[Value]) -> tuple[Node, list[Node]]:
    """The nodes as the block of an `if`, and views that NumPy makes behind it, since other nodes use them.

    The outputs of the `if` are the other values that nodes outside use.
    """
    block, views = Block(nodes), list[Node]()
    uses = used_in([block])
    for node in reversed(views_in(block)):
        if used[node.output] > uses[node.output]:
            views.insert(0, node)
            uses.subtract(node.inputs)
    values = [value for node in nodes if node not in views for value in node.outputs if used[value] > uses[value]]
    block.results = tuple(values)
    made = piece(block, nodes[0].place)
    made.outputs = values
    return made, views


def _is_statement(node: Node) -> bool:
    """Whether NumPy or a kernel would be called for a node, as it computes elements of arrays or changes some."""
    if makes_array(node) or effect_of(node).kind == WRITE or _is_slow_on_list(node):
        return True
    return node.op in READS_VIEWS and (makes_view(node) or any(map(_is_array, node.inputs)))


def _uses_arrays(node: Node) -> bool:
    inner = [each for block in node.blocks for each in walk(block)]
    results = [value for block in node.blocks for value in block.result_values]
    return any(map(_is_array, (value for each in (node, *inner) for value in (*each.inputs, *results))))


def _fits(node: Node, small: set[Value], sizes: dict[Value, int]) -> bool:
    """Whether a node may be part of such a piece: a number, or arrays that are known to be small.

    Args:
        small: gets the vectors whose lengths are not known, but are those of small ones at most.
        sizes: gets these lengths, see `note_sizes`.
    """
    op = OPS.get(node.op)
    if _is_slow_on_list(node):
        return True
    if node.blocks or op is None or op.lower is None or effect_of(node).kind not in (PURE, VIEW, WRITE):
        return False
    if _is_slow(node):
        return all(isinstance(t, TensorType) and t.exact and t.ndim == 1 for t in (each.type for each in node.inputs))
    if not all(value in small or _is_small(value.type) for value in node.inputs) or computes_long(node, sizes):
        return False
    if note_sizes(node, sizes):
        small.update(node.outputs)
        return True
    parts = [value for value in node.outputs if not _is_small(value.type)]
    small.update(parts)
    return not parts or (node.op in MAKES_VIEWS and any(map(_is_array, node.inputs)) and all(map(_is_part, parts)))


def _is_slow(node: Node) -> bool:
    """Whether NumPy takes long to make an array, of any length, that machine code makes element by element."""
    return (makes_array(node) and node.op in SLOW_IN_NUMPY) or _is_slow_on_list(node)


def _is_slow_on_list(node: Node) -> bool:
    """Whether Python goes through the objects of a list."""
    if node.op not in SLOW_ON_LIST or node.kwargs or len(node.args) != 1:
        return False
    type = getattr(node.args[0], "type", None)
    return isinstance(type, ObjectType) and type.name == "list"


def _is_part(value: Value) -> bool:
    """Whether a value is a vector of unknown length."""
    type = value.type
    return isinstance(type, TensorType) and type.exact and type.shape == (None,) and type.dtype.char in _KNOWN


def _is_small(type: Any) -> bool:
    if not isinstance(type, TensorType) or not type.exact:
        return False
    if type.kind != "array":
        return True
    lengths = [length for length in type.shape if length is not None]
    if type.dtype.char not in _KNOWN or not lengths or len(lengths) < len(type.shape):
        return False
    return math.prod(lengths) < (LONG if len(lengths) == 1 else LARGE)


def _is_array(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.type.kind == "array"
