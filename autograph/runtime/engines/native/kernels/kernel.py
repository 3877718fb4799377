"""Kernels: operations on whole arrays as one function of machine code.

A kernel is a function of the arrays and numbers that the operations use. Its first call with inputs of some kinds
compiles. If the code cannot do something, or NumPy would warn, NumPy computes everything again. That is invisible,
since a kernel changes nothing, or undoes it (`loop_nest.Update`).
"""

from __future__ import annotations

import contextvars
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import cache, reduce
from itertools import pairwise
from operator import or_
from typing import Any, NamedTuple

import numpy as np

from autograph.common.numpy_internals import warns_of_underflows
from autograph.runtime.engines.native.abi.c_entry import FAST_UNDERFLOWS, Rebindable, builtin
from autograph.runtime.engines.native.abi.calling_convention import COMPLEX_NUMBERS, ELEMENTS, NUMBERS, examples_of
from autograph.runtime.engines.native.abi.jit import Code
from autograph.runtime.engines.native.kernels.elementwise import key_of, reduction_of, sums_of, target_of
from autograph.runtime.engines.native.kernels.entry_points import EntryPoint
from autograph.runtime.engines.native.kernels.loop_codegen import LoopCode, write_fused
from autograph.runtime.engines.native.kernels.loop_nest import Nest, Single, Stream
from autograph.runtime.engines.native.kernels.multi_nest import fused, only, split
from autograph.runtime.engines.native.kernels.nest_builder import build_nest
from autograph.runtime.engines.native.kernels.schedule import fuse
from autograph.runtime.engines.native.kernels.schedule_rules import schedule_of
from autograph.runtime.engines.native.kernels.views import Part, neighboring_rows
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.cpython_abi import Table
from autograph.runtime.engines.native.llvm.errors import Refused, compiling, needed
from autograph.runtime.engines.native.llvm.ir_verifier import verified
from autograph.runtime.engines.native.llvm.printer import Printer
from autograph.runtime.graph.graph import Constant, Node, Value, user_line
from autograph.runtime.graph.operands import NoLowering
from autograph.runtime.graph.signature import Event

MOST = 48           # operations in a kernel
STREAMS = 16        # operands of a kernel
VERSIONS = 8        # of a kernel
PATIENCE = 8        # failures of a version, or of a kernel without versions, before it is given up
WATCHED = 64        # calls in a row that are counted, to see whether machine code is for most of them
UNFIT = "machine code does not take integers so large, arrays so short, or shapes that broadcast like theirs"
_FAILED = object()
_UNFIT = object()
_NUMBERS = NUMBERS | COMPLEX_NUMBERS


