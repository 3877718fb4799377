"""Reverse mode: record nodes that compute gradients, behind those of a computation.

The gradients become an ordinary part of the same graph. The reverse takes the nodes of the computation from last to
first. For each, the derivatives of its op map the gradients of its outputs to those of its arguments, which are
summed up value by value. The reverse of a statement with blocks is a statement of the same kind
(`reverse_control_flow.py`); it gets the block's residuals (`residuals.py`).

A value's gradient is summed up in the reverse of the block that defines it. If a loop uses a value from before it, its
iterations add to an array of zeros that is made before the loop, an *accumulator*: adding to an item takes as long as
reading the item did.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard, cast

import numpy as np

from autograph.errors import DerivativeError
from autograph.runtime.autodiff.activity import Activity, Writes, defined_in, has_gradient, unread
from autograph.runtime.autodiff.shadow import Shadows
from autograph.runtime.autodiff.strong_zeros import Zeros
from autograph.runtime.graph.graph import Block, Constant, Node, Value, map_args
from autograph.runtime.graph.opdef import lookup
from autograph.runtime.graph.traits import IN_PLACE, MAKES_OBJECTS, WRITTEN_ARGUMENT
from autograph.runtime.graph.types import (
    ANY,
    PYTHON_DTYPES,
    MaybeUnbound,
    ObjectType,
    Shape,
    TensorType,
    Type,
    bound_type,
)
from autograph.runtime.graph_text.notation import is_name
from autograph.runtime.graph_text.printer import expression
from autograph.runtime.ops.gradients.adjoint_ops import fitted
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.blame import line_of

if TYPE_CHECKING:
    from autograph.runtime.tracing.state.trace import Trace


Handler = Callable[["Reverse", Node], None]
HANDLERS: dict[str, Handler] = {}  # by ops, and by kinds of ops


def handles(*ops: str) -> Callable[[Handler], Handler]:
    """Register a function that records the reverse of nodes of these ops."""

    def note(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(ops, handler))
        return handler

    return note


def on_shadow(*ops: str) -> Callable[[Callable[[Reverse, Node, Any], None]], Handler]:
    """The same for a function that also gets the shadow of the node's first argument; without one, it is not called."""

    def note(handler: Callable[[Reverse, Node, Any], None]) -> Handler:
        @handles(*ops)
        def record(reverse: Reverse, node: Node) -> None:
            if node.args[0] in reverse.shadows:
                handler(reverse, node, reverse.shadow(node.args[0]))

        return record

    return note


