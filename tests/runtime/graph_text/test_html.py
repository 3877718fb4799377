"""The HTML of a graph: its text, and well-formed."""

import html
import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings

import autograph.runtime.ops  # noqa: F401  # the colors come from the ops' effects
from autograph.runtime.graph_text.html import to_html
from autograph.runtime.graph_text.printer import to_text
from tests.runtime.graph_text.test_printer import COLLATZ, collatz, place
from tests.runtime.random_graphs import graphs


def shown(page):
    """The text that a browser shows."""
    body = re.sub(r"<style>.*?</style>", "", page, flags=re.S)
    lines = re.sub(r"</div>|</summary>", "\n", body)
    return html.unescape(re.sub(r"<[^>]*>", "", lines)).strip("\n")


def test_it_shows_the_text():
    assert shown(to_html(collatz())) == COLLATZ


@pytest.mark.once
@given(graphs())
@settings(max_examples=50, deadline=None)
def test_it_shows_every_text_in_well_formed_html(graph):
    page = to_html(graph)
    assert shown(page) == to_text(graph)
    ElementTree.fromstring(page)


def test_blocks_fold():
    page = to_html(collatz())
    assert page.count('<details open="">') == page.count("</details>") == 7  # graph, while, test, body, if, then, else


def test_titles_tell_types_effects_and_places():
    graph = collatz()
    graph.block.nodes[0].place = place(12)
    page = to_html(graph)
    assert 'title="n.3: py.int">n.3</span>' in page
    assert 'title="while, control, model.py:12">while</span>' in page
    assert '<span class="op pure" title="mod, pure">%</span>' in page


def test_a_value_lights_up_wherever_it_stands():
    page = to_html(collatz())
    (number,) = set(re.findall(r'class="\w+ (v\d+)" title="n.3: py.int"', page))
    assert page.count(f'{number}" title=') == 4
    assert f".autograph-graph:has(.{number}:hover) .{number} {{" in page
