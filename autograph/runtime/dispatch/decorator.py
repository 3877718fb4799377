"""`ag.function` as a decorator: of functions, methods, properties, partials, and objects that can be called."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, overload

from autograph.runtime.dispatch.function import BoundFunction, Function, staged_function
from autograph.runtime.dispatch.options import FunctionOptions, check_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

P = ParamSpec("P")
R = TypeVar("R")


def _with_options(signature: inspect.Signature) -> inspect.Signature:
    """The signature of `function` with each option spelled out, which `help` and completion show."""
    options = [p for p in inspect.signature(check_options).parameters.values() if p.kind is p.KEYWORD_ONLY]
    return signature.replace(parameters=[next(iter(signature.parameters.values())), *options])


class Decorator(Protocol):
    """`ag.function` with its options."""

    @overload
    def __call__(self, python_function: staticmethod[P, R], /) -> staticmethod[P, R]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, python_function: classmethod[Any, P, R], /) -> classmethod[Any, P, R]: ...
    @overload
    def __call__(self, python_function: property, /) -> property: ...
    @overload
    def __call__(self, python_function: Callable[P, R], /) -> Function[P, R]: ...


@overload
def function(python_function: staticmethod[P, R], /, **options: Unpack[FunctionOptions]) -> staticmethod[P, R]: ...  # type: ignore[overload-overlap]
@overload
def function(
    python_function: classmethod[Any, P, R], /, **options: Unpack[FunctionOptions]
) -> classmethod[Any, P, R]: ...
@overload
def function(python_function: property, /, **options: Unpack[FunctionOptions]) -> property: ...
@overload
def function(python_function: Callable[P, R], /, **options: Unpack[FunctionOptions]) -> Function[P, R]: ...
@overload
def function(python_function: None = None, /, **options: Unpack[FunctionOptions]) -> Decorator: ...
def function(python_function: Any = None, /, **options: Any) -> Any:
    """Stage a function: where its calls take long, trace it for their signature, and run the graph from then on.

    It returns, prints, raises and changes what the plain function does. Numbers, arrays and objects among the arguments
    are staged; strings, None, functions and other constants are part of the signature.

    Args:
        python_function: a function, method, lambda, partial, `staticmethod`, `classmethod`, `property` or callable
            object, or a staged function whose other options stay; left out where a decorator is given options.
        engine: what runs the graph: "numpy"; "native", which compiles loops to machine code (it needs the extra
            `native`); or "auto", which runs the plain function until a signature has taken 20 ms, and then what is
            fastest. By default AUTOGRAPH_ENGINE, or else "auto". With another one, the first call is traced.
        static_argnames: parameters whose values are part of the signature.
        input_signature: for each positional argument a `TensorSpec`, a Python type, or a structure of these: the
            function is traced for that, and takes nothing else.
        strict: what to refuse, instead of only reporting it in `explain`: True for all, or some of "retrace", "unroll",
            "callback", "specialize", "plain", "native_callback".
        passes: False, or `{"cse": False}` and so on, to switch optimizations off.
        max_traces: how many traces are kept; a new one replaces the one that was used least.
        fastmath: whether machine code (engine="native") may add floats in another order, multiply and add at once, and
            skip warnings about infinities and NaNs. Sums are faster then, and differ in their last digits.
        trace_packages: names or globs of installed top-level packages whose code is traced, such as "toolz". Other
            packages are called when the graph runs, and objects of their classes are opaque.

    Returns:
        a `Function`, which is called as the plain one; a decorator if `python_function` is left out.

    Raises:
        TypeError: generators, coroutines and classes cannot be staged.
        ValueError: an option has a value that it cannot have.
        EngineError: the engine is not installed.

    Example:
        >>> @ag.function
        ... def clip_sum(xs, limit):
        ...     total = 0
        ...     for x in xs:
        ...         total += x if x < limit else limit
        ...     return total
        >>> clip_sum([1, 5, 2], 3)
        6
        >>> print(clip_sum.explain([1, 5, 2], 3).where(kind="engine"))
        clip_sum, trace 1
          engine: runs on the engine numpy: no loop or operation here could become machine code
    """
    if python_function is None:
        return functools.partial(function, **options)
    return _staged(python_function, options)


def _staged(python_function: Any, options: Any) -> Any:
    if isinstance(python_function, (staticmethod, classmethod)):
        return type(python_function)(function(python_function.__func__, **options))
    if isinstance(python_function, property):
        get, put, delete = (
            accessor and function(accessor, **options)
            for accessor in (python_function.fget, python_function.fset, python_function.fdel)
        )
        return property(get, put, delete, python_function.__doc__)
    staged = python_function if isinstance(python_function, Function) else staged_function(python_function)
    if staged is not None:
        return staged.with_options(**options) if options else python_function
    if isinstance(python_function, BoundFunction) or type(python_function) is MethodType:
        return BoundFunction(function(python_function.__func__, **options), python_function.__self__)
    call = getattr(type(python_function), "__call__", None)  # noqa: B004
    if isinstance(call, (FunctionType, Function)) and not isinstance(python_function, type):
        return BoundFunction(function(call, **options), python_function)  # an object that can be called
    return Function(python_function, **options).as_function()


function.__signature__ = _with_options(inspect.signature(function))  # type: ignore[attr-defined]
