"""Summaries for the page Graphs of TensorBoard: the graphs of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograph.common import code_marks
from autograph.runtime.graph.graph import Graph
from autograph.summary import protos

if TYPE_CHECKING:
    from tensorboard.compat.proto.graph_pb2 import GraphDef
    from tensorboard.compat.proto.summary_pb2 import Summary


def graph_of(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Graph:
    """The graph of a call of a function; or the one that a view or a concrete function has."""
    from autograph.runtime.dispatch.concrete_function import ConcreteFunction
    from autograph.runtime.graph_text.view import GraphView
    from autograph.transforms.staging import function as staged

    if isinstance(function, Graph):
        return function
    if isinstance(function, ConcreteFunction):
        function = function.graph
    if isinstance(function, GraphView):
        return function.graph
    is_staged = getattr(type(function), "__ag_staged__", False) or code_marks.is_staged_function(function)
    view: GraphView = (function if is_staged else staged(function)).graph(*args, **kwargs)
    return view.graph


def graph_summary(name: str, graph_def: GraphDef) -> Summary:
    """A graph with a name, which can be chosen on the page."""
    from tensorboard.compat.proto.config_pb2 import RunMetadata

    made = RunMetadata(function_graphs=[RunMetadata.FunctionGraphs(pre_optimization_graph=graph_def)])
    return protos.blob(name, made.SerializeToString(), "graph_run_metadata_graph")
