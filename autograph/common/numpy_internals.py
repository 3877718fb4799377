"""NumPy's internals: the layouts of arrays and ufuncs, its C API, its loops, sums and settings.

Each fact is here once, and is checked at import or at its first use. If a fact does not hold, its users do without:
`LAYOUT_PROBLEM` keeps the native engine from making machine code, an unknown loop stays NumPy's, and
where the settings are not known, machine code is entered by way of Python.
"""

from __future__ import annotations

import contextvars
import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from autograph.common.cpython_internals import DOUBLE, VALUE, WORD, first_problem, new_instance, pointer_in, read
from autograph.common.probes import agrees

# Where the object of an array has its facts; and flags of arrays.
DATA, NDIM, SHAPE, STRIDES, DTYPE, FLAGS = 16, 24, 32, 40, 56, 64
CONTIGUOUS, F_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x2, 0x100, 0x400
# Where the object of a ufunc has the numbers of inputs, outputs and both; its loops, their number, and their types.
_COUNTS, _LOOPS, _NUMBER, _TYPES = 16, 32, 48, 64
# Places in the table of the C API, which stay as they are from one version to the next.
_CLASS = 2                  # of `np.ndarray`
_FUNCTIONS = {
    "PyArray_NewFromDescr": 94, "PyArray_NewCopy": 85, "PyArray_Zeros": 183,
    "PyArray_Sort": 129, "PyArray_ArgSort": 130, "PyArray_Nonzero": 147, "PyArray_SetBaseObject": 282,
}  # fmt: skip
_INT = ctypes.c_int32
# Where a capsule has its pointer. NumPy's settings are behind one: what to do at errors, and the size of buffers.
POINTER, BUFFER, UNDERFLOWS = 16, 8, 7 << 6


# Arrays and numbers ---------------------------------------------------------------------------------------------------


def _layout_problem() -> str:
    array, number = np.zeros((3, 5), np.int16)[:, :2], np.float64(0.5)
    scalars = [np.dtype(char).type(100) for char in "bhilqBHILQfdFD"]
    return first_problem(
        {
            f"an array's data are not at {DATA}": lambda: _word(array, DATA) == array.ctypes.data,
            f"its dimensions are not at {NDIM}": lambda: read(_INT, id(array) + NDIM) == [array.ndim],
            f"its dtype is not at {DTYPE}": lambda: _word(array, DTYPE) == id(array.dtype),
            f"its flags are not at {FLAGS}": lambda: read(_INT, id(array) + FLAGS) == [array.flags.num],
            f"its lengths are not at {SHAPE}": lambda: tuple(read(WORD, _word(array, SHAPE), 2)) == array.shape,
            f"its strides are not at {STRIDES}": lambda: tuple(read(WORD, _word(array, STRIDES), 2)) == array.strides,
            f"a number's value is not at {VALUE}": lambda: read(DOUBLE, id(number) + VALUE) == [number],
            "numbers cannot be made": lambda: all(_copy(each) == each for each in scalars),
            f"the C API does not have its class at {_CLASS}": lambda: _c_api()[_CLASS : _CLASS + 1] == [id(np.ndarray)],
        }
    )


def _word(thing: Any, offset: int) -> int:
    return int(read(WORD, id(thing) + offset)[0])


def _copy(number: np.generic) -> Any:
    """Another scalar, made as machine code makes them."""
    made = new_instance(type(number))
    ctypes.memmove(id(made) + VALUE, number.tobytes(), number.itemsize)
    return made


# The C API ------------------------------------------------------------------------------------------------------------


def _internal(module: str, name: str) -> Any:
    """Something of a module of `np._core`, None if it is not there."""
    return getattr(getattr(getattr(np, "_core", None), module, None), name, None)


def _c_api() -> list[int]:
    """The table of the C API; an empty one if there is none."""
    capsule = _internal("_multiarray_umath", "_ARRAY_API")
    return [] if capsule is None else read(WORD, pointer_in(capsule, None), 1 + max(_FUNCTIONS.values()))


def addresses() -> dict[str, int]:
    """Where the functions of the C API are that machine code calls."""
    table = _c_api()
    return {name: table[place] for name, place in _FUNCTIONS.items()}


# Loops ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InnerLoop:
    """The addresses of a loop of a ufunc, and of its further arguments; `owner` keeps them alive.

    It is called as `int loop(void *context, char **arrays, intptr_t *count, intptr_t *strides, void *more)`.
    """

    address: int
    context: int
    more: int
    owner: Any


LOOP_TYPE = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 5)


