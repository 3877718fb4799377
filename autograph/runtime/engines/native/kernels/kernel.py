"""Operations on whole arrays that run as one loop of machine code.

A kernel is a function of the arrays and numbers that they use. Its first call with inputs of some kinds compiles. What
the code cannot do, and what NumPy would warn of, NumPy does: all is done again from the beginning, which nobody sees,
for a kernel changes nothing, or undoes it (see `in_place`).
"""

from __future__ import annotations

import contextvars
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache, reduce
from itertools import pairwise
from operator import or_
from typing import Any, NamedTuple

import numpy as np

from autograph.common.numpy_internals import warns_of_underflows
from autograph.runtime.engines.native.abi.c_entry import FAST_UNDERFLOWS, builtin
from autograph.runtime.engines.native.abi.calling_convention import COMPLEX_NUMBERS, ELEMENTS, NUMBERS, examples_of
from autograph.runtime.engines.native.abi.jit import Code
from autograph.runtime.engines.native.kernels.elementwise import key_of, reduction_of
from autograph.runtime.engines.native.kernels.entry_points import Callers, EntryPoint
from autograph.runtime.engines.native.kernels.in_place import target_of
from autograph.runtime.engines.native.kernels.loop_codegen import LoopCode
from autograph.runtime.engines.native.kernels.loop_nest import Nest
from autograph.runtime.engines.native.kernels.multi_nest import Phase, Phases, split, write_fused
from autograph.runtime.engines.native.kernels.operands import Single, Stream
from autograph.runtime.engines.native.kernels.schedule import fuse
from autograph.runtime.engines.native.kernels.schedule_rules import schedule_of
from autograph.runtime.engines.native.kernels.slice_layout import Part, below, beside
from autograph.runtime.engines.native.llvm.cpython_abi import Table
from autograph.runtime.engines.native.llvm.errors import Refused, making, needed
from autograph.runtime.engines.native.llvm.ir import Module
from autograph.runtime.engines.native.llvm.ir_verifier import verified
from autograph.runtime.engines.native.llvm.printer import Printer
from autograph.runtime.graph.graph import Constant, Node, Value, user_line
from autograph.runtime.graph.operands import NoLowering
from autograph.runtime.graph.signature import Event

MOST = 48           # operations in one kernel
STREAMS = 16        # arrays that come into it
VERSIONS = 8        # of a kernel
PATIENCE = 8        # how often a version, or a kernel of which there is none, may be in vain
_FAILED = object()
_NUMBERS = NUMBERS | COMPLEX_NUMBERS


