"""The native engine: compiles loops to machine code, through LLVM.

The NumPy engine runs the graph, except its *regions*: loops that have machine code. Such a loop becomes the call of a
`Region`, which is compiled at its first call, for the kinds of its arguments. Consecutive operations on whole arrays
become kernels. The docstring of the package says where each step is.

Machine code never behaves differently from Python and NumPy: where it would, a side exit is taken, and Python resumes
at that node.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from types import CodeType
from typing import Any

import numpy as np

from autograph.common import disk_cache
from autograph.runtime.engines.native.abi.c_entry import Rebindable
from autograph.runtime.engines.native.abi.checked_entry import checked_entry
from autograph.runtime.engines.native.abi.jit import Code
from autograph.runtime.engines.native.abi.list_functions import ListFunction
from autograph.runtime.engines.native.analysis.left_locals import known_where_left
from autograph.runtime.engines.native.analysis.loops_over_arrays import without_rows
from autograph.runtime.engines.native.kernels.fusion import Fuser
from autograph.runtime.engines.native.kernels.kernel import Kernel
from autograph.runtime.engines.native.kernels.loop_nest import Single, Stream
from autograph.runtime.engines.native.llvm.cpython_abi import Count, class_of
from autograph.runtime.engines.native.llvm.errors import Optional, needed
from autograph.runtime.engines.native.llvm.listing import Annotated
from autograph.runtime.engines.native.llvm.target import binding, get_ready, traits
from autograph.runtime.engines.native.loops.lowering import FUEL
from autograph.runtime.engines.native.loops.region import Region
from autograph.runtime.engines.native.loops.selection import Splitter, put_back
from autograph.runtime.engines.native.loops.tiering import TieredKernel, TieredRegion
from autograph.runtime.engines.native.matmul import small
from autograph.runtime.engines.native.short_calls import ShortCalls, WholeRegion
from autograph.runtime.engines.numpy import engine
from autograph.runtime.engines.numpy.tracebacks import Known, leave_out, survived
from autograph.runtime.graph.graph import Graph, Node, walk
from autograph.runtime.graph.recursion import as_one, calls_itself, itself_in
from autograph.runtime.graph.signature import Checks, Event
from autograph.runtime.graph.types import TensorType
from autograph.runtime.passes import PASSES
from autograph.runtime.tracing.state.blame import is_library

LATE = frozenset({"buffer_reuse"})  # passes that run when operations have been fused


@disk_cache.storable
class Executable(Rebindable, engine.Compiled):
    """A graph with machine code; see `autograph.runtime.engines.numpy.engine.Executable`.

    Attributes:
        native: the loops that are machine code.
    """

    native: Native

    def __init__(self, graph: Graph, parted: Parted, native: Native) -> None:
        self.graph = graph
        self.native = native
        self._arounds: list[engine.Executable] = []
        super().__init__(parted.around.run)
        self._renew(parted.around)
        parted.when_made_anew = self._renew
        self._wait_for_short_calls()

    def _renew(self, around: engine.Executable) -> None:
        self._arounds.append(around)        # the earlier ones may be running
        self.run = around.run
        self._rebind(around.run)

    def __getstate__(self) -> Any:
        """The parts that are saved on disk. Without kernels, the current code is final."""
        return self.graph, self._arounds[-1], self.native

    def __setstate__(self, state: Any) -> None:
        self.graph, around, self.native = state
        self._arounds = []
        super().__init__(around.run)
        self._renew(around)
        _bind(around)
        self._wait_for_short_calls()

    def checked(self, checks: Checks, miss: object) -> tuple[Callable[..., Any], Any] | None:
        """See `autograph.runtime.engines.numpy.engine.Compiled.checked`.

        Code that calls other functions has none: if these called the graph in turn, each level would be on C's stack.
        """
        if any(node.op == "call" for node in walk(self.graph.block)) or as_one(self.graph) is not None:
            return None
        run: Any = [None]
        self.bind(run, 0)       # type: ignore[arg-type]
        count = Count()
        made = checked_entry(checks, run, count, miss, self.graph.name)
        return None if made is None else (made, count)

    # One piece of machine code for short calls ------------------------------------------------------------------------

    def _wait_for_short_calls(self) -> None:
        part = partial(_part, self._arounds[-1].module, self.native)
        self.short_calls = ShortCalls(self.graph, self.native, self._install, part)

    def _install(self, graph: Graph, make: Callable[..., WholeRegion]) -> Callable[[], None]:
        """Let calls run the only region of a graph. Returns a function that undoes this."""
        former = self._arounds[-1]
        regions: list[WholeRegion] = []

        def made_of(node: Node, unused: Collection[int]) -> WholeRegion:
            regions.append(make(node, graph.name))
            return regions[-1]

        splitter = Splitter(graph, made_of)
        (region,) = regions
        places = {value: place for place, value in enumerate(region.inputs)}
        region.former = former.run, [places.get(param) for param in graph.params]
        made = engine.compile(splitter.graph, module=former.module, filename=former.filename)
        _bind(made)

        def undo() -> None:
            if self._arounds[-1] is made:
                self._renew(former)
                self.native.regions.remove(region)

        region.when_given_up = undo
        self.native.regions.append(region)
        self._renew(made)
        return undo

    @property
    def whole(self) -> Region | None:
        """The region that does all that the graph does, if there is one."""
        regions = self.native.regions
        return regions[0] if len(regions) == 1 and calls_itself(regions[0].structure.root) else None

    @property
    def source(self) -> str:
        """The text of the function around the machine code."""
        return self._arounds[-1].source

    @property
    def events(self) -> list[Event]:  # type: ignore[override]
        """The report of `explain`."""
        return self.native.events

    @survived
    def translate(self, error: BaseException) -> None:
        """See `autograph.runtime.engines.numpy.engine.Executable.translate`."""
        inner = [executable for piece in self.native.pieces for executable in piece.executables]
        loops = [executable for region in self.native.every for executable in region.executables]
        outer = {code: executable.known_at for executable in (*self._arounds, *loops) for code in executable.codes}
        made = {code: executable for executable in inner for code in executable.codes}
        left = _known_where_left(error, made)
        levels = {node.place for node in walk(self.graph.block) if itself_in(node)}
        is_level = lambda at: (code := at.tb_frame.f_code) in made and made[code].place_of(at) in levels  # noqa: E731
        around = [*leave_out(error, outer, made, is_level), *left]
        for executable in (*self._arounds, *inner):
            executable.translate(error, around)
        del error  # see `tracebacks.translate`


def _part(module: dict[str, Any], native: Native, graph: Graph) -> tuple[engine.Executable, list[Region]]:
    """The code of a part of a graph, and its regions."""
    made = Parted(graph, module, patient=False, kernels=native.kernels)
    return made.around, made.regions


def _known_where_left(error: BaseException, made: Mapping[CodeType, engine.Executable]) -> list[Known]:
    """The user's variables at the side exits in a traceback."""
    found, entry = [], error.__traceback__
    while entry is not None:
        frame, entry = entry.tb_frame, entry.tb_next
        if frame.f_code is not Region.resume.__code__:
            continue
        while entry is not None and entry.tb_frame.f_code not in made and is_library(entry.tb_frame.f_code):
            entry = entry.tb_next       # the first call that is timed, see `instrument`
        if entry is not None and entry.tb_frame.f_code in made:
            place = made[entry.tb_frame.f_code].place_of(entry)
            found.append(known_where_left(frame.f_locals["self"].structure, frame.f_locals["values"], place))
    return found