class Version:
    """The machine code of a kernel for inputs of certain kinds.

    Attributes:
        entry: calls it, or another function for other arguments, see `otherwise`.
        forced: calls it with any settings of NumPy; returns `_UNFIT` for other arguments, and `_FAILED` if a flag
            is raised.
        schedule: the order in which elements are computed.
        failures: the number of calls that NumPy had to compute again.
    """

    def __init__(self, kernel: Kernel, kinds: tuple[Any, ...]) -> None:
        begin = time.perf_counter()
        overlaps, (order, flat, merged), *each = kinds
        merged = merged if kernel.merges_axes else 1
        each = [kind.merged(merged) if isinstance(kind, Stream) else kind for kind in each]
        keys = list(map(key_of, kernel.inputs))
        named, parts = dict(zip(keys, each)) | kernel.constants, dict(zip(keys, kernel.parts))
        ndim = max(kind.ndim for kind in each if isinstance(kind, Stream))
        self._kernel, module = kernel, ir.Module()
        if len(split(kernel.nodes)) > 1:
            _demand_order(order)
            members, buffers = fused(kernel.nodes, named, kernel.outputs, ndim)
            schedules = [schedule_of(member.nest) for member in members]
            flat, returns_target, self.schedule = False, False, fuse(schedules)
            write_fused(module, [member.nest for member in members], buffers, self.schedule)
        else:
            flat, nest = _nest(kernel, named, order, flat, ndim, overlaps)
            streams = [(part, kind) for part, kind in zip(kernel.parts, each) if isinstance(kind, Stream)]
            same, near = neighboring_rows(streams, len(nest.dtypes), order)
            if merged == 1:
                nest = replace(nest, same_rows=same, near_rows=near)
            returns_target = any(value in kernel.nodes[-1].outputs for value in kernel.outputs)
            members, self.schedule = [only(nest, named)], schedule_of(nest)
            LoopCode(module, nest).write(self.schedule)
        redo, count = self._redo, len(kernel.args)
        self._other: Callable[..., Any] = kernel
        entry = EntryPoint(
            module, members, parts, count, ndim, order, flat, merged, returns_target, kernel, redo, self._parallel
        )
        printer = Printer()
        self.code = Code(printer.print(verified(module)), origins=printer.origins)
        self._table = Table.of(entry.things)
        self.entry = builtin(self.code.entry, self._table, self.code)
        forced = Table.of(entry.things)
        forced.put(kernel, lambda *_: _UNFIT)
        forced.put(redo, lambda *_: _FAILED)
        self.forced = builtin(self.code.entry, forced, self.code)
        self.failures = 0
        self.seconds = time.perf_counter() - begin

    def _redo(self, *inputs: Any) -> Any:
        self.failed()
        return self._kernel.python(*inputs)

    def otherwise(self, function: Callable[..., Any]) -> None:
        """Let `entry` call a function for arguments of other kinds."""
        self._table.put(self._other, function)
        self._other = function

    def compute(self, *inputs: Any) -> Any:
        """Run the code with any settings of NumPy, see `forced`."""
        return contextvars.Context().run(self.forced, *inputs)      # where NumPy has its default settings

    def failed(self) -> None:
        """Note that NumPy had to compute a call again."""
        self.failures += 1
        if self.failures >= PATIENCE:
            self._kernel.give_up(self)

    def _parallel(self, frame: int, size: int) -> int:
        """Run the loops in several threads, each over a part. Returns the flags."""
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
                except RuntimeError:        # the interpreter shuts down, and starts no threads
                    flags |= run(frame, begin, end)
            flags |= run(frame, 0, bounds[1])
        finally:
            rest = results(tasks)
        return reduce(or_, rest, flags)


class Carried(NamedTuple):
    """The loop whose body a kernel is.

    Attributes:
        iterations: the input that is the trip count.
        results: for each carried input, its value in the next iteration.
    """

    iterations: Value
    results: dict[Any, Value]


