"""Loops staged on their own do what they do in plain Python, whatever is around them."""

from __future__ import annotations

import gc
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograph as ag
import autograph.transforms.staging  # noqa: F401  (gives loops their tracer)
from autograph.runtime.dispatch import advice
from autograph.runtime.dispatch.compilation import Hooks
from autograph.runtime.dispatch.options import can_compile, check_options
from autograph.transforms import loop_sites
from autograph.transforms.loop_runner import LoopRunner
from tests import outcomes

ITERATIONS = pytest.mark.parametrize("first", range(5), ids=lambda first: f"after {first} iterations")


def runner_of(function: Any, first: int = 0, threshold: float = 0, engine: str = "numpy") -> LoopRunner:
    return LoopRunner(function, {"engine": engine}, threshold, first)


def tiers(runner: LoopRunner) -> list[int]:
    return [loop.tier for loop in sorted(runner.loops, key=lambda loop: loop.place or ())]


def compare(function: Any, *calls: str, first: int = 0, engine: str = "numpy") -> LoopRunner:
    """Call a function plain and with its loops staged, each twice; all must do the same, on the same lines."""
    runner = runner_of(function, first, engine=engine)
    for call in calls:
        for _ in range(2):
            wanted, actual = outcomes.run(function, call), outcomes.run(runner.function, call)
            assert actual == wanted
            assert actual.places == wanted.places
    return runner


# What is around a loop ------------------------------------------------------------------------------------------------


def in_try(x: Any, n: int) -> Any:
    last = total = 0
    try:
        for i in range(n):
            last = i
            total += x[i] / (5 - i)
    except (IndexError, ZeroDivisionError) as error:
        return "caught", type(error).__name__, last, total, i
    return total, last


@ITERATIONS
def test_a_handler_finds_the_variables_as_they_were_when_the_loop_raised(first: int) -> None:
    x = "np.array([1.0, 2, 3, 4, 5, 6, 7])"
    runner = compare(in_try, f"{x}, 4", f"{x}, 7", f"{x}[:2], 7", f"{x}.tolist(), 7", f"{x}, 0", first=first)
    assert tiers(runner) == [1]


def in_with(limit: float) -> Any:
    with np.errstate(all="ignore"):
        x = np.float64(1.0)
        while x < limit:
            x *= 3.0
        return x / 0


@ITERATIONS
def test_a_loop_in_a_with(first: int) -> None:
    assert tiers(compare(in_with, "1000.0", "0.0", first=first)) == [1]


def in_finally(n: int) -> Any:
    total = 0
    try:
        for i in range(n):
            if i == 5:
                return total
            total += i
    finally:
        print(total)
    return -1


@ITERATIONS
def test_a_return_out_of_a_loop_runs_finally(first: int) -> None:
    assert tiers(compare(in_finally, "3", "10", first=first)) == [1]


def generator(n: int) -> Iterator[int]:
    total = 0
    for i in range(n):
        for j in range(i):
            total += j
        yield total


@ITERATIONS
def test_the_inner_loop_of_a_generator(first: int) -> None:
    runner = compare(generator, "6", first=first)
    assert tiers(runner) == [1]


def progress(items: Any) -> Iterator[Any]:
    for item in items:
        print("item", item)
        yield item


def over_generator(n: int) -> int:
    total = 0
    for i in progress(range(n)):
        for j in range(n):
            total += i * j
    return total


@ITERATIONS
def test_an_inner_loop_is_staged_if_the_outer_one_has_items_of_a_generator(first: int) -> None:
    runner = compare(over_generator, "7", first=first)
    assert tiers(runner) == [0, 1]
    assert "not those of a range, list, tuple or array" in runner.loops[0].reason


def walk(tree: Any) -> int:
    if isinstance(tree, list):
        total = 0
        for branch in tree:
            total += walk(branch)
        return total
    count = 0
    while tree > 1:
        tree //= 2
        count += 1
    return count


@ITERATIONS
def test_recursion_by_data(first: int) -> None:
    compare(walk, "[3, [70, [5, 6]], 1000]", first=first)


def defines_a_class(n: int) -> Any:
    class Point:
        x = 1

    total = 0
    for i in range(n):
        total += i * Point.x
    return total


@ITERATIONS
def test_a_function_that_defines_a_class(first: int) -> None:
    compare(defines_a_class, "9", first=first)


# Variables ------------------------------------------------------------------------------------------------------------


def maybe_unbound(xs: Any) -> Any:
    try:
        for x in xs:
            if x > 2:
                found = x
                break
    finally:
        print("end")
    return x, found


@ITERATIONS
def test_variables_that_the_loop_does_not_set_stay_unbound(first: int) -> None:
    runner = compare(maybe_unbound, "[1, 2, 3, 4]", "[1, 2]", "np.array([1.0, 5.0])", "()", first=first)
    assert first or tiers(runner) == [1]


