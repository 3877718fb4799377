"""The tiers of `engine="auto"`: the plain function first, and a graph once that has proved to be faster.

Tier 0 is the user's own code, which counts its calls (`call_counter.py`). Some calls are timed, so few that this takes
about a hundredth of the time. Each signature has a `Trial`: once its calls have taken `HOT` seconds, the function goes
to the dispatcher, and the signature is traced. Then staged and plain calls alternate, timed, until it is known which
are faster. If the plain ones are, the signature runs as plain Python, until a call takes `GROWN` times as long. A
function without a faster signature goes back to tier 0.

All tiers give the same results, so when to change tiers is only a matter of speed. `AUTOGRAPH_TIERS=off` traces at the
first call; with `AUTOGRAPH_TIERS=random:SEED`, chance decides.
"""

from __future__ import annotations

import math
import sys
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from inspect import Parameter
from operator import is_
from types import CellType, FrameType, FunctionType
from typing import Any, cast

from autograph.common import budget
from autograph.common.call_counter import Pace, Sampler, counting, frames, uncounted
from autograph.common.code_marks import is_switch, users_code
from autograph.common.constant_time import is_plain_data, recurses, takes_constant_time
from autograph.common.printing.locations import duration
from autograph.common.trip_counts import runs_long
from autograph.runtime.dispatch.arguments import arrange
from autograph.runtime.dispatch.compilation import Hooks, nodes_to_compile
from autograph.runtime.dispatch.dispatcher import make_counter
from autograph.runtime.dispatch.options import can_compile
from autograph.runtime.dispatch.trace_cache import Trace
from autograph.runtime.dispatch.trace_entry import MISS, Entry
from autograph.runtime.graph.signature import Signature

HOT = 0.020         # seconds in plain calls, after which tracing pays
WARMTH = HOT / 10   # of so many one is noted for its signature: that takes time, and objects take more memory then
ALLOWED = 0.5       # seconds of processor time that staging a signature may take; more if its calls have taken more
AGAIN = 3           # times as long it may take after it was stopped, once plain calls have taken as long as it did
SMALL = 1e-6        # seconds of a plain call that staging cannot make shorter
TINY = 1e-9         # and of one that calls itself: staging makes those within shorter
KNOWN = 64          # timed calls, all of them small, after which those of some functions are not counted any more
FIRST = 1e-4        # seconds of a first call that is noted for its signature
SAMPLING = 4e-6     # seconds that timing a call takes at least,
SHARE = 0.01        # and the part of the time that may go into that
NODE = 2e-3         # seconds that machine code of a node of a graph takes to make, about,
GAMBLE = 5          # times the seconds in plain calls may go into what may not be faster
GROWN = 4           # times as long a plain call takes, when another trial may end differently
WARM = 2            # staged calls that finish compiling, at the beginning of a trial
SETTLING = 0.004    # seconds of staged calls, each at least 0.2 ms, until Python runs their code at full speed
WARMING = 0.05      # seconds of calls in which loops become hot,
STAGING = 2.0       # and the seconds that staging them may take meanwhile:
USUAL = 4           # all that a call takes above so many times the plain one
PAIRS = 6           # timed calls of each kind in a trial, about,
MIXED = 8           # and times as many where calls differ in their sizes
LONG = 1e-3         # seconds of a call whose time is known from one call
ROOT = 2**0.5       # whose multiples are spread evenly (Weyl, 1916)
MOST = 256          # signatures whose times are kept
REVIEW = 256        # calls of a plain signature, after which the function rests if none was staged meanwhile

