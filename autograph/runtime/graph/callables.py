"""Facts about callables: name, parameters, and the user's code."""

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
    """The user's code of a function, method, partial or callable object; None if it has none."""
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        code = getattr(getattr(type(function), "__call__", None), "__code__", None)  # noqa: B004
    return code if isinstance(code, CodeType) else None


def place_of(function: Any) -> tuple[str, int] | tuple[()]:
    """The file and line of the user's callable, behind wrappers of this library; empty if unknown."""
    code = user_code(function)
    while code is not None and code.co_filename.startswith(ROOT) and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
        code = user_code(function)
    return () if code is None else (code.co_filename, code.co_firstlineno)


def name_of(entity: Any) -> str:
    """The qualified name of a function, without the functions around it.

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
    """Whether a function may inspect the frame of its caller, as `locals` does."""
    return type(function) in (BuiltinFunctionType, FunctionType) and function in _LOOKING


def looks_at_caller(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a function inspects the frame of its caller when it gets these arguments."""
    return len(args) <= _LOOKING[function] and "globals" not in kwargs


def named_like(function: Any) -> Callable[[F], F]:
    """Decorate a wrapper, so that errors call it by the name of the wrapped function."""

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
    """The parameters of a callable; `*args, **kwargs` for one written in C, because not all are described right.

    The same for a callable that cannot be called, such as a partial with too many arguments: the call raises the error.

    A decorator's wrapper has its own parameters, because they may differ from those of the wrapped function.
    """
    if user_code(entity) is not None:
        with suppress(ValueError):
            return list(inspect.signature(_undecorated(entity)).parameters.values())
    return [Parameter("args", Parameter.VAR_POSITIONAL), Parameter("kwargs", Parameter.VAR_KEYWORD)]


def _undecorated(entity: Any) -> Any:
    """A callable with the parameters of its own code, whatever `__wrapped__` or `__signature__` say."""
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
