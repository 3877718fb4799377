"""Gradients of drawn programs, with control flow and arrays changed in place, are those of finite differences.

So are the gradients of a share of these gradients; see gradient_checks.py. `make test` tries the same 60 every time;
AUTOGRAPH_FUZZ=1000 so many new ones.
What was found stands in tests/runtime/autodiff/test_gradients.py.
"""

from __future__ import annotations

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from tests import gradient_strategies
from tests.drawing import drawn
from tests.gradient_checks import Checks

pytestmark = pytest.mark.once

CHECKS = Checks()


@given(gradient_strategies.programs(), st.integers(0, 3))
@drawn(60)
def test_gradients_of_drawn_programs(text: str, chance: int) -> None:
    note(text.removeprefix(gradient_strategies.PRELUDE))
    CHECKS.check(text, second=chance == 0)


def test_most_are_compared() -> None:
    print(dict(CHECKS.tally), dict(CHECKS.reasons))
    assert CHECKS.tally["compared"] >= 0.5 * CHECKS.done()
    assert CHECKS.tally["refused"] <= 0.1 * CHECKS.done()
