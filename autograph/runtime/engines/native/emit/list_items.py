"""All items of a list at once: `sum(xs)`, `max(xs)`, `xs.count(x)`, `xs.sort()`, if they are numbers of one class.

Each is a function in the module of the code. It gets the address of the items, their number and the class that these
must have. If one is of another class, is an integer of more than one digit, or is a NaN, the function does nothing, and
says so: then Python's own function does it all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from autograph.common.cpython_internals import CLASS, COMPENSATES, HAS_DIGITS, LIST_ITEMS, SIZE, VALUE
from autograph.runtime.engines.native.analysis.list_groups import routine_of
from autograph.runtime.engines.native.emit.emitter import EXPONENT
from autograph.runtime.engines.native.emit.loop_emitter import LoopEmitter
from autograph.runtime.engines.native.emit.vector_reductions import add_rank
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import ObjectBuilder, class_of, integer_of_one_digit
from autograph.runtime.engines.native.llvm.table_keys import UNKNOWN, same_texts
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.operands import Boxed, Fixed, Given, NoLowering, Number
from autograph.runtime.graph.types import BOOL, FLOAT, INT, TensorType
from autograph.runtime.ops.native import distances

NONE = -(2**63)     # instead of a sum or number
FEW = 24            # items that are sorted here; Python is faster with more
_MANY = 2**30       # items whose sum may overflow
_SMALL = 2**58      # a few integers up to here have a sum that does not

_KINDS = {int: ir.I64, float: ir.DOUBLE}
SUMS = [INT] * HAS_DIGITS + [FLOAT]
_Rule: TypeAlias = Callable[[Builder, Sequence[ir.Value], ir.Value], list[ir.Value]]


def total(module: ir.Module, of: type) -> ir.Function:
    """The function of the sum, added one after another to 0; or `NONE`, or a NaN."""
    none = nothing(of)

    def build(b: Builder, items: ir.Value, count: ir.Value, kind: ir.Value) -> None:
        _end_if(b, b.icmp("ugt", b.sub(count, 1), _MANY), none)      # of no items it is an integer
        with b.loop(0, count, carried=_nothing_added(of)) as loop:
            number = _number(b, _item(b, items, loop.index), kind, of, none)
            loop.carry(*_added(b, loop.carried, number))
        b.ret(_sum_of(b, loop.results))

    return _function(module, f"ag_list_total_{of.__name__}", _KINDS[of], build)


def _nothing_added(of: type) -> list[ir.Value]:
    """The sum of no numbers; for floats with what rounding has lost, if Python adds that up, too."""
    return [ir.constant(_KINDS[of], 0)] * (1 + (of is float and COMPENSATES))


def _added(b: Builder, sums: Sequence[ir.Value], number: ir.Value) -> list[ir.Value]:
    """The same after one more number; by Neumaier's algorithm, as CPython."""
    before, *lost = sums
    after = b.binary("fadd" if number.type == ir.DOUBLE else "add", before, number)
    if not lost:
        return [after]
    greater = b.fcmp("oge", b.intrinsic("fabs", before), b.intrinsic("fabs", number))
    first, second = b.select(greater, before, number), b.select(greater, number, before)
    return [after, b.binary("fadd", lost[0], b.binary("fadd", b.binary("fsub", first, after), second))]


def _sum_of(b: Builder, sums: Sequence[ir.Value]) -> ir.Value:
    found, *lost = sums
    for each in lost:
        is_finite = b.fcmp("olt", b.intrinsic("fabs", each), math.inf)
        found = b.select(is_finite, b.binary("fadd", found, each), found)
    return found


def is_total(b: Builder, found: ir.Value) -> ir.Value:
    """Whether there is a sum."""
    return b.fcmp("ord", found, found) if found.type == ir.DOUBLE else b.icmp("ne", found, NONE)


def nothing(of: type) -> ir.Value:
    return ir.constant(_KINDS[of], math.nan if of is float else NONE)


def occurrences(module: ir.Module, of: type) -> ir.Function:
    """The function of how many items are equal to a number; or `NONE`."""
    sought = ir.Parameter("sought", _KINDS[of])

    def build(b: Builder, items: ir.Value, count: ir.Value, kind: ir.Value) -> None:
        with b.loop(0, count, carried=[ir.constant(ir.I64, 0)]) as loop:
            number = _number(b, _item(b, items, loop.index), kind, of, NONE)
            loop.carry(b.add(loop.carried[0], b.cast("zext", _compare(b, "eq", number, sought), ir.I64)))
        b.ret(loop.results[0])

    return _function(module, f"ag_list_count_{of.__name__}", ir.I64, build, sought)


