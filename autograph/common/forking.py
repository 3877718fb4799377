"""Forked processes: while a thread traces, converts or compiles, no other one forks the process.

The child has only the thread that forks. Work of other threads would never end there: their locks would stay locked,
and the objects, classes and filters of warnings that tracing changes temporarily would stay changed. So `os.fork`, also
by way of `multiprocessing`, waits until the other threads are done, and threads that are about to begin wait for it. A
thread that forks while it traces goes on tracing in both processes.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

T = TypeVar("T")
PATIENCE = 60.0     # seconds to wait for the others, which might wait for the thread that forks

_gate = threading.RLock()
_changed = threading.Condition(_gate)
_busy: dict[int, int] = {}      # the threads that must not be interrupted, and in how many blocks each is
_forking: list[int] = []        # the threads that are waiting to fork
_locks: weakref.WeakSet[Any] = weakref.WeakSet()
_held: list[Any] = []           # the lock of LLVM, while the process is copied


class _Undivided:
    """Within the block, no other thread forks the process."""

    def __enter__(self) -> None:
        me = threading.get_ident()
        if _POOLS not in sys.modules and threading.active_count() > 1:
            importlib.import_module(_POOLS)     # now: its own handlers of forks must not be registered during one
        with _gate:
            while _forking and me not in _busy and me not in _forking:
                _changed.wait()
            _busy[me] = _busy.get(me, 0) + 1

    def __exit__(self, *raised: object) -> None:
        me = threading.get_ident()
        with _gate:
            _busy[me] -= 1
            if not _busy[me]:
                del _busy[me]
                _changed.notify_all()


_POOLS = "concurrent.futures.thread"
_undivided = _Undivided()


def undivided() -> AbstractContextManager[None]:
    """A context manager: within the block, no other thread forks the process."""
    return _undivided


def lock() -> Any:
    """A reentrant lock that is free in a forked process."""
    made = threading.RLock()
    _locks.add(made)
    return made


def cached_property(function: Callable[[Any], T]) -> functools.cached_property[T]:
    """`functools.cached_property`, which has a lock for all objects of a class before Python 3.12."""
    made = functools.cached_property(function)
    if hasattr(made, "lock"):
        made.lock = lock()
    return made


def _before() -> None:
    me = threading.get_ident()
    _changed.acquire()
    _forking.append(me)
    _changed.wait_for(lambda: _busy.keys() <= {me}, PATIENCE)
    llvm = getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None)
    if (inner := getattr(getattr(llvm, "_lock", None), "_lock", None)) is not None:     # that of the package llvmlite
        inner.acquire()
        _held.append(inner)


def _in_parent() -> None:
    while _held:
        _held.pop().release()
    _forking.remove(threading.get_ident())
    _changed.notify_all()
    _changed.release()


def _in_child() -> None:
    me = threading.get_ident()
    for each in [*_busy]:
        if each != me:
            del _busy[each]
    _forking[:] = [me]
    for each in list(_locks):
        if not each._is_owned():
            each._at_fork_reinit()
    _changed._waiters.clear()  # type: ignore[attr-defined]  # threads that are no more
    _in_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
