"""Staged branches: both are traced, each from the same beginning, and what they leave behind is joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograph.common.bytecode import stored_at
from autograph.runtime.graph.graph import Block, Node, Value
from autograph.runtime.graph.types import MaybeUnbound, Type
from autograph.runtime.tracing.control_flow import merge
from autograph.runtime.tracing.control_flow.body import (
    LATTICE,
    Arm,
    Entry,
    MergePolicy,
    Slot,
    Slots,
    State,
    assign,
    end_block,
    hoist,
    owned_by,
    proxies,
    results_of,
    run_body,
)
from autograph.runtime.tracing.proxies.graph_break import (
    Diverged,
    Materialize,
    NeedsStaging,
    Unjoinable,
    Unstageable,
    handled,
)
from autograph.runtime.tracing.proxies.proxy import Tensor
from autograph.runtime.tracing.state.blame import interrupting
from autograph.runtime.tracing.state.staged_containers import STAGEABLE, rebind
from autograph.runtime.tracing.state.trace import GENERATED, Trace
from autograph.runtime.tracing.state.undo_log import restore

RETURNED = "the returned value"
_CONTAINERS = 100


class NoState:
    """For constructs whose parts are expressions: they can change variables only by calling functions."""

    carried: tuple[Slot, ...] = ()
    passing: tuple[Slot, ...] = ()
    beyond: tuple[Slot, ...] = ()

    def snapshot(self) -> Slots:
        return {}

    def restore(self, snapshot: Slots) -> None:
        return None


def stage_if(
    trace: Trace,
    test: Tensor,
    body: Callable[[], Any],
    orelse: Callable[[], Any] | None,
    state: State,
    loose: bool = True,
) -> Any:
    """Trace both branches of an `if`; gives what they return.

    Args:
        loose: whether what they return goes straight to who called the user's function.
    """
    bodies = [body, orelse or _nothing]
    try:
        return repeated(trace, lambda: stage_branches(trace, trace.use(test), bodies, state, loose), state)
    except Unjoinable as signal:
        signal.lines = signal.lines or tuple(stored_at(getattr(each, "__code__", None), signal.name) for each in bodies)
        raise


@interrupting
def repeated(trace: Trace, stage: Callable[[], Any], state: State) -> Any:
    """Stage a construct; once more, if a container has to become an object of the graph before it."""
    if trace.trying:
        raise NeedsStaging(trace.trying[0])
    for _ in range(_CONTAINERS):
        try:
            return stage()
        except Unstageable as signal:
            signal.place = signal.place or trace.place()
            raise
        except Materialize as signal:
            handled(signal)
            container = signal.container
        # Not before the traceback is gone, with what was noted of the tracing that is undone: of what is held, there
        # must be no copies.
        if type(container) in STAGEABLE:
            rebind(state, container, trace.materialize(container, named=True))
        else:
            trace.lower(container)
    raise Unstageable("the lengths of too many lists, dicts or sets change here", trace.place())


def _nothing() -> None:
    return None


def stage_branches(
    trace: Trace, test: Value, bodies: Sequence[Callable[[], Any]], state: State, loose: bool,
    policy: MergePolicy = LATTICE,
) -> Any:
    """The same, joined by a policy; it may ask for a container to become an object of the graph first."""
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
        return _go_on(trace, node, ending[0])
    hoist(trace, arms)
    owned = owned_by(trace, arms[0].before)
    slots = _slots(ending, state)
    for arm in ending:
        policy.check(trace, [arm.result, *(arm.values[slot] for slot in slots if slot in arm.values)], owned)
    results: list[list[Any]] = [[] for _ in ending]

    def joined(name: str, values: list[Any], loose: bool, used: bool = False) -> Callable[[], Any]:
        """Let both branches give the values of a variable; the result makes the variable of the node's outputs."""
        form, values = policy.join(trace, ending, name, values, test, owned, loose)
        for arm, found, value in zip(ending, results, values):
            found.extend(results_of(trace, arm.block, form, value, used))
        shown = policy.returned if used else name
        outputs = [node.add_output(_output_type(type, used), shown) for type in merge.types(form)]
        return lambda: merge.build(form, proxies(trace, outputs))

    rebuilt = []
    for slot in slots:
        values = [arm.values.get(slot, _before(arms[0], slot)) for arm in ending]
        rebuilt.append((slot, joined(slot.name, values, slot.name.startswith(GENERATED))))
    returned = joined(RETURNED, [arm.result for arm in ending], loose, used=True)
    for arm, found in zip(ending, results):
        end_block(trace, arm, found)
    policy.append(trace, node, ending)
    for slot, build in rebuilt:
        assign(trace, slot, build())
    return returned()


def _output_type(type: Type, used: bool) -> Type:
    return type.inner if used and isinstance(type, MaybeUnbound) else type


def _go_on(trace: Trace, node: Node, arm: Arm) -> Any:
    """The other branch raises: what follows the `if` runs after this branch only, and so does the branch."""
    trace.merge(arm.block)
    node.blocks = tuple(Block() if block is arm.block else block for block in node.blocks)
    for variable, value in arm.values.items():
        if not isinstance(variable, Entry):
            variable.set(value)
    for container, content in arm.after:
        trace.undo_log.touch(container)
        restore(container, content)
    trace.undo_log.written.update(arm.written)
    return arm.result


def _slots(arms: list[Arm], state: State) -> list[Slot]:
    """What must be joined, in order; what only the bodies themselves read is not among it."""
    unread = {id(variable) for variable in state.passing}
    found = {slot: None for arm in arms for slot in arm.values if id(slot) not in unread}
    order = {id(variable): position for position, variable in enumerate(state.carried)}
    return sorted(found, key=lambda slot: order.get(id(slot), len(order)))


def _before(arm: Arm, slot: Slot) -> Any:
    return arm.before[slot] if slot in arm.before else slot.get()
