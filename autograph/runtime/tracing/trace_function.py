"""From a Python function and a signature to a graph."""

from __future__ import annotations

import builtins
import dis
import functools
import itertools
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, ExitStack
from inspect import Parameter
from types import CodeType, FunctionType, MethodType
from typing import Any, TypeAlias

import autograph.runtime.ops  # noqa: F401  (declares them)
from autograph.common import packages, pytree
from autograph.common.bytecode import DECISIVE
from autograph.common.packages import matching, package_of_function
from autograph.common.statics import class_attribute, class_has, is_a, is_descriptor
from autograph.common.trace_rules import is_plain
from autograph.errors import DerivativeError
from autograph.runtime.graph.callables import name_of, parameters_of, place_of
from autograph.runtime.graph.graph import Graph, Place, Value, walk
from autograph.runtime.graph.object_model import is_slot, stands_for_itself
from autograph.runtime.graph.signature import Dynamic, Event, Leaf, Respecialize, Signature, Static, Traced, is_within
from autograph.runtime.graph.traits import HANDLES_ERRORS
from autograph.runtime.graph.types import TensorType
from autograph.runtime.passes.speculatable import is_quiet
from autograph.runtime.tracing.calls.bounds import DerivativeBudget, Helpers, Recursion
from autograph.runtime.tracing.calls.dispatch import Caller, Converter
from autograph.runtime.tracing.calls.graph_objects import keys_of
from autograph.runtime.tracing.calls.guarded_methods import GuardedMethods
from autograph.runtime.tracing.calls.handed_functions import Changes
from autograph.runtime.tracing.calls.special_methods import Instrumentation
from autograph.runtime.tracing.comprehensions import collected
from autograph.runtime.tracing.environment.attribute_guards import attribute_guards
from autograph.runtime.tracing.environment.container_aliases import ContainerAliases
from autograph.runtime.tracing.environment.environment import CapturedEnvironment
from autograph.runtime.tracing.environment.object_source import constant, has_identity
from autograph.runtime.tracing.environment.unknown_objects import check_unknown_objects
from autograph.runtime.tracing.materialize import Materializer, of_objects, outermost
from autograph.runtime.tracing.proxies.context import TraceContext
from autograph.runtime.tracing.proxies.graph_break import (
    ALONE,
    GIVEN,
    ITSELF,
    PACKAGE,
    WHOLE,
    Diverged,
    Failed,
    Plain,
    Restart,
    Signal,
    SourceKey,
    Unjoinable,
    check_handled,
    handled,
    watched_signals,
)
from autograph.runtime.tracing.state.exceptions import (
    UNPACKING,
    run_or_raise,
)
from autograph.runtime.tracing.state.graph_break_policy import GraphBreakPolicy
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import attributes, restore
from autograph.runtime.tracing.warnings import given_by_graph
from autograph.runtime.tracing.write_back import Writer

_GROUPS: Any = getattr(builtins, "BaseExceptionGroup", ())  # from Python 3.11 on
UNROLLED = 100  # operations, from which on a graph may rather have loops over objects
_CHANGES = "too much of what it reads from its module, from variables around it or from objects changes, {}:{}"
_RESTARTS = 100  # each finds further objects that the graph has to read itself

# The first part of the key of an installed package that is traced only because a derivative goes through it.
_BORROWED = "borrowed package"

Part: TypeAlias = "tuple[Any, Any, str]"  # of the arguments: a part of the signature's tree, with its value and path


