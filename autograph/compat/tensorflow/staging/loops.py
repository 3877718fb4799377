"""Staged loops, by TensorFlow's rules: what is carried keeps structure, type and shape from iteration to iteration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core.convert import convert_to_tensor, is_convertible
from autograph.compat.tensorflow.core.dtypes import numpy_dtype
from autograph.compat.tensorflow.core.graphs import FuncGraph
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor, type_of, wrap
from autograph.compat.tensorflow.ops.tensor_array import TensorArray, own
from autograph.compat.tensorflow.staging import mutations
from autograph.compat.tensorflow.staging.branches import Arm, append, lowered, run_body
from autograph.operators.state import UNBOUND
from autograph.runtime.graph.graph import Block, Node
from autograph.runtime.graph.types import ObjectType
from autograph.runtime.tracing.control_flow.loop import forget_first_test
from autograph.runtime.tracing.state.trace import GENERATED
from autograph.runtime.tracing.state.undo_log import restore

_ROUNDS = 8


@dataclass
class Items:
    """The items of a `for` loop.

    Attributes:
        source: what the graph iterates over.
        build: makes an item of the params of the loop's body.
        types: of these params.
        is_range: whether it is what `tf.range` gave, of which TensorFlow does not check that it is not empty.
        is_dataset: a dataset or iterator; returning from such a loop is refused.
        strict_shapes: whether the shapes of variables must stay what they are.
    """

    source: Any
    build: Callable[[list[Any]], Any]
    types: list[Any]
    is_range: bool = False
    is_dataset: bool = False
    strict_shapes: bool = True


@dataclass
class _Slot:
    """A variable that a loop carries: what it is before, in the body, and at the end of an iteration."""

    slot: Any
    init: Any
    invariant: TensorShape | None = None
    params: Any = None
    exit: Any = None

    @property
    def name(self) -> str:
        return str(self.slot.name)


def _is_passing(each: _Slot) -> bool:
    """Whether a variable holds an object of Python's, which lives no longer than an iteration."""
    is_variable = not isinstance(each.slot, mutations.Entry) and each.name != GENERATED
    return is_variable and not all(is_convertible(leaf) for leaf in pytree.flatten(each.exit))


