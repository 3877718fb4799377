"""Facts about callables: name, parameters, and the code that the user wrote."""

from __future__ import annotations

import functools
import inspect
import math
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from inspect import Parameter
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any, TypeVar

from autograph.common.code_marks import is_switch
from autograph.common.statics import own_attribute
from autograph.common.trace_rules import ROOT, is_own

F = TypeVar("F", bound=Callable[..., Any])


def user_code(function: Any) -> CodeType | None:
    """The code that the user wrote for a function, method, partial or callable object, if there is any."""
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        code = getattr(getattr(type(function), "__call__", None), "__code__", None)  # noqa: B004
    return code if isinstance(code, CodeType) else None


def place_of(function: Any) -> tuple[str, int] | tuple[()]:
    """The file and line where the user wrote a callable, or what this library has wrapped, if there are any."""
    code = user_code(function)
    while code is not None and code.co_filename.startswith(ROOT) and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
        code = user_code(function)
    return () if code is None else (code.co_filename, code.co_firstlineno)


def name_of(entity: Any) -> str:
    """The name of a function, without the functions that it is made in.

    A partial is called like its function, and an object that can be called like its class.
    """
    while isinstance(entity, functools.partial):
        entity = entity.func
    qualname = getattr(entity, "__qualname__", None) or getattr(entity, "__name__", None)
    if isinstance(qualname, str):
        return qualname.rpartition("<locals>.")[2]
    return name_of(type(getattr(entity, "__wrapped__", entity)))


# Functions that look at the frame of their caller: always, or if they get at most this number of positional arguments.
_ALWAYS = [locals, globals, breakpoint, sys._getframe, inspect.currentframe, inspect.stack]
_ALWAYS += [traceback.extract_stack, traceback.format_stack, traceback.print_stack, traceback.walk_stack]
_LOOKING: dict[Any, float] = {**dict.fromkeys(_ALWAYS, math.inf), vars: 0, dir: 0, eval: 1, exec: 1}


def may_look_at_caller(function: Any) -> bool:
    """Whether a function may look at the frame that calls it, as `locals` does."""
    return type(function) in (BuiltinFunctionType, FunctionType) and function in _LOOKING


def looks_at_caller(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a function looks at the frame that calls it, if it gets these arguments."""
    return len(args) <= _LOOKING[function] and "globals" not in kwargs


def named_like(function: Any) -> Callable[[F], F]:
    """Decorates a wrapper that errors are to call like the function that it wraps."""

    def decorate(wrapper: F) -> F:
        functools.update_wrapper(wrapper, function, updated=())
        wrapper.__qualname__ = name_of(function)
        return wrapper

    return decorate


def full_name_of(function: Any) -> str:
    """The name of a function, with its module."""
    name = own_attribute(function, "__qualname__") or own_attribute(function, "__name__") or object.__repr__(function)
    module = own_attribute(function, "__module__")
    return f"{module}.{name}" if module and module != "builtins" else str(name)


def parameters_of(entity: Any) -> list[Parameter]:
    """The parameters of a callable; any, if it is written in C: not all such take what they say they do.

    And any, if there is no way to call it, as of a partial with arguments too many: the call then raises the error.

    Those of a decorator's wrapper are the wrapper's own, for it may take others than what it wraps, or look at which
    it was given.
    """
    if user_code(entity) is not None:
        with suppress(ValueError):
            return list(inspect.signature(_undecorated(entity)).parameters.values())
    return [Parameter("args", Parameter.VAR_POSITIONAL), Parameter("kwargs", Parameter.VAR_KEYWORD)]


def _undecorated(entity: Any) -> Any:
    """A callable with the parameters of this one, which does not say that it has others."""
    if isinstance(entity, functools.partial):
        return functools.partial(_undecorated(entity.func), *entity.args, **entity.keywords)
    if type(entity) is MethodType:
        return MethodType(_undecorated(entity.__func__), entity.__self__)
    if type(entity) is not FunctionType:
        call = getattr(type(entity), "__call__", None)  # noqa: B004
        is_users = type(call) is FunctionType and not is_own(call.__code__.co_filename)
        return MethodType(_undecorated(call), entity) if is_users else entity
    if is_switch(entity):
        return _undecorated(vars(entity)["__wrapped__"])
    bare = FunctionType(entity.__code__, {}, entity.__name__, entity.__defaults__, entity.__closure__)
    bare.__kwdefaults__ = entity.__kwdefaults__
    return bare
