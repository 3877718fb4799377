"""`tf.nest`: structures, of which dicts are in the order of their keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph import nest


def _sorted(structure: Any) -> Any:
    """A structure with its dicts in the order of their keys."""
    if isinstance(structure, dict):
        return {key: _sorted(structure[key]) for key in sorted(structure)}
    kind = nest.kind_of(structure)
    if kind is None:
        return structure
    return kind.rebuild(structure, [_sorted(part) for part in kind.children(structure).values()])


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves."""
    return nest.flatten(_sorted(structure))


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """`func` of the leaves that stand at the same places."""
    assert_same_structure(structure[0], structure[-1])
    return nest.map(func, *structure)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """A structure like `structure` with other leaves."""
    packed = nest.pack(_sorted(structure), flat_sequence)
    return nest.map(lambda _, new: new, structure, packed) if nest.is_nested(structure) else packed


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """See to it that two structures differ in their leaves at most."""
    try:
        nest.assert_same_structure(nest1, nest2)
    except nest.StructureError as error:
        raise ValueError(f"The two structures don't have the same nested structure: {error}") from None


def is_nested(structure: Any) -> bool:
    """Whether something is a structure."""
    return nest.is_nested(structure)


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any) -> Any:
    """`func` of what stands at the places of the leaves of `shallow_tree`."""
    kind = nest.kind_of(shallow_tree)
    if kind is None:
        return func(*inputs)
    parts = [nest.kind_of(each).children(each) for each in inputs]  # type: ignore[union-attr]
    return kind.rebuild(
        shallow_tree,
        [map_structure_up_to(part, func, *(each[key] for each in parts))
         for key, part in kind.children(shallow_tree).items()],
    )  # fmt: skip
