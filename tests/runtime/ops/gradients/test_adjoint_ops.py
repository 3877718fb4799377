"""What only gradients are made of."""

import numpy as np
import pytest

from autograph.runtime.ops.gradients.adjoint_ops import masked


@pytest.mark.parametrize("dtype", ["e", "f", "d", "F", "D", "g"])
def test_gradients_are_masked_as_where_does(dtype):
    values = np.array([[1.5, -2.0, -0.0], [np.inf, -np.inf, np.nan]], dtype)
    for gradient in (values, values.T, values[:, ::2], values[0], values[..., None]):
        for mask in (gradient.real > 0, gradient == gradient, np.zeros_like(gradient, bool)):
            found = masked(gradient, mask)
            assert found.dtype == gradient.dtype
            np.testing.assert_array_equal(found, np.where(mask, gradient, 0))


@pytest.mark.parametrize("dtype", "fd")
def test_masked_gradients_are_bits_of_them_or_none(dtype):
    gradient, mask = np.array([-1, -np.inf, -np.nan, -2, np.inf], dtype), np.array([False, False, False, True, True])
    expected = np.array([0, 0, 0, -2, np.inf], dtype)
    assert masked(gradient, mask).tobytes() == expected.tobytes()
    out = gradient.copy()
    assert masked(out, mask, out=out) is out
    assert out.tobytes() == expected.tobytes()


def test_numbers_are_masked():
    assert masked(2.5, True) == 2.5
    assert type(masked(2.5, False)) is float
    assert masked(np.float32(np.inf), np.False_) == 0
