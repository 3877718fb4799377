"""The public functions of the front end."""

from __future__ import annotations

import functools
import inspect
import linecache
import operator
import sys
import types
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast, overload

import gast

from autograph.backends import discovery
from autograph.common import code_marks
from autograph.common.code_flags import OfCode, is_compiled
from autograph.common.trace_rules import on_behalf
from autograph.conversion.conversions import (
    conversion_of,
    convert_for_debugging,
    convert_source,
    printed,
    text_of,
    whole_code_of,
)
from autograph.conversion.explain import Explanation
from autograph.converters import pipeline
from autograph.converters.context import known
from autograph.errors import SourceError
from autograph.operators import backend, calls
from autograph.syntax import loader, source, trees

if TYPE_CHECKING:
    from autograph.runtime.dispatch.function import Function

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any] | property)


@overload
def to_graph(entity: Function[P, R], *, debug_source: bool = False) -> Callable[P, R]: ...
@overload
def to_graph(entity: F, *, debug_source: bool = False) -> F: ...
def to_graph(entity: Any, *, debug_source: bool = False) -> Any:
    """Return the converted form of a callable: it always runs converted code, and is otherwise like the original.

    Its control flow consists of calls of operators, as in the AutoGraph of TensorFlow (Moldovan and others, 2019).

    Args:
        entity: a function, lambda, method, partial, `staticmethod`, `classmethod`, `property`, or an object with a
            `__call__` written in Python. Of a staged function, the plain function is converted.
        debug_source: compile the converted text itself, so that a debugger steps through it, instead of putting the
            code on the user's lines.

    Returns:
        a callable of the same kind; `__wrapped__` of a function is the original.

    Raises:
        SourceError: there is no Python source, or it is not that of the running code.

    Example:
        >>> def sign(x):
        ...     if x < 0:
        ...         return -1
        ...     return 1
        >>> ag.to_graph(sign)(-2.0)
        -1
    """
    inner = functools.partial(to_graph, debug_source=debug_source)
    entity = code_marks.unstaged(calls.concrete(entity))
    if type(entity) is FunctionType:
        return _converted_function(entity, debug_source)
    if (rewrapped := _rewrapped(entity, inner)) is not None:
        return rewrapped
    if isinstance(entity, functools.partial):
        return functools.partial(inner(entity.func), *entity.args, **entity.keywords)
    call = getattr(type(entity), "__call__", None)  # noqa: B004
    if isinstance(entity, type) or type(call) is not FunctionType:
        raise SourceError(_not_convertible(entity))
    return types.MethodType(inner(call), entity)


def _rewrapped(entity: Any, change: Callable[[Any], Any]) -> Any:
    """Apply `change` to the functions in a method, property or the like; None if `entity` is something else."""
    if isinstance(entity, (staticmethod, classmethod)):
        return type(entity)(change(entity.__func__))
    if isinstance(entity, property):
        get, put, delete = (accessor and change(accessor) for accessor in (entity.fget, entity.fset, entity.fdel))
        return property(get, put, delete, entity.__doc__)
    if type(entity) is types.MethodType:
        function = change(entity.__func__)
        return entity if function is entity.__func__ else types.MethodType(function, entity.__self__)
    return None


def _not_convertible(entity: Any) -> str:
    if isinstance(entity, type):
        return f"{entity.__qualname__} is a class: convert its methods, or its module with autograph.importing.install"
    if hasattr(entity, "__wrapped__"):
        return f"{entity!r} wraps a Python function, but is none: convert the function before it is wrapped"
    return f"{entity!r} has no Python source to convert"


def _converted_function(function: FunctionType, debug_source: bool = False) -> FunctionType:
    if code_marks.is_switch(function):
        return cast(FunctionType, to_graph(function.__wrapped__, debug_source=debug_source))  # type: ignore[attr-defined]
    if is_converted(function) or is_marked(function):
        return function
    if debug_source:
        converted = convert_for_debugging(function)
    else:
        converted = loader.instantiate(conversion_of(function).code, function)
    converted.__wrapped__ = function  # type: ignore[attr-defined]
    return converted


def is_converted(function: Any) -> bool:
    """Whether a function is the result of a conversion, or switches to one."""
    is_function = type(function) is FunctionType
    return is_function and (code_marks.is_converted(function.__code__) or code_marks.is_switch(function))


