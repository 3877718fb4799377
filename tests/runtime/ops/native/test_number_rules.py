"""One family of rules for Python's operators and NumPy's inner loops: what the flavor changes, and what it does not."""

from __future__ import annotations

import numpy as np
import pytest

from autograph.runtime.graph.operands import Complex, NoLowering, Number
from autograph.runtime.graph.types import BOOL, scalar
from autograph.runtime.ops.native.complex_rules import by_parts
from autograph.runtime.ops.native.number_rules import NUMPY, PYTHON, absolute, arithmetic, negative


class Recorder:
    """An emitter that notes what it is asked for."""

    def __init__(self):
        self.asked = []

    def __getattr__(self, name):
        def emit(*args):
            if name != "constant":
                self.asked.append(" ".join([name, *(each for each in args if isinstance(each, str))]))
            found = next((each for each in args if isinstance(each, Number)), None)
            if name == "overflowing":
                return found, Number(BOOL, "overflow")
            return Number(args[-1], str(args[0])) if name == "constant" else found

        return emit


def asked(rule, *dtypes):
    emit = Recorder()
    rule(emit, *(Number(scalar(dtype), "x") for dtype in dtypes))
    return emit.asked


@pytest.mark.parametrize(
    "flavor, of_integers, of_floats",
    [
        (PYTHON, ["overflowing mul", "doubt_if"], ["floating mul", "leave_if_warned"]),
        (NUMPY, ["integer mul"], ["floating mul"]),
    ],
)
def test_what_overflows_or_warns_leaves_in_pythons_flavor(flavor, of_integers, of_floats):
    rule = arithmetic("mul", flavor)
    assert asked(rule, np.int64, np.int64) == of_integers
    assert asked(rule, np.float64, np.float64) == of_floats


@pytest.mark.parametrize("flavor, subtraction", [(PYTHON, ["overflowing sub", "doubt_if"]), (NUMPY, ["integer sub"])])
def test_signs(flavor, subtraction):
    assert asked(negative(flavor), np.int8) == subtraction
    assert asked(negative(flavor), np.float32) == ["negative"]
    assert asked(absolute(flavor), np.int8) == ["compare lt", *subtraction, "select"]
    assert asked(absolute(flavor), np.uint8) == []


@pytest.mark.parametrize("flavor", [PYTHON, NUMPY])
def test_sums_of_numpys_truth_values_are_truth_values(flavor):
    assert asked(arithmetic("add", flavor), np.bool_, np.bool_) == ["integer or"]
    assert asked(arithmetic("mul", flavor), np.bool_, np.bool_) == ["integer and"]
    with pytest.raises(NoLowering):
        asked(arithmetic("sub", flavor), np.bool_, np.bool_)


def test_sums_of_complex_numbers_are_those_of_their_parts():
    emit, part = Recorder(), Number(scalar(np.float64), "x")
    x = Complex(scalar(np.complex128), (part, part))
    assert by_parts(arithmetic("add", PYTHON))(emit, x, x) == x
    assert emit.asked == 2 * ["floating add", "leave_if_warned"]
