"""`autograph explain`."""

import json

import click
import pytest

TEXT = """
    class Walker:
        def walk(self, xs):
            for x in xs:
                if x is None:
                    continue
                self.visit(x)

    def other(x):
        if x:
            yield x
"""


@pytest.fixture(autouse=True)
def walker(write):
    write("walker.py", TEXT)


def test_a_file(cli):
    result = cli("explain", "walker.py")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "walker.py"
    assert [line.split()[:3] for line in lines if "Walker.walk" in line][0] == ["4", "Walker.walk", "for"]
    assert any("plain: its condition is never staged: x is None" in line for line in lines)
    assert lines[-1].endswith("plain")


def test_one_function(cli):
    lines = cli("explain", "walker.py:other").stdout.splitlines()
    assert "Walker" not in "".join(lines)
    assert "plain: `yield` belongs to its generator" in lines[1]


def test_json(cli):
    told = json.loads(cli("explain", "walker.py:Walker.walk", "--format", "json").stdout)
    assert {entry["function"] for entry in told} == {"Walker.walk"}
    assert {"file": "walker.py", "line": 4, "function": "Walker.walk", "construct": "for", "status": "converted",
            "reason": None} in told


def test_standard_input_and_folders(cli, write):
    assert cli("explain", "-", input="def f(x):\n    return g(x)\n").stdout.startswith("<stdin>\n")
    write("pack/a.py", "def f(x):\n    return g(x)\n")
    write("pack/b.py", "def f(x):\n    return g(x)\n")
    lines = cli("explain", "pack").stdout.splitlines()
    assert [line for line in lines if line.endswith(".py")] == ["pack/a.py", "pack/b.py"]


def test_colors_change_no_text(cli, monkeypatch):
    plain = cli("explain", "walker.py").stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("TERM", "xterm-256color")
    colored = cli("explain", "walker.py").stdout
    assert colored != plain
    assert click.unstyle(colored) == plain


def test_colors_change_no_text_of_a_call(cli, write, monkeypatch):
    write("halving.py", "def half(x):\n    while x > 1:\n        x = x / 2\n    return x\n")
    plain = cli("explain", "halving.py:half", "py.float").stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("TERM", "xterm-256color")
    colored = cli("explain", "halving.py:half", "py.float").stdout
    assert "\x1b[" in colored
    assert click.unstyle(colored).splitlines()[:4] == plain.splitlines()[:4]


def test_errors(cli):
    result = cli("explain", "walker.py:Walker.work")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith("there is no function or class 'Walker.work'. Did you mean Walker.walk?\n")
    assert cli("explain", "walker.py", "--format", "xml").exit_code == 2


def test_a_call_of_a_staged_function(cli, write):
    write("staged_walker.py", "def half(x, n=2):\n    while x > 1:\n        x = x / n\n    return x\n")
    for arguments in (["py.float"], ["--arg", "py.float"], ["x=py.float", "--arg", "n=2"]):
        result = cli("explain", "staged_walker.py:half", *arguments)
        assert result.exit_code == 0, result.output
        first, summary, *lines = result.stdout.splitlines()
        assert first == "half, trace 1 (staged_walker.py)"
        assert summary == "  summary: a graph on NumPy (tier 1), 0 calls"
        assert any(line.startswith("  traced: (x: py.float, n") for line in lines)
        assert "  converted: line 2: while" in lines
    told = json.loads(cli("explain", "staged_walker.py:half", "py.float", "--format", "json").stdout)
    assert told["version"] == 1
    assert {"trace", "engine", "converted"} <= {event["kind"] for event in told["events"]}
    assert cli("explain", "staged_walker.py", "py.float").exit_code == 2


def test_what_is_not_kept_on_disk(cli, write, monkeypatch):
    monkeypatch.delenv("AUTOGRAPH_CHECK", raising=False)
    write("of_weights.py", "WEIGHTS = [1, 2]\n\ndef weigh(x):\n    return x * WEIGHTS[0]\n")
    told = cli("explain", "of_weights.py:weigh", "py.int").stdout
    reason = "line 4: `weigh` uses `WEIGHTS`, which is an object of type list"
    assert "  not kept on disk: " in told and reason in told
