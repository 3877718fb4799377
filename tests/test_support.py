"""The table of statements in docs/support.md, and that `explain` names what each leaves to Python, with its cost."""

from __future__ import annotations

import platform
import re
import runpy
from importlib.util import find_spec
from pathlib import Path

import pytest

from autograph.runtime.dispatch import advice

pytestmark = [pytest.mark.once, pytest.mark.skipif(find_spec("llvmlite") is None, reason="needs llvmlite")]

DOCS = Path(__file__).parents[1] / "docs"
CONSTRUCTS = runpy.run_path(str(DOCS / "constructs.py"))
COMPILED, CALLED, PLAIN = CONSTRUCTS["COLUMNS"]
NAMED = re.compile(r"this is left to Python: |NumPy runs `|runs as plain Python: |\d iterations of this loop take")


@pytest.mark.parametrize("family", CONSTRUCTS["STATEMENTS"])
def test_explain_names_what_is_left_to_python(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "SHORT", 0.0)
    for statement in CONSTRUCTS["statements"](family):
        staged = CONSTRUCTS["run"](statement)
        report, becomes = staged.explain(), CONSTRUCTS["what_becomes_of"](staged)
        if becomes == CALLED:
            calls = [entry.message for entry in report.where(kind="native_callback")]
            assert calls and all(re.search(r"some [\d.]+ µs", call) for call in calls), statement
            assert report.advice or "`iter`" in calls[0], statement
        if becomes == PLAIN:
            assert any(NAMED.search(entry.message) for entry in report), statement


@pytest.mark.skipif(platform.python_version_tuple()[:2] != ("3", "11"), reason="the page is of Python 3.11")
def test_the_table_is_true() -> None:
    support = runpy.run_path(str(DOCS / "support.py"))
    page = support["PAGE"].read_text(encoding="utf-8")
    rows = page.partition(support["LOOPS"])[2].partition(support["LOOPS_END"])[0].strip().splitlines()
    assert rows == support["statements_in_loops"]().splitlines(), "run python docs/support.py"
