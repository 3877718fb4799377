"""`ag.function` from end to end: the same answers as the plain function, and what is told of them."""

import functools
import math
import re
import threading

import numpy as np
import pytest

import autograph as ag
from tests import counting

OFFSET = 10


@ag.function
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@ag.function
def shifted(x):
    return x + OFFSET


class Model:
    def __init__(self, depth=2):
        self.w = np.ones(3)
        self.depth = depth
        self.calls = 0

    @ag.function
    def total(self, x):
        result = x
        for _ in range(self.depth):
            result = result + self.w.sum()
        return result

    @ag.function
    def count(self):
        self.calls += 1
        return self.calls


def test_numbers_come_back_as_python_numbers():
    assert collatz(837799) == 524
    assert type(collatz(27)) is int
    assert len(collatz.traces) == 1


def test_a_global_that_changes_is_seen(monkeypatch):
    shifted.cache_clear()
    assert shifted(1) == 11
    monkeypatch.setitem(globals(), "OFFSET", 20)
    assert shifted(1) == 21
    monkeypatch.setitem(globals(), "OFFSET", 10)
    assert shifted(1) == 11
    (trace,) = shifted.traces
    assert "OFFSET" in trace.reason and "test_staged_function.py" in trace.reason
    assert (trace.number, trace.calls) == (2, 2)


def test_one_trace_for_all_instances_until_what_they_are_made_of_differs():
    models = [Model(), Model(), Model()]
    models[1].w = np.full(3, 2.0)
    assert [model.total(1.0) for model in models] == [7.0, 13.0, 7.0]
    assert len(Model.total.traces) == 1
    assert Model(depth=3).total(1.0) == 10.0
    assert "depth" in Model.total.traces[-1].reason


def test_attributes_are_changed():
    model = Model()
    assert [model.count(), model.count(), model.count()] == [1, 2, 3]
    assert model.calls == 3


def test_arguments_are_changed():
    @ag.function
    def double(x, seen, log):
        x *= 2
        seen["n"] = len(log)
        log.append(x.sum())
        return log

    x, seen, log = np.ones(2), {}, []
    for n in range(4):
        assert double(x, seen, log) is log
        assert seen == {"n": n}
    assert x.tolist() == [16, 16]
    assert log == [4, 8, 16, 32]


def test_the_same_array_twice():
    @ag.function
    def f(x, y):
        x += 1
        return (x + y).sum()

    a, b = np.zeros(2), np.zeros(2)
    assert f(a, b) == 2
    assert f(a, a) == 8
    assert f(b, a) == 6


def test_calls_of_staged_functions_become_part_of_the_trace():
    @ag.function
    def outer(x):
        return shifted(x) * 2

    before = len(shifted.traces)
    assert outer(3) == 26
    assert len(shifted.traces) == before


def test_calls_of_staged_methods_become_part_of_the_trace():
    class Counter:
        count = 0

        @ag.function
        def step(self, x):
            self.count += 1
            return x * self.count

    @ag.function
    def twice(counter, x):
        return counter.step(x) + counter.step(x)

    counter = Counter()
    assert (twice(counter, 3), counter.count) == (9, 2)
    assert (twice(counter, 3), counter.count) == (21, 4)
    assert Counter.step.traces == ()


def test_texts_of_any_kind():
    @ag.function
    def count(text):
        n = 0
        for letter in text:
            if letter == "a":
                n += 1
        return n

    texts = ["banana", "abc", "", "a" * 50, "xyz", "aa", "ba", "ab", "aba"]
    assert [count(text) for text in texts] == [text.count("a") for text in texts]


def test_callable_objects():
    class Scale:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            return self.k * x

    scale = Scale(3)
    staged = ag.function(scale)
    assert staged(2) == 6
    scale.k = 4
    assert staged(2) == 8


def test_partials():
    assert ag.function(functools.partial(lambda a, b: a - b, 10))(3) == 7


def append(target, x):
    target.append(x * 2)
    return len(target)


def test_what_partials_hold_is_changed_and_read_at_each_call():
    kept, numbers = [], np.arange(3)
    staged = ag.function(functools.partial(append, kept))
    assert [staged(1), staged(2)] == [1, 2] and kept == [2, 4]

    keep = functools.partial(append, target=kept)

    @ag.function
    def through(x):
        return keep(x=x)

    assert [through(5), through(6.5)] == [3, 4] and kept == [2, 4, 10, 13.0]

    scaled = ag.function(functools.partial(lambda values, i, scale: values[i] * scale, numbers, scale=10))
    assert scaled(2) == 20
    numbers[2] = 7
    assert scaled(2) == 70 and len(scaled.traces) == 1