def texts(module: ir.Module, counts: bool) -> ir.Function:
    """The function of how many items are equal to a text, or of the place of the first one; or `NONE`."""
    sought = ir.Parameter("sought", ir.PTR)

    def build(b: Builder, items: ir.Value, count: ir.Value, kind: ir.Value) -> None:
        with b.loop(0, count, carried=[ir.constant(ir.I64, 0)]) as loop:
            item = _item(b, items, loop.index)

            def compare() -> ir.Value:
                _end_if(b, b.icmp("ne", b.load(ir.PTR, b.gep(item, CLASS)), kind), NONE)
                found = b.call(same_texts(b.function.module), item, sought)
                _end_if(b, b.icmp("eq", found, UNKNOWN), NONE)
                return b.icmp("ne", found, 0)

            equal = b.if_else(b.icmp("eq", item, sought), lambda: ir.TRUE, compare)
            assert equal is not None
            if not counts:
                _end_if(b, equal, loop.index)
            loop.carry(b.add(loop.carried[0], b.cast("zext", equal, ir.I64)))
        b.ret(loop.results[0] if counts else count)

    return _function(module, f"ag_list_text_{'count' if counts else 'index'}", ir.I64, build, sought)


def extreme(module: ir.Module, how: str) -> ir.Function:
    """The function of the first of the items that no other one is less (`lt`) or greater (`gt`) than; or null."""
    return _by_class(module, f"ag_list_{how}", lambda of: _extreme(module, how, of), ir.NULL)


def _extreme(module: ir.Module, how: str, of: type) -> ir.Function:

    def build(b: Builder, items: ir.Value, count: ir.Value, kind: ir.Value) -> None:
        first = _item(b, items, ir.constant(ir.I64, 0))
        with b.loop(1, count, carried=[first, _number(b, first, kind, of, ir.NULL)]) as loop:
            best, known = loop.carried
            item = _item(b, items, loop.index)
            number = _number(b, item, kind, of, ir.NULL)
            better = _compare(b, how, number, known)
            loop.carry(b.select(better, item, best), b.select(better, number, known))
        b.ret(loop.results[0])

    return _function(module, f"ag_list_{how}_{of.__name__}", ir.PTR, build)


def sort(module: ir.Module) -> ir.Function:
    """The function that sorts a few items. Returns whether it has."""
    return _by_class(module, "ag_list_sort", lambda of: _sort(module, of), ir.constant(ir.I64, 0))


def _sort(module: ir.Module, of: type) -> ir.Function:
    """The rank of an item is the number of those that come before it, so that no branch is mispredicted."""
    type_ = _KINDS[of]

    def build(b: Builder, items: ir.Value, count: ir.Value, kind: ir.Value) -> None:
        no = ir.constant(ir.I64, 0)
        keys, ranks, objects = (b.room(ir.array(FEW, each)) for each in (type_, ir.I64, ir.PTR))
        _end_if(b, b.icmp("sgt", count, FEW), no)
        with b.loop(0, count) as loop:
            item = _item(b, items, loop.index)
            number = _number(b, item, kind, of, no)
            b.store(item, b.gep(objects, loop.index, ir.PTR))
            b.store(number, b.gep(keys, loop.index, type_))
            add_rank(b, keys, ranks, loop.index, type_, partial(_compare, b, "lt"))
        with b.loop(0, count) as loop:
            rank = b.load(ir.I64, b.gep(ranks, loop.index, ir.I64))
            b.store(b.load(ir.PTR, b.gep(objects, loop.index, ir.PTR)), b.gep(items, rank, ir.PTR))
        b.ret(1)

    return _function(module, f"ag_list_sort_{of.__name__}", ir.I64, build)


