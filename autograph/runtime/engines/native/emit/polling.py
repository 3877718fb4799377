"""Polls for signals in loops: a signal handler may raise an exception, which ends the code; other threads may run.

A loop polls every `POLL` iterations. There the baseline tier may stop, too, see `tier_up`.

To release the GIL and take it again at once would not suffice: another thread wakes up when it has been taken again,
and since it has not waited for long, it never requests it. So a poll calls a Python function: before that, Python
checks whether a thread has requested the GIL, and lets it run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from autograph.common import disk_cache
from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT
from autograph.runtime.graph.operands import Number
from autograph.runtime.graph.types import BOOL

POLL = 1 << 16      # iterations from one poll to the next
SIGNALS = "signals" # the name of the function that is called
_LEFT = "polls"     # the cell of the number of iterations until the next poll


class Poll(NamedTuple):
    """A poll.

    Attributes:
        head: the head of the loop, from which the code can resume.
        look: the block that calls Python.
        stop, on: the next blocks if there is an exception, and if there is none.
        last: its last block.
    """

    head: ir.Block
    look: ir.Block
    stop: ir.Block
    on: ir.Block
    last: ir.Block


def begin_polling(emit: Emitter) -> None:
    """Begin to count iterations."""
    emit.cells.store(_LEFT, ir.constant(ir.I64, POLL))


def poll(
    emit: Emitter,
    iterations: ir.Value | int,
    stop: Callable[[], None],
    head: ir.Block,
    besides: Callable[[], None] | None = None,
) -> Poll:
    """Count some iterations; every `POLL` iterations, let others run, and stop if there is an exception.

    Args:
        head: of the loop. The code since may run again.
        besides: emits further code of the poll.
    """
    emit.settle()
    b = emit.b
    before = emit.cells.load(_LEFT, ir.I64)
    left = b.sub(before, iterations)
    emit.cells.store(_LEFT, left)
    due = b.icmp("eq", before, 0) if iterations == 1 else b.icmp("slt", left, 0)
    with emit.rarely(Number(BOOL, due)):
        begin_polling(emit)
        look = _onwards(emit, "look")
        end, on = emit.stop_if(_raised(emit), stop)
        if besides is not None:
            besides()
            _onwards(emit, "on")
        return Poll(head, look, end, on, b.block)


def _raised(emit: Emitter) -> Number:
    """Let others run. Returns whether there is an exception."""
    b = emit.b
    raised = b.call(b.function.module.declare(SIGNALS, ir.I32, ir.PTR), b.function.parameters[1])
    return Number(BOOL, b.icmp("ne", raised, 0))


def poll_call(emit: Emitter, place: ir.Value, stop: Callable[[], None]) -> Poll:
    """Count a call in the integer at an address; every `POLL` calls, let others run, and stop as `poll` does."""
    b = emit.b
    left = b.sub(b.load(ir.I64, place), 1)
    b.store(left, place)
    with emit.rarely(Number(BOOL, b.icmp("eq", left, 0))):
        b.store(ir.constant(ir.I64, POLL), place)
        look = _onwards(emit, "look")
        end, on = emit.stop_if(_raised(emit), stop)
        return Poll(look, look, end, on, b.block)


def _onwards(emit: Emitter, hint: str) -> ir.Block:
    """Begin a new block."""
    block = emit.b.new_block(hint)
    emit.b.br(block)
    emit.b.begin(block)
    return block


def spend(emit: Emitter, address: int) -> None:
    """Count the integer at an address down, and leave when it reaches zero. For tests."""
    pointer = emit.b.cast("inttoptr", ir.constant(ir.I64, address), ir.PTR)
    left = emit.b.sub(emit.b.load(ir.I64, pointer), 1)
    emit.b.store(left, pointer)
    emit.leave_if(Number(BOOL, emit.b.icmp("eq", left, 0)))


# The function that polls call -----------------------------------------------------------------------------------------


@disk_cache.storable
def give_way() -> None:
    """Do nothing. Python lets threads run before a function begins, and at a backward jump (3.10)."""
    for _ in (None,):
        pass


@cache
def signals(place: int) -> ir.Module:
    """The function that checks for signals, and returns whether there is an exception.

    Args:
        place: of `give_way` in the table.
    """
    module = ir.Module()
    table = ir.Parameter("table", ir.PTR)
    b = Builder(module.define(SIGNALS, ir.I32, table, words="internal", attributes="noinline cold"))
    with b.if_then(b.icmp("eq", b.call_outside("PyErr_CheckSignals", ir.I32), 0)):
        own = b.load(ir.PTR, b.gep(table, SLOT * place))
        found = b.call_outside("PyObject_VectorcallDict", ir.PTR, own, ir.NULL, ir.constant(ir.I64, 0), ir.NULL)
        with b.if_then(b.icmp("ne", found, ir.NULL)):
            b.call_outside("Py_DecRef", ir.VOID, found)
            b.ret(0)
    b.ret(-1)
    return module
