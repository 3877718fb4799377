"""The polygamma functions: the derivatives of the logarithm of `math.gamma`, of which Python has none."""

from __future__ import annotations

import math

from autograph.runtime.opdef import declare, derive
from autograph.runtime.ops.declaring import always
from autograph.runtime.ops.deriving import on_handles
from autograph.runtime.types import FLOAT

# The Bernoulli numbers of even index, from 2 on.
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_LARGE = 16     # from here on the asymptotic series is exact enough for the orders in use


@on_handles
def polygamma(order: int, x: float) -> float:
    """The derivative of that order of the digamma function, which is itself that of order 0."""
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


declare("polygamma", always(FLOAT), target=polygamma, raises=True)
derive("polygamma", None, lambda g, out, order, x: g * polygamma(order + 1, x))
