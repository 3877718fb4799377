"""Lists, dicts and strings in machine code: what is done is what Python does, also if the code is left at any node."""

import copy
import gc
import sys
from fractions import Fraction

import pytest

import autograph as ag
from autograph.errors import StrictError
from tests.corpus_staged import container_loops, entries, list_loops
from tests.outcomes import run
from tests.runtime.engines.native.programs import regions

NAMES = vars(list_loops) | vars(container_loops)
THEMES = "list_loops", "container_loops"
CASES = [(entry.name, args) for entry in entries() if entry.theme in THEMES for args in entry.calls]


@pytest.mark.parametrize("nodes", [1, 2, 3, 7, 19, 60, 500])
@pytest.mark.parametrize("name, args", CASES)
def test_code_that_is_left_after_some_nodes(name, args, nodes, fuel):
    plain, names = NAMES[name], NAMES
    staged = ag.function(plain, engine="native")
    expected = run(plain, args, names)
    for _ in range(2):
        fuel.value = nodes
        assert run(staged, args, names) == expected


class Item:
    """An object whose references are counted."""

    def __init__(self, number):
        self.number = number

    def __add__(self, other):
        return self.number + other

    __radd__ = __add__


def passed_on(xs, table):
    total, stack = 0, []
    for i, x in enumerate(xs):
        stack.append(x)
        total = x + total + i
    for x, y in zip(xs, stack):
        table[y.number] = x
        part = xs[1:] + [x]
        part.append(stack.pop())
        stack.append(part.pop())
        total = table.get(x.number, x) + total
    while stack:
        total = stack.pop() + total
    return total


def test_references():
    """None is lost, and none is left."""
    staged = ag.function(passed_on, engine="native")
    xs, table = [Item(i % 7) for i in range(90)], {}
    for _ in range(3):
        assert staged(xs, table) == passed_on(xs, {})
        gc.collect()
        counts = [sys.getrefcount(each) for each in (*xs, xs, table)]
    staged(xs, table)
    gc.collect()
    assert [sys.getrefcount(each) for each in (*xs, xs, table)] == counts


NUMBERS = [1.5, 2.0, 0.25, 7.0] * 20
WITHOUT_CALLBACKS = {
    "histogram": ([1, 2, 3] * 30,), "windows": (NUMBERS, 4), "edits": ("kitten" * 9, "sitting" * 8),
    "aggregated": ([NUMBERS] * 20,), "sorted_windows": (NUMBERS, 5), "rearranged": ([[3, 1, 2]] * 70,),
}  # fmt: skip


@pytest.mark.parametrize("name", WITHOUT_CALLBACKS)
def test_no_callbacks_are_called(name):
    staged, args = ag.function(getattr(list_loops, name), engine="native"), WITHOUT_CALLBACKS[name]
    for _ in range(2):
        staged(*copy.deepcopy(args))
    for region in regions(staged):
        assert not region.reasons and not any(each.count.value for each in region.callbacks.values())


def test_a_callback_for_other_items_is_refused_when_it_is_called():
    def sums(rows):
        total = 0
        for row in rows:
            total += min(row)
        return total

    strict = ag.function(sums, engine="native", strict="native_callback")
    numbers, others = [[3, 1, 2]] * 70, [[3, 1, 2]] * 69 + [[Fraction(1, 2), 2]]
    for _ in range(2):
        assert strict(numbers) == 70
    for _ in range(2):
        with pytest.raises(StrictError, match=r"test_containers.py:\d+: sums is strict about 'native_callback'"):
            strict(others)
    assert ag.function(sums, engine="native")(others) == sums(others)
