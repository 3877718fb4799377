"""Iterators of staged code have the parts and copies of Python's."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import autograph as ag
from tests import outcomes


def reduced(n):
    it = iter([n, 2, 3])
    next(it)
    r = it.__reduce__()
    return type(r), len(r), list(r[1][0]) if r[1] else r, list(it)


def pickled(n):
    it = iter([n, 2, 3])
    next(it)
    return list(pickle.loads(pickle.dumps(it))), list(it)


def copied_zip(n):
    it = zip([n, 2], [3, n])
    c = copy.copy(it)
    return next(c), list(it)


def reduced_enumerate(n):
    it = enumerate([n, 2])
    return it.__reduce__()[0] is enumerate, list(copy.copy(it)), list(it)


def copied_keys(n):
    it = iter({"a": n, "b": 2})
    next(it)
    return list(copy.copy(it)), list(it)


def reduced_range(n):
    it = iter(range(n))
    next(it)
    return list(copy.copy(it)), it.__reduce__()[0] is iter, list(it)


def copied_map(n):
    it = map(abs, [n, -2])
    return list(copy.copy(it)), list(it)


def copied_reversed(n):
    it = reversed([n, 2, 3])
    next(it)
    return list(copy.copy(it)), it.__length_hint__(), list(it)


def copied_chain(n):
    it = itertools.chain([n], [2, 3])
    next(it)
    return list(copy.copy(it)), list(it)


def set_state(n):
    it = iter([n, 2, 3])
    next(it)
    it.__setstate__(0)
    return list(it)


def reduced_by_protocol(n):
    it = iter([n, 2, 3])
    return it.__reduce_ex__(4)[1][0] == [n, 2, 3], hasattr(it, "__reduce__"), list(copy.deepcopy(it)), list(it)


def copied_slice(n):
    it = itertools.islice([n, 2, 3], 2)
    return list(copy.copy(it)), list(it)


def reduced_of_tuple(n):
    it = iter((n, n + 1))
    next(it)
    return list(copy.copy(it)), list(it), it.__reduce__()


def kept_method(n):
    it = iter([n, 2, 3])
    next(it)
    m = it.__reduce__
    return len(m()), list(it)


FUNCTIONS = [each for each in list(globals().values()) if getattr(each, "__module__", "") == __name__]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_iterator_that_is_taken_apart(function: Callable[[int], Any]) -> None:
    staged = ag.function(function)
    for n in (3, 2, 5):
        assert outcomes.run(lambda n=n: staged(n)) == outcomes.run(lambda n=n: function(n))