def trace_function(
    function: Callable[..., Any],
    signature: Signature,
    example: tuple[tuple[Any, ...], dict[str, Any]],
    convert: Converter,
    tracing: Callable[[Trace], AbstractContextManager[None]],
    shelter: Callable[..., Any] = lambda code, instruction, without=None: None,
    trace_packages: Sequence[str] = (),
    helpers: Helpers = None,
) -> Traced:
    """Trace `function` for calls of a signature.

    Args:
        example: the arguments of one such call.
        convert: returns the converted form of a Python function.
        tracing: within it, operators record in this trace.
        shelter: returns the innermost `try` or `with` around an instruction that an exception raised there would meet.
        trace_packages: names or globs of installed packages that are traced, besides the function's own.
        helpers: see `bounds.Helpers`; None if the graph may call neither such functions nor its own.

    Raises:
        Respecialize: the function can be traced if more of the arguments is made part of the signature.
        StagingError: the user asks for something impossible, by `ag.set_loop_options(unroll=True)` for example.
    """
    is_alone = hasattr(function, "__ag_check__")    # see `transforms/loop_sites.py`
    late: set[SourceKey] = {*signature.late, *[ITSELF] * (helpers is not None), *[ALONE] * is_alone}
    parts = list(_arguments(parameters_of(function), signature.tree, example))
    own = {root for root in map(package_of_function, _functions_of(function)) if root}
    for _ in range(_RESTARTS):
        asking = functools.partial(convert, whole=True) if WHOLE in late else convert
        named = {*own, *matching(trace_packages), *(key[1] for key in late if key[0] == PACKAGE)}
        borrowed = {key[1] for key in late if key[0] == _BORROWED} - named
        with watched_signals(), packages.tracing(named | borrowed):
            tracer = Tracer(function, signature, parts, asking, late, borrowed, helpers)
            try:
                tracer.begin(parts)
                return tracer.run(tracing, shelter)
            except Restart as restart:
                if restart.sources <= late:
                    break
                late = restart.added_to(late)
                continue
            except (Signal, DerivativeError, Respecialize) as error:
                demanded = (tracer.packages_in_the_way() | tracer.objects_in_the_way(error)) - late
                if not demanded:
                    return tracer.ended_by(error)
            finally:
                tracer.close()
            late |= demanded
    return Traced(None, events=tracer.trace.events, plain=_CHANGES.format(*place_of(function)))


def _functions_of(function: Any) -> Iterator[FunctionType]:
    """The Python function that a callable runs, if it is a function, method or partial of one."""
    while type(function) in (functools.partial, MethodType):
        function = function.func if type(function) is functools.partial else function.__func__
    if type(function) is FunctionType:
        yield function


