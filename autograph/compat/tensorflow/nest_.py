"""`tf.nest`: structures, in which dicts are sorted by key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.common import pytree
from autograph.common.pytree import is_nested as is_nested


def _sorted(structure: Any) -> Any:
    """Sort the dicts of a structure by key."""
    if isinstance(structure, dict):
        return {key: _sorted(structure[key]) for key in sorted(structure)}
    kind = pytree.kind_of(structure)
    if kind is None:
        return structure
    return kind.rebuild(structure, [_sorted(part) for part in kind.children(structure).values()])


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure."""
    return pytree.flatten(_sorted(structure))


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Call `func` with the corresponding leaves of structures."""
    if not callable(func):
        raise TypeError(f"Argument `func` must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    kwargs.pop("expand_composites", None)
    if kwargs:
        raise ValueError(f"Only valid keyword arguments are `check_types` and `expand_composites`, not {list(kwargs)}")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    if check_types:
        return pytree.map(func, *structure)
    flat = zip(*map(flatten, structure))
    return pack_sequence_as(structure[0], [func(*leaves) for leaves in flat])


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Build a structure like `structure` from other leaves."""
    if not pytree.is_nested(flat_sequence):
        raise TypeError(f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found incompatible type.")
    try:
        packed = pytree.pack(_sorted(structure), flat_sequence)
    except pytree.StructureError as error:
        raise ValueError(f"Could not pack sequence. {error}") from None
    return pytree.map(lambda _, new: new, structure, packed) if pytree.is_nested(structure) else packed


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raise an error unless two structures differ in their leaves only."""
    _check_alike(nest1, nest2, check_types, f"First structure: {nest1!r}\nSecond structure: {nest2!r}")


def _check_alike(first: Any, second: Any, check_types: bool, whole: str) -> None:
    kinds = pytree.kind_of(first), pytree.kind_of(second)
    begin = "The two structures don't have the same nested structure.\n\n"
    if kinds == (None, None):
        return
    if None in kinds:
        raise ValueError(f"{begin}{whole}\nMore specifically: one is a structure, the other is none")
    parts, others = kinds[0].children(first), kinds[1].children(second)  # type: ignore[union-attr]
    if check_types and type(first) is not type(second) and not isinstance(first, dict):
        raise TypeError(f"{begin}{whole}\nMore specifically: {type(first)} is not {type(second)}")
    both = isinstance(first, dict) and isinstance(second, dict)
    if len(parts) != len(others) or (both and parts.keys() != others.keys()):
        raise ValueError(f"{begin}{whole}\nMore specifically: {list(parts)} are not {list(others)}")
    for key, other in zip(parts, others.values()):
        _check_alike(parts[key], others[key] if both else other, check_types, whole)


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any) -> Any:
    """Call `func` with the parts of structures that correspond to the leaves of `shallow_tree`."""
    kind = pytree.kind_of(shallow_tree)
    if kind is None:
        return func(*inputs)
    parts = [pytree.kind_of(each).children(each) for each in inputs]  # type: ignore[union-attr]
    return kind.rebuild(
        shallow_tree,
        [map_structure_up_to(part, func, *(each[key] for each in parts))
         for key, part in kind.children(shallow_tree).items()],
    )  # fmt: skip
