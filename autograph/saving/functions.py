"""Staged functions as records: the parameters, and for each signature its arguments, guards and graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from inspect import Parameter
from typing import Any

from autograph.common import pytree
from autograph.errors import SaveError
from autograph.runtime import passes
from autograph.runtime.dispatch.concrete_function import ConcreteFunction
from autograph.runtime.dispatch.function import BoundFunction, Function, staged_function
from autograph.runtime.dispatch.specialize import Specializer
from autograph.runtime.dispatch.trace_cache import Trace
from autograph.runtime.graph.callables import name_of, place_of
from autograph.runtime.graph.graph import Value, drop_unused_params
from autograph.runtime.graph.signature import Instance, Leaf, Policy, Signature, Static, Traced, is_within
from autograph.runtime.graph.types import TensorType
from autograph.runtime.graph_text import notation
from autograph.saving.encode import Encoder, Record
from autograph.saving.guards import guard_records

_REUSE = {"buffer_reuse", "sink_stores"}    # passes that the engine runs after loading, see `passes`


class FunctionSaver:
    """Makes the records of staged functions.

    Args:
        signatures: arguments of calls to be saved, besides those that were traced, by the names of functions.
    """

    def __init__(self, signatures: Mapping[str, Sequence[Any]]) -> None:
        self._signatures = signatures
        self._named: set[str] = set()   # of the names, those that functions have

    def check(self) -> None:
        """Check that there was a function for each name in the signatures.

        Raises:
            SaveError: there was none; says which names there are.
        """
        for name in self._signatures:
            if name and name not in self._named:
                there = ", ".join(sorted(each for each in self._named if "." not in each)) or "none"
                what = f"signatures= names {name!r}, which is no staged function of the object"
                raise SaveError(f"{what}; there are {there}")

    def record(self, encoder: Encoder, thing: Any) -> Record:
        """The record of a staged function, of a bound method, or of a concrete function.

        Raises:
            SaveError: it has no graph, or one that cannot be saved.
        """
        if isinstance(thing, ConcreteFunction):
            made = Function(thing.__wrapped__)
            return self._function(encoder, made, [thing.trace], None, thing._specializer)
        function, owner = (thing.__func__, thing.__self__) if type(thing) is BoundFunction else (thing, None)
        function = staged_function(function) or function
        own = () if owner is None else (owner,)
        name = name_of(function.python_function)
        self._named.update((name, function.__name__))
        for args, kwargs in map(call_of, self._signatures.get(name, self._signatures.get(function.__name__, ()))):
            function._trace(*own, *args, **kwargs)
        if function._specializer.specified is not None:
            function._trace(*own)
        traces = [trace for trace in function.traces if not own or _is_of(trace, function._parameters[0].name)]
        return self._function(encoder, function, traces, owner, function._specializer)

    def _function(
        self, encoder: Encoder, function: Function[..., Any], traces: Sequence[Trace], owner: Any, made: Specializer
    ) -> Record:
        is_bound = owner is not None
        encoder.function = place_of(function.python_function)
        name = name_of(function.python_function)
        parameters = function._parameters[1:] if is_bound else function._parameters
        staged = [trace for trace in traces if trace.graph is not None]
        if not staged:
            raise _untraced(function, name, traces)
        self_name = function._parameters[0].name if is_bound else ""
        signatures = [self._signature(encoder, made, trace, self_name, owner) for trace in staged]
        found = {each["key"]: each for each in signatures}      # two traces may be alike after other calls
        for each in signatures:
            del each["key"]
        return {
            "kind": "function",
            "name": function.__name__,
            "qualname": name,
            "module": str(function.__module__),
            "doc": function.__doc__ if isinstance(function.__doc__, str) else None,
            "place": list(place_of(function.python_function)) or None,
            "parameters": [_parameter(encoder, each, name) for each in parameters],
            "signatures": [*found.values()],
        }

    def _signature(
        self, encoder: Encoder, made: Specializer, trace: Trace, self_name: str, owner: Any
    ) -> Record:
        traced = _traced_anew(made, trace, owner)
        assert traced.graph is not None
        signature, graph = trace.signature, traced.graph
        leaves = dict(zip(signature.paths, signature.leaves))
        own = {path for path in leaves if self_name and is_within(path, self_name)}
        given: dict[Value, Any] = {}
        numbers: dict[str, int] = {}
        objects: dict[str, Any] = {}
        for number, path in enumerate(leaves):
            if path in own and path != self_name:
                raise encoder.refused(f"`{self_name}` of the method {made.name} is taken apart", None)
            if path in own:
                objects[f"a{number}"] = owner
            else:
                numbers[path] = len(numbers)
        for param, (path, _) in zip(graph.params, signature.dynamic):
            if path in own:
                given[param] = owner
        containers = []
        for param, path in zip(graph.params[len(signature.dynamic) :], traced.containers):
            if path in own:
                given[param] = owner
            else:
                containers.append(path)
        place = f"the arguments of {made.name}"
        renumbered = {f"a{number}": f"a{numbers[path]}" for number, path in enumerate(leaves) if path in numbers}
        offset = 1 if self_name else 0
        shift = {f"p{number}": f"p{number - offset}" for number in range(offset, len(made.parameters))}
        order = {number: numbers[path] for number, path in enumerate(leaves) if path in numbers}
        tree = _tree(encoder, signature, order, offset, place)
        record: Record = {
            "tree": tree,
            "leaves": [_leaf(encoder, path, leaf) for path, leaf in leaves.items() if path in numbers],
            "paths": list(numbers),
            "same": [order[signature.same[number]] for number in order] if signature.same else [],
            "policy": _policy(made.policy, numbers),
            "containers": containers,
            "graph": encoder.graph(graph, given),
            "guards": [],
        }

        renamed = {**renumbered, **shift}
        encoder.later.append(partial(_add_guards, record, encoder, traced, renamed, objects, encoder.function))
        return {**record, "key": str((tree, record["leaves"], record["same"]))}


def _add_guards(
    record: Record, encoder: Encoder, traced: Traced, renamed: Mapping[str, str], owners: Mapping[str, Any], place: Any
) -> None:
    """Give the record of a signature its guards, once all is known that graphs refer to."""
    encoder.function = place
    record["guards"] += guard_records(encoder, traced.guards, renamed, owners)


def call_of(spec: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, given as a tuple or list of positional ones, a dict of named ones, or the only one."""
    if isinstance(spec, dict) and all(isinstance(key, str) for key in spec):
        return (), dict(spec)
    if isinstance(spec, (tuple, list)):
        return tuple(spec), {}
    return (spec,), {}


