"""Runs a function as plain Python, with its hot loops staged on their own.

The converted function runs, with operators of its own for loops. A loop counts the time spent in it. Once it is hot, it
goes on as a staged function (`conversion/loop_functions.py`) from the iteration at which it is, and begins as one when
it runs again. All else, such as a `try` around the loop, is ordinary Python.
"""

from __future__ import annotations

import contextlib
import sys
import time
import types
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import truth
from types import CodeType, FunctionType
from typing import Any

from autograph import operators
from autograph.common import budget
from autograph.common.code_flags import codes_in
from autograph.common.code_marks import shelters
from autograph.common.cpython_internals import COUNTS, reference_count
from autograph.conversion.conversions import converted_with, whole_pieces
from autograph.conversion.loop_functions import shared_variables
from autograph.operators import loops
from autograph.operators.backend import ACTIVE, BACKENDS, STAGED
from autograph.operators.loops import Resumed
from autograph.operators.unbound import rename
from autograph.runtime.dispatch.explain import LoopSummary
from autograph.runtime.engines.numpy.tracebacks import is_stand_in
from autograph.transforms.loop_items import Items, items_of
from autograph.transforms.loop_sites import Outcome, Owner, Site

HOT = 0.003         # seconds in a loop, after which it is staged
FIRST = 8           # iterations before the clock is read; then twice as many
PLAIN = Outcome.PLAIN
clock = budget.wall_time


class LoopRunner:
    """Runs a function as plain Python, with its hot loops staged on their own.

    Args:
        function: the user's.
        options: those of `ag.function` for engine and tracing; the engine is "native" or "numpy".
        threshold: the seconds in a loop after which it is staged.
        first: the iterations after which the clock is read; 0 stages loops before they run.

    Attributes:
        function: the function to call instead.
        has_loops: whether there are loops that may be staged.

    Raises:
        SourceError: the function has no source.
    """

    def __init__(
        self, function: FunctionType, options: dict[str, Any], threshold: float = HOT, first: int = FIRST
    ) -> None:
        self.sites: dict[int, Site] = {}
        own = types.ModuleType(operators.__name__)
        runner = weakref.ref(self)      # garbage collection does not follow code, which refers to its operators
        loops_of = {"for_stmt": _for_operator(runner), "while_stmt": _while_operator(runner)}
        vars(own).update(vars(operators), **loops_of, trim=_trim)
        self._original = function
        self._whole: dict[int, CodeType] | None = None
        self.function = converted_with(function, own)
        code = self.function.__code__
        self.has_loops = any({"for_stmt", "while_stmt"}.intersection(each.co_names) for each in codes_in(code))
        closure = self.function.__closure__ or ()
        found = [shelter for each in codes_in(code) for shelter in shelters(each)]
        self.owner = Owner(options, threshold, first, closure, *shared_variables(code), found, self._whole_of)

    def site(self, *bodies: FunctionType | None, names: Sequence[str]) -> Site:
        """The site of a loop, for its operator, when it runs for the first time."""
        given = [body for body in bodies if body is not None]
        code = given[0].__code__
        inside = [site for site in self.sites.values() if site.loop and id(code) in site.loop.codes]
        parent = min(inside, key=lambda site: len(site.loop.codes), default=None)  # type: ignore[union-attr]
        made = Site(self.owner, code, sys._getframe(2).f_lineno, parent)
        made.begin(given, names)
        return self.sites.setdefault(id(code), made)

    def _whole_of(self, code: CodeType) -> CodeType | None:
        if self._whole is None:
            self._whole = whole_pieces(self._original, self.function.__code__)
        return self._whole.get(id(code))

    @property
    def loops(self) -> list[LoopSummary]:
        """The loops that have run, and what became of them."""
        return [site.summary() for site in self.sites.values()]


class Run:
    """One run of a loop, from when the clock is read in the midst of it.

    Attributes:
        check: the number of iterations after which `passed` is called again.
    """

    __slots__ = ("_begin", "_clocks", "_items", "_mark", "_since", "_stage", "check", "site")

    def __init__(
        self, site: Site, stage: Callable[[Items | None], Outcome], items: Callable[[int], Items | None], begin: float
    ) -> None:
        self.site = site
        self.check = site.check
        self._stage = stage
        self._items = items
        self._begin = self._since = begin
        self._mark = 0
        self._clocks: tuple[float, float] | None = None

    def passed(self, count: int) -> Outcome:
        """Note that so many iterations have run; run the rest staged, if that pays."""
        now = clock()
        ready = self.site.passed(count - self._mark, now - self._since, now - self._begin)
        self._mark, self.check = count, 2 * count
        outcome = PLAIN
        if ready:
            items = self._items(count)
            if self.site.pays(items, self._share(now)):
                outcome = self._stage(items)
        elif self._clocks is None:
            self._clocks = now, time.thread_time()
        self._since = clock()
        return outcome

    def _share(self, now: float) -> float:
        """The part of the time for which this thread has had the processor, about."""
        if self._clocks is None or now <= self._clocks[0]:
            return 1.0
        return min(1.0, (time.thread_time() - self._clocks[1]) / (now - self._clocks[0]))

    def ended(self, count: int, begin: float, whole: bool) -> None:
        """Note the last plain iterations, of `count`; `whole`: they ended the loop."""
        self.site.ended(count - self._mark, self._since, whole)


# The operators --------------------------------------------------------------------------------------------------------

