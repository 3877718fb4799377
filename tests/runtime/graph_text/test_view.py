"""What `function.graph(…)` gives, in a terminal and in a notebook."""

import json

from autograph.runtime.graph.graph import Constant
from autograph.runtime.graph_text import view
from autograph.runtime.graph_text.view import GraphView
from tests.runtime.graph_text.test_printer import COLLATZ, collatz, place


def test_it_prints_as_text():
    shown = GraphView(collatz())
    assert str(shown) == shown.to_text() == COLLATZ
    assert repr(shown) == "<graph collatz: 9 nodes; print it to see them>"
    shown.graph.block.nodes[0].place = place(12)
    assert "# model.py:12" in shown.to_text(places=True)


def test_it_gives_all_forms():
    shown = GraphView(collatz())
    assert shown.to_dot().startswith('digraph "collatz" {')
    assert shown.to_html() == shown._repr_html_()
    assert json.loads(shown.to_json())["name"] == "collatz"
    assert "\n" not in shown.to_json(indent=None)


def test_it_gives_the_objects_of_the_text():
    shown = GraphView(collatz())
    xs = [1]
    shown.graph.block.results = (Constant(xs),)
    assert shown.objects == {"list": Constant(xs)}


def test_there_is_a_picture_if_graphviz_is_there(monkeypatch):
    monkeypatch.setattr(view, "find_dot", lambda: None)
    assert GraphView(collatz())._repr_svg_() is None
    monkeypatch.setattr(view, "find_dot", lambda: "dot")
    monkeypatch.setattr(view, "to_svg", lambda graph: f"<svg>{graph.name}</svg>")
    assert GraphView(collatz())._repr_svg_() == "<svg>collatz</svg>"
