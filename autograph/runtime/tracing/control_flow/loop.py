"""Staged loops: the body is traced once for all iterations, until the types of its loop-carried values hold.

The first tracing begins with the values before the loop. If the iteration ends with others (`0` becomes a float, a
further container is changed), the carried values are widened, and the body is traced again from the same beginning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import CellType
from typing import Any

from autograph.common.bytecode import stored_names
from autograph.common.code_marks import is_body
from autograph.runtime.graph.graph import Block, Node, Value, used_by, walk
from autograph.runtime.graph.opdef import ORDERED, WRITE, lookup
from autograph.runtime.graph.signature import Respecialize
from autograph.runtime.graph.types import ANY, ObjectType, Type, item_of, join_all
from autograph.runtime.tracing.control_flow import merge
from autograph.runtime.tracing.control_flow.cond import (
    LATTICE,
    Arm,
    Entry,
    Slot,
    Slots,
    State,
    Thunk,
    as_result,
    assign,
    check_hoisted,
    end_block,
    escape_analysis,
    give_objects,
    join,
    results_of,
    run_body,
    stage_if,
)
from autograph.runtime.tracing.proxies.graph_break import Failed, Materialize, check_handled
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.element_types import element_type
from autograph.runtime.tracing.state.escape import EscapeAnalysis, unshared
from autograph.runtime.tracing.state.staged_containers import STAGEABLE, staged_as
from autograph.runtime.tracing.state.trace import GENERATED, Trace
from autograph.runtime.tracing.state.undo_log import Changes, reached

IDLE = 2_000  # iterations that record nothing, after which texts become objects of the graph
_ROUNDS = 12
_MISSING: Any = object()


@dataclass
class Loop:
    """A loop met while tracing.

    Attributes:
        body: runs an iteration; the body of a `for` takes the item.
        until: tells after an iteration whether the loop ends; None if it has no such condition.
        policy: decides how bodies run; `carry` joins the ends of iterations with their beginnings.
        rotates: whether a test with effects becomes part of the body.
    """

    trace: Trace
    body: Callable[..., Any]
    state: State
    until: Thunk | None
    policy = LATTICE
    rotates = True

    def iteration(self, *item: Any) -> Any:
        """Run an iteration; returns whether it is the last."""
        check_handled()
        _count_iteration(self.trace)
        self.body(*item)
        return False if self.until is None else self.until()

    def carry(self) -> Carry:
        """The slots that the loop is expected to carry."""
        carry = Carry(self.trace, escape_analysis(self.trace, self.state.snapshot()))
        for variable in self.state.carried:
            carry.expect(variable)
        return carry

    def item(self, block: Block, source: Any) -> tuple[Any, Any]:
        """Add the params for an item to a block; returns the item, and the target that the node names."""
        found = item_params(self.trace, block, _item_type(self.trace, source), _item_names(self.body))
        self.trace.likely.note_items(found[0], source)
        return found


def _count_iteration(trace: Trace) -> None:
    """Count an iteration of traced code.

    Raises:
        Failed: it does not depend on staged values, nor did many before, as texts are part of the signature. Such a
            trace would be of no use for other texts.
    """
    trace.budget.step()
    idle, texts = next(trace.idle), trace.context.texts
    if idle > IDLE and texts:
        raise Failed(Respecialize(whole=texts, reason=f"{idle:,} iterations depend on no other arguments"))


@dataclass
class Carry:
    """The loop-carried slots, with their forms, initial values, and those after an iteration."""

    trace: Trace
    escaped: EscapeAnalysis
    forms: dict[Slot, merge.Form] = field(default_factory=dict)
    begin: Slots = field(default_factory=dict)
    ends: Slots = field(default_factory=dict)
    test: Value | None = None

    def expect(self, slot: Slot) -> None:
        """Carry a slot, which the loop is expected to change."""
        self.begin[slot] = slot.get()
        self.forms[slot] = merge.staged(self.begin[slot], self.escaped)

    def install(self, block: Block) -> Slots:
        """Add params for the carried slots to a block, and set the slots to them; returns their values."""
        self._assign(lambda type, name: block.add_param(type, name))
        return {slot: slot.get() for slot in self.forms}

    def finish(self, node: Node) -> None:
        """Add outputs for the carried slots to the loop's node, and set the slots to them."""
        self._assign(lambda type, name: node.add_output(type, name))

    def _assign(self, add: Callable[[Type, str], Value]) -> None:
        for slot, form in self.forms.items():
            name = "" if isinstance(slot, Entry) else slot.name
            values = [add(type, each) for type, each in merge.named(form, name)]
            assign(self.trace, slot, form, values)
            self.trace.likely.join(values, (self.begin[slot], self.ends.get(slot)))

    def take_in(self, traced: Arm, unread: set[int]) -> bool:
        """Widen the forms by the final values of an iteration; returns whether that changed one."""
        changed = False
        self.ends = traced.values
        for slot in traced.values:
            if slot not in self.forms and id(slot) not in unread:
                self.begin[slot] = traced.initial(slot)
                self.forms[slot] = merge.Fixed(self.begin[slot])
        ends = {**self.begin, **traced.begin, **traced.values}
        give_objects(self.trace, self.escaped, [*traced.values], [traced], [self.begin, ends])
        self._give_away(traced)
        replaced = {slot for slot, form in self.forms.items() if isinstance(form, merge.Parts) and form.path}
        self.trace.replacements.check_within(value for slot, value in traced.values.items() if slot not in replaced)
        LATTICE.check(self.trace, [traced.values[slot] for slot in self.forms if slot in traced.values], self.escaped)
        for slot, form in self.forms.items():
            if slot not in traced.values:
                continue
            value, wider = traced.values[slot], form
            if isinstance(form, merge.Fixed) and not self._is_stored(form.value):
                wider = merge.replaceable(form.value, value, self.escaped) or form
            loose = slot.name.startswith(GENERATED)
            wider = join(self.trace, slot.name, wider, (value, self.begin[slot]), self.test, self.escaped, loose)
            if list(merge.types(wider)) != list(merge.types(form)) or not merge.alike(wider, form):
                changed = True
                self.forms[slot] = wider
        return changed

    def _is_stored(self, container: Any) -> bool:
        """Whether the program has also stored a container of the caller's elsewhere, where it may be compared."""
        if id(container) not in self.trace.replacements:
            return False
        found = reached(self.trace.undo_log.stored(), Changes())
        return found is None or id(container) in found

    def _give_away(self, traced: Arm) -> None:
        """Let go of initial values that only a variable refers to, if an iteration binds the variable to another."""
        for slot, value in traced.values.items():
            if slot not in self.begin or type(value) not in (list, dict) or type(self.begin[slot]) is not type(value):
                continue
            is_staged = any(staged_as(each) is not None for each in (value, self.begin[slot]))
            if is_staged or not self.escaped(self.begin[slot]):
                continue
            reachable = reached(traced.values.values(), Changes())
            if reachable is not None and id(self.begin[slot]) not in reachable:
                cell = getattr(slot, "holder", None)
                known = [cell] if type(cell) is CellType else []
                for each in unshared([self.begin[slot]], merge.FORMS, known):
                    self.escaped.give_away(each)

    def inits(self) -> list[Any]:
        """The carried values before the loop."""
        values = ((form, self.begin[slot]) for slot, form in self.forms.items())
        return [each for form, value in values for each in results_of(self.trace, self.trace.block, form, value)]

    def initial_values(self) -> list[Value]:
        """The values and lists of the graph that are carried, which have other names in the body."""
        begin = [self.begin[slot] for slot, form in self.forms.items() if any(True for _ in merge.types(form))]
        proxies = [staged_as(value) if type(value) in STAGEABLE else value for value in begin]
        return [value._ag_value for value in proxies if value is not None and is_tensor(value)]

    def results(self, traced: Arm) -> list[Any]:
        """The values that an iteration hands to the next."""
        found: list[Any] = []
        for slot, form in self.forms.items():
            value = traced.values[slot] if slot in traced.values else traced.begin.get(slot, self.begin[slot])
            found.extend(results_of(self.trace, traced.block, form, value))
        return found


