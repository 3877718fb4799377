"""Methods of arrays, numbers, strings and containers without a counterpart in NumPy's functions.

An op is found by the name of the method alone, and the object may have any class. So rules look at the object's type,
and the effect covers all classes that have such a method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import VIEW, WRITE
from autograph.runtime.graph.traits import (
    ADDS_NO_ITEMS,
    COMPARES_ITEMS,
    CONSUMES,
    COPIES_ARRAYS,
    COPIES_ITEMS,
    ENCODES_FLOATS,
    GIVES_ITEM,
    GIVES_KEYS,
    GIVES_PARTS,
    HAS_DEFAULT,
    INSERTS,
    KEEPS,
    LOOKS_UP,
    MAKES_ARRAYS,
    ON_CONTAINER,
    ON_LIST,
    OVERLOADED,
    READS_ITEMS,
    SEARCHES,
    SHALLOW,
    TOTAL,
    VIEWS_ITEMS,
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
from autograph.runtime.ops.gradients.toolkit import same, shape
from autograph.runtime.ops.inference.containers import list_of, tuple_of
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.shape_rules import ELEMENTARY, Unknown, operand, type_of_arg
from autograph.runtime.ops.native import array_creation, math_functions, numpy_scalars

MUTABLE = ("list", "dict", "set", "bytearray", "deque")
SETS = ("set", "frozenset")


def of_objects(names: tuple[str, ...], found: Type | None = None) -> Callable[..., Any]:
    """The rule of a method of objects of some classes, which returns `found`, or an object of the same class."""

    def infer(x: Any, *args: Any, **kwargs: Any) -> Type:
        known = type_of_arg(x)
        if not isinstance(known, ObjectType) or known.name not in names:
            raise Unknown
        return ObjectType(known.name) if found is None else found

    return infer


# --------------------------------------------------------------------------------------------------------- arrays


def _python(dtype: np.dtype[Any]) -> Type:
    """The type of `item()` of an element."""
    if dtype.kind not in "biufc":
        raise Unknown
    return type_of(np.ones((), dtype).item())


def item(a: TensorType, *args: Any) -> Type:
    if a.kind == "python":
        raise Unknown
    return _python(a.dtype)


def tolist(a: TensorType) -> Type:
    if a.kind == "python":
        raise Unknown
    return list_of(ANY) if a.shape else _python(a.dtype)


def of_numbers(found: Type) -> Callable[..., Any]:
    """The rule of a method of numbers or arrays that gives `found`."""

    def infer(x: Any, *args: Any, **kwargs: Any) -> Type:
        operand(x)
        return found

    return infer


def byteswap(a: TensorType, inplace: Any = False) -> Type:
    if a.kind == "python":
        raise Unknown
    return a


def copy(x: Any, order: Any = "C") -> Type:
    known = type_of_arg(x)
    if isinstance(known, TensorType):
        if known.kind == "python":
            raise Unknown
        return known if known.shape or known.dtype.kind in ELEMENTARY else ANY
    if known.name not in (*MUTABLE, *SETS):
        raise Unknown
    return known


def sort(x: Any, *args: Any, **kwargs: Any) -> Type:
    known = type_of_arg(x)
    if isinstance(known, TensorType) or (isinstance(known, ObjectType) and known.name == "list"):
        return NONE
    raise Unknown


def partition(x: Any, *args: Any, **kwargs: Any) -> Type:
    """The rule of `"a=b".partition("=")`, and of the method of arrays, which works in place."""
    known = type_of_arg(x)
    if isinstance(known, TensorType):
        return NONE
    return {"str": tuple_of(STR, STR, STR)}[known.name]


# -------------------------------------------------------------------------------------------------------- numbers


def bits(x: Any) -> Type:
    if not operand(x).weak:
        raise Unknown
    return INT


# ----------------------------------------------------------------------------------------------------- containers


def pop(x: ObjectType, *args: Any) -> Type:
    if x.name == "dict":
        found = x.items[1] if len(x.items) == 2 else ANY
        return join(found, type_of_arg(args[1])) if len(args) > 1 else found
    if x.name not in MUTABLE:
        raise Unknown
    return join_all(x.items)


def get(x: ObjectType, key: Any, default: Any = None) -> Type:
    if x.name != "dict" or len(x.items) != 2:
        raise Unknown
    return join(x.items[1], type_of_arg(default))


def view_of_dict(name: str) -> Callable[..., Any]:
    """The rule of `keys`, `values` and `items`."""

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


# ------------------------------------------------------------------------------------------------ declarations

functions(".item", item, vjp=of_item, lower=numpy_scalars.method(numpy_scalars.item))
functions(".tolist", tolist, raises=False, vjp=lambda g, out, a: np.array(g))
functions(".tobytes", of_numbers(ObjectType("bytes")), raises=False)
functions(".fill", of_numbers(NONE), effect=WRITE)
functions(".byteswap", byteswap, effect=WRITE)
functions(".sort", sort, effect=WRITE, traits=[OVERLOADED, COMPARES_ITEMS, ADDS_NO_ITEMS, (ON_CONTAINER, "sort")])
functions(".partition", partition, effect=WRITE)
functions(      # a copy of a list has the same items; that of an array shares nothing with it
    ".copy", copy, effect=VIEW, raises=False, vjp=same, lower=array_creation.copied,
    traits=[COPIES_ARRAYS, COPIES_ITEMS, TOTAL, MAKES_ARRAYS, SHALLOW, OVERLOADED, READS_ITEMS, (ON_CONTAINER, "copy")],
)  # fmt: skip

functions(".is_integer", of_numbers(BOOL), lower=math_functions.is_integer)
functions(".as_integer_ratio", of_numbers(tuple_of(INT, INT)), traits=[ENCODES_FLOATS])
functions(".bit_length", bits, lower=math_functions.bit_length)
functions(".bit_count", bits, lower=math_functions.bit_count)

# Methods of containers.
_MUTABLE, _SET = of_objects(MUTABLE, NONE), of_objects(SETS, NONE)
functions(".append", _MUTABLE, effect=WRITE, traits=[INSERTS, KEEPS, (ON_LIST, "append")])
functions(".insert", _MUTABLE, effect=WRITE, traits=[INSERTS, KEEPS, (ON_CONTAINER, "insert")])
functions(".extend", _MUTABLE, effect=WRITE, traits=[SHALLOW, CONSUMES])
functions(".extendleft", _MUTABLE, effect=WRITE, traits=[CONSUMES])
functions(".remove", _MUTABLE, effect=WRITE, traits=[ADDS_NO_ITEMS, SEARCHES, (ON_CONTAINER, "remove")])
functions(".reverse", _MUTABLE, effect=WRITE, traits=[SHALLOW, ADDS_NO_ITEMS, (ON_CONTAINER, "reverse")])
functions(".clear", _MUTABLE, effect=WRITE, traits=[SHALLOW, ADDS_NO_ITEMS])
functions(".__iadd__ .__ior__", effect=WRITE, traits=[CONSUMES])
functions(".add", _SET, effect=WRITE, traits=[KEEPS, (ON_CONTAINER, "add")])
functions(".discard", _SET, effect=WRITE, traits=[ADDS_NO_ITEMS, (ON_CONTAINER, "discard")])
functions(".update", of_objects(("set", "dict"), NONE), effect=WRITE, traits=[CONSUMES])
functions(".difference_update .intersection_update .symmetric_difference_update", _SET, effect=WRITE, traits=[CONSUMES])
functions(
    ".pop", pop, effect=WRITE,
    traits=[LOOKS_UP, GIVES_ITEM, GIVES_PARTS, ADDS_NO_ITEMS, HAS_DEFAULT, (ON_CONTAINER, "pop")],
)  # fmt: skip
functions(".popitem", of_objects((), ANY), effect=WRITE, traits=[ADDS_NO_ITEMS])
functions(
    ".setdefault", of_objects((), ANY), effect=WRITE,
    traits=[GIVES_PARTS, HAS_DEFAULT, KEEPS, (ON_CONTAINER, "setdefault")],
)  # fmt: skip
functions(".get", get, effect=VIEW, traits=[LOOKS_UP, GIVES_PARTS, HAS_DEFAULT, (ON_CONTAINER, "get")])
functions(".keys", view_of_dict("keys"), effect=VIEW, traits=[SHALLOW, GIVES_KEYS, VIEWS_ITEMS])
functions(".values", view_of_dict("values"), effect=VIEW, traits=[SHALLOW, VIEWS_ITEMS])
functions(".items", view_of_dict("items"), effect=VIEW, traits=[SHALLOW, VIEWS_ITEMS])
functions(".union .intersection .difference .symmetric_difference", of_objects(SETS), effect=VIEW, traits=[CONSUMES])
functions(".isdisjoint .issubset .issuperset", of_objects(SETS, BOOL), traits=[CONSUMES])
for _name in ("index", "count"):
    _infer = of_objects(("list", "tuple", "str", "bytes", "range"), INT)
    functions(f".{_name}", _infer, traits=[SEARCHES, (ON_CONTAINER, _name)])

# Methods of texts.
functions(
    """.capitalize .casefold .center .expandtabs .format .format_map .ljust .lower .lstrip .removeprefix .removesuffix
    .replace .rjust .rstrip .strip .swapcase .title .translate .upper .zfill""",
    of_objects(("str",), STR),
)
functions(".join", of_objects(("str",), STR), traits=[CONSUMES])
functions(
    """.endswith .startswith .isalnum .isalpha .isascii .isdecimal .isdigit .isidentifier .islower .isnumeric
    .isprintable .isspace .istitle .isupper""",
    of_objects(("str", "bytes"), BOOL),
)
functions(".find .rfind .rindex", of_objects(("str", "bytes"), INT))
functions(".split .rsplit .splitlines", of_objects(("str",), list_of(STR)))
functions(".rpartition", of_objects(("str",), tuple_of(STR, STR, STR)))
functions(".encode", of_objects(("str",), ObjectType("bytes")))
functions(".decode", of_objects(("bytes",), STR))
