"""Code that is not staged changes globals, attributes and classes while a graph runs that has read them before.

Each way to run such code is tried with each change: the staged function must read what plain Python reads.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import random
import statistics
import sys
import types
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograph as ag

COUNT, OTHER = 0, types.ModuleType("other")
NAMESPACE, TABLE = types.SimpleNamespace(count=0), {"count": 0}


class Counter:
    total = 0

    def __init__(self) -> None:
        self.count = 0

    def rate(self):
        return 0


COUNTER = Counter()


class Other(Counter):
    pass


def scale():
    return 0


def scaled(by=0):
    return by


# Changes, each with a function that reads what is changed -------------------------------------------------------------


def sets_a_global():
    global COUNT
    COUNT += 1


def replaces_a_function():
    global scale
    now = scale() + 1
    scale = lambda: now  # noqa: E731


def sets_an_attribute():
    COUNTER.count += 1


def sets_an_attribute_by_name():
    setattr(COUNTER, "co" + "unt", COUNTER.count + 1)


def sets_an_item_of_attributes():
    COUNTER.__dict__["count"] += 1


def sets_an_attribute_of_a_namespace():
    NAMESPACE.count += 1


def sets_a_class_attribute():
    Counter.total += 1


def replaces_a_method():
    now = COUNTER.rate() + 1
    Counter.rate = lambda self: now


def replaces_a_method_of_one_object():
    now = COUNTER.rate() + 1
    COUNTER.rate = lambda: now


def sets_the_class():
    COUNTER.__class__ = Other if type(COUNTER) is Counter else Counter


def sets_the_code_of_a_function():
    now = scale() + 1
    scale.__code__ = eval(f"lambda: {now}").__code__


def sets_a_default():
    scaled.__defaults__ = (scaled() + 1,)


def sets_a_variable_of_a_module():
    OTHER.count += 1


def sets_a_variable_of_a_module_by_name():
    setattr(OTHER, "co" + "unt", OTHER.count + 1)


def sets_an_item_of_a_module():
    vars(OTHER)["count"] += 1


def sets_a_variable_of_a_module_that_it_looks_up():
    module = sys.modules[__name__]
    module.COUNT = module.COUNT + 1


def sets_an_item_of_globals():
    names = globals()
    names["COUNT"] = names["COUNT"] + 1


def updates_globals():
    globals().update(COUNT=COUNT + 1)


def runs_a_text():
    exec("COUNT += 1", globals())


def sets_an_item():
    TABLE["count"] += 1


def _variable() -> tuple[Callable[[], None], Callable[[], int]]:
    count = 0

    def sets_a_variable_of_a_function():
        nonlocal count
        count += 1

    return sets_a_variable_of_a_function, lambda: count


sets_a_variable_of_a_function, _read_variable = _variable()
CHANGES: list[tuple[Callable[[], None], Callable[[], Any]]] = [
    (sets_a_global, lambda: COUNT),
    (replaces_a_function, lambda: scale()),
    (sets_an_attribute, lambda: COUNTER.count),
    (sets_an_attribute_by_name, lambda: COUNTER.count),
    (sets_an_item_of_attributes, lambda: COUNTER.count),
    (sets_an_attribute_of_a_namespace, lambda: NAMESPACE.count),
    (sets_a_class_attribute, lambda: Counter.total),
    (sets_a_class_attribute, lambda: COUNTER.total),
    (replaces_a_method, lambda: COUNTER.rate()),
    (replaces_a_method_of_one_object, lambda: COUNTER.rate()),
    (sets_the_class, lambda: isinstance(COUNTER, Other)),
    (sets_the_code_of_a_function, lambda: scale()),
    (sets_a_default, lambda: scaled()),
    (sets_a_variable_of_a_module, lambda: OTHER.count),
    (sets_a_variable_of_a_module_by_name, lambda: OTHER.count),
    (sets_an_item_of_a_module, lambda: OTHER.count),
    (sets_a_variable_of_a_module_that_it_looks_up, lambda: COUNT),
    (sets_an_item_of_globals, lambda: COUNT),
    (updates_globals, lambda: COUNT),
    (runs_a_text, lambda: COUNT),
    (sets_an_item, lambda: TABLE["count"]),
    (sets_a_variable_of_a_function, _read_variable),
]
change = sets_a_global
_RATE, _SCALE, _CODE = Counter.rate, scale, scale.__code__


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    yield
    restore()


def restore() -> None:
    global COUNT, scale
    COUNT, scale, NAMESPACE.count, TABLE["count"], Counter.total, Counter.rate = 0, _SCALE, 0, 0, 0, _RATE
    COUNTER.__class__, _SCALE.__code__, scaled.__defaults__ = Counter, _CODE, (0,)  # type: ignore[assignment]
    COUNTER.__dict__.clear()
    COUNTER.count = OTHER.count = 0  # type: ignore[attr-defined]
    sets_a_variable_of_a_function.__closure__[0].cell_contents = 0  # type: ignore[index]


# Ways to run code that is not staged ----------------------------------------------------------------------------------


@ag.do_not_convert
def unstaged(x=0):
    change()
    return x


class Callable_:
    @ag.do_not_convert
    def __call__(self, x=0):
        change()
        return x


@ag.do_not_convert
class Marked:
    def __call__(self):
        change()


class Methods:
    @classmethod
    @ag.do_not_convert
    def of_class(cls):
        change()

    @staticmethod
    @ag.do_not_convert
    def static():
        change()

    @ag.do_not_convert
    def method(self):
        change()

    @property
    @ag.do_not_convert
    def property(self):
        change()

    @ag.do_not_convert
    def __add__(self, other):
        change()
        return other

    @ag.do_not_convert
    def __iter__(self):
        change()
        return iter([1])

    @ag.do_not_convert
    def __enter__(self):
        change()

    def __exit__(self, *raised):
        pass


class Made:
    @ag.do_not_convert
    def __init__(self):
        change()


class Holder:
    def __init__(self, callback):
        self.callback = callback

    @ag.do_not_convert
    def run(self):
        self.callback()


class Key:
    def __call__(self, x):
        change()
        return x


@ag.do_not_convert
def through_a_table():
    for each in CALLBACKS["all"]:
        each()


@ag.do_not_convert
def through_a_computed_name():
    return getattr(METHODS, "meth" + "od")()


@ag.do_not_convert
def through_an_operator():
    return METHODS + 1


@ag.do_not_convert
def through_a_constructor():
    return Made()


@ag.do_not_convert
def handed_in_a_list(callbacks):
    callbacks[0][0]()


@functools.lru_cache(None)
def cached(x):
    change()
    return x


@contextlib.contextmanager
def manager():
    change()
    yield


def generator():
    change()
    yield 1


CALLABLE, MARKED, METHODS, KEY, HOLDER = Callable_(), Marked(), Methods(), Key(), Holder(unstaged)
NUMBERS, LISTED, INDEX = itertools.count(), [unstaged] * 3, np.array(1)
NAMED = {str(number): unstaged for number in range(40)}
PARTIAL, VECTORIZED, CALLBACKS = functools.partial(unstaged), np.vectorize(Key()), {"all": [unstaged]}
WAYS: list[Callable[[], Any]] = [
    lambda: unstaged(), lambda: CALLABLE(), lambda: MARKED(), lambda: Methods.of_class(), lambda: Methods.static(),
    lambda: METHODS.method(), lambda: METHODS.property, lambda: METHODS + 1, lambda: list(METHODS), lambda: Made(),
    lambda: HOLDER.run(), lambda: PARTIAL(), lambda: sorted([2, 1], key=KEY), lambda: max([1, 2], key=KEY),
    lambda: list(map(KEY, [1])), lambda: list(map(unstaged, [1])), lambda: list(generator()),
    lambda: functools.reduce(lambda x, y: KEY(y), [1, 2]), lambda: np.vectorize(KEY)(np.zeros(1)),
    lambda: VECTORIZED(np.zeros(1)), lambda: np.apply_along_axis(KEY, 0, np.zeros(2)),
    lambda: np.frompyfunc(KEY, 1, 1)(np.zeros(1)), lambda: eval("change()", globals()), lambda: through_a_table(),
    lambda: through_an_operator(), lambda: through_a_constructor(), lambda: handed_in_a_list([[unstaged]]),
    lambda: LISTED[int(INDEX)](), lambda: [each() for each in LISTED], lambda: NAMED[str(int(INDEX))](),
    lambda: through_a_computed_name(), lambda: cached(next(NUMBERS)), lambda: next(map(change_of, [1])),
]  # fmt: skip


def change_of(x):
    return unstaged(x)


def with_a_manager():
    with manager():
        pass


def with_a_user_manager():
    with METHODS:
        pass


WAYS += [with_a_manager, with_a_user_manager]


def outcomes(way: Callable[[], Any], read: Callable[[], Any], stage: Callable[[Any], Any]) -> list[Any]:
    """What is read before and behind an unstaged call, and in a loop with one, in three calls."""

    def around(x):
        before = read()
        way()
        return before, x + read()

    def within(x):
        for i in range(4):
            x = x + read()
            if i == 1:
                way()
        return x

    restore()
    cached.cache_clear()
    functions = stage(around), stage(within)
    return [function(x) for function in functions for x in (1.0, 2.0, 3.0)]


@pytest.mark.parametrize("number", range(len(WAYS)))
@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_changes_by_code_that_is_not_staged_are_seen(number: int, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for change, read in CHANGES:
        monkeypatch.setitem(globals(), "change", change)
        plain = outcomes(WAYS[number], read, lambda function: function)
        staged = outcomes(WAYS[number], read, lambda function: ag.function(function, engine=engine))
        assert staged == plain, change.__name__
        assert plain[0] != plain[1], "nothing has changed"


def test_code_that_changes_what_is_not_read_is_staged_around(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "change", sets_a_global)

    @ag.function(strict="plain")
    def f(x):
        unstaged()
        COUNTER.rate()
        return x + NAMESPACE.count

    assert (f(1), f(2.5), COUNT) == (1, 2.5, 2)


class Source:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def draws(self, count: int) -> list[float]:
        return [self.random.gauss(0, 1) for _ in range(count)]


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_functions_of_python_that_are_imported_set_nothing_of_the_program(engine: str) -> None:
    """`namedtuple` sets `__defaults__`, and `fmean` a variable of its own."""
    assert namedtuple in globals().values()

    def mean(count):
        return statistics.fmean(Source(7).draws(count))

    def rows(items):
        table = [[0, 0, 0]]
        for item in items:
            row = table[-1].copy()
            row[item] += 1
            table.append(row)
        return table

    if sys.version_info >= (3, 11):     # before, `fmean` handles an exception
        assert ag.function(mean, engine=engine, strict="plain")(5) == mean(5)
    assert ag.function(rows, engine=engine, strict="plain")([0, 2, 2]) == rows([0, 2, 2])
