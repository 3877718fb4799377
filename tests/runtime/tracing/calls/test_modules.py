"""Functions and modules as values: programs take their stand-ins for the originals."""

from __future__ import annotations

import functools
import json
import math
import operator
import os
import random
import time
import types
import unittest.mock
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests import corpus_staged
from tests.runtime.objects import check

NAMES = {np.sin: "sine", math.sin: "sine of a number", len: "length", print: "print", np: "NumPy", id: "id"}
SOME = [np.sin, np, print, id, corpus_staged]
FEW = frozenset([np.sin, print, math])


def are_one(one: Any, other: Any) -> bool:
    return one is other


def which_it_is(f: Any) -> Any:
    found = (f is np.sin, f is math.sin, f is len, f is print, f is id, f is isinstance, f is open, f is setattr)
    return found, f is not np.sin, f is np.random.rand, f is operator.add, f is json.dumps, are_one(f, np.sin)


def what_it_equals(f: Any) -> Any:
    return f == np.sin, f != print, f in (np.sin, id), NAMES.get(f), f in FEW, SOME.index(f) if f in SOME else None


def what_it_looks_like(f: Any) -> Any:
    kinds = [isinstance(f, kind) for kind in (types.ModuleType, types.BuiltinFunctionType, np.ufunc)]
    return type(f), type(f) is np.ufunc, kinds, repr(f), f"{f}"[:9], callable(f), f.__name__


def kept(f: Any) -> Any:
    return {f: 1, np.sin: 2}, [f, np.sin], len({f, np, print}), are_one(f, np)


FUNCTIONS = "np.sin math.sin len print id isinstance open setattr operator.add json.dumps np.random.rand".split()
MODULES = "np math os random json corpus_staged np.random".split()


def test_functions_given_as_arguments() -> None:
    for function in (which_it_is, what_it_equals, what_it_looks_like, kept):
        check(function, *FUNCTIONS[:6])
        check(function, *FUNCTIONS[6:])


def which_module(m: Any) -> Any:
    from os import path

    found = (m is np, m is np.random, m is math, m is os, m is random, m is json, m is corpus_staged)
    return found, m == np, m in (np, math), path is os.path, m.__name__, NAMES.get(m), are_one(m, corpus_staged)


def test_modules_given_as_arguments() -> None:
    for function in (which_module, what_it_equals, what_it_looks_like, kept):
        check(function, *MODULES)


def named_twice(n: Any, f: Any = np.sin, m: Any = corpus_staged) -> Any:
    one, other = np.sin, np.sin
    return one is other, {one: n}[other], f is one, m is corpus_staged, m.calls is corpus_staged.calls, NAMES[one]


def test_what_is_named_twice_is_one() -> None:
    check(named_twice, "1", "2.5")


class Counting:
    def __init__(self) -> None:
        self.count = 0

    def __call__(self, *args: Any) -> int:
        self.count += 1
        return self.count

    def half(self, *args: Any) -> float:
        return self() / 2


PUT: list[Callable[[Counting], Any]] = [
    lambda counting: counting,
    lambda counting: counting.half,
    lambda counting: lambda *args: counting(),
    lambda counting: functools.partial(counting.half, 1),
    lambda counting: unittest.mock.Mock(side_effect=counting),
]


@pytest.mark.parametrize("put", PUT)
@pytest.mark.parametrize("name", ["os.getcwd", "time.time", "math.sin", "json.dumps", "random.random", "numpy.cos"])
def test_functions_of_the_users_that_are_put_into_modules(name: str, put: Any) -> None:
    """As tests do that replace what looks at the world."""

    def both(x: float) -> Any:
        return os.getcwd(), time.time() > 0, math.sin(x), json.dumps([1]), random.random() > 0, np.cos(x)

    reported = []
    for function in (both, ag.function(both), ag.function(both, engine="numpy")):
        counting = Counting()
        with unittest.mock.patch(name, put(counting)):
            reported.append([function(1.0), function(1.0), function(2.0), counting.count])
        reported[-1].append(function(1.0))
    assert reported[0] == reported[1] == reported[2] and reported[0][-2] == 3


@pytest.mark.parametrize("name", ["os.getcwd", "time.time", "random.random", "numpy.random.rand"])
def test_what_looks_at_the_world_may_be_replaced_later(name: str) -> None:
    def all_of_them(x: float) -> Any:
        return os.getcwd(), time.time() > 100, random.random() < 1, np.random.rand() < x

    staged = ag.function(all_of_them)
    for _ in range(2):
        usual = staged(1.0)
        with unittest.mock.patch(name, lambda: 7.0):
            assert staged(1.0) == all_of_them(1.0) != usual
    assert staged(1.0) == usual == (os.getcwd(), True, True, True)
