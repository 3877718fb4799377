"""Calls of staged partials and methods with the wrong arguments raise TypeError with the words of the plain call."""

import functools

import pytest

import autograph as ag


def pair(x, y=2):
    return x, y


def triple(x, y, z):
    return x, y, z


def with_star(x, *rest, y=1):
    return x, rest, y


def with_names(x, **names):
    return x, names


def by_place(x, /, y):
    return x, y


class Thing:
    def method(self, x):
        return x + 1

    @classmethod
    def of_the_class(cls, x, y=2):
        return x + y


PARTIALS = [
    functools.partial(pair),
    functools.partial(pair, 1),
    functools.partial(pair, x=3),
    functools.partial(pair, y=3),
    functools.partial(pair, 1, 2),
    functools.partial(pair, 1, 2, 3),
    functools.partial(pair, z=3),
    functools.partial(triple, y=2),
    functools.partial(triple, 1, z=2),
    functools.partial(functools.partial(triple, 1), 2),
    functools.partial(with_star, 1),
    functools.partial(with_star, y=3),
    functools.partial(with_star, x=3),
    functools.partial(with_names, 1),
    functools.partial(with_names, x=1),
    functools.partial(with_names, 1, x=2),
    functools.partial(by_place, 1),
    functools.partial(by_place, y=1),
    Thing().method,
    Thing.of_the_class,
    functools.partial(Thing().method, 1),
]
CALLS = [
    ((), {}),
    ((1,), {}),
    ((1, 2), {}),
    ((1, 2, 3), {}),
    ((), {"x": 5}),
    ((), {"y": 5}),
    ((1,), {"x": 5}),
    ((1,), {"z": 5}),
    ((1,), {"y": 5}),
    ((), {"x": 5, "z": 6}),
    ((), {"self": 5}),
    ((1,), {"self": 5, "cls": 6}),
]


def outcome(function, args, named):
    try:
        return function(*args, **named)
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize("function", PARTIALS)
def test_words(function):
    staged = ag.function(function)
    for args, named in CALLS * 2:
        assert outcome(staged, args, named) == outcome(function, args, named), (args, named)


def test_words_of_a_cached_trace():
    staged = ag.function(functools.partial(pair, x=3))
    assert {staged(y=4) for _ in range(500)} == {(3, 4)}
    with pytest.raises(TypeError, match=r"pair\(\) got multiple values for argument 'x'"):
        staged(1)
