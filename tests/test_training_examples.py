"""The examples that train: each in its short form learns what it is to learn, staged."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.once
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


def test_digits_in_tensorboard(capsys, tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("tensorboard")
    from tests.events import values_in

    importlib.import_module("digits").main(short=True, logdir=str(tmp_path))
    losses = [loss for name, _, loss in values_in(tmp_path) if name == "loss"]
    assert len(losses) == 10 and losses[-1] < losses[0]
    assert capsys.readouterr().out


def test_characters(capsys):
    found, shown = run("characters", capsys)
    assert found["loss at last"] < 0.8 * found["loss at first (nats a character)"] and found["graphs"] == 2
    assert "step  100  loss" in shown


def test_tumours(capsys):
    pytest.importorskip("sklearn")
    found, shown = run("tumours", capsys)
    assert found["tumours"] > 0.95 and found["wines"] > 0.9 and found["converged"] and found["graphs"] >= 2
    assert "accuracy on test data" in shown


def test_maml(capsys):
    found, shown = run("maml", capsys)
    assert found["after one"] < found["at once"] and found["last"] < found["first"] and found["graphs"] == 1
    assert "after 1 step" in shown


def test_predators(capsys):
    found, shown = run("predators", capsys)
    assert found["greatest relative error"] < 0.05 and found["graphs"] == 1
    assert "deaths of lynxes" in shown and shown.count("mean squared distance ") > 5


def test_formulas(capsys):
    found, shown = run("formulas", capsys)
    assert found["accuracy"] > 0.9 and found["last loss"] < 0.2 and found["graphs"] == 1
    assert "epoch  3  loss" in shown


def test_beams(capsys):
    found, shown = run("beams", capsys)
    assert found["same"] == 1 and found["plain"] == 0
    assert "ms staged" in shown


def test_serve_digits(capsys):
    for package in ("sklearn", "safetensors", "uvicorn"):
        pytest.importorskip(package)
    found, shown = run("serve_digits", capsys)
    assert found["accuracy"] > 0.95
    assert found["same from rows"] and found["same from columns"] and found["same from .npy"]
    assert "stopped; 3 of 3 calls were answered" in shown
