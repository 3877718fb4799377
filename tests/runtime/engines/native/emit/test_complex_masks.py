"""Masks of complex vectors, their magnitudes and quotients, and statements on those of unknown length."""


import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.libmath.libm import FLAGS
from tests.comparing import result_or_error
from tests.runtime.engines.native.emit.test_complex_vectors import draw, outcomes


def clipped(z, limit, n):
    for _ in range(n):
        mask = np.abs(z) > limit
        z[mask] = z[mask] / np.abs(z[mask]) * limit
    return z


def unit(z, limit, n):
    """As in Pythran's `clip2`, without a loop."""
    out = np.empty(shape=z.shape, dtype=z.dtype)
    small = np.abs(z) < limit
    out[small] = 0
    large = np.logical_not(small)
    out[large] = z[large] / np.abs(z[large])
    return out


def of_chosen(z, limit, n):
    mask = np.abs(z) > limit
    z[mask] = unit(z[mask], 1e-3, n) * limit
    return z


def stored(z, limit, n):
    for k in range(n):
        z[z == k] = 1j
        z[np.abs(z) > limit] = limit
        z[np.isnan(np.abs(z))] = np.abs(z)[np.isnan(np.abs(z))]
        z[z != z[0]] = np.conjugate(z)[z != z[0]]
    return z


def functions_of_numpy(z, limit, n):
    found = []
    for k in range(n):
        found.append(np.exp(z[k:]) + np.sqrt(z[k:]))
        found.append(np.abs(z[k:] * limit))
        found.append(z[k:] / (z[: len(z) - k] + limit))
    return found


def in_place(z, limit, n):
    for k in range(n):
        z[k : k + 1] *= z[k : k + 1]
        z[k : k + 2] /= 0.7
        z[k : k + 1] = z[k : k + 1] * z[k] * limit
    return z


FUNCTIONS = [clipped, unit, of_chosen, stored, functions_of_numpy, in_place]


def native(function):
    return ag.function(function, engine="native")


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["D", "F"])
def test_each_bit_is_that_of_numpy(function, dtype):
    for length in (0, 1, 2, 3, 7, 8, 9, 33, 70, 600, 3000):
        staged = native(function)
        wide = draw(3 * length + 3, dtype)
        for z in (wide[:length], wide[1 : 3 * length + 1 : 3], wide[:length][::-1], wide[:length] * 0):
            for limit in (0.5, 3.0):
                one, other = outcomes(function, staged, z, limit, min(length, 3))
                assert one == other, (length, z.strides, limit)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("special", [np.inf, complex(0, np.nan), complex(np.inf, -np.inf), 1e308 + 1e308j, 0, 1e-320])
def test_what_numpy_warns_of(function, special):
    for dtype in "DF":
        staged, z = native(function), draw(6, dtype)
        with np.errstate(all="ignore"):
            z[[1, 4]] = special
        for how in ("warn", "raise", "ignore"):
            with np.errstate(all=how, under="ignore"):
                for limit in (0.5, 0.0, np.inf):
                    one, other = outcomes(function, staged, z, limit, 3)
                    assert one == other, (dtype, how, limit)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("limit", [2, True, np.float32(0.5), 1j, np.complex64(1), None, "wrong", 2**70])
def test_other_arguments(function, limit):
    for dtype in ("D", "F", "d", "f", "i4", "?"):
        one, other = outcomes(function, native(function), draw(5, dtype), limit, 2)
        assert one == other, dtype


@pytest.mark.parametrize("function", FUNCTIONS)
def test_read_only_arrays_and_subclasses(function):
    z = draw(5, "D")
    z.flags.writeable = False
    for given in (z, np.broadcast_to(z[:1], 5), np.ma.array(draw(5, "D"), mask=[0, 1, 0, 1, 0])):
        found = []
        for each in (function, native(function)):
            own = given if given is z else given.copy()
            found.append(str(result_or_error(each, own, 0.5, 2, names=[function.__name__])))
        assert found[0] == found[1]


def test_kinds_change_from_call_to_call():
    staged = native(of_chosen)
    for dtype, length in [("D", 3), ("F", 3), ("D", 3), ("d", 3), ("D", 300), ("D", 0), ("D", 3), ("i8", 4)]:
        one, other = outcomes(of_chosen, staged, draw(length, dtype), 0.5, 2)
        assert one == other


@pytest.mark.skipif(not FLAGS, reason="the processor's flags are not known")
@pytest.mark.parametrize("function", [clipped, of_chosen])
def test_nothing_calls_python(function):
    staged, z = native(function), np.array([0.1, 3 + 4j, 2j, 0.2 - 1j])
    for _ in range(3):
        staged(z.copy(), 0.5, 2)
    report = str(staged.explain(z.copy(), 0.5, 2))
    assert "machine code" in report and "left to Python" not in report, report


@pytest.mark.parametrize("function", FUNCTIONS)
def test_python_goes_on_wherever_the_code_is_left(fuel, function):
    staged, z = native(function), draw(4, "D")
    for nodes in range(1, 40, 2):
        fuel.value = nodes
        one, other = outcomes(function, staged, z, 0.5, 2)
        assert one == other, nodes


def shapes(x, n):
    total = 0
    for k in range(n):
        total += x.shape[0] * k + x.shape[-1]
        total += sum(x.shape) - x.shape[0]
    return total, x.shape


def reshaped(x, n):
    found = []
    for k in range(n):
        found.append(x.shape[0])
        x.shape = x.shape[::-1]
        found.append(x.shape[0] + x.shape[1])
    return found


@pytest.mark.parametrize("function", [shapes, reshaped])
def test_shapes(function):
    staged = native(function)
    for x in (np.ones((3, 4)), np.ones((5, 2)), np.ones((3, 0)), np.ones((2, 3), "i4").T.copy(), np.ma.ones((2, 3))):
        for _ in range(2):
            names = [function.__name__]
            ours, theirs = (result_or_error(each, x.copy(), 2, names=names) for each in (staged, function))
            assert ours == theirs or str(ours) == str(theirs)
    if function is shapes:
        assert "left to Python" not in str(staged.explain(np.ones((3, 4)), 2))
