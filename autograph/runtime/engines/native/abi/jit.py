"""Just-in-time compilation: object code from assembly, or from disk, linked into the process."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from autograph.common import disk_cache
from autograph.runtime.engines.native.emit.tier_up import BaselineTier
from autograph.runtime.engines.native.llvm.target import cached_object, machine, object_key
from autograph.runtime.graph.graph import Place


class Code:
    """Machine code of one function.

    Attributes:
        text: its assembly.
        origins: the source locations of its lines, see `printer.Printer`.
        branchy: whether no loop in it can be vectorized.
        cached: whether it was on disk.
        unkept: why it cannot be saved there; "" if it can, or the user wants no files.
        baseline: its baseline tier, if that was compiled first.
        run: its function `loop`, from the addresses of frame and table to the number of the exit.
        part: the same function as one over a part of arrays; see `loop_nest`.
        entry: the address of its function `entry`; 0 if there is none yet.
    """

    def __init__(
        self,
        text: str,
        branchy: bool = False,
        origins: Sequence[Place] = (),
        baseline: BaselineTier | None = None,
        found: bytes | None = None,
    ) -> None:
        """
        Args:
            baseline: the baseline tier to compile, unless there is optimized code on disk.
            found: optimized code from disk, if it has been loaded already.
        """
        here = machine()
        self.text = text
        self.origins = origins
        self.branchy = branchy
        code = found if found is not None or baseline is None else disk_cache.load(object_key(text, str(branchy)))
        self.baseline = baseline if code is None else None
        self._others: list[Any] = []
        if code is not None:
            self.cached, self.unkept = True, ""
        elif baseline is not None:
            code, self.cached, self.unkept = cached_object(baseline.text, baseline=True)
        else:
            code, self.cached, self.unkept = cached_object(text, branchy)
        self._engine = here.linked(code)
        self.run: Callable[[int, int], int] = _TYPE(self._engine.get_function_address("loop"))
        self.part: Callable[[int, int, int], int] = _PART(self._engine.get_function_address("loop"))
        self.entry: int = self._engine.get_function_address("entry")

    @staticmethod
    def on_disk(text: str, branchy: bool, origins: Sequence[Place]) -> Code | None:
        """Optimized code of a text, if it is on disk."""
        found = disk_cache.load(object_key(text, str(branchy)))
        return None if found is None else Code(text, branchy, origins, found=found)

    def go_on(self, number: int) -> Callable[[int, int], int]:
        """Compile an optimized function that resumes where baseline code has stopped."""
        assert self.baseline is not None
        code, *_ = cached_object(self.baseline.resumed(number), self.branchy)
        self._others.append(machine().linked(code))
        return _TYPE(self._others[-1].get_function_address("loop"))

    def enter(self, text: str) -> int:
        """Compile a function `entry` that calls this one. Returns its address."""
        here = machine()
        code, *_ = cached_object(text, baseline=True)
        here.add(self._engine, code)
        self.entry = self._engine.get_function_address("entry")
        return self.entry

    def add_direct(self, text: str) -> int:
        """Compile a function `direct` that calls this one's `level`. Returns its address."""
        here = machine()
        code, *_ = cached_object(text)
        here.add(self._engine, code)
        return int(self._engine.get_function_address("direct"))

    @property
    def llvm(self) -> str:
        """The optimized assembly of LLVM."""
        return str(machine().optimized(self.text, self.branchy))

    @property
    def asm(self) -> str:
        """The assembly of the processor."""
        here = machine()
        return str(here.target.emit_assembly(here.optimized(self.text, self.branchy)))


# It keeps the GIL, and raises exceptions.
_TYPE = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_PART = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)      # it releases the GIL
