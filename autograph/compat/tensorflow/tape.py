"""`tf.GradientTape`: gradients of what was computed while it watched.

In a graph, the nodes recorded since the tape began are reversed where the gradient is asked for. Eagerly, a tape notes
the ops that run; when a gradient is asked for, they are recorded in a graph, with the watched tensors as parameters,
and that is reversed, compiled and run. Taking a gradient is itself an op to the tapes around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograph import nest
from autograph.compat.tensorflow import graphs, math_ops, tracing
from autograph.compat.tensorflow.convert import convert_to_tensor
from autograph.compat.tensorflow.graphs import FuncGraph
from autograph.compat.tensorflow.shapes import TensorSpec
from autograph.compat.tensorflow.tensor import Tensor, is_handle, type_of, wrap
from autograph.compat.tensorflow.variables import Variable, read
from autograph.runtime.activity import Activity
from autograph.runtime.gradients import Differentiated
from autograph.runtime.graph import Block, Node


class UnconnectedGradients:
    """What the gradient is in something that has no part in the target."""

    NONE = "none"
    ZERO = "zero"


@dataclass
class Entry:
    """An op that has run: `again` of tensors of a graph like `inputs` gives such like `outputs`."""

    again: Callable[..., Sequence[Tensor]]
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]


@dataclass
class _Staged:
    """What a tape knows of the graph that it is in.

    Attributes:
        marker: the node before the first that it watches.
    """

    graph: FuncGraph
    block: Block
    marker: Node


@dataclass
class _Notes:
    """What an eager tape has seen.

    Attributes:
        reads: the tensors that variables were read as, by their ids, with these variables.
    """

    entries: list[Entry] = field(default_factory=list)
    reads: dict[int, tuple[Tensor, Variable]] = field(default_factory=dict)


class GradientTape:
    """Watches what is computed within its `with`, to give gradients of it.

    Args:
        persistent: whether it can be asked more than once.
        watch_accessed_variables: whether trainable variables are watched without further ado.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watches_variables = watch_accessed_variables
        self._staged: _Staged | None = None
        self._notes = _Notes()
        self._variables: dict[int, Variable] = {}
        self._roots: dict[int, Tensor] = {}  # what stands in the graph for variables and constants, by their ids
        self._watched: dict[int, Any] = {}  # what it was told to watch, by their ids
        self._used = False

    def __enter__(self) -> GradientTape:
        graph = graphs.current()
        if graph is not None:
            graph.trace.record("bound", (0,))
            self._staged = _Staged(graph, graph.trace.block, graph.trace.block.nodes[-1])
        graphs.tapes().append(self)
        return self

    def __exit__(self, *exception: Any) -> None:
        graphs.tapes().remove(self)
        if self._staged is not None:
            for number in self._roots:
                self._staged.graph.reads.pop(number, None)
                self._staged.graph.stand_ins.pop(number, None)

    def stands_in(self, block: Block) -> bool:
        """Whether it began in a block of the graph."""
        return self._staged is not None and self._staged.block is block

    # Watching ---------------------------------------------------------------------------------------------------------

    def watch(self, tensor: Any) -> None:
        """Watch tensors, or a structure of such; a gradient is known only in what is watched."""
        for each in nest.flatten(tensor):
            self._watched[id(each)] = each
            if isinstance(each, Variable):
                self._variables[id(each)] = each
            elif self._staged is not None and not is_handle(convert_to_tensor(each)._value):
                graph = self._staged.graph
                self._roots[id(each)] = _as_root(graph, each)
                graph.stand_ins[id(each)] = each, self._roots[id(each)]

    def watched_variables(self) -> tuple[Variable, ...]:
        return tuple(self._variables.values())

    def note(self, again: Callable[..., Sequence[Tensor]], inputs: Any, outputs: Any) -> None:
        """An op has run eagerly."""
        self._notes.entries.append(Entry(again, inputs, outputs))

    def note_read(self, variable: Variable, tensor: Tensor) -> None:
        """A variable has been read eagerly."""
        if self._is_watched(variable):
            self._notes.reads[id(tensor)] = tensor, variable

    def _is_watched(self, variable: Variable) -> bool:
        if self._watches_variables and variable.trainable:
            self._variables[id(variable)] = variable
        return id(variable) in self._variables

    def read(self, variable: Variable) -> None:
        """Read a variable by one node in front of all that is watched, for all in the graph who read it from now on."""
        if self._staged is None or not self._is_watched(variable) or id(variable) in self._staged.graph.reads:
            return
        nodes = self._staged.block.nodes
        node = Node("call", (read, self._staged.graph.trace.lower((variable._storage,))[0]), None, (), ())
        nodes.insert(nodes.index(self._staged.marker), node)
        value = node.add_output(type_of(variable.dtype, variable.shape))
        graph = self._staged.graph
        found = Tensor(graph.trace.handle(value), variable.dtype, variable.shape, graph, "ReadVariableOp")
        self._roots[id(variable)] = graph.reads[id(variable)] = found

    def reset(self) -> None:
        self._notes = _Notes()

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """While it lasts, nothing is watched."""
        if self not in graphs.tapes():
            raise ValueError("Tape is not recording.")
        if self._staged is not None:
            raise NotImplementedError("in a tf.function, use tf.stop_gradient in the place of tape.stop_recording()")
        graphs.tapes().remove(self)
        try:
            yield
        finally:
            graphs.tapes().append(self)

    # Gradients --------------------------------------------------------------------------------------------------------

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: str = "none"
    ) -> Any:
        """The gradients of the target, or of the sum of several, in each source; None where that has no part in it."""
        if self._used and not self._persistent:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
            )
        self._used = True
        targets = [convert_to_tensor(each) for each in nest.flatten(target)]
        given = None
        if output_gradients is not None:
            parts = nest.flatten(output_gradients) if nest.is_nested(target) else [output_gradients]
            given = [convert_to_tensor(each, dtype_hint=to.dtype) for each, to in zip(parts, targets)]
        wanted = nest.flatten(sources)
        if self._staged is not None:
            found = self._staged_gradients(targets, wanted, given)
        else:
            found = self._eager_gradients(targets, wanted, given)
        if str(unconnected_gradients).rpartition(".")[2].lower() == "zero":
            found = [_zero(source) if each is None else each for source, each in zip(wanted, found)]
        return nest.pack(sources, found)

    def _staged_gradients(self, targets: list[Tensor], sources: list[Any], given: Any) -> list[Tensor | None]:
        assert self._staged is not None
        graph = self._staged.graph
        if graph.trace.block is not self._staged.block:
            raise RuntimeError("tape.gradient must be called in the branch or loop that the tape is in")
        start = self._staged.block.nodes.index(self._staged.marker) + 1
        roots = [
            self._roots.get(id(each), None if isinstance(each, Variable) else each) for each in sources
        ]  # fmt: skip
        watched = [each for each in self._watched.values() if isinstance(each, Tensor) and is_handle(each._value)]
        values = [graph.trace.use(each._value) for each in (*watched, *self._roots.values())]
        known = Activity(self._staged.block.nodes[start:], values).values
        roots = [each if each is None or (is_handle(each._value) and graph.trace.use(each._value) in known) else None
                 for each in roots]  # fmt: skip
        return _reversed(graph, start, targets, roots, given)

    def _eager_gradients(self, targets: list[Tensor], sources: list[Any], given: Any) -> list[Tensor | None]:
        entries, reads = self._notes.entries, list(self._notes.reads.values())
        known = {*self._watched, *self._notes.reads}  # what depends on what is watched, by their ids
        for entry in entries:
            if not known.isdisjoint(map(id, entry.inputs)):
                known.update(map(id, entry.outputs))
        if not self._persistent:
            self.reset()
        tensors = [
            [tensor for tensor, variable in reads if variable is source] if isinstance(source, Variable)
            else [source] if id(source) in known else [] for source in sources
        ]
        wanted = [tensor for each in tensors for tensor in each]
        found = iter(_replayed(entries, targets, wanted, given))
        return [_sum([next(found) for _ in each]) for each in tensors]

    def jacobian(self, target: Any, sources: Any, unconnected_gradients: str = "none", **_: Any) -> Any:
        """The gradients of each element of the target, one behind the other."""
        tensor = convert_to_tensor(target)
        persistent, self._persistent = self._persistent, True
        size = tensor.shape.num_elements() or 0
        rows = []
        for number in range(size):
            unit = np.zeros(size, tensor.dtype.as_numpy_dtype)
            unit[number] = 1
            rows.append(self.gradient(target, sources, unit.reshape(tuple(tensor.shape)), unconnected_gradients))
        self._persistent = persistent

        def stacked(*parts: Any) -> Any:
            if parts[0] is None:
                return None
            return wrap(np.stack([part._value for part in parts]).reshape((*tensor.shape, *parts[0].shape)))

        return nest.map(stacked, rows[0], *rows[1:])


