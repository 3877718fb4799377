"""Staged branches, by TensorFlow's rules: both define the same variables, of one structure and one type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograph.common import pytree
from autograph.compat.tensorflow.core.convert import convert_to_tensor, is_convertible
from autograph.compat.tensorflow.core.graphs import Body, FuncGraph
from autograph.compat.tensorflow.core.tensor import Tensor, type_of, wrap
from autograph.compat.tensorflow.staging import mutations
from autograph.operators.state import UNBOUND
from autograph.runtime.graph.graph import Block, Node
from autograph.runtime.tracing.proxies.proxy import is_tensor as is_proxy
from autograph.runtime.tracing.state.trace import GENERATED

RETURNED = "the returned value"
CONDITIONAL = "conditional expression"
_BRANCHES = ("main", "else")


@dataclass
class Arm:
    """The outcome of tracing a body.

    Attributes:
        values: of the variables that are carried.
        entries: the places in containers that it changed, with their new values.
        kept: what was in the containers that its methods changed.
        written: the tensor arrays from before it to whose lists it writes.
    """

    block: Block
    result: Any = None
    values: dict[Any, Any] = field(default_factory=dict)
    entries: list[tuple[mutations.Entry, Any]] = field(default_factory=list)
    kept: list[mutations.Snapshot] = field(default_factory=list)
    written: list[Any] = field(default_factory=list)

    def value_of(self, slot: Any) -> Any:
        """The value of a slot at the end."""
        if not isinstance(slot, mutations.Entry):
            return self.values[slot]
        return next((value for entry, value in self.entries if entry.is_at(slot)), slot.get())


def run_body(graph: FuncGraph, body: Callable[[], Any], state: Any, block: Block) -> Arm:
    """Trace `body` into `block`, and undo its changes."""
    before = state.snapshot()
    graph.trace.undo_log.begin()
    graph.bodies.append(Body())
    arm = Arm(block)
    try:
        with graph.trace.open(block):
            arm.result = _as_it_is(graph, body())
        arm.values = {variable: _as_it_is(graph, variable.get()) for variable in state.carried}
    finally:
        state.restore(before)
        inner = graph.bodies.pop()
        arm.entries, arm.kept = mutations.undo(graph, inner, before, state)
        for array, flow in reversed(inner.handed_on):
            array._flow = flow
            if array.depth <= len(graph.bodies):
                arm.written.append(array)
    return arm


def _as_it_is(graph: FuncGraph, value: Any) -> Any:
    """`value` with arrays of its own in the place of tensor arrays that have given their lists away."""
    copies = {id(array.flow) for array, _ in graph.bodies[-1].handed_on}
    return pytree.map(lambda leaf: leaf, value) if any(id(leaf) in copies for leaf in pytree.flatten(value)) else value


def append(graph: FuncGraph, node: Node, arms: Sequence[Arm]) -> None:
    """Add a node with these arms to the graph, and before it copies of the lists that they write to."""
    for array in {id(array): array for arm in arms for array in arm.written}.values():
        array.hand_on()
    graph.trace.block.nodes.append(node)


def merged_slots(arms: Sequence[Arm]) -> list[Any]:
    """The carried variables, and the places in containers that any arm changed."""
    slots: list[Any] = list(arms[0].values)
    for arm in arms:
        for entry, _ in arm.entries:
            if not any(isinstance(slot, mutations.Entry) and slot.is_at(entry) for slot in slots):
                slots.append(entry)
    return slots


def stage_if(
    graph: FuncGraph, test: Tensor, bodies: Sequence[Callable[[], Any]], state: Any, name: str = RETURNED
) -> Any:
    """Trace both branches of an `if`; gives what they return.

    Args:
        name: what an error calls that.
    """
    trace = graph.trace
    arms = [run_body(graph, body, state, Block()) for body in bodies]
    node = Node("if", graph.trace.lower((test._value,)), None, tuple(arm.block for arm in arms), trace.place())
    join = _Join(graph, node, arms)
    changed = []
    for slot in merged_slots(arms):
        values = [arm.value_of(slot) for arm in arms]
        if isinstance(slot, mutations.Entry) and all(value is UNBOUND for value in values):
            changed.append((slot, UNBOUND))  # both took it away
        elif any(value is not slot.get() for value in values):
            changed.append((slot, join.variable(slot.name, values)))
    result = join.variable(name, [arm.result for arm in arms])
    for arm, found in zip(arms, join.results):
        arm.block.results = tuple(found)
    append(graph, node, arms)
    for slot, value in changed:
        slot.set(value)
    return result


class _Join:
    """Joins the outcomes of two branches as outputs of a node."""

    def __init__(self, graph: FuncGraph, node: Node, arms: Sequence[Arm]) -> None:
        self.graph = graph
        self.node = node
        self.arms = arms
        self.results: list[list[Any]] = [[] for _ in arms]

    def variable(self, name: str, values: list[Any]) -> Any:
        """The value of a variable after both branches."""
        self._check_there(name, values)
        if all(value is None for value in values) or all(value is UNBOUND for value in values):
            return values[0]
        try:
            pytree.assert_same_structure(*values)
        except pytree.StructureError as error:
            if name in (CONDITIONAL, RETURNED):
                kind = ValueError if name == CONDITIONAL else TypeError
                raise kind(f"'{name}' must return the same nested structure in both branches: {error}") from None
            text = f"'{name}' must have the same nested structure in the main and else branches: {error}"
            raise TypeError(text) from None
        return pytree.map(lambda *leaves: self._leaf(name, list(leaves)), *values)

    def _check_there(self, name: str, values: list[Any]) -> None:
        returns = name in (GENERATED, RETURNED)
        for which, value in zip(_BRANCHES, values):
            if value is UNBOUND or (name == RETURNED and value is None and any(v is not None for v in values)):
                if returns and self.graph.loops:
                    raise NotImplementedError(
                        "a return statement cannot be placed inside this TensorFlow loop; this may happen if a return "
                        "statement depends on a static Python condition such as a hyperparameter: assign to a "
                        "variable, and return that after the loop"
                    )
                if returns:
                    raise ValueError(f"the {which} branch must also have a return statement with a value")
                raise ValueError(
                    f"'{name}' must also be initialized in the {which} branch, for it is read after the `if`"
                )
            if value is None and name != RETURNED:
                raise ValueError(
                    f"'{name}' is None at the end of the {which} branch: the condition is a tensor, and so must be "
                    "what depends on it"
                )

    def _leaf(self, name: str, leaves: list[Any]) -> Any:
        if not all(map(is_convertible, leaves)):
            if leaves[0] is leaves[1]:
                return leaves[0]
            raise TypeError(f"'{name}' must be a tensor in both branches, not {leaves[0]!r} and {leaves[1]!r}")
        tensors = []
        for arm, leaf in zip(self.arms, leaves):
            with self.graph.trace.open(arm.block):
                tensors.append(convert_to_tensor(leaf))
        main, other = tensors
        if main.dtype is not other.dtype:
            raise TypeError(
                f"'{name}' must have the same dtype in the main and else branches, but it has dtype {main.dtype.name} "
                f"in the main branch and dtype {other.dtype.name} in the else branch"
            )
        shape = main.shape.most_general(other.shape)
        for arm, found, tensor in zip(self.arms, self.results, tensors):
            with self.graph.trace.open(arm.block):
                found.append(lowered(self.graph, tensor))
        shown = GENERATED if name == RETURNED else name if name.isidentifier() else ""
        output = self.node.add_output(type_of(main.dtype, shape), shown)
        return wrap(self.graph.trace.proxy(output), main.dtype, shape, "cond")


def lowered(graph: FuncGraph, tensor: Tensor) -> Any:
    """The operand of a node or block for a tensor."""
    return tensor._value._ag_value if is_proxy(tensor._value) else graph.trace.lower((tensor._value,))[0]