class Reverse:
    """Records the reverse of a part of a block.

    Args:
        block: the open block, or one around it.
        start, end: the part of the block.
        inputs: the differentiated inputs.
        outputs: the differentiated outputs, with their cotangents.
        constant: nodes whose results count as constants.
        place: the place of the differentiated function in the user's program, for errors.
    """

    def __init__(
        self,
        trace: Trace,
        block: Block,
        start: int,
        end: int,
        inputs: Sequence[Value],
        outputs: Sequence[tuple[Value, Any]],
        constant: Collection[Node] = (),
        place: tuple[str, int] | tuple[()] = (),
    ) -> None:
        self.trace = trace
        self.place = place
        self.block = block
        self.start, rest = start, len(block.nodes) - end
        part = block.nodes[start:end]
        self._constant = {*constant, *unread(part)}
        self.activity = Activity(part, inputs, [value for value, _ in outputs], self._constant)
        self._outputs = outputs
        self.shadows = Shadows(part, self.activity)
        self.zeros = Zeros(part, self.shadows)
        block.nodes[start:end] = self.shadows.nodes
        self.end = len(block.nodes) - rest
        own = {*inputs, *(output for node in self.shadows.nodes for output in node.outputs)}
        self.frame = Frame(block, own, trace.block, self.end)
        self._inputs = frozenset(inputs)
        self._writes = Writes(block, self.shadows.nodes, self.activity.aliasing)

    def run(self) -> None:
        """Record the reverse, after pending changes of the program's objects."""
        self.trace.undo_log.write_back()
        for value, gradient in self._outputs:
            is_whole = is_tuple(value) and isinstance(gradient, (tuple, list))
            self.contribute(value, ItemGradients(enumerate(gradient)) if is_whole else gradient)
        self.sweep(self.block, self.start, self.end)
        self.frame.node = None

    def gradient(self, value: Value) -> Any:
        """The gradient of a differentiated input, after `run`."""
        if value in self.shadows:
            shadow = self.shadows[value]
            if isinstance(value.type, ObjectType):
                assert shadow.node is not None
                at = self.block.nodes.index(shadow.node, self.start) + 1
                return self.trace.record("gradient_in", (self._then(value, shadow, at), self._then(value, value, at)))
            return self._in_shadow(value, shadow)
        found = self.frame.gradients.get(value)
        return self.zero(value) if found is None else found

    # Blocks -----------------------------------------------------------------------------------------------------------

    def sweep(self, block: Block, start: int = 0, end: int | None = None) -> None:
        """Record the reverse of the nodes of a block, from last to first."""
        for at in range((len(block.nodes) if end is None else end) - 1, start - 1, -1):
            node = block.nodes[at]
            if node in self._constant:
                continue
            if node.blocks or self.activity.varies((node.args, node.kwargs, node.outputs)):
                with self.trace.location.placed(node.place):
                    self._node(node, at)
                    self._collect()

    def _node(self, node: Node, at: int) -> None:
        self.frame.node, self.frame.at = node, at
        if not node.blocks:
            self.pass_on(node)
        if not self.shadows.moves(node):
            self._handler(node)(self, node)
            return
        for output in node.outputs:
            self.return_number(output)
        if node.op == "setitem":
            HANDLERS["setitem"](self, node)
        elif self.shadows.may_copy(node):
            HANDLERS["copy"](self, node)

    def _handler(self, node: Node) -> Handler:
        """The function that records the reverse of a node: that of its op or of its kind of op."""
        if node.op in WRITTEN_ARGUMENT:
            kind = "overwriting"
        elif node.op in IN_PLACE and lookup(node.op).vjp is not None:
            kind = "in place"
        else:
            kind = "write" if not node.blocks and self.shadows.written(node) else "operation"
        return HANDLERS.get(node.op, HANDLERS[kind])

    def return_number(self, value: Value) -> None:
        """Add the gradient of a number to the shadow of the object that it was read from."""
        shadow = self.shadows.of_number(value)
        if shadow is None:
            return
        gradient = self.take(value)
        if gradient is not None:
            self.trace.record("accumulate", (self.trace.proxy(shadow), whole(gradient, value.type)))

    @contextmanager
    def reversing(self, block: Block, loop: bool) -> Iterator[Frame]:
        """Record the reverse of an inner block in this context."""
        before, frame = self.frame, Frame(block, defined_in(block), Block(), len(block.nodes), self.frame, loop)
        self.frame = frame
        with self.trace.open(frame.into):
            try:
                yield frame
            finally:
                self.frame = before

    def _collect(self) -> None:
        """Pass on the gradients in the accumulators that the last statement filled."""
        found, self.frame.accumulators = self.frame.accumulators, {}
        for value, accumulator in found.items():
            is_array = isinstance(value.type, TensorType) and value.type.kind == "array"
            self.contribute(value, accumulator if is_array else self.trace.record("getitem", (accumulator, ())))

    def pass_on(self, where: Node | Block) -> None:
        """Pass the gradients in the shadows of stored numbers, or of results of a block, on to the numbers."""
        for value, shadow in self.shadows.collected(where):
            self.contribute(value, self._in_shadow(value, shadow))

    def _in_shadow(self, value: Value, shadow: Value) -> Any:
        """The gradient in a shadow: a number for a number, and item by item for a tuple."""
        found = self.trace.proxy(shadow)
        if is_tuple(value):
            items = self.trace.record("in_shadow", (found,))
            return ItemGradients((at, items[at]) for at in range(_length(value.type)))
        if isinstance(value.type, TensorType) and value.type.kind == "array" and value.type.dtype.kind in "fc":
            return found
        return self.trace.record("in_shadow", (found,))

    # Gradients --------------------------------------------------------------------------------------------------------

    def contribute(self, args: Any, gradient: Any) -> None:
        """Add to the gradient of a value, or of each value in nested arguments."""
        if gradient is None or not self.activity.varies(args):
            return
        if not isinstance(args, Value):
            gradient = self._of_items(gradient, args)
            for key, part in args.items() if isinstance(args, dict) else enumerate(args):
                if self.activity.varies(part):
                    self.contribute(part, gradient.get(key) if isinstance(gradient, ItemGradients) else gradient[key])
            return
        if not has_gradient(args.type):
            self._refuse_to_pass(args)
        if args in self.shadows:
            self.add_to_shadow(args, gradient)
        elif isinstance(gradient, ItemGradients):
            for key, part in gradient.items():
                self.contribute_item(args, key, part)
        else:
            self._add(args, self.fitted(gradient, args))

    def _add(self, value: Value, gradient: Any) -> None:
        """Add to the gradient of a value without a shadow."""
        frame, accumulator = self._accumulator(value)
        if accumulator is not None:
            self.trace.record("iadd", (accumulator, gradient))
            return
        before = frame.gradients.get(value)
        frame.owned.discard(value)
        frame.gradients[value] = gradient if before is None else self.trace.record("add", (before, gradient))

    def _refuse_to_pass(self, value: Value) -> NoReturn:
        """Raise an error: the current node makes numbers of a text, or of integers, that encode active floats."""
        name = expression(value)
        raise refusal(
            self.frame.node,
            f"makes numbers of {f'`{name}`, ' if name else ''}a value of type {value.type}, which depends on what is "
            "differentiated, but has no gradient. Compute with the floats that it was made of, or make it a constant "
            "by ag.stop_gradient",
            self.place,
        )

    def add_to_shadow(self, value: Value, gradient: Any) -> None:
        """Add to the gradient of an object with a shadow."""
        shadow = self.shadow_then(value)
        if isinstance(gradient, ItemGradients):
            for key, part in gradient.items():
                item = self.trace.record("part_of", (shadow, key))
                self.trace.record("accumulate", (item, part))
        elif isinstance(self.shadows[value].type, TensorType):
            self.trace.record("iadd", (shadow, self.fitted(gradient, value)))
        else:
            self.trace.record("accumulate", (shadow, gradient))

    def contribute_item(self, value: Value, index: Any, gradient: Any) -> None:
        """Add to the gradient of one or several items of an array or tuple."""
        if gradient is None or not self.activity.varies(value):
            return
        if not has_gradient(value.type):
            self._refuse_to_pass(value)
        if value in self.shadows:
            self.trace.record("add_at", (self.shadow(value), index, gradient))
            return
        if is_tuple(value):
            parts = self.frame.gradients.setdefault(value, ItemGradients())
            before = parts.get(index)
            parts[index] = gradient if before is None else self.trace.record("add", (before, gradient))
            return
        _, accumulator = self._accumulator(value)
        if accumulator is not None:
            self.trace.record("add_at", (accumulator, index, gradient))
            return
        if value in self.frame.owned and value in self.frame.gradients:  # an array without other references
            self.trace.record("add_at", (self.frame.gradients[value], index, gradient))
            return
        self.contribute(value, self.trace.record("scatter_add", (self.trace.proxy(value), index, gradient)))
        self.frame.owned.add(value)

    def _accumulator(self, value: Value) -> tuple[Frame, Any]:
        """The frame in which to sum up the gradient of a value; and, from within a loop around which the value lives,
        the array to add it to."""
        frame, crossed = self.frame, False
        while value not in frame.own:
            assert frame.around is not None, "what is not of the computation does not vary"
            crossed |= frame.loop
            frame = frame.around
        if not crossed:
            return self.frame, None
        if value not in frame.accumulators:
            with self.trace.open(frame.into):
                frame.accumulators[value] = self.trace.record("zero_gradient", (self.trace.proxy(value),))
        return frame, frame.accumulators[value]

    def take(self, value: Value) -> Any:
        """The gradient of a value, when it is complete; None for zero."""
        if value in self.shadows:
            shadow = self._as_made(value)
            return self.trace.record("or_zero", (shadow,)) if self.shadows[value].type == ANY else shadow
        return None if value in self._inputs else self.frame.gradients.pop(value, None)

    def fitted(self, gradient: Any, value: Value) -> Any:
        """A gradient with the shape and dtype of its value."""
        type, wanted = type_of(gradient), value.type
        if isinstance(wanted, MaybeUnbound):
            return gradient  # it was fitted where the variable is bound
        if is_static(type) and is_static(wanted) and wanted.kind == "array" and is_tensor(gradient):
            gradient = summed(gradient, type.shape, wanted.shape)
            type = type_of(gradient)
        if isinstance(type, TensorType) and isinstance(wanted, TensorType) and wanted.exact:
            is_alike = type.dtype == wanted.dtype and (type.kind == "array") is (wanted.kind == "array")
            if is_alike and type.exact and type.shape == wanted.shape and None not in wanted.shape:
                return gradient
        if _is_number(type) and _is_number(wanted) and np.result_type(type.dtype, wanted.dtype) == wanted.dtype:
            return gradient
        return self.trace.record("fit", (gradient, self.trace.proxy(value)))

    def primal(self, args: Any, after: bool = False) -> Any:
        """Arguments of the current node as proxies, with the contents that they had before it ran, or `after`."""

        def leaf(each: Any) -> Any:
            if isinstance(each, Constant):
                return each.value
            if not isinstance(each, Value):
                return each
            if not self.is_overwritten(each):
                return self.trace.proxy(each)
            frame = self.frame
            assert frame.node is not None, "a node is dealt with"
            at = frame.block.nodes.index(frame.node, frame.at) + 1 if after else frame.at
            return self._put_in(at, "snapshot", each)

        return map_args(leaf, args)

    def shadow(self, value: Value) -> Any:
        """The shadow of a value."""
        return self.trace.proxy(self.shadows[value])

    def shadow_then(self, value: Value) -> Any:
        """The shadow of an operand; of a container, with the items that it had when the node ran."""
        return self._then(value, self.shadows[value], self.frame.at)

    def _as_made(self, value: Value) -> Any:
        """The shadow of a result; of a container, with the items that it had when it was made."""
        shadow, nodes = self.shadows[value], self.frame.block.nodes
        if self._is_rearranged(value) and shadow.node in nodes:
            return self._put_in(nodes.index(shadow.node) + 1, "arranged", shadow)
        return self._then(value, shadow, self.frame.at + 1)

    def _then(self, value: Value, container: Value, at: int) -> Any:
        """A container, or its shadow, as it was before a place in the current block."""
        return self._put_in(at, "arranged", container) if self._is_rearranged(value) else self.trace.proxy(container)

    def _is_rearranged(self, value: Value) -> bool:
        """Whether a value is a container whose items may change from the current node on."""
        return not isinstance(value.type, TensorType) and self.is_overwritten(value)

    def _put_in(self, at: int, op: str, value: Value) -> Any:
        """Insert an op before a place in the current block; returns its result."""
        made = Node(op, (value,), None, (), self.frame.node.place if self.frame.node else ())
        self.frame.block.nodes.insert(at, made)
        self.frame.own.add(made.add_output(value.type, value.name))
        return self.trace.proxy(made.output)

    def is_overwritten(self, value: Value) -> bool:
        """Whether the current node, or a later one, may overwrite the contents of a value."""
        frame: Frame | None = self.frame
        while frame is not None:
            if self._writes.come_after(value, frame.block, None if frame.loop else frame.node):
                return True
            frame = frame.around
        return False

    def _of_items(self, gradient: Any, args: Any) -> Any:
        """The gradient of nested arguments; for a list that NumPy converted to an array, in the shape of the list."""
        found = type_of(gradient)
        is_apart = isinstance(found, ObjectType) and found != ANY     # item by item
        if is_apart or isinstance(args, dict) or not is_tensor(gradient):
            return gradient
        wanted = fitted(gradient, map_args(lambda leaf: getattr(leaf, "type", leaf), args))
        if isinstance(wanted, TensorType) and is_static(found) and wanted.shape == found.shape:
            return gradient
        like = map_args(lambda leaf: self.trace.proxy(leaf) if isinstance(leaf, Value) else leaf, args)
        return self.trace.record("fit", (gradient, like))

    def zero(self, value: Value) -> Any:
        """The gradient of a value that nothing depends on."""
        type = bound_type(value.type)
        if isinstance(type, TensorType) and type.kind == "array" and type.exact and None not in type.shape:
            return self.trace.record("np.zeros", (type.shape, type.dtype if type.dtype.kind in "fc" else float))
        if type is not value.type or _is_number(type):
            return 0.0
        return self.trace.record("zero_gradient", (self.trace.proxy(value),))


