"""Products of small matrices: NumPy's own loop, called directly; for larger ones see `tiled`.

It takes NumPy about a microsecond to see what is to be done for `x @ y`, and for small arrays much less to do it. What
does it is a loop, which calls BLAS or not, depending on lengths and strides. So that loop is called here, with just the
lengths and strides that NumPy calls it with: each bit is the same, whatever BLAS there is. What is large, empty, of
other dtypes, or raises a flag that NumPy warns of, NumPy does.
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
from autograph.runtime.engines.native.abi.c_entry import FAST_UNDERFLOWS, Builtin, builtin
from autograph.runtime.engines.native.abi.jit import Code
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, Table, llvm_type
from autograph.runtime.engines.native.llvm.errors import Refused, making
from autograph.runtime.engines.native.llvm.target import binding
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.operands import DTYPES
from autograph.runtime.graph.traits import MATRIX_PRODUCT
from autograph.runtime.graph.types import TensorType, scalar
from autograph.runtime.passes.buffer_reuse import WORTHWHILE

LARGE = 1 << 15     # multiplications, from which on it takes long, compared with what NumPy does besides
SOON, LATE = 32, 4096       # calls after which there is machine code; the latter if it must pay first
_ARGS, _DIMS, _STEPS, _SHAPE, _NUMBER, _SLOTS = 0, 3, 7, 16, 18, 19      # places in the frame


class Product:
    """What is called for a product.

    Args:
        function: what NumPy has for it.
        after: how many calls that does.
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
        """What is to be called from now on."""
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
    """What code knows of an argument; a vector is a row, or a column.

    Attributes:
        down: the stride from one row to the next, in bytes; zero if there is but one.
        along: the same from column to column.
        is_matrix: whether it is no vector.
        data: where its elements are.
    """

    rows: str
    columns: str
    down: str
    along: str
    is_matrix: str
    data: str


