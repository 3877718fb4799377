"""The emitter that does several iterations of a loop at once, and looks at the results before they go into memory.

Iterations that are to be run blindly (see `speculation`), that hinge on no iteration before, and that write elements
which lie side by side, are done as vectors: 16 numbers of eight bytes, then 4. Only when all of them are as they should
be are they stored; else nothing has happened yet, and the code that looks at everything at its time takes over. So
there is no log to be kept, and nothing to be undone. Iterations that are left over at the end are run by that code,
too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from autograph.runtime.engines.native.emit.guard_hoisting import Access, Chunk
from autograph.runtime.engines.native.emit.speculation import DOUBT, EXPONENTS, STRANGE, Watching
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.llvm.function_builder import Origin
from autograph.runtime.graph.operands import Number
from autograph.runtime.graph.types import BOOL, INT

SIZES = (128, 32)       # bytes of the widest numbers, of as many iterations as are done at once
REGISTER = 32           # bytes of a vector that is looked at
_SSE = 0xD              # `FLAGS` of processors that store theirs by one instruction
_PLAIN = frozenset("fadd fsub fmul fdiv fneg add sub mul and or xor shl lshr ashr icmp fcmp select bitcast".split())
_PLAIN |= frozenset("zext sext trunc fpext fptrunc sitofp uitofp fptosi fptoui".split())
_CALL = re.compile(r"call (?:float|double) @llvm\.\w+\.f\d+\(")
_TOKEN = re.compile(
    r"\b(?P<kind>i\d+|float|double)\b|(?P<name>@llvm\.\w+)\.f"
    r"|(?P<ref>%[\w.]+|\b0x[0-9A-F]+|-?\b\d+\b|\btrue\b|\bfalse\b)"
)
_STORE = re.compile(r"  store (\S+) (\S+), ptr (\S+?)(?:, align \d+)?$")
_LOAD = re.compile(r"load (\S+), ptr \S+?(, align \d+)?$")


class _Scalar(Exception):
    """Iterations cannot be done at once."""


@dataclass(slots=True)
class _Iteration:
    """An iteration as it has been emitted.

    Attributes:
        code: the instruction that gives a number.
        read: the elements that it reads, by what is made of them.
        width: bytes of the widest number that it reads or writes.
    """

    chunk: Chunk
    code: dict[str, str]
    read: dict[str, Access]
    width: int


class Lanes(Watching):
    """See `autograph.runtime.graph.operands.Emitter`."""

    def lanes(self, chunk: Chunk, node: Any, head: str, body: str, slow: str, edge: str) -> bool:
        """Emit iterations that are done at once, in the place of others. Gives whether they can be.

        Args:
            node: the loop.
            head: the block that loads the item and the end, and compares the two.
            body: the block that follows it, if there is another iteration.
            slow: where iterations are run that look at everything.
            edge: where it is looked whether there are more iterations.
        """
        mark = self.mark()
        try:
            iteration = self._iteration(chunk, node, head, body)
            *begin, rest, again = (self.label(name) for name in (*["lanes"] * len(SIZES), "rest", "again"))
            item, end = (line.partition(" = ")[2] for line in self._lines[head][1:3])
            for size, label, fewer in zip(SIZES, begin, (*begin[1:], rest)):
                self._at_once(iteration, max(1, size // iteration.width), (item, end), label, fewer, again, node)
        except _Scalar:
            self.reset(mark)
            return False
        self.begin(again)
        self.declared |= {f"declare i32 @{name}(i32)" for name in ("fetestexcept", "feclearexcept")}
        self._emit(f"call i32 @feclearexcept(i32 {FLAGS})")
        self._now.append(f"  br label %{rest}")
        self.begin(rest)
        now, last = Number(INT, self._emit(item)), Number(INT, self._emit(end))
        self.keep((node, "limit"), INT.dtype, last.ref)
        self._branch(self.compare("lt", now, last), slow, edge)
        del self._lines[body]
        self._lines[head] = [f"  br label %{begin[0]}"]
        return True

    def _iteration(self, chunk: Chunk, node: Any, head: str, body: str) -> _Iteration:
        """What is known of an iteration, if it does nothing that cannot be done at once."""
        lines = [line for line in self._lines[body] if not isinstance(line, Origin)]
        if not SIZES or not lines[-1].startswith(f"  br label %{head}") or chunk.later:
            raise _Scalar
        item = [((node, ()), part) for part in range(3)]
        notes = [(DOUBT, "i64"), *((STRANGE[size], f"i{8 * size}") for size in STRANGE)]
        known = {self.cells.get(each) for each in (*((part, "i64") for part in item), *notes)}
        cells = [found[1] for line in lines if (found := re.search(r"^  store .*, ptr (%c\d+)$", line))]
        accesses = [*chunk.stores, *chunk.loaded]
        code = dict(line.strip().split(" = ", 1) for line in lines if " = " in line)
        read = {self._line(access).split()[0]: access for access in chunk.loaded}
        if not known.issuperset(cells) or not all(self._is_plain(chunk, code, *each[:2]) for each in accesses):
            raise _Scalar
        for stored in chunk.stores:
            if stored[1][-1].ref not in chunk.offsets or any(
                each[:2] == stored[:2] and each[2][1] > stored[2][1] for each in chunk.loaded
            ):
                raise _Scalar
        return _Iteration(chunk, code, read, max(each[0].dtype.itemsize for each in accesses))

    def _is_plain(self, chunk: Chunk, code: dict[str, str], x: Any, index: Sequence[Number]) -> bool:
        """Whether elements lie side by side, or are one and the same."""
        moving = [each.ref in chunk.offsets for each in index]
        fixed = all(each.ref not in code for each, moves in zip(index, moving) if not moves)
        return x.contiguous and x.dtype.kind != "c" and fixed and not any(moving[:-1])

    def _line(self, access: Access) -> str:
        lines, at = access[2]
        return lines[at]

    def _at_once(
        self, iteration: _Iteration, count: int, ends: tuple[str, str], begin: str, fewer: str, again: str, node: Any
    ) -> None:
        """Emit so many iterations that are done at once, as long as there are as many."""
        inside, odd, look, good = (self.label(name) for name in ("inside", "odd", "look", "good"))
        self.begin(begin)
        now, end = map(self._emit, ends)
        enough = self._emit(f"icmp slt i64 {now}, {self._emit(f'sub i64 {end}, {count - 1}')}")
        self._branch(Number(BOOL, enough), inside, fewer)
        self.begin(inside)
        lanes = _Lanes(self, iteration, now, count)
        stores = []
        for access in iteration.chunk.stores:
            found = _STORE.match(self._line(access))
            assert found is not None
            stores.append((lanes.element(access), found[1], lanes.of(found[2], found[1])))
        strange = [each for each in map(lanes.strange, STRANGE) if each]
        doubts = [lanes.any(lanes.of(each.ref, "i1"), count) for each in iteration.chunk.doubted]
        self._branch(self._either(doubts), again, look, rarely=True)
        self.begin(look)
        self._branch(self._either(strange), odd, good, rarely=True)
        self.begin(odd)
        self._branch(self._raised(), again, good)
        self.begin(good)
        for (element, kind, value), access in zip(stores, iteration.chunk.stores):
            self._do(f"  store <{count} x {kind}> {value}, {element}, align {access[0].dtype.itemsize}")
        self.keep(((node, ()), 0), INT.dtype, self._emit(f"add nsw i64 {now}, {count}"))
        self._now.append(f"  br label %{begin}")

    def _raised(self) -> Number:
        """Whether there are flags of what NumPy warns of."""
        if FLAGS == _SSE:       # vectors would not live through a call
            self.declared.add("declare void @llvm.x86.sse.stmxcsr(ptr)")
            place = self._cell("flags", "i32")
            self._do(f"  call void @llvm.x86.sse.stmxcsr(ptr {place})")
            raised = self._emit(f"and i32 {self._emit(f'load i32, ptr {place}')}, {FLAGS}")
        else:
            raised = self._emit(f"call i32 @fetestexcept(i32 {FLAGS})")
        return Number(BOOL, self._emit(f"icmp ne i32 {raised}, 0"))

    def _either(self, conditions: Sequence[str]) -> Number:
        found = self.constant(False, BOOL)
        for each in conditions:
            found = self.integer("or", found, Number(BOOL, each))
        return found

    def collide(self, chunk: Chunk, first: Number, limit: Number) -> Number:
        """Whether iterations done at once may read what another of them writes, or write what a later one does.

        All that is read is read before anything is written, and each store writes for all iterations.
        """
        found, iterations = self.constant(False, BOOL), self.integer("sub", limit, first)
        for place, stored in enumerate(chunk.stores):
            begin, size = self._address(chunk, stored, first), stored[0].dtype.itemsize
            length = self.integer("mul", iterations, self.constant(size, INT))
            for other in (*chunk.loaded, *chunk.stores[:place]):
                if other[:2] == stored[:2]:
                    continue
                at, width = self._address(chunk, other, first), other[0].dtype.itemsize
                if other[1][-1].ref not in chunk.offsets:
                    near = self._meet(begin, length, at, self.constant(width, INT))
                elif width != size:
                    near = self._meet(begin, length, at, self.integer("mul", iterations, self.constant(width, INT)))
                else:   # those ahead of what is written are read in time
                    same = 1 if other[2][1] < stored[2][1] else size
                    near = self._meet(at, self.constant(SIZES[0], INT), begin, self.constant(same, INT))
                found = self.integer("or", found, near)
        return found

    def _address(self, chunk: Chunk, access: Access, item: Number) -> Number:
        return Number(INT, self._emit(f"ptrtoint {self._moved_to(chunk, access, item)} to i64"))

    def _moved_to(self, chunk: Chunk, access: Access, item: Number) -> str:
        """Where an element is in the iteration of an item."""
        offsets = [chunk.offsets.get(each.ref) for each in access[1]]
        where = [each if by is None else self.integer("add", item, by) for each, by in zip(access[1], offsets)]
        return self._element(access[0], where)

    def _meet(self, begin: Number, length: Number, other: Number, width: Number) -> Number:
        """Whether bytes from an address on are among others."""
        one = self.constant(1, INT)
        width = self.integer("sub", width, one)
        off = self.integer("add", self.integer("sub", other, begin), width)
        return Number(BOOL, self._emit(f"icmp ult i64 {off.ref}, {self.integer('add', length, width).ref}"))


@dataclass(slots=True)
class _Lanes:
    """Iterations that are done at once.

    Attributes:
        now: the item of the first.
        found: the vectors that there are.
    """

    emit: Lanes
    iteration: _Iteration
    now: str
    count: int
    found: dict[tuple[str, str], str] = field(default_factory=dict)

    def element(self, access: Access) -> str:
        """Where the element of the first iteration is."""
        return self.emit._moved_to(self.iteration.chunk, access, Number(INT, self.now))

    def of(self, ref: str, kind: str) -> str:
        """What a number of an iteration is in all of them."""
        if (ref, kind) not in self.found:
            self.found[ref, kind] = self._made(ref, kind)
        return self.found[ref, kind]

    def _made(self, ref: str, kind: str) -> str:
        if not ref.startswith("%"):
            return self._listed([ref] * self.count, kind)
        offset, text = self.iteration.chunk.offsets.get(ref), self.iteration.code.get(ref)
        if offset is not None:
            first = self.emit.integer("add", Number(INT, self.now), offset).ref
            steps = self._listed(list(map(str, range(self.count))), kind)
            return self.emit._emit(f"add {self._type(kind)} {self._same(first, kind)}, {steps}")
        if text is None:
            return self._same(ref, kind)
        if ref in self.iteration.read:
            return self._loaded(self.iteration.read[ref], text)
        if text.split()[0] not in _PLAIN and not _CALL.match(text):
            raise _Scalar
        return self._done(text)

    def _done(self, text: str) -> str:
        """An instruction, of vectors."""
        kind = ""

        def replaced(found: re.Match[str]) -> str:
            nonlocal kind
            if found["name"]:
                return f"{found['name']}.v{self.count}f"
            if found["kind"]:
                kind = found["kind"]
                return self._type(kind)
            return self.of(found[0], kind)

        made = _TOKEN.sub(replaced, text.split(", !")[0])
        if made.startswith("call "):
            function, given = made.removeprefix("call ").split("(")
            kinds = ", ".join([self._type(kind)] * given.count("<"))
            self.emit.declared.add(f"declare {function}({kinds})")
        return self.emit._emit(made)

    def _loaded(self, access: Access, text: str) -> str:
        found = _LOAD.match(text)
        if found is None:
            raise _Scalar
        kind, element = found[1], self.element(access)
        if access[1][-1].ref in self.iteration.chunk.offsets:
            return self.emit._emit(f"load {self._type(kind)}, {element}, align {access[0].dtype.itemsize}")
        return self._same(self.emit._emit(f"load {kind}, {element}{found[2] or ''}"), kind)

    def _type(self, kind: str, count: int = 0) -> str:
        return f"<{count or self.count} x {kind}>"

    def _listed(self, parts: Sequence[str], kind: str) -> str:
        return f"<{', '.join(f'{kind} {part}' for part in parts)}>"

    def _same(self, ref: str, kind: str) -> str:
        """A number that is the same in all iterations."""
        vector = self._type(kind)
        one = self.emit._emit(f"insertelement {vector} poison, {kind} {ref}, i64 0")
        zeros = f"<{self.count} x i32> zeroinitializer"
        return self.emit._emit(f"shufflevector {vector} {one}, {vector} poison, {zeros}")

    def any(self, flags: str, count: int) -> str:
        """Whether one of some Booleans is true."""
        function = f"@llvm.vector.reduce.or.v{count}i1"
        self.emit.declared.add(f"declare i1 {function}({self._type('i1', count)})")
        return self.emit._emit(f"call i1 {function}({self._type('i1', count)} {flags})")

    def strange(self, size: int) -> str:
        """Whether there is an infinity or a NaN among floats of one size; nothing if there are none.

        Their sum is one, too. (If it is one by itself, the processor's flags tell of that: the iterations are run
        slowly.)
        """
        refs = [each.ref for each in self.iteration.chunk.noted if each.type.dtype.itemsize == size]
        if not refs:
            return ""
        emit, kind, bits = self.emit, {4: "float", 8: "double"}[size], f"i{8 * size}"
        total, *others = (self.of(ref, kind) for ref in dict.fromkeys(refs))
        for each in others:
            total = emit._emit(f"fadd {self._type(kind)} {total}, {each}")
        count = self.count
        while count % 2 == 0 and count * size > REGISTER:
            vector, count = self._type(kind, count), count // 2
            low, high = (self._listed(list(map(str, range(k, k + count))), "i32") for k in (0, count))
            how = f"shufflevector {vector} {total}, {vector} poison, <{count} x i32>"
            one, other = (emit._emit(f"{how} {half}") for half in (low, high))
            total = emit._emit(f"fadd {self._type(kind, count)} {one}, {other}")
        vector, limit = self._type(bits, count), EXPONENTS[size]
        masks = [self._listed([str(each)] * count, bits) for each in (limit, limit & -limit)]
        found = emit._emit(f"bitcast {self._type(kind, count)} {total} to {vector}")
        carried = emit._emit(f"add {vector} {emit._emit(f'and {vector} {found}, {masks[0]}')}, {masks[1]}")
        return self.any(emit._emit(f"icmp slt {vector} {carried}, zeroinitializer"), count)
