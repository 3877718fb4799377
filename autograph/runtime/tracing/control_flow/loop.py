"""Staged loops: the body is traced for one iteration that stands for all, until what it carries holds.

A first tracing begins with what the loop begins with. If the iteration ends with something else (`0` becomes a float, a
container was changed that nobody expected), what is carried is widened, and the body is traced again from the same
beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from autograph.common.bytecode import stored_names
from autograph.common.code_marks import is_body
from autograph.runtime.graph.graph import Block, Node, Value, gather
from autograph.runtime.graph.opdef import ORDERED, WRITE, lookup
from autograph.runtime.graph.types import ANY, ObjectType, Type, item_of, join
from autograph.runtime.tracing.control_flow import merge
from autograph.runtime.tracing.control_flow.body import (
    LATTICE,
    Arm,
    Entry,
    Slot,
    Slots,
    State,
    as_result,
    assign,
    check_aliases,
    end_block,
    hoist,
    misfit,
    owned_by,
    proxies,
    results_of,
    run_body,
)
from autograph.runtime.tracing.control_flow.cond import stage_if
from autograph.runtime.tracing.proxies.graph_break import Materialize, check_handled
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.element_types import contents
from autograph.runtime.tracing.state.escape import EscapeAnalysis, is_alone
from autograph.runtime.tracing.state.staged_containers import STAGEABLE, staged_as
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import Changes, reached

_ROUNDS = 12
_MISSING: Any = object()


@dataclass
class Loop:
    """A loop met while tracing.

    Attributes:
        body: an iteration; that of a `for` gets the item.
        until: asked after an iteration, whether the loop ends; None if it has no such condition.
        policy: how bodies run; `carry` joins the ends of iterations with their beginnings.
        rotates: whether a test with effects of its own becomes part of the body.
    """

    trace: Trace
    body: Callable[..., Any]
    state: State
    until: Callable[[], Any] | None
    policy = LATTICE
    rotates = True

    def iteration(self, *item: Any) -> Any:
        """Run an iteration; whether it is the last."""
        check_handled()
        self.body(*item)
        return False if self.until is None else self.until()

    def carry(self) -> Carry:
        """The slots that it is known to carry."""
        carry = Carry(self.trace, owned_by(self.trace, self.state.snapshot()))
        for variable in self.state.carried:
            carry.expect(variable)
        return carry

    def item(self, block: Block, source: Any) -> tuple[Any, Any]:
        """Add the params for an item to a block; gives the item, and the target that the node names."""
        item_type = _item_of_source(self.trace, source) if isinstance(source, Value) else _item_of_all(source)
        return item_params(self.trace, block, item_type, _item_names(self.body))


@dataclass
class Carry:
    """What a loop carries from iteration to iteration: slots with their forms, and what they were at the beginning."""

    trace: Trace
    owned: EscapeAnalysis
    forms: dict[Slot, merge.Form] = field(default_factory=dict)
    begin: Slots = field(default_factory=dict)
    test: Value | None = None

    def expect(self, slot: Slot) -> None:
        """Carry a slot, which the loop is known to change."""
        self.begin[slot] = slot.get()
        self.forms[slot] = merge.staged(self.begin[slot], self.owned.tuples)

    def install(self, block: Block) -> Slots:
        """Add the params for what is carried to a block, and set the slots to them; gives what they are then."""
        for slot, form in self.forms.items():
            params = [block.add_param(type, name) for type, name in merge.named(form, _name(slot))]
            assign(self.trace, slot, merge.build(form, proxies(self.trace, params)))
        return {slot: slot.get() for slot in self.forms}

    def take_in(self, arm: Arm, unread: set[int]) -> bool:
        """Widen what is carried by what an iteration left; whether that changed anything."""
        changed = False
        for slot in arm.values:
            if slot not in self.forms and id(slot) not in unread:
                self.begin[slot] = arm.before[slot] if slot in arm.before else slot.get()
                self.forms[slot] = merge.Fixed(self.begin[slot])
        self._give_away(arm)
        renewed = [slot for slot, form in self.forms.items() if isinstance(form, merge.Renewed)]
        self.trace.renewals.check_within(value for slot, value in arm.values.items() if slot not in renewed)
        check_aliases(self.trace, [arm.values[slot] for slot in self.forms if slot in arm.values], self.owned)
        for slot, form in self.forms.items():
            if slot not in arm.values:
                continue
            wider = form
            if isinstance(form, merge.Fixed) and not self._is_stored(form.value):
                wider = merge.renewable(form.value, arm.values[slot], self.owned) or form
            try:
                loose = slot.name.startswith("retval_")
                wider = merge.widen(wider, arm.values[slot], self.owned, loose)
                wider = merge.widen(wider, self.begin[slot], self.owned, loose)
            except merge.Misfit as error:
                raise misfit(slot.name, error, self.test, self.trace.place()) from None
            if list(merge.types(wider)) != list(merge.types(form)) or not merge.alike(wider, form):
                changed = True
                self.forms[slot] = wider
        return changed

    def _is_stored(self, container: Any) -> bool:
        """Whether the program has put a container of the caller's elsewhere, too, where it may be compared with it."""
        if id(container) not in self.trace.renewals:
            return False
        found = reached(self.trace.undo_log.stored(), Changes())
        return found is None or id(container) in found

    def _give_away(self, arm: Arm) -> None:
        """Let go of initial values that only a variable knew, if an iteration binds that variable to another one."""
        for slot, value in arm.values.items():
            if slot not in self.begin or type(value) not in (list, dict) or type(self.begin[slot]) is not type(value):
                continue
            staged = any(staged_as(each) is not None for each in (value, self.begin[slot]))
            if staged or not self.owned(self.begin[slot]):
                continue
            reachable = reached(arm.values.values(), Changes())
            if reachable is not None and id(self.begin[slot]) not in reachable:
                if is_alone(self.begin[slot], slot, merge.Fixed):
                    self.owned.give_away(self.begin[slot])

    def inits(self) -> list[Any]:
        inits = []
        for slot, form in self.forms.items():
            inits += results_of(self.trace, self.trace.block, form, self.begin[slot])
        return inits

    def given(self) -> list[Value]:
        """The values and lists that the loop begins with, which have other names in its body."""
        begin = [self.begin[slot] for slot, form in self.forms.items() if any(True for _ in merge.types(form))]
        proxies = [staged_as(value) if type(value) in STAGEABLE else value for value in begin]
        return [value._ag_value for value in proxies if value is not None and is_tensor(value)]

    def results(self, arm: Arm) -> list[Any]:
        """What an iteration hands to the next."""
        found = []
        for slot, form in self.forms.items():
            value = arm.values[slot] if slot in arm.values else arm.begin.get(slot, self.begin[slot])
            found.extend(results_of(self.trace, arm.block, form, value))
        return found

    def finish(self, node: Node) -> None:
        """Add the outputs to the loop's node, and set the slots to them."""
        for slot, form in self.forms.items():
            outputs = [node.add_output(type, name) for type, name in merge.named(form, _name(slot))]
            assign(self.trace, slot, merge.build(form, proxies(self.trace, outputs)))


