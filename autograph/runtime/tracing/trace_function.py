"""From a Python function and a signature to a graph: the whole of tracing, once everything is at hand."""

from __future__ import annotations

import builtins
import dis
import functools
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from inspect import Parameter
from types import CodeType, FunctionType, MethodType
from typing import Any, TypeAlias

import autograph.runtime.ops  # noqa: F401  (declares them)
from autograph.common import packages, pytree
from autograph.common.packages import matching, package_of_function
from autograph.common.statics import class_has, is_a
from autograph.errors import DerivativeError
from autograph.runtime.graph.callables import name_of, parameters_of, place_of
from autograph.runtime.graph.effects import effect_of, is_new
from autograph.runtime.graph.graph import Constant, Graph, Place, Value, walk
from autograph.runtime.graph.object_model import is_open, stands_for_itself
from autograph.runtime.graph.signature import Dynamic, Signature, Static, Traced
from autograph.runtime.graph.types import TensorType
from autograph.runtime.passes.speculatable import is_quiet
from autograph.runtime.tracing.calls.dispatch import Converter
from autograph.runtime.tracing.environment.attribute_guards import attribute_guards
from autograph.runtime.tracing.environment.object_source import has_identity
from autograph.runtime.tracing.environment.source import constant
from autograph.runtime.tracing.function_context import FunctionContext
from autograph.runtime.tracing.proxies.graph_break import (
    PACKAGE,
    WHOLE,
    Diverged,
    Failed,
    Plain,
    Restart,
    Signal,
    SourceKey,
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
from autograph.runtime.tracing.warnings import Warnings

_GROUPS: Any = getattr(builtins, "BaseExceptionGroup", ())  # from Python 3.11 on
_RESTARTS = 100  # for the sake of what is changed, and read before, of which each finds some

# A source that begins with this names an installed package that is traced only because a derivative goes through it.
_BORROWED = "borrowed package"

Part: TypeAlias = "tuple[Any, Any, str]"  # of the arguments: of the signature's tree, with the value and its path


def trace_function(
    function: Callable[..., Any],
    signature: Signature,
    example: tuple[tuple[Any, ...], dict[str, Any]],
    convert: Converter,
    tracing: Callable[[Trace], AbstractContextManager[None]],
    shelter: Callable[..., Any] = lambda code, instruction, without=None: None,
    trace_packages: Sequence[str] = (),
) -> Traced:
    """Trace `function` for calls of a signature.

    Args:
        example: the arguments of one such call.
        convert: gives the converted form of a Python function.
        tracing: lets operators know, while it lasts, that this trace is being made.
        shelter: the `try` or `with`, around an instruction, that an exception raised there would meet.
        trace_packages: names or globs of installed packages that are traced, besides the function's own.

    Raises:
        Respecialize: the function can be traced if more of the arguments is made part of the signature.
        StagingError: what the user asks for, such as `ag.set_loop_options(unroll=True)`, cannot be had.
    """
    late: set[SourceKey] = set(signature.late)
    parts = list(_arguments(parameters_of(function), signature.tree, example))
    own = {root for root in map(package_of_function, _functions_of(function)) if root}
    for _ in range(_RESTARTS):
        asking = functools.partial(convert, whole=True) if WHOLE in late else convert
        named = {*own, *matching(trace_packages), *(key[1] for key in late if key[0] == PACKAGE)}
        borrowed = {key[1] for key in late if key[0] == _BORROWED} - named
        with watched_signals(), packages.tracing(named | borrowed):
            tracer = Tracer(function, signature, parts, asking, late, borrowed)
            try:
                tracer.begin(parts)
                return tracer.run(tracing, shelter)
            except Restart as restart:
                if restart.sources <= late:
                    break
                late |= restart.sources
                continue
            except (Signal, DerivativeError) as error:
                demanded = tracer.packages_in_the_way() - late
                if not demanded:
                    return tracer.ended_by(error)
            finally:
                tracer.trace.close()
            late |= demanded
    reason = "too much of what it reads from its module, from variables around it or from objects changes, {}:{}"
    return Traced(None, events=tracer.trace.events, plain=reason.format(*place_of(function)))


def _functions_of(function: Any) -> Iterator[FunctionType]:
    """The Python function that a callable runs, if it is a function, method or partial of one."""
    while type(function) in (functools.partial, MethodType):
        function = function.func if type(function) is functools.partial else function.__func__
    if type(function) is FunctionType:
        yield function


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
    ) -> None:
        self.function = function
        self.signature = signature
        given = {path: value for _, value, path in parts if has_identity(value)}
        name = name_of(function).rpartition(".")[2]
        self.context = FunctionContext(name, signature, given, convert, late, borrowed)
        self.trace = self.context.trace
        self.params: dict[Value, str] = {}
        self.policy = GraphBreakPolicy(function, self.params)

    def begin(self, parts: Sequence[Part]) -> None:
        """Know the arguments, which are like those that these are parts of."""
        try:
            leaves = self._leaves({part: value for part, value, _ in parts if type(part) is int})
            self.args, self.kwargs = self.signature.fill(leaves)
            values = self.args, self.kwargs
            for part, value, path in _arguments(parameters_of(self.function), self.signature.tree, values):
                if type(part) is not int:       # but a list, dict or object that the arguments are taken apart into
                    self.context.materializer.know(value, path)
                    self.context.environment.know_parts(value, path)
                    self.context.meet(value)
        except BaseException:
            self._restore()
            raise

    def _leaves(self, given: dict[int, Any]) -> list[Any]:
        """What stands for each leaf of the arguments in traced code, which are like those given."""
        values: list[Any] = []
        for number, (path, leaf) in enumerate(zip(self.signature.paths, self.signature.leaves)):
            if isinstance(leaf, Static):
                values.append(self.context.environment.see_static(leaf.value, path))
                continue
            param = self.trace.graph.block.add_param(leaf.type, path if path.isidentifier() else "")
            self.params[param] = path
            self.context.environment.sources.param_names[param] = f"a{number}", path
            same = self.signature.same[number] if self.signature.same else number
            if same != number:
                values.append(values[same])
            else:
                values.append(self._stands_for(param, leaf, given[number]))
        return values

    def _stands_for(self, param: Value, leaf: Dynamic, value: Any) -> Any:
        if isinstance(leaf.type, TensorType) or leaf.cls is None:
            return self.trace.proxy(param)
        if is_a(value, (list, dict, set)):
            self.context.aliases.whole.append(value)
        if not stands_for_itself(leaf.cls):
            self.trace.note_class(param, leaf.cls)
            return self.trace.proxy(param)
        self.context.environment.know(value, param)
        self.context.meet(value)
        return value

    def run(
        self, tracing: Callable[[Trace], AbstractContextManager[None]], shelter: Callable[..., Any]
    ) -> Traced:
        trace, context = self.trace, self.context
        try:
            traced = self._traced()
            with tracing(trace), context.instruments, Warnings(trace):
                trace.location.start_from(sys._getframe())
                try:
                    result = self._call(traced)
                    if result is not None:
                        result = self._end(result)
                    context.materializer.check_captured(trace.graph)
                    self._check_given_back()
                    check_handled()
                except _GROUPS:  # of a signal, by an `except*`
                    check_handled()
                    raise
                finally:
                    left = context.calls.close_generators()
                if left:
                    raise Plain(f"the generator {left} is left before its end", trace.place())
        finally:
            self._restore()
        environment = context.environment
        of_attributes = attribute_guards(environment, context.calls.names, context.instruments.relied)
        guards = [*environment.guards, *of_attributes, *context.aliases.guards()]
        containers = context.materializer.finish(trace.graph)
        graph = trace.finish(result)
        check_shelters(graph, shelter, trace.plain_contexts)
        if trace.staged_items:
            check_unpacking(context.calls.codes, shelter)
        return Traced(graph, guards, containers, trace.events)

    def _traced(self) -> Callable[..., Any]:
        """What is run to trace the function: its converted form, among things that stand for what it refers to."""
        function, environment, calls = self.function, self.context.environment, self.context.calls
        if type(function) is functools.partial:
            function = environment.partial(function, constant(function, "function", name_of(function)))
        else:
            environment.see_static(function, name_of(function))
        return calls.traced(function) if type(function) is FunctionType else calls.replacement(function)

    def ended_by(self, error: Signal | DerivativeError) -> Traced:
        """What comes of an attempt that an error or a signal has ended.

        Raises:
            AutographError: the error, or what the signal comes to.
        """
        if isinstance(error, Failed):
            raise error.error from None
        if not isinstance(error, Signal):
            raise error
        reason = self.policy.plain_because(error)
        if reason:
            return self.plain(reason)
        raise self.policy.explained(error) from None

    def packages_in_the_way(self) -> set[SourceKey]:
        """What to trace, too, if a derivative cannot be had: the installed packages in Python that the graph calls."""
        callbacks = self.trace.callbacks
        is_derivative = callbacks.differentiated and not self.context.budget.exceeded
        return {(_BORROWED, package) for package in callbacks.packages if is_derivative and packages.is_pure(package)}

    def plain(self, reason: str) -> Traced:
        """What runs as plain Python; it is traced again when what was None then, `self.state` say, has been made."""
        try:
            guards = attribute_guards(self.context.environment, self.context.calls.names, {})
        except Plain:  # there are too many
            guards = []
        guards = [guard for guard in guards if guard.names.get("value", guard) is None]
        return Traced(None, guards, events=self.trace.events, plain=reason)

    def _restore(self) -> None:
        """Make all that exists outside of the trace what it was, each once more if one fails."""
        changes = self.trace.undo_log.outermost()
        try:
            for thing, content in reversed(changes):
                restore(thing, content)
        except BaseException:
            with ExitStack() as rest:
                for change in changes:
                    rest.callback(restore, *change)
            raise

    def _call(self, traced: Callable[..., Any]) -> tuple[Any, ...] | None:
        """The 1-tuple of what the function returns; None if it always raises."""
        try:
            return (run_or_raise(self.trace, lambda: traced(*self.args, **self.kwargs), outermost=True),)
        except Diverged as signal:
            handled(signal)
            return None

    def _end(self, result: tuple[Any, ...]) -> tuple[Any, ...]:
        """Write back what the function changed, and give its result as an argument of the graph's end."""
        self.context.materializer.end()
        self.context.leave()
        return (self.context.materializer.lower(result[0]),)

    def _check_given_back(self) -> None:
        """See to it that the graph changes nothing that a called function gives back, and that may be known here."""
        for node in walk(self.trace.graph.block):
            is_called = node.op == "call" and any(node.args[0] is each for each in (setattr, delattr))
            args = node.args[is_called:]
            is_set = is_called or node.op in ("setattr", "delattr")
            is_inside = node.op in ("setitem", "delitem") or node.op.startswith(".")
            names = _given_back(args[0], args[1:2] if is_set else ()) if is_set or is_inside else []
            is_changed = names and (is_set or effect_of(node).writes)
            if is_changed and any(_has_any(thing, names) for thing in self.context.environment.sources.known()):
                what = f"the result of a function that the graph calls, or its attribute {names[0]},"
                raise Plain(f"{what} is changed, and may be an object that is known here", node.place)