@disk_cache.storable
class Native:
    """The loops of a graph that are machine code.

    Attributes:
        kernels: fused operations on arrays.
        others: the report of `explain` about loops that are not machine code.
    """

    def __init__(self, regions: list[Region], kernels: list[Kernel], others: list[Event]) -> None:
        self.regions = regions
        self.kernels = kernels
        self.others = others

    @property
    def every(self) -> list[Region]:
        """The loops, and inner loops that are regions by themselves."""
        return [each for region in self.regions for each in (region, *region.inside)]

    @property
    def pieces(self) -> list[Region | Kernel]:
        return [*self.every, *self.kernels]

    @property
    def is_used(self) -> bool:
        """Whether some of it is machine code, or may become machine code."""
        return any(piece.compiled or not piece.versions for piece in self.pieces)

    @property
    def events(self) -> list[Event]:
        codes = [(version.code, piece.place) for piece in self.pieces for version in piece.compiled]
        unkept = [Event("disk", f"its machine code: {code.unkept}", place) for code, place in codes if code.unkept]
        return [*dict.fromkeys([*self.others, *(event for piece in self.pieces for event in piece.events), *unkept])]

    def prepare(self) -> None:
        """Compile what has not been called yet, if the types determine the kinds of its arguments."""
        for piece in self.pieces:
            piece.prepare()

    @property
    def llvm(self) -> str:
        """The optimized assembly of LLVM for each loop, and for each kind of its inputs so far."""
        return "\n".join(version.code.llvm for piece in self.pieces for version in piece.compiled)

    @property
    def asm(self) -> str:
        """The assembly of the processor for each."""
        return "\n".join(version.code.asm for piece in self.pieces for version in piece.compiled)

    def annotated(self, form: str) -> str:
        """One of these, `llvm` or `asm`, with the lines of the user's program that it comes from."""
        return "\n".join(
            _annotated(form, version.code, piece.place, kinds)
            for piece in self.pieces
            for kinds, version in list(piece.versions.items())
            if version is not None
        )


