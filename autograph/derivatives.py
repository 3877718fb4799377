"""Derivatives of functions: `grad`, `value_and_grad`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograph.runtime.function import Function
from autograph.runtime.gradients import Derivative, ValueAndGradient
from autograph.staging import function as _function  # noqa: F401  (joins the towers)


def grad(
    function: Callable[..., Any], argnums: int | str | Sequence[int | str] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A staged function that gives the gradient of `function`, which is to return one float.

    The function may use all of Python that can be staged: branches, loops, arrays changed in place.

    Args:
        function: a plain or a staged function.
        argnums: the argument to differentiate in, by position or name; or several. An argument may be a float, an
            array of floats, or a structure of such.
        has_aux: whether `function` returns a pair, of which the second is not differentiated, but returned as well.

    Returns:
        A function with the arguments of `function`. It gives the gradient in the form of the argument, an array of the
        same shape and dtype for an array; a tuple of gradients if there are several arguments; a pair of that and
        what else the function returns with `has_aux`.

    Raises:
        DerivativeError: an argument is no float, what is returned is not one float, or an operation on the way has no
            derivative.
        StrictError: the function cannot be staged.
    """
    return _staged(Derivative(function, argnums, has_aux))


def value_and_grad(
    function: Callable[..., Any], argnums: int | str | Sequence[int | str] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A staged function that gives what `function` returns, and its gradient; see `grad`."""
    return _staged(ValueAndGradient(function, argnums, has_aux))


class _Differentiated(Function[..., Any]):
    """A staged function that cannot run as plain Python."""

    def _divert(self, values: tuple[Any, ...]) -> Any:
        from autograph.runtime.entry import MISS
        from autograph.runtime.specialise import Hooks

        if not Hooks.active or Hooks.inliner is None:
            return MISS
        return super()._divert(values)


def _staged(derivative: Derivative) -> Callable[..., Any]:
    return _Differentiated(derivative, strict=("plain",))
