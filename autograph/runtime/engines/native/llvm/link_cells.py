"""The memory of links between machine code of several functions, see `abi/links.py`."""

from __future__ import annotations

from typing import Any

from autograph.common import disk_cache
from autograph.common.cpython_internals import ITEMS, WORD, write
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, Count
from autograph.runtime.graph.types import BOOL, FLOAT, INT, TensorType

CODE, TABLE, CHECKED = 0, 8, 16     # places in a cell
FAILED, OBJECT, REFUSED = 0, 1, -1      # results of `direct`: an exception, an object, nothing done
NUMBERS: dict[TensorType, int] = {INT: 2, FLOAT: 3, BOOL: 4}    # and numbers of these types


class LinkCell(bytes):
    """The memory of a link."""

    def __new__(cls) -> LinkCell:
        return super().__new__(cls, 3 * SLOT)


class _Epoch(Count):
    """The number of the epoch, which machine code increments."""

    def __reduce__(self) -> Any:
        return epoch, ()


EPOCH = _Epoch()


@disk_cache.storable
def epoch() -> Count:
    """The number of the epoch, the same object in all machine code."""
    return EPOCH


def end_epoch() -> None:
    """Note that code of the user's may have run."""
    write(WORD, id(EPOCH) + ITEMS, EPOCH.value + 1)