def test_partials_are_handed_out_as_they_are():
    kept = functools.partial(append, [])

    @ag.function
    def give(x):
        return kept, x + 1

    assert give(1) == (kept, 2) == give(1)


@pytest.mark.parametrize("plain, argument", [(np.sin, 0.5), (len, [1, 2]), (np.sum, np.arange(3)), (math.sqrt, 2)])
def test_functions_written_in_c(plain, argument):
    result, expected = ag.function(plain)(argument), plain(argument)
    assert result == expected and type(result) is type(expected)


def test_errors_stand_at_the_user_s_line():
    @ag.function
    def f(x):
        y = x + 1
        return y / 0

    for _ in range(2):
        with pytest.raises(ZeroDivisionError) as caught:
            f(1)
        assert [entry.name for entry in caught.traceback] == [
            "test_errors_stand_at_the_user_s_line", "f", "f",
        ]  # fmt: skip
        assert caught.traceback[-1].lineno == f.python_function.__code__.co_firstlineno + 2


def test_eager():
    ag.run_eagerly(True)
    try:
        assert collatz(6) == 8
        assert shifted(1.5) == 11.5
    finally:
        ag.run_eagerly(False)
    assert collatz(6) == 8


def test_calls_find_the_trace_of_a_spec():
    function = ag.function(lambda xs: xs * 2)
    function.graph(ag.TensorSpec((3,), "f8"))
    assert function(np.ones(3)).tolist() == [2, 2, 2]
    (trace,) = function.traces
    assert trace.calls == 1


def test_concrete_functions_and_specs():
    @ag.function
    def norm(x, order=2):
        return (np.abs(x) ** order).sum() ** (1 / order)

    concrete = norm.get_concrete_function(ag.TensorSpec((None,), "f8"))
    assert concrete(np.array([3.0, 4.0])) == 5.0
    assert (
        str(concrete)
        == """\
norm(x, order)
  staged:
    x: f64[?]
    order: py.int
  returns:
    f64"""
    )
    assert "f64[?]" in str(norm.graph(ag.TensorSpec((None,), "f8")))


def test_what_is_told():
    text = str(collatz.explain(5))
    first, *lines = text.splitlines()
    assert re.fullmatch(r"collatz, trace 1 \(.*test_staged_function\.py\)", first)
    assert lines[0].startswith("  summary: ")
    after = 1 + lines[1].startswith("  advice: `AUTOGRAPH_ENGINE` keeps the loops of this function in Python")
    assert lines[after] == "  traced: (n: py.int): the first call"
    assert "engine: runs on the engine" in text
    assert "while" in text
    assert "while n != 1" in collatz.with_options(engine="numpy").lower(5).source


def test_threads():
    collatz.cache_clear()
    results = {}
    threads = [threading.Thread(target=lambda n=n: results.update({n: collatz(n)})) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: collatz.python_function(n) for n in range(1, 9)}
    assert len(collatz.traces) == 1


def test_calls_cost_little():
    """Two calls of Python functions: the dispatcher and what the engine has made."""

    @ag.function
    def f(a):
        return a + 1

    for _ in range(300):    # after 200 the trace has a dispatcher of its own
        f(1.0)
    assert counting.calls(lambda: f(1.0)) <= 2
    assert counting.lines(lambda: f(1.0)) < 10


def test_recursion_that_only_tracing_makes_too_deep():
    @ag.function
    def fibonacci(n):
        memo = {}

        def of(k):
            if k < 2:
                return k
            if k not in memo:
                memo[k] = of(k - 1) + of(k - 2)
            return memo[k]

        return of(n)

    assert fibonacci(300) == 222232244629420445529739893461909967206666939096499764990979600
    assert "too deep to be traced" in str(fibonacci.explain(300))

    @ag.function
    def depth(n):
        def down(k):
            return 0 if k == 0 else 1 + down(k - 1)

        try:
            return down(n)
        except RecursionError:
            return "too deep"

    assert depth(300) == 300
    assert depth(100_000) == "too deep"


def test_recursion_that_branches_too_often_runs_plain():
    @ag.function
    def subsets(xs, total):
        def count(at, rest):
            if at == 14:
                return 1 if rest == 0 else 0
            if xs[at] > rest:
                return count(at + 1, rest)
            return count(at + 1, rest) + count(at + 1, rest - xs[at])

        return count(0, total)

    xs = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7]
    assert subsets(xs, 10) == subsets.python_function(xs, 10)
    assert "too often to be traced" in str(subsets.explain(xs, 10))
