"""Changes that called methods and objects make to their owners, however the program reaches these."""

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


class Keeping:
    """Its loss keeps what it computes, and how often; one attribute is read again."""

    def __init__(self):
        self.w = ag.Variable([1.0, 2.0])
        self.products, self.losses, self.last = None, [], 0.0

    def loss(self, x):
        self.products = self.w * x
        self.last = np.sum(self.products)
        self.losses.append(self.last)
        return self.last


def trained(made, steps):
    gradient = ag.grad(made.loss, wrt=made.w)
    for _ in range(steps):
        made.w.assign_sub(0.1 * gradient(X))
    return made.w.numpy()


@pytest.mark.parametrize("steps", [1, 3, 40])
def test_what_a_loss_keeps_is_no_matter_to_its_gradient(steps):
    made = Keeping()
    assert np.allclose(ag.function(trained)(made, steps), np.array([1, 2]) - 0.1 * steps)
    assert np.allclose(made.losses, 3 - 0.2 * np.arange(steps)) and made.last == made.losses[-1]
    assert np.allclose(made.products, made.w + 0.1)


class Recurrent:
    def __init__(self):
        self.w, self.h = ag.Variable(0.5 * np.eye(2)), np.zeros(2)

    def loss(self, xs):
        for x in xs:
            self.h = np.tanh(self.h @ self.w + x)
        return np.sum(self.h)

    def with_a_local_variable(self, xs):
        h = self.h
        for x in xs:
            h = np.tanh(h @ self.w + x)
        return np.sum(h)


@pytest.mark.parametrize("steps", [1, 3, 40])
def test_gradients_through_an_attribute_that_is_read_again(steps):
    made, xs = Recurrent(), np.full((steps, 2), 0.1)
    expected = ag.grad(made.with_a_local_variable, wrt=made.w)(xs)
    assert np.allclose(ag.function(lambda made, xs: ag.grad(made.loss, wrt=made.w)(xs))(made, xs), expected)
    assert not np.allclose(made.h, 0)


class Base:
    count = 0


@pytest.mark.parametrize("of_class", [lambda each: type(each), lambda each: each.__class__])
def test_what_is_changed_in_the_class_of_an_argument(of_class):
    class Derived(Base):
        pass

    def counted(each, x):
        kind = of_class(each)
        kind.count += 1
        return x * kind.count

    made = Derived()
    staged = ag.function(counted)
    assert [staged(made, 2.0), staged(made, 2.0), staged(Derived(), 2.0)] == [2, 4, 6]
    assert (Derived.count, Base.count) == (3, 0)
