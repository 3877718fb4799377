"""Graphs as text, in the notation that `notation` describes and `parser` reads.

    graph collatz(n: py.int):
        steps: py.int, n.1: py.int = while(0, n):
          test(steps.1: py.int, n.2: py.int):
            %0: py.bool = n.2 != 1
            -> %0
          body(steps.2: py.int, n.3: py.int):
            …
        -> steps

A printer makes lines of pieces, each with its kind and the value, node or object that it names. Joined, they are the
text; with markup, a colored view.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from autograph.common.statics import module_name, own_attribute
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Value, user_line, walk
from autograph.runtime.graph.types import Type, type_of
from autograph.runtime.graph_text import notation

INDENT = 4
_COMMENT_COLUMN = 60


class Piece(NamedTuple):
    """A part of a line.

    Attributes:
        kind: `value`, `definition`, `type`, `op`, `constant`, `object`, `keyword`, `label`, `comment`, or nothing for
            punctuation.
        about: the value, node or object that it names.
    """

    kind: str
    text: str
    about: Any = None


@dataclass
class Line:
    """A line, and the node that begins on it."""

    indent: int
    pieces: list[Piece] = field(default_factory=list)
    node: Node | None = None

    def __str__(self) -> str:
        return " " * self.indent + "".join(piece.text for piece in self.pieces)


class Names:
    """The names of the values and objects of a graph in its text, in the order of their first use."""

    def __init__(self, graph: Graph) -> None:
        self.objects: dict[str, Any] = {}
        self._values: dict[Value, str] = {}
        self._refs: dict[tuple[int, bool], str] = {}  # by id, and whether bare or a `Constant`
        self._versions = Counter(_words(graph))
        self._ref_versions: Counter[str] = Counter()

    def value(self, value: Value) -> str:
        """The name of a value, such as `n`, `n.1`, `%0`, or `%'x[0]'` if its own is no identifier."""
        name = self._values.get(value)
        if name is None:
            base = value.name if not value.name or notation.is_name(value.name) else f"%{value.name!r}"
            name = self._values[value] = _version(base, self._versions)
        return name

    def object(self, value: Any) -> str:
        """The name of an object: `@` and its own name, or that of its class."""
        itself = value.value if isinstance(value, Constant) else value
        identity = (id(itself), itself is value)
        name = self._refs.get(identity)
        if name is None:
            own = own_attribute(itself, "__name__")
            base = own if isinstance(own, str) else type(itself).__name__
            key = _version(base if notation.is_name(base) else "object", self._ref_versions)
            self.objects[key] = value
            name = self._refs[identity] = f"@{key}"
        return name


def _version(base: str, versions: Counter[str]) -> str:
    number = versions[base]
    versions[base] += 1
    if not base:
        return f"%{number}"
    return f"{base}.{number}" if number else base


def _words(graph: Graph) -> Iterator[str]:
    """The names that a value must not have without a version, since they have another meaning."""
    names = set(notation.WORDS)
    for node in walk(graph.block):
        _add_words([node.args, node.kwargs, *(block.results for block in node.blocks)], names)
        if not node.op.startswith("."):
            names.add(node.op.partition(".")[0])
    _add_words(graph.block.results, names)
    yield from sorted(names)


def _add_words(arg: Any, names: set[str]) -> None:
    if isinstance(arg, slice):
        arg = arg.start, arg.stop, arg.step
    if isinstance(arg, (tuple, list, dict)):
        for part in [*arg, *arg.values()] if isinstance(arg, dict) else arg:
            _add_words(part, names)
    elif not isinstance(arg, Value) and (name := notation.well_known(arg)):
        names.add(name.partition(".")[0])


class Printer:
    """Writes the nodes and blocks of one graph, with the same names throughout."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.names = Names(graph)

    @classmethod
    def named(cls, graph: Graph) -> Printer:
        """A printer that has already named all values and objects, as in the text."""
        printer = cls(graph)
        for _ in printer.lines():
            pass
        return printer

    def legend(self) -> list[str]:
        """A description of each object that the text refers to."""
        return [f"# @{name}: {describe(value)}" for name, value in self.names.objects.items()]

    def lines(self) -> Iterator[Line]:
        """The whole graph."""
        name = self.graph.name if notation.is_name(self.graph.name) else repr(self.graph.name)
        head = [Piece("keyword", "graph"), Piece("", " "), Piece("label", name), Piece("", "(")]
        yield Line(0, [*head, *self._definitions(self.graph.params), Piece("", "):")])
        yield from self.block(self.graph.block, INDENT)

    def block(self, block: Block, indent: int) -> Iterator[Line]:
        """The nodes of a block; its params are in the line above."""
        for node in block.nodes:
            yield from self.node(node, indent)
        if block.results is None:
            yield Line(indent, [Piece("keyword", "->"), Piece("", " "), Piece("keyword", "never")])
        elif block.results:
            yield Line(indent, [Piece("keyword", "->"), Piece("", " "), *self.listed(block.results)])
        elif not block.nodes:
            yield Line(indent, [Piece("keyword", "pass")])

    def node(self, node: Node, indent: int = 0) -> Iterator[Line]:
        """A node, and the blocks in it."""
        yield Line(indent, self.head(node), node)
        for index, block in enumerate(node.blocks):
            params = [Piece("", "("), *self._definitions(block.params), Piece("", ")")] if block.params else []
            label = Piece("label", notation.label(node.op, index), block)
            yield Line(indent + INDENT // 2, [label, *params, Piece("", ":")])
            yield from self.block(block, indent + INDENT)

    def head(self, node: Node) -> list[Piece]:
        """The line of a node."""
        outputs = [*self._definitions(node.outputs), Piece("", " = ")] if node.outputs else []
        return [*outputs, *self.right_side(node), *([Piece("", ":")] if node.blocks else [])]

    def right_side(self, node: Node) -> Iterator[Piece]:
        """The operation of a node: an operator or a call."""
        op, args = node.op, node.args
        if not node.kwargs and not node.blocks:
            if op in notation.BINARY and len(args) == 2:
                return self._binary(node)
            if op in notation.UNARY and len(args) == 1 and isinstance(args[0], Value):
                return iter([Piece("op", notation.UNARY[op], node), *self.arg(args[0])])
            if args and self._takes_suffix(args[0]) and (written := self._access(node)):
                return iter(written)
        return self._call(node)

    def _binary(self, node: Node) -> Iterator[Piece]:
        symbol, (left, right) = notation.BINARY[node.op], node.args
        pieces = list(self._operand(left))
        negative = symbol == "**" and pieces[0].text.startswith("-")
        yield from self._enclosed(pieces) if negative or isinstance(left, range) else pieces
        yield from (Piece("", " "), Piece("op", symbol, node), Piece("", " "))
        yield from self._operand(right)

    def _operand(self, arg: Any) -> Iterable[Piece]:
        """An argument; a slice in parentheses."""
        return self._enclosed(self.arg(arg)) if isinstance(arg, slice) else self.arg(arg)

    def _enclosed(self, pieces: Iterable[Piece]) -> Iterable[Piece]:
        return [Piece("", "("), *pieces, Piece("", ")")]

    def _takes_suffix(self, arg: Any) -> bool:
        return isinstance(arg, Value) or (not _is_structure(arg) and notation.literal(arg) is None)

    def _access(self, node: Node) -> list[Piece] | None:
        """`x[i]`, `x.name`, `x[i] = y`, `x.name = y` or `del x[i]`."""
        kind, rest = node.op[:3], node.args[2:]
        forms = {"getitem": 2, "getattr": 2, "setitem": 3, "setattr": 3, "delitem": 2}
        if forms.get(node.op) != len(node.args) or (kind != "get" and node.outputs):
            return None
        base, key = self.arg(node.args[0]), node.args[1]
        if node.op.endswith("attr"):
            if not (type(key) is str and notation.is_name(key)):
                return None
            suffix = [Piece("op", f".{key}", node)]
        else:
            items = self.listed(key) if type(key) is tuple and key else self.arg(key)
            comma = [Piece("", ",")] if type(key) is tuple and len(key) == 1 else []
            suffix = [Piece("op", "[", node), *items, *comma, Piece("op", "]", node)]
        start = [Piece("op", "del ", node)] if kind == "del" else []
        assigned = [Piece("op", " = ", node), *self.listed(rest)] if rest else []
        return [*start, *base, *suffix, *assigned]

    def _call(self, node: Node) -> Iterator[Piece]:
        args, op = node.args, node.op
        if op.startswith(".") and args and notation.is_name(op[1:]) and self._takes_suffix(args[0]):
            yield from self.arg(args[0])
            args = args[1:]
        elif not notation.DOTTED.fullmatch(op) or op in notation.CONSTRUCTORS or op in notation.WORDS:
            op = repr(op)
        yield Piece("keyword" if node.blocks else "op", op, node)
        yield Piece("", "(")
        yield from _separated([*map(self.arg, args), *map(self._keyword, node.kwargs.items())])
        yield Piece("", ")")

    def _keyword(self, item: tuple[str, Any]) -> Iterator[Piece]:
        name, value = item
        yield Piece("", f"{name if notation.is_name(name) else repr(name)}=")
        yield from self.arg(value)

    def _definitions(self, values: Iterable[Value]) -> Iterator[Piece]:
        return _separated(map(self._definition, values))

    def _definition(self, value: Value) -> Iterator[Piece]:
        yield Piece("definition", self.names.value(value), value)
        yield Piece("", ": ")
        yield Piece("type", self.type(value.type))

    def type(self, type: Type) -> str:
        return notation.type_text(type, self.names.object)

    def listed(self, args: Iterable[Any]) -> Iterator[Piece]:
        """Arguments, with commas between them."""
        return _separated(map(self.arg, args))

    def arg(self, arg: Any) -> Iterator[Piece]:
        """An argument: a value, a structure or a constant."""
        if isinstance(arg, Value):
            yield Piece("value", self.names.value(arg), arg)
        elif isinstance(arg, slice):
            parts = [arg.start, arg.stop] + [arg.step] * (arg.step is not None)
            yield from _separated((() if part is None else self._operand(part) for part in parts), ":")
        elif _is_structure(arg):
            yield from self._structure(arg)
        elif (written := notation.literal(arg)) is not None:
            yield Piece("constant", written, arg)
        else:
            yield Piece("object", self.names.object(arg), arg)

    def _structure(self, arg: Any) -> Iterator[Piece]:
        start, end = ("{", "}") if type(arg) is dict else ("[", "]") if type(arg) is list else ("(", ")")
        if hasattr(arg, "_fields"):
            yield Piece("object", self.names.object(type(arg)), type(arg))
        yield Piece("", start)
        if type(arg) is dict:
            yield from _separated([*self._operand(key), Piece("", ": "), *self.arg(item)] for key, item in arg.items())
        else:
            yield from self.listed(arg)
        if type(arg) is tuple and len(arg) == 1:
            yield Piece("", ",")
        yield Piece("", end)


def _separated(groups: Iterable[Iterable[Piece]], separator: str = ", ") -> Iterator[Piece]:
    for number, group in enumerate(groups):
        if number:
            yield Piece("", separator)
        yield from group


def _is_structure(arg: Any) -> bool:
    """Whether each run of the node builds an argument from its parts."""
    return type(arg) in (tuple, list, dict, slice) or (isinstance(arg, tuple) and hasattr(arg, "_fields"))


def lines(graph: Graph, places: bool = False) -> list[Line]:
    """The lines of the text of a graph, with the comments below it."""
    printer = Printer(graph)
    made = list(printer.lines())
    if places:
        column = min(max(len(str(line)) for line in made), _COMMENT_COLUMN)
        for line in made:
            if line.node is not None and (place := place_text(line.node)):
                space = " " * (max(column - len(str(line)), 0) + 2)
                line.pieces += [Piece("", space), Piece("comment", f"# {place}")]
    return made + [Line(0, [Piece("comment", text)]) for text in printer.legend()]


def place_text(node: Node) -> str:
    """The name of the user's file and the line that a node comes from; "" if it comes from none."""
    place = user_line(node.place)
    return f"{os.path.basename(place[0])}:{place[1]}" if place else ""


def to_text(graph: Graph, places: bool = False) -> str:
    """The graph as text, which `parser.parse` reads; with `places`, comments say where each node comes from."""
    return "\n".join(map(str, lines(graph, places)))


def objects(graph: Graph) -> dict[str, Any]:
    """The objects that the text of the graph refers to as `@name`, by name."""
    return Printer.named(graph).names.objects


def node_text(graph: Graph, node: Node) -> str:
    """A node's own line in the text of the graph, without those of its blocks."""
    found = ""
    printer = Printer(graph)
    for line in printer.lines():
        if line.node is node:
            found = str(line).strip()
    return found or "".join(piece.text for piece in printer.head(node))


class _Expressions(Printer):
    """Writes a value as the expression that computes it from variables of the user's, if that is short."""

    def __init__(self, room: int) -> None:
        super().__init__(Graph(""))
        self.room = room

    def arg(self, arg: Any) -> Iterator[Piece]:
        if not isinstance(arg, Value):
            return super().arg(arg)
        if notation.is_name(arg.name):
            return iter((Piece("value", arg.name),))
        self.room -= 1
        if arg.node is None or arg.node.blocks or self.room < 0:
            raise LookupError(arg)
        pieces = self.right_side(arg.node)
        return iter(self._enclosed(pieces) if arg.node.op in notation.BINARY else pieces)

    def _call(self, node: Node) -> Iterator[Piece]:
        if node.op in ("build", "bound"):
            return self.arg(node.args[0])
        if node.op not in ("call", "new") or isinstance(node.args[0], Value):
            return super()._call(node)
        name = str(own_attribute(node.args[0], "__name__", "…"))
        return iter((Piece("op", name), *self._enclosed(self.listed(node.args[1:]))))


def expression(value: Value, room: int = 6) -> str:
    """The user's name of a value: its variable, or a short expression; "" if it has neither.

    Args:
        room: the most operations that the expression may have.
    """
    printer = _Expressions(room)
    try:
        if value.node is None or notation.is_name(value.name):
            return value.name
        printer.room -= 1
        return "" if value.node.blocks else "".join(piece.text for piece in printer.right_side(value.node))
    except LookupError:
        return ""


def describe(value: Any) -> str:
    """A short description of an object, the same in each run."""
    if isinstance(value, Constant):
        return describe(value.value)
    if isinstance(value, ModuleType):
        return f"module {module_name(value)}"
    name = getattr(value, "__qualname__", None)
    if isinstance(name, str):
        code = getattr(value, "__code__", None)
        if isinstance(code, CodeType):
            return f"{type(value).__name__} {name}, {os.path.basename(code.co_filename)}:{code.co_firstlineno}"
        return f"{type(value).__name__} {'.'.join(map(str, filter(None, [getattr(value, '__module__', None), name])))}"
    if type(value) in (list, dict, set, frozenset):
        return f"{type(value).__name__} of {len(value)}"
    return str(type_of(value)) if not isinstance(value, tuple) else type(value).__name__