class FunctionContext(TraceContext):
    """The parts of one tracing of a function: each part is made from those before it.

    Args:
        arguments: the arguments of the traced call and their parts that have an identity, by path.
        late: keys of the sources that the graph reads itself.
        borrowed: installed packages that are traced because a derivative goes through them.
        helpers: as for `trace_function`.
    """

    environment: CapturedEnvironment
    calls: Caller
    objects: GuardedMethods
    materializer: Materializer
    aliases: ContainerAliases

    def __init__(
        self,
        function: Callable[..., Any],
        signature: Signature,
        arguments: Mapping[str, Any],
        convert: Converter,
        late: Set[SourceKey],
        borrowed: Collection[str],
        helpers: Helpers,
    ) -> None:
        self.late, self.texts = late, signature.texts
        self.trace = trace = Trace(name_of(function).rpartition(".")[2], self)
        self.environment = CapturedEnvironment(trace)
        self.instrumentation = Instrumentation(trace, self.environment)
        self.budget = DerivativeBudget(trace, borrowed)
        recursion = Recursion(trace, function, signature, helpers)
        self.calls = Caller(trace, self.environment, convert, self.budget, recursion)
        self.objects = GuardedMethods(trace, self.calls)
        self.materializer = Materializer(trace, self.environment, self.calls)
        self.aliases = ContainerAliases(self.environment, arguments, self.materializer.paths, signature)
        self.writer = Writer(trace, self.environment, self.materializer, self.aliases)

    def instrument(self, thing: Any) -> None:
        self.instrumentation.instrument(thing)

    def instrument_parts(self, thing: Any) -> None:
        self.instrumentation.instrument_parts(thing)

    def is_watched(self, kind: type) -> bool:
        return self.instrumentation.is_watched(kind)

    def registries(self) -> list[Any]:
        sources = self.environment.sources
        return [self.instrumentation.seen, sources.read, sources.written, self.writer.own]

    def roots(self) -> Iterator[Any]:
        yield from self.environment.roots()
        for container, _ in self.materializer.paths.values():
            yield container

    def collected(self, value: Any) -> Any:
        return collected(self.trace, value)

    def note_made(self, thing: Any) -> None:
        self.writer.own[id(thing)] = thing

    def write_back(self) -> None:
        self.writer.write_back()

    def leave(self) -> None:
        self.aliases.check_reread()
        self.writer.check_entered(self.trace.graph)
        self._check_handed()
        self.trace.undo_log.write_back()

    def _check_handed(self) -> None:
        """Check that traced code reads nothing that a callback may have changed."""
        handed = self.trace.callbacks.handed.values()
        changes = [(Changes(*itertools.chain(*things)), name) for name, things in handed]
        self._check_containers([each for each, _ in changes])
        for each, function in changes:
            for owner, name in self._read_of(each):
                what = f"{function} is called when the graph runs, and may change {owner}{name}, which is read here"
                self.trace.graph_break(what)

    def _read_of(self, changes: Changes) -> Iterator[tuple[str, str]]:
        """The owners and names of things that traced code reads and a call may change."""
        names = self.calls.names
        yield from (("the attribute ", name) for name in sorted(DECISIVE & changes.attributes))
        yield from (("", name) for cell, name in changes.cells if id(cell) in self.environment.cells)
        for number, own in self.environment.globals.items():
            module, read = str(own.real.get("__name__")), own.read()
            yield from (("", name) for of, name in changes.rebound if of is own.real and name in read)
            if (changes.has_all or number in changes.modules) and not is_plain(module):
                set_ = read if changes.sets_any else read & changes.attributes
                yield from ((f"{module}.", name) for name in sorted(set_))
        for kind in changes.classes.values():
            read = names & vars(kind).keys() if changes.sets_any else names & vars(kind).keys() & changes.attributes
            yield from ((f"{kind.__qualname__}.", name) for name in sorted(read))
        for thing in changes.objects if changes.has_effects else ():
            if not getattr(getattr(type(thing), "__dataclass_params__", None), "frozen", False):
                read = names.intersection(attributes(thing))
                yield from ((f"the attribute {type(thing).__qualname__}.", name) for name in sorted(read))

    def _check_containers(self, changes: Sequence[Changes]) -> None:
        """Let the graph read containers that callbacks may change, instead of the trace."""
        changed = {id(thing) for each in changes if each.has_changes for thing in each.containers}
        copies = self.aliases.copies() if changed else ()
        stale = {source.key for value, source in copies if id(value) in changed}
        if stale:
            raise Restart(stale)


