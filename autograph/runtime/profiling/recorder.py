"""The times that active profiles record: a tree of calls for each thread.

A *site* is code that is timed: a staged function, the code of a graph, or a phase of this library's work. It has
*spots*: those of a graph are its nodes. A *branch* is a site below the spot that called it, with the seconds and counts
of its own spots. A *run* is one execution of a site:

    run = begin(site)
    x = run.tick(1, np.sin(x))      # what has happened since `begin` is spot 1,
    y = run.tick(2, x + 1)          # and this is spot 2; the time of runs within is theirs
    run.end()

Profiles may be nested, and overlap: there is one record, of which each gets what is added while it is active. Code that
can be timed follows the recorder (`follow`), which tells it when the first profile begins and the last one ends. So
nothing is slower while there is none.
"""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NamedTuple, Protocol

from autograph.common import budget, forking

clock = time.perf_counter
EVENTS = 100_000  # of one thread, with begin and end; later ones only count in the tree
# What takes time: the user's code in its three forms, and this library before and between.
ENGINES = ("Python", "NumPy", "machine code", "entering", "tracing", "compiling")
WHOLE = -1  # in place of the number of a spot: an event of a whole run
SHORT = 5e-6  # seconds of a profile for a call of a function, at most: more is the time of other processes
TRIALS, TICKS = 100, 20  # to find out how long a tick takes


class Line(NamedTuple):
    """A line of the user's program, and the function in which it is."""

    file: str
    line: int
    function: str


class Spot(NamedTuple):
    """The meaning of a number of a site.

    Attributes:
        name: of the operation.
        engine: one of `ENGINES`.
        lines: where it comes from: the lines of the calls that were traced, the outermost first, and its own.
        nodes: of the graph.
        last: the last line of machine code for several lines; 0 for other code.
    """

    name: str
    engine: str
    lines: tuple[Line, ...] = ()
    nodes: tuple[Any, ...] = ()
    last: int = 0


def _no_number(instruction: int) -> int:
    return 0


@dataclass(eq=False)
class Site:
    """Code that is timed.

    Attributes:
        kind: "function", "graph" or "phase".
        line: at which its function begins.
        spot: what each number stands for. A function has 0: plain calls, and 1: those that have entered a graph.
        size: the number of spots.
        number_at: the spot of an instruction, by its offset.
        functions: the staged functions that it stands for, as long as they are in use.
    """

    kind: str
    line: Line
    spot: Callable[[int], Spot]
    size: int = 1
    number_at: Callable[[int], int] = _no_number
    functions: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)


def phase_site(name: str) -> Site:
    """The site of a phase of this library's work."""
    spot = Spot(f"({name})", name)
    return Site("phase", Line("", 0, f"({name})"), lambda number: spot)


TRACING, COMPILING = phase_site("tracing"), phase_site("compiling")
_ROOT = phase_site("program")


class Branch:
    """A site below the spot that called it.

    Attributes:
        above: the branch that called it; None for the program.
        number: of the spot there.
        place: of the branch among those of its thread.
        seconds: by number of the spot, without those of branches below.
        counts: how often each has ended.
    """

    __slots__ = ("above", "below", "counts", "number", "place", "seconds", "site")

    def __init__(self, above: Branch | None, number: int, site: Site, place: int) -> None:
        self.above, self.number, self.site, self.place = above, number, site, place
        self.seconds = [0.0] * site.size
        self.counts = [0] * site.size
        self.below: dict[tuple[int, Site], Branch] = {}


class State:
    """The record of one thread.

    Attributes:
        branches: all of them, each behind the one above it.
        events: of each, the place of the branch and the number of the spot. There are no tuples, as new ones let the
            garbage collector run, which would show in the times.
        times: of each, begin and end.
        dropped: the number of events that are not kept.
        accounted: seconds of all spots of functions and graphs. What a run takes besides is time of the profile, which
            is left out where tiers compare calls, so that they decide as without a profile.
        top: the innermost run.
    """

    def __init__(self, epoch: int) -> None:
        self.epoch, self.ident = epoch, threading.get_ident()
        named = (thread.name for thread in threading.enumerate() if thread.ident == self.ident)
        self.name = next(named, f"thread {self.ident}")
        self.branches = [Branch(None, 0, _ROOT, 0)]
        self.events: list[int] = []
        self.times: list[float] = []
        self.dropped, self.accounted = 0, 0.0
        self.top: Run | None = None

    def enter(self, site: Site) -> Branch:
        """The branch of a site below the innermost run."""
        top = self.top
        if top is None:
            above, number = self.branches[0], 0
        else:
            above = top.branch
            number = 0 if top.frame is None else above.site.number_at(top.frame.f_lasti)
        found = above.below.get((number, site))
        if found is None:
            found = above.below[number, site] = Branch(above, number, site, len(self.branches))
            self.branches.append(found)
        return found

    def note(self, branch: Branch, number: int, begin: float, end: float) -> None:
        """Keep an event, if there is room."""
        times, events = self.times, self.events
        if len(times) < 2 * EVENTS:
            events.append(branch.place)
            events.append(number)
            times.append(begin)
            times.append(end)
        else:
            self.dropped += 1


