"""Types: facts about a value, known before the program runs.

    py.int             a Python number (`py.bool`, `py.float`, `py.complex`): weak, it adopts its partner's dtype
    f64                a NumPy scalar
    f64[3,?]           an array; `?` is a dimension known only when the program runs; `f64[]` is a 0-d array
    ~f64[3]            inexact: this or something narrower. `~f64` may be the `py.int` that a loop began with
    str, list<py.int>, tuple<f64,object>, object        any other Python object; `object`, if nothing is known
    f64?               maybe unbound: a variable that only one path has bound

Operations may rely on types, but types never change what a program computes: engines run the operations of the
user's program on the values that come. So a type may be imprecise, but never wrong.
"""

from __future__ import annotations

import builtins
import collections
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from autograph.common import disk_cache

Shape: TypeAlias = tuple[int | None, ...]


# Of dtypes that are equal, such as those of int64 and longlong, all but the one that goes by the name.
_TWINS = {
    char: np.dtype(np.dtype(char).str)
    for char in np.typecodes["AllInteger"] + np.typecodes["AllFloat"]
    if np.dtype(np.dtype(char).str).char != char
}


@disk_cache.storable
@dataclass(frozen=True, slots=True)
class TensorType:
    """A number or array.

    Attributes:
        dtype: of the elements; for a Python number that which NumPy gives it by default.
        shape: None is a dimension known only when the program runs.
        kind: `python` for a Python number, `scalar` for a NumPy scalar, `array` for an array.
        exact: False if the value may also be narrower than this: of another kind, a dtype or a shape that this one
            was widened from.
    """

    dtype: np.dtype[Any]
    shape: Shape = ()
    kind: str = "array"
    exact: bool = True

    def __post_init__(self) -> None:
        if self.dtype.char in _TWINS:  # equal to another, but its numbers are of another class
            object.__setattr__(self, "dtype", _TWINS[self.dtype.char])
            object.__setattr__(self, "exact", False)

    @property
    def weak(self) -> bool:
        """Whether it is a Python number, which adopts the other operand's dtype."""
        return self.kind == "python"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __str__(self) -> str:
        name = short_name(self.dtype)
        tilde = "" if self.exact else "~"
        if self.kind == "python":
            return f"{tilde}py.{PYTHON_NAMES.get(self.dtype, name)}"
        if self.kind == "scalar":
            return f"{tilde}{name}"
        return f"{tilde}{name}[{','.join('?' if d is None else str(d) for d in self.shape)}]"


@disk_cache.storable
@dataclass(frozen=True, slots=True)
class ObjectType:
    """A Python object other than a number or array.

    Attributes:
        name: `object` if nothing is known, else the name of its class, such as `str`, `list`, `range` or `Point`.
        items: the types of a tuple's items, or one type for all items of a list or iterator; empty if unknown.
    """

    name: str = "object"
    items: tuple[Type, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}<{','.join(map(str, self.items))}>" if self.items else self.name


@disk_cache.storable
@dataclass(frozen=True, slots=True)
class MaybeUnbound:
    """The type of a variable that is unbound on some path, and of type `inner` on others."""

    inner: TensorType | ObjectType

    def __str__(self) -> str:
        return f"{self.inner}?"


Type: TypeAlias = TensorType | ObjectType | MaybeUnbound

ANY = ObjectType()
NONE = ObjectType("NoneType")
STR = ObjectType("str")

# Classes of named tuples that NumPy returns, with the names of their items. Their types have the items of the tuple.
NAMED_TUPLES: dict[str, tuple[str, ...]] = {
    "EigResult": ("eigenvalues", "eigenvectors"),
    "EighResult": ("eigenvalues", "eigenvectors"),
    "QRResult": ("Q", "R"),
    "SVDResult": ("U", "S", "Vh"),
    "SlogdetResult": ("sign", "logabsdet"),
    "UniqueAllResult": ("values", "indices", "inverse_indices", "counts"),
    "UniqueCountsResult": ("values", "counts"),
    "UniqueInverseResult": ("values", "inverse_indices"),
}

_SHORT = {"float": "f", "int": "i", "uint": "u", "complex": "c"}
SHORT_NAMES: dict[np.dtype[Any], str] = {
    np.dtype(f"{kind}{bits}"): f"{short}{bits}"
    for kind, short in _SHORT.items()
    for bits in (8, 16, 32, 64, 128)
    if hasattr(np, f"{kind}{bits}")
} | {np.dtype(bool): "bool"}

PYTHON_DTYPES: dict[type, np.dtype[Any]] = {
    bool: np.dtype(bool),
    int: np.dtype("int64"),
    float: np.dtype("float64"),
    complex: np.dtype("complex128"),
}
PYTHON_NAMES = {dtype: kind.__name__ for kind, dtype in PYTHON_DTYPES.items()}
PYTHON_TYPES = {dtype: kind for kind, dtype in PYTHON_DTYPES.items()}