class Tracer:
    """One attempt at tracing a function."""

    def __init__(
        self,
        function: Callable[..., Any],
        signature: Signature,
        parts: Sequence[Part],
        convert: Converter,
        late: set[SourceKey],
        borrowed: Collection[str],
        helpers: Helpers,
    ) -> None:
        self.function = function
        self.signature = signature
        arguments = {path: value for _, value, path in parts if has_identity(value)}
        self.context = FunctionContext(function, signature, arguments, convert, late, borrowed, helpers)
        self.trace = self.context.trace
        self.params: dict[Value, str] = {}
        self.shared: list[str] = []     # the paths of lists, dicts and objects that have several
        self.policy = GraphBreakPolicy(function, self.params)

    def begin(self, parts: Sequence[Part]) -> None:
        """Make the arguments of traced code, given the parts of those of one call."""
        try:
            leaves = self._leaves({part: value for part, value, _ in parts if type(part) is int})
            self.args, self.kwargs = self.signature.fill(leaves)
            values = self.args, self.kwargs
            for part, value, path in _arguments(parameters_of(self.function), self.signature.tree, values):
                if type(part) is not int:       # a list, dict or object that the signature flattens
                    known = self.context.materializer.paths.get(id(value))
                    if known is not None and type(value) is not tuple:
                        self.shared += path, known[1]
                    self.context.materializer.register(value, path)
                    self.context.environment.register_parts(value, path)
                    self.context.instrument(value)
        except BaseException:
            self._restore()
            raise

    def _leaves(self, example: dict[int, Any]) -> list[Any]:
        """The leaves of the arguments of traced code, given those of one call."""
        values: list[Any] = []
        for number, (path, leaf) in enumerate(zip(self.signature.paths, self.signature.leaves)):
            if isinstance(leaf, Static):
                values.append(self.context.environment.capture_static(leaf.value, path))
                continue
            param = self.trace.graph.block.add_param(leaf.type, path if path.isidentifier() else "")
            self.params[param] = path
            self.context.environment.sources.param_names[param] = f"a{number}", path
            same = self.signature.same[number] if self.signature.same else number
            if same != number:
                values.append(values[same])
            else:
                values.append(self._argument(param, leaf, example[number], path))
        return values

    def _argument(self, param: Value, leaf: Dynamic, value: Any, path: str) -> Any:
        """The value of a param in traced code: an open object itself, else a proxy."""
        if isinstance(leaf.type, TensorType) or leaf.cls is None:
            return self.trace.proxy(param)
        self.trace.likely.note(param, [value])
        if is_a(value, (list, dict, set)):
            self.context.aliases.whole.append(value)
        if (GIVEN, path) in self.context.late:
            return self.trace.proxy(param)
        if not stands_for_itself(leaf.cls):
            self.trace.note_class(param, leaf.cls)
            return self.trace.proxy(param)
        self.context.environment.register(value, param)
        self.context.instrument(value)
        return value

    def run(
        self, tracing: Callable[[Trace], AbstractContextManager[None]], shelter: Callable[..., Any]
    ) -> Traced:
        trace, context = self.trace, self.context
        try:
            traced = self._traced()
            with tracing(trace), context.instrumentation, given_by_graph():
                trace.location.start_from(sys._getframe())
                try:
                    result = self._call(traced)
                    if result is not None:
                        context.materializer.end()
                        context.leave()
                        result = (context.materializer.lower(result[0]),)
                        self._check_unrolled()
                    context.materializer.check_captured(trace.graph)
                    check_unknown_objects(
                        trace, context.environment, context.aliases,
                        set(context.materializer.containers.values()), context.calls.names, context.calls.free,
                    )  # fmt: skip
                    check_handled()
                except _GROUPS:  # of a signal, by an `except*`
                    check_handled()
                    raise
                finally:
                    left = context.calls.close_generators()
                if left:
                    trace.graph_break(f"the generator {left} is left before its end")
        finally:
            self._restore()
        environment = context.environment
        of_attributes = attribute_guards(environment, context.calls.names, context.instrumentation.inspected)
        of_containers = context.aliases.guards(trace.graph, set(context.materializer.containers.values()))
        guards = [*environment.guards, *of_attributes, *of_containers]
        containers = context.materializer.finish(trace.graph)
        graph = trace.finish(result)
        context.objects.sink(graph)
        check_shelters(graph, shelter, trace.plain_contexts)
        if trace.staged_items:
            check_unpacking(context.calls.codes, shelter, graph)
        return Traced(graph, guards, containers, trace.events)

    def _check_unrolled(self) -> None:
        """Check that no long code is made of loops over lists that the graph may look into instead.

        These are lists of objects of which the program uses nothing but attributes, and, where there are no arrays,
        lists of numbers.

        Raises:
            Respecialize: there is such code.
        """
        trace, calls, unrolled = self.trace, self.context.calls, self._unrolled()
        if unrolled is None or trace.recorded < UNROLLED or trace.callbacks.differentiated:
            return
        used = calls.names | {code.co_name for code in calls.codes}
        containers = of_objects(self.context.materializer.paths.values())
        whole = [path for path, classes in containers.items() if not any(_has_code(each, used) for each in classes)]
        has_arrays = any(isinstance(each.type, TensorType) and each.type.kind == "array" for each in self.params)
        if not has_arrays:
            whole += self._tables()
        if whole:
            raise Respecialize(whole=(*whole,), reason=unrolled.message)

    def _unrolled(self) -> Event | None:
        """The report of the first loop that was unrolled."""
        return next((each for each in self.trace.events if each.kind == "unroll"), None)

    def close(self) -> None:
        """End the attempt, and let go of the caller's objects: its own ones are in cycles."""
        context, environment, undo_log = self.context, self.context.environment, self.trace.undo_log
        self.trace.close()
        self.trace.likely.clear()
        holders = environment, environment.sources, environment.late_attributes, context.instrumentation, undo_log
        for holder in holders:
            for held in vars(holder).values():
                if type(held) in (dict, list):
                    held.clear()

    def _traced(self) -> Callable[..., Any]:
        """The traced form of the function, see `Caller.traced`."""
        function, environment, calls = self.function, self.context.environment, self.context.calls
        if type(function) is functools.partial:
            function = environment.partial(function, constant(function, "function", name_of(function)))
        else:
            environment.capture_static(function, name_of(function))
        return calls.traced(function) if type(function) is FunctionType else calls.replacement(function)

    def ended_by(self, error: Signal | DerivativeError | Respecialize) -> Traced:
        """The result of an attempt that an error or a signal has ended.

        Raises:
            AutographError: the error, or the outcome of the signal.
        """
        if isinstance(error, Respecialize):
            raise self._by_table(error) from None
        if isinstance(error, Failed):
            raise error.error from None
        if not isinstance(error, Signal):
            raise error
        outcome = self.policy.outcome(error)
        whole = of_objects(self.context.materializer.paths.values()) or (self._unrolled() and self._tables())
        if whole and (isinstance(outcome, str) or isinstance(error, Unjoinable)):
            raise Respecialize(whole=(*whole,), reason=str(outcome))
        if isinstance(outcome, str):
            return self.plain(outcome)
        raise outcome from None

    def _by_table(self, signal: Respecialize) -> Respecialize:
        """A request for whole tables in place of their rows: these would be asked for one by one."""
        tables = self._tables() if signal.whole else ()
        whole = dict.fromkeys(next((each for each in tables if is_within(path, each)), path) for path in signal.whole)
        return Respecialize(signal.static, (*whole,), signal.reason)

    def _tables(self) -> list[str]:
        """The paths of lists and dicts of numbers, at any depth, of which traced code has copies: each by one name."""
        containers = [path for thing, path in self.context.materializer.paths.values() if type(thing) in (list, dict)]
        leaves = zip(self.signature.paths, self.signature.leaves)
        others = [path for path, leaf in leaves if not _is_number(leaf)]
        others += self.shared
        return outermost([each for each in containers if not any(is_within(path, each) for path in others)])

    def packages_in_the_way(self) -> set[SourceKey]:
        """The installed packages to trace for a derivative: those written in Python that the graph calls."""
        callbacks = self.trace.callbacks
        is_derivative = callbacks.differentiated and not self.context.budget.exceeded
        return {(_BORROWED, package) for package in callbacks.packages if is_derivative and packages.is_pure(package)}

    def objects_in_the_way(self, error: Any) -> set[SourceKey]:
        """The objects that only the graph shall know, as traced code cannot have them."""
        things = getattr(error, "things", ())
        is_plain = bool(things) and isinstance(self.policy.outcome(error), str)
        return keys_of(self.context.environment, things) if is_plain else set()

    def plain(self, reason: str) -> Traced:
        """A trace that runs plain Python, until attributes that are None, say, are set: then its guards fail."""
        try:
            guards = attribute_guards(self.context.environment, self.context.calls.names, {})
        except Plain:  # there are too many
            guards = []
        guards = [guard for guard in guards if guard.names.get("value", guard) is None]
        return Traced(None, guards, events=self.trace.events, plain=reason)

    def _restore(self) -> None:
        """Restore all objects outside the trace; if one fails, try all once more."""
        changes = self.trace.undo_log.all_changes()
        try:
            for thing, content in reversed(changes):
                restore(thing, content)
        except BaseException:
            with ExitStack() as rest:
                for change in changes:
                    rest.callback(restore, *change)
            raise

    def _call(self, traced: Callable[..., Any]) -> tuple[Any, ...] | None:
        """A 1-tuple of the function's result; None if it always raises."""
        self.context.calls.recursion.begin(traced, self.args, self.kwargs)
        try:
            return (run_or_raise(self.trace, lambda: traced(*self.args, **self.kwargs), outermost=True),)
        except Diverged as signal:
            handled(signal)
            return None