@dataclass
class _Loop:
    """A loop that is being staged.

    Attributes:
        carried: the slots that have a value before the loop.
        created: those that get one only in it.
        arm: its body.
    """

    graph: FuncGraph
    state: Any
    options: Any
    items: Items | None = None
    carried: list[_Slot] = field(default_factory=list)
    created: list[_Slot] = field(default_factory=list)
    arm: Arm = field(default_factory=lambda: Arm(Block()))

    def __post_init__(self) -> None:
        for variable in self.state.carried:
            self._add(variable)

    def _add(self, slot: Any) -> bool:
        value = slot.get()
        if value is UNBOUND or value is None:
            self.created.append(_Slot(slot, UNBOUND))
            return False
        if not all(is_convertible(leaf) for leaf in pytree.flatten(value)):
            return False
        init = value.apart() if isinstance(value, TensorArray) else pytree.map(own, value)
        self.carried.append(_Slot(slot, pytree.map(convert_to_tensor, init), self._invariant(value)))
        return True

    def _invariant(self, value: Any) -> TensorShape | None:
        """The shape that the user says a variable keeps, which is now `value`."""
        found = dict(self.options or {}).get("shape_invariants") or ()
        return next((TensorShape(shape) for tensor, shape in found if tensor is value), None)

    # The body ---------------------------------------------------------------------------------------------------------

    def trace(self, body: Callable[[], Any], until: Any, begin: Callable[[Block], None] | None = None) -> Arm:
        """Trace iterations until all is carried that the body changes in containers; `begin` makes the item of one."""

        def iteration() -> Any:
            body()
            return until() if until is not None else None

        for _ in range(_ROUNDS):
            self.graph.printed.append(StringIO())
            try:
                arm = self._iteration(iteration, Block(), begin)
            except BaseException:
                self._print()
                raise
            known = [each.slot for each in (*self.carried, *self.created) if isinstance(each.slot, mutations.Entry)]
            new = [entry for entry, _ in arm.entries if not any(entry.is_at(each) for each in known)]
            if sum([self._add(entry) for entry in new]) == 0:
                self._print()
                break
            self.graph.printed.pop()
            for container, content in arm.kept:
                restore(container, content)
        self._read_exit(arm)
        results = self._results(arm)
        if until is not None:
            with self.graph.trace.open(arm.block):
                results.insert(0, lowered(self.graph, convert_to_tensor(arm.result)))
        arm.block.results = tuple(results)
        self.arm = arm
        return arm

    def _print(self) -> None:
        """Print what the body has printed."""
        printed = self.graph.printed.pop().getvalue()
        print(printed, end="", file=self.graph.printed[-1] if self.graph.printed else None)

    def _iteration(self, iteration: Callable[[], Any], block: Block, begin: Callable[[Block], None] | None) -> Arm:
        def body() -> Any:
            if begin is not None:
                begin(block)
            self.install(block)
            return iteration()

        self.graph.loops.append(len(self.graph.bodies) + 1)
        try:
            arm = run_body(self.graph, body, self.state, block)
            longer = any(mutations.is_longer(*each) for each in arm.kept)
            if longer and {"LISTS", "ALL"} & set(map(str, self.graph.features)):
                raise ValueError("Trying to push to a list in a loop: collect what a loop makes in a tf.TensorArray")
            for entry, value in arm.entries:
                if entry.lengthens(value):
                    raise TypeError(
                        f"the list '{entry.name.rpartition('[')[0]}' does not have the same length before and after "
                        "one iteration: the number of iterations is known only when the graph runs. Collect what a "
                        "loop makes in a tf.TensorArray, and carry what it takes away in variables"
                    )
            return arm
        except NameError as error:
            for each in self.created:
                if f"'{each.name}'" in str(error):
                    text = f"'{each.name}' must be defined before the loop: its first iteration reads it"
                    raise ValueError(text) from error
            raise
        finally:
            self.graph.loops.pop()

    def install(self, block: Block) -> None:
        """Add params for what is carried to a block, and set the variables to them."""
        for each in self.carried:
            each.params = pytree.map(lambda leaf, inv=each.invariant: self._param(block, leaf, inv), each.init)
            each.slot.set(each.params.copy() if type(each.params) in (list, dict) else each.params)

    def _param(self, block: Block, init: Tensor, invariant: TensorShape | None) -> Tensor:
        shape = init.shape if invariant is None else invariant
        value = block.add_param(type_of(init.dtype, shape))
        return wrap(self.graph.trace.proxy(value), init.dtype, shape, "while")

    def _read_exit(self, arm: Arm) -> None:
        for each in (*self.carried, *self.created):
            each.exit = arm.value_of(each.slot)
        for variable, value in arm.values.items():
            before = variable.get()
            known = any(each.slot is variable for each in (*self.carried, *self.created))
            if not known and value is not before:
                if before is None:
                    raise ValueError(f"'{variable.name}' may not be None before the loop, which gives it another value")
                raise TypeError(f"'{variable.name}' must be a tensor, since the loop changes it, not {before!r}")
        left = [each for each in self.created if each.exit is not UNBOUND and each.exit is not None]
        self.created = [each for each in left if not _is_passing(each)]

    # What an iteration ends with --------------------------------------------------------------------------------------

    def _results(self, arm: Arm) -> list[Any]:
        """The values that an iteration passes to the next."""
        found = []
        with self.graph.trace.open(arm.block):
            for each in self.carried:
                found += self._checked(each)
            for each in self.created:
                self._check_created(each)
                each.exit = pytree.map(convert_to_tensor, each.exit)
                for leaf in pytree.flatten(each.exit):
                    arm.block.add_param(self._created_type(each, leaf))
                    found.append(lowered(self.graph, leaf))
        return found

    def _check_created(self, each: _Slot) -> None:
        if each.name == GENERATED and self.items is not None and self.items.is_dataset:
            raise NotImplementedError(
                "a return statement cannot be placed inside this TensorFlow loop; this may happen if a return depends "
                "on the items of a dataset: assign to a variable, and return that after the loop"
            )
        bad = [leaf for leaf in pytree.flatten(each.exit) if not is_convertible(leaf)]
        if bad:
            raise ValueError(f"'{each.name}' must be a tensor at the end of the iteration, not {bad[0]!r}")

    def _created_type(self, each: _Slot, leaf: Tensor) -> Any:
        return type_of(leaf.dtype, leaf.shape) if self._starts_at_zero(each) else ObjectType()

    def _starts_at_zero(self, each: _Slot) -> bool:
        is_range = self.items is not None and self.items.is_range and not isinstance(each.slot, mutations.Entry)
        return is_range and isinstance(each.exit, Tensor) and each.exit is self.item

    item: Any = None  # the item of the iteration that was traced last

    def _checked(self, each: _Slot) -> list[Any]:
        """The values at the end of an iteration, once they are found to be like those at its beginning."""
        if each.exit is None:
            raise ValueError(f"'{each.name}' is None at the end of the iteration.")
        if each.exit is UNBOUND:
            raise ValueError(f"'{each.name}' must be defined at the end of the iteration, too")
        try:
            pytree.assert_same_structure(each.params, each.exit)
        except pytree.StructureError as error:
            raise TypeError(
                f"'{each.name}' does not have the same nested structure before and after one iteration: {error}"
            ) from None
        before, after = pytree.flatten(each.params), pytree.flatten(each.exit)
        return [self._leaf(each.name, old, new, each.invariant) for old, new in zip(before, after)]

    def _leaf(self, name: str, old: Tensor, new: Any, invariant: TensorShape | None) -> Any:
        new = convert_to_tensor(new)
        if new.dtype is not old.dtype:
            raise TypeError(
                f"'{name}' has dtype {old.dtype.name} before the loop, but dtype {new.dtype.name} after one iteration"
            )
        if not new.shape.is_subtype_of(old.shape) and (self.items is None or self.items.strict_shapes):
            if invariant is not None:
                raise ValueError(
                    f"'{name}' has shape {new.shape} after one iteration, which does not conform with the shape "
                    f"invariant {invariant}."
                )
            raise ValueError(
                f"'{name}' has shape {old.shape} before the loop, but shape {new.shape} after one iteration. Use "
                "tf.autograph.experimental.set_loop_options to set shape invariants."
            )
        return lowered(self.graph, new)

    # The loop as a whole ----------------------------------------------------------------------------------------------

    def inits(self) -> list[Any]:
        found = [lowered(self.graph, leaf) for each in self.carried for leaf in pytree.flatten(each.init)]
        for each in self.created:
            for leaf in pytree.flatten(each.exit):
                found.append(numpy_dtype(leaf.dtype).type(0) if self._starts_at_zero(each) else None)
        return found

    def finish(self, node: Node) -> None:
        """Add the loop to the graph, and set the variables to what it leaves."""
        outputs: list[tuple[_Slot, Any]] = []
        for each in self.carried:
            value = pytree.map(lambda _, leaf, e=each: self._output(node, e, leaf), each.exit, each.params)
            outputs.append((each, value))
        for each in self.created:
            outputs.append((each, pytree.map(lambda leaf, e=each: self._output(node, e, leaf, True), each.exit)))
        append(self.graph, node, [self.arm])
        for each, value in outputs:
            if each.init is UNBOUND and not self._starts_at_zero(each):
                value = pytree.map(lambda leaf, e=each: self._initialized(e.name, leaf), value)
            each.slot.set(value)

    def _output(self, node: Node, each: _Slot, leaf: Tensor, created: bool = False) -> Tensor:
        shape = leaf.shape
        kind = self._created_type(each, leaf) if created else type_of(leaf.dtype, shape)
        output = node.add_output(kind, each.name if each.name.isidentifier() else "")
        return Tensor(self.graph.trace.proxy(output), leaf.dtype, shape, self.graph, self.graph.unique_name("while"))

    def _initialized(self, name: str, leaf: Tensor) -> Tensor:
        """Check when the graph runs that a loop has run, and so set a variable; returns the value."""
        shown = name if name != GENERATED else "the returned value"
        shown = shown.replace("'", "\\'")
        message = f"assertion failed: [loop must iterate at least once to initialize {shown}]"
        return wrap(self.graph.trace.record("given", (leaf._value, message)), leaf.dtype, leaf.shape, "Assert")