def rebinds_lists(n: int) -> Any:
    first = second = [1, 2]
    try:
        for i in range(n):
            second = first if i % 2 else second
    finally:
        pass
    return first is second, first, second


def test_a_variable_keeps_its_object() -> None:
    compare(rebinds_lists, "5")


def with_closure(n: int) -> Any:
    total = 0

    def shown() -> int:
        return total * 2

    seen = 0
    for i in range(n):
        total += i
        seen += shown()
    return seen, shown()


def with_setter(n: int) -> Any:
    k = 1

    def advance() -> None:
        nonlocal k
        k += 1

    total = 0
    for i in range(n):
        advance()
        total += k * i
    return total, k


def with_getters(n: int) -> Any:
    getters: list[Callable[[], int]] = []
    total = 0
    for i in range(n):
        if i < 2:
            getters.append(lambda: i)
        total += getters[0]()
    return total, [getter() for getter in getters]


@ITERATIONS
@pytest.mark.parametrize("function", [with_closure, with_setter, with_getters], ids=lambda each: each.__name__)
def test_variables_that_inner_functions_read_or_set(function: Any, first: int) -> None:
    runner = compare(function, "6", first=first)
    assert "is shared with an inner function" in runner.loops[0].reason


def inner_loop(n: int) -> Any:
    scale = n + 1

    def add(total: int) -> int:
        for i in range(n):
            total += i * scale
        return total

    return add(0), add(5)


@ITERATIONS
def test_a_loop_in_an_inner_function(first: int) -> None:
    assert tiers(compare(inner_loop, "6", first=first)) == [1]


def counter(n: int) -> Callable[[], int]:
    calls = 0

    def count() -> int:
        nonlocal calls
        for _ in range(n):
            calls += 1
        return calls

    return count


@ITERATIONS
def test_a_loop_changes_a_variable_of_the_function_around(first: int) -> None:
    count, plain = counter(6), counter(6)
    runner = runner_of(count, first)
    assert [runner.function(), runner.function(), count()] == [plain(), plain(), plain()]


def deletes(n: int) -> Any:
    x = 0
    for i in range(n):
        del x
        x = i
    return x


def test_a_variable_that_is_deleted() -> None:
    assert "is deleted in it" in compare(deletes, "4").loops[0].reason


total_of_module = 0


def sets_global(n: int) -> int:
    global total_of_module
    for i in range(n):
        total_of_module += i
    return total_of_module


@ITERATIONS
def test_a_global_variable(first: int) -> None:
    global total_of_module
    runner = runner_of(sets_global, first)
    for function in (sets_global, runner.function):
        total_of_module = 1
        assert [function(6), function(6), total_of_module] == [16, 31, 31]


# Items ----------------------------------------------------------------------------------------------------------------


def numbered(xs: Any, ys: Any) -> Any:
    total = 0
    for i, x in enumerate(xs, 2):
        total += i * x
    for x, y in zip(xs, ys):
        total -= x * y
        if total < -50:
            break
    return total


@ITERATIONS
def test_enumerate_and_zip(first: int) -> None:
    x = "np.arange(6.0)"
    runner = compare(numbered, f"{x}, {x} + 1", f"{x}, range(4)", "[1, 2, 3, 4, 5, 6], (4, 5)", "(), []", first=first)
    assert 1 in tiers(runner)


def shared_iterator(xs: Any) -> Any:
    numbers = enumerate(xs)
    for i, x in numbers:
        if i == 1:
            break
    rest = iter(xs)
    for x in rest:
        if x == 3:
            break
    pairs = zip(rest, rest)
    for a, b in pairs:
        print(a, b)
    return x, list(numbers), list(rest)


@ITERATIONS
def test_an_iterator_that_others_have_is_consumed_as_far_as_in_python(first: int) -> None:
    compare(shared_iterator, "[1, 2, 3, 4, 5, 6, 7]", first=first)


def grows(xs: list[int], n: int) -> Any:
    for x in xs:
        if len(xs) < n:
            xs.append(x + 1)
    return xs


@ITERATIONS
def test_a_list_that_changes_while_it_is_iterated_over(first: int) -> None:
    compare(grows, "[1, 2], 9", first=first)


def test_a_list_that_changes_is_staged_from_the_beginning_only() -> None:
    runner = runner_of(grows, first=2)
    assert runner.function([1], 5) == [1, 2, 3, 4, 5]
    assert not runner.loops[0].reason


def chains(n: int) -> Any:
    found: list[list[tuple[int, ...]]] = [[] for _ in range(n + 1)]
    found[0].append(())
    for i in range(1, n + 1):
        for chain in found[i - 1]:
            found[i].append((*chain, i))
    return found


