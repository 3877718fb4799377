"""A view of a graph: as text, and in notebooks as colored text or as a picture."""

from __future__ import annotations

from typing import Any

from autograph.runtime.graph.graph import Graph, walk
from autograph.runtime.graph_text.graphviz import find_dot, to_dot, to_svg
from autograph.runtime.graph_text.html import to_html
from autograph.runtime.graph_text.json_text import to_json
from autograph.runtime.graph_text.printer import objects, to_text


class GraphView:
    """A view of a graph, from `function.graph(…)`. `print` shows its text; a notebook shows it in colors.

    Attributes:
        graph: the graph itself.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def __str__(self) -> str:
        return to_text(self.graph)

    def __repr__(self) -> str:
        count = sum(1 for _ in walk(self.graph.block))
        return f"<graph {self.graph.name}: {count} node{'s' * (count != 1)}; print it to see them>"

    def to_text(self, places: bool = False) -> str:
        """The text that `str` gives; with `places`, each node's line in the user's files is added."""
        return to_text(self.graph, places)

    @property
    def objects(self) -> dict[str, Any]:
        """The objects that the text calls `@name`, by name."""
        return objects(self.graph)

    def to_dot(self) -> str:
        """The graph in the language of Graphviz."""
        return to_dot(self.graph)

    def to_svg(self) -> str:
        """A picture of the graph, drawn by Graphviz, which must be installed."""
        return to_svg(self.graph)

    def to_html(self) -> str:
        """The text of the graph, in colors."""
        return to_html(self.graph)

    def to_json(self, indent: int | None = 2) -> str:
        """The graph for other programs, in the format of `autograph.runtime.graph_text.json_text`."""
        return to_json(self.graph, indent)

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_svg_(self) -> str | None:
        return self.to_svg() if find_dot() else None