def strided_loop(ufunc: np.ufunc, dtypes: tuple[np.dtype[Any], ...]) -> InnerLoop | None:
    """The loop that NumPy runs for operands and a result of these dtypes; None if it needs the GIL, or is not known.

    NumPy has `_get_strided_loop` for compilers.
    """
    try:
        found, owner = ufunc._resolve_dtypes_and_context((*dtypes[:-1], None))  # type: ignore[attr-defined]
        ufunc._get_strided_loop(owner)  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        return None
    if found != dtypes:
        return None
    address = pointer_in(owner, b"numpy_1.24_ufunc_call_info")
    loop, context, more = read(WORD, address, 3)
    (needs_gil,) = read(ctypes.c_bool, address + 24)
    return None if needs_gil or not loop or not context else InnerLoop(loop, context, more, owner)


def matmul_loop(char: str) -> int | None:
    """The address of the loop of `np.matmul` for a dtype, if it is where it should be."""
    ufunc, types = np.matmul, [each.replace("->", "") for each in np.matmul.types]
    number = read(_INT, id(ufunc) + _NUMBER)
    if read(_INT, id(ufunc) + _COUNTS, 3) != [2, 1, 3] or number != [len(types)]:
        return None
    loops, names = _word(ufunc, _LOOPS), _word(ufunc, _TYPES)
    numbers = bytes(np.dtype(each).num for each in "".join(types))
    if not loops or not names or ctypes.string_at(names, len(numbers)) != numbers:
        return None
    return read(WORD, loops + 8 * types.index(3 * char))[0] or None


_CLIP = _internal("umath", "clip")
CLIP = _CLIP if isinstance(_CLIP, np.ufunc) else None   # which `np.clip` calls if it has both bounds


# Sums -----------------------------------------------------------------------------------------------------------------

PAIRWISE = 128  # floats that eight sums side by side add up; of more, NumPy adds up the halves (`pairwise_sum`)


def _summed_at_once() -> int | None:
    """How many floats NumPy adds up at once, of more: 8192 before NumPy 2.3, which filled a buffer; None for all."""
    size = np.getbufsize()
    numbers = np.zeros(2 * size + 16)
    numbers[[0, size, size + 8]] = 2.0**53, 1, 1  # in halves, each 1 is added to the large one, and lost
    return None if np.sum(numbers) == 2.0**53 else size


SUMMED_AT_ONCE = _summed_at_once()


@cache
def sums_are_known(dtype: np.dtype[Any]) -> bool:
    """Whether NumPy adds up floats of a dtype in the order of `_pairwise_sum`, also those of a strided vector."""
    random = np.random.default_rng(0)
    sizes, steps = (1, 7, 8, 61, PAIRWISE, PAIRWISE + 1, 1003), (1, 3)
    samples = [(random.normal(size=step * size).astype(dtype)[::step],) for size in sizes for step in steps]
    return agrees(lambda x: x.dtype.type(0) + _pairwise_sum(x), np.add.reduce, samples)


