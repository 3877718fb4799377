"""`autograph tensorboard`: it shows what was written, while it is written."""

from __future__ import annotations

import socket

import pytest

import autograph as ag
from tests.board import tensorboard

pytest.importorskip("tensorboard")
pytestmark = pytest.mark.once


def test_scalars_of_two_runs_while_they_are_written(tmp_path):
    with tensorboard(tmp_path) as board, ag.summary.create_file_writer(tmp_path / "a") as writer:
        writer.scalar("loss", 0.5, 0)
        writer.flush()
        ((_, step, value),) = board.json("plugin/scalars/scalars", run="a", tag="loss")
        assert (step, value) == (0, 0.5)
        with ag.summary.create_file_writer(tmp_path / "b"):
            for step in range(100):
                ag.summary.scalar("loss", 1 / (step + 1), step)
        points = board.json("plugin/scalars/scalars", run="b", tag="loss")
        assert [step for _, step, _ in points] == list(range(100))
        assert sorted(board.json("runs")) == ["a", "b"]


def test_a_wrong_folder(cli):
    result = cli("tensorboard", "nowhere")
    assert result.exit_code == 2 and "Directory 'nowhere' does not exist" in result.stderr


def test_a_port_that_is_in_use(spawn, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = spawn("tensorboard", "--port", taken.getsockname()[1], str(tmp_path))
    assert result.returncode == 2
    assert "autograph: TensorBoard cannot start: " in result.stderr and "already in use" in result.stderr


def test_without_tensorboard(write, spawn, tmp_path):
    write("tensorboard.py", "raise ImportError")
    result = spawn("tensorboard", str(tmp_path), path=tmp_path)
    assert result.returncode == 2
    assert result.stderr == "autograph: TensorBoard is not installed: pip install 'autograph-py[tensorboard]'\n"


def test_with_a_tensorboard_that_needs_older_setuptools(write, spawn, tmp_path):
    write("tensorboard/__init__.py", "")
    write("tensorboard/program.py", "import pkg_resources")
    write("pkg_resources.py", "raise ModuleNotFoundError(name='pkg_resources')")
    result = spawn("tensorboard", str(tmp_path), path=tmp_path)
    assert result.returncode == 2 and "pip install 'tensorboard>=2.21'" in result.stderr
