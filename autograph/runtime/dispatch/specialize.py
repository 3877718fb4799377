"""Finds the trace for arguments; if there is none, generalizes the policy and makes one."""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from inspect import Parameter
from typing import Any, TypeAlias

from autograph import errors
from autograph.common import budget, forking
from autograph.common.trace_rules import callers
from autograph.runtime.dispatch import arguments, generalize
from autograph.runtime.dispatch.arguments import VARIADIC, Reading, Unkeyed, arrange, read
from autograph.runtime.dispatch.compilation import Compiler
from autograph.runtime.dispatch.generalize import policy_of
from autograph.runtime.dispatch.input_signature import Specified
from autograph.runtime.dispatch.options import Options, refuse
from autograph.runtime.dispatch.persistent_traces import TraceFile
from autograph.runtime.dispatch.tiers import Tiers
from autograph.runtime.dispatch.trace_cache import Trace, Traces
from autograph.runtime.dispatch.trace_entry import MISS, Entry, broken
from autograph.runtime.dispatch.tracing_lock import PatientLock
from autograph.runtime.graph.signature import Event, Guard, Policy, Respecialize, Signature, Traced, Where
from autograph.runtime.tracing.proxies.graph_break import Signal

ASKED = (errors.StagingError, errors.SignatureError, errors.EngineError)  # errors in the requests of the user
RETRIES = 32  # how often one call may be traced anew because tracing has changed the policy
MANY_CALLS = 200  # after which a trace gets into the inline cache
LONG = 10  # times as long as tracing: a call that takes so long pays for a trace of its own
WASTED = 64  # traces that did not pay, after which a function is traced no more
STOPPED = 4  # signatures whose budget was spent, after which a function is traced no more
OFTEN = 10  # traces after which a warning says that a function retraces often

Keyed: TypeAlias = "tuple[Any, Signature]"  # a key and its signature


