"""What the rules of ops say of calls, held against what NumPy and Python do.

Each line is a call. It is made with arrays of several dtypes and layouts, and the rule is asked with all known, with
numbers and dimensions known only at run time, and with inexact types. What comes out must be of the type that the rule
gives; and that must say all there is to say if all but the elements of arrays is known. `?` begins a line of which
some dimension depends on elements, `#` one of which the rule says little.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from tests.runtime.ops import array_calls, python_calls, submodule_calls
from tests.runtime.ops.calls import check, exists

pytestmark = pytest.mark.once


def values(dtype: Any = np.float64, layout: str = "C", dims: dict[int, int] = {}) -> dict[str, Any]:
    """The variables of the tables' lines; `dims` says which dimensions shall be others."""
    rng = np.random.RandomState(0)

    def make(*shape: int) -> Any:
        shape = tuple(dims.get(dim, dim) for dim in shape)
        array = (rng.rand(*shape) * 4 + 1).astype(dtype)
        if layout == "strided":
            return np.repeat(array, 2, axis=-1)[..., ::2]
        return np.asarray(array, order="F" if layout == "F" else "C")

    q = make(2, 2)
    n = len(q)
    i = np.roll(np.arange(dims.get(3, 3)), 1)
    return {
        "v": make(3), "w": make(3), "u": make(1), "e": make(0), "z": np.array(3, dtype), "s": dtype(2),
        "m": make(2, 3), "n": make(2, 3), "l": make(3, 2), "q": (q + q.T + 4 * np.eye(n)).astype(dtype),
        "a": make(2, 3, 4), "o": make(1, 3, 1), "h": np.stack([np.eye(n, dtype=dtype)] * 3) * dtype(2),
        "i": i, "j": np.array([[0, 1], [1, 0]]), "b": i > 0,
        "p": make(2, 3) > 2, "k": 1, "x": 1.5, "t": True, "c": 2j, "d": np.int64(1), "one": np.array(1),
        "g": np.random.default_rng(0), "r": np.random.RandomState(0),
    }  # fmt: skip


BASE = values()
OTHERS = [values(dtype) for dtype in (np.float32, np.int64, np.int8, np.complex128, np.bool_)]
OTHERS += [values(dims=dims) for dims in ({2: 1}, {3: 1}, {2: 1, 3: 1}, {3: 0}, {2: 0}, {2: 3}, {2: 1, 3: 1, 4: 1})]
LAYOUTS = [values(layout="F"), values(layout="strided")]
LINES = [
    pytest.param(line.lstrip("#? "), {"?": "but for dimensions", "#": ""}.get(line[0], "all"), id=line)
    for table in array_calls.TABLES + submodule_calls.TABLES + python_calls.TABLES
    for line in map(str.strip, table.splitlines())
    if line and exists(line.lstrip("#? "))
]


@pytest.mark.parametrize(("line", "precise"), LINES)
def test_call(line: str, precise: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(line, BASE, precise)
        for others in LAYOUTS:
            check(line, others, precise)
        for others in OTHERS:
            try:
                check(line, others)
            except (TypeError, ValueError, IndexError, AttributeError, ArithmeticError, StopIteration):
                pass            # not for these
