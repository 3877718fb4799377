"""The state of a thread: the graph that it makes, in which ops record; the tapes that watch; and scopes of names."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograph.runtime.graph.graph import Block, Constant, Node, Value
from autograph.runtime.tracing.proxies.context import TraceContext, Values
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import Changes


@dataclass
class Replay:
    """The values of a call that has run and is recorded again, without its effects, for its gradient.

    Attributes:
        reads: the values of the variables that it read, by the ids of these.
        drawn: the random numbers that it drew.
    """

    reads: dict[int, Any]
    drawn: list[Any]


class FuncGraph:
    """One tracing of a function.

    Attributes:
        trace: records the nodes.
        features: the optional features of AutoGraph that the user wants.
        writers: for each body that is being traced, the functions whose statements have changed containers, by the ids
            of these.
        loops: for each loop that is being traced, the depth of its body.
        printed: buffers of `print` in the bodies of loops, which may be traced again.
        variables: those that were made while tracing.
        accessed: the variables that are read, by their ids.
        lists: those whose element type was set, by their ids.
        tapes: those that were begun in it, the innermost last.
        inputs: the tensors of its parameters.
        outputs: the tensors of its results.
        draws: the random numbers that a run draws, once each.
        stand_ins: the values of watched constants, by the ids of these, with the constants.
        scopes: the names of the scopes in which nodes were recorded.
        check_variables: raises if no variable may be made.
        has_state: whether an optimizer made its variables in it.
    """

    def __init__(self, name: str, features: Iterable[Any] = ()) -> None:
        self.name = name
        self.trace = Trace(name, _Context())
        self.features = frozenset(features)
        self.writers: dict[Changes, dict[int, set[Any]]] = {}
        self.loops: list[int] = []
        self.printed: list[Any] = []
        self.variables: list[Any] = []
        self.accessed: dict[int, Any] = {}
        self.lists: dict[int, Any] = {}
        self.tapes: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.draws: list[Any] = []
        self.replay: Replay | None = None
        self.stand_ins: dict[int, tuple[Any, Any]] = {}
        self.scopes: dict[Node, tuple[str, ...]] = {}
        self.check_variables: Callable[[], None] = lambda: None
        self.has_state = False
        self._names: Counter[str] = Counter()

    def unique_name(self, base: str) -> str:
        """`base`, with a number if there is such a name already."""
        number = self._names[base]
        self._names[base] += 1
        return f"{base}_{number}" if number else base

    def get_operations(self) -> list[Any]:
        """The nodes of the graph in TensorFlow's text format."""
        return list(self.as_graph_def().node)

    def as_graph_def(self) -> Any:
        """The graph in TensorFlow's text format."""
        from autograph.compat.tensorflow.core.graph_def import GraphDef

        return GraphDef(self.trace.graph)

    def __repr__(self) -> str:
        return f"FuncGraph(name={self.name})"


class _Constants(Values):
    def lift(self, value: Any) -> Any:
        return value if isinstance(value, (np.generic, np.dtype, Value)) else Constant(value)


class _Context(TraceContext):
    keeps_containers = True
    materializer = _Constants()


class _Graphs(threading.local):
    def __init__(self) -> None:
        self.stack: list[FuncGraph | None] = []
        self.eager = False
        self.tapes: list[Any] = []
        self.made: list[FuncGraph] | None = None
        self.scopes: list[str] = []
        self.path: tuple[str, ...] = ()     # of scopes of nodes


_graphs = _Graphs()


def current() -> FuncGraph | None:
    """The graph that is being made; None if ops run eagerly."""
    return _graphs.stack[-1] if _graphs.stack else None


def recording() -> FuncGraph:
    """The graph that is being made, where there must be one."""
    graph = current()
    assert graph is not None, "ops are recorded only in graphs"
    return graph


@contextmanager
def building(graph: FuncGraph | None) -> Iterator[FuncGraph | None]:
    """While it lasts, ops are recorded in `graph`; if that is None, they run eagerly."""
    _graphs.stack.append(graph)
    try:
        yield graph
    finally:
        _graphs.stack.pop()


@contextmanager
def untaped() -> Iterator[None]:
    """While it lasts, no tape watches."""
    before, _graphs.tapes = _graphs.tapes, []
    try:
        yield
    finally:
        _graphs.tapes = before


def tapes() -> list[Any]:
    """The tapes that watch, the innermost last."""
    return _graphs.tapes


def note(again: Callable[..., Any], inputs: Any, outputs: Any, parts: Any = None) -> None:
    """Report an op that has run to the tapes.

    Args:
        again: records it once more, of other tensors.
        parts: the other values that `again` depends on; None if they are unknown.
    """
    for tape in _graphs.tapes:
        tape.note(again, inputs, outputs, parts)


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Let all functions run as plain Python from now on; or as graphs again."""
    _graphs.eager = run_eagerly


def functions_run_eagerly() -> bool:
    """Whether functions run as plain Python."""
    return _graphs.eager


def remember(made: list[FuncGraph] | None) -> None:
    """Add each graph that is made from now on to a list; None: to none."""
    _graphs.made = made


def remembered() -> list[FuncGraph] | None:
    """The list of `remember`."""
    return _graphs.made


def prefixed(name: str) -> str:
    """A name after the names of the scopes around it."""
    return "/".join((*_graphs.scopes, name))


class node_scope:
    """A context in which nodes are recorded in a scope, for pictures of the graph."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._outside: list[tuple[tuple[str, ...], Block | None, Node | None]] = []

    def __enter__(self) -> Any:
        graph = current()
        block = graph.trace.block if graph is not None else None
        self._outside.append((_graphs.path, block, block.nodes[-1] if block is not None and block.nodes else None))
        _graphs.path = (*_graphs.path, *self.name.split("/")) if self.name else ()

    def __exit__(self, *raised: Any) -> None:
        path, block, last = self._outside.pop()
        graph = current()
        if graph is not None and block is graph.trace.block:
            for node in reversed(block.nodes):
                if node is last:
                    break
                graph.scopes.setdefault(node, _graphs.path)     # inner scopes have ended before
        _graphs.path = path


class name_scope(node_scope):
    """`with tf.name_scope("encoder")` puts `encoder/` in front of the names of variables and nodes made there."""

    def __init__(self, name: Any = "", *args: Any, **kwargs: Any) -> None:
        super().__init__(str(name or "").rstrip("/"))
        self._before: list[list[str]] = []

    def __enter__(self) -> str:
        super().__enter__()
        self._before.append(_graphs.scopes)
        _graphs.scopes = [*_graphs.scopes, self.name] if self.name else []
        return "/".join((*_graphs.scopes, ""))

    def __exit__(self, *raised: Any) -> None:
        _graphs.scopes = self._before.pop()
        super().__exit__(*raised)
