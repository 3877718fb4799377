"""Which of NumPy's inner loops does an op."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from autograph.common.numpy_internals import CLIP
from autograph.runtime.graph.opdef import OPS
from autograph.runtime.ops.native import complex_rules
from autograph.runtime.ops.native.number_rules import OF_FLOATS, RULES, Inner, clipped
from autograph.runtime.ops.python.operators import UFUNCS

_RULES: tuple[dict[str, Any], ...] = (RULES, complex_rules.RULES, OF_FLOATS)
CLIPS = ("np.clip", ".clip")


def _loops() -> dict[str, Inner]:
    by_ufunc = [{getattr(np, name): rule for name, rule in rules.items()} for rules in _RULES]
    found = UFUNCS | {name: op.target for name, op in OPS.items() if isinstance(op.target, np.ufunc)}
    simple = {name: ufunc for name, ufunc in found.items() if ufunc.nout == 1 and ufunc.signature is None}
    known = {name: Inner(ufunc, *(rules.get(ufunc) for rules in by_ufunc)) for name, ufunc in simple.items()}
    return known if CLIP is None else known | {name: Inner(CLIP, clipped) for name in CLIPS}


# By the names of ops.
LOOPS = _loops()


class _Asked(np.ndarray[Any, Any]):
    """An array that returns the ufunc that NumPy applies to it, and the number of operands."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return ufunc, len(inputs)


@lru_cache(maxsize=None, typed=True)
def power_of(dtype: np.dtype[Any], exponent: float) -> tuple[str, int]:
    """The op that NumPy does for `array ** exponent`, of a Python number, and of how many operands.

    It multiplies, or takes roots, for some of them.
    """
    ufunc, count = np.ones(1, dtype).view(_Asked) ** exponent
    if ufunc is np.power and exponent == 2 and dtype.kind == "f":
        return "np.square", 1
    return next((name for name, loop in LOOPS.items() if loop.ufunc is ufunc), ""), count
