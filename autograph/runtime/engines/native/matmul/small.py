"""Products of small matrices: call NumPy's own inner loop directly; for larger ones see `tiled`.

NumPy takes about a microsecond to prepare `x @ y`, and for small arrays much less to compute it. Its inner loop calls
BLAS or not, depending on lengths and strides. The C function here calls that loop with the lengths and strides that
NumPy calls it with, so each bit is the same with any BLAS. NumPy does products that are large, empty, of other dtypes,
or raise a flag that NumPy warns of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product as pairs
from typing import Any, NamedTuple

import numpy as np

from autograph.common.numpy_internals import ALIGNED, DATA, SHAPE, STRIDES, matmul_loop
from autograph.common.probes import agrees
from autograph.errors import EngineError
from autograph.runtime.engines.native.abi.c_entry import FAST_UNDERFLOWS, CFunction, Rebindable, builtin
from autograph.runtime.engines.native.abi.jit import Code
from autograph.runtime.engines.native.libmath.libm import FLAGS, clear_flags, raised_flags
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, Table, llvm_type
from autograph.runtime.engines.native.llvm.errors import Refused, compiling
from autograph.runtime.engines.native.llvm.ir_verifier import verified
from autograph.runtime.engines.native.llvm.printer import printed
from autograph.runtime.engines.native.llvm.target import binding
from autograph.runtime.engines.numpy.line_table import called_at
from autograph.runtime.graph import graph
from autograph.runtime.graph.graph import Node, Place
from autograph.runtime.graph.operands import DTYPES
from autograph.runtime.graph.traits import MATRIX_PRODUCT
from autograph.runtime.graph.types import TensorType, scalar
from autograph.runtime.passes.buffer_reuse import WORTHWHILE

LARGE = 1 << 15     # multiplications, above which NumPy's preparations matter little
SOON, LATE = 32, 4096       # calls after which there is machine code; the latter if it must pay first
_ARGS, _DIMS, _STEPS, _SHAPE, _NUMBER, _SLOTS = 0, 3, 7, 16, 18, 19      # slots of the frame


class Product(Rebindable):
    """A product in a graph. After some calls it is replaced by machine code.

    Args:
        function: NumPy's function.
        after: the number of these calls.
        place: the user's line, which NumPy's warnings name.
        module: the names of the user's module.
    """

    __ag_tame__ = True      # see `effects.tame`

    def __init__(
        self, function: Callable[..., Any], after: int, place: Place = (), module: dict[str, Any] | None = None
    ) -> None:
        super().__init__(self)
        self._function = function
        self._left = after
        self._call = called_at(place, function, module or {})

    def __call__(self, x: Any, y: Any) -> Any:
        self._left -= 1
        if self._left == 0:
            try:
                with compiling("products of matrices"):
                    self._rebind(self._code(x, y))
            except Refused:
                self._rebind(self._function)
        return self._call(x, y)

    def _code(self, x: Any, y: Any) -> Callable[..., Any]:
        """The function to call from now on, for arrays like these."""
        if not (type(x) is type(y) is np.ndarray and x.dtype == y.dtype and {x.ndim, y.ndim} <= {1, 2}):
            return self._function
        return entry_of(self._function, x.dtype, (x.ndim, y.ndim))


@cache
def entry_of(function: Callable[..., Any], dtype: np.dtype[Any], ndims: tuple[int, int]) -> Callable[..., Any]:
    """The builtin for arrays of a dtype and of so many dimensions; the function itself if machine code cannot do it."""
    try:
        binding()
        if not (FLAGS and FAST_UNDERFLOWS and dtype == DTYPES.get(dtype.char) and matmul_loop(dtype.char)):
            return function
        text = Multiplying(dtype, ndims, function)
        code = Code(text.text)
        found = builtin(code.entry, Table.of(text.things), code)
        return found if agrees(found, np.matmul, _samples(dtype, ndims)) else function
    except (EngineError, ImportError, OSError):
        return function


class Matrix(NamedTuple):
    """An argument. A vector is one row on the left, and one column on the right.

    Attributes:
        down: the stride from one row to the next, in bytes; 0 if there is one row.
        along: the same from column to column.
        data: the address of its elements.
    """

    rows: ir.Value
    columns: ir.Value
    down: ir.Value
    along: ir.Value
    data: ir.Value


class Multiplying:
    """A C function for arrays of a dtype and of so many dimensions. It calls `other` for all others.

    Attributes:
        c: builds it.
        module: contains it, and the functions that it calls.
    """

    def __init__(self, dtype: np.dtype[Any], ndims: tuple[int, int], other: Callable[..., Any]) -> None:
        self._dtype, self._ndims, self.module = dtype, ndims, ir.Module()
        c = self.c = CFunction(self.module, 2, _SLOTS, other)
        c.demand_silence()
        first, second = self._argument(0), self._argument(1)
        c.demand(c.b.icmp("eq", first.columns, second.rows))
        self._demand_fitting(first, second)
        lengths = [first.rows] * (ndims[0] - 1) + [second.columns] * (ndims[1] - 1)
        for slot, length in enumerate(lengths, _SHAPE):
            c.b.store(length, c.slot(slot))
        self._multiply(self._result(len(lengths)) if lengths else None)

    @property
    def text(self) -> str:
        return printed(verified(self.module))

    @property
    def things(self) -> list[Any]:
        """The objects in its table."""
        return self.c.things

    def _demand_fitting(self, first: Matrix, second: Matrix) -> None:
        """Demand a small product, and put lengths and strides where the inner loop reads them."""
        b = self.c.b
        none, one, size = (ir.constant(ir.I64, each) for each in (0, 1, self._dtype.itemsize))
        rows, count, columns = first.rows, first.columns, second.columns
        self.c.demand(b.icmp("ule", b.mul(b.mul(rows, count), columns), LARGE))
        strides = [first.down, first.along, second.down, second.along]
        strides += [self._unless_one(rows, b.mul(columns, size)), self._unless_one(columns, size)]
        for slot, number in enumerate([one, rows, count, columns, none, none, none, *strides], _DIMS):
            b.store(number, self.c.slot(slot))

    def _call(self) -> None:
        """Call the inner loop."""
        loop = self.module.declare(f"ag_matmul_{self._dtype.char}", ir.VOID, ir.PTR, ir.PTR, ir.PTR, ir.PTR)
        self.c.b.call(loop, *map(self.c.slot, (_ARGS, _DIMS, _STEPS)), ir.NULL)

    def _unless_one(self, length: ir.Value, stride: ir.Value) -> ir.Value:
        """A stride as NumPy passes it to inner loops: 0 if there is one row or column."""
        return self.c.b.select(self.c.b.icmp("eq", length, 1), 0, stride)

    def _argument(self, place: int) -> Matrix:
        c, thing, ndim = self.c, self.c.argument(place), self._ndims[place]
        c.demand_array(thing, self._dtype, ndim, ALIGNED, ALIGNED)
        pointers = [c.load_at(ir.PTR, thing, field) for field in (SHAPE, STRIDES)]
        shape, strides = ([c.load_at(ir.I64, pointer, SLOT * axis) for axis in range(ndim)] for pointer in pointers)
        if ndim == 1:
            shape.insert(place, ir.constant(ir.I64, 1))
            strides.insert(place, ir.constant(ir.I64, 0))
        for length in shape:
            c.demand(c.b.icmp("ult", c.b.sub(length, 1), LARGE))
        (rows, columns), (down, along) = shape, map(self._unless_one, shape, strides)
        data = c.load_at(ir.PTR, thing, DATA)
        c.b.store(data, c.slot(_ARGS + place))
        return Matrix(rows, columns, down, along, data)

    def _result(self, ndim: int) -> ir.Value:
        """Make an array for the result."""
        c = self.c
        found = c.new_array(self._dtype, ndim, c.slot(_SHAPE))
        with c.b.if_then(c.b.is_null(found)):
            c.python("PyErr_Clear")
            c.b.br(c.other)
        c.b.store(c.load_at(ir.PTR, found, DATA), c.slot(_ARGS + 2))
        return found

    def _multiply(self, result: ir.Value | None) -> None:
        """Multiply into an array, or into the frame; call the other function if that raises a flag."""
        c, b = self.c, self.c.b
        if result is None:
            b.store(c.slot(_NUMBER), c.slot(_ARGS + 2))
        clear_flags(b)
        self._call()
        with b.if_then(b.icmp("ne", raised_flags(b), 0)):
            if result is not None:
                c.forget(result)
            b.br(c.other)
        if result is None:
            result = c.number_object(b.load(llvm_type(self._dtype), c.slot(_NUMBER)), scalar(self._dtype))
        b.ret(result)


def is_product(node: Node) -> bool:
    """Whether a node is a product of vectors or matrices of floats, of known lengths, that makes a new array."""
    return node.op in MATRIX_PRODUCT and len(node.args) == 2 and not node.kwargs and all(map(_is_matrix, node.args))


def is_small_product(node: Node) -> bool:
    """Whether a node is a product of small arrays, whose result is too small for `passes.buffer_reuse`."""
    if not is_product(node):
        return False
    first, second = (arg.type.shape for arg in node.args)
    result = math.prod((*first[:-1], *second[1:]))
    return bool(result * first[-1] <= LARGE and result * node.args[0].type.dtype.itemsize < WORTHWHILE)


def _is_matrix(arg: Any) -> bool:
    """Whether an argument is a vector or matrix of floats of known lengths."""
    type = arg.type if isinstance(arg, graph.Value) else None
    if not isinstance(type, TensorType) or type.dtype.kind != "f":
        return False
    return type.ndim in (1, 2) and None not in type.shape


# Probe ----------------------------------------------------------------------------------------------------------------


def _samples(dtype: np.dtype[Any], ndims: tuple[int, int]) -> Iterator[tuple[Any, Any]]:
    """Matrices or vectors of many lengths and strides."""
    lengths = (1, 2, 3, 8, 17)
    for rows, count, columns in pairs(lengths, lengths, lengths):
        for x, y in zip(_layouts(rows, count, dtype), _layouts(count, columns, dtype)):
            yield x if ndims[0] == 2 else x[0], y if ndims[1] == 2 else y[:, 0]


def _layouts(rows: int, columns: int, dtype: np.dtype[Any]) -> Iterator[Any]:
    """A matrix in several layouts."""
    numbers = np.sin(np.arange(1.0, 4 * rows * columns + 1)).astype(dtype).reshape(2 * rows, 2 * columns)
    yield numbers[:rows, :columns].copy()
    yield numbers[:rows, :columns].copy("F")
    yield numbers[::2, ::2]
    yield numbers[::-2, :columns]
