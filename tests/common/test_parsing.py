"""Parsing texts, also where other threads disturb CPython's parser."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from autograph.common import parsing

MISCOUNTED = "AST constructor recursion depth mismatch (before=102, after=37)"


CASES = [(MISCOUNTED, 3, True), (MISCOUNTED, 4, False), ("?", 1, False)]


@pytest.mark.parametrize(("message", "times", "parsed"), CASES)
def test_parses_again_where_cpython_miscounts(
    monkeypatch: pytest.MonkeyPatch, message: str, times: int, parsed: bool
) -> None:
    errors = iter([SystemError(message)] * times)

    def compile(*args: Any, **options: Any) -> Any:
        for error in errors:
            raise error
        return builtins.compile(*args, **options)

    monkeypatch.setattr(parsing, "compile", compile, raising=False)
    if parsed:
        assert len(parsing.parse("x = 1\n").body) == 1
    else:
        with pytest.raises(SystemError):
            parsing.parse("x = 1\n")