def _name(slot: Slot) -> str:
    return "" if isinstance(slot, Entry) else slot.name


def stage_while(loop: Loop, test: Callable[[], Any], first: Any, rotated: bool = False) -> None:
    """Trace a `while` loop, of which `first` is the value of the test before the first iteration."""
    trace, state, until = loop.trace, loop.state, loop.until
    trace.undo_log.write_back()
    carry = loop.carry()
    carry.test = first._ag_value if is_tensor(first) else None
    # If the test does something, it must run as often as Python would run it, and `first` was one time.
    rotated = rotated or (loop.rotates and _trace_test(loop, test, carry) is None)

    def iteration() -> tuple[Any, Any]:
        stop = loop.iteration()
        return stop, _go_on(trace, stop, test, state) if rotated else None

    def begin(block: Block) -> Callable[[], Any]:
        if rotated:
            block.add_param(ObjectType(), "go")
        return iteration

    arm = _settled(loop, carry, begin)
    head = _head_of_rotated(carry) if rotated else _trace_test(loop, test, carry)
    if head is None:  # the test does something, with what the loop came to carry
        stage_while(loop, test, first, rotated=True)
        return
    inits = carry.inits()
    if rotated:
        inits.insert(0, as_result(trace, first))
    options = {"until": True} if until is not None and not rotated else None
    node = Node("while", tuple(inits), options, (head, arm.block), trace.place())
    if rotated:
        node.add_output(ObjectType(), "go")
    stop, now = (None, None) if arm.diverged else arm.result
    _complete(loop, carry, node, arm, [now] if rotated else [stop] if until is not None else [])
    if not rotated:
        forget_first_test(trace, head)


def _head_of_rotated(carry: Carry) -> Block:
    """The test of a loop whose body has computed it: whether to go on is carried."""
    head = Block()
    head.results = (head.add_param(ObjectType(), "go"),)
    for form in carry.forms.values():
        for type in merge.types(form):
            head.add_param(type)
    return head


def _go_on(trace: Trace, stop: Any, test: Callable[[], Any], state: State) -> Any:
    """Whether there is another iteration, for a loop whose test is part of its body, and may assign variables."""
    if isinstance(stop, bool):
        return False if stop else test()
    return stage_if(trace, stop, lambda: False, test, state, loose=False)


def _complete(loop: Loop, carry: Carry, node: Node, arm: Arm, conditions: list[Any]) -> None:
    """Let the body of a loop give what it hands to the next iteration, after these conditions, and record the loop."""
    trace = carry.trace
    if not arm.diverged:
        results = carry.results(arm)
        with trace.open(arm.block):
            results[:0] = [as_result(trace, condition) for condition in conditions]
        end_block(trace, arm, results)
    loop.policy.append(trace, node, [arm])
    carry.finish(node)