def _given_back(place: Any, names: Sequence[Any]) -> list[Any]:
    """The names by which something is got from what a called function gives back; none if it is got otherwise."""
    found = list(names)
    while isinstance(place, Value) and place.node is not None and place.node.op in ("getattr", "getitem"):
        found += place.node.args[1:2] if place.node.op == "getattr" else ()
        place = place.node.args[0]
    if not isinstance(place, Value) or place.node is None or place.node.op != "call" or is_new(place.node):
        return []
    maker = place.node.args[0]
    maker = maker.value if isinstance(maker, Constant) else maker
    makes_anew = is_a(maker, type) or getattr(maker, "__ag_tame__", False)
    return [] if makes_anew else [name for name in found if type(name) is str]


def _has_any(thing: Any, names: list[str]) -> bool:
    """Whether an object that traced code may look into has one of these attributes, or its class has."""
    return is_open(type(thing)) and any(name in attributes(thing) or class_has(type(thing), name) for name in names)


def check_shelters(graph: Graph, shelter: Callable[..., Any], plain: list[Place]) -> None:
    """See to it that nothing is staged within a `try` or `with` that an exception of it would meet there.

    Args:
        plain: where managers were entered while tracing, by a `with` that is none of the graph's.

    Raises:
        Plain: something is; the function must run as plain Python.
    """
    entered: dict[Any, frozenset[Any]] = {}
    for code, instruction in [node.place[-1] for node in walk(graph.block) if node.op == "enter" and node.place]:
        entered[code] = entered.get(code, frozenset()) | {shelter(code, instruction)}
    for code, instruction in [place[-1] for place in plain] if entered else ():
        entered[code] = entered.get(code, frozenset()) - {shelter(code, instruction)}
    around = functools.cache(lambda code, instruction: shelter(code, instruction, entered.get(code, frozenset())))
    for node in walk(graph.block):
        for code, instruction in node.place:
            found = around(code, instruction)
            if found is not None and (found.construct == "with" or not is_quiet(node)):
                reason = f"`{found.construct}` is around an operation that would run later"
                raise Plain(reason, ((code, instruction),))


def check_unpacking(codes: list[CodeType], shelter: Callable[..., Any]) -> None:
    """See to it that no `try` meets the error of unpacking a container which the graph fills, as it looks in the trace.

    Raises:
        Plain: one may; the function must run as plain Python.
    """
    found = [(code, each.offset, each.opname) for code in codes for each in dis.get_instructions(code)]
    unpacked = {code for code, _, name in found if name in UNPACKING}
    for code, instruction, name in found:
        if name in UNPACKING or (name.startswith("CALL") and unpacked - {code}):
            around = shelter(code, instruction)
            if around is not None and around.construct != "with":
                reason = f"`{around.construct}` is around an unpacking of items that only the graph knows"
                raise Plain(reason, ((code, instruction),))


def _arguments(parameters: list[Parameter], tree: Any, values: Any) -> Iterator[Part]:
    """The parts of the arguments as far as a signature's tree takes them apart: those of the tree, values, paths."""
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
