"""The emitter: makes LLVM's assembly, as text, of the operations that lowerings ask for.

Numbers are LLVM's `iN`, `float` and `double`; Booleans are `i1` in registers. Floats are IEEE's: no operation is marked
as fast, so LLVM neither reorders nor fuses them, unless `fastmath=True` says so. That there are no infinities and NaNs
is never said: LLVM might do anything with those that there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from autograph.common.cpython_internals import CLASS, ITEMS, VALUE
from autograph.runtime.engines.native.llvm.cpython_abi import Count, declaration, llvm_type
from autograph.runtime.engines.native.llvm.function_builder import Memory
from autograph.runtime.engines.native.llvm.interrupts import CALLED, LOOK, give_way, signals
from autograph.runtime.engines.native.llvm.syntax import (
    FLOATING,
    INTEGER,
    ORDERED,
    SIGNED,
    UNSIGNED,
    conversion,
    literal,
)
from autograph.runtime.graph.operands import Array, Complex, NoLowering, Number
from autograph.runtime.graph.types import BOOL, INT, TensorType, part_of, scalar
from autograph.runtime.ops.native.complex_numbers import part_type

POLL = 1 << 16      # iterations from one look at signals to the next
FAST = "reassoc nsz arcp contract "     # sums in another order, multiplied and added at once, x / y as x * (1 / y)


class Poll(NamedTuple):
    """A look at signals.

    Attributes:
        head: of the loop from which the code could begin there.
        look: the block in which it looks.
        stop, on: where it goes then: if there was one, and if there was none.
        last: the block that is the last of it.
    """

    head: str
    look: str
    stop: str
    on: str
    last: str


class Emitter(Memory):
    """One function under construction, see `autograph.runtime.graph.operands.Emitter`.

    Attributes:
        leave: gives the block to go to in order to leave from where the emitter is.
        fast: whether floats need not be IEEE's to the last bit, nor looked at for what NumPy warns of.
        polls: the looks at signals.
        underflows: whether NumPy may have to be asked whether it tells of underflows, which the code does not look for.
    """

    def __init__(self, name: str, leave: Callable[[], str]) -> None:
        super().__init__()
        self.name = name
        self.leave = leave
        self.underflows = self.fast = False
        self.polls: list[Poll] = []
        self._given = 0     # how many arguments the calls of the code have, at most
        self._watched: dict[str, list[tuple[Number, tuple[Number, ...]]]] = {}      # see `leave_if_warned`
        self._metadata: list[str] = []
        self._linear: set[str] = set()      # what has come of sums and products

    @property
    def text(self) -> str:
        """The function."""
        return self.written(["  br label %start"])

    def written(
        self, begin: Sequence[str], others: Mapping[str, Sequence[str]] = MappingProxyType({}), end: Sequence[str] = ()
    ) -> str:
        """The function, if it begins and ends with these lines, and some blocks have others."""
        parts = [*sorted(self.declared), f"define i64 @{self.name}(ptr %frame, ptr %table) {{", "entry:"]
        parts += [f"  %given = alloca [{self._given} x ptr]", "  %overflow = alloca i32", *self._entry, *begin]
        for label, lines in self._lines.items():
            parts += [f"{label}:", *others.get(label, lines)]
        parts += [*end, "}", '!0 = !{!"branch_weights", i32 1, i32 1000000}', "!1 = !{}"]
        looks = [signals(self.place_of(give_way))] if self.polls else []
        return "\n".join([*parts, *self._metadata, *looks, ""])

    # Blocks -----------------------------------------------------------------------------------------------------------

    @property
    def here(self) -> str:
        """The block that the emitter is in."""
        return self._label

    def jump(self, label: str) -> None:
        self.settle()
        self._now.append(f"  br label %{label}")

    def branch(self, condition: Number, then: str, orelse: str, rarely: bool = False) -> None:
        self.settle()
        self._branch(condition, then, orelse, rarely)

    def _branch(self, condition: Number, then: str, orelse: str, rarely: bool = False) -> None:
        weights = ", !prof !0" if rarely else ""
        self._now.append(f"  br i1 {condition.ref}, label %{then}, label %{orelse}{weights}")

    def finish(self, number: int) -> None:
        """Give back the number of an exit."""
        self.settle()
        self._now.append(f"  ret i64 {number}")

    def leave_if(self, condition: Number) -> None:
        if condition.known is not None and not condition.known:
            return
        on = self.label("on")
        self._branch(condition, self.leave(), on, rarely=True)
        self.begin(on)

    def doubt_if(self, condition: Number) -> None:
        self.leave_if(condition)

    def demand(self, condition: str) -> None:
        self.leave_if(Number(BOOL, self._emit(f"xor i1 {condition}, true")))

    @contextmanager
    def rarely(self, condition: Number) -> Iterator[None]:
        """What is emitted meanwhile runs only if a condition holds, which it rarely does."""
        inside, on = self.label("rare"), self.label("on")
        self._branch(condition, inside, on, rarely=True)
        self.begin(inside)
        yield
        self._now.append(f"  br label %{on}")
        self.begin(on)

    def mark(self) -> Any:
        """Where the emitter is, for `reset`."""
        return self._label, self._now, len(self._now), len(self._lines), dict(self._watched)

    def reset(self, mark: Any) -> None:
        """Forget what has been emitted since."""
        self._label, self._now, size, labels, self._watched = mark
        del self._now[size:]
        for label in list(self._lines)[labels:]:
            del self._lines[label]
        self.polls = [poll for poll in self.polls if poll.last in self._lines]

    # Warnings ---------------------------------------------------------------------------------------------------------

    def leave_if_warned(self, found: Number, *args: Number) -> None:
        """Infinities and NaNs go through sums and products, so only what comes out of several has to be looked at."""
        if found.type.kind == "python" or self.fast:
            return
        self.underflows = True
        through = [self._watched.pop(arg.ref, []) for arg in args] if found.ref in self._linear else []
        self._watched[found.ref] = [*(each for one in through for each in one), (found, args)]

    def settle(self) -> None:
        """Look at all that has not been looked at: before anything else happens than computing."""
        watched, self._watched = self._watched, {}
        for checks in watched.values():
            last = checks[-1][0]
            with self.rarely(self._is_strange(last)):
                for found, args in checks:
                    self._leave_if_strange(found, args)

    def _is_strange(self, x: Number) -> Number:
        return Number(BOOL, self._emit(f"xor i1 {self._is_finite(x).ref}, true"))

    def _is_finite(self, x: Number) -> Number:
        return self.compare("lt", self.function("fabs", x), self.constant(float("inf"), x.type))

    def _leave_if_strange(self, found: Number, args: Sequence[Number]) -> None:
        overflow, invalid = self._is_strange(found), self.compare("ne", found, found)
        for arg in args:
            overflow = self.integer("and", overflow, self._is_finite(arg))
            invalid = self.integer("and", invalid, self.compare("eq", arg, arg))
        self.leave_if(self.integer("or", overflow, invalid))

    # Numbers ----------------------------------------------------------------------------------------------------------

    def constant(self, value: Any, type: TensorType) -> Number:
        known = value if isinstance(value, (bool, int, float)) else value.item()
        return Number(type, literal(value, type.dtype), known)

    def integer(self, name: str, a: Number, b: Number) -> Number:
        table = UNSIGNED if a.type.dtype.kind in "ub" else SIGNED
        instruction = INTEGER.get(name) or table[name]
        return Number(a.type, self._emit(f"{instruction} {llvm_type(a.type.dtype)} {a.ref}, {b.ref}"))

    def overflowing(self, name: str, a: Number, b: Number) -> tuple[Number, Number]:
        if name == "shl":
            found = self.integer("shl", a, b)
            return found, self.compare("ne", self.integer("shr", found, b), a)
        kind = llvm_type(a.type.dtype)
        function = f"@llvm.{'u' if a.type.dtype.kind == 'u' else 's'}{name}.with.overflow.{kind}"
        both = f"{{ {kind}, i1 }}"
        self.declared.add(f"declare {both} {function}({kind}, {kind})")
        pair = self._emit(f"call {both} {function}({kind} {a.ref}, {kind} {b.ref})")
        parts = [self._emit(f"extractvalue {both} {pair}, {place}") for place in (0, 1)]
        return Number(a.type, parts[0]), Number(BOOL, parts[1])

    def floating(self, name: str, a: Number, b: Number) -> Number:
        how = FAST if self.fast and name != "rem" else ""
        found = self._emit(f"{FLOATING[name]} {how}{llvm_type(a.type.dtype)} {a.ref}, {b.ref}")
        if name in ("add", "sub", "mul"):
            self._linear.add(found)
        return Number(a.type, found)

    def negative(self, a: Number) -> Number:
        return Number(a.type, self._emit(f"fneg {llvm_type(a.type.dtype)} {a.ref}"))

    def function(self, name: str, *args: Number) -> Number:
        kind = llvm_type(args[0].type.dtype)
        function = f"@llvm.{name}.f{8 * args[0].type.dtype.itemsize}"
        self.declared.add(f"declare {kind} {function}({', '.join([kind] * len(args))})")
        given = ", ".join(f"{kind} {arg.ref}" for arg in args)
        return Number(args[0].type, self._emit(f"call {kind} {function}({given})"))

    def library(self, name: str, *args: Number) -> Number:
        raise NoLowering

    def ufunc(self, ufunc: np.ufunc, type: TensorType, *args: Number) -> Number:
        raise NoLowering

    def compare(self, name: str, a: Number, b: Number) -> Number:
        kind = a.type.dtype.kind
        if kind == "b" and name in ("eq", "ne") and b.known == (name == "eq"):
            return Number(BOOL, a.ref, a.known)
        if kind == "f":
            how = f"fcmp {ORDERED[name]}"
        else:
            how = f"icmp {name if name in ('eq', 'ne') else ('s' if kind == 'i' else 'u') + name}"
        return Number(BOOL, self._emit(f"{how} {llvm_type(a.type.dtype)} {a.ref}, {b.ref}"))

    def convert(self, a: Number, type: TensorType) -> Number:
        before, after = a.type.dtype, type.dtype
        how = conversion(before, after)
        if not how:
            return Number(type, a.ref, a.known)
        self.underflows |= how == "fptrunc"
        return Number(type, self._emit(f"{how} {llvm_type(before)} {a.ref} to {llvm_type(after)}"))

    def select(self, condition: Number, a: Number, b: Number) -> Number:
        kind = llvm_type(a.type.dtype)
        chosen = f"select i1 {condition.ref}, {kind} {a.ref}, {kind} {b.ref}, !unpredictable !1"
        return Number(a.type, self._emit(chosen))

    # Arrays -----------------------------------------------------------------------------------------------------------

    def length(self, x: Array, axis: int) -> Number:
        return Number(INT, self._fact(x, f"shape{axis}"))

    def load(self, x: Array, index: Sequence[Number]) -> Number | Complex:
        element = self._element(x, index)
        if x.dtype.kind != "c":
            return Number(scalar(x.dtype), self.memory(element, x.dtype))
        part = part_of(x.dtype)
        real, imag = (Number(scalar(part), self.memory(each, part)) for each in self._parts_at(element, part))
        return Complex(scalar(x.dtype), (real, imag))

    def store(self, x: Array, index: Sequence[Number], value: Number | Complex) -> None:
        self.settle()
        element = self._element(x, index)
        if isinstance(value, Number):
            self._to_memory(element, x.dtype, value.ref)
            return
        part = part_of(x.dtype)
        for pointer, each in zip(self._parts_at(element, part), value.parts):
            self._to_memory(pointer, part, each.ref)

    def _parts_at(self, element: str, part: np.dtype[Any]) -> tuple[str, str]:
        """Where the parts of a complex element are."""
        return element, f"ptr {self._emit(f'getelementptr i8, {element}, i64 {part.itemsize}')}"

    def _element(self, x: Array, index: Sequence[Number]) -> str:
        data = self._fact(x, "data")
        if x.contiguous:
            place = index[0]
            for axis, each in enumerate(index[1:], 1):
                place = self.integer("add", self.integer("mul", place, self.length(x, axis)), each)
            kind = "i8" if x.dtype.kind == "b" else llvm_type(x.dtype)
            return f"ptr {self._emit(f'getelementptr {kind}, ptr {data}, i64 {place.ref}')}"
        offset = self.constant(0, INT)
        for axis, each in enumerate(index):
            step = Number(INT, self._fact(x, f"stride{axis}"))
            offset = self.integer("add", offset, self.integer("mul", each, step))
        return f"ptr {self._emit(f'getelementptr i8, ptr {data}, i64 {offset.ref}')}"

    # Objects ----------------------------------------------------------------------------------------------------------

    def demand_unchanged(self, x: Array) -> None:
        """Leave if an array has other facts than when they were read."""
        thing = self.array_object(x)
        self.demand_array(thing, x.dtype, x.ndim, x.flags, x.flags)
        names = ["data", *(f"{field}{axis}" for field in ("shape", "stride") for axis in range(x.ndim))]
        for name, fact in zip(names, self.array_like(thing, x).facts):
            self.demand(self._emit(f"icmp eq {'ptr' if name == 'data' else 'i64'} {fact}, {self._fact(x, name)}"))

    def number(self, thing: str, type: TensorType) -> Number | Complex:
        """The number that an object is; leave if it is none of that type."""
        if type.dtype.kind == "c":
            part = part_type(type)
            real, imag = (Number(part, ref) for ref in self.parts_in(thing, type))
            return Complex(type, (real, imag))
        found = self.number_in(thing, type)
        return Number(type, self._emit(f"icmp ne i8 {found}, 0") if type.dtype.kind == "b" else found)

    def now_and_then(self, count: Count, every: int, one: object, other: object) -> str:
        """Count, and choose one of two objects, every so many times, or else the other."""
        place = self._emit(f"getelementptr i8, ptr {self.address(count)}, i64 {ITEMS}")
        before = self._emit(f"load i64, ptr {place}")
        self._do(f"  store i64 {self._emit(f'add i64 {before}, 1')}, ptr {place}")
        now = self._emit(f"icmp eq i64 {self._emit(f'urem i64 {before}, {every}')}, 0")
        return self._emit(f"select i1 {now}, ptr {self.address(one)}, ptr {self.address(other)}")

    def call(self, function: str, args: Sequence[str]) -> str:
        """Call a function of Python's. Gives a new reference, or null for an exception."""
        self._given = max(self._given, len(args))
        for place, arg in enumerate(args):
            self._do(f"  store ptr {arg}, ptr {self._emit(f'getelementptr ptr, ptr %given, i64 {place}')}")
        return self.python("PyObject_VectorcallDict", function, "%given", str(len(args)), "null")

    def is_null(self, thing: str) -> Number:
        return Number(BOOL, self._emit(f"icmp eq ptr {thing}, null"))

    def is_of_class(self, thing: str, kind: type) -> Number:
        return Number(BOOL, self._emit(f"icmp eq ptr {self._load('ptr', thing, CLASS)}, {self.address(kind)}"))

    def has_size(self, thing: str, size: int) -> Number:
        """Whether a tuple has so many items."""
        return Number(BOOL, self._emit(f"icmp eq i64 {self._load('i64', thing, VALUE)}, {size}"))

    def take_exception(self) -> str:
        """A new reference to the exception that there is; there is none any more."""
        places = [self._cell(("exception", part), "ptr") for part in range(3)]
        self.python("PyErr_Fetch", *places)
        self.python("PyErr_NormalizeException", *places)
        kind, error, trace = (self._emit(f"load ptr, ptr {place}") for place in places)
        known = self._emit(f"select i1 {self.is_null(trace).ref}, ptr {self.address(None)}, ptr {trace}")
        self.python("PyException_SetTraceback", error, known)
        self.forget(kind)
        self.forget(trace)
        return error

    # Interrupts -------------------------------------------------------------------------------------------------------

    def poll(
        self, iterations: str, stop: Callable[[], None], head: str, besides: Callable[[], None] | None = None
    ) -> None:
        """Of so many iterations: every `POLL` iterations, let others run, and stop if a signal has raised an exception.

        Args:
            head: of the loop. Everything that has happened since may as well happen again.
            besides: what else is to be done then.
        """
        self.settle()
        before = self.kept("polls", INT.dtype)
        left = self._emit(f"sub i64 {before}, {iterations}")
        self.keep("polls", INT.dtype, left)
        due = f"icmp eq i64 {before}, 0" if iterations == "1" else f"icmp slt i64 {left}, 0"
        with self.rarely(Number(BOOL, self._emit(due))):
            self.keep("polls", INT.dtype, str(POLL))
            look = self._onwards("look")
            self.declared.update(map(declaration, CALLED))
            end, on = self.stop_if(Number(BOOL, self._emit(f"icmp ne i32 {self._emit(LOOK)}, 0")), stop)
            if besides is not None:
                besides()
                self._onwards("on")
            self.polls.append(Poll(head, look, end, on, self._label))

    def _onwards(self, hint: str) -> str:
        """Go on in a new block, and give its name."""
        label = self.label(hint)
        self._now.append(f"  br label %{label}")
        self.begin(label)
        return label

    def stop_if(self, condition: Number, stop: Callable[[], None]) -> tuple[str, str]:
        """End as `stop` does if a condition holds. Gives the blocks in which it does, and does not."""
        end, on = self.label("stop"), self.label("on")
        self._branch(condition, end, on, rarely=True)
        self.begin(end)
        stop()
        self.begin(on)
        return end, on

    def counted(self, a: str, b: str) -> str:
        """`a + b`, of what counts the iterations of a loop, which does not overflow."""
        return self._emit(f"add nsw i64 {a}, {b}")

    def spend(self, address: int) -> None:
        """Count the integer at an address down, and leave when it comes to zero."""
        pointer = f"ptr inttoptr (i64 {address} to ptr)"
        left = self._emit(f"sub i64 {self._emit(f'load i64, {pointer}')}, 1")
        self._now.append(f"  store i64 {left}, {pointer}")
        self.leave_if(Number(BOOL, self._emit(f"icmp eq i64 {left}, 0")))

    def start(self) -> None:
        """Begin the function."""
        self.begin("start")
        self.keep("polls", INT.dtype, str(POLL))
