"""A loop of the graph that runs as machine code.

A region is a function of what the loop begins with and of the values that it uses. Its first call with inputs of some
kinds compiles. If the code is left, what remains of the iteration is run in Python (`side_exits`), and then the code is
entered again, with what the next iteration begins with; unless that happens so often that Python had better do the
rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from autograph.common import disk_cache
from autograph.common.numpy_internals import warns_of_underflows
from autograph.runtime.engines.native.abi.calling_convention import Caller, are_wide, examples_of, fetch, kind_of
from autograph.runtime.engines.native.analysis.clone import Copier
from autograph.runtime.engines.native.analysis.range_analysis import outside
from autograph.runtime.engines.native.analysis.side_exits import Continuation
from autograph.runtime.engines.native.analysis.structure import Key, Point, Structure
from autograph.runtime.engines.native.llvm.errors import Refused, making, needed
from autograph.runtime.engines.native.loops.block_versions import Flow
from autograph.runtime.engines.native.loops.compiled_region import CompiledRegion
from autograph.runtime.engines.native.loops.lowering import Lowering
from autograph.runtime.engines.native.loops.python_calls import PythonCallback, PythonCalls
from autograph.runtime.engines.native.loops.result_speculation import both, fits, met
from autograph.runtime.graph.graph import Graph, Node, Value, user_line
from autograph.runtime.graph.signature import Event
from autograph.runtime.graph.types import type_of

EXITS = 32          # in one call; then the rest of the loop is Python's
VAIN = 64           # calls for which there was no machine code, after which Python is called at once
LESSONS = 12        # after which all that comes of Python callbacks is taken for an object like any other
VERSIONS = 16       # for kinds of inputs; for others, the loop is Python's
NO_CALLBACKS = (
    "runs in Python, in a loop that is machine code. Move it out of the loop, or compute it in the loop with numbers "
    "and elements of arrays"
)
AGAIN = 1           # calls after the one in which code was made, after which it gets a fast entry, and is made good
PATIENCE = 8        # calls in which there were that many, after which the code is not entered any more


@disk_cache.storable
class Region:
    """A loop as a function.

    Attributes:
        inputs: what the loop of the graph begins with, and the values that it uses.
        values: what stands for these in `structure`.
        entry: what is to be called.
        calls: how often it has been itself.
        versions: machine code by the kinds of inputs; None where it is of no use.
        reasons: why it is of none.
        left: how often the code was left, by the place.
        wide: how often the loop ran in Python for what it begins with.
        when_given_up: called when Python is called at once.
        callbacks: what its code calls.
        met: what these have given, see `PythonCalls.expected`.
        inside: loops within that are regions by themselves.
        baseline: whether it is not known yet if the loop takes long.
        outlook: what `explain` tells before there is machine code.
    """

    inside: Sequence[Region] = ()
    baseline = True
    outlook = "this loop will be machine code, compiled when it is first run"

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
            unused: which of its outputs nobody reads. No objects are made for these.
        """
        copier = Copier()
        args = [
            Value(arg.type, None, arg.name) if isinstance(arg, Value) else Value(type_of(arg)) for arg in loop.args
        ]
        root = copier.node(loop, tuple(args))
        known = dict(zip((*args, *copier.params.values()), map(outside, (*loop.args, *copier.params))))
        self.structure = Structure(root, known, unused)
        self.inputs = [*loop.args, *copier.params]
        self.values = [*args, *copier.params.values()]
        self._name = name
        self._compile = compile
        self._refuse = refuse
        self._fast = fast
        self._begin({})

    def _begin(self, versions: dict[Any, CompiledRegion | None]) -> None:
        """Be as before the first call."""
        self.versions = versions
        self.reasons: list[str] = []
        self.left: Counter[Point] = Counter()
        self.callbacks: dict[Any, PythonCallback] = {}
        self.met: dict[Value, Any] = {}
        self.entry: Callable[..., Any] = self
        self.when_given_up: Callable[[], object] = _nobody_cares
        self.calls = self.wide = 0
        self._lessons = 0
        self._bound: list[tuple[dict[str, Any], str]] = []
        self._continuations: dict[Point, tuple[list[Key], Any]] = {}
        self._whole: Any = None
        self._vain = 0

    def __getstate__(self) -> Any:
        """What is kept on disk: the loop, and machine code that can be."""
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
            if version.entry is None and self.calls - version.call >= AGAIN and not self._enter(version):
                break
            frame = version.frame()
            version.put(frame, *inputs)
            number = version.run(frame)
            done, found = self._ended(version, number, frame, inputs)
            if done:
                return found
            inputs = found
        else:
            self._count(version)
        return self._python()(*inputs)

    def _enter(self, version: CompiledRegion) -> bool:
        """Make the fast entry of a version, to be called from now on; whether that can be done."""
        try:
            with self.making():
                self._rebind(version.enter(self.entry))
        except Refused as refused:
            self._give_up(version, str(refused))
            return False
        return True

    def prepare(self) -> None:
        """Compile for the types of the inputs, if there has been no call."""
        examples = examples_of(self.inputs)
        if not self.versions and examples is not None:
            self._version(examples)

    def left_by(self, version: CompiledRegion, number: int, address: int, *inputs: Any) -> Any:
        """Go on where `entry` of a version has found the code left."""
        done, found = self._ended(version, number, version.frame.from_address(address), inputs)
        return found if done else self(*found)

    def bind(self, names: dict[str, Any], name: str) -> None:
        """From now on, call the fast entry by that name; the region itself as long as there is none."""
        self._bound.append((names, name))
        names[name] = self.entry

    def _ended(self, version: CompiledRegion, number: int, frame: Any, inputs: tuple[Any, ...]) -> tuple[bool, Any]:
        """Whether the loop is done, and what it gives; if not, what it goes on with."""
        exit = version.exits[number]
        values, root = fetch(exit.values, frame, inputs), self.structure.root
        self._learn(version, dict(zip(exit.keys, values)))
        if exit.at is None:
            return True, returned(values)
        going, *carried = self.resume(exit.at, dict(zip(exit.keys, values)), inputs)
        if not going:
            return True, returned(self.structure.used(carried))
        rest = [_rest(values[exit.keys.index(root)])] if root.op == "for" else []
        return False, (*rest, *carried, *inputs[len(root.args) :])

    def lowering(self, inputs: tuple[Any, ...]) -> tuple[Lowering, Caller]:
        """What makes the code for inputs of certain kinds, and what puts these into the frame."""
        flow = Flow(self.structure, {})
        flow.emit.fast = self._fast
        caller = Caller(flow.emit, inputs)
        flow.inputs.update(zip(self.values, caller.operands))
        return Lowering(flow, PythonCalls(flow, self.callback, self.met)), caller

    def making(self) -> AbstractContextManager[None]:
        """While it lasts, machine code is made."""
        return making(self._name, self.place)

    @property
    def uses_baseline(self) -> bool:
        """Whether code that is made now is compiled by the baseline tier."""
        return self.baseline and AGAIN > 0 and self.calls > 0 and not self._fast

    def refuse(self, callback: PythonCallback) -> None:
        """Raise an error if there must be no callbacks."""
        if self._refuse is not None:
            self._refuse(f"{callback.name} {NO_CALLBACKS}", callback.place or self.place)

    def callback(self, key: Any, nodes: Sequence[Node], outputs: list[Value]) -> PythonCallback:
        """A Python callback, by what tells it from others."""
        if key not in self.callbacks:
            self.callbacks[key] = PythonCallback(nodes, outputs, self._name, self._compile)
        return self.callbacks[key]

    def _version(self, inputs: tuple[Any, ...]) -> CompiledRegion | None:
        kinds = tuple(map(kind_of, inputs))
        if kinds not in self.versions and len(self.versions) >= VERSIONS:
            return None
        if kinds not in self.versions:
            try:
                with self.making():
                    self.versions[kinds] = CompiledRegion(self, inputs)
            except Refused as refused:
                self.versions[kinds] = None
                self.reasons.append(str(refused))
        if self.versions[kinds] is None:
            self._vain += 1
            if self._vain >= VAIN and not self.compiled:
                self._rebind(self._python())
                self.when_given_up()
        return self.versions[kinds]

    def _count(self, version: CompiledRegion | None) -> None:
        """Give machine code up that is left again and again."""
        assert version is not None
        version.costly += 1
        if version.costly >= PATIENCE:
            self._give_up(version, "it is left to Python too often")

    def _give_up(self, version: CompiledRegion, reason: str) -> None:
        """Let Python run what a version is for."""
        self.reasons.append(reason)
        self.versions = {kinds: None if each is version else each for kinds, each in self.versions.items()}
        self._rebind(self)

    def _learn(self, version: CompiledRegion, values: dict[Key, Any]) -> None:
        """Remember what Python callbacks give; and make code anew that has taken it for something else."""
        others = {
            key: value
            for key, value in values.items()
            if isinstance(key, Value) and not fits(value, version.expected.get(key))
        }
        for key, value in others.items():
            self.met[key] = both(self.met[key], value) if key in self.met else met(value)
        if others:
            self._lessons += 1
            if self._lessons >= LESSONS:        # there will be no more of them
                self.met.update(dict.fromkeys(version.expected))
            self.versions = {kinds: each for kinds, each in self.versions.items() if each is not version}
            self._rebind(self)

    def _rebind(self, entry: Callable[..., Any]) -> None:
        self.entry = entry
        for names, name in self._bound:
            names[name] = entry

    def resume(self, at: Point, values: dict[Key, Any], inputs: tuple[Any, ...]) -> Any:
        """Run what remains of an iteration."""
        self.left[at] += 1
        if at not in self._continuations:
            with needed(f"what remains of an iteration of {self._name}", self.place):
                made = Continuation(self.structure, at, self._name)
                self._continuations[at] = made.keys, self._compile(made.graph)
        keys, executable = self._continuations[at]
        given: dict[Key, Any] = {**dict(zip(self.values, inputs)), **values}
        return executable.run(*(_rest(given[key]) if isinstance(key, Node) else given[key] for key in keys))

    def _python(self) -> Callable[..., Any]:
        """The loop as the NumPy engine runs it."""
        if self._whole is None:
            graph = Graph(self._name)
            copier = Copier()
            graph.block.params = [copier.arg(value) for value in self.values]
            if self.structure.root.op == "for":
                graph.block.params[0].name = ""     # what is left to iterate over
            node = graph.block.append(copier.node(self.structure.root))
            graph.block.results = (returned(self.structure.used(node.outputs)),)
            self._whole = self._compile(graph)
        run: Callable[..., Any] = self._whole.run
        return run

    # What there is ----------------------------------------------------------------------------------------------------

    @property
    def executables(self) -> list[Any]:
        """All that the NumPy engine has made for it."""
        made = [executable for _, executable in list(self._continuations.values())]
        made += [callback.executable for callback in list(self.callbacks.values()) if callback.executable is not None]
        return made if self._whole is None else [*made, self._whole]

    @property
    def compiled(self) -> list[CompiledRegion]:
        """The versions that there are."""
        return [version for version in list(self.versions.values()) if version is not None]

    @property
    def place(self) -> tuple[str, int] | None:
        """The file and line of the user's."""
        return user_line(self.structure.root.place)

    @property
    def events(self) -> list[Event]:
        """What `explain` tells of it."""
        place = self.place
        took = [f"{1e3 * version.seconds:.1f} ms{' (cached)' * version.code.cached}" for version in self.compiled]
        told = [f"this loop is machine code, compiled in {', '.join(took)}"] if took else []
        if not self.versions:
            told = [self.outlook]
        told += [f"this loop stays in Python: {reason}" for reason in dict.fromkeys(self.reasons)]
        if self.wide:
            told.append(f"this loop ran in Python {self.wide} times, for integers of more than 64 bits")
        events = [Event("native", message, place) for message in told]
        for callback in self._called():
            message = f"{callback.name} runs in Python, called by machine code{callback.cost}"
            events.append(Event("native_callback", message, callback.place or place))
        for at, count in list(self.left.items()):
            message = f"machine code was left here for Python {count} time{'s' * (count > 1)}"
            events.append(Event("native", message, user_line(self.structure.node_at(at).place) or place))
        return events

    def _called(self) -> Iterable[PythonCallback]:
        """The Python callbacks; if there is no code yet, those it will have, as far as the types of the inputs tell."""
        examples = examples_of(self.inputs)
        if self.versions or examples is None:
            return dict.fromkeys(callback for version in self.compiled for callback in version.callbacks)
        try:
            with self.making():
                lowering, _ = self.lowering(examples)
                lowering.run()
        except Refused:
            return ()
        return lowering.calls.callbacks


def _nobody_cares() -> None:
    pass


def _rest(iterator: Any) -> Any:
    """What is left to iterate over: a range, an array from a place on, or what an iterator gives."""
    if isinstance(iterator, tuple):
        return iterator[0][iterator[1] :]
    return iterator if hasattr(type(iterator), "__iter__") else _items(iterator)


def _items(iterator: Any) -> Iterator[Any]:
    """What an iterator gives of which one cannot ask for an iterator, as a `for` may do without."""
    while True:
        try:
            item = next(iterator)
        except StopIteration:
            return
        yield item


def returned(values: Any) -> Any:
    """What a region gives: one value as it is, several as a tuple."""
    return values[0] if len(values) == 1 else tuple(values)
