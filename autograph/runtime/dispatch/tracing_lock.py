"""A lock for who traces a function. A thread that traces never waits for long for another one that does."""

from __future__ import annotations

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
    """A lock that a thread which holds another one does not wait for, as they might wait for each other."""

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
