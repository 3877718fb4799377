"""Drawn programs about containers with several names do the same plain and staged, call after call (law 1).

`python -m tests.aliasing_programs 0 10000` tries more, and shows one by its seed.
"""

from __future__ import annotations

import pytest

from tests.aliasing_programs import differs

FEW, MANY = 150, 1000   # programs of `make test`, and of `make test-all`
CHUNKS = [
    pytest.param(range(begin, begin + 25), marks=[pytest.mark.slow] * (begin >= FEW)) for begin in range(0, MANY, 25)
]
pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore::autograph.errors.RetraceWarning")]


@pytest.mark.parametrize("seeds", CHUNKS, ids=str)
def test_drawn_programs_about_aliases(seeds: range) -> None:
    found = {seed: differs(seed, engine=("numpy", "native", "auto")[seed % 3]) for seed in seeds}
    assert [seed for seed, (_, plain, staged, _) in found.items() if plain != staged] == []
