"""Checks for signals in machine code, which also let other threads run.

To let the lock of the interpreter go and take it at once is of no use: another thread wakes up when it is taken again,
and as it has not waited for long then, it never asks for it. So that is Python's: before it runs a function, it sees
whether a thread has asked, and lets that have its turn.
"""

from __future__ import annotations

from autograph.common import disk_cache
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT
from autograph.runtime.engines.native.llvm.ir import I32, I64, NULL, PTR, VOID, Module, Parameter, constant

SIGNALS = "signals"


@disk_cache.storable
def give_way() -> None:
    """Do nothing, but what Python does before it runs a function, and where one goes back (3.10)."""
    for _ in (None,):
        pass


def define_signals(module: Module, place: int) -> None:
    """Define the function that looks, and gives whether something has been raised.

    Args:
        place: that of `give_way` in the table.
    """
    function = module.define(SIGNALS, I32, Parameter("table", PTR), words="internal", attributes="noinline cold")
    b, (table,) = Builder(function), function.parameters
    with b.if_then(b.icmp("eq", b.call_outside("PyErr_CheckSignals", I32), 0)):
        own = b.load(PTR, b.gep(table, SLOT * place))
        found = b.call_outside("PyObject_VectorcallDict", PTR, own, NULL, constant(I64, 0), NULL)
        with b.if_then(b.icmp("ne", found, NULL)):
            b.call_outside("Py_DecRef", VOID, found)
            b.ret(0)
    b.ret(-1)