@cache
def sums_of_parts_are_known(dtype: np.dtype[Any]) -> bool:
    """Whether NumPy adds up floats of a part of a matrix as if they were a vector, if they fit its buffer."""
    random = np.random.default_rng(0)
    sizes = (1, 3), (3, 1), (2, 2), (3, 3), (5, 4), (9, 17), (3, 150), (150, 3), (8, BUFFER_SIZE // 8)
    samples = [
        (random.normal(size=(step * rows, step * columns + 1)).astype(dtype)[::step, 1::step],)
        for rows, columns in sizes
        for step in (1, 2)
    ]
    return agrees(lambda x: x.dtype.type(0) + _pairwise_sum(x.ravel()), lambda x: np.add.reduce(x, axis=None), samples)


@cache
def sums_of_rows_are_known(dtype: np.dtype[Any]) -> bool:
    """Whether NumPy adds up floats of a dtype row by row, if it adds over other axes than the last."""
    random = np.random.default_rng(0)
    samples = [(random.normal(size=size).astype(dtype),) for size in ((9, 2), (3, 131, 2), (2, 17, 5, 33))]

    def added(x: Any) -> Any:
        total = np.zeros_like(x[(0,) * (x.ndim - 1)])
        for row in x.reshape(-1, x.shape[-1]):
            total += row
        return total

    return agrees(added, lambda x: np.sum(x, axis=tuple(range(x.ndim - 1))), samples)


@cache
def deviations_are_known(dtype: np.dtype[Any]) -> bool:
    """Whether NumPy's variance of floats is the mean of squared differences, and the deviation its root."""
    random = np.random.default_rng(0)

    def variance(x: Any) -> Any:
        differences = x - np.mean(x)
        return np.mean(differences * differences)

    samples = [(random.normal(size=size).astype(dtype) * 3,) for size in (1, 2, 9, 130, (3, 3), (7, 40))]
    return agrees(variance, np.var, samples) and agrees(lambda x: np.sqrt(variance(x)), np.std, samples)


def _pairwise_sum(x: Any) -> Any:
    if len(x) > PAIRWISE:
        half = len(x) // 2 & -8
        return _pairwise_sum(x[:half]) + _pairwise_sum(x[half:])
    whole, total = len(x) & -8, x.dtype.type(-0.0)
    if whole:
        sums = x[:8].copy()
        for begin in range(8, whole, 8):
            sums += x[begin : begin + 8]
        while len(sums) > 1:
            sums = sums[::2] + sums[1::2]
        (total,) = sums
    for each in x[whole:]:
        total = total + each
    return total


# Random numbers -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GeneratorLayout:
    """Where a generator of random numbers has its parts.

    Attributes:
        bits: the interface of its bit generator: its state, and the functions that give the next number of 64 bits,
            of 32 bits, and the next float.
        lock: its lock.
        gauss: whether it has a normal number left (an `int`), and behind that the number; 0 if it keeps none.
    """

    bits: int
    lock: int
    gauss: int = 0


NEXT_DOUBLE = 24        # where the interface of a bit generator has that function
LOCKED = 32             # where a lock has a byte that tells whether it is locked


@cache
def lock_class() -> type | None:
    """The class of the locks of generators, if it is known where these tell that they are locked."""
    lock = np.random.PCG64(0).lock
    before = read(ctypes.c_uint8, id(lock) + LOCKED)
    with lock:
        during = read(ctypes.c_uint8, id(lock) + LOCKED)
    return type(lock) if (before, during, read(ctypes.c_uint8, id(lock) + LOCKED)) == ([0], [1], [0]) else None


@cache
def generator_layout(kind: type) -> GeneratorLayout | None:
    """The layout of `np.random.Generator` or `RandomState`, if its parts are found."""
    if kind not in (np.random.Generator, np.random.RandomState) or lock_class() is None:
        return None
    made: Any = kind(np.random.PCG64(0))
    source = made.bit_generator if kind is np.random.Generator else made._bit_generator
    words = read(WORD, id(made), kind.__basicsize__ // 8)
    bits = read(WORD, source.ctypes.bit_generator.value, 5)
    places = [place for place in range(len(words)) if words[place : place + 5] == bits]
    if len(places) != 1 or words.count(id(source.lock)) != 1:
        return None
    layout = GeneratorLayout(8 * places[0], 8 * words.index(id(source.lock)))
    own = id(made) + layout.bits
    if kind is np.random.RandomState and words.count(own) == 1:
        made.standard_normal()
        gauss, number = 8 * words.index(own) + 8, made.get_state(legacy=False)["gauss"]
        if read(_INT, id(made) + gauss) == [1] and read(DOUBLE, id(made) + gauss + 8) == [number]:
            return GeneratorLayout(layout.bits, layout.lock, gauss)
    return layout


# Settings -------------------------------------------------------------------------------------------------------------


def warns_of_underflows() -> bool:
    """Whether NumPy is set to warn of underflows, or the like, or to have buffers of an unusual size."""
    return np.geterr()["under"] != "ignore" or np.getbufsize() != BUFFER_SIZE


def _settings() -> Sequence[Any]:
    """The context variable of NumPy's settings, and its initial value; nothing if their layout is not known."""
    variable = _internal("umath", "_extobj_contextvar")
    if not isinstance(variable, contextvars.ContextVar):
        return ()
    default = contextvars.Context().run(variable.get)
    is_silent = not contextvars.Context().run(warns_of_underflows)
    return (variable, default) if is_silent and _are_read(variable) else ()


def _are_read(variable: contextvars.ContextVar[Any]) -> bool:
    """Whether the settings are where they should be."""
    for number, mode in enumerate(("ignore", "warn", "raise")):
        with np.errstate(all="raise", under=mode):  # type: ignore[arg-type]
            address = read(WORD, id(variable.get()) + POINTER)[0]
            if address != pointer_in(variable.get(), b"numpy.ufunc.extobj"):
                return False
            if read(_INT, address)[0] & UNDERFLOWS != number << 6 or read(WORD, address + BUFFER) != [np.getbufsize()]:
                return False
    return True


BUFFER_SIZE = contextvars.Context().run(np.getbufsize)
SETTINGS = _settings()
LAYOUT_PROBLEM = _layout_problem()  # which fact about arrays and numbers does not hold; "" if all do
