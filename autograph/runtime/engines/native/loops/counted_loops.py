"""Counted loops: machine code that iterates over a range, or an array of numbers.

A counted loop runs up to a limit, where it polls for signals and sets the next limit. The functions emit code. An
iterator is the operand of the rest of an iterable: a `Range`, or an array and the next index.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from autograph.runtime.engines.native.emit.polling import POLL
from autograph.runtime.engines.native.emit.speculation import STRIP
from autograph.runtime.engines.native.emit.value_ranges import RANGE
from autograph.runtime.engines.native.llvm.ir import Block
from autograph.runtime.engines.native.loops.block_versions import Flow
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.operands import Number, Range
from autograph.runtime.graph.traits import ARRAY_PRODUCT
from autograph.runtime.graph.types import INT, TensorType

LONG = 256      # iterations of numbers that one with arrays counts for


class Counter(NamedTuple):
    """The induction variable of a counted loop.

    Attributes:
        item: its value.
        stop: the end.
        step: its change in an iteration.
        down: whether the step is negative.
    """

    item: Number
    stop: Number
    step: Number
    down: bool

    @property
    def before(self) -> str:
        """The comparison of an item with a later one."""
        return "gt" if self.down else "lt"


def counter_of(flow: Flow, iterator: Any) -> Counter:
    """The induction variable of an iterator."""
    if isinstance(iterator, Range):
        item, stop, *step = iterator.parts
        return Counter(item, stop, step[0] if step else flow.emit.constant(iterator.known, INT), bool(iterator.down))
    return Counter(iterator[1], flow.emit.length(iterator[0], 0), flow.emit.constant(1, INT), down=False)


def at(iterator: Any, item: Number) -> Any:
    """The iterator at an item, or at an index."""
    if isinstance(iterator, Range):
        return iterator.at((item, *iterator.parts[1:]))
    return iterator[0], item


def begin_iteration(flow: Flow, node: Node, iterator: Any) -> None:
    """Set the item of an iteration, and the rest for the next ones."""
    counter, param = counter_of(flow, iterator), node.blocks[0].params[0]
    rest = Number(INT, flow.emit.b.add(counter.item.ref, counter.step.ref, "nsw"))
    flow.define(node, at(iterator, rest))
    if isinstance(iterator, Range):
        flow.define(param, counter.item)
        flow.counted.add(param)
        flow.emit.ranges.bound(counter.item.ref, -RANGE, RANGE)
    else:
        flow.define(param, flow.emit.load(iterator[0], [counter.item]))


def set_limit(flow: Flow, node: Node, iterator: Any, head: Block, speculates: bool = False) -> None:
    """Poll for signals, and set the limit: the next poll, the end of a speculative strip, or the end of the loop."""
    emit, iterations = flow.emit, STRIP if speculates else POLL // weight(node)
    item, stop, step, down = counter_of(flow, iterator)
    room = emit.integer("sub", item, stop) if down else emit.integer("sub", stop, item)
    size = emit.integer("sub", emit.constant(0, INT), step) if down else step
    span = emit.integer("mul", size, emit.constant(iterations, INT))
    far = emit.compare("gt", room, span)
    if not speculates:
        count = emit.integer("div", emit.select(far, span, room), size)
        flow.poll(emit.integer("mul", count, emit.constant(weight(node), INT)).ref, head)
    emit.cells.store((node, "limit"), stop.ref)
    with emit.rarely(far):
        if speculates:
            flow.poll(iterations, head)
        emit.cells.store((node, "limit"), emit.integer("sub" if down else "add", item, span).ref)


def weight(node: Node) -> int:
    """For how many iterations between polls one iteration of a loop counts: operations on arrays take long."""
    results = [value.type for each in node.blocks[-1].nodes for value in each.outputs]
    is_long = any(each.op in ARRAY_PRODUCT for each in node.blocks[-1].nodes)
    return LONG if is_long or any(isinstance(type, TensorType) and type.kind == "array" for type in results) else 1
