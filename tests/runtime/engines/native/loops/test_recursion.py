"""Functions that call themselves as machine code."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import pytest

import autograph as ag
from autograph.common.cpython_internals import RECURSION_LEFT
from autograph.runtime.graph.recursion import Itself

pytestmark = pytest.mark.skipif(not RECURSION_LEFT, reason="Python's counter of frames is not where it is known to be")


def native(function: Any) -> Any:
    return ag.function(function, engine="native")


def messages(function: Any) -> str:
    (trace,) = function.traces
    return "\n".join(event.message for event in trace.executable.events)


@pytest.fixture
def plain_calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions whose levels were left to Python."""
    called, call = [], Itself.__call__

    def noted(self: Itself, *args: Any) -> Any:
        called.append(self.__name__)
        return call(self, *args)

    monkeypatch.setattr(Itself, "__call__", noted)
    return called


@native
def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def test_all_levels_are_machine_code(plain_calls: list[str]) -> None:
    assert [fibonacci(n) for n in range(25)][-3:] == [17711, 28657, 46368]
    assert fibonacci.traces[0].graph is not None
    assert len(fibonacci.traces) == 1
    assert not plain_calls
    assert "the function, which calls itself, is machine code" in messages(fibonacci)


@native
def factorial(n: int) -> int:
    return 1 if n == 0 else n * factorial(n - 1)


def test_levels_with_large_integers_are_pythons() -> None:
    assert [factorial(n) for n in (5, 20, 21, 40, 5)] == [
        120, 2432902008176640000, 51090942171709440000, 815915283247897734345611269596115894272000000000, 120
    ]  # fmt: skip


@native
def depth(n: int) -> int:
    return 0 if n == 0 else 1 + depth(n - 1)


def room() -> int:
    """How many more calls Python allows here."""
    try:
        return 1 + room()
    except RecursionError:
        return 0


@pytest.mark.usefixtures("default_engine")
@pytest.mark.parametrize(("options", "missing"), [({"engine": "native"}, 160), ({}, 20)])
def test_recursion_is_about_as_deep_as_in_python(options: Any, missing: int) -> None:
    """A staged function that is no Python function takes several of Python's frames in the last levels."""

    @ag.function(**options)
    def function(n: int) -> int:
        return 0 if n == 0 else 1 + function(n - 1)

    function.compile(10)
    assert function(10) == 10
    most = room()
    assert function(most - missing) == most - missing
    with pytest.raises(RecursionError):
        function(most + 20)
    assert function(50) == 50
    assert abs(room() - most) <= 1


def test_endless_recursion_ends() -> None:
    @native
    def endless(n: int) -> int:
        return 0 if n < 0 else 1 + endless(n + 1)

    for _ in range(3):
        with pytest.raises(RecursionError):
            endless(1)
    assert endless(-1) == 0


def test_no_depth_exceeds_the_stack() -> None:
    """Python needs no stack for its own calls; in a thread with a small one, machine code leaves the rest to it."""
    limit, threads, found = sys.getrecursionlimit(), [], []
    plain: Callable[[int], int] = depth.python_function
    names = {**plain.__globals__}
    made = type(plain)(plain.__code__, names)
    names["depth"] = made   # which Python calls by itself
    staged = native(made)
    staged(5)
    sys.setrecursionlimit(30_000)
    try:
        threads.append(threading.Thread(target=lambda: found.append(staged(20_000))))
        threads[0].start()
        threads[0].join()
    finally:
        sys.setrecursionlimit(limit)
    assert found == [20_000]


@native
def items(xs: Any, i: int) -> Any:
    return 0 if i < 0 else xs[i] + items(xs, i - 1)


def entries(error: BaseException) -> Iterator[TracebackType]:
    entry = error.__traceback__
    while entry is not None:
        yield entry
        entry = entry.tb_next


@pytest.mark.parametrize("xs", [[1, 2, 3], [1.5, 2, 3], [2**70, 1, 2], [1, None, 3], [1, 2], [True, 2.5, 3]])
def test_items_of_any_class(xs: Any) -> None:
    for _ in range(3):
        try:
            wanted: Any = items.python_function(xs, 2)
        except (TypeError, IndexError) as error:
            with pytest.raises(type(error)) as raised:
                items(xs, 2)
            lines = [each.tb_lineno for each in entries(error)], [each.tb_lineno for each in entries(raised.value)]
            assert lines[0][-1] == lines[1][-1]
        else:
            found = items(xs, 2)
            assert (found, type(found)) == (wanted, type(wanted))