class Kernel(Rebindable):
    """A group of operations as a function.

    Attributes:
        nodes: the operations.
        inputs: the values and arrays that they use.
        args: the arguments of the function.
        parts: for each input, the argument or part of an argument that it is.
        carried: the loop whose body the operations are, if so; see `loop_interchange`.
        constants: the numbers in the operations.
        target: the array that the last operation writes into, if it does.
        outputs: the values that are used elsewhere.
        versions: machine code by the kinds of inputs; None where NumPy computes.
        reasons: why NumPy computes.
        sources: the nodes of the graph for which `nodes` are.
        when_given_up: called when NumPy computes for all kinds.
        on_trial: whether it is still open if there will be machine code.
        outlook: the report of `explain` before there is machine code.
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
        super().__init__(self)
        self.nodes, self.inputs, self.outputs = nodes, inputs, outputs
        self.args, self.parts, self.carried = args, parts, carried
        self.sources = nodes
        self.when_given_up: Callable[[], object] = lambda: None
        self.constants = _constants(nodes)
        self.target = target_of(nodes[-1])
        self.__ag_tame__ = self.__ag_new__ = self.target is None
        self.versions: dict[Any, Version | None] = {}
        self.reasons: list[str] = []
        self._compile = compile
        self._executable: Any = None
        self._counts = [0, 0]       # calls that came here: that NumPy computed, and that machine code did
        self._is_watched = False
        self._dropped: list[Version | None] = []        # their code may be running

    def __call__(self, *args: Any) -> Any:
        if any(isinstance(each, np.ndarray) and not each.size for each in args):
            return self.python(*args)
        found = _UNFIT if warns_of_underflows() else self._computed(args)
        is_computed = found is not _FAILED and found is not _UNFIT
        self._count(is_computed)
        return found if is_computed else self.python(*args)

    def _computed(self, args: Sequence[Any]) -> Any:
        """The result of machine code; `_UNFIT` or `_FAILED` if NumPy must compute."""
        for version in self.compiled:
            found = version.compute(*args)
            if found is _FAILED:
                version.failed()
            if found is not _UNFIT:
                return found
        before = len(self.compiled)
        try:
            inputs = [part.of(args) for part in self.parts]
        except IndexError:      # which NumPy raises when it is its turn
            return _UNFIT
        made = self._version(args, inputs)
        return made.compute(*args) if made is not None and len(self.compiled) > before else _UNFIT

    def _count(self, is_computed: bool) -> None:
        """Count a call that has come here. If NumPy computes most calls, machine code is given up.

        C code computes without coming here. So after some calls that NumPy computed, all calls come here for a while.
        """
        self._counts[is_computed] += 1
        if not self.compiled:
            if self._counts[False] >= PATIENCE:
                self._choose_entry()
        elif self._is_watched and sum(self._counts) >= WATCHED:
            if self._counts[False] > WATCHED // 2:
                self._note(UNFIT)
                self._dropped += self.versions.values()
                self.versions = dict.fromkeys(self.versions)
            self._is_watched, self._counts = False, [0, 0]
            self._choose_entry()
        elif not self._is_watched and self._counts[False] >= WATCHED:
            self._is_watched, self._counts = True, [0, 0]
            self._rebind(self)

    def python(self, *args: Any) -> Any:
        """Let NumPy compute."""
        if self._executable is None:
            with needed("operations on arrays", self.place):
                self._executable = self._compile()
        return self._executable.run(*args)

    def give_up(self, version: Version) -> None:
        """Drop a version that fails again and again."""
        self._dropped.append(version)
        self.versions = {kinds: None if each is version else each for kinds, each in self.versions.items()}
        self._note("NumPy has to look at what it may warn of")
        self._choose_entry()

    @property
    def is_given_up(self) -> bool:
        """Whether NumPy computes for all kinds of inputs."""
        return bool(self.entry == self.python)

    @property
    def given_up(self) -> list[Node]:
        """The operations that NumPy does once the kernel is given up: first sums at its end, which demand C's order."""
        ends = len(self.nodes) > 1 and sums_of(self.nodes[-1]) is not None
        return self.sources[-1:] if ends else self.sources

    def _choose_entry(self) -> None:
        """Choose the function to call after a version was made or dropped, or could not be made."""
        entry: Callable[..., Any] = self if self.compiled else self.python
        for version in self.compiled if FAST_UNDERFLOWS else ():
            version.otherwise(entry)
            entry = version.entry
        self._rebind(entry)
        if self.is_given_up:
            self.when_given_up()

    @property
    def merges_axes(self) -> bool:
        """Whether the last axes can be one: not if a reduction, or another nest, knows their lengths."""
        return self.carried is None and not any(map(_combines, self.nodes))

    def _kinds(self, inputs: Sequence[Any]) -> tuple[Any, ...] | str:
        """The kinds of inputs, for which machine code is specialized, or the reason why it cannot take them."""
        kinds = kinds_of(inputs, any(part.indices for part in self.parts))
        if isinstance(kinds, str):
            return kinds
        reduces = any(map(_combines, self.nodes))
        if reduces and any(isinstance(each, np.ndarray) and min(each.strides, default=0) < 0 for each in inputs):
            return "NumPy may add the elements of reversed arrays in another order"
        return self._overlaps(inputs), *kinds

    def _overlaps(self, inputs: Sequence[Any]) -> bool:
        """Whether the array that is written into may share memory with another one."""
        if self.target is None:
            return False
        target = inputs[self.inputs.index(self.target)]
        return any(
            each is not target and isinstance(each, np.ndarray) and np.may_share_memory(each, target)
            for value, each in zip(self.inputs, inputs) if value is not self.target
        )  # fmt: skip

    def _version(self, args: Sequence[Any], inputs: Sequence[Any]) -> Version | None:
        """The machine code for such inputs, which are parts of the arguments."""
        kinds = self._kinds(inputs)
        if kinds not in self.versions:
            version = None
            if len(self.versions) >= VERSIONS:
                self._note("they get arrays of too many kinds")
                return None
            if isinstance(kinds, str):
                self._note(kinds)
            else:
                try:
                    with compiling("operations on arrays", self.place):
                        version = Version(self, kinds)
                except (NoLowering, Refused) as error:
                    self._note(str(error) or "there is no machine code for what they get")
            self.versions[kinds] = version
            if not isinstance(kinds, str):
                self._choose_entry()
        return self.versions[kinds]

    def _note(self, reason: str) -> None:
        """Note why NumPy computes."""
        if reason not in self.reasons:
            self.reasons.append(reason)

    def prepare(self) -> None:
        """Compile for the types of the inputs, unless there has been a call."""
        args = examples_of(self.args)
        if self.versions or args is None:
            return
        try:
            inputs = [part.of(args) for part in self.parts]
        except IndexError:      # an integer is out of bounds in the examples; the first call compiles
            return
        if not isinstance(self._kinds(inputs), str):
            self._version(args, inputs)

    # Reports ----------------------------------------------------------------------------------------------------------

    @property
    def executables(self) -> list[Any]:
        """The graphs that the NumPy engine has compiled for it."""
        return [] if self._executable is None else [self._executable]

    @property
    def compiled(self) -> list[Version]:
        """The versions that exist."""
        return [version for version in list(self.versions.values()) if version is not None]

    @property
    def place(self) -> tuple[str, int] | None:
        """The first file and line of the user's code."""
        return next(filter(None, (user_line(node.place) for node in self.nodes)), None)

    @property
    def events(self) -> list[Event]:
        """The report of `explain`."""
        places = [place for place in (user_line(node.place) for node in self.nodes) if place]
        lines = sorted({line for _, line in places})
        where = f" (lines {lines[0]} to {lines[-1]})" if len(lines) > 1 else ""
        several = len(self.nodes) > 1
        what = f"{len(self.nodes)} operation{'s on arrays' if several else ' on an array'}{where}"
        what += f", in all iterations of {'their' if several else 'its'} loop," * (self.carried is not None)
        verb = "are" if several else "is"
        took = [f"{1e3 * version.seconds:.1f} ms{' (cached)' * version.code.cached}" for version in self.compiled]
        messages = [f"{what} {verb} one loop of machine code, compiled in {', '.join(took)}"] if took else []
        if not self.versions:
            messages = [f"{what} {self.outlook}"]
        messages += [f"{what} {verb} NumPy's, for {reason}" for reason in dict.fromkeys(self.reasons)]
        return [Event("native", message, self.place) for message in messages]