@ITERATIONS
def test_code_that_asks_for_all_that_is_compared(first: int) -> None:
    runner = compare(chains, "5", first=first)
    assert runner._whole


# Effects --------------------------------------------------------------------------------------------------------------


def fills(out: Any, x: Any) -> Any:
    try:
        for i in range(len(x)):
            out[i] = 1 / x[i]
            print(i)
    except (IndexError, ZeroDivisionError) as error:
        print(type(error).__name__)
    return out


def draws(x: Any) -> Any:
    np.random.seed(1)
    for i in range(len(x)):
        x[i] += np.random.rand()    # an op without arguments whose order counts
    return x, i


@ITERATIONS
def test_a_loop_that_draws_numbers(first: int) -> None:
    compare(draws, "np.arange(6.0)", first=first)


@ITERATIONS
def test_what_a_loop_did_before_it_raised_stays_done(first: int) -> None:
    compare(fills, "[0] * 5, [1, 2, 4, 0, 5]", "[0] * 2, [1, 2, 4, 0, 5]", first=first)


def raises(out: Any, x: Any) -> Any:
    total = 0
    for i in range(len(x)):
        out[i] = total
        total += 1 / x[i]
    return total


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the line of the `for` stays: `raise` keeps the traceback apart")
@ITERATIONS
def test_the_traceback_of_a_loop_with_effects_has_the_line_in_the_loop(first: int) -> None:
    runner = compare(raises, "np.zeros(6), [1, 2, 2, 2, 2, 0, 5]", "np.zeros(2), [1, 2, 4, 5]", first=first)
    assert tiers(runner) == [1]


def warns(x: Any) -> Any:
    total = np.float64(0)
    try:
        for i in range(len(x) + 1):
            total += np.float64(1) / x[i]
    except IndexError:
        return total


@ITERATIONS
def test_a_loop_that_is_run_again_does_not_warn_again(first: int) -> None:
    runner = runner_of(warns, first)
    x = np.array([1.0, 0.0, 2.0, 4.0])
    for function in (warns, runner.function):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert function(x) == np.inf
        assert len(caught) == 1
    assert tiers(runner) == [1]


def test_a_loop_that_mostly_raises_is_not_staged() -> None:
    runner = runner_of(in_try)
    for _ in range(20):
        runner.function(np.ones(3), 5)
    assert runner.loops[0].reason == "it mostly raises IndexError"


# When -----------------------------------------------------------------------------------------------------------------


def nested(n: int) -> int:
    total = 0
    for i in range(n):
        for j in range(n):
            total += i ^ j
    return total


def test_a_loop_is_staged_in_its_first_run_once_it_is_hot() -> None:
    runner = runner_of(nested, first=8, threshold=1e-4)
    assert runner.function(300) == nested(300)
    assert max(tiers(runner)) == 1


def numbers(n: int) -> Iterator[int]:
    yield from range(n)


def many_short_runs(n: int, m: int) -> int:
    total = 0
    for i in numbers(n):
        for j in range(m):
            total += i ^ j
    return total


def test_a_loop_with_many_short_runs_is_staged_when_all_of_them_have_taken_long() -> None:
    runner = runner_of(many_short_runs, first=8, threshold=3e-3)
    assert runner.function(2000, 1000) == many_short_runs(2000, 1000)
    assert tiers(runner) == [0, 1]


def test_cold_loops_stay_plain() -> None:
    runner = runner_of(nested, first=8, threshold=10)
    assert runner.function(10) == nested(10)
    assert tiers(runner) == [0, 0]
    assert [loop.runs for loop in runner.loops] == [1, 10]
    assert [loop.place for loop in runner.loops] == [
        (__file__, nested.__code__.co_firstlineno + 2), (__file__, nested.__code__.co_firstlineno + 3)
    ]  # fmt: skip


def test_a_debugger_follows_plain_loops() -> None:
    runner = runner_of(nested)
    lines = []

    def trace(frame: Any, event: str, _: Any) -> Any:
        if event == "line" and frame.f_code.co_filename == __file__:
            lines.append(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        runner.function(2)
    finally:
        sys.settrace(before)
    assert lines.count(nested.__code__.co_firstlineno + 4) == 4
    assert tiers(runner) == [0, 0]


def test_while_another_function_is_traced_loops_are_a_part_of_that() -> None:
    runner = runner_of(nested)
    graph = ag.function(lambda n: runner.function(n)).graph(4)
    assert "for" in str(graph) or "call" in str(graph)
    assert not runner.loops


def test_threads() -> None:
    runner = runner_of(in_try, first=2)
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda k=k: results.append((k, runner.function(np.arange(9.0), k)))) for k in range(9)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [(k, in_try(np.arange(9.0), k)) for k in range(9)]


