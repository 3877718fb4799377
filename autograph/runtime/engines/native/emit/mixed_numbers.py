"""Numbers that are integers or floats, whichever turns out: items of a list that has both.

Machine code computes with their values as floats, which are exact up to `EXACT`, and with the fact whether they are
integers. So there is one path for all combinations, where block versioning would have a version for each.
"""

from __future__ import annotations

from typing import Any

from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.opdef import OPS, PURE
from autograph.runtime.graph.operands import Mixed, NoLowering, Number
from autograph.runtime.graph.traits import CHOOSES_BY, COMPARISON, RING, plain
from autograph.runtime.graph.types import BOOL, FLOAT, INT
from autograph.runtime.ops.native.scalars import EXACT, fitted, leave_if_inexact, number

KINDS = frozenset({INT, FLOAT})


def is_mixed(operand: Any) -> bool:
    return isinstance(operand, Mixed)


def has_class(emit: Emitter, thing: ir.Value) -> ir.Value:
    """Whether an object is an integer or a float."""
    return emit.b.or_(emit.objects.is_of_class(thing, float), emit.objects.is_of_class(thing, int))


def unboxed(emit: Emitter, thing: ir.Value) -> Mixed:
    """The number that an integer or float is; leaves the code if it is an integer that may not be exact as a float."""
    is_int = Number(BOOL, emit.objects.is_of_class(thing, int))

    def of_integer() -> ir.Value:
        found = Number(INT, emit.objects.value_of(thing, INT))
        leave_if_inexact(emit, found)
        return emit.b.cast("sitofp", found.ref, ir.DOUBLE)

    value = emit.b.if_else(is_int.ref, of_integer, lambda: emit.objects.value_of(thing, FLOAT))
    return Mixed((Number(FLOAT, value), is_int))


def compared(emit: Emitter, op: str, args: list[Any]) -> tuple[list[Number], Number]:
    """Two numbers of Python's, constants included, and whether `min` or `max` gives the second one."""
    found = [number(emit, each) for each in args]
    if len(found) != 2 or not all(each.type.weak for each in found):
        raise NoLowering
    rule: Any = OPS[CHOOSES_BY[op]].lower
    return found, rule(emit, found[1], found[0])


def object_of(emit: Emitter, operand: Mixed) -> ir.Value:
    """A new reference to the object of a number."""
    value, is_int = operand.parts
    return emit.objects.mixed_object(value.ref, is_int.ref)


def parted(emit: Emitter, operand: Mixed) -> tuple[Number, Number]:
    """The integer that a number is if it is one, and the float."""
    value, _ = operand.parts
    found = Number(INT, emit.b.cast("fptosi", value.ref, ir.I64))
    emit.ranges.bound(found.ref, -EXACT, EXACT)
    return found, value


def operation(emit: Emitter, node: Node, args: tuple[Any, ...]) -> Any:
    """The result of an operation, if it is the same in floats, apart from its class."""
    rule, name = OPS.get(node.op), plain(node.op)
    if rule is None or node.kwargs:
        raise NoLowering
    if len(args) == 2 and name in CHOOSES_BY:
        return _chosen(emit, CHOOSES_BY[name], *(_mixed(emit, each) for each in args))
    if rule.lower is None or rule.effect != PURE:
        raise NoLowering
    if name in RING:
        return _ring(emit, rule.lower, [_mixed(emit, each) for each in args])
    floats = [each.parts[0] if isinstance(each, Mixed) else number(emit, each) for each in args]
    if any(each.type.kind != "python" for each in floats):
        raise NoLowering
    of_integers = [INT if isinstance(each, Mixed) else other.type for each, other in zip(args, floats)]
    types = {rule.infer(*of_integers), rule.infer(*(each.type for each in floats))}
    if types == {FLOAT} or (name in COMPARISON and types == {BOOL}):
        return rule.lower(emit, *floats)
    raise NoLowering


def _mixed(emit: Emitter, arg: Any) -> Mixed:
    """A number of Python's as a mixed one."""
    if isinstance(arg, Mixed):
        return arg
    found = number(emit, arg)
    if found.type.kind != "python" or found.type.dtype.kind not in "bif":
        raise NoLowering
    is_int = found.type.dtype.kind != "f"
    if is_int:
        leave_if_inexact(emit, found)
    return Mixed((fitted(emit, found, FLOAT), emit.constant(is_int, BOOL)))


def _ring(emit: Emitter, rule: Any, args: list[Mixed]) -> Any:
    """A sum, difference, product or the like: an integer if all operands are."""
    is_int: Number = args[0].parts[1]
    for each in args[1:]:
        is_int = emit.integer("and", is_int, each.parts[1])
    found = rule(emit, *(each.parts[0] for each in args))
    if is_int.known is False:
        return found
    is_large = emit.compare("ge", emit.function("fabs", found), emit.constant(float(EXACT), FLOAT))   # or rounded to it
    emit.leave_if(emit.integer("and", is_int, is_large))
    positive = emit.floating("add", found, emit.constant(0.0, FLOAT))       # an integer has no negative zero
    return Mixed((emit.select(is_int, positive, found), is_int))


def _chosen(emit: Emitter, comparison: str, first: Mixed, second: Mixed) -> Mixed:
    """`min` or `max`."""
    rule: Any = OPS[comparison].lower
    later = rule(emit, second.parts[0], first.parts[0])
    one, other = (emit.select(later, *pair) for pair in zip(second.parts, first.parts))
    return Mixed((one, other))


def is_integer(operand: Any) -> bool:
    """Whether an operand is an integer or a truth value."""
    return isinstance(operand, Number) and operand.type.dtype.kind in "iub"