def _replayed(
    entries: list[Entry], targets: list[Tensor], wanted: list[Tensor], given: list[Tensor] | None
) -> list[Tensor | None]:
    """The gradients of targets in tensors, by recording ops again that have run."""
    own = {id(output) for entry in entries for output in entry.outputs}
    used = [*(each for entry in entries for each in entry.inputs), *targets, *wanted]
    outer = {id(each): each for each in used if id(each) not in own}
    connected: list[bool] = []

    def again(*tensors: Tensor) -> list[Tensor]:
        graph = graphs.current()
        assert graph is not None, "this is recorded in a graph"
        known = dict(zip(outer, tensors))
        asked = {id(each) for each in wanted}
        known |= {number: _as_root(graph, tensor) for number, tensor in known.items() if number in asked}
        start = len(graph.trace.block.nodes)
        for entry in entries:
            found = entry.again(*(known[id(each)] for each in entry.inputs))
            for old, new in zip(entry.outputs, found):
                known[id(old)] = _as_root(graph, new) if id(old) in asked else new
        roots = [known[id(each)] for each in wanted]
        grads = _reversed(graph, start, [known[id(each)] for each in targets], roots, tensors[len(outer) :] or None)
        connected[:] = [grad is not None for grad in grads]
        return [grad for grad in grads if grad is not None]

    results = iter(run_recorded(again, [*outer.values(), *(given or ())]))
    return [next(results) if is_there else None for is_there in connected]


