"""Bodies of branches and loops: each is traced into its own block, and then undone.

A body changes variables, and containers that the undo log knows. Both are *slots*, which the construct has to carry.
A `MergePolicy` says how a body runs, which of its changes are slots, and which form their values take where paths meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import Any, Protocol, TypeAlias

from autograph.common import pytree
from autograph.common.code_marks import UNBOUND
from autograph.runtime.graph.graph import Block, Node, Place, Value
from autograph.runtime.graph.static_keys import static_key
from autograph.runtime.graph.types import MaybeUnbound
from autograph.runtime.tracing.control_flow import merge
from autograph.runtime.tracing.proxies.graph_break import Diverged, Materialize, Unjoinable, Unstageable, handled
from autograph.runtime.tracing.proxies.proxy import Tensor, is_tensor
from autograph.runtime.tracing.state.escape import EscapeAnalysis
from autograph.runtime.tracing.state.exceptions import run_or_raise
from autograph.runtime.tracing.state.staged_containers import STAGEABLE, StagedItems, staged_as
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import Changes, Fallback, contents, entries, put


class Slot(Protocol):
    """What a construct may change, and so carries: a variable of the user's, or a place in a container."""

    name: str

    def get(self) -> Any: ...
    def set(self, value: Any) -> None: ...


Slots: TypeAlias = dict[Slot, Any]  # with what they hold


class State(Protocol):
    """The variables that the bodies of a construct can reach; see `operators/state.py`."""

    carried: tuple[Any, ...]
    passing: tuple[Any, ...]
    beyond: tuple[Any, ...]

    def snapshot(self) -> dict[Any, Any]: ...
    def restore(self, snapshot: dict[Any, Any]) -> None: ...


class Entry:
    """A place in a container or object, as a variable."""

    def __init__(self, container: Any, key: Any) -> None:
        self.container = container
        self.key = key
        self._key = static_key(key)
        written = pytree.written(key) if not is_tensor(key) else "…"
        inside = isinstance(container, (dict, list))
        self.name = f"[{written}]" if inside else f".{key}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entry) and other.container is self.container and self._key == other._key

    def __hash__(self) -> int:
        return hash((id(self.container), self._key))

    def get(self) -> Any:
        if isinstance(self.container, Fallback):
            return self.container.get(self.key, UNBOUND)
        found = entries(contents(self.container)) or {}
        return found.get(self.key, UNBOUND)

    def set(self, value: Any) -> None:
        try:
            put(self.container, self.key, value)
        except TypeError:  # of an exception in C, which holds a number there
            what = f"{self.name} of an object of class {type(self.container).__name__}"
            raise Unstageable(f"{what} is set under a condition that is known only when the graph runs", ()) from None

    def assign(self, trace: Trace, value: Any) -> None:
        """Set it to the value that all paths give."""
        trace.undo_log.touch(self.container)
        self.set(value)
        trace.undo_log.settle(self.container, self.key)


def assign(trace: Trace, slot: Slot, value: Any) -> None:
    """Set a slot to the value that all paths give."""
    if isinstance(slot, Entry):
        slot.assign(trace, value)
    else:
        slot.set(value)


@dataclass
class Arm:
    """What one tracing of a body gave. All is as it was before, again.

    Attributes:
        result: what the body returned.
        values: the variables, and entries of containers, that were changed, with what they were at the end.
        whole: containers that were changed in other ways than entry by entry.
        before: the variables as they were before.
        begin: the slots of a loop as they were when the body began.
        after: the containers that were changed, with what they held at the end.
        written: the same as far as the graph has written it.
    """

    block: Block
    result: Any = None
    diverged: bool = False
    values: Slots = field(default_factory=dict)
    whole: list[Any] = field(default_factory=list)
    before: Slots = field(default_factory=dict)
    begin: Slots = field(default_factory=dict)
    after: list[tuple[Any, Any]] = field(default_factory=list)
    written: dict[int, tuple[Any, Any]] = field(default_factory=dict)


