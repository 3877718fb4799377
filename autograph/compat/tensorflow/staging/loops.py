"""Staged loops, by TensorFlow's rules: variables keep structure, type and shape from iteration to iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from autograph.common import pytree
from autograph.compat.tensorflow.core.convert import convert_leaves, convert_to_tensor, is_convertible
from autograph.compat.tensorflow.core.dtypes import numpy_dtype
from autograph.compat.tensorflow.core.graphs import FuncGraph
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor, wrap
from autograph.compat.tensorflow.ops.tensor_array import TensorArray, own
from autograph.compat.tensorflow.staging import mutations
from autograph.compat.tensorflow.staging.branches import StrictPolicy, TensorLeaf, form_of
from autograph.operators.state import UNBOUND
from autograph.runtime.graph.graph import Block, Node
from autograph.runtime.graph.types import ObjectType
from autograph.runtime.tracing.control_flow import loop as loops
from autograph.runtime.tracing.control_flow import merge
from autograph.runtime.tracing.control_flow.cond import Arm, Slot, Slots, escape_analysis, results_of
from autograph.runtime.tracing.state.trace import GENERATED
from autograph.runtime.tracing.state.undo_log import restore


@dataclass(frozen=True)
class Items:
    """The items of a `for` loop.

    Attributes:
        source: the iterable of the graph.
        build: makes an item of the params of the loop's body.
        types: of these params.
        is_range: whether they come from `tf.range`; TensorFlow does not check that such a loop has an iteration.
        is_dataset: whether they come from a dataset or iterator; the loop must not return.
        strict_shapes: whether variables must keep their shapes.
    """

    source: Any
    build: Callable[[list[Any]], Any]
    types: Sequence[Any]
    is_range: bool = False
    is_dataset: bool = False
    strict_shapes: bool = True


_NONE = Items(None, lambda params: None, ())  # of a `while` loop


@dataclass
class StrictLoop(loops.Loop):
    """A loop by TensorFlow's rules.

    Attributes:
        options: the arguments of `set_loop_options`.
        items: of a `for` loop.
        current: the item of the iteration that was traced last.
        printed: a buffer of `print` in the body, which may be traced again.
    """

    graph: FuncGraph
    options: Any
    items: Items = _NONE
    current: Any = None
    printed: StringIO = field(default_factory=StringIO)
    policy: StrictPolicy = field(init=False)
    rotates = False  # the test is traced once, with its effects

    def __post_init__(self) -> None:
        self.policy = StrictPolicy(self.graph)

    def stage(self, test: Callable[[], Any] | None = None) -> None:
        """Trace the loop; only a `while` loop has a test."""
        self.graph.printed.append(self.printed)
        try:
            if test is None:
                loops.stage_for(self, self.items.source)
            else:
                loops.stage_while(self, lambda: convert_to_tensor(test())._value, None)
        finally:
            self.graph.printed.pop()
            print(self.printed.getvalue(), end="", file=self.graph.printed[-1] if self.graph.printed else None)

    def carry(self) -> StrictCarry:
        carry = StrictCarry(self.trace, escape_analysis(self.trace, self.state.snapshot()), loop=self)
        for variable in self.state.carried:
            carry.expect(variable)
        return carry

    def item(self, block: Block, source: Any) -> tuple[Any, Any]:
        types = self.items.types
        with self.trace.open(block):
            self.current = self.items.build([self.trace.proxy(block.add_param(type)) for type in types])
        return self.current, 0 if len(types) == 1 else tuple(range(len(types)))

    def iteration(self, *item: Any) -> Any:
        self.graph.loops.append(self.trace.depth)
        try:
            stop = super().iteration(*item)
            return stop if self.until is None else convert_to_tensor(stop)._value
        except NameError as error:
            for variable in self.state.carried:
                if variable.get() is UNBOUND and f"'{variable.name}'" in str(error):
                    text = f"'{variable.name}' must be defined before the loop: its first iteration reads it"
                    raise ValueError(text) from error
            raise
        finally:
            self.graph.loops.pop()


@dataclass
class StrictCarry(loops.Carry):
    """The variables and places that a loop carries.

    Those that have a value before the loop keep its structure, dtypes and shapes. The others are *created* by the
    loop: the body finds them unbound, and the graph checks after the loop that there was an iteration.
    """

    loop: StrictLoop = field(kw_only=True)
    created: list[Slot] = field(default_factory=list)

    def expect(self, slot: Slot) -> None:
        value = slot.get()
        if value is UNBOUND or value is None or not _is_convertible(value):
            return
        init = value.apart() if isinstance(value, TensorArray) else pytree.map(own, value)
        self.begin[slot] = convert_leaves(init)
        invariant = self._invariant(value)

        def carried(leaf: Tensor) -> TensorLeaf:
            return TensorLeaf.of(leaf.dtype, leaf.shape if invariant is None else invariant, "while")

        self.forms[slot] = form_of(carried, self.begin[slot])

    def _invariant(self, value: Any) -> TensorShape | None:
        """The shape that the user says a variable keeps, which is now `value`."""
        found = dict(self.loop.options or {}).get("shape_invariants") or ()
        return next((TensorShape(shape) for tensor, shape in found if tensor is value), None)

    def install(self, block: Block) -> Slots:
        super().install(block)
        for slot in self.created:
            slot.set(UNBOUND)
        return {slot: slot.get() for slot in self.forms}

    def take_in(self, arm: Arm, unread: set[int]) -> bool:
        """Check the end of an iteration; gives whether to trace it again, with more places in containers carried."""
        self._check_lengths(arm)
        count = len(self.forms)
        for slot in arm.values:
            if isinstance(slot, mutations.Place) and slot not in self.forms:
                self.expect(slot)
        if len(self.forms) > count:
            for container, content in self.loop.policy.kept:
                restore(container, content)
            self.loop.printed.seek(0)
            self.loop.printed.truncate()
            return True
        with self.trace.open(arm.block):
            for slot in list(self.forms):
                arm.values[slot] = self._checked(slot, arm.values.get(slot, arm.begin[slot]))
            for slot in arm.values:
                if slot not in self.forms:
                    self._create(slot, arm)
        return False

    def _check_lengths(self, arm: Arm) -> None:
        kept = self.loop.policy.kept
        longer = any(isinstance(container, list) and len(container) != len(content) for container, content in kept)
        if longer and {"LISTS", "ALL"} & set(map(str, self.loop.graph.features)):
            raise ValueError("Trying to push to a list in a loop: collect what a loop makes in a tf.TensorArray")
        for slot, value in arm.values.items():
            if isinstance(slot, mutations.Place) and slot.lengthens(value):
                raise TypeError(
                    f"the list '{slot.name.rpartition('[')[0]}' does not have the same length before and after "
                    "one iteration: the number of iterations is known only when the graph runs. Collect what a "
                    "loop makes in a tf.TensorArray, and carry what it takes away in variables"
                )

    def _checked(self, slot: Slot, value: Any) -> Any:
        """The value at the end of an iteration, as tensors like those at its beginning."""
        if value is None:
            raise ValueError(f"'{slot.name}' is None at the end of the iteration.")
        if value is UNBOUND:
            raise ValueError(f"'{slot.name}' must be defined at the end of the iteration, too")
        try:
            pytree.assert_same_structure(self.begin[slot], value)
        except pytree.StructureError as error:
            raise TypeError(
                f"'{slot.name}' does not have the same nested structure before and after one iteration: {error}"
            ) from None
        value = convert_leaves(value)
        invariant = self._invariant(slot.get())
        for old, new in zip(pytree.flatten(self.begin[slot]), pytree.flatten(value)):
            self._check_leaf(slot.name, old, new, invariant)
        return value

    def _check_leaf(self, name: str, old: Tensor, new: Tensor, invariant: TensorShape | None) -> None:
        if new.dtype is not old.dtype:
            raise TypeError(
                f"'{name}' has dtype {old.dtype.name} before the loop, but dtype {new.dtype.name} after one iteration"
            )
        shape = old.shape if invariant is None else invariant
        if new.shape.is_subtype_of(shape) or not self.loop.items.strict_shapes:
            return
        if invariant is not None:
            raise ValueError(
                f"'{name}' has shape {new.shape} after one iteration, which does not conform with the shape "
                f"invariant {shape}."
            )
        raise ValueError(
            f"'{name}' has shape {shape} before the loop, but shape {new.shape} after one iteration. Use "
            "tf.autograph.experimental.set_loop_options to set shape invariants."
        )

    def _create(self, slot: Slot, arm: Arm) -> None:
        """Carry a slot that only the loop gives a value, unless it holds a Python object, for an iteration each."""
        value, before, items = arm.values[slot], slot.get(), self.loop.items
        if before is not UNBOUND and before is not None:
            raise TypeError(f"'{slot.name}' must be a tensor, since the loop changes it, not {before!r}")
        if value is UNBOUND or value is None:
            return
        if not _is_convertible(value):
            if slot.name != GENERATED and not isinstance(slot, mutations.Place):
                return
            bad = next(leaf for leaf in pytree.flatten(value) if not is_convertible(leaf))
            raise ValueError(f"'{slot.name}' must be a tensor at the end of the iteration, not {bad!r}")
        if slot.name == GENERATED and items.is_dataset:
            raise NotImplementedError(
                "a return statement cannot be placed inside this TensorFlow loop; this may happen if a return depends "
                "on the items of a dataset: assign to a variable, and return that after the loop"
            )
        is_number = items.is_range and value is self.loop.current and not isinstance(slot, mutations.Place)
        value = arm.values[slot] = convert_leaves(value)
        if is_number:  # the target of the loop, zero at first
            self.begin[slot] = [numpy_dtype(value.dtype).type(0)]
            self.forms[slot] = TensorLeaf.of(value.dtype, value.shape, "while")
        else:
            self.begin[slot] = [None for _ in pytree.flatten(value)]
            self.forms[slot] = form_of(lambda leaf: TensorLeaf(ObjectType(), leaf.dtype, leaf.shape, "while"), value)
        self.created.append(slot)
        for type in merge.types(self.forms[slot]):
            arm.block.add_param(type)

    def inits(self) -> list[Any]:
        found: list[Any] = []
        for slot, form in self.forms.items():
            begin = self.begin[slot]
            found += begin if slot in self.created else results_of(self.trace, self.trace.block, form, begin)
        return found

    def finish(self, node: Node) -> None:
        """Set the slots to the outputs; for those that are created, the graph checks that there was an iteration."""
        super().finish(node)
        for slot in self.created:
            shown = ("the returned value" if slot.name == GENERATED else slot.name).replace("'", "\\'")
            message = f"assertion failed: [loop must iterate at least once to initialize {shown}]"

            def initialized(leaf: Tensor, message: str = message) -> Tensor:
                return wrap(self.trace.record("given", (leaf._value, message)), leaf.dtype, leaf.shape, "Assert")

            if None in self.begin[slot]:
                slot.set(pytree.map(initialized, slot.get()))


def _is_convertible(value: Any) -> bool:
    return is_convertible(value) or all(map(is_convertible, pytree.flatten(value)))