class Run:
    """One execution of a site.

    Attributes:
        frame: of the generated code that runs a graph.
        enters_graph: whether it has called a graph directly.
    """

    __slots__ = (
        *("branch", "counts", "enters_graph", "frame", "seconds"),
        *("_accounted", "_before", "_begin", "_entered", "_inner", "_last", "_outer", "_own", "_state", "_wall"),
    )

    def __init__(self, state: State, site: Site, frame: FrameType | None) -> None:
        self._entered = clock()
        if frame is not None:
            self._own, self._wall = budget.own_time(), budget.wall_time()
        self.branch = branch = state.enter(site)
        self.seconds, self.counts = branch.seconds, branch.counts
        self.frame, self.enters_graph = frame, False
        self._state, self._outer = state, state.top
        if frame is not None and state.top is not None:
            state.top.enters_graph = True
        self._inner = 0.0       # seconds of runs within, since the last tick
        state.top = self
        if frame is not None:
            self._before, self._accounted = sum(self.seconds), state.accounted
        self._begin = self._last = clock()

    def tick(self, number: int, value: Any = None) -> Any:
        """Count a spot that has just ended. Returns the value."""
        now = clock()
        seconds = now - self._last - self._inner - _cost.residue
        if seconds > 0:
            self.seconds[number] += seconds
        self.counts[number] += 1
        self._inner = 0.0
        self._state.note(self.branch, number, self._last, now)
        self._last = clock()        # the time of this method counts for no spot
        return value

    def also(self, number: int) -> None:
        """Add the time since the last tick to a spot, without counting it."""
        self.counts[number] -= 1
        self.tick(number)

    def end(self) -> None:
        """End the run of a graph. If it raises, the time since the last tick is that of the spot that does."""
        error: BaseException | None = sys.exc_info()[1]
        trace = error.__traceback__ if error is not None else None
        raises = trace is not None and trace.tb_frame is self.frame
        self.also(self.branch.site.number_at(trace.tb_lasti) if trace is not None and raises else 0)
        self.counts[0] += 1
        self.frame = error = trace = None       # which refer to one another
        self._leave(clock())
        self._state.accounted += sum(self.seconds) - self._before
        accounted = self._state.accounted - self._accounted
        budget.leave_out(budget.own_time() - self._own - accounted, budget.wall_time() - self._wall - accounted)

    def close(self, number: int = 0) -> None:
        """End the run of a function or phase."""
        now = clock()
        seconds = max(0.0, now - self._begin - self._inner)
        self.seconds[number] += seconds
        self.counts[number] += 1
        if self.branch.site.kind == "function":
            self._state.accounted += seconds
        self._leave(now)
        seconds = min(clock() - now + self._begin - self._entered, SHORT)
        budget.leave_out(seconds, seconds)

    def _leave(self, now: float) -> None:
        state, outer = self._state, self._outer
        state.note(self.branch, WHOLE, self._begin, now)
        state.top = outer
        if outer is not None:
            outer._inner += clock() - self._entered     # with the time of the profile itself


@contextmanager
def unrecorded() -> Iterator[None]:
    """Leave the time of what runs in it out, as it is that of the profile itself."""
    begun, top = clock(), _state().top
    try:
        with budget.untimed():
            yield
    finally:
        if top is not None:
            top._inner += clock() - begun


def begin(site: Site) -> Run:
    """Begin a run of a function or phase in this thread."""
    return Run(_state(), site, None)


def begin_graph(site: Site) -> Run:
    """Begin a run of the code of a graph, which calls this."""
    return Run(_state(), site, sys._getframe(1))


@contextmanager
def phase(site: Site) -> Iterator[None]:
    """Record a phase of this library's work, if there is a profile."""
    if not is_on("functions"):
        yield
        return
    run = begin(site)
    try:
        yield
    finally:
        run.close()


