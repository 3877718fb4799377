"""All items of a list at once: `sum(xs)`, `max(xs)`, `xs.count(x)`, `xs.sort()`, if they are numbers of one class.

Each is a function in the module of the code. It gets the address of the items, their number and the class that these
must have. If one is of another class, is an integer of more than one digit, or is a NaN, the function does nothing, and
says so: then Python's own function does it all.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from autograph.common.cpython_internals import CLASS, VALUE
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import integer_of_one_digit

NONE = -(2**63)     # instead of a sum or number
FEW = 24            # items that are sorted here; Python is faster with more
_MANY = 2**30       # items whose sum may overflow

_KINDS = {int: ir.I64, float: ir.DOUBLE}


def total(module: ir.Module, of: type) -> ir.Function:
    """The function of the sum, added one after another to 0; or `NONE`, or a NaN."""
    nothing = _nothing(of)

    def build(b: Builder, items: ir.Value, count: ir.Value, kind: ir.Value) -> None:
        _end_if(b, b.icmp("ugt", b.sub(count, 1), _MANY), nothing)      # of no items it is an integer
        with b.loop(0, count, carried=[ir.constant(_KINDS[of], 0)]) as loop:
            number = _number(b, _item(b, items, loop.index), kind, of, nothing)
            loop.carry(b.binary("fadd" if of is float else "add", loop.carried[0], number))
        b.ret(loop.results[0])

    return _function(module, f"ag_list_total_{of.__name__}", _KINDS[of], build)


def is_total(b: Builder, found: ir.Value) -> ir.Value:
    """Whether there is a sum."""
    return b.fcmp("ord", found, found) if found.type == ir.DOUBLE else b.icmp("ne", found, NONE)


def _nothing(of: type) -> ir.Value:
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
            with b.loop(0, loop.index, carried=[no]) as others:
                place = b.gep(ranks, others.index, ir.I64)
                is_after = _compare(b, "gt", b.load(type_, b.gep(keys, others.index, type_)), number)
                rank = b.load(ir.I64, place)
                b.store(b.add(rank, b.cast("zext", is_after, ir.I64)), place)
                others.carry(b.add(others.carried[0], b.cast("zext", b.xor(is_after, ir.TRUE), ir.I64)))
            b.store(others.results[0], b.gep(ranks, loop.index, ir.I64))
        with b.loop(0, count) as loop:
            rank = b.load(ir.I64, b.gep(ranks, loop.index, ir.I64))
            b.store(b.load(ir.PTR, b.gep(objects, loop.index, ir.PTR)), b.gep(items, rank, ir.PTR))
        b.ret(1)

    return _function(module, f"ag_list_sort_{of.__name__}", ir.I64, build)


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
