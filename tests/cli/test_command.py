"""What all commands share: help, version, completion, and errors in one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import autograph
from autograph.cli import COMMANDS

REPOSITORY = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("name", COMMANDS)
def test_help_explains_by_example(cli, name):
    result = cli(name, "--help")
    assert result.exit_code == 0
    assert "Examples:" in result.stdout
    assert f"autograph {name}" in result.stdout.split("Examples:")[1]
    assert cli(name, "-h").stdout == result.stdout


def test_the_help_lists_all_commands(cli):
    for args in (["--help"], []):
        text = "".join(cli(*args).output)
        assert all(f"\n  {name} " in text for name in COMMANDS)


def test_version(cli):
    result = cli("--version")
    assert (result.exit_code, result.stdout) == (0, f"autograph {autograph.__version__}\n")


def test_an_unknown_command(cli):
    result = cli("paint")
    assert (result.exit_code, result.stderr) == (2, "autograph: No such command 'paint' (see autograph --help)\n")


@pytest.mark.parametrize(
    "args, meant",
    [
        (["explian"], "explain"),
        (["tocode", "x.py"], "to-code"),
        (["graph", "model.py:stepp", "f64"], "step"),
        (["explain", "model.py:Modell.step"], "Model.step"),
        (["to-code", "modle.py"], "model.py"),
        (["explain", "sub/patr.py:f"], "sub/part.py"),
        (["convert", "modle.py", "--out-dir", "out"], "model.py"),
        (["run", "modle.py"], "model.py"),
        (["run", "-m", "jsn"], "json"),
        (["to-code", "model.py", "--dif"], "--diff"),
        (["graph", "model.py:step", "--engin", "auto"], "--engine"),
        (["convert", "model.py", "--outdir", "out"], "--out-dir"),
        (["--versoin"], "--version"),
    ],
)
def test_did_you_mean(cli, spawn, write, args, meant):
    write("model.py", "def step(x):\n    return x\n\nclass Model:\n    def step(self):\n        pass\n")
    write("sub/part.py", "")
    found = spawn(*args) if args[0] == "run" else cli(*args)
    assert (found.returncode if args[0] == "run" else found.exit_code) == 2
    (line,) = found.stderr.splitlines()
    assert line.startswith("autograph: ") and ("id you mean" in line or "ossible options" in line)
    assert meant in line.partition("id you mean")[2] + line.partition("ossible options")[2]


def test_files_of_one_name_are_different_modules(cli, write):
    for number in range(3):
        write(f"part{number}/same.py", f"def only{number}(x):\n    return x\n")
        assert cli("graph", f"part{number}/same.py:only{number}", "f64").exit_code == 0


def test_python_m_autograph_is_the_command(spawn, write):
    write("f.py", "def f(x):\n    return not x\n")
    assert spawn("to-code", "f.py:f").stdout == "def f(x):\n    return ag__.not_(x)\n"


def test_an_error_goes_to_stderr_only(spawn):
    found = spawn("to-code", "missing.py")
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == "autograph: there is no file 'missing.py' (see autograph to-code --help)\n"


@pytest.mark.skipif(os.name == "nt", reason="completion is for Unix shells")
def test_completion(spawn):
    environment = {"_AUTOGRAPH_COMPLETE": "bash_complete", "COMP_WORDS": "autograph to", "COMP_CWORD": "1"}
    assert spawn(env=environment).stdout == "plain,to-code\n"
    assert "complete" in spawn(env={"_AUTOGRAPH_COMPLETE": "bash_source"}).stdout


def test_a_program_finds_few_modules_imported(spawn, write):
    write("modules.py", "import sys\nprint('rich' in sys.modules, 'numpy' in sys.modules)\n")
    assert spawn("run", "modules.py").stdout == "False False\n"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes differ")
def test_a_reader_that_goes_away_is_no_error(tmp_path, write):
    write("long.py", "def f(x):\n    return not x\n" * 5000)
    command = f"{sys.executable} -m autograph to-code long.py | head -1"
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    found = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert found.stderr == ""
