"""A tracer and an engine that do just enough to test what stands around them: signatures, traces, guards, calls.

The graph that the tracer makes is one node, which calls the function on the arguments that the graph gets.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from autograph.runtime.engines.numpy.engine import Compiled
from autograph.runtime.graph.graph import Constant, Graph, Node, Value, map_args
from autograph.runtime.graph.signature import Event, Guard, Signature, Static, Traced
from autograph.runtime.graph.types import ANY


def _nothing(signature: Signature) -> None: ...


class FakeTracer:
    """Attributes: `signatures`, of what was traced; what else a test sets is given back as it is."""

    def __init__(self) -> None:
        self.signatures: list[Signature] = []
        self.examples: list[Any] = []
        self.guards: list[Guard] = []
        self.events: list[Event] = []
        self.containers: tuple[str, ...] = ()
        self.plain = ""
        self.before: Callable[[Signature], None] = _nothing

    def __call__(self, function: Any, signature: Signature, example: Any, options: Any) -> Traced:
        self.signatures.append(signature)
        self.examples.append(example)
        self.before(signature)
        graph = Graph(getattr(function, "__name__", "f"))
        params = [graph.block.add_param(leaf.type, path) for path, leaf in signature.dynamic]
        containers = [graph.block.add_param(ANY, path) for path in self.containers]
        rest = iter(params)
        leaves = [leaf.value if isinstance(leaf, Static) else next(rest) for leaf in signature.leaves]
        args, kwargs = signature.fill(leaves)
        node = Node("call", (function, *args), kwargs)
        node.add_output(ANY)
        graph.block.append(node)
        graph.block.results = (node.output,)
        if containers:  # use them, so that they are not dropped
            used = Node("call", (_nothing, *containers), {})
            used.add_output(ANY)
            graph.block.append(used)
        return Traced(graph, list(self.guards), self.containers, list(self.events), self.plain)

    def __len__(self) -> int:
        return len(self.signatures)

    @property
    def texts(self) -> list[str]:
        return [str(signature) for signature in self.signatures]


class FakeExecutable(Compiled):
    source = "def f(…): …"

    def __init__(self, graph: Graph, module: Any = None) -> None:
        self.graph = graph

    def translate(self, error: BaseException) -> None:
        pass

    def run(self, *params: Any) -> Any:
        values: dict[Value, Any] = dict(zip(self.graph.params, params))

        def leaf(arg: Any) -> Any:
            return values[arg] if isinstance(arg, Value) else arg.value if isinstance(arg, Constant) else arg

        node = self.graph.block.nodes[0]
        function, *args = map_args(leaf, node.args)
        return function(*args, **map_args(leaf, node.kwargs))


def fake_engine() -> types.ModuleType:
    module = types.ModuleType("autograph.runtime.engines.numpy.engine")
    module.compile = FakeExecutable  # type: ignore[attr-defined]
    return module
