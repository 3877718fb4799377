"""Staged branches: both bodies are traced from the same beginning, and their results and changes are joined.

The body of a branch or loop is traced into its own block, and then undone. It changes variables and containers. Both
are *slots*, which the construct has to carry. A `MergePolicy` decides how a body runs, which of its changes are slots,
and which form their values have where paths meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from operator import is_
from types import CellType
from typing import Any, Protocol, TypeAlias

from autograph.common import pytree
from autograph.common.bytecode import stored_at
from autograph.common.code_marks import UNBOUND
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.graph import Block, Node, Value
from autograph.runtime.graph.object_model import is_users_object
from autograph.runtime.graph.static_keys import static_key
from autograph.runtime.graph.types import MaybeUnbound
from autograph.runtime.tracing.control_flow import merge
from autograph.runtime.tracing.proxies.graph_break import (
    Diverged,
    Materialize,
    NeedsStaging,
    Unjoinable,
    Unstageable,
    handled,
)
from autograph.runtime.tracing.proxies.proxy import Tensor, is_tensor
from autograph.runtime.tracing.state.blame import interrupting
from autograph.runtime.tracing.state.escape import EscapeAnalysis, unshared
from autograph.runtime.tracing.state.exceptions import run_or_raise
from autograph.runtime.tracing.state.staged_containers import (
    STAGEABLE,
    StagedItems,
    as_tensor,
    is_staged,
    rebind,
    staged_as,
)
from autograph.runtime.tracing.state.trace import GENERATED, Trace
from autograph.runtime.tracing.state.undo_log import Changes, Fallback, contents, entries, put, restore


class Slot(Protocol):
    """A variable of the user's, or an entry of a container, that a construct may change, and so carries."""

    name: str

    def get(self) -> Any: ...
    def set(self, value: Any) -> None: ...


Slots: TypeAlias = dict[Slot, Any]  # with their values
Thunk: TypeAlias = Callable[[], Any]


class State(Protocol):
    """The variables that the bodies of a construct can reach; see `operators/state.py`."""

    carried: tuple[Any, ...]
    passing: tuple[Any, ...]
    beyond: tuple[Any, ...]

    def snapshot(self) -> dict[Any, Any]: ...
    def restore(self, snapshot: dict[Any, Any]) -> None: ...


class Entry:
    """An entry of a container, or an attribute of an object, as a slot."""

    def __init__(self, container: Any, key: Any) -> None:
        self.container = container
        self.key = key
        self._key = static_key(key)
        written = pytree.written(key) if not is_tensor(key) else "…"
        self.name = f"[{written}]" if isinstance(container, (dict, list)) else f".{key}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entry) and other.container is self.container and self._key == other._key

    def __hash__(self) -> int:
        return hash((id(self.container), self._key))

    def get(self) -> Any:
        if isinstance(self.container, Fallback):
            return self.container.get(self.key, UNBOUND)
        return (entries(contents(self.container)) or {}).get(self.key, UNBOUND)

    def set(self, value: Any) -> None:
        try:
            put(self.container, self.key, value)
        except TypeError:  # of an exception in C, which holds a number there
            what = f"{self.name} of an object of class {type(self.container).__name__}"
            raise Unstageable(f"{what} is set under a condition that is known only when the graph runs", ()) from None

    def assign(self, trace: Trace, value: Any) -> None:
        """Set the entry to the join of its values on all paths."""
        trace.undo_log.touch(self.container)
        self.set(value)
        trace.undo_log.settle(self.container, self.key)


def assign(trace: Trace, slot: Slot, form: merge.Form, outputs: Iterable[Value]) -> None:
    """Set a slot to a value of a form, whose leaves the graph computes."""
    value = merge.build(form, map(trace.proxy, outputs))
    if isinstance(slot, Entry):
        slot.assign(trace, value)
    else:
        slot.set(value)


