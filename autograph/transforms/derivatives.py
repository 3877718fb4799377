"""Derivatives of functions: `grad`, `value_and_grad`, `vjp`, `jvp`, `stop_gradient`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal, ParamSpec, TypeVar, cast, overload

import numpy as np

from autograph.common import pytree
from autograph.errors import DerivativeError
from autograph.runtime.autodiff import custom_vjp, transforms
from autograph.runtime.autodiff.transforms import Derivative, Which
from autograph.runtime.dispatch.function import AlwaysStaged, Function
from autograph.runtime.dispatch.options import DIFFERENTIATED
from autograph.runtime.graph.callables import named_like
from autograph.runtime.tracing.state.trace import Trace
from autograph.transforms import staging

P = ParamSpec("P")
R = TypeVar("R")
Aux = TypeVar("Aux")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def grad(
    function: Callable[P, Any], argnums: Which = 0, *, has_aux: bool = False, wrt: Any = None
) -> Function[P, Any]:
    """A staged function that gives the gradient of `function`, by reverse-mode differentiation of its graph.

    The function may use all of Python that can be staged: branches, loops, arrays changed in place, containers. It
    prints and changes what a call of it would (Griewank and Walther, Evaluating Derivatives, 2008, chapter 3).

    Args:
        function: a plain or a staged function that returns one float.
        argnums: the argument to differentiate in, by position or name; or several. An argument may be a float, an array
            of floats, or a structure of such.
        has_aux: whether `function` returns a pair, of which the second is not differentiated, but returned as well.
        wrt: a structure of variables to differentiate in, instead of arguments.

    Returns:
        a function with the arguments of `function`. It gives the gradient in the form of the argument, an array of the
        same shape and dtype for an array; a tuple of gradients for several arguments; with `has_aux`, a pair of that
        and the second result.

    Raises:
        DerivativeError: an argument is not a float, the result is not one float, an operation on the way has no
            derivative, or the function cannot be staged (`UnstagedDerivativeError`). The message says where and why.

    Example:
        >>> ag.grad(lambda x, y: x**2 * y, argnums=(0, 1))(3.0, 2.0)
        (12.0, 9.0)
    """
    return _differentiating(Derivative(function, argnums, has_aux, _checked(wrt)))


def value_and_grad(
    function: Callable[P, R], argnums: Which = 0, *, has_aux: bool = False, wrt: Any = None
) -> Function[P, tuple[R, Any]]:
    """A staged function that gives the result of `function` and its gradient.

    Args:
        function, argnums, has_aux, wrt: as for `grad`.

    Returns:
        a function with the arguments of `function`. It gives a pair: the result, and the gradient in the form in which
        `grad` gives it.

    Raises:
        DerivativeError: as for `grad`.

    Example:
        >>> ag.value_and_grad(lambda x: x**2)(3.0)
        (9.0, 6.0)
    """
    return _differentiating(Derivative(function, argnums, has_aux, _checked(wrt), with_value=True))


def _differentiating(derivative: Derivative) -> Function[P, Any]:
    return cast("Function[P, Any]", AlwaysStaged(derivative, strict=DIFFERENTIATED))


def _checked(wrt: Any) -> Any:
    for leaf in [] if wrt is None else pytree.flatten(wrt):
        if not hasattr(leaf, "value"):
            raise DerivativeError(
                f"wrt= takes a structure of variables, such as model.trainable_variables, not {leaf!r}; for the "
                "gradients in arguments, use argnums="
            )
    return wrt


class _InTraces:
    """A function that traced code replaces by another one.

    Args:
        function: what to call outside of traces; also gives name and documentation.
        traced: what to call in traces, with the trace as first argument.
    """

    def __init__(self, function: Callable[..., Any], traced: Callable[..., Any]) -> None:
        self._function = function
        self._traced = traced
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __ag_traced__(self, trace: Trace) -> Callable[..., Any]:
        return functools.partial(self._traced, trace)


def _staged(traced: Callable[..., Any]) -> Callable[[F], F]:
    """Decorate a function with its replacement in traced code."""

    def decorate(function: F) -> F:
        return cast(F, _InTraces(function, traced))

    return decorate


@overload
def vjp(
    function: Callable[..., tuple[R, Aux]], *primals: Any, has_aux: Literal[True]
) -> tuple[R, Callable[[Any], tuple[Any, ...]], Aux]: ...
@overload
def vjp(
    function: Callable[..., R], *primals: Any, has_aux: Literal[False] = False
) -> tuple[R, Callable[[Any], tuple[Any, ...]]]: ...
@overload
def vjp(function: Callable[..., Any], *primals: Any, has_aux: bool) -> tuple[Any, ...]: ...
@_staged(transforms.traced_vjp)
def vjp(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The result of a function, and a function that takes gradients of the result back to the arguments.

    Outside of staged functions, each call of that function runs `function` once more.

    Args:
        function: a plain or a staged function.
        primals: its arguments, floats or arrays of floats, or structures of such.
        has_aux: whether `function` returns a pair, of which the second is not differentiated.

    Returns:
        `(value, pullback)`, or `(value, pullback, aux)`. `pullback(cotangents)` takes gradients in the form of the
        value and gives a tuple of those of the arguments.

    Example:
        >>> value, pullback = ag.vjp(lambda x: x**2, np.array([1.0, 2.0]))
        >>> pullback(np.array([1.0, 10.0]))
        (array([ 2., 40.]),)
    """
    transforms.check_callable(function)

    @named_like(function)
    def pull(primals: Any, cotangents: Any) -> Any:
        return vjp(function, *primals, has_aux=has_aux)[1](cotangents)

    staged = staging.function(strict=DIFFERENTIATED)(pull)
    before = _copied(primals)  # the function may change its arguments at each call
    result = staging.function(function)(*primals)

    def pullback(cotangents: Any) -> Any:
        return staged(_copied(before), cotangents)

    if has_aux:
        value, aux = transforms.split(result, function.__name__)
        return value, pullback, aux
    return result, pullback