def refusal(node: Node | None, message: str, end: tuple[str, int] | tuple[()] = ()) -> DerivativeError:
    """An error that names an operation, the variable that it sets, and its place in the user's program.

    Args:
        end: the place for the end of the function, if there is no node.
    """
    if node is None:
        return DerivativeError(f"the end of the function {message}", *end)
    named = [f"`{output.name}`" for output in node.outputs if is_name(output.name)]
    sets = f", which gives {', '.join(named)}," if named else ""
    called = node.args[0] if node.op == "call" or node.op in MAKES_OBJECTS else None
    name = getattr(called.value if isinstance(called, Constant) else called, "__name__", "")
    does = f"{name}(…)" if name else node.op.lstrip(".")
    return DerivativeError(f"`{does}`{sets} {message}", *line_of(node.place))


def _is_number(type: Type) -> TypeGuard[TensorType]:
    """Whether it is a Python number or NumPy scalar."""
    return isinstance(type, TensorType) and type.kind != "array" and not type.shape


def is_tuple(value: Value) -> bool:
    return _length(value.type) > 0


def _length(type: Type) -> int:
    """The number of items of a tuple, if it is known; else 0."""
    return len(type.items) if isinstance(type, ObjectType) else 0


class ItemGradients(dict[Any, Any]):
    """The gradient of a tuple: those of its items, as far as they are not zero."""


