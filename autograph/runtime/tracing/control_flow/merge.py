"""The merge lattice: the forms of a variable where paths meet, with parts that stay plain and parts that are staged.

    form  ::=  Fixed(value)           the same object on all paths
            |  Leaf(type)             a value of the graph
            |  Parts(like, {key: form})   a structure, built like `like`
            |  Renewed(parts, path)       a list or dict of the caller's, or another one that is made of it
            |  Identified(parts)          a tuple, part by part, and which object it is

`widen` takes in the value of one more path. `leaves` gives a value's parts at the leaves of a form, which become the
results of a block; `build` makes a value of a form out of proxies for its leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeAlias

import numpy as np

from autograph.common import pytree
from autograph.common.code_marks import UNBOUND
from autograph.common.statics import is_a
from autograph.common.trace_rules import is_own_class
from autograph.runtime.graph.types import ANY, BOOL, NONE, MaybeUnbound, ObjectType, Type, join, type_of
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.proxies.stand_in import StandIn, original_of
from autograph.runtime.tracing.state.escape import EscapeAnalysis, Renewal, Renewals, Tuples
from autograph.runtime.tracing.state.iterators import TracedIterator
from autograph.runtime.tracing.state.staged_containers import STAGEABLE, staged_as

Form: TypeAlias = "Fixed | Leaf | Parts | Renewed | Identified"


@dataclass(frozen=True, slots=True)  # with no dict of its own that would know the value, too; see `escape.is_alone`
class Fixed:
    value: Any


@dataclass(frozen=True)
class Leaf:
    type: Type

    def read(self, value: Any) -> Any:
        """The part of a variable's value that the graph gets."""
        return value

    def build(self, proxy: Any) -> Any:
        """The variable's value, made of a proxy for that part."""
        return proxy


@dataclass(frozen=True)
class Parts:
    like: Any
    parts: dict[Any, Form]
    tuples: Tuples | None = None  # to be told of a tuple that is made of them


@dataclass(frozen=True)
class Renewed:
    parts: Parts
    path: str
    known: Renewals


@dataclass(frozen=True)
class Identified:
    parts: Parts
    known: Tuples


class Misfit(Exception):
    """Two values for which there is no form.

    Attributes:
        container: one of them that another could be put in the place of, if the graph held its contents.
    """

    def __init__(self, first: str, second: str, container: Any = None) -> None:
        super().__init__(first, second)
        self.first = first
        self.second = second
        self.container = container


def is_stageable(value: Any) -> bool:
    """Whether a value can be one of the graph's as it is: a proxy, a number, an array or what the graph holds."""
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
        return ANY  # it stands for another one, or the graph makes one like it
    kind = pytree.kind_of(value)
    if kind is None:
        return NONE if value is None else type_of(value)
    parts = tuple(type_at(part) for part in kind.children(value).values())
    if type(value) is tuple:
        return ObjectType("tuple", parts)
    return ObjectType(type(value).__name__)


def staged(value: Any, tuples: Tuples) -> Form:
    """The form of a value that is expected to differ: all numbers in it, and in tuples in it, are leaves."""
    if is_stageable(value):
        return Leaf(type_at(value))
    if is_a(value, tuple):
        kind = pytree.kind_of(value)
        if kind is not None:
            parts = Parts(value, {key: staged(part, tuples) for key, part in kind.children(value).items()}, tuples)
            return Identified(parts, tuples) if tuples.has_identity(value) else parts
    return Fixed(value)


