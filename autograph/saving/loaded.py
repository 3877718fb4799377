"""Loaded functions: the saved graphs take the place of the source of a staged function.

A call looks up a trace by the key of its arguments, as with every staged function; a trace is made from the saved graph
of a signature that covers the arguments. In the trace of another function, the nodes of the graph become a part of that
one, so that it can be differentiated.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import Parameter
from types import CodeType
from typing import Any

import numpy as np

import autograph.transforms.staging  # noqa: F401  (which makes traces)
from autograph.common import pytree
from autograph.common.trace_rules import on_behalf
from autograph.errors import LoadError, SignatureError
from autograph.runtime.dispatch.arguments import VARIADIC, Reading, read
from autograph.runtime.dispatch.dispatcher import make_binder
from autograph.runtime.dispatch.function import AlwaysStaged
from autograph.runtime.dispatch.input_signature import misfit
from autograph.runtime.dispatch.trace_entry import broken
from autograph.runtime.graph.graph import Block, Graph, Value, map_args, walk
from autograph.runtime.graph.signature import Dynamic, Event, Guard, Instance, Leaf, Policy, Signature, Static, Traced
from autograph.runtime.graph.types import ObjectType, TensorType
from autograph.runtime.tracing.proxies.graph_break import Diverged
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.trace import Trace
from autograph.saving import vocabulary
from autograph.saving.decode import Decoder, Record, blank_code
from autograph.saving.encode import READS, part_of, part_read
from autograph.saving.guards import guard_of

_KINDS = {kind.name: kind for kind in (
    Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.VAR_POSITIONAL, Parameter.KEYWORD_ONLY,
    Parameter.VAR_KEYWORD,
)}  # fmt: skip


@dataclass
class SavedSignature:
    """A signature with its graph.

    Attributes:
        record: of the graph.
        fresh: the graph, if no trace has taken it yet.
    """

    signature: Signature
    guards: list[Guard]
    containers: tuple[str, ...]
    record: Record
    fresh: Graph | None

    def graph(self, decoder: Decoder) -> Graph:
        """A graph that nothing else refers to."""
        found, self.fresh = self.fresh, None
        return decoder.graph(self.record) if found is None else found


class SavedGraphs:
    """The saved graphs of a function, which a loaded function stages in place of Python code.

    Attributes:
        signatures: those that were saved.
    """

    def __init__(self, decoder: Decoder, record: Record) -> None:
        self._decoder = decoder
        self.__name__: str = record["name"]
        self.__qualname__: str = record["qualname"]
        self.__module__ = record["module"]
        self.__doc__ = record["doc"]
        place = record["place"] or ["<saved>", 1]
        self.__code__: CodeType = blank_code([place[0], self.__name__, self.__qualname__, place[1]])
        self.parameters = [parameter_of(decoder, each) for each in record["parameters"]]
        try:
            self.__signature__ = inspect.Signature(self.parameters)
        except ValueError as error:
            raise LoadError(f"the parameters of {vocabulary.shown(self.__name__)} are none: {error}") from error
        self.signatures = [_signature(decoder, each) for each in record["signatures"]]
        self.policies: list[Record] = [each["policy"] for each in record["signatures"]]
        self.bind = make_binder(self, self.parameters)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse a call that found no trace: a guard does not hold."""
        raise self._no_signature(*self._read(self.bind(*args, **kwargs)))

    def policy(self) -> Policy:
        """How the keys of calls are computed: as when the function was saved, with its open dimensions."""
        policy = Policy(variadic=frozenset(p.name for p in self.parameters if p.kind in VARIADIC))
        for record in self.policies:
            policy.static.update(record.get("static", ()))
            policy.whole.update(record.get("whole", ()))
            policy.apart.update(record.get("apart", ()))
            policy.dynamic_dims.update({(path, ndim): tuple(mask) for path, ndim, mask in record.get("dims", ())})
        policy.named = frozenset(policy.static)
        for saved in self.signatures:
            for path, leaf in saved.signature.dynamic:
                if isinstance(leaf.type, TensorType) and None in leaf.type.shape:
                    key = path, leaf.type.ndim
                    before = policy.dynamic_dims.get(key, (False,) * leaf.type.ndim)
                    policy.dynamic_dims[key] = tuple(a or d is None for a, d in zip(before, leaf.type.shape))
        return policy

    # A trace of its own -----------------------------------------------------------------------------------------------

    def __ag_graphs__(self, example: tuple[tuple[Any, ...], dict[str, Any]]) -> Traced:
        """The saved graph for a call.

        Args:
            example: the arguments of the call, or placeholders for them.

        Raises:
            SignatureError: there is none.
        """
        args, kwargs = example
        signature, reading = self._read(self.bind(*args, **kwargs))
        saved = self._find(signature, reading)
        note = Event("note", "its graph was loaded, and is not traced from source")
        return Traced(saved.graph(self._decoder), saved.guards, saved.containers, [note])

    def _read(self, values: Sequence[Any]) -> tuple[Signature, Reading]:
        return read(self.parameters, values, self.policy())

    def _find(self, signature: Signature, reading: Reading, without_guards: bool = False) -> SavedSignature:
        for saved in self.signatures:
            if not _misfit(saved.signature, signature):
                if without_guards or broken(saved.guards, reading.named) is None:
                    return saved
        raise self._no_signature(signature, reading)

    def _no_signature(self, signature: Signature, reading: Reading) -> SignatureError:
        """The error for a call that no saved signature covers."""
        reasons = []
        for saved in self.signatures:
            reason = _misfit(saved.signature, signature)
            if not reason:
                guard = broken(saved.guards, reading.named)
                reason = guard.reason if guard is not None else "it takes this call"
            reasons.append(f"\n    {self.__name__}({saved.signature}): {reason}")
        return SignatureError(
            f"{self.__name__} was loaded, and has a graph for these calls only; none takes this one: "
            f"({signature}).{''.join(reasons)}\nPass such arguments, or save it with signatures=[…] for this call, too"
        )

    # A part of another trace ------------------------------------------------------------------------------------------

    def __ag_traced__(self, trace: Trace) -> Callable[..., Any]:
        return partial(self._play, trace)

    @on_behalf
    def _play(self, trace: Trace, *args: Any, **kwargs: Any) -> Any:
        """Add the nodes of a graph to a trace; gives the result with proxies."""
        values = self.bind(*args, **kwargs)
        originals: dict[int, Any] = {}
        instances: dict[int, Instance] = {}

        def placeholder(leaf: Any) -> Any:
            if not is_tensor(leaf):
                return leaf
            if id(leaf) not in instances:
                value = trace.use(leaf)
                made = instances[id(leaf)] = Instance(Dynamic(value.type, trace.known_class(value)))
                originals[id(made)] = leaf
            return instances[id(leaf)]

        signature, reading = self._read([pytree.map(placeholder, value) for value in values])
        saved = self._find(signature, reading, without_guards=True)
        for guard in saved.guards:
            if any(name in reading.named for name in _names_in(guard)):
                what = f"the loaded function {self.__name__} has a condition on its arguments"
                trace.graph_break(f"{what}: {guard.reason}")
            trace.context.environment.guards.append(guard)
        given = [
            originals.get(id(value), value)
            for value, leaf in zip(reading.values, saved.signature.leaves)
            if isinstance(leaf, Dynamic)
        ]
        names = {f"p{number}": value for number, value in enumerate(values)} | reading.constants
        given += [eval(reading.containers[path], {}, names) for path in saved.containers]
        return splice(trace, saved.graph(self._decoder), given, self.__name__)


