"""Parsing and compiling parts of files."""

import builtins

import pytest

from autograph.syntax import codes

MISCOUNTED = "AST constructor recursion depth mismatch (before=102, after=37)"


CASES = [(MISCOUNTED, 3, True), (MISCOUNTED, 4, False), ("?", 1, False)]


@pytest.mark.parametrize(("message", "times", "parsed"), CASES)
def test_parses_again_where_cpython_miscounts(monkeypatch, message, times, parsed):
    errors = iter([SystemError(message)] * times)

    def compile(*args, **options):
        for error in errors:
            raise error
        return builtins.compile(*args, **options)

    monkeypatch.setattr(codes, "compile", compile, raising=False)
    if parsed:
        assert len(codes.parse_text("x = 1\n", "file.py").body) == 1
    else:
        with pytest.raises(SystemError):
            codes.parse_text("x = 1\n", "file.py")