@dataclass
class Arm:
    """The result of tracing a body once. All variables and containers have their old contents again.

    Attributes:
        result: the value that the body returned.
        diverged: whether the body always raises.
        values: the final values of the slots that it changed.
        resized: the containers that it changed in other ways than entry by entry.
        before: the variables as they were before.
        begin: the slots of a loop as they were when the body began.
        after: the containers that it changed, with their final contents.
        written: the same as far as the graph has written it.
    """

    block: Block
    result: Any = None
    diverged: bool = False
    values: Slots = field(default_factory=dict)
    resized: list[Any] = field(default_factory=list)
    before: Slots = field(default_factory=dict)
    begin: Slots = field(default_factory=dict)
    after: list[tuple[Any, Any]] = field(default_factory=list)
    written: dict[int, tuple[Any, Any]] = field(default_factory=dict)

    def initial(self, slot: Slot) -> Any:
        """The value of a slot before the body."""
        return self.before[slot] if slot in self.before else slot.get()


class MergePolicy:
    """Joins paths as Python does: exceptions become nodes, and values are widened in the merge lattice.

    TensorFlow's API has a stricter policy, in `compat/tensorflow/staging/branches.py`.
    """

    returned = ""  # the name of the outputs for the result of a branch

    def run(self, trace: Trace, body: Thunk) -> Any:
        """The result of a body."""
        result = run_or_raise(trace, body)
        trace.undo_log.write_back()
        return result

    def note(self, trace: Trace, state: State, arm: Arm, changes: Changes) -> None:
        """Note the changes of a body besides those of variables, which the arm has already."""
        arm.written = dict(trace.undo_log.written)
        arm.after = [(container, contents(container)) for container, _ in changes]
        arm.values |= _changed_entries(arm, changes)
        arm.result = _with_staged_parts(arm.result)
        arm.values = {slot: _with_staged_parts(value) for slot, value in arm.values.items()}

    def known_before(self, trace: Trace, state: State, before: Slots, changes: Changes) -> Callable[[Any], bool]:
        """Decides whether a container existed before a body, so that its contents are restored."""
        return existed_before(trace, before, changes)

    def check(self, trace: Trace, values: Iterable[Any], escaped: EscapeAnalysis) -> None:
        """Check that the final values of a path hold each new list, dict or set once: a join would make two of it.

        Raises:
            Unstageable: they hold one at two places.
        """
        seen: set[int] = set()
        rest = list(values)
        while rest:
            value = rest.pop()
            if is_tensor(value) or staged_as(value) is not None:
                continue
            if type(value) in STAGEABLE and not escaped(value):
                if id(value) in seen:
                    reason = f"a {type(value).__name__} that is made in a branch or loop of the graph gets two names"
                    trace.unstageable(reason)
                seen.add(id(value))
            kind = pytree.kind_of(value)
            if kind is not None and not escaped(value):
                rest.extend(kind.children(value).values())

    def join(
        self, trace: Trace, arms: Sequence[Arm], name: str, values: list[Any], test: Value, escaped: EscapeAnalysis,
        loose: bool,
    ) -> tuple[merge.Form, list[Any]]:
        """The form of a variable's values on both paths, and these values.

        Args:
            loose: see `merge.widen`.
        """
        first, *rest = values
        try:
            return join(trace, name, merge.Fixed(first), rest, test, escaped), values
        except Unjoinable as signal:
            if not loose:
                raise
            handled(signal)
        trace.loosened[-1].append(test)
        return join(trace, name, merge.Fixed(first), rest, test, escaped, loose=True), values

    def append(self, trace: Trace, node: Node, arms: Sequence[Arm]) -> None:
        """Add the node of a construct to the open block."""
        trace.append(node)


LATTICE = MergePolicy()


def run_body(
    trace: Trace,
    body: Thunk,
    state: State,
    block: Block,
    prepare: Callable[[Block], Slots] | None = None,
    policy: MergePolicy = LATTICE,
) -> Arm:
    """Trace `body` into `block`.

    Args:
        prepare: sets the slots to their values in the body, before it begins, and returns these.
    """
    before = state.snapshot()
    traced = Arm(block, before=before)
    changes = trace.undo_log.begin()
    try:
        with trace.open(block):
            if prepare is not None:
                traced.begin = prepare(block)
            begin = before if prepare is None else state.snapshot()
            traced.result = policy.run(trace, body)
            traced.values = {variable: now for variable, old in begin.items() if (now := variable.get()) is not old}
            policy.note(trace, state, traced, changes)
    except Diverged as signal:
        handled(signal)
        traced.diverged = True
        block.results = None
    finally:
        state.restore(before)
        existed = policy.known_before(trace, state, before, changes)
        trace.undo_log.undo(existed)
    if traced.diverged:
        traced.values, traced.resized, traced.after = {}, [], []
    else:
        _drop_new_containers(traced, existed)
    return traced


