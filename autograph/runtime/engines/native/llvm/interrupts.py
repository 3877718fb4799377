"""Checks for signals in machine code, which also let other threads run.

To release the GIL and take it again at once would not suffice: another thread wakes up when it has been taken again,
and since it has not waited for long, it never requests it. So the code calls a Python function: before that, Python
checks whether a thread has requested the GIL, and lets it run.
"""

from __future__ import annotations

from functools import cache

from autograph.common import disk_cache
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT
from autograph.runtime.engines.native.llvm.ir import I32, I64, NULL, PTR, VOID, Module, Parameter, constant

SIGNALS = "signals"


@disk_cache.storable
def give_way() -> None:
    """Do nothing. Python lets threads run before a function begins, and at a backward jump (3.10)."""
    for _ in (None,):
        pass


@cache
def signals(place: int) -> Module:
    """The function that checks for signals, and returns whether there is an exception.

    Args:
        place: of `give_way` in the table.
    """
    module = Module()
    function = module.define(SIGNALS, I32, Parameter("table", PTR), words="internal", attributes="noinline cold")
    b, (table,) = Builder(function), function.parameters
    with b.if_then(b.icmp("eq", b.call_outside("PyErr_CheckSignals", I32), 0)):
        own = b.load(PTR, b.gep(table, SLOT * place))
        found = b.call_outside("PyObject_VectorcallDict", PTR, own, NULL, constant(I64, 0), NULL)
        with b.if_then(b.icmp("ne", found, NULL)):
            b.call_outside("Py_DecRef", VOID, found)
            b.ret(0)
    b.ret(-1)
    return module
