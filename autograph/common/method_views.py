"""Views of methods, such as `model.step.graph(x)`.

CPython asks the function for the attribute `graph`, and does not tell it the object. So a view looks up the expression
in front of it, at the place of the call in the source, as far as that runs no code: a variable, and attributes of it.
Without source, or for other expressions, pass the object: `Model.step.graph(model, x)`.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from collections.abc import Callable
from types import FrameType, FunctionType, MethodType
from typing import Any, cast

from autograph.common.line_tables import positions
from autograph.common.parsing import parse
from autograph.common.statics import own_attribute

_UNKNOWN = object()


class MethodView:
    """A method of a staged function, such as `graph`, as an attribute of a function in a class.

    Args:
        view: that method.
        front: gives the function of which this is an attribute.
    """

    def __init__(self, view: Callable[..., Any], front: Callable[[], FunctionType | None]) -> None:
        self.__wrapped__ = view
        self.__doc__ = view.__doc__
        self._front = front

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        owner = _owner(_method(sys._getframe(1)), self._front())
        return self.__wrapped__(*args, **kwargs) if owner is _UNKNOWN else self.__wrapped__(owner, *args, **kwargs)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)


def _owner(method: Any, front: FunctionType | None) -> Any:
    """The object of a method, if its function is `front`."""
    return method.__self__ if type(method) is MethodType and method.__func__ is front else _UNKNOWN


def _method(frame: FrameType) -> Any:
    """The value of the expression in front of the view that a frame calls."""
    call = _called(frame)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return _UNKNOWN
    return _value(call.func.value, frame)


def _called(frame: FrameType) -> ast.expr | None:
    """The expression that a frame is at; None if the source is not found."""
    code = frame.f_code
    found = positions(code)[frame.f_lasti // 2]
    line, end, column, last = found if len(found) == 4 else (None,) * 4     # before CPython 3.11
    if line is None or end is None or column is None or last is None:
        return None
    lines = [each.encode() for each in linecache.getlines(code.co_filename, frame.f_globals)[line - 1 : end]]
    if not lines:
        return None
    lines[-1] = lines[-1][:last]    # columns count bytes
    lines[0] = lines[0][column:]
    try:
        return cast(ast.expr, parse(f"({b''.join(lines).decode()})", mode="eval").body)    # it may have several lines
    except (SyntaxError, UnicodeDecodeError):   # the file has changed
        return None


def _value(node: ast.expr, frame: FrameType) -> Any:
    """The value of a variable, or of an attribute that is found without running code."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id, _UNKNOWN))
    if not isinstance(node, ast.Attribute):
        return _UNKNOWN
    thing = _value(node.value, frame)
    if thing is _UNKNOWN:
        return _UNKNOWN
    attributes = own_attribute(thing, "__dict__", {})
    found = inspect.getattr_static(type(thing), node.attr, _UNKNOWN)
    if not isinstance(thing, type) and node.attr in attributes and not hasattr(type(found), "__set__"):
        return attributes[node.attr]
    if isinstance(thing, type):
        found = inspect.getattr_static(thing, node.attr, _UNKNOWN)
    if type(found) is classmethod:
        return MethodType(found.__func__, thing if isinstance(thing, type) else type(thing))
    return MethodType(found, thing) if type(found) is FunctionType and not isinstance(thing, type) else found