def no_loop(x: int) -> int:
    return x + 1


def test_runners_are_freed_and_inner_functions_that_are_left_go_on() -> None:
    class Captured:
        pass

    def make() -> Any:
        captured = Captured()

        def outer(n: int) -> Any:
            total = 0 if captured else 1
            for i in range(n):
                total += i

            def inner(n: int) -> int:
                subtotal = 0 if captured else 1
                for i in range(n):
                    subtotal += i
                while n > 0:
                    n, subtotal = n - 1, subtotal + n
                return subtotal

            return total, inner

        runner = runner_of(outer)
        (total, _), (_, left) = runner.function(5), runner.function(5)
        assert (total, left(3), left(3)) == (10, 9, 9)
        assert 1 in tiers(runner)
        return weakref.ref(captured), weakref.ref(runner), left

    captured, runner, left = make()
    gc.collect()
    assert runner() is None
    assert left(3) == 9
    del left
    gc.collect()
    assert captured() is None


def test_the_runner_of_a_function() -> None:
    assert Hooks.loops is not None
    options = check_options(["n"], engine="numpy")
    assert Hooks.loops(no_loop, options) is None
    assert Hooks.loops(len, options) is None
    assert Hooks.loops(eval("lambda n: [n for _ in range(n)]"), options) is None
    runner = Hooks.loops(nested, options)
    assert runner.function(5) == nested(5)


def namesakes(x: Any, n: int) -> Any:
    for i in range(4):
        x[i] = 2 * i

        def inner(v: Any) -> Any:
            x = v
            match v:
                case [_, p]:
                    if n > 1:
                        return x, p

    return x


@ITERATIONS
def test_a_variable_of_an_inner_function_has_the_name_of_one_of_the_loop(first: int) -> None:
    compare(namesakes, "np.arange(5.0), 2", first=first)


def loops_with_a_handler(x: Any, y: Any) -> Any:
    for _ in range(3):
        for item in x:
            try:
                y = np.append(y, item)[-4:]
                print(item)
            except Exception:
                item = 1
    n = 2
    while n:
        n -= 1
        k = 2
        while k:
            k -= 1
            try:
                y = np.append(y, k)
                print(k)
            except Exception:
                k = 0
    return y


@ITERATIONS
def test_an_inner_loop_is_staged_after_the_outer_one_could_not_be(first: int) -> None:
    compare(loops_with_a_handler, "np.arange(3.0), np.ones(2)", first=first)


def test_a_loop_whose_staging_would_take_long_stays_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_sites, "USUAL", 0.0)
    monkeypatch.setattr(loop_sites, "ALLOWED", 0.0)     # then it may take as long as the loop has taken

    def poly(x: float) -> float:
        for _ in range(40):
            x = 1 + x * (2 + x * (3 + x * (4 + x * (5 + x * (6 + x * (7 + x * (8 + x))))))) % 3
        return x

    runner = runner_of(poly, first=1, threshold=1e-9)
    assert runner.function(0.5) == poly(0.5)
    (loop,) = runner.loops
    assert loop.tier == 0
    assert "tracing was stopped after" in loop.reason


# Reports --------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not can_compile(), reason="needs llvmlite")
def test_a_loop_that_is_staged_on_its_own_has_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "SHORT", 0.0)   # however little time the loop takes

    def shrinks(xs: list[float]) -> Any:
        total = 0.0
        while len(xs) > 3:
            total = total * 0.5 + xs[-1]
            xs[-1:] = ()
        return total

    runner = LoopRunner(shrinks, {"engine": "native"}, 0.0, 0)
    for _ in range(3):
        assert runner.function([1.5] * 90) == shrinks([1.5] * 90)
    (loop,) = runner.loops
    assert [(each.rule, each.place) for each in loop.advice()] == [
        ("list", (__file__, shrinks.__code__.co_firstlineno + 4)),
        ("python-call", (__file__, shrinks.__code__.co_firstlineno + 3)),
    ]


def counts_with_a_class(n: int) -> int:
    class Square:
        rows = n

    total = 0
    for i in numbers(Square.rows):
        for j in range(n):
            total += (i * j) % 7
    return total


@pytest.mark.usefixtures("default_engine")
def test_explain_lists_the_loops_of_a_function_that_stays_plain_with_tier_and_reason() -> None:
    function, best = ag.function(counts_with_a_class), 1 + can_compile()
    for _ in range(500):
        assert function(300) == counts_with_a_class(300)
        if function.explain(300).summary.tier == best:
            break
    outer, inner = sorted(function.explain(300).loops, key=lambda loop: loop.place or ())
    assert (outer.tier, outer.reason) == (0, "its items are not those of a range, list, tuple or array")
    assert (inner.tier, inner.reason) == (best, "")
