"""The corpus of plain functions does the same under `jax.jit(ag.convert(f))`, or is refused with a clear error.

`make jax` compares some calls, the same every time, `make test-all` all. Each refusal is of a kind that docs/jax.md
lists; `python -m tests.backends.jax.corpus THEME` lists them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

jax = pytest.importorskip("jax")

from tests import corpus_staged  # noqa: E402
from tests.backends.jax.corpus import DIFFERS, REFUSED, Call, Differs, calls, judged, kinds, verdict  # noqa: E402
from tests.backends.jax.running import Ran  # noqa: E402

pytestmark = pytest.mark.once
STRIDE, SLICES = 6, 8
SHARE = 0.7     # of the compared calls that may be refused


def tallied(chosen: Iterable[Call]) -> Counter[str]:
    """Compare calls, and assert that none differs; the number of each verdict, without its reason."""
    tally: Counter[str] = Counter()
    differing = []
    for call in chosen:
        try:
            tally[verdict(call).partition(":")[0]] += 1
        except Differs as error:
            differing.append(f"{call}: {error}")
    assert not differing, "\n".join(differing)
    return tally


@pytest.mark.parametrize("start", range(SLICES))
def test_some_calls(start: int) -> None:
    tally = tallied(list(calls())[start * STRIDE :: SLICES * STRIDE])
    compared = tally.total() - tally["skipped"]
    assert compared > 30 and tally["refused"] <= SHARE * compared, tally


@pytest.mark.slow
@pytest.mark.parametrize("theme", corpus_staged.themes())
def test_all_calls(theme: str) -> None:
    tally = tallied(calls(theme))
    assert tally["refused"] <= REFUSED.get(theme, 0), f"more is refused than was: {tally}"


def test_a_difference_is_seen() -> None:
    """The judge itself: values, errors and refusals that are of no kind in the documentation."""
    error, other = Ran(error=ValueError("no")), Ran(error=KeyError(1))
    wrong = [(Ran(1), Ran(2)), (Ran(1, printed="a"), Ran(1)), (error, Ran(1)), (Ran(1), error), (other, error)]
    for actual, wanted in wrong:
        with pytest.raises(Differs):
            judged(actual, wanted)
    assert judged(Ran(2.0), Ran(2)) == "widened" and judged(Ran(1), Ran(error=IndexError())) == "as JAX: no IndexError"
    assert not any(pattern.search("another message") for pattern in kinds().values())


def test_what_is_left_out_exists() -> None:
    assert set(DIFFERS) <= {name for call in calls() for name in (str(call), str(call.entry))}
    assert set(REFUSED) <= set(corpus_staged.themes())
