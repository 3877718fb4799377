"""The lines that code says it comes from, and what happens where CPython has other tables of them."""

from __future__ import annotations

import sys

import pytest

from autograph.common import line_tables
from autograph.common.line_tables import Position, positions, with_lines


def function() -> None:
    pass


CODE = function.__code__


def test_lines_are_read_and_written() -> None:
    size = len(CODE.co_code)
    found = positions(with_lines(CODE, [(2, Position(7)), (size - 2, Position(None))], 5))
    assert [line for line, *_ in found] == [7, *[None] * (size // 2 - 1)]
    assert with_lines(CODE, [(size, Position(7))], 5).co_firstlineno == 5


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tables have no columns")
def test_columns_are_read_and_written() -> None:
    where = Position(7, 9, 0, 300)
    assert set(positions(with_lines(CODE, [(len(CODE.co_code), where)], 5))) == {where}


def test_tables_are_known() -> None:
    assert line_tables.IS_KNOWN and line_tables._is_known()


def test_other_tables_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    other = {line_tables._locations: line_tables._lines, line_tables._lines: line_tables._locations}
    monkeypatch.setattr(line_tables, "_ENTRIES", other[line_tables._ENTRIES])
    assert not line_tables._is_known()


def test_where_tables_are_not_known_code_keeps_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_tables, "IS_KNOWN", False)
    assert with_lines(CODE, [(len(CODE.co_code), Position(7))], 5) is CODE
