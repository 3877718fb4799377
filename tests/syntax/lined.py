"""Functions prepared for analysis, and their graphs with the lines of the steps."""

from __future__ import annotations

from typing import Any

import gast

from autograph.syntax import cfg, scope


def function(program: str, plain: str | None) -> Any:
    """The last function of a program, its `if`s and loops marked: `plain` as in converters/context/plain.py."""
    tree = gast.parse(program).body[-1]
    for node in gast.walk(tree):
        if isinstance(node, (gast.If, gast.While, gast.For, gast.AsyncFor)):
            node.plain, node.returns, node.until = plain, False, []
    return tree


class LinedBuilder(cfg._Builder):
    """A builder of graphs that remembers on which line each step stands."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(cfg.Graph({name: i for i, name in enumerate(names)}), {})
        self.line_of: dict[int, int] = {}

    def uses(self, after: int, jumps: cfg._Jumps, *nodes: gast.AST | None) -> tuple[int, int]:
        found = super().uses(after, jumps, *nodes)
        places = [node.lineno for whole in nodes if whole for node in gast.walk(whole) if hasattr(node, "lineno")]
        self.line_of[found[0]] = min(places)
        return found


def lined_graph(node: Any) -> tuple[cfg.Graph, dict[int, int]]:
    """The graph of a function as Python runs it, and the line of each step that stands on one.

    Steps are made backwards: the last one made of a line is its first.
    """
    own = scope.uses(*node.body)
    builder = LinedBuilder([*dict.fromkeys([*scope.parameters(node), *own.reads, *own.writes])])
    end = builder.step(0, 0, [], ())
    builder.block(node.body, end, cfg._Jumps(end, end, end))
    return builder.graph, builder.line_of
