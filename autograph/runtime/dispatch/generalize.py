"""Shape generalization: makes one trace serve signatures that differ.

A dimension that has had two lengths becomes open (JAX and `torch.compile` call this dynamic shapes). A list that has
had two lengths becomes one object, and so does a string or a function that differs from call to call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import Parameter
from types import FunctionType, MethodType
from typing import Any, Protocol

import numpy as np

from autograph.common.pytree import is_nested
from autograph.runtime.dispatch.arguments import LONG, LONG_TEXT, VARIADIC
from autograph.runtime.dispatch.options import Options
from autograph.runtime.graph.signature import (
    SEVERAL,
    Dynamic,
    Guard,
    Leaf,
    Lengths,
    Policy,
    Signature,
    Static,
    is_within,
)
from autograph.runtime.graph.types import TensorType, Type

# A static argument of these types that has had more than MANY values is taken as one object.
_VARYING = (str, bytes, slice, frozenset, FunctionType, MethodType, partial)
MANY = 4
LONG_NAME = 16  # A longer text is no name of a mode.
LONGEST = 1000  # A container of more parts than this is never taken apart.


class TraceLike(Protocol):
    """The attributes of traces that are needed here."""

    signature: Signature
    lengths: Lengths
    plain: str


@dataclass
class Difference:
    """How two signatures differ.

    Attributes:
        dimensions: arrays of which only dimensions differ: old and new type.
        lengths: lists and dicts of which only the length or the keys differ.
        statics: values that are part of the signature: old and new.
        others: all other differences, in words.
    """

    dimensions: list[tuple[str, TensorType, TensorType]] = field(default_factory=list)
    lengths: list[str] = field(default_factory=list)
    statics: list[tuple[str, Static, Static]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.dimensions) + len(self.lengths) + len(self.statics) + 3 * len(self.others)

    def __str__(self) -> str:
        said = [
            *(f"`{path}` is {new}, and was {old}" for path, old, new in self.dimensions),
            *(f"`{path}` has other keys or another length" for path in self.lengths),
            *(f"the static value of `{path}` is {new}, and was {old}" for path, old, new in self.statics),
            *self.others,
        ]
        return "; ".join(said)


def difference(old: Signature, old_lengths: Lengths, new: Signature, new_lengths: Lengths) -> Difference:
    """How `new` differs from `old`."""
    found = Difference()
    for path, (kind, parts) in new_lengths.items():
        if path in old_lengths and old_lengths[path] != (kind, parts) and not _below(path, found.lengths):
            if kind in (list, dict) and kind is old_lengths[path][0]:
                found.lengths.append(path)
            else:
                found.others.append(f"`{path}` is another structure")
    before, after = dict(zip(old.paths, old.leaves)), dict(zip(new.paths, new.leaves))
    for path in dict.fromkeys([*before, *after]):
        if not _below(path, found.lengths):
            _compare(path, before.get(path), after.get(path), found)
    if not found and old.same != new.same:
        found.others.append(_shared(new))
    return found


def _below(path: str, containers: Sequence[str]) -> bool:
    return any(path != each and is_within(path, each) for each in containers)


def _compare(path: str, old: Leaf | None, new: Leaf | None, found: Difference) -> None:
    if old == new:
        return
    if isinstance(old, Static) and isinstance(new, Static):
        found.statics.append((path, old, new))
        return
    if isinstance(old, Dynamic) and isinstance(new, Dynamic):
        first, second = old.type, new.type
        if isinstance(first, TensorType) and isinstance(second, TensorType):
            if _without_lengths(first) == _without_lengths(second):
                found.dimensions.append((path, first, second))
                return
    now, before = (leaf.described if leaf is not None else "not there" for leaf in (new, old))
    found.others.append(f"`{path}` is {now}, and was {before}")


def _without_lengths(type: TensorType) -> tuple[Any, ...]:
    return type.dtype, type.kind, type.ndim, type.exact


def _shared(signature: Signature) -> str:
    for number, first in enumerate(signature.same):
        if number != first:
            return f"`{signature.paths[first]}` and `{signature.paths[number]}` are the same object"
    return "no two arguments are the same object"


def policy_of(options: Options, parameters: Sequence[Parameter]) -> Policy:
    """The user's options about arguments."""
    named = frozenset(options.static_argnames)
    return Policy(static=set(named), named=named, variadic=frozenset(p.name for p in parameters if p.kind in VARIADIC))


