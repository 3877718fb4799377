"""The emitter that looks behind many iterations of a loop whether the code should have been left.

NumPy may warn of each operation on floats. Code that looks at each number before it goes into memory has an exit for
it, and no loop with exits becomes one over vectors. But the processor has flags for just what NumPy warns of. So
iterations that can be left for nothing else are run *blindly*, some hundred at a time, and what they overwrite goes
into a log. If there are flags behind them, or what else was doubtful, the log is written back, the last first, and the
same iterations are run again by the code that looks at everything at its time. Nobody sees memory meanwhile: the code
holds the GIL, and looks at signals only between such iterations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograph.runtime.engines.native.emit.guard_hoisting import Chunk, Hoisting
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.llvm.cpython_abi import llvm_type
from autograph.runtime.graph.operands import Array, Complex, Number
from autograph.runtime.graph.types import BOOL, INT, TensorType, scalar

BLIND = 512     # iterations at a time
STORES = 4      # of an iteration, at most
TRUST = 16      # how often iterations are run again in one call, after which none are run blindly any more
METADATA = 100_000  # metadata of loops and loads is numbered from here on
_ALIGNED = '!{!"llvm.loop.align", i32 32}'      # a loop of five instructions should lie in one line of the cache
_SHORT = '!{!"llvm.loop.interleave.count", i32 1}'
DOUBT, _TRUST, _BACK = "doubt", "trust", "back"        # cells
STRANGE = {4: "strange32", 8: "strange64"}             # likewise: negative if there are infinities or NaNs
EXPONENTS = {4: 0x7F80_0000, 8: 0x7FF0_0000_0000_0000}


class Watching(Hoisting):
    """See `autograph.runtime.graph.operands.Emitter`."""

    _guard: Number | None = None

    @contextmanager
    def only_if(self, condition: Number | None) -> Iterator[None]:
        """What is emitted meanwhile does not matter unless a condition holds; do not leave for it if there is one."""
        found, self._guard = dict(self.found), condition
        try:
            yield
        finally:
            self.found, self._guard = found, None

    def _guarded(self, condition: Number) -> Number:
        """With what only matters sometimes, not yet known where what all iterations share is computed."""
        early = self.chunk is not None and self._now is self.chunk.before
        if self._guard is None or (early and not self.is_fixed(self._guard)):
            return condition
        return self.integer("and", self._guard, condition)

    def leave_if(self, condition: Number) -> None:
        super().leave_if(self._guarded(condition))

    def begin_blind(self, first: str, now: str, down: bool) -> None:
        """From now on, emit iterations that run blindly, from an item on, up or down; this is that of one iteration."""
        assert self.chunk is not None
        iteration = self._emit(f"sub i64 {first}, {now}" if down else f"sub i64 {now}, {first}")
        self.chunk.blind = first, iteration, down

    @property
    def _is_blind(self) -> bool:
        return self.chunk is not None and self.chunk.blind is not None and self._now is not self.chunk.before

    def python(self, name: str, *args: str) -> str:
        """What Python does cannot be undone."""
        if self.chunk is not None and self._is_blind:
            self.chunk.exits += 1
        return super().python(name, *args)

    def ufunc(self, ufunc: np.ufunc, type: TensorType, *args: Number) -> Number:
        """NumPy's loops may take flags down."""
        if self.chunk is not None and self._is_blind:
            self.chunk.exits += 1
        return super().ufunc(ufunc, type, *args)

    def library(self, name: str, *args: Number) -> Number:
        """Nor is it known of the C library's functions that they do not."""
        if self.chunk is not None and self._is_blind:
            self.chunk.exits += 1
        return super().library(name, *args)

    def integer(self, name: str, a: Number, b: Number) -> Number:
        """What a number is between need not hold in iterations that will be undone; but nothing must trap."""
        if self.chunk is not None and self._is_blind:
            divides = name in ("div", "rem") and (a.type.dtype.kind == "i" or not self.is_fixed(b))
            shifts = name in ("shl", "shr") and not self.is_fixed(b)
            self.chunk.exits += (divides or shifts) and not (b.known or 0) > 0
        return super().integer(name, a, b)

    # Doubts -----------------------------------------------------------------------------------------------------------

    def doubt_if(self, condition: Number) -> None:
        if self.chunk is None or not self._is_blind or condition.known is not None or self.is_fixed(condition):
            self.leave_if(condition)
        else:
            self.chunk.doubts += 1
            self.chunk.doubted.append(self._guarded(condition))
            self._gather(DOUBT, self._emit(f"sext i1 {self.chunk.doubted[-1].ref} to i64"))

    def leave_if_warned(self, found: Number, *args: Number) -> None:
        if self.chunk is not None and self._is_blind and found.type.kind != "python" and not self.is_fixed(found):
            self.chunk.doubts += 1
        super().leave_if_warned(found, *args)

    def settle(self) -> None:
        """Numbers that are about to go into memory can be looked at behind the iterations."""
        if not self._is_blind:
            super().settle()

    def jump(self, label: str) -> None:
        self._look()
        super().jump(label)

    def branch(self, condition: Number, then: str, orelse: str, rarely: bool = False) -> None:
        self._look()
        super().branch(condition, then, orelse, rarely)

    def look_later(self, cell: Any, x: Number | Complex) -> None:
        """Look at a number behind the iterations only. It is in that cell then, and strange if it ever has been."""
        if self.chunk is not None and self._is_blind and isinstance(x, Number) and x.ref in self._watched:
            del self._watched[x.ref]
            self.chunk.later[cell] = x

    def _look(self) -> None:
        if self._is_blind:
            watched, self._watched = self._watched, {}
            for checks in watched.values():
                self._note(checks[-1][0])

    def _note(self, found: Number) -> None:
        """Note whether a number is infinite or none, for then all bits of the exponent are set."""
        if self.chunk is not None:
            self.chunk.noted.append(found)
        size = found.type.dtype.itemsize
        kind, exponent = f"i{8 * size}", EXPONENTS[size]
        bits = self._emit(f"bitcast {llvm_type(found.type.dtype)} {found.ref} to {kind}")
        carried = self._emit(f"add {kind} {self._emit(f'and {kind} {bits}, {exponent}')}, {exponent & -exponent}")
        self._gather(STRANGE[size], carried, size)

    def _gather(self, cell: str, bits: str, size: int = 8) -> None:
        if self.chunk is not None:
            self.chunk.gathered += 1
        dtype = np.dtype(f"i{size}")
        self.keep(cell, dtype, self._emit(f"or {llvm_type(dtype)} {self.kept(cell, dtype)}, {bits}"))

    # The log ----------------------------------------------------------------------------------------------------------

    def load(self, x: Array, index: Sequence[Number]) -> Number | Complex:
        found = super().load(x, index)
        if self.chunk is not None and self._is_blind:
            at = next(at for at in range(len(self._now) - 1, -1, -1) if " = load " in self._now[at])
            self.chunk.loaded.append((x, tuple(index), (self._now, at)))
        return found

    def store(self, x: Array, index: Sequence[Number], value: Number | Complex) -> None:
        chunk = self.chunk
        if chunk is not None and chunk.blind is not None:
            where = tuple(index)
            known = all(self.is_fixed(each) or each.ref in chunk.offsets for each in where)
            if not isinstance(value, Number) or not known or not self.always or len(chunk.stores) == STORES:
                chunk.exits += 1        # these iterations could not be undone
                return
            old = self.memory(self._element(x, where), _raw(x.dtype))
            self._to_memory(self._logged(len(chunk.stores), x, chunk.blind[1]), _raw(x.dtype), old)
        super().store(x, index, value)
        if chunk is not None and chunk.blind is not None:
            chunk.stores.append((x, tuple(index), (self._now, len(self._now) - 1)))

    def _logged(self, place: int, x: Array, iteration: str) -> str:
        """Where the log has what an iteration has overwritten."""
        kind = llvm_type(_raw(x.dtype))
        log = self._cell(("log", place), f"[{BLIND} x {kind}], align 64")
        return f"ptr {self._emit(f'getelementptr {kind}, ptr {log}, i64 {iteration}')}"

    def is_blind_of_use(self, chunk: Chunk) -> bool:
        """Whether iterations should be run blindly that have been emitted so, and can be."""
        if chunk.blind is None or chunk.exits or not chunk.doubts:
            return False
        if chunk.gathered if chunk.carries else not chunk.stores:
            return False
        down = chunk.blind[2]
        return not any(
            _comes_of(chunk, one[1], other[1], down)
            for one in chunk.stores
            for other in chunk.loaded
            if one[0] == other[0]
        )

    # What is read and written ---------------------------------------------------------------------------------------

    def tell_apart(self, chunk: Chunk) -> None:
        """Tell LLVM which elements that are read are none of those of the same array that are written.

        That they are not, is made sure before the iterations, see `meet`. LLVM would compare addresses there, and must
        read again and again what does not change.
        """
        if chunk.carries or chunk.blind is None or chunk.blind[2]:      # no vectors; or items that go down
            return
        for stored in (each for each in chunk.stores if each[0].contiguous):    # of others, all may be one
            apart = [each for each in chunk.loaded if each[0] == stored[0] and _may_be_apart(chunk, stored[1], each[1])]
            if not apart:
                continue
            scope = self.distinct(self.distinct())
            self.declared.add("declare void @llvm.experimental.noalias.scope.decl(metadata)")
            chunk.before.append(f"  call void @llvm.experimental.noalias.scope.decl(metadata !{{{scope}}})")
            for _, _, (lines, at) in (stored, *(each for each in chunk.loaded if each[:2] == stored[:2])):
                lines[at] += f", !alias.scope !{{{scope}}}"
            for _, _, (lines, at) in apart:
                lines[at] += f", !noalias !{{{scope}}}"
            chunk.apart += [(stored[1], each[1]) for each in apart]

    def meet(self, chunk: Chunk, first: Number, limit: Number) -> Number:
        """Whether, in iterations from an item up to another, elements that have been told apart may be the same."""
        found = self.constant(False, BOOL)
        for stored, loaded in chunk.apart:
            same = self.constant(True, BOOL)
            for one, other in zip(stored, loaded):
                offset = chunk.offsets.get(one.ref)
                if other.ref in chunk.offsets:
                    continue
                if offset is None:
                    same = self.integer("and", same, self.compare("eq", one, other))
                else:
                    iteration = self.integer("sub", other, self.integer("add", first, offset))
                    within = self._emit(f"icmp ult i64 {iteration.ref}, {self.integer('sub', limit, first).ref}")
                    same = self.integer("and", same, Number(BOOL, within))
            found = self.integer("or", found, same)
        return found

    def jump_back(self, label: str) -> None:
        """To the head of a loop that may well have few iterations: so vectors of several at a time are enough."""
        self.jump(label)
        self._now[-1] += f", !llvm.loop {self.distinct(_SHORT, _ALIGNED)}"

    def distinct(self, *items: str) -> str:
        """A new node of metadata, of which the first item is itself."""
        name = f"!{METADATA + len(self._metadata)}"
        self._metadata.append(f"{name} = distinct !{{{', '.join([name, *items])}}}")
        return name

    # Behind the iterations
    # -------------------------------------------------------------------------------------------------

    def before_blind(self, chunk: Chunk) -> None:
        """Begin some iterations."""
        with self._in_entry():
            self.keep(_TRUST, INT.dtype, str(TRUST))
        self.keep(DOUBT, INT.dtype, "0")
        for size, cell in STRANGE.items():
            self.keep(cell, np.dtype(f"i{size}"), "0")
        chunk.conditions.append(Number(BOOL, self._emit(f"icmp slt i64 {self.kept(_TRUST, INT.dtype)}, 0")))

    def look_behind(self, chunk: Chunk, now: str, good: str, again: str) -> None:
        """Go on behind iterations, up to an item; or undo them, and go where they are run by other code.

        Args:
            chunk: how they began, and what they have stored.
        """
        assert chunk.blind is not None
        first, _, down = chunk.blind
        look, flags, undo, back, step = (self.label(name) for name in ("look", "flags", "undo", "back", "step"))
        doubt = Number(INT, self.kept(DOUBT, INT.dtype))
        self._branch(self.compare("ne", doubt, self.constant(0, INT)), undo, look, rarely=True)
        self.begin(look)
        for cell, last in chunk.later.items():
            self._note(Number(last.type, self.kept(cell, last.type.dtype)))
        strange = self.constant(False, BOOL)
        for size, cell in STRANGE.items():
            bits = Number(scalar(f"i{size}"), self.kept(cell, np.dtype(f"i{size}")))
            strange = self.integer("or", strange, self.compare("lt", bits, self.constant(0, bits.type)))
        self._branch(strange, flags, good, rarely=True)
        self.begin(flags)
        self.declared |= {f"declare i32 @{name}(i32)" for name in ("fetestexcept", "feclearexcept")}
        raised = self._emit(f"call i32 @fetestexcept(i32 {FLAGS})")
        self._branch(Number(BOOL, self._emit(f"icmp ne i32 {raised}, 0")), undo, good)
        self.begin(undo)
        self._emit(f"call i32 @feclearexcept(i32 {FLAGS})")
        self.keep(_TRUST, INT.dtype, self._emit(f"sub i64 {self.kept(_TRUST, INT.dtype)}, 1"))
        self.keep(_BACK, INT.dtype, self._emit(f"sub i64 {first}, {now}" if down else f"sub i64 {now}, {first}"))
        self.jump(back)
        self.begin(back)
        left = self.kept(_BACK, INT.dtype)
        self._branch(Number(BOOL, self._emit(f"icmp sgt i64 {left}, 0")), step, again)
        self.begin(step)
        iteration = self._emit(f"sub i64 {left}, 1")
        item = Number(INT, self._emit(f"sub i64 {first}, {iteration}" if down else f"add i64 {first}, {iteration}"))
        for place, (x, index, _) in reversed(list(enumerate(chunk.stores))):
            offsets = [chunk.offsets.get(each.ref) for each in index]
            where = [each if by is None else self.integer("add", item, by) for each, by in zip(index, offsets)]
            old = self.memory(self._logged(place, x, iteration), _raw(x.dtype))
            self._to_memory(self._element(x, where), _raw(x.dtype), old)
        self.keep(_BACK, INT.dtype, iteration)
        self.jump(back)


def _may_be_apart(chunk: Chunk, stored: Sequence[Number], loaded: Sequence[Number]) -> bool:
    """Whether a dimension tells two elements apart: one in which the one that is read stays where it is."""
    pairs = [(one, other) for one, other in zip(stored, loaded) if other.ref not in chunk.offsets]
    return any(one.ref != other.ref for one, other in pairs)


def _raw(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """As what elements are copied: a Boolean may be any byte."""
    return np.dtype(np.uint8) if dtype.kind == "b" else dtype


def _comes_of(chunk: Chunk, stored: Sequence[Number], loaded: Sequence[Number], down: bool) -> bool:
    """Whether an iteration reads what one before has written, in the same array; then there are no vectors."""
    for one, other in zip(stored, loaded):
        if one.ref != other.ref:
            written, read = chunk.offsets.get(one.ref), chunk.offsets.get(other.ref)
            if written is None or read is None or written.known is None or read.known is None:
                return False
            if written.known == read.known or (written.known < read.known) != down:
                return False
    return stored != loaded
