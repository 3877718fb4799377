"""Law 1, staged: decorating a function changes nothing about what it does, nor about how it looks from outside.

What it does is tried on two corpora (tests/test_staged_corpus.py) and on drawn programs (tests/test_staged_fuzz.py);
here, on the standard library, and on everything about a function besides its calls.
"""

from __future__ import annotations

import copy
import inspect
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests import corpus, outcomes
from tests.laws.test_1_same_answer import ATTRIBUTES, LIBRARY
from tests.test_staged_corpus import ENTRIES, compare, refused


@pytest.mark.parametrize("function, arguments", LIBRARY, ids=lambda value: getattr(value, "__qualname__", ""))
def test_standard_library(function: Callable[..., Any], arguments: str) -> None:
    if inspect.isgeneratorfunction(function):
        pytest.skip("is a generator")
    staged = ag.function(function)
    wanted = outcomes.run(function, arguments)
    for _ in range(2):
        actual = outcomes.run(staged, arguments, function.__globals__)
        assert refused(actual) or actual == wanted


@pytest.mark.parametrize("entry", ENTRIES[::5], ids=str)
def test_looks_the_same_from_outside(entry: corpus.Entry) -> None:
    original, staged = entry.function, ag.function(entry.function)
    for name in ATTRIBUTES:
        assert getattr(staged, name, None) == getattr(original, name, None), name
    assert inspect.signature(staged) == inspect.signature(original)
    assert staged.__wrapped__ is staged.python_function is original
    assert callable(staged)


def test_kinds_of_functions() -> None:
    """Methods, class and static methods, lambdas, partials, callable objects, bound methods."""

    class Scale:
        factor = 3

        def __init__(self, factor: float) -> None:
            self.factor = factor

        @ag.function
        def method(self, x):
            return x * self.factor if x > 0 else 0

        @ag.function
        @classmethod
        def of_class(cls, x):
            return x * cls.factor

        @staticmethod
        @ag.function
        def static(x):
            return -x

        def __call__(self, x):
            return x + self.factor

    scale = Scale(10)
    assert [scale.method(2), scale.method(-2), Scale.method(scale, 1)] == [20, 0, 10]
    assert [scale.of_class(2), Scale.of_class(2.5), Scale.static(1), scale.static(2)] == [6, 7.5, -1, -2]
    assert ag.function(lambda x: x + 1)(1) == 2
    assert ag.function(scale)(1) == 11
    assert ag.function(scale.__call__)(1.5) == 11.5
    scale.factor = 0
    assert ag.function(scale)(1) == 1
    assert scale.method(2) == 0


def make_pair() -> tuple[Callable[..., Any], Callable[..., Any]]:
    count = 0

    def step(by=1):
        nonlocal count
        for _ in range(by):
            count += 1
        return count

    return step, ag.function(step)


def test_closures_are_shared() -> None:
    step, staged = make_pair()
    assert (step(2), staged(3), step(), staged(), staged()) == (2, 5, 6, 7, 8)


def test_defaults_are_shared() -> None:
    def collect(x, into=[]):
        if x:
            into.append(x)
        return into

    staged = ag.function(collect)
    assert collect(1) is staged(2)
    assert staged(3) is collect(0)
    assert collect(0) == [1, 2, 3]


@ag.function
def at_module_level(x):
    return x * 2


def test_copies_and_pickles() -> None:
    assert copy.copy(at_module_level)(2) == 4
    assert copy.deepcopy([at_module_level])[0](2) == 4
    assert pickle.loads(pickle.dumps(at_module_level))(1.5) == 3.0


def test_threads_call_at_the_same_time() -> None:
    themes = "arrays branches containers indexing loops mutation nesting numbers objects programs_structures sorting"
    chosen = [entry for entry in ENTRIES if entry.theme in themes.split()][::10]  # these share no state
    staged = [ag.function(entry.function) for entry in chosen]
    failures: list[Any] = []

    def work() -> None:
        for function, entry in zip(staged, chosen):
            for arguments in entry.calls:
                text = f"(lambda *a, **k: (a, k))({arguments})"
                (args, kwargs), (plain_args, plain_kwargs) = eval(f"{text}, {text}", dict(vars(entry.module)))
                try:
                    wanted = repr(entry.function(*plain_args, **plain_kwargs))
                except Exception as error:
                    wanted = repr(error)
                try:
                    actual = repr(function(*args, **kwargs))
                except Exception as error:
                    actual = repr(error)
                if "object at" not in wanted and actual != wanted:
                    failures.append((str(entry), arguments, actual, wanted))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_staged_functions_call_each_other() -> None:
    @ag.function
    def inner(x, n):
        while n > 0:
            x = x + n
            n -= 1
        return x

    @ag.function
    def outer(xs):
        return [inner(x, i) for i, x in enumerate(xs)] + [inner(1.5, n=2)]

    assert outer([1, 2, 3]) == [1, 3, 6, 4.5]
    assert inner(1, 2) == 4
    assert outer(np.array([1.0, 2.0])) == [1.0, 3.0, 4.5]


def test_a_function_staged_later_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """In its module, under its own name: recursion and other callers find the staged function."""
    for entry in ENTRIES:
        if str(entry) in ("functions.gcd", "functions.power", "functions.factorial", "recipes_arrays.determinant"):
            staged = ag.function(entry.function)
            monkeypatch.setattr(entry.module, entry.name, staged)
            for arguments in entry.calls:
                assert compare(staged, entry, arguments)