def is_marked(function: Any) -> bool:
    """Whether `do_not_convert` marked a function."""
    return getattr(function, "__dict__", {}).get("__ag_do_not_convert__") is True


# Decorators -----------------------------------------------------------------------------------------------------------

_SUSPENDED = 0x20 | 0x80 | 0x100 | 0x200  # generators and coroutines, of all kinds


@overload
def convert(entity: F, *, debug_source: bool = False) -> F: ...
@overload
def convert(entity: None = None, *, debug_source: bool = False) -> Callable[[F], F]: ...
def convert(entity: Any = None, *, debug_source: bool = False) -> Any:
    """Let a callable take part in staging: its converted form runs while a backend traces, else the original.

    Args:
        entity: a callable that `to_graph` accepts; omitted if a decorator gets options. Generators, coroutines and
            functions that look at their caller's frame are converted at once, since a wrapper would hide their kind, or
            be the frame that they find. Staged functions, and functions compiled by Cython and the like, stay as they
            are.
        debug_source: as for `to_graph`.

    Returns:
        a function with the same signature, name and documentation; `__wrapped__` is the original.

    Raises:
        SourceError: as `to_graph`, but when a backend first traces a call.

    Example:
        >>> @ag.convert
        ... def clip(x):
        ...     return x if x > 0 else 0.0
        >>> clip(-1.5)
        0.0
    """
    entity = calls.concrete(entity)
    if entity is None:
        return functools.partial(convert, debug_source=debug_source)
    if isinstance(entity, type):
        raise SourceError(_not_convertible(entity))
    if (rewrapped := _rewrapped(entity, functools.partial(convert, debug_source=debug_source))) is not None:
        return rewrapped
    if is_converted(entity) or is_marked(entity) or code_marks.unstaged(entity) is not entity or is_compiled(entity):
        return entity
    if type(entity) is FunctionType and (entity.__code__.co_flags & _SUSPENDED or known.looks_at_frames(entity)):
        return to_graph(entity, debug_source=debug_source)
    return _switch(entity, debug_source)


def _switch(entity: Any, debug_source: bool) -> FunctionType:
    """Return a function that runs `entity`, or its converted form while a backend traces."""
    code = source.unwrap(entity).__code__  # raises at once if there is nothing to convert
    discovery.watch_imports()
    function: FunctionType = _switch_maker(*_parameters(entity))(
        backend.ACTIVE, backend.WATCHED, entity, _Converted(entity, debug_source)
    )
    functools.update_wrapper(function, entity)
    own = function.__code__
    names: Any = {"co_filename": code.co_filename, "co_firstlineno": code.co_firstlineno, "co_name": code.co_name}
    function.__code__ = own.replace(co_consts=(*own.co_consts, code_marks.SWITCH), **names)
    return function


class _Converted:
    """Return what to call where a backend may trace: the converted form of `entity`, or `entity` if none does."""

    def __init__(self, entity: Any, debug_source: bool) -> None:
        self.entity = entity
        self.debug_source = debug_source

    def __call__(self) -> Any:
        tracer = backend.tracing()
        return self.entity if tracer is None else backend.entered(tracer, self._form)

    @functools.cached_property
    def _form(self) -> Any:
        return to_graph(self.entity, debug_source=self.debug_source)

    def __reduce__(self) -> Any:
        return _Converted, (self.entity, self.debug_source)


@functools.cache
def _switch_maker(parameters: str, arguments: str) -> Any:
    """Return what makes a function with some parameters that passes them on.

    It is a lambda in one line, so that tracebacks show the first line of the user's function for its frame.
    """
    watches = "(ag__watch := ag__watched.joint).state.value is not ag__watch.idle"
    choice = f"(ag__converted() if ag__active or {watches} else ag__original)"
    names = "ag__active, ag__watched, ag__original, ag__converted"
    return eval(f"lambda {names}: lambda {parameters}: {choice}({arguments})")