# Processor time, where it is exact, for other processes take time, too; without that of staging a recursive call.
_IS_EXACT = time.get_clock_info("thread_time").resolution < 1e-6
_clock = budget.own_time if _IS_EXACT else time.perf_counter
_own_clock = time.thread_time if _IS_EXACT else time.perf_counter   # for the time of this module
_READING = min(-_clock() + _clock() for _ in range(20))     # the seconds that reading it takes
_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(eq=False)
class Trial:
    """The times of plain and staged calls of one signature, and which are faster.

    Attributes:
        key: that of the signature.
        heat: seconds in plain calls, estimated from those that were timed.
        calls: the number of plain calls, estimated in the same way.
        plain, staged: the least seconds of a call.
        longest: the most seconds of a plain call, and of a staged one.
        totals: the seconds of the plain calls of the trial that is under way, and of the staged ones.
        faster: "plain" or "staged"; "" if it is not known yet.
        reason: of that.
        retry: seconds of a plain call from which on another trial may end differently.
        compared: calls in the trial that is under way.
        entering: the seconds that a staged call takes to find its trace.
        failures: trials that have ended with "plain".
        warming: seconds of staged calls with which that begins, until hot loops are staged.
        owing: seconds in plain calls before it may go on, as machine code takes long to make.
        running: what the call that is being timed runs.
        granted: the seconds that staging was last allowed to take.
        stopped: the trace that these were too few for; None if there is none, or it was the second one.
        waited: seconds in plain calls since then.
        around: the outermost plain call around the first staged one, of a function that calls itself. Until it has
            ended, all calls are parts of it, and are not compared.
    """

    key: Any = None
    heat: float = 0.0
    plain: float = math.inf
    staged: float = math.inf
    longest: list[float] = field(default_factory=lambda: [0.0, 0.0])
    totals: list[float] = field(default_factory=lambda: [0.0, 0.0])
    faster: str = ""
    reason: str = ""
    retry: float = math.inf
    calls: int = 0
    compared: int = 0
    failures: int = 0
    warming: float = 0.0
    owing: float = 0.0
    entering: float = 0.0
    granted: float = 0.0
    stopped: Trace | None = None
    waited: float = 0.0
    running: Entry | None = None
    around: FrameType | None = None

    def settle(self, faster: str, reason: str, retry: float = math.inf) -> None:
        """End a trial."""
        self.faster, self.reason, self.retry, self.heat, self.compared = faster, reason, retry, 0.0, 0
        self.totals = [0.0, 0.0]

    def note(self, seconds: float, calls: int) -> None:
        """Note the time of a plain call, which stands for several."""
        self.plain, self.longest[0] = min(self.plain, seconds), max(self.longest[0], seconds)
        self.calls += calls

    def compare(self, seconds: float, is_staged: bool) -> None:
        """Note the time of a call in a trial."""
        if is_staged:
            self.staged, self.longest[1] = min(self.staged, seconds), max(self.longest[1], seconds)
        else:
            self.note(seconds, 1)
        self.totals[is_staged] += seconds

    @property
    def is_mixed(self) -> bool:
        """Whether calls differ in their sizes, so that one plain and one staged call do not compare."""
        return self.longest[0] > GROWN * self.plain or self.longest[1] > GROWN * self.staged

    def why(self, is_staged: bool) -> str:
        """Why calls run in their tier; "" where the figures say so."""
        if self.faster:
            return "" if is_staged else self.reason
        if self.compared:
            return "staged and plain calls are being compared"
        if not self.calls:
            return f"such calls are traced when they have taken {duration(HOT)}"
        if self.owing > 0:
            return f"machine code is made when such calls have taken {duration(self.owing)} more, for that takes long"
        if self.plain < SMALL:
            return f"calls of less than {duration(SMALL)} are not traced"
        return f"plain calls have taken {duration(self.heat)}; they are traced when that is {duration(HOT)}"


