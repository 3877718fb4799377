"""One piece of machine code for a function whose calls are short.

Usually each loop of a graph is machine code by itself, and Python runs what is around. If a call takes microseconds,
most of that is spent between the pieces: on numbers as objects, `range` objects, calls of machine code. So once a trace
has been called often, the whole graph is compiled as one region, and the faster form stays: some calls are timed with
the one, and some with the other.

It runs the former code for arguments of kinds that it has no code for. Where machine code is left, loops in the rest of
the graph are machine code again, as in the former code: a later call may take longer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.common import forking
from autograph.runtime.engines.native.analysis.loops_over_arrays import without_rows
from autograph.runtime.engines.native.analysis.one_piece import one_piece
from autograph.runtime.engines.native.loops.region import VAIN, Region
from autograph.runtime.graph.graph import Graph, Node
from autograph.runtime.graph.signature import Event

TIMED = 16          # calls of each form
SHORT = 2e-5        # seconds of a call; of a longer one, little is spent between pieces
COSTLY = 0.3        # seconds that the machine code so far has taken to compile
GAIN = 0.95         # of the former time a call may take at most
LEFT = 4            # side exits so far


class WholeRegion(Region):
    """A whole graph as a region.

    Attributes:
        former: the code of the graph before, and the places of the inputs among its parameters.
        rest: the regions in what Python runs behind side exits.
    """

    has_views = False       # it may return them, or go through them in a loop

    def __init__(self, node: Node, name: str, compile: Callable[[Graph], Any]) -> None:
        super().__init__(node, (), name, compile)
        self.former: tuple[Callable[..., Any], list[int | None]] | None = None
        self.rest: list[Region] = []
        self._former_calls = 0

    def _python(self) -> Callable[..., Any]:
        assert self.former is not None
        run, places = self.former
        self._former_calls += 1
        if self._former_calls >= VAIN:
            self.when_given_up()

        def former(*inputs: Any) -> Any:
            found = run(*[None if place is None else inputs[place] for place in places])
            return found if self.structure.root.outputs else ()

        return former

    @property
    def inside(self) -> list[Region]:  # type: ignore[override]
        return [each for region in self.rest for each in (region, *region.inside)]

    @property
    def events(self) -> list[Event]:
        took = ", ".join(f"{1e3 * version.seconds:.1f} ms" for version in self.compiled)
        message = f"the function is one piece of machine code, since its calls are short, compiled in {took}"
        return [Event("native", message, self.place), *self._exits]


class ShortCalls:
    """The trial of both forms, for one executable.

    Args:
        install: lets calls run the code that a graph with one region gets. Returns a function that undoes this.
        part: makes the code of a part of the graph. Returns it, and its regions.

    Attributes:
        is_over: whether calls need not be timed any more.
    """

    def __init__(
        self, graph: Graph, native: Any, install: Callable[..., Any], part: Callable[[Graph], tuple[Any, list[Region]]]
    ) -> None:
        self.is_over = False
        self._lock = forking.lock()
        self._graph, self._native, self._install, self._part = graph, native, install, part
        self._seconds: list[float] = []
        self._before = 0.0
        self._undo: Callable[[], None] | None = None

    def note(self, seconds: float) -> None:
        """Note what a call has taken."""
        with self._lock:
            self._note(seconds)

    def _note(self, seconds: float) -> None:
        self._seconds.append(seconds)
        if self.is_over or len(self._seconds) < TIMED:
            return
        least, self._seconds = min(self._seconds), []
        if self._undo is not None:
            self.is_over = True
            if least > GAIN * self._before:
                self._undo()
        else:
            self._before = least
            self.is_over = least > SHORT or not self._begin()

    def _begin(self) -> bool:
        """Let calls run one piece of machine code. Returns whether there may be one."""
        native = self._native
        regions = native.every
        if native.kernels or native.others or any(type(each) is not Region or each.reasons for each in regions):
            return False
        if sum(each.spent for each in regions) > COSTLY or sum(sum(each.left.values()) for each in regions) > LEFT:
            return False
        graph = one_piece(without_rows(self._graph))
        if graph is None:
            return False
        self._undo = self._install(graph, self._region)
        return True

    def _region(self, node: Node, name: str) -> WholeRegion:
        region = WholeRegion(node, name, self._rest)
        self._made = region
        return region

    def _rest(self, graph: Graph) -> Any:
        """The code of the rest of a graph behind a side exit."""
        made, regions = self._part(graph)
        self._made.rest += regions
        return made
