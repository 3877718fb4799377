"""Ops on what may be missing: on lists of arrays in which None stands for zeros, and on values that may be None."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import VIEW, WRITE, declare, derive
from autograph.runtime.graph.traits import GRADIENT
from autograph.runtime.graph.types import Type
from autograph.runtime.ops.inference.declare import nothing
from autograph.runtime.ops.inference.infer import rule
from autograph.runtime.ops.inference.shape_rules import type_of_arg


def stack_items(items: Any, zero: Any) -> Any:
    """The items as one array.

    Args:
        zero: like an item, as far as that is known: what stands for all if there is none.
    """
    if not items:
        return np.zeros((0, *zero.shape), zero.dtype)
    known = next((item for item in items if item is not None), zero)
    return np.stack([np.zeros_like(known) if item is None else item for item in items])


def fill_gap(items: Any, index: Any, zero: Any) -> None:
    """Put zeros into a place of a list if it is empty."""
    if items is not None and items[index] is None and zero is not None:
        items[index] = np.zeros_like(zero)


def given(value: Any, message: str) -> Any:
    """The value, unless it is None."""
    if value is None:
        raise ValueError(message)
    return value


@rule
def first(value: Any, message: str) -> Type:
    return type_of_arg(value)


declare("given", first, effect=VIEW, target=given, raises=True, traits=[GRADIENT])
derive("given", lambda g, out, value, message: g)
declare("stack_items", target=stack_items, raises=True, traits=[GRADIENT])
declare("fill_gap", nothing, effect=WRITE, target=fill_gap, raises=True, traits=[GRADIENT])
derive("stack_items", lambda g, out, items, zero: list(g))