def _parameters(entity: Any) -> tuple[str, str]:
    """Return the parameters of a callable as text, and the arguments of a call that passes them on.

    Those of a function are its own, since Python passes them faster than `*args` and `**kwargs`. Not if it has
    defaults, which a program may change later.
    """
    general = "*args, **kwargs", "*args, **kwargs"
    if type(entity) is not FunctionType or entity.__defaults__ or entity.__kwdefaults__:
        return general
    code, flags = entity.__code__, entity.__code__.co_flags
    before, named = code.co_argcount, code.co_kwonlyargcount
    rest, others = bool(flags & inspect.CO_VARARGS), bool(flags & inspect.CO_VARKEYWORDS)
    names = code.co_varnames[: before + named + rest + others]
    if (rest and named) or any(not name.isidentifier() or name.startswith("ag__") for name in names):
        return general      # the former costs as much, and the latter would not compile
    first, keywords, last = names[:before], names[before : before + named], names[before + named :]
    stars = [star + name for star, name in zip(["*"] * rest + ["**"] * others, last)]
    slash, star = ["/"] * bool(code.co_posonlyargcount), ["*"] * bool(named)
    declared = [*first[: code.co_posonlyargcount], *slash, *first[code.co_posonlyargcount :], *star, *keywords, *stars]
    return ", ".join(declared), ", ".join([*first, *(f"{name}={name}" for name in keywords), *stars])


_WRAPPERS = (staticmethod, classmethod, types.MethodType)


@overload
def do_not_convert(function: F) -> F: ...
@overload
def do_not_convert(function: None = None) -> Callable[[F], F]: ...
@on_behalf
def do_not_convert(function: Any = None) -> Any:
    """Mark a function or class, so that it, and all that it calls, runs as plain Python, also while a backend traces.

    Args:
        function: a function, method, `staticmethod`, `classmethod` or class.

    Returns:
        the same function or class.

    Raises:
        TypeError: it is something else.

    Example:
        >>> @ag.do_not_convert
        ... def log(x):
        ...     print("x is", x)
        >>> ag.explain(lambda x: log(x)).decisions[0].construct
        'call of log'
    """
    function = calls.concrete(function)
    if function is None:
        return do_not_convert
    inner: Any = function.__func__ if isinstance(function, _WRAPPERS) else function
    if code_marks.is_switch(inner):
        return do_not_convert(inner.__wrapped__)
    try:
        inner.__ag_do_not_convert__ = True
    except AttributeError as error:
        raise TypeError(f"do_not_convert marks functions and classes, not {function!r}") from error
    return function


def set_loop_options(**options: Any) -> None:
    """Set options of the loop whose body calls this, for the backend that stages it; otherwise it does nothing.

    Args:
        options: for `ag.function`, two. `unroll`: True unrolls all iterations while tracing, and makes the numbers that
            determine their count part of the signature; False keeps the loop; a number unrolls only loops of at most
            that many iterations. `budget`: how many operations unrolling may record, 20,000 by default.

    Example:
        >>> @ag.function
        ... def power(x):
        ...     y = 1.0
        ...     for _ in range(3):
        ...         ag.set_loop_options(unroll=True)
        ...         y *= x
        ...     return y
        >>> power(2.0), "for" in str(power.graph(2.0))
        (8.0, False)
    """


# Text -----------------------------------------------------------------------------------------------------------------


def to_code(entity: Any) -> str:
    """Return the converted source, as readable Python.

    Args:
        entity: a function, method, lambda, class or module. Decorators of a function are left out. Wrappers made by
            `functools.wraps` and the like are followed to the user's function.

    Returns:
        the text.

    Raises:
        SourceError: there is no Python source, or it is not that of the running code.

    Example:
        >>> print(ag.to_code(lambda x, y: x and y))
        lambda x, y: ag__.and_(lambda: x, lambda: y)
    """
    entity = calls.concrete(entity)
    if isinstance(entity, types.ModuleType):
        return convert_source(*_text_of(entity)).text
    if isinstance(entity, type):
        _, read, node = _class_source(entity)
        return printed(node, read)
    return text_of(user_function(entity))


