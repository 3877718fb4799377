"""The graph: a program of NumPy and Python operations on values that are assigned once.

    graph   ::=  name(params) block
    block   ::=  params  node*  results
    node    ::=  values = op(args, kwargs) blocks
    args    ::=  value  |  constant  |  tuple, list, dict or slice of args

A node runs its operation on its arguments; `op` names an `OpDef`. Arguments are nested as the user nested them:
`np.stack([x, y], axis=0)` is a node with the args `([x, y],)` and the kwargs `{"axis": 0}`. Constants are Python
objects. A tuple, list, dict or slice is a structure, built anew at each run; a `Constant` refers to an object itself.

A block ends with its results, which are args as well; its results are None if it never ends, because it raises. Inner
blocks see the values of the blocks around them. These nodes have blocks:

    outs = if(test)            then: () -> results        else: () -> results
    outs = while(*inits)       test: (*carried) -> (condition,)    body: (*carried) -> results
    outs = for(iterable, *inits)                          body: (*items, *carried) -> results

The results of a loop's body are carried into the next iteration; with `until=True`, they begin with a condition on
which the loop ends at once. The keyword `target` of `for` says how to unpack each item into the body's params, by their
numbers: `(0, (1, 2))` for `for a, (b, c) in …`, a lone `0` for `for a in …`.

Nodes run in order. Arrays, lists and other objects are references, as in Python: `setitem(x, i, v)` changes the array
for everyone who refers to it. So a node that reads an array must not move across one that may write to it; see
`autograph.runtime.graph.aliasing`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from types import CodeType
from typing import Any, TypeAlias

from autograph.common import disk_cache
from autograph.common.code_flags import code_line
from autograph.common.code_marks import UNBOUND
from autograph.runtime.graph.types import Type

# Where a node comes from: the code and instruction of each of the user's frames, the outermost first.
Place: TypeAlias = tuple[tuple[CodeType, int], ...]


__all__ = ["UNBOUND", "Block", "Constant", "Graph", "Node", "Place", "Value"]
__all__ += ["copied", "drop_unused", "drop_unused_params", "gather", "map_args", "substitute", "used_by", "user_line"]
__all__ += ["values_in", "walk", "walk_blocks"]


class Constant:
    """A list, dict or other object of the user's as an argument of a node: that object itself, by reference."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is Constant and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)

    def __repr__(self) -> str:
        return f"<constant {type(self.value).__name__}>"


@disk_cache.storable
class Value:
    """A result of a node, or a parameter of a block.

    Attributes:
        type: its type.
        node: the node that computes it; None for a parameter.
        name: its name in the user's program, if known.
    """

    __slots__ = ("name", "node", "type")

    def __init__(self, type: Type, node: Node | None = None, name: str = "") -> None:
        self.type = type
        self.node = node
        self.name = name

    def __repr__(self) -> str:
        return f"<value {self.name or hex(id(self))}: {self.type}>"


class Node:
    """One operation; see the module's documentation."""

    __slots__ = ("__weakref__", "args", "blocks", "effect", "kwargs", "op", "outputs", "own", "place")

    def __init__(
        self,
        op: str,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        blocks: tuple[Block, ...] = (),
        place: Place = (),
    ) -> None:
        self.op = op
        self.args = args
        self.kwargs: dict[str, Any] = kwargs or {}
        self.blocks = blocks
        self.place = place
        self.outputs: list[Value] = []
        self.effect: Any = None  # see `effects.effect_of`
        self.own = False  # added by this library: the user's program would not miss its exceptions and warnings

    def add_output(self, type: Type, name: str = "") -> Value:
        value = Value(type, self, name)
        self.outputs.append(value)
        return value

    @property
    def output(self) -> Value:
        """The only output."""
        (value,) = self.outputs
        return value

    @property
    def inits(self) -> tuple[Any, ...]:
        """The initial values that a loop carries; empty for other nodes."""
        return self.args[1:] if self.op == "for" else self.args if self.op == "while" else ()

    @property
    def inputs(self) -> list[Value]:
        """The values in the arguments, in order, without those that its blocks use."""
        return values_in((self.args, self.kwargs) if self.kwargs else self.args)

    def __repr__(self) -> str:
        return f"<node {self.op}>"


@disk_cache.storable
class Block:
    """Nodes in the order in which they run; `results` is None if the end is never reached."""

    __slots__ = ("nodes", "params", "results")

    def __init__(self, nodes: Iterable[Node] = ()) -> None:
        self.params: list[Value] = []
        self.nodes: list[Node] = list(nodes)
        self.results: tuple[Any, ...] | None = ()

    def add_param(self, type: Type, name: str = "") -> Value:
        value = Value(type, None, name)
        self.params.append(value)
        return value

    def append(self, node: Node) -> Node:
        self.nodes.append(node)
        return node

    @property
    def result_values(self) -> list[Value]:
        """The values among the results."""
        return values_in(self.results)


class Graph:
    """A whole program: a block with a name. `block.results` is a 1-tuple: the structure that is returned.

    Attributes:
        analysis: facts about the graph as it is now; None while changes are not announced, see `aliasing`.
    """

    __slots__ = ("analysis", "block", "name")

    def __init__(self, name: str, block: Block | None = None) -> None:
        self.name = name
        self.block = block or Block()
        self.analysis: list[Any] | None = None

    @property
    def params(self) -> list[Value]:
        return self.block.params


_ATOMS = frozenset({int, float, complex, bool, str, bytes, type(None), type(Ellipsis)})
_LEAVES = _ATOMS | {Value}


