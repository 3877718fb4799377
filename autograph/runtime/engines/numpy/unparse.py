"""The text of a generated function: a printer for what `expressions` and `statements` make, and for no more.

Unlike `ast.unparse` it writes the same under every version of Python, and tuples without needless parentheses.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator

from autograph.runtime.engines.numpy.constants import StandIn

# how tightly an expression binds
(TUPLE, TEST, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, TERM, FACTOR, POWER, ATOM) = range(15)

_BINARY: dict[type[ast.operator], tuple[str, int]] = {
    ast.BitOr: ("|", BIT_OR),
    ast.BitXor: ("^", BIT_XOR),
    ast.BitAnd: ("&", BIT_AND),
    ast.LShift: ("<<", SHIFT),
    ast.RShift: (">>", SHIFT),
    ast.Add: ("+", SUM),
    ast.Sub: ("-", SUM),
    ast.Mult: ("*", TERM),
    ast.MatMult: ("@", TERM),
    ast.Div: ("/", TERM),
    ast.FloorDiv: ("//", TERM),
    ast.Mod: ("%", TERM),
    ast.Pow: ("**", POWER),
}
_UNARY: dict[type[ast.unaryop], tuple[str, int]] = {
    ast.Not: ("not ", NOT),
    ast.USub: ("-", FACTOR),
    ast.UAdd: ("+", FACTOR),
    ast.Invert: ("~", FACTOR),
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_INDENT = "    "


def text_of(function: ast.FunctionDef) -> str:
    """The text of a function."""
    return "".join(f"{line}\n" for line in _function(function))


# ------------------------------------------------------------------------------------------------------- statements


def _lines(body: Iterable[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _if(statement)
        elif isinstance(statement, ast.While):
            yield f"while {written(statement.test)}:"
            yield from _indented(statement.body)
        elif isinstance(statement, ast.For):
            yield f"for {written(statement.target, TUPLE)} in {written(statement.iter, TUPLE)}:"
            yield from _indented(statement.body)
        elif isinstance(statement, ast.With):
            yield f"with {written(statement.items[0].context_expr)}:"
            yield from _indented(statement.body)
        elif isinstance(statement, ast.FunctionDef):
            yield from _function(statement)
        else:
            yield _simple(statement)


def _indented(body: Iterable[ast.stmt]) -> Iterator[str]:
    return (_INDENT + line for line in _lines(body))


def _function(function: ast.FunctionDef) -> Iterator[str]:
    params = ", ".join(arg.arg for arg in function.args.args)
    yield f"def {function.name}({params}):"
    yield from _indented(function.body)


def _if(statement: ast.If) -> Iterator[str]:
    word = "if"
    while True:
        yield f"{word} {written(statement.test)}:"
        yield from _indented(statement.body)
        orelse = statement.orelse
        if not (len(orelse) == 1 and isinstance(orelse[0], ast.If)):
            break
        word, statement = "elif", orelse[0]
    if orelse:
        yield "else:"
        yield from _indented(orelse)


def _simple(statement: ast.stmt) -> str:
    if isinstance(statement, ast.Assign):
        return f"{written(statement.targets[0], TUPLE)} = {written(statement.value, _bare(statement.value))}"
    if isinstance(statement, ast.AugAssign):
        symbol = _BINARY[type(statement.op)][0]
        return f"{written(statement.target)} {symbol}= {written(statement.value, TUPLE)}"
    if isinstance(statement, ast.Return):
        return "return" if statement.value is None else f"return {written(statement.value, _bare(statement.value))}"
    if isinstance(statement, ast.Raise):
        cause = f" from {written(statement.cause)}" if statement.cause else ""
        return f"raise {written(statement.exc)}{cause}" if statement.exc else "raise"
    if isinstance(statement, ast.Expr):
        return written(statement.value, TUPLE)
    if isinstance(statement, ast.Delete):
        return f"del {written(statement.targets[0])}"
    if isinstance(statement, ast.Nonlocal):
        return f"nonlocal {', '.join(statement.names)}"
    return {ast.Break: "break", ast.Pass: "pass"}[type(statement)]


def _bare(value: ast.expr) -> int:
    """How tightly a value must bind to stand without parentheses; a lone comma is easily overlooked."""
    return TEST if isinstance(value, ast.Tuple) and len(value.elts) == 1 else TUPLE


# ------------------------------------------------------------------------------------------------------ expressions


def written(tree: ast.expr, level: int = TEST) -> str:
    """An expression, in parentheses if it binds less tightly than `level`."""
    text, binding = _WRITERS[type(tree)](tree)
    return text if binding >= level else f"({text})"


def _name(tree: ast.Name) -> tuple[str, int]:
    return tree.id, ATOM


def _starred(tree: ast.Starred) -> tuple[str, int]:
    return f"*{written(tree.value, ATOM)}", ATOM


def _stand_in(tree: StandIn) -> tuple[str, int]:
    return _WRITERS[type(tree.shown)](tree.shown)


def _constant(tree: ast.Constant) -> tuple[str, int]:
    value = tree.value
    if value is ...:
        return "...", ATOM
    if isinstance(value, str):
        return quoted(value), ATOM
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value!r}")', ATOM
    if isinstance(value, complex):
        return _complex(value), ATOM
    negative = isinstance(value, (int, float)) and not isinstance(value, bool) and math.copysign(1, value) < 0
    return repr(value), FACTOR if negative else ATOM


def _complex(value: complex) -> str:
    if math.isfinite(value.real) and math.isfinite(value.imag) and math.copysign(1, value.imag) > 0 and not value.real:
        if math.copysign(1, value.real) > 0:
            return repr(value)
    return f'complex("{str(value).strip("()")}")'


def quoted(text: str) -> str:
    """A string literal, in double quotes if that is as easy."""
    plain = repr(text)
    return f'"{plain[1:-1]}"' if plain[0] == "'" and '"' not in plain and "\\'" not in plain else plain


def _binary(tree: ast.BinOp) -> tuple[str, int]:
    symbol, level = _BINARY[type(tree.op)]
    if level == POWER:
        return f"{written(tree.left, ATOM)} ** {written(tree.right, FACTOR)}", POWER
    return f"{written(tree.left, level)} {symbol} {written(tree.right, level + 1)}", level


def _unary(tree: ast.UnaryOp) -> tuple[str, int]:
    symbol, level = _UNARY[type(tree.op)]
    return f"{symbol}{written(tree.operand, level)}", level


def _compare(tree: ast.Compare) -> tuple[str, int]:
    pieces = [written(tree.left, BIT_OR)]
    for op, right in zip(tree.ops, tree.comparators):
        pieces += [_COMPARE[type(op)], written(right, BIT_OR)]
    return " ".join(pieces), COMPARE


def _logical(tree: ast.BoolOp) -> tuple[str, int]:
    word, level = ("and", AND) if isinstance(tree.op, ast.And) else ("or", OR)
    return f" {word} ".join(written(value, level + 1) for value in tree.values), level


def _conditional(tree: ast.IfExp) -> tuple[str, int]:
    return f"{written(tree.body, OR)} if {written(tree.test, OR)} else {written(tree.orelse)}", TEST


def _call(tree: ast.Call) -> tuple[str, int]:
    args = [written(arg) for arg in tree.args]
    args += [f"{each.arg}={written(each.value)}" if each.arg else f"**{written(each.value)}" for each in tree.keywords]
    return f"{written(tree.func, ATOM)}({', '.join(args)})", ATOM


def _attribute(tree: ast.Attribute) -> tuple[str, int]:
    of_number = isinstance(tree.value, ast.Constant) and type(tree.value.value) is int
    owner = f"({written(tree.value)})" if of_number else written(tree.value, ATOM)
    return f"{owner}.{tree.attr}", ATOM


def _subscript(tree: ast.Subscript) -> tuple[str, int]:
    return f"{written(tree.value, ATOM)}[{written(tree.slice, TUPLE)}]", ATOM


def _slice(tree: ast.Slice) -> tuple[str, int]:
    bounds = [written(part) if part else "" for part in (tree.lower, tree.upper)]
    return ":".join([*bounds, written(tree.step)] if tree.step else bounds), TEST


def _tuple(tree: ast.Tuple) -> tuple[str, int]:
    if not tree.elts:
        return "()", ATOM
    items = ", ".join(map(written, tree.elts))
    return items + "," * (len(tree.elts) == 1), TUPLE


def _list(tree: ast.List) -> tuple[str, int]:
    return f"[{', '.join(map(written, tree.elts))}]", ATOM


def _list_comp(tree: ast.ListComp) -> tuple[str, int]:
    (loop,) = tree.generators
    tests = "".join(f" if {written(test, OR)}" for test in loop.ifs)
    items = f"for {written(loop.target, TUPLE)} in {written(loop.iter, OR)}"
    return f"[{written(tree.elt)} {items}{tests}]", ATOM


def _set(tree: ast.Set) -> tuple[str, int]:
    return f"{{{', '.join(map(written, tree.elts))}}}", ATOM


def _dict(tree: ast.Dict) -> tuple[str, int]:
    items = (f"{written(key)}: {written(value)}" for key, value in zip(tree.keys, tree.values) if key is not None)
    return f"{{{', '.join(items)}}}", ATOM


def _joined(tree: ast.JoinedStr) -> tuple[str, int]:
    inside = "".join(_pieces(tree, None))
    around = "".join(part.value for part in tree.values if isinstance(part, ast.Constant) and type(part.value) is str)
    quotes = [each for each in ('"', "'", '"""', "'''") if each not in inside] or ['"']
    quote = next((each for each in quotes if each not in around), quotes[0])
    return f"f{quote}{''.join(_pieces(tree, quote[0]))}{quote}", ATOM


