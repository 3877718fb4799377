"""Values of the program as structures of numbers: containers and objects whose leaves are numbers and arrays.

Staged constructs compute leaves. `mapped` replaces leaves and keeps the structure; `joined` puts two values side by
side, which a variable may have after a construct, and finds out where they differ.
"""

from __future__ import annotations

import copy
import dataclasses
from collections import deque
from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import jax
import numpy as np
from jax._src import core

from autograph.backends.jax.arrays import ArrayTracer, is_number
from autograph.backends.jax.undo_log import slots_of
from autograph.errors import StagingError
from autograph.operators.state import UNBOUND, State

Children = tuple[list[Any], Callable[[list[Any]], Any]]
_ATOMS = (type, FunctionType, MethodType, BuiltinFunctionType, ModuleType, str, bytes, range, slice, set, frozenset)


@dataclasses.dataclass(eq=False)
class Slot:
    """A leaf that a traced body computes.

    Attributes:
        at: its place among the results of the body.
        aval: its type.
        kin: arrays from before the body that it may be, or may be a part of.
        mates: other slots that may be the same array.
        absent: the slot of the flag that says whether it is missing, what is there instead, and the variable's name.
    """

    at: int
    aval: Any
    kin: tuple[ArrayTracer, ...] = ()
    mates: tuple[Slot, ...] = ()
    absent: tuple[Any, Any, str] | None = None


def is_leaf(value: Any) -> bool:
    """Whether a value is a number or an array, or stands for one."""
    return type(value) is Slot or is_number(value)


def children(value: Any) -> Children | None:
    """Return the parts of a container or object, and a function that makes another one of other parts; or None."""
    kind = type(value)
    is_atom = is_leaf(value) or isinstance(value, _ATOMS) or core.is_symbolic_dim(value)
    if value is None or value is UNBOUND or is_atom:
        return None
    if kind in (list, tuple, deque):
        return list(value), (kind if kind is not deque else partial(deque, maxlen=value.maxlen))
    if kind is dict:
        return list(value.values()), lambda parts: dict(zip(value, parts))
    try:
        flattened = jax.tree_util.default_registry.flatten_one_level(value)
    except ValueError:      # not of a registered class
        flattened = None
    if flattened is not None:
        parts, _ = flattened
        structure = jax.tree_util.tree_structure(value, is_leaf=lambda part: part is not value)
        return list(parts), lambda new: jax.tree_util.tree_unflatten(structure, new)
    if isinstance(value, (list, dict, deque)) or not _is_record(value):
        return None
    names = [*getattr(value, "__dict__", {}), *(name for name in slots_of(kind) if hasattr(value, name))]
    return [getattr(value, name) for name in names], lambda parts: _remade(value, names, parts)


def _is_record(value: Any) -> bool:
    """Whether a value is an object of a class written in Python."""
    kind = type(value)
    root = str(kind.__module__).partition(".")[0]
    return root not in ("jax", "jaxlib", "numpy", "builtins", "autograph") and (
        hasattr(value, "__dict__") or any(True for _ in slots_of(kind))
    )


def _remade(value: Any, names: list[str], parts: list[Any]) -> Any:
    new = copy.copy(value)
    for name, part in zip(names, parts):
        object.__setattr__(new, name, part)
    return new


def mapped(value: Any, leaf: Callable[[Any], Any], keep: Callable[[Any], bool], memo: dict[int, Any]) -> Any:
    """Return a value with its leaves replaced; where none changes, the same object.

    Args:
        leaf: the replacement of a leaf.
        keep: whether a container stays the object that it is.
        memo: what was replaced already, by identity, with the original, which it keeps alive.
    """
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return leaf(value)      # two numbers may be one object, and are still two
    if id(value) in memo:
        return memo[id(value)][1]
    if is_leaf(value):
        new = leaf(value)
    elif keep(value) or (parts := children(value)) is None:
        return value
    else:
        old, make = parts
        memo[id(value)] = value, value      # for an object that contains itself
        changed = [mapped(part, leaf, keep, memo) for part in old]
        new = value if all(a is b for a, b in zip(old, changed)) else make(changed)
    memo[id(value)] = value, new
    return new


class BodyRaises(Exception):
    """Each iteration raises: there is one at most."""


class Mismatch(Exception):
    """Two values that cannot be joined."""


