"""The tier-up policy of `engine="auto"`: Python first, machine code once Python has taken so long that compiling pays.

A loop runs in pieces, each of twice as many iterations as the one before, until it is done, or has used up its time;
then machine code takes over with the next iteration. Loops inside a piece are tiered themselves, so that no iteration
takes long. NumPy runs operations on whole arrays until they have used up their time. Then machine code and NumPy both
compute the arrays of one call, and the faster one stays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import Any

import numpy as np

from autograph.common import budget, forking
from autograph.errors import EngineError
from autograph.runtime.engines.native.abi.calling_convention import are_wide, kind_of
from autograph.runtime.engines.native.analysis.clone import Copier
from autograph.runtime.engines.native.kernels.kernel import Kernel
from autograph.runtime.engines.native.kernels.kernel import Version as Fused
from autograph.runtime.engines.native.llvm.errors import Optional
from autograph.runtime.engines.native.llvm.target import binding
from autograph.runtime.engines.native.loops.compiled_region import CompiledRegion
from autograph.runtime.engines.native.loops.region import Region, returned
from autograph.runtime.graph.graph import Block, Graph, Node, Value
from autograph.runtime.graph.traits import LOOP
from autograph.runtime.graph.types import ANY, BOOL, INT

PATIENCE = 0.005    # seconds in Python, after which machine code pays
FIRST = 64          # iterations of the first piece
WORTH = 4           # times as long NumPy may take, since kernels gain less
TRIES = 3           # runs of NumPy and of machine code on the same arrays


class TieredRegion(Region):
    """A loop that runs in Python until it has used up its time.

    Attributes:
        taken: its time in Python, by kinds of inputs.
    """

    baseline = False
    outlook = f"runs in Python; when that has taken {1e3 * PATIENCE:.0f} ms, it will be machine code"

    def __init__(
        self,
        loop: Node,
        unused: Collection[int],
        name: str,
        compile: Callable[[Graph], Any],
        part: Callable[..., Any],
    ) -> None:
        super().__init__(loop, unused, name, compile)
        self.taken: dict[Any, float] = {}
        self._part = part

    @forking.cached_property
    def _pieces(self) -> Any:
        """The code of some iterations; None if this library fails to make it."""
        with Optional(f"a part of a loop of {self._name}", "the loop does without", self.place):
            graph, loop = piece(self.structure.root, self.values, self._name)
            return self._part(graph, whole=loop)
        return None

    def __call__(self, *inputs: Any) -> Any:
        if are_wide(inputs):
            return super().__call__(*inputs)
        kinds = tuple(map(kind_of, inputs))
        if not self._is_loop and self._waits(kinds):
            begin = budget.wall_time()
            found = self._python()(*inputs)
            self.taken[kinds] = self.taken.get(kinds, 0.0) + budget.wall_time() - begin
            return found
        iterations = FIRST
        while self._waits(kinds) and self._pieces is not None:
            run = self._pieces.around.run
            begin = budget.wall_time()
            done, found = self._run(run, iterations, inputs)
            self.taken[kinds] = self.taken.get(kinds, 0.0) + budget.wall_time() - begin
            if done:
                return found
            inputs, iterations = found, 2 * iterations
        return super().__call__(*inputs)

    @property
    def _is_loop(self) -> bool:
        """Whether it is a loop, rather than a piece without one, or a function that calls itself."""
        return self.structure.root.op in LOOP

    def _waits(self, kinds: tuple[Any, ...]) -> bool:
        """Whether Python has not taken as long yet as compiling: another version takes as long, and may be in vain."""
        patience = PATIENCE * (1 if self._is_loop else WORTH)
        return kinds not in self.versions and self.taken.get(kinds, 0.0) < max(patience, self.spent)

    def prepare(self) -> None:
        """Do nothing, since machine code may not pay."""

    def _version(self, inputs: tuple[Any, ...]) -> CompiledRegion | None:
        if reason := _obstacle():
            self.reasons.append(reason)
            self.versions[tuple(map(kind_of, inputs))] = None
        return super()._version(inputs)

    @property
    def inside(self) -> list[Region]:  # type: ignore[override]
        regions = self._pieces.regions if vars(self).get("_pieces") else []
        return [each for region in regions if region.versions for each in (region, *region.inside)]

    @property
    def executables(self) -> list[Any]:
        if not vars(self).get("_pieces"):
            return super().executables
        inside = [executable for region in self._pieces.regions for executable in region.executables]
        return [*super().executables, self._pieces.around, *inside]

    # Pieces -----------------------------------------------------------------------------------------------------------

    def _run(self, run: Callable[..., Any], iterations: int, inputs: tuple[Any, ...]) -> tuple[bool, Any]:
        """Run some iterations. Returns whether the loop is done, and its result, or the inputs of the next ones."""
        root = self.structure.root
        if root.op == "while":
            stopped, count, *carried = run(iterations, *inputs)
            rest, done = [], stopped or count < iterations
        else:
            now, others = _split(inputs[0], iterations)
            stopped, *carried = run(now, *inputs[1:])
            rest, done = [others], stopped or others is None
        if done:
            return True, returned(self.structure.used(carried))
        return False, (*rest, *carried, *inputs[len(root.args) :])


class TieredKernel(Kernel):
    """Operations on whole arrays that NumPy runs until they have used up their time.

    Attributes:
        taken: their time in NumPy.
    """

    taken = 0.0

    @property
    def on_trial(self) -> bool:  # type: ignore[override]
        return not self.versions

    outlook = f"are NumPy's; when that has taken {1e3 * WORTH * PATIENCE:.0f} ms, machine code is tried"

    def __call__(self, *args: Any) -> Any:
        if self.taken >= WORTH * PATIENCE:
            return super().__call__(*args)
        begin = budget.wall_time()
        found = self.python(*args)
        self.taken += budget.wall_time() - begin
        return found

    def _version(self, args: Sequence[Any], inputs: Sequence[Any]) -> Fused | None:
        kinds = self._kinds(inputs)
        if kinds in self.versions:
            return self.versions[kinds]
        if reason := _obstacle():
            self._note(reason)
            self.versions[kinds] = None
            self._choose_entry()
            return None
        version = super()._version(args, inputs)
        if version is not None and not self._pays(version, args):
            self._note("these are as fast")
            self.versions[kinds] = None
            self._choose_entry()
            return None
        return version

    def _pays(self, version: Fused, args: Sequence[Any]) -> bool:
        """Whether machine code is faster on these arguments."""
        if self.target is not None:
            written = self.parts[self.inputs.index(self.target)].place
            args = [each.copy() if place == written else each for place, each in enumerate(args)]
        numpy = machine = float("inf")
        with np.errstate(all="ignore"):     # the call itself warns later
            for iteration in range(TRIES):
                numpy = min(numpy, _seconds(self.python, args))
                machine = min(machine, _seconds(version.compute, args))
                if iteration and numpy > PATIENCE:      # one run may have been disturbed
                    break
        return machine <= numpy


def _seconds(work: Callable[..., Any], args: Sequence[Any]) -> float:
    begin = budget.wall_time()
    work(*args)
    return budget.wall_time() - begin


def _obstacle() -> str:
    """The reason why there can be no machine code; "" if there is none."""
    try:
        binding()
    except (EngineError, ImportError, OSError) as error:
        return f"this cannot become machine code: {error}"
    return ""


def _split(iterable: Any, iterations: int) -> tuple[Any, Any]:
    """The first items, and the others; None if there are no others, or for iterables that cannot be split."""
    if type(iterable) is range:
        return iterable[:iterations], iterable[iterations:] or None
    if type(iterable) is np.ndarray and iterable.ndim == 1 and len(iterable) > iterations:
        return islice(iter(iterable), iterations), iterable[iterations:]
    return iterable, None


def piece(loop: Node, values: list[Value], name: str) -> tuple[Graph, Node]:
    """A graph that runs some iterations of a loop, and the loop in it.

    It returns whether the loop has ended by its flag, for a `while` the number of iterations, and the carried values.
    Its parameters are `values`; a `while` has the greatest number of iterations before them, and is done if it has run
    fewer.
    """
    graph, copier, counts = Graph(name), Copier(), loop.op == "while"
    limit = graph.block.add_param(INT, "limit") if counts else None
    for value in values:
        copier.values[value] = graph.block.add_param(value.type, value.name)
    if not counts:
        items = graph.block.params[0]
        items.type, items.name = ANY, ""    # only some of them
    flagged = bool(loop.kwargs.get("until"))
    more = [0] * counts + [False] * flagged     # further carried values
    copy = graph.block.append(Node(loop.op, (*copier.arg(loop.args), *more), copier.arg(loop.kwargs), (), loop.place))
    copy.blocks = tuple(copier.block(block) for block in loop.blocks)
    body = copy.blocks[-1]
    count = body.add_param(INT, "count") if counts else None
    if flagged:
        body.add_param(BOOL, "stopped")
    if body.results is not None:
        added: list[Any] = []
        if counts:
            added.append(body.append(Node("add", (count, 1), place=loop.place)).add_output(INT))
        body.results = (*body.results, *added, *body.results[:flagged])
    if counts:
        copy.blocks = _limited(copy.blocks[0], limit, flagged, loop), body
    outputs = [copy.add_output(value.type, value.name) for value in loop.outputs]
    iterations = [copy.add_output(INT)] if counts else []
    stopped = copy.add_output(BOOL) if flagged else False
    graph.block.results = ((stopped, *iterations, *outputs),)
    return graph, copy


def _limited(test: Block, limit: Value | None, flagged: bool, loop: Node) -> Block:
    """The test of a `while`, if the limit allows another iteration; else False."""
    head, orelse = Block(), Block()
    head.params, test.params = test.params, []
    count = head.add_param(INT, "count")
    if flagged:
        head.add_param(BOOL, "stopped")
    left = head.append(Node("lt", (count, limit), place=loop.place)).add_output(BOOL)
    orelse.results = (False,)
    head.results = (head.append(Node("if", (left,), None, (test, orelse), loop.place)).add_output(ANY),)
    return head