def _is_number(leaf: Leaf) -> bool:
    """Whether a leaf of a signature is a number of Python's."""
    if isinstance(leaf, Static):
        return type(leaf.value) is bool
    return isinstance(leaf.type, TensorType) and leaf.type.kind == "python"


def _has_code(kind: type, names: Set[str]) -> bool:
    """Whether a class has methods, properties or the like under some names."""
    own = {name: class_attribute(kind, name) for name in names if class_has(kind, name)}
    return any(is_descriptor(each) and not is_slot(each, kind) for each in own.values())


def check_shelters(graph: Graph, shelter: Callable[..., Any], plain: list[Place]) -> None:
    """Check that no node is inside a `try` or `with` that would meet its exception in plain Python.

    Args:
        plain: the places where a `with` of plain Python was entered while tracing.

    Raises:
        Plain: one is; the function must run as plain Python.
    """
    entered: dict[int, frozenset[Any]] = {}     # by identity of code, whose hash would visit all constants
    for code, instruction in [node.place[-1] for node in walk(graph.block) if node.op == "enter" and node.place]:
        entered[id(code)] = entered.get(id(code), frozenset()) | {shelter(code, instruction)}
    for code, instruction in [place[-1] for place in plain] if entered else ():
        entered[id(code)] = entered.get(id(code), frozenset()) - {shelter(code, instruction)}
    handled = {(id(code), instruction) for code, instruction in _handled(graph)}
    around: dict[tuple[int, int], Any] = {}
    for node in walk(graph.block):
        for code, instruction in node.place:
            key, without = (id(code), instruction), entered.get(id(code), frozenset())
            if key in handled:
                without = without | {shelter(code, instruction, without)}
            if key not in around:
                around[key] = shelter(code, instruction, without)
            found = around[key]
            if found is not None and (found.construct == "with" or not is_quiet(node)):
                reason = f"`{found.construct}` is around an operation that would run later"
                raise Plain(reason, ((code, instruction),))


