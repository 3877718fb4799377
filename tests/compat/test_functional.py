"""TensorFlow's spelling: functions of the rows of tensors, and taking rows."""

import re

import numpy as np
import pytest

import autograph.compat.tensorflow as tf

pytestmark = pytest.mark.once
both = pytest.mark.parametrize("wrap", [lambda function: function, tf.function], ids=["eager", "graph"])


def plain(structure):
    return tf.nest.map_structure(lambda leaf: leaf.numpy().tolist(), structure)


def positive_sum(row):
    total = 0.0
    for each in row:
        if each > 0.0:
            total += each
    return total


@both
def test_map_fn(wrap):
    @wrap
    def f(x, n):
        squares = tf.map_fn(lambda row: row * row, x)
        signature = tf.int32, tf.bool
        pairs = tf.map_fn(lambda pair: (pair[0] * pair[1], pair[0] > 1), (n, n + 1), fn_output_signature=signature)
        sizes = tf.map_fn(tf.reduce_max, x, fn_output_signature=tf.TensorSpec([], tf.float32))
        return squares, pairs, sizes, tf.map_fn(positive_sum, x), tf.map_fn(lambda row: row, x[:0])

    found = f(tf.constant([[1.0, -2.0], [3.0, 4.0]]), tf.constant([1, 2]))
    assert plain(found[:4]) == ([[1, 4], [9, 16]], ([2, 6], [False, True]), [1, 4], [1, 7])
    assert len(found[4]) == 0


@both
def test_scans_and_folds(wrap):
    @wrap
    def f(x):
        sums = tf.scan(lambda total, row: total + row, x)
        begun = tf.scan(lambda total, row: total * 2 + row, x, initializer=10)
        back = tf.scan(lambda total, row: total + row, x, reverse=True)
        pairs = tf.scan(lambda pair, row: (pair[1], pair[0] + row), x, initializer=(0, 1))
        return sums, begun, back, pairs, tf.foldl(tf.subtract, x), tf.foldr(tf.subtract, x, 0)

    assert plain(f(tf.constant([1, 2, 3]))) == (
        [1, 3, 6], [21, 44, 91], [6, 5, 3], ([1, 1, 3], [1, 3, 4]), -4, -6,
    )  # fmt: skip


@both
def test_gradients_of_maps(wrap):
    @wrap
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.vectorized_map(lambda row: tf.reduce_sum(row) * row, x)
            y = tf.reduce_sum(y) + tf.reduce_sum(tf.scan(tf.multiply, x)) + tf.reduce_sum(tf.map_fn(tf.square, x))
        return tape.gradient(y, x)

    # of (a + b)², of a · (1 + c), and of a², row by row
    a, b, c, d = 1.0, 2.0, 3.0, 4.0
    first = [2 * (a + b) + 1 + c + 2 * a, 2 * (a + b) + 1 + d + 2 * b]
    second = [2 * (c + d) + a + 2 * c, 2 * (c + d) + b + 2 * d]
    assert plain(gradient(tf.constant([[a, b], [c, d]]))) == [first, second]


def test_any_number_of_rows():
    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def f(x):
        return tf.map_fn(lambda row: row * 2.0, x), tf.vectorized_map(tf.reduce_sum, x)

    for n in (1, 3):
        assert plain(f(tf.ones([n, 2]))) == ([[2, 2]] * n, [2] * n)
    with pytest.raises(ValueError, match=re.escape("Elements in elems must be 1+ dimensional Tensors, not scalars")):
        tf.map_fn(lambda x: x, tf.constant(1))


@both
@pytest.mark.parametrize(
    ("indices", "text"),
    [(5, "indices = 5 is not in [0, 3)"), ([0, -1], "indices[1] = -1 is not in [0, 3)"),
     ([[0, 1], [3, 0]], "indices[1,0] = 3 is not in [0, 3)")],
)  # fmt: skip
def test_what_is_gathered_is_there(wrap, indices, text):
    x = tf.constant([1.0, 2.0, 3.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match=re.escape(text)):
        wrap(tf.gather)(x, tf.constant(indices))
    with pytest.raises(tf.errors.InvalidArgumentError):
        wrap(tf.gather_nd)(x, tf.constant([[-1]]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 5 of dimension 0 out of bounds"):
        wrap(lambda x, i: x[i])(x, tf.constant(5))


@both
def test_gathering_in_batches(wrap):
    x = tf.constant(np.arange(24.0).reshape(2, 3, 4))
    at = tf.constant([[0, 2], [1, 1]])

    @wrap
    def f(x, at):
        with tf.GradientTape() as tape:
            tape.watch(x)
            columns = tf.gather(x, at, axis=2, batch_dims=1)
        rows = tf.gather(x, at, batch_dims=1)
        return rows, columns, tf.gather(x, at[0], axis=-1), tape.gradient(columns, x)

    rows, columns, last, gradient = f(x, at)
    array, numbers = x.numpy(), at.numpy()
    assert np.array_equal(rows, np.stack([array[b][numbers[b]] for b in range(2)]))
    assert np.array_equal(columns, np.stack([array[b][:, numbers[b]] for b in range(2)]))
    assert np.array_equal(last, array[:, :, [0, 2]])
    assert np.array_equal(gradient[:, 0], [[1, 0, 1, 0], [0, 2, 0, 0]])
