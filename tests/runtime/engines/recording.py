"""A tracer in twenty lines: records what is done with its arguments, with the places where it is done."""

from __future__ import annotations

import sys
from typing import Any

from autograph.runtime.graph.graph import Graph, Node, Value, map_args
from autograph.runtime.graph.types import ANY


class Recorded:
    """Stands for a value while a function is recorded."""

    def __init__(self, graph: Graph, value: Value) -> None:
        self.graph, self.value = graph, value

    def record(self, op: str, *args: Any) -> Recorded:
        place, frame = [], sys._getframe(1)
        while frame.f_code is not record.__code__:
            if frame.f_code.co_filename != __file__:
                place.append((frame.f_code, frame.f_lasti))
            frame = frame.f_back
        args = map_args(lambda arg: arg.value if isinstance(arg, Recorded) else arg, args)
        node = self.graph.block.append(Node(op, args, place=tuple(reversed(place))))
        return Recorded(self.graph, node.add_output(ANY))

    def __add__(self, other: Any) -> Recorded:
        return self.record("add", self, other)

    def __mul__(self, other: Any) -> Recorded:
        return self.record("mul", self, other)

    def __truediv__(self, other: Any) -> Recorded:
        return self.record("truediv", self, other)

    def __getitem__(self, index: Any) -> Recorded:
        return self.record("getitem", self, index)

    def __call__(self, *args: Any) -> Recorded:
        return self.record("call", self, *args)


def record(function: Any) -> Graph:
    """The graph of a function."""
    code = function.__code__
    graph = Graph(function.__qualname__)
    params = [Recorded(graph, graph.block.add_param(ANY, name)) for name in code.co_varnames[: code.co_argcount]]
    result = function(*params)
    graph.block.results = map_args(lambda arg: arg.value if isinstance(arg, Recorded) else arg, (result,))
    return graph
