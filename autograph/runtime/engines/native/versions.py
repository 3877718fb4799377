"""Where values are while machine code is made; versions of what follows a point; and exits.

Where paths meet (behind an `if`, at the head of a loop, behind it), what is there may be of different types from
different paths: `total = 0` is an integer when the loop begins, and a float from the second turn on. So there is code
for each combination of types that really comes (a *version*), made when the first path leads to it; therefore all types
are exact, everywhere. Where there would be too many versions, the code is left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograph.runtime.engines.native.exits import Exit, Fetch, Interrupted
from autograph.runtime.engines.native.knowing import RANGE, Knowing
from autograph.runtime.engines.native.structure import Key, Point, Structure
from autograph.runtime.graph import Constant, Value, map_args
from autograph.runtime.operands import Array, Fixed, Given, NoLowering, Number, Range, kind_of, mapped, unplaced
from autograph.runtime.ops.scalars import number
from autograph.runtime.types import INT

VERSIONS = 6        # of what follows one point


@dataclass(slots=True)
class State:
    """At a place in the code.

    Attributes:
        env: what each value is: an operand. One without a `ref` is in its cell.
        fresh: the values whose cells do not have them yet; they are put there before a jump.
    """

    env: dict[Key, Any]
    fresh: set[Key]

    def copy(self) -> State:
        return State(dict(self.env), set(self.fresh))


class Versions:
    """What is where while machine code is made, and how it goes on where paths meet or where it is left.

    Attributes:
        exits: what is to be done when the code gives back their number.
    """

    def __init__(self, structure: Structure, inputs: dict[Value, Any], emit: Knowing | None = None) -> None:
        self.structure = structure
        self.inputs = inputs
        self.exits: list[Exit] = [Interrupted()]
        self.slots = 0
        self.emit = emit or Knowing("loop", self._leave)
        self._state = State({}, set())
        self._at: tuple[Point, State] | None = None     # where the code is left, and with what
        self._left: str | None = None                   # the block by which it is
        self._leaving: list[tuple[str, Point, State]] = []
        self._versions: dict[Any, dict[Any, str]] = {}
        self._queue: list[Callable[[], None]] = []
        self._counters: set[Key] = set()                # the items of ranges
        self._nodes = 0

    # What values are --------------------------------------------------------------------------------------------------

    def _value(self, leaf: Any) -> Any:
        """The operand that a value is; constants are what they are."""
        if not isinstance(leaf, Value):
            return leaf
        return self.inputs[leaf] if leaf in self.inputs else self._fetch(leaf)

    def _fetch(self, key: Key) -> Any:
        found = self._state.env[key]
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
        return each

    def _args(self, args: Any) -> Any:
        return map_args(self._value, args)

    def _operand(self, arg: Any) -> Any:
        """What an argument is as a value of its own."""
        if isinstance(arg, tuple) and type(arg) is tuple:
            return tuple(map(self._operand, arg))
        if isinstance(arg, (Number, Range, Array, Given, Fixed)):
            return arg
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

    def _jump(self, label: Any, lives: Callable[[Key], bool], go_on: Callable[[], None]) -> None:
        """Go on where other paths may lead, too. If there are too many versions, leave."""
        state = self._state
        live = {key: operand for key, operand in state.env.items() if lives(key)}
        kinds = frozenset((key, kind_of(operand)) for key, operand in live.items())
        versions = self._versions.setdefault(label, {})
        if kinds not in versions:
            if len(versions) >= VERSIONS and self._at is not None:
                self.emit.jump(self._leave())
                return
            name = versions[kinds] = self.emit.label("at")
            begin = {key: mapped(lambda path, each: unplaced(each), operand) for key, operand in live.items()}

            def go() -> None:
                self._state = State(dict(begin), set())
                self.emit.begin(name)
                self.emit.places = {}
                go_on()

            self._queue.append(go)
        for key in live:
            if key in state.fresh:
                mapped(lambda path, each: self._keep((key, path), each), live[key])   # noqa: B023
        self.emit.jump(versions[kinds])

    def _keep(self, cell: Any, each: Any) -> Any:
        if isinstance(each, Number):
            self.emit.keep(cell, each.type.dtype, each.ref)
        elif isinstance(each, Range):
            for part, ref in enumerate((each.start, each.stop, each.step)):
                self.emit.keep((cell, part), INT.dtype, ref)
        return each

    def _leave_from(self, at: Point | None) -> None:
        """From now on, go on in Python from a point, if it is to be; from what there is now."""
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
        self._state, self.emit.places = state, {}
        self.emit.begin(label)
        keys = [key for key in state.env if self.structure.is_live(key, at)]
        self._finish(Exit(at, keys, self._handed_back(keys)))

    def _finish(self, exit: Exit) -> None:
        self.emit.finish(len(self.exits))
        self.exits.append(exit)

    def _handed_back(self, keys: list[Key]) -> tuple[Any, ...]:
        """Put values into the frame. Gives how to fetch them from there."""
        return self._written(tuple(self._fetch(key) for key in keys))

    def _written(self, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        """The same, of operands."""
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
            return each

        found: tuple[Any, ...] = mapped(write, operands)
        self.slots = max(self.slots, slot)
        return found
