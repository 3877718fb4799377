"""Gradients of ops that have run: the ops are recorded in a graph, which is reversed, compiled and run.

Such a graph serves all computations of the same structure: the same ops, with the same options, of tensors of the same
types and shapes. So a loop that trains eagerly compiles once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.dtypes import DType
from autograph.compat.tensorflow.core.graphs import FuncGraph
from autograph.compat.tensorflow.core.shapes import TensorShape, TensorSpec
from autograph.compat.tensorflow.core.tensor import Tensor, is_proxy, wrap
from autograph.compat.tensorflow.staging import tracing
from autograph.runtime.autodiff.activity import Activity
from autograph.runtime.autodiff.transforms import Differentiated
from autograph.runtime.graph.graph import Node, walk
from autograph.runtime.graph.static_keys import Same

_MOST = 256  # the number of graphs to keep
_LARGE = 4096  # elements of larger arrays are not compared


@dataclass
class Entry:
    """An op that has run: `again` of tensors of a graph like `inputs` gives such like `outputs`.

    Attributes:
        parts: what `again` depends on besides; None if that is unknown.
    """

    again: Callable[..., Sequence[Tensor]]
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    parts: Any


@dataclass
class _Program:
    """The gradients of some computation.

    Attributes:
        connected: for each tensor that was asked for whether there is a gradient in it.
    """

    traced: tracing.Traced
    connected: list[bool]


_programs: OrderedDict[Any, _Program] = OrderedDict()


def gradients(
    entries: Iterable[Entry], targets: Sequence[Tensor], wanted: Sequence[Tensor], given: Sequence[Tensor] | None
) -> list[Tensor | None]:
    """The gradients of targets in tensors."""
    entries = _needed(entries, targets)
    own = {id(output) for entry in entries for output in entry.outputs}
    used = [*(each for entry in entries for each in entry.inputs), *targets, *wanted]
    outer = {id(each): each for each in used if id(each) not in own}
    inputs = [*outer.values(), *(given or ())]
    connected: list[bool] = []

    def again(*tensors: Tensor) -> list[Tensor]:
        graph = graphs.current()
        assert graph is not None, "this is recorded in a graph"
        known = dict(zip(outer, tensors))
        asked = {id(each) for each in wanted}
        known |= {number: as_root(graph, tensor) for number, tensor in known.items() if number in asked}
        start = len(graph.trace.block.nodes)
        for entry in entries:
            found = entry.again(*(known[id(each)] for each in entry.inputs))
            for old, new in zip(entry.outputs, found):
                known[id(old)] = as_root(graph, new) if id(old) in asked else new
        roots = [known[id(each)] for each in wanted]
        grads = reverse(graph, start, [known[id(each)] for each in targets], roots, tensors[len(outer) :] or None)
        connected[:] = [grad is not None for grad in grads]
        return [grad for grad in grads if grad is not None]

    key = _key(entries, targets, wanted, outer, inputs)
    program = _programs.get(key) if key is not None else None
    if program is None:
        specs = [(f"x{number}", TensorSpec(each.shape, each.dtype)) for number, each in enumerate(inputs)]
        args = tuple(spec for _, spec in specs)
        traced, _ = tracing.trace(again, "gradient", (args, {}), specs, (), lambda: None, False)
        program = _Program(traced, connected)
        if key is not None:
            _programs[key] = program
            if len(_programs) > _MOST:
                _programs.popitem(last=False)
    found: list[Tensor] = program.traced([each._value for each in inputs])
    graphs.note(again, inputs, found, None if key is None else _Known(key))
    results = iter(found)
    return [next(results) if is_there else None for is_there in program.connected]


def _needed(entries: Iterable[Entry], targets: Iterable[Tensor]) -> list[Entry]:
    """The ops that targets were computed by."""
    wanted = set(map(id, targets))
    found = []
    for entry in reversed(list(entries)):
        if not wanted.isdisjoint(map(id, entry.outputs)):
            wanted.update(map(id, entry.inputs))
            found.append(entry)
    return found[::-1]


# Reversing ------------------------------------------------------------------------------------------------------------


def as_root(graph: FuncGraph, tensor: Tensor) -> Tensor:
    """The same tensor as a value of its own."""
    return wrap(graph.trace.record("bound", (tensor._value,)), tensor.dtype, tensor.shape)


def reverse(
    graph: FuncGraph, start: int, targets: list[Tensor], roots: Sequence[Tensor | None],
    given: Sequence[Tensor] | None, unseen: Collection[Node] = (),
) -> list[Tensor | None]:
    """Record the gradients of targets in roots, of what the open block computes from `start` on.

    Args:
        given: the gradients of the targets to begin with.
        unseen: nodes that gradients take no notice of.
    """
    chosen = [
        root for root in roots
        if root is not None and is_proxy(root._value) and (root.dtype.is_floating or root.dtype.is_complex)
    ]  # fmt: skip
    nodes = graph.trace.block.nodes[start:]
    activity = [Activity(nodes, [graph.trace.use(root._value)], constant=unseen) for root in chosen]
    values = [graph.trace.use(each._value) for each in targets if is_proxy(each._value)]
    depends = [any(each.varies(value) for value in values) for each in activity]
    asked = [root for root, does in zip(chosen, depends) if does]
    if not asked:
        return [None] * len(roots)
    ends = [each for each in targets if is_proxy(each._value)]
    if given is None:
        cotangents = [np.ones_like(each._value) if each.shape.rank else each.dtype.as_numpy_dtype(1) for each in ends]
    else:
        cotangents = [grad._value for each, grad in zip(targets, given) if is_proxy(each._value)]
    depend = any(each.varies(graph.trace.use(root._value)) for each, of in zip(activity, chosen)
                 for root in asked if root is not of)  # fmt: skip
    by_root: dict[int, Tensor] = {}
    forward = set(walk(graph.trace.block))
    for group in [[root] for root in asked] if depend else [asked]:  # gradients stop at what is differentiated in
        others = {node for node in walk(graph.trace.block) if node not in forward}  # of the gradients in other roots
        differentiated = Differentiated(graph.trace, start, [root._value for root in group], None, {*unseen, *others})
        found = differentiated.gradients([each._value for each in ends], cotangents)
        by_root |= {id(root): wrap(each, root.dtype, root.shape, "gradient") for root, each in zip(group, found)}
    return [by_root.get(id(root)) for root in roots]


# Keys -----------------------------------------------------------------------------------------------------------------


class _Unknown(Exception):
    """Two such objects cannot be compared."""


@dataclass(frozen=True)
class _Known:
    """A key."""

    key: Any


def _key(
    entries: list[Entry], targets: Sequence[Tensor], wanted: Sequence[Tensor], outer: Iterable[int],
    inputs: Sequence[Tensor],
) -> Any:
    """A key of the structure of a computation; None if some part has no key."""
    numbers = {each: number for number, each in enumerate(outer)}
    told = []
    try:
        for entry in entries:
            if entry.parts is None:
                return None
            told.append((_told(entry.parts), tuple([numbers[id(each)] for each in entry.inputs]), len(entry.outputs)))
            for output in entry.outputs:
                numbers[id(output)] = len(numbers)
    except _Unknown:
        return None
    ends = tuple([numbers[id(each)] for each in targets]), tuple([numbers[id(each)] for each in wanted])
    return tuple(told), ends, tuple([(each.dtype.name, each.shape._dims) for each in inputs])


_VALUES = frozenset({bool, int, str, bytes, type(None), type(...), CodeType})
_THINGS = (type, BuiltinFunctionType, np.dtype, np.ufunc, DType)


def _told(part: Any, around: tuple[FunctionType, ...] = ()) -> Any:
    """The key of a part of an op; `around` are the functions that it is in, to which it may refer."""
    kind = type(part)
    if kind in _VALUES:
        return kind, part
    if kind in (float, complex):
        return kind, repr(part)
    if isinstance(part, (tuple, list)):
        return kind, tuple([_told(each, around) for each in part])
    if kind is dict:
        return kind, tuple([(name, _told(each, around)) for name, each in part.items()])
    if kind is slice:
        return kind, _told((part.start, part.stop, part.step))
    if kind is MethodType:
        return kind, _told((part.__func__, part.__self__), around)
    if kind is FunctionType:
        if part in around:
            return kind, around.index(part)
        cells = tuple([cell.cell_contents for cell in part.__closure__ or ()])
        inside = _told((cells, part.__defaults__, part.__kwdefaults__), (*around, part))
        return part.__code__, part.__module__, inside
    if isinstance(part, (np.ndarray, np.generic)) and part.size <= _LARGE and part.dtype.kind != "O":
        return part.dtype.str, part.shape, part.tobytes()
    if isinstance(part, (Same, TensorShape, _Known)):
        return part
    if isinstance(part, _THINGS) or _is_of_numpy(part):
        return Same(part)
    raise _Unknown(part)


def _is_of_numpy(part: Any) -> bool:
    """Whether it is a function of NumPy's; many of these have a class of their own."""
    return callable(part) and str(getattr(part, "__module__", "")).partition(".")[0] == "numpy"
