"""Lets an unbound local variable read in a generated body raise the same error as in the user's function.

In a body made of a part of the user's function, the variables of that function are free. Reading an unbound one raises
NameError ("free variable …") instead of UnboundLocalError. Operators pass every NameError of their bodies to `rename`;
until one is raised, this costs nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType, FunctionType
from typing import NoReturn

from autograph.common.messages import UNBOUND_FREE, UNBOUND_LOCAL
from autograph.operators.tracebacks import is_library

# The parameters of each operator that are bodies. Until Python 3.12 a comprehension is a scope of its own, and a
# generator expression always is: the variables of the function are free in them in Python, too.
_BODIES: dict[str, tuple[str, ...]] = {
    "if_stmt": ("body", "orelse"),
    "if_exp": ("body", "orelse"),
    "while_stmt": ("test", "body", "until"),
    "for_stmt": ("body", "until"),
    "and_": ("first", "second"),
    "or_": ("first", "second"),
    "compare": ("term", "term2"),
    "assert_stmt": ("test", "message"),
    "fstring": ("text",),
}
if sys.version_info >= (3, 12):
    _BODIES |= {
        "list_comp": ("element", "condition"),
        "set_comp": ("element", "condition"),
        "dict_comp": ("key", "value", "condition"),
    }


def rename(error: NameError, *bodies: object) -> None:
    """Raise UnboundLocalError instead of `error`, if a body of the calling operator read an unbound local variable."""
    name = error.name
    if type(error) is not NameError or name is None or error.__traceback__ is None:
        return
    operator = error.__traceback__.tb_frame
    if str(error) != UNBOUND_FREE.format(name) or operator.f_code.co_name not in _BODIES:
        return
    codes = _codes(bodies)
    entry = error.__traceback__.tb_next
    while entry is not None and entry.tb_frame.f_code not in codes:  # frames of a backend
        entry = entry.tb_next
    if entry is not None and entry.tb_next is None and _is_local(name, operator.f_back):
        _raise_like(UnboundLocalError(UNBOUND_LOCAL.format(name)).with_traceback(entry), error)


def _is_local(name: str, frame: FrameType | None) -> bool:
    """Whether `name`, free in a body that `frame` passed to an operator, is a local of the user's function."""
    while frame is not None and name not in frame.f_code.co_cellvars:
        if is_library(frame.f_code):  # an operator that called another
            frame = frame.f_back
            continue
        operator = _operator_below(frame)
        if operator is None or frame.f_code not in _codes(_bodies_of(operator)):
            return False  # the user's own inner function, in which the variable is free
        frame = operator.f_back
    return frame is not None


def _operator_below(frame: FrameType) -> FrameType | None:
    below = frame.f_back
    while below is not None and not (below.f_code.co_name in _BODIES and is_library(below.f_code)):
        below = below.f_back
    return below


def _bodies_of(operator: FrameType) -> Iterator[object]:
    for name in _BODIES[operator.f_code.co_name]:
        argument = operator.f_locals[name]
        yield from argument if isinstance(argument, tuple) else (argument,)


def _codes(bodies: Iterable[object]) -> list[CodeType]:
    return [body.__code__ for body in bodies if type(body) is FunctionType]


def _raise_like(new: BaseException, old: BaseException) -> NoReturn:
    context, cause, suppress = old.__context__, old.__cause__, old.__suppress_context__
    try:
        raise new
    finally:
        new.__context__, new.__cause__, new.__suppress_context__ = context, cause, suppress
        del new, old  # the traceback holds this frame: no cycle
