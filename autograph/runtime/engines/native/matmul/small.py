"""Products of small matrices: NumPy's own loop, called directly; for larger ones see `tiled`.

NumPy takes about a microsecond to prepare `x @ y`, and for small arrays much less to compute it. It computes in a loop,
which calls BLAS or not, depending on lengths and strides. The function here calls that loop with the lengths and
strides that NumPy calls it with; so each bit is the same, whatever BLAS there is. NumPy does products that are large,
empty, of other dtypes, or raise a flag that NumPy warns of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product as pairs
from typing import Any, NamedTuple

import numpy as np

from autograph.common.numpy_internals import ALIGNED, DATA, DTYPE, NDIM, SHAPE, STRIDES, matmul_loop
from autograph.common.numpy_internals import FLAGS as ARRAY_FLAGS
from autograph.common.probes import agrees
from autograph.errors import EngineError
from autograph.runtime.engines.native.abi.c_entry import FAST_UNDERFLOWS, CFunction, builtin
from autograph.runtime.engines.native.abi.jit import Code
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.llvm.cpython_abi import Table, llvm_type
from autograph.runtime.engines.native.llvm.errors import Refused, making
from autograph.runtime.engines.native.llvm.ir import I32, I64, NULL, PTR, VOID, Module, Value, constant
from autograph.runtime.engines.native.llvm.ir_verifier import verified
from autograph.runtime.engines.native.llvm.printer import printed
from autograph.runtime.engines.native.llvm.target import binding
from autograph.runtime.graph import graph
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.operands import DTYPES
from autograph.runtime.graph.traits import MATRIX_PRODUCT
from autograph.runtime.graph.types import TensorType, scalar
from autograph.runtime.passes.buffer_reuse import WORTHWHILE

LARGE = 1 << 15     # multiplications, from which on it takes long, compared with what NumPy does besides
SOON, LATE = 32, 4096       # calls after which there is machine code; the latter if it must pay first
_ARGS, _DIMS, _STEPS, _SHAPE, _NUMBER, _SLOTS = 0, 3, 7, 16, 18, 19      # places in the frame


class Product:
    """What graphs call for a product.

    Args:
        function: NumPy's for it.
        after: after so many calls there is machine code.
    """

    __ag_tame__ = True      # see `effects.tame`

    def __init__(self, function: Callable[..., Any], after: int) -> None:
        self._function = function
        self._left = after
        self._bound: list[tuple[dict[str, Any], str]] = []

    def __call__(self, x: Any, y: Any) -> Any:
        self._left -= 1
        if self._left == 0:
            try:
                with making("products of matrices"):
                    entry = self._entry(x, y)
            except Refused:
                entry = self._function
            for names, name in self._bound:
                names[name] = entry
        return self._function(x, y)

    def _entry(self, x: Any, y: Any) -> Callable[..., Any]:
        """The function to call from now on, for arrays like these."""
        return entry_of(self._function)

    def bind(self, names: dict[str, Any], name: str) -> None:
        """See `Kernel.bind`."""
        self._bound.append((names, name))
        names[name] = self


@cache
def entry_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The builtin for products of any arrays; the function itself if there is none."""
    found = function
    try:
        binding()
        for char in "fd" if FLAGS and FAST_UNDERFLOWS else "":
            if matmul_loop(char) is not None:
                text = Multiplying(DTYPES[char], found)
                code = Code(text.text)
                made = builtin(code.entry, Table.of(text.things), code)
                found = made if agrees(made, np.matmul, _samples(DTYPES[char])) else found
    except (EngineError, ImportError, OSError):
        return function
    return found


class Matrix(NamedTuple):
    """An argument; a vector is a row, or a column.

    Attributes:
        down: the stride from one row to the next, in bytes; zero if there is one only.
        along: the same from column to column.
        is_matrix: whether it is no vector.
        data: where its elements are.
    """

    rows: Value
    columns: Value
    down: Value
    along: Value
    is_matrix: Value
    data: Value


