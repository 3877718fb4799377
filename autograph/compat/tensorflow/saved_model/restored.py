"""Functions of saved graphs: these have graphs in place of Python code, and the graphs become a part of the trace.

So a loaded function is a `tf.function` like others: it has gradients, traces and signatures, and can be saved again.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

from autograph.common import pytree
from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor, is_convertible, is_tensor
from autograph.compat.tensorflow.core.dtypes import DType
from autograph.compat.tensorflow.core.shapes import TensorSpec
from autograph.compat.tensorflow.core.tensor import Tensor, in_scope, wrap
from autograph.compat.tensorflow.ops import random_ops
from autograph.compat.tensorflow.ops.variables import Storage, Variable, read, write
from autograph.compat.tensorflow.staging.function import ConcreteFunction
from autograph.compat.tensorflow.staging.tracing import Traced
from autograph.runtime.dispatch.dispatcher import make_binder
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Value, copied, map_args, substitute, walk
from autograph.runtime.graph.static_keys import static_key
from autograph.runtime.graph.types import NONE
from autograph.runtime.tracing.proxies.graph_break import Diverged
from autograph.saving.decode import blank_code

_DRAWING = frozenset({random_ops._uniform, random_ops._normal, random_ops._shuffled})


@dataclass
class SavedConcrete:
    """The graph of a function for arguments of one signature.

    Attributes:
        arguments: of the function, in order, with specs in place of tensors.
        structure: of the results, with specs in place of tensors.
        draws: the types of the random numbers that it gives besides.
        variables: those that it reads or writes, by the ids of their storages.
    """

    name: str
    graph: Graph
    arguments: Sequence[Any]
    structure: Any
    draws: Sequence[DType]
    variables: dict[int, Variable]

    @classmethod
    def of(cls, concrete: ConcreteFunction) -> SavedConcrete:
        """That of a function that has been traced."""
        traced = concrete._traced
        variables = {id(each._storage): each for each in concrete.graph.accessed.values()}
        specified = concrete._signature.specified
        return cls(concrete.name, traced.graph, specified, traced.structure, traced._drawn, variables)

    @property
    def specs(self) -> list[TensorSpec]:
        """The specs among the arguments."""
        return [each for each in pytree.flatten(list(self.arguments)) if isinstance(each, TensorSpec)]

    @property
    def results(self) -> list[TensorSpec]:
        """The specs of the results."""
        return [each for each in pytree.flatten(self.structure) if isinstance(each, TensorSpec)]

    def tensors(self, values: Sequence[Any], convert: bool) -> list[Tensor] | None:
        """The tensors among the values of parameters; None if the graph is for other arguments.

        Args:
            convert: whether values that are no tensors become tensors.
        """
        found: list[Tensor] = []
        parts = zip(self.arguments, values)
        fits = len(values) == len(self.arguments) and all(_take(*each, found, convert) for each in parts)
        return found if fits else None

    def variable(self, storage: Storage) -> Variable:
        """The variable that has a storage."""
        found = self.variables.get(id(storage))
        if found is None:   # the graph writes it only, and no attribute has it
            found = self.variables[id(storage)] = Variable(wrap(storage.value), False)
            found._storage = storage
        return found

    # A part of a trace ------------------------------------------------------------------------------------------------

    def play(self, tensors: Sequence[Tensor]) -> Any:
        """Make the graph a part of the one that is being made; gives the results."""
        graph = graphs.recording()
        own, outer = copied(self.graph), graph.trace.place()
        given = [graph.trace.lower(in_scope(each)) for each in tensors]
        known: dict[Value, Any] = dict(zip(own.params, given))
        replayed = self._replayed(own) if graph.replay is not None else {}
        for node in own.block.nodes:
            if any(output in replayed for output in node.outputs):
                known |= {value: graph.trace.lower(replayed[value]._value) for value in node.outputs}
            else:
                with ExitStack() as changes:
                    self._add(graph, node, known, outer, changes)
        if own.block.results is None:
            raise Diverged
        return self._returned(graph, map_args(lambda leaf: _current(leaf, known), own.block.results[0]))

    def _replayed(self, own: Graph) -> dict[Value, Tensor]:
        """For a call that has run, the random numbers that it has drawn, by the values that they had."""
        replay = graphs.recording().replay
        assert replay is not None, "the call is recorded again"
        drawn = own.block.results[0][len(self.results) :] if own.block.results else ()
        if any(_target(node) in _DRAWING for node in walk(own.block) if not set(node.outputs) <= set(drawn)):
            raise NotImplementedError(
                f"{self.name} draws random numbers in a branch or loop, and its gradient is asked for outside of it: "
                "take the gradient in a function that was saved"
            )
        return {value: replay.drawn.pop(0) for value in drawn}

    def _add(
        self, graph: graphs.FuncGraph, node: Node, known: dict[Value, Any], outer: Any, changes: ExitStack
    ) -> None:
        """Add a node; variables are read and assigned to as by an operation of TensorFlow's."""
        storage = _storage_of(node)
        if storage is not None and _target(node) is read:
            known[node.output] = graph.trace.lower(self.variable(storage)._as_tensor()._value)
            return
        for inner in walk(Block([node])):
            inner.place = (*outer, *inner.place)
        written = {id(each): each for each in _storages(node, write)}
        for each in written.values():
            variable = self.variable(each)
            value = _current(node.args[2], known) if storage is not None else None
            tensor = value if value is None else wrap(_proxy(graph, value), variable.dtype, variable.shape)
            changes.enter_context(variable._changing(tensor))
        for block in node.blocks:
            self._rewrite(graph, block, written, known)
        if graph.replay is None or not _is_effect(node):
            substitute(node, known)
            graph.trace.append(node)

    def _rewrite(self, graph: graphs.FuncGraph, block: Block, written: dict[int, Storage], known: Any) -> None:
        """Take the reads of variables that the block does not assign to, and for a replay its effects, out of it."""
        stay = []
        for node in block.nodes:
            for inner in node.blocks:
                self._rewrite(graph, inner, written, known)
            storage = _storage_of(node)
            if storage is not None and _target(node) is read:
                variable = self.variable(storage)
                if id(storage) not in written:
                    known[node.output] = graph.trace.lower(variable._as_tensor()._value)
                    continue
                graph.accessed[id(variable)] = variable
            if graph.replay is None or not _is_effect(node):
                stay.append(node)
        block.nodes[:] = stay

    def _returned(self, graph: graphs.FuncGraph, values: Sequence[Any]) -> Any:
        specs = self.results
        tensors = [wrap(_proxy(graph, value), spec.dtype, spec.shape) for value, spec in zip(values, specs)]
        if graph.replay is None and not graph.trace.depth:
            others = zip(values[len(specs) :], self.draws)
            graph.draws += [wrap(_proxy(graph, value), dtype) for value, dtype in others if isinstance(value, Value)]
        rest = iter(tensors)
        return pytree.map(lambda leaf: next(rest) if isinstance(leaf, TensorSpec) else leaf, self.structure)


