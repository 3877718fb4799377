"""Threads that compute rows ahead of their reader. They end when the iterator that started them is gone.

The threads are daemons: none keeps the process from ending. An error goes to the reader in its place in the order, and
reading goes on behind it, as in TensorFlow.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from queue import SimpleQueue
from typing import Any

AHEAD = 8  # elements that `prefetch(AUTOTUNE)` holds


def count_of(parallel_calls: Any) -> int:
    """The number of threads that a user asks for; `AUTOTUNE`: one for each processor."""
    return int(parallel_calls) if int(parallel_calls) > 0 else len(os.sched_getaffinity(0))


class Prefetched:
    """Reads an iterator in a thread, up to `size` items ahead; `make` makes it there."""

    def __init__(self, make: Callable[[], Iterator[Any]], size: int) -> None:
        self._found: SimpleQueue[Future[Any] | None] = SimpleQueue()
        self._free = threading.Semaphore(size)
        self._stop = threading.Event()
        self._ended = False
        threading.Thread(target=_read, args=(make, self._found, self._free, self._stop), daemon=True).start()
        weakref.finalize(self, _release, self._stop, self._free)

    def __iter__(self) -> Prefetched:
        return self

    def __next__(self) -> Any:
        found = None if self._ended else self._found.get()
        if found is None:
            self._ended = True
            raise StopIteration
        self._free.release()
        return found.result()


def _read(
    make: Callable[[], Iterator[Any]], found: SimpleQueue[Future[Any] | None], free: threading.Semaphore,
    stop: threading.Event,
) -> None:
    source: Iterator[Any] | None = None
    free.acquire()
    while not stop.is_set():
        item: Future[Any] = Future()
        try:
            source = make() if source is None else source
            item.set_result(next(source))
        except StopIteration:
            break
        except BaseException as error:
            item.set_exception(error)
        found.put(item)
        free.acquire()
    found.put(None)


def _release(stop: threading.Event, free: threading.Semaphore) -> None:
    stop.set()
    free.release()


class ParallelMap:
    """Maps a function over an iterator in `workers` threads.

    Args:
        in_order: whether the results come in the order of the items, rather than as they are ready.
    """

    def __init__(self, call: Callable[[Any], Any], source: Iterator[Any], workers: int, in_order: bool) -> None:
        self._source = source
        self._workers = workers
        self._in_order = in_order
        self._pending: deque[Future[Any]] = deque()
        self._tasks: SimpleQueue[tuple[Future[Any], Any] | None] = SimpleQueue()
        stop = threading.Event()
        for _ in range(workers):
            threading.Thread(target=_work, args=(call, self._tasks, stop), daemon=True).start()
        weakref.finalize(self, _end, stop, self._tasks, workers)

    def __iter__(self) -> ParallelMap:
        return self

    def __next__(self) -> Any:
        while len(self._pending) < self._workers and self._submit():
            pass
        if not self._pending:
            raise StopIteration
        if self._in_order:
            found = self._pending.popleft()
        else:
            found = next(iter(wait(self._pending, return_when=FIRST_COMPLETED).done))
            self._pending.remove(found)
        self._submit()
        return found.result()

    def _submit(self) -> bool:
        """Begin to compute the next result; gives whether there is one."""
        future: Future[Any] = Future()
        try:
            item = next(self._source)
        except StopIteration:
            return False
        except Exception as error:  # of the iterator: its reader gets it in its place
            future.set_exception(error)
        else:
            self._tasks.put((future, item))
        self._pending.append(future)
        return True


def _work(
    call: Callable[[Any], Any], tasks: SimpleQueue[tuple[Future[Any], Any] | None], stop: threading.Event
) -> None:
    while (task := tasks.get()) is not None and not stop.is_set():
        future, item = task
        try:
            future.set_result(call(item))
        except BaseException as error:
            future.set_exception(error)


def _end(stop: threading.Event, tasks: SimpleQueue[Any], workers: int) -> None:
    stop.set()
    for _ in range(workers):
        tasks.put(None)
