"""Gradients of ops that have run: the ops are recorded in a graph, which is reversed, compiled and run.

A graph serves all computations of the same structure: the same ops, with the same options, of tensors of the same
dtypes and shapes. So a loop that trains eagerly compiles once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from inspect import Parameter
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.dtypes import DType
from autograph.compat.tensorflow.core.graphs import FuncGraph
from autograph.compat.tensorflow.core.shapes import TensorShape, TensorSpec
from autograph.compat.tensorflow.core.tensor import Tensor, is_proxy, wrap
from autograph.compat.tensorflow.staging import tracing
from autograph.compat.tensorflow.staging.signatures import Signature
from autograph.runtime.autodiff.activity import Activity
from autograph.runtime.autodiff.transforms import Differentiated
from autograph.runtime.graph.graph import Node, walk
from autograph.runtime.graph.static_keys import Same, static_key

_MOST = 256  # the number of graphs to keep
_LARGE = 4096  # elements of larger arrays are not compared


@dataclass
class Entry:
    """An op that has run: `again` of tensors in a graph like `inputs` gives tensors like `outputs`.

    Attributes:
        parts: the other values that `again` depends on; None if they are unknown.
    """

    again: Callable[..., Sequence[Tensor]]
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    parts: Any


# The gradients of some computation, and for each source whether there is one in it.
_Program = tuple[tracing.Traced, list[bool]]
_programs: OrderedDict[Any, _Program] = OrderedDict()


def gradients(
    entries: Iterable[Entry], targets: Sequence[Tensor], sources: Sequence[Tensor],
    cotangents: Sequence[Tensor] | None,
) -> list[Tensor | None]:
    """The gradients of targets in sources; the gradients of the targets are `cotangents`, or ones."""
    entries = _needed(entries, targets)
    own = {id(output) for entry in entries for output in entry.outputs}
    used = [*(each for entry in entries for each in entry.inputs), *targets, *sources]
    outer = {id(each): each for each in used if id(each) not in own}
    inputs = [*outer.values(), *(cotangents or ())]
    connected: list[bool] = []

    def again(*tensors: Tensor) -> list[Tensor]:
        graph = graphs.recording()
        values = dict(zip(outer, tensors))
        roots = {id(each) for each in sources}
        values |= {number: as_root(graph, tensor) for number, tensor in values.items() if number in roots}
        start = len(graph.trace.block.nodes)
        for entry in entries:
            found = entry.again(*(values[id(each)] for each in entry.inputs))
            for old, new in zip(entry.outputs, found):
                values[id(old)] = as_root(graph, new) if id(old) in roots else new
        ends, starts = [[values[id(each)] for each in group] for group in (targets, sources)]
        grads = reverse(graph, start, ends, starts, tensors[len(outer) :] or None)
        connected[:] = [grad is not None for grad in grads]
        return [grad for grad in grads if grad is not None]

    key = _key(entries, targets, sources, outer, inputs)
    program = _programs.get(key) if key is not None else None
    if program is None:
        specs = tuple([TensorSpec(each.shape, each.dtype) for each in inputs])
        signature = Signature([Parameter("x", Parameter.VAR_POSITIONAL)], [specs], [None])
        program = tracing.trace(again, "gradient", signature, (), lambda: None, False)[0], connected
        if key is not None:
            _programs[key] = program
            if len(_programs) > _MOST:
                _programs.popitem(last=False)
    traced, has_gradient = program
    found: list[Tensor] = traced([each._value for each in inputs])
    graphs.note(again, inputs, found, None if key is None else _Key(key))
    results = iter(found)
    return [next(results) if is_there else None for is_there in has_gradient]


def _needed(entries: Iterable[Entry], targets: Iterable[Tensor]) -> list[Entry]:
    """The ops that targets depend on."""
    used = set(map(id, targets))
    found = []
    for entry in reversed(list(entries)):
        if not used.isdisjoint(map(id, entry.outputs)):
            used.update(map(id, entry.inputs))
            found.append(entry)
    return found[::-1]


# Reversing ------------------------------------------------------------------------------------------------------------


def as_root(graph: FuncGraph, tensor: Tensor) -> Tensor:
    """A tensor as another value of the graph, in which gradients are taken."""
    return wrap(graph.trace.record("bound", (tensor._value,)), tensor.dtype, tensor.shape)


def reverse(
    graph: FuncGraph, start: int, targets: list[Tensor], roots: Sequence[Tensor | None],
    cotangents: Sequence[Tensor] | None, ignored: Collection[Node] = (),
) -> list[Tensor | None]:
    """Record the gradients of targets in roots, through the nodes of the open block from `start` on.

    Args:
        cotangents: the gradients of the targets; ones if None.
        ignored: nodes that are constants to gradients.
    """
    chosen = [
        root for root in roots
        if root is not None and is_proxy(root._value) and (root.dtype.is_floating or root.dtype.is_complex)
    ]  # fmt: skip
    nodes = graph.trace.block.nodes[start:]
    activity = [Activity(nodes, [graph.trace.use(root._value)], constant=ignored) for root in chosen]
    ends = [each for each in targets if is_proxy(each._value)]
    values = [graph.trace.use(each._value) for each in ends]
    active = [(root, each) for root, each in zip(chosen, activity) if any(map(each.varies, values))]
    if not active:
        return [None] * len(roots)
    if cotangents is None:
        grads = [np.ones_like(each._value) if each.shape.rank else each.dtype.as_numpy_dtype(1) for each in ends]
    else:
        grads = [grad._value for each, grad in zip(targets, cotangents) if is_proxy(each._value)]
    is_chained = any(each.varies(graph.trace.use(root._value)) for each, of in zip(activity, chosen)
                     for root, _ in active if root is not of)  # fmt: skip
    by_root: dict[int, Tensor] = {}
    forward = set(walk(graph.trace.block))
    groups = [[root] for root, _ in active] if is_chained else [[root for root, _ in active]]
    for group in groups:  # of roots that do not depend on each other, as gradients stop at roots
        others = {node for node in walk(graph.trace.block) if node not in forward}  # of the gradients in other roots
        differentiated = Differentiated(graph.trace, start, [root._value for root in group], None, {*ignored, *others})
        found = differentiated.gradients([each._value for each in ends], grads)
        by_root |= {id(root): wrap(each, root.dtype, root.shape, "gradient") for root, each in zip(group, found)}
    return [by_root.get(id(root)) for root in roots]


# Keys -----------------------------------------------------------------------------------------------------------------


class _Unknown(Exception):
    """An object has no key, since another one like it may behave in another way."""


@dataclass(frozen=True)
class _Key:
    """The key of a computation, as a part of another one."""

    key: Any


def _key(
    entries: list[Entry], targets: Sequence[Tensor], sources: Sequence[Tensor], outer: Iterable[int],
    inputs: Sequence[Tensor],
) -> Any:
    """The key of the structure of a computation; None if some part has no key."""
    numbers = {each: number for number, each in enumerate(outer)}
    keys = []
    try:
        for entry in entries:
            if entry.parts is None:
                return None
            places = tuple([numbers[id(each)] for each in entry.inputs])
            keys.append((_part_key(entry.parts), places, len(entry.outputs)))
            for output in entry.outputs:
                numbers[id(output)] = len(numbers)
    except _Unknown:
        return None
    ends = tuple([numbers[id(each)] for each in targets]), tuple([numbers[id(each)] for each in sources])
    return tuple(keys), ends, tuple([(each.dtype.name, each.shape._dims) for each in inputs])


_VALUES = frozenset({bool, int, float, complex, str, bytes, type(None), type(...)})
_OBJECTS = (type, BuiltinFunctionType, np.dtype, np.ufunc, DType)


def _part_key(part: Any, around: tuple[FunctionType, ...] = ()) -> Any:
    """The key of a part of `Entry.parts`: functions by their code and by the values that they refer to.

    Args:
        around: the functions whose cells it is in, as these may refer to themselves.
    """
    kind = type(part)
    if kind in _VALUES:
        return static_key(part)
    if isinstance(part, (tuple, list)):
        return kind, tuple([_part_key(each, around) for each in part])
    if kind is dict:
        return kind, tuple([(name, _part_key(each, around)) for name, each in part.items()])
    if kind is slice:
        return kind, _part_key((part.start, part.stop, part.step))
    if kind is MethodType:
        return kind, _part_key((part.__func__, part.__self__), around)
    if kind is FunctionType:
        if part in around:
            return kind, around.index(part)
        cells = tuple([cell.cell_contents for cell in part.__closure__ or ()])
        inside = _part_key((cells, part.__defaults__, part.__kwdefaults__), (*around, part))
        return part.__code__, part.__module__, inside
    if isinstance(part, (np.ndarray, np.generic)) and part.size <= _LARGE and part.dtype.kind != "O":
        return part.dtype.str, part.shape, part.tobytes()
    if isinstance(part, (CodeType, Same, TensorShape, _Key)):
        return part
    if isinstance(part, _OBJECTS) or _is_of_numpy(part):
        return static_key(part)
    raise _Unknown(part)


def _is_of_numpy(part: Any) -> bool:
    """Whether it is a function of NumPy's; many of these have a class of their own."""
    return callable(part) and str(getattr(part, "__module__", "")).partition(".")[0] == "numpy"
