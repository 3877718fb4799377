"""Deques in machine code: both ends, items, limits, and what goes through all items."""

from __future__ import annotations

import bisect
import gc
import random
import sys
from collections import deque
from typing import Any

import pytest

import autograph as ag
from autograph.runtime.engines.native.llvm import deque_items
from tests.comparing import assert_same

ENGINES = ["native", "numpy", None]


def staged(function: Any, engine: str | None) -> Any:
    return ag.function(function) if engine is None else ag.function(function, engine=engine)


def changed_at_both_ends(steps: list[int], queue: Any) -> Any:
    found = []
    for step in steps:
        if step == 0:
            queue.append(len(found))
        elif step == 1:
            queue.appendleft(step * 0.5 + len(found))
        elif step == 2 and queue:
            found.append(queue.pop())
        elif queue:
            found.append(queue.popleft())
        if len(queue) > 1:
            found.append((queue[0], queue[-1], queue[len(queue) // 2]))
    return found, queue


def moved(xs: list[Any], queue: Any, size: int) -> Any:
    found = []
    for x in xs:
        queue.append(x)
        if len(queue) > size:
            found.append(queue.popleft())
    return found, queue


def of_limit(xs: list[float], size: int) -> Any:
    window: deque[Any] = deque(maxlen=size)
    found = []
    for x in xs:
        window.append(x)
        found.append((len(window), sum(window), min(window), max(window), sorted(window)))
    return found, window, window.maxlen


def of_limit_and_items(xs: list[Any], size: int) -> Any:
    window = deque(xs[:4], size)
    found = []
    for x in xs:
        window.appendleft(x)
        found.append((sum(window), sorted(window), window[-1]))
    return found, window


def of_wrong_limit(xs: list[Any], size: Any) -> Any:
    window: deque[Any] = deque(xs, maxlen=size)
    for x in xs:
        window.append(x)
    return window


def ordered(xs: list[float], size: int) -> list[float]:
    queue: deque[float] = deque()
    kept: list[float] = []
    found = []
    for x in xs:
        queue.append(x)
        bisect.insort(kept, x)
        if len(queue) > size:
            del kept[bisect.bisect_left(kept, queue.popleft())]
        found.append(kept[len(kept) // 2])
    return found


def taken_from_empty(count: int) -> int:
    queue = deque([1, 2, 3])
    total = 0
    for _ in range(count):
        total += queue.popleft()
    return total


def popped_from_empty(queue: Any, count: int) -> int:
    total = 0
    for _ in range(count):
        total += queue.pop()
    return total


def out_of_bounds(queue: Any, count: int) -> Any:
    total = 0
    for i in range(count):
        total += queue[i] + queue[-i - 1]
    return total


def changed_in_a_loop(queue: Any) -> int:
    total = 0
    for item in queue:
        total += item
        if total > 5:
            queue.append(total)
    return total


def filled_in_a_loop(n: int) -> Any:
    queue: deque[int] = deque()
    for i in range(n):
        queue.append(i * i)
    for i in range(n // 2):
        queue.popleft()
    total = 0
    for i in range(len(queue)):
        total += queue[i] * i
    return total, queue


def sums(containers: list[Any]) -> Any:
    found = []
    for each in containers:
        found.append((sum(each), max(each), min(each), sorted(each)))
    return found


def orders(containers: list[Any]) -> Any:
    found = []
    for each in containers:
        found.append(sorted(each))
    return found


RANDOM = random.Random(5)
STEPS = RANDOM.choices((0, 0, 1, 1, 2, 3), k=900) + RANDOM.choices((0, 1, 2, 2, 3, 3), k=900)
FLOATS = [RANDOM.uniform(-5, 5) for _ in range(300)]
MIXED: list[Any] = [1, 2.5, True, -0.0, 0, 10**30, 7, 0.0, 2**62, False, -3.5] * 12
ODD: list[Any] = [1, "a", None, [1], (2, 3), 4.5, {"k": 1}] * 30
LIMITS = [None, 0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 130]
CALLS: list[tuple[Any, list[tuple[Any, ...]]]] = [
    (changed_at_both_ends, [(STEPS, deque(maxlen=limit)) for limit in LIMITS]),
    (changed_at_both_ends, [(STEPS[:200], deque([1.5, 2], 7)), (STEPS[:200], [])]),
    (moved, [(FLOATS, deque(), size) for size in (0, 1, 5, 31, 64, 100)]),
    (moved, [(MIXED, deque(), 5), (ODD, deque(), 40), (ODD, deque(ODD, 9), 8), (FLOATS, deque(maxlen=3), 5)]),
    (of_limit, [(FLOATS, size) for size in (1, 2, 9, 64, 70)]),
    (of_limit, [(MIXED, 6), (FLOATS, 0), ([], 3), ([1, 2, 3] * 30, 4), ([float("nan"), 1.0, 2.0] * 9, 3)]),
    (of_limit_and_items, [(FLOATS, 9), (MIXED, 5), ([1, "a"], 3), ([True, False] * 9, 4)]),
    (of_wrong_limit, [(FLOATS, 4), (FLOATS, True), (FLOATS, -1), (FLOATS, 2.5), (FLOATS, None), (FLOATS, 2**70)]),
    (ordered, [(FLOATS, 11), ([1, 5, 2] * 60, 7), (MIXED, 9), (FLOATS, 64)]),
    (taken_from_empty, [(2,), (3,), (4,), (9,)]),
    (popped_from_empty, [(deque([1, 2, 3]), 3), (deque([1, 2, 3]), 4), (deque([1.5, 2]), 2), (deque(), 1)]),
    (out_of_bounds, [(deque(range(200)), 200), (deque(range(200)), 201), (deque([1.5]), 1), (deque(), 1)]),
    (changed_in_a_loop, [(deque([1, 2]),), (deque([1, 2, 3, 4]),), (deque([9]),)]),
    (filled_in_a_loop, [(10,), (1000,), (0,), (64,)]),
    (sums, [([deque([3, 1, 2]), deque([1, 5]), deque(range(200))],), ([deque([1.5, 2.5]), deque([0.5])],)]),
    (sums, [([deque([1, 2.5]), deque([True, 2])],), ([deque([1]), deque(["a"])],), ([deque([1]), deque()],)]),
    (orders, [([{3, 1, 2}, {9, 8}],), ([(3, 1, 2), (2.5, 1.5)],), ([{"b", "a"}, {"c"}],), ([(1, "a")],)]),
    (orders, [([frozenset({3, 1}), frozenset()],), ([deque([2, 1]), deque(ODD)],), ([deque([0.0, -0.0, 0])] * 2,)]),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("function, calls", CALLS, ids=[f"{each.__name__} {n}" for n, (each, _) in enumerate(CALLS)])
def test_same(function: Any, calls: list[tuple[Any, ...]], engine: str | None) -> None:
    compiled = staged(function, engine)
    for call in [*calls, *calls]:
        assert_same(compiled, *call)


def test_layout_is_known() -> None:
    assert deque_items.HAS_DEQUES


@pytest.mark.parametrize("engine", ["native", None])
def test_items_stay_the_same_objects(engine: str | None) -> None:
    things = [object() for _ in range(100)]
    queue: deque[object] = deque(maxlen=70)
    found, queue = staged(moved, engine)(things, queue, 65)
    wanted, other = moved(things, deque(maxlen=70), 65)
    assert [*map(id, found)] == [*map(id, wanted)]
    assert [*map(id, queue)] == [*map(id, other)]


@pytest.mark.parametrize("limit", [None, 5])
def test_references(limit: int | None) -> None:
    things = [object() for _ in range(300)]
    compiled = ag.function(moved, engine="native")
    for size in (3, 50):
        compiled(things, deque(maxlen=limit), size)
    gc.collect()
    before = [*map(sys.getrefcount, things)]
    for _ in range(5):
        compiled(things, deque(maxlen=limit), 3)
    gc.collect()
    assert [*map(sys.getrefcount, things)] == before


class Told:
    """Tells when it goes."""

    def __init__(self, number: int, log: list[Any], queue: Any) -> None:
        self.number, self.log, self.queue = number, log, queue

    def __del__(self) -> None:
        self.log.append((self.number, len(self.queue)))


def pushes(things: list[Any], queue: Any) -> int:
    while things:
        queue.append(things.pop())
    return len(queue)


@pytest.mark.parametrize("limit", [1, 4, 70])
def test_items_go_in_the_same_order(limit: int) -> None:
    logs: list[list[Any]] = []
    compiled = ag.function(pushes, engine="native")
    for function in (pushes, compiled, compiled):
        log: list[Any] = []
        queue: deque[Any] = deque(maxlen=limit)
        function([Told(number, log, queue) for number in range(100)], queue)
        logs.append(list(log))
        queue.clear()
    assert logs[0] == logs[1] == logs[2]


class Own(deque[Any]):
    def append(self, item: Any) -> None:
        super().append((item, len(self)))


@pytest.mark.parametrize("engine", ENGINES)
def test_subclasses(engine: str | None) -> None:
    compiled = staged(moved, engine)
    for queue in (deque(), Own(), Own()):
        found = compiled([1.5, 2.5, 3.5], type(queue)(), 2)
        assert found == moved([1.5, 2.5, 3.5], type(queue)(), 2)