def _nest(
    kernel: Kernel, inputs: dict[Any, Any], order: str, flat: bool, ndim: int, overlaps: bool
) -> tuple[bool, Nest]:
    """The nest, and whether arrays are one row for it: not if it reduces the last axis only."""
    reduction = reduction_of(kernel.nodes[-1])
    if sums_of(kernel.nodes[-1]) is not None or (reduction is not None and not reduction.whole):
        _demand_order(order)
        flat = False
    elif reduction is not None and not flat and ndim > 1:
        raise NoLowering("the elements that are reduced are not contiguous")
    arguments = kernel.nodes, inputs, kernel.outputs, 1 if flat else ndim
    if kernel.carried is None:
        into_part = kernel.target is not None and bool(kernel.parts[kernel.inputs.index(kernel.target)].indices)
        return flat, build_nest(*arguments, overlaps=overlaps, into_part=into_part)
    return flat, build_nest(*arguments, within=kernel.carried.results, iterations=kernel.carried.iterations)


def _combines(node: Node) -> bool:
    """Whether a node combines several elements into one."""
    return reduction_of(node) is not None or sums_of(node) is not None


def _demand_order(order: str) -> None:
    """Refuse arrays in Fortran's order, of whose rows the elements are not adjacent."""
    if order != "C":
        raise NoLowering("rows of arrays in Fortran's order are not contiguous")