def _take(spec: Any, value: Any, found: list[Tensor], convert: bool) -> bool:
    """Whether an argument fits; its tensors are added to `found`."""
    if isinstance(spec, TensorSpec):
        return _take_tensor(spec, value, found, convert)
    kind = pytree.kind_of(spec)
    if kind is None:
        return not is_tensor(value) and bool(static_key(spec) == static_key(value))
    other = pytree.kind_of(value)
    is_alike = type(spec) is type(value) or {type(spec), type(value)} == {list, tuple}
    if other is None or not is_alike:
        return False
    parts, given = kind.children(spec), other.children(value)
    return parts.keys() == given.keys() and all(_take(part, given[key], found, convert) for key, part in parts.items())


def _take_tensor(spec: TensorSpec, value: Any, found: list[Tensor], convert: bool) -> bool:
    if not (is_tensor(value) or isinstance(value, TensorSpec)):
        if not convert or not (is_convertible(value) or isinstance(value, (list, tuple))):
            return False
        try:
            value = convert_to_tensor(value, dtype_hint=spec.dtype)
        except (TypeError, ValueError):
            return False
    if not spec.is_compatible_with(value):
        return False
    found.append(convert_to_tensor(value))
    return True


def _target(node: Node) -> Any:
    """The function that a node calls, without the options that it is called with; None for other nodes."""
    if node.op != "call" or not node.args or not isinstance(node.args[0], Constant):
        return None
    function = node.args[0].value
    target = getattr(function, "func", function)
    return target if callable(target) else None