class Tiers:
    """Decides which calls of one function run as plain Python.

    Args:
        function: the plain one.
        made: its `Specializer`.
        switch: called when the function changes between tier 0 and the dispatcher.
        dispatcher: makes a dispatcher that finds entries by a function of its own.
        plainly: a context in which calls of the function run the plain one.

    Attributes:
        is_resting: whether the function is in tier 0.
        counts_itself: whether `call` has the code of the function, extended.
        call: what a call of the function runs in tier 0.
        runner: the `LoopRunner` of a function that runs as plain Python as a whole; None if there is none yet.
    """

    _review, _gamble = REVIEW, float(GAMBLE)
    _loop_settings: tuple[Any, ...] = ()    # those of `LoopRunner`

    def __init__(
        self,
        function: Callable[..., Any],
        parameters: Sequence[Parameter],
        made: Any,
        switch: Callable[[], None],
        dispatcher: Callable[[Callable[..., Any]], Callable[..., Any]],
        plainly: AbstractContextManager[None],
    ) -> None:
        self._function = function
        self._parameters = parameters
        self._made = made
        self.switch = switch
        self._dispatcher = dispatcher
        self._plainly = plainly
        self._is_simple = all(p.kind in _POSITIONAL for p in parameters)
        self._plain: Entry = function if self._is_simple else self._arranged
        self._pace = Pace()
        self._ran, self._loop_calls = False, 0
        self._small_call, self._is_recursive = SMALL, False
        self.trials: dict[Any, Trial] = {}
        self.runner: Any = None
        self._has_runner: bool | None = None
        self.is_resting = True
        self.call = self._counted = self._counting()
        self._small = 0     # calls in a row that were timed and small
        _ALL[id(self)] = self

    def _counting(self) -> Callable[..., Any]:
        found = None
        if type(self._function) is FunctionType and not is_switch(self._function):  # which has other parameters
            found = counting(self._function, self._pace.ticks, Sampler(weakref.ref(self)))
        self.counts_itself = found is not None
        if found is not None:
            vars(found)["__ag_tiers__"] = self      # for code does not keep it alive
            return found
        return make_counter(self._function, self._parameters, self._pace.ticks.iterator, self._plain, self.sample)

    def _arranged(self, *values: Any) -> Any:
        args, kwargs = arrange(self._parameters, values)
        return self._function(*args, **kwargs)

    # Tier 0 -----------------------------------------------------------------------------------------------------------

    def sample(self, values: tuple[Any, ...]) -> Any:
        """Run a call as plain Python, and note its time."""
        if not self._ran and recurses(self._function) and can_compile():
            self._small_call, self._is_recursive = TINY, True   # machine code runs the calls within as well
        if self._is_long(values, not self._ran) and self._finds_loops():
            self._wait(self._pace, 1)
            return self._run_first(values)
        result, seconds, is_hot = self._timed(self._pace, values)
        self._ran = True
        self._watch(values, seconds)
        if is_hot and self.is_resting:
            self._promote()
        return result

    def _timed(self, pace: Pace, values: tuple[Any, ...], trial: Trial | None = None) -> tuple[Any, float, bool]:
        """Run a call as plain Python. Returns the result, the seconds, and whether such calls should be traced.

        Args:
            trial: that of the signature; None if it is not known.
        """
        entered, waited, number = _own_clock(), pace.interval, pace.samples
        pace.samples += 1
        self._wait(pace, waited * 2 + 1)
        is_warm = pace.last >= self._small_call and pace.heat + pace.last * (waited + 1) >= WARMTH
        if trial is None and number and is_warm:
            trial = self._trial(values)     # before the call, which may change its arguments
        run = self._all_plain if self._is_recursive and not self.is_resting else self._plain
        begin = _now()
        result = run(*values)
        seconds = max(0.0, _clock() - begin - _READING)
        inner = pace.interval - pace.ticks.left() + (pace.samples - number - 1) * waited    # recursive calls
        each, is_hot = seconds / (calls := max(inner, 0) + 1), False     # threads change the pace, too
        least, pace.last = min(each, pace.last), each       # one slow call may be chance
        if least >= (self._small_call if number else FIRST):
            pace.heat += least * (waited + 1)
            if pace.heat >= WARMTH or trial is not None:
                is_hot = self._is_hot(trial or self._trial(values), least * calls, pace.heat)
                pace.heat = 0.0
        overhead = max(SAMPLING, _own_clock() - entered - seconds)
        self._wait(pace, min(pace.interval, int(overhead / SHARE / max(each, 1e-9))))
        return result, least, is_hot

    def _watch(self, values: tuple[Any, ...], seconds: float) -> None:
        """Let calls not be counted any more, once it is known that they are small."""
        self._small = self._small + 1 if seconds < self._small_call and all(map(is_plain_data, values)) else 0
        if self._small == KNOWN and self.counts_itself and self.is_resting and takes_constant_time(self._function):
            self.call = uncounted(cast("FunctionType", self._function))
            self.switch()

    def count_again(self) -> None:
        """Let calls be counted, as the program may do something else now."""
        self.call, self._small = self._counted, 0

    def are_called(self, frame: FrameType, cells: tuple[CellType, ...]) -> bool:
        """Whether a frame with such cells is that of the function, not of another one with its code, nor followed."""
        code, function = self._counted.__code__, self._function
        is_own = frame.f_code is code and function.__code__ is users_code(code)
        captures = function.__globals__, *(function.__closure__ or ())
        is_followed = sys.gettrace() is not None    # by a debugger or coverage
        if is_own and all(map(is_, captures, (frame.f_globals, *cells))) and not is_followed:
            return True
        self._pace.ticks.rearm(self._pace.interval)
        return False

    def _wait(self, pace: Pace, calls: int) -> None:
        pace.wait(calls)

    def _is_long(self, values: Sequence[Any], is_first: bool) -> bool:
        """Whether loops may become hot in a call."""
        return is_first and runs_long(self._function, values)

    def _run_first(self, values: tuple[Any, ...]) -> Any:
        """Run the first call with its loops staged on their own, once they turn out to be hot."""
        self._ran = True
        trial = self._trial(values)
        begin = _clock()
        result = self._with_loops(*values)
        seconds = _clock() - begin
        if trial is not None and any(loop.tier for loop in self.runner.loops):
            trial.heat, trial.plain = max(HOT, seconds), seconds    # it began plain
            self._promote()
        return result

    def _is_hot(self, trial: Trial | None, seconds: float, heat: float) -> bool:
        """Note the time of a plain call and of all that it stands for. Returns whether to use a graph from now on."""
        if trial is None:
            return False
        trial.note(seconds, math.ceil(heat / seconds))
        if trial.faster == "plain":
            trial.waited += heat
            if trial.stopped is not None and trial.waited >= trial.granted:
                self._made.traces.drop(trial.stopped)
                trial.settle("", "")
                trial.heat, trial.stopped = AGAIN * trial.granted, None
            elif seconds < trial.retry:
                return False
            else:
                self._reopen(trial)
        trial.heat += heat
        return trial.faster == "staged" or trial.heat >= HOT

    def _trial(self, values: Sequence[Any]) -> Trial | None:
        try:
            key = self._made.key(values)
            hash(key)
        except Exception:   # as in the dispatcher: there is no key
            return None
        return self._trial_at(key)

    def _trial_at(self, key: Any) -> Trial:
        if key not in self.trials and len(self.trials) >= MOST:
            self.trials.pop(next(iter(self.trials.copy())), None)    # a copy, as other threads may change it
        return self.trials.setdefault(key, Trial(key))

    def compiled(self, trace: Trace) -> None:
        """Let the calls of a signature use a trace from now on, as the user asks."""
        self._trial_at(trace.key).settle("staged", "")
        self._made.traces.replace(trace, trace.staged_entry)
        self._promote()

    def untraced(self) -> Trace | None:
        """A record of the calls so far without a trace; None if there were none."""
        if not self._ran:
            return None
        trial = max(list(self.trials.values()), key=lambda each: each.heat, default=Trial(plain=0.0))
        signature = Signature(((), {}), (), (), (), containers={})
        known = f"{KNOWN} timed calls took less than {duration(SMALL)}"
        why = trial.why(False) if self.call is self._counted else known
        trace = Trace(0, None, signature, {}, None, "it has not been traced", plain=f"tier 0: {why}")
        trace.entered = trial.calls
        return trace

    def _promote(self) -> None:
        self.is_resting = False
        self.switch()

    def _demote(self) -> None:
        self.is_resting = True
        self.switch()

    # With the dispatcher ----------------------------------------------------------------------------------------------

    def wants_trace(self, values: tuple[Any, ...]) -> bool:
        """Whether a call for which there is no trace is worth one."""
        trial = self._trial(values)
        return trial is not None and (trial.faster == "staged" or (not trial.faster and trial.heat >= HOT))

    def seconds_allowed(self, values: Sequence[Any]) -> float | None:
        """The processor time that staging a call may take; None for any."""
        trial = self._trial(values)
        allowed = ALLOWED * (1 + self._is_recursive)    # since nothing is gained by its loops on their own
        if trial is None:
            return allowed
        trial.granted = max(allowed, trial.heat)
        return trial.granted

    def run(self, values: tuple[Any, ...]) -> Any:
        """Run a call without a trace as plain Python, and such calls from now on, until they should be traced."""
        trial = self._trial(values)
        entry = self._plain_entry(trial)
        if trial is not None:
            self._made.traces.lead(trial.key, entry)
        return entry(*values)

    def give_up(self, values: tuple[Any, ...], reason: str) -> None:
        """Let calls of a signature run as plain Python, since it cannot be traced."""
        trial = self._trial(values)
        if trial is not None:
            trial.settle("plain", reason)
        self._rest()

    def entry(self, trace: Trace) -> Entry:
        """The entry of a new trace: plain and staged calls alternate, until it is known which are faster."""
        trial = self._trial_at(trace.key)
        trial.faster, trial.compared, trial.warming = "", 0, SETTLING
        trial.around = self._outermost()
        if trace.plain:
            is_second, trial.waited = trial.heat >= ALLOWED, 0.0
            trial.stopped = trace if budget.current().is_out_of_time and not is_second else None
            if (self._is_recursive and trace.stopped) or not self._finds_loops():
                trial.settle("plain", trace.plain)
                self._rest()
                return self._plain_entry(trial)
            trace.staged_entry, trial.warming = self._with_loops, WARMING
            self.runner.owner.spent += sum(trace.seconds.values())
        trial.owing = NODE * nodes_to_compile(trace) / self._gamble - trial.heat
        return self._comparing(trial, trace)

    def _outermost(self) -> FrameType | None:
        """The frame of the outermost of the plain calls that are running."""
        if not self._is_recursive:
            return None
        return next((each for each in [*frames()][::-1] if users_code(each.f_code) is self._function.__code__), None)

    def _finds_loops(self) -> bool:
        """Whether the function has loops that may be staged on their own."""
        if self._has_runner is None:
            if type(self._function) is FunctionType and Hooks.loops is not None:
                self.runner = Hooks.loops(self._function, self._made.options, *self._loop_settings)
            self._has_runner = self.runner is not None
        return self._has_runner

    def _with_loops(self, *values: Any) -> Any:
        """Run a call as plain Python, with its loops staged on their own."""
        self._loop_calls += 1
        if self._is_simple:
            return self.runner.function(*values)
        args, kwargs = arrange(self._parameters, values)
        return self.runner.function(*args, **kwargs)

    def _comparing(self, trial: Trial, trace: Trace) -> Entry:
        def compare(*values: Any) -> Any:
            running = trial.running
            if running is not None:     # a recursive call, or one in another thread, runs as the one that is timed
                return running(*values)
            if trial.around is not None:
                if trial.around in frames():
                    return trace.staged_entry(*values)
                trial.around, trial.plain, trial.longest = None, math.inf, [0.0, 0.0]   # were those of inner calls
            if trial.owing > 0:
                return _waited(trial, self._all_plain if self._is_recursive else self._plain, values)
            if trial.compared == WARM:
                trial.entering = self._entering(values)
            is_staged = self._is_next_staged(trial)
            trial.compared += 1
            plain = self._all_plain if self._is_recursive else self._plain
            running = trial.running = trace.staged_entry if is_staged else plain
            begin = _now()
            try:
                result = running(*values)
                seconds = max(0.0, _clock() - begin - _READING)
            finally:
                trial.running = None
            if result is not MISS:
                self._compared(trial, trace, is_staged, seconds)
            return result

        return compare

    def _entering(self, values: Sequence[Any]) -> float:
        """The time that a call takes to find its trace: that of a dispatcher that leads to nothing."""
        dispatcher = self._dispatcher(lambda key, default: _nothing)
        args, kwargs = arrange(self._parameters, values)
        times = []
        for _ in range(WARM + 1):
            begin = _own_clock()
            dispatcher(*args, **kwargs)
            times.append(_own_clock() - begin)
        return max(0.0, min(times) - _READING)

    def _is_next_staged(self, trial: Trial) -> bool:
        """Whether the next call of a trial is staged."""
        pair, second = divmod(trial.compared, 2)    # of two calls one is: which one, goes with no cycle of calls
        return trial.compared < WARM or trial.warming > 0 or (int(pair * ROOT) + second) % 2 == 0

    def _compared(self, trial: Trial, trace: Trace, is_staged: bool, seconds: float) -> None:
        """Note the time of a call, and settle the trial if that suffices."""
        if trial.warming > 0:
            trial.warming -= max(min(seconds, USUAL * trial.plain), seconds * WARMING / STAGING, WARMING / MOST)
            trial.compared = min(trial.compared, WARM)
            return
        if trial.compared > WARM:
            trial.compare(seconds + trial.entering * is_staged, is_staged)
        calls, is_long = trial.compared - WARM, max(seconds, trial.plain) >= LONG
        is_clear = is_long and calls >= 4 and not trial.is_mixed and _differ(trial.plain, trial.staged)
        pairs = MIXED * PAIRS if trial.is_mixed and min(trial.totals) < MIXED * HOT else PAIRS
        if calls < 2 * pairs and not is_clear:
            return
        plain, staged = trial.totals if trial.is_mixed else (trial.plain, trial.staged)
        has_staged = not trace.plain or any(loop.tier for loop in self.runner.loops)
        if has_staged and staged < plain:
            self._use_staged(trial, trace)
        else:
            self._use_plain(trial, trace)

    def _use_staged(self, trial: Trial, trace: Trace) -> None:
        trial.settle("staged", "")
        self._made.traces.replace(trace, trace.staged_entry)

    def _use_plain(self, trial: Trial, trace: Trace) -> None:
        longest = trial.longest[0] if trial.is_mixed else trial.plain
        trial.failures += 1
        trial.settle("plain", trace.plain or "staged calls are not faster", GROWN**trial.failures * longest)
        self._made.traces.replace(trace, self._plain_entry(trial))
        self._rest()

    def _plain_entry(self, trial: Trial | None) -> Entry:
        """An entry that runs the plain function, while other signatures are staged or may be."""
        pace, calls, before = Pace(), 0, self._staged_calls()

        def run(*values: Any) -> Any:
            for due in pace.ticks.iterator:
                if due:
                    nonlocal calls, before
                    calls += pace.interval + 1
                    result, _, is_hot = self._timed(pace, values, trial)
                    if is_hot and trial is not None:
                        self._made.traces.unlead(trial.key)
                    if calls >= self._review:
                        now = self._staged_calls()
                        if now == before:
                            self._settle_inner()
                            self._demote()
                        calls, before = 0, now
                    return result
                break
            return self._plain(*values) if not self._is_recursive else self._all_plain(*values)

        return run

    def _all_plain(self, *values: Any) -> Any:
        """Run a call as plain Python, with the calls within it, which would come through the dispatcher."""
        with self._plainly:
            return self._plain(*values)

    def _settle_inner(self) -> None:
        """Let calls that are hot stay plain if all of them are within others, as those of a function that recurses."""
        for trial in list(self.trials.values()) if self._is_recursive else ():
            if trial.heat >= HOT and not (trial.faster or trial.compared):
                trial.failures += 1
                trial.settle("plain", "such calls are parts of others", GROWN**trial.failures * trial.plain)

    def _staged_calls(self) -> int:
        staged: int = sum(trace.calls for trace in self._made.traces if not trace.plain)
        return self._loop_calls + staged

    def _rest(self) -> None:
        """Go back to tier 0 if no signature is faster staged, nor under trial."""
        trials = list(self.trials.values())
        if not any(trial.faster == "staged" or trial.compared or trial.owing > 0 for trial in trials):
            self._demote()

    def _reopen(self, trial: Trial) -> None:
        """Begin another trial, as calls take longer than in the one before."""
        trial.settle("", "")
        trial.plain, trial.staged, trial.longest = math.inf, math.inf, [0.0, 0.0]
        for trace in self._made.traces.at(trial.key):
            if not trace.plain or self.runner is not None:
                self._made.traces.replace(trace, self._comparing(trial, trace))


# The tiers of all functions, to change those in tier 0 when a trace begins or ends.
_ALL: weakref.WeakValueDictionary[int, Tiers] = weakref.WeakValueDictionary()


def follow_traces() -> None:
    """Let functions in tier 0 be called through the dispatcher while a trace is made, which may include their calls."""
    for reference in _ALL.valuerefs():  # a copy, as other threads may decorate functions
        tiers = reference()
        if tiers is None:
            continue
        tiers.count_again()
        if tiers.is_resting:
            tiers.switch()


def _waited(trial: Trial, run: Entry, values: tuple[Any, ...]) -> Any:
    """Run a plain call of a trial that waits until machine code is worth its cost."""
    begin, result = _now(), run(*values)
    trial.owing -= (seconds := max(0.0, _clock() - begin - _READING))
    trial.note(seconds, 1)
    return result


def _nothing(*values: Any) -> None: ...


def _now() -> float:
    """The time; the second reading of the clock is exact to some 0.1 µs, the first one hardly to 1 µs."""
    _clock()
    return _clock()


def _differ(plain: float, staged: float) -> bool:
    """Whether two times differ so much that no further measurement is needed."""
    return math.inf not in (plain, staged) and not 0.7 < staged / plain < 1.4
