"""The stack of a thread: machine code that calls itself must not exceed it.

The end of the stack of the current thread is in a cell, with the number of that thread, which no other thread gets. So
code asks for it only where another thread has run code that calls itself meanwhile.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

from autograph.common import disk_cache
from autograph.common.cpython_internals import ITEMS, WORD, thread_number, thread_state, write

SPARE = 1 << 18     # bytes of the stack that levels leave to all that they call
_NOBODY = (1 << 64) - 1
_ATTRIBUTES = 256   # bytes, for `pthread_attr_t`, which has 56 or 64


class Cell(bytes):
    """The number of a thread, and the address down to which levels may go on its stack."""

    def __new__(cls) -> Cell:
        return super().__new__(cls, _NOBODY.to_bytes(8, sys.byteorder) + bytes(8))


CELL = Cell()


@disk_cache.storable
def note_stack() -> None:
    """Put the current thread into the cell."""
    number = thread_number(thread_state())
    write(WORD, id(CELL) + ITEMS, _NOBODY)
    write(WORD, id(CELL) + ITEMS + 8, _end_of(number))
    write(WORD, id(CELL) + ITEMS, number)


@cache
def _end_of(number: int) -> int:
    """The address down to which levels may go in the current thread, which has this number."""
    found = _lowest()
    return _NOBODY if found is None else found + SPARE


def _lowest() -> int | None:
    """The lowest address of the stack of the current thread; None if the system does not tell."""
    libc: Any = ctypes.CDLL(None)
    if sys.platform == "darwin":
        libc.pthread_self.restype = libc.pthread_get_stackaddr_np.restype = ctypes.c_void_p
        libc.pthread_get_stacksize_np.restype = ctypes.c_size_t
        own = ctypes.c_void_p(libc.pthread_self())
        return int(libc.pthread_get_stackaddr_np(own) - libc.pthread_get_stacksize_np(own))
    if not hasattr(libc, "pthread_getattr_np"):
        return None
    attributes, address, size = ctypes.create_string_buffer(_ATTRIBUTES), ctypes.c_void_p(), ctypes.c_size_t()
    libc.pthread_self.restype = ctypes.c_void_p
    if libc.pthread_getattr_np(ctypes.c_void_p(libc.pthread_self()), attributes):
        return None
    failed = libc.pthread_attr_getstack(attributes, ctypes.byref(address), ctypes.byref(size))
    libc.pthread_attr_destroy(attributes)
    return None if failed else address.value
