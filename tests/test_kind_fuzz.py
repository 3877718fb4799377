"""Gradients of drawn programs whose variables change kind are those of finite differences, or are refused.

A variable, item or attribute is None, a text, a tuple or an array of another shape at first, and then a number; texts
are made of numbers, and numbers of texts; iterators are passed on. Only a `DerivativeError` may come in the place of
the right gradient. `make test` tries the same 60 programs every time; AUTOGRAPH_FUZZ=2000 so many new ones.
"""

from __future__ import annotations

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from tests import kind_strategies
from tests.drawing import drawn
from tests.gradient_checks import Checks

pytestmark = pytest.mark.once

CHECKS = Checks()


@given(kind_strategies.programs(), st.integers(0, 3))
@drawn(60)
def test_gradients_of_programs_whose_variables_change_kind(text: str, chance: int) -> None:
    note(text.removeprefix(kind_strategies.PRELUDE))
    CHECKS.check(text, second=chance == 0)


def test_many_are_compared() -> None:
    print(dict(CHECKS.tally), dict(CHECKS.reasons))
    assert CHECKS.tally["compared"] >= 0.3 * CHECKS.done()
    assert CHECKS.tally["refused"] <= 0.45 * CHECKS.done()
