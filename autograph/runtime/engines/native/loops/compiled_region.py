"""Machine code of a loop for inputs of certain kinds, and how it runs.

The region calls it, in Python. From the second call on it has a C entry point, which Python calls as a builtin.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from autograph.common import disk_cache, forking
from autograph.runtime.engines.native.abi.c_entry import FAST_UNDERFLOWS, Entry, builtin
from autograph.runtime.engines.native.abi.calling_convention import putting
from autograph.runtime.engines.native.abi.jit import Code
from autograph.runtime.engines.native.abi.links import direct_text, type_of_results
from autograph.runtime.engines.native.analysis.side_exits import Exit
from autograph.runtime.engines.native.emit.tier_up import STOPPED, BaselineTier
from autograph.runtime.engines.native.llvm.cpython_abi import NAMES, Table
from autograph.runtime.engines.native.llvm.errors import Refused
from autograph.runtime.engines.native.llvm.target import names_outside
from autograph.runtime.graph.operands import without_refs

_EVERYWHERE = {*NAMES, "fetestexcept", "feclearexcept"}     # functions that every process has


@disk_cache.storable
class CompiledRegion:
    """The machine code of a loop for inputs of certain kinds.

    Attributes:
        entry: the C entry point, which passes inputs of other kinds on to the region; None before the second call.
        expected, callbacks: see `PythonCalls`.
        supposed: see `Flow`.
        no_nans: the places of inputs that must be no NaNs, see `PassedNumbers`.
        shapes: those that inputs at some places must have.
        kept: the places of numbers whose objects it needs as well.
        trusted: see `Draws`. There is no C entry point then, since Python looks at them.
        underflows: whether it must not run if NumPy warns of underflows.
        costly: the number of calls with too many side exits.
        call: the number of the region's call that compiled it.
    """

    def __init__(self, region: Any, inputs: tuple[Any, ...]) -> None:
        begin = time.perf_counter()
        lowering, caller, (text, origins) = region.lowered(inputs)
        flow, calls = lowering.flow, lowering.calls
        self.exits: list[Exit] = flow.exits
        self.expected = calls.expected
        self.callbacks = calls.callbacks
        self.supposed = flow.supposed
        for callback in self.callbacks:
            region.refuse(callback)
        self.underflows = flow.emit.underflows
        self.trusted: Sequence[Any] = flow.emit.draws.trusted
        if flow.itself.left is not None:
            flow.itself.left.version = self
        self._slots = max(caller.slots, flow.slots, 1)
        self._things, self._words = flow.emit.objects.things, caller.words
        self._operands = without_refs(tuple(caller.operands))
        passed = region.structure.passed
        self.no_nans = [place for place, value in enumerate(region.values) if passed.must_be_no_nan(value)]
        self.shapes = {place: flow.shapes[each] for place, each in enumerate(region.values) if each in flow.shapes}
        self.kept = [*caller.objects]
        baseline = BaselineTier(flow.emit, self._slots) if region.uses_baseline else None
        code = Code(text, not lowering.vectorizes, origins, baseline)
        self.call = region.calls
        self._begin(region, code, begin)

    def _begin(self, region: Any, code: Code, begin: float) -> None:
        """Get ready to run."""
        self._region = region
        self.code = code
        self._own = len(self._things)       # without those of the entry point
        self.frame = ctypes.c_char * (8 * (self._slots if code.baseline is None else code.baseline.slots))
        self.entry: Callable[..., Any] | None = None
        self._left = partial(region.left_by, self)
        self._tables: list[Table] = []
        self._lock = forking.lock()
        self._directs: dict[str, int] = {}      # the addresses of functions for other machine code, by assembly
        self._fill_table()
        self.put = putting(self._words)
        self.seconds = time.perf_counter() - begin
        self.costly = 0
        self._stays_baseline = False       # since optimized code cannot be made

    @property
    def is_persistent(self) -> bool:
        """Whether it can be saved on disk: it depends on nothing of this process."""
        return not (self.callbacks or self.expected or self.trusted) and names_outside(self.code.text) <= _EVERYWHERE

    def __reduce__(self) -> Any:
        words = self._slots, self._things[: self._own], self._operands, self._words, self.no_nans, self.shapes
        code = self.code.text, self.code.branchy, self.code.origins
        return _restored, (self._region, self.exits, self.underflows, (*words, self.supposed), code)

    def run(self, frame: Any) -> int:
        """Run the code. Returns the number of the exit."""
        code, table, address = self.code, self.table.address, ctypes.addressof(frame)
        begin = time.thread_time()
        number = code.run(address, table)
        while number == STOPPED:
            assert code.baseline is not None
            late = time.thread_time() - begin >= code.baseline.patience and not self._stays_baseline
            number = (self._go_on(code, frame) if late else code.run)(address, table)
        return number

    def _go_on(self, code: Code, frame: Any) -> Callable[[int, int], int]:
        """Optimized code that resumes where baseline code has stopped (on-stack replacement)."""
        assert code.baseline is not None
        begin = time.perf_counter()
        try:
            with self._region.compiling():
                found = code.go_on(code.baseline.stopped(frame))
        except Refused:
            self._stays_baseline, found = True, code.run
        self.seconds += time.perf_counter() - begin
        return found

    def enter(self, other: Callable[..., Any]) -> Callable[..., Any]:
        """Make `entry`, and optimize the code. Returns the function to call.

        Args:
            other: takes inputs of other kinds.
        """
        with self._lock:
            if self.code.baseline is not None:
                begin = time.perf_counter()
                self.code = Code(self.code.text, self.code.branchy, self.code.origins)
                self.seconds += time.perf_counter() - begin
            if self.entry is None and (FAST_UNDERFLOWS or not self.underflows) and not self.trusted:
                code = self._slots, self.exits, self.underflows
                facts = self.no_nans, self.shapes, self.kept
                made = Entry(self._things, self._operands, *code, other, self._left, *facts)
                address = self.code.enter(made.text)
                self._fill_table()
                self.entry = builtin(address, self.table, self.code)
            return self.entry or other

    def direct(self, places: Sequence[int], shapes: Mapping[int, Any]) -> tuple[int, Table, Code, Any] | None:
        """The address of a function that other machine code calls, its table, code and type; None if there is none.

        Args:
            places: those of the inputs among the arguments.
            shapes: those that arrays among the arguments must have.
        """
        if self.underflows or self.trusted or self.shapes or self.kept:
            return None
        with self._lock:
            given = self._operands, places, self._slots, self.exits, self._left, self.no_nans, shapes
            text = direct_text(self._things, *given)
            if text is None or (self._directs and text not in self._directs):
                return None
            if text not in self._directs:
                self._directs[text] = self.code.add_direct(text)
                self._fill_table()
            return self._directs[text], self.table, self.code, type_of_results(self.exits)

    def _fill_table(self) -> None:
        self.table = Table.of(self._things)
        self._tables.append(self.table)     # the code may be running with an earlier one
        for callback in self.callbacks:
            callback.enter(self.table)


@disk_cache.storable
def _restored(region: Any, exits: list[Exit], underflows: bool, words: Any, code: Any) -> CompiledRegion | None:
    """Machine code that was saved on disk, if its object code is there as well."""
    begin, found = time.perf_counter(), Code.on_disk(*code)
    if found is None:
        return None
    made = CompiledRegion.__new__(CompiledRegion)
    made.exits, made.underflows, made.expected, made.callbacks = exits, underflows, {}, []
    made._slots, made._things, made._operands, made._words, made.no_nans, made.shapes, made.supposed = words
    made.trusted, made.kept = (), []
    made.call = 1       # as if it had been made in the first
    made._begin(region, found, begin)
    return made