def distance(module: ir.Module) -> ir.Function:
    """The function of the distance of two points, given the addresses of their coordinates, and the number of these.

    The items are floats, or integers of one digit; for others, and for numbers that need care, it returns a NaN.
    """
    name, most = "ag_list_distance", 8
    if name in module.functions:
        return module.functions[name]
    kinds = floats, integers = ir.Parameter("floats", ir.PTR), ir.Parameter("integers", ir.PTR)
    p, q, count = ir.Parameter("p", ir.PTR), ir.Parameter("q", ir.PTR), ir.Parameter("count", ir.I64)
    b = Builder(module.define(name, ir.DOUBLE, p, q, count, *kinds, words="internal", attributes="noinline"))
    emit, none, zero = _OfBuilder(b), nothing(float), ir.constant(ir.DOUBLE, 0.0)
    sizes = b.room(ir.array(most, ir.DOUBLE))
    _end_if(b, b.icmp("uge", b.sub(count, 1), most), none)
    with b.loop(0, count, carried=[zero]) as loop:
        one, other = (_coordinate(b, _item(b, each, loop.index), floats, integers) for each in (p, q))
        size = b.intrinsic("fabs", b.binary("fsub", one, other))
        _end_if(b, b.fcmp("uge", size, distances.LARGE), none)
        b.store(size, b.gep(sizes, loop.index, ir.DOUBLE))
        loop.carry(b.select(b.fcmp("ogt", size, loop.carried[0]), size, loop.carried[0]))
    (largest,) = loop.results
    _end_if(b, b.or_(b.icmp("eq", count, 1), b.fcmp("oeq", largest, 0.0)), largest)
    _end_if(b, b.fcmp("olt", largest, distances.SMALL), none)
    power = b.cast("bitcast", b.and_(b.cast("bitcast", largest, ir.I64), EXPONENT), ir.DOUBLE)
    unit = b.binary("fadd", power, power)
    scale = b.binary("fdiv", 1.0, unit)
    with b.loop(0, count, carried=distances.no_squares(emit)) as loop:
        scaled = b.binary("fmul", b.load(ir.DOUBLE, b.gep(sizes, loop.index, ir.DOUBLE)), scale)
        loop.carry(*distances.with_product(emit, loop.carried, scaled, scaled))
    b.ret(distances.root_of(emit, loop.results, unit))
    return module.functions[name]


def _coordinate(b: Builder, item: ir.Value, floats: ir.Value, integers: ir.Value) -> ir.Value:
    """The float that a float or integer is equal to; ends the function with a NaN if it is none of these."""
    kind = b.load(ir.PTR, b.gep(item, CLASS))

    def of_integer() -> ir.Value:
        _end_if(b, b.icmp("ne", kind, integers), nothing(float))
        is_short, found = integer_of_one_digit(b, item)
        _end_if(b, b.xor(is_short, ir.TRUE), nothing(float))
        return b.cast("sitofp", found, ir.DOUBLE)

    found = b.if_else(b.icmp("eq", kind, floats), lambda: b.load(ir.DOUBLE, b.gep(item, VALUE)), of_integer, True)
    assert found is not None
    return found


class _OfBuilder:
    """Emits instructions for floats as an emitter does for numbers, see `distances`."""

    def __init__(self, b: Builder) -> None:
        self._b = b

    def constant(self, value: float, type: TensorType) -> ir.Value:
        return ir.constant(ir.DOUBLE, value)

    def negative(self, x: ir.Value) -> ir.Value:
        return self._b.fneg(x)

    def floating(self, name: str, one: ir.Value, other: ir.Value) -> ir.Value:
        return self._b.binary(f"f{name}", one, other)

    def function(self, name: str, *args: ir.Value) -> ir.Value:
        return self._b.intrinsic(name, *args)


# Items ----------------------------------------------------------------------------------------------------------------


def _item(b: Builder, items: ir.Value, place: ir.Value) -> ir.Value:
    return b.load(ir.PTR, b.gep(items, place, ir.PTR))


def _number(b: Builder, item: ir.Value, kind: ir.Value, of: type, otherwise: ir.Value | int) -> ir.Value:
    """The number that an item is; ends the function with `otherwise` if it is none of that class, or a NaN."""
    _end_if(b, b.icmp("ne", b.load(ir.PTR, b.gep(item, CLASS)), kind), otherwise)
    if of is float:
        number = b.load(ir.DOUBLE, b.gep(item, VALUE))
        _end_if(b, b.fcmp("uno", number, number), otherwise)
        return number
    is_short, found = integer_of_one_digit(b, item)
    _end_if(b, b.xor(is_short, ir.TRUE), otherwise)
    return found


