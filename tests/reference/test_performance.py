"""Reference document 003, on performance: each of its programs, with `tf` from this library, on smaller matrices.

The third way of multiplying matrices there is a Cython module of the author's that is not shown.
"""

import time

import numpy as np
import pytest

import autograph.compat.tensorflow as tf

pytestmark = pytest.mark.once


def test_three_ways_of_multiplying_matrices(capsys):
    size = 12
    a = np.random.uniform(size=(size, size))
    b = np.random.uniform(size=(size, size))

    start_time = time.time()
    looped = np.zeros(shape=(size, size))
    for i in range(size):
        for j in range(size):
            for k in range(size):
                looped[i, j] += a[i, k] * b[k, j]
    print("time consumed by Python for loop:", time.time() - start_time)

    start_time = time.time()
    dotted = np.dot(a, b)
    print("time consumed by np.dot:", time.time() - start_time)

    x = tf.constant(a)
    y = tf.constant(b)
    start_time = time.time()
    product = tf.matmul(x, y)
    print("time consumed by tf.matmul:", time.time() - start_time)

    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        "time consumed by Python for loop", "time consumed by np.dot", "time consumed by tf.matmul"
    ]  # fmt: skip
    assert product.dtype is tf.float64
    assert (product.numpy() == dotted).all() and np.allclose(looped, dotted)


@pytest.mark.parametrize("wrap", [lambda function: function, tf.function], ids=["eager", "graph"])
def test_a_loop_of_products_and_one_einsum(wrap):
    a = tf.random.uniform([20, 5, 7])
    b = tf.random.uniform([7, 7])

    @wrap
    def looped(a, b):
        c = []
        for i in range(20):
            c.append(tf.matmul(a[i], b))
        return tf.stack(c, axis=0)

    @wrap
    def batched(a, b):
        return tf.einsum("ijk,kl->ijl", a, b)

    first, second = looped(a, b), batched(a, b)
    assert first.shape == second.shape == (20, 5, 7)
    assert np.allclose(first.numpy(), second.numpy(), atol=1e-5)