def _storage_of(node: Node) -> Storage | None:
    """The storage of the variable that a node reads or assigns to; None for other nodes."""
    if _target(node) not in (read, write) or len(node.args) < 2:
        return None
    found = node.args[1].value if isinstance(node.args[1], Constant) else node.args[1]
    return found if isinstance(found, Storage) else None


def _storages(node: Node, function: Any) -> Iterator[Storage]:
    for inner in walk(Block([node])):
        storage = _storage_of(inner)
        if storage is not None and _target(inner) is function:
            yield storage


def _is_effect(node: Node) -> bool:
    """Whether a node only has effects, such as printing."""
    return node.op == "call" and all(output.type == NONE for output in node.outputs)


def _current(leaf: Any, known: dict[Value, Any]) -> Any:
    return known.get(leaf, leaf) if isinstance(leaf, Value) else leaf


def _proxy(graph: graphs.FuncGraph, value: Any) -> Any:
    if isinstance(value, Value):
        return graph.trace.proxy(value)
    return value.value if isinstance(value, Constant) else value


# Functions ------------------------------------------------------------------------------------------------------------


class SavedGraphs:
    """Calls the graph that fits the arguments, in place of the Python function that was saved.

    Attributes:
        concretes: the graphs.
    """

    def __init__(self, name: str, doc: str | None, parameters: Sequence[Parameter], concretes: Iterable[Any]) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = "autograph.compat.tensorflow.saved_model"
        self.__doc__ = doc
        self.__code__ = blank_code(["<saved>", name, name, 1])
        self.parameters = list(parameters)
        self.__signature__ = inspect.Signature(self.parameters)
        self.concretes: list[SavedConcrete] = list(concretes)
        self._bind = make_binder(self, self.parameters)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self._bind(*args, **kwargs)
        for convert in (False, True):
            for concrete in self.concretes:
                tensors = concrete.tensors(values, convert)
                if tensors is None:
                    continue
                if graphs.current() is not None:
                    return concrete.play(tensors)
                return Traced(concrete.graph, concrete.structure)([each._value for each in tensors])
        raise self._misfit(values)

    def _misfit(self, values: Sequence[Any]) -> ValueError:
        """The error for arguments that no graph is for."""
        if not self.concretes:
            return ValueError(f"Found zero restored functions for caller function {self.__name__}: it was not traced.")
        got = [f"  Positional arguments ({len(values)} total):", *(f"    * {each!r}" for each in values)]
        options = []
        for number, concrete in enumerate(self.concretes, 1):
            wanted = [f"    * {each!r}" for each in concrete.arguments]
            total = f"  Positional arguments ({len(wanted)} total):"
            options.append("\n".join([f"Option {number}:", total, *wanted, "  Keyword arguments: {}"]))
        return ValueError(
            "Could not find matching concrete function to call loaded from the SavedModel. Got:\n"
            + "\n".join([*got, "  Keyword arguments: {}"])
            + f"\n\n Expected these arguments to match one of the following {len(options)} option(s):\n\n"
            + "\n\n".join(options)
        )
