"""Functions that a staged function gives back are like those that plain Python gives back, for all who look at them."""

import functools
import inspect

import numpy as np
import pytest

import autograph as ag


def annotated(x):
    def inner(a, b: "float" = 2, *, c: int = 3) -> str:
        return a * x + b + c

    return inner


def documented(x):
    def inner(a):
        "Doc."
        return a + x

    inner.scale = x * 2
    return inner


def written_later(x):
    def inner(a=x):
        return a

    inner.__doc__, inner.__module__ = "Set.", "elsewhere"
    return inner


def wrapped(x):
    @functools.wraps(annotated)
    def inner(*args):
        return annotated(*args) if args else x

    return inner


def look(function):
    attributes = {name: repr(value) for name, value in vars(function).items()}
    names = function.__name__, function.__qualname__, function.__module__, function.__doc__
    return str(inspect.signature(function)), function.__annotations__, names, attributes


@pytest.mark.parametrize("function", [annotated, documented, written_later, wrapped])
def test_functions_tell_the_same_of_themselves(function):
    staged = ag.function(function)
    for x in (np.ones(2), np.zeros(2)):
        assert look(staged(x)) == look(function(x))


def test_what_is_set_on_one_is_not_on_the_next():
    staged = ag.function(annotated)
    first, second = staged(np.ones(2)), staged(np.ones(2))
    first.__annotations__["c"] = first.mark = "changed"
    assert second.__annotations__["c"] is int and not hasattr(second, "mark")
