"""Calls of NumPy's functions, which make arrays and compute numbers, and of the C library's.

The caller owns a new array. If NumPy makes none, for lack of memory or because of a negative length, the code is left,
and Python does it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autograph.common.cpython_internals import TUPLE_ITEMS
from autograph.common.numpy_internals import ALIGNED, DTYPE, FLAGS, WRITEABLE
from autograph.runtime.engines.native.emit import pow_rules
from autograph.runtime.engines.native.emit.emitter import Emitter, is_strange
from autograph.runtime.engines.native.libmath.element_functions import element_of, function_of
from autograph.runtime.engines.native.libmath.libm import COMPLEX_POWER, PREFIX, has_complex_power, is_pythons
from autograph.runtime.engines.native.libmath.ufunc_loops import loop_of_numbers
from autograph.runtime.engines.native.libmath.vectors import Loop
from autograph.runtime.engines.native.llvm.cpython_abi import ARRAY_FLAGS, SLOT
from autograph.runtime.engines.native.llvm.ir import DOUBLE, I32, I64, NULL, PTR, Value, array, constant, structure
from autograph.runtime.engines.native.llvm.memory import strides_of
from autograph.runtime.graph.operands import Array, Complex, NoLowering, Number, View
from autograph.runtime.graph.types import BOOL, TensorType
from autograph.runtime.ops.native.complex_rules import Element, parts_of


def make_array(
    emit: Emitter,
    dtype: np.dtype[np.generic],
    lengths: Sequence[Number],
    zeros: bool,
    otherwise: Callable[[], None] = lambda: None,
) -> Array:
    """See `operands.Emitter`.

    Args:
        otherwise: emits what is done before the code is left without an array.
    """
    if not lengths:
        raise NoLowering        # nothing reads elements of arrays without dimensions
    emit.settle()
    shape = emit.cells.place("shape", array(len(lengths), I64))
    for axis, length in enumerate(lengths):
        emit.b.store(length.ref, emit.b.gep(shape, SLOT * axis))
    make = emit.objects.zeros if zeros else emit.objects.new_array
    return _made(emit, make(dtype, len(lengths), shape), dtype, lengths, otherwise)


def copy_array(emit: Emitter, x: Array) -> Array:
    """See `operands.Emitter`."""
    emit.settle()
    lengths = [emit.length(x, axis) for axis in range(x.ndim)]
    return _made(emit, emit.objects.python("PyArray_NewCopy", emit.frame.array_object(x), 0), x.dtype, lengths)


def sort_array(emit: Emitter, x: Array) -> None:
    """Sort a new vector in place; leaves machine code without it if there is no memory."""
    failed = emit.b.icmp("slt", emit.objects.python("PyArray_Sort", emit.frame.array_object(x), 0, 0), 0)
    with emit.b.if_then(failed, False):
        emit.objects.python("PyErr_Clear")
        emit.objects.forget(x.ref)
    emit.leave_if(Number(BOOL, failed))


def sorting_places(emit: Emitter, x: Array, release: bool) -> Array:
    """The array of the places of the elements of a vector in ascending order.

    Args:
        release: whether the vector is of no more use.
    """
    emit.settle()
    length = emit.length(x, 0)
    found = emit.objects.python("PyArray_ArgSort", emit.frame.array_object(x), 0, 0)
    if release:
        emit.objects.forget(x.ref)
    return _made(emit, found, np.dtype(np.intp), [length])


def places(emit: Emitter, x: Array, release: bool) -> tuple[Array, ...]:
    """The arrays of the places of the elements of an array that are not zero, one for each axis.

    Args:
        release: whether the array is of no more use.
    """
    emit.settle()
    found = emit.objects.python("PyArray_Nonzero", emit.frame.array_object(x))
    if release:
        emit.objects.forget(x.ref)
    emit.stop_if(Number(BOOL, emit.b.is_null(found)), lambda: _give_up(emit))
    like = Array(-1, np.dtype(np.intp), 1, False, True, ALIGNED | WRITEABLE)    # views of one array of all of them
    items = [emit.b.load(PTR, emit.b.gep(found, TUPLE_ITEMS + SLOT * axis)) for axis in range(x.ndim)]
    made = tuple([emit.frame.array_like(emit.objects.another(each), like) for each in items])
    emit.objects.forget(found)
    return made


def view_object(emit: Emitter, x: Any, view: View) -> Array:
    """The object of a view of an array, made as NumPy makes it."""
    if not isinstance(x, Array):
        raise NoLowering
    emit.settle()
    b, base, ndim = emit.b, emit.frame.array_object(x), len(view.shape)
    lengths, steps = (emit.cells.place(name, array(ndim, I64)) for name in ("shape", "steps of axes"))
    for axis, (length, stride) in enumerate(zip(view.shape, view.strides)):
        b.store(length.ref, b.gep(lengths, SLOT * axis))
        b.store(stride.ref, b.gep(steps, SLOT * axis))
    kind = emit.objects.another(emit.objects.load_at(PTR, base, DTYPE))     # which the view takes over
    data, flags = b.cast("inttoptr", view.data.ref, PTR), emit.objects.load_at(I32, base, FLAGS)
    of = emit.objects.address(np.ndarray)
    found = emit.objects.python("PyArray_NewFromDescr", of, kind, ndim, lengths, steps, data, flags, NULL)
    emit.stop_if(Number(BOOL, b.is_null(found)), lambda: _give_up(emit))
    failed = b.icmp("slt", emit.objects.python("PyArray_SetBaseObject", found, emit.objects.another(base)), 0)
    emit.stop_if(Number(BOOL, failed), lambda: _give_up(emit, lambda: emit.objects.forget(found)))
    flags_known = ALIGNED | WRITEABLE * view.writeable
    return emit.frame.array_like(found, Array(-1, view.dtype, ndim, False, view.writeable, flags_known))


def _give_up(emit: Emitter, otherwise: Callable[[], None] = lambda: None) -> None:
    """Leave machine code without what NumPy could not make."""
    emit.objects.python("PyErr_Clear")
    otherwise()
    emit.jump(emit.leave())


def _made(
    emit: Emitter,
    found: Value,
    dtype: np.dtype[np.generic],
    lengths: Sequence[Number],
    otherwise: Callable[[], None] = lambda: None,
) -> Array:
    emit.stop_if(Number(BOOL, emit.b.is_null(found)), lambda: _give_up(emit, otherwise))
    made = emit.frame.array_like(found, Array(-1, dtype, len(lengths), True, True, ARRAY_FLAGS))
    shape = [each.known for each in lengths if isinstance(each.known, int) and each.known]
    if len(shape) < len(lengths):
        return made
    facts = [constant(I64, each) for each in (*shape, *strides_of(dtype, shape))]
    return replace(made, facts=(made.facts[0], *facts))


def library(emit: Emitter, name: str, *args: Any, finite: bool = False) -> Number | Complex:
    """See `operands.Emitter`."""
    if isinstance(args[0], Complex):
        return _complex_power(emit, *args)
    if not is_pythons(name):
        raise NoLowering
    base, exponent = args[0], args[-1].known
    if name != "pow" or exponent is None or exponent not in pow_rules.POWERS or not pow_rules.are_known():
        return _library(emit, name, args, finite)
    key = name, base.ref, exponent
    if key not in emit.ranges.found:
        if finite:
            emit.doubt_if(is_strange(emit, base))
        function = pow_rules.function_of(emit.b.function.module, float(exponent))
        emit.ranges.found[key] = found = Number(base.type, emit.b.call(function, base.ref))
        if finite:
            emit.doubt_if(is_strange(emit, found))
    power: Number = emit.ranges.found[key]
    return power


def _library(emit: Emitter, name: str, args: Sequence[Number], finite: bool) -> Number:
    for each in args if finite else ():
        emit.leave_if(is_strange(emit, each))
    found = Number(args[0].type, emit.b.call_outside(f"{PREFIX}{name}", args[0].ref.type, *(arg.ref for arg in args)))
    if finite:
        emit.leave_if(is_strange(emit, found))
    return found


def _complex_power(emit: Emitter, x: Complex, y: Complex) -> Complex:
    if not has_complex_power():
        raise NoLowering
    words = [each.ref for each in (*x.parts, *y.parts)]
    found = emit.b.call_outside(COMPLEX_POWER, structure(DOUBLE, DOUBLE), *words)
    real, imag = (Number(each.type, emit.b.extract_value(found, place)) for place, each in enumerate(x.parts))
    for each in (real, imag):
        emit.leave_if(is_strange(emit, each))
    return Complex(x.type, (real, imag))


def ufunc(emit: Emitter, ufunc: np.ufunc, type: TensorType, *args: Number) -> Number:
    """See `operands.Emitter`."""
    loop = loop_of_numbers(ufunc, (*(arg.type.dtype for arg in args), type.dtype))
    if loop is None:
        raise NoLowering
    found = element(emit, loop, type, *args)
    assert isinstance(found, Number)
    return found


def element(emit: Emitter, loop: Loop, type: TensorType, *args: Element) -> Element:
    """The result of an inner loop of NumPy's for single elements."""
    dtypes = [*(arg.type.dtype for arg in args), type.dtype]
    words = [part.ref for arg in args for part in parts_of(arg)]
    found = emit.b.call(function_of(emit.b.function.module, loop, dtypes), *words)
    return element_of(emit.b, type, found)
