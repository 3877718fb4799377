"""What methods and objects that are called change in themselves, however the call comes by them."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import autograph as ag

X = np.ones(2)


class Counter:
    def __init__(self):
        self.calls = 0
        self.w = np.array([2.0, 3.0])

    def __call__(self, x):
        self.calls += 1
        return np.sum(self.w * x)

    def method(self, x):
        return self(x)

    @ag.function
    def staged(self, x):
        return self(x)


class Staged(Counter):
    @ag.function
    def __call__(self, x):
        return Counter.__call__(self, x)


class Named(ag.Module):
    """Is called by way of an attribute; its `repr` would show what is traced."""

    def __init__(self):
        self.calls = 0
        self.w = ag.Variable([2.0, 3.0])

    @ag.function
    def __call__(self, x):
        self.calls += 1
        return np.sum(self.w * x)


WAYS = {
    "object": lambda made: made,
    "method": lambda made: made.method,
    "staged method": lambda made: made.staged,
    "partial": lambda made: functools.partial(type(made).method, made),
    "partial of a staged method": lambda made: functools.partial(type(made).staged, made),
    "partial of an object": functools.partial,
}


def called(function):
    return ag.function(lambda x: function(x))


@pytest.mark.parametrize("kind", [Counter, Staged])
@pytest.mark.parametrize("way", WAYS)
def test_what_an_owner_counts(kind, way):
    made = kind()
    function = WAYS[way](made)
    for staged in (called(function), ag.function(function)):
        made.calls = 0
        assert [staged(X), staged(X), made.calls] == [5.0, 5.0, 2]


@pytest.mark.parametrize("kind", [Counter, Staged])
@pytest.mark.parametrize("way", WAYS)
def test_what_an_owner_counts_under_a_gradient(kind, way):
    made = kind()
    function = WAYS[way](made)
    gradient = ag.grad(function)
    for staged in (gradient, ag.function(gradient), called(gradient), ag.grad(called(function))):
        made.calls = 0
        assert [staged(X).tolist(), staged(X).tolist(), made.calls] == [[2, 3], [2, 3], 2]


def test_staged_calls_of_modules():
    model = Named()
    for staged in (ag.grad(model, wrt=model.variables), ag.grad(lambda x: model(x), wrt=model.variables)):
        model.calls = 0
        assert [staged(3 * X)[0].tolist(), staged(X)[0].tolist(), model.calls] == [[3, 3], [1, 1], 2]


def test_a_method_that_is_replaced():
    function = called(Staged())
    assert function(X) == 5
    before = Staged.__call__
    try:
        Staged.__call__ = lambda self, x: 7.0
        assert function(X) == 7
    finally:
        Staged.__call__ = before