def whole(gradient: Any, type: Type) -> Any:
    """The gradient of a tuple as one tuple, with None for zeros; any other gradient as it is."""
    if not isinstance(gradient, ItemGradients) or not isinstance(type, ObjectType):
        return gradient
    return tuple(whole(gradient.get(at), kind) for at, kind in enumerate(type.items))


@dataclass(eq=False)
class Frame:
    """The state of the reverse of one block, while it is recorded.

    Attributes:
        block: the block.
        node: its current node.
        at: the place in the block before which nodes for the current node are inserted.
        own: the values that the block defines.
        into: the block in which the reverse is recorded.
        loop: whether the block is the body of a loop.
        gradients: the gradients so far, of the block's own values and, in the branch of an `if`, of others.
        owned: the values whose gradient is a new array, so that the reverse may add to it in place.
        accumulators: the arrays to which inner loops add gradients of the block's own values.
    """

    block: Block
    own: set[Value]
    into: Block
    at: int
    around: Frame | None = None
    loop: bool = False
    node: Node | None = None
    gradients: dict[Value, Any] = field(default_factory=dict)
    owned: set[Value] = field(default_factory=set)
    accumulators: dict[Value, Any] = field(default_factory=dict)


def type_of(gradient: Any) -> Type:
    """The type of a proxy, or of a number."""
    if is_tensor(gradient):
        found: Type = gradient._ag_value.type
        return found
    dtype = PYTHON_DTYPES.get(type(gradient))
    return ObjectType() if dtype is None else TensorType(dtype, (), "python")


def is_static(type: Type) -> TypeGuard[TensorType]:
    """Whether a type has a known shape."""
    return isinstance(type, TensorType) and type.exact and None not in type.shape


def summed(gradient: Any, shape: Shape, wanted: Shape) -> Any:
    """A gradient summed over the dimensions that were broadcast, or broadcast to the dimensions that were reduced."""
    beyond = len(shape) - len(wanted)
    if beyond > 0:
        gradient = gradient.sum(axis=tuple(range(beyond)) if beyond > 1 else 0)
    aligned = (1,) * -beyond + shape[max(beyond, 0) :]
    axes = tuple(axis for axis, (size, other) in enumerate(zip(aligned, wanted)) if other == 1 != size)
    if axes:
        gradient = gradient.sum(axis=axes[0] if len(axes) == 1 else axes, keepdims=True)
    smaller = any(size != other for size, other in zip(aligned, wanted) if other != 1)
    return np.broadcast_to(gradient, cast("tuple[int, ...]", wanted)) if smaller or beyond < 0 else gradient
