"""Drawn programs do the same plain and with each loop staged on its own, after so many iterations (law 1)."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from autograph.runtime.dispatch.options import can_compile
from tests import native_strategies, staged_strategies, strategies
from tests.drawing import drawn
from tests.loop_programs import compare, sheltered
from tests.test_fuzz import CALLS

pytestmark = pytest.mark.once
STAGED: Counter[bool] = Counter()
ITERATIONS = st.integers(0, 3)


def check(text: str, hidden: bool, calls: list[str], engine: str, first: int) -> None:
    text = sheltered(text) if hidden else text
    note(text)
    STAGED.update(summary.tier > 0 for summary in compare(text, calls, engine, first))


@given(
    staged_strategies.numeric_programs(),
    st.booleans(),
    st.lists(staged_strategies.arguments(), min_size=2, max_size=2),
    ITERATIONS,
)
@drawn(40, 1 / 2)
def test_programs_of_numbers_and_arrays(text: str, hidden: bool, calls: list[str], first: int) -> None:
    check(text, hidden, calls, "numpy", first)


@given(strategies.programs(), st.booleans(), ITERATIONS)
@drawn(20, 1 / 4)
def test_programs_of_plain_python(text: str, hidden: bool, first: int) -> None:
    check(text, hidden, list(CALLS), "numpy", first)


@pytest.mark.skipif(not can_compile(), reason="needs llvmlite")
@given(
    native_strategies.loops(),
    st.booleans(),
    st.lists(native_strategies.arguments(), min_size=2, max_size=2),
    ITERATIONS,
)
@drawn(20, 1 / 4)
def test_loops_that_become_machine_code(text: str, hidden: bool, calls: list[str], first: int) -> None:
    check(text, hidden, calls, "native", first)


def test_some_loops_were_staged() -> None:
    assert STAGED[True] > STAGED.total() / 10, STAGED
