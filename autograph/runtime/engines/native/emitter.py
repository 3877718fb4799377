"""The emitter: makes LLVM's assembly, as text, of the operations that lowerings ask for.

Numbers are LLVM's `iN`, `float` and `double`; Booleans are `i1` in registers and a byte in memory. A value that is
needed beyond its basic block is kept in a cell of the stack, for LLVM to make registers of. Floats are IEEE's: no
operation is marked as fast, so LLVM neither reorders nor fuses them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograph.runtime.engines.native.libm import PREFIX, is_pythons
from autograph.runtime.engines.native.objects import DATA, SHAPE, SLOT, STRIDES, Writer, llvm_type
from autograph.runtime.operands import Array, NoLowering, Number
from autograph.runtime.types import BOOL, INT, TensorType, scalar

POLL = 1 << 16      # turns from one look at signals to the next
_INTEGER = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor", "shl": "shl"}
_SIGNED = {"div": "sdiv", "rem": "srem", "shr": "ashr"}
_UNSIGNED = {"div": "udiv", "rem": "urem", "shr": "lshr"}
_FLOATING = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", "rem": "frem"}
_ORDERED = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une", "gt": "ogt", "ge": "oge"}


def literal(value: Any, dtype: np.dtype[Any]) -> str:
    """A constant."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind in "iu":
        return str(int(value))
    return f"0x{struct.pack('>d', float(dtype.type(value))).hex().upper()}"


