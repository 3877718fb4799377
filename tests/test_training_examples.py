"""The examples that train: each in its short form learns what it is to learn, staged."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "examples"))


def run(name, capsys):
    """What an example's short form gives, and what it prints."""
    found = importlib.import_module(name).main(short=True)
    return found, capsys.readouterr().out


def test_digits(capsys):
    pytest.importorskip("sklearn")
    found, shown = run("digits", capsys)
    assert found["accuracy on test images"] > 0.95 and found["graphs"] == 1
    assert "epoch  10  loss" in shown and "accuracy on test images" in shown
