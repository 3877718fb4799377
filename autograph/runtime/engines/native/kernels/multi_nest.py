"""Producer/consumer fusion of several nests: `e = exp(x - top)`, its sum over each row, and `e / total`.

Operations after a reduction of rows are another nest of the kernel. A block of rows goes through all nests in turn, so
that intermediate results are in the cache when they are read. An intermediate array that is not a result has the size
of a block, or is in the memory of a result. The rows of a nest may also have one element each, such as a square root of
a row's variance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from autograph.runtime.engines.native.kernels.elementwise import key_of, operands, reduction_of, sums_of, target_of
from autograph.runtime.engines.native.kernels.loop_nest import Nest, Single, Stream
from autograph.runtime.engines.native.kernels.nest_builder import build_nest
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.types import TensorType


def goes_on(node: Node) -> bool:
    """Whether a node reduces rows and keeps their dimension, so that others may use the result."""
    reduction = reduction_of(node)
    return reduction is not None and reduction.keepdims


def shape_of(node: Node) -> tuple[int | None, ...]:
    """The shape of the elements that a node computes or reduces."""
    type = node.args[0].type if reduction_of(node) or sums_of(node) else node.output.type
    assert isinstance(type, TensorType)
    return type.shape


def split(nodes: Sequence[Node]) -> list[list[Node]]:
    """The nodes of each nest. All nodes of a nest have one shape, and only the last may be a reduction."""
    if not any(map(goes_on, nodes[:-1])):
        return [list(nodes)]
    found: list[list[Node]] = []
    for node in nodes:
        last = found[-1][-1] if found else None
        if last is None or goes_on(last) or shape_of(last) != shape_of(node):
            found.append([])
        found[-1].append(node)
    return found


@dataclass(frozen=True)
class Member:
    """A nest of a kernel.

    Attributes:
        inputs: its operands.
        outputs: its results that other nests use.
        new: for each array that it computes, whether the kernel makes a new object for it.
        is_wide: whether its rows are as long as those of the first nest; otherwise they have one element.
    """

    nest: Nest
    inputs: dict[Any, Stream | Single]
    outputs: Sequence[Value]
    new: Sequence[bool]
    is_wide: bool = True


@dataclass(frozen=True)
class Buffer:
    """An array that one nest computes and others read.

    Attributes:
        slots: the places in the frame for its address; the first one is the producer's.
        stride: the place of the distance between its rows, if only a block of it exists at a time.
    """

    slots: Sequence[int]
    stride: int | None


def only(nest: Nest, inputs: dict[Any, Stream | Single]) -> Member:
    """The only nest of a kernel."""
    old = {nest.written, nest.reduced if nest.reduction is not None and nest.reduction.whole else None}
    return Member(nest, inputs, [], [place not in old for place in range(len(nest.dtypes))])


def fused(
    nodes: Sequence[Node], inputs: dict[Any, Stream | Single], results: Sequence[Value], ndim: int
) -> tuple[list[Member], list[Buffer]]:
    """The nests of a kernel, and the arrays that they leave to each other."""
    parts = split(nodes)
    used = [{key_of(arg): arg for node in part for arg in operands(node)} for part in parts]
    uses = Counter(key for keys in used for key in keys)
    known: dict[Any, Stream | Single] = dict(inputs)
    members: list[Member] = []
    merged: dict[Any, Value] = {}
    for number, (part, keys) in enumerate(zip(parts, used), 1):
        computed = [node.output for node in part]
        read = {key: known[key] for key in keys if key not in computed}
        outputs = [value for value in computed if value in results or uses[value] > (value in keys)]
        is_wide = shape_of(part[0]) == shape_of(parts[0][0])
        within: dict[Any, Value] = {}
        ends = any(found is not None for found in (reduction_of(part[-1]), sums_of(part[-1]), target_of(part[-1])))
        if is_wide and len(outputs) == 1 and outputs[0] in results and not ends:
            wide = [value for member in members if member.is_wide for value in member.outputs if value not in results]
            later = {key for keys in used[number:] for key in keys}
            last = [value for value in wide if value not in later and _fits(read.get(value), outputs[0])]
            within = dict.fromkeys(last[:1], outputs[0])
        merged |= within
        nest = build_nest(part, read, outputs, ndim, f"nest{number}_", within)
        steps = any(isinstance(kind, Stream) and kind.steps for kind in read.values())
        for value, dtype in zip(outputs, nest.dtypes):
            known[value] = Stream(dtype, ndim, steps and not (nest.reduction and value is computed[-1]))
        members.append(Member(nest, read, outputs, [value in results for value in outputs], is_wide))
    return members, _buffers(members, merged)


def _fits(kind: Any, result: Value) -> bool:
    """Whether an intermediate array can be in the memory of a result whose nest is the last that reads it.

    So there is one array less, and memory of the result is loaded into the cache while something slow is computed.
    """
    assert isinstance(result.type, TensorType)
    return isinstance(kind, Stream) and kind.steps and kind.dtype == result.type.dtype


def _buffers(members: Sequence[Member], merged: Mapping[Any, Value]) -> list[Buffer]:
    slots: dict[Any, list[int]] = {}
    strides: dict[Any, int | None] = {}
    for member, base in zip(members, accumulate((each.nest.frame.slots for each in members), initial=0)):
        streams = [key for key, kind in member.inputs.items() if isinstance(kind, Stream)]
        for place, key in enumerate(streams, base + len(member.outputs)):
            if key in slots:
                slots[key].append(place)
        for place, value in enumerate(member.outputs):
            slots[value] = [base + place]
            strides[value] = None if member.new[place] else base + member.nest.frame.stride(place, 0)
    for key, result in merged.items():
        slots[result] += slots.pop(key)
    return [Buffer(every, strides[key]) for key, every in slots.items() if len(every) > 1]
