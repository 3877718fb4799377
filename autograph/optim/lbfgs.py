"""L-BFGS: minimizing a smooth function of many numbers by its gradients (Liu and Nocedal, 1989)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

_SUFFICIENT, _CURVATURE = 1e-4, 0.9  # the constants of the Wolfe conditions
_TRIALS = 40


class Minimum(NamedTuple):
    """The result of `lbfgs`.

    Attributes:
        x: the last point.
        value: the value of the function there.
        gradient: the gradient there.
        iterations: the number of steps.
        evaluations: the number of calls of the function.
        converged: whether no element of the gradient is greater than the tolerance.

    Example:
        >>> bool(optim.lbfgs(ag.value_and_grad(lambda x: np.sum(x**2)), np.ones(2)).converged)
        True
    """

    x: Any
    value: Any
    gradient: Any
    iterations: Any
    evaluations: Any
    converged: Any


def lbfgs(
    value_and_gradient: Callable[[Any], tuple[Any, Any]],
    x: Any,
    history: int = 10,
    iterations: int = 100,
    tolerance: float = 1e-5,
) -> Minimum:
    """Minimize a smooth function of many numbers by its gradients: L-BFGS (Liu and Nocedal, 1989).

    Args:
        value_and_gradient: gives value and gradient at an array, such as `ag.value_and_grad(f)`.
        x: the array of floats to begin with, of any shape; it is not changed.
        history: the number of last steps from which to estimate the curvature.
        iterations: the greatest number of steps.
        tolerance: the greatest element of a gradient that counts as zero.

    Returns:
        a `Minimum`.

    Example:
        >>> found = optim.lbfgs(ag.value_and_grad(lambda x: np.sum((x - 3.0) ** 2)), np.zeros(2))
        >>> np.round(found.x, 3)
        array([3., 3.])
    """
    x = np.array(x)
    value, gradient = value_and_gradient(x)
    steps, changes = np.zeros((history, x.size), x.dtype), np.zeros((history, x.size), x.dtype)
    count, evaluations = 0, 1
    while count < iterations and np.max(np.abs(gradient)) > tolerance:
        direction = -_newton(np.ravel(gradient), steps, changes, count).reshape(x.shape)
        if count == 0:
            direction = direction / np.maximum(np.sqrt(np.sum(gradient**2)), 1)
        new_x, new_value, new_gradient, trials = _search(value_and_gradient, x, value, gradient, direction)
        evaluations += trials
        if not new_value < value:
            break  # floats allow no smaller value
        steps[count % history] = np.ravel(new_x - x)
        changes[count % history] = np.ravel(new_gradient - gradient)
        x, value, gradient = new_x, new_value, new_gradient
        count += 1
    return Minimum(x, value, gradient, count, evaluations, bool(np.max(np.abs(gradient)) <= tolerance))


def _newton(gradient: Any, steps: Any, changes: Any, count: Any) -> Any:
    """The estimated inverse of the Hessian times a gradient, by the two-loop recursion (Nocedal, 1980).

    Args:
        steps, changes: the changes of x and of the gradient in the last steps, of which there were `count`; the k-th
            are in the row `k % len(steps)`.
    """
    history = len(steps)
    result = np.array(gradient)
    if count == 0:
        return result
    shares = np.zeros(history, result.dtype)
    for k in range(count - 1, max(count - history, 0) - 1, -1):
        at = k % history
        shares[at] = (steps[at] @ result) / (steps[at] @ changes[at])
        result -= shares[at] * changes[at]
    last = (count - 1) % history
    result *= (steps[last] @ changes[last]) / (changes[last] @ changes[last])
    for k in range(max(count - history, 0), count):
        at = k % history
        result += (shares[at] - (changes[at] @ result) / (steps[at] @ changes[at])) * steps[at]
    return result


def _search(value_and_gradient: Any, x: Any, value: Any, gradient: Any, direction: Any) -> tuple[Any, Any, Any, Any]:
    """Find a point along a direction that satisfies the Wolfe conditions, by bisection (Lewis and Overton, 2013)."""
    slope = np.sum(gradient * direction)
    low, high, length, trials = 0.0, np.inf, 1.0, 0
    new_x, new_value, new_gradient = x, value, gradient
    while trials < _TRIALS:
        new_x = x + length * direction
        new_value, new_gradient = value_and_gradient(new_x)
        trials += 1
        if not new_value <= value + _SUFFICIENT * length * slope:
            high = length
        elif np.sum(new_gradient * direction) < _CURVATURE * slope:
            low = length
        else:
            break
        length = 2 * low if high == np.inf else 0.5 * (low + high)
    return new_x, new_value, new_gradient, trials
