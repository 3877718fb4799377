"""What is known of the gradients in the reverse of a block, while it is recorded (`reverse.py`)."""

from __future__ import annotations

from typing import Any, TypeGuard, cast

import numpy as np

from autograph.runtime.graph.graph import Block, Node, Value
from autograph.runtime.graph.types import PYTHON_DTYPES, ObjectType, Shape, TensorType, Type
from autograph.runtime.tracing.proxies.proxy import is_tensor


class Parts(dict[Any, Any]):
    """The gradient of a tuple: those of its items, as far as there are any."""


def whole(gradient: Any, type: Type) -> Any:
    """The gradient of a tuple as one, with None for zeros; any other as it is."""
    if not isinstance(gradient, Parts) or not isinstance(type, ObjectType):
        return gradient
    return tuple(whole(gradient.get(at), kind) for at, kind in enumerate(type.items))


class Frame:
    """The reverse of a block while it is made.

    Attributes:
        block: whose reverse it is.
        node: that of the block which is being dealt with.
        at: before which place in the block it stands; after it comes what is put in front of it.
        own: the values that belong to the block.
        into: where the reverse is recorded.
        loop: whether the block runs many times for each time that the block around it runs.
        gradients: of the values so far, those of the block itself and, of the branch of an `if`, of others.
        owned: the values whose gradient is an array that was made for it, so that it can be added to in place.
        accumulators: of values of the block itself, to which loops within add.
    """

    def __init__(
        self, block: Block, own: set[Value], into: Block, around: Frame | None = None, loop: bool = False
    ) -> None:
        self.block = block
        self.node: Node | None = None
        self.at = len(block.nodes)
        self.own = own
        self.into = into
        self.around = around
        self.loop = loop
        self.gradients: dict[Value, Any] = {}
        self.owned: set[Value] = set()
        self.accumulators: dict[Value, Any] = {}


def type_of(gradient: Any) -> Type:
    """The type of a handle, or of a number."""
    if is_tensor(gradient):
        found: Type = gradient._ag_value.type
        return found
    dtype = PYTHON_DTYPES.get(type(gradient))
    return ObjectType() if dtype is None else TensorType(dtype, (), "python")


def is_static(type: Type) -> TypeGuard[TensorType]:
    """Whether its shape is known."""
    return isinstance(type, TensorType) and type.exact and None not in type.shape


def summed(gradient: Any, shape: Shape, wanted: Shape) -> Any:
    """A gradient summed over the dimensions that were broadcast, or broadcast itself."""
    beyond = len(shape) - len(wanted)
    if beyond > 0:
        gradient = gradient.sum(axis=tuple(range(beyond)) if beyond > 1 else 0)
    aligned = (1,) * -beyond + shape[max(beyond, 0) :]
    axes = tuple(axis for axis, (size, other) in enumerate(zip(aligned, wanted)) if other == 1 != size)
    if axes:
        gradient = gradient.sum(axis=axes[0] if len(axes) == 1 else axes, keepdims=True)
    smaller = any(size != other for size, other in zip(aligned, wanted) if other != 1)
    return np.broadcast_to(gradient, cast("tuple[int, ...]", wanted)) if smaller or beyond < 0 else gradient
