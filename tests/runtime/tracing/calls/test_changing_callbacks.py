"""Functions that are called as they are change globals, closures, classes and objects that traced code reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests import outcomes

TABLE, ITEMS, SEEN, NESTED, ARRAY = {1: 0}, [1], {0}, {"inner": [1]}, np.zeros(3)


class Counted:
    count = 0

    def __init__(self) -> None:
        self.values: list[int] = []

    def note(self, n: Any) -> None:
        type(self).count += 1
        self.values.append(n)

    @classmethod
    def of_class(cls) -> None:
        cls.count += 2


OBJECT = Counted()


def put(table: Any, key: int) -> None:
    table[key] = 1


@ag.do_not_convert
def changed_dict(n: Any) -> int:
    TABLE[int(n) + 10] = 5
    return 0


@ag.do_not_convert
def changed_by_another(n: Any) -> int:
    put(TABLE, int(n) + 10)
    return 0


@ag.do_not_convert
def changed_list(n: Any) -> int:
    ITEMS.append(int(n))
    return 0


@ag.do_not_convert
def changed_set(n: Any) -> int:
    SEEN.add(int(n))
    return 0


@ag.do_not_convert
def changed_inside(n: Any) -> int:
    NESTED["inner"].append(int(n))
    return 0


@ag.do_not_convert
def changed_array(n: Any) -> int:
    ARRAY[0] += 1
    return 0


@ag.do_not_convert
def changed_class(n: Any) -> int:
    Counted.count += 1
    return 0


@ag.do_not_convert
def changed_class_of_object(n: Any) -> int:
    OBJECT.note(n)
    return 0


@ag.do_not_convert
def changed_by_class(n: Any) -> int:
    Counted.of_class()
    return 0


def of_dict(n: Any) -> Any:
    total = 0
    for i in range(n):
        total += changed_dict(i) + len(TABLE)
    return total, TABLE


def of_dict_by_another(n: Any) -> Any:
    total = 0
    for i in range(n):
        total += changed_by_another(i) + len(TABLE)
    return total, TABLE


def without_a_loop(n: Any) -> Any:
    before = len(TABLE) + n
    changed_dict(n)
    return before, len(TABLE)


def of_list(n: Any) -> Any:
    total = 0
    for i in range(n):
        total += changed_list(i) + len(ITEMS) + ITEMS[-1]
    return total, ITEMS


def of_set(n: Any) -> Any:
    total = 0
    for i in range(n):
        total += changed_set(i) + (i in SEEN)
    return total, SEEN


def of_inner(n: Any) -> Any:
    total = 0
    for i in range(n):
        total += changed_inside(i) + len(NESTED["inner"])
    return total, NESTED


def of_array(n: Any) -> Any:
    total = 0.0
    for i in range(n):
        total += changed_array(i) + ARRAY[0]
    return total, ARRAY


def of_class(n: Any) -> Any:
    total = 0
    for i in range(n):
        total += changed_class(i) + Counted.count
    return total


def of_class_of_object(n: Any) -> Any:
    total = 0
    for i in range(n):
        total += changed_class_of_object(i) + Counted.count + len(OBJECT.values)
    return total


def of_class_by_class(n: Any) -> Any:
    total = 0
    for i in range(n):
        total += changed_by_class(i) + OBJECT.count
    return total


def of_a_closure(n: Any) -> Any:
    count, values = 0, []

    @ag.do_not_convert
    def note(i: Any) -> int:
        nonlocal count
        count += 1
        values.append(1)
        return 0

    total = 0
    for i in range(n):
        total += note(i) + count + len(values)
    return total


def reset() -> None:
    TABLE.clear()
    TABLE[1] = 0
    ITEMS[:], NESTED["inner"][:], ARRAY[:] = [1], [1], 0
    SEEN.clear()
    OBJECT.values.clear()
    Counted.count = 0


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize(
    "function",
    [of_dict, of_dict_by_another, without_a_loop, of_list, of_set, of_inner, of_array, of_class, of_class_of_object,
     of_class_by_class, of_a_closure],
)  # fmt: skip
def test_changes_are_seen(function: Any, engine: str) -> None:
    staged = ag.function(function, engine=engine)
    for call in ("4", "4", "0", "7"):
        reset()
        wanted = outcomes.run(function, call)
        reset()
        assert outcomes.run(staged, call) == wanted


def test_a_container_that_is_only_read_may_be_read_while_tracing() -> None:
    @ag.do_not_convert
    def looked_up(n: Any) -> Any:
        print(TABLE)
        return TABLE.get(int(n), 0)

    @ag.function(strict="plain")
    def total(n: Any) -> Any:
        return looked_up(n) + len(TABLE)

    reset()
    assert total(1) == 1
    assert "the structure of TABLE changed" in str(total.explain(1))
