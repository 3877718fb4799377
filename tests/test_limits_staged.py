"""The part of docs/limits.md about staged functions is true: its examples are run plain and staged.

An example is a block of Python, followed by a block of text that says what it prints plain and staged, line by line;
or, if that begins with `Why plain:` or `Refused:`, what `explain` or the error says of each function of the example,
which is called without arguments.
"""

from __future__ import annotations

import linecache
import re
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest

import autograph as ag
from tests import outcomes
from tests.test_limits import STAGED, blocks_of

_CLAIM = re.compile(r"(Plain|Staged): +(.*)")


def _examples() -> list[tuple[str, str]]:
    blocks = blocks_of(STAGED)
    return [(a[1], b[1]) for a, b in zip(blocks, blocks[1:]) if (a[0], b[0]) == ("python", "text")]


EXAMPLES = _examples()
TOLD = [(code, said) for code, said in EXAMPLES if _CLAIM.match(said) is None]
CLAIMS = [(code, how, prints) for code, said in EXAMPLES for how, prints in _CLAIM.findall(said)]


def module(code: str, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """An example as a module, whose lines are known."""
    name = f"limit_{abs(hash(code))}"
    filename = f"/{name}.py"
    monkeypatch.setitem(linecache.cache, filename, (len(code), None, code.splitlines(True), filename))
    made = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, made)
    exec(compile(code, filename, "exec"), vars(made))
    return made


@pytest.mark.parametrize("code, how, prints", CLAIMS)
def test_example(code: str, how: str, prints: str, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    if how == "Plain":
        monkeypatch.setattr(ag, "function", lambda function: function)
    module(code, monkeypatch)
    assert ", ".join(capsys.readouterr().out.splitlines()) == prints


def told(code: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What is said of each function of an example."""
    made = module(code, monkeypatch)
    functions = [f for f in vars(made).values() if isinstance(f, types.FunctionType) and f.__module__ == made.__name__]
    width = max(len(f.__name__) for f in functions)
    for function in functions:
        staged = ag.function(function)
        try:
            staged()
        except ag.errors.AutographError as error:
            said = str(error)
        except ValueError:
            said = staged.traces[-1].plain
        else:
            said = staged.traces[-1].plain
            assert outcomes.run(staged, "", vars(made)) == outcomes.run(function, "", vars(made))
        yield f"{function.__name__:{width}}  {re.sub(rf'/{made.__name__}.py:', 'line ', said)}"


@pytest.mark.parametrize("code, said", TOLD)
def test_told(code: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(told(code, monkeypatch)) == said.splitlines()[1:]
