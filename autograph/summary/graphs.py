"""Summaries for the page Graphs of TensorBoard: the graphs of functions, and the run times of their nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from autograph.common import code_marks
from autograph.runtime.graph.graph import Graph
from autograph.summary import protos
from autograph.summary.graph_def import Drawing

if TYPE_CHECKING:
    from tensorboard.compat.proto.config_pb2 import RunMetadata
    from tensorboard.compat.proto.summary_pb2 import Summary

    from autograph.runtime.profiling.profile import Profile

DEVICE = "/device:CPU:0"


def staged(function: Any) -> Any:
    """A function staged, unless it is."""
    from autograph.transforms.staging import function as stage

    is_staged = getattr(type(function), "__ag_staged__", False) or code_marks.is_staged_function(function)
    return function if is_staged else stage(function)


def graph_of(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Graph:
    """The graph of a call of a function; or the one that a view or a concrete function has."""
    from autograph.runtime.dispatch.concrete_function import ConcreteFunction
    from autograph.runtime.graph_text.view import GraphView

    if isinstance(function, Graph):
        return function
    if isinstance(function, ConcreteFunction):
        function = function.graph
    view: GraphView = function if isinstance(function, GraphView) else staged(function).graph(*args, **kwargs)
    return view.graph


def timed_call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Graph, Profile]:
    """The result of a call of the graph of a function, this graph, and a profile of the call."""
    from autograph.runtime.profiling.profile import Profile

    concrete = staged(function).get_concrete_function(*args, **kwargs)
    assert concrete.graph is not None   # or an error, before anything runs
    profile = Profile()
    with profile:
        result = concrete(*args, **kwargs)
    return result, concrete.graph.graph, profile


def graph_summary(name: str, drawings: Iterable[Drawing], profile: Profile | None = None) -> Summary:
    """Graphs under a name, which can be chosen on the page; with the run times of their nodes if there is a profile."""
    from tensorboard.compat.proto.config_pb2 import RunMetadata

    drawings = list(drawings)
    graphs = RunMetadata.FunctionGraphs()
    for drawing in drawings:
        graphs.pre_optimization_graph.MergeFrom(drawing.graph_def)
    made = RunMetadata(function_graphs=[graphs])
    if profile is not None:
        _add_times(made, drawings, profile)
    plugin = "graph_run_metadata_graph" if profile is None else "graph_run_metadata"
    return protos.blob(name, made.SerializeToString(), plugin)


def _add_times(made: RunMetadata, drawings: list[Drawing], profile: Profile) -> None:
    """Add the time of each node of some graphs, of all its runs. One that machine code runs with others has theirs."""
    names = {node: name for drawing in drawings for node, name in reversed(drawing.names.items())}
    alike = {(node.op, node.place): name for node, name in names.items()}   # machine code is made of copies of nodes
    seconds: Counter[str] = Counter()
    labels: dict[str, str] = {}
    for time in profile.nodes:
        known = (names.get(node) or alike.get((node.op, node.place)) for node in time.nodes)
        name = next(filter(None, known), None)
        if name is not None:
            seconds[name] += time.seconds   # type: ignore[assignment]
            labels[name] = f"{time.op}: {time.calls} runs by {time.engine}"
    device = made.step_stats.dev_stats.add(device=DEVICE)
    for name, label in labels.items():
        duration = max(1, round(seconds[name] * 1e6))
        times = {"op_end_rel_micros": duration, "all_end_rel_micros": duration}
        device.node_stats.add(node_name=name, all_start_micros=1, timeline_label=label, **times)
