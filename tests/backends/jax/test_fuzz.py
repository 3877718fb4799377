"""Drawn programs do under `jax.jit` what they do plain on NumPy, or are refused with a clear error, but seldom.

`make test` tries the same 60 every time, `make test-all` 2,000. `python -m tests.backends.jax.fuzzing` looks for the
smallest part of one that differs.
"""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("jax")

from tests.backends.jax.fuzzing import Differs, judged, verdict  # noqa: E402
from tests.backends.jax.running import Ran  # noqa: E402
from tests.backends.jax.strategies import Program  # noqa: E402

pytestmark = pytest.mark.once
REFUSED = 0.08   # of all calls, at most


def check(seeds: range) -> None:
    """Assert that no program differs, that few are refused, and that most can be compared."""
    tally: Counter[str] = Counter()
    for seed in seeds:
        text = Program(seed).text
        try:
            tally += verdict(text)
        except Exception as error:
            pytest.fail(f"the program of seed {seed} differs: {error}\n\n{text}")
    assert tally["refused"] <= REFUSED * tally.total(), tally
    assert tally["too large"] <= 0.02 * tally.total(), tally


@pytest.mark.parametrize("seeds", [range(at, at + 15) for at in range(0, 60, 15)], ids=str)
def test_drawn_programs(seeds: range) -> None:
    check(seeds)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(at, at + 100) for at in range(0, 2000, 100)], ids=str)
def test_many_drawn_programs(seeds: range) -> None:
    check(seeds)


def test_a_difference_is_seen() -> None:
    """The judge itself: of values, kinds, structures, texts and errors."""
    assert judged(Ran(1.0), Ran(1.0)) == "same"
    wrong = [(Ran(1.5), Ran(1.0)), (Ran(1), Ran(1.0)), (Ran((1.0,)), Ran([1.0])), (Ran(1.0, printed="1"), Ran(1.0))]
    wrong += [(Ran(1.0), Ran(error=ValueError("no"))), (Ran(error=ValueError("no")), Ran(1.0))]
    wrong += [(Ran(error=ValueError("no")), Ran(error=KeyError("no"))), (Ran(None), Ran(1.0)), (Ran(1.0), Ran(None))]
    for actual, wanted in wrong:
        with pytest.raises(Differs):
            judged(actual, wanted)