class Multiplying(Builtin):
    """The text of a C function for arrays of a dtype. It calls `other` for all that it does not know."""

    def __init__(self, dtype: np.dtype[Any], other: Callable[..., Any]) -> None:
        super().__init__([], set(_DECLARED), 2)
        self._dtype = dtype
        self._open(_SLOTS, other)
        self._do("  %made = alloca ptr")
        self._demand_silence()
        first, second = self._taken(0), self._taken(1)
        self.demand(self._emit(f"icmp eq i64 {first.columns}, {second.rows}"))
        self._demand_fitting(first, second)
        lengths = self._chosen(first.is_matrix, first.rows, second.columns), second.columns
        for place, length in enumerate(lengths, _SHAPE):
            self._do(f"  store i64 {length}, ptr {self._at(place)}")
        one, two = (self._emit(f"zext i1 {each.is_matrix} to i32") for each in (first, second))
        self._make(self._emit(f"add i32 {one}, {two}"))
        self._multiply()

    def _demand_fitting(self, first: Matrix, second: Matrix) -> None:
        """Demand small ones, and hand them over to the loop."""
        self.declared.add(f"declare void @ag_matmul_{self._dtype.char}(ptr, ptr, ptr, ptr)")
        rows, count, columns, size = first.rows, first.columns, second.columns, str(self._dtype.itemsize)
        all = self._emit(f"mul i64 {self._emit(f'mul i64 {rows}, {count}')}, {columns}")
        self.demand(self._emit(f"icmp ule i64 {all}, {LARGE}"))
        between = self._unless_one(rows, self._emit(f"mul i64 {columns}, {size}"))
        beside = self._unless_one(columns, size)
        numbers = ["1", rows, count, columns, "0", "0", "0", first.down, first.along, second.down, second.along]
        for place, number in enumerate([*numbers, between, beside], _DIMS):
            self._do(f"  store i64 {number}, ptr {self._at(place)}")

    def _call(self) -> None:
        """Call the loop."""
        places = ", ".join(f"ptr {self._at(place)}" for place in (_ARGS, _DIMS, _STEPS))
        self._do(f"  call void @ag_matmul_{self._dtype.char}({places}, ptr null)")

    @property
    def text(self) -> str:
        return "\n".join([*sorted(self.declared), super().text])

    def _at(self, place: int) -> str:
        return self._emit(f"getelementptr i8, ptr %frame, i64 {SLOT * place}")

    def _chosen(self, condition: str, then: str, orelse: str) -> str:
        return self._emit(f"select i1 {condition}, i64 {then}, i64 {orelse}")

    def _unless_one(self, length: str, stride: str) -> str:
        """A stride as NumPy hands it to its loops: zero, if there is but one."""
        return self._chosen(self._emit(f"icmp eq i64 {length}, 1"), "0", stride)

    def _taken(self, place: int) -> Matrix:
        """An argument."""
        thing = self._load("ptr", "%args", SLOT * place)
        self.demand_class(thing, np.ndarray)
        self.demand(self._emit(f"icmp eq ptr {self._load('ptr', thing, DTYPE)}, {self.address(self._dtype)}"))
        flags = self._emit(f"and i32 {self._load('i32', thing, ARRAY_FLAGS)}, {ALIGNED}")
        self.demand(self._emit(f"icmp ne i32 {flags}, 0"))
        ndim = self._load("i32", thing, NDIM)
        self.demand(self._emit(f"icmp ult i32 {self._emit(f'sub i32 {ndim}, 1')}, 2"))
        is_matrix = self._emit(f"icmp eq i32 {ndim}, 2")
        facts = []
        for field in (SHAPE, STRIDES):
            pointer = self._load("ptr", thing, field)
            ahead = self._emit(f"getelementptr i64, ptr {pointer}, i64 {self._chosen(is_matrix, '1', '0')}")
            facts.append([self._emit(f"load i64, ptr {each}") for each in (pointer, ahead)])
        (one, two), strides = facts
        lengths = [one, self._chosen(is_matrix, two, "1")] if place else [self._chosen(is_matrix, one, "1"), two]
        for length in lengths:
            self.demand(self._emit(f"icmp ult i64 {self._emit(f'sub i64 {length}, 1')}, {LARGE}"))
        data = self._load("ptr", thing, DATA)
        self._do(f"  store ptr {data}, ptr {self._at(_ARGS + place)}")
        down, along = (self._unless_one(length, stride) for length, stride in zip(lengths, strides))
        return Matrix(lengths[0], lengths[1], down, along, is_matrix, data)

    def _make(self, ndim: str) -> None:
        """Make an array for the result; a number stays in the frame."""
        number, array, no, on = (self._label() for _ in range(4))
        self._do("  store ptr null, ptr %made", f"  store ptr {self._at(_NUMBER)}, ptr {self._at(_ARGS + 2)}")
        self._do(f"  br i1 {self._emit(f'icmp eq i32 {ndim}, 0')}, label %{number}, label %{array}", f"{array}:")
        found = self.new_array(self._dtype, ndim, self._at(_SHAPE))
        self._do(f"  br i1 {self._emit(f'icmp eq ptr {found}, null')}, label %{no}, label %{on}", f"{no}:")
        self.python("PyErr_Clear")
        self._do("  br label %other", f"{on}:", f"  store ptr {found}, ptr %made")
        self._do(f"  store ptr {self._load('ptr', found, DATA)}, ptr {self._at(_ARGS + 2)}")
        self._do(f"  br label %{number}", f"{number}:")

    def _multiply(self) -> None:
        """Do it, and look whether a flag has been raised."""
        clear, clean, bad, good, drop, give, done = (self._label() for _ in range(7))
        kind = llvm_type(self._dtype)
        stale = self._emit(f"call i32 @fetestexcept(i32 {FLAGS})")
        self._do(f"  br i1 {self._emit(f'icmp ne i32 {stale}, 0')}, label %{clear}, label %{clean}", f"{clear}:")
        self._do(f"  call i32 @feclearexcept(i32 {FLAGS})", f"  br label %{clean}", f"{clean}:")
        self._call()
        raised = self._emit(f"icmp ne i32 {self._emit(f'call i32 @fetestexcept(i32 {FLAGS})')}, 0")
        made = self._emit("load ptr, ptr %made")
        is_number = self._emit(f"icmp eq ptr {made}, null")
        self._do(f"  br i1 {raised}, label %{bad}, label %{good}", f"{bad}:")
        self._do(f"  br i1 {is_number}, label %other, label %{drop}", f"{drop}:")
        self.forget(made)
        self._do("  br label %other", f"{good}:")
        self._do(f"  br i1 {is_number}, label %{done}, label %{give}", f"{give}:", f"  ret ptr {made}", f"{done}:")
        number = self._load(kind, "%frame", SLOT * _NUMBER)
        self._do(f"  ret ptr {self.number_object(number, scalar(self._dtype))}")


_DECLARED = "declare i32 @fetestexcept(i32)", "declare i32 @feclearexcept(i32)"


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
    type = arg.type if isinstance(arg, Value) else None
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
