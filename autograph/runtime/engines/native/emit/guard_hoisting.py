"""The emitter that looks once, before many iterations of a loop, at what would be looked at in each of them.

While the iterations of a counted loop are emitted, a `Chunk` says what does not change in them. What is computed of
that alone is computed before the iterations, and if the code is to be left under a condition that does not change, the
iterations are not begun. Nor if an index that goes with the items would come out of bounds: so the iterations go as far
as it does not.

To refuse iterations is always right: there is other code for them, which looks at everything at its time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from autograph.runtime.engines.native.emit.value_ranges import RANGE, Knowing, reach
from autograph.runtime.graph.operands import Array, Complex, Number
from autograph.runtime.graph.types import BOOL, INT, TensorType

# An array, an index, and the line that reads or writes that element: in which lines, and where there.
Access: TypeAlias = "tuple[Array, tuple[Number, ...], tuple[list[str], int]]"
OFFSET = 2 * RANGE      # how far an index may be from the item
_HOISTED = frozenset({"add", "sub", "mul", "and", "or", "xor"})     # never traps, and is never poison


@dataclass(slots=True)
class Chunk:
    """Iterations of a counted loop that are run one after the other.

    Attributes:
        before: the code before the iterations.
        fixed: what is known there.
        offsets: what is an item plus something that does not change.
        conditions: under none of these.
        spans: by how much the items are off an index, and the length within which it must be.
        exits: how often the iterations can be left nevertheless.
        loads: how many elements they read.
        blind: the first item, the number of an iteration, and whether items go down, if the iterations are run blindly:
            see `speculation`.
        doubts: how often they may have to be run again, then.
        carries: whether an iteration hinges on the one before, so that there are no vectors.
        gathered: how often an iteration notes down what is to be looked at behind the iterations.
        noted: the floats of which an iteration notes whether they are infinite or none.
        doubted: the conditions of which it notes whether they hold.
        at_once: whether several iterations are done at once, see `simd`.
        later: what is looked at then only, and in which cell it is.
        stores: what they write: to which array, at which index, and by which line of the code. If they are run blindly.
        loaded: likewise what they read.
        apart: indices that are said to be of different elements, if iterations are run.
    """

    before: list[str]
    fixed: set[str] = field(default_factory=set)
    offsets: dict[str, Number] = field(default_factory=dict)
    conditions: list[Number] = field(default_factory=list)
    spans: dict[tuple[str, str], tuple[Number, Number]] = field(default_factory=dict)
    exits: int = 0
    loads: int = 0
    blind: tuple[str, str, bool] | None = None
    doubts: int = 0
    carries: bool = False
    at_once: bool = False
    gathered: int = 0
    noted: list[Number] = field(default_factory=list)
    doubted: list[Number] = field(default_factory=list)
    later: dict[Any, Number] = field(default_factory=dict)
    stores: list[Access] = field(default_factory=list)
    loaded: list[Access] = field(default_factory=list)
    apart: list[tuple[tuple[Number, ...], tuple[Number, ...]]] = field(default_factory=list)


class Hoisting(Knowing):
    """See `autograph.runtime.graph.operands.Emitter`.

    Attributes:
        chunk: the iterations that are being emitted.
        always: whether what is emitted happens in each of them.
        bounded: whether sums do not overflow, as has been looked at before the iterations.
    """

    def __init__(self, name: str, leave: Callable[[], str]) -> None:
        self.chunk: Chunk | None = None
        self.always = self.bounded = False
        self._entered: set[str] = set()       # what is known when the function begins
        super().__init__(name, leave)

    def mark(self) -> Any:
        chunk = self.chunk
        copy = chunk and replace(
            chunk, fixed=set(chunk.fixed), offsets=dict(chunk.offsets), conditions=list(chunk.conditions),
            spans=dict(chunk.spans), later=dict(chunk.later), stores=list(chunk.stores), loaded=list(chunk.loaded),
            noted=list(chunk.noted), doubted=list(chunk.doubted),
        )  # fmt: skip
        return super().mark(), copy, len(chunk.before) if chunk else 0

    def reset(self, mark: Any) -> None:
        before, self.chunk, size = mark
        if self.chunk is not None:
            del self.chunk.before[size:]
        super().reset(before)

    def _emit(self, text: str) -> str:
        found = super()._emit(text)
        if self._now is self._entry:
            self._entered.add(found)
        elif self.chunk is not None and self._now is self.chunk.before:
            self.chunk.fixed.add(found)
        return found

    def begin_chunk(self) -> Chunk:
        """From now on, emit iterations. What is before them goes where the emitter is."""
        self.chunk = Chunk(self._now)
        return self.chunk

    def is_fixed(self, a: Number) -> bool:
        """Whether a number does not change during the iterations."""
        if a.known is not None or not a.ref.startswith("%") or a.ref in self._entered:
            return True
        return self.chunk is not None and a.ref in self.chunk.fixed

    def _at_best(self, *args: Number) -> Any:
        """What is emitted meanwhile, of such numbers, is computed before the iterations if it can be."""
        return self.before_iterations() if self.chunk is not None and all(map(self.is_fixed, args)) else nullcontext()

    @contextmanager
    def before_iterations(self) -> Iterator[None]:
        assert self.chunk is not None
        now, self._now = self._now, self.chunk.before
        yield
        self._now = now

    # Leaving ----------------------------------------------------------------------------------------------------------

    def leave_if(self, condition: Number) -> None:
        if self.chunk is not None and condition.known is None and self.is_fixed(condition):
            self.chunk.conditions.append(condition)
            return
        if self.chunk is not None and condition.known in (None, True):
            self.chunk.exits += 1
        super().leave_if(condition)

    def leave_if_warned(self, found: Number, *args: Number) -> None:
        if self.chunk is not None and found.type.kind != "python" and self.is_fixed(found) and not self.fast:
            self.underflows = True
            self.leave_if(self._is_strange(found))
        else:
            super().leave_if_warned(found, *args)

    def _is_strange(self, x: Number) -> Number:
        with self._at_best(x):
            return super()._is_strange(x)

    def place(self, index: Number, length: Number) -> Number:
        chunk, known = self.chunk, self.found.get((index.ref, length.ref))
        if chunk is None or known is not None or not self.is_fixed(length):
            return super().place(index, length)
        offset = chunk.offsets.get(index.ref)
        if offset is not None and self.always:
            chunk.spans[offset.ref, length.ref] = offset, length
            known = index
        elif self.is_fixed(index):
            with self.before_iterations():
                negative = self.compare("lt", index, self.constant(0, INT))
                known = index
                if negative.known is None or negative.known:
                    known = self.select(negative, self.integer("add", index, length), index)
                self.leave_if(self._outside(known, length))
        else:
            return super().place(index, length)
        self.found[index.ref, length.ref] = known
        return known

    def load(self, x: Array, index: Sequence[Number]) -> Number | Complex:
        if self.chunk is not None:
            self.chunk.loads += 1
        return super().load(x, index)

    # Numbers ----------------------------------------------------------------------------------------------------------

    def integer(self, name: str, a: Number, b: Number) -> Number:
        with self._at_best(a, b) if name in _HOISTED else nullcontext():
            return super().integer(name, a, b)

    def overflowing(self, name: str, a: Number, b: Number) -> tuple[Number, Number]:
        if self.chunk is not None and name in ("add", "sub") and a.type == INT:
            one, other = (b, a) if name == "add" and b.ref in self.chunk.offsets else (a, b)
            moved = self._moved(self.chunk, name, one, other)
            if moved is not None:
                return moved, self.constant(False, BOOL)
        if self.bounded and name in ("add", "sub"):
            return self.integer(name, a, b), self.constant(False, BOOL)
        with self._at_best(a, b):
            return super().overflowing(name, a, b)

    def _moved(self, chunk: Chunk, name: str, a: Number, b: Number) -> Number | None:
        """An index that goes with the items, moved by what does not change; None if it is something else."""
        offset = chunk.offsets.get(a.ref)
        if offset is None or not self.is_fixed(b):
            return None
        if offset.known is not None and b.known is not None:
            known = int(offset.known) + int(b.known) * (1 if name == "add" else -1)
            if abs(known) > OFFSET:
                return None
            offset = self.constant(known, INT)
        else:
            with self.before_iterations():
                offset, overflow = super().overflowing(name, offset, b)
                self.leave_if(overflow)
                self.leave_if_far(offset, OFFSET)
        found = super().integer(name, a, b)
        low, high = reach(name, self.bounds(a), self.bounds(b))
        self.bound(found.ref, int(max(low, -RANGE - OFFSET)), int(min(high, RANGE + OFFSET)))
        chunk.offsets[found.ref] = offset
        return found

    def leave_if_far(self, a: Number, by: int) -> None:
        self.leave_if(self.compare("gt", a, self.constant(by, INT)))
        self.leave_if(self.compare("lt", a, self.constant(-by, INT)))

    def floating(self, name: str, a: Number, b: Number) -> Number:
        with self._at_best(a, b) if name != "rem" else nullcontext():
            return super().floating(name, a, b)

    def negative(self, a: Number) -> Number:
        with self._at_best(a):
            return super().negative(a)

    def function(self, name: str, *args: Number) -> Number:
        with self._at_best(*args):
            return super().function(name, *args)

    def compare(self, name: str, a: Number, b: Number) -> Number:
        with self._at_best(a, b):
            return super().compare(name, a, b)

    def convert(self, a: Number, type: TensorType) -> Number:
        rounds = a.type.dtype.kind == "f" and type.dtype.kind != "f"        # what does not fit is poison
        with nullcontext() if rounds else self._at_best(a):
            return super().convert(a, type)

    def select(self, condition: Number, a: Number, b: Number) -> Number:
        with self._at_best(condition, a, b):
            return super().select(condition, a, b)
