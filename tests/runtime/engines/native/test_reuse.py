"""What machine code has made, and nobody needs any more, takes in the next result."""

import warnings

import numpy as np
import pytest

import autograph as ag

X = np.random.default_rng(0).normal(size=(40, 300))
ZEROS = np.full((40, 300), -np.inf)         # whose exponentials are no numbers


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def shares(x):
    e = np.exp(x * 2 - 1)
    return e / np.cumsum(e, axis=1)[:, -1:]


def and_more(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True), e


def a_part(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    first = e[:2]
    return e / e.sum(axis=1, keepdims=True), first


def written(x):
    y = x[:]
    y += x * 2 + 1
    return y / y.sum(axis=1, keepdims=True)


def iterations(x):
    for _ in range(3):
        e = np.exp(x - x.max(axis=1, keepdims=True))
        x = e / e.sum(axis=1, keepdims=True)
    return x


def told(function, *args):
    """What comes of a call, what it warns of, and what becomes of its arguments."""
    args = [each.copy() for each in args]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = function(*args)
        except FloatingPointError as error:
            found = str(error)
    parts = found if isinstance(found, tuple) else (found,)
    texts = [each if isinstance(each, str) else each.tobytes() for each in (*parts, *args)]
    return texts, [(str(each.message), each.lineno) for each in caught]


@pytest.mark.parametrize("function", [softmax, shares, and_more, a_part, written, iterations])
@pytest.mark.parametrize("engine", ["native", "auto"])
@pytest.mark.parametrize("raising", ["warn", "raise"])
def test_it_does_the_same(function, engine, raising):
    staged = ag.function(function, engine=engine)
    for x in (X, X * 1e3, X, ZEROS, X):
        with np.errstate(all=raising):
            assert told(staged, x) == told(function, x)


@pytest.mark.parametrize("function, taken", [(shares, True), (and_more, False), (a_part, False), (written, False)])
def test_what_is_taken(function, taken):
    staged = ag.function(function, engine="native")
    staged(X.copy())
    (trace,) = staged.traces
    assert "kernel(" in trace.source
    assert (" /= " in trace.source) == taken


def test_each_call_gives_an_array_of_its_own():
    staged = ag.function(softmax, engine="native")
    found = [staged(X) for _ in range(4)]
    assert len({each.ctypes.data for each in found}) == 4
