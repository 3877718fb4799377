"""docs/limits.md is true: each of its examples is run plain and converted, and prints what is said there.

An example is a block of Python, followed by a block of text that says, line by line, what it prints: plain, converted,
or either on some Pythons only. What no example can show has a test of its own here, bearing the title of its section.
"""

from __future__ import annotations

import bdb
import contextlib
import io
import linecache
import os
import re
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import autograph
from autograph import api, importing
from autograph.conversion.explain import Explanation

ROOT = Path(__file__).parent.parent
# What the page says of staged functions is for tests/test_limits_staged.py.
PAGE, _, STAGED = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8").partition("\n# Staged functions\n")
_BLOCKS = re.compile(r"^(#{2,3}) (.+)$|^```(\w+)\n((?:.*\n)*?)```$", re.MULTILINE)
_CLAIM = re.compile(r"(Plain|Converted)(?:, before 3\.(\d+))?: +(.*)")


@dataclass
class Example:
    """An example of the page, and what is said that it prints."""

    title: str
    elsewhere: str
    code: str
    said: str

    def claims(self) -> dict[str, str]:
        """What it prints plain and converted on this Python: of several claims about one, the first that applies."""
        found: dict[str, str] = {}
        for how, before, prints in _CLAIM.findall(self.said):
            if not before or sys.version_info < (3, int(before)):
                found.setdefault(how, prints) if not before else found.update({how: prints})
        return found


def blocks_of(page: str) -> list[tuple[str, str]]:
    """The language and the text of each block of code."""
    return [(language, text) for _, _, language, text in _BLOCKS.findall(page) if language]


def examples() -> Iterator[Example]:
    title, code, elsewhere = "", "", ""
    for _, heading, language, text in _BLOCKS.findall(PAGE):
        if heading:
            title, elsewhere = heading, ""
        elif language == "python" and text.startswith("# elsewhere.py"):
            elsewhere = text
        elif language == "python":
            code = text
        elif language == "text":
            yield Example(title, elsewhere, code, text)


EXAMPLES = [*examples()]


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Examples may change the recursion limit, the profiler, and `linecache`."""
    limit, cached = sys.getrecursionlimit(), dict(linecache.cache)
    yield
    sys.setrecursionlimit(limit)
    linecache.cache.clear()
    linecache.cache.update(cached)


def printed(example: Example, how: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What an example prints when it runs as a module: its lines, parted by commas."""
    text, name = example.code, f"limit_{abs(hash(example.code))}"
    filename = f"<{name}>"
    linecache.cache[filename] = len(text), None, text.splitlines(True), filename
    by_itself = "autograph" in text  # it says itself what to convert
    if how == "Plain":
        for marked in ("convert", "to_graph"):
            monkeypatch.setattr(autograph, marked, lambda function: function)
    code = compile(text, filename, "exec", dont_inherit=True)
    if how == "Converted" and not by_itself:
        code, _ = importing.compile_converted(text.encode(), filename)
    module, helper = types.ModuleType(name), types.ModuleType("elsewhere")
    exec(compile(example.elsewhere, "<elsewhere>", "exec"), vars(helper))
    monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, "elsewhere", helper)
    for each in list(sys.modules.values()):
        if type(each) is types.ModuleType:
            vars(each).pop("__warningregistry__", None)  # which Python notes there when other tests warn
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, vars(module))
    return ", ".join(out.getvalue().splitlines())


CASES = [(example, how) for example in EXAMPLES for how in example.claims()]


@pytest.mark.parametrize("example, how", CASES, ids=[f"{how}-{example.title}" for example, how in CASES])
def test_example(example: Example, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed(example, how, monkeypatch) == example.claims()[how]


@pytest.mark.parametrize("example", [e for e in EXAMPLES if not e.claims()], ids=lambda e: e.title)
def test_explained(example: Example) -> None:
    constructs = ("if", "while", "for", "async for", "match", "comprehension")
    told = Explanation(d for d in api.convert_source(example.code, "x.py").decisions if d.construct in constructs)
    _, *lines = str(told).splitlines()[:-2]
    assert lines == example.said.splitlines()[1:]


# What no example shows ------------------------------------------------------------------------------------------------

SHOWN_BELOW: dict[str, Callable[..., None]] = {}


def section(title: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def mark(test: Callable[..., None]) -> Callable[..., None]:
        SHOWN_BELOW[title] = test
        return test

    return mark


def steps(n: int) -> int:
    total = 0
    for i in range(n):
        total += i
    return total


FIRST = steps.__code__.co_firstlineno


class Stepper(bdb.Bdb):
    """Steps through a function and remembers where it stopped."""

    def __init__(self, go_on: Callable[[Stepper, Any], None], skip: list[str] | None = None) -> None:
        super().__init__(skip=skip)
        self.go_on = go_on
        self.stops: list[str | int] = []

    def user_line(self, frame: Any) -> None:
        own = frame.f_code.co_filename == __file__
        if own or "autograph" in frame.f_globals["__name__"]:
            self.stops.append(frame.f_lineno - FIRST if own else "library")
        self.go_on(self, frame)

    def through(self, function: Callable[[int], int]) -> list[str | int]:
        tracing = sys.gettrace()  # coverage
        try:
            self.runcall(function, 2)
        finally:
            sys.settrace(tracing)
        return self.stops


@section("Stepping goes through the operators")
def test_stepping() -> None:
    converted = api.to_graph(steps)
    over, into = lambda self, frame: self.set_next(frame), lambda self, frame: self.set_step()
    assert Stepper(over).through(steps) == [1, 2, 3, 2, 3, 2, 4]
    assert Stepper(over).through(converted) == [1, 2, 4]
    assert "library" in Stepper(into).through(converted)
    assert Stepper(into, ["autograph.*"]).through(converted) == [1, 2, 3, 3, 4]


@section("Branch coverage misses the branches of converted `if`s")
def test_branch_coverage(tmp_path: Path) -> None:
    pytest.importorskip("coverage")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    (tmp_path / "program.py").write_text("def f(n):\n    if n:\n        n += 1\n    return n\n\nf(0)\nf(1)\n")

    def covered(*how: str) -> str:
        run = [sys.executable, "-m", "coverage", "run", "--branch", "--include=program.py", *how, "program.py"]
        for command in (run, [sys.executable, "-m", "coverage", "report", "--show-missing"]):
            done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        return next(line for line in done.stdout.splitlines() if line.startswith("program.py"))

    assert covered().split()[1:] == ["6", "0", "2", "0", "100%"]
    assert covered("-m", "autograph", "run").split()[1:3] == ["6", "0"]  # all lines,
    assert "2->" in covered("-m", "autograph", "run")  # but not all branches


@section("Asserts tell no more than Python's")
def test_asserts() -> None:
    def f(x: int) -> None:
        assert x == 2

    with pytest.raises(AssertionError, match="assert 1 == 2"):
        f(1)
    with pytest.raises(AssertionError, match="^$"):
        api.to_graph(f)(1)


def test_every_section_is_shown() -> None:
    titles = {heading for level, heading, *_ in _BLOCKS.findall(PAGE) if level == "###"}
    assert titles - {example.title for example in EXAMPLES} == SHOWN_BELOW.keys()
