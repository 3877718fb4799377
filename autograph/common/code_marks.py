"""Marks of converted code: the last constant of each of its code objects.

If the code has `try` or `with` statements, a tuple of their `Shelter`s precedes the mark. Classes of staged functions
are marked by an attribute.
"""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any, NamedTuple

BODY = "\0body"  # a piece of a function of the user's
WHOLE = "\0whole"  # anything else
SWITCH = "\0switch"  # a function that `ag.convert` makes, which chooses between converted code and the user's
STAGED = "\0staged"  # the function that `ag.function` makes of a function


def is_body(code: CodeType) -> bool:
    """Whether `code` is that of a function that converters generated."""
    return code.co_consts[-1:] == (BODY,)


def is_converted(code: CodeType) -> bool:
    """Whether `code` is converted code."""
    return code.co_consts[-1:] in ((BODY,), (WHOLE,))


def is_switch(function: Any) -> bool:
    """Whether `ag.convert` or `ag.function` made a function, which has the user's as `__wrapped__`.

    An attribute would not do: `functools.wraps` copies those.
    """
    return type(function) is FunctionType and function.__code__.co_consts[-1:] in ((SWITCH,), (STAGED,))


def is_staged_function(function: Any) -> bool:
    """Whether `ag.function` made a function."""
    return type(function) is FunctionType and function.__code__.co_consts[-1:] == (STAGED,)


class Shelter(NamedTuple):
    """Lines from which an exception first leads somewhere else in the same function.

    Attributes:
        first: the line of the `try` or `with`.
        last: the last of the lines.
        construct: "except", "finally" or "with".
    """

    first: int
    last: int
    construct: str


def shelters(code: CodeType) -> tuple[Shelter, ...]:
    """The `try` and `with` statements of converted code, the inner ones behind those around them."""
    constants = code.co_consts[-2:-1]
    if constants and is_converted(code) and type(constants[0]) is tuple and constants[0][:1] == (_SHELTERS,):
        return tuple(Shelter(*shelter) for shelter in constants[0][1:])
    return ()


def with_shelters(found: list[Shelter]) -> list[tuple[object, ...]]:
    """The constants that keep shelters in code: none, or one."""
    return [(_SHELTERS, *map(tuple, found))] if found else []


_SHELTERS = "\0shelters"


def unstaged(entity: Any) -> Any:
    """The function that `ag.function` staged, if it made `entity`; else `entity`."""
    return entity.__wrapped__ if is_staged_function(entity) or getattr(type(entity), "__ag_staged__", False) else entity


class Unbound:
    """The class of `UNBOUND`, which represents the value of an unbound variable."""

    def __repr__(self) -> str:
        return "UNBOUND"

    def __reduce__(self) -> str:
        return "UNBOUND"    # there is but one


UNBOUND = Unbound()
