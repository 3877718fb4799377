"""Lists that loops take apart: `a, b, _, c = row`."""

from __future__ import annotations

import copy
import traceback

import pytest

import autograph as ag


def forces(rows):
    total = count = 0
    for i, (a, b, _, _) in enumerate(rows):
        for j, (c, d, _, e) in enumerate(rows):
            if i != j:
                total += a * c - b * d
                count += e
    return total, count


def swapped(rows):
    found = []
    for row in rows:
        a, b, c, _ = row
        row[0], row[1] = b, a
        found.append((a, b))
        found.append(c)
        same = row
        same[2] = a
        p, _q, *rest = row
        found.append([p, rest])
    return found, rows


def nested(rows):
    last = None
    for _ in rows:
        for row in rows:
            (a, b), c, *_ = row
            (a, b), c = row
            last = a if b else c
            row[1] = rows[0][1]
    return last, rows


ROWS = [[i / 7, 2.0, i, 4] for i in range(90)]
PAIRS = [[(i, 2), 3] for i in range(70)]
ODD_ROWS = [
    [1, 2, 3, 4], [1.0, 2.0, 3.0], [1.0] * 5, (1.0, 2.0, 3.0, 4), "abcd", [True, 2**70, 3.0, None], 5,
    [float("nan")] * 4, [1.0, "a", 2, 3], {1: 2, 3: 4, 5: 6, 7: 8}, None,
]
ODD_PAIRS = [[[1, 2], 3], [(1,), 3], ((1, 2), 3), [(1.5, 0), 3], [None, 3], [(1, 2)], [(1, 2), 2**80]]


def outcome(function, rows):
    rows = copy.deepcopy(rows)
    try:
        found = function(rows)
    except Exception as error:
        found = type(error).__name__, str(error), traceback.extract_tb(error.__traceback__)[-1].lineno
    return repr(found), repr(rows)


@pytest.mark.parametrize("function", [forces, swapped, nested])
@pytest.mark.parametrize("engine", ["native", "numpy", "auto"])
def test_rows_are_taken_apart(function, engine):
    rows, odd = (PAIRS, ODD_PAIRS) if function is nested else (ROWS, ODD_ROWS)
    cases = [rows, [], *([*rows[:40], each, *rows[40:]] for each in odd)]
    staged = ag.function(function, engine=engine)
    for case in cases * 2:
        assert outcome(staged, case) == outcome(function, case)
