"""Attributes: `x.shape`, `x.T`, `point.x = v`."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np

from autograph.common.statics import class_attribute, class_has, mro_of, reads_plainly
from autograph.runtime.graph.opdef import VIEW, WRITE, declare
from autograph.runtime.graph.traits import (
    CHECKS_CLASS,
    HAS_DEFAULT,
    KEEPS,
    ON_ATTRIBUTE,
    PART_OF_FIRST,
    RESHAPES,
    SHARES,
    STATEMENT,
)
from autograph.runtime.graph.types import (
    ANY,
    BOOL,
    INT,
    NAMED_TUPLES,
    NONE,
    STR,
    ObjectType,
    TensorType,
    Type,
    join,
    python,
    scalar,
    type_of,
)
from autograph.runtime.ops.gradients.toolkit import is_real, shape
from autograph.runtime.ops.inference import sharing
from autograph.runtime.ops.inference.containers import tuple_of
from autograph.runtime.ops.inference.infer import rule
from autograph.runtime.ops.inference.shape_rules import ELEMENTARY, Unknown, type_of_arg
from autograph.runtime.ops.native import builtins
from autograph.runtime.ops.python.operators import BINARY


def part(name: str) -> Callable[[TensorType], Type]:
    """The rule of `x.real` or `x.imag`."""

    def rule(x: TensorType) -> Type:
        dtype = getattr(np.zeros((), x.dtype), name).dtype
        if x.kind != "python":
            return TensorType(dtype, x.shape, x.kind)
        return INT if x.dtype.kind in "bi" else python(float)

    return rule


def dimensions(x: TensorType) -> Type:
    return tuple_of(*[INT] * x.ndim)


def flat_iterator(x: TensorType) -> Type:
    return ObjectType("flatiter", (scalar(x.dtype) if x.dtype.kind in ELEMENTARY else ANY,))


_ALWAYS: dict[str, Type] = {"ndim": INT, "size": INT, "itemsize": INT, "nbytes": INT, "device": STR}
_OF_ARRAYS: dict[str, Callable[[TensorType], Type]] = {
    "shape": dimensions,
    "strides": dimensions,
    "dtype": lambda x: type_of(x.dtype),
    "T": lambda x: TensorType(x.dtype, x.shape[::-1], x.kind),
    "mT": lambda x: TensorType(x.dtype, (*x.shape[:-2], x.shape[-1], x.shape[-2])),
    "real": part("real"),
    "imag": part("imag"),
    "flat": flat_iterator,
}
_OF_NUMBERS = {"real": part("real"), "imag": part("imag")}
_OF_OBJECTS: dict[str, dict[str, Type]] = {"range": dict.fromkeys(("start", "stop", "step"), INT)}


def attribute(x: Any, name: Any, *default: Any) -> Type:
    """`x.name`; `getattr(x, name, default)`."""
    found = _attribute(type_of_arg(x), name)
    return join(found, type_of_arg(default[0])) if default else found


def _attribute(x: Type, name: str) -> Type:
    if isinstance(x, TensorType):
        if x.kind == "python":
            if name in ("numerator", "denominator") and x.dtype.kind in "bi":
                return INT
            return _OF_NUMBERS[name](x)
        if name in _ALWAYS:
            return _ALWAYS[name]
        return _OF_ARRAYS[name](x)
    if not isinstance(x, ObjectType):
        raise Unknown
    if x.name in NAMED_TUPLES and x.items:
        return x.items[NAMED_TUPLES[x.name].index(name)]
    return _OF_OBJECTS[x.name][name]


def of_attribute(g: Any, out: Any, x: Any, name: str, *_: Any) -> Any:
    if name in _GRADIENTS:
        return _GRADIENTS[name](g, x)
    for kind, fields in NAMED_TUPLES.items():
        if name in fields and not kind.startswith("Unique"):        # those have integers in them
            return tuple(g if name == field else np.zeros_like(getattr(x, field)) for field in fields)
    raise NotImplementedError(f"the derivative of the attribute {name}")


_GRADIENTS: dict[str, Callable[[Any, Any], Any]] = {
    "T": lambda g, x: np.transpose(g),
    "mT": lambda g, x: np.swapaxes(g, -1, -2),
    "real": lambda g, x: g,
    "imag": lambda g, x: np.zeros_like(x) if is_real(x) else -1j * g,
    "flat": lambda g, x: np.reshape(g, shape(x)),
}
declare(
    "getattr", rule(attribute), effect=VIEW, raises=True, vjp=of_attribute, lower=builtins.attribute,
    traits=[PART_OF_FIRST, HAS_DEFAULT, (SHARES, sharing.attribute), (ON_ATTRIBUTE, "get")],
)  # fmt: skip
declare("setattr", NONE, effect=WRITE, raises=True, traits=[KEEPS, RESHAPES, STATEMENT, (ON_ATTRIBUTE, "set")])
declare("delattr", NONE, effect=WRITE, raises=True, traits=[STATEMENT])


def has_member(thing: Any, name: str, kind: type, member: Any) -> bool:
    """Whether an object is exactly of a class, and `thing.name` is this function or property of the class."""
    if type(thing) is not kind or class_attribute(kind, name) is not member or not reads_plainly(kind):
        return False
    if type(member) is property:
        return True
    found = getattr(thing, name)        # the object may have an attribute of that name
    if type(member) is staticmethod:
        return found is member.__func__
    function, owner = (member.__func__, kind) if type(member) is classmethod else (member, thing)
    return type(found) is MethodType and found.__func__ is function and found.__self__ is owner


declare("has_member", BOOL, target=has_member, traits=[CHECKS_CLASS, (ON_ATTRIBUTE, "has")])


def has_setter(thing: Any, name: str, kind: type, member: property) -> bool:
    """Whether `thing.name = value` calls this property of a class."""
    return type(thing) is kind and sets_by(kind, name, member)


def sets_by(kind: type, name: str, member: property) -> bool:
    """Whether setting an attribute of an instance of a class calls this property."""
    return class_attribute(kind, name) is member and class_attribute(kind, "__setattr__") is object.__setattr__


declare("has_setter", BOOL, target=has_setter, traits=[CHECKS_CLASS, (ON_ATTRIBUTE, "setter")])


def has_operator(thing: Any, name: str, kind: type, member: Any, other: Any = None) -> bool:
    """Whether an operator calls this special method of a class for an object and another operand.

    `thing + other` calls `__radd__` of a subclass first; `other + thing` calls `__radd__` if `other` is a number.
    """
    if type(thing) is not kind or special_method(kind, name) is not member:
        return False
    return takes_first(kind, name, type(other))


def takes_first(kind: type, name: str, other: type) -> bool:
    """Whether Python asks the special method of a class before, or without, asking another class."""
    if name in REFLECTED:
        return any(other is each for each in (int, float, bool, complex))
    return other is kind or all(each is not kind for each in mro_of(other))


def special_method(kind: type, name: str) -> Any:
    """The special method of a class that an operator calls: `__add__` for `__iadd__` if there is no `__iadd__`."""
    found = class_attribute(kind, name)
    is_absent = found is None and name in REPLACED and not class_has(kind, name)
    return class_attribute(kind, REPLACED[name]) if is_absent else found


NAMES_OF_LAST = {"in": "__contains__"}      # special methods of the last operand, rather than of the first
REFLECTED = frozenset(f"__r{op}__" for op in BINARY)
REPLACED = {f"__i{op}__": f"__{op}__" for op in BINARY}
declare("has_operator", BOOL, target=has_operator, traits=[CHECKS_CLASS, (ON_ATTRIBUTE, "operator")])