def setting() -> tuple[str, ...]:
    """Settings, besides the graph, on which machine code depends."""
    return *traits(), *map(str, FUEL)


def compile(
    graph: Graph,
    *,
    module: dict[str, Any] | None = None,
    filename: str | None = None,
    patient: bool = False,
    late: Collection[str] = (),
    refuse: Callable[..., None] | None = None,
    fastmath: bool = False,
) -> Executable | engine.Executable:
    """Make a graph a function; see `autograph.runtime.engines.numpy.engine.compile`.

    Args:
        patient: whether all runs in Python at first, see `tiering`. If it always will, this returns the executable of
            the NumPy engine.
        late: the passes, of `LATE`, to run over what is not machine code.
        refuse: called with a message and a place if machine code would call Python; it may raise an error.
        fastmath: whether loops may add in another order, and so on; see `ir.FAST`.

    Raises:
        EngineError: there can be no machine code, see `target.binding`.
    """
    if not patient:
        binding()
    made = Parted(graph, module, filename, patient=patient, late=late, refuse=refuse, fast=fastmath)
    if patient and not (made.regions or made.kernels or made.events):
        return made.around
    native = Native(made.regions, made.kernels, made.events)
    if refuse is not None:
        native.prepare()
    return Executable(graph, made, native)


@disk_cache.storable
class Parted:
    """A graph split into regions, kernels, and the code around them.

    Args:
        kernels: the list that gets the kernels.

    Attributes:
        around: the executable of the NumPy engine, in which regions and kernels are calls.
        when_made_anew: called with `around` when that has been replaced.
        events: the report of `explain` about loops that stay in the graph.
    """

    def __init__(
        self,
        graph: Graph,
        module: dict[str, Any] | None,
        filename: str | None = None,
        *,
        patient: bool,
        late: Collection[str] = (),
        whole: Node | None = None,
        refuse: Callable[..., None] | None = None,
        kernels: list[Kernel] | None = None,
        fast: bool = False,
    ) -> None:
        self._late = late
        self._own: list[Kernel] = []
        self.when_made_anew: Callable[[engine.Executable], object] = lambda around: None
        self.kernels: list[Kernel] = [] if kernels is None else kernels
        self._patient = patient
        self._module = module
        self._begin()
        given: dict[str, Any] = {"name": graph.name, "compile": self._compiled}
        make: Callable[[Node, Collection[int]], Region] = partial(Region, **given, refuse=refuse, fast=fast)
        if patient:
            part = partial(Parted, module=module, patient=True, late=late, kernels=self.kernels)
            make = partial(TieredRegion, **given, part=part)
        splitter = Splitter(without_rows(graph) if whole is None else graph, make, whole)
        self.regions, self.events = splitter.regions, splitter.events
        for region in self.regions:
            region.when_given_up = partial(self._put_back, region)
        self._graph, self._filename = splitter.graph, filename
        self.around = self._make_around()

    def _begin(self) -> None:
        self._plain = partial(engine.compile, module=self._module)
        self._kernel, self._after = (TieredKernel, small.LATE) if self._patient else (Kernel, small.SOON)

    def __getstate__(self) -> Any:
        """The parts that are saved on disk: what later compilations need."""
        return sorted(self._late), self.kernels, self._patient, engine.Outer(self._module or {})

    def __setstate__(self, state: Any) -> None:
        self._late, self.kernels, self._patient, self._module = state
        self._begin()

    def _make_around(self) -> engine.Executable:
        """Make `around`. The operations of kernels that have been given up are plain operations in it.

        Then NumPy sees that nothing else refers to intermediate arrays, and reuses them.
        """
        fuser = Fuser(self._graph, self._kernel, self._plain, self._after, self._own, self._module)
        self._own += [kernel for kernel in fuser.kernels if kernel not in self._own]
        self.kernels += [kernel for kernel in fuser.kernels if kernel not in self.kernels]
        for kernel in fuser.kernels:
            kernel.when_given_up = self._make_anew
        return self._finished(fuser.graph, self._filename)

    def _put_back(self, region: Region) -> None:
        """Put a loop that stays in Python into `around`; it may become a comprehension there."""
        put_back(region, self._graph.block)
        self._make_anew()

    def _make_anew(self) -> None:
        with Optional(f"other code of {self._graph.name}", "the code that there is runs on"):
            self.around = self._make_around()
            self.when_made_anew(self.around)

    def _compiled(self, graph: Graph) -> engine.Executable:
        """The executable of a part of the graph; without kernels if these cannot be made."""
        with Optional(f"kernels of {graph.name}", "NumPy runs instead"):
            fuser = Fuser(graph, self._kernel, self._plain, self._after, (), self._module)
            made = self._finished(fuser.graph)
            self.kernels += fuser.kernels
            return made
        with needed(f"code of {graph.name}"):
            return self._plain(graph)

    def _finished(self, graph: Graph, filename: str | None = None) -> engine.Executable:
        for name in self._late:
            PASSES[name](graph)
        made = self._plain(graph, filename=filename)
        _bind(made)
        return made