def gather(args: Any, found: list[Value]) -> None:
    """Add all values in a nested argument to `found`, in order."""
    kind = type(args)
    if kind is Value:
        found.append(args)
    elif kind in _ATOMS:
        pass
    elif issubclass(kind, (tuple, list)):
        for part in args:
            kind = type(part)
            if kind is Value:
                found.append(part)
            elif kind not in _ATOMS:
                gather(part, found)
    elif issubclass(kind, dict):
        for part in args.values():
            gather(part, found)
    elif isinstance(args, slice):
        gather((args.start, args.stop, args.step), found)


def piece(block: Block, place: Place, kwargs: dict[str, Any] | None = None) -> Node:
    """An `if True:` around a block, so that engines take its nodes as they do a loop. It has no outputs yet."""
    never = Block()
    never.results = None
    return Node("if", (True,), kwargs, (block, never), place)


def values_in(args: Any) -> list[Value]:
    """All values in a nested argument, in order."""
    found: list[Value] = []
    gather(args, found)
    return found


def used_by(node: Node) -> list[Value]:
    """The values in the arguments of a node and in the results of its blocks."""
    return values_in((node.args, node.kwargs, [block.results for block in node.blocks]))


def map_args(function: Callable[[Any], Any], args: Any) -> Any:
    """Nested arguments with `function(leaf)` for each leaf, a value or constant."""
    if isinstance(args, tuple):
        parts = [function(part) if type(part) in _LEAVES else map_args(function, part) for part in args]
        return tuple(parts) if type(args) is tuple or not hasattr(args, "_fields") else tuple.__new__(type(args), parts)
    if type(args) is list:
        return [map_args(function, part) for part in args]
    if type(args) is dict:
        return {key: map_args(function, part) for key, part in args.items()}
    if isinstance(args, slice):
        return slice(*(map_args(function, part) for part in (args.start, args.stop, args.step)))
    return function(args)


def types_in(args: Any) -> Any:
    """Nested arguments with types in the place of values."""
    return map_args(lambda leaf: leaf.type if isinstance(leaf, Value) else leaf, args)


def substitute(node: Node, values: dict[Value, Any]) -> None:
    """Replace values in the arguments of a node and in its blocks."""

    def leaf(value: Any) -> Any:
        return values.get(value, value) if isinstance(value, Value) else value

    node.args = map_args(leaf, node.args)
    node.kwargs = map_args(leaf, node.kwargs)
    for block in node.blocks:
        for inner in block.nodes:
            substitute(inner, values)
        if block.results is not None:
            block.results = map_args(leaf, block.results)


def copied(graph: Graph) -> Graph:
    """A graph like another one, with values, nodes and blocks of its own."""
    values: dict[Value, Value] = {}

    def new(value: Value, node: Node | None) -> Value:
        made = values[value] = Value(value.type, node, value.name)
        return made

    def leaf(value: Any) -> Any:
        return values[value] if isinstance(value, Value) else value

    def copy_block(block: Block) -> Block:
        made = Block()
        made.params = [new(param, None) for param in block.params]
        for node in block.nodes:
            again = Node(node.op, map_args(leaf, node.args), map_args(leaf, node.kwargs), (), node.place)
            again.blocks, again.own = tuple(map(copy_block, node.blocks)), node.own
            again.outputs = [new(output, again) for output in node.outputs]
            made.append(again)
        made.results = None if block.results is None else map_args(leaf, block.results)
        return made

    return Graph(graph.name, copy_block(graph.block))


def walk(block: Block) -> Iterator[Node]:
    """All nodes of a block and of the blocks within, each before those in it."""
    rest = block.nodes[::-1]
    while rest:
        node = rest.pop()
        yield node
        for inner in reversed(node.blocks):
            rest += reversed(inner.nodes)


def walk_blocks(block: Block) -> Iterator[Block]:
    """A block and all blocks within, each before those in it."""
    yield block
    for node in walk(block):
        yield from node.blocks


def drop_unused(graph: Graph, nodes: Collection[Node]) -> None:
    """Remove those of some nodes from a graph whose outputs are unused."""
    used = _used(graph)
    unused = {node for node in nodes if not used.intersection(node.outputs)}
    for block in list(walk_blocks(graph.block)):
        block.nodes[:] = [node for node in block.nodes if node not in unused]


def drop_unused_params(graph: Graph, last: int) -> list[int]:
    """Drop unused params among the `last` ones; returns the numbers of those that stay, counted from 0."""
    used, first = _used(graph), len(graph.block.params) - last
    stay = [number for number in range(last) if graph.block.params[first + number] in used]
    graph.block.params[first:] = [graph.block.params[first + number] for number in stay]
    return stay


def _used(graph: Graph) -> set[Value]:
    """The values that nodes, and the ends of blocks, use."""
    used = set(graph.block.result_values)
    for node in walk(graph.block):
        used.update(used_by(node))
    return used


def user_line(place: Place) -> tuple[str, int] | None:
    """The file and line of the innermost of the user's frames."""
    for code, instruction in reversed(place):
        line = code_line(code, instruction)
        if line is not None:
            return code.co_filename, line
    return None


def checks_graphs() -> bool:
    """Whether to verify graphs after each pass, and code made from them, as in tests."""
    return os.environ.get("AUTOGRAPH_CHECK") == "1"


def depends_on(value: Value) -> set[Value]:
    """The parameters of blocks that a value is computed from."""
    reached: set[Value] = set()
    rest = [value]
    while rest:
        each = rest.pop()
        if each not in reached:
            reached.add(each)
            rest += used_by(each.node) if each.node is not None else []
    return {each for each in reached if each.node is None}
