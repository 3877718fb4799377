"""The emitter: builds instructions of the low-level IR for the operations that lowerings ask for.

Numbers are LLVM's `iN`, `float` and `double`; Booleans are `i1` in registers. Floats follow IEEE 754: only with
`fastmath=True` may LLVM reorder or fuse operations. Even then it must not assume that there are no infinities and NaNs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograph.runtime.engines.native.emit.value_ranges import Ranges, limits
from autograph.runtime.engines.native.libmath import integers
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import ObjectBuilder, class_of, llvm_type
from autograph.runtime.engines.native.llvm.memory import Cells, Frame, load_element, store_element
from autograph.runtime.graph.operands import Array, Complex, Draws, Mixed, NoLowering, Number, Vectors
from autograph.runtime.graph.types import BOOL, INT, TensorType
from autograph.runtime.ops.native.complex_rules import part_type
from autograph.runtime.ops.native.intervals import join
from autograph.runtime.ops.native.scalars import both

# LLVM's opcodes by the emitter's names of operations.
_INTEGER = {name: name for name in ("add", "sub", "mul", "and", "or", "xor", "shl")}
_SIGNED = {"div": "sdiv", "rem": "srem", "shr": "ashr"}
_UNSIGNED = {"div": "udiv", "rem": "urem", "shr": "lshr"}
_FLOATING = {name: f"f{name}" for name in ("add", "sub", "mul", "div", "rem")}
_ORDERED = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une", "gt": "ogt", "ge": "oge"}
_UNPREDICTABLE = ir.Metadata()
_EXACT: dict[str, Callable[..., int]] = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}
_BITS: dict[str, Callable[..., Any]] = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
EXPONENT = 0x7FF << 52     # the bits of a float's exponent


class Emitter:
    """One function under construction, see `autograph.runtime.graph.operands.Emitter`.

    Attributes:
        leave: returns the block of the side exit from where the emitter is.
        fast: whether floats may differ from IEEE 754 in the last bits, and NumPy's warnings are not checked.
        underflows: whether the code may underflow, which it does not check: it must not run if NumPy warns of that.
        b: builds the function.
        cells, frame, objects: build accesses to memory, to the caller's frame and to Python's objects.
        ranges: the value ranges of integers.
        watched: floats that are still to be checked, see `leave_if_warned`.
    """

    draws: Draws        # which loops have

    def __init__(self, name: str, leave: Callable[[], Any], *more: ir.Parameter) -> None:
        module = ir.Module()
        function = module.define(name, ir.I64, ir.Parameter("frame", ir.PTR), ir.Parameter("table", ir.PTR), *more)
        frame, table, *_ = function.parameters
        self.name = name
        self.leave = leave
        self.underflows = self.fast = False
        self.b = Builder(function)
        self.entry = self.b.block
        self.objects = ObjectBuilder(self.b, [], table, self.demand)
        self.cells = Cells(self.b, self.entry)
        self.frame = Frame(self.b, self.entry, frame, self.objects)
        self.ranges = Ranges()
        self.watched: dict[ir.Value, list[tuple[Number, tuple[Number, ...]]]] = {}

    # Blocks -----------------------------------------------------------------------------------------------------------

    def jump(self, block: ir.Block) -> None:
        self.settle()
        self.b.br(block)

    def branch(self, condition: Number, then: ir.Block, orelse: ir.Block, rarely: bool = False) -> None:
        self.settle()
        self.b.cond_br(condition.ref, then, orelse, False if rarely else None)

    def leave_if(self, condition: Number) -> None:
        if condition.known is not None and not condition.known:
            return
        on = self.b.new_block("on")
        self.b.cond_br(condition.ref, self.leave(), on, False)
        self.b.begin(on)

    def doubt_if(self, condition: Number) -> None:
        self.leave_if(condition)

    def demand(self, condition: ir.Value) -> None:
        self.leave_if(Number(BOOL, self.b.xor(condition, ir.TRUE)))

    @contextmanager
    def rarely(self, condition: Number) -> Iterator[None]:
        """Emit a path that runs only if a condition holds, which is rare."""
        before = dict(self.ranges.found)
        with self.b.if_then(condition.ref, False):
            yield
        self.ranges.found = before

    def stop_if(self, condition: Number, stop: Callable[[], None]) -> tuple[ir.Block, ir.Block]:
        """If a condition holds, run `stop`, which ends the code. Returns the blocks in which it holds and does not."""
        end, on = map(self.b.new_block, ("stop", "on"))
        self.b.cond_br(condition.ref, end, on, False)
        self.b.begin(end)
        stop()
        self.b.begin(on)
        return end, on

    # Warnings ---------------------------------------------------------------------------------------------------------

    def leave_if_warned(self, found: Number, *args: Number) -> None:
        """Infinities and NaNs go through sums and products, so it suffices to check the result of several."""
        if found.type.kind == "python" or self.fast:
            return
        self.underflows = True
        linear = isinstance(found.ref, ir.Instruction) and found.ref.opcode in ("fadd", "fsub", "fmul")
        through = [self.watched.pop(arg.ref, []) for arg in args] if linear else []
        self.watched[found.ref] = [*(each for one in through for each in one), (found, args)]

    def settle(self) -> None:
        """Check all watched floats, before an effect."""
        watched, self.watched = self.watched, {}
        for checks in watched.values():
            with self.rarely(is_strange(self, checks[-1][0])):
                for found, args in checks:
                    overflow, invalid = is_strange(self, found), self.compare("ne", found, found)
                    for arg in args:
                        overflow = self.integer("and", overflow, _is_finite(self, arg))
                        invalid = self.integer("and", invalid, self.compare("eq", arg, arg))
                    self.leave_if(self.integer("or", overflow, invalid))

    # Numbers ----------------------------------------------------------------------------------------------------------

    def emit(self, type: TensorType, opcode: str, *args: Number, detail: str = "") -> Number:
        """Append an instruction that computes a number, and has no effect."""
        operands = tuple([arg.ref for arg in args])
        return Number(type, self.b.emit(llvm_type(type.dtype), opcode, operands, detail))

    def constant(self, value: Any, type: TensorType) -> Number:
        known = value if isinstance(value, (bool, int, float)) else value.item()
        return Number(type, _constant(known, type), known)

    def integer(self, name: str, a: Number, b: Number) -> Number:
        if a.type == BOOL and name in _BITS:
            known, other = (a, b) if a.known is not None else (b, a)
            if known.known is not None:
                if other.known is not None:
                    return self.constant(_BITS[name](a.known, b.known), a.type)
                if name != "xor" or not known.known:        # absorbing or neutral
                    return known if known.known is (name == "or") and name != "xor" else other
        if a.type == INT and a.known is not None and b.known is not None and name in _EXACT:
            exact = _EXACT[name](a.known, b.known)
            if abs(exact) < 2**63:
                return self.constant(exact, INT)
        if name == "gcd":
            return Number(a.type, integers.gcd(self.b, a.ref, b.ref))
        if a.type.dtype.kind not in "iu":
            return self.emit(a.type, _INTEGER.get(name) or _UNSIGNED[name], a, b)
        sure = name not in ("div", "rem") or (self.ranges.bounds(a)[0] >= 0 and self.ranges.bounds(b)[0] > 0)
        # without signs the machine divides faster
        unsigned = a.type.dtype.kind == "u" or (sure and name in ("div", "rem"))
        found = self.emit(a.type, _INTEGER.get(name) or (_UNSIGNED if unsigned else _SIGNED)[name], a, b)
        if sure:
            self.ranges.note(name, a, b, found)
        return found

    def overflowing(self, name: str, a: Number, b: Number) -> tuple[Number, Number]:
        if self.ranges.fits(name, a, b):
            return self.integer(name, a, b), self.constant(False, BOOL)
        if name == "shl":
            found = self.integer("shl", a, b)
            return found, self.compare("ne", self.integer("shr", found, b), a)
        if name == "mul" and b.known is None:
            a, b = b, a
        if name == "mul" and b.known is not None and limits(a.type.dtype)[0] == -(2**63):
            return _multiplied(self, a, b, int(b.known))
        function = f"{'u' if a.type.dtype.kind == 'u' else 's'}{name}.with.overflow"
        kind = llvm_type(a.type.dtype)
        pair = self.intrinsic(function, ir.structure(kind, ir.I1), a, b)
        return Number(a.type, self.b.extract_value(pair, 0)), Number(BOOL, self.b.extract_value(pair, 1))

    def floating(self, name: str, a: Number, b: Number) -> Number:
        return self.emit(a.type, _FLOATING[name], a, b, detail=ir.FAST if self.fast and name != "rem" else "")

    def negative(self, a: Number) -> Number:
        return self.emit(a.type, "fneg", a)

    def function(self, name: str, *args: Number) -> Number:
        if name == "power_of_two":
            bits = self.b.cast("bitcast", args[0].ref, ir.I64)
            return Number(args[0].type, self.b.cast("bitcast", self.b.and_(bits, EXPONENT), ir.DOUBLE))
        return Number(args[0].type, self.intrinsic(name, llvm_type(args[0].type.dtype), *args))

    def intrinsic(self, name: str, result: str, *args: Number) -> ir.Value:
        """Call an intrinsic without effects."""
        return self.b.intrinsic(name, *(arg.ref for arg in args), result=result)

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise NoLowering

    library = ufunc = make_array = copy_array = _refuse

    @property
    def vectors(self) -> Vectors:
        raise NoLowering

    def compare(self, name: str, a: Number, b: Number) -> Number:
        kind = a.type.dtype.kind
        if kind == "b" and name in ("eq", "ne") and b.known == (name == "eq"):
            return Number(BOOL, a.ref, a.known)
        if kind == "f":
            return self.emit(BOOL, "fcmp", a, b, detail=_ORDERED[name])
        decided = self.ranges.decided(name, a, b) if kind != "b" else None
        if decided is not None:
            return self.constant(decided, BOOL)
        return self.emit(BOOL, "icmp", a, b, detail=name if name in ("eq", "ne") else f"{'su'[kind != 'i']}{name}")

    def convert(self, a: Number, type: TensorType) -> Number:
        how = _conversion(a.type.dtype, type.dtype)
        if not how:
            return Number(type, a.ref, a.known)
        self.underflows |= how == "fptrunc"
        return self.emit(type, how, a)

    def select(self, condition: Number, a: Number, b: Number) -> Number:
        if condition.known is not None:
            return a if condition.known else b
        found = self.emit(a.type, "select", condition, a, b)
        found.ref.add_metadata("unpredictable", _UNPREDICTABLE)
        if a.type.dtype.kind in "iu":
            self.ranges.bound(found.ref, *join(self.ranges.bounds(a), self.ranges.bounds(b)))
        return found

    # Arrays -----------------------------------------------------------------------------------------------------------

    def length(self, x: Array, axis: int) -> Number:
        """A dimension of an array. NumPy's arrays have fewer than 2**63 bytes, which bounds it."""
        found = self.frame.number(x, "shape", axis)
        if found.known is None:
            self.ranges.bound(found.ref, 0, (2**63 - 1) // x.dtype.itemsize)
        return found

    def place(self, index: Number, length: Number) -> Number:
        """A negative index that is no constant is rare: it takes a path of its own."""
        found = self.ranges.found
        known: Number | None = found.get((index.ref, length.ref))
        if known is None:
            known = _placed(self, index, length)
            found = self.ranges.found
            found[index.ref, length.ref] = known
            most = self.ranges.bounds(length)[1]
            self.ranges.learn(index, -most, most - 1)
            if known.ref != index.ref:
                found[known.ref] = 0, most - 1
        return known

    def load(self, x: Array, index: Sequence[Number]) -> Number | Complex:
        return load_element(self.b, self.element(x, index), x.dtype)

    def store(self, x: Array, index: Sequence[Number], value: Number | Complex) -> None:
        self.settle()
        store_element(self.b, self.element(x, index), x.dtype, value)

    def element(self, x: Array, index: Sequence[Number]) -> ir.Value:
        """The address of an element."""
        data = self.frame.fact(x, "data")
        if x.contiguous:
            place = index[0]
            for axis, each in enumerate(index[1:], 1):
                place = self.integer("add", self.integer("mul", place, self.length(x, axis)), each)
            return self.b.gep(data, place.ref, ir.I8 if x.dtype.kind == "b" else llvm_type(x.dtype))
        offset = self.constant(0, INT)
        for axis, each in enumerate(index):
            step = Number(INT, self.frame.fact(x, "stride", axis))
            offset = self.integer("add", offset, self.integer("mul", each, step))
        return self.b.gep(data, offset.ref)


def is_strange(emit: Emitter, x: Number) -> Number:
    """Whether a float is infinite or NaN."""
    return emit.integer("xor", _is_finite(emit, x), emit.constant(True, BOOL))


def _is_finite(emit: Emitter, x: Number) -> Number:
    return emit.compare("lt", emit.function("fabs", x), emit.constant(float("inf"), x.type))


def _multiplied(emit: Emitter, a: Number, b: Number, factor: int) -> tuple[Number, Number]:
    """`overflowing("mul", …)` by a constant. A bit stays free, so that the next sum needs no check."""
    far = 2**62 // abs(factor)
    found = emit.integer("mul", a, b)
    emit.ranges.bound(found.ref, -(2**62), 2**62)
    if emit.ranges.bounds(a)[0] >= -far:
        return found, emit.compare("gt", a, emit.constant(far, INT))
    moved = emit.emit(INT, "add", a, emit.constant(far, INT))
    return found, emit.emit(BOOL, "icmp", moved, emit.constant(2 * far, INT), detail="ugt")


def outside(emit: Emitter, place: Number, length: Number) -> Number:
    """Whether an index is negative, or not below a length."""
    return emit.emit(BOOL, "icmp", place, length, detail="uge")


def _placed(emit: Emitter, index: Number, length: Number) -> Number:
    low, high = emit.ranges.bounds(index)
    if low >= 0 or high < 0:
        place = emit.integer("add", index, length) if high < 0 else index
        emit.leave_if(outside(emit, place, length))
        return place
    b = emit.b
    rare, on = map(b.new_block, ("rare", "on"))
    out, here = outside(emit, index, length), b.block
    b.cond_br(out.ref, rare, on, False)
    b.begin(rare)
    place = emit.integer("add", index, length)
    emit.leave_if(outside(emit, place, length))
    there = b.block
    b.br(on)
    b.begin(on)
    return Number(INT, b.phi(ir.I64, (index.ref, here), (place.ref, there)))


def number_of(emit: Emitter, thing: ir.Value, type: TensorType) -> Number | Complex:
    """The number that an object is; leave if it is not of that type."""
    emit.objects.demand_class(thing, class_of(type))
    found: Number | Complex = unboxed(emit, thing, type)
    return found


def unboxed(emit: Emitter, thing: ir.Value, type: TensorType) -> Any:
    """The number that an object of a certain class is; leave if it is an integer of more than 64 bits."""
    if type.dtype.kind == "c":
        part = part_type(type)
        real, imag = (Number(part, each) for each in emit.objects.parts_of(thing, type))
        return Complex(type, (real, imag))
    found = emit.objects.value_of(thing, type)
    return Number(type, emit.b.icmp("ne", found, 0) if type.dtype.kind == "b" else found)


def equals_itself(emit: Emitter, operand: Number | Complex | Mixed) -> Number:
    """Whether a float or complex number is no NaN, and has none as a part."""
    if isinstance(operand, Complex):
        real, imag = operand.parts
        return both(emit, emit.compare("eq", real, real), emit.compare("eq", imag, imag))
    number = operand.parts[0] if isinstance(operand, Mixed) else operand
    return emit.compare("eq", number, number)


def _constant(known: Any, type: TensorType) -> ir.Constant:
    if type.dtype.kind == "b":
        return ir.TRUE if known else ir.FALSE
    return ir.constant(llvm_type(type.dtype), known)


def _conversion(before: np.dtype[Any], after: np.dtype[Any]) -> str:
    """The instruction that converts numbers of one dtype to another; "" if the bits stay the same."""
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