# The record ----------------------------------------------------------------------------------------------------------


class Follower(Protocol):
    """Code that can be timed."""

    def _measure(self) -> None:
        """Be timed while `is_on`."""


class Measured(NamedTuple):
    """The times that a thread has added to a branch."""

    branch: Branch
    seconds: list[float]
    counts: list[int]


@dataclass(frozen=True)
class Thread:
    """The record of one thread, as a profile has it.

    Attributes:
        branches: each behind the one above it.
        kept, times: as `State.events` and `State.times`.
        dropped: the number of events that are not kept.
    """

    name: str
    ident: int
    branches: list[Measured]
    kept: list[int]
    times: list[float]
    dropped: int

    @property
    def events(self) -> list[tuple[Branch, int, float, float]]:
        """Branch, number of the spot, begin and end, as they ended."""
        places, numbers, begins, ends = self.kept[::2], self.kept[1::2], self.times[::2], self.times[1::2]
        return [(self.branches[each[0]].branch, *each[1:]) for each in zip(places, numbers, begins, ends)]


Mark = dict[int, "tuple[list[Measured], int, int]"]     # by `id` of the state: branches, and numbers of events


class _Record(threading.local):
    state: State | None = None


class _Cost:
    """The seconds of a tick that count as the spot's."""

    residue = 0.0


_local, _cost = _Record(), _Cost()
lock = forking.lock()     # held while code changes between timed and not
_on = {"functions": 0, "graphs": 0}     # the number of profiles
_followers: dict[str, weakref.WeakValueDictionary[int, Any]] = {kind: weakref.WeakValueDictionary() for kind in _on}
_states: list[State] = []
_epoch = 0      # changes when the last profile ends


def is_on(kind: str) -> bool:
    """Whether "functions" or "graphs" are timed."""
    return _on[kind] > 0


def follow(kind: str, follower: Follower) -> None:
    """Let code be timed as one of the "functions" or "graphs", now and later."""
    _followers[kind][id(follower)] = follower
    if is_on(kind):
        with lock:
            follower._measure()


def start(graphs: bool) -> Mark:
    """Begin a profile: of functions, and of graphs, too. Returns a mark for `stop`."""
    if graphs and not is_on("graphs"):
        _calibrate()
    with lock:
        mark = {id(state): (_copied(state), len(state.events), state.dropped) for state in _states}
        _switch(1, graphs)
    return mark


def stop(mark: Mark, graphs: bool) -> list[Thread]:
    """End a profile. Returns what was added since it began."""
    global _epoch
    with lock:
        _switch(-1, graphs)
        found = [_added(state, *mark.get(id(state), ([], 0, 0))) for state in _states]
        if not is_on("functions"):
            _epoch += 1
            _states.clear()
    return found


def _switch(step: int, graphs: bool) -> None:
    for kind in ("functions", "graphs")[: 1 + graphs]:
        before = is_on(kind)
        _on[kind] += step
        if is_on(kind) != before:
            for reference in _followers[kind].valuerefs():  # a copy, as other threads may make followers
                follower = reference()
                if follower is not None:
                    follower._measure()


def _copied(state: State) -> list[Measured]:
    return [Measured(each, [*each.seconds], [*each.counts]) for each in [*state.branches]]


def _added(state: State, before: list[Measured], events: int, dropped: int) -> Thread:
    branches = _copied(state)
    for now, then in zip(branches, before):
        now.seconds[:] = [a - b for a, b in zip(now.seconds, then.seconds)]
        now.counts[:] = [a - b for a, b in zip(now.counts, then.counts)]
    kept = state.events[events:], state.times[events:]
    return Thread(state.name, state.ident, branches, *kept, state.dropped - dropped)


def _state() -> State:
    """The record of this thread."""
    state = _local.state
    if state is None or state.epoch != _epoch:
        with lock:
            state = _local.state = State(_epoch)
            _states.append(state)
    return state


def _calibrate() -> None:
    """Find out how much time a tick adds to its spot, at the speed that the machine has now."""
    state, site = State(-1), Site("graph", _ROOT.line, _ROOT.spot)
    residues = []
    _cost.residue = 0.0
    for _ in range(TRIALS):
        run = Run(state, site, None)
        for _ in range(TICKS):
            run.tick(0, None)
        residues.append(run.seconds[0] / TICKS)
        run.seconds[0] = 0.0
    _cost.residue = sorted(residues)[TRIALS // 2]