class Join:
    """Puts the values that variables have on two paths side by side.

    Attributes:
        pairs: the leaves that differ.
        shared: the containers and objects that may be others after the join.
    """

    def __init__(self, first: Callable[[Any], Any], second: Callable[[Any], Any], state: State) -> None:
        """Args: `first`, `second`: the state on each path of an object that both may have changed."""
        self.read = first, second
        self.state = state
        self.known: set[int] | None = None
        self.shared: list[Any] = []
        self.pairs: list[tuple[Any, Any]] = []
        self.names: list[str] = []
        self.memo: dict[tuple[int, int], Callable[[list[Any]], Any]] = {}
        self.alive: list[Any] = []
        self.partners: dict[int, set[int]] = {}     # by identity, the containers that one is joined with

    def join(self, a: Any, b: Any, name: str) -> Callable[[list[Any]], Any]:
        """Return a function that makes the joined value of the joined leaves.

        Raises:
            Mismatch: the values have different structures.
        """
        if a is b or (type(a) is type(b) and isinstance(a, (str, bytes, int, float, bool, range, np.dtype)) and a == b):
            return lambda leaves: a
        key = (id(a), id(b))
        if key not in self.memo:
            self.alive += [a, b]
            made: list[Any] = []
            make = self._join(a, b, name)

            def once(leaves: list[Any]) -> Any:
                if not made:
                    made.append(make(leaves))
                return made[0]

            self.memo[key] = once
        return self.memo[key]

    def _join(self, a: Any, b: Any, name: str) -> Callable[[list[Any]], Any]:
        if a is None or a is UNBOUND or b is None or b is UNBOUND:
            return self._join_missing(a, b, name)
        if is_leaf(a) and is_leaf(b):
            at = len(self.pairs)
            self.pairs.append((a, b))
            self.names.append(name)
            return lambda leaves: leaves[at]
        if type(a) is not type(b):
            raise Mismatch(f"`{name}` is {described(a)} on one path and {described(b)} on another")
        known = [each for each in (a, b) if self._is_known(each)]
        parts_a, parts_b = children(self.read[0](a)), children(self.read[1](b))
        if parts_a is None or parts_b is None:
            if _equal(a, b):
                return lambda leaves: a
            raise Mismatch(f"`{name}` is {described(a)} on one path and {described(b)} on another")
        (items_a, make), (items_b, _) = parts_a, parts_b
        for one, other in ((a, b), (b, a)):
            self.partners.setdefault(id(one), set()).add(id(other))
        same_keys = not isinstance(a, dict) or list(self.read[0](a)) == list(self.read[1](b))
        if len(items_a) != len(items_b) or not same_keys:
            raise Mismatch(f"`{name}` has other items on one path than on another")
        parts = [self.join(x, y, name) for x, y in zip(items_a, items_b)]

        def made(leaves: list[Any]) -> Any:
            new = make([part(leaves) for part in parts])
            is_two = not isinstance(a, tuple) and any(len(self.partners[id(each)]) > 1 for each in (a, b))
            self.shared += [new, *known] if known or is_two else []
            return new

        return made

    def _is_known(self, thing: Any) -> bool:
        """Whether an object that can change was there before both paths."""
        if isinstance(thing, tuple) or is_frozen(thing):
            return False
        if self.known is None:
            self.known = {id(each) for each in reachable([variable.get() for variable in self.state.snapshot()])}
        return id(thing) in self.known

    def _join_missing(self, a: Any, b: Any, name: str) -> Callable[[list[Any]], Any]:
        missing, other = (a, b) if a is None or a is UNBOUND else (b, a)
        if other is None or other is UNBOUND:
            raise Mismatch(f"`{name}` is None on one path and unbound on another")
        if is_leaf(other):
            at = len(self.pairs)
            hole = Hole(missing, name)
            self.pairs.append((hole, other) if missing is a else (other, hole))
            self.names.append(name)
            return lambda leaves: leaves[at]
        parts = children(self.read[0 if other is a else 1](other))
        if missing is UNBOUND and parts is not None:
            items, make = parts
            first = missing is a
            made = [self.join(UNBOUND, x, name) if first else self.join(x, UNBOUND, name) for x in items]
            return lambda leaves: make([part(leaves) for part in made])
        raise Mismatch(f"`{name}` is {described(missing)} on one path and {described(other)} on another")


def is_frozen(thing: Any) -> bool:
    """Whether a value is of a dataclass whose fields cannot be set."""
    parameters = getattr(type(thing), "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)


def reachable(values: list[Any]) -> list[Any]:
    """The containers and objects in values, those in these, and so on."""
    found: list[Any] = []
    visited: set[int] = set()
    while values:
        value = values.pop()
        if id(value) in visited or (parts := children(value)) is None:
            continue
        visited.add(id(value))
        found.append(value)
        values += parts[0]
    return found


@dataclasses.dataclass(eq=False)
class Hole:
    """The leaf of a variable that is unbound, or None."""

    value: Any
    name: str


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except (TypeError, ValueError, jax.errors.JAXTypeError):
        return False


def described(value: Any) -> str:
    """A value in the words of an error message."""
    if value is None or value is UNBOUND:
        return "None" if value is None else "unbound"
    if is_leaf(value):
        aval = value.aval if type(value) is Slot else core.typeof(value)
        return f"{aval.str_short()}" if hasattr(aval, "str_short") else repr(value)
    return f"{value!r:.60}" if isinstance(value, _ATOMS) else f"a {type(value).__name__}"


def staging_error(mismatch: Mismatch, where: tuple[Any, ...], construct: str) -> StagingError:
    """Return the error for a construct whose paths leave a variable with different structures."""
    return StagingError(f"{construct}: {mismatch}. JAX computes both paths: give the variable the same kind of value, "
                        "with the same shape and structure, on each", *where)