def _constants(nodes: list[Node]) -> dict[Any, Single]:
    found = {}
    for node in nodes:
        for arg in node.args:
            if not isinstance(arg, (Value, Constant, np.ndarray)) and type(arg) in _NUMBERS:
                found[key_of(arg)] = Single(_NUMBERS[type(arg)], arg)
    return found


def kinds_of(inputs: Sequence[Any], are_parts: bool) -> tuple[Any, ...] | str:
    """The kinds of inputs, for which machine code is specialized, or the reason why it cannot take such inputs.

    Args:
        are_parts: whether some are slices, so that their rows are adjacent only by chance.
    """
    arrays = [each for each in inputs if isinstance(each, np.ndarray)]
    if not all(map(_is_plain, arrays)):
        return "they get arrays of a subclass or dtype that machine code cannot take"
    try:
        shape = np.broadcast_shapes(*(each.shape for each in arrays))
    except ValueError:
        return "the shapes of their arrays do not fit together"
    if not shape:
        return "they get no array with dimensions"
    order = next((order for order in "CF" if all(_is_in_order(each, order) for each in arrays)), None)
    if order is None:
        return "the axes of an array are in another order than C's, and not all arrays are in Fortran's"
    contiguous = f"{order.lower()}_contiguous"
    is_one_row = all(each.shape in (shape, ()) and getattr(each.flags, contiguous) for each in arrays)
    flat = is_one_row and not are_parts
    if order == "F" and not flat and 1 in shape:
        return "axes of arrays in Fortran's order have a length of 1"
    merged = 1 if flat or order == "F" else _merged_axes(arrays, shape)
    inner, found = -1 if order == "C" else 0, list[Any]([(order, flat, merged)])
    for each in inputs:
        if isinstance(each, np.ndarray):
            steps = each.ndim > (0 if order == "C" else len(shape) - 1) and each.shape[inner] != 1
            strided = steps and not flat and each.strides[inner] not in (0, each.itemsize)
            found.append(Stream(each.dtype, each.ndim, steps or bool(flat and each.ndim), strided))
        elif type(each) in _NUMBERS:
            found.append(Single(_NUMBERS[type(each)]))
        else:
            return f"they get an object of the type {type(each).__name__}"
    return tuple(found)


def _merged_axes(arrays: Sequence[Any], shape: tuple[int, ...]) -> int:
    """The number of last axes that are one row in each array."""
    found, arrays = 1, [each for each in arrays if each.ndim]
    while all(
        each.ndim > found and each.shape[-found - 1 :] == shape[-found - 1 :]
        and each.strides[-found - 1] == each.strides[-found] * each.shape[-found]
        for each in arrays
    ):  # fmt: skip
        found += 1
    return found


def _is_in_order(array: Any, order: str) -> bool:
    """Whether an array moves in memory least along its last axis, and so on, as one in C's order does.

    Or, for Fortran's order, along its first axis. If two axes have equal strides, NumPy takes the order for C's.
    """
    steps = [abs(step) for step, dim in zip(array.strides, array.shape) if dim != 1 and step]
    return all(first >= second if order == "C" else first < second for first, second in pairwise(steps))


def _is_plain(array: Any) -> bool:
    known = ELEMENTS.get(array.dtype.char)
    return type(array) is np.ndarray and known is not None and array.dtype.isnative and bool(array.flags.aligned)


def threads() -> int:
    """The number of threads that share a loop."""
    setting = os.environ.get("AUTOGRAPH_NUM_THREADS", "")
    if setting.isdecimal():
        return max(1, int(setting))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def workers() -> ThreadPoolExecutor:
    """The threads other than the caller's."""
    return ThreadPoolExecutor(max(1, threads() - 1), "autograph")


def results(tasks: Sequence[Future[int]]) -> list[int]:
    """The results of tasks. It waits for all of them even if a signal raises: they use the caller's memory."""
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
    os.register_at_fork(after_in_child=workers.cache_clear)     # a child process has no such threads
