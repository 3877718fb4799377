"""What tests of passes share: graphs as texts."""

from __future__ import annotations

import importlib
import pkgutil
from textwrap import dedent

from autograph.runtime import ops
from autograph.runtime.graph_text.parser import parse
from autograph.runtime.graph_text.printer import to_text
from autograph.runtime.graph_text.verifier import check
from autograph.runtime.passes import PASSES

for _module in pkgutil.iter_modules(ops.__path__):
    importlib.import_module(f"{ops.__name__}.{_module.name}")


def normal(text: str) -> str:
    """The text as the printer writes it."""
    return to_text(check(parse(dedent(text).strip())))


def after(name: str, text: str) -> str:
    """The graph after a pass, which must say whether it changed it."""
    graph = check(parse(dedent(text).strip()))
    before = to_text(graph)
    outcome = PASSES[name](graph)
    check(graph)
    assert outcome.changed == (to_text(graph) != before)
    return to_text(graph)


def becomes(name: str, text: str, expected: str) -> None:
    """Assert that a pass makes one graph of another."""
    found = after(name, text)
    assert found == normal(expected), found


def stays(name: str, text: str) -> None:
    """Assert that a pass leaves a graph as it is."""
    becomes(name, text, text)