def widen(policy: Policy, traces: Sequence[TraceLike], new: Signature, lengths: Lengths) -> list[str]:
    """Change `policy` so that one trace serves the signature `new` and those before; gives the changes, in words."""
    changes = open_dimensions(policy, new)
    for trace in reversed(traces):
        found = difference(trace.signature, trace.lengths, new, lengths)
        if found.others or found.statics:
            continue
        for path, old, type in found.dimensions:
            changes += _leave_open(policy, path, old, type)
        for path in found.lengths:
            if path in policy.whole | policy.variadic or policy.is_apart(path) or policy.stays_specialized(path):
                continue
            if _uniform(path, [trace.signature, new]):
                policy.whole.add(path)
                policy.generalized.update(() if trace.plain or path in policy.specialized else (path,))
                changes.append(f"`{path}` came with several lengths or keys: it is one object of the graph from now on")
        break
    return changes + _take_varying(policy, traces, new)


def unify_shared(policy: Policy, groups: Iterable[Sequence[str]]) -> list[str]:
    """Treat an object that has several paths alike at all of them: apart, or as one object; gives the changes.

    Args:
        groups: the paths of each object that is taken apart at one path and not at another.
    """
    changes = []
    for paths in groups:
        contains_itself = any(path != other and is_within(path, other) for path in paths for other in paths)
        must_be_one = contains_itself or not policy.indivisible.isdisjoint(paths)
        is_one = must_be_one or not any(map(policy.is_apart, paths))
        policy.indivisible.update(paths if must_be_one else ())
        if is_one:
            policy.whole.update(paths)
            policy.apart.difference_update(paths)
        else:
            policy.whole.difference_update(paths)
            policy.apart.update(paths)
        how = "one object of the graph" if is_one else "split into its items, however long it is,"
        changes.append(f"{' and '.join(f'`{path}`' for path in paths)} were one object, which is {how} from now on")
    return changes


def read_late(policy: Policy, broken: Sequence[Guard]) -> list[str]:
    """Let the graph read captured numbers that have changed; gives the changes."""
    changes = []
    for guard in broken:
        if guard.late is None or policy.stays_specialized(guard.late):
            continue
        if guard.late in policy.specialized:
            policy.pinned.discard(guard.late)
        elif guard.late not in policy.pinned:
            policy.generalized.add(guard.late)
        if guard.late not in policy.pinned | policy.late:
            policy.late.add(guard.late)
            changes.append(f"{guard.reason}, so the graph reads it from now on")
    return changes


def open_dimensions(policy: Policy, new: Signature) -> list[str]:
    """Leave the dimensions open that a TensorSpec leaves open; gives the changes."""
    for path, leaf in new.dynamic:
        type = leaf.type
        if isinstance(type, TensorType) and None in type.shape:
            mask = tuple(
                length is None and f"{path}.shape[{axis}]" not in policy.static
                for axis, length in enumerate(type.shape)
            )
            before = policy.dynamic_dims.get((path, type.ndim), (False,) * type.ndim)
            policy.dynamic_dims[path, type.ndim] = tuple(a or b for a, b in zip(before, mask))
            if before != policy.dynamic_dims[path, type.ndim]:
                return [f"a TensorSpec leaves dimensions of `{path}` open", *open_dimensions(policy, new)]
    return []


def _leave_open(policy: Policy, path: str, old: TensorType, new: TensorType) -> list[str]:
    before = policy.dynamic_dims.get((path, new.ndim), (False,) * new.ndim)
    mask = tuple(
        is_open or (first != second and f"{path}.shape[{axis}]" not in policy.static)
        for axis, (is_open, first, second) in enumerate(zip(before, old.shape, new.shape))
    )
    if mask == before:
        return []
    policy.dynamic_dims[path, new.ndim] = mask
    axes = ", ".join(str(axis) for axis, was_open in enumerate(before) if mask[axis] and not was_open)
    return [f"`{path}` came as {old} and as {new}, so its dimension {axes} is left open from now on"]


def _uniform(path: str, signatures: Sequence[Signature]) -> bool:
    """Whether the parts of a container are of one kind."""
    kinds: set[Type | tuple[Any, ...] | type] = set()
    for signature in signatures:
        for at, leaf in zip(signature.paths, signature.leaves):
            if _below(at, [path]):
                type_ = leaf.type if isinstance(leaf, Dynamic) else type(leaf.value)
                kinds.add(_without_lengths(type_) if isinstance(type_, TensorType) else type_)
    return len(kinds) <= 1


