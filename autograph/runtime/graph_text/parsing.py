"""Reads the text of a graph, which `printer` writes and `notation` describes.

Lines are read one after the other, each from left to right; indentation tells which of them are in which block.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from autograph.runtime.graph.graph import Block, Graph, Node
from autograph.runtime.graph.types import Type
from autograph.runtime.graph_text import notation
from autograph.runtime.graph_text.parser import (
    DOTTED,
    NUMBER,
    STRING,
    VALUE,
    ArgReader,
    ParseError,
    Reader,
    TypeReader,
    located,
)

_OUTPUT = re.compile(rf"{VALUE.pattern}\s*:")
_CALLED = re.compile(rf"({DOTTED.pattern}|{STRING.pattern})\(")
_KEYWORD = re.compile(rf"({notation.IDENTIFIER.pattern}|{STRING.pattern})=(?!=)")
_METHOD = re.compile(rf"(\.{notation.IDENTIFIER.pattern})\(")
_ATTRIBUTE = re.compile(rf"\.({notation.IDENTIFIER.pattern})")
_ASSIGNED = re.compile(r"\s*=(?!=)\s*")
_UNARY = re.compile(r"([-+~])(?=[^\W\d]|%|@)|(not)\b\s*")
_SYMBOL = re.compile(
    r"\s*(" + "|".join(map(re.escape, sorted(notation.BINARY.values(), key=len, reverse=True))) + r")\s+"
)

_BINARY_OPS = {symbol: op for op, symbol in notation.BINARY.items()}
_UNARY_OPS = {symbol.strip(): op for op, symbol in notation.UNARY.items()}

__all__ = ["ParseError", "parse", "parse_type"]


def parse(text: str, objects: Mapping[str, Any] | None = None) -> Graph:
    """The graph that a text describes.

    Args:
        text: as `printer.to_text` writes it.
        objects: what the text calls `@name`, by name; see `printer.objects`.

    Raises:
        ParseError: the text is not that of a graph; it tells the line and column.
    """
    reader = _GraphReader(text, objects or {})
    with located(reader.current):
        return reader.graph()


def parse_type(text: str, objects: Mapping[str, Any] | None = None) -> Type:
    """The type that a text such as `f64[3,?]` describes; raises what `parse` does."""
    reader = Reader(text, 1)
    with located(lambda: reader):
        type = TypeReader(objects or {}).type(reader)
        reader.end()
    return type


class _GraphReader:
    """Reads the lines of a graph."""

    def __init__(self, text: str, objects: Mapping[str, Any]) -> None:
        readers = [Reader(line.rstrip("\r"), number) for number, line in enumerate(text.split("\n"), 1)]
        self.lines = [reader for reader in readers if not reader.ended]
        self.count = 0  # of the lines that have been read
        self.end = readers[-1]
        self.types = TypeReader(objects)
        self.args = ArgReader(objects)
        self.defined: dict[str, int] = {}
        self.scope: list[str] = []  # the names of `args.visible`, in order

    def current(self) -> Reader:
        """The line that is being read."""
        return self.lines[self.count - 1] if self.count else self.end

    def graph(self) -> Graph:
        reader = self._line()
        if reader is None or reader.indent or not reader.take("graph "):
            (reader or self.end).fail("expected `graph NAME(PARAMS):`")
        graph = Graph(self._name(reader))
        reader.expect("(")
        self._params(graph.block, reader)
        reader.expect(":")
        reader.end()
        self._block(graph.block, 0)
        if rest := self._line():
            rest.fail("the graph has ended; this does not belong to it")
        return graph

    def _peek(self) -> Reader | None:
        return self.lines[self.count] if self.count < len(self.lines) else None

    def _line(self) -> Reader | None:
        reader = self._peek()
        self.count += reader is not None
        return reader

    def _name(self, reader: Reader) -> str:
        found = reader.match(STRING) or reader.match(notation.IDENTIFIER)
        return _unquoted(found[0]) if found else reader.fail("expected a name")

    def _params(self, block: Block, reader: Reader) -> None:
        while not reader.take(")"):
            name, type = self._definition(reader)
            self._show(name, block.add_param(type, _own_name(name)))
            if not reader.take(",") and not reader.at(")"):
                reader.fail("`,` or `)` is missing here")

    def _definition(self, reader: Reader) -> tuple[str, Type]:
        found = reader.match(VALUE)
        if not found:
            reader.fail("expected `name: type`")
        name = found[0]
        if name in self.defined:
            reader.fail(f"{name} is defined already, in line {self.defined[name]}", found.start())
        self.defined[name] = reader.number
        reader.expect(":")
        return name, self.types.type(reader)

    def _show(self, name: str, value: Any) -> None:
        self.args.visible[name] = value
        self.scope.append(name)

    @contextmanager
    def _inner_scope(self) -> Iterator[None]:
        before = len(self.scope)
        yield
        for name in self.scope[before:]:
            del self.args.visible[name]
        del self.scope[before:]

    def _block(self, block: Block, outer: int) -> None:
        """Read the lines of a block, which are indented by more than `outer`, and all alike."""
        first = self._peek()
        if first is None or first.indent <= outer:
            (first or self.end).fail("expected an indented block; an empty one is written `pass`")
        while (reader := self._peek()) and reader.indent > outer:
            if reader.indent != first.indent:
                reader.fail(f"this block is indented by {first.indent} spaces")
            self.count += 1
            if not self._closing(block, reader):
                self._node(block, reader)
                continue
            reader.end()
            following = self._peek()
            if following and following.indent > outer:
                following.fail("nothing may follow the end of a block")

    def _closing(self, block: Block, reader: Reader) -> bool:
        """Read how a block ends, if it does here."""
        if reader.take("->"):
            results: list[Any] = []
            if reader.take("never"):
                block.results = None
                return True
            while not reader.ended:
                results.append(self.args.arg(reader))
                if not reader.take(",") and not reader.ended:
                    reader.fail("`,` is missing here")
            block.results = tuple(results)
            return True
        return not block.nodes and reader.text.strip() == "pass" and reader.take("pass")

    def _node(self, block: Block, reader: Reader) -> None:
        outputs: list[tuple[str, Type]] = []
        while reader.sees(_OUTPUT):
            outputs.append(self._definition(reader))
            if not reader.take(","):
                break
        if outputs:
            reader.expect("=")
        node = block.append(self._right_side(reader))
        if reader.take(":"):
            reader.end()
            self._blocks(node, reader.indent)
        reader.end()
        for name, type in outputs:
            self._show(name, node.add_output(type, _own_name(name)))

    def _blocks(self, node: Node, outer: int) -> None:
        blocks: list[Block] = []
        first = self._peek()
        while (reader := self._peek()) and reader.indent > outer:
            expected = notation.label(node.op, len(blocks))
            found = reader.match(notation.IDENTIFIER)
            if not found or found[0] != expected or (first and reader.indent != first.indent):
                reader.fail(f"expected the block `{expected}:` of `{node.op}`", reader.indent)
            self.count += 1
            blocks.append(Block())
            with self._inner_scope():
                if reader.take("("):
                    self._params(blocks[-1], reader)
                reader.expect(":")
                reader.end()
                self._block(blocks[-1], reader.indent)
        if not blocks:
            (first or self.end).fail(f"expected the blocks of `{node.op}`")
        node.blocks = tuple(blocks)

    def _right_side(self, reader: Reader) -> Node:
        """Read what a node does."""
        if not reader.sees(NUMBER) and (found := reader.match(_UNARY)):
            return Node(_UNARY_OPS[found[1] or found[2]], (self.args.atom(reader),))
        if "del" not in self.args.visible and reader.take("del "):
            base = self.args.atom(reader)
            reader.expect("[")
            return Node("delitem", (base, self._index(reader)))
        found = reader.sees(_CALLED)
        if found and self._is_op(found[1]):
            reader.position = found.end()
            return self._call(_unquoted(found[1]), (), reader)
        return self._suffixed(self.args.atom(reader), reader)

    def _is_op(self, name: str) -> bool:
        return name not in notation.CONSTRUCTORS and name.partition(".")[0] not in self.args.visible

    def _suffixed(self, first: Any, reader: Reader) -> Node:
        if found := reader.match(_METHOD):
            return self._call(found[1], (first,), reader)
        if found := reader.match(_ATTRIBUTE):
            return self._access("attr", first, found[1], reader)
        if reader.take("["):
            return self._access("item", first, self._index(reader), reader)
        found = reader.match(_SYMBOL)
        if not found:
            reader.fail("expected an operator, or what is done with this")
        return Node(_BINARY_OPS[found[1]], (first, self.args.atom(reader)))

    def _access(self, kind: str, base: Any, key: Any, reader: Reader) -> Node:
        if reader.match(_ASSIGNED):
            return Node(f"set{kind}", (base, key, self.args.arg(reader)))
        return Node(f"get{kind}", (base, key))

    def _index(self, reader: Reader) -> Any:
        args, comma = self.args.list(reader, "]")
        if not args:
            reader.fail("expected an index; an empty tuple is written `[()]`", reader.position - 1)
        return args[0] if len(args) == 1 and not comma else tuple(args)

    def _call(self, op: str, args: tuple[Any, ...], reader: Reader) -> Node:
        kwargs: dict[str, Any] = {}
        given = list(args)
        while not reader.take(")"):
            if found := reader.match(_KEYWORD):
                name = _unquoted(found[1])
                if name in kwargs:
                    reader.fail(f"the argument {name} is there already", found.start())
                kwargs[name] = self.args.arg(reader)
            elif kwargs:
                reader.fail("an argument without a name cannot follow those with names")
            else:
                given.append(self.args.arg(reader))
            if not reader.take(",") and not reader.at(")"):
                reader.fail("`,` or `)` is missing here")
        return Node(op, tuple(given), kwargs)


def _unquoted(text: str) -> str:
    return str(ast.literal_eval(text)) if text[0] in "'\"" else text


def _own_name(name: str) -> str:
    """What the user calls the value of which this is the name in a text."""
    own = re.sub(r"\.\d+\Z", "", name)
    if own.startswith("%"):
        return "" if own[1:].isdigit() else _unquoted(own[1:])
    return own