def explain(entity: Any) -> Explanation:
    """Report how each `if`, loop, `assert` and call is converted, and why some stay plain.

    `explain` of a staged function tells how calls are staged.

    Args:
        entity: a function, method, class or module.

    Returns:
        an `Explanation`: `str` of it is a table, `decisions` are its rows.

    Raises:
        SourceError: there is no Python source, or it is not that of the running code.

    Example:
        >>> def positive(x):
        ...     assert x > 0
        >>> [decision.construct for decision in ag.explain(positive).decisions]
        ['assert']
    """
    entity = calls.concrete(entity)
    if isinstance(entity, types.ModuleType):
        return Explanation(convert_source(*_text_of(entity)).decisions)
    if isinstance(entity, type):
        converted, _, node = _class_source(entity)
        inside = range(node.lineno, node.end_lineno + 1)
        return Explanation([d for d in converted.decisions if d.lineno in inside])
    return Explanation(conversion_of(user_function(entity)).decisions)


def user_function(entity: Any) -> FunctionType:
    """Return the user's function behind wrappers that have it as `__wrapped__`."""
    function = source.unwrap(entity)
    while type(inner := getattr(function, "__wrapped__", None)) is FunctionType:
        function = inner
    return function


# Files ----------------------------------------------------------------------------------------------------------------


def _text_of(module: types.ModuleType) -> tuple[str, str]:
    """Return the text of a module's file, and the file's name."""
    filename = getattr(module, "__file__", None)
    lines = linecache.getlines(filename, module.__dict__) if filename else []
    if not lines:
        raise SourceError(f"the module {module.__name__} has no Python source to convert", filename)
    return "".join(lines), str(filename)


def _class_source(entity: type) -> tuple[pipeline.Converted, source.Source, Any]:
    module = sys.modules.get(entity.__module__)
    if module is None:
        raise SourceError(f"the module {entity.__module__} of class {entity.__qualname__} is not imported")
    read = source.parse(*_text_of(module))
    converted = pipeline.convert(read.tree, known.module_context(read.tree, read.filename))
    name = entity.__qualname__
    node = _find(read.tree, name.split("."))
    if node is None:
        raise SourceError(f"there is no class {name} in this file: it was edited, or made the class in a function, "
                          "whose source to ask for instead", read.filename)
    return converted, read, node


def _find(node: Any, path: list[str]) -> Any:
    """Return the class at a path of names below a module or class."""
    for name in path:
        inside = (n for n in trees.walk(node) if isinstance(n, gast.ClassDef) and n.name == name and n is not node)
        node = next(inside, None)
        if node is None:
            return None
    return node


def convert_callee(function: FunctionType, whole: bool = False) -> FunctionType:
    """Return the converted function for `ag__.call` while a backend traces; the function itself if it has no source.

    Args:
        whole: convert all comparisons; the function itself is returned if there is no such code of it.
    """
    if why_unconverted.get(function.__code__) is not None:
        return function
    try:
        return _whole_function(function) if whole else _converted_function(function)
    except SourceError as error:
        why_unconverted.put(function.__code__, str(error))
        return function


def convert_or_explain(function: FunctionType, whole: bool = False) -> FunctionType | str:
    """Like `convert_callee`, but returns the reason if the function has no source."""
    converted = convert_callee(function, whole)
    return why_unconverted.get(function.__code__) or converted if converted is function else converted


def why_sourceless(entity: Any) -> str:
    """Return the reason why a function to be staged has no source; "" if it has, or is not written in Python."""
    if is_compiled(entity):
        return f"{entity.__qualname__} is compiled, and has no source at run time"
    try:
        function = source.unwrap(entity)
    except SourceError:
        return ""
    return reason if isinstance(reason := convert_or_explain(function), str) else ""


def _whole_function(function: FunctionType) -> FunctionType:
    if is_converted(function):
        whole = getattr(function, "__ag_whole__", None)     # of a loop on its own, see `loop_functions.py`
        if whole is not None:
            return cast(FunctionType, whole())
        original = getattr(function, "__wrapped__", None)
        if type(original) is not FunctionType or is_converted(original) or _place(original) != _place(function):
            return function     # as the import hook converted it
        function = original
    return function if is_marked(function) else loader.instantiate(whole_code_of(function), function)


_place = operator.attrgetter("__code__.co_filename", "__code__.co_firstlineno", "__code__.co_name")


# The reason, for `explain`, why functions called while tracing have no source to convert.
why_unconverted: OfCode[str] = OfCode()
calls.set_converter(convert_callee)
