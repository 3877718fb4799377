"""Methods of arrays, numbers, strings and containers that are no functions of NumPy's as well.

A method is known by its name alone, and its object may be of any class: a rule looks at the object's type, and an
effect is the most that the method does to an object of any of the classes in question.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import PURE, VIEW, WRITE, declare, derive, lower, unknown
from autograph.runtime.graph.traits import (
    ADDS_NO_ITEMS,
    COMPARES_ITEMS,
    CONSUMES,
    COPIES_ARRAYS,
    GIVES_ITEM,
    GIVES_KEYS,
    HAS_DEFAULT,
    HOLDS_FLOATS,
    INSERTS,
    KEEPS,
    LOOKS_UP,
    MAKES_ARRAYS,
    OVERLOADED,
    READS_ITEMS,
    SHALLOW,
    TOTAL,
    mark,
)
from autograph.runtime.graph.types import (
    ANY,
    BOOL,
    INT,
    NONE,
    STR,
    ObjectType,
    TensorType,
    Type,
    join,
    join_all,
    type_of,
)
from autograph.runtime.ops.gradients.data_movement import scatter_add
from autograph.runtime.ops.gradients.elementwise import same
from autograph.runtime.ops.gradients.toolkit import shape
from autograph.runtime.ops.inference.containers import list_of, tuple_of
from autograph.runtime.ops.inference.declare import methods
from autograph.runtime.ops.inference.infer import rule
from autograph.runtime.ops.inference.shape_rules import ELEMENTARY, Unknown, operand, type_of_arg
from autograph.runtime.ops.native import array_creation, numpy_scalars

MUTABLE = ("list", "dict", "set", "bytearray", "deque")
SETS = ("set", "frozenset")


def of_objects(names: tuple[str, ...], found: Type | None = None) -> Callable[..., Any]:
    """The rule of a method of objects of some classes: it gives `found`, or an object of the same class."""

    @rule
    def infer(x: Any, *args: Any, **kwargs: Any) -> Type:
        known = type_of_arg(x)
        if not isinstance(known, ObjectType) or known.name not in names:
            raise Unknown
        return ObjectType(known.name) if found is None else found

    return infer


# --------------------------------------------------------------------------------------------------------- arrays


def _python(dtype: np.dtype[Any]) -> Type:
    """The type of what `item()` gives for an element."""
    if dtype.kind not in "biufc":
        raise Unknown
    return type_of(np.ones((), dtype).item())


@rule
def item(a: TensorType, *args: Any) -> Type:
    if a.kind == "python":
        raise Unknown
    return _python(a.dtype)


@rule
def tolist(a: TensorType) -> Type:
    if a.kind == "python":
        raise Unknown
    return list_of(ANY) if a.shape else _python(a.dtype)


@rule
def fill(a: TensorType, value: Any) -> Type:
    operand(a)
    return NONE


@rule
def tobytes(a: TensorType, order: Any = "C") -> Type:
    operand(a)
    return ObjectType("bytes")


@rule
def byteswap(a: TensorType, inplace: Any = False) -> Type:
    if a.kind == "python":
        raise Unknown
    return a


@rule
def copy(x: Any, order: Any = "C") -> Type:
    known = type_of_arg(x)
    if isinstance(known, TensorType):
        if known.kind == "python":
            raise Unknown
        return known if known.shape or known.dtype.kind in ELEMENTARY else ANY
    if known.name not in (*MUTABLE, *SETS):
        raise Unknown
    return known


@rule
def sort(x: Any, *args: Any, **kwargs: Any) -> Type:
    known = type_of_arg(x)
    if isinstance(known, TensorType) or (isinstance(known, ObjectType) and known.name == "list"):
        return NONE
    raise Unknown


@rule
def partition(x: Any, *args: Any, **kwargs: Any) -> Type:
    """`"a=b".partition("=")`, and that of an array, in place."""
    known = type_of_arg(x)
    if isinstance(known, TensorType):
        return NONE
    return {"str": tuple_of(STR, STR, STR)}[known.name]


# -------------------------------------------------------------------------------------------------------- numbers


@rule
def is_integer(x: Any) -> Type:
    operand(x)
    return BOOL


@rule
def as_integer_ratio(x: Any) -> Type:
    operand(x)
    return tuple_of(INT, INT)


@rule
def bits(x: Any) -> Type:
    if not operand(x).weak:
        raise Unknown
    return INT


# ----------------------------------------------------------------------------------------------------- containers


@rule
def pop(x: ObjectType, *args: Any) -> Type:
    if x.name == "dict":
        found = x.items[1] if len(x.items) == 2 else ANY
        return join(found, type_of_arg(args[1])) if len(args) > 1 else found
    if x.name not in MUTABLE:
        raise Unknown
    return join_all(x.items)


@rule
def get(x: ObjectType, key: Any, default: Any = None) -> Type:
    if x.name != "dict" or len(x.items) != 2:
        raise Unknown
    return join(x.items[1], type_of_arg(default))


def view_of_dict(name: str) -> Callable[..., Any]:
    """The rule of `keys`, `values` and `items`."""

    @rule
    def infer(x: ObjectType) -> Type:
        if x.name != "dict":
            raise Unknown
        if len(x.items) != 2:
            return ObjectType(f"dict_{name}")
        parts = {"keys": x.items[0], "values": x.items[1], "items": tuple_of(*x.items)}
        return ObjectType(f"dict_{name}", (parts[name],))

    return infer


def of_item(g: Any, out: Any, a: Any, *index: Any) -> Any:
    if not index:
        return g
    place = index[0] if len(index) == 1 else index
    if isinstance(place, tuple):
        return scatter_add(a, place, g)
    return np.reshape(scatter_add(np.ravel(a), place, g), shape(a))


methods("item", item, effect=PURE)
methods("tolist", tolist, effect=PURE, raises=False)
methods("tobytes", tobytes, effect=PURE, raises=False)
methods("fill", fill, effect=WRITE)
methods("byteswap", byteswap, effect=WRITE)
methods("sort", sort, effect=WRITE)
methods("partition", partition, effect=WRITE)
# A copy of a list has the same items; that of an array shares nothing with it.
declare(".copy", copy, effect=VIEW, traits=[COPIES_ARRAYS, TOTAL])

lower(".copy", array_creation.copied, MAKES_ARRAYS)
lower(".item", numpy_scalars.method(numpy_scalars.item))

derive(".item", of_item)
derive(".copy", same)
derive(".tolist", lambda g, out, a: np.array(g))

methods("is_integer", is_integer, effect=PURE)
methods("as_integer_ratio", as_integer_ratio, effect=PURE, traits=[HOLDS_FLOATS])
methods("bit_length bit_count", bits, effect=PURE)

methods("append extend extendleft insert remove reverse clear", of_objects(MUTABLE, NONE), effect=WRITE)
methods("__iadd__ __ior__", unknown, effect=WRITE)
methods("add discard", of_objects(SETS, NONE), effect=WRITE)
methods("update", of_objects(("set", "dict"), NONE), effect=WRITE)
methods("difference_update intersection_update symmetric_difference_update", of_objects(SETS, NONE), effect=WRITE)
methods("pop", pop, effect=WRITE)
methods("popitem setdefault", of_objects((), ANY), effect=WRITE)
methods("get", get, effect=VIEW)
for _name in ("keys", "values", "items"):
    methods(_name, view_of_dict(_name), effect=VIEW)
methods("union intersection difference symmetric_difference", of_objects(SETS), effect=VIEW)
methods("isdisjoint issubset issuperset", of_objects(SETS, BOOL), effect=PURE)
mark(".extend .reverse .clear .copy .keys .values .items", SHALLOW)
mark(".get .pop", LOOKS_UP)
mark(".copy .sort", OVERLOADED)
mark(".sort", COMPARES_ITEMS)
mark(".copy", READS_ITEMS)
mark(".pop", GIVES_ITEM)
mark(".pop .clear .remove .reverse .sort .popitem .discard", ADDS_NO_ITEMS)
mark(".get .pop .setdefault", HAS_DEFAULT)
mark(".keys", GIVES_KEYS)
mark(".extend .extendleft .__iadd__ .__ior__ .update", CONSUMES)
mark(".intersection_update .difference_update .symmetric_difference_update", CONSUMES)
mark(".union .intersection .difference .symmetric_difference .issubset .issuperset .isdisjoint", CONSUMES)
mark(".append .insert", INSERTS)
mark(".append .insert .add .setdefault", KEEPS)
methods("index count", of_objects(("list", "tuple", "str", "bytes", "range"), INT), effect=PURE)

# Methods of strings.
_SAME = """
    capitalize casefold center expandtabs format format_map join ljust lower lstrip removeprefix removesuffix replace
    rjust rstrip strip swapcase title translate upper zfill
"""
_TESTS = """
    endswith startswith isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace
    istitle isupper
"""

methods(_SAME, of_objects(("str",), STR), effect=PURE)
methods(_TESTS, of_objects(("str", "bytes"), BOOL), effect=PURE)
methods("find rfind rindex", of_objects(("str", "bytes"), INT), effect=PURE)
methods("split rsplit splitlines", of_objects(("str",), list_of(STR)), effect=PURE)
mark(".join", CONSUMES)
methods("rpartition", of_objects(("str",), tuple_of(STR, STR, STR)), effect=PURE)
methods("encode", of_objects(("str",), ObjectType("bytes")), effect=PURE)
methods("decode", of_objects(("bytes",), STR), effect=PURE)