def part_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the parts of complex numbers."""
    return np.dtype(f"f{dtype.itemsize // 2}")


def short_name(dtype: np.dtype[Any]) -> str:
    """`f64` for float64 and so on; NumPy's own string for dtypes that have no such name."""
    return SHORT_NAMES.get(dtype) or str(dtype.str)


def python(kind: type) -> TensorType:
    """The type of Python numbers of a class: bool, int, float or complex."""
    return _PYTHON[kind]


_DEEP = 8  # tuples in each other
_PYTHON = {kind: TensorType(dtype, (), "python") for kind, dtype in PYTHON_DTYPES.items()}
BOOL, INT, FLOAT, COMPLEX = (_PYTHON[kind] for kind in (bool, int, float, complex))


def scalar(dtype: Any) -> TensorType:
    """The type of NumPy scalars of a dtype."""
    return TensorType(np.dtype(dtype), (), "scalar")


def array(dtype: Any, *shape: int | None) -> TensorType:
    """The type of arrays of a dtype and shape."""
    return TensorType(np.dtype(dtype), shape)


def type_of(value: Any, depth: int = 0) -> Type:
    """The type of a Python or NumPy value, with the types of a tuple's items; `depth` counts tuples around it."""
    kind = type(value)
    if kind in _PYTHON:
        return _PYTHON[kind]
    if kind is np.ndarray:
        return TensorType(value.dtype, value.shape)
    if issubclass(kind, np.generic):
        return TensorType(value.dtype, (), "scalar")
    if kind is tuple and depth < _DEEP:
        return ObjectType("tuple", tuple([type_of(part, depth + 1) for part in value]))
    return object_type(kind)


def object_type(kind: type, *items: Type) -> ObjectType:
    """The type of the objects of a class; `object` for a class of the user's that has the name of one of Python's."""
    named = _NAMED.get(kind.__name__, kind)
    return ObjectType(kind.__name__, items) if named is kind else ANY


_NAMED: dict[str, type] = {each.__name__: each for each in (*vars(builtins).values(), *vars(collections).values())
                           if isinstance(each, type)}  # fmt: skip


def join(first: Type, second: Type) -> Type:
    """The narrowest type that covers both."""
    if first == second:
        return first
    if isinstance(first, MaybeUnbound) or isinstance(second, MaybeUnbound):
        return MaybeUnbound(bound_type(join(bound_type(first), bound_type(second))))
    if isinstance(first, ObjectType) or isinstance(second, ObjectType):
        return _join_objects(first, second)
    if first.ndim != second.ndim:
        return ANY
    dtype, exact = first.dtype, first.exact and second.exact and first.kind == second.kind
    if first.dtype != second.dtype:
        exact = False
        try:
            dtype = np.result_type(first.dtype, second.dtype)
        except TypeError:
            return ANY
    shape = tuple(a if a == b else None for a, b in zip(first.shape, second.shape))
    kind = max(first.kind, second.kind, key=KINDS.index)
    return TensorType(dtype, shape, kind, exact)


KINDS = ("python", "scalar", "array")


def _join_objects(first: Type, second: Type) -> ObjectType:
    if isinstance(first, ObjectType) and isinstance(second, ObjectType) and first.name == second.name:
        if len(first.items) == len(second.items):
            return ObjectType(first.name, tuple(join(a, b) for a, b in zip(first.items, second.items)))
        return ObjectType(first.name)
    return ANY


def bound_type(type: Type) -> TensorType | ObjectType:
    """The type of a variable where it is bound."""
    return type.inner if isinstance(type, MaybeUnbound) else type


def join_all(types: Iterable[Type]) -> Type:
    """The narrowest type that covers all; `object` for none."""
    result: Type | None = None
    for each in types:
        result = each if result is None else join(result, each)
    return ANY if result is None else result


def length_of(type: Type) -> int | None:
    """The length of an array; None if it is unknown, or for another type."""
    return type.shape[0] if isinstance(type, TensorType) and type.exact and type.shape else None


def item_of(type: Type) -> Type:
    """The type of the items of a `for` over a value of this type."""
    if isinstance(type, TensorType) and type.ndim > 0 and type.dtype.kind in "biufc":
        kind = "array" if type.ndim > 1 else "scalar"
        return TensorType(type.dtype, type.shape[1:], kind, type.exact)
    if isinstance(type, ObjectType):
        if type.name == "str":
            return STR
        return join_all(type.items)
    return ANY


def inexact(type: Type) -> Type:
    """The type as an upper bound: values may be narrower."""
    return replace(type, exact=False) if isinstance(type, TensorType) else type


def covers(wide: Type, narrow: Type) -> bool:
    """Whether every value of type `narrow` is one of type `wide`."""
    return join(wide, narrow) == wide
