"""Python's builtin functions and classes, with values among their arguments."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import OPS, ORDERED, PURE, VIEW, Vjp, declare, derive, foldable, lower
from autograph.runtime.graph.traits import (
    AGGREGATES,
    COMBINES_ITEMS,
    COMPARES_ITEMS,
    CONSUMES,
    CONVERSION,
    DIGITS,
    EXTREME,
    GIVES_BOOLEANS,
    HAS_DEFAULT,
    INTERVAL,
    LENGTH,
    MAKES_ITERATORS,
    MAKES_RANGES,
    MOVES,
    NEEDS_ITEMS,
    PRINTS,
    READS_ITEMS,
    READS_TEXT,
    SHALLOW,
    SHARES,
    STRUCTURAL,
    TAKES_NO_ITEMS,
    mark,
)
from autograph.runtime.graph.types import (
    ANY,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    STR,
    ObjectType,
    TensorType,
    Type,
    item_of,
    join,
    join_all,
)
from autograph.runtime.ops.gradients import reductions
from autograph.runtime.ops.gradients.adjoint_ops import masked
from autograph.runtime.ops.gradients.elementwise import OF_DIVMOD, same
from autograph.runtime.ops.gradients.toolkit import as_array, is_list, on_proxies
from autograph.runtime.ops.inference import sharing
from autograph.runtime.ops.inference.containers import iterated, list_of, tuple_items, tuple_of
from autograph.runtime.ops.inference.declare import always, functions, nothing
from autograph.runtime.ops.inference.infer import rule
from autograph.runtime.ops.inference.numpy_probe import probe, shaped_all
from autograph.runtime.ops.inference.shape_rules import Unknown, broadcast, operand, type_of_arg
from autograph.runtime.ops.native import builtins, complex_numbers, intervals
from autograph.runtime.ops.native.numpy_scalars import built_in_rounded

_MOST = 64      # the greatest number of items of one argument that are looked at


# -------------------------------------------------------------------------------------------------------- numbers


@rule
def round_(number: Any, ndigits: Any = None) -> Type:
    x = operand(number)
    if x.shape or x.kind == "array" or x.dtype.kind not in "biuf":
        raise Unknown
    if ndigits is None or x.dtype.kind == "b":
        return INT
    if type_of_arg(ndigits) == ANY:
        raise Unknown
    return x


@rule
def divmod_(x: Any, y: Any) -> Type:
    a, b = operand(x), operand(y)
    shape = broadcast(a.shape, b.shape)
    return shaped_all(probe(divmod, a, b), shape, shape)


def _extreme(default: Any, args: Sequence[Any]) -> Type:
    if len(args) > 1:
        return join_all(map(type_of_arg, args))
    found = iterated(args[0])
    return found if default is _NO_DEFAULT else join(found, type_of_arg(default))


_NO_DEFAULT = object()


@rule
def extreme(*args: Any, key: Any = None, default: Any = _NO_DEFAULT) -> Type:
    """`min` and `max`: one of the arguments, or one of the items of the only one."""
    return _extreme(default, args)


@rule
def sum_(iterable: Any, /, start: Any = 0) -> Type:
    """The type of `start` after adding the items one by one; that of `start`, if there are none."""
    first = type_of_arg(start)
    items = _items(iterable)
    if items is not None:
        for item in items:
            first = _add(first, item)
        return first
    item = iterated(iterable)
    once = _add(first, item)
    if _add(once, item) != once:
        raise Unknown
    found = type_of_arg(iterable)
    filled = isinstance(found, TensorType) and bool(found.shape[0])
    return once if filled else join(first, once)


def _add(first: Type, second: Type) -> Any:
    return OPS["add"].infer(first, second)


# --------------------------------------------------------------------------------------------- what can be iterated


def _items(arg: Any) -> Sequence[Type] | None:
    """The types of the items of an argument, if it is known how many there are."""
    found = type_of_arg(arg)
    if type(arg) in (list, tuple) and len(arg) <= _MOST:
        return list(map(type_of_arg, arg))
    if isinstance(found, TensorType) and found.shape and found.shape[0] is not None and found.shape[0] <= _MOST:
        return [iterated(found)] * found.shape[0]
    return tuple_items(found)


@rule
def tuple_(iterable: Any = (), /) -> Type:
    return tuple_of(*(_items(iterable) or ()))


@rule
def list_(iterable: Any = (), /) -> Type:
    return list_of(iterated(iterable))


@rule
def set_(iterable: Any = (), /) -> Type:
    return list_of(iterated(iterable), "set")


@rule
def frozenset_(iterable: Any = (), /) -> Type:
    return ObjectType("frozenset")


@rule
def sorted_(iterable: Any, /, *, key: Any = None, reverse: Any = False) -> Type:
    return list_of(iterated(iterable))


@rule
def enumerate_(iterable: Any, start: Any = 0) -> Type:
    return ObjectType("enumerate", (tuple_of(INT, iterated(iterable)),))


@rule
def zip_(*iterables: Any, strict: Any = False) -> Type:
    return ObjectType("zip", (tuple_of(*map(iterated, iterables)),))


@rule
def filter_(function: Any, iterable: Any, /) -> Type:
    return ObjectType("filter", (iterated(iterable),))


@rule
def reversed_(sequence: Any, /) -> Type:
    """Each class has its own; that of a range is taken to be short enough for integers of C."""
    found = type_of_arg(sequence)
    name = found.name if isinstance(found, ObjectType) else "array"
    names = {"list": "list_reverseiterator", "range": "range_iterator", "tuple": "reversed", "array": "reversed"}
    return ObjectType(names[name], (iterated(sequence),))


@rule
def iter_(iterable: Any, /) -> Type:
    found = type_of_arg(iterable)
    if isinstance(found, TensorType):
        return ObjectType("iterator", (iterated(found),))
    names = {"list": "list_iterator", "tuple": "tuple_iterator", "range": "range_iterator"}
    if found.name in names:
        return ObjectType(names[found.name], (iterated(found),))
    if found.name in ("enumerate", "zip", "map", "filter", "reversed"):
        return found
    raise Unknown


@rule
def next_(iterator: Any, /, *default: Any) -> Type:
    found = type_of_arg(iterator)
    item = item_of(found) if isinstance(found, ObjectType) else ANY
    return join(item, type_of_arg(default[0])) if default else item


# ---------------------------------------------------------------------------------------------------- derivatives


def of_summed(g: Any, out: Any, iterable: Any, start: Any = 0) -> Any:
    return for_each(g, iterable) if is_list(iterable) else g


@on_proxies
def for_each(gradient: Any, items: Any) -> list[Any]:
    """A gradient for each item of a list."""
    return [gradient] * len(items)


def _summed_up(g: Any, out: Any, gradient: Any, items: Any) -> Any:
    return functools.reduce(operator.add, g) if isinstance(g, (list, tuple)) else np.sum(g, 0)


_MASKED = on_proxies(masked)


def of_extreme(position: int) -> Vjp:
    """The rule of `max` and `min`: arguments, or items, that are equal to the result share the gradient."""

    def vjp(g: Any, out: Any, /, *args: Any, **_: Any) -> Any:
        if len(args) == 1:
            return reductions.extreme(g, out, as_array(args[0]), None, True, {})
        ties = sum(_MASKED(1, arg == out) for arg in args)
        return _MASKED(g / ties, args[position] == out)

    return vjp


# ------------------------------------------------------------------------------------------------ declarations


def _declare(names: str, infer: Any, effect: str, raises: bool = True) -> None:
    functions(names, infer, prefix="", effect=effect, raises=raises)


_declare("int len ord hash", always(INT), PURE)
_declare("bool any all", always(BOOL), PURE)
_declare("issubclass", always(BOOL), PURE)
_declare("isinstance callable", always(BOOL), PURE, raises=False)
_declare("float", always(FLOAT), PURE)
_declare("complex", always(COMPLEX), PURE)
_declare("str repr ascii format chr bin oct hex", always(STR), PURE)
_declare("type", always(ObjectType("type")), PURE, raises=False)
_declare("round", round_, PURE)
_declare("divmod", divmod_, PURE)
_declare("min max", extreme, VIEW)
_declare("sum", sum_, VIEW)
_declare("range", always(ObjectType("range", (INT,))), PURE)
_declare("slice", always(ObjectType("slice")), VIEW)
_declare("tuple", tuple_, VIEW)
_declare("list", list_, VIEW)
_declare("set", set_, VIEW)
_declare("frozenset", frozenset_, VIEW)
_declare("dict", always(ObjectType("dict")), VIEW)
_declare("sorted", sorted_, VIEW)
_declare("enumerate", enumerate_, VIEW)
_declare("zip", zip_, VIEW)
_declare("map", always(ObjectType("map")), VIEW)
_declare("filter", filter_, VIEW)
_declare("reversed", reversed_, VIEW)
_declare("iter", iter_, VIEW)
_declare("next", next_, ORDERED)
_declare("print", nothing, ORDERED)
mark("bool int float complex str", CONVERSION)
mark("len", LENGTH)
mark("len enumerate zip reversed iter list tuple type next dict", STRUCTURAL)
mark("type str repr ascii format bool len", TAKES_NO_ITEMS)
mark("sorted min max", COMPARES_ITEMS)
mark("sum any all", COMBINES_ITEMS)
mark("str repr ascii format int", DIGITS)
foldable("bool int float complex str repr len round min max divmod")
mark("enumerate zip reversed iter", MAKES_ITERATORS)
mark("len list tuple enumerate zip reversed iter", SHALLOW)

mark("int ord", READS_TEXT)
mark("sum", MOVES)
mark("sum min max sorted", AGGREGATES)
mark("min max", EXTREME, NEEDS_ITEMS)
SHARES.update(min=sharing.never, max=sharing.never, sum=sharing.summed)     # arrays have no order
mark("sum min max any all sorted list tuple set frozenset dict", CONSUMES)
mark("len list tuple sorted zip enumerate reversed iter sum min max", READS_ITEMS)
mark("next", HAS_DEFAULT)
mark("bool any all isinstance issubclass callable", GIVES_BOOLEANS)
mark("print", PRINTS)

derive("float", same)
derive("complex", same, lambda g, out, re, im: g * 1j)
derive("round int bool", None)
derive("divmod", *OF_DIVMOD)
derive("sum", of_summed, same)


def check_some(items: Any) -> None:
    """Check that `functools.reduce` has a first item."""
    if not len(items):
        raise TypeError("reduce() of empty iterable with no initial value")


declare("check_some", nothing, target=check_some, raises=True)
derive("check_some", None)
declare("for_each", always(ObjectType("list")), target=for_each)
derive("for_each", _summed_up, None)
derive("min max", *map(of_extreme, range(16)))
derive("len any all bool isinstance callable issubclass hash ord range print type", None)

lower("range", builtins.make_range, MAKES_RANGES)
lower("len", builtins.length)
lower("min", builtins.extreme("min"))
lower("max", builtins.extreme("max"))
lower("int", builtins.to_int)
lower("float", builtins.to_float)
lower("complex", complex_numbers.make)
lower("bool", builtins.to_bool)
lower("round", built_in_rounded)
INTERVAL.update(int=intervals.same, min=intervals.least, max=intervals.greatest)
