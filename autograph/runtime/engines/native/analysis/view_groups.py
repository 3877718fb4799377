"""Views of arrays that only the next nodes read, so that machine code needs no objects for them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from autograph.runtime.engines.native.analysis.part_sizes import NO_SIZES, most_elements
from autograph.runtime.engines.native.analysis.structure import Structure
from autograph.runtime.graph.effects import effect_of
from autograph.runtime.graph.graph import Block, Node, Value, walk
from autograph.runtime.graph.opdef import OPS, PURE, VIEW, WRITE
from autograph.runtime.graph.recursion import calls_itself
from autograph.runtime.graph.traits import (
    DIVIDES,
    IN_PLACE,
    LENGTH,
    LOOP,
    MAKES_ARRAYS,
    MAKES_VIEWS,
    MATRIX_PRODUCT,
    ON_ATTRIBUTE,
    ONE_BY_ONE,
    QUADRATIC,
    READS_VIEWS,
    SORTS,
)
from autograph.runtime.graph.types import ObjectType, TensorType
from autograph.runtime.ops.native.builtins import OF_SHAPE

LONGEST = 16    # nodes in a loop
MOST = 64       # the same for code that runs once
LONG = 2048     # elements of a vector, from which on a kernel is faster, although Python calls it
FEW = 48        # the same for functions that NumPy computes faster if it gets all elements at once
MOST_SORTED = 48        # elements of a vector, above which NumPy sorts faster
SMALL = 64      # elements of a matrix that code computes with known shape
MOST_IN_SQUARE = 128    # the same for functions that compare each element with each
LARGE = 256     # the same for matrices and so on, whose rows are short


def view_groups(structure: Structure, block: Block, place: int) -> Iterator[list[Node]]:
    """The groups of nodes that may be emitted at once, from one on, the best first; see `view_group`.

    If there is none, since nodes among them have effects, or it has no lowering, the first nodes may do, of which
    nothing but the last result is read by later ones: it becomes an array.
    """
    anew = structure.made_anew
    nodes = block.nodes[place : place + longest(structure)]
    group = view_group(structure, block, place)
    if group:
        yield group
    if nodes[0] in anew or not makes_view(nodes[0], structure.sizes):
        return
    for count in range(len(nodes), 0, -1):
        *before, last = nodes[:count]
        outputs = [value for node in before if node not in anew for value in node.outputs]
        is_last = all(structure.last_use(block, value) < place + count for value in outputs)
        is_pure = all(effect_of(node).kind in (PURE, VIEW) for node in nodes[:count])
        fits = is_pure and not any(computes_long(node, structure.sizes) for node in nodes[:count])
        computes = makes_view(last) and (last.op in READS_VIEWS or copies_elements(last))
        if is_last and fits and count != len(group) and computes:
            yield nodes[:count]


def longest(structure: Structure) -> int:
    """How many nodes a group may have."""
    return LONGEST if structure.root.op in LOOP else MOST


def view_group(structure: Structure, block: Block, place: int) -> list[Node]:
    """A node that makes a view, and the next ones up to the last that reads it, or a view of it, or one beside it.

    Views that are made anew at side exits (`Structure.made_anew`) do not count.

    If nodes further on read the result of a computation, the group ends with that: it becomes an array. None
    if a node reads such a view that needs an object, or computes a long vector.
    """
    nodes, views, stop, most = block.nodes, set[Value](), place + 1, longest(structure)
    for at, node in enumerate(nodes[place : place + most], place):
        reads = not views.isdisjoint(node.inputs)
        needs_object = reads and node.op not in READS_VIEWS | MAKES_VIEWS and not reads_shape(node)
        if node.blocks or needs_object or computes_long(node, structure.sizes):
            return []
        if makes_view(node, structure.sizes) and node not in structure.made_anew:
            last = structure.last_use(block, node.output) + 1
            if node.op in READS_VIEWS and at + 1 >= stop and last > min(place + most, len(nodes)):
                return nodes[place : at + 1]
            views.add(node.output)
            stop = max(stop, last)
        if at + 1 == stop or not views:
            return nodes[place:stop] if views and stop <= len(nodes) else []
    return []


def is_plain_view(node: Node) -> bool:
    """Whether a node makes a view of an array by integers and slices, as far as is known."""
    if node.op not in MAKES_VIEWS or node.op in READS_VIEWS or not _is_array(node.output):
        return False
    array, index = node.args
    entries = index if type(index) is tuple else (index,)
    return _is_array(array) and all(map(_is_plain_entry, entries))


def copies_elements(node: Node) -> bool:
    """Whether a node copies the elements or rows for which a mask is true, or at some places: `x[x > 0]`."""
    *_, index = node.args or (None,)
    return makes_view(node) and node.op not in READS_VIEWS and _is_array(index)


def makes_array(node: Node) -> bool:
    """Whether the lowering of a node makes an array, as far as is known, and not just a number."""
    makes = node.op in MAKES_ARRAYS and OPS[node.op].effect != WRITE and any(map(_may_be_array, node.outputs))
    return makes or copies_elements(node)


def _may_be_array(value: Value) -> bool:
    return not isinstance(value.type, TensorType) or value.type.kind == "array"


def _is_plain_entry(entry: Any) -> bool:
    if isinstance(entry, slice):
        return all(bound is None or _is_integer(bound) for bound in (entry.start, entry.stop, entry.step))
    return entry is None or entry is ... or _is_integer(entry)


def _is_integer(arg: Any) -> bool:
    if isinstance(arg, Value):
        return isinstance(arg.type, TensorType) and arg.type.kind != "array" and arg.type.dtype.kind in "iu"
    return type(arg) is int


def stores_itself(node: Node) -> bool:
    """Whether a node stores a view where it is: Python does so after `x[i:j] += y`, in which `+=` has changed `x`."""
    view = node.args[-1] if node.op == "setitem" else None
    while isinstance(view, Value) and view.node is not None and view.node.op in IN_PLACE:
        view = view.node.args[0]
    made = view.node if isinstance(view, Value) else None
    return made is not None and is_plain_view(made) and made.args == node.args[:2]


def is_strided(node: Node | None) -> bool:
    """Whether a node makes a view whose elements do not follow each other, such as `x[:, j]` or `np.flip(x)`."""
    if node is None or node.op not in MAKES_VIEWS or OPS[node.op].effect != VIEW:
        return False
    *_, index = node.args
    slices = [isinstance(entry, slice) for entry in index] if isinstance(index, tuple) else []
    return len(node.args) == 1 or (any(slices) and not slices[-1])


def computes_long(node: Node, sizes: Mapping[Value, int] = NO_SIZES) -> bool:
    """Whether a node computes a vector that is long, or may be: of the same part of an array in all iterations.

    Or whether it takes long for one that may be.

    Args:
        sizes: the lengths that vectors probably have.
    """
    if node.op in QUADRATIC:
        return any((most_elements(each, sizes) or LARGE) > MOST_IN_SQUARE for each in node.inputs if _is_array(each))
    if node.op not in MAKES_VIEWS or node.op not in READS_VIEWS or not _is_array(node.output):
        return False
    shape = node.output.type.shape  # type: ignore[union-attr]
    count = most_elements(node.output, sizes)
    if node.op in ONE_BY_ONE or (node.op in DIVIDES and not _divides_by_constant(node)):
        return count is None or count > FEW
    if count is None:
        return len(shape) > 1 or any(_is_same_part(each) for each in node.inputs)
    return count >= (LONG if len(shape) == 1 else LARGE)


def _divides_by_constant(node: Node) -> bool:
    """Whether a node divides integers by a constant."""
    x, y = node.args[:2]
    return _is_array(x) and x.type.dtype.kind in "iu" and type(y) is int


def _is_same_part(value: Value) -> bool:
    """Whether a value is a whole vector, or a part of one that is the same for all values of variables."""
    node = value.node
    if node is None or node.op not in MAKES_VIEWS:
        return _is_array(value)
    if node.op in READS_VIEWS or len(node.inputs) > 1:
        return False
    return getattr(node.inputs[0].type, "ndim", 0) == 1


def reads_shape(node: Node) -> bool:
    """Whether a node reads nothing of an array but its lengths."""
    return node.op in LENGTH or (ON_ATTRIBUTE.get(node.op) == "get" and node.args[-1] in OF_SHAPE)


def makes_view(node: Node, sizes: Mapping[Value, int] = NO_SIZES) -> bool:
    """Whether a node makes a view, as far as is known, rather than a number; or a small array that may be one.

    Args:
        sizes: the lengths that vectors probably have.
    """
    if node.op in MATRIX_PRODUCT:
        return _is_small(node.output)
    if node.op in SORTS:
        count = most_elements(node.inputs[0], sizes) if node.inputs else None
        return count is not None and count <= MOST_SORTED
    return node.op in MAKES_VIEWS and _is_array(node.output) and not _is_item_of_tuple(node)


def _is_item_of_tuple(node: Node) -> bool:
    """Whether a node gives an item of a tuple of arrays, which is an object already."""
    first, *_ = node.args or (None,)
    type = first.type if isinstance(first, Value) else None
    return isinstance(type, ObjectType) and type.name == "tuple"


def computes_few(root: Node) -> bool:
    """Whether a loop computes matrices of so few elements that it pays to know their shapes.

    Code that calls itself does so with arrays of other shapes.
    """
    if calls_itself(root):
        return False
    nodes = (node for block in root.blocks for node in walk(block))
    return any(makes_view(node) and node.op in READS_VIEWS and _is_small(node.output) for node in nodes)


def _is_small(value: Value) -> bool:
    """Whether a value is a matrix of known shape and few elements."""
    lengths = value.type.shape if isinstance(value.type, TensorType) else ()
    known = [length for length in lengths if length is not None]
    return len(known) == len(lengths) > 1 and math.prod(known) <= SMALL


def is_of_vectors(node: Node) -> bool:
    """Whether a node is an operation on vectors, as far as is known, rather than on numbers and elements."""
    _, *others = node.args or (None,)
    slices = [part for arg in others if isinstance(arg, tuple) for part in arg if isinstance(part, slice)]
    reads = node.op in READS_VIEWS and (bool(slices) or any(map(_is_array, others)))
    return reads or makes_view(node)


def _is_array(arg: Any) -> bool:
    return isinstance(arg, Value) and isinstance(arg.type, TensorType) and arg.type.kind == "array"
