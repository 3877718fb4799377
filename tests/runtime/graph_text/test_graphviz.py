"""Pictures: what is in them, and that Graphviz draws whatever graph there is."""

import html
import re
import shutil
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings

import autograph.runtime.ops  # noqa: F401  # the colors come from the ops' effects
from autograph.errors import DrawingError
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.opdef import ORDERED, PURE, VIEW, WRITE
from autograph.runtime.graph_text import graphviz
from autograph.runtime.graph_text.graphviz import COLORS, effect_of, to_dot, to_svg
from autograph.runtime.graph_text.parser import parse
from tests.runtime.graph_text.test_printer import collatz, place
from tests.runtime.random_graphs import graphs

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")


def visible(label):
    """What a reader sees of a label."""
    return html.unescape(re.sub(r"<[^>]*>", "", label.replace("<br/>", " / ")))


def boxes(dot):
    """What the boxes of a drawing say, by key."""
    return {key: visible(label) for key, label in re.findall(r"^\s*(n\d+) \[label=<(.*)>, tooltip=", dot, re.M)}


def arrows(dot, style=None):
    """Where arrows of a style lead from and to."""
    said = boxes(dot)
    found = re.findall(r"^\s*(n\d+) -> (n\d+)(?: \[(.*)\])?;", dot, re.M)
    return [
        (said.get(start, "•"), said.get(end, "•"))
        for start, end, looks in found
        if re.search(rf'style="{style}"', looks) or (style is None and "style" not in looks)
    ]


def test_boxes_say_what_nodes_do_and_what_comes_out():
    assert list(boxes(to_dot(collatz())).values()) == [
        "n: py.int",
        "while(0, n)",
        "steps.1: py.int", "n.2: py.int", "n.2 != 1 / %0: py.bool", "→ %0",
        "steps.2: py.int", "n.3: py.int", "n.3 % 2 / %1: py.int", "%1 == 0 / %2: py.bool",
        "if(%2)", "n.3 // 2 / n.5: py.int", "→ n.5",
        "3 * n.3 / %3: py.int", "%3 + 1 / n.6: py.int", "→ n.6",
        "n.4: py.int",
        "steps.2 + 1 / steps.3: py.int", "→ steps.3, n.4",
        "steps: py.int / n.1: py.int",
        "return steps",
    ]  # fmt: skip


def test_arrows_follow_values_and_blocks():
    dot = to_dot(collatz())
    assert ("%1 == 0 / %2: py.bool", "if(%2)") in arrows(dot)
    assert ("steps: py.int / n.1: py.int", "return steps") in arrows(dot)
    assert ("while(0, n)", "n.3: py.int") in arrows(dot, "dotted")
    assert ("→ steps.3, n.4", "steps: py.int / n.1: py.int") in arrows(dot, "dotted")
    assert arrows(dot, "dashed") == []


def test_dashed_arrows_tell_the_order_of_what_can_be_seen():
    graph = parse("""
graph f(x: f64[3], y: f64):
    print(y)
    %0: f64 = np.sum(x)
    if(y):
      then:
        x[0] = 1
      else:
        pass
    if(y):
      then:
        %1: f64 = y + 1
      else:
        pass
    print(%0)
    -> x""".lstrip())
    assert arrows(to_dot(graph), "dashed") == [("print(y)", "if(y)"), ("if(y)", "print(%0)")]


@pytest.mark.parametrize(
    "node, effect",
    [
        (Node("add", (1, 2)), PURE),
        (Node("getitem", (1, 2)), VIEW),
        (Node("setitem", (1, 2, 3)), WRITE),
        (Node("print", (1,)), ORDERED),
        (Node(".anything", (1,)), ORDERED),
        (Node("no such op", (1,)), ORDERED),
        (collatz().block.nodes[0], graphviz.CONTROL),
    ],
)
def test_colors_tell_the_effect(node, effect):
    assert effect_of(node) == effect
    graph = collatz()
    graph.block.nodes.insert(0, node)
    assert COLORS[effect][0] in to_dot(graph)


def test_long_labels_are_cut():
    graph = parse(f"graph f():\n    print('{'x' * 100}')\n    -> 1")
    (label,) = [label for label in boxes(to_dot(graph)).values() if "print" in label]
    assert len(label) < 70 and "…" in label


def test_tooltips_tell_the_place():
    graph = collatz()
    graph.block.nodes[0].place = place(12)
    assert 'tooltip="steps: py.int, n.1: py.int = while(0, n):\\nmodel.py:12"' in to_dot(graph)


@needs_dot
def test_graphviz_draws_it():
    root = ElementTree.fromstring(to_svg(collatz()))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "body" in texts and "graph collatz" in texts


@needs_dot
@given(graphs())
@settings(max_examples=25, deadline=None)
def test_graphviz_draws_everything(graph):
    ElementTree.fromstring(to_svg(graph))


def test_without_graphviz_there_is_a_clear_error(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(DrawingError, match="needs the program `dot` of Graphviz.*apt install graphviz"):
        to_svg(collatz())


def test_what_graphviz_says_is_passed_on(monkeypatch):
    monkeypatch.setattr(graphviz, "find_dot", lambda: shutil.which("false"))
    with pytest.raises(DrawingError, match="could not draw the graph collatz"):
        to_svg(collatz())
