"""Lowerings of operations on vectors element by element: `x[:k] += a * y[:k]`, of arrays and views of them.

The result is no array, but a description of its elements (`Computed`), which are computed where they are stored. So
such operations and the one that stores the result must be emitted together, as views must. If the result is needed
later on, it becomes an array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce, wraps
from typing import Any

import numpy as np

from autograph.common.numpy_internals import deviations_are_known
from autograph.runtime.graph.operands import (
    DTYPES,
    Array,
    Complex,
    Computed,
    Emitter,
    Gathered,
    NoLowering,
    Number,
    Rows,
    View,
)
from autograph.runtime.graph.traits import DIVIDES, MAKES_VIEWS, ONE_BY_ONE, READS_VIEWS, Trait
from autograph.runtime.graph.types import INT, TensorType, part_of, scalar
from autograph.runtime.ops.native import complex_rules
from autograph.runtime.ops.native.complex_rules import Element, as_complex, is_complex, parts_of
from autograph.runtime.ops.native.number_rules import (
    RULES,
    Inner,
    converted,
    is_weak,
    known_dtype,
    promotes,
    where_true,
)
from autograph.runtime.ops.native.scalars import fitted, floor_division, number, remainder
from autograph.runtime.ops.native.views import broadcast, common_shape, item, part, whole_of

Rule = Callable[..., Any]
VECTORS = (Array, View, Computed)
NUMBERS = (Number, Complex)
# Rules for quotients of integers by a constant.
DIVISIONS: dict[str, Rule] = {"floor_divide": floor_division, "remainder": remainder}
_SQUARE, _MINUS = Inner(np.square, RULES["square"]), Inner(np.subtract, RULES["subtract"])
_PRODUCTS = frozenset([np.multiply, np.square])
# Of complex numbers: these drop no operand, so that each raises the flags that NumPy's loop raises.
_OF_COMPLEX = frozenset("add subtract multiply square negative positive conjugate".split())


def or_vectors(ufunc: np.ufunc, rule: Rule) -> Rule:
    """The lowering of a ufunc: that of numbers, or of vectors."""
    inner = _inner(ufunc)

    @wraps(rule)
    def lowering(emit: Emitter, *args: Any) -> Any:
        return computed(emit, inner, *args) if any(isinstance(arg, VECTORS) for arg in args) else rule(emit, *args)

    return lowering


def _inner(ufunc: np.ufunc) -> Inner:
    """The rules of a ufunc for elements of vectors."""
    name = ufunc.__name__
    return Inner(ufunc, RULES.get(name), complex_rules.RULES[name] if name in _OF_COMPLEX else None)


def traits(ufunc: np.ufunc) -> list[Trait]:
    """Those of an op with such a lowering."""
    name = ufunc.__name__
    own = [DIVIDES] if name in DIVISIONS else [ONE_BY_ONE] if name not in RULES else []
    return [READS_VIEWS, MAKES_VIEWS, *own]


def or_squares(rule: Rule) -> Rule:
    """The lowering of a power: that of numbers, or of vectors of floats if the exponent is 2."""

    @wraps(rule)
    def lowering(emit: Emitter, x: Any, exponent: Any) -> Any:
        if not isinstance(x, VECTORS):
            return rule(emit, x, exponent)
        if x.dtype.kind != "f" or type(exponent) not in (int, float) or exponent != 2:
            raise NoLowering
        return computed(emit, _SQUARE, x)

    return lowering


def or_view(ufunc: np.ufunc, rule: Rule) -> Rule:
    """The lowering of an in-place operator: that of numbers, or of an array or view that is changed."""
    inner = _inner(ufunc)

    @wraps(rule)
    def lowering(emit: Emitter, *args: Any) -> Any:
        target, *others = args
        if not isinstance(target, (Array, View)):
            return rule(emit, *args)
        view = whole_of(emit, target)
        found = computed(emit, inner, view, *others, in_place=True)
        if found.singly and found.dtype.kind in "fc":
            raise NoLowering        # the result may depend on the strides of the target
        stored(emit, view, found, apart=found.dtype.kind == "c" and ufunc in _PRODUCTS)
        return target

    return lowering


def reduction(how: str) -> Rule:
    """The lowering of a function or method that reduces a vector, see `Vectors.reduction`."""

    def rule(emit: Emitter, a: Any, axis: Any = None) -> Number | Array:
        x = a if isinstance(a, (Computed, Gathered)) else whole_of(emit, a)
        if len(x.shape) == 2 and type(axis) is int and axis in (1, -1) and not isinstance(x, Gathered):
            return emit.vectors.reduced_rows(how, x)
        axes = (None, 0, -1) if len(x.shape) == 1 else (None,)
        if type(axis) not in (int, type(None)) or axis not in axes:
            raise NoLowering
        return emit.vectors.reduction(how, _in_order(emit, a) if len(x.shape) > 1 else x)

    return rule


def median(emit: Emitter, a: Any) -> Number:
    """`np.median(a)` of a part of an array, or a list."""
    x = operand(emit, a)
    if isinstance(x, NUMBERS) or isinstance(a, Array):     # of any size
        raise NoLowering
    return emit.vectors.median(x)


def deviation(root: bool) -> Rule:
    """The lowering of `np.var(a)`, the mean of the squared differences from the mean, or of its root `np.std(a)`."""

    def rule(emit: Emitter, a: Any, axis: Any = None) -> Number:
        x = operand(emit, a)
        if isinstance(x, NUMBERS) or x.dtype.kind != "f" or not deviations_are_known(x.dtype):
            raise NoLowering
        differences = computed(emit, _MINUS, x, reduction("mean")(emit, a, axis))
        found = emit.vectors.reduction("mean", computed(emit, _SQUARE, differences))
        return emit.function("sqrt", found) if root else found

    return rule


def accumulation(how: str) -> Rule:
    """The lowering of `np.cumsum` or `np.cumprod` of a vector, see `Vectors.accumulated`."""

    def rule(emit: Emitter, a: Any, axis: Any = None) -> Array:
        x = a if isinstance(a, Computed) else whole_of(emit, a)
        if type(axis) not in (int, type(None)) or axis not in (None, 0, -1) or len(x.shape) != 1:
            raise NoLowering
        return emit.vectors.accumulated(how, x)

    return rule


def _in_order(emit: Emitter, x: Array | View | Computed) -> View | Computed:
    """The elements along several axes; those of a contiguous array as a vector."""
    if isinstance(x, Array) and x.contiguous:
        whole, size = whole_of(emit, x), emit.constant(x.dtype.itemsize, INT)
        return replace(whole, shape=(reduce(partial(emit.integer, "mul"), whole.shape),), strides=(size,))
    return x if isinstance(x, Computed) else whole_of(emit, x)


def set_part(emit: Emitter, x: Array | View, entries: tuple[Any, ...], value: Any) -> None:
    """`x[entries] = value`, with at least one slice."""
    target = part(emit, x, entries)
    if isinstance(value, VECTORS):
        stored(emit, target, operand(emit, value))
        return
    if type(value) in (list, tuple):
        items = [fitted(emit, number(emit, each), scalar(target.dtype)) for each in value]
        stored(emit, target, emit.vectors.listed(target.dtype, items))
        return
    stored(emit, target, _as_element(emit, value, target.dtype))


def set_chosen(emit: Emitter, x: Array | View, index: Array | View | Computed, value: Any) -> None:
    """`x[mask] = value` of vectors."""
    target, mask = whole_of(emit, x), index if isinstance(index, Computed) else whole_of(emit, index)
    if mask.dtype.kind != "b" or len(mask.shape) != 1 or len(target.shape) != 1:
        raise NoLowering
    known_dtype(target.dtype)
    emit.leave_if(emit.compare("ne", target.length, mask.length))
    if not isinstance(value, VECTORS):
        emit.vectors.store_chosen(target, mask, _as_element(emit, value, target.dtype))
        return
    given = operand(emit, value)
    if isinstance(given, NUMBERS) or len(given.shape) != 1 or not np.can_cast(given.dtype, target.dtype):
        raise NoLowering
    emit.vectors.store_chosen(target, mask, _of_dtype(given, target.dtype))


def _as_element(emit: Emitter, value: Any, dtype: np.dtype[Any]) -> Element:
    """A number as an element of an array, if that is of the same kind, or of complex numbers."""
    if dtype.kind == "c":
        return as_complex(emit, value, scalar(dtype))
    given = number(emit, value)
    if given.type.dtype != dtype and not (is_weak(given.type) and dtype.kind == "f"):
        raise NoLowering
    return fitted(emit, given, scalar(dtype))


def _of_dtype(x: View | Computed, dtype: np.dtype[Any]) -> View | Computed:
    return x if x.dtype == dtype else Computed(dtype, x.shape, dtype, RULES["positive"], (x,))


def stored(emit: Emitter, target: View, value: Any, apart: bool = False) -> None:
    """Store a vector, or a number in all elements.

    Args:
        apart: whether to leave machine code if an operand overlaps the target, and is not the target itself.
    """
    if not target.writeable or not target.shape:
        raise NoLowering
    if not isinstance(value, NUMBERS):
        more = len(target.shape) - len(value.shape)
        if not np.can_cast(value.dtype, target.dtype) or more < 0:
            raise NoLowering
        for length, wanted in zip(value.shape, target.shape[more:]):
            if length.ref != wanted.ref and length.known != 1:
                emit.leave_if(emit.compare("ne", length, wanted))
        value = _of_dtype(broadcast(emit, value, target.shape), target.dtype)
    emit.vectors.store(target, value, apart)


def computed(emit: Emitter, inner: Inner, *args: Any, in_place: bool = False) -> Computed:
    """A vector that a ufunc computes.

    Args:
        in_place: whether NumPy stores the result in the first operand.
    """
    operands = [operand(emit, arg) for arg in args]
    if len(operands) != inner.ufunc.nin:
        raise NoLowering
    given = [promotes(each.type) if isinstance(each, NUMBERS) else each.dtype for each in operands]
    *takes, dtype = map(known_dtype, inner.dtypes(*given))
    if any(each != takes[0] for each in takes):
        raise NoLowering
    rule = _rule(inner, takes[0], operands)
    singly = rule is None
    if (dtype.kind == "c") != (takes[0].kind == "c") and not (singly and dtype.kind == "f"):
        raise NoLowering
    if rule is None:
        if not emit.vectors.computes(inner.ufunc, (*takes, dtype)):
            raise NoLowering
        _leave_if_reversed(emit, dtype, operands)
        rule = partial(_by_numpy, inner.ufunc, scalar(dtype))
    parts = tuple(_fitted(emit, each, takes[0]) if isinstance(each, NUMBERS) else each for each in operands)
    shape = common_shape(emit, *(each.shape for each in parts if not isinstance(each, NUMBERS)))
    if dtype.kind == "c" and inner.ufunc in _PRODUCTS:
        _leave_if_unsteady(emit, operands, shape, in_place)
    parts = tuple(each if isinstance(each, NUMBERS) else broadcast(emit, each, shape) for each in parts)
    return Computed(dtype, shape, takes[0], rule, parts, singly)


def _rule(inner: Inner, dtype: np.dtype[Any], operands: Sequence[View | Computed | Element]) -> Rule | None:
    """The rule for an element, if there is one; quotients of integers have one if the divisor is a constant."""
    divisor = operands[-1]
    is_known = isinstance(divisor, Number) and divisor.known not in (None, 0, -1)
    rule = inner.rule_of([dtype])
    return DIVISIONS.get(inner.ufunc.__name__, rule) if is_known and dtype.kind in "iu" else rule


def chosen(emit: Emitter, condition: Any, x: Any, y: Any) -> Computed:
    """`np.where(condition, x, y)` of vectors; of numbers only if these have the dtype of the result."""
    test, *both = operands = [operand(emit, arg) for arg in (condition, x, y)]
    vectors = [each.dtype for each in both if not isinstance(each, NUMBERS)]
    numbers = [each.type for each in both if isinstance(each, NUMBERS)]
    dtype = vectors[0] if vectors else numbers[0].dtype if numbers else None
    if isinstance(test, NUMBERS) or test.dtype.char not in DTYPES or dtype is None or dtype.char not in DTYPES:
        raise NoLowering
    if {*vectors, *(each.dtype for each in numbers)} != {dtype}:
        raise NoLowering
    shape = common_shape(emit, *(each.shape for each in operands if not isinstance(each, NUMBERS)))
    if test.dtype.kind != "b":
        none = emit.constant(0, scalar(test.dtype))
        operands[0] = Computed(np.dtype(bool), test.shape, test.dtype, RULES["not_equal"], (test, none))
    parts = tuple(each if isinstance(each, NUMBERS) else broadcast(emit, each, shape) for each in operands)
    return Computed(dtype, shape, dtype, where_true, parts)


def _leave_if_reversed(emit: Emitter, dtype: np.dtype[Any], operands: Sequence[View | Computed | Element]) -> None:
    """Leave for floats in reversed order, which NumPy computes by other instructions, with other results."""
    for each in operands if dtype.kind in "fc" else ():
        for stride in each.strides if isinstance(each, View) else ():
            emit.leave_if(emit.compare("lt", stride, emit.constant(0, INT)))


def _leave_if_unsteady(
    emit: Emitter, operands: Sequence[View | Computed | Element], shape: Sequence[Number], in_place: bool
) -> None:
    """Leave for complex numbers in reversed order, whose products NumPy may round otherwise; and for a single one.

    Of single ones in vectors that lie in order, NumPy computes the products as those of others, but not in place.
    """
    none, one = (emit.constant(each, INT) for each in (0, 1))
    for each in operands:
        for length, stride in zip(each.shape, each.strides) if isinstance(each, View) else ():
            several = emit.compare("gt", length, one)
            wrong = emit.compare("le", stride, none)
            emit.leave_if(wrong if len(shape) == 1 else emit.integer("and", several, wrong))
    if in_place or len(shape) > 1:
        emit.leave_if(emit.compare("eq", reduce(partial(emit.integer, "mul"), shape), one))


def _by_numpy(ufunc: np.ufunc, type: TensorType, emit: Emitter, *args: Element) -> Any:
    return emit.ufunc(ufunc, type, *args)


def operand(emit: Emitter, arg: Any) -> View | Computed | Element:
    """A vector, or a number."""
    if type(arg) in (list, tuple):
        return listed(emit, arg)
    if not isinstance(arg, VECTORS):
        return as_complex(emit, arg) if is_complex(arg) else number(emit, arg)
    found = arg if isinstance(arg, Computed) else whole_of(emit, arg)
    if not found.shape:
        raise NoLowering
    known_dtype(found.dtype)
    return found


def listed(emit: Emitter, items: Sequence[Any]) -> View:
    """A list or tuple of numbers as the array that NumPy makes of it."""
    numbers = [number(emit, each) for each in items]
    kinds = {each.type.dtype for each in numbers}
    dtype = known_dtype(reduce(np.promote_types, kinds, next(iter(kinds)))) if kinds else None
    if dtype is None or any(each.kind not in ("b", dtype.kind) and dtype.kind != "f" for each in kinds):
        raise NoLowering
    return emit.vectors.listed(dtype, [converted(emit, each, dtype) for each in numbers])


def ordered(emit: Emitter, a: Any, axis: Any = -1) -> Array | View:
    """`np.sort(a)` of a vector."""
    return emit.vectors.sorted(_vector(emit, a, axis))


def ordering(emit: Emitter, a: Any, axis: Any = -1) -> Array:
    """`np.argsort(a)` of a vector."""
    x = _vector(emit, a, axis)
    return emit.vectors.sorting_places(a if isinstance(a, Array) else x)


def nonzero(emit: Emitter, a: Any) -> tuple[Array, ...]:
    """`np.nonzero(a)`."""
    x = operand(emit, a)
    if isinstance(x, NUMBERS):
        raise NoLowering
    return emit.vectors.places(a if isinstance(a, Array) else x)


def flat_nonzero(emit: Emitter, a: Any) -> Array:
    """`np.flatnonzero(a)` of a vector."""
    found = nonzero(emit, a)
    if len(found) > 1:
        raise NoLowering
    return found[0]


def _vector(emit: Emitter, a: Any, axis: Any) -> View | Computed:
    x = operand(emit, a)
    if isinstance(x, NUMBERS) or type(axis) is not int or axis not in (0, -1) or len(x.shape) != 1:
        raise NoLowering
    if x.dtype.char not in DTYPES:
        raise NoLowering
    return x


def unpacked(emit: Emitter, x: Any, count: Any) -> tuple[Any, ...]:
    """The items of an array, as many as there are targets."""
    if not isinstance(x, VECTORS) or type(count) is not int:
        raise NoLowering
    whole = x if isinstance(x, Computed) else whole_of(emit, x)
    if len(whole.shape) != 1:
        raise NoLowering
    return tuple(emit.vectors.items(whole, count))


def made_of(emit: Emitter, object: Any, dtype: Any = None) -> Array:
    """`np.array(object)` of a list of numbers, or of a vector."""
    if dtype is not None:
        raise NoLowering
    if type(object) in (list, tuple):
        return emit.vectors.array(listed(emit, object))
    if not isinstance(object, Computed):
        raise NoLowering
    return emit.vectors.array(object)


def rows_of(emit: Emitter, x: Any, places: list[Any]) -> Rows | View:
    """`x[[2, 0]]`: some parts along the first axis."""
    whole = whole_of(emit, x)
    numbers = [number(emit, place) for place in places]
    if not places or whole.dtype.char not in DTYPES or any(each.type.dtype.kind not in "iu" for each in numbers):
        raise NoLowering
    if len(whole.shape) > 1:
        return Rows(tuple(part(emit, whole, (place,)) for place in numbers))
    return listed(emit, [item(emit, whole, (place,)) for place in numbers])


def set_rows(emit: Emitter, x: Any, places: list[Any], value: Any) -> None:
    """`x[[2, 0]] = value`."""
    targets = rows_of(emit, x, places)
    if not isinstance(targets, Rows) or not isinstance(value, Rows) or len(targets.parts) != len(value.parts):
        raise NoLowering
    target, given = targets.parts[0], value.parts[0]
    if target.dtype != given.dtype or len(target.shape) != len(given.shape) or not target.writeable:
        raise NoLowering
    emit.vectors.store_rows(targets.parts, value.parts)


def _fitted(emit: Emitter, x: Element, dtype: np.dtype[Any]) -> Element:
    if dtype.kind == "c":
        own = part_of(dtype)
        real, *imag = (_fitted(emit, each, own) for each in parts_of(x))
        return Complex(scalar(dtype), (real, imag[0] if imag else emit.constant(0.0, scalar(own))))
    if isinstance(x, Complex):
        raise NoLowering        # such as the truth value of one
    return fitted(emit, x, scalar(dtype)) if is_weak(x.type) else converted(emit, x, dtype)