class MergePolicy:
    """How paths are joined. This one follows Python: exceptions become nodes, and values go by the merge lattice.

    TensorFlow's API has a stricter one, in `compat/tensorflow/staging/branches.py`.
    """

    returned = ""  # the name of the outputs that a branch returns

    def run(self, trace: Trace, body: Callable[[], Any]) -> Any:
        """The result of a body."""
        result = run_or_raise(trace, body)
        trace.undo_log.write_back()
        return result

    def note(self, trace: Trace, state: State, arm: Arm, changes: Changes) -> None:
        """Note in an arm, whose variables have their values at the end, what else a body has changed."""
        arm.written = dict(trace.undo_log.written)
        arm.after = [(container, contents(container)) for container, _ in changes]
        _note_entries(arm, changes)
        arm.result = _whole(arm.result)
        arm.values = {slot: _whole(value) for slot, value in arm.values.items()}

    def known_before(self, trace: Trace, state: State, before: Slots, changes: Changes) -> Callable[[Any], bool]:
        """Tells containers that were there before a body, and get their old contents back, from those that it made."""
        return known_before(trace, before, changes)

    def check(self, trace: Trace, values: Iterable[Any], owned: EscapeAnalysis) -> None:
        """Check the values that paths end with, all together."""
        check_aliases(trace, values, owned)

    def join(
        self, trace: Trace, arms: Sequence[Arm], name: str, values: list[Any], test: Value, owned: EscapeAnalysis,
        loose: bool,
    ) -> tuple[merge.Form, list[Any]]:
        """The form that covers the values of a variable at the ends of both branches, and these values.

        Args:
            loose: as for `merge.widen`.
        """
        first, second = values
        try:
            return merge.widen(merge.Fixed(first), second, owned), values
        except merge.Misfit as error:
            if not loose or error.container is not None:
                raise misfit(name, error, test, trace.place()) from None
        trace.loosened[-1].append(test)
        try:
            return merge.widen(merge.Fixed(first), second, owned, loose=True), values
        except merge.Misfit as error:
            raise misfit(name, error, test, trace.place()) from None

    def append(self, trace: Trace, node: Node, arms: Sequence[Arm]) -> None:
        """Add the node of a construct to the block around it."""
        trace.append(node)


LATTICE = MergePolicy()


def run_body(
    trace: Trace,
    body: Callable[[], Any],
    state: State,
    block: Block,
    prepare: Callable[[Block], Slots] | None = None,
    policy: MergePolicy = LATTICE,
) -> Arm:
    """Trace `body` into `block`.

    Args:
        prepare: sets the slots to what they are in the body, before it begins; gives that.
    """
    before = state.snapshot()
    arm = Arm(block, before=before)
    changes = trace.undo_log.begin()
    try:
        with trace.open(block):
            if prepare is not None:
                arm.begin = prepare(block)
            begin = before if prepare is None else state.snapshot()
            arm.result = policy.run(trace, body)
            arm.values = {variable: now for variable, old in begin.items() if (now := variable.get()) is not old}
            policy.note(trace, state, arm, changes)
    except Diverged as signal:
        handled(signal)
        arm.diverged = True
        block.results = None
    finally:
        state.restore(before)
        known = policy.known_before(trace, state, before, changes)
        trace.undo_log.undo(known)
    if arm.diverged:
        arm.values, arm.whole, arm.after = {}, [], []
    else:
        _forget_what_is_new(arm, known)
    return arm


def _whole(value: Any) -> Any:
    """A value at the end of a body, in which the graph must make what `[*xs, 1]` comes to."""
    if type(value) is tuple:
        parts = tuple(map(_whole, value))
        inside = staged_as(parts)
        return value if inside is None and all(map(is_, parts, value)) else parts if inside is None else inside
    staged_as(value)
    return value


def known_before(trace: Trace, before: Slots, changes: Changes) -> Callable[[Any], bool]:
    """Tells containers that were there before a body from those that it made."""
    watched = {id(container) for container in trace.undo_log.watched}
    if changes.before.keys() <= watched:  # those were there before
        return lambda container: True
    return EscapeAnalysis(lambda: [*before.values(), *trace.context.roots()], changes)


def _note_entries(arm: Arm, changes: Changes) -> None:
    for container, content in changes:
        now = contents(container)
        old, new = entries(content), entries(now)
        if isinstance(container, Fallback) and old is not None and new is not None:
            arm.values.update({Entry(container, key): value for key, value in new.items() if value is not old.get(key)})
            continue
        if old is None or new is None:
            if list(map(id, content)) != list(map(id, now)):
                arm.whole.append(container)
            continue
        if list(old) != list(new) or _has_staged_items(old) != _has_staged_items(new):
            arm.whole.append(container)
            continue
        arm.values.update({Entry(container, key): new[key] for key in old if new[key] is not old[key]})


