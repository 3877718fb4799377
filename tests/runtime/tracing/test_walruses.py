"""Assignments in expressions, with machine code; tests/test_staged_corpus.py runs the same functions with NumPy."""

from __future__ import annotations

import pytest

import autograph as ag
from tests import corpus_staged
from tests.test_staged_corpus import compare, order_of_calls

WALRUSES = [entry for entry in corpus_staged.entries() if entry.theme == "walruses"]


@pytest.mark.parametrize("engine", ["native", "auto"])
@pytest.mark.parametrize("entry", WALRUSES, ids=str)
def test_machine_code(entry: corpus_staged.Entry, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trial = pytest.importorskip("autograph.runtime.engines.native.loops.tiering", exc_type=ImportError)
    monkeypatch.setattr(trial, "PATIENCE", 0)       # seconds until "auto" takes machine code
    function = ag.function(entry.function, engine=engine)
    assert all(compare(function, entry, arguments) for arguments in order_of_calls(entry))
