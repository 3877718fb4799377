"""`for` and `while` loops.

If the iterable, a test or the result of `until` is staged, its backend gets the rest of the loop, with the variables as
they are then. A tracing backend may also take a loop before its first iteration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from operator import truth
from typing import Any

from autograph.operators.backend import (
    ACTIVE,
    BACKENDS,
    STAGED,
    Backend,
    OneArgument,
    Options,
    Thunk,
    owner,
    responsible,
    tracing,
)
from autograph.operators.logical import and_, not_
from autograph.operators.state import State
from autograph.operators.unbound import rename


def for_stmt(
    iterable: Any, body: OneArgument, names: Sequence[str] = (), until: Thunk | None = None, options: Options = None
) -> None:
    """`for x in iterable: body(x)`; also ends if `until()`, called after each iteration, is true.

    Args:
        names: the variables that the loop changes and that are read afterwards or in the next iteration.
        options: the arguments of `ag.set_loop_options` in the loop.
    """
    item = iterator = None
    try:
        if ACTIVE or BACKENDS or type(iterable) in STAGED:
            if _staged_for(responsible(iterable), True, iterable, body, names, until, options):
                return
        if until is None:
            for item in iterable:
                body(item)
        else:
            iterator = iter(iterable)
            for item in Resumed(iterator):
                body(item)
                stop = until()
                if stop is not False and _stops(stop, iterator, body, names, until, options):
                    return
    except BaseException as error:
        # The traceback keeps this frame alive. Release the objects that Python releases here, such as a generator.
        del iterable, iterator, item
        if isinstance(error, NameError):
            rename(error, body, until)
        raise


class Resumed:
    """An iterator as an iterable: some iterators have no `__iter__`, and none may be asked for it twice."""

    __slots__ = ("iterator",)

    def __init__(self, iterator: Iterator[Any]) -> None:
        self.iterator = iterator

    def __iter__(self) -> Iterator[Any]:
        return self.iterator


def while_stmt(
    test: Thunk, body: Thunk, names: Sequence[str] = (), until: Thunk | None = None, options: Options = None
) -> None:
    """`while test(): body()`; also ends if `until()`, called after each iteration, is true.

    Args:
        names: the variables that the loop changes and that are read afterwards or in the next iteration.
        options: the arguments of `ag.set_loop_options` in the loop.
    """
    try:
        now = test()
        if ACTIVE and owner(now) is None and _staged_while(tracing(), now, test, body, names, until, options):
            return
        while now is True or (now is not False and _goes_on(now, test, body, names, until, options)):
            now = None  # Python releases it here, too
            body()
            if until is not None:
                stop = until()
                if stop is not False:
                    if owner(stop) is not None:
                        now = and_(partial(not_, stop), test)
                        continue
                    if stop:
                        return
            now = test()
    except NameError as error:
        rename(error, test, body, until)
        raise


# `loop`, in the following, is the arguments of the operator.


def _stops(stop: Any, *loop: Any) -> bool:
    """Return whether a `for` ends here, also because a backend takes over the rest."""
    backend = owner(stop)
    return (backend is not None and _staged_for(backend, not_(stop), *loop)) or truth(stop)


def _goes_on(now: Any, *loop: Any) -> bool:
    """Return whether a `while` runs another iteration here: not if a backend takes over the rest."""
    return not _staged_while(owner(now), now, *loop) and truth(now)


def _staged_for(
    backend: Backend | None, first: Any, iterable: Any, body: Any, names: Any, until: Any, options: Any
) -> bool:
    """Return whether a backend takes over the loop."""
    if backend is None:
        return False
    state = State(names, body, until)
    return backend.for_stmt(iterable, body, state, until, options, first) is not NotImplemented


def _staged_while(
    backend: Backend | None, first: Any, test: Any, body: Any, names: Any, until: Any, options: Any
) -> bool:
    """Return whether a backend takes over the loop."""
    if backend is None:
        return False
    state = State(names, test, body, until)
    return backend.while_stmt(first, test, body, state, until, options) is not NotImplemented
