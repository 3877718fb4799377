"""TensorFlow's spelling: `tf.debugging`, and Python that is called by graphs."""

import pytest

import autograph.compat.tensorflow as tf

pytestmark = pytest.mark.once
both = pytest.mark.parametrize("wrap", [lambda function: function, tf.function], ids=["eager", "graph"])
X = [[1.0, 2.0, 3.0]]
WRONG = [
    (lambda x: tf.debugging.assert_equal(x, 1.0), tf.errors.InvalidArgumentError),
    (lambda x: tf.debugging.assert_negative(x, "not so"), tf.errors.InvalidArgumentError),
    (lambda x: tf.debugging.assert_non_positive(x), tf.errors.InvalidArgumentError),
    (lambda x: tf.debugging.assert_near(x, x + 0.1), tf.errors.InvalidArgumentError),
    (lambda x: tf.debugging.assert_all_finite(x / 0.0, "m"), tf.errors.InvalidArgumentError),
    (lambda x: tf.debugging.assert_rank(x, 1), ValueError),
    (lambda x: tf.debugging.assert_rank_at_least(x, 3), ValueError),
    (lambda x: tf.debugging.assert_rank_in(x, (0, 1)), ValueError),
    (lambda x: tf.debugging.assert_scalar(x), ValueError),
    (lambda x: tf.debugging.assert_type(x, tf.int32), TypeError),
    (lambda x: tf.debugging.assert_integer(x), TypeError),
    (lambda x: tf.debugging.assert_shapes([(x, ("N", "N"))]), ValueError),
    (lambda x: tf.debugging.assert_same_float_dtype([x, 1]), ValueError),
]


@both
@pytest.mark.parametrize(("function", "error"), WRONG)
def test_what_does_not_hold(wrap, function, error):
    def run(x):
        function(x)
        return x

    with pytest.raises(error):
        wrap(run)(tf.constant(X))


@both
def test_what_holds(wrap):
    def run(x):
        tf.debugging.assert_non_negative(x)
        tf.debugging.assert_near(x, x + 1e-7)
        tf.debugging.assert_shapes([(x, ("N", 3)), (x[0], (3,))])
        tf.debugging.assert_rank(x, 2)
        tf.debugging.assert_type(x, tf.float32)
        return tf.debugging.check_numerics(x, "x") + tf.cast(tf.bitwise.left_shift(1, 2), tf.float32)

    assert wrap(run)(tf.constant(X)).numpy().tolist() == [[5.0, 6.0, 7.0]]


@both
def test_python_is_called_when_the_graph_runs(wrap):
    calls = []

    def noted(x):
        calls.append(type(x).__name__)
        return x * 2

    def run(x):
        one = tf.py_function(noted, [x], tf.float32)
        other = tf.numpy_function(noted, [x], tf.float32)
        first, second = tf.py_function(lambda a: (a, a + 1), [x], [tf.float32, tf.float32])
        return one + other + first + second

    function = wrap(run)
    for _ in range(2):
        assert function(tf.constant(X)).numpy().tolist() == [[7.0, 13.0, 19.0]]
    assert calls == ["Tensor", "ndarray"] * 2
