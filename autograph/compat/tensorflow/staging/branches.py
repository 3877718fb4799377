"""Staged branches, by TensorFlow's rules: both define the same variables, of one structure and one type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from autograph.common import pytree
from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor, is_convertible
from autograph.compat.tensorflow.core.dtypes import DType
from autograph.compat.tensorflow.core.graphs import FuncGraph
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor, type_of
from autograph.compat.tensorflow.ops.tensor_array import TensorArray
from autograph.compat.tensorflow.staging.mutations import Mutations
from autograph.operators.state import UNBOUND
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.tracing.control_flow import merge
from autograph.runtime.tracing.control_flow.cond import RETURNED, Arm, MergePolicy, Slots, stage_branches
from autograph.runtime.tracing.state.escape import EscapeAnalysis
from autograph.runtime.tracing.state.trace import GENERATED, Trace
from autograph.runtime.tracing.state.undo_log import Changes

CONDITIONAL = "conditional expression"
_BRANCHES = ("main", "else")


@dataclass(frozen=True)
class TensorLeaf(merge.Leaf):
    """A tensor among the leaves of a variable, of one dtype and shape on all paths.

    Attributes:
        name: of the tensors that are built.
    """

    dtype: DType
    shape: TensorShape
    name: str

    @classmethod
    def of(cls, dtype: DType, shape: TensorShape, name: str) -> TensorLeaf:
        return cls(type_of(dtype, shape), dtype, shape, name)

    def read(self, value: Any) -> Any:
        return value._value if isinstance(value, Tensor) else value

    def build(self, proxy: Any) -> Tensor:
        graph = graphs.recording()
        return Tensor(proxy, self.dtype, self.shape, graph, graph.unique_name(self.name))


def form_of(leaf: Callable[..., merge.Form], *values: Any) -> merge.Form:
    """The form of values of one structure; `leaf` gives that of their leaves at one place."""
    kind = pytree.kind_of(values[0])
    if kind is None:
        return leaf(*values)
    parts = [kind.children(value) for value in values]
    return merge.Parts(values[0], {key: form_of(leaf, *(each[key] for each in parts)) for key in parts[0]})


class StrictPolicy(MergePolicy):
    """Joins paths as TensorFlow does: it refuses different kinds, structures and dtypes instead of widening.

    A body raises its errors while it is traced, and only statements of the function itself count as changes of
    containers; see `mutations.py`. If a body writes to the list of a `TensorArray`, the list is copied before.

    Attributes:
        kept: the containers that the last body has changed for good, with their contents before.
    """

    def __init__(self, graph: FuncGraph, name: str = RETURNED) -> None:
        self._graph = graph
        self._name = name
        self._mutations: Mutations | None = None
        self.returned = GENERATED if name == RETURNED else ""
        self.kept: list[tuple[Any, Any]] = []

    def run(self, trace: Trace, body: Callable[[], Any]) -> Any:
        return body()

    def note(self, trace: Trace, state: Any, arm: Arm, changes: Changes) -> None:
        """Note the carried variables and the places in containers that a body has changed.

        A `TensorArray` whose list the body has handed on holds a copy until the changes are undone. So values that
        contain it get an array of their own with that copy.
        """
        self.kept = []
        if not changes.before:  # of any container
            arm.values = {each: arm.values[each] for each in state.carried if each in arm.values}
            return
        arrays = [each for each, _ in changes if type(each) is TensorArray]
        copies = {id(array.flow) for array in arrays}
        carried = [each for each in state.carried if each in arm.values or _holds(each.get(), copies)]
        found = self._mutations = Mutations(self._graph, state, arm.before, changes)
        found.hand_on()
        self.kept = found.kept
        arm.values = {slot: _apart(slot.get(), copies) for slot in carried}
        arm.values |= {place: _apart(value, copies) for place, value in found.places().items()}
        arm.result = _apart(arm.result, copies)
        arm.after = [(array, None) for array in arrays]

    def known_before(self, trace: Trace, state: Any, before: Slots, changes: Changes) -> Callable[[Any], bool]:
        found, self._mutations = self._mutations or Mutations(self._graph, state, before, changes), None
        return found.is_undone

    def check(self, trace: Trace, values: Iterable[Any], owned: EscapeAnalysis) -> None:
        """Nothing to check: containers stay Python's, and may have several names."""

    def join(
        self, trace: Trace, arms: Sequence[Arm], name: str, values: list[Any], test: Value, owned: EscapeAnalysis,
        loose: bool,
    ) -> tuple[merge.Form, list[Any]]:
        """The form of a variable after both branches, and its values with tensors at their leaves."""
        name = self._name if name == RETURNED else name
        if all(value is UNBOUND for value in values) and not name.isidentifier():
            return merge.Fixed(UNBOUND), values  # both have deleted what was at a place in a container
        self._check_bound(name, values)
        if all(value is None for value in values):
            return merge.Fixed(None), values
        if all(map(is_convertible, values)):
            values = self._converted(trace, name, arms, values)
            return _joined(*values), values
        try:
            pytree.assert_same_structure(*values)
        except pytree.StructureError as error:
            if name in (CONDITIONAL, RETURNED):
                kind = ValueError if name == CONDITIONAL else TypeError
                raise kind(f"'{name}' must return the same nested structure in both branches: {error}") from None
            text = f"'{name}' must have the same nested structure in the main and else branches: {error}"
            raise TypeError(text) from None
        leaves = [self._converted(trace, name, arms, pair) for pair in zip(*map(pytree.flatten, values))]
        values = [pytree.pack(value, [pair[at] for pair in leaves]) for at, value in enumerate(values)]
        return form_of(_joined, *values), values

    def _check_bound(self, name: str, values: list[Any]) -> None:
        returns = name in (GENERATED, RETURNED)
        for which, value in zip(_BRANCHES, values):
            if value is UNBOUND or (name == RETURNED and value is None and any(v is not None for v in values)):
                if returns and self._graph.loops:
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

    def _converted(self, trace: Trace, name: str, arms: Sequence[Arm], leaves: Sequence[Any]) -> list[Any]:
        """The leaves of a variable at one place as tensors; or one object that is the same in both branches."""
        if not all(map(is_convertible, leaves)):
            if leaves[0] is leaves[1]:
                return [*leaves]
            raise TypeError(f"'{name}' must be a tensor in both branches, not {leaves[0]!r} and {leaves[1]!r}")
        tensors = []
        for arm, leaf in zip(arms, leaves):
            with trace.open(arm.block):
                tensors.append(convert_to_tensor(leaf))
        main, other = tensors
        if main.dtype is not other.dtype:
            raise TypeError(
                f"'{name}' must have the same dtype in the main and else branches, but it has dtype {main.dtype.name} "
                f"in the main branch and dtype {other.dtype.name} in the else branch"
            )
        return tensors

    def append(self, trace: Trace, node: Node, arms: Sequence[Arm]) -> None:
        written = {id(array): array for arm in arms for array, _ in arm.after if array.depth <= trace.depth}
        for array in written.values():
            array.hand_on()
        trace.append(node)


def _joined(main: Any, other: Any) -> merge.Form:
    """The form of the leaves of a variable at one place."""
    if not isinstance(main, Tensor):
        return merge.Fixed(main)
    return TensorLeaf.of(main.dtype, main.shape.most_general(other.shape), "cond")


def _holds(value: Any, copies: set[int]) -> bool:
    return bool(copies) and any(id(leaf) in copies for leaf in pytree.flatten(value))


def _apart(value: Any, copies: set[int]) -> Any:
    """`value`, with arrays of its own in place of those whose flows are among `copies`."""
    return pytree.map(lambda leaf: leaf, value) if _holds(value, copies) else value


def stage_if(
    graph: FuncGraph, test: Tensor, bodies: Sequence[Callable[[], Any]], state: Any, name: str = RETURNED
) -> Any:
    """Trace both branches of an `if`; gives what they return.

    Args:
        name: the name of the returned value in errors.
    """
    condition = graph.trace.lower((test._value,))[0]
    return stage_branches(graph.trace, condition, bodies, state, name == RETURNED, StrictPolicy(graph, name))
