"""Special functions that NumPy lacks and derivatives need: polygamma, Bessel and error functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import declare
from autograph.runtime.graph.types import FLOAT, Type
from autograph.runtime.ops.gradients.toolkit import on_proxies
from autograph.runtime.ops.inference.infer import rule
from autograph.runtime.ops.inference.shape_rules import array_like

# The Bernoulli numbers of even index, from 2 on.
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_LARGE = 16     # from here on the asymptotic series is exact enough for the orders in use


@on_proxies
def polygamma(order: int, x: float) -> float:
    """The derivative of that order of the digamma function."""
    sign, factor = 1.0 if order % 2 else -1.0, float(math.factorial(order))
    found, x = 0.0, float(x)
    while x < _LARGE + order:
        found += sign * factor / x ** (order + 1)
        x += 1
    first = -math.log(x) if order == 0 else math.factorial(order - 1) / x**order
    series = first + factor / (2 * x ** (order + 1))
    for number, bernoulli in enumerate(BERNOULLI, 1):
        k = 2 * number
        series += bernoulli * math.factorial(k + order - 1) / math.factorial(k) / x ** (k + order)
    return found + sign * series


@on_proxies
def bessel_i(order: int, x: Any) -> Any:
    """The modified Bessel function of the first kind, in the dtype of `x`.

    The mean of `exp(x * cos(t)) * cos(order * t)` over a period; this many points are exact to the last digits
    for all `x` that give finite numbers.
    """
    found = np.zeros(np.shape(x))
    for t in (np.arange(_POINTS) + 0.5) * (math.pi / _POINTS):
        found += np.exp(x * math.cos(t)) * (math.cos(order * t) / _POINTS)
    return found.astype(np.asarray(x).dtype)[()]


_POINTS = 160


@on_proxies
def erf(x: Any) -> Any:
    """The error function of each element, in the dtype of `x`."""
    return np.asarray(_erf(x)).astype(np.asarray(x).dtype)[()]


_erf = np.frompyfunc(math.erf, 1, 1)


def _like_last(*args: Any) -> Type:
    return array_like(args[-1])


declare(
    "polygamma", FLOAT, target=polygamma, raises=True,
    vjp=(None, lambda g, out, order, x: g * polygamma(order + 1, x)),
)  # fmt: skip
declare("erf", rule(_like_last), target=erf, vjp=lambda g, out, x: g * np.exp(-x * x) * (2 / math.sqrt(math.pi)))
declare(
    "bessel_i", rule(_like_last), target=bessel_i,
    vjp=(None, lambda g, out, n, x: g * (bessel_i(n - 1, x) + bessel_i(n + 1, x)) / 2),
)  # fmt: skip
