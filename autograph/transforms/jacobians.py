"""Jacobians and Hessians, by one gradient for each row; written in the Python that the library stages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, cast

import numpy as np

from autograph.runtime.dispatch.function import Function
from autograph.runtime.dispatch.options import DIFFERENTIATED
from autograph.runtime.graph.callables import named_like
from autograph.transforms.derivatives import grad
from autograph.transforms.staging import function as staged

P = ParamSpec("P")


def jacobian(function: Callable[P, Any]) -> Function[P, np.ndarray[Any, Any]]:
    """A staged function that gives the Jacobian of `function` in its first argument, one gradient for each row.

    Args:
        function: takes an array of floats, and any other arguments, and returns an array of floats, each of any shape.

    Returns:
        a function with the arguments of `function`. It gives an array whose shape is that of the result followed by
        that of the argument: `jacobian(f)(x)[i, j]` is the derivative of `f(x)[i]` in `x[j]`.

    Example:
        >>> ag.jacobian(lambda x: x**2)(np.array([1.0, 2.0]))
        array([[2., 0.],
               [0., 4.]])
    """

    of: Callable[..., Any] = function

    @named_like(function)
    def component(x: Any, number: int, args: Any, kwargs: Any) -> Any:
        return np.ravel(of(x, *args, **kwargs))[number]

    gradient = grad(component)

    @named_like(function)
    def jacobian_of(x: Any, *args: Any, **kwargs: Any) -> Any:
        shape = np.shape(of(x, *args, **kwargs))
        rows = np.zeros((int(np.prod(shape)), *np.shape(x)), np.asarray(x).dtype)
        for i in range(len(rows)):
            rows[i] = gradient(x, i, args, kwargs)
        return rows.reshape(shape + np.shape(x))

    return cast("Function[P, np.ndarray[Any, Any]]", staged(strict=DIFFERENTIATED)(jacobian_of))


def hessian(function: Callable[P, Any]) -> Function[P, np.ndarray[Any, Any]]:
    """A staged function that gives the Hessian of `function` in its first argument.

    Args:
        function: takes an array of floats, and any other arguments, and returns one float.

    Returns:
        a function with the arguments of `function`. It gives an array with the shape of the argument twice over.

    Example:
        >>> ag.hessian(lambda x: x[0] * x[1])(np.array([1.0, 2.0]))
        array([[0., 1.],
               [1., 0.]])
    """
    return jacobian(grad(function))
