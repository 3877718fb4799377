"""Basic-block versioning: one version of a block for each combination of types, and side exits.

Where paths merge (behind an `if`, at the head of a loop, behind it), a value may have different types on different
paths: `total = 0` is an integer when the loop begins, and a float from the second iteration on. So each combination of
types gets its own *version* of the block, which is emitted when the first path leads to it; therefore all types are
exact. If there would be too many versions, a side exit leads to Python. (See Chevalier-Boisvert and Feeley, "Simple and
effective type check removal through lazy basic block versioning", 2015.)

The code owns a reference for each value that is a new object (`operands.is_held`). It releases the reference at the
next point from which Python may resume once the value is dead, since Python may need it up to there. So the references
are known at each point.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np

from autograph.runtime.engines.native.analysis.side_exits import Exit, Fetch, Handed
from autograph.runtime.engines.native.analysis.structure import Key, Point, Structure
from autograph.runtime.engines.native.emit.emitter import equals_itself
from autograph.runtime.engines.native.emit.loop_emitter import LoopEmitter
from autograph.runtime.engines.native.emit.polling import poll
from autograph.runtime.engines.native.emit.recursion import Recursion, level
from autograph.runtime.engines.native.emit.value_ranges import RANGE
from autograph.runtime.engines.native.llvm.attribute_lookups import make
from autograph.runtime.engines.native.llvm.cpython_abi import llvm_type
from autograph.runtime.engines.native.llvm.ir import I64, PTR
from autograph.runtime.engines.native.llvm.ir import Block as Label
from autograph.runtime.engines.native.llvm.ir import Value as Register
from autograph.runtime.engines.native.llvm.known_places import NOTHING, Known, Meeting
from autograph.runtime.graph.graph import Block, Constant, Node, Value, map_args
from autograph.runtime.graph.operands import (
    Array,
    Boxed,
    Complex,
    Computed,
    Fixed,
    Gathered,
    Given,
    Instance,
    Mixed,
    NoLowering,
    Number,
    Range,
    Rows,
    View,
    is_held,
    kind_of,
    mapped,
    unplaced,
    without_refs,
)
from autograph.runtime.graph.recursion import calls_levels
from autograph.runtime.graph.types import BOOL, INT, TensorType
from autograph.runtime.ops.native.complex_rules import as_complex, is_complex
from autograph.runtime.ops.native.scalars import number

VERSIONS = 8        # of a block, at most

S = TypeVar("S")
T = TypeVar("T")
Cell: TypeAlias = "tuple[Key, tuple[int, ...]]"     # a value, and the path to a part of it if it is a tuple


@dataclass(slots=True)
class State:
    """The values at a point of the code.

    Attributes:
        env: the operand of each value. One without a `ref` is in its cell.
        fresh: values that are not in their cells yet; they are stored before a jump.
        owned: the cells of objects that the code owns references to, and the registers that have these, too, if any.
        known: what the code has found out about objects, as long as nothing can have changed that.
    """

    env: dict[Key, Any]
    fresh: set[Key]
    owned: dict[Cell, Any]
    known: Known = NOTHING

    def copy(self) -> State:
        return State(dict(self.env), set(self.fresh), dict(self.owned), self.known)


class Flow:
    """The values, the block versions and the side exits of code that is being emitted.

    Attributes:
        inputs: the operands of values from outside of the loop.
        shapes: those of arrays among them that the code takes for constants.
        emit: emits the code.
        exits: the exits of the code, which returns their numbers.
        slots: the number of slots of the frame that the exits use.
        state: the values at the current point.
        block: the block of the graph that is being emitted.
        supposed: the points to which the code is left if something unusual happens, see `supposes`.
        doubtful: those to which it has been left so.
        counted: the items of ranges, which are small.
        itself: facts about the calls of the code by itself.
        queue: emits the versions of blocks that have a jump to them, but no code yet.
    """

    def __init__(self, structure: Structure, inputs: dict[Value, Any]) -> None:
        self.structure = structure
        self.inputs = inputs
        self.shapes: dict[Value, tuple[int, ...]] = {}
        self.emit = level(self.side_exit) if calls_levels(structure.root) else LoopEmitter("loop", self.side_exit)
        self.itself = Recursion()
        self.exits: list[Exit] = [Exit(None, [], ())]     # 0 is for exceptions
        self.slots = 0
        self.state = State({}, set(), {})
        self.block: Block | None = None
        self.supposed: set[Point] = set()
        self.doubtful: Collection[Point] = ()
        self.counted: set[Key] = set()
        self._unchecked: set[Value] = set()     # floats that may be NaNs
        self.queue: list[Callable[[], None]] = []
        self._resume: tuple[Point, State] | None = None       # where Python would resume, and with which values
        self._exit: Label | None = None                       # the block of the side exit to that point
        self._exits: list[tuple[Label, Point, State]] = []    # side exits that have no code yet
        self._versions: dict[Any, dict[Any, list[tuple[Label, Meeting]]]] = {}
        self._edges: dict[Label, Label] = {}

    # Values -----------------------------------------------------------------------------------------------------------

    def value(self, leaf: Any) -> Any:
        """The operand of a value; any other leaf itself."""
        if not isinstance(leaf, Value):
            return leaf
        found = self.inputs[leaf] if leaf in self.inputs else self.fetch(leaf)
        if type(found) is Number and found.type == INT:
            self.emit.ranges.learn(found, *self.structure.range_of(leaf, self.block))
        return found

    def must_be_no_nan(self, value: Value, operand: Any) -> bool:
        """Whether the operand of a value may be a NaN, and must be none, see `PassedNumbers`."""
        operand = operand.parts[0] if isinstance(operand, Mixed) else operand
        if not isinstance(operand, (Number, Complex)) or operand.type.dtype.kind not in "fc":
            return False
        matters = self.structure.passed.must_be_no_nan(value)
        if not matters:
            self._unchecked.add(value)
        return matters

    def are_checked(self) -> bool:
        """Whether all numbers were checked that must be no NaNs, as far as is known now."""
        return not any(map(self.structure.passed.must_be_no_nan, self._unchecked))

    def leave_if_nan(self, value: Value, operand: Any) -> None:
        """Leave if the operand of a value is a NaN, and must be none."""
        if self.must_be_no_nan(value, operand):
            self.emit.demand(equals_itself(self.emit, operand).ref)

    def fetch(self, key: Key) -> Any:
        """The operand of a value, loaded from its cells."""
        found = self.state.env[key]
        if type(found) is Number and found.ref is not None:
            return found
        fetched = each_part(self._loaded, key, found)
        if fetched is not found:
            self.state.env[key] = fetched
        return fetched

    def _loaded(self, cell: Any, each: Any) -> Any:
        if isinstance(each, Number) and each.ref is None:
            found = Number(each.type, self.emit.cells.load(cell, llvm_type(each.type.dtype)))
            if cell[0] in self.counted and each.type == INT:
                self.emit.ranges.bound(found.ref, -RANGE, RANGE)
            return found
        if is_held(each) and each.ref is None:
            ref = self.emit.cells.load(cell, PTR)
            if cell in self.state.owned:
                self.state.owned[cell] = ref
            if isinstance(each, Boxed):
                return Boxed(ref, each.of)
            facts = [self.emit.cells.load((cell, place), I64) for place in range(1, 1 + 2 * each.ndim)]
            return replace(each, ref=ref, facts=(self.emit.cells.load((cell, 0), PTR), *facts))
        return each

    def args(self, args: Any) -> Any:
        """Arguments of a node, with operands for values."""
        return map_args(self.value, args)

    def operand(self, arg: Any) -> Any:
        """The operand of an argument, also of a constant."""
        if isinstance(arg, tuple) and type(arg) is tuple:
            return tuple(map(self.operand, arg))
        if isinstance(arg, (Number, Complex, Mixed, Range, Array, View, Gathered, Computed, Rows, Given, Boxed, Fixed)):
            return arg
        if isinstance(arg, Instance):
            return arg
        if is_complex(arg):
            return as_complex(self.emit, arg)
        if isinstance(arg, (list, dict, set, slice, Constant, tuple)):
            raise NoLowering
        try:
            return number(self.emit, arg)
        except NoLowering:
            if isinstance(arg, (np.generic, np.ndarray)):
                raise
            return Fixed(arg)

    def define(self, key: Key, operand: Any) -> None:
        """Set the operand of a value."""
        self.state.env[key] = self.operand(operand)
        self.state.fresh.add(key)

    def changed_by(self, node: Node, behind: Point) -> None:
        """Resume behind a node that has an effect, and may have changed objects."""
        if self.state.known.node is not node:
            self.state.known = NOTHING
        self.resume_from(behind)

    def know_shapes(self) -> None:
        """Take the shapes of arguments, as their types have them, for constants; who calls the code checks them."""
        for value, each in self.inputs.items():
            shape = value.type.shape if isinstance(value.type, TensorType) else ()
            lengths = [length for length in shape if length is not None]
            if isinstance(each, Array) and len(lengths) == each.ndim:
                self.shapes[value] = tuple(lengths)
                self.emit.frame.know_shape(each, lengths)

    # Jumps ------------------------------------------------------------------------------------------------------------

    def live(self, at: Point | Node) -> dict[Key, Any]:
        """The operands of the values that are live at a point, or at the beginning of an iteration, without views."""
        live, env = self.structure.live(at), self.state.env
        return {key: operand for key, operand in env.items() if key in live and not isinstance(operand, View)}

    def jump(
        self,
        label: Any,
        live: dict[Key, Any],
        go_on: Callable[[], None],
        to_edge: bool = False,
        queue: list[Callable[[], None]] | None = None,
    ) -> None:
        """Jump to where paths may merge. If there are too many versions, leave the code.

        Args:
            live: the values that are live there.
            go_on: emits the code there.
            to_edge: whether to go to the edge of the loop that begins there.
            queue: gets the function that emits a new version.
        """
        held, kinds = held_by(live), kinds_of(live)
        versions = self._versions.setdefault(label, {})
        if kinds not in versions and len(versions) >= VERSIONS and self._resume is not None:
            self.emit.jump(self.emit.leave())
            return
        self.hold(held)
        self.keep_fresh(live)
        found, meeting = versions.setdefault(kinds, []), Meeting.of(label, live, self.state.known, self.inputs)
        name = next((name for name, other in found if other.takes(meeting)), None)
        if name is None:
            meeting = Meeting() if found else meeting
            name = self.emit.b.new_block("at")
            found.append((name, meeting))
            begin = {key: each_part(without_register, key, operand) for key, operand in live.items()}

            def go() -> None:
                self.state = State(dict(begin), set(), dict.fromkeys(held))
                meeting.begin(self.state)
                self.emit.b.begin(name)
                self.emit.ranges.found = {}
                go_on()

            (self.queue if queue is None else queue).append(go)
        self.emit.jump(self.edge(name) if to_edge else name)

    def edge(self, head: Label) -> Label:
        """The edge of a counted loop: the block where it is checked whether there are more iterations."""
        if head not in self._edges:
            self._edges[head] = self.emit.b.new_block("edge")
        return self._edges[head]

    def begin(self, label: Label, state: State) -> None:
        """Begin a block with a state. There is no side exit until `resume_from` says where Python resumes."""
        self.state = state
        self.resume_from(None)
        self.emit.ranges.found = {}
        self.emit.b.begin(label)

    def branch(self, condition: Number, then: Callable[[], None], orelse: Callable[[], None]) -> None:
        """Part the paths by a condition, and emit both; only one, if the condition is a constant."""
        if condition.known is not None:
            (then if condition.known else orelse)()
            return
        labels = self.emit.b.new_block("then"), self.emit.b.new_block("else")
        self.emit.branch(condition, *labels)
        state, resume, found = self.state, self._resume, self.emit.ranges.found
        for label, path in zip(labels, (then, orelse)):
            self.state, self._resume, self._exit = state.copy(), resume, None
            self.emit.b.begin(label)
            self.emit.ranges.found = dict(found)
            path()

    def keep_fresh(self, live: dict[Key, Any]) -> None:
        """Store live values in their cells. A side exit before that finds the old ones there."""
        self.emit.settle()
        for key in live:
            if key in self.state.fresh:
                each_part(self.keep, key, live[key])

    def keep(self, cell: Any, each: Any) -> Any:
        """Store an operand in its cells."""
        if isinstance(each, Number):
            self.emit.cells.store(cell, each.ref)
        elif isinstance(each, Array) and each.input < 0:
            self.emit.cells.store((cell, 0), each.facts[0])
            for place, fact in enumerate(each.facts[1:], 1):
                self.emit.cells.store((cell, place), fact)
        return each

    # Side exits -------------------------------------------------------------------------------------------------------

    def resume_from(self, at: Point | None, is_brief: bool = False) -> None:
        """From now on, side exits lead to a point, from which Python resumes with the current values.

        Args:
            is_brief: whether nothing releases objects before the next such point, so that borrowed ones suffice.
        """
        if self._resume is not None:
            self.emit.settle()      # pending checks belong to the earlier point
        if at is not None and not is_brief:
            self.hold(held_by(self.live(at)))
        self._exit = None
        self._resume = None if at is None else (at, self.state.copy())

    def own_live(self, at: Point) -> None:
        """Own all objects that are live at a point, where other threads may run from now on."""
        self.state.known = NOTHING
        self.resume_from(at)

    def supposes(self) -> bool:
        """Whether to suppose the usual, and to leave the code otherwise."""
        if self._resume is None or self._resume[0] in self.doubtful:
            return False
        self.supposed.add(self._resume[0])
        return True

    def side_exit(self) -> Label:
        """The block of the side exit."""
        if self._exit is None:
            assert self._resume is not None
            self._exit = self.emit.b.new_block("exit")
            self._exits.append((self._exit, *self._resume))
        return self._exit

    def leave_unless(self, condition: Register, at: Point, value: Value, ref: Register) -> None:
        """Leave unless a condition holds, with an object for a value, to the point behind the node that computes it."""
        self.emit.settle()
        on, other = map(self.emit.b.new_block, ("on", "other"))
        self.emit.b.cond_br(condition, on, other, True)
        state, resume, exit = self.state.copy(), self._resume, self._exit
        self.emit.b.begin(other)
        self.define(value, Boxed(ref))
        self.resume_from(at)
        self.emit.jump(self.emit.leave())
        self.state, self._resume, self._exit = state, resume, exit
        self.emit.b.begin(on)

    @contextmanager
    def resuming(self, at: Point, value: Value, ref: Register) -> Iterator[None]:
        """Meanwhile, side exits lead to a point behind the node of a value, with a new reference to its object."""
        state, resume, exit = self.state.copy(), self._resume, self._exit
        self.define(value, Boxed(ref))
        self.own((value, ()), ref)
        self._resume, self._exit = (at, self.state.copy()), None
        yield
        self.emit.settle()
        self.state, self._resume, self._exit = state, resume, exit

    def emit_side_exits(self) -> None:
        """Emit all side exits."""
        for label, at, state in self._exits:
            self.state, self.emit.ranges.found = state.copy(), {}     # exits may share a state
            self.emit.b.begin(label)
            self.emit.b.place = self.structure.node_at(at).place
            keys = list(self.live(at))
            self.finish(Exit(at, keys, self.hand_back(tuple(map(self.fetch, keys)))))
        if calls_levels(self.structure.root):
            self.itself.finish(self.emit, self.slots)

    def finish(self, exit: Exit) -> None:
        """Return the number of an exit, whose values are in the frame."""
        self.hold({}, is_rare=exit.at is not None)
        self.emit.settle()
        self.emit.b.ret(self.number_of(exit))

    def number_of(self, exit: Exit) -> int:
        """The number of an exit; ends with the same results have one number."""
        values = without_refs(exit.values)
        for place, each in enumerate(self.exits):
            if place and exit.at is None is each.at and without_refs(each.values) == values:
                return place
        self.exits.append(exit)
        return len(self.exits) - 1

    def poll(self, iterations: Register | int, head: Label, besides: Callable[[], None] | None = None) -> None:
        """Poll for signals in a loop, see `polling.poll`."""
        self.emit.polls.append(poll(self.emit, iterations, self.stop, head, besides))
        self.state.known = NOTHING      # handlers of signals, and other threads

    def stop(self) -> None:
        """Return 0, for an exception."""
        state = self.state.copy()
        self.hold({}, is_rare=True)
        self.emit.settle()
        self.emit.b.ret(0)
        self.state = state

    # Attempts ---------------------------------------------------------------------------------------------------------

    def mark(self) -> Callable[[], None]:
        """Return a function that discards what has been emitted since."""
        reset_code, state, count = self.emit.mark(), self.state.copy(), len(self._exits)
        resume, exit = self._resume, self._exit

        def reset() -> None:
            reset_code()
            self.state, self._resume, self._exit = state.copy(), resume, exit
            del self._exits[count:]

        return reset

    def attempt(self, emit: Callable[[S], T], nodes: S) -> T | None:
        """Emit nodes, and return the result of that; None, with nothing emitted, if there is no lowering for one."""
        reset = self.mark()
        try:
            return emit(nodes)
        except NoLowering:
            reset()
            return None

    # References -------------------------------------------------------------------------------------------------------

    def own(self, cell: Cell, ref: Register) -> None:
        """Own a new reference, for a value or a part of one."""
        self.emit.cells.store(cell, ref)
        self.state.owned[cell] = ref

    def hold(self, wanted: dict[Cell, Any], is_rare: bool = False) -> None:
        """Own references for these cells, with objects from these registers, and no others.

        Args:
            is_rare: whether short code is better than fast code.
        """
        owned, emit = self.state.owned, self.emit
        if owned == wanted:
            return
        emit.settle()
        missing = {cell: ref for cell, ref in wanted.items() if cell not in owned or owned[cell] != ref}
        surplus = [(cell, ref) for cell, ref in owned.items() if cell not in wanted or wanted[cell] != ref]
        for ref in missing.values():
            found = next((each for each in surplus if each[1] == ref), None)
            if found is None:
                emit.objects.acquire(ref)
            else:
                surplus.remove(found)
        for ref in [ref or emit.cells.load(cell, PTR) for cell, ref in surplus]:
            (emit.objects.forget if is_rare else emit.objects.release)(ref)
            if not self.state.known.refers_to(ref):
                self.state.known = NOTHING      # code of the user's may have seen it go
        for cell, ref in missing.items():
            emit.cells.store(cell, ref)
        self.state.owned = dict(wanted)

    def _made(self, operand: Any) -> Any:
        """The object of an instance, as a new reference; any other operand itself."""
        if not isinstance(operand, Instance):
            return operand
        ref = make(self.emit.objects, operand)
        self.emit.stop_if(Number(BOOL, self.emit.b.is_null(ref)), self.stop)
        return Boxed(ref, _Made)

    def hand_back(self, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        """Store operands in the frame. Returns recipes for fetching them."""
        self.emit.settle()
        slot = 0

        def write(path: Any, each: Any) -> Any:
            nonlocal slot
            if isinstance(each, Number):
                self.emit.frame.hand_back(slot, each.type.dtype, each.ref)
                slot += 1
                return Fetch(slot - 1, each.type)
            if is_held(each):
                own = isinstance(each, Boxed) and each.of is _Made
                self.emit.frame.hand_back_object(slot, each.ref if own else self.emit.objects.another(each.ref))
                slot += 1
                return Handed(slot - 1)
            return each

        found: tuple[Any, ...] = mapped(write, tuple(map(self._made, operands)))
        self.slots = max(self.slots, slot)
        return found


class _Made:
    """The class of a new reference."""


def each_part(function: Callable[[Cell, Any], Any], key: Key, operand: Any) -> Any:
    """`function(cell, part)` for the parts of a value's operand."""
    if type(operand) is Number:
        return function((key, ()), operand)
    return mapped(lambda path, each: function((key, path), each), operand)


def without_register(cell: Cell, part: Any) -> Any:
    """An operand that is in its cell."""
    return unplaced(part)


def kinds_of(env: dict[Key, Any]) -> frozenset[Any]:
    """The types of operands, by which versions of a block differ."""
    return frozenset([(key, kind_of(operand)) for key, operand in env.items()])


def held_by(env: dict[Key, Any]) -> dict[Cell, Any]:
    """The cells of objects among operands, and the registers that have them."""
    found: dict[Cell, Any] = {}

    def hold(cell: Cell, part: Any) -> Any:
        if is_held(part):
            found[cell] = part.ref
        return part

    for key, operand in env.items():
        if is_held(operand) or type(operand) is tuple:
            each_part(hold, key, operand)
    return found
