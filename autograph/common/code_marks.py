"""Marks of converted code: the last constant of each of its code objects.

If the code has `try` or `with` statements, a tuple of their `Shelter`s precedes the mark. Classes of staged functions
are marked by an attribute.
"""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary, ref

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
    if type(function) is not FunctionType:
        return False
    is_converting = function.__code__.co_consts[-1:] == (SWITCH,) and "__wrapped__" in vars(function)
    return is_converting or is_staged_function(function)


def is_staged_function(function: Any) -> bool:
    """Whether `ag.function` made a function, and its code; the user may set other code, also that of another one."""
    if type(function) is not FunctionType or not is_staged(function.__code__):
        return False
    wrapped = vars(function).get("__wrapped__")
    return type(wrapped) is FunctionType and wrapped.__code__ is users_code(function.__code__)


_FRONTS: WeakKeyDictionary[FunctionType, ref[FunctionType]] = WeakKeyDictionary()


def put_in_front(function: FunctionType, front: FunctionType) -> None:
    """Let `front` be the function that `ag.function` has made of another one."""
    _FRONTS[function] = ref(front)


def front_of(function: FunctionType) -> FunctionType:
    """The function that `ag.function` has made of another one, whose defaults calls get; itself if there is none."""
    found = _FRONTS.get(function)
    return (None if found is None else found()) or function


# By identity: code that users derive from such code, by `replace`, is theirs.
_STAGED: WeakValueDictionary[int, CodeType] = WeakValueDictionary()


def staged(code: CodeType, user: CodeType) -> CodeType:
    """`code`, marked as that of a staged function in place of the user's."""
    marked = code.replace(co_consts=(*code.co_consts, user, STAGED))
    _STAGED[id(marked)] = marked
    return marked


def is_staged(code: CodeType) -> bool:
    """Whether `code` is that of a staged function, or was unpickled as such."""
    return code.co_consts[-1:] == (STAGED,)


def users_code(code: CodeType) -> CodeType:
    """The code that a staged function has in place of the user's leads to that; other code is the user's."""
    return code.co_consts[-2] if _STAGED.get(id(code)) is code else code


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
    if getattr(type(entity), "__ag_staged__", False):
        return entity.__wrapped__ if hasattr(entity, "__wrapped__") else entity.python_function
    return entity.__wrapped__ if is_staged_function(entity) else entity


class Unbound:
    """The class of `UNBOUND`, which represents the value of an unbound variable."""

    def __repr__(self) -> str:
        return "UNBOUND"

    def __reduce__(self) -> str:
        return "UNBOUND"    # there is but one


UNBOUND = Unbound()
