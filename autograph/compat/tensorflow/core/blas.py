"""Products of matrices on one thread, if they are small.

NumPy's BLAS lets several threads share products from about 100,000 multiplications on, and a product waits for all of
them. If other processes keep the processors busy, that takes until the scheduler has let each thread run: 50 ms rather
than 0.4 ms for a step of a small network beside two busy processes. So products of less than a millisecond use one
thread. BLAS has one number of threads for the whole process, which is set for the time of a call.
"""

from __future__ import annotations

import ctypes
import functools
import math
import re
import threading
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from autograph.runtime.graph.graph import Graph, Value, walk
from autograph.runtime.graph.traits import ARRAY_PRODUCT
from autograph.runtime.graph.types import TensorType

SMALL = 1 << 24     # multiplications of about a millisecond


@functools.cache
def _functions() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """The functions of OpenBLAS that get and set the number of threads; None if NumPy has another library."""
    maps = Path("/proc/self/maps")
    names = set(re.findall(r"/\S*openblas\S*", maps.read_text())) if maps.exists() else set()
    for name in sorted(names):
        library = ctypes.CDLL(name)
        for prefix, suffix in (("scipy_", "64_"), ("scipy_", ""), ("", "64_"), ("", "")):
            getter, setter = (f"{prefix}openblas_{verb}_num_threads{suffix}" for verb in ("get", "set"))
            if hasattr(library, setter):
                return getattr(library, getter), getattr(library, setter)
    return None


class _OneThread:
    """A context in which BLAS uses one thread; several Python threads may be in it at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before = 1

    def __enter__(self) -> None:
        functions = _functions()
        if functions is None:
            return
        with self._lock:
            if not self._inside:
                self._before = functions[0]()
                functions[1](1)
            self._inside += 1

    def __exit__(self, *raised: Any) -> None:
        functions = _functions()
        if functions is None:
            return
        with self._lock:
            self._inside -= 1
            if not self._inside:
                functions[1](self._before)


ONE_THREAD = _OneThread()
AS_SET = nullcontext()


def context_for(multiplications: float) -> Any:
    """The context for a call whose largest product has so many multiplications; 0 if it has none."""
    return ONE_THREAD if 0 < multiplications < SMALL else AS_SET


def largest_product(graph: Graph) -> float:
    """The number of multiplications of the largest product in a graph; infinite if sizes are unknown."""
    counts = [_count((*node.inputs, *node.outputs)) for node in walk(graph.block) if node.op in ARRAY_PRODUCT]
    return max(counts, default=0)


def _count(arrays: Any) -> float:
    """The multiplications of a product with these operands and result: each size of it is a size of two of these."""
    found = 1
    for each in arrays:
        kind = each.type if isinstance(each, Value) else None
        if isinstance(kind, TensorType):
            if None in kind.shape or not kind.exact:
                return math.inf
            found *= math.prod(size or 0 for size in kind.shape)
        else:
            found *= np.size(getattr(each, "value", 1))
    return math.sqrt(found)
