"""Literals as text: numbers, strings, and f-strings as each version of Python allows them.

Until Python 3.11 an expression inside an f-string may hold neither a backslash nor the quotes of the string around
it. `Quoting` says what is allowed where; outside of f-strings everything is.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

TRIPLE = '"""'

_INFINITY = "1e309"  # no literal is infinite, but this one overflows
_LONG = 12_000  # bits; Python refuses to print integers that are much longer in decimal
_NESTS_FREELY = sys.version_info >= (3, 12)


class UnprintableError(ValueError):
    """This value has no text in this place."""


@dataclass(frozen=True)
class Quoting:
    """The form that string literals may have in some place.

    Attributes:
        outer: the quotes of the f-strings around. If there are any, backslashes are forbidden, too.
        preferred: the quotes to try first.
    """

    outer: tuple[str, ...] = ()
    preferred: str = "'"

    def quotes(self) -> Iterable[str]:
        """The quotes to try, in order."""
        return [quote for quote in dict.fromkeys((self.preferred, "'", '"', "'''", TRIPLE)) if quote not in self.outer]

    def inside(self, quote: str) -> Quoting:
        """The quoting inside an f-string with these quotes."""
        return Quoting((*self.outer, quote))

    def allows(self, text: str) -> bool:
        """Whether a literal is allowed here."""
        one_line = any(len(quote) == 1 for quote in self.outer)
        forbidden = ("\\", *self.outer, *("\n" * one_line))
        return not self.outer or not any(part in text for part in forbidden)


ANYWHERE = Quoting()

WriteExpression = Callable[[Any, Quoting], str]


def constant(value: object, quoting: Quoting = ANYWHERE) -> str:
    """The literal for a constant."""
    if isinstance(value, str | bytes):
        return string(value, quoting)
    if value is Ellipsis:
        return "..."
    if isinstance(value, float | complex):
        return repr(value).replace("inf", _INFINITY).replace("nan", f"({_INFINITY} - {_INFINITY})")
    if isinstance(value, tuple):  # only optimizers make these
        items = [constant(item, quoting) for item in value]
        return f"({', '.join(items)}{',' * (len(items) == 1)})"
    if isinstance(value, int) and value.bit_length() > _LONG:
        return hex(value)
    return repr(value)


def string(value: str | bytes, quoting: Quoting = ANYWHERE) -> str:
    """A string literal for a place with the given quoting."""
    text = repr(value)
    if quoting.preferred == '"' and text[0] == "'" and '"' not in text and "\\'" not in text:
        text = f'"{text[1:-1]}"'
    if quoting.allows(text):
        return text
    prefix, plain = ("", value) if isinstance(value, str) else ("b", value.decode("latin-1"))
    for quote in quoting.quotes():
        text = prefix + quote + plain + quote
        if _is_plain(plain, quote) and (plain.isascii() or not prefix) and quoting.allows(text):
            return text
    raise UnprintableError(f"the string {value!r} cannot be written inside an f-string of this Python")


def docstring(value: str) -> str:
    """A string literal in triple quotes, its line feeds as they are."""
    return TRIPLE + _escape(value, TRIPLE) + TRIPLE


def fstring(node: Any, write: WriteExpression, quoting: Quoting = ANYWHERE) -> str:
    """The text of a `JoinedStr`.

    Args:
        node: the node.
        write: prints an expression for a place of the given quoting.
        quoting: of the place of the f-string.
    """
    free = [False, True] if _NESTS_FREELY and not quoting.outer else [False]
    failure = UnprintableError("an f-string is nested too deeply for this Python")
    for nests_freely in free:
        for quote in quoting.quotes():
            inner = ANYWHERE if nests_freely else quoting.inside(quote)
            try:
                return _FString(quote, write, quoting, inner).text(node.values)
            except UnprintableError as error:
                failure = error
    if len(node.values) < 2:
        raise failure
    # each part with the quotes that suit it: f'{a}' f"{b}"
    return " ".join(fstring(ast.JoinedStr([value]), write, quoting) for value in node.values)


@dataclass
class _FString:
    """One way to print an f-string: with these quotes, and this quoting around and inside."""

    quote: str
    write: WriteExpression
    around: Quoting
    inside: Quoting

    def text(self, values: list[Any]) -> str:
        """The token, or UnprintableError."""
        inner = "".join(map(self.part, values))
        text = f"f{self.quote}{inner}{self.quote}"
        if not self.around.allows(text):
            raise UnprintableError(f"{text} cannot be written inside an f-string of this Python")
        return text

    def part(self, node: Any) -> str:
        if type(node).__name__ == "FormattedValue":
            return self.field(node)
        return self.literal(node.value).replace("{", "{{").replace("}", "}}")

    def literal(self, value: str) -> str:
        if self.around.outer and not _is_plain(value, self.quote):
            raise UnprintableError(f"{value!r} cannot be written in an f-string inside an f-string of this Python")
        return value if self.around.outer else _escape(value, self.quote)

    def field(self, node: Any) -> str:
        """A replacement field: `{value!conversion:spec}`."""
        expression = self.write(node.value, self.inside)
        space = " " * expression.startswith("{")  # `{{` would be a brace
        conversion = "" if node.conversion == -1 else "!" + chr(node.conversion)
        spec = "" if node.format_spec is None else ":" + "".join(map(self.spec, node.format_spec.values))
        return f"{{{space}{expression}{conversion}{spec}}}"

    def spec(self, node: Any) -> str:
        if type(node).__name__ == "FormattedValue":
            return self.field(node)
        text = self.literal(node.value).replace("\n", "\\n").replace("{", "\\x7b").replace("}", "\\x7d")
        if not self.around.allows(text):
            raise UnprintableError(f"the format {node.value!r} cannot be written in an f-string of this Python")
        return text


def _is_plain(value: str, quote: str) -> bool:
    """Whether `value` can be typed between these quotes as it is."""
    if "\\" in value or quote in value or "\0" in value or "\r" in value:
        return False
    return not value.endswith(quote[0]) if len(quote) == 3 else "\n" not in value


def _escape(value: str, quote: str) -> str:
    """The text between these quotes that means `value`; line feeds stay if the quotes allow them."""
    core = value.rstrip(quote[0])
    lines = core.split("\n") if len(quote) == 3 else [core]
    # with both kinds of quotes in it, or with `"` alone, repr chooses single ones
    text = "\n".join(repr('"' + line)[2:-1].replace("\\'", "'") for line in lines)
    text = text.replace(quote, "".join("\\" + mark for mark in quote))
    return text + ("\\" + quote[0]) * (len(value) - len(core))
