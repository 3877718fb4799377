"""TensorBoard in a browser shows the charts and graphs that were written."""

from __future__ import annotations

import numpy as np
import pytest

import autograph as ag
from tests.board import CHROMIUM, DRIVER, browser, tensorboard

pytest.importorskip("tensorboard")
pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="there is no chromium with chromedriver"),
]


def smooth(x):
    return x * 0.9


def relax(x, target):
    x = smooth(x)
    while np.sum(x) > target:
        if np.max(x) > 1:
            x = x - 1
        x = smooth(x)
    return x


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    with ag.summary.create_file_writer(folder / "run") as writer:
        for step in range(50):
            writer.scalar("train/loss", 0.9**step, step)
        writer.graph(relax, np.ones(4), 0.5)
    return folder


@pytest.fixture(scope="module")
def board(folder):
    with tensorboard(folder) as board:
        yield board


@pytest.fixture(scope="module")
def page():
    with browser() as page:
        yield page


def test_a_chart_of_scalars(board, page):
    assert len(board.json("plugin/scalars/scalars", run="run", tag="train/loss")) == 50
    page.open(f"{board.url}#scalars")
    page.wait_for("return texts('*').includes('train/loss')")
    marks = page.wait_for("const found = texts('text').map(Number).filter(x => x > 0); return found.length && found")
    assert 40 in marks and max(mark for mark in marks if mark < 2) >= 0.5    # of steps, and of losses


def test_the_graph_with_its_scopes(board, page):
    text = board.get("plugin/graphs/graph", run="run", tag="relax")
    assert 'name: "while/body/smooth/mul"' in text and 'name: "while/body/if/then/sub"' in text
    page.open(f"{board.url}#graphs")
    names = "const names = find('g.node').map(node => node.getAttribute('data-name'));"
    shown = page.wait_for(f"{names} return names.length > 4 && names")
    assert set(shown) == {"x", "target", "smooth", "while", "return"}
    for scope, inside in (("while", "while/body"), ("while/body", "while/body/if")):
        page.run(
            "const node = find('g.node').find(each => each.getAttribute('data-name') === arguments[0]);"
            "node.querySelector('.nodeshape *').dispatchEvent(new MouseEvent('dblclick', {bubbles: true}));",
            scope,
        )
        shown = page.wait_for(f"{names} return names.includes(arguments[0]) && names", inside)
    assert {"while/test", "while/x", "while/body/smooth", "while/body/max"} <= set(shown)


def test_run_times_color_the_graph(tmp_path, page):
    with ag.summary.create_file_writer(tmp_path) as writer:
        writer.trace(ag.function(relax, engine="numpy"), np.ones(4), 0.5)
    button = "find('paper-radio-button').find(each => each.textContent.trim() === arguments[0])"
    fill = "find('g.node[data-name=while] .nodeshape > *').map(each => each.style.fill)[0]"
    with tensorboard(tmp_path) as board:
        assert 'node_name: "while/body/smooth/mul"' in board.get("plugin/graphs/run_metadata", run=".", tag="relax")
        page.open(f"{board.url}#graphs")
        before = page.wait_for(f"return {fill}")
        page.run(f"{button}.click()", "Profile")
        page.wait_for(f"return !{button}.disabled", "Compute time")
        page.run(f"{button}.click()", "Compute time")
        page.wait_for(f"return {fill} && {fill} !== arguments[0]", before)