def _has_staged_items(content: dict[Any, Any]) -> bool:
    return any(type(value) is StagedItems for value in content.values())


def _forget_what_is_new(arm: Arm, known: Callable[[Any], bool]) -> None:
    """Drop the containers that the body made itself: they leave it as they are."""
    arm.values = {s: v for s, v in arm.values.items() if type(s) is not Entry or known(s.container)}
    arm.whole = [container for container in arm.whole if known(container)]
    arm.after = [(container, content) for container, content in arm.after if known(container)]


def hoist(trace: Trace, arms: list[Arm]) -> None:
    """See to it that containers that grow, or shrink, are objects of the graph before the construct begins.

    Raises:
        Materialize: one is not; its construct has to be traced again.
    """
    for arm in arms:
        _check_made(trace, arm)
        for container in arm.whole:
            if type(container) in STAGEABLE:
                raise Materialize(container)
            changed = "is changed" if isinstance(container, bytearray) else "has an attribute added or deleted"
            what = f"an object of class {type(container).__name__} {changed}"
            raise Unstageable(f"{what} under a condition that is known only when the graph runs", ())


def _check_made(trace: Trace, arm: Arm) -> None:
    """Check that a function from before a body is made before it: made in the body, it would be another one later.

    Raises:
        Materialize: it is made in the body; the construct has to be traced again.
    """
    made = trace.context.materializer.made_in(arm.block)
    if not made:
        return
    owned, changed = owned_by(trace, arm.before), {id(container) for container, _ in arm.after}
    for thing in made:
        if id(thing) not in changed and owned(thing):
            raise Materialize(thing)


def end_block(trace: Trace, arm: Arm, results: list[Any]) -> None:
    """Let the block of a body give its results.

    Raises:
        Materialize: a function that is among them has to be made before the construct.
    """
    arm.block.results = tuple(results)
    _check_made(trace, arm)


def owned_by(trace: Trace, values: Slots) -> EscapeAnalysis:
    """What was there before a construct, of which `values` are the variables."""
    roots = lambda: [*values.values(), *trace.context.roots()]  # noqa: E731
    return EscapeAnalysis(roots, renewals=trace.renewals, tuples=trace.tuples)


def check_aliases(trace: Trace, values: Iterable[Any], owned: EscapeAnalysis) -> None:
    """See to it that what paths are joined in holds no new list, dict or set at two places, which would become two.

    Raises:
        Unstageable: it does.
    """
    seen: set[int] = set()
    rest = list(values)
    while rest:
        value = rest.pop()
        if is_tensor(value) or staged_as(value) is not None:
            continue
        if type(value) in STAGEABLE and not owned(value):
            if id(value) in seen:
                reason = f"a {type(value).__name__} that is made in a branch or loop of the graph gets two names"
                raise Unstageable(reason, trace.place())
            seen.add(id(value))
        kind = pytree.kind_of(value)
        if kind is not None and not owned(value):
            rest.extend(kind.children(value).values())


def results_of(trace: Trace, block: Block, form: merge.Form, value: Any, used: bool = False) -> list[Any]:
    """What `block` gives at the leaves of `form`, as arguments of its end.

    Args:
        used: whether the program reads the value here, so that it must be bound.
    """
    found: list[Any] = []
    with trace.open(block):
        for leaf in merge.leaves(form, value):
            found.append(trace.use(leaf) if used and is_tensor(leaf) else as_result(trace, leaf))
    return found


def as_result(trace: Trace, leaf: Any) -> Any:
    """A value as a result of the block that is open: a structure is made into an object."""
    if leaf is UNBOUND or leaf is None:
        return leaf
    if is_tensor(leaf):
        return leaf._ag_value if isinstance(leaf._ag_value.type, MaybeUnbound) else trace.use(leaf)
    if staged_as(leaf) is not None:
        return trace.lower(leaf)
    if trace.tuples.has_identity(leaf):
        return trace.tuples.lower(leaf)
    if pytree.kind_of(leaf) is not None:
        return trace.constant(leaf)._ag_value
    return trace.lower(leaf)


def misfit(name: str, error: merge.Misfit, test: Value | None, place: Place) -> Unjoinable | Materialize:
    if error.container is not None:
        return Materialize(error.container)
    return Unjoinable(name, error.first, error.second, test, place)


def proxies(trace: Trace, values: list[Value]) -> Iterator[Tensor]:
    """Proxies for values, in order."""
    return map(trace.proxy, values)