def _bind(made: engine.Executable) -> None:
    """Let a function call the C entry points of regions and kernels among its globals, once these have one."""
    names = made.run.__globals__
    for name, value in list(names.items()):
        if isinstance(value, (Region, Kernel, small.Product, ListFunction)):
            made.bound[name] = value
            value.bind(names, name)


__all__ = ["Executable", "Native", "Region", "compile", "get_ready"]


# Listings -------------------------------------------------------------------------------------------------------------


def _annotated(form: str, code: Code, place: tuple[str, int] | None, kinds: Sequence[Any]) -> str:
    """Machine code as `llvm` or `asm`, with the user's lines, below a line with its place and kinds."""
    found = Annotated(code.text, code.origins, code.branchy)
    sign = ";" if form == "llvm" else found.sign
    where = "{}:{}, ".format(*place) if place else ""
    names = ", ".join(name for name in map(_name_of, kinds) if name)
    return f"{sign} {where}for ({names})\n{found.llvm if form == 'llvm' else found.asm}"


def _name_of(kind: Any) -> str:
    """The user's name of a kind of inputs; "" if it has none."""
    if isinstance(kind, bool):
        return ""
    if isinstance(kind, type):
        return kind.__name__
    if isinstance(kind, Single):
        return class_of(kind.type).__name__
    dtype, ndim = (kind.dtype, kind.ndim) if isinstance(kind, Stream) else (*kind, 0)[:2] if kind else (None, 0)
    if isinstance(dtype, np.dtype):
        return str(TensorType(dtype, (None,) * ndim))
    return "range" if isinstance(kind, tuple) else str(kind)