def _copied(structure: Any) -> Any:
    return pytree.map(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, structure)


@_staged(transforms.traced_jvp)
def jvp(function: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[R, R]:
    """The result of a function, and how it changes as the arguments do: forward-mode differentiation.

    Args:
        function: a plain or a staged function.
        primals: a list or tuple of the arguments.
        tangents: their changes, in the same form.

    Returns:
        `(value, tangent)`, of the same form.

    Example:
        >>> ag.jvp(lambda x: x**2, [3.0], [1.0])
        (9.0, 6.0)
    """

    @named_like(function)
    def push(primals: Any, tangents: Any) -> Any:
        return jvp(function, primals, tangents)

    pushed: tuple[R, R] = staging.function(strict=DIFFERENTIATED)(push)(primals, tangents)
    return pushed


@_staged(transforms.traced_stop)
def stop_gradient(value: T) -> T:
    """Make a value a constant for gradients.

    Args:
        value: an array, number or structure.

    Returns:
        the value.

    Example:
        >>> ag.grad(lambda x: x * ag.stop_gradient(x))(3.0)
        3.0
    """
    return value


def custom_gradient(function: Callable[P, tuple[R, Any]]) -> Callable[P, R]:
    """Decorate a function that gives its own gradient.

    Args:
        function: returns a pair: a value, and a function that takes the gradient of the value, in its form, and returns
            the gradients of the arguments: a tuple with one for each, or the gradient alone if there is one argument;
            None means zeros. Other values that the function uses count as constant.

    Returns:
        a function that returns the value alone.

    Example:
        >>> @ag.custom_gradient
        ... def log1pexp(x):
        ...     e = np.exp(x)
        ...     return np.log(1 + e), lambda g: g * (1 - 1 / (1 + e))
        >>> ag.grad(log1pexp)(0.0)
        0.5
    """

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **kwargs)[0]

    return cast(Callable[P, R], _in_traces(call, custom_vjp.traced_custom, function))


def checkpoint(function: F) -> F:
    """Decorate a function that is recomputed for its gradient, which saves memory and takes time.

    If the body of a loop is such a function, the loop saves only its inputs in each iteration, rather than all that it
    computes (Griewank and Walther, 2000; Chen and others, 2016).

    Args:
        function: a function without side effects, since they would happen twice.

    Returns:
        a function with the same results and gradients.

    Example:
        >>> ag.grad(ag.checkpoint(lambda x: x**3))(2.0)
        12.0
    """
    return cast(F, _in_traces(function, custom_vjp.traced_checkpoint, function))


def _in_traces(call: Callable[..., Any], traced: Callable[..., Any], function: Callable[..., Any]) -> Any:
    """`call` under the name and documentation of `function`; traced code calls `traced(trace, function, ...)`."""
    in_trace = _InTraces(call, lambda trace, *args, **kwargs: traced(trace, function, *args, **kwargs))
    return functools.update_wrapper(in_trace, function, updated=())
