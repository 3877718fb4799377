"""What counts as a difference between what a plain function and a backend did."""

import numpy as np
import pytest

from autograph.testing import Outcome, difference
from autograph.testing.outcomes import outcome_of


@pytest.mark.parametrize(
    "expected, actual",
    [
        (3, np.int32(3)),
        (3, np.array(3)),
        (True, np.True_),
        (2.0, np.float32(2.0)),
        (np.array([1.0, np.nan]), np.array([1.0 + 1e-9, np.nan])),
        ([1, (2, None)], [np.int64(1), (2, None)]),
        ({"a": "x"}, {"a": "x"}),
    ],
)
def test_equal(expected, actual):
    assert difference(Outcome(expected), Outcome(actual)) == ""


@pytest.mark.parametrize(
    "expected, actual, text",
    [
        (3, 3.0, "the result is of float64, not int64"),
        (1, True, "the result is of bool, not int64"),
        (3, 4, "the result is 4, not 3"),
        (1.0, 1.001, "the result is 1.001, not 1.0"),
        (np.ones(2), np.ones(3), r"the result has shape (3,), not (2,)"),
        ([1, 2], [1], "the result has 1 items, not 2"),
        ([1, [2]], [1, [3]], "the result[1][0] is 3, not 2"),
        ([1], (1,), "the result is (1,), not [1]"),
        ({"a": 1}, {"b": 1}, "the result has the keys ['b'], not ['a']"),
        ({"a": 1}, {"a": 2}, "the result['a'] is 2, not 1"),
        (None, 0, "the result is 0, not None"),
        ("a", "b", "the result is 'b', not 'a'"),
    ],
)
def test_different(expected, actual, text):
    assert difference(Outcome(expected), Outcome(actual)) == text


def test_exceptions_and_printed_text():
    def fails(message):
        print("about to fail")
        raise ValueError(message)

    failed = outcome_of(fails, "too small")
    assert str(failed) == "printed 'about to fail\\n', raised ValueError: too small"
    assert difference(failed, outcome_of(fails, "too small")) == ""
    assert difference(failed, outcome_of(fails, "big")) == "raised ValueError: big, not ValueError: too small"
    assert difference(failed, Outcome()) == "raised nothing, not ValueError: too small"
    assert difference(Outcome(printed="1"), Outcome(printed="2")) == "printed '2', not '1'"
