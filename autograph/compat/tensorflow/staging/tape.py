"""`tf.GradientTape`: gradients of the computation that it watches.

In a graph, `gradient` reverses the nodes recorded since the tape began. Eagerly, a tape notes the ops that run, and
`gradient` records them in a graph, which it reverses (`replay.py`). To outer tapes, taking a gradient is an op itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
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

Reverse = Callable[[list[Tensor], list[Tensor], "list[Tensor] | None"], "list[Tensor | None]"]


class UnconnectedGradients:
    """Names of the gradient in a source that the target does not depend on."""

    NONE = "none"
    ZERO = "zero"


@dataclass
class _Staged:
    """The state of a tape in a graph.

    Attributes:
        marker: the node before the first that it watches.
        ignored: the nodes that were recorded while it was stopped.
        roots: the values of watched variables and constants in the graph, by the ids of these; a variable has another
            root after each assignment.
        current: the roots that variables are read as now.
        markers: of variables that have been assigned to: the nodes that their next roots are inserted before.
        replaced: the values of watched constants in outer tapes.
    """

    graph: FuncGraph
    block: Block
    marker: Node
    ignored: set[Node] = field(default_factory=set)
    roots: dict[int, list[Tensor]] = field(default_factory=dict)
    current: dict[int, Tensor] = field(default_factory=dict)
    markers: dict[int, Node] = field(default_factory=dict)
    replaced: dict[int, Any] = field(default_factory=dict)


class GradientTape:
    """Watches the computation within its `with`, and gives its gradients.

    Args:
        persistent: whether `gradient` may be called more than once.
        watch_accessed_variables: whether it watches all trainable variables that are read.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watches_variables = watch_accessed_variables
        self._staged: _Staged | None = None
        self._entries: list[Entry] = []  # the ops that have run eagerly
        self._reads: dict[int, tuple[Tensor, Variable]] = {}  # eager reads of variables, by the ids of the tensors
        self._variables: dict[int, Variable] = {}
        self._watched: dict[int, Any] = {}  # arguments of `watch`, by their ids
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
            for number, before in self._staged.replaced.items():
                self._staged.graph.stand_ins.pop(number)
                if before is not None:
                    self._staged.graph.stand_ins[number] = before

    # Watching ---------------------------------------------------------------------------------------------------------

    def watch(self, tensor: Any) -> None:
        """Watch tensors, or a structure of tensors, as gradients are taken only in watched ones."""
        for each in pytree.flatten(tensor):
            self._watched[id(each)] = each
            if isinstance(each, Variable):
                self._variables[id(each)] = each
            elif self._staged is not None and not is_proxy(each._value):
                graph = self._staged.graph
                self._staged.replaced.setdefault(id(each), graph.stand_ins.get(id(each)))
                root = replay.as_root(graph, convert_to_tensor(each))
                self._staged.roots[id(each)] = [root]
                graph.stand_ins[id(each)] = each, root

    def watched_variables(self) -> tuple[Variable, ...]:
        return tuple(self._variables.values())

    def note(self, again: Callable[..., Sequence[Tensor]], inputs: Any, outputs: Any, parts: Any) -> None:
        """Note an op that has run eagerly; see `Entry`."""
        self._entries.append(Entry(again, inputs, outputs, parts))

    def note_read(self, variable: Variable, tensor: Tensor) -> None:
        """Note that a variable has been read eagerly."""
        if self._is_watched(variable):
            self._reads[id(tensor)] = tensor, variable

    def _is_watched(self, variable: Variable) -> bool:
        if self._would_watch(variable):
            self._variables[id(variable)] = variable
        return id(variable) in self._variables

    def _would_watch(self, variable: Variable) -> bool:
        return (self._watches_variables and variable.trainable) or id(variable) in self._variables

    def read(self, variable: Variable, outer: Tensor | None) -> Tensor | None:
        """Read a variable in the graph, by one node in front of all watched nodes.

        Args:
            outer: the value that outer tapes read it as.
        """
        staged, number = self._staged, id(variable)
        if staged is None or staged.graph is not graphs.current() or not self._is_watched(variable):
            return outer
        if number not in staged.current:
            trace = staged.graph.trace
            value = read, variable._storage
            args = trace.lower(value if outer is None else (outer._value,))
            node = Node("call" if outer is None else "bound", args, None, (), ())
            staged.block.nodes.insert(staged.block.nodes.index(staged.markers.get(number, staged.marker)), node)
            proxy = trace.proxy(node.add_output(type_of(variable.dtype, variable.shape)))
            found = Tensor(proxy, variable.dtype, variable.shape, staged.graph, "ReadVariableOp")
            found._block = staged.block
            staged.roots.setdefault(number, []).append(found)
            staged.current[number] = found
        return staged.current[number]

    def check_assignment(self, variable: Variable) -> None:
        """Check that an assignment to a watched variable is in the block of the tape, which can then reverse it."""
        staged = self._staged
        if staged is not None and self._would_watch(variable) and staged.graph.trace.block is not staged.block:
            raise NotImplementedError(
                f"the variable '{variable.name}' is assigned to in a branch or loop under a GradientTape that is "
                "around that: assign to it behind the tape"
            )

    def note_assignment(self, variable: Variable) -> None:
        """Note that a variable has been assigned to in the graph."""
        if self._staged is not None and self._would_watch(variable):
            self._staged.current.pop(id(variable), None)
            self._staged.markers[id(variable)] = _marker(self._staged.graph)

    def reset(self) -> None:
        self._entries, self._reads = [], {}

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
                self._staged.ignored.update(node for node in nodes if node not in before)

    # Gradients --------------------------------------------------------------------------------------------------------

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: str = "none"
    ) -> Any:
        """The gradients of the target, or of the sum of several, in each source; None if it does not depend on that."""
        if self._used and not self._persistent:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
            )
        self._used = True
        targets = [convert_to_tensor(each) for each in pytree.flatten(target)]
        cotangents = None
        if output_gradients is not None:
            parts = pytree.flatten(output_gradients) if pytree.is_nested(target) else [output_gradients]
            cotangents = [convert_to_tensor(each, dtype_hint=to.dtype) for each, to in zip(parts, targets)]
        leaves = pytree.flatten(sources)
        if self._staged is not None:
            tensors, reverse = self._staged_sources(self._staged, leaves)
        else:
            tensors, reverse = self._eager_sources(leaves)
        found = iter(reverse(targets, [tensor for each in tensors for tensor in each], cotangents))
        sums = [_sum([next(found) for _ in each]) for each in tensors]
        if str(unconnected_gradients).rpartition(".")[2].lower() == "zero":
            sums = [_zero(source) if each is None else each for source, each in zip(leaves, sums)]
        return pytree.pack(sources, sums)

    def _staged_sources(self, staged: _Staged, sources: list[Any]) -> tuple[list[list[Tensor]], Reverse]:
        """The tensors in which the gradients of each source are taken, and the function that takes them."""
        graph = staged.graph
        if graph.trace.block is not staged.block:
            raise RuntimeError("tape.gradient must be called in the branch or loop that the tape is in")
        start = staged.block.nodes.index(staged.marker) + 1
        roots = staged.roots
        watched = [each for each in self._watched.values() if isinstance(each, Tensor) and is_proxy(each._value)]
        own = [root for each in roots.values() for root in each]
        values = [graph.trace.use(each._value) for each in (*watched, *own)]
        active = Activity(staged.block.nodes[start:], values, constant=staged.ignored).values
        tensors = [
            [
                root for root in roots.get(id(source), [] if isinstance(source, Variable) else [source])
                if is_proxy(root._value) and graph.trace.use(root._value) in active
            ]
            for source in sources
        ]  # fmt: skip
        return tensors, partial(replay.reverse, graph, start, ignored=staged.ignored)

    def _eager_sources(self, sources: list[Any]) -> tuple[list[list[Tensor]], Reverse]:
        """The same for an eager tape."""
        entries, reads = self._entries, list(self._reads.values())
        active = {*self._watched, *self._reads}  # tensors that depend on watched ones, by their ids
        for entry in entries:
            if not active.isdisjoint(map(id, entry.inputs)):
                active.update(map(id, entry.outputs))
        if not self._persistent:
            self.reset()
        tensors = [
            [tensor for tensor, variable in reads if variable is source] if isinstance(source, Variable)
            else [source] if id(source) in active else [] for source in sources
        ]
        return tensors, partial(replay.gradients, entries)

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
    """A node that marks this place in the graph."""
    graph.trace.record("bound", (0,))
    return graph.trace.block.nodes[-1]


def _sum(gradients: list[Tensor | None]) -> Tensor | None:
    """The sum of the gradients that are not None."""
    found = [each for each in gradients if each is not None]
    return math_ops.add_n(found) if len(found) > 1 else found[0] if found else None


def _zero(source: Any) -> Tensor:
    tensor = convert_to_tensor(source)
    return convert_to_tensor(np.zeros(tuple(tensor.shape), tensor.dtype.as_numpy_dtype))
