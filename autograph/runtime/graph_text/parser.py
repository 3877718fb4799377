"""A recursive-descent parser of graphs, of the text that `printer` writes and `notation` describes.

It reads line by line; indentation determines the blocks. `Reader` reads tokens of a line, `TermReader` types and
arguments, `_GraphReader` the lines.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from autograph.errors import AutographError
from autograph.runtime.graph.graph import UNBOUND, Block, Constant, Graph, Node, Value
from autograph.runtime.graph.types import PYTHON_DTYPES, SHORT_NAMES, MaybeUnbound, ObjectType, TensorType, Type
from autograph.runtime.graph_text import notation

STRING = re.compile(r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
_LITERAL = re.compile(rf"b?{STRING.pattern}")
VALUE = re.compile(rf"(?:{notation.IDENTIFIER.pattern}|%\d+|%(?:{STRING.pattern}))(?:\.\d+)?")
DOTTED = notation.DOTTED
_REAL = r"(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan)"
NUMBER = re.compile(rf"-?(?:0x[0-9a-f]+|{_REAL}j?)(?!\w|\.\d)")
_COMPLEX = re.compile(rf"\(-?{_REAL}[+-]{_REAL}j\)")
_REFERENCE = re.compile(rf"@({notation.IDENTIFIER.pattern}(?:\.\d+)?)")
_SCALAR = re.compile(rf"({'|'.join(notation.SCALARS)})\(({_COMPLEX.pattern}|{NUMBER.pattern}|True|False)\)")
_DTYPE_OR_RANGE = re.compile(r"(dtype|range)\(")
_DTYPE = re.compile(r"[<>|=][a-zA-Z]\d*(?:\[\d*[a-zA-Z]+\])?")
_DIMS = re.compile(r"\[((?:(?:\?|\d+)(?:,(?:\?|\d+))*)?)\]")
_SPACE = re.compile(r"\s*(?:#.*)?")

_DTYPES = {name: dtype for dtype, name in SHORT_NAMES.items()}
_PYTHON_DTYPES = _DTYPES | {kind.__name__: dtype for kind, dtype in PYTHON_DTYPES.items()}
_MOST_DIMS, _LONGEST = 64, 2**63 - 1  # of a NumPy array
_CONSTANTS = {"None": None, "True": True, "False": False, "unbound": UNBOUND}

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


class ParseError(AutographError):
    """A text is not that of a graph.

    Attributes:
        line: counted from 1.
        column: counted from 1.
    """

    def __init__(self, problem: str, text: str, line: int, column: int) -> None:
        before, after = _shown(text[: column - 1][-_SHOWN:]), _shown(text[column - 1 :][:_SHOWN])
        place = f"line {line}, column {column}: {_shown(problem)}"
        super().__init__(f"{place}\n    {before}{after}\n    {' ' * len(before)}^")
        self.line = line
        self.column = column


_SHOWN = 120  # characters of a line on each side of the column


def _shown(text: str) -> str:
    """A text that can be printed: other characters are escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class Reader:
    """Reads one line; `position` is the number of characters that have been read."""

    def __init__(self, text: str, number: int) -> None:
        self.text = text
        self.number = number
        self.position = len(text) - len(text.lstrip(" "))
        self.indent = self.position
        self.comma = False

    def fail(self, problem: str, position: int | None = None) -> NoReturn:
        raise ParseError(problem, self.text, self.number, (self.position if position is None else position) + 1)

    def sees(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        return pattern.match(self.text, self.position)

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Read the next token if it is this one."""
        found = pattern.match(self.text, self.position)
        if found:
            self.position = found.end()
        return found

    def take(self, token: str) -> bool:
        """Read a token and the spaces around it, if it comes next."""
        start = self._after_spaces(self.position)
        if not self.text.startswith(token, start):
            return False
        self.position = self._after_spaces(start + len(token))
        return True

    def _after_spaces(self, position: int) -> int:
        while self.text.startswith(" ", position):
            position += 1
        return position

    def expect(self, token: str) -> None:
        if not self.take(token):
            self.fail(f"`{token}` is missing here")

    def items(self, end: str) -> Iterator[None]:
        """One step for each item, which the caller reads, of a list with commas; then `end` is read.

        `comma` says afterwards whether a comma comes before the end.
        """
        self.comma = True
        while not self.take(end):
            if not self.comma:
                self.fail(f"`,` or `{end}` is missing here")
            yield
            self.comma = self.take(",")

    def at(self, tokens: str) -> bool:
        """Whether one of these characters comes next."""
        start = self._after_spaces(self.position)
        return start < len(self.text) and self.text[start] in tokens

    @property
    def ended(self) -> bool:
        found = _SPACE.match(self.text, self.position)
        return found is not None and found.end() == len(self.text)

    def end(self) -> None:
        if not self.ended:
            self.take("")
            self.fail("this does not belong here")


@contextmanager
def located(reader: Callable[[], Reader]) -> Iterator[None]:
    """Convert errors of Python and NumPy to a `ParseError` at the present place."""
    try:
        yield
    except (RecursionError, MemoryError):
        reader().fail("this is nested too deeply")
    except (ArithmeticError, SyntaxError, TypeError, ValueError) as error:
        reader().fail(f"this cannot be read: {error}")


class TermReader(Reader):
    """Reads types and arguments in a line.

    Attributes:
        objects: the objects that the text calls `@name`, by name.
        visible: the values by name.
    """

    def __init__(self, text: str, number: int, objects: Mapping[str, Any], visible: dict[str, Value]) -> None:
        super().__init__(text, number)
        self.objects = objects
        self.visible = visible

    def look_up(self, found: re.Match[str]) -> Any:
        """The object that the text calls `@name`."""
        if found[1] not in self.objects:
            names = ", ".join(self.objects) or "none"
            self.fail(f"the object {found[0]} is not in the table of objects (there: {names})", found.start())
        value = self.objects[found[1]]
        return Constant(value) if isinstance(value, (tuple, list, dict, slice)) else value

    # Types ------------------------------------------------------------------------------------------------------------

    def type(self) -> Type:
        found = self._tensor() or self._object()
        return MaybeUnbound(found) if self.take("?") else found

    def _tensor(self) -> TensorType | None:
        start, exact = self.position, not self.take("~")
        dtype, kind = self._dtype()
        if dtype is None:
            if exact:
                self.position = start
                return None
            self.fail("expected a NumPy dtype, such as f64, or a Python number, such as py.int")
        dims = None if kind == "python" else self.match(_DIMS)
        if dims is None:
            return TensorType(dtype, (), kind, exact)
        shape = tuple(None if dim == "?" else int(dim) for dim in dims[1].split(",") if dim)
        if len(shape) > _MOST_DIMS or any(dim is not None and dim > _LONGEST for dim in shape):
            self.fail("no array has this shape", dims.start())
        return TensorType(dtype, shape, "array", exact)

    def _dtype(self) -> tuple[np.dtype[Any] | None, str]:
        """A dtype and a kind; the kind of an array depends on the dimensions that follow."""
        if found := self.match(_DTYPE):
            return np.dtype(found[0]), "scalar"
        if found := self.match(_REFERENCE):
            return np.dtype(self.look_up(found)), "scalar"
        start = self.position
        name = (self.match(DOTTED) or [""])[0]
        if name in _DTYPES:
            return _DTYPES[name], "scalar"
        if name.startswith("py."):
            if name[3:] not in _PYTHON_DTYPES:
                self.fail(f"there is no Python number {name}", start)
            return _PYTHON_DTYPES[name[3:]], "python"
        self.position = start
        return None, ""

    def _object(self) -> ObjectType:
        if found := self.match(STRING):
            name = str(ast.literal_eval(found[0]))
        elif found := self.match(DOTTED):
            name = found[0]
        else:
            self.fail("expected a type, such as py.int, f64, f64[3,?], str or object")
        items: list[Type] = []
        if self.take("<"):
            items.append(self.type())
            while self.take(","):
                items.append(self.type())
            self.expect(">")
        return ObjectType(name, tuple(items))

    # Arguments --------------------------------------------------------------------------------------------------------

    def list(self, end: str) -> tuple[list[Any], bool]:
        """Arguments up to `end`, which is read too; and whether a comma precedes it."""
        args = [self.arg() for _ in self.items(end)]
        return args, self.comma and bool(args)

    def tuple(self, end: str) -> Any:
        """A tuple up to `end`; or its only argument, if no comma follows."""
        args, comma = self.list(end)
        return args[0] if len(args) == 1 and not comma else (*args,)

    def arg(self) -> Any:
        """An argument, which may be a slice."""
        first = None if self.at(":") else self.atom()
        if not self.take(":"):
            return first
        parts = [first, None, None]
        for number in (1, 2):
            if not self.ended and not self.at(":,)]}=#"):
                parts[number] = self.atom()
            if number == 2 or not self.take(":"):
                break
        return slice(*parts)

    def atom(self) -> Any:
        """Anything but a slice."""
        if found := self.match(_COMPLEX):
            return complex(found[0])
        if found := self.match(NUMBER):
            return self._number(found[0])
        if found := self.match(_LITERAL):
            return ast.literal_eval(found[0])
        if self.take("..."):
            return ...
        if found := self.match(_SCALAR):
            return self._scalar(found)
        if found := self.match(_DTYPE_OR_RANGE):
            return self._dtype_or_range(found[1])
        if found := self.match(_REFERENCE):
            return self._reference(found)
        if self.at("([{"):
            return self._display()
        return self._named()

    def _number(self, text: str) -> Any:
        if text.endswith("j"):
            return complex(text)
        if "x" in text:
            return int(text, 16)
        return int(text) if text.lstrip("-").isdigit() else float(text)

    def _scalar(self, found: re.Match[str]) -> Any:
        kind, text = notation.SCALARS[found[1]], found[2]
        try:
            if issubclass(kind, np.floating):
                return kind(text)  # as it is written: a long double has more digits than a float
            if text in _CONSTANTS:
                return kind(_CONSTANTS[text])
            return kind(complex(text) if text[0] == "(" else self._number(text))
        except (TypeError, ValueError, OverflowError) as error:
            self.fail(f"this is no {found[1]}: {error}", found.start())

    def _dtype_or_range(self, kind: str) -> Any:
        start = self.position
        if kind == "range":
            try:
                return range(*self.list(")")[0])
            except (TypeError, ValueError) as error:
                self.fail(f"this is no range: {error}", start)
        found = self.match(STRING)
        name = str(ast.literal_eval(found[0])) if found else (self.match(DOTTED) or [""])[0]
        self.expect(")")
        try:
            return _DTYPES[name] if name in _DTYPES else np.dtype(name)
        except TypeError:
            self.fail(f"there is no dtype {name!r}", start)

    def _reference(self, found: re.Match[str]) -> Any:
        value = self.look_up(found)
        if not (hasattr(value, "_fields") and isinstance(value, type) and self.take("(")):
            return value
        args, _ = self.list(")")
        try:
            return value(*args)
        except TypeError as error:
            self.fail(str(error), found.start())

    def _display(self) -> Any:
        if self.take("["):
            return self.list("]")[0]
        if self.take("("):
            return self.tuple(")")
        self.take("{")
        made = {}
        for _ in self.items("}"):
            start = self.position
            key = self.atom()
            if key in made:
                self.fail(f"the key {key!r} is there already", start)
            self.expect(":")
            made[key] = self.arg()
        return made

    def _named(self) -> Any:
        found = self.sees(VALUE)
        if found and found[0] in self.visible:
            self.position = found.end()
            return self.visible[found[0]]
        dotted = self.sees(DOTTED)
        name = dotted[0] if dotted else ""
        try:
            constant = _CONSTANTS[name] if name in _CONSTANTS else notation.resolve(name)
        except LookupError:
            token = found or dotted
            self.fail(f"there is no value {token[0]} here" if token else "expected a value or a constant")
        self.position += len(name)
        return constant


def parse(text: str, objects: Mapping[str, Any] | None = None) -> Graph:
    """The graph that a text describes.

    Args:
        text: as `printer.to_text` writes it.
        objects: the objects that the text calls `@name`, by name; see `printer.objects`.

    Raises:
        ParseError: the text is not that of a graph; the error has the line and column.
    """
    reader = _GraphReader(text, objects or {})
    with located(reader.current):
        return reader.graph()


def parse_type(text: str, objects: Mapping[str, Any] | None = None) -> Type:
    """The type that a text such as `f64[3,?]` describes; raises as `parse` does."""
    reader = TermReader(text, 1, objects or {}, {})
    with located(lambda: reader):
        type = reader.type()
        reader.end()
    return type


class _GraphReader:
    """Reads the lines of a graph."""

    def __init__(self, text: str, objects: Mapping[str, Any]) -> None:
        self.visible: dict[str, Value] = {}
        texts = enumerate(text.split("\n"), 1)
        readers = [TermReader(line.rstrip("\r"), number, objects, self.visible) for number, line in texts]
        self.lines = [reader for reader in readers if not reader.ended]
        self.count = 0  # of the lines that have been read
        self.end = readers[-1]
        self.defined: dict[str, int] = {}
        self.scope: list[str] = []  # the names of `visible`, in order

    def current(self) -> TermReader:
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

    def _peek(self) -> TermReader | None:
        return self.lines[self.count] if self.count < len(self.lines) else None

    def _line(self) -> TermReader | None:
        reader = self._peek()
        self.count += reader is not None
        return reader

    def _name(self, reader: TermReader) -> str:
        found = reader.match(STRING) or reader.match(notation.IDENTIFIER)
        return _unquoted(found[0]) if found else reader.fail("expected a name")

    def _params(self, block: Block, reader: TermReader) -> None:
        for _ in reader.items(")"):
            name, type = self._definition(reader)
            self._show(name, block.add_param(type, _own_name(name)))

    def _definition(self, reader: TermReader) -> tuple[str, Type]:
        found = reader.match(VALUE)
        if not found:
            reader.fail("expected `name: type`")
        name = found[0]
        if name in self.defined:
            reader.fail(f"{name} is defined already, in line {self.defined[name]}", found.start())
        self.defined[name] = reader.number
        reader.expect(":")
        return name, reader.type()

    def _show(self, name: str, value: Any) -> None:
        self.visible[name] = value
        self.scope.append(name)

    @contextmanager
    def _inner_scope(self) -> Iterator[None]:
        before = len(self.scope)
        yield
        for name in self.scope[before:]:
            del self.visible[name]
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

    def _closing(self, block: Block, reader: TermReader) -> bool:
        """Read the end of a block, if this line is one; whether it is."""
        if reader.take("->"):
            results: list[Any] = []
            if reader.take("never"):
                block.results = None
                return True
            while not reader.ended:
                results.append(reader.arg())
                if not reader.take(",") and not reader.ended:
                    reader.fail("`,` is missing here")
            block.results = tuple(results)
            return True
        return not block.nodes and reader.text.strip() == "pass" and reader.take("pass")

    def _node(self, block: Block, reader: TermReader) -> None:
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

    def _right_side(self, reader: TermReader) -> Node:
        """Read an operation and its arguments."""
        if not reader.sees(NUMBER) and (found := reader.match(_UNARY)):
            return Node(_UNARY_OPS[found[1] or found[2]], (reader.atom(),))
        if "del" not in self.visible and reader.take("del "):
            base = reader.atom()
            reader.expect("[")
            return Node("delitem", (base, self._index(reader)))
        found = reader.sees(_CALLED)
        if found and found[1] not in notation.CONSTRUCTORS and found[1].partition(".")[0] not in self.visible:
            reader.position = found.end()
            return self._call(_unquoted(found[1]), (), reader)
        return self._suffixed(reader.atom(), reader)

    def _suffixed(self, first: Any, reader: TermReader) -> Node:
        if found := reader.match(_METHOD):
            return self._call(found[1], (first,), reader)
        if found := reader.match(_ATTRIBUTE):
            return self._access("attr", first, found[1], reader)
        if reader.take("["):
            return self._access("item", first, self._index(reader), reader)
        found = reader.match(_SYMBOL)
        if not found:
            reader.fail("expected an operator, or what is done with this")
        return Node(_BINARY_OPS[found[1]], (first, reader.atom()))

    def _access(self, kind: str, base: Any, key: Any, reader: TermReader) -> Node:
        if reader.match(_ASSIGNED):
            return Node(f"set{kind}", (base, key, reader.arg()))
        return Node(f"get{kind}", (base, key))

    def _index(self, reader: TermReader) -> Any:
        if reader.take("]"):
            reader.fail("expected an index; an empty tuple is written `[()]`", reader.position - 1)
        return reader.tuple("]")

    def _call(self, op: str, args: tuple[Any, ...], reader: TermReader) -> Node:
        kwargs: dict[str, Any] = {}
        positional = list(args)
        for _ in reader.items(")"):
            if found := reader.match(_KEYWORD):
                name = _unquoted(found[1])
                if name in kwargs:
                    reader.fail(f"the argument {name} is there already", found.start())
                kwargs[name] = reader.arg()
            elif kwargs:
                reader.fail("an argument without a name cannot follow those with names")
            else:
                positional.append(reader.arg())
        return Node(op, tuple(positional), kwargs)


def _unquoted(text: str) -> str:
    return str(ast.literal_eval(text)) if text[0] in "'\"" else text


def _own_name(name: str) -> str:
    """The user's name of the value with this name in a text."""
    own = re.sub(r"\.\d+\Z", "", name)
    if own.startswith("%"):
        return "" if own[1:].isdigit() else _unquoted(own[1:])
    return own
