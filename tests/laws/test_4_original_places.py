"""Law 4: converted code stands where the original stands: tracebacks, warnings, traces, coverage, breakpoints.

What differs: a loop's header is not seen to run again before each round; an exception leaves a function by way of its
`def` line; and before Python 3.11, a traceback shows the
header of the statement that a body was made of before the line in the body.
"""

from __future__ import annotations

import ast
import dis
import os
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from autograph import api
from tests import corpus, outcomes
from tests.test_corpus import ENTRIES, LOOK_AT_CODE, by_function, by_module, plain

MODES = pytest.mark.parametrize("mode", [by_function, by_module], ids=lambda mode: mode.__name__[3:])
RUNS = [entry for entry in ENTRIES if str(entry) not in LOOK_AT_CODE]

Place = tuple[str, int, str]


@cache
def statements(filename: str) -> dict[int, int]:
    """For each line of a simple statement that no frames come and go in: the statement's first line."""
    lines: dict[int, int] = {}
    for node in ast.walk(ast.parse(Path(filename).read_text(encoding="utf-8"))):
        if isinstance(node, ast.stmt) and not hasattr(node, "body") and not isinstance(node, ast.Match):
            if not any(isinstance(part, FRAMES) for part in ast.walk(node)):
                lines.update(dict.fromkeys(range(node.lineno, (node.end_lineno or 0) + 1), node.lineno))
    return lines


@cache
def headers(filename: str) -> set[int]:
    """The lines of `def`s with a body below: an exception passes there on its way out of a converted function."""
    tree = ast.parse(Path(filename).read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return {node.lineno for node in functions if node.body[0].lineno > node.lineno}


FRAMES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.BoolOp, ast.IfExp, ast.Compare,
          ast.Await, ast.Yield, ast.YieldFrom)  # fmt: skip


# Tracebacks and warnings


