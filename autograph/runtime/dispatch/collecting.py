"""Lets Python's garbage collector look for cycles less often while functions are traced.

Tracing makes many objects that stay until it ends. The collector looks through them again and again, which takes a
third of the time, and more the longer the function is.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from autograph.common import forking

PATIENCE = 50_000  # new objects before the collector looks at them; Python's own number is 700, or 2000

_lock = forking.lock()
_patient: list[tuple[int, int, int]] = []  # what was set before, once for each trace that is being made


@contextmanager
def patient_collector() -> Iterator[None]:
    """While it lasts, in any thread, the collector waits for more objects; then what was set before comes back."""
    with _lock:
        _patient.append(gc.get_threshold())
        if 0 < _patient[0][0] < PATIENCE:  # 0 says never
            gc.set_threshold(PATIENCE, *_patient[0][1:])
    try:
        yield
    finally:
        with _lock:
            before = _patient[0]
            _patient.pop()
            if not _patient and gc.get_threshold() == (PATIENCE, *before[1:]):  # and nobody has set it meanwhile
                gc.set_threshold(*before)
