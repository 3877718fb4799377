"""The object model: which objects traced code may look into, by their classes.

An object is *open* if it holds nothing but attributes, so that guards can watch them: an instance of a user's class.
Traced code gets the object itself, and its methods are traced. All other objects that can change, or that differ from
call to call, are *opaque*: traced code gets a proxy, and the graph does the operations on it.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import inspect
import operator
import pathlib
import random
import re
import sys
import types
import uuid
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from autograph.common import trace_rules
from autograph.common.cpython_internals import ABSTRACT, HEAP, IMMUTABLE, possible_owners, with_fast_attributes
from autograph.common.packages import is_opaque_class
from autograph.common.pytree import holds_attributes_only
from autograph.common.statics import class_has, compares_itself, is_a, module_of, mro_of, names_of

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)  # only the graph calls their methods
_CONTAINERS: tuple[Any, ...] = (list, tuple, set, frozenset, deque)
_STRUCTURES = frozenset({list, tuple, dict, OrderedDict, defaultdict})  # are taken apart
# Values to compute with, which are often others at each call.
_QUANTITIES = (
    *(int, float, complex, np.number, datetime.date, datetime.time, datetime.timedelta),
    *(decimal.Decimal, fractions.Fraction, pathlib.PurePath, uuid.UUID),
)
# Immutable objects: they are constants if they are the same each time.
_UNCHANGING = (
    *_QUANTITIES,
    *(str, bytes, type(None), type(...), range, slice, frozenset, property, enum.Enum, type),
    *(types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, types.CodeType),
    *(types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType, types.GenericAlias),
    *(np.generic, np.dtype, np.ufunc, type(np.sum)),
    *(operator.itemgetter, operator.attrgetter, operator.methodcaller, datetime.tzinfo, re.Pattern, re.Match),
)


def is_users(kind: type) -> bool:
    """Whether a class is the user's, or of a library that takes part in staging, and is written in Python.

    A class is none of the user's if a base or its metaclass belongs to an installed package, which knows nothing of
    proxies; see `packages.py`.
    """
    if trace_rules.is_known_library(module_of(kind)):
        return False
    return is_changeable(kind) and not (is_opaque_class(kind) or lies(kind))


def is_changeable(kind: type) -> bool:
    """Whether the attributes of a class can be changed."""
    return bool(kind.__flags__ & HEAP) and not kind.__flags__ & IMMUTABLE


def lies(kind: type) -> bool:
    """Whether instances of a class may report another class or other attributes than they have."""
    for base in mro_of(kind):
        names = names_of(base)
        if base is not object and ("__class__" in names or type(names.get("__dict__")) not in _SLOT_OR_NOTHING):
            return True
    return _is_proxy(kind)


def _is_proxy(kind: type) -> bool:
    """Whether a class is one of the standard library's weak proxies; its metaclass may say that it equals others."""
    return any(kind is each for each in weakref.ProxyTypes)


_SLOT_OR_NOTHING = (types.GetSetDescriptorType, types.MemberDescriptorType, type(None))


def is_users_object(value: Any) -> bool:
    """Whether an object is an instance of a user's class."""
    return is_users(type(value)) and not is_a(value, (type, enum.Enum))


def is_open(kind: type) -> bool:
    """Whether traced code may look into the instances of a class."""
    return _is_record(kind) or (is_users(kind) and holds_attributes_only(kind))


def _is_record(kind: type) -> bool:
    """Whether a class of the standard library has instances that only hold attributes."""
    return kind is types.SimpleNamespace or kind is getattr(sys.modules.get("argparse"), "Namespace", None)


def is_made_anew(kind: type) -> bool:
    """Whether each call of a library's class returns a new, mutable object."""
    if not trace_rules.makes_anew(str(module_of(kind)), kind.__name__) or kind.__flags__ & ABSTRACT:
        return False
    return kind is types.ModuleType or not issubclass(kind, (*_UNCHANGING, BaseException, tuple))


def own_dict(thing: Any) -> dict[str, Any] | None:
    """The `__dict__` of an object, read without code of its class; None if it has none."""
    try:
        found: dict[str, Any] = object.__getattribute__(thing, "__dict__")
    except Exception:   # there is none, or the class hides it behind a property of the user's, which fails
        return None
    return with_fast_attributes(thing, found)


def owner_of_dict(names: dict[str, Any]) -> Any:
    """The object with this `__dict__`; None if there is none."""
    return next((each for each in possible_owners(names) if own_dict(each) is names), None)


def set_attribute(thing: Any, name: str, value: Any) -> None:
    """Set an attribute of an object, class or cell, without code of its class."""
    if is_a(thing, type):
        type.__setattr__(thing, name, value)
    elif (slot := _slot(thing, name)) is not None:
        slot.__set__(thing, value)
    else:
        with_fast_attributes(thing, object.__getattribute__(thing, "__dict__"))[name] = value


