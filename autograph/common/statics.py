"""Inspection of objects and classes that runs no code of the user's."""

from __future__ import annotations

import builtins
from types import CellType, MethodType, ModuleType
from typing import Any

# Of a class, whatever its metaclass says:
_claimed_module, _flags_of, _name_of = (type.__dict__[name].__get__ for name in ("__module__", "__flags__", "__name__"))
_IN_HEAP = 1 << 9                                   # the flag of those that a `class` statement makes, or code like it
mro_of = type.__dict__["__mro__"].__get__           # its bases, and itself first
names_of = type.__dict__["__dict__"].__get__        # what is defined in it


# Classes of objects that consist of nothing else, and run no code of the user's.
ATOMS: frozenset[type] = frozenset({int, float, complex, bool, str, bytes, type(None)})


def is_a(thing: Any, kinds: type | tuple[type, ...]) -> bool:
    """`isinstance`, by the class alone: a `__class__` of the user's may claim something else, or raise."""
    return issubclass(type(thing), kinds)


def module_of(kind: Any) -> Any:
    """The module of a class.

    A class of a program that is executed in a namespace without `__name__` claims to be of `builtins`; it is of "".
    """
    module = _claimed_module(kind)
    if module == "builtins" and _flags_of(kind) & _IN_HEAP and vars(builtins).get(_name_of(kind)) is not kind:
        return ""
    return module


def cell_content(cell: CellType, default: Any = None) -> Any:
    """The contents of a closure cell; the default if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return default


def class_has(kind: type, name: str) -> bool:
    """Whether a class or one of its bases defines an attribute; its metaclass, which may make some up, is not asked."""
    for base in mro_of(kind):  # noqa: SIM110 -- `any` would take twice as long
        if name in names_of(base):
            return True
    return False


def class_attribute(kind: type, name: str) -> Any:
    """The attribute as a class or one of its bases defines it, without calling descriptors; None if there is none."""
    for base in mro_of(kind):
        names = names_of(base)
        if name in names:
            return names[name]
    return None


# By identity: functions that read attributes as `object` does. Traces put one into classes, to note what is read.
READERS: dict[int, Any] = {id(object.__getattribute__): object.__getattribute__}


def reads_plainly(kind: type) -> bool:
    """Whether reading an attribute of an instance runs no code but that of descriptors and `__getattr__`."""
    return id(class_attribute(kind, "__getattribute__")) in READERS


def is_descriptor(member: Any) -> bool:
    """Whether a class attribute is a descriptor: Python calls it when the attribute is read, set or deleted."""
    return any(class_has(type(member), name) for name in ("__get__", "__set__", "__delete__"))


def module_name(module: ModuleType) -> str:
    """The name of a module; "None" if a program has deleted it."""
    return str(object.__getattribute__(module, "__dict__").get("__name__"))


def compares_itself(kind: type) -> bool:
    """Whether a metaclass of the user's defines equality or hashes of a class.

    Such a class must not be looked up in a set or dict.
    """
    meta = type(kind)
    return meta is not type and not (meta.__eq__ is object.__eq__ and meta.__hash__ is object.__hash__)


def own_attribute(thing: Any, name: str, default: Any = None) -> Any:
    """An attribute of an object, without the code by which the user's class may make it up."""
    try:
        return object.__getattribute__(thing, name)
    except AttributeError:
        return own_attribute(thing.__func__, name, default) if type(thing) is MethodType else default
