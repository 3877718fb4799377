"""A loop of the graph that runs as machine code.

A region is a function of the initial values of the loop and of the values that it uses. Its first call with inputs of
some kinds compiles. After a side exit, Python runs the rest of the iteration (`side_exits`), and the code is entered
again with the values of the next one; if that happens too often, Python runs the rest of the loop.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import numpy as np

from autograph.common import disk_cache
from autograph.common.cpython_internals import hides_draws
from autograph.common.numpy_internals import warns_of_underflows
from autograph.runtime.engines.native.abi.c_entry import Rebindable
from autograph.runtime.engines.native.abi.calling_convention import Caller, are_wide, examples_of, fetch, kind_of
from autograph.runtime.engines.native.abi.links import Link
from autograph.runtime.engines.native.analysis.class_versions import Versions
from autograph.runtime.engines.native.analysis.clone import Copier
from autograph.runtime.engines.native.analysis.identities import handed_over
from autograph.runtime.engines.native.analysis.part_sizes import sizes_in
from autograph.runtime.engines.native.analysis.range_analysis import outside
from autograph.runtime.engines.native.analysis.side_exits import Continuation
from autograph.runtime.engines.native.analysis.structure import Key, Point, Structure
from autograph.runtime.engines.native.analysis.subjects import find_subjects, left_to_python
from autograph.runtime.engines.native.kernels.straight_lines import is_straight, views_in
from autograph.runtime.engines.native.llvm.errors import Optional, Refused, compiling, needed
from autograph.runtime.engines.native.llvm.link_cells import end_epoch
from autograph.runtime.engines.native.loops.block_versions import Flow
from autograph.runtime.engines.native.loops.compiled_region import CompiledRegion
from autograph.runtime.engines.native.loops.examples import examples_in
from autograph.runtime.engines.native.loops.lowering import Lowering
from autograph.runtime.engines.native.loops.python_calls import PythonCallback, PythonCalls
from autograph.runtime.engines.native.loops.recursion import Left, ends_of
from autograph.runtime.engines.native.loops.result_speculation import both, either, fits, met
from autograph.runtime.graph.graph import Graph, Node, Place, Value, user_line
from autograph.runtime.graph.passed_numbers import is_nan
from autograph.runtime.graph.recursion import calls_itself, calls_levels
from autograph.runtime.graph.signature import Event
from autograph.runtime.graph.traits import LOOP
from autograph.runtime.graph.types import type_of

EXITS = 32          # side exits of one call; then Python runs the rest of the loop
VAIN = 64           # calls without machine code; then Python is called directly
DOUBTS = 3          # side exits at a point where the code supposes the usual; then it supposes nothing there
LESSONS = 12        # unexpected results of Python callbacks; then nothing is expected of any
VERSIONS = 16       # for kinds of inputs; Python runs the loop for others
NO_CALLBACKS = (
    "runs in Python, in a loop that is machine code. Move it out of the loop, or compute it in the loop with numbers "
    "and elements of arrays"
)
AGAIN = 1           # calls after that which compiled; then the code is optimized, and gets a C entry point
PATIENCE = 8        # calls with `EXITS` side exits; then the code is given up


@disk_cache.storable
class Region(Rebindable):
    """A loop as a function.

    Attributes:
        inputs: the initial values of the loop in the graph, and the values that it uses.
        values: those of `structure` that stand for these.
        calls: how often the region itself has been called.
        versions: machine code by the kinds of inputs; None for kinds without code.
        reasons: why there is none.
        obstacles: Python callbacks because of which there is none.
        left: how often side exits were taken, by point.
        wide: how often the loop ran in Python because of big integers.
        nans: how often it did because of NaNs, see `PassedNumbers`.
        when_given_up: called when Python is called directly from then on.
        callbacks: Python callbacks of its code.
        met: the results that these have returned, see `PythonCalls.expected`; None if nothing is expected any more.
        classes: the classes of objects whose attributes it reads or sets.
        doubtful: the points where the code must not suppose the usual, see `Flow.supposes`.
        spent: the seconds that making machine code has taken, of all versions.
        inside: loops within that are regions by themselves.
        baseline: whether first calls use the baseline tier.
        has_views: whether there may be views without objects between its statements, if it is no loop.
        outlook: the report of `explain` before there is machine code.
    """

    inside: Sequence[Region] = ()
    baseline = has_views = True
    outlook = "will be machine code, compiled when it is first run"

    def __init__(
        self,
        loop: Node,
        unused: Collection[int],
        name: str,
        compile: Callable[[Graph], Any],
        refuse: Callable[..., None] | None = None,
        fast: bool = False,
    ) -> None:
        """
        Args:
            unused: the outputs that are never read. No objects are made for these.
            refuse: raises an error if it is called because there would be Python callbacks.
            fast: whether floats may differ in the last bits.
        """
        copier = Copier()
        given = () if loop.op == "if" else loop.args
        args = [Value(arg.type, None, arg.name) if isinstance(arg, Value) else Value(type_of(arg)) for arg in given]
        root = copier.node(loop, tuple(args) or loop.args)
        known = dict(zip((*args, *copier.params.values()), map(outside, (*given, *copier.params))))
        constants = [value for arg, value in zip(given, args) if not isinstance(arg, Value) and not is_nan(arg)]
        made_anew = views_in(root.blocks[0]) if self.has_views and is_straight(root) else ()
        self.structure = Structure(root, known, unused, constants, made_anew)
        self.inputs = [*given, *copier.params]
        self.values = [*args, *copier.params.values()]
        self._name = name
        self._compile = compile
        self._refuse = refuse
        self._fast = fast
        self._begin({})

    def _begin(self, versions: dict[Any, CompiledRegion | None]) -> None:
        """Set the state before the first call."""
        super().__init__(self)
        self.versions = versions
        self.reasons: list[str] = []
        self.obstacles: dict[PythonCallback, None] = {}
        self.left: Counter[Point] = Counter()
        self.callbacks: dict[Any, PythonCallback] = {}
        self.met: dict[Value, Any] | None = {}
        self.classes = Versions()
        self.doubtful: set[Point] = set()
        self.spent = 0.0
        self.when_given_up: Callable[[], object] = lambda: None
        self.calls = self.wide = self.nans = self.reshaped = 0
        self._lessons = 0
        self._continuations: dict[Point, tuple[list[Key], Any]] = {}
        self._whole: Any = None
        self._vain = self._frequent = 0
        self._links: list[Link] = []
        self._left_at = 0.0

    def __getstate__(self) -> Any:
        """The parts that are saved on disk: the loop, and persistent machine code."""
        versions = [(kinds, each) for kinds, each in [*self.versions.items()] if each and each.is_persistent]
        made = self.inputs, self.values, self._name, self._compile, self._refuse, self._fast
        return self.structure, *made, () if self.met else versions

    def __setstate__(self, state: Any) -> None:
        self.structure, self.inputs, self.values, self._name, self._compile, self._refuse, self._fast, versions = state
        self._begin({kinds: version for kinds, version in versions if version is not None})

    def __call__(self, *inputs: Any) -> Any:
        self.calls += 1
        for _ in range(EXITS):
            if are_wide(inputs):
                self.wide += 1
                break
            version = self._version(inputs)
            if version is None or (version.underflows and warns_of_underflows()):
                break
            if any(map(is_nan, [inputs[place] for place in version.no_nans])):
                self.nans += 1
                break
            if any(inputs[place].shape != shape for place, shape in version.shapes.items()):
                self.reshaped += 1
                break
            if any(hides_draws(inputs[each] if type(each) is int else each) for each in version.trusted):
                break
            if version.entry is None and self.calls - version.call >= AGAIN and not self._enter(version):
                break
            frame = version.frame()
            version.put(frame, *inputs)
            number = version.run(frame)
            done, found = self._ended(version, number, frame, inputs)
            if done:
                return found
            inputs = found
            if self._waits(tuple(map(kind_of, inputs))):
                return self(*inputs)
        else:
            self._count(version)
        return self._python()(*inputs)

    def linked(self, link: Link, inputs: tuple[Any, ...], places: Sequence[int], shapes: dict[int, Any]) -> Any:
        """The code for inputs of some kinds that a link leads to, see `CompiledRegion.direct`; None if there is none.

        The link is cut when there is other code.
        """
        version = self._version(inputs)
        found = None if version is None else version.direct(places, shapes)
        if found is not None:
            self._links.append(link)
        return found

    def _rebind(self, entry: Callable[..., Any]) -> None:
        super()._rebind(entry)
        for link in self._links:
            link.cut()
        self._links.clear()

    def _waits(self, kinds: tuple[Any, ...]) -> bool:
        """Whether it is too early to compile a version for inputs of some kinds."""
        return False

    def _enter(self, version: CompiledRegion) -> bool:
        """Call the C entry point of a version from now on. Returns whether there is one."""
        try:
            with self.compiling():
                self._rebind(version.enter(self.entry))
        except Refused as refused:
            self._give_up(version, str(refused))
            return False
        return True

    def prepare(self) -> None:
        """Compile for the types of the inputs, before the first call."""
        examples = examples_of(self.inputs)
        if not self.versions and examples is not None:
            self._version(examples)

    def left_by(self, version: CompiledRegion, number: int, address: int, *inputs: Any) -> Any:
        """Continue after a side exit of a version that was called by its C entry point."""
        begin = time.perf_counter()
        done, found = self._ended(version, number, version.frame.from_address(address), inputs)
        if self.structure.root.op not in LOOP:
            self._count_exit(version, begin)
        return found if done else self(*found)

    def _count_exit(self, version: CompiledRegion, begin: float) -> None:
        """Give up code that is no loop if it is left so often that Python takes more than half of the time."""
        now = time.perf_counter()
        self._frequent = self._frequent + 1 if begin - self._left_at < now - begin else 0
        self._left_at = now
        if self._frequent >= VAIN:
            self._give_up(version, "it is left to Python too often")

    def _ended(self, version: CompiledRegion, number: int, frame: Any, inputs: tuple[Any, ...]) -> tuple[bool, Any]:
        """Whether the loop is done, and its result; if not, the inputs of the next iteration."""
        exit = version.exits[number]
        values, root = fetch(exit.values, frame, inputs), self.structure.root
        self.classes.renew()
        self._learn(version, exit.at, dict(zip(exit.keys, values)))
        if exit.at is None:
            return True, returned(values)
        going, *carried = self.resume(exit.at, dict(zip(exit.keys, values)), inputs)
        if not going:
            return True, returned(self.structure.used(carried))
        rest = [_rest(values[exit.keys.index(root)])] if root.op == "for" else []
        return False, (*rest, *carried, *inputs[len(root.args) :])

    def lowered(self, inputs: tuple[Any, ...]) -> tuple[Lowering, Caller, tuple[str, list[Place]]]:
        """The lowering for inputs of certain kinds, the caller, and the assembly with its places."""
        attempts = iter(((True, False), (True, True), (False, False)))
        attempt, ends = next(attempts), ()
        while True:
            lowering, caller = self.lowering(inputs)
            draws, calls, itself = lowering.flow.emit.draws, lowering.calls, lowering.flow.itself
            draws.trusts, calls.avoids_any_code = attempt
            itself.ends, itself.left = ends, Left(self)
            code = lowering.run()
            called = [node for callback in calls.callbacks for node in callback.nodes]
            self.structure.passed.pass_to([*called, *calls.direct])
            ends = ends_of(lowering.flow)
            if draws.trusted and calls.run_any_code:    # which might hide methods of a generator
                attempt = next(attempts)
            elif lowering.flow.are_checked() and {*ends} <= {*itself.ends}:
                return lowering, caller, code

    def lowering(self, inputs: tuple[Any, ...]) -> tuple[Lowering, Caller]:
        """The lowering for inputs of certain kinds, and the caller, which puts these into the frame."""
        flow = Flow(self.structure, {})
        flow.emit.fast, flow.doubtful = self._fast, self.doubtful
        given = handed_over(self.structure.root)
        caller = Caller(flow.emit, inputs, [place for place, value in enumerate(self.values) if value in given])
        flow.inputs.update(zip(self.values, caller.operands))
        calls = PythonCalls(flow, self.callback, self.met, self.classes)
        calls.objects = {self.values[place]: thing for place, thing in caller.objects.items()}
        return Lowering(flow, calls), caller

    def compiling(self) -> AbstractContextManager[None]:
        """A context in which machine code is made, see `errors.compiling`."""
        return compiling(self._name, self.place)

    @property
    def is_straight(self) -> bool:
        """Whether it is no loop, see `straight_lines`."""
        return is_straight(self.structure.root)

    @property
    def uses_baseline(self) -> bool:
        """Whether code that is compiled now is baseline code."""
        return self.baseline and AGAIN > 0 and self.calls > 0 and not self._fast and self._is_loop_of_numbers

    @property
    def _is_loop_of_numbers(self) -> bool:
        return self.structure.root.op in LOOP and not calls_levels(self.structure.root)

    def refuse(self, callback: PythonCallback) -> None:
        """Raise an error if callbacks are refused; of a rare one not before it is called."""
        if self._refuse is None or callback.only_raises:
            return
        refuse = partial(self._refuse, f"{callback.name} {NO_CALLBACKS}", callback.place or self.place)
        if callback.is_rare:
            callback.refuse = refuse
        else:
            refuse()

    def callback(self, key: Any, nodes: Sequence[Node], outputs: list[Value]) -> PythonCallback:
        """The Python callback of a key, made at the first request."""
        if key not in self.callbacks:
            self.callbacks[key] = PythonCallback(nodes, outputs, self._name, self._compile)
        return self.callbacks[key]

    def _version(self, inputs: tuple[Any, ...]) -> CompiledRegion | None:
        kinds = tuple(map(kind_of, inputs))
        if kinds not in self.versions and len(self.versions) >= VERSIONS:
            return None
        if kinds not in self.versions:
            begin = time.perf_counter()
            try:
                with self.compiling():
                    if self.met is not None:
                        examples = examples_in(self.structure.root, dict(zip(self.values, inputs)))
                        found = examples.kinds.items()
                        self.met |= {key: either(self.met.get(key, kind), kind) for key, kind in found}
                        self.classes.add(examples.classes)
                    given = zip(self.values, inputs) if self.calls else ()      # otherwise these are examples
                    sizes = {value: size for value, each in given if (size := _size_of(each)) is not None}
                    self.structure.sizes = sizes_in(self.structure.root, sizes)
                    self.versions[kinds] = CompiledRegion(self, inputs)
            except Refused as refused:
                self.versions[kinds] = None
                self.reasons.append(str(refused))
                self.obstacles.update(dict.fromkeys(refused.callbacks))
            self.spent += time.perf_counter() - begin
            if new := [each for each in self.callbacks.values() if each.subject is None]:
                with Optional(f"the report on {self._name}", "it says less", self.place):
                    find_subjects(new, self.structure.root, dict(zip(self.values, inputs)))
        if self.versions[kinds] is None:
            self._vain += 1
            if self._vain >= (1 if self.is_straight else VAIN) and not self.compiled:
                self._rebind(self._python())
                self.when_given_up()
        return self.versions[kinds]

    def _count(self, version: CompiledRegion | None) -> None:
        """Give up machine code that takes too many side exits."""
        assert version is not None
        version.costly += 1
        if version.costly >= PATIENCE:
            self._give_up(version, "it is left to Python too often")

    def _give_up(self, version: CompiledRegion, reason: str) -> None:
        """From now on, run the loop in Python for the inputs of a version."""
        self.reasons.append(reason)
        self.versions = {kinds: None if each is version else each for kinds, each in self.versions.items()}
        self._rebind(self)

    def _learn(self, version: CompiledRegion, at: Point | None, values: dict[Key, Any]) -> None:
        """Record the results of Python callbacks; discard code that has expected others, or supposed too much."""
        others = {
            key: value
            for key, value in values.items()
            if isinstance(key, Value) and not fits(value, version.expected.get(key))
        }
        if others:
            self._lessons += any(each is version for each in self.versions.values())    # outer levels learn the same
            known = self.met or {}
            learned = {key: both(known[key], value) if key in known else met(value) for key, value in others.items()}
            self.met = known | learned if self._lessons < LESSONS else None
        doubts = {at} if at is not None and at in version.supposed and self.left[at] >= DOUBTS else set[Point]()
        self.doubtful |= doubts
        if others or doubts:
            self.versions = {kinds: each for kinds, each in self.versions.items() if each is not version}
            self._rebind(self)

    def resume(self, at: Point, values: dict[Key, Any], inputs: tuple[Any, ...]) -> Any:
        """Run the rest of an iteration in Python."""
        self.left[at] += 1
        if at not in self._continuations:
            with needed(f"the rest of an iteration of {self._name}", self.place):
                made = Continuation(self.structure, at, self._name)
                self._continuations[at] = made.keys, self._compile(made.graph)
        keys, executable = self._continuations[at]
        values = {**dict(zip(self.values, inputs)), **values}     # `left_locals` reads it
        try:
            return executable.run(*(_rest(values[key]) if isinstance(key, Node) else values[key] for key in keys))
        finally:
            end_epoch()

    def _python(self) -> Callable[..., Any]:
        """The function of the NumPy engine for the loop."""
        if self._whole is None:
            graph = Graph(self._name)
            copier = Copier()
            graph.block.params = [copier.arg(value) for value in self.values]
            if self.structure.root.op == "for":
                graph.block.params[0].name = ""     # the rest of the iterable
            node = graph.block.append(copier.node(self.structure.root))
            graph.block.results = (returned(self.structure.used(node.outputs)),)
            self._whole = self._compile(graph)
        run: Callable[..., Any] = self._whole.run
        return run

    # Reports ----------------------------------------------------------------------------------------------------------

    @property
    def executables(self) -> list[Any]:
        """The executables of the NumPy engine that belong to it."""
        made = [executable for _, executable in list(self._continuations.values())]
        made += [callback.executable for callback in list(self.callbacks.values()) if callback.executable is not None]
        return made if self._whole is None else [*made, self._whole]

    @property
    def compiled(self) -> list[CompiledRegion]:
        """The versions with machine code."""
        return [version for version in list(self.versions.values()) if version is not None]

    @property
    def sources(self) -> list[Node]:
        """The nodes of the graph that it stands for."""
        return [self.structure.root]

    @property
    def place(self) -> tuple[str, int] | None:
        """The user's file and line."""
        return user_line(self.structure.root.place)

    @property
    def events(self) -> list[Event]:
        """The report of `explain`."""
        place = self.place
        took = [f"{1e3 * version.seconds:.1f} ms{' (cached)' * version.code.cached}" for version in self.compiled]
        what, stays = self._about
        messages = [f"{what} machine code, compiled in {', '.join(took)}"] if took else []
        if not self.versions:
            is_loop = self.structure.root.op in LOOP
            messages = [f"this loop {self.outlook}" if is_loop else f"{what} machine code when it is first run"]
        messages += [f"{stays}: {reason}" for reason in dict.fromkeys(self.reasons)]
        if self.nans:
            messages.append(f"this loop ran in Python {self.nans} times, for a NaN, which is found by its identity")
        if self.reshaped:
            messages.append(f"this loop ran in Python {self.reshaped} times, for an array of another shape")
        if self.wide:
            messages.append(f"this loop ran in Python {self.wide} times, for integers of more than 64 bits")
        events = [Event("native", message, place) for message in messages]
        for callback in self._called():
            message = f"{callback.name} runs in Python, called by machine code{callback.cost}"
            events.append(
                Event("native_callback", message, callback.place or place, callback.about, callback.seconds)
            )
        if self.reasons and not self.compiled:
            events += left_to_python(self.obstacles)
        return events + self._exits

    @property
    def _about(self) -> tuple[str, str]:
        """The beginnings of reports that it is machine code, and that it is not."""
        if calls_itself(self.structure.root):
            return "the function, which calls itself, is", "the function, which calls itself, stays in Python"
        if self.is_straight:
            stays = "this and the next statements are no single piece of machine code"
            return "this and the next statements are one piece of", stays
        return "this loop is", "this loop stays in Python"

    @property
    def _exits(self) -> list[Event]:
        """The report about side exits."""
        counts = [(self.structure.node_at(at), count) for at, count in list(self.left.items())]
        message = "machine code was left here for Python {} time{}"
        return [
            Event("native", message.format(count, "s" * (count > 1)), user_line(node.place) or self.place)
            for node, count in counts
        ]

    def _called(self) -> Iterable[PythonCallback]:
        """The Python callbacks; before there is code, those that it will have by the types of the inputs."""
        examples = examples_of(self.inputs)
        if self.versions or examples is None:
            called = dict.fromkeys(callback for version in self.compiled for callback in version.callbacks)
            return [callback for callback in called if callback.count.value or not callback.is_rare]
        try:
            with self.compiling():
                lowering, _ = self.lowering(examples)
                lowering.run()
        except Refused:
            return ()
        return [callback for callback in lowering.calls.callbacks if not callback.is_rare]


def _size_of(thing: Any) -> int | None:
    """The length of a vector, or an integer."""
    if type(thing) is np.ndarray and thing.ndim == 1:
        return len(thing)
    return thing if type(thing) is int else None


def _rest(iterator: Any) -> Any:
    """The rest of an iterable: a range, an array from an index on, or the items of an iterator."""
    if isinstance(iterator, tuple):
        return iterator[0][iterator[1] :]
    return iterator if hasattr(type(iterator), "__iter__") else _items(iterator)


def _items(iterator: Any) -> Iterator[Any]:
    """The items of an iterator without `__iter__`, which `for` does not need."""
    while True:
        try:
            item = next(iterator)
        except StopIteration:
            return
        yield item


def returned(values: Any) -> Any:
    """The result of a region: one value as it is, several as a tuple."""
    return values[0] if len(values) == 1 else tuple(values)