class Version:
    """The machine code of a kernel for inputs of certain kinds.

    Attributes:
        entry: calls it, or those that came before.
        forced: calls it whatever NumPy's settings are; gives `_FAILED` if it cannot be done.
        schedule: in which order the elements are computed.
    """

    def __init__(self, kernel: Kernel, kinds: tuple[Any, ...]) -> None:
        begin = time.perf_counter()
        flat, *each = kinds
        keys = list(map(key_of, kernel.inputs))
        named, parts = dict(zip(keys, each)) | kernel.constants, dict(zip(keys, kernel.parts))
        ndim = max(kind.ndim for kind in each if isinstance(kind, Stream))
        self._kernel, module = kernel, Module()
        if len(split(kernel.nodes)) > 1:
            several, flat, gives = Phases(kernel.nodes, named, kernel.outputs, ndim), "", False
            phases = several.every
        else:
            flat, nest = _nest(kernel, named, flat, ndim)
            streams = [(part, kind) for part, kind in zip(kernel.parts, each) if isinstance(kind, Stream)]
            nest.beside, nest.below = beside(streams, len(nest.dtypes)), below(streams, len(nest.dtypes))
            gives = any(value in kernel.nodes[-1].outputs for value in kernel.outputs)
            several, phases = None, [Phase.alone(nest, named)]
        schedules = [schedule_of(phase.nest) for phase in phases]
        self.schedule = schedules[0] if several is None else fuse(schedules)
        for phase, schedule in zip(phases, schedules):
            LoopCode(module, phase.nest).write(schedule)
        if several is not None:
            write_fused(module, several)
        callers = Callers(kernel.entry, self._redo, self._parallel)
        entry = EntryPoint(module, phases, parts, len(kernel.args), ndim, flat, gives, callers)
        printer = Printer()
        printer.module(verified(module))
        self.code = Code(printer.text, origins=printer.origins)
        self.entry = builtin(self.code.entry, Table.of(entry.things), self.code)
        forced = Table.of(entry.things)
        for who in (callers.other, callers.redo):
            forced.put(who, _failed)
        self.forced = builtin(self.code.entry, forced, self.code)
        self.vain = 0
        self.seconds = time.perf_counter() - begin

    def _redo(self, *inputs: Any) -> Any:
        self.failed()
        return self._kernel.python(*inputs)

    def compute(self, *inputs: Any) -> Any:
        """What the code gives, whatever NumPy's settings are; `_FAILED` if it cannot do it."""
        return contextvars.Context().run(self.forced, *inputs)      # NumPy has no settings in there

    def failed(self) -> None:
        """Note that a call was in vain."""
        self.vain += 1
        if self.vain >= PATIENCE:
            self._kernel.give_up(self)

    def _parallel(self, frame: int, size: int) -> int:
        """Run the loops in several threads, each over a part. Gives the flags."""
        run, count = self.code.part, threads()
        if count == 1 or size < count:
            return run(frame, 0, size)
        bounds = [size * part // count for part in range(count + 1)]
        tasks: list[Future[int]] = []
        flags = 0
        try:
            for begin, end in pairwise(bounds[1:]):
                try:
                    tasks.append(workers().submit(run, frame, begin, end))
                except RuntimeError:        # the interpreter is about to end, and starts no threads
                    flags |= run(frame, begin, end)
            flags |= run(frame, 0, bounds[1])
        finally:
            rest = results(tasks)
        return reduce(or_, rest, flags)


class Carried(NamedTuple):
    """How a kernel goes on when it is done several times.

    Attributes:
        iterations: the input that says how often.
        results: what each of the others that change is in the next iteration.
    """

    iterations: Value
    results: dict[Any, Value]


class Kernel:
    """A group of operations as a function.

    Attributes:
        nodes: the operations.
        inputs: the values and arrays that they use.
        args: what it is called with.
        parts: what of these each input is.
        carried: what all of it, done several times, goes on with, if it is the body of a loop; see `loop_interchange`.
        constants: the numbers that stand in them.
        target: the array that the last of them writes into, if it does.
        outputs: of their values those that are used elsewhere.
        entry: what is to be called.
        versions: machine code by the kinds of inputs; None where NumPy had better do it.
        reasons: why.
        sources: the nodes of the graph, of which `nodes` may be others that do the same.
        when_given_up: called when it has become clear that NumPy had better do all of it.
        on_trial: whether it is not known yet if there will be machine code.
        outlook: what `explain` tells of them before there is machine code.
    """

    __ag_tame__: bool      # see `effects.tame`
    __ag_new__: bool       # see `effects.is_new`
    on_trial = False
    outlook = "will be one loop of machine code, compiled when it is first run"

    def __init__(
        self,
        nodes: list[Node],
        inputs: list[Any],
        outputs: list[Value],
        compile: Callable[[], Any],
        args: list[Any],
        parts: list[Part],
        carried: Carried | None = None,
    ) -> None:
        self.nodes, self.inputs, self.outputs = nodes, inputs, outputs
        self.args, self.parts, self.carried = args, parts, carried
        self.sources = nodes
        self.when_given_up: Callable[[], object] = _nobody_cares
        self.constants = _constants(nodes)
        self.target = target_of(nodes[-1])
        self.__ag_tame__ = self.__ag_new__ = self.target is None
        self.versions: dict[Any, Version | None] = {}
        self.reasons: list[str] = []
        self.entry: Callable[..., Any] = self
        self._bound: list[tuple[dict[str, Any], str]] = []
        self._compile = compile
        self._executable: Any = None
        self._vain = 0

    def __call__(self, *args: Any) -> Any:
        version = self._version(args, [part.of(args) for part in self.parts])
        if version is not None and not warns_of_underflows():
            found = version.compute(*args)
            if found is not _FAILED:
                return found
            version.failed()
        elif version is None and not self.compiled:
            self._vain += 1
            if self._vain == PATIENCE:
                self._without_code()
        return self.python(*args)

    def python(self, *args: Any) -> Any:
        """The operations as NumPy does them."""
        if self._executable is None:
            with needed("operations on arrays", self.place):
                self._executable = self._compile()
        return self._executable.run(*args)

    def bind(self, names: dict[str, Any], name: str) -> None:
        """From now on, call the fast entry by that name; the kernel itself as long as there is none."""
        self._bound.append((names, name))
        names[name] = self.entry

    def give_up(self, version: Version) -> None:
        """Do without some machine code that is in vain again and again."""
        self.versions = {kinds: None if each is version else each for kinds, each in self.versions.items()}
        self.reasons.append("NumPy has to look at what it may warn of")
        self._without_code()

    @property
    def is_given_up(self) -> bool:
        """Whether NumPy does it, whatever it gets."""
        return bool(self.entry == self.python)

    def _without_code(self) -> None:
        """Do without the code that calls came to, if there is no other."""
        self._rebind(self if self.compiled else self.python)
        if self.is_given_up:
            self.when_given_up()

    def _rebind(self, entry: Callable[..., Any]) -> None:
        self.entry = entry
        for names, name in self._bound:
            names[name] = entry

    def _kinds(self, inputs: Sequence[Any]) -> tuple[Any, ...] | None:
        return kinds_of(inputs, any(part.indices for part in self.parts))

    def _version(self, args: Sequence[Any], inputs: Sequence[Any]) -> Version | None:
        """The machine code for such inputs, which are parts of what it is called with."""
        kinds = self._kinds(inputs)
        if kinds not in self.versions:
            version = None
            if kinds is None:
                self.reasons.append("they get what it is not for")
            elif len(self.versions) >= VERSIONS:
                return None
            else:
                try:
                    with making("operations on arrays", self.place):
                        version = Version(self, kinds)
                except (NoLowering, Refused) as error:
                    self.reasons.append(str(error) or "there is no machine code for what they get")
                    self._without_code()
            self.versions[kinds] = version
            if version is not None and FAST_UNDERFLOWS:
                self._rebind(version.entry)
        return self.versions[kinds]

    def prepare(self) -> None:
        """Compile for the types of the inputs, if there has been no call."""
        args, inputs = map(examples_of, (self.args, self.inputs))
        if not self.versions and args is not None and inputs is not None and self._kinds(inputs) is not None:
            self._version(args, inputs)

    # What there is ----------------------------------------------------------------------------------------------------

    @property
    def executables(self) -> list[Any]:
        """All that the NumPy engine has made for it."""
        return [] if self._executable is None else [self._executable]

    @property
    def compiled(self) -> list[Version]:
        """The versions that there are."""
        return [version for version in list(self.versions.values()) if version is not None]

    @property
    def place(self) -> tuple[str, int] | None:
        """The first file and line of the user's."""
        return next(filter(None, (user_line(node.place) for node in self.nodes)), None)

    @property
    def events(self) -> list[Event]:
        """What `explain` tells of it."""
        places = [place for place in (user_line(node.place) for node in self.nodes) if place]
        lines = sorted({line for _, line in places})
        where = f" (lines {lines[0]} to {lines[-1]})" if len(lines) > 1 else ""
        several = len(self.nodes) > 1
        what = f"{len(self.nodes)} operation{'s on arrays' if several else ' on an array'}{where}"
        what += f", in all iterations of {'their' if several else 'its'} loop," * (self.carried is not None)
        verb = "are" if several else "is"
        took = [f"{1e3 * version.seconds:.1f} ms{' (cached)' * version.code.cached}" for version in self.compiled]
        told = [f"{what} {verb} one loop of machine code, compiled in {', '.join(took)}"] if took else []
        if not self.versions:
            told = [f"{what} {self.outlook}"]
        told += [f"{what} {verb} NumPy's, for {reason}" for reason in dict.fromkeys(self.reasons)]
        return [Event("native", message, self.place) for message in told]


def _nest(kernel: Kernel, inputs: dict[Any, Any], flat: str, ndim: int) -> tuple[str, Nest]:
    """The loops, and whether they go through arrays in one row, as a reduction of the last dimension does not."""
    reduction = reduction_of(kernel.nodes[-1])
    if reduction is not None and not reduction.whole:
        if flat == "F":
            raise NoLowering
        flat = ""
    elif reduction is not None and not flat and ndim > 1:
        raise NoLowering
    given = kernel.nodes, inputs, kernel.outputs, 1 if flat else ndim
    if kernel.carried is None:
        return flat, Nest(*given)
    return flat, Nest(*given, within=kernel.carried.results, iterations=kernel.carried.iterations)


def _nobody_cares() -> None:
    pass


def _failed(*_: Any) -> Any:
    return _FAILED


def _constants(nodes: list[Node]) -> dict[Any, Single]:
    found = {}
    for node in nodes:
        for arg in node.args:
            if not isinstance(arg, (Value, Constant, np.ndarray)) and type(arg) in _NUMBERS:
                found[key_of(arg)] = Single(_NUMBERS[type(arg)], arg)
    return found


def kinds_of(inputs: Sequence[Any], are_parts: bool) -> tuple[Any, ...] | None:
    """What machine code depends on; None if there is none for such inputs.

    Args:
        are_parts: whether some are parts of arrays, so that it is chance if their rows are one.
    """
    arrays = [each for each in inputs if isinstance(each, np.ndarray)]
    if not all(map(_is_plain, arrays)):
        return None
    try:
        shape = np.broadcast_shapes(*(each.shape for each in arrays))
    except ValueError:
        return None
    if not shape:
        return None
    flat = _order(arrays) if all(each.shape in (shape, ()) for each in arrays) and not are_parts else ""
    found: list[Any] = [flat]
    for each in inputs:
        if isinstance(each, np.ndarray):
            steps = bool(each.ndim) and each.shape[-1] != 1
            apart = steps and not flat and each.strides[-1] not in (0, each.itemsize)
            found.append(Stream(each.dtype, each.ndim, steps or bool(flat and each.ndim), apart))
        elif type(each) in _NUMBERS:
            found.append(Single(_NUMBERS[type(each)]))
        else:
            return None
    return tuple(found)


def _order(arrays: list[Any]) -> str:
    """The order in which elements stand side by side, C's or Fortran's."""
    if all(each.flags.c_contiguous for each in arrays):
        return "C"
    return "F" if all(each.flags.f_contiguous for each in arrays) else ""


def _is_plain(array: Any) -> bool:
    known = ELEMENTS.get(array.dtype.char)
    return type(array) is np.ndarray and known is not None and array.dtype.isnative and bool(array.flags.aligned)


def threads() -> int:
    """How many may work on one loop."""
    given = os.environ.get("AUTOGRAPH_NUM_THREADS", "")
    if given.isdecimal():
        return max(1, int(given))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def workers() -> ThreadPoolExecutor:
    """The threads besides the one that calls."""
    return ThreadPoolExecutor(max(1, threads() - 1), "autograph")


def results(tasks: Sequence[Future[int]]) -> list[int]:
    """What tasks come to. None works on when this is left, whatever a signal raises: they use what is the caller's."""
    raised: BaseException | None = None
    while not all(task.done() for task in tasks):
        try:
            wait(tasks)
        except BaseException as error:
            raised = error
    if raised is not None:
        raise raised
    return [task.result() for task in tasks]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=workers.cache_clear)     # a child has none of the threads
