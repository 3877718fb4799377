"""Loops over the rows of arrays as counted loops, so that machine code needs no objects for the rows.

    for row in a:                     for i in range(len(a)):
        total += row[0]         →         row = a[i]
                                          total += row[0]

So does `for i, row in enumerate(a)`, and `for p, q in zip(a, b)`. It pays where nodes read a row, or a view of it, at
the beginning of the iteration, see `view_group`, or where each makes it again, see `views_where_read.py`; elsewhere
NumPy's own iterator is as fast.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograph.runtime.engines.native.analysis.clone import Copier
from autograph.runtime.engines.native.analysis.structure import Structure, used_in
from autograph.runtime.engines.native.analysis.view_groups import view_group
from autograph.runtime.engines.native.analysis.views_where_read import ViewsWhereRead, made_again
from autograph.runtime.graph.effects import effect_of
from autograph.runtime.graph.graph import Block, Graph, Node, Value, walk
from autograph.runtime.graph.operands import DTYPES
from autograph.runtime.graph.traits import ON_CONTAINER, RESHAPES, WITH_ONE_ARGUMENT
from autograph.runtime.graph.types import INT, ObjectType, TensorType

_RANGE = ObjectType("range", (INT,))


def without_rows(graph: Graph) -> Graph:
    """A copy of a graph with counted loops, and with views where they are read."""
    return ViewsWhereRead(_CountedLoops(graph).graph).graph


class _CountedLoops(Copier):
    """Copies a graph with counted loops in the place of loops over arrays.

    Attributes:
        graph: the copy.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self._uses = used_in([graph.block])
        self.graph = Graph(graph.name, self.block(graph.block))

    def fill(self, into: Block, nodes: Sequence[Node]) -> None:
        for node in nodes:
            node = _as_declared(node)
            arrays = _arrays(node)
            made = _counted(node, arrays) if arrays and self._is_own(node) else None
            if made is None:
                into.append(self.node(node))
                continue
            over = node.args[0].node
            if over is not None and over in nodes and ON_CONTAINER.get(over.op) in _ITERATORS:
                into.nodes.remove(self.values[over.output].node)
            for each in made:
                into.append(self.node(each))

    def _is_own(self, loop: Node) -> bool:
        """Whether nothing else uses the iterator."""
        over = loop.args[0]
        return _is_array(over) or self._uses[over] == 1


_ITERATORS = "enumerate", "zip"


def _as_declared(node: Node) -> Node:
    """A node of the op that has the lowering: `np.nonzero(x)` for `np.where(x)`."""
    op = WITH_ONE_ARGUMENT.get(node.op)
    if op is None or len(node.args) > 1 or node.kwargs or not _is_array(node.args[0]):
        return node
    made = Node(op, node.args, place=node.place)
    made.own, made.outputs = node.own, node.outputs
    return made


def _arrays(loop: Node) -> list[Value]:
    """The arrays over which a loop goes at once; none if it goes over something else."""
    over = loop.args[0] if loop.op == "for" else None
    if not isinstance(over, Value) or any(map(_may_reshape, walk(loop.blocks[0]))):
        return []
    if _is_array(over):
        return [over] if loop.kwargs.get("target", 0) == 0 and over.type.ndim > 1 else []  # type: ignore[union-attr]
    kind = None if over.node is None else ON_CONTAINER.get(over.node.op)
    if kind not in _ITERATORS or over.node is None or over.node.kwargs or not all(map(_is_array, over.node.args)):
        return []
    arrays, counts = [*over.node.args], kind == "enumerate"
    is_apart = loop.kwargs.get("target") == tuple(range(len(arrays) + counts))
    return arrays if is_apart and all(array.type.shape for array in arrays) else []


def _is_array(value: object) -> bool:
    type = value.type if isinstance(value, Value) else None
    return isinstance(type, TensorType) and type.kind == "array" and type.exact and type.dtype.char in DTYPES


def _may_reshape(node: Node) -> bool:
    return effect_of(node).wild or node.op in RESHAPES


def _counted(loop: Node, arrays: list[Value]) -> list[Node] | None:
    """The nodes of a counted loop; None if the rows need objects."""
    body, place = loop.blocks[0], loop.place
    lengths = [Node("len", (array,), place=place) for array in _of_different_lengths(arrays)]
    counted = [length.add_output(INT) for length in lengths]
    if len(counted) > 1:
        lengths.append(Node("min", tuple(counted), place=place))
        counted = [lengths[-1].add_output(INT)]
    over = Node("range", tuple(counted), place=place)
    counts = ON_CONTAINER.get(getattr(loop.args[0].node, "op", "")) == "enumerate"
    items, carried = body.params[: len(arrays) + counts], body.params[len(arrays) + counts :]
    index = items[0] if counts else Value(INT, None, "")
    inner = Block()
    for array, item in zip(arrays, items[counts:]):
        row = inner.append(Node("getitem", (array, index), place=place))
        row.outputs = [item]
    inner.nodes += body.nodes
    inner.params, inner.results = [index, *carried], body.results
    made = Node("for", (over.add_output(_RANGE), *loop.args[1:]), {**loop.kwargs, "target": 0}, (inner,), place)
    made.own, made.outputs = loop.own, loop.outputs
    return [*lengths, over, made] if _need_no_objects(made, len(arrays)) else None


def _of_different_lengths(arrays: list[Value]) -> list[Value]:
    """The arrays without those that are known to be as long as another one."""
    found = {array.type.shape[0] or array: array for array in arrays}       # type: ignore[union-attr]
    return [*found.values()]


def _need_no_objects(loop: Node, count: int) -> bool:
    """Whether nodes at the beginning of an iteration read the rows, or views of them; or all nodes make them again."""
    body, structure, again = loop.blocks[0], Structure(loop), made_again(loop)
    rows = [at for at in range(count) if body.nodes[at].output.type.kind == "array"]    # type: ignore[union-attr]
    return all(view_group(structure, body, at) or body.nodes[at] in again for at in rows)
