"""Where values are while machine code is made; versions of what follows a point; and exits.

Where paths meet (behind an `if`, at the head of a loop, behind it), what is there may be of different types from
different paths: `total = 0` is an integer when the loop begins, and a float from the second iteration on. So there is
code for each combination of types that really comes (a *version*), made when the first path leads to it; therefore all
types are exact, everywhere. Where there would be too many versions, the code is left.

Of objects that have come up in the code (`operands.is_held`), it owns a reference for each value that is one, and lets
it go when the value does not matter any more: at the next point from which on the code may be left, for up to there it
may be needed again. So at each point it is known which references there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from autograph.runtime.engines.native.analysis.side_exits import Exit, Fetch, Handed, Interrupted
from autograph.runtime.engines.native.analysis.structure import Key, Point, Structure
from autograph.runtime.engines.native.emit.unroll import Unrolling
from autograph.runtime.engines.native.emit.value_ranges import RANGE
from autograph.runtime.graph.graph import Block, Constant, Node, Value, map_args
from autograph.runtime.graph.operands import (
    Array,
    Boxed,
    Complex,
    Fixed,
    Given,
    NoLowering,
    Number,
    Range,
    is_held,
    kind_of,
    mapped,
    unplaced,
)
from autograph.runtime.graph.types import INT
from autograph.runtime.ops.native.complex_numbers import as_complex, is_complex
from autograph.runtime.ops.native.scalars import number

VERSIONS = 6        # of what follows one point


Cell: TypeAlias = "tuple[Key, tuple[int, ...]]"     # a value, and a place in the tuples that it may be


@dataclass(slots=True)
class State:
    """At a place in the code.

    Attributes:
        env: what each value is: an operand. One without a `ref` is in its cell.
        fresh: the values whose cells do not have them yet; they are put there before a jump.
        owned: the cells of objects for which there is a reference, and the register that has the object, too, if any.
    """

    env: dict[Key, Any]
    fresh: set[Key]
    owned: dict[Cell, str]

    def copy(self) -> State:
        return State(dict(self.env), set(self.fresh), dict(self.owned))


class Versions:
    """What is where while machine code is made, and how it goes on where paths meet or where it is left.

    Attributes:
        exits: what is to be done when the code gives back their number.
    """

    def __init__(self, structure: Structure, inputs: dict[Value, Any], emit: Unrolling | None = None) -> None:
        self.structure = structure
        self.inputs = inputs
        self.exits: list[Exit] = [Interrupted()]
        self.slots = 0
        self.emit = emit or Unrolling("loop", self._leave)
        self._state = State({}, set(), {})
        self._at: tuple[Point, State] | None = None     # where the code is left, and with what
        self._left: str | None = None                   # the block by which it is
        self._leaving: list[tuple[str, Point, State]] = []
        self._versions: dict[Any, dict[Any, str]] = {}
        self._queue: list[Callable[[], None]] = []
        self._counters: set[Key] = set()                # the items of ranges
        self._heads: dict[Node, str] = {}               # the block with which an iteration of a `while` begins
        self._block: Block | None = None                # where nodes are being done
        self._nodes = 0

    # What values are --------------------------------------------------------------------------------------------------

    def _value(self, leaf: Any) -> Any:
        """The operand that a value is; constants are what they are."""
        if not isinstance(leaf, Value):
            return leaf
        found = self.inputs[leaf] if leaf in self.inputs else self._fetch(leaf)
        if type(found) is Number and found.type == INT:
            self.emit.learn(found, *self.structure.span(leaf, self._block))
        return found

    def _fetch(self, key: Key) -> Any:
        found = self._state.env[key]
        if type(found) is Number and found.ref:
            return found
        fetched = mapped(lambda path, each: self._loaded((key, path), each), found)
        if fetched is not found:
            self._state.env[key] = fetched
        return fetched

    def _loaded(self, cell: Any, each: Any) -> Any:
        if isinstance(each, Number) and not each.ref:
            found = Number(each.type, self.emit.kept(cell, each.type.dtype))
            if cell[0] in self._counters and each.type == INT:
                self.emit.bound(found.ref, -RANGE, RANGE)
            return found
        if isinstance(each, Range) and not each.start:
            start, stop, step = (self.emit.kept((cell, part), INT.dtype) for part in range(3))
            return Range(start, stop, step if each.known is None else str(each.known), each.known, each.down)
        if is_held(each) and not each.ref:
            ref = self.emit.kept_object(cell)
            if cell in self._state.owned:
                self._state.owned[cell] = ref
            if isinstance(each, Boxed):
                return Boxed(ref)
            facts = [self.emit.kept((cell, place), INT.dtype) for place in range(1, 1 + 2 * each.ndim)]
            return replace(each, ref=ref, facts=(self.emit.kept_object((cell, 0)), *facts))
        return each

    def _args(self, args: Any) -> Any:
        return map_args(self._value, args)

    def _operand(self, arg: Any) -> Any:
        """What an argument is as a value of its own."""
        if isinstance(arg, tuple) and type(arg) is tuple:
            return tuple(map(self._operand, arg))
        if isinstance(arg, (Number, Complex, Range, Array, Given, Boxed, Fixed)):
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

    def _define(self, key: Key, operand: Any) -> None:
        self._state.env[key] = self._operand(operand)
        self._state.fresh.add(key)

    # Jumps ------------------------------------------------------------------------------------------------------------

    def _jump(self, label: Any, lives: Callable[[Key], bool], go_on: Callable[[], None], entry: str = "") -> None:
        """Go on where other paths may lead, too. If there are too many versions, leave.

        Args:
            entry: what is behind the name of the block to go to.
        """
        state = self._state
        live = {key: operand for key, operand in state.env.items() if lives(key)}
        held = held_by(live)
        kinds = frozenset((key, kind_of(operand)) for key, operand in live.items())
        versions = self._versions.setdefault(label, {})
        if kinds not in versions:
            if len(versions) >= VERSIONS and self._at is not None:
                self.emit.jump(self._leave())
                return
            name = versions[kinds] = self.emit.label("at")
            begin = {key: mapped(lambda path, each: unplaced(each), operand) for key, operand in live.items()}

            def go() -> None:
                self._state = State(dict(begin), set(), dict.fromkeys(held, ""))
                self.emit.begin(name)
                self.emit.found = {}
                go_on()

            self._queue.append(go)
        self._hold(held)
        self._keep_fresh(live)
        self.emit.jump(versions[kinds] + entry)

    def _keep_fresh(self, live: dict[Key, Any]) -> None:
        """Put values into their cells. What leaves the code before that finds there what was before."""
        self.emit.settle()
        for key in live:
            if key in self._state.fresh:
                mapped(lambda path, each: self._keep((key, path), each), live[key])   # noqa: B023

    def _keep(self, cell: Any, each: Any) -> Any:
        if isinstance(each, Number):
            self.emit.keep(cell, each.type.dtype, each.ref)
        elif isinstance(each, Range):
            for part, ref in enumerate((each.start, each.stop, each.step)):
                self.emit.keep((cell, part), INT.dtype, ref)
        elif isinstance(each, Array) and each.input < 0:
            self.emit.keep_object((cell, 0), each.facts[0])
            for place, fact in enumerate(each.facts[1:], 1):
                self.emit.keep((cell, place), INT.dtype, fact)
        return each

    def _leave_from(self, at: Point | None) -> None:
        """From now on, go on in Python from a point, if it is to be; from what there is now."""
        if self._at is not None:
            self.emit.settle()      # what is still to be looked at came before that point
        if at is not None:
            env = self._state.env
            self._hold(held_by({key: operand for key, operand in env.items() if self.structure.is_live(key, at)}))
        self._left = None
        self._at = None if at is None else (at, self._state.copy())

    def _leave(self) -> str:
        """The block by which the code is left."""
        if self._left is None:
            assert self._at is not None
            self._left = self.emit.label("exit")
            self._leaving.append((self._left, *self._at))
        return self._left

    def _emit_exit(self, label: str, at: Point, state: State) -> None:
        self._state, self.emit.found = state.copy(), {}     # other exits may have the same
        self.emit.begin(label)
        self.emit.come_from(self.structure.node_at(at).place)
        keys = [key for key in state.env if self.structure.is_live(key, at)]
        self._finish(Exit(at, keys, self._handed_back(keys)))

    def _finish(self, exit: Exit) -> None:
        self._hold({})
        self.emit.finish(len(self.exits))
        self.exits.append(exit)

    def _stop(self) -> None:
        """End, as there is an exception."""
        state = self._state.copy()
        self._hold({})
        self.emit.finish(0)
        self._state = state

    def _hold(self, wanted: dict[Cell, str]) -> None:
        """Own references for these cells, which have objects of these registers, and no others."""
        owned, emit = self._state.owned, self.emit
        if owned == wanted:
            return
        emit.settle()
        missing = {cell: ref for cell, ref in wanted.items() if owned.get(cell) != ref}
        surplus = [(cell, ref) for cell, ref in owned.items() if wanted.get(cell) != ref]
        for ref in missing.values():
            found = next((each for each in surplus if each[1] == ref), None)
            if found is None:
                emit.another(ref)
            else:
                surplus.remove(found)
        for ref in [ref or emit.kept_object(cell) for cell, ref in surplus]:
            emit.forget(ref)
        for cell, ref in missing.items():
            emit.keep_object(cell, ref)
        self._state.owned = dict(wanted)

    def _handed_back(self, keys: list[Key]) -> tuple[Any, ...]:
        """Put values into the frame. Gives how to fetch them from there."""
        return self._written(tuple(self._fetch(key) for key in keys))

    def _written(self, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        """The same, of operands."""
        self.emit.settle()
        slot = 0

        def write(path: Any, each: Any) -> Any:
            nonlocal slot
            if isinstance(each, Number):
                self.emit.hand_back(slot, each.type.dtype, each.ref)
                slot += 1
                return Fetch(slot - 1, each.type)
            if isinstance(each, Range):
                for part in (each.start, each.stop, each.step):
                    self.emit.hand_back(slot, INT.dtype, part)
                    slot += 1
                return Fetch(slot - 3, None)
            if is_held(each):
                self.emit.hand_back_object(slot, self.emit.another(each.ref))
                slot += 1
                return Handed(slot - 1)
            return each

        found: tuple[Any, ...] = mapped(write, operands)
        self.slots = max(self.slots, slot)
        return found


def held_by(env: dict[Key, Any]) -> dict[Cell, str]:
    """The cells of objects among what values are, and the registers that have them."""
    found: dict[Cell, str] = {}
    for key, operand in env.items():
        if type(operand) is not Number:
            mapped(lambda path, each: found.update({(key, path): each.ref}) if is_held(each) else each, operand)   # noqa: B023
    return found
