"""The objects that machine code leaves to Python, as reports describe them."""

from collections import deque

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.analysis.subjects import described


class Watched:
    """It notices all that its class is asked for."""

    asked: list[str] = []

    def __getattribute__(self, name):
        Watched.asked.append(name)
        return object.__getattribute__(self, name)

    def __len__(self):
        Watched.asked.append("len")
        return 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([], "a list"),
        ([1, 2.5, None], "a list of None, floats and ints"),
        ([[1], [2.5]], "a list of lists of floats and ints"),
        ([[[True]]], "a list of lists of lists of bools"),
        ([[1], 2], "a list of ints and lists"),
        (("a", "b"), "a tuple of strings"),
        (iter([1, 2]), "a list of ints"),
        ([np.ones(2)], "a list of arrays"),
        ([Watched()], "a list of Watched objects"),
        ("text", "a string"),
        ({}, "a dict"),
        ({1}, "a set"),
        (deque([1]), "an object of class deque"),
        (Watched(), "an object of class Watched"),
        (Watched, "a class"),
        (None, "None"),
    ],
)
def test_descriptions(value, text):
    Watched.asked.clear()
    assert described(value) == text
    assert Watched.asked == []


def test_an_iterator_is_not_moved():
    items = iter([1, 2, 3])
    next(items)
    described(items)
    assert list(items) == [2, 3]


def test_only_some_items_of_long_lists_are_looked_at():
    assert described([[1] * 1000] * 1000 + [2.5]) == "a list of lists of ints"


def test_a_failing_report_does_not_fail_the_call(monkeypatch):
    def fail(*args):
        raise ZeroDivisionError

    monkeypatch.setattr("autograph.runtime.engines.native.loops.region.find_subjects", fail)
    monkeypatch.setenv("AUTOGRAPH_DEBUG", "0")

    def collects(n):
        out = {}
        for i in range(n):
            out[i * 0.5] = i
        return out

    assert ag.function(collects, engine="native")(5) == collects(5)