def _misfit(saved: Signature, signature: Signature) -> str:
    """Why a saved graph cannot take arguments; "" if it can."""
    reason = misfit(saved, signature)
    if not reason and saved.same != signature.same:
        reason = "other arguments are the same object"
    if not reason and not (_alike(saved.tree[0], signature.tree[0]) and _alike(saved.tree[1], signature.tree[1])):
        reason = "the arguments are another structure"
    return reason


def _alike(first: Any, second: Any) -> bool:
    """Whether two trees of arguments are the same, with the same classes."""
    kind = pytree.kind_of(first)
    if kind is None or type(first) is not type(second):
        return type(first) is type(second) and bool(first == second)
    one, other = kind.children(first), kind.children(second)
    return list(one) == list(other) and all(map(_alike, one.values(), other.values()))


def _names_in(guard: Guard) -> set[str]:
    code = compile(guard.expression, "<guard>", "eval")
    return set(code.co_names) - guard.names.keys()


def splice(trace: Trace, graph: Graph, given: Sequence[Any], name: str) -> Any:
    """Add the nodes of a graph, which nothing else refers to, to a trace.

    An array that the graph reads from a saved object is the trace's own value of it, so that it has gradients.

    Args:
        given: the values of its parameters.
        name: of the function.
    """
    trace.undo_log.write_back()
    outer = trace.place()
    replaced: dict[Value, Any] = {param: trace.lower(value) for param, value in zip(graph.params, given)}
    known: dict[Value, Any] = {}
    for node in walk(graph.block):
        thing = part_read(node, known, writing=True)
        if thing is None:
            continue
        if node.op not in READS:
            if type(thing) in (list, dict, set):
                trace.graph_break(f"the loaded function {name} changes a {type(thing).__name__} that was saved with it")
            trace.callbacks.hand(name, setattr, (thing,))
            continue
        found = part_of(thing, node.op, node.args[1])
        if type(found) is np.ndarray:
            replaced[node.output] = trace.use(trace.context.environment.array(found))
        elif found is not None:
            known[node.output] = found

    def leaf(value: Any) -> Any:
        return replaced.get(value, value) if isinstance(value, Value) else value

    def move(block: Block) -> None:
        for node in block.nodes:
            node.args, node.kwargs = map_args(leaf, node.args), map_args(leaf, node.kwargs)
            node.place = (*outer, *node.place)
            for inner in node.blocks:
                move(inner)
        if block.results is not None:
            block.results = map_args(leaf, block.results)

    move(graph.block)
    for node in graph.block.nodes:
        trace.append(node)
    if graph.block.results is None:
        raise Diverged
    return map_args(lambda part: trace.proxy(part) if isinstance(part, Value) else part, graph.block.results[0])