class Specializer:
    """Makes and keeps the traces of one function.

    Args:
        name: of the function.
        function: the plain one.
        bind: a function with the same parameters that gives their values.
        policy_changed: called when the keys of calls are computed differently from now on.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        parameters: Sequence[Parameter],
        bind: Callable[..., tuple[Any, ...]],
        options: Options,
        policy_changed: Callable[[], None],
    ) -> None:
        self.name = name
        self.function = function
        self.parameters = parameters
        self.options = options
        self._is_loaded = hasattr(type(function), "__ag_graphs__")      # its graphs are given, see `saving`
        self.policy = self._new_policy()
        self.traces = Traces(options.max_traces)
        self.events: deque[Event] = deque(maxlen=64)
        self.made = 0
        self._policy_changed = policy_changed
        self.tiers: Tiers | None = None     # of a function that is staged only where that is faster
        self.seconds_allowed: Callable[[Sequence[Any]], float | None] | None = None     # to stage a call
        self._lock = PatientLock()
        self.sourceless = False     # whether all calls run as plain Python, as the function has no source
        self.warns = True
        self._warned, self._gives_up = False, ""    # the latter says why it traces no more
        self._stopped = 0   # the number of signatures whose budget was spent
        self._inline_cache: Trace | None = None
        self._dropped: deque[int] = deque(maxlen=256)     # hashes of keys
        specs = options.input_signature
        self._compiler = Compiler(name, function, parameters, options)
        self.specified = None if specs is None else Specified(name, parameters, bind, specs, self.policy)

    def _new_policy(self) -> Policy:
        policy: Policy = self.function.policy() if self._is_loaded else policy_of(self.options, self.parameters)  # type: ignore[attr-defined]
        return policy

    # Keys -------------------------------------------------------------------------------------------------------------

    def keyers(self) -> dict[str, Callable[[Any], Any]]:
        """Functions that compute the keys of the parameters that the policy mentions."""
        return {p.name: arguments.keyer_of(p, self.policy) for p in self.parameters if self.policy.concerns(p.name)}

    def key(self, values: Sequence[Any]) -> Any:
        """The key that the dispatcher computes."""
        keyers = self.keyers()
        keys = [
            keyers.get(p.name, arguments.key_of_parts if p.kind in VARIADIC else arguments.key_of)(value)
            for p, value in zip(self.parameters, values)
        ]
        return keys[0] if len(keys) == 1 else tuple(keys)

    # Calls ------------------------------------------------------------------------------------------------------------

    def inline_cache(self) -> Trace | None:
        """The trace that dispatchers try first."""
        return next((trace for trace in self.traces if trace is self._inline_cache), None)

    def _counted(self, trace: Trace, entry: Entry) -> Entry:
        """An entry that puts its trace into the inline cache once it has been entered often.

        If there is a trial of other code for short calls, that comes first.
        """
        trial = None if trace.executable is None else trace.executable.short_calls

        def counted(*values: Any) -> Any:
            if trace.calls < MANY_CALLS:
                return entry(*values)
            if trial is not None and not trial.is_over:
                begin = time.perf_counter()
                result = entry(*values)
                if result is not MISS:
                    trial.note(time.perf_counter() - begin)
                return result
            if trace.entry is counted:
                self.traces.replace(trace, entry)
                self._inline_cache = trace
                self._policy_changed()
            return entry(*values)

        return counted if self.specified is None else entry  # else other keys than its own lead to it

    def run(self, values: tuple[Any, ...]) -> Any:
        """Run a call for which the dispatcher has found no trace."""
        if self.tiers is not None and not self.tiers.wants_trace(values):
            return self.tiers.run(values)
        for _ in range(3):
            if self._gives_up:
                if self.tiers is not None and not self.traces.at(self.key(values)):
                    self.tiers.give_up(values, self._gives_up)
                break
            try:
                seconds = None if self.seconds_allowed is None else self.seconds_allowed(values)
                trace = self.trace_for(values, seconds=seconds)
            except (errors.AutographError, Warning):
                raise
            except (Exception, Signal) as error:
                reason = self._compiler.failure(error)
                refuse(self.options, self.name, "plain", f"runs as plain Python: {reason}")
                self._report("plain", f"a call ran as plain Python: {reason}")
                if self.tiers is not None:
                    self.tiers.give_up(values, reason)
                break
            begin = time.perf_counter()
            result = trace.entry(*values)
            if result is not MISS:
                trace.pays = time.perf_counter() - begin > LONG * sum(trace.seconds.values())
                if isinstance(trace.disk, TraceFile):
                    trace.disk = trace.disk.save(trace)
                return result
        else:
            self._report("plain", "the guards of a trace just made do not hold, so this call ran as plain Python")
        args, kwargs = arrange(self.parameters, values)
        return self.function(*args, **kwargs)

    def trace_for(self, values: tuple[Any, ...], keyed: Keyed | None = None, seconds: float | None = None) -> Trace:
        """The trace for these arguments, made if there is none.

        Args:
            keyed: key and signature, if they are not those of the arguments.
            seconds: the processor time that this may take; if it takes more, the trace runs plain Python.
        """
        why = ""
        undone: list[Any] = []
        with forking.undivided(), self._lock.held(), budget.limited(seconds):
            for _ in range(RETRIES):
                try:
                    signature, reading = read(self.parameters, values, self.policy)
                except Unkeyed as unkeyed:
                    return self._unkeyed(values, str(unkeyed))
                changes = generalize.unify_shared(self.policy, reading.mixed())
                if changes:
                    why = self._apply(changes)
                    continue
                key, signature = keyed or self._keyed(values, signature)
                found = self._find(key, reading)
                if found is None:
                    changes = [] if self._is_loaded else self._widen(key, signature, reading)
                    if changes:
                        why = self._apply(changes)
                        continue
                    try:
                        found, failed = self._make(key, signature, reading, values, why), ""
                    except Respecialize as signal:
                        failed = self._respecialize(signal, signature.texts)
                    except errors.AutographError as error:
                        if self._is_loaded or isinstance(error, (errors.StrictError, errors.InternalError)):
                            raise
                        if self._pin_numbers() or self._concretize(error, signature, reading):
                            continue
                        if (isinstance(error, ASKED) and self.tiers is None) or "derivative" in self.options.strict:
                            raise
                        failed = str(error)
                    if found is None and not failed:
                        continue
                    found = found or self._make(key, signature, reading, values, why, failed)
                    if found.plain and not found.stopped and self._specialize(found, reading, undone):
                        continue
                if self.specified is not None:
                    self.traces.alias(self.key(values), found)
                return found
            failed = f"it was traced {RETRIES} times for one call without success"
            return self._make(key, signature, reading, values, why, failed)

    def _unkeyed(self, values: tuple[Any, ...], reason: str) -> Trace:
        """The trace that runs calls with an argument without a key, as plain Python."""
        reading = Reading(self.policy, named={f"p{i}": value for i, value in enumerate(values)})
        signature = Signature(((), {}), (), (), (), containers={})
        return self._find(Unkeyed, reading) or self._make(Unkeyed, signature, reading, values, "", reason)

    def _widen(self, key: Any, signature: Signature, reading: Reading) -> list[str]:
        """Let one trace serve the calls that differ from this one."""
        earlier: list[Any] = list(self.traces)
        changes = generalize.widen(self.policy, earlier, signature, reading.lengths)
        return [*changes, *generalize.read_late(self.policy, self._broken(key, reading))]

    def _keyed(self, values: tuple[Any, ...], signature: Signature) -> Keyed:
        if self.specified is None:
            return self.key(values), signature
        return self.specified.key(signature), self.specified.apply(signature)

    def retrace(self, signature: Signature, example: Any) -> Traced:
        """Trace the function for a signature that it has been traced for, and keep nothing of it.

        Args:
            example: the arguments of such a call, as `(args, kwargs)`, or placeholders for them.

        Raises:
            AutographError: this signature cannot be staged any more.
        """
        with forking.undivided(), self._lock.held():
            return self._compiler.traced_again(signature, example)

    def clear(self) -> None:
        """Forget all traces, and the policy."""
        with self._lock.held():
            self.traces.clear()
            self.policy = self._new_policy()
            if self.specified is not None:
                generalize.open_dimensions(self.policy, self.specified.signature)
            self.events.clear()
            self.made = 0
            self._warned = self.sourceless = False
            self._gives_up = ""
            self._stopped = 0

    def _find(self, key: Any, reading: Reading) -> Trace | None:
        for trace in self.traces.at(key):
            if trace.sharing == reading.sharing and broken(trace.guards, reading.named) is None:
                return trace
        return None

    def _broken(self, key: Any, reading: Reading) -> list[Guard]:
        """For each trace of a key, the first guard that does not hold."""
        found = [broken(trace.guards, reading.named) for trace in self.traces.at(key)]
        return [guard for guard in found if guard is not None]

    # Learning ---------------------------------------------------------------------------------------------------------

    def _apply(self, changes: list[str]) -> str:
        """Report changes of the policy, and forget the traces that no call finds any more."""
        for message in changes:
            self._report("signature", message)
        late = self.policy.late
        self._inline_cache = None
        self.traces.drop_if(
            lambda trace: generalize.is_stale(self.policy, trace) or any(guard.late in late for guard in trace.guards)
        )
        self._policy_changed()
        return "; ".join(changes)

    def _respecialize(self, signal: Respecialize, texts: Sequence[str]) -> str:
        """Change the policy as the tracer asks; gives the reason if it is so already.

        Args:
            texts: as `Signature.texts`.
        """
        static = [path for path in signal.static if path not in self.policy.static]
        whole = [path for path in signal.whole if path not in self.policy.whole]
        if not static and not whole:
            asked = ", ".join(f"`{path}`" for path in (*signal.static, *signal.whole))
            return f"{signal.reason}, although {asked} is known already"
        for path in static:
            what = f"`{path}` would become part of the signature: {signal.reason}"
            refuse(self.options, self.name, "specialize", what)
            self._pin(path)
        self.policy.static.update(static)
        self.policy.whole.difference_update(static)
        self.policy.whole.update(whole)
        self.policy.generalized.update(set(whole).intersection(texts))
        self.policy.indivisible.update(self.policy.apart.intersection(whole))
        self.policy.apart.difference_update(whole)
        said = [f"`{path}` is part of the signature from now on" for path in static]
        said += [f"`{path}` is one object of the graph from now on" for path in whole]
        self._apply([f"{message}: {signal.reason}" for message in said])
        return ""

    def take_whole(self, names: Sequence[str]) -> None:
        """Let lists and dicts that are arguments be objects of the graph from now on."""
        with self._lock.held():
            self.policy.whole.update(names)
            what = "is one object of the graph from now on: machine code passes it on"
            self._apply([f"`{name}` {what}" for name in names])

    def _concretize(self, error: errors.AutographError, signature: Signature, reading: Reading) -> bool:
        """Try again with less of the arguments staged, if anything may help."""
        changes = generalize.concretize(self.policy, signature, reading.values)
        for message in changes:
            refuse(self.options, self.name, "specialize", f"{message}, because otherwise {error}")
        if changes:
            self._apply([f"{message}, because otherwise {error}" for message in changes])
        return bool(changes)

    def _specialize(self, trace: Trace, reading: Reading, undone: list[Any]) -> bool:
        """Undo generalizations because of which a trace runs as plain Python; whether to try again.

        Args:
            undone: the generalizations that have been undone for this call. If there are any, that did not help.
        """
        if undone:
            generalize.generalize(self.policy, undone)
            undone.clear()
            self._apply([])
            return True
        undone += generalize.specialize(self.policy, trace.signature, reading.values)
        if undone:
            self.traces.drop_if(lambda each: each is trace)
            lists = [f"of `{path}`" for path in undone if isinstance(path, str)] or ["of a number around the function"]
            what = f"each length or value {' and '.join(lists)} gets a trace"
            self._apply([f"{what}, as one for all runs as plain Python: {trace.plain}"])
        return bool(undone)

    def _pin_numbers(self) -> bool:
        """Let a trace depend on the captured numbers again, if a trace that reads them has failed."""
        self.policy.pinned |= self.policy.late
        tried = bool(self.policy.late)
        self.policy.late.clear()
        return tried

    def _pin(self, path: str) -> None:
        """Never leave a dimension, such as `x.shape[0]`, open again."""
        array, _, axis = path.rpartition(".shape[")
        for (other, ndim), mask in list(self.policy.dynamic_dims.items()):
            if other == array:
                closed = tuple(dynamic and f"{number}]" != axis for number, dynamic in enumerate(mask))
                self.policy.dynamic_dims[other, ndim] = closed

    def _report(self, kind: str, message: str, place: Where | None = None) -> None:
        self.events.append(Event(kind, message, place))

    # Making -----------------------------------------------------------------------------------------------------------

    def _make(
        self, key: Any, signature: Signature, reading: Reading, values: tuple[Any, ...], why: str, failed: str = ""
    ) -> Trace:
        """Make a trace.

        Args:
            why: why another one is needed, if that is known.
            failed: why it must run as plain Python.
        """
        reason = why or self._reason(key, signature, reading)
        if self.made:
            refuse(self.options, self.name, "retrace", f"would be traced again: {reason}")
        trace = Trace(self.made + 1, key, signature, reading.lengths, reading.sharing, reason)
        if failed:
            self._compiler.fill_plain(trace, reading, failed)
        else:
            if self.specified is None and not self._is_loaded and not self.options.strict:
                signature.texts = generalize.texts_of(self.policy, signature)
            self._compiler.fill(trace, reading, values, self.policy.late, self._widened())
        self.sourceless = trace.sourceless
        trace.own_entry = trace.entry
        trace.entry = trace.staged_entry = self._counted(trace, trace.entry)
        if self.tiers is not None:
            trace.entry = self.tiers.entry(trace)
        self.made += 1
        self._stopped += trace.stopped
        for dropped in self.traces.add(trace):
            self._dropped.append(hash(dropped.key))
            room = f"there is room for {self.traces.limit}, see max_traces"
            self._report("dropped", f"trace {dropped.number} was dropped for trace {trace.number}: {room}")
            if dropped is self._inline_cache:
                self._policy_changed()
        self._give_up()
        self._warn(trace)
        return trace

    def _widened(self) -> str:
        """Why traces are not kept on disk, if their signatures depend on more than the call."""
        if self.specified is not None:
            return "its signature is that of input_signature="
        is_plain = self.policy == policy_of(self.options, self.parameters)
        return "" if is_plain else "its signature depends on earlier calls, see `changes of the signature`"

    # Reasons ----------------------------------------------------------------------------------------------------------

    def _reason(self, key: Any, signature: Signature, reading: Reading) -> str:
        """Why a new trace is needed."""
        if not self.made:
            return "the first call"
        for guard in self._broken(key, reading):
            return guard.reason + guard.details()
        if hash(key) in self._dropped:
            return f"its trace was dropped: there is room for {self.traces.limit}, see max_traces"
        lengths = reading.lengths
        found = [generalize.difference(trace.signature, trace.lengths, signature, lengths) for trace in self.traces]
        least = min(filter(len, reversed(found)), key=len, default=None)
        return "another call" if least is None else str(least)

    def _give_up(self) -> None:
        """Trace no more, if many traces did not pay, and the user does not refuse plain Python."""
        wasted = self.traces.wasted >= WASTED
        if not (wasted or self._stopped >= STOPPED) or self._gives_up or {"plain", "derivative"} & self.options.strict:
            return
        what = f"{self.traces.wasted} traces were dropped after hardly a call"
        if not wasted:
            what = f"the tracing of {self._stopped} signatures was stopped"
        self._gives_up = f"{what}, so calls without a trace run as plain Python from now on"
        self._report("plain", self._gives_up)

    def _warn(self, trace: Trace) -> None:
        if self._warned or not self.warns or self.tiers is not None or not (self.made >= OFTEN or self.sourceless):
            return
        self._warned = True
        if self.sourceless:
            self._policy_changed()
            message = f"{self.name} runs as plain Python: {trace.plain}"
            warnings.warn(message, errors.SourceWarning, stacklevel=callers())
            return
        message = (
            f"{self.name} has been traced {self.made} times, the last time because {trace.reason}. Each trace takes "
            "much longer than a call. Pass what varies as numbers or arrays instead of static values, make objects "
            f"once instead of for each call, or do not decorate this function; {self.name}.traces tells all reasons"
        )
        self._report("often", message)
        warnings.warn(message, errors.RetraceWarning, stacklevel=callers())
