"""The garbage collector looks for cycles less often while functions are traced, and as before afterwards."""

from __future__ import annotations

import gc

import pytest

import autograph as ag
from autograph.runtime.dispatch.tracing_lock import FEWEST_OBJECTS, patient_collector


@pytest.fixture
def thresholds():
    before = gc.get_threshold()
    gc.set_threshold(600, 9, 8)
    yield
    gc.set_threshold(*before)


def test_nested(thresholds):
    with patient_collector():
        with patient_collector():
            assert gc.get_threshold()[0] == FEWEST_OBJECTS
        assert gc.get_threshold()[0] == FEWEST_OBJECTS
    assert gc.get_threshold()[0] == 600


def test_comes_back_after_an_error(thresholds):
    with pytest.raises(ZeroDivisionError), patient_collector():
        raise ZeroDivisionError
    assert gc.get_threshold()[0] == 600


@pytest.mark.parametrize("wanted", [0, 10 * FEWEST_OBJECTS])
def test_never_looks_more_often(thresholds, wanted):
    gc.set_threshold(wanted)
    with patient_collector():
        assert gc.get_threshold()[0] == wanted
    assert gc.get_threshold()[0] == wanted


def test_what_is_set_meanwhile_stays(thresholds):
    with patient_collector():
        gc.set_threshold(123)
    assert gc.get_threshold()[0] == 123


def test_a_staged_function_leaves_it_as_it_was(thresholds):
    assert ag.function(lambda x: x + 1)(1) == 2
    assert gc.get_threshold()[0] == 600