def _with_staged_parts(value: Any) -> Any:
    """A final value of a body; parts such as `[*xs, 1]` of a staged `xs` become objects of the graph in it."""
    if type(value) is tuple:
        parts = tuple(map(_with_staged_parts, value))
        inside = staged_as(parts)
        return value if inside is None and all(map(is_, parts, value)) else parts if inside is None else inside
    staged_as(value)
    return value


def existed_before(trace: Trace, before: Slots, changes: Changes) -> Callable[[Any], bool]:
    """Decides whether a container existed before a body, or the body made it."""
    watched = {id(container) for container in trace.undo_log.watched}
    if changes.before.keys() <= watched:  # all of these existed
        return lambda container: True
    outer = [each.before for each in trace.undo_log.stack[:-1]]
    values = set(map(id, before.values()))
    escaped = EscapeAnalysis(lambda: [*before.values(), *trace.context.roots()], changes)

    def existed(container: Any) -> bool:    # a look at all that could be reached then comes last
        key = id(container)
        return key in values or any(key in changed for changed in outer) or escaped(container)

    return existed


def _changed_entries(traced: Arm, changes: Changes) -> Slots:
    """The changed entries of containers; notes the containers that were changed in other ways."""
    found: Slots = {}
    for container, content in changes:
        now = contents(container)
        old, new = entries(content), entries(now)
        if old is None or new is None:
            if list(map(id, content)) != list(map(id, now)):
                traced.resized.append(container)
        elif isinstance(container, Fallback):
            found |= {Entry(container, key): value for key, value in new.items() if value is not old.get(key)}
        elif list(old) != list(new) or _has_staged_items(old) != _has_staged_items(new):
            traced.resized.append(container)
        else:
            found |= {Entry(container, key): new[key] for key in old if new[key] is not old[key]}
    return found


def _has_staged_items(content: dict[Any, Any]) -> bool:
    return any(type(value) is StagedItems for value in content.values())


def _drop_new_containers(traced: Arm, existed: Callable[[Any], bool]) -> None:
    """Forget the containers that the body made itself: they keep their contents."""
    traced.values = {s: v for s, v in traced.values.items() if type(s) is not Entry or existed(s.container)}
    traced.resized = [container for container in traced.resized if existed(container)]
    traced.after = [(container, content) for container, content in traced.after if existed(container)]


def check_hoisted(trace: Trace, bodies: list[Arm]) -> None:
    """Check that containers which grow or shrink are objects of the graph before the construct begins.

    Raises:
        Materialize: one is not; the construct has to be traced again.
    """
    for traced in bodies:
        _check_made(trace, traced)
        staged = list(takewhile(lambda container: type(container) in STAGEABLE, traced.resized))
        if staged:
            raise Materialize(staged[0], (*staged[1:],))
        for container in traced.resized:
            changed = "is changed" if isinstance(container, bytearray) else "has an attribute added or deleted"
            what = f"an object of class {type(container).__name__} {changed}"
            raise Unstageable(f"{what} under a condition that is known only when the graph runs", ())


def _check_made(trace: Trace, traced: Arm) -> None:
    """Check that the body makes no function that existed before it: after the body, it would be another object.

    Raises:
        Materialize: it does; the construct has to be traced again.
    """
    made = trace.context.materializer.made_in(traced.block)
    if not made:
        return
    escaped, changed = escape_analysis(trace, traced.before), {id(container) for container, _ in traced.after}
    for thing in made:
        if id(thing) not in changed and escaped(thing):
            raise Materialize(thing)


def end_block(trace: Trace, traced: Arm, results: list[Any]) -> None:
    """Let the block of a body end with its results.

    Raises:
        Materialize: one of them is a function that has to be made before the construct.
    """
    traced.block.results = tuple(results)
    _check_made(trace, traced)


def escape_analysis(trace: Trace, values: Slots) -> EscapeAnalysis:
    """The objects that existed before a construct with these variables."""
    roots = lambda: [*values.values(), *trace.context.roots()]  # noqa: E731
    return EscapeAnalysis(roots, replacements=trace.replacements, tuples=trace.tuples)


