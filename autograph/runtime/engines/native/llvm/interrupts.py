"""How machine code looks for signals, and lets other threads run.

To let the lock of the interpreter go and take it at once is of no use: another thread wakes up when it is taken again,
and as it has not waited for long then, it never asks for it. So that is Python's: before it runs a function, it sees
whether a thread has asked, and lets that have its turn.
"""

from __future__ import annotations

from autograph.common import disk_cache
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT

LOOK = "call i32 @signals(ptr %table)"      # whether something has been raised
CALLED = ("PyErr_CheckSignals", "PyObject_VectorcallDict", "Py_DecRef")


@disk_cache.storable
def give_way() -> None:
    """Do nothing, but what Python does before it runs a function, and where one goes back (3.10)."""
    for _ in (None,):
        pass


def signals(place: int) -> str:
    """The function that looks; `give_way` is in that place of the table."""
    return _SIGNALS.format(offset=SLOT * place)


_SIGNALS = """define internal i32 @signals(ptr %table) noinline cold {{
  %raised = call i32 @PyErr_CheckSignals()
  %quiet = icmp eq i32 %raised, 0
  br i1 %quiet, label %others, label %end
others:
  %at = getelementptr i8, ptr %table, i64 {offset}
  %function = load ptr, ptr %at
  %found = call ptr @PyObject_VectorcallDict(ptr %function, ptr null, i64 0, ptr null)
  %failed = icmp eq ptr %found, null
  br i1 %failed, label %end, label %done
done:
  call void @Py_DecRef(ptr %found)
  ret i32 0
end:
  ret i32 -1
}}
"""