def stage_while(
    graph: FuncGraph, test: Callable[[], Any], body: Callable[[], Any], state: Any, until: Any, options: Any
) -> None:
    """Trace a `while` loop."""
    loop = _Loop(graph, state, options)
    trace = graph.trace
    arm = loop.trace(body, until)
    head = Block()

    def tell() -> Tensor:
        loop.install(head)
        return convert_to_tensor(test())

    tested = run_body(graph, tell, state, head)
    for each in loop.created:
        for leaf in pytree.flatten(each.exit):
            head.add_param(loop._created_type(each, leaf))
    with trace.open(head):
        head.results = (lowered(graph, tested.result),)
    forget_first_test(trace, head)
    node = Node("while", tuple(loop.inits()), {"until": True} if until is not None else None, (head, arm.block))
    node.place = trace.place()
    loop.finish(node)


def stage_for(
    graph: FuncGraph, items: Items, body: Callable[[Any], Any], state: Any, until: Any, options: Any
) -> None:
    """Trace a `for` loop."""
    loop = _Loop(graph, state, options, items)
    trace = graph.trace

    def begin(block: Block) -> None:
        loop.item = items.build([trace.proxy(block.add_param(type)) for type in items.types])

    arm = loop.trace(lambda: body(loop.item), until, begin)
    target = 0 if len(items.types) == 1 else tuple(int(n) for n in np.arange(len(items.types)))
    kwargs = {"target": target} | ({"until": True} if until is not None else {})
    node = Node("for", (items.source, *loop.inits()), kwargs, (arm.block,), trace.place())
    loop.finish(node)