def give_objects(
    trace: Trace, escaped: EscapeAnalysis, slots: Iterable[Slot], arms: Sequence[Arm], paths: Sequence[Slots]
) -> None:
    """Treat objects of the user's that slots have on several paths as new, if only one variable refers to each.

    So the program cannot distinguish them from others with the same attributes.
    """
    found = [slot for slot in slots if all(slot in each and is_users_object(each[slot]) for each in paths)]
    if not found:
        return
    cells = (getattr(slot, "holder", None) for each in paths for slot in each)
    pairs = (pair for arm in arms for pair in arm.written.values())
    held = (each for each in cells if type(each) is CellType)
    known = [*trace.undo_log.noted(), *trace.context.registries(), *held, *pairs]
    found = [slot for slot in found if not any(_is_elsewhere(slot, each) for each in paths)]
    values = (each[slot] for slot in found for each in paths)
    things = [*{id(value): value for value in values if not escaped.is_given_away(value)}.values()]
    shared = {*map(id, things)} - {*map(id, unshared(things, merge.FORMS, known))}
    for slot in found:
        if all(id(each[slot]) not in shared for each in paths):
            for each in paths:
                escaped.give_away(each[slot])


def _is_elsewhere(slot: Slot, path: Slots) -> bool:
    """Whether another variable has the value of a slot on a path."""
    return any(other is not slot and value is path[slot] for other, value in path.items())


def results_of(trace: Trace, block: Block, form: merge.Form, value: Any, used: bool = False) -> list[Any]:
    """The results of `block` for a value of `form`: its leaves, as arguments of the block's end.

    Args:
        used: whether the program reads the value here, so that it must be bound.
    """
    found: list[Any] = []
    with trace.open(block):
        for leaf in merge.leaves(form, value):
            found.append(trace.use(leaf) if used and is_tensor(leaf) else as_result(trace, leaf))
    return found


def as_result(trace: Trace, leaf: Any) -> Any:
    """A value as a result of the open block; a structure becomes an object."""
    if leaf is UNBOUND or leaf is None:
        return leaf
    if is_tensor(leaf):
        return leaf._ag_value if isinstance(leaf._ag_value.type, MaybeUnbound) else trace.use(leaf)
    if staged_as(leaf) is None:
        if trace.tuples.has_identity(leaf):
            return trace.tuples.lower(leaf)
        if pytree.kind_of(leaf) is not None:
            return trace.constant(leaf)._ag_value
    return trace.lower(leaf)


def join(
    trace: Trace, name: str, form: merge.Form, values: Iterable[Any], test: Value | None, escaped: EscapeAnalysis,
    loose: bool = False,
) -> merge.Form:
    """The form that also covers `values`.

    Raises:
        Unjoinable: there is none; or
        Materialize: there is one if the graph holds the contents of this container.
    """
    try:
        for value in values:
            form = merge.widen(form, value, escaped, loose)
        return form
    except merge.Misfit as error:
        if error.container is not None:
            raise Materialize(error.container) from None
        raise Unjoinable(name, error.first, error.second, test, trace.place(), things=error.things) from None


RETURNED = "the returned value"
_MOST = 100  # attempts, each of which materializes a container


class NoState:
    """For constructs whose parts are expressions: they can change variables only by calling functions."""

    carried: tuple[Slot, ...] = ()
    passing: tuple[Slot, ...] = ()
    beyond: tuple[Slot, ...] = ()

    def snapshot(self) -> Slots:
        return {}

    def restore(self, snapshot: Slots) -> None:
        return None


@on_behalf
def branch(trace: Trace, test: Any, body: Thunk, orelse: Thunk | None, state: State) -> Any:
    """Run an `if`: one branch if its test is plain, else stage both."""
    if is_staged(test):
        return stage_if(trace, as_tensor(test), body, orelse, state)
    return body() if test else None if orelse is None else orelse()


def stage_if(trace: Trace, test: Tensor, body: Thunk, orelse: Thunk | None, state: State, loose: bool = True) -> Any:
    """Trace both branches of an `if`; returns the join of their results.

    Args:
        loose: whether the user's function returns that at once, so that no traced code looks at it.
    """
    bodies = [body, orelse or (lambda: None)]
    stage = lambda: stage_branches(trace, trace.use(test), bodies, state, loose)  # noqa: E731
    try:
        return staged_with_containers(trace, stage, state)
    except Unjoinable as signal:
        signal.lines = signal.lines or tuple(stored_at(getattr(each, "__code__", None), signal.name) for each in bodies)
        raise