def _any_number(b: Builder, item: ir.Value, kind: ir.Value, of: type) -> ir.Value:
    """The same, also for integers that are longer, but so small that a sum of a few does not overflow; or returns 0."""
    no = ir.constant(ir.I64, 0)
    if of is float:
        return _number(b, item, kind, of, no)
    _end_if(b, b.icmp("ne", b.load(ir.PTR, b.gep(item, CLASS)), kind), no)
    is_short, found = integer_of_one_digit(b, item)

    def ask() -> ir.Value:
        overflow = b.room(ir.I32)
        long = b.call(b.function.module.declare("PyLong_AsLongLongAndOverflow", ir.I64, ir.PTR, ir.PTR), item, overflow)
        _end_if(b, b.or_(b.icmp("ne", b.load(ir.I32, overflow), 0), b.xor(_is_small(b, long), ir.TRUE)), no)
        return long

    number = b.if_else(is_short, lambda: found, ask, True)
    assert number is not None
    return number


def _is_small(b: Builder, number: ir.Value) -> ir.Value:
    return b.icmp("ult", b.add(number, _SMALL), 2 * _SMALL)


def _compare(b: Builder, how: str, one: ir.Value, other: ir.Value) -> ir.Value:
    if one.type == ir.DOUBLE:
        return b.fcmp(f"o{how}", one, other)
    return b.icmp(how if how == "eq" else f"s{how}", one, other)


def _end_if(b: Builder, condition: ir.Value, result: ir.Value | int) -> None:
    with b.if_then(condition, False):
        b.ret(result)


def _by_class(module: ir.Module, name: str, make: Callable[[type], ir.Function], otherwise: ir.Value) -> ir.Function:
    """A function that calls that for the class of the first item. It gets the addresses of `int` and `float`."""
    floats = ir.Parameter("floats", ir.PTR)

    def build(b: Builder, items: ir.Value, count: ir.Value, integers: ir.Value) -> None:
        _end_if(b, b.icmp("slt", count, 1), otherwise)
        kind = b.load(ir.PTR, b.gep(_item(b, items, ir.constant(ir.I64, 0)), CLASS))
        with b.if_then(b.icmp("eq", kind, floats)):
            b.ret(b.call(make(float), items, count, floats))
        b.ret(b.call(make(int), items, count, integers))

    return _function(module, name, otherwise.type, build, floats)


def _function(
    module: ir.Module,
    name: str,
    result: str,
    build: Callable[[Builder, ir.Value, ir.Value, ir.Value], None],
    *more: ir.Parameter,
) -> ir.Function:
    """A function of the module, built when it is first asked for."""
    if name not in module.functions:
        takes = ir.Parameter("items", ir.PTR), ir.Parameter("count", ir.I64), ir.Parameter("kind", ir.PTR)
        build(Builder(module.define(name, result, *takes, *more, words="internal", attributes="noinline")), *takes)
    return module.functions[name]


# Numbers in a buffer --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Buffered:
    """A list whose items are numbers in a buffer, and which is no object.

    Attributes:
        type: of the numbers, which are no NaNs, or small integers.
    """

    type: TensorType
    buffer: ir.Value
    count: Number