def _handled(graph: Graph) -> list[tuple[CodeType, int]]:
    """The code and instruction of each node that handles the exceptions of a statement of the user's itself."""
    return [node.place[-1] for node in walk(graph.block) if node.op in HANDLES_ERRORS and node.place]


def check_unpacking(codes: list[CodeType], shelter: Callable[..., Any], graph: Graph) -> None:
    """Check that no `try` is around an unpacking, which fails in the trace for a container that the graph fills.

    Raises:
        Plain: one may be; the function must run as plain Python.
    """
    without: dict[int, frozenset[Any]] = {}     # `try`s with no unpacking, whose handlers would not catch its errors
    for code, instruction in _handled(graph):
        without[id(code)] = without.get(id(code), frozenset()) | {shelter(code, instruction)}
    found = [(code, each.offset, each.opname) for code in codes for each in dis.get_instructions(code)]
    unpacked = {code for code, _, name in found if name in UNPACKING}
    for code, instruction, name in found:
        if name in UNPACKING or (name.startswith("CALL") and unpacked - {code}):
            around = shelter(code, instruction, without.get(id(code), frozenset()))
            if around is not None and around.construct != "with":
                reason = f"`{around.construct}` is around an unpacking of items that only the graph knows"
                raise Plain(reason, ((code, instruction),))


def _arguments(parameters: list[Parameter], tree: Any, values: Any) -> Iterator[Part]:
    """The parts of a signature's tree, with the values and paths of the same parts of the arguments."""
    names = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    keywords = {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}
    star = next((each.name for each in parameters if each.kind is each.VAR_POSITIONAL), "")
    stars = next((each.name for each in parameters if each.kind is each.VAR_KEYWORD), "")
    names += [f"{star}[{number}]" for number in range(len(tree[0]) - len(names))]
    rest = [*zip(tree[0], values[0], names)]
    for name, part in tree[1].items():
        rest.append((part, values[1][name], name if name in keywords else f"{stars}[{name!r}]"))
    rest.reverse()
    while rest:
        part, value, path = rest.pop()
        yield part, value, path
        if type(part) is not int:
            kind, kinds = pytree.kind_of(part), pytree.kind_of(value)
            assert kind is not None and kinds is not None, "what is no leaf is a structure"
            inside = zip(kind.children(part).items(), kinds.children(value).values())
            rest.extend([(mine, theirs, path + kind.step(key)) for (key, mine), theirs in inside][::-1])
