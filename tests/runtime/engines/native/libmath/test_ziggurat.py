"""Normal numbers of NumPy's generators without calls: each bit, and the state behind."""

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.libmath import numpy_draws, ziggurat


def draws(rng, n):
    found = np.zeros(n)
    for i in range(n):
        found[i] = rng.standard_normal()
    return found


def scaled(rng, n, loc, scale):
    total = 0.0
    for _ in range(n):
        total += rng.normal(loc, scale) * rng.random() - rng.normal()
    return total, rng.integers(0, 9)


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.SFC64])
def test_each_bit_is_that_of_numpy(kind):
    """Among many draws all layers occur, the tail, and those that NumPy rejects."""
    function, ours, theirs = ag.function(draws, engine="native"), *(np.random.Generator(kind(7)) for _ in range(2))
    for n in (3, 100, 300_000):
        assert function(ours, n).tobytes() == theirs.standard_normal(n).tobytes()
    assert ours.random() == theirs.random()


def test_location_and_scale():
    function = ag.function(scaled, engine="native")
    for loc, scale in ((0.0, 1.0), (0.7, 1.3), (-1e300, 1e-300), (3, 2)):
        ours, theirs = np.random.default_rng(3), np.random.default_rng(3)
        for _ in range(2):
            assert function(ours, 1000, loc, scale) == scaled(theirs, 1000, loc, scale)
        assert ours.bit_generator.state == theirs.bit_generator.state


@pytest.mark.skipif(ziggurat.tables() is None, reason="NumPy draws otherwise")
def test_limits_are_below_those_of_numpy():
    """A product below the limit of its layer is drawn at once; one well above it is not."""
    widths, limits = ziggurat.tables()
    function = numpy_draws.library().random_standard_normal
    below, above = ([max(0, limit + step) << 9 | layer for layer, limit in enumerate(limits) if limit]
                    for step in (-1, 2 * ziggurat._MARGIN))  # fmt: skip
    assert all(is_simple for _, is_simple in ziggurat._measured(function, below))
    assert not any(is_simple for _, is_simple in ziggurat._measured(function, above))
    assert len(widths) == len(limits) == 256 and sum(limits) / 2**52 / 256 > 0.97


def test_where_numpy_draws_otherwise(monkeypatch):
    monkeypatch.setattr(ziggurat, "is_known", lambda: False)
    function, ours, theirs = ag.function(draws, engine="native"), np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(2):
        assert function(ours, 50).tobytes() == theirs.standard_normal(50).tobytes()
