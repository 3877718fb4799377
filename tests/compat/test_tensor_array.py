"""TensorFlow's spelling: `tf.TensorArray`, and gradients through it."""

import numpy as np
import pytest

import autograph.compat.tensorflow as tf

pytestmark = pytest.mark.once
both = pytest.mark.parametrize("wrap", [lambda function: function, tf.function], ids=["eager", "graph"])


def plain(structure):
    return tf.nest.map_structure(lambda leaf: None if leaf is None else leaf.numpy().tolist(), structure)


def differentiated(wrap, function, x, *rest):
    """What a function of a tensor gives, and its gradient in that."""

    @wrap
    def both_of(x, *rest):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x, *rest)
        return y, tape.gradient(y, x)

    return plain(both_of(x, *rest))


def powers(x, n):
    found = tf.TensorArray(tf.float32, size=n)
    for i in tf.range(n):
        found = found.write(i, x * tf.cast(i, tf.float32))
    return tf.reduce_sum(found.stack() ** 2)


def products(x, n):
    found = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[None, 2])
    product = x
    for i in tf.range(n):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(product, tf.TensorShape([None, 2]))])
        if i > 0:
            product = product * found.read(i - 1)
        found = found.write(i, x * product)
    return tf.reduce_sum(found.concat())


def taken_apart(x):
    rows = tf.TensorArray(tf.float32, size=2).unstack(x)
    return rows.read(0) * rows.read(1) ** 2 + tf.reduce_sum(rows.gather([1, 0]) * [1.0, 10.0])


def with_gaps(x):
    found = tf.TensorArray(tf.float32, size=3).write(1, x)
    return tf.reduce_sum(found.stack()) + tf.reduce_sum(found.read(0)) + tf.reduce_sum(found.read(1)) * 2.0


def in_a_branch(x, n):
    found = tf.TensorArray(tf.float32, size=2).write(0, x)
    if n > 0:
        found = found.write(1, x * x)
    else:
        found = found.write(0, x * 3.0)
    return tf.reduce_sum(found.stack())


def as_a_function(x, n):
    def body(i, state, found):
        state = tf.tanh(state) * x
        return i + 1, state, found.write(i, state)

    found = tf.TensorArray(tf.float32, size=n)
    _, _, found = tf.while_loop(lambda i, *_: i < n, body, (0, tf.ones([2]), found))
    return tf.reduce_sum(found.stack())


@both
@pytest.mark.parametrize(
    ("function", "x", "rest", "expected"),
    [
        (powers, [1.0, 2.0], [4], (70.0, [28.0, 56.0])),
        (products, [[1.0, 2.0]], [3], (279.0, [[14.0, 1060.0]])),
        (taken_apart, [3.0, 2.0], [], (44.0, [14.0, 13.0])),
        (with_gaps, [3.0, 2.0], [], (15.0, [3.0, 3.0])),
        (in_a_branch, [3.0, 2.0], [1], (18.0, [7.0, 5.0])),
        (in_a_branch, [3.0, 2.0], [0], (15.0, [3.0, 3.0])),
    ],
)
def test_gradients(wrap, function, x, rest, expected):
    assert differentiated(wrap, function, tf.constant(x), *map(tf.constant, rest)) == expected


def test_gradients_eagerly_and_in_functions_agree():
    args = tf.constant([0.5, 2.0]), tf.constant(5)
    eager, staged = (differentiated(wrap, as_a_function, *args) for wrap in (lambda function: function, tf.function))
    assert np.allclose(eager[0], staged[0]) and np.allclose(eager[1], staged[1])