def stage_while(loop: Loop, test: Thunk, first: Any, rotated: bool = False) -> None:
    """Trace a `while` loop; `first` is the value of its test before the first iteration."""
    trace, state, until = loop.trace, loop.state, loop.until
    trace.undo_log.write_back()
    carry = loop.carry()
    carry.test = first._ag_value if is_tensor(first) else None
    # A test with effects must run as often as in Python, and it has run once for `first`: rotate the loop.
    rotated = rotated or (loop.rotates and _trace_test(loop, test, carry) is None)

    def iteration() -> tuple[Any, Any]:
        stop = loop.iteration()
        return stop, _go_on(trace, stop, test, state) if rotated else None

    def begin(block: Block) -> Thunk:
        if rotated:
            block.add_param(ObjectType(), "go")
        return iteration

    traced = _settled(loop, carry, begin)
    head = _head_of_rotated(carry) if rotated else _trace_test(loop, test, carry)
    if head is None:  # the test has effects, now that the loop carries more
        stage_while(loop, test, first, rotated=True)
        return
    inits = carry.inits()
    if rotated:
        inits.insert(0, as_result(trace, first))
    options = {"until": True} if until is not None and not rotated else None
    node = Node("while", tuple(inits), options, (head, traced.block), trace.place())
    if rotated:
        node.add_output(ObjectType(), "go")
    stop, now = (None, None) if traced.diverged else traced.result
    _complete(loop, carry, node, traced, [now] if rotated else [stop] if until is not None else [])
    if not rotated:
        forget_first_test(trace, head)


def _head_of_rotated(carry: Carry) -> Block:
    """The head of a rotated loop: its body computes the test, which is carried."""
    head = Block()
    head.results = (head.add_param(ObjectType(), "go"),)
    for form in carry.forms.values():
        for type in merge.types(form):
            head.add_param(type)
    return head


def _go_on(trace: Trace, stop: Any, test: Thunk, state: State) -> Any:
    """Whether there is another iteration of a rotated loop, whose test may assign variables."""
    if isinstance(stop, bool):
        return False if stop else test()
    return stage_if(trace, stop, lambda: False, test, state, loose=False)


