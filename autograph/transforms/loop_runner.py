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
from collections.abc import Callable, Iterator, Sequence
from operator import truth
from types import FunctionType
from typing import Any

from autograph import operators
from autograph.common.code_flags import codes_in
from autograph.common.code_marks import shelters
from autograph.conversion.conversions import converted_with
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
clock = time.perf_counter


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
        vars(own).update(vars(operators), for_stmt=_for_operator(self), while_stmt=_while_operator(self), trim=_trim)
        self.function = converted_with(function, own)
        code = self.function.__code__
        self.has_loops = any({"for_stmt", "while_stmt"}.intersection(each.co_names) for each in codes_in(code))
        closure = self.function.__closure__ or ()
        found = [shelter for each in codes_in(code) for shelter in shelters(each)]
        self.owner = Owner(options, threshold, first, closure, *shared_variables(code), found)

    def site(self, body: FunctionType) -> Site:
        """The site of a loop, for its operator; made when the loop runs for the first time."""
        found = self.sites.get(id(body.__code__))
        if found is None:
            line = sys._getframe(2).f_lineno
            inside = [site for site in self.sites.values() if site.loop and id(body.__code__) in site.loop.codes]
            parent = min(inside, key=lambda site: len(site.loop.codes), default=None)  # type: ignore[union-attr]
            found = self.sites.setdefault(id(body.__code__), Site(self.owner, body.__code__, line, parent))
        return found

    @property
    def loops(self) -> list[LoopSummary]:
        """The loops that have run, and what became of them."""
        return [site.summary() for site in self.sites.values()]


class Run:
    """One run of a loop as plain Python, up to where the rest of it is staged.

    Attributes:
        check: the number of iterations after which `passed` is called again.
    """

    __slots__ = ("_begin", "_bodies", "_call", "_items", "_mark", "_options", "_since", "check", "site")

    def __init__(self, site: Site, bodies: tuple[Any, ...], names: Sequence[str], options: Any) -> None:
        if site.loop is None:
            site.begin(bodies, names)
        self.site = site
        self.check = site.owner.first
        self._bodies = bodies
        self._options = options
        self._items: Callable[[int], Items | None] | None = None
        self._begin = self._since = clock()
        self._mark = 0

    def started(self, items: Callable[[int], Items | None] | None) -> Outcome:
        """Run the whole loop staged, if it is hot; see `Site.run`.

        Args:
            items: gives the items that are left of the iterable after so many; None for a `while`.
        """
        self._items = items
        return self._stage(0) if self.site.is_hot else Outcome.PLAIN

    def passed(self, count: int) -> Outcome:
        """Note that so many iterations have run; run the rest staged, if that pays."""
        now = clock()
        items = self._items(count) if self._items is not None else None
        left = None if items is None else items.length
        ready = self.site.passed(count - self._mark, now - self._since, now - self._begin, left)
        self._mark, self.check = count, 2 * count
        outcome = self._stage(count) if ready else Outcome.PLAIN
        self._since = clock()
        return outcome

    def _stage(self, count: int) -> Outcome:
        site = self.site
        if self._items is None:
            return site.run(_WHILE_CALLS[len(self._bodies)], None, self._bodies, self._options)
        items = self._items(count)
        if items is None:
            site.leave_plain("its items are not those of a range, list, tuple or array")
            return Outcome.PLAIN
        return site.run(_FOR_CALLS[len(self._bodies)], items, self._bodies, self._options)

    def end(self, count: int, whole: bool = True) -> None:
        """Note the end of the plain iterations; `whole`: that of the loop."""
        self.site.plain.runs += whole
        self.site.plain.add(clock() - self._since, count - self._mark, whole)


# The operators --------------------------------------------------------------------------------------------------------

_FOR = "ag__.for_stmt({items}, ag__body_0, ag__names, until=%s, options=ag__options)"
_WHILE = "ag__.while_stmt(ag__body_1, ag__body_0, ag__names, until=%s, options=ag__options)"
_FOR_CALLS = {1: _FOR % None, 2: _FOR % "ag__body_1"}
_WHILE_CALLS = {2: _WHILE % None, 3: _WHILE % "ag__body_2"}


def _for_operator(runner: LoopRunner) -> Callable[..., None]:
    def for_stmt(iterable: Any, body: Any, names: Sequence[str] = (), until: Any = None, options: Any = None) -> None:
        """`for_stmt`, as in `operators/loops.py`, for the loops of one function."""
        item = iterator = run = None
        count = 0
        try:
            alone = sys.getrefcount(iterable) <= _ALONE
            site = runner.site(body)
            if ACTIVE or BACKENDS or type(iterable) in STAGED or not site.may_be_staged(iterable):
                loops.for_stmt(iterable, body, names, until, options)
                return
            run = Run(site, (body,) if until is None else (body, until), names, options)
            outcome = run.started(lambda taken: items_of(iterable, taken, alone))
            iterator = iter(iterable) if outcome is Outcome.PLAIN else iter(())
            check = run.check
            for item in Resumed(iterator):
                body(item)
                count += 1
                if until is not None:
                    stop = until()
                    if stop is not False and truth(stop):
                        break
                if count == check or site.wanted:
                    outcome = run.passed(count)
                    if outcome is not Outcome.PLAIN:
                        break
                    check = run.check
            run.end(count, outcome is Outcome.PLAIN)
            if outcome in _REPEATED:
                with _repeating(outcome):
                    loops.for_stmt(Resumed(iterator) if count else iterable, body, names, until, options)
        except BaseException as error:
            if run is not None:
                run.end(count)
            del iterable, iterator, item, run
            if isinstance(error, NameError):
                rename(error, body, until)
            raise

    return for_stmt


def _while_operator(runner: LoopRunner) -> Callable[..., None]:
    def while_stmt(test: Any, body: Any, names: Sequence[str] = (), until: Any = None, options: Any = None) -> None:
        """`while_stmt`, as in `operators/loops.py`, for the loops of one function."""
        run = None
        count = 0
        try:
            site = runner.site(body)
            if ACTIVE or BACKENDS or site.is_plain:
                loops.while_stmt(test, body, names, until, options)
                return
            run = Run(site, (body, test) if until is None else (body, test, until), names, options)
            outcome = run.started(None)
            check = run.check
            while outcome is Outcome.PLAIN and truth(test()):
                body()
                count += 1
                if until is not None:
                    stop = until()
                    if stop is not False and truth(stop):
                        break
                if count == check or site.wanted:
                    outcome = run.passed(count)
                    check = run.check
            run.end(count, outcome is Outcome.PLAIN)
            if outcome in _REPEATED:
                with _repeating(outcome):
                    loops.while_stmt(test, body, names, until, options)
        except BaseException as error:
            if run is not None:
                run.end(count)
            del run
            if isinstance(error, NameError):
                rename(error, test, body, until)
            raise

    return while_stmt


def _references(iterable: Any, *rest: Any, **options: Any) -> int:
    return sys.getrefcount(iterable)


# The references to the iterable of a `for` that nothing else refers to.
_ALONE = _references(enumerate(()), None, until=None)


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