class Multiplying:
    """A C function for arrays of a dtype. It calls `other` for all others.

    Attributes:
        c: builds it.
        module: has it, and what it calls.
    """

    def __init__(self, dtype: np.dtype[Any], other: Callable[..., Any]) -> None:
        self._dtype, self.module = dtype, Module()
        c = self.c = CFunction(self.module, 2, _SLOTS, other)
        c.demand_silence()
        first, second = self._taken(0), self._taken(1)
        c.demand(c.b.icmp("eq", first.columns, second.rows))
        self._demand_fitting(first, second)
        lengths = c.b.select(first.is_matrix, first.rows, second.columns), second.columns
        for place, length in enumerate(lengths, _SHAPE):
            c.b.store(length, c.slot(place))
        one, two = (c.b.cast("zext", each.is_matrix, I32) for each in (first, second))
        self._multiply(self._make(c.b.add(one, two)))

    @property
    def text(self) -> str:
        return printed(verified(self.module))

    @property
    def things(self) -> list[Any]:
        """The objects in its table."""
        return self.c.things

    def _demand_fitting(self, first: Matrix, second: Matrix) -> None:
        """Demand small ones, and hand them over to the loop."""
        b, none, one, size = self.c.b, constant(I64, 0), constant(I64, 1), constant(I64, self._dtype.itemsize)
        rows, count, columns = first.rows, first.columns, second.columns
        self.c.demand(b.icmp("ule", b.mul(b.mul(rows, count), columns), LARGE))
        strides = [first.down, first.along, second.down, second.along]
        strides += [self._unless_one(rows, b.mul(columns, size)), self._unless_one(columns, size)]
        for place, number in enumerate([one, rows, count, columns, none, none, none, *strides], _DIMS):
            b.store(number, self.c.slot(place))

    def _call(self) -> None:
        """Call the loop."""
        loop = self.module.declare(f"ag_matmul_{self._dtype.char}", VOID, PTR, PTR, PTR, PTR)
        self.c.b.call(loop, *map(self.c.slot, (_ARGS, _DIMS, _STEPS)), NULL)

    def _unless_one(self, length: Value, stride: Value) -> Value:
        """A stride as NumPy gives it to its loops: zero, if there is one row or column only."""
        return self.c.b.select(self.c.b.icmp("eq", length, 1), 0, stride)

    def _taken(self, place: int) -> Matrix:
        """An argument."""
        c, b, thing = self.c, self.c.b, self.c.argument(place)
        c.demand_class(thing, np.ndarray)
        c.demand(b.icmp("eq", c.load_at(PTR, thing, DTYPE), c.address(self._dtype)))
        c.demand(b.icmp("ne", b.and_(c.load_at(I32, thing, ARRAY_FLAGS), ALIGNED), 0))
        ndim = c.load_at(I32, thing, NDIM)
        c.demand(b.icmp("ult", b.sub(ndim, 1), 2))
        is_matrix = b.icmp("eq", ndim, 2)
        rows, columns = self._pair(thing, SHAPE, is_matrix)
        if place:
            columns = b.select(is_matrix, columns, 1)
        else:
            rows = b.select(is_matrix, rows, 1)
        for length in (rows, columns):
            c.demand(b.icmp("ult", b.sub(length, 1), LARGE))
        data = c.load_at(PTR, thing, DATA)
        b.store(data, c.slot(_ARGS + place))
        down, along = map(self._unless_one, (rows, columns), self._pair(thing, STRIDES, is_matrix))
        return Matrix(rows, columns, down, along, is_matrix, data)

    def _pair(self, thing: Value, field: int, is_matrix: Value) -> list[Value]:
        """The lengths or strides of a matrix; of a vector it twice."""
        b, pointer = self.c.b, self.c.load_at(PTR, thing, field)
        return [b.load(I64, each) for each in (pointer, b.gep(pointer, b.cast("zext", is_matrix, I64), of=I64))]

    def _make(self, ndim: Value) -> Value:
        """Make an array for the result; null for a number, which stays in the frame."""
        c, b, result = self.c, self.c.b, self.c.slot(_ARGS + 2)

        def number() -> Value:
            b.store(c.slot(_NUMBER), result)
            return NULL

        def array() -> Value:
            found = c.new_array(self._dtype, ndim, c.slot(_SHAPE))
            with b.if_then(b.is_null(found)):
                c.python("PyErr_Clear")
                b.br(c.other)
            b.store(c.load_at(PTR, found, DATA), result)
            return found

        made = b.if_else(b.icmp("eq", ndim, 0), number, array)
        assert made is not None
        return made

    def _multiply(self, made: Value) -> None:
        """Multiply; call the other one if that has raised a flag."""
        c, b, flags = self.c, self.c.b, constant(I32, FLAGS)
        with b.if_then(b.icmp("ne", b.call_outside("fetestexcept", I32, flags), 0)):
            b.call_outside("feclearexcept", I32, flags)
        self._call()
        raised, is_array = b.icmp("ne", b.call_outside("fetestexcept", I32, flags), 0), b.icmp("ne", made, NULL)
        with b.if_then(raised):
            with b.if_then(is_array):
                c.forget(made)
            b.br(c.other)
        with b.if_then(is_array):
            b.ret(made)
        b.ret(c.number_object(b.load(llvm_type(self._dtype), c.slot(_NUMBER)), scalar(self._dtype)))


def is_product(node: Node) -> bool:
    """Whether a node is a product of vectors or matrices of floats, of known lengths, that makes a new array."""
    return node.op in MATRIX_PRODUCT and len(node.args) == 2 and not node.kwargs and all(map(_is_matrix, node.args))


def is_small_product(node: Node) -> bool:
    """Whether it is one of small arrays; the result is not as large as pays for `passes.reuse`."""
    if not is_product(node):
        return False
    first, second = (arg.type.shape for arg in node.args)
    result = math.prod((*first[:-1], *second[1:]))
    return bool(result * first[-1] <= LARGE and result * node.args[0].type.dtype.itemsize < WORTHWHILE)


def _is_matrix(arg: Any) -> bool:
    """Whether an argument is a vector or matrix of floats, of known lengths."""
    type = arg.type if isinstance(arg, graph.Value) else None
    if not isinstance(type, TensorType) or type.dtype.kind != "f":
        return False
    return type.ndim in (1, 2) and None not in type.shape


# Tries ----------------------------------------------------------------------------------------------------------------


def _samples(dtype: np.dtype[Any]) -> Iterator[tuple[Any, Any]]:
    """Matrices and vectors to multiply, which lie in different ways."""
    lengths = (1, 2, 3, 8, 17)
    for rows, count, columns in pairs(lengths, lengths, lengths):
        for x, y in zip(_layouts(rows, count, dtype), _layouts(count, columns, dtype)):
            yield from ((x, y), (x[0], y), (x, y[:, 0]), (x[0], y[:, 0]))


def _layouts(rows: int, columns: int, dtype: np.dtype[Any]) -> Iterator[Any]:
    """A matrix that lies in different ways."""
    numbers = np.sin(np.arange(1.0, 4 * rows * columns + 1)).astype(dtype).reshape(2 * rows, 2 * columns)
    yield numbers[:rows, :columns].copy()
    yield numbers[:rows, :columns].copy("F")
    yield numbers[::2, ::2]
    yield numbers[::-2, :columns]