class ListGroup:
    """Emits nodes of a `list_group`; raises `NoLowering` if not all numbers are known to be of one class.

    Args:
        calls: gives the expected kinds of results.
        operation: emits a node of numbers, and returns whether it has an effect.
    """

    def __init__(self, calls: Any, operation: Callable[[Node], bool]) -> None:
        self._flow = calls.flow
        self._emit: LoopEmitter = calls.flow.emit
        self._calls = calls
        self._operation = operation
        self._lists: dict[Value, Buffered] = {}

    def run(self, group: list[Node]) -> list[Node]:
        """Emit the nodes. Returns them."""
        kinds = {self._calls.kind_met(each.output) for each in group if self._gives_item(each, group)}
        type = kinds.pop() if len(kinds) == 1 else None
        if type not in (INT, FLOAT) or not HAS_DIGITS:
            raise NoLowering
        if self._emit.loop is not None:
            self._emit.loop.exits += 1      # such iterations are not undone
        for node in group:
            routine, source = routine_of(node), self._lists.get(node.args[0]) if _is_value(node.args[0]) else None
            self._emit.b.place = node.place
            if source is not None:
                getattr(self, f"_{routine}")(node, source)
            elif node is group[0]:
                is_part = routine == "slice"
                made = self._part(node.args[0], node.args[1], type) if is_part else self._built(node.args[0], type)
                self._set(node.output, made)
                if routine == "sorted":
                    self._rank(node.output, made)
            elif self._operation(node):
                raise NoLowering
        return group

    def _gives_item(self, node: Node, group: list[Node]) -> bool:
        if routine_of(node) not in ("load", "sum", "min", "max") or not _is_value(node.args[0]):
            return False
        return node.args[0].node in group

    def _buffer(self, type: TensorType) -> ir.Value:
        return self._emit.b.room(ir.array(FEW, _KINDS[class_of(type)]))

    def _built(self, items: list[Any], type: TensorType) -> Buffered:
        """`[a, b]`"""
        operands = [self._flow.operand(self._flow.value(item)) for item in items]
        if len(items) > FEW or not all(isinstance(each, Number) and each.type == type for each in operands):
            raise NoLowering
        b, kind, buffer = self._emit.b, _KINDS[class_of(type)], self._buffer(type)
        for place, each in enumerate(operands):
            is_wrong = b.fcmp("uno", each.ref, each.ref) if type == FLOAT else b.xor(_is_small(b, each.ref), ir.TRUE)
            self._emit.leave_if(Number(BOOL, is_wrong))
            b.store(each.ref, b.gep(buffer, place, kind))
        return Buffered(type, buffer, self._emit.constant(len(items), INT))

    def _part(self, thing: Any, index: slice, type: TensorType) -> Buffered:
        """`xs[a:b]`"""
        emit, b, flow, kind = self._emit, self._emit.b, self._flow, class_of(type)
        thing = flow.value(thing)
        if not isinstance(thing, (Boxed, Given)) or thing.of is not list:
            raise NoLowering
        first, count = part(emit, flow.operand, thing.ref, flow.args((index,))[0])
        emit.leave_if(emit.compare("gt", count, emit.constant(FEW, INT)))
        emit.ranges.bound(count.ref, 0, FEW)
        items, buffer = emit.objects.load_at(ir.PTR, thing.ref, LIST_ITEMS), self._buffer(type)
        taken = b.call(
            _taken(b.function.module, kind),
            *(b.gep(items, first.ref, ir.PTR), count.ref, emit.objects.address(kind), buffer),
        )
        emit.leave_if(Number(BOOL, b.icmp("eq", taken, 0)))
        return Buffered(type, buffer, count)

    def _length(self, node: Node, source: Buffered) -> None:
        self._flow.define(node.output, source.count)

    def _load(self, node: Node, source: Buffered) -> None:
        b, index = self._emit.b, self._flow.operand(self._flow.value(node.args[1]))
        if not isinstance(index, Number) or index.type != INT:
            raise NoLowering
        place, kind = self._emit.place(index, source.count), _KINDS[class_of(source.type)]
        self._flow.define(node.output, Number(source.type, b.load(kind, b.gep(source.buffer, place.ref, kind))))

    def _sorted(self, node: Node, source: Buffered) -> None:
        self._rank(node.output, source)

    def _sort(self, node: Node, source: Buffered) -> None:
        self._rank(node.args[0], source)
        for none in node.outputs:
            self._flow.define(none, Fixed(None))

    def _rank(self, value: Value, source: Buffered) -> None:
        b, buffer = self._emit.b, self._buffer(source.type)
        b.call(_ranked(b.function.module, class_of(source.type)), source.buffer, source.count.ref, buffer)
        self._set(value, replace(source, buffer=buffer))

    def _set(self, value: Value, made: Buffered) -> None:
        self._lists[value] = self._flow.state.env[value] = made

    def _sum(self, node: Node, source: Buffered) -> None:
        if source.type not in SUMS:
            raise NoLowering
        self._combine(node, source, _added, _nothing_added(class_of(source.type)))

    def _min(self, node: Node, source: Buffered) -> None:
        self._combine(node, source, _extreme_of("lt"))

    def _max(self, node: Node, source: Buffered) -> None:
        self._combine(node, source, _extreme_of("gt"))

    def _combine(self, node: Node, source: Buffered, rule: _Rule, none: Sequence[ir.Value] = ()) -> None:
        """Combine the numbers, the first ones first; Python does so if there are none.

        Args:
            rule: combines what has been combined with a number.
            none: what no numbers give; else begin with the first.
        """
        emit, b, kind = self._emit, self._emit.b, _KINDS[class_of(source.type)]
        emit.leave_if(emit.compare("eq", source.count, emit.constant(0, INT)))
        first = none or [b.load(kind, source.buffer)]
        with b.loop(0 if none else 1, source.count.ref, carried=first) as loop:
            loop.carry(*rule(b, loop.carried, b.load(kind, b.gep(source.buffer, loop.index, kind))))
        found = Number(source.type, _sum_of(b, loop.results))
        self._flow.leave_if_nan(node.output, found)
        self._flow.define(node.output, found)