@MODES
@pytest.mark.parametrize("entry", RUNS, ids=str)
def test_tracebacks_and_warnings(entry: corpus.Entry, mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    function = mode(entry, monkeypatch)
    for arguments in entry.calls:
        wanted = plain(entry, arguments, False)
        if wanted.places and str(entry) not in RAISED_AGAIN:
            actual = outcomes.run(function, arguments, function.__globals__)
            assert merged(actual.places) == merged(wanted.places), f"{entry}({arguments})"


# A bare `raise` in a branch adds its own line.
RAISED_AGAIN = {"exceptions.raise_from", "exceptions.bare_raise_in_nested_bodies"}


def merged(places: list[Place]) -> list[Place]:
    """Places without those of comprehensions, which have a frame or not; on old Pythons, the last one in a function."""
    places = [place for place in places if not place[2].endswith("comp>")]
    if sys.version_info >= (3, 11):
        return places
    pairs = zip(places, [*places[1:], ("", 0, "")])
    return [p for p, after in pairs if (p[0], p[2]) != (after[0], after[2]) or p[2] == "warning"]


# Lines that run


@pytest.mark.parametrize("entry", RUNS, ids=str)
def test_lines_that_run(entry: corpus.Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    filename = str(entry.module.__file__)
    function = by_module(entry, monkeypatch)
    for arguments in entry.calls:
        wanted = lines_run(entry.function, arguments, filename)
        actual = lines_run(function, arguments, filename)
        assert set(actual) == set(wanted), f"{entry}({arguments})"
        assert in_order(actual, filename) == in_order(wanted, filename), f"{entry}({arguments})"


def lines_run(function: Callable[..., Any], arguments: str, filename: str) -> list[int]:
    lines: list[int] = []

    def trace(frame: types.FrameType, event: str, _: object) -> Any:
        if event == "line" and frame.f_lineno not in headers(filename) and not leaves_comprehension(frame):
            lines.append(frame.f_lineno)
        return trace if frame.f_code.co_filename == filename else None

    def traced(*args: Any, **kwargs: Any) -> Any:
        sys.settrace(trace)
        return function(*args, **kwargs)

    before = sys.gettrace()
    try:
        outcomes.run(traced, arguments, function.__globals__)
    finally:
        sys.settrace(before)
    return lines


def leaves_comprehension(frame: types.FrameType) -> bool:
    """Whether a comprehension is about to end: until 3.12, Python says so on the line of its last `for`, run or not."""
    code = frame.f_code
    return code.co_name.endswith("comp>") and code.co_code[frame.f_lasti] == dis.opmap["RETURN_VALUE"]


def in_order(lines: list[int], filename: str) -> list[int]:
    """The simple statements that ran; one is seen once, however often its parts come by."""
    first = statements(filename)
    order = [first[line] for line in lines if line in first]
    return [line for i, line in enumerate(order) if i == 0 or order[i - 1] != line]


# Code objects


@pytest.mark.parametrize("entry", RUNS, ids=str)
def test_code_is_named_as_the_users(entry: corpus.Entry) -> None:
    def codes(code: types.CodeType) -> Iterator[types.CodeType]:
        yield code
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                yield from codes(constant)

    original, converted = entry.function.__code__, api.to_graph(entry.function).__code__
    names = {code.co_name for code in codes(original)}
    assert {code.co_name for code in codes(converted)} <= names | {"<lambda>"}
    assert {code.co_filename for code in codes(converted)} == {original.co_filename}
    assert converted.co_firstlineno == original.co_firstlineno
    if sys.version_info >= (3, 11):
        prefix = original.co_qualname
        assert all(code.co_qualname.startswith(prefix) for code in codes(converted))


# Tools

PROGRAM = '''\
def total(xs):
    result = 0
    for x in xs:
        if x < 0:
            break
        result += x
    else:
        return "all", result
    return result


if __name__ == "__main__":
    import sys
    print(total([1, 2, 3] if len(sys.argv) < 2 else [int(a) for a in sys.argv[1:]]))
'''

CONVERTED = '''\
import sys
from autograph import importing
with importing.install("program"):
    import program
    {}
'''


def run(folder: Path, statement: str, stdin: str = "", **environment: str) -> str:
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    (folder / "main.py").write_text(CONVERTED.format(statement), encoding="utf-8")
    path = os.pathsep.join([str(Path(__file__).parents[2]), str(folder)])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    done = subprocess.run(
        [sys.executable, "main.py"], cwd=folder, input=stdin, capture_output=True, text=True, env=environment
    )
    return done.stdout + done.stderr


def test_breakpoint_in_converted_code(tmp_path: Path) -> None:
    commands = ["break program.py:6, x == 2", "continue", "p ('here', result, x)", "where", "clear 1",
                "break program.py:8", "continue", "p ('there', result)", "q", ""]  # fmt: skip
    said = run(tmp_path, "import pdb; pdb.run('program.total([1, 2])', vars())", "\n".join(commands))
    assert "('here', 1, 2)" in said
    assert "-> result += x" in said
    assert "('there', 3)" in said


def test_coverage_of_converted_code(tmp_path: Path) -> None:
    pytest.importorskip("coverage")
    measure = (
        "import coverage; c = coverage.Coverage(data_file=None, include=['*program.py']); c.start();"
        " program.total([1, -1]); c.stop(); print('missing', c.analysis(program.__file__)[2])"
    )
    assert run(tmp_path, measure) == "missing [1, 8, 12, 13, 14]\n"


def test_traceback_shows_only_the_users_lines(tmp_path: Path) -> None:
    said = run(tmp_path, "program.total([1, 'x'])")
    assert "program.py" in said and "TypeError" in said
    assert f"{os.sep}operators{os.sep}" not in said


def test_full_traceback_on_demand(tmp_path: Path) -> None:
    said = run(tmp_path, "program.total([1, 'x'])", AUTOGRAPH_FULL_TRACEBACK="1")
    assert f"{os.sep}operators{os.sep}" in said