def _complete(loop: Loop, carry: Carry, node: Node, traced: Arm, conditions: list[Any]) -> None:
    """End the body of a loop with these conditions and the carried values, and record the loop."""
    trace = carry.trace
    if not traced.diverged:
        results = carry.results(traced)
        with trace.open(traced.block):
            results[:0] = [as_result(trace, condition) for condition in conditions]
        end_block(trace, traced, results)
    loop.policy.append(trace, node, [traced])
    carry.finish(node)


def forget_first_test(trace: Trace, head: Block) -> None:
    """Drop the nodes that the test recorded before the loop was staged: the loop itself begins with the test."""
    tested = {(node.op, node.place) for node in head.nodes}
    used: set[Value] = set()
    has_begun = False
    nodes = trace.block.nodes
    for at in reversed(range(len(nodes))):
        node = nodes[at]
        if (node.op, node.place) in tested and used.isdisjoint(node.outputs):
            trace.dropped.add(node)
            del nodes[at]
            has_begun = True
        elif has_begun:
            return
        else:
            inner = (each for block in node.blocks for each in walk(block))
            used.update(value for each in (node, *inner) for value in used_by(each))


def _settled(loop: Loop, carry: Carry, begin: Callable[[Block], Thunk]) -> Arm:
    """The body of a loop, traced until the forms of the carried values hold.

    Args:
        begin: adds the params for an item to a block, and returns the function that runs an iteration.
    """
    unread = {id(variable) for variable in loop.state.passing}
    for _ in range(_ROUNDS):
        block = Block()
        traced = run_body(carry.trace, begin(block), loop.state, block, carry.install, loop.policy)
        check_hoisted(carry.trace, [traced])
        if not carry.take_in(traced, unread) and not carry.trace.assumed.fails(block, carry.initial_values()):
            break
    return traced


def _trace_test(loop: Loop, test: Thunk, carry: Carry) -> Block | None:
    """The block of a loop's test; None if the test has effects, so that the loop must be rotated."""
    trace, block = loop.trace, Block()
    traced = run_body(trace, test, loop.state, block, carry.install, loop.policy)
    if type(traced.result) in STAGEABLE and staged_as(traced.result) is None:
        raise Materialize(traced.result)  # its truth will change
    changed = any(traced.begin.get(slot, _MISSING) is not value for slot, value in traced.values.items())
    if loop.rotates and (traced.diverged or traced.resized or changed or _has_effects(block)):
        return None
    with trace.open(block):
        block.results = (as_result(trace, traced.result),)
    return block


def _has_effects(block: Block) -> bool:
    nodes = block.nodes
    return any(lookup(node.op).effect in (WRITE, ORDERED) or any(map(_has_effects, node.blocks)) for node in nodes)


def stage_for(loop: Loop, iterable: Any) -> None:
    """Trace a `for` loop over a value of the graph, or over a structure of these."""
    trace, until = loop.trace, loop.until
    source = trace.lower(iterable)
    trace.undo_log.write_back()
    carry = loop.carry()
    carry.test = source if isinstance(source, Value) else None
    kwargs: dict[str, Any] = {}

    def begin(block: Block) -> Thunk:
        item, kwargs["target"] = loop.item(block, source)
        return partial(loop.iteration, item)

    traced = _settled(loop, carry, begin)
    if until is not None:
        kwargs["until"] = True
    node = Node("for", (source, *carry.inits()), kwargs, (traced.block,), trace.place())
    _complete(loop, carry, node, traced, [] if until is None else [traced.result])


def _item_names(body: Any) -> tuple[str, ...]:
    """The user's names of the loop's variables, if each has one."""
    code = getattr(body, "__code__", None)
    if code is None or not code.co_argcount or not is_body(code):
        return ()
    if not code.co_varnames[0].startswith("item"):
        return (str(code.co_varnames[0]),)
    return next((names for names in stored_names(code).values() if len(names) > 1), ())


def _item_type(trace: Trace, source: Any) -> Type:
    """The type of the items of a value of the graph, or of a structure of these."""
    if not isinstance(source, Value):
        return join_all(part.type if isinstance(part, Value) else merge.type_at(part) for part in source)
    found = element_type(trace.assumed, source, in_body=True) if item_of(source.type) == ANY else None
    return item_of(source.type) if found is None else found.item


def item_params(trace: Trace, block: Block, type: Type, names: tuple[str, ...] = ()) -> tuple[Any, Any]:
    """Add params for an item of a type to a loop's body; returns the item, and the target that the node names."""
    if isinstance(type, ObjectType) and type.name == "tuple" and type.items:
        each = [(name,) for name in names] if len(names) == len(type.items) else [()] * len(type.items)
        pairs = [item_params(trace, block, part, name) for part, name in zip(type.items, each)]
        return tuple(item for item, _ in pairs), tuple(target for _, target in pairs)
    block.add_param(type, names[0] if len(names) == 1 else "")
    return trace.proxy(block.params[-1]), len(block.params) - 1
