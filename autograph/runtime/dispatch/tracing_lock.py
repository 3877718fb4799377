"""A lock for tracing, and a garbage collector that runs less often meanwhile.

A thread that traces never waits long for another one that does. Tracing makes many objects that live until it ends. The
collector would visit them again and again, which takes a third of the time, and more for longer functions.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from autograph.common import forking

PATIENCE = 1.0  # seconds to wait for another thread that traces the same function, before tracing it here as well


class _Held(threading.local):
    """How many functions this thread is tracing."""

    count = 0


_held = _Held()


class PatientLock:
    """A lock without deadlocks: a thread that holds one does not wait for another."""

    def __init__(self) -> None:
        self._lock = forking.lock()

    @contextmanager
    def held(self) -> Iterator[None]:
        acquired = self._lock.acquire(timeout=0 if _held.count else PATIENCE)
        _held.count += 1
        try:
            yield
        finally:
            _held.count -= 1
            if acquired:
                self._lock.release()


FEWEST_OBJECTS = 50_000  # new objects before the collector looks at them; Python's own number is 700, or 2000

_collector_lock = forking.lock()
_patient: list[tuple[int, int, int]] = []  # the thresholds before, one for each trace that is being made


@contextmanager
def patient_collector() -> Iterator[None]:
    """Let the collector wait for more objects, until no thread traces any more."""
    with _collector_lock:
        _patient.append(gc.get_threshold())
        if 0 < _patient[0][0] < FEWEST_OBJECTS:  # 0 says never
            gc.set_threshold(FEWEST_OBJECTS, *_patient[0][1:])
    try:
        yield
    finally:
        with _collector_lock:
            before = _patient[0]
            _patient.pop()
            # unless the program has set the thresholds meanwhile
            if not _patient and gc.get_threshold() == (FEWEST_OBJECTS, *before[1:]):
                gc.set_threshold(*before)