def _sum(gradients: list[Tensor | None]) -> Tensor | None:
    """The sum of those that there are."""
    found = [each for each in gradients if each is not None]
    return math_ops.add_n(found) if len(found) > 1 else found[0] if found else None


def _as_root(graph: FuncGraph, tensor: Tensor) -> Tensor:
    """The same as a value of its own."""
    return wrap(graph.trace.record("bound", (tensor._value,)), tensor.dtype, tensor.shape)


def _zero(source: Any) -> Tensor:
    tensor = convert_to_tensor(source)
    return convert_to_tensor(np.zeros(tuple(tensor.shape), tensor.dtype.as_numpy_dtype))


def _reversed(
    graph: FuncGraph, start: int, targets: list[Tensor], roots: Sequence[Tensor | None], given: Sequence[Tensor] | None
) -> list[Tensor | None]:
    """Record the gradients of targets in roots, of what the open block computes from `start` on."""
    chosen = [
        root for root in roots
        if root is not None and is_handle(root._value) and (root.dtype.is_floating or root.dtype.is_complex)
    ]  # fmt: skip
    activity = [Activity(graph.trace.block.nodes[start:], [graph.trace.use(root._value)]) for root in chosen]
    values = [graph.trace.use(each._value) for each in targets if is_handle(each._value)]
    depends = [any(each.varies(value) for value in values) for each in activity]
    asked = [root for root, does in zip(chosen, depends) if does]
    if not asked:
        return [None] * len(roots)
    ends = [each for each in targets if is_handle(each._value)]
    if given is None:
        cotangents = [np.ones_like(each._value) if each.shape.rank else each.dtype.as_numpy_dtype(1) for each in ends]
    else:
        cotangents = [grad._value for each, grad in zip(targets, given) if is_handle(each._value)]
    depend = any(each.varies(graph.trace.use(root._value)) for each, of in zip(activity, chosen)
                 for root in asked if root is not of)  # fmt: skip
    by_root: dict[int, Tensor] = {}
    for group in [[root] for root in asked] if depend else [asked]:  # gradients stop at what is differentiated in
        differentiated = Differentiated(graph.trace, start, [root._value for root in group], None)
        found = differentiated.gradients([each._value for each in ends], cotangents)
        by_root |= {id(root): wrap(each, root.dtype, root.shape, "gradient") for root, each in zip(group, found)}
    return [by_root.get(id(root)) for root in roots]


def run_recorded(again: Callable[..., Sequence[Tensor]], inputs: Sequence[Tensor]) -> Sequence[Tensor]:
    """Run at once what is recorded in a graph of its own; tapes note it as one op."""
    specs = [(f"x{number}", TensorSpec(each.shape, each.dtype)) for number, each in enumerate(inputs)]
    traced, _ = tracing.trace(
        lambda *tensors: list(again(*tensors)), "gradient", (tuple(spec for _, spec in specs), {}), specs, (),
        lambda: None, False,
    )  # fmt: skip
    found: list[Tensor] = traced([each._value for each in inputs])
    graphs.note(again, inputs, found)
    return found

