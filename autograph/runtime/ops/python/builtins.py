"""Python's builtin functions and classes."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import NO_GRADIENT, OPS, ORDERED, VIEW, Vjp, declare
from autograph.runtime.graph.traits import (
    AGGREGATES,
    CHOOSES_BY,
    COMBINES_ITEMS,
    COMPARES_ITEMS,
    CONSUMES,
    CONVERSION,
    COPIES_ITEMS,
    DIGITS,
    EXTREME,
    GIVES_BOOLEANS,
    HAS_DEFAULT,
    INTERVAL,
    ITERATES,
    LENGTH,
    MAKES_ITERATORS,
    MAKES_RANGES,
    MOVES,
    NEEDS_ITEMS,
    ON_CONTAINER,
    ON_LIST,
    PRINTS,
    READS_ITEMS,
    READS_TEXT,
    SHALLOW,
    SHARES,
    SLOW_ON_LIST,
    STRUCTURAL,
    TAKES_ANY,
    TAKES_NO_ITEMS,
)
from autograph.runtime.graph.types import (
    ANY,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
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
from autograph.runtime.ops.gradients.elementwise import OF_DIVMOD
from autograph.runtime.ops.gradients.toolkit import as_array, is_list, on_proxies, same
from autograph.runtime.ops.inference import sharing
from autograph.runtime.ops.inference.containers import iterated, list_of, tuple_items, tuple_of
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.numpy_probe import probe, shaped_all
from autograph.runtime.ops.inference.shape_rules import Unknown, broadcast, operand, type_of_arg
from autograph.runtime.ops.native import builtins, complex_numbers, intervals
from autograph.runtime.ops.native.numpy_scalars import built_in_rounded
from autograph.runtime.ops.native.scalars import truth

_MOST = 64      # the greatest number of items of one argument that are looked at


# -------------------------------------------------------------------------------------------------------- numbers


def round_(number: Any, ndigits: Any = None) -> Type:
    x = operand(number)
    if x.shape or x.kind == "array" or x.dtype.kind not in "biuf":
        raise Unknown
    if ndigits is None or x.dtype.kind == "b":
        return INT
    if type_of_arg(ndigits) == ANY:
        raise Unknown
    return x


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


def extreme(*args: Any, key: Any = None, default: Any = _NO_DEFAULT) -> Type:
    """The rule of `min` and `max`: the type of one of the arguments, or of the items of the only one."""
    return _extreme(default, args)


def sum_(iterable: Any, /, start: Any = 0) -> Type:
    """The type of `start` after adding all items; that of `start`, if there are none."""
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
    """The types of the items of an argument with a known number of items."""
    found = type_of_arg(arg)
    if type(arg) in (list, tuple) and len(arg) <= _MOST:
        return list(map(type_of_arg, arg))
    if isinstance(found, TensorType) and found.shape and found.shape[0] is not None and found.shape[0] <= _MOST:
        return [iterated(found)] * found.shape[0]
    return tuple_items(found)


def tuple_(iterable: Any = (), /) -> Type:
    return tuple_of(*(_items(iterable) or ()))


def list_(iterable: Any = (), /) -> Type:
    return list_of(iterated(iterable))


def set_(iterable: Any = (), /) -> Type:
    return list_of(iterated(iterable), "set")


def sorted_(iterable: Any, /, *, key: Any = None, reverse: Any = False) -> Type:
    return list_of(iterated(iterable))


def enumerate_(iterable: Any, start: Any = 0) -> Type:
    return ObjectType("enumerate", (tuple_of(INT, iterated(iterable)),))


def zip_(*iterables: Any, strict: Any = False) -> Type:
    return ObjectType("zip", (tuple_of(*map(iterated, iterables)),))


def filter_(function: Any, iterable: Any, /) -> Type:
    return ObjectType("filter", (iterated(iterable),))


def reversed_(sequence: Any, /) -> Type:
    """The iterator that `reversed` returns for each class; a range counts as short enough for C integers."""
    found = type_of_arg(sequence)
    name = found.name if isinstance(found, ObjectType) else "array"
    names = {"list": "list_reverseiterator", "range": "range_iterator", "tuple": "reversed", "array": "reversed"}
    return ObjectType(names[name], (iterated(sequence),))


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


def next_(iterator: Any, /, *default: Any) -> Type:
    found = type_of_arg(iterator)
    item = item_of(found) if isinstance(found, ObjectType) else ANY
    return join(item, type_of_arg(default[0])) if default else item


# ---------------------------------------------------------------------------------------------------- derivatives


@on_proxies
def for_each(gradient: Any, items: Any) -> list[Any]:
    """A list with the gradient for each item."""
    return [gradient] * len(items)


def _summed_up(g: Any, out: Any, gradient: Any, items: Any) -> Any:
    return functools.reduce(operator.add, g) if isinstance(g, (list, tuple)) else np.sum(g, 0)


_MASKED = on_proxies(masked)


def of_extreme(position: int) -> Vjp:
    """The derivative of `max` and `min`: arguments or items that equal the result share the gradient."""

    def vjp(g: Any, out: Any, /, *args: Any, **_: Any) -> Any:
        if len(args) == 1:
            return reductions.extreme(g, out, as_array(args[0]), None, True, {})
        ties = sum(_MASKED(1, arg == out) for arg in args)
        return _MASKED(g / ties, args[position] == out)

    return vjp


def check_some(items: Any) -> None:
    """Check that `functools.reduce` has a first item."""
    if not len(items):
        raise TypeError("reduce() of empty iterable with no initial value")


# ------------------------------------------------------------------------------------------------ declarations

functions(
    "int", INT, foldable=True, vjp=NO_GRADIENT, lower=builtins.conversion(INT),
    traits=[CONVERSION, DIGITS, READS_TEXT, (INTERVAL, intervals.same)],
)  # fmt: skip
functions("float", FLOAT, foldable=True, vjp=same, lower=builtins.conversion(FLOAT), traits=[CONVERSION])
functions(
    "complex", COMPLEX, foldable=True, vjp=(same, lambda g, out, re, im: g * 1j), lower=complex_numbers.make,
    traits=[CONVERSION],
)  # fmt: skip
functions(
    "bool", BOOL, foldable=True, vjp=NO_GRADIENT, lower=truth,
    traits=[CONVERSION, GIVES_BOOLEANS, TAKES_NO_ITEMS],
)  # fmt: skip
functions("round", round_, foldable=True, vjp=NO_GRADIENT, lower=built_in_rounded)
functions("divmod", divmod_, foldable=True, vjp=OF_DIVMOD)
functions("hash", INT, vjp=NO_GRADIENT)
functions("ord", INT, vjp=NO_GRADIENT, traits=[READS_TEXT])
functions("str", STR, foldable=True, traits=[CONVERSION, TAKES_ANY, TAKES_NO_ITEMS, DIGITS])
functions("repr", STR, foldable=True, traits=[TAKES_ANY, TAKES_NO_ITEMS, DIGITS])
functions("ascii format", STR, traits=[TAKES_ANY, TAKES_NO_ITEMS, DIGITS])
functions("chr bin oct hex", STR)
functions("type", ObjectType("type"), raises=False, vjp=NO_GRADIENT, traits=[STRUCTURAL, TAKES_NO_ITEMS])
functions("isinstance callable", BOOL, raises=False, vjp=NO_GRADIENT, traits=[GIVES_BOOLEANS])
functions("issubclass", BOOL, vjp=NO_GRADIENT, traits=[GIVES_BOOLEANS])
functions("print", NONE, effect=ORDERED, vjp=NO_GRADIENT, traits=[PRINTS, TAKES_ANY])
functions("slice", ObjectType("slice"), effect=VIEW)
functions("range", ObjectType("range", (INT,)), vjp=NO_GRADIENT, lower=builtins.make_range, traits=[MAKES_RANGES])

# Containers.
functions(
    "len", INT, foldable=True, vjp=NO_GRADIENT, lower=builtins.length,
    traits=[LENGTH, STRUCTURAL, TAKES_NO_ITEMS, SHALLOW, READS_ITEMS, (ON_LIST, "length"), (ON_CONTAINER, "size")],
)  # fmt: skip
functions("tuple", tuple_, effect=VIEW, traits=[STRUCTURAL, SHALLOW, CONSUMES, READS_ITEMS])
functions(
    "list", list_, effect=VIEW,
    traits=[STRUCTURAL, SHALLOW, CONSUMES, READS_ITEMS, COPIES_ITEMS, (ON_CONTAINER, "copy")],
)  # fmt: skip
functions("set", set_, effect=VIEW, traits=[CONSUMES])
functions("frozenset", ObjectType("frozenset"), effect=VIEW, traits=[CONSUMES])
functions("dict", ObjectType("dict"), effect=VIEW, traits=[STRUCTURAL, CONSUMES])
functions(
    "sorted", sorted_, effect=VIEW,
    traits=[COMPARES_ITEMS, AGGREGATES, CONSUMES, READS_ITEMS, (ON_CONTAINER, "sorted")],
)  # fmt: skip
for _name, _interval, _test in (("min", intervals.least, "lt"), ("max", intervals.greatest, "gt")):
    functions(
        _name, extreme, effect=VIEW, foldable=True, vjp=tuple(map(of_extreme, range(16))),
        lower=builtins.extreme(_name),
        traits=[
            COMPARES_ITEMS, AGGREGATES, EXTREME, NEEDS_ITEMS, CONSUMES, READS_ITEMS, (INTERVAL, _interval),
            (CHOOSES_BY, _test), (ON_CONTAINER, _name), SLOW_ON_LIST,
            (SHARES, sharing.never),        # arrays have no order
        ],
    )  # fmt: skip
functions(
    "sum", sum_, effect=VIEW, lower=builtins.total,
    vjp=(lambda g, out, iterable, start=0: for_each(g, iterable) if is_list(iterable) else g, same),
    traits=[COMBINES_ITEMS, MOVES, AGGREGATES, CONSUMES, READS_ITEMS, (SHARES, sharing.summed), (ON_CONTAINER, "sum")],
)  # fmt: skip
functions("any all", BOOL, vjp=NO_GRADIENT, traits=[COMBINES_ITEMS, CONSUMES, GIVES_BOOLEANS])

# Iterators.
_ITERATOR = [STRUCTURAL, MAKES_ITERATORS, SHALLOW, READS_ITEMS]
functions("enumerate", enumerate_, effect=VIEW, traits=[*_ITERATOR, (ON_CONTAINER, "enumerate")])
functions("zip", zip_, effect=VIEW, traits=[*_ITERATOR, (ON_CONTAINER, "zip")])
functions("reversed", reversed_, effect=VIEW, traits=[*_ITERATOR, ITERATES, (ON_CONTAINER, "reversed")])
functions("iter", iter_, effect=VIEW, traits=[*_ITERATOR, ITERATES])
functions("map", ObjectType("map"), effect=VIEW)
functions("filter", filter_, effect=VIEW)
functions("next", next_, effect=ORDERED, traits=[STRUCTURAL, HAS_DEFAULT])

declare("check_some", NONE, target=check_some, raises=True, vjp=NO_GRADIENT)
declare("for_each", ObjectType("list"), target=for_each, vjp=(_summed_up, None))
