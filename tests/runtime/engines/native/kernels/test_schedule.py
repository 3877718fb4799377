"""Schedules: what each transformation makes of a tree of loops, and which the rules choose for a kernel."""

import re
from pathlib import Path

import numpy as np
import pytest

from autograph.runtime.engines.native.kernels.schedule import (
    Calls,
    Each,
    Loop,
    in_order,
    interchange,
    reduce_rows,
    shown,
    strip_mine,
    unroll_and_jam,
    vectorize,
)
from tests.runtime.engines.native.kernels.test_fusion import kernels, native

DOCUMENT = Path(__file__).parents[5] / "docs" / "native.md"


def lines(schedule):
    return shown(schedule).splitlines()


def chosen(function, *args):
    """The schedule of the only kernel of a function."""
    staged = native(function)
    staged(*args)
    (version,) = kernels(staged)
    return shown(version.schedule)


def test_a_nest_goes_through_one_axis_after_the_other():
    assert lines(in_order(2, (Each(),))) == ["for axis 0:", "  for axis 1:", "    for each: stage 0"]
    assert lines(in_order(0, (Each(),), iterations=True)) == ["for iterations:", "  for each: stage 0"]


def test_strip_mining_keeps_statements_together():
    found = strip_mine(in_order(1, (Each(0), Calls(0), Each(1))), 512)
    assert lines(found) == [
        "for axis 0:",
        "  for 512 of row:",
        "    for each: stage 0",
        "    calls after stage 0",
        "    for each: stage 1",
    ]


def test_interchange_puts_iterations_inside():
    found = interchange(strip_mine(in_order(1, (Each(),), iterations=True), 64))
    assert lines(found) == [
        "for axis 0:",
        "  for 64 of row:",
        "    for each: copy",
        "    for iterations:",
        "      for each: stage 0",
    ]


def test_vectors_of_the_first_width_that_a_row_has():
    assert lines(vectorize((Each(),), [64, 16])) == [
        "if row >= 64:",
        "  for 64 of row, shifted inwards:",
        "    for 64: stage 0 (vector)",
        "else:",
        "  if row >= 16:",
        "    for 16 of row, shifted inwards:",
        "      for 16: stage 0 (vector)",
        "  else:",
        "    for each of few: stage 0",
    ]


def test_unroll_and_jam_takes_rows_of_the_axis_that_is_asked_for():
    found = unroll_and_jam(in_order(2, (Each(),)), 1, rows=4, width=32)
    assert lines(found) == [
        "for axis 0:",
        "  if axis 1 >= 4 and row >= 32 and rows are neighbors:",
        "    for 4 of axis 1, shifted inwards:",
        "      for 32 of row, shifted inwards:",
        "        for 32: stage 0 of 4 rows (vector)",
        "  else:",
        "    for axis 1:",
        "      for each: stage 0",
    ]


def test_reductions_compute_vectors_or_lie_in_memory():
    assert lines(reduce_rows((Each(),), 8, most=128, part=8192, by_vectors=True)) == [
        "reduce row, in parts of 8192, halved down to 128, 8 side by side:",
        "  for 8: stage 0 (vector)",
        "rest:",
        "  for each of few: stage 0",
    ]
    assert lines(reduce_rows((), 16)) == ["reduce row, 16 side by side:"]
    found = strip_mine(reduce_rows(in_order(1, (Calls(0), Each(1))), 8, most=128), 256)
    assert lines(found)[1:3] == ["  reduce row, halved down to 128, 8 side by side:", "    for 256 of row:"]


def test_transformations_leave_schedules_as_they_are():
    before = in_order(1, (Each(),))
    for transformed in (strip_mine(before, 64), vectorize(before, [64]), unroll_and_jam(before, 0, 4, 32)):
        assert before == (Loop("axis 0", (Each(),)),) != transformed


def test_the_schedules_in_the_documents_are_chosen():
    text = DOCUMENT.read_text(encoding="utf-8").partition("**Schedules.**")[2]
    sine, neighbors, *_ = re.findall(r"```text\n(.*?)\n```", text, re.DOTALL)
    x, cells = np.ones((5, 71))[:, ::2], np.ones((9, 70), "uint8")
    assert chosen(lambda x: np.sin(x * 2) + 1, x) == sine
    assert chosen(lambda x: x[:-2, 1:] + x[1:-1, 1:] + x[2:, 1:], cells) == neighbors


def exponentials(x):
    return np.exp(x - x.max(axis=1, keepdims=True)).sum(axis=1)


def diffuse(x):
    x[1:-1] += x[:-2] + x[2:]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x * 2 + x, "for each: stage 0"),
        (lambda x: (x * x).max(axis=1), "for axis 0: reduce row, 16 side by side: for 16: stage 0 (vector) "
                                        "rest: for each of few: stage 0"),
        (exponentials, "for a block of axis 0: nest 1: for axis 0: reduce row, 16 side by side: "
                       "nest 2: for axis 0: reduce row, .*halved down to 128, 8 side by side: .*"),
        (diffuse, "for each: stage 0 copy out: for each: copy"),
    ],
)  # fmt: skip
def test_which_schedules_are_chosen(function, expected):
    found = " ".join(chosen(function, np.ones((40, 60))).split())
    assert re.fullmatch(re.escape(expected).replace(re.escape(".*"), ".*"), found), found


def test_a_loop_over_iterations_goes_inside():
    def f(x, y, count):
        for _ in range(count):
            x, y = x + y * 2, y - x
        return x, y

    found = chosen(f, np.ones(1000), np.ones(1000), 3)
    assert re.fullmatch(r"for \d+ of row:\n  for each: copy\n  for iterations:\n    for each: stage 0", found)
