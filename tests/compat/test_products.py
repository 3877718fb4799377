"""TensorFlow's spelling: `einsum` and products of integers, by products that BLAS computes."""

import numpy as np
import pytest

import autograph.compat.tensorflow as tf
from autograph.compat.tensorflow.ops import products

DRAW = np.random.default_rng(0)
SIZES = dict(zip("abijk", (3, 2, 19, 21, 23)))


EQUATIONS = [
    "ij,jk->ik", "ij,kj->ki", "aij,ajk->aik", "aij,jk->aki", "abij,abkj->aibk", "ia,jka->kij", "ij,ij->ij", "ij,jk->",
]  # fmt: skip


@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_contractions(equation, wrap):
    operands = [DRAW.standard_normal([SIZES[each] for each in part]) for part in equation.partition("->")[0].split(",")]
    found = wrap(lambda *values: tf.einsum(equation, *values))(*map(tf.constant, operands))
    assert np.allclose(found, np.einsum(equation, *operands))


def test_gradients_of_contractions():
    x = tf.Variable(DRAW.standard_normal((20, 30)))
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.einsum("ij,kj->ik", x, tf.ones([10, 30], tf.float64)))
    assert np.allclose(tape.gradient(total, x), 10)


@pytest.mark.parametrize("equation", ["ii,ij->j", "ij,jk", "i...,i->...", "ij,k->i", "ij,jk,kl->il"])
def test_equations_of_other_forms_are_left_to_numpy(equation):
    assert products.contraction(equation, None, None, [(99, 99), (99, 99)]) is None


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
@pytest.mark.parametrize("high", [5, 100])
def test_products_of_integers_wrap_as_integers_do(dtype, high):
    x, y = (DRAW.integers(0, high, sizes).astype(dtype) for sizes in ((20, 30), (30, 25)))
    assert np.array_equal(tf.matmul(x, y), x @ y)
    assert np.array_equal(tf.function(lambda a, b: tf.matmul(a, b, transpose_b=True))(x, y.T.copy()), x @ y)


def test_products_of_large_integers_are_exact():
    x = np.full((30, 30), 2**40 + 1, np.int64)
    assert np.array_equal(tf.matmul(x, x), x @ x)
    most = np.full((30, 30), np.iinfo(np.int32).min, np.int32)
    assert np.array_equal(tf.matmul(most, most), most @ most)