@interrupting
def staged_with_containers(trace: Trace, stage: Thunk, state: State) -> Any:
    """Stage a construct; again, whenever a container has to become an object of the graph before it."""
    if trace.speculations:
        raise NeedsStaging(trace.speculations[0])
    for _ in range(_MOST):
        try:
            return stage()
        except Unstageable as signal:
            signal.place = signal.place or trace.place()
            raise
        except Materialize as signal:
            handled(signal)
            containers = [signal.container, *signal.others]
        # Only now: the traceback is gone, which held copies of contents, and staged items must have none.
        for container in containers:
            if type(container) in STAGEABLE:
                rebind(state, container, trace.materialize(container, named=True))
            else:
                trace.lower(container)
    trace.unstageable("the lengths of too many lists, dicts or sets change here")


def stage_branches(
    trace: Trace, test: Value, bodies: Sequence[Thunk], state: State, loose: bool, policy: MergePolicy = LATTICE
) -> Any:
    """The same, with a policy.

    Raises:
        Materialize: a container has to become an object of the graph before the `if`.
    """
    trace.undo_log.write_back()
    trace.tests.append(test)
    try:
        arms = [run_body(trace, body, state, Block(), None, policy) for body in bodies]
    finally:
        trace.tests.pop()
    node = Node("if", (test,), None, tuple(arm.block for arm in arms), trace.place())
    ending = [arm for arm in arms if not arm.diverged]
    if len(ending) < 2:
        trace.append(node)
        if not ending:
            raise Diverged
        return _continue_after(trace, node, ending[0])
    check_hoisted(trace, arms)
    escaped = escape_analysis(trace, arms[0].before)
    results: list[list[Any]] = [[] for _ in arms]
    slots = _slots(arms, state)
    give_objects(trace, escaped, slots, arms, [{**arms[0].before, **arm.values} for arm in arms])
    for arm in arms:
        policy.check(trace, [arm.result, *(arm.values[slot] for slot in slots if slot in arm.values)], escaped)

    def joined(name: str, values: list[Any], loose: bool, used: bool = False) -> tuple[merge.Form, list[Value]]:
        """Add the values of a variable to the results of both branches; returns their form, and the node's outputs."""
        form, values = policy.join(trace, arms, name, values, test, escaped, loose)
        for arm, found, value in zip(arms, results, values):
            found.extend(results_of(trace, arm.block, form, value, used))
        types = (type.inner if used and isinstance(type, MaybeUnbound) else type for type in merge.types(form))
        outputs = [node.add_output(type, policy.returned if used else name) for type in types]
        trace.likely.join(outputs, values)
        return form, outputs

    changed = []
    for slot in slots:
        values = [arm.values.get(slot, arms[0].initial(slot)) for arm in arms]
        changed.append((slot, *joined(slot.name, values, slot.name.startswith(GENERATED))))
    form, outputs = joined(RETURNED, [arm.result for arm in arms], loose, used=True)
    for arm, found in zip(arms, results):
        end_block(trace, arm, found)
    policy.append(trace, node, arms)
    for slot, slot_form, slot_outputs in changed:
        assign(trace, slot, slot_form, slot_outputs)
    return merge.build(form, map(trace.proxy, outputs))


def _continue_after(trace: Trace, node: Node, arm: Arm) -> Any:
    """Continue the only branch that does not raise: it becomes part of the open block, after the `if`."""
    trace.merge(arm.block)
    node.blocks = tuple(Block() if block is arm.block else block for block in node.blocks)
    for slot, value in arm.values.items():
        if not isinstance(slot, Entry):
            slot.set(value)
    for container, content in arm.after:
        trace.undo_log.touch(container)
        restore(container, content)
    trace.undo_log.written.update(arm.written)
    return arm.result


def _slots(arms: list[Arm], state: State) -> list[Slot]:
    """The slots to join, in order: not those that only the bodies themselves read."""
    unread = {id(variable) for variable in state.passing}
    found = {slot: None for arm in arms for slot in arm.values if id(slot) not in unread}
    order = {id(variable): position for position, variable in enumerate(state.carried)}
    return sorted(found, key=lambda slot: order.get(id(slot), len(order)))
