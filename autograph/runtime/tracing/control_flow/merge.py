"""The merge lattice: the forms of a variable where paths meet, with parts that stay plain and parts that are staged.

    form  ::=  Fixed(value)               the same object on all paths
            |  Leaf(type)                 a value of the graph
            |  Parts(like, {key: form})   a structure, built like `like`

A structure may have a leaf of its own, which says which object it is: for a tuple, the object; for a list or dict of
the caller's, whether an iteration has replaced it.

`widen` joins a form with the value of one more path. `leaves` gives the parts of a value at the leaves of a form, which
become the results of a block; `build` makes a value of a form, with proxies for its leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeAlias

import numpy as np

from autograph.common import pytree
from autograph.common.code_marks import UNBOUND
from autograph.common.statics import is_a
from autograph.common.trace_rules import is_own_class
from autograph.runtime.graph.object_model import is_open, is_users_object, set_attribute
from autograph.runtime.graph.types import ANY, BOOL, NONE, MaybeUnbound, ObjectType, Type, join, object_type, type_of
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.proxies.stand_in import StandIn, original_of
from autograph.runtime.tracing.state.escape import EscapeAnalysis
from autograph.runtime.tracing.state.iterators import TracedIterator
from autograph.runtime.tracing.state.staged_containers import STAGEABLE, staged_as
from autograph.runtime.tracing.state.undo_log import attributes

Form: TypeAlias = "Fixed | Leaf | Parts"


@dataclass(frozen=True, slots=True)  # a `__dict__` would be one more reference to the value, see `escape.unshared`
class Fixed:
    value: Any


@dataclass(frozen=True)
class Leaf:
    type: Type

    def read(self, value: Any) -> Any:
        """The part of a variable's value that the graph gets."""
        return value

    def build(self, proxy: Any) -> Any:
        """The variable's value, made from a proxy for that part."""
        return proxy


@dataclass(frozen=True, slots=True)
class Parts:
    """A structure.

    Attributes:
        identity: the type of the leaf that says which object it is, if it has one.
        path: the caller's name of the list or dict that iterations may replace.
    """

    like: Any
    parts: dict[Any, Form]
    escaped: EscapeAnalysis | None = None
    identity: Type | None = None
    path: str = ""


FORMS = (Fixed, Parts)


@dataclass(eq=False)
class Misfit(Exception):
    """Two values that no form covers.

    Attributes:
        first, second: their descriptions.
        container: one of them that could be replaced by another one, if the graph held its contents.
        things: the objects of the user's among them.
    """

    first: str
    second: str
    container: Any = None
    things: Sequence[Any] = ()


def rebuild_object(like: Any, parts: list[Any]) -> Any:
    """An object of the class of another one, with other values of its attributes."""
    made = object.__new__(type(like))
    for name, part in zip(attributes(like), parts):
        set_attribute(made, name, part)
    return made


_OBJECT = pytree.Kind(attributes, rebuild_object, ".{}".format)


def _kind_of(value: Any) -> pytree.Kind | None:
    """How to take a structure, or an object to which only a variable refers, apart; None for others."""
    found = pytree.kind_of(value)
    return _OBJECT if found is None and is_users_object(value) and is_open(type(value)) else found


def is_stageable(value: Any) -> bool:
    """Whether a value can be a leaf as it is: a proxy, a number, an array, or a container that the graph holds."""
    if is_tensor(value) or staged_as(value) is not None:
        return True
    return type(value) in (int, float, complex, bool) or is_a(value, (np.generic, np.ndarray))


def type_at(value: Any) -> Type:
    """The type that a value has as a leaf."""
    if is_tensor(value):
        return value._ag_value.type  # type: ignore[no-any-return]
    inside = staged_as(value)
    if inside is not None:
        return type_at(inside)
    if value is UNBOUND:
        return MaybeUnbound(ANY)
    if type(value) is FunctionType or is_own_class(type(value)):
        return ANY  # a stand-in, or a function that the graph makes anew
    kind = pytree.kind_of(value)
    if kind is None:
        return NONE if value is None else type_of(value)
    parts = tuple(type_at(part) for part in kind.children(value).values())
    return ObjectType("tuple", parts) if type(value) is tuple else object_type(type(value))


def staged(value: Any, escaped: EscapeAnalysis) -> Form:
    """The form of a value that is expected to change: all numbers in it, and in tuples in it, are leaves."""
    if is_stageable(value):
        return Leaf(type_at(value))
    kind = pytree.kind_of(value) if is_a(value, tuple) else None
    if kind is None:
        return Fixed(value)
    parts = {key: staged(part, escaped) for key, part in kind.children(value).items()}
    return Parts(value, parts, escaped, ANY if escaped.tuples.has_identity(value) else None)