@both
def test_second_derivatives(wrap):
    @wrap
    def derivatives(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                found = tf.TensorArray(tf.float32, size=2)
                for i in tf.range(2):
                    found = found.write(i, x**3)
                y = found.read(0) * 2.0 + found.read(1)
            first = inner.gradient(y, x)
        return first, outer.gradient(first, x)

    assert plain(derivatives(tf.constant(2.0))) == (36.0, 36.0)


@both
def test_what_is_written_and_read(wrap):
    @wrap
    def found():
        numbers = tf.TensorArray(tf.int32, 3).scatter([2, 0], [[5, 6], [7, 8]])
        parts = tf.TensorArray(tf.int32, 2, infer_shape=False).split([1, 2, 3], [1, 2])
        empty = tf.TensorArray(tf.float32, 0, element_shape=[2]).stack()
        return numbers.stack(), numbers.size(), parts.concat(), empty

    assert plain(found()) == ([[7, 8], [0, 0], [5, 6]], 3, [1, 2, 3], [])


def test_arrays_go_in_and_out():
    @tf.function
    def doubled(array):
        return array.write(0, array.read(1) * 2)

    array = tf.TensorArray(tf.int32, 2).write(1, 4)
    assert plain(doubled(array).stack()) == [8, 4]
    assert plain(array.stack()) == [0, 4]

    @tf.function
    def captured(n):
        return array.write(0, n).stack()

    assert plain([captured(tf.constant(n)) for n in (1, 2)]) == [[1, 4], [2, 4]]
    assert plain(array.stack()) == [0, 4]


def test_elements_are_there_or_not():
    array = tf.TensorArray(tf.float32, 1)
    with pytest.raises(tf.errors.OutOfRangeError, match="write to index 1 but array is not resizeable and size is: 1"):
        array.write(1, 2.0)
    with pytest.raises(tf.errors.OutOfRangeError, match="Tried to read from index 3 but array size is: 1"):
        array.read(3)
    with pytest.raises(ValueError, match="TensorArray dtype is float32 but Op is trying to write dtype int32"):
        array.write(0, tf.constant(1))
    with pytest.raises(ValueError, match="Incompatible shape for value"):
        array.write(0, [1.0, 2.0]).write(0, 1.0)

    @tf.function
    def staged(index, write):
        array = tf.TensorArray(tf.float32, 1)
        return array.write(index, 1.0).stack() if write else array.read(index)

    with pytest.raises(tf.errors.InvalidArgumentError, match="Trying to modify element 1 in a list with 1 elements"):
        staged(tf.constant(1), True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Trying to access element -1 in a list with 1 elements"):
        staged(tf.constant(-1), False)


def test_writing_leaves_the_array_before_as_it_was():
    @tf.function
    def collected(n):
        first = tf.TensorArray(tf.int32, size=2, dynamic_size=True).write(0, 7)
        second = first.write(0, 8)
        third = second
        for i in tf.range(n):
            third = third.write(i, i)
        return first.stack(), second.stack(), third.stack()

    assert plain(collected(tf.constant(3))) == ([7, 0], [8, 0], [0, 1, 2])


def read_before_it_is_written(n):
    found, seen = tf.TensorArray(tf.int32, size=3), tf.constant(0)
    for i in tf.range(n):
        before = found
        found = found.write(0, i + 10)
        seen = seen * 100 + before.read(0)
    return seen, found.stack()


def read_before_a_branch_writes(n):
    found, seen = tf.TensorArray(tf.int32, size=3), tf.constant(0)
    for i in tf.range(n):
        before = found
        if i > 0:
            found = found.write(0, i + 10)
        for j in tf.range(i):
            found = found.write(j + 1, i)
        seen += before.read(0) * 2 + before.read(1)
    return seen, found.stack()


def written_in_vain(n):
    found = tf.TensorArray(tf.int32, size=2).write(0, 5)
    seen = tf.constant(0)
    for i in tf.range(n):
        seen = seen * 100 + found.write(0, i).read(0) + found.read(0)
    return seen, found.stack()


def swapped(n):
    found = tf.TensorArray(tf.int32, size=2)
    other = found.write(0, 1)
    for i in tf.range(n):
        if i % 2 == 0:
            found, other = other.write(0, i + 1), found
        else:
            found, other = other, found.write(1, i + 4)
    return found.stack(), other.stack()


def handed_to_loops(n):
    first = tf.TensorArray(tf.int32, size=2, dynamic_size=True)
    go_on, body = lambda i, _: i < n, lambda i, array: (i + 1, array.write(i, i * i))
    _, second = tf.while_loop(go_on, body, (0, first))
    return first.size(), second.stack()


@pytest.mark.parametrize(
    ("function", "n", "expected"),
    [
        (read_before_it_is_written, 3, [1011, [12, 0, 0]]),
        (read_before_a_branch_writes, 3, [23, [12, 2, 2]]),
        (written_in_vain, 2, [506, [5, 0]]),
        (swapped, 4, [[0, 0], [3, 7]]),
        (handed_to_loops, 4, [2, [0, 1, 4, 9]]),
    ],
)
def test_writing_leaves_the_array_before_as_it_is(function, n, expected):
    assert plain(list(tf.function(function)(tf.constant(n)))) == expected