def forget_first_test(trace: Trace, head: Block) -> None:
    """Drop what the test has recorded before the loop was staged: the loop itself begins with that test."""
    tested = {(node.op, node.place) for node in head.nodes}
    used: set[Value] = set()
    begun = False
    for node in reversed(list(trace.block.nodes)):
        if (node.op, node.place) in tested and used.isdisjoint(node.outputs):
            trace.block.nodes.remove(node)
            trace.dropped.add(node)
            begun = True
        elif begun:
            return
        else:
            used.update(_read_by(node))


def _read_by(node: Node) -> Iterator[Value]:
    """The values that a node and its blocks use."""
    yield from node.inputs
    for block in node.blocks:
        found: list[Value] = []
        gather(block.results or (), found)
        yield from found
        for inner in block.nodes:
            yield from _read_by(inner)


def _settled(loop: Loop, carry: Carry, begin: Callable[[Block], Callable[[], Any]]) -> Arm:
    """What an iteration comes to, traced until what the loop carries holds.

    Args:
        begin: adds the params for an item to a block; gives what an iteration runs.
    """
    unread = {id(variable) for variable in loop.state.passing}
    for _ in range(_ROUNDS):
        block = Block()
        arm = run_body(carry.trace, begin(block), loop.state, block, carry.install, loop.policy)
        hoist(carry.trace, [arm])
        if not carry.take_in(arm, unread) and not carry.trace.assumed.fails(block, carry.given()):
            break
    return arm


def _trace_test(loop: Loop, test: Callable[[], Any], carry: Carry) -> Block | None:
    """The block of a loop's test; None if the loop must be rotated, as the test does more than tell its result."""
    trace, block = loop.trace, Block()
    arm = run_body(trace, test, loop.state, block, carry.install, loop.policy)
    if type(arm.result) in STAGEABLE and staged_as(arm.result) is None:
        raise Materialize(arm.result)  # its truth will change
    changed = any(arm.begin.get(slot, _MISSING) is not value for slot, value in arm.values.items())
    if loop.rotates and (arm.diverged or arm.whole or changed or _does_something(block)):
        return None
    with trace.open(block):
        block.results = (as_result(trace, arm.result),)
    return block


def _does_something(block: Block) -> bool:
    return any(
        lookup(node.op).effect in (WRITE, ORDERED) or any(map(_does_something, node.blocks)) for node in block.nodes
    )


def stage_for(loop: Loop, iterable: Any) -> None:
    """Trace a `for` loop over a value of the graph, or a structure of such."""
    trace, until = loop.trace, loop.until
    source = trace.lower(iterable)
    trace.undo_log.write_back()
    carry = loop.carry()
    carry.test = source if isinstance(source, Value) else None
    kwargs: dict[str, Any] = {}

    def begin(block: Block) -> Callable[[], Any]:
        item, kwargs["target"] = loop.item(block, source)
        return partial(loop.iteration, item)

    arm = _settled(loop, carry, begin)
    if until is not None:
        kwargs["until"] = True
    node = Node("for", (source, *carry.inits()), kwargs, (arm.block,), trace.place())
    _complete(loop, carry, node, arm, [] if until is None else [arm.result])


def _item_names(body: Any) -> tuple[str, ...]:
    """What the user calls the loop's variables, if each has a name."""
    code = getattr(body, "__code__", None)
    if code is None or not code.co_argcount or not is_body(code):
        return ()
    if not code.co_varnames[0].startswith("item"):
        return (str(code.co_varnames[0]),)
    return next((names for names in stored_names(code).values() if len(names) > 1), ())


def _item_of_source(trace: Trace, source: Value) -> Type:
    found = contents(trace.assumed, source, ahead=True) if item_of(source.type) == ANY else None
    return item_of(source.type) if found is None else found.item


def _item_of_all(parts: Any) -> Type:
    """The type of the items of a structure that is iterated over."""
    found: Type | None = None
    for part in parts:
        type = part.type if isinstance(part, Value) else merge.type_at(part)
        found = type if found is None else join(found, type)
    return ObjectType() if found is None else found


def item_params(trace: Trace, block: Block, type: Type, names: tuple[str, ...] = ()) -> tuple[Any, Any]:
    """Params of a loop's body for an item of a type, as the body gets it; and the target that the node names."""
    if isinstance(type, ObjectType) and type.name == "tuple" and type.items:
        each = [(name,) for name in names] if len(names) == len(type.items) else [()] * len(type.items)
        pairs = [item_params(trace, block, part, name) for part, name in zip(type.items, each)]
        return tuple(item for item, _ in pairs), tuple(target for _, target in pairs)
    block.add_param(type, names[0] if len(names) == 1 else "")
    return trace.proxy(block.params[-1]), len(block.params) - 1