class Emitter(Writer):
    """One function under construction, see `autograph.runtime.operands.Emitter`.

    Attributes:
        leave: gives the block to go to in order to leave from where the emitter is.
        underflows: whether NumPy may have to be asked whether it tells of underflows, which the code does not look for.
    """

    def __init__(self, name: str, leave: Callable[[], str]) -> None:
        super().__init__([], set(), "%table")
        self.name = name
        self.leave = leave
        self.underflows = False
        self._entry: list[str] = []
        self._lines: dict[str, list[str]] = {}
        self._label, self._now = "", list[str]()
        self._numbers = 0
        self._cells: dict[Any, str] = {}
        self._arrays: dict[Any, str] = {}
        self._watched: dict[str, list[tuple[Number, tuple[Number, ...]]]] = {}      # see `leave_if_warned`
        self._linear: set[str] = set()      # what has come of sums and products

    @property
    def text(self) -> str:
        """The function."""
        parts = [f"define i64 @{self.name}(ptr %frame, ptr %table) {{", "entry:", *self._entry]
        parts.append("  br label %start")
        for label, lines in self._lines.items():
            parts += [f"{label}:", *lines]
        return "\n".join([*parts, "}", '!0 = !{!"branch_weights", i32 1, i32 1000000}', "!1 = !{}", ""])

    # Blocks -----------------------------------------------------------------------------------------------------------

    def label(self, hint: str) -> str:
        """A name for a new block."""
        self._numbers += 1
        return f"{hint}{self._numbers}"

    def begin(self, label: str) -> None:
        """Go on in a new block."""
        self._label, self._now = label, self._lines.setdefault(label, [])

    def jump(self, label: str) -> None:
        self.settle()
        self._now.append(f"  br label %{label}")

    def branch(self, condition: Number, then: str, orelse: str) -> None:
        self.settle()
        self._branch(condition, then, orelse)

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

    def _emit(self, text: str) -> str:
        self._numbers += 1
        self._now.append(f"  %t{self._numbers} = {text}")
        return f"%t{self._numbers}"

    def _do(self, *lines: str) -> None:
        self._now += lines

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

    # Warnings ---------------------------------------------------------------------------------------------------------

    def leave_if_warned(self, found: Number, *args: Number) -> None:
        """Infinities and NaNs go through sums and products, so only what comes out of several has to be looked at."""
        if found.type.kind == "python":
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
        table = _UNSIGNED if a.type.dtype.kind in "ub" else _SIGNED
        instruction = _INTEGER.get(name) or table[name]
        return Number(a.type, self._emit(f"{instruction} {llvm_type(a.type.dtype)} {a.ref}, {b.ref}"))

    def overflowing(self, name: str, a: Number, b: Number) -> tuple[Number, Number]:
        kind = llvm_type(a.type.dtype)
        function = f"@llvm.{'u' if a.type.dtype.kind == 'u' else 's'}{name}.with.overflow.{kind}"
        both = f"{{ {kind}, i1 }}"
        self.declared.add(f"declare {both} {function}({kind}, {kind})")
        pair = self._emit(f"call {both} {function}({kind} {a.ref}, {kind} {b.ref})")
        parts = [self._emit(f"extractvalue {both} {pair}, {place}") for place in (0, 1)]
        return Number(a.type, parts[0]), Number(BOOL, parts[1])

    def floating(self, name: str, a: Number, b: Number) -> Number:
        found = self._emit(f"{_FLOATING[name]} {llvm_type(a.type.dtype)} {a.ref}, {b.ref}")
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
        if not is_pythons(name):
            raise NoLowering
        self.declared.add(f"declare double @{PREFIX}{name}({', '.join(['double'] * len(args))})")
        given = ", ".join(f"double {arg.ref}" for arg in args)
        return Number(args[0].type, self._emit(f"call double @{PREFIX}{name}({given})"))

    def compare(self, name: str, a: Number, b: Number) -> Number:
        kind = a.type.dtype.kind
        if kind == "f":
            how = f"fcmp {_ORDERED[name]}"
        else:
            how = f"icmp {name if name in ('eq', 'ne') else ('s' if kind == 'i' else 'u') + name}"
        return Number(BOOL, self._emit(f"{how} {llvm_type(a.type.dtype)} {a.ref}, {b.ref}"))

    def convert(self, a: Number, type: TensorType) -> Number:
        before, after = a.type.dtype, type.dtype
        how = _conversion(before, after)
        if not how:
            return Number(type, a.ref, a.known)
        self.underflows |= how == "fptrunc"
        return Number(type, self._emit(f"{how} {llvm_type(before)} {a.ref} to {llvm_type(after)}"))

    def select(self, condition: Number, a: Number, b: Number) -> Number:
        kind = llvm_type(a.type.dtype)
        chosen = f"select i1 {condition.ref}, {kind} {a.ref}, {kind} {b.ref}, !unpredictable !1"
        return Number(a.type, self._emit(chosen))

    # Cells ------------------------------------------------------------------------------------------------------------

    def keep(self, key: Any, dtype: np.dtype[Any], ref: str) -> None:
        """Put a number into the cell of that key."""
        kind = llvm_type(dtype)
        self._now.append(f"  store {kind} {ref}, ptr {self._cell(key, kind)}")

    def kept(self, key: Any, dtype: np.dtype[Any]) -> str:
        """What is in the cell of that key."""
        kind = llvm_type(dtype)
        return self._emit(f"load {kind}, ptr {self._cell(key, kind)}")

    def _cell(self, key: Any, kind: str) -> str:
        known = self._cells.get((key, kind))
        if known is None:
            known = self._cells[key, kind] = f"%c{len(self._cells)}"
            self._entry.append(f"  {known} = alloca {kind}")
        return known

    # The frame --------------------------------------------------------------------------------------------------------

    def argument(self, slot: int, dtype: np.dtype[Any]) -> str:
        """A number that the caller has put into the frame."""
        with self._in_entry():
            return self.memory(f"ptr {self._slot(slot)}", dtype)

    def hand_back(self, slot: int, dtype: np.dtype[Any], ref: str) -> None:
        """Put a number into the frame."""
        self._to_memory(f"ptr {self._slot(slot)}", dtype, ref)

    def _slot(self, slot: int) -> str:
        return self._emit(f"getelementptr i8, ptr %frame, i64 {SLOT * slot}")

    def memory(self, pointer: str, dtype: np.dtype[Any]) -> str:
        """A number in memory."""
        kind = llvm_type(dtype)
        if kind != "i1":
            return self._emit(f"load {kind}, {pointer}, align {dtype.itemsize}")
        return self._emit(f"icmp ne i8 {self._emit(f'load i8, {pointer}')}, 0")

    def _to_memory(self, pointer: str, dtype: np.dtype[Any], ref: str) -> None:
        kind = llvm_type(dtype)
        if kind == "i1":
            kind, ref = "i8", self._emit(f"zext i1 {ref} to i8")
        self._now.append(f"  store {kind} {ref}, {pointer}, align {dtype.itemsize}")

    # Arrays -----------------------------------------------------------------------------------------------------------

    def length(self, x: Array, axis: int) -> Number:
        return Number(INT, self._fact(x, f"shape{axis}"))

    def load(self, x: Array, index: Sequence[Number]) -> Number:
        return Number(scalar(x.dtype), self.memory(self._element(x, index), x.dtype))

    def store(self, x: Array, index: Sequence[Number], value: Number) -> None:
        self._to_memory(self._element(x, index), x.dtype, value.ref)

    def _element(self, x: Array, index: Sequence[Number]) -> str:
        data = self._fact(x, "data")
        if x.contiguous:
            place = index[0].ref
            for axis, each in enumerate(index[1:], 1):
                row = self._emit(f"mul i64 {place}, {self._fact(x, f'shape{axis}')}")
                place = self._emit(f"add i64 {row}, {each.ref}")
            kind = "i8" if x.dtype.kind == "b" else llvm_type(x.dtype)
            return f"ptr {self._emit(f'getelementptr {kind}, ptr {data}, i64 {place}')}"
        offset = "0"
        for axis, each in enumerate(index):
            step = self._emit(f"mul i64 {each.ref}, {self._fact(x, f'stride{axis}')}")
            offset = self._emit(f"add i64 {offset}, {step}")
        return f"ptr {self._emit(f'getelementptr i8, ptr {data}, i64 {offset}')}"

    def _fact(self, x: Array, name: str) -> str:
        """The data, a length or a stride of an array; those of an argument are read when the function begins."""
        field = name.rstrip("0123456789")
        axis = int(name[len(field) :] or 0)
        if x.input < 0:
            return x.facts[{"data": 0, "shape": 1, "stride": 1 + x.ndim}[field] + axis]
        known = self._arrays.get((x.input, name))
        if known is None:
            with self._in_entry():
                known = self._arrays[x.input, name] = self._read_fact(self._arrays[x.input, "object"], field, axis)
        return known

    def _read_fact(self, array: str, field: str, axis: int) -> str:
        found = self._load("ptr", array, {"data": DATA, "shape": SHAPE, "stride": STRIDES}[field])
        return found if field == "data" else self._load("i64", found, 8 * axis)

    def argument_array(self, slot: int, input: int) -> None:
        """Read the address of an array's object from the frame."""
        self._arrays[input, "object"] = self.argument_object(slot)

    def argument_object(self, slot: int) -> str:
        """The address of an object that the caller has put into the frame."""
        with self._in_entry():
            return self._load("ptr", "%frame", SLOT * slot)

    @contextmanager
    def _in_entry(self) -> Iterator[None]:
        """What is emitted meanwhile runs when the function begins."""
        before, self._now = self._now, self._entry
        yield
        self._now = before

    # Interrupts -------------------------------------------------------------------------------------------------------

    def poll(self, turns: str, interrupted: int) -> None:
        """Of so many turns: every `POLL` turns, let others run, and end at once if a signal has raised an exception."""
        left = self._emit(f"sub i64 {self.kept('polls', INT.dtype)}, {turns}")
        self.keep("polls", INT.dtype, left)
        with self.rarely(Number(BOOL, self._emit(f"icmp slt i64 {left}, 0"))):
            self.declared |= {"declare ptr @PyEval_SaveThread()", "declare void @PyEval_RestoreThread(ptr)"}
            self.declared.add("declare i32 @PyErr_CheckSignals()")
            state = self._emit("call ptr @PyEval_SaveThread()")
            self._now.append(f"  call void @PyEval_RestoreThread(ptr {state})")
            raised = self._emit("call i32 @PyErr_CheckSignals()")
            self.keep("polls", INT.dtype, str(POLL))
            stop, on = self.label("stop"), self.label("on")
            self._branch(Number(BOOL, self._emit(f"icmp ne i32 {raised}, 0")), stop, on, rarely=True)
            self.begin(stop)
            self.finish(interrupted)
            self.begin(on)

    def counted(self, a: str, b: str) -> str:
        """`a + b`, of what counts the turns of a loop, which does not overflow."""
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


def _conversion(before: np.dtype[Any], after: np.dtype[Any]) -> str:
    """The instruction that makes a number of one dtype one of another; none if there is nothing to do."""
    if before.kind == "f" and after.kind == "f":
        return "" if before == after else "fpext" if after.itemsize > before.itemsize else "fptrunc"
    if before.kind == "f":
        return "fptosi" if after.kind == "i" else "fptoui"
    if after.kind == "f":
        return "sitofp" if before.kind == "i" else "uitofp"
    if before.kind == "b":
        return "zext" if after.kind != "b" else ""
    if before.itemsize == after.itemsize:
        return ""
    if after.itemsize < before.itemsize:
        return "trunc"
    return "sext" if before.kind == "i" else "zext"