def parameter_of(decoder: Decoder, record: Record) -> Parameter:
    """The parameter of a record.

    Raises:
        LoadError: it is none.
    """
    default = decoder.held(record["default"]) if "default" in record else Parameter.empty
    if not vocabulary.is_identifier(record["name"]):
        raise LoadError(f"{vocabulary.shown(record['name'])} is no name of a parameter")
    try:
        return Parameter(record["name"], _KINDS[record["kind"]], default=default)
    except ValueError as error:
        raise LoadError(f"a parameter is none: {error}") from error


def _signature(decoder: Decoder, record: Record) -> SavedSignature:
    leaves = tuple(_leaf(decoder, each) for each in record["leaves"])
    count = len(leaves)

    def part(each: Any) -> Any:
        (kind, inner), *_ = each.items()
        if kind == "leaf":
            if not 0 <= inner < count:
                raise LoadError(f"there is no leaf {inner} of the arguments")
            return inner
        if kind in ("tuple", "list"):
            return (tuple if kind == "tuple" else list)(map(part, inner))
        if kind == "dict":
            return {decoder.held(key): part(value) for key, value in inner}
        if kind == "namedtuple":
            return decoder.named_tuple(decoder.object(inner), [part(value) for value in each["parts"]])
        if kind == "structure":
            return _structure(decoder.object(inner), {name: part(value) for name, value in each["parts"]})
        raise LoadError(f"there are no arguments {vocabulary.shown(each)}")

    kwargs = {name: part(each) for name, each in record["tree"]["kwargs"].items()}
    tree = tuple(map(part, record["tree"]["args"])), kwargs
    paths, same = tuple(record["paths"]), tuple(record["same"])
    if len(paths) != count or len(same) not in (0, count) or any(not 0 <= each < count for each in same):
        raise LoadError("a signature has not as many names as leaves")
    graph = decoder.graph(record["graph"])
    dynamic = [leaf for leaf in leaves if isinstance(leaf, Dynamic)]
    pairs = zip(graph.params, dynamic)
    if not all(param.type == leaf.type or isinstance(param.type, ObjectType) for param, leaf in pairs):
        raise LoadError("a graph takes other arguments than its signature")
    if len(graph.params) != len(dynamic) + len(record["containers"]):
        raise LoadError("a graph has not as many parameters as its signature has arguments")
    guards = [guard_of(each, decoder.held) for each in record["guards"]]
    signature = Signature(tree, leaves, paths, same)
    return SavedSignature(signature, guards, tuple(record["containers"]), record["graph"], graph)


def _structure(kind: Any, parts: dict[str, Any]) -> Any:
    """A dataclass with these fields, of a class that is allowed."""
    if not isinstance(kind, type) or not pytree.may_be_nested(kind):
        raise LoadError("a structure of the arguments has no class of fields")
    made: Any = object.__new__(kind)
    for name, value in parts.items():
        object.__setattr__(made, name, value)
    return made


def _leaf(decoder: Decoder, record: Record) -> Leaf:
    if "static" in record:
        return Static(decoder.held(record["static"]))
    cls = decoder.held(record["class"]) if "class" in record else None
    if cls is not None and not isinstance(cls, type):
        raise LoadError("the class of an argument is none")
    return Dynamic(decoder.type(record["type"]), cls)


class LoadedFunction(AlwaysStaged):
    """A staged function whose graphs were saved."""


class LoadedFunctions:
    """Makes loaded functions.

    Args:
        engine: that runs their graphs, as for `ag.function`.
    """

    def __init__(self, engine: str | None = None) -> None:
        self._engine = engine

    def blank(self) -> LoadedFunction:
        """A function without graphs."""
        return LoadedFunction.__new__(LoadedFunction)

    def fill(self, made: LoadedFunction, decoder: Decoder, record: Record) -> None:
        """Give a blank function the graphs of a record."""
        LoadedFunction.__init__(made, SavedGraphs(decoder, record), strict=("plain",), engine=self._engine)