def _take_varying(policy: Policy, traces: Sequence[TraceLike], new: Signature) -> list[str]:
    changes = []
    for path, leaf in new.static:
        if not isinstance(leaf.value, _VARYING) or path in policy.static or path in policy.whole:
            continue
        values = {dict(trace.signature.static).get(path) for trace in traces} - {None, leaf}
        if len(values) >= MANY:
            policy.whole.add(path)
            what = f"`{path}` has had {len(values) + 1} values"
            changes.append(f"{what}, the last one {leaf}, so it is one object of the graph from now on")
    return changes


def texts_of(policy: Policy, signature: Signature) -> tuple[str, ...]:
    """The paths of static texts that may become objects of the graph: data to work on, rather than names of modes."""
    return tuple(
        path
        for path, leaf in signature.static
        if type(leaf.value) in (str, bytes) and leaf.value and not _is_name(leaf.value)
        and path not in policy.static and path not in policy.specialized
    )  # fmt: skip


def _is_name(text: str | bytes) -> bool:
    return isinstance(text, str) and text.isidentifier() and len(text) <= LONG_NAME


def concretize(policy: Policy, signature: Signature, values: Sequence[Any]) -> list[str]:
    """Make values part of the signature, and take containers apart, since a trace has failed; gives the changes."""
    changes = []
    for path, leaf, value in zip(signature.paths, signature.leaves, values):
        if not isinstance(leaf, Dynamic) or type(value) is not leaf.cls:
            continue
        if isinstance(value, (*_VARYING, range)):
            policy.whole.discard(path)
            policy.static.add(path)
            changes.append(f"`{path}` is part of the signature from now on")
        elif isinstance(value, (list, tuple, dict)) and len(value) <= LONGEST and path not in policy.indivisible:
            policy.whole.discard(path)
            policy.apart.add(path)
            changes.append(f"`{path}` is split into its items from now on, however long it is")
    return changes


def specialize(policy: Policy, signature: Signature, values: Sequence[Any]) -> list[Any]:
    """Undo generalizations for a trace that runs as plain Python; gives them, for `generalize`."""
    parts = {path for path, value in zip(signature.paths, values) if path in policy.whole and _is_short(value)}
    undone = [source for source in policy.generalized if source in parts or source in policy.late]
    policy.generalized.difference_update(undone)
    policy.whole.difference_update(undone)
    policy.pinned |= policy.late.intersection(undone)
    policy.late.difference_update(undone)
    policy.specialized |= dict.fromkeys(undone, 1)
    return undone


def generalize(policy: Policy, undone: Sequence[Any]) -> None:
    """Undo `specialize` for good, since it did not help."""
    policy.specialized |= dict.fromkeys(undone, SEVERAL)
    policy.late |= policy.pinned.intersection(undone)
    policy.whole |= {source for source in undone if source not in policy.late}
    policy.pinned.difference_update(undone)


def _is_short(value: Any) -> bool:
    return isinstance(value, (list, dict, str, bytes)) and len(value) <= (LONG if is_nested(value) else LONG_TEXT)


def is_stale(policy: Policy, trace: TraceLike) -> bool:
    """Whether no call finds a trace any more, because the policy has changed."""
    for path, leaf in zip(trace.signature.paths, trace.signature.leaves):
        if isinstance(leaf, Static) and path in policy.whole and path not in policy.static:
            return True
        if isinstance(leaf, Dynamic) and policy.is_static(path, _class(leaf)):
            return True
        if isinstance(leaf, Dynamic) and isinstance(leaf.type, TensorType):
            if policy.shape(path, leaf.type.shape) != leaf.type.shape:
                return True
        if isinstance(leaf, Dynamic) and leaf.cls in (list, tuple, dict) and policy.is_apart(path):
            return True
    return any(path in policy.whole or path in policy.static for path in trace.lengths)


def _class(leaf: Dynamic) -> type:
    """The class of the values of a leaf, as far as `Policy.is_static` distinguishes them."""
    if isinstance(leaf.type, TensorType):
        return np.ndarray if leaf.type.kind == "array" else np.generic
    return leaf.cls or object
