"""From a Python function and the kinds of its arguments to something that runs: trace, optimize, compile."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import autograph.runtime.ops  # noqa: F401  (declares them)
from autograph.common import defects, forking, pytree
from autograph.common.messages import UNBOUND_LOCAL
from autograph.compat.tensorflow.core import blas, graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor, is_convertible
from autograph.compat.tensorflow.core.errors import OperatorNotAllowedInGraphError, reraise
from autograph.compat.tensorflow.core.shapes import TensorSpec
from autograph.compat.tensorflow.core.tensor import Tensor, eager, normal, type_of
from autograph.compat.tensorflow.staging.backend import TENSORFLOW, check_syntax
from autograph.compat.tensorflow.staging.signatures import Signature
from autograph.operators import calls
from autograph.operators.backend import traced_by
from autograph.runtime.engines.numpy import engine
from autograph.runtime.graph.graph import Graph, copied
from autograph.runtime.graph_text.printer import expression
from autograph.runtime.passes import LAST, PASSES, dce, optimize
from autograph.runtime.tracing.proxies.graph_break import NeedsConcrete, Plain, Signal, Unstageable, watched_signals
from autograph.runtime.tracing.state.blame import line_of


class Traced:
    """A function for arguments of certain kinds, as a graph that can run.

    Attributes:
        structure: of its result, with a `TensorSpec` for each tensor.

    Args:
        graph: optimized, without reused memory.
        draws: the random numbers that it gives besides its result.
    """

    def __init__(self, graph: Graph, structure: Any, draws: Sequence[Tensor] = ()) -> None:
        self.graph = graph
        self.structure = structure
        self._dtypes = [leaf.dtype for leaf in pytree.flatten(structure) if isinstance(leaf, TensorSpec)]
        self._drawn = [each.dtype for each in draws]
        running = copied(graph)
        optimize(running, PASSES.keys() - LAST)
        self._context = blas.context_for(blas.largest_product(graph))
        self._executable = engine.compile(running)

    def __call__(self, values: Sequence[Any]) -> Any:
        return self._result(self._run(values))

    def values(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The values of the tensors of the result."""
        return tuple([normal(value, dtype) for value, dtype in zip(self._run(values), self._dtypes)])

    def with_draws(self, values: Sequence[Any]) -> tuple[Any, list[Tensor]]:
        """The result of the function, and the random numbers that this run has drawn."""
        found = self._run(values)
        return self._result(found), [eager(*each) for each in zip(found[len(self._dtypes) :], self._drawn)]

    def _run(self, values: Sequence[Any]) -> Any:
        try:
            with np.errstate(all="ignore"), self._context:
                return self._executable.run(*values)
        except Exception as error:
            self._executable.translate(error)
            reraise(error)

    def _result(self, found: Any) -> Any:
        tensors = iter([eager(value, dtype) for value, dtype in zip(found, self._dtypes)])
        if type(self.structure) is TensorSpec:
            return next(tensors)
        return pytree.map(lambda leaf: next(tensors) if isinstance(leaf, TensorSpec) else leaf, self.structure)


def trace(
    function: Callable[..., Any], name: str, signature: Signature, features: Any,
    check_variables: Callable[[], None], convert: bool,
) -> tuple[Traced, graphs.FuncGraph]:
    """Trace a function for arguments of a signature."""
    graph = graphs.FuncGraph(name, features)
    graph.check_variables = check_variables
    with forking.undivided(), watched_signals(), graphs.building(graph):
        for parameter, spec in signature.specs:
            value = graph.trace.graph.block.add_param(type_of(spec.dtype, spec.shape), parameter)
            proxy = graph.trace.proxy(value)
            graph.inputs.append(Tensor(proxy, spec.dtype, spec.shape, graph, graph.unique_name(parameter)))
        args, kwargs = signature.filled(graph.inputs)
        with traced_by(TENSORFLOW):
            graph.trace.location.start_from(sys._getframe())
            try:
                result = _returned(graph, call(function, args, kwargs, convert))
            except Signal as signal:
                raise unstageable(signal, graph.name) from None
            finally:
                graph.trace.close()
                graph.trace.location.start_from(None)  # that frame holds on to the arguments
    dce.run(graph.trace.graph, strict=False)
    optimize(graph.trace.graph, LAST)
    traced = Traced(graph.trace.graph, result, graph.draws)
    made = graphs.remembered()
    if made is not None:
        made.append(graph)
    return traced, graph


def unstageable(signal: Signal, name: str) -> Exception:
    """The error for a graph break, as functions with TensorFlow's API never run as plain Python instead."""
    line = line_of(getattr(signal, "place", ()))
    at = " ({}:{})".format(*line) if line else ""
    if isinstance(signal, NeedsConcrete):
        written = expression(signal.value)
        return OperatorNotAllowedInGraphError(
            f"Using a symbolic `tf.Tensor`{f', `{written}`,' * bool(written)} as a Python value is not allowed: it is "
            f"needed {signal.use}{at}, but known only when the graph runs. Use TensorFlow's operations instead"
        )
    if isinstance(signal, (Plain, Unstageable)):
        return OperatorNotAllowedInGraphError(f"{signal}{at}, which a graph cannot do: let a tf.py_function do it")
    return defects.internal_error(f"autograph fails to trace {name}", signal)


def call(function: Callable[..., Any], args: Any, kwargs: Any, convert: bool = True) -> Any:
    """Call a function as converted code would while tracing."""
    if convert:
        check_syntax(function)
        function = calls.call(function)
    try:
        return function(*args, **kwargs)
    except UnboundLocalError as error:
        name = getattr(error, "name", None) or str(error).partition("'")[2].partition("'")[0]
        if str(error) != UNBOUND_LOCAL.format(name):
            raise
        raise UnboundLocalError(f"'{name}' is used before assignment").with_traceback(error.__traceback__) from None


def _returned(graph: graphs.FuncGraph, result: Any) -> Any:
    """End the graph with the result of the function; gives that with specs in place of tensors."""
    outputs: list[Any] = []

    def leaf(value: Any) -> Any:
        if value is None:
            return None
        if not is_convertible(value):
            raise TypeError(
                f"To be compatible with tf.function, Python functions must return zero or more Tensors or composite "
                f"tensors; in compilation of {graph.name}, found return value of type {type(value)}, which is not one"
            )
        tensor = convert_to_tensor(value)
        graph.outputs.append(tensor)
        outputs.append(graph.trace.lower(tensor._value))
        return TensorSpec(tensor.shape, tensor.dtype)

    structure = pytree.map(leaf, result)
    drawn = {graph.trace.lower(tensor._value): tensor for tensor in graph.draws}
    graph.draws = [tensor for value, tensor in drawn.items() if value.node not in graph.trace.dropped]
    outputs += [value for value in drawn if value.node not in graph.trace.dropped]  # it was in the test of a loop
    graph.trace.finish((tuple(outputs),))
    return structure