def widen(form: Form, value: Any, owned: EscapeAnalysis, loose: bool = False) -> Form:
    """The form that also covers `value`.

    Args:
        owned: tells what is known elsewhere, too, so that no other list, dict or the like may be put in its place.
        loose: values that have nothing in common become an object; that is for what nobody looks at any more, such as
            what a function returns.

    Raises:
        Misfit: there is no such form.
    """
    if isinstance(form, (Parts, Identified)):
        parts = form.parts if isinstance(form, Identified) else form
        wider = _widen_parts(parts, value, owned, loose)
        has_identity = isinstance(form, Identified) or owned.tuples.has_identity(value)
        return Identified(wider, owned.tuples) if has_identity and isinstance(wider, Parts) else wider
    if isinstance(form, Leaf):
        return Leaf(_join_at_leaf(form.type, value, owned, loose))
    if isinstance(form, Renewed):
        return _widen_renewed(form, value, owned)
    known = form.value
    if known is value or _same_constant(known, value):
        return form
    if (known is UNBOUND) != (value is UNBOUND):
        other = value if known is UNBOUND else known
        _check_objects(describe(known), describe(value), (other,), owned, loose=not _is_shared(other, owned))
        inner = type_at(other)
        return Leaf(inner if isinstance(inner, MaybeUnbound) else MaybeUnbound(inner))
    if is_stageable(known) and is_stageable(value):
        return Leaf(join(type_at(known), type_at(value)))
    kind = pytree.kind_of(known)
    if kind is not None and type(known) is type(value) and not is_tensor(value):
        if not (_is_shared(known, owned) or _is_shared(value, owned)):
            mine, theirs = kind.children(known), kind.children(value)
            if list(mine) == list(theirs):
                widened = {key: widen(Fixed(mine[key]), theirs[key], owned, loose) for key in mine}
                parts = Parts(known, widened, owned.tuples)
                has_identity = owned.tuples.has_identity(known) or owned.tuples.has_identity(value)
                return Identified(parts, owned.tuples) if has_identity else parts
    _check_objects(describe(known), describe(value), (known, value), owned, loose)
    return Leaf(join(type_at(known), type_at(value)))


def _widen_parts(form: Parts, value: Any, owned: EscapeAnalysis, loose: bool) -> Form:
    kind = pytree.kind_of(form.like)
    if kind is not None and type(value) is type(form.like) and not is_tensor(value) and not _is_shared(value, owned):
        theirs = kind.children(value)
        if list(theirs) == list(form.parts):
            widened = {key: widen(part, theirs[key], owned, loose) for key, part in form.parts.items()}
            return Parts(form.like, widened, owned.tuples)
    values = (form.like,) if value is UNBOUND else (form.like, value)
    _check_objects(describe(form.like), describe(value), values, owned, loose)
    return Leaf(join(ObjectType(type(form.like).__name__), type_at(value)))


def renewable(first: Any, second: Any, owned: EscapeAnalysis) -> Form | None:
    """The form of a list or dict of the caller's, or what loops made of it, that an iteration replaces by a new one."""
    mine = owned.renewals.get(id(first))
    if mine is None or first is second or not _renews(mine, second, owned):
        return None
    children = pytree.kind_of(first).children(first)  # type: ignore[union-attr]
    if not all(map(_has_no_container, children.values())):
        return None
    return Renewed(Parts(first, {key: Fixed(part) for key, part in children.items()}), mine.path, owned.renewals)


def _renews(mine: Renewal, value: Any, owned: EscapeAnalysis) -> bool:
    """Whether a value can take the place of a list or dict of the caller's, part by part."""
    if type(value) is not type(mine.container) or staged_as(value) is not None or staged_as(mine.container) is not None:
        return False
    theirs = owned.renewals.get(id(value))
    if owned(value) if theirs is None else theirs.path != mine.path:
        return False
    children = [pytree.kind_of(each).children(each) for each in (mine.container, value)]  # type: ignore[union-attr]
    return list(children[0]) == list(children[1]) and all(map(_has_no_container, children[1].values()))


def _has_no_container(value: Any) -> bool:
    return all(map(_has_no_container, value)) if type(value) is tuple else is_stageable(value)


def _widen_renewed(form: Renewed, value: Any, owned: EscapeAnalysis) -> Form:
    if not _renews(Renewal(form.parts.like, form.path, False), value, owned):
        form.known.tell_apart(form.path)
    children = pytree.kind_of(value).children(value)  # type: ignore[union-attr]
    parts = {key: widen(part, children[key], owned) for key, part in form.parts.parts.items()}
    return Renewed(Parts(form.parts.like, parts), form.path, form.known)


def _join_at_leaf(type: Type, value: Any, owned: EscapeAnalysis, loose: bool) -> Type:
    if value is UNBOUND:
        return type if isinstance(type, MaybeUnbound) else MaybeUnbound(type)
    if not is_stageable(value):
        _check_objects(f"a value of type {type}", describe(value), (value,), owned, loose)
    return join(type, type_at(value))