def widen(form: Form, value: Any, escaped: EscapeAnalysis, loose: bool = False) -> Form:
    """The form that also covers `value`.

    Args:
        escaped: the containers that code outside the construct knows, so that no other may replace them.
        loose: join values that have nothing in common as an object. For values that are only returned, so that no
            traced code looks at them.

    Raises:
        Misfit: there is no such form.
    """
    if isinstance(form, Leaf):
        return Leaf(_join_at_leaf(form.type, value, escaped, loose))
    if isinstance(form, Parts):
        return _widen_replaced(form, value, escaped) if form.path else _widen_parts(form, value, escaped, loose)
    first = form.value
    if first is value or _same_constant(first, value):
        return form
    if (first is UNBOUND) != (value is UNBOUND):
        other = value if first is UNBOUND else first
        _check_objects(describe(first), describe(value), (other,), escaped, loose=not _is_shared(other, escaped))
        inner = type_at(other)
        return Leaf(inner if isinstance(inner, MaybeUnbound) else MaybeUnbound(inner))
    if is_stageable(first) and is_stageable(value):
        return Leaf(join(type_at(first), type_at(value)))
    kind = _kind_of(first)
    if kind is _OBJECT and not (escaped.is_given_away(first) and escaped.is_given_away(value)):
        kind = None
    if kind is not None and type(first) is type(value) and not _is_shared(first, escaped):
        parts: dict[Any, Form] = {key: Fixed(part) for key, part in kind.children(first).items()}
        identity = ANY if escaped.tuples.has_identity(first) else None
        joined = _join_parts(Parts(first, parts, escaped, identity), value, escaped, loose)
        if joined is not None:
            return joined
    _check_objects(describe(first), describe(value), (first, value), escaped, loose)
    return Leaf(join(type_at(first), type_at(value)))


def _widen_parts(form: Parts, value: Any, escaped: EscapeAnalysis, loose: bool) -> Form:
    joined = _join_parts(form, value, escaped, loose)
    if joined is not None:
        return joined
    values = (form.like,) if value is UNBOUND else (form.like, value)
    _check_objects(describe(form.like), describe(value), values, escaped, loose)
    return Leaf(join(object_type(type(form.like)), type_at(value)))


def _join_parts(form: Parts, value: Any, escaped: EscapeAnalysis, loose: bool) -> Parts | None:
    """The form that also covers `value`, part by part; None if its class or keys differ, or other code knows it."""
    if type(value) is not type(form.like) or _is_shared(value, escaped):
        return None
    if _kind_of(value) is _OBJECT and not escaped.is_given_away(value):
        return None
    parts = _children(value)
    if list(parts) != list(form.parts):
        return None
    widened = {key: widen(part, parts[key], escaped, loose) for key, part in form.parts.items()}
    has_identity = form.identity is not None or escaped.tuples.has_identity(value)
    return Parts(form.like, widened, escaped, ANY if has_identity else None)


def _children(structure: Any) -> Mapping[Any, Any]:
    kind = _kind_of(structure)
    assert kind is not None, "it has parts"
    return kind.children(structure)


def replaceable(first: Any, second: Any, escaped: EscapeAnalysis) -> Form | None:
    """The form of a list or dict of the caller's that an iteration replaces by one that it makes."""
    mine = escaped.replacements.get(id(first))
    if mine is None or first is second or not _may_replace(mine.container, mine.path, second, escaped):
        return None
    children = _children(first)
    if not all(map(_has_no_container, children.values())):
        return None
    return Parts(first, {key: Fixed(part) for key, part in children.items()}, escaped, BOOL, mine.path)


def _may_replace(container: Any, path: str, value: Any, escaped: EscapeAnalysis) -> bool:
    """Whether a value can replace a list or dict of the caller's, part by part."""
    if type(value) is not type(container) or staged_as(value) is not None or staged_as(container) is not None:
        return False
    theirs = escaped.replacements.get(id(value))
    if escaped(value) if theirs is None else theirs.path != path:
        return False
    parts = _children(value)
    return list(_children(container)) == list(parts) and all(map(_has_no_container, parts.values()))


def _has_no_container(value: Any) -> bool:
    return all(map(_has_no_container, value)) if type(value) is tuple else is_stageable(value)


def _widen_replaced(form: Parts, value: Any, escaped: EscapeAnalysis) -> Form:
    if not _may_replace(form.like, form.path, value, escaped):
        escaped.replacements.tell_apart(form.path)
    children = _children(value)
    parts = {key: widen(part, children[key], escaped) for key, part in form.parts.items()}
    return Parts(form.like, parts, escaped, BOOL, form.path)