_FOR = "ag__.for_stmt({items}, ag__body_0, ag__names, until=%s, options=ag__options)"
_WHILE = "ag__.while_stmt(ag__body_1, ag__body_0, ag__names, until=%s, options=ag__options)"
_FOR_CALLS = {1: _FOR % None, 2: _FOR % "ag__body_1"}
_WHILE_CALLS = {2: _WHILE % None, 3: _WHILE % "ag__body_2"}


def _for_operator(known: weakref.ref[LoopRunner]) -> Callable[..., None]:
    def for_stmt(iterable: Any, body: Any, names: Sequence[str] = (), until: Any = None, options: Any = None) -> None:
        """`for_stmt`, as in `operators/loops.py`, for the loops of one function."""
        item = iterator = run = stop = None
        count, outcome, begin = 0, PLAIN, 0.0
        try:
            runner = known()    # None in an inner function that is left
            if ACTIVE or BACKENDS or type(iterable) in STAGED or runner is None:    # the body may be that of a trace
                loops.for_stmt(iterable, body, names, until, options)
                return
            site = runner.sites.get(id(body.__code__)) or runner.site(body, until, names=names)
            if site.is_plain and not site.is_tried_again(iterable):
                loops.for_stmt(iterable, body, names, until, options)
                return
            alone = reference_count(iterable) <= _ALONE
            begin = clock()
            if site.is_hot:
                outcome = _stage_for(site, items_of(iterable, 0, alone), body, until, options)
            iterator = iter(iterable if outcome is PLAIN else ())
            check = site.check
            for item in Resumed(iterator):
                body(item)
                count += 1
                if until is not None and (stop := until()) is not False and truth(stop):
                    break
                if count == check or site.wanted:
                    if run is None:
                        stage = partial(_stage_for, site, body=body, until=until, options=options)
                        run = Run(site, stage, partial(items_of, iterable, alone=alone), begin)
                    outcome = run.passed(count)
                    if outcome is not PLAIN:
                        break
                    check = run.check
            if outcome in _REPEATED:
                with _repeating(outcome):
                    loops.for_stmt(Resumed(iterator) if count else iterable, body, names, until, options)
        except BaseException as error:
            del iterable, iterator, item
            if isinstance(error, NameError):
                rename(error, body, until)
            raise
        finally:
            if count:
                (run or site).ended(count, begin, outcome is PLAIN)
            del run, stop

    return for_stmt


def _stage_for(site: Site, items: Items | None, body: Any, until: Any, options: Any) -> Outcome:
    if items is None:
        site.leave_plain("its items are not those of a range, list, tuple or array")
        return PLAIN
    bodies = (body,) if until is None else (body, until)
    return site.run(_FOR_CALLS[len(bodies)], items, bodies, options)


def _while_operator(known: weakref.ref[LoopRunner]) -> Callable[..., None]:
    def while_stmt(test: Any, body: Any, names: Sequence[str] = (), until: Any = None, options: Any = None) -> None:
        """`while_stmt`, as in `operators/loops.py`, for the loops of one function."""
        run = now = stop = None
        count, outcome, begin = 0, PLAIN, 0.0
        try:
            runner = known()    # None in an inner function that is left
            if ACTIVE or BACKENDS or runner is None:    # the body may be that of a trace
                loops.while_stmt(test, body, names, until, options)
                return
            site = runner.sites.get(id(body.__code__)) or runner.site(body, test, until, names=names)
            if site.is_plain:
                loops.while_stmt(test, body, names, until, options)
                return
            begin = clock()
            if site.is_hot:
                outcome = _stage_while(site, None, test, body, until, options)
            check = site.check
            while outcome is PLAIN and ((now := test()) is True or (now is not False and truth(now))):
                now = None  # Python releases it here, too
                body()
                count += 1
                if until is not None and (stop := until()) is not False and truth(stop):
                    break
                if count == check or site.wanted:
                    if run is None:
                        stage = partial(_stage_while, site, test=test, body=body, until=until, options=options)
                        run = Run(site, stage, _no_items, begin)
                    outcome = run.passed(count)
                    check = run.check
            if outcome in _REPEATED:
                with _repeating(outcome):
                    loops.while_stmt(test, body, names, until, options)
        except NameError as error:
            rename(error, test, body, until)
            raise
        finally:
            if count:
                (run or site).ended(count, begin, outcome is PLAIN)
            del run, now, stop

    return while_stmt


def _stage_while(site: Site, items: None, test: Any, body: Any, until: Any, options: Any) -> Outcome:
    bodies = (body, test) if until is None else (body, test, until)
    return site.run(_WHILE_CALLS[len(bodies)], items, bodies, options)


def _no_items(taken: int) -> None:
    """The items of a `while`."""


def _references(iterable: Any, *rest: Any, **options: Any) -> int:
    return reference_count(iterable)


# The references to the iterable of a `for` that nothing else refers to.
_ALONE = _references(enumerate(()), None, until=None) if COUNTS else 0


_REPEATED = Outcome.REPEATED, Outcome.REPEATED_QUIETLY


@contextlib.contextmanager
def _repeating(outcome: Outcome) -> Iterator[None]:
    if outcome is Outcome.REPEATED:
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _trim() -> None:
    """`trim`, and let an error in a staged loop have one entry for the function: that with the line in the loop."""
    operators.trim()
    error = sys.exc_info()[1]
    own = error.__traceback__ if error is not None else None
    inner = own.tb_next if own is not None else None
    if error is not None and own is not None and inner is not None and is_stand_in(inner.tb_frame):
        if _named(own) == _named(inner):
            error.__traceback__ = inner


def _named(entry: types.TracebackType) -> tuple[str, str, str]:
    code = entry.tb_frame.f_code
    return code.co_filename, code.co_name, getattr(code, "co_qualname", "")
