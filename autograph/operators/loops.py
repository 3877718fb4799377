"""`for` loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
)
from autograph.operators.logical import not_
from autograph.operators.state import State
from autograph.operators.unbound import rename


def for_stmt(
    iterable: Any,
    body: OneArgument,
    names: Sequence[str] = (),
    until: Thunk | None = None,
    options: Options = None,
) -> None:
    """`for x in iterable: body(x)`, left also when `until()`, asked after each iteration, is true.

    The first `until` to be staged hands the rest of the loop to the backend that owns it, with the variables as
    they then are.

    Args:
        names: the variables that the loop changes and that are read afterwards or in the next iteration.
        options: what `ag.set_loop_options` was given in the loop.
    """
    item = iterator = None
    try:
        if ACTIVE or BACKENDS or type(iterable) in STAGED:
            backend = responsible(iterable)
            if _takes_over(backend, iterable, body, names, until, options, True):
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
        # The traceback keeps this frame; what Python would have let go of by now, such as a generator, goes.
        del iterable, iterator, item
        if isinstance(error, NameError):
            rename(error, body, until)
        raise


class Resumed:
    """An iterator as something to iterate over, for iterators need not have an `__iter__`, nor be asked twice."""

    __slots__ = ("iterator",)

    def __init__(self, iterator: Iterator[Any]) -> None:
        self.iterator = iterator

    def __iter__(self) -> Iterator[Any]:
        return self.iterator


def _stops(
    stop: Any, rest: Iterable[Any], body: OneArgument, names: Sequence[str], until: Thunk, options: Options
) -> bool:
    """Whether the loop ends here, be it that a backend takes over the rest."""
    backend = owner(stop)
    if backend is None:
        return truth(stop)
    return _takes_over(backend, rest, body, names, until, options, not_(stop)) or truth(stop)


def _takes_over(
    backend: Backend | None,
    iterable: Any,
    body: OneArgument,
    names: Sequence[str],
    until: Thunk | None,
    options: Options,
    first: Any,
) -> bool:
    if backend is None:
        return False
    state = State(names, body, until)
    return backend.for_stmt(iterable, body, state, until, options, first) is not NotImplemented
