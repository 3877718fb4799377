"""Machine code that calls itself: the function of one level, and the function `loop` around the outermost one.

    loop(frame, table)              what Python calls
    level(frame, table, run)        one level, which calls `level` with a frame of its own

The *run* is a record on the stack of `loop`: the state of the thread, the end of the stack that levels may take, and
the number of calls until the next poll for signals. A level counts in Python's own counter of frames, so recursion is
as deep as it is in Python, whatever else is on the stack. The last levels, and those for which there is no stack, are
left to Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from autograph.common.cpython_internals import ITEMS, RECURSION_LEFT
from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.emit.loop_emitter import LoopEmitter
from autograph.runtime.engines.native.emit.polling import POLL, poll_call
from autograph.runtime.engines.native.llvm import ir, link_cells
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, ObjectBuilder
from autograph.runtime.engines.native.llvm.thread_stack import CELL, note_stack

RESERVE = 150       # frames that are left to Python, also for what continues after side exits
_STATE, _END, _POLLS = 0, 8, 16     # places in the run


@dataclass
class Recursion:
    """Facts about calls of code by itself.

    Attributes:
        ends: the results of the code that are known so far, as recipes.
        left: a Python function of the number of another exit, the address of the frame, and the arguments.
        frame: the memory for the frame of the next level.
        inputs: the number of slots for arguments in it.
    """

    ends: Sequence[Any] = ()
    left: Any = None
    frame: ir.Instruction | None = None
    inputs: int = 0

    def frame_in(self, b: Builder) -> ir.Instruction:
        """The memory for the frame of the next level."""
        if self.frame is None:
            self.frame = b.room(ir.array(0, ir.I64))
        return self.frame

    def finish(self, emit: LoopEmitter, slots: int) -> None:
        """Add the function around the outermost level.

        Args:
            slots: of the frame, for exits.
        """
        inner = emit.b.function
        if self.frame is not None:
            self.frame.detail = ir.array(max(slots, self.inputs, 1), ir.I64)
        b = Builder(inner.module.define("loop", ir.I64, ir.Parameter("frame", ir.PTR), ir.Parameter("table", ir.PTR)))
        frame, table = b.function.parameters
        run, objects = b.alloca(ir.array(3, ir.I64)), ObjectBuilder(b, emit.objects.things, table, lambda _: None)
        state, cell = objects.python("PyThreadState_Get"), b.gep(objects.address(CELL), ITEMS)
        is_other = b.icmp("ne", b.load(ir.I64, cell), objects.python("PyThreadState_GetID", state))
        with b.if_then(is_other, False):
            found = objects.call(objects.address(note_stack), [])
            with b.if_then(b.is_null(found), False):
                b.ret(0)
            objects.forget(found)
        end_epoch(b, objects)
        b.store(state, b.gep(run, _STATE))
        b.store(b.load(ir.I64, b.gep(cell, SLOT)), b.gep(run, _END))
        b.store(ir.constant(ir.I64, POLL), b.gep(run, _POLLS))
        b.ret(b.call(inner, frame, table, run))


def level(leave: Callable[[], Any]) -> LoopEmitter:
    """The emitter of one level."""
    return LoopEmitter("level", leave, ir.Parameter("run", ir.PTR))


def too_deep(emit: Emitter, frame: ir.Value, frames: int) -> ir.Value:
    """Whether Python must run the next level, which is of so many of Python's frames."""
    b, run = emit.b, emit.b.function.parameters[2]
    left = b.load(ir.I32, _left_in(b, run))
    end = b.load(ir.I64, b.gep(run, _END))
    return b.or_(b.icmp("slt", left, frames + RESERVE), b.icmp("ult", b.cast("ptrtoint", frame, ir.I64), end))


def call_level(
    emit: LoopEmitter, frame: ir.Value, frames: int, stop: Callable[[], None], cell: ir.Value | None = None
) -> ir.Value:
    """Call the next level, of so many of Python's frames. Returns the number of its exit.

    Args:
        cell: that of the link to the level of another function.
    """
    b = emit.b
    called: ir.Value = b.function
    table: ir.Value = b.function.parameters[1]
    run = b.function.parameters[2]
    if cell is not None:
        called = b.load(ir.PTR, b.gep(cell, link_cells.CODE))
        table = b.load(ir.PTR, b.gep(cell, link_cells.TABLE))
    emit.polls.append(poll_call(emit, b.gep(run, _POLLS), stop))
    place = _left_in(b, run)
    left = b.load(ir.I32, place)
    b.store(b.sub(left, frames), place)
    found = b.emit(ir.I64, "call", (called, frame, table, run))
    b.store(left, place)
    return found


def end_epoch(b: Builder, objects: ObjectBuilder) -> None:
    """Note that code of the user's may have run, see `abi/links.py`."""
    place = b.gep(objects.address(link_cells.EPOCH), ITEMS)
    b.store(b.add(b.load(ir.I64, place), 1), place)


def _left_in(b: Builder, run: ir.Value) -> ir.Value:
    """The address of Python's counter of frames."""
    return b.gep(b.load(ir.PTR, b.gep(run, _STATE)), RECURSION_LEFT)


def slot(b: Builder, frame: ir.Value, place: int) -> ir.Value:
    """The address of a slot of a frame."""
    return b.gep(frame, SLOT * place)