def delete_attribute(thing: Any, name: str) -> None:
    if is_a(thing, type):
        type.__delattr__(thing, name)
    elif (slot := _slot(thing, name)) is not None:
        slot.__delete__(thing)
    else:
        del object.__getattribute__(thing, "__dict__")[name]


def _slot(thing: Any, name: str) -> Any:
    """The slot descriptor of an attribute; None if the `__dict__` holds it."""
    members = (kind.__dict__.get(name) for kind in type(thing).__mro__)
    return next((member for member in members if is_slot(member, type(thing))), None)


def is_described(kind: type, name: str) -> bool:
    """Whether a class has a data descriptor of that name, other than a slot."""
    member = next((base.__dict__[name] for base in kind.__mro__ if name in base.__dict__), None)
    return inspect.isdatadescriptor(member) and not is_slot(member, kind)


def sets_plainly(kind: type, name: str, method: str = "__setattr__") -> bool:
    """Whether setting an attribute of an instance runs no code of the user's; with `__delattr__`, deleting it."""
    return getattr(kind, method) is getattr(object, method) and not is_described(kind, name)


def described(kind: type) -> frozenset[str]:
    """The names of all data descriptors of a class, other than slots."""
    return frozenset(name for base in kind.__mro__ for name in base.__dict__ if is_described(kind, name))


def is_slot(member: Any, kind: type) -> bool:
    """Whether a member of a class is a slot: C code holds this attribute of its instances."""
    return isinstance(member, _SLOTS) and issubclass(kind, member.__objclass__)


_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)


def parts_inside(container: Any) -> Iterable[Any]:
    """The items of a container, or the values of a dict, read without code of its class."""
    if is_a(container, dict):
        return dict.values(container)
    kind = next(kind for kind in _CONTAINERS if is_a(container, kind))
    found: Iterable[Any] = kind.__iter__(container)
    return found


def changed_by(function: Any) -> Any:
    """The container that a builtin method is bound to and may mutate; None for other functions."""
    owner = function.__self__ if type(function) is types.BuiltinFunctionType else None
    return owner if is_a(owner, (list, dict, set, deque, bytearray)) else None


def makes_named_tuples(new: Any) -> bool:
    """Whether a `__new__` was generated by `namedtuple`."""
    return type(new) is types.FunctionType and new.__globals__.get("_tuple_new") is tuple.__new__


def is_written(method: Any) -> bool:
    """Whether a method is written in a user's file, and not generated by `namedtuple` or `dataclass`."""
    written = type(method) is types.FunctionType and method.__code__.co_filename != "<string>"
    return written and not (method.__name__ == "__new__" and trace_rules.is_plain(method.__module__))


def stands_for_itself(kind: type) -> bool:
    """Whether traced code gets such an object itself, and no proxy of it."""
    return is_open(kind) or kind in (np.random.Generator, np.random.RandomState)


def identity_is_users(thing: Any) -> str:
    """The reason why a class, or the class of an object, cannot be part of a key; empty if it can."""
    kind = thing if is_a(thing, type) else type(thing)
    what = f"the metaclass of {kind.__qualname__} says which classes are equal, or what their hash is"
    return what if compares_itself(kind) else ""


def is_quantity(value: Any) -> bool:
    """Whether a value is a number or the like, and not a flag."""
    kind = type(value)
    return not compares_itself(kind) and issubclass(kind, _QUANTITIES) and not issubclass(kind, (bool, enum.Enum))


def may_vary(value: Any) -> bool:
    """Whether an attribute that changed once is likely to change again: a quantity, or a container of such."""
    kind = type(value)
    if kind is dict or kind is list or kind is tuple:
        return all(map(is_quantity, value.values() if kind is dict else value))
    return is_quantity(value)


def is_taken_apart(parts: Collection[Any]) -> bool:
    """Whether containers of such parts are flattened whatever their length: only traced code can look into them."""
    return class_has(type(next(iter(parts), None)), "__ag_apart__")


def is_opaque(value: Any) -> bool:
    """Whether an object can change unnoticed by guards, so that only the graph may look into it."""
    kind = type(value)
    is_record = issubclass(kind, tuple) and hasattr(kind, "_fields") and own_dict(value) is None
    if is_open(kind) or is_record or kind in _STRUCTURES or kind is object:
        return False
    if _is_proxy(kind) or trace_rules.depends_on_settings(str(module_of(kind))):
        return True
    if is_opaque_class(kind) or (lies(kind) and not trace_rules.is_own_class(kind)):
        return not issubclass(kind, (type, enum.Enum))
    return not is_a(value, _UNCHANGING) and not stands_for_itself(kind) and not callable(value)
