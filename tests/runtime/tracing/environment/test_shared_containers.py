"""One container that two arguments, attributes, items or variables hold: changed by one of them, it is for the others.

Each program gets `stage`, which decorates its function, and yields values that must be the same plain and staged:
results, and the objects that the calls changed, with their identities.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests.aliasing_programs import shape

Stage = Callable[[Any], Any]
Program = Callable[[Stage], Iterator[Any]]


class Box:
    def __init__(self, xs: Any, other: Any = None) -> None:
        self.xs = xs
        self.other = other

    def push(self, x: Any) -> int:
        self.xs.append(x)
        return len(self.xs)


@dataclass
class Pair:
    xs: list[Any]
    ys: list[Any]


SHARED: list[Any] = [1]
ALSO: list[Any] = SHARED
BOX = Box(SHARED)


def attributes_of_two_arguments(stage: Stage) -> Iterator[Any]:
    @stage
    def f(p, r):
        p.xs.append(1)
        return len(r.xs), p.xs is r.xs

    xs = [1]
    p, r = Box(xs), Box(xs)
    for _ in range(3):
        yield f(p, r), p, r
    r.xs = [5]
    yield f(p, r), p, r
    p.xs = r.xs
    yield f(p, r), p, r


def attributes_that_are_sets_and_dicts(stage: Stage) -> Iterator[Any]:
    @stage
    def f(p, r, k):
        p.xs.update({k: k})
        return k in r.xs, len(r.xs)

    for shared in ({1: 1}, OrderedDict(a=1), defaultdict(int), {0}):
        p, r = Box(shared), Box(shared)
        for k in (5, 6):
            yield f(p, r, k), p, r
        r.xs = type(shared)()
        yield f(p, r, 7), p, r


def attributes_of_other_classes(stage: Stage) -> Iterator[Any]:
    @stage
    def f(p, r):
        p.xs.append(3)
        return len(r.xs), r.xs[-1], p.xs is r.xs

    for shared in (deque([1, 2]), bytearray(b"ab"), Counted([1])):
        p, r = Box(shared), Box(shared)
        yield f(p, r), p.xs is r.xs, list(p.xs)
        r.xs = type(shared)([1, 2])
        yield f(p, r), p.xs is r.xs, list(p.xs), list(r.xs)


class Counted(list):  # type: ignore[type-arg]
    pass


def attributes_that_are_arrays(stage: Stage) -> Iterator[Any]:
    @stage
    def f(p, r):
        p.xs[0] += 1
        return r.xs[0] * 2, p.xs is r.xs

    a = np.arange(3.0)
    for one, other in ((a, a), (a, a.copy()), (a, a[::-1]), (a, a[:1]), (a, a)):
        p, r = Box(one), Box(other)
        yield f(p, r), p, r


def one_argument_twice(stage: Stage) -> Iterator[Any]:
    @stage
    def f(a, b):
        a.append(1)
        b.append(2)
        a.append(3)
        b.append(4)

    xs: list[int] = [0]
    f(xs, xs)
    f(xs, [9])
    ys: list[int] = [0]
    for _ in range(3):
        f(ys, ys)
        yield xs, ys


def apart_then_one_of_other_lengths(stage: Stage) -> Iterator[Any]:
    @stage
    def f(a, b):
        b += [len(a)]
        return a[-1], len(b), a is b

    xs, ys = [1, 2, 3], [4]
    for a, b in ((xs, ys), (ys, [0] * 5), (ys, ys), (xs, xs), (xs, ys), (xs, xs)):
        yield f(a, b), xs, ys


def a_list_twice_in_a_list(stage: Stage) -> Iterator[Any]:
    @stage
    def f(rows, n):
        for _ in range(n):
            rows[0].append(n)
        return len(rows[1]), rows[0] is rows[1]

    row = [1]
    for rows in ([row, row], [row, [1]], [row, row], [[1], [1]], [row, [1, 2]], [row, row]):
        for n in (2, 0):
            yield f(rows, n), rows


def a_dict_with_one_list_under_two_keys(stage: Stage) -> Iterator[Any]:
    @stage
    def f(d):
        d["k"].append(1)
        d["m"][0] = 7
        return d["k"] is d["m"], d["k"][0], len(d["m"])

    xs = [1]
    for d in ({"k": xs, "m": xs}, {"k": xs, "m": [1]}, {"k": [2], "m": xs}, {"k": xs, "m": xs}):
        yield f(d), d


def fields_of_a_dataclass(stage: Stage) -> Iterator[Any]:
    @stage
    def f(pair):
        pair.xs.insert(0, 5)
        return pair.ys[0], pair.xs is pair.ys

    xs = [1]
    for pair in (Pair(xs, xs), Pair(xs, [1]), Pair(xs, [1, 2]), Pair(xs, xs)):
        yield f(pair), pair


def an_argument_that_is_an_attribute(stage: Stage) -> Iterator[Any]:
    @stage
    def f(a, p):
        p.xs.append(len(a))
        return a[-1], a is p.xs

    xs = [1]
    p, r = Box(xs), Box([1])
    for a, box in ((xs, r), (xs, p), ([1], p), (xs, p), (xs, r)):
        yield f(a, box), a, box


def identity_of_what_is_only_read(stage: Stage) -> Iterator[Any]:
    @stage
    def f(a, p):
        return a is p.xs, p.xs is not p.other, a[0] + p.xs[0]

    xs = [1]
    for a, box in ((xs, Box([1])), (xs, Box(xs)), (xs, Box(xs, xs)), (xs, Box([1], xs)), (xs, Box(xs))):
        yield f(a, box)


def an_argument_that_is_a_global(stage: Stage) -> Iterator[Any]:
    @stage
    def f(a):
        SHARED.append(a[0])
        return len(a), a is SHARED, a is ALSO, BOX.xs is a

    SHARED[:] = [1]
    for a in ([1], SHARED, [2], SHARED):
        yield f(a), a, SHARED


def two_globals_that_stop_being_one(stage: Stage) -> Iterator[Any]:
    global ALSO

    @stage
    def f(x):
        return x + SHARED[0] * 10 + ALSO[0], SHARED is ALSO

    SHARED[:], ALSO = [1], SHARED
    yield f(0), f(1)
    ALSO = [5]
    yield f(0), f(1)
    ALSO = SHARED
    yield f(0), f(1)


def a_closure_variable_and_a_default(stage: Stage) -> Iterator[Any]:
    xs = [1]

    @stage
    def f(a, b=xs):
        a.append(2)
        xs.append(3)
        return len(b), a is b, a is xs

    for a in ([1], xs, [1, 2], xs):
        yield f(a), a, xs
    yield f(xs, xs), f(xs, []), f([], xs), xs


def an_attribute_bound_anew(stage: Stage) -> Iterator[Any]:
    @stage
    def f(p, r, n):
        if n > 1:
            p.xs = r.xs
        p.xs.append(n)
        return len(r.xs), p.xs is r.xs

    p, r = Box([1]), Box([2])
    for n in (1, 2, 1, 3, 0):
        yield f(p, r, n), p, r


def an_attribute_that_was_that_already(stage: Stage) -> Iterator[Any]:
    @stage
    def f(p, r):
        p.xs = r.xs

    xs = [1]
    p, r = Box(xs), Box(xs)
    f(p, r)
    r.xs = [1]
    f(p, r)
    yield p, r, p.xs is r.xs


def attributes_swapped_in_a_called_function(stage: Stage) -> Iterator[Any]:
    def swap(x, y):
        x.xs, y.xs = y.xs, x.xs

    @stage
    def f(p, r, n):
        for i in range(n):
            swap(p, r)
            p.push(i)
        return len(r.xs), p.xs is r.xs

    for p, r in ((Box([1]), Box([2])), (Box(SHARED), Box(SHARED)), (Box([]), Box([1, 2, 3]))):
        for n in (2, 3, 0):
            yield f(p, r, n), p, r


def an_object_that_is_also_an_attribute(stage: Stage) -> Iterator[Any]:
    @stage
    def f(p, r):
        p.other.xs.append(1)
        return len(r.xs), p.other is r, p.xs is r.xs

    a, b = Box([1]), Box([2])
    a.other, b.other = b, a
    for p, r in ((a, b), (a, a), (b, b), (b, a), (Box([1], a), b), (Box(a.xs, b), a)):
        yield f(p, r), p, r


def a_list_returned_by_an_earlier_call(stage: Stage) -> Iterator[Any]:
    @stage
    def f(a, n):
        a.append(n)
        return [a, n], a

    xs = [1]
    (first, _), again = f(xs, 1)
    yield first is again, first is xs
    for one in (first, again, [2]):
        result = f(one, 2)
        yield result, result[0][0] is xs, xs


def arguments_of_views(stage: Stage) -> Iterator[Any]:
    @stage
    def f(v, w):
        v[0] = 9
        w += 1
        return v.sum(), w[0], v is w

    for dtype in (float, int):
        a = np.arange(6).astype(dtype)
        b = a.reshape(2, 3)
        for v, w in ((a, a[1:]), (a[1:], a), (a, a[::-1]), (b, b.T), (b[0], a), (a, a), (b.T, b), (a, a.copy())):
            yield f(v, w), a


def views_in_structures(stage: Stage) -> Iterator[Any]:
    @stage
    def f(rows, p, n):
        for i in range(n):
            rows[i][0] += p.xs[-1]
        return rows[0], float(p.xs.sum())

    a = np.arange(12.0).reshape(3, 4)
    whole = np.zeros(3, dtype=[("x", float), ("y", float)])
    for rows in (list(a), [a[0], a[0]], [a[0, ::-1], a[1]], [whole["x"], whole["y"]]):
        for xs in (a[0], a[0, 1:], whole["x"], np.ones(4)):
            yield f(rows, Box(xs), 2), a, whole["x"], whole["y"]


def an_argument_twice_of_which_one_is_replaced(stage: Stage) -> Iterator[Any]:
    @stage
    def f(w, xs, n):
        for k in range(n):
            w = xs[:]
        return n, w, w is xs

    for n in (2, 0):
        xs = [0.5]
        found = f(xs, xs, n)
        yield found, found[1] is xs, xs


PROGRAMS: list[Program] = [
    an_argument_twice_of_which_one_is_replaced,
    attributes_of_two_arguments,
    attributes_that_are_sets_and_dicts,
    attributes_of_other_classes,
    attributes_that_are_arrays,
    one_argument_twice,
    apart_then_one_of_other_lengths,
    a_list_twice_in_a_list,
    a_dict_with_one_list_under_two_keys,
    fields_of_a_dataclass,
    an_argument_that_is_an_attribute,
    identity_of_what_is_only_read,
    an_argument_that_is_a_global,
    two_globals_that_stop_being_one,
    a_closure_variable_and_a_default,
    an_attribute_bound_anew,
    an_attribute_that_was_that_already,
    attributes_swapped_in_a_called_function,
    an_object_that_is_also_an_attribute,
    a_list_returned_by_an_earlier_call,
    arguments_of_views,
    views_in_structures,
]


def outcome(program: Program, stage: Stage) -> list[Any]:
    """The values that a program yields, described at once, as it changes them later."""
    SHARED[:] = [1]
    return [shape(found) for found in program(stage)]


@pytest.mark.parametrize("engine", ["numpy", "native", "auto"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_shared_container(program: Program, engine: str) -> None:
    staged = functools.partial(ag.function, engine=engine)
    assert outcome(program, staged) == outcome(program, lambda function: function)


def test_what_is_one_at_two_places_is_taken_apart_at_both_or_at_none() -> None:
    @ag.function
    def f(a, b):
        return len(a) + b[0]

    xs = [1, 2]
    f([1], xs)
    f([1, 2, 3], xs)
    assert f(xs, xs) == 3
    assert "`a` and `b` were one object, which is one object of the graph from now on" in str(f.explain(xs, xs))
    assert not f.traces[-1].plain


TABLE: Any = {}
LOG: Any = []


def read_after_a_flushed_write(d: Any, n: Any) -> Any:
    d.pop("k", None)
    print(n)
    TABLE["k"]
    LOG.append(3)
    return n


def test_a_global_that_is_read_after_an_argument_was_written() -> None:
    staged = ag.function(read_after_a_flushed_write)
    for function in (read_after_a_flushed_write, staged, staged):
        TABLE["k"] = 2
        with pytest.raises(KeyError):
            function(TABLE, 3)
