"""What `fastmath=True` gives up, and what it does not."""

import math
import warnings

import numpy as np
import pytest

import autograph as ag
from tests.runtime.engines.native.programs import collection, regions

RANDOM = np.random.default_rng(5)
PROGRAMS, calls = collection()


@calls("dot")
def dot(xs, ys):
    total = 0.0
    for i in range(len(xs)):
        total += xs[i] * ys[i]
    return total


@calls("total")
def total(xs, ys):
    found = 0.0
    for x in xs:
        found = found + x
    return found


@calls("quotients")
def quotients(xs, ys):
    found = np.float64(0.0)
    for i in range(len(xs)):
        found -= xs[i] / 3.0 - ys[i]
    return found


def terms(name, xs, ys):
    """What a program adds up."""
    if name == "dot":
        return xs.astype("f8") * ys
    return xs if name == "total" else np.concatenate([-xs.astype("f8") / 3.0, ys])


def staged(function, **options):
    return ag.function(function, engine="native", **options)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("size", [0, 1, 2, 7, 1000, 70_000])
@pytest.mark.parametrize("name", PROGRAMS)
def test_sums_are_off_by_no_more_than_any_order_may_be(name, size, dtype):
    xs, ys = (RANDOM.normal(size=size).astype(dtype) for _ in range(2))
    function, _ = PROGRAMS[name]
    found, plain = staged(function, fastmath=True)(xs, ys), function(xs, ys)
    assert type(found) is type(plain)
    each = terms(name, xs, ys)
    bound = 2 * (size + 4) * np.finfo(dtype).eps * math.fsum(np.abs(each))
    assert abs(float(found) - math.fsum(each)) <= bound
    assert staged(function)(xs, ys) == plain        # without, each bit is Python's


@pytest.mark.parametrize("name", PROGRAMS)
def test_sums_are_vectorized(name):
    xs = RANDOM.normal(size=1000)
    function = staged(PROGRAMS[name][0], fastmath=True)
    function(xs, xs)
    text = function.lower(xs, xs).llvm
    assert "x double>" in text and "reassoc" in text
    assert "nnan" not in text and "ninf" not in text
    exact = staged(PROGRAMS[name][0])
    exact(xs, xs)
    assert "reassoc" not in exact.lower(xs, xs).llvm


def test_what_numpy_warns_of_comes_without_a_warning():
    xs = np.array([1e308, 1e308, -np.inf, np.nan, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert staged(total, fastmath=True)(xs[:2], xs) == np.inf
        assert np.isnan(staged(total, fastmath=True)(xs, xs))
        assert np.isnan(staged(dot, fastmath=True)(xs[2:], xs[2:]))
        with pytest.raises(RuntimeWarning):
            staged(total)(xs[:2], xs)


def test_infinities_and_nans_are_what_they_are():
    def count(xs):
        found = 0
        for i in range(len(xs)):
            x = xs[i] * 2.0
            if x != x:
                found += 100
            elif x > 1e308:
                found += 10
            elif x == 2.0:
                found += 1
        return found

    xs = np.tile([1.0, np.nan, np.inf, 1.0, -np.inf, 1.7e308], 5)
    assert staged(count, fastmath=True)(xs) == 610


def test_what_python_raises_is_raised():
    def ratios(xs, n):
        found = 0.0
        for i in range(n):
            found += 1.0 / (i - 5) + float(xs[i])
        return found

    function = staged(ratios, fastmath=True)
    assert function(np.zeros(3), 3) == pytest.approx(ratios(np.zeros(3), 3))
    with pytest.raises(ZeroDivisionError):
        function(np.zeros(9), 9)
    with pytest.raises(IndexError):
        function(np.zeros(2), 3)


def test_integers_are_exact():
    def sums(n):
        found = 2**62
        for i in range(n):
            found = found * 3 - i
        return found

    assert staged(sums, fastmath=True)(50) == sums(50)


def test_operations_on_whole_arrays_stay_numpys():
    def chain(xs, ys):
        return np.sum(xs * ys + xs / 3.0), xs * ys + 1.0

    xs, ys = RANDOM.normal(size=(2, 50_000))
    function = staged(chain, fastmath=True)
    (sum, each), (wanted, exact) = function(xs, ys), chain(xs, ys)
    assert sum == wanted and each.tobytes() == exact.tobytes()
    with pytest.warns(RuntimeWarning, match="overflow"):
        function(np.full(9, 1e308), np.full(9, 1e308))


def test_code_with_and_without_it_are_kept_apart():
    xs = RANDOM.normal(size=9)
    texts = set()
    for fast in (False, True):
        function = staged(dot, fastmath=fast)
        function(xs, xs)
        texts |= {version.code.text for version in regions(function)[0].compiled}
    assert len(texts) == 2
    fast = staged(dot).with_options(fastmath=True)
    assert "with fastmath=True" in str(fast.explain(xs, xs).where(kind="engine"))


@pytest.mark.parametrize("engine", ["numpy", "auto", None])
def test_other_engines_refuse_it(engine, monkeypatch):
    monkeypatch.delenv("AUTOGRAPH_ENGINE", raising=False)
    with pytest.raises(ValueError, match="fastmath=True is for machine code, but the engine is '.*say engine='native'"):
        ag.function(dot, engine=engine, fastmath=True)
    ag.function(dot, engine=engine, fastmath=False)
    with pytest.raises(TypeError, match="fastmath is True or False, not 1"):
        ag.function(dot, engine="native", fastmath=1)
