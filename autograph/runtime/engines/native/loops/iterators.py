"""Loops over Python iterators: of iterables other than ranges and arrays of numbers.

The loop owns a reference to the iterator. The functions emit code.
"""

from __future__ import annotations

from typing import Any

from autograph.runtime.engines.native.llvm.cpython_abi import take_exception
from autograph.runtime.engines.native.llvm.ir import PTR, Value
from autograph.runtime.engines.native.loops.block_versions import Cell
from autograph.runtime.engines.native.loops.python_calls import PythonCalls
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.operands import Boxed, Number
from autograph.runtime.graph.types import BOOL


def assign(calls: PythonCalls, node: Node, target: Any, thing: Value) -> None:
    """Assign a new reference, or the parts of its object, to the targets of a loop."""
    flow = calls.flow
    if isinstance(target, int):
        param = node.blocks[0].params[target]
        flow.define(param, Boxed(thing))
        flow.own((param, ()), thing)
        return
    whole: Cell = node, (id(target),)
    flow.own(whole, thing)
    parts = _unpack(calls, node, thing, len(target))
    del flow.state.owned[whole]
    flow.emit.objects.forget(thing)
    inner: list[tuple[Any, Cell, Value]] = []
    for each, part in zip(target, parts):
        if isinstance(each, int):
            assign(calls, node, each, part)
        else:
            inner.append((each, (node, (id(each), 0)), part))
            flow.own(inner[-1][1], part)
    for each, cell, part in inner:
        del flow.state.owned[cell]
        assign(calls, node, each, part)


def _unpack(calls: PythonCalls, node: Node, thing: Value, count: int) -> list[Value]:
    """New references to the parts of an object, which should have `count`."""
    emit = calls.flow.emit
    if count == 1:
        return [calls.apply(node, "unpack", Boxed(thing), 1)]
    is_tuple, fits, other, on = map(emit.b.new_block, ("tuple", "fits", "other", "on"))
    emit.branch(Number(BOOL, emit.objects.is_of_class(thing, tuple)), is_tuple, other)
    emit.b.begin(is_tuple)
    emit.branch(Number(BOOL, emit.objects.has_size(thing, count)), fits, other)
    emit.b.begin(fits)
    emit.cells.store((node, "parts"), emit.objects.another(thing))
    emit.jump(on)
    emit.b.begin(other)
    emit.cells.store((node, "parts"), calls.apply(node, "unpack", Boxed(thing), count, outputs=count))
    emit.jump(on)
    emit.b.begin(on)
    return calls.parts(emit.cells.load((node, "parts"), PTR), count)


def raise_again(calls: PythonCalls, node: Node) -> None:
    """Raise the exception of an iterator at the line of the loop."""
    emit = calls.flow.emit
    error = take_exception(emit.objects, [emit.cells.place(("exception", part), PTR) for part in range(3)])
    emit.objects.call(emit.objects.address(calls.operation(node, "raise", outputs=0)), [error])
    emit.objects.forget(error)
    calls.flow.stop()