def _is_of(trace: Trace, self_name: str) -> bool:
    return any(is_within(path, self_name) for path in trace.signature.paths)


def _untraced(function: Function[..., Any], name: str, traces: Iterable[Trace]) -> SaveError:
    place = place_of(function.python_function)
    for trace in traces:
        if trace.plain and trace.number:
            return SaveError(f"{name} has no graph to save, since it runs as plain Python: {trace.plain}", *place)
    return SaveError(
        f"{name} has no graph yet, since no call of it has been staged so far: give the signatures to save, such as "
        f"signatures=[(ag.TensorSpec((None,), 'f8'),)], or call {function.__name__}.compile(…) with arguments before",
        *place,
    )


def _traced_anew(made: Specializer, trace: Trace, owner: Any) -> Traced:
    """The graph and guards of a trace, as they are now; made anew, since engines change those that they run.

    Where that needs arguments which are not at hand, such as an object that the call was given, the graph that runs.
    """
    signature = trace.signature
    leaves = zip(signature.paths, signature.leaves)
    examples = [_example(leaf, path, owner, made.parameters) for path, leaf in leaves]
    running = Traced(trace.graph, trace.guards, trace.containers, trace.events)
    if any(example is _MISSING for example in examples):
        return running
    traced = made.retrace(signature, signature.fill(examples))
    if traced.graph is None:    # it needs the arguments themselves
        return running
    passes.optimize(traced.graph, {*made.options.without, *_REUSE})
    if traced.containers:
        used = drop_unused_params(traced.graph, len(traced.containers))
        traced.containers = tuple(traced.containers[number] for number in used)
    return traced


_MISSING: Any = object()


def _example(leaf: Leaf, path: str, owner: Any, parameters: Sequence[Parameter]) -> Any:
    """A placeholder for the value of a leaf, or the value; `_MISSING` if neither will do."""
    if isinstance(leaf, Static):
        return leaf.value
    if isinstance(leaf.type, TensorType) or leaf.cls is None:
        return Instance(leaf)
    return owner if owner is not None and path == parameters[0].name else _MISSING


def _parameter(encoder: Encoder, parameter: Parameter, name: str) -> Record:
    record: Record = {"name": parameter.name, "kind": parameter.kind.name}
    if parameter.default is not Parameter.empty:
        record["default"] = encoder.arg(parameter.default, f"the default of `{parameter.name}` of {name}")
    return record


def _leaf(encoder: Encoder, path: str, leaf: Leaf) -> Record:
    about = f"the argument `{path}`"
    if isinstance(leaf, Static):
        return {"static": encoder.arg(leaf.value, about)}
    record: Record = {"type": notation.type_text(leaf.type)}
    if leaf.cls is not None:
        record["class"] = encoder.arg(leaf.cls, about)
    return record


def _tree(encoder: Encoder, signature: Signature, order: Mapping[int, int], offset: int, about: str) -> Record:
    """The arguments, with numbers in place of the leaves."""

    def part(value: Any) -> Any:
        kind = type(value)
        if kind is int:
            return {"leaf": order[value]}
        if kind in (list, tuple):
            return {kind.__name__: [part(each) for each in value]}
        if kind is dict:
            return {"dict": [[encoder.arg(key, about), part(each)] for key, each in value.items()]}
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return {"namedtuple": encoder.number(kind, about), "parts": [part(each) for each in value]}
        form = pytree.kind_of(value)
        assert form is not None, "what is no leaf is a structure"
        parts = [[str(name), part(each)] for name, each in form.children(value).items()]
        return {"structure": encoder.number(kind, about), "parts": parts}

    args, kwargs = signature.tree
    named = {name: part(each) for name, each in kwargs.items()}
    return {"args": [part(each) for each in args[offset:]], "kwargs": named}


def _policy(policy: Policy, paths: Mapping[str, int]) -> Record:
    """How the keys of calls are computed, as far as it differs from the usual."""
    dims = [[path, ndim, [*mask]] for (path, ndim), mask in sorted(policy.dynamic_dims.items()) if path in paths]
    found = {"static": sorted(policy.static), "whole": sorted(policy.whole), "apart": sorted(policy.apart)}
    return {name: value for name, value in {**found, "dims": dims}.items() if value}
