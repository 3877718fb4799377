"""`while` loops."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import truth
from typing import Any

from autograph.operators.backend import ACTIVE, Backend, Options, Thunk, owner, tracing
from autograph.operators.logical import and_, not_
from autograph.operators.state import State
from autograph.operators.unbound import rename


def while_stmt(
    test: Thunk,
    body: Thunk,
    names: Sequence[str] = (),
    until: Thunk | None = None,
    options: Options = None,
) -> None:
    """`while test(): body()`, left also when `until()`, asked after each iteration, is true.

    The first test or `until` to be staged hands the rest of the loop to the backend that owns it, with the
    variables as they then are.

    Args:
        names: the variables that the loop changes and that are read afterwards or in the next iteration.
        options: what `ag.set_loop_options` was given in the loop.
    """
    try:
        now = test()
        if ACTIVE and owner(now) is None and _takes_over(tracing(), now, test, body, names, until, options):
            return
        while now is True or (now is not False and _goes_on(now, test, body, names, until, options)):
            now = None  # Python does not hold on to it either
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


def _goes_on(now: Any, *loop: Any) -> bool:
    """Whether there is another iteration here; there is none if a backend takes over the rest."""
    if _takes_over(owner(now), now, *loop):
        return False
    return truth(now)


def _takes_over(
    backend: Backend | None,
    now: Any,
    test: Thunk,
    body: Thunk,
    names: Sequence[str],
    until: Thunk | None,
    options: Options,
) -> bool:
    if backend is None:
        return False
    state = State(names, test, body, until)
    return backend.while_stmt(now, test, body, state, until, options) is not NotImplemented