@native
def sets(xs: Any, i: int) -> None:
    if i == len(xs):
        raise ValueError(i)
    xs[i] = -i
    sets(xs, i + 1)
    xs[i] = 0


def test_an_exception_ends_all_levels() -> None:
    for _ in range(3):
        xs = [7] * 5
        with pytest.raises(ValueError, match="5") as raised:
            sets(xs, 0)
        assert xs == [0, -1, -2, -3, -4]
        begin = sets.python_function.__code__.co_firstlineno
        assert [each.tb_lineno - begin for each in entries(raised.value)][-6:] == [5, 5, 5, 5, 5, 3]


@native
def fills(xs: Any, n: int) -> Any:
    if n == 0:
        return None
    xs.append([n])
    return fills(xs, n - 1)


def test_references() -> None:
    fills([], 3)
    xs: list[Any] = []
    before = sys.getrefcount(xs)
    for _ in range(20):
        assert fills(xs, 5) is None
    assert sys.getrefcount(xs) == before
    assert {sys.getrefcount(each) for each in xs} == {sys.getrefcount([[1]][0])} or len(xs) == 100


@native
def halves(x: float, n: int) -> Any:
    if n == 0:
        return x
    if n % 5 == 0:
        return halves(x / 2, n - 1)
    return 1 + halves(x, n - 1)


def test_floats_stay_floats_and_nans_objects() -> None:
    assert [halves(1.0, n) for n in (0, 4, 12)] == [halves.python_function(1.0, n) for n in (0, 4, 12)]
    nan = float("nan")
    assert halves(nan, 0) is nan


def test_another_function_of_that_name_in_the_middle(plain_calls: list[str]) -> None:
    @native
    def counted(n: int) -> int:
        return 0 if n == 0 else 1 + counted(n - 1)

    assert counted(10) == 10
    first, counted = counted, lambda n: 100
    assert first(10) == 101


def test_defaults_are_those_of_the_call() -> None:
    @native
    def steps(n: int, by: int = 1, *, base: int = 0) -> int:
        return base if n <= 0 else 1 + steps(n - by, base=base)

    assert (steps(6), steps(6, 3), steps(6, base=4)) == (6, 4, 10)
    steps.__defaults__ = (2,)
    assert (steps(6), steps(6, 3)) == (3, 3)


class Solver:
    def __init__(self, weights: list[int]) -> None:
        self.weights = weights
        self.calls = 0

    @ag.function(engine="native")
    def best(self, i: int, room: int) -> int:
        self.calls += 1
        if i == len(self.weights):
            return 0
        found = self.best(i + 1, room)
        if self.weights[i] <= room:
            found = max(found, self.weights[i] + self.best(i + 1, room - self.weights[i]))
        return found


def test_methods() -> None:
    solver = Solver([3, 4, 5, 2])
    assert [solver.best(0, room) for room in (10, 7, 0, 10)] == [10, 7, 0, 10]
    assert solver.calls == 2 * 27 + 21 + 5


def test_signals_are_handled(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stop(Exception):
        pass

    def stop(*_: Any) -> None:
        raise Stop

    fibonacci(5)
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(Stop):
            fibonacci(60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert fibonacci(10) == 55


def test_others_run_meanwhile() -> None:
    ticks: list[int] = []
    done = threading.Event()

    def tick() -> None:
        while not done.wait(0.001):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    fibonacci(33)
    done.set()
    thread.join()
    assert ticks


def test_it_is_freed() -> None:
    @native
    def recursive(n: int) -> int:
        return 0 if n == 0 else 1 + recursive(n - 1)

    recursive(10)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(5):
        recursive(100)
    gc.collect()
    assert len(gc.get_objects()) - before < 50


def test_code_that_is_mostly_left_is_given_up() -> None:
    @native
    def power(x: int, n: int) -> int:
        return 1 if n == 0 else x * power(x, n - 1)

    for _ in range(40):
        assert power(3, 60) == 3**60
    assert "it is left to Python too often" in messages(power)
    assert [power(3, 60), power(2, 3)] == [3**60, 8]


def test_functions_without_a_result_of_their_own_are_given_up() -> None:
    @native
    def texts(n: int, s: str, out: list[str]) -> None:
        if n == 0:
            out.append(s)
            return
        texts(n - 1, s + "(", out)
        texts(n - 1, s + ")", out)

    for _ in range(100):
        texts(3, "", found := [])
        assert len(set(found)) == 8
