"""`np.sum` and `np.prod` of arrays: what NumPy gives, and warns of, in its own name."""

import pickle
import warnings

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.numpy.fast_paths import added, multiplied


@ag.function
def reduced(x):
    return np.sum(x), np.prod(x, 0), np.sum(x, axis=-1, keepdims=True), np.prod(x, axis=None)


@pytest.mark.parametrize("char", "?bilBLefdFD")
def test_they_give_what_they_give_undecorated(char):
    reduced.cache_clear()
    for x in (np.arange(6).astype(char), np.arange(12).reshape(3, 4).T.astype(char), np.zeros((0, 3), char)):
        for mine, theirs in zip(reduced(x), reduced.python_function(x)):
            assert type(mine) is type(theirs) and mine.dtype == theirs.dtype and mine.tobytes() == theirs.tobytes()


def test_numpy_warns_in_its_own_name():
    x = np.full(4, 1e308)

    def warned(function):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            function(x)
        return [(str(each.message), each.filename, each.lineno) for each in given]

    assert warned(reduced) == warned(reduced.python_function) != []


def test_errors_are_those_of_numpy():
    @ag.function
    def along(x, axis):
        return np.sum(x, axis=axis)

    for axis in (2, 1.5):
        with pytest.raises((np.exceptions.AxisError, TypeError)) as mine:
            along(np.ones(3), axis)
        with pytest.raises((np.exceptions.AxisError, TypeError)) as theirs:
            along.python_function(np.ones(3), axis)
        assert (type(mine.value), str(mine.value)) == (type(theirs.value), str(theirs.value))


def test_derived_arrays_have_their_own():
    x = np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])
    assert reduced(x)[0] == 4


def test_they_are_found_by_name():
    for function in (added, multiplied):
        assert pickle.loads(pickle.dumps(function)) is function
    assert added is not np.sum


def test_the_text_tells_numpys_names():
    assert "np.sum(x, axis=-1, keepdims=True), np.prod(x, axis=None)" in str(reduced.lower(np.ones(3)))
