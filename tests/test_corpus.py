"""Every function of the corpus does the same plain and converted, however it was converted (law 1).

Modes: `function`, the function alone, by `api.to_graph`; `text`, its converted text, executed among its module's
names; `module`, from its module as the import hook converts it; `ejected`, from its module's converted text.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from autograph import api, importing, operators
from tests import corpus, outcomes

ENTRIES = list(corpus.entries())
# These look at lines and names of code, which are others in a text that was converted.
LOOK_AT_CODE = {"frames.own_frame", "frames.callers_frame", "frames.callers_caller", "frames.traceback_text",
                "scoping.names_of_functions"}  # fmt: skip


def by_function(entry: corpus.Entry, patch: pytest.MonkeyPatch) -> Any:
    return api.to_graph(entry.function)


def by_text(entry: corpus.Entry, patch: pytest.MonkeyPatch) -> Any:
    """Only the function is new; its module holds it for the time of the test, for calls from elsewhere."""
    patch.setitem(vars(entry.module), "ag__", operators)
    defined = outcomes.execute(api.to_code(entry.function), f"<converted {entry}>", vars(entry.module))
    patch.setattr(entry.module, entry.name, defined[entry.name])
    return defined[entry.name]


def by_module(entry: corpus.Entry, patch: pytest.MonkeyPatch) -> Any:
    return converted_module(entry.theme)[entry.name]


def by_ejected(entry: corpus.Entry, patch: pytest.MonkeyPatch) -> Any:
    return ejected_module(entry.theme)[entry.name]


@cache
def converted_module(theme: str) -> dict[str, Any]:
    path = Path(str(corpus.module(theme).__file__))
    code, _ = importing.compile_converted(path.read_bytes(), str(path))
    return executed(code, theme)


@cache
def ejected_module(theme: str) -> dict[str, Any]:
    path = Path(str(corpus.module(theme).__file__))
    text = api.convert_source(path.read_text(encoding="utf-8"), str(path)).text
    return executed(compile(text, f"<ejected {theme}>", "exec", dont_inherit=True), theme)


def executed(code: types.CodeType, theme: str) -> dict[str, Any]:
    names = vars(types.ModuleType(corpus.module(theme).__name__))
    exec(code, names)
    return names


@cache
def plain(entry: corpus.Entry, arguments: str, unwrapped: bool) -> outcomes.Outcome:
    function = inspect.unwrap(entry.function) if unwrapped else entry.function
    with pytest.MonkeyPatch.context() as patch:
        if isinstance(function, types.FunctionType):  # 3.11 names other lines once code has run several times
            patch.setattr(function, "__code__", function.__code__.replace())
        return outcomes.run(function, arguments, vars(entry.module))


@pytest.mark.parametrize("mode", [by_function, by_text, by_module, by_ejected], ids=lambda m: m.__name__[3:])
@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_does_the_same(
    entry: corpus.Entry, mode: Callable[[corpus.Entry, pytest.MonkeyPatch], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if str(entry) in LOOK_AT_CODE and mode in (by_text, by_ejected):
        pytest.skip("looks at its code")
    # before the module is patched; decorators are left out of a function's text
    expected = [plain(entry, arguments, mode is by_text) for arguments in entry.calls]
    function = mode(entry, monkeypatch)
    for arguments, wanted in zip(entry.calls, expected, strict=True):
        actual = outcomes.run(function, arguments, function.__globals__)
        assert actual == wanted, f"{entry}({arguments})"


def test_corpus_is_rich() -> None:
    assert len(ENTRIES) >= 400
    assert all(entry.calls for entry in ENTRIES)


@pytest.mark.once
@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_answers_the_same_every_time(entry: corpus.Entry) -> None:
    for arguments in entry.calls:
        assert outcomes.run(entry.function, arguments, vars(entry.module)) == plain(entry, arguments, False)