def _join_at_leaf(type: Type, value: Any, escaped: EscapeAnalysis, loose: bool) -> Type:
    if value is UNBOUND:
        return type if isinstance(type, MaybeUnbound) else MaybeUnbound(type)
    if not is_stageable(value):
        _check_objects(f"a value of type {type}", describe(value), (value,), escaped, loose)
    return join(type, type_at(value))


def _same_constant(first: Any, second: Any) -> bool:
    """Whether two constants are equal numbers or ranges, whose identity no program relies on."""
    if type(first) is not type(second) or is_tensor(first):
        return False
    if isinstance(first, (float, complex, np.generic)):
        return repr(first) == repr(second)
    return isinstance(first, (int, range)) and bool(first == second)


def _is_plain_object(value: Any) -> bool:
    """Whether a program can neither distinguish a value from an equal one, nor relies on its identity."""
    if is_stageable(value):
        return True
    if is_a(value, tuple):
        return all(map(_is_plain_object, value))
    if is_a(value, (str, bytes, range, type, FunctionType, BuiltinFunctionType, Enum, np.dtype)):
        return True
    return value is None or issubclass(type(value), StandIn)


def _check_objects(first: str, second: str, values: tuple[Any, ...], escaped: EscapeAnalysis, loose: bool) -> None:
    """Check that values can be objects of the graph: constants, or lists, dicts and the like.

    Raises:
        Misfit: they cannot; or they hold containers that other code knows, and the graph would hold copies of these.
    """
    for value in values:
        if type(value) is TracedIterator:
            raise value.staged("an iterator{} is one object on one path and another on the other")
    shared = [container for value in values for container in escaped.within(value)]
    if shared or not (loose or all(_is_plain_object(value) or type(value) in STAGEABLE for value in values)):
        container = next(filter(escaped.can_be_staged, shared), None)
        raise Misfit(first, second, container, [*filter(is_users_object, values)])


def _is_shared(value: Any, escaped: EscapeAnalysis) -> bool:
    if is_tensor(value) or is_a(value, tuple) or staged_as(value) is not None:
        return False
    return (type(value) in STAGEABLE or pytree.kind_of(value) is not None) and escaped(value)


def leaves(form: Form, value: Any) -> Iterator[Any]:
    """The parts of `value` at the leaves of a form that covers it, in order."""
    if isinstance(form, Leaf):
        yield form.read(value)
    elif isinstance(form, Parts):
        if form.path and form.escaped is not None:
            replacement = form.escaped.replacements.get(id(value))
            yield True if replacement is None else replacement.replaced
        elif form.identity is not None:
            yield value
        children = _children(value)
        for key, part in form.parts.items():
            yield from leaves(part, children[key])


def types(form: Form) -> Iterator[Type]:
    """The types of the leaves of a form, in order."""
    if isinstance(form, Leaf):
        yield form.type
    elif isinstance(form, Parts):
        if form.identity is not None:
            yield form.identity
        for part in form.parts.values():
            yield from types(part)


def named(form: Form, name: str) -> Iterator[tuple[Type, str]]:
    """The types of the leaves of a variable, with names."""
    names = iter([f"{name}_renewed"] if name and isinstance(form, Parts) and form.path else [])
    return ((type, next(names, name)) for type in types(form))


def alike(first: Form, second: Form) -> bool:
    """Whether forms have leaves at the same places."""
    if isinstance(first, Parts) and isinstance(second, Parts):
        pairs = zip(first.parts.values(), second.parts.values())
        return first.identity == second.identity and all(alike(a, b) for a, b in pairs)
    return type(first) is type(second)


def build(form: Form, proxies: Iterator[Any]) -> Any:
    """A value of a form; `proxies` are its leaves."""
    if isinstance(form, Fixed):
        return form.value
    if isinstance(form, Leaf):
        return form.build(next(proxies))
    identity = None if form.identity is None else next(proxies)
    kind = _kind_of(form.like)
    assert kind is not None
    made = kind.rebuild(form.like, [build(part, proxies) for part in form.parts.values()])
    if form.escaped is not None and form.path:
        form.escaped.replacements.add(made, form.path, identity)
    elif form.escaped is not None and isinstance(made, tuple):
        form.escaped.tuples.add(made, identity)
    return made


def describe(value: Any) -> str:
    """A value, for an error message."""
    if is_tensor(value):
        return f"a value of type {value._ag_value.type}"
    if value is UNBOUND:
        return "unbound"
    if is_a(value, (type(None), bool, int, float, complex, str)):
        return repr(value)
    if issubclass(type(value), StandIn):
        return describe(original_of(value))
    if is_a(value, (FunctionType, BuiltinFunctionType, type, np.ufunc)):
        return str(value.__name__)
    if is_a(value, (list, tuple, dict, set)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"an object of class {type(value).__qualname__}"