def _pieces(tree: ast.JoinedStr, quote: str | None) -> Iterator[str]:
    """What stands in an f-string that begins with `quote`; without one, only the values."""
    for part in tree.values:
        if isinstance(part, ast.Constant) and quote:
            yield "".join(_escaped(each, quote) for each in str(part.value)).replace("{", "{{").replace("}", "}}")
        elif isinstance(part, ast.FormattedValue):
            value = written(part.value)
            space = " " if value.startswith("{") else ""
            conversion = f"!{chr(part.conversion)}" if part.conversion >= 0 else ""
            spec = f":{_spec(part.format_spec, quote)}" if part.format_spec else ""
            yield f"{{{space}{value}{conversion}{spec}}}"


def _spec(tree: ast.expr, quote: str | None) -> str:
    return "".join(_pieces(tree, quote)) if isinstance(tree, ast.JoinedStr) else ""


def _escaped(character: str, quote: str) -> str:
    if character == quote:
        return f"\\{quote}"
    return character if character in "\"'" else repr(character)[1:-1]


_WRITERS: dict[type[ast.expr], Callable[..., tuple[str, int]]] = {
    ast.Name: _name,
    ast.Starred: _starred,
    StandIn: _stand_in,
    ast.Constant: _constant,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _logical,
    ast.IfExp: _conditional,
    ast.Call: _call,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.ListComp: _list_comp,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.JoinedStr: _joined,
}
