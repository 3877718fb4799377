"""What `explain` tells of what machine code has Python do, and that it can be refused."""

import inspect
import re

import numpy as np
import pytest

import autograph as ag
from autograph.errors import StrictError
from autograph.runtime.engines.native.loops import region
from autograph.runtime.engines.native.loops.compiled_region import CompiledRegion


def medians(xs, n):
    total = 0.0
    for i in range(n):
        ys = np.roll(xs * i, 1)  # sorted
        for j in range(len(ys)):
            total += ys[j] * j
    return total


def line(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(place for place, each in enumerate(lines) if text in each)


def told(function, *args):
    (event,) = function.explain(*args).where(kind="native_callback")
    assert event.place == (__file__, line(medians, "# sorted"))
    return event.message


def test_what_calls_of_python_cost():
    function, xs = ag.function(medians, engine="native"), np.arange(9.0)
    before = "`np.roll` runs in Python, called by machine code"
    assert told(function, xs, 100) == f"{before}; a call may take some 0.5 µs, as it is of 1 operation"
    for iterations in (100, 200):
        assert function(xs, iterations) == medians(xs, iterations)
    after = re.compile(r".* called by machine code 300 times, some (\S+) µs each, (\S+) ms in all")
    found = after.fullmatch(told(function, xs, 1))
    assert found and 0.1 < float(found[1]) < 1000
    assert float(found[2]) == pytest.approx(0.3 * float(found[1]), rel=0.1)


def test_calls_by_several_versions_count_together():
    function = ag.function(medians, engine="native")
    for xs in (np.arange(3.0), np.arange(6.0)[::2]):
        function(xs, 10)
    assert " 20 times, " in told(function, xs, 10)


def test_none_of_them_is_timed_while_it_is_compiled():
    """The first call of a Python callback makes it, which takes longer than all others."""
    function, xs = ag.function(medians, engine="native"), np.arange(3.0)
    function(xs, 1)
    assert " 1 time, " in told(function, xs, 1)
    assert float(re.search(r"some (\S+) µs", told(function, xs, 1))[1]) < 500


@pytest.mark.parametrize("strict", [True, "native_callback"])
def test_strict_before_anything_runs(strict):
    function = ag.function(medians, engine="native", strict=strict)
    with pytest.raises(StrictError) as caught:
        function(np.arange(12.0), 2)
    where = f"{__file__}:{line(medians, '# sorted')}"
    assert str(caught.value).startswith(f"{where}: medians is strict about 'native_callback' (")
    assert "`np.roll` runs in Python, in a loop that is machine code" in str(caught.value)
    assert "Move it out of the loop" in str(caught.value)


def test_strict_when_types_tell_too_little():
    """What the loop gets only shows when it runs: then it does not."""
    seen = []

    def partial(make, n):
        found, xs = 0.0, make()
        for i in range(n):
            found += np.roll(xs, 1)[i] * i
            seen.append([i].sort(key=abs))
        return found

    function = ag.function(partial, engine="native", strict="native_callback")
    for _ in range(2):
        with pytest.raises(StrictError, match="runs in Python, in a loop that is machine code"):
            function(lambda: np.arange(3.0), 3)
    assert not seen


def test_strict_about_other_engines_and_other_things():
    xs = np.arange(12.0)
    for options in ({"engine": "numpy"}, {"engine": "auto"}, {"engine": "native", "strict": "callback"}):
        assert ag.function(medians, **{"strict": True, **options})(xs, 500) == medians(xs, 500)

    @ag.function(engine="native", strict=True)
    def total(xs, n):
        found = 0.0
        for i in range(n):
            found += xs[i] * i
        if n > 2:
            found += np.roll(xs, 0)[0]
        return found

    assert total(xs, 3) == 5.0
    with pytest.raises(IndexError):
        total(xs, 13)


def test_long_times_are_written_out():
    def collected(n):
        found, total = [], 0.0
        for i in range(n):
            found.append(f"{i}")
            total = (total + i * 0.5) * 0.25 - 1.0
        return total

    function = ag.function(collected, engine="native")
    for _ in range(4):
        function(500_000)
    (event,) = function.explain(1).where(kind="native_callback")
    assert re.search(r" 2000000 times, some 0\.\d+ µs each, \d+ ms in all", event.message)


class Table(dict):
    """Machine code does not look into it."""


def test_after_some_unexpected_results_nothing_is_expected_any_more(monkeypatch):
    """Each of them costs the time of compiling."""

    def looked_up(table, n):
        found = 0.0
        for i in range(n):
            k = i % 2
            found += table[k, 0] * i + table[k, 1] - table[k, 2] * table[k, 3] + table[k, 4] * table[k, 5]
            found -= table[k, 6] * i + table[k, 7] - table[k, 8] * table[k, 9] + table[k, 10] * table[k, 11]
            found += table[k, 12] * i + table[k, 13] - table[k, 14]
        return found

    compiled = []

    def compile(made, inputs):
        compiled.append(made)
        return CompiledRegion(made, inputs)

    monkeypatch.setattr(region, "CompiledRegion", compile)
    table = Table({(k, j): k + j / 3 for k in range(2) for j in range(15)})
    staged = ag.function(looked_up, engine="native")
    for _ in range(5):
        assert staged(table, 30) == looked_up(table, 30)
    assert 1 < len(compiled) <= region.LESSONS + 1


def columns_kept(x, n):
    total, rows = 0.0, []
    for k in range(n):
        column, last = x[:, k], np.flip(x[k])
        rows.append(column)
        x[k, 0] = 1.0
        total += column @ column + last @ last
    return total, len(rows)


def test_the_first_code_expects_columns_that_are_not_contiguous():
    function, x = ag.function(columns_kept, engine="native"), np.random.default_rng(1).normal(size=(6, 6))
    assert repr(function(x.copy(), 6)) == repr(columns_kept(x.copy(), 6))
    assert not [event for event in function.explain(x, 6) if "was left here" in event.message]
