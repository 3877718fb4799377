"""`autograph inspect`, and `autograph graph` on saved directories: nothing is imported, nothing runs."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.saving import directory

pytest.importorskip("safetensors")
pytestmark = pytest.mark.usefixtures("default_engine")
BATCH = ag.TensorSpec((None, 3), "f4")


class Model(ag.Module):
    """A layer in a list, a counter that is not trained, and an array that is no variable."""

    def __init__(self) -> None:
        self.layers = [ag.nn.Dense(3, 2, activation=np.tanh, rng=0, dtype=np.float32)]
        self.count = ag.Variable(0, trainable=False)
        self.limits = {"low": np.zeros(2, "f4")}

    @ag.function
    def __call__(self, x: Any) -> Any:
        """Scores of a batch.

        More about it.
        """
        for layer in self.layers:
            x = layer(x)
        return {"scores": x, "best": (x.argmax(axis=1), None)}

    @ag.function
    def scaled(self, x: Any, factor: Any, *, often: Any) -> Any:
        self.count.assign_add(1)
        return x * factor


@pytest.fixture
def model(tmp_path):
    calls = [{"x": BATCH, "factor": 1.0, "often": True}, {"x": BATCH, "factor": 1, "often": False}]
    ag.save(Model(), tmp_path / "model", signatures={"__call__": [(BATCH,)], "scaled": calls})
    return "model"


@pytest.fixture
def calling(tmp_path):
    """A function that calls one of a module that is not there any more."""
    module = tmp_path / "gone" / "module_that_goes.py"
    module.parent.mkdir()
    module.write_text("def helper(x):\n    return [x]\n")
    sys.path.insert(0, str(module.parent))
    try:
        from module_that_goes import helper

        function = ag.function(lambda x: helper(ag.do_not_convert(helper)(x)))
        name = ["module_that_goes:helper"]
        ag.save(function, tmp_path / "calling", signatures=[(1.0,)], allow_callbacks=name)
    finally:
        sys.path.remove(str(module.parent))
        del sys.modules["module_that_goes"]
    return "calling"


def test_functions_variables_and_sizes(cli, model):
    result = cli("inspect", model)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    place = f"{__file__}:{Model.__call__.python_function.__code__.co_firstlineno}"
    assert [line for line in lines if line.startswith("object")] == ["object Model"]
    at = lines.index(f"__call__(x) # {place}")
    assert lines[at + 1 : at + 5] == [
        "Scores of a batch.", "signature 1", "x f32[?,3]", "-> {scores: f32[?,2], best: (i64[?], None)}",
    ]  # fmt: skip
    at = lines.index("signature 2")
    assert lines[at : at + 5] == ["signature 2", "x f32[?,3]", "factor py.int", "often = False", "-> f32[?,3]"]
    at = lines.index("path dtype shape trainable bytes")
    assert lines[at + 1 : at + 4] == [
        "layers.0.w float32 (3, 2) yes 24", "layers.0.b float32 (2,) yes 8", "count int64 () no 8",
    ]  # fmt: skip
    assert "limits.low float32 (2,) 8" in lines and "np.tanh 1" in lines
    assert any(line.startswith("saved at 20") and f"autograph {ag.__version__}, python 3" in line for line in lines)


def test_as_json(cli, model, tmp_path):
    found = json.loads(cli("inspect", model, "--format", "json").stdout)
    assert found["files"] == {path.name: path.stat().st_size for path in (tmp_path / "model").iterdir()}
    call, scaled = found["functions"]
    assert (call["path"], scaled["parameters"]) == ("__call__", "x, factor, *, often")
    assert call["calls"][0]["result"] == {"scores": "f32[?,2]", "best": ["i64[?]", "None"]}
    assert "the attribute self.layers changed" in call["calls"][0]["conditions"]
    assert found["variables"][0] == {
        "path": "layers.0.w", "dtype": "float32", "shape": [3, 2], "bytes": 24, "trainable": True,
    }  # fmt: skip
    assert found["operations"]["np.matmul"] == call["calls"][0]["operations"]["np.matmul"] == 1


def test_graphs(cli, model):
    assert "graph scaled(x: f32[?,3], factor: py.float):" in cli("inspect", model, "--ops").stdout
    found = json.loads(cli("inspect", model, "--ops", "--format", "json").stdout)
    graph = found["functions"][1]["calls"][1]["graph"]
    assert graph.startswith("graph scaled(x: f32[?,3], factor: py.int):") and "+= 1" in graph


def test_callbacks_are_named_and_not_imported(cli, calling):
    result = cli("inspect", calling, "--ops")
    assert result.exit_code == 0, result.stderr
    assert "module_that_goes:helper, which ag.load must allow" in result.stdout
    assert "call(@helper, x)" in result.stdout and "module_that_goes" not in sys.modules
    assert "@helper" in cli("graph", calling).stdout
    assert "return helper(helper(x))" in cli("graph", calling, "--format", "source").stdout.replace("t1", "helper(x)")
    assert "module_that_goes" not in sys.modules


def test_in_color(cli, model, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = cli("inspect", model, "--ops").stdout
    assert "\x1b[" in shown and "layers.0.w" in shown


def test_a_function_with_nothing_else(cli, tmp_path):
    ag.save(ag.function(lambda *xs: xs[0] + 1), tmp_path / "f", signatures=[(1, 2.0)])
    shown = cli("inspect", "f").stdout
    assert "<lambda>(*xs)" in shown and "xs[1]" in shown and "trainable  bytes" not in shown


@pytest.mark.parametrize("command", ["inspect", "graph"])
def test_a_damaged_directory_is_one_line(cli, model, tmp_path, command):
    path = tmp_path / "model" / "graph.json"
    path.write_bytes(path.read_bytes().replace(b"tanh", b"sinh"))
    result = cli(command, model)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"autograph: {model}/graph.json is not as it was saved: its checksum is another one. " \
        "Save the object again\n"


def test_what_is_no_saved_directory(cli, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "there is no empty/graph.json" in cli("inspect", "empty").stderr
    result = cli("inspect", "nowhere")
    assert result.exit_code == 2 and "'nowhere' does not exist" in result.stderr


def test_without_the_extra(cli, model, monkeypatch):
    directory._validator.cache_clear()
    monkeypatch.setattr(directory.importlib.util, "find_spec", lambda name: None)
    result = cli("inspect", model)
    assert result.exit_code == 2
    assert result.stderr.startswith("autograph: saving and loading need ")
    assert result.stderr.endswith(": pip install 'autograph-py[save]'\n")


# `autograph graph` ----------------------------------------------------------------------------------------------------


def test_the_graph_of_a_method(cli, model, tmp_path):
    shown = cli("graph", f"{model}:scaled", "f32[?,3]", "1.5", "often=True").stdout
    assert shown.startswith("graph scaled(x: f32[?,3], factor: py.float):") and "+= 1" in shown
    assert cli("graph", model).stdout.startswith("graph __call__(x: f32[?,3]):")
    for name, start in {"a.dot": "digraph", "a.json": "{", "a.html": "<div", "a.py": "def "}.items():
        result = cli("graph", f"{model}:__call__", "-o", name)
        assert result.exit_code == 0, result.stderr
        assert (tmp_path / name).read_text().startswith(start)
    assert f"# {__file__.rpartition('/')[2]}:" in cli("graph", model, "--places", "--raw").stdout


@pytest.mark.parametrize(
    "args, problem",
    [
        (["model:scaled"], "scaled takes several kinds of calls: give the arguments of one"),
        (["model:scale"], "model: there is no function 'scale'; there are: __call__, scaled. Did you mean scaled?"),
        (["model:scaled", "f32[2,2]", "1.0", "often=True"], "`x` is f32[?,2], and not f32[?,3]"),
        (["modle:scaled"], "there is no file 'modle'. Did you mean"),
    ],
)
def test_errors(cli, model, args, problem):
    result = cli("graph", *args)
    assert (result.exit_code, result.stdout) == (2, "") and problem in result.stderr
