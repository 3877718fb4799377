"""`autograph run-saved`: inputs from files and the command line, results in files, errors in one line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import autograph as ag
from tests.serving import models

pytest.importorskip("safetensors")
pytestmark = pytest.mark.usefixtures("default_engine")
X = np.array([[1, 2, 3], [4, 5, 6]], "f4")


@pytest.fixture
def demo(tmp_path):
    models.save_model(tmp_path / "demo")
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "x.json").write_text(json.dumps(X.tolist()))
    return "demo"


@pytest.mark.parametrize("value", ["x.npy", "x.json", "[[1, 2, 3], [4, 5, 6]]"])
def test_inputs_of_each_kind_give_the_same(cli, demo, tmp_path, value):
    result = cli("run-saved", demo, "--input", f"x={value}", "--out", "y.npy")
    assert (result.exit_code, result.output) == (0, "")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), X @ models.WEIGHTS)


def test_the_result_is_printed(cli, demo):
    result = cli("run-saved", f"{demo}:both", "--input", "x=x.npy", "--input", "scale=0.5")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("{'scaled': array([[0.5, 1. , 1.5],") and "Pair(low=array([1., 4.]" in result.stdout


def test_results_in_files(cli, demo, tmp_path):
    run = ["run-saved", f"{demo}:power", "--input", "x=[[1, 2, 3]]", "--input", "n=2", "--out"]
    assert cli(*run, "y.npz").exit_code == 0
    found = np.load(tmp_path / "y.npz")
    assert found["output_0"].tolist() == [[1, 4, 9]] and found["output_1"] == 2.0
    assert cli(*run, "sub/y.json").exit_code == 0
    assert json.loads((tmp_path / "sub" / "y.json").read_text()) == [[[1, 4, 9]], 2.0]


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_engines(cli, demo, engine):
    if engine == "native":
        pytest.importorskip("llvmlite")
    result = cli("run-saved", f"{demo}:checked", "--input", "x=4", "--engine", engine)
    assert (result.exit_code, result.stdout) == (0, "0.25\n"), result.stderr


def test_parts_of_the_signature_need_no_input(cli, tmp_path):
    function = ag.function(lambda x, mode, *xs: x * 2 + xs[0] if mode == "double" else x, static_argnames=["mode"])
    ag.save(function, tmp_path / "f", signatures=[(1.0, "double", 5)])
    assert cli("run-saved", "f", "--input", "x=2", "--input", "xs[0]=1").stdout == "5.0\n"
    assert cli("run-saved", "f", "--input", "x=2", "--input", 'mode="double"', "--input", "xs[0]=1").stdout == "5.0\n"
    result = cli("run-saved", "f", "--input", "x=2", "--input", 'mode="half"', "--input", "xs[0]=1")
    assert result.stderr == "autograph: `mode` is a part of the signature, and must be 'double'\n"


def test_callbacks_must_be_allowed(cli, tmp_path):
    models.save_sleeper(tmp_path / "sleeper")
    run = ["run-saved", "sleeper", "--input", "seconds=0.25"]
    assert cli(*run).stderr == (
        f"autograph: the saved graphs call {models.PAUSE}, which is Python code of its own: if you trust it, allow it "
        f"with --allow-callbacks {models.PAUSE}\n"
    )
    assert cli(*run, "--allow-callbacks", models.PAUSE).stdout == "0.25\n"


@pytest.mark.parametrize(
    "args, problem",
    [
        (["demo:bot"], "there is no function 'bot'; there are: __call__, both,"),
        (["demo:bot"], "Did you mean both?"),
        (["demo:both", "--input", "scal=2"], "both has no input 'scal'. Did you mean scale?"),
        (["demo", "--input", "image=2"], "__call__ has no input 'image'; it has: x"),
        (["demo"], "the input 'x' is missing, which is f32[?,3]"),
        (["demo", "--input", "x.npy"], "--input 'x.npy' has no name: write NAME=VALUE"),
        (["demo", "--input", "x=y.npy"], "cannot read 'y.npy': No such file"),
        (["demo", "--input", "x=demo/graph.json"], "`x` is"),
        (["demo", "--input", "x=[1"], "the value of the input 'x' is neither JSON nor"),
        (["demo", "--input", "x=[[1, 2]]"], "`x` is f32[1,2], and not f32[?,3]"),
        (["demo:checked", "--input", "x=-1"], "checked raised ValueError: negative: -1"),
        (["demo:both", "--input", "x=[[1,2,3]]", "--input", "scale=2", "--out", "a.npy"], "result is not one array"),
        (["demo", "--out", "a.txt"], "'a.txt' does not tell its format: let it end in .npy, .npz, .json"),
        (["dem"], "'dem' is not there: name a directory of ag.save. Did you mean"),
        (["x.npy"], "'x.npy' is a file: name a directory of ag.save"),
    ],
)
def test_errors_are_one_line(cli, demo, args, problem):
    result = cli("run-saved", *args)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("autograph: ") and problem in line
