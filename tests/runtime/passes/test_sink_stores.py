"""Store sinking: which attributes a loop sets afterwards, and what the program, its threads and its signals see."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import autograph as ag
from autograph.runtime.passes import sink_stores
from tests import outcomes
from tests.runtime.passes.texts import becomes, stays

GRAPH = """
    graph f(b: Body, n: py.int, c: py.bool):
        x: py.float = b.x
        y: py.float = b.y
        r: range<py.int> = range(n)
        x.1: py.float, y.1: py.float = for(r, x, y, target=0):
            body(i: py.int, x.2: py.float, y.2: py.float):
                {0}
                -> {1}
        -> x.1
    """


def graph(lines: str, results: str, begin: str = "") -> str:
    text = GRAPH.format(lines.strip(), results)
    return text.replace("r: range", f"{begin}\n        r: range") if begin else text


def test_stores_that_every_iteration_makes() -> None:
    becomes(
        "sink_stores",
        graph(
            """
                x.3: py.float = x.2 + 1.5
                b.x = x.3
                y.3: py.float = y.2 * x.3
                b.y = y.3
            """,
            "x.3, y.3",
        ),
        """
        graph f(b: Body, n: py.int, c: py.bool):
            x: py.float = b.x
            y: py.float = b.y
            %0: range<py.int> = range(0, n, 4096)
            x.1: py.float, y.1: py.float = for(%0, x, y, target=0):
                body(%1: py.int, x.2: py.float, y.2: py.float):
                    %2: py.int = %1 + 4096
                    %3: py.int = min(%2, n)
                    %4: range<py.int> = range(%1, %3)
                    x.3: py.float, y.3: py.float = for(%4, x.2, y.2, target=0):
                        body(i: py.int, x.4: py.float, y.4: py.float):
                            x.5: py.float = x.4 + 1.5
                            y.5: py.float = y.4 * x.5
                            -> x.5, y.5
                    b.x = x.3
                    b.y = y.3
                    -> x.3, y.3
            -> x.1
        """,
    )


ONE = """
                x.3: py.float = x.2 + 1.5
                b.x = x.3