def part(emit: LoopEmitter, operand: Callable[[Any], Any], thing: ir.Value, index: slice) -> tuple[Number, Number]:
    """The first place of a part of a list, `xs[a:b]`, and the number of its items.

    Args:
        operand: gives the operand of a bound.
    """
    none, size = emit.constant(0, INT), Number(INT, emit.objects.load_at(ir.I64, thing, SIZE))
    emit.ranges.bound(size.ref, 0, 2**60)
    bounds = []
    for each, default in ((index.start, none), (index.stop, size)):
        bound = default if each is None else operand(each)
        if not isinstance(bound, Number) or bound.type != INT:
            raise NoLowering
        if emit.ranges.bounds(bound)[0] < 0:
            behind = emit.integer("add", bound, size)
            bound = emit.select(emit.compare("lt", bound, none), behind, bound)
            bound = emit.select(emit.compare("lt", bound, none), none, bound)
        bounds.append(emit.select(emit.compare("lt", size, bound), size, bound))
    count = emit.integer("sub", bounds[1], bounds[0])
    return bounds[0], emit.select(emit.compare("lt", count, none), none, count)


def _extreme_of(how: str) -> _Rule:
    return lambda b, best, other: [b.select(_compare(b, how, other, best[0]), other, best[0])]


def _is_value(arg: Any) -> bool:
    return isinstance(arg, Value)


def _taken(module: ir.Module, of: type) -> ir.Function:
    """The function that puts the numbers of items into a buffer. Returns whether it could."""
    buffer = ir.Parameter("buffer", ir.PTR)

    def build(b: Builder, items: ir.Value, count: ir.Value, kind: ir.Value) -> None:
        with b.loop(0, count) as loop:
            number = _any_number(b, _item(b, items, loop.index), kind, of)
            b.store(number, b.gep(buffer, loop.index, _KINDS[of]))
        b.ret(1)

    return _function(module, f"ag_list_taken_{of.__name__}", ir.I64, build, buffer)


def copied(module: ir.Module) -> ir.Function:
    """The function that copies items to another place, which refers to them, too."""
    name = "ag_list_copied"
    if name not in module.functions:
        source, target = ir.Parameter("source", ir.PTR), ir.Parameter("target", ir.PTR)
        count = ir.Parameter("count", ir.I64)
        b = Builder(module.define(name, ir.VOID, source, target, count, words="internal", attributes="noinline"))
        objects = ObjectBuilder(b, [], ir.NULL, lambda condition: None)
        with b.loop(0, count) as loop:
            b.store(objects.acquire(_item(b, source, loop.index)), b.gep(target, loop.index, ir.PTR))
        b.ret()
    return module.functions[name]


def _ranked(module: ir.Module, of: type) -> ir.Function:
    """The function that sorts numbers from one buffer into another."""
    name, type_ = f"ag_list_ranked_{of.__name__}", _KINDS[of]
    if name not in module.functions:
        source, target = ir.Parameter("source", ir.PTR), ir.Parameter("target", ir.PTR)
        count = ir.Parameter("count", ir.I64)
        b = Builder(module.define(name, ir.VOID, source, count, target, words="internal", attributes="noinline"))
        ranks = b.room(ir.array(FEW, ir.I64))
        with b.loop(0, count) as loop:
            add_rank(b, source, ranks, loop.index, type_, partial(_compare, b, "lt"))
        with b.loop(0, count) as loop:
            rank = b.load(ir.I64, b.gep(ranks, loop.index, ir.I64))
            b.store(b.load(type_, b.gep(source, loop.index, type_)), b.gep(target, rank, type_))
        b.ret()
    return module.functions[name]