def _same_constant(first: Any, second: Any) -> bool:
    """Whether two constants are equal numbers or ranges, of which nobody asks which one it is."""
    if type(first) is not type(second) or is_tensor(first):
        return False
    if isinstance(first, (float, complex, np.generic)):
        return repr(first) == repr(second)
    return isinstance(first, (int, range)) and bool(first == second)


def _is_plain_object(value: Any) -> bool:
    """Whether nobody can tell a value from an equal one, nor asks whether it `is` some other."""
    if is_stageable(value):
        return True
    if is_a(value, tuple):
        return all(map(_is_plain_object, value))
    if is_a(value, (str, bytes, range, type, FunctionType, BuiltinFunctionType, Enum, np.dtype)):
        return True
    return value is None or issubclass(type(value), StandIn)


def _check_objects(first: str, second: str, values: tuple[Any, ...], owned: EscapeAnalysis, loose: bool) -> None:
    """See to it that values may go on as objects of the graph: they are constants, or lists, dicts and the like.

    Raises:
        Misfit: they are not; or they hold containers that others know, which those in the graph would be copies of.
    """
    for value in values:
        if type(value) is TracedIterator:
            raise value.staged("an iterator{} is one object on one path and another on the other")
    shared = [container for value in values for container in owned.within(value)]
    if shared or not (loose or all(_is_plain_object(value) or type(value) in STAGEABLE for value in values)):
        raise Misfit(first, second, next(filter(owned.can_be_staged, shared), None))


def _is_shared(value: Any, owned: EscapeAnalysis) -> bool:
    if is_tensor(value) or is_a(value, tuple) or staged_as(value) is not None:
        return False
    return (type(value) in STAGEABLE or pytree.kind_of(value) is not None) and owned(value)


def leaves(form: Form, value: Any) -> Iterator[Any]:
    """The parts of `value` at the leaves of a form that covers it, in order."""
    if isinstance(form, Leaf):
        yield form.read(value)
    elif isinstance(form, Parts):
        kind = pytree.kind_of(form.like)
        assert kind is not None
        children = kind.children(value)
        for key, part in form.parts.items():
            yield from leaves(part, children[key])
    elif isinstance(form, Identified):
        yield value
        yield from leaves(form.parts, value)
    elif isinstance(form, Renewed):
        known = form.known.get(id(value))
        yield True if known is None else known.renewed
        yield from leaves(form.parts, value)


def types(form: Form) -> Iterator[Type]:
    """The types of the leaves of a form, in order."""
    if isinstance(form, Leaf):
        yield form.type
    elif isinstance(form, Parts):
        for part in form.parts.values():
            yield from types(part)
    elif isinstance(form, Identified):
        yield ANY
        yield from types(form.parts)
    elif isinstance(form, Renewed):
        yield BOOL
        yield from types(form.parts)


def named(form: Form, name: str) -> Iterator[tuple[Type, str]]:
    """The types of the leaves of what a variable holds, with names."""
    names = iter([f"{name}_renewed"] if name and isinstance(form, Renewed) else [])
    return ((type, next(names, name)) for type in types(form))


def alike(first: Form, second: Form) -> bool:
    """Whether forms have leaves at the same places."""
    if isinstance(first, (Renewed, Identified)) and type(first) is type(second):
        return alike(first.parts, second.parts)
    if isinstance(first, Parts) and isinstance(second, Parts):
        return all(alike(a, b) for a, b in zip(first.parts.values(), second.parts.values()))
    return type(first) is type(second)


def build(form: Form, proxies: Iterator[Any]) -> Any:
    """A value of a form, which takes its leaves from `proxies`."""
    if isinstance(form, Fixed):
        return form.value
    if isinstance(form, Leaf):
        return form.build(next(proxies))
    if isinstance(form, Identified):
        proxy = next(proxies)
        value = build(form.parts, proxies)
        form.known.add(value, proxy)
        return value
    if isinstance(form, Renewed):
        renewed = next(proxies)
        value = build(form.parts, proxies)
        form.known.add(value, form.path, renewed)
        return value
    kind = pytree.kind_of(form.like)
    assert kind is not None
    made = kind.rebuild(form.like, [build(part, proxies) for part in form.parts.values()])
    if isinstance(made, tuple) and form.tuples is not None:
        form.tuples.add(made)
    return made


def describe(value: Any) -> str:
    """A value, as an error message names it."""
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