"""


def test_a_short_loop_is_not_split() -> None:
    becomes(
        "sink_stores",
        """
        graph f(b: Body):
            x: py.float = b.x
            r: range<py.int> = range(2, 100)
            x.1: py.float = for(r, x, target=0):
                body(i: py.int, x.2: py.float):
                    x.3: py.float = x.2 + 1.5
                    b.x = x.3
                    -> x.3
            -> x.1
        """,
        """
        graph f(b: Body):
            x: py.float = b.x
            r: range<py.int> = range(2, 100)
            x.1: py.float = for(r, x, target=0):
                body(i: py.int, x.2: py.float):
                    x.3: py.float = x.2 + 1.5
                    -> x.3
            b.x = x.1
            -> x.1
        """,
    )


@pytest.mark.parametrize(
    ("lines", "results", "begin"),
    [
        ("x.3: py.float = x.2 / y.2\n                b.x = x.3", "x.3, y.2", ""),        # may raise
        ("print(i)\n" + ONE, "x.3, y.2", ""),       # shows when it runs
        ("x.3: py.float = x.2 + 1.5\n                b.x = y.2", "x.3, y.2", ""),       # is not the carried value
        ("x.3: py.float = x.2 + 1.5\n                b.z = x.3", "x.3, y.2", ""),       # was not read before
        (ONE, "x.3, y.2", "b.x = y"),       # has another value before the loop
        (ONE, "x.3, y.2", "print(b)"),      # may have one
        (ONE, "x.3, y.2", "%9: object = call(@t, b)"),
        ("x.3: py.float = x.2 + 1.5\n                b.x = 1.5", "x.3, y.2", ""),
        (ONE + "                z: object = b.x", "x.3, y.2", ""),      # is read in the loop
    ],
)
def test_stores_that_stay(lines: str, results: str, begin: str) -> None:
    text = graph(lines, results, begin)
    stays("sink_stores", text if "@t" not in text else text.replace("@t", "'t'"))


# Programs -------------------------------------------------------------------------------------------------------------


class Body:
    def __init__(self, x: Any = 1.0, y: Any = 2.0) -> None:
        self.x, self.y, self.log = x, y, []

    def step(self, dt: Any) -> None:
        self.x += dt * self.y
        self.y -= dt


class Slotted(Body):
    __slots__ = ("w",)


def always(b: Any, n: Any) -> Any:
    for _ in range(n):
        b.step(0.25)
    return b.x


def sometimes(b: Any, n: Any) -> Any:
    for i in range(n):
        if i > 3:
            b.x += 0.5
        elif b.y < 100.0:
            b.y += b.x
    return b.y


def nested(b: Any, n: Any) -> Any:
    for i in range(n):
        for _ in range(i):
            b.x += 0.5
        b.y += b.x
    return b.x


def several(b: Any, n: Any) -> Any:
    other = Body(3.0, 4.0)
    for _ in range(n):
        b.x, other.x = other.x * 0.5, b.x + 1
        b.y = b.x
    return other, b.x


def from_one_to_another(b: Any, n: Any) -> Any:
    for _ in range(3, n + 3):
        b.x = b.y + 1
        b.y = b.x - 1.5
    return b.x + b.y


def with_errors(b: Any, n: Any) -> Any:
    for i in range(n):
        b.x += 1.0
        b.y = b.x / (8 - i)
    return b.y


def with_a_log(b: Any, n: Any) -> Any:
    for i in range(n):
        b.x += 1.0
        b.log.append(b.x)
    return b.x


def integers(b: Any, n: Any) -> Any:
    for i in range(n):
        b.x = b.x * 3 + i
    return b.x


def backwards(b: Any, n: Any) -> Any:
    for i in range(n, 0, -1):
        b.x += i
    return b.x


def until(b: Any, n: Any) -> Any:
    for i in range(n):
        b.x += 0.5
        if b.x > 3.0:
            break
    return b.x


SUNK = [always, sometimes, nested, from_one_to_another]
PROGRAMS = [*SUNK, several, with_errors, with_a_log, integers, backwards, until]


@pytest.fixture(params=[sink_stores.STRIP, 3])
def strip(request: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(sink_stores, "STRIP", request.param)
    monkeypatch.setattr(sink_stores, "OF_LOOPS", min(request.param, 64))


@pytest.mark.once
@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("kind", [Body, Slotted])
@pytest.mark.usefixtures("strip")
def test_programs(program: Callable[..., Any], kind: Any, engine: str) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite")
    staged = ag.function(program, engine=engine)
    for first in (1.0, 1, 2.5, 1e308, 1 << 62):
        for n in (0, 1, 5, 20, 41):
            expected, actual = kind(first), kind(first)
            for function, body in ((program, expected), (staged, actual)):
                body.log.append(outcomes.run(function, "body, n", {"body": body, "n": n}).value)
            assert repr(vars(actual)) == repr(vars(expected)), (first, n)
            assert type(actual.x) is type(expected.x)


@pytest.mark.parametrize("program", SUNK)
def test_the_loops_of_programs_are_free_of_stores(program: Any) -> None:
    graph = ag.function(program).graph(Body(), 100)
    assert f"{sink_stores.OF_LOOPS if program is nested else sink_stores.STRIP})" in str(graph)


def test_closures_and_classes_with_setters() -> None:
    class Watched(Body):
        def __setattr__(self, name: str, value: Any) -> None:
            if name == "x":
                print("x", value)
            object.__setattr__(self, name, value)

    class Derived(Body):
        @property
        def z(self) -> Any:
            return self.x

        @z.setter
        def z(self, value: Any) -> None:
            print("z", value)
            self.x = value

    def by_property(b: Any, n: Any) -> Any:
        for _ in range(n):
            b.z = b.z + 1.0
        return b.x

    def counting(n: Any) -> Any:
        count = 0

        def add() -> None:
            nonlocal count
            for _ in range(n):
                count += 1

        add()
        return count

    for kind, program in ((Watched, always), (Derived, by_property), (Derived, always)):
        staged = ag.function(program)
        for _ in range(2):
            names = {"kind": kind, "program": program, "staged": staged}
            expected = outcomes.run(lambda b: (program(b, 9), vars(b)), "kind()", names)
            assert outcomes.run(lambda b, staged=staged: (staged(b, 9), vars(b)), "kind()", names) == expected
    assert ag.function(counting)(100) == 100


def test_two_names_of_one_object() -> None:
    def both(a: Any, b: Any, n: Any) -> Any:
        for _ in range(n):
            a.x += 1.0
            b.x *= 2.0
        return a.x, b.x

    staged = ag.function(both)
    for one in (True, False, True):
        results = []
        for function in (both, staged):
            a = Body()
            b = a if one else Body()
            results.append((function(a, b, 10), a.x, b.x))
        assert results[0] == results[1]


def test_an_attribute_that_a_handler_or_a_thread_reads() -> None:
    """They see the values after some number of iterations, and progress."""
    pytest.importorskip("llvmlite")

    class Interrupted(Exception):
        pass

    seen: list[Any] = []

    def handler(*_: Any) -> None:
        seen.append((body.x, body.y))
        if len(seen) == 3:
            raise Interrupted

    def watch() -> None:
        while not done.is_set():
            watched.add((body.x, body.y))
            time.sleep(0.001)

    def run(b: Any, n: Any) -> None:
        for _ in range(n):
            b.x += 1.0
            b.y += 2.0

    staged = ag.function(run, engine="native")
    for _ in range(3):
        staged(Body(), 10)
    body, watched, done = Body(0.0, 0.0), set[Any](), threading.Event()
    before = signal.signal(signal.SIGALRM, handler)
    thread = threading.Thread(target=watch)
    thread.start()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        with pytest.raises(Interrupted):
            staged(body, 10**13)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        done.set()
        thread.join()
    assert all(y == 2 * x for x, y in seen)
    assert (body.x, body.y) == seen[-1]
    assert 0 < seen[0][0] < seen[1][0] < seen[2][0]
    assert len(watched) > 2
