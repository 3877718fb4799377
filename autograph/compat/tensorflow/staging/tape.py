"""`tf.GradientTape`: gradients of what was computed while it watched.

In a graph, the nodes recorded since the tape began are reversed where the gradient is asked for. Eagerly, a tape notes
the ops that run; when a gradient is asked for, they are recorded in a graph, and that is reversed (`replay.py`). Taking
a gradient is itself an op to the tapes around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.graphs import FuncGraph
from autograph.compat.tensorflow.core.tensor import Tensor, is_proxy, type_of
from autograph.compat.tensorflow.ops import array_ops, math_ops
from autograph.compat.tensorflow.ops.variables import Variable, read
from autograph.compat.tensorflow.staging import replay
from autograph.compat.tensorflow.staging.replay import Entry
from autograph.runtime.autodiff.activity import Activity
from autograph.runtime.graph.graph import Block, Node


class UnconnectedGradients:
    """The gradient in a source that the target does not depend on."""

    NONE = "none"
    ZERO = "zero"


@dataclass
class _Staged:
    """The state of a tape in a graph.

    Attributes:
        marker: the node before the first that it watches.
        unseen: the nodes that were recorded while it was stopped.
        roots: what stands in the graph for variables and constants, by their ids: one value for what is read between
            two assignments.
        valid: of these roots, those to be read now.
        fronts: the nodes before which the next root of a variable is put, if it has been assigned to.
        around: what stood for constants when the tape began to watch them.
    """

    graph: FuncGraph
    block: Block
    marker: Node
    unseen: set[Node] = field(default_factory=set)
    roots: dict[int, list[Tensor]] = field(default_factory=dict)
    valid: dict[int, Tensor] = field(default_factory=dict)
    fronts: dict[int, Node] = field(default_factory=dict)
    around: dict[int, Any] = field(default_factory=dict)


@dataclass
class _Notes:
    """The records of an eager tape.

    Attributes:
        reads: the tensors that variables were read as, by their ids, with these variables.
    """

    entries: list[Entry] = field(default_factory=list)
    reads: dict[int, tuple[Tensor, Variable]] = field(default_factory=dict)


class GradientTape:
    """Watches the computation within its `with`, and gives its gradients.

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
        self._watched: dict[int, Any] = {}  # what it was told to watch, by their ids
        self._used = False

    def __enter__(self) -> GradientTape:
        graph = graphs.current()
        if graph is not None:
            self._staged = _Staged(graph, graph.trace.block, _marker(graph))
            graph.tapes.append(self)
        graphs.tapes().append(self)
        return self

    def __exit__(self, *exception: Any) -> None:
        graphs.tapes().remove(self)
        if self._staged is not None:
            self._staged.graph.tapes.remove(self)
            for number, before in self._staged.around.items():
                self._staged.graph.stand_ins.pop(number)
                if before is not None:
                    self._staged.graph.stand_ins[number] = before

    # Watching ---------------------------------------------------------------------------------------------------------

    def watch(self, tensor: Any) -> None:
        """Watch tensors, or a structure of such; a gradient is known only in what is watched."""
        for each in pytree.flatten(tensor):
            self._watched[id(each)] = each
            if isinstance(each, Variable):
                self._variables[id(each)] = each
            elif self._staged is not None and not is_proxy(each._value):
                graph = self._staged.graph
                self._staged.around.setdefault(id(each), graph.stand_ins.get(id(each)))
                root = replay.as_root(graph, convert_to_tensor(each))
                self._staged.roots[id(each)] = [root]
                graph.stand_ins[id(each)] = each, root

    def watched_variables(self) -> tuple[Variable, ...]:
        return tuple(self._variables.values())

    def note(self, again: Callable[..., Sequence[Tensor]], inputs: Any, outputs: Any, parts: Any) -> None:
        """An op has run eagerly; see `Entry`."""
        self._notes.entries.append(Entry(again, inputs, outputs, parts))

    def note_read(self, variable: Variable, tensor: Tensor) -> None:
        """A variable has been read eagerly."""
        if self._is_watched(variable):
            self._notes.reads[id(tensor)] = tensor, variable

    def _is_watched(self, variable: Variable) -> bool:
        if self._would_watch(variable):
            self._variables[id(variable)] = variable
        return id(variable) in self._variables

    def _would_watch(self, variable: Variable) -> bool:
        return (self._watches_variables and variable.trainable) or id(variable) in self._variables

    def read(self, variable: Variable, around: Tensor | None) -> Tensor | None:
        """Read a variable in the graph, by one node in front of all that is watched.

        Args:
            around: what the tapes around this one read it by.
        """
        staged, number = self._staged, id(variable)
        if staged is None or staged.graph is not graphs.current() or not self._is_watched(variable):
            return around
        if number not in staged.valid:
            trace = staged.graph.trace
            value = read, variable._storage
            args = trace.lower(value if around is None else (around._value,))
            node = Node("call" if around is None else "bound", args, None, (), ())
            staged.block.nodes.insert(staged.block.nodes.index(staged.fronts.get(number, staged.marker)), node)
            proxy = trace.proxy(node.add_output(type_of(variable.dtype, variable.shape)))
            found = Tensor(proxy, variable.dtype, variable.shape, staged.graph, "ReadVariableOp")
            found._block = staged.block
            staged.roots.setdefault(number, []).append(found)
            staged.valid[number] = found
        return staged.valid[number]

    def check_assignment(self, variable: Variable) -> None:
        """Check that a watched variable is assigned to where the tape notices it."""
        staged = self._staged
        if staged is not None and self._would_watch(variable) and staged.graph.trace.block is not staged.block:
            raise NotImplementedError(
                f"the variable '{variable.name}' is assigned to in a branch or loop under a GradientTape that is "
                "around that: assign to it behind the tape"
            )

    def note_assignment(self, variable: Variable) -> None:
        """A variable has been assigned to in the graph."""
        if self._staged is not None and self._would_watch(variable):
            self._staged.valid.pop(id(variable), None)
            self._staged.fronts[id(variable)] = _marker(self._staged.graph)

    def reset(self) -> None:
        self._notes = _Notes()

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Within it, nothing is watched."""
        if self not in graphs.tapes():
            raise ValueError("Tape is not recording.")
        place = graphs.tapes().index(self)
        del graphs.tapes()[place]
        nodes = self._staged.graph.trace.block.nodes if self._staged is not None else []
        before = set(nodes)
        try:
            yield
        finally:
            graphs.tapes().insert(place, self)
            if self._staged is not None:
                self._staged.unseen.update(node for node in nodes if node not in before)

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
        targets = [convert_to_tensor(each) for each in pytree.flatten(target)]
        given = None
        if output_gradients is not None:
            parts = pytree.flatten(output_gradients) if pytree.is_nested(target) else [output_gradients]
            given = [convert_to_tensor(each, dtype_hint=to.dtype) for each, to in zip(parts, targets)]
        wanted = pytree.flatten(sources)
        if self._staged is not None:
            found = self._staged_gradients(targets, wanted, given)
        else:
            found = self._eager_gradients(targets, wanted, given)
        if str(unconnected_gradients).rpartition(".")[2].lower() == "zero":
            found = [_zero(source) if each is None else each for source, each in zip(wanted, found)]
        return pytree.pack(sources, found)

    def _staged_gradients(self, targets: list[Tensor], sources: list[Any], given: Any) -> list[Tensor | None]:
        assert self._staged is not None
        graph = self._staged.graph
        if graph.trace.block is not self._staged.block:
            raise RuntimeError("tape.gradient must be called in the branch or loop that the tape is in")
        start = self._staged.block.nodes.index(self._staged.marker) + 1
        roots = self._staged.roots
        watched = [each for each in self._watched.values() if isinstance(each, Tensor) and is_proxy(each._value)]
        own = [root for each in roots.values() for root in each]
        values = [graph.trace.use(each._value) for each in (*watched, *own)]
        known = Activity(self._staged.block.nodes[start:], values, constant=self._staged.unseen).values
        tensors = [
            [
                root for root in roots.get(id(source), [] if isinstance(source, Variable) else [source])
                if is_proxy(root._value) and graph.trace.use(root._value) in known
            ]
            for source in sources
        ]  # fmt: skip
        wanted = [tensor for each in tensors for tensor in each]
        found = iter(replay.reverse(graph, start, targets, wanted, given, self._staged.unseen))
        return [_sum([next(found) for _ in each]) for each in tensors]

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
        found = iter(replay.gradients(entries, targets, wanted, given))
        return [_sum([next(found) for _ in each]) for each in tensors]

    def jacobian(self, target: Any, sources: Any, unconnected_gradients: str = "none", **_: Any) -> Any:
        """The gradients of each element of the target, stacked."""
        tensor = convert_to_tensor(target)
        units = np.eye(_size(tensor), dtype=tensor.dtype.as_numpy_dtype).reshape(-1, *tensor.shape)
        rows = self._rows(target, sources, units, unconnected_gradients)
        return pytree.map(lambda *parts: _stacked(parts, 0, tuple(tensor.shape)), rows[0], *rows[1:])

    def batch_jacobian(self, target: Any, source: Any, unconnected_gradients: str = "none", **_: Any) -> Any:
        """For each example, the gradients of each element of its target in its own source."""
        tensor = convert_to_tensor(target)
        count, *dims = tensor.shape
        each = np.eye(_size(tensor) // (count or 1), dtype=tensor.dtype.as_numpy_dtype)
        units = np.repeat(each[:, None], count or 0, 1).reshape(-1, *tensor.shape)
        return _stacked(self._rows(target, source, units, unconnected_gradients), 1, (count, *dims))

    def _rows(self, target: Any, sources: Any, units: Any, unconnected_gradients: str) -> list[Any]:
        """The gradients that begin with each of the units."""
        persistent, self._persistent = self._persistent, True
        try:
            return [self.gradient(target, sources, unit, unconnected_gradients) for unit in units]
        finally:
            self._persistent = persistent


def _size(tensor: Tensor) -> int:
    size = tensor.shape.num_elements()
    if not size:
        raise ValueError(f"a Jacobian needs a target of known size, which is not empty, not of shape {tensor.shape}")
    return size


def _stacked(parts: Sequence[Any], axis: int, shape: Any) -> Any:
    """Gradients of the elements of something of that shape, as one tensor."""
    if parts[0] is None:
        return None
    return array_ops.reshape(array_ops.stack(list(parts), axis), [*shape, *parts[0].shape[axis:]])


def _marker(graph: FuncGraph) -> Node:
    """A node that stands for this place in the graph."""
    graph.trace.record("bound", (0,))
    return graph.trace.block.nodes[-1]


def _sum(gradients: list[Tensor | None]) -> Tensor | None:
    """The sum of those that there are."""
    found = [each for each in gradients if each is not None]
    return math_ops.add_n(found) if len(found) > 1 else found[0] if found else None


def _zero(source: Any) -> Tensor:
    tensor = convert_to_tensor(source)
    return convert_to_tensor(np.zeros(tuple(tensor.shape), tensor.dtype.as_numpy_dtype))
