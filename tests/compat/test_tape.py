"""TensorFlow's spelling: `tf.GradientTape`, where ops run at once and in functions."""

import numpy as np
import pytest

import autograph.compat.tensorflow as tf
from autograph.compat.tensorflow.staging import replay

pytestmark = pytest.mark.once
both = pytest.mark.parametrize("wrap", [lambda function: function, tf.function], ids=["eager", "graph"])


def plain(structure):
    return tf.nest.map_structure(lambda leaf: None if leaf is None else leaf.numpy().tolist(), structure)


@both
def test_gradients_in_tensors_and_variables(wrap):
    w, b = tf.Variable([[1.0], [2.0]]), tf.Variable(0.5)
    fixed = tf.Variable(1.0, trainable=False)

    @wrap
    def step(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b)) * fixed
        return tape.gradient(loss, [w, b]), tape.gradient(loss, {"x": x}), tape.gradient(loss, fixed)

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    of_variables, of_x, of_fixed = plain(step(x))
    assert of_variables == [[[40.0], [57.0]], 17.0]
    assert of_x == {"x": [[5.5, 11.0], [11.5, 23.0]]}
    assert of_fixed is None


@both
def test_second_derivatives(wrap):
    @wrap
    def derivatives(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x * x * x
            first = inner.gradient(y, x)
        return first, outer.gradient(first, x)

    assert plain(derivatives(tf.constant(3.0))) == (27.0, 18.0)


@both
def test_through_loops_and_branches(wrap):
    b = tf.Variable(3.0)

    @wrap
    def gradients(n):
        with tf.GradientTape() as tape:
            y, i = b * 1.0, 0
            while i < n:
                if y < 100.0:
                    y = y * b
                else:
                    y = y * 2.0
                i += 1
        return tape.gradient(y, b)

    assert gradients(tf.constant(5)).numpy() == 5 * 3.0**4 * 2  # b⁵ · 2, as 3⁵ > 100


@both
def test_a_source_that_another_depends_on(wrap):
    @wrap
    def gradients(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            z = y * y
        return tape.gradient(z, [x, y])

    assert plain(gradients(tf.constant(3.0))) == [108.0, 18.0]


@both
def test_what_is_not_connected(wrap):
    x, unused = tf.Variable(2.0), tf.Variable([1.0, 2.0])

    @wrap
    def gradients():
        with tf.GradientTape(persistent=True) as tape:
            y = x * tf.stop_gradient(x * x)
            stopped = tf.stop_gradient(x)
        return (
            tape.gradient(y, x),
            tape.gradient(stopped, x),
            tape.gradient(y, unused),
            tape.gradient(y, unused, unconnected_gradients=tf.UnconnectedGradients.ZERO),
        )

    assert plain(gradients()) == (4.0, None, None, [0.0, 0.0])


def test_a_tape_may_be_asked_once_unless_it_is_persistent():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x).numpy() == 4
    with pytest.raises(RuntimeError, match="A non-persistent GradientTape can only be used"):
        tape.gradient(y, x)
    assert [variable is x for variable in tape.watched_variables()] == [True]


def test_variables_are_not_watched_unless_asked_for():
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(y)
        z = x * y
    assert plain(tape.gradient(z, [x, y])) == [None, 2.0]


def test_a_variable_that_changes_in_between():
    b = tf.Variable(0.5)
    with tf.GradientTape() as tape:
        loss = b * b
        b.assign(2.0)
        loss = loss + b * 10.0
    assert tape.gradient(loss, b).numpy() == 11


def test_jacobians_and_given_gradients():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert np.array_equal(tape.jacobian(y, x).numpy(), np.diag([2.0, 4.0, 6.0]))
    assert tape.gradient(y, x, output_gradients=tf.constant([1.0, 0.0, 2.0])).numpy().tolist() == [2.0, 0.0, 12.0]


def test_ops_of_many_kinds():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        first, second, _ = tf.unstack(x)
        y = first * second + tf.reduce_sum(tf.concat([x, [first]], 0)) + tf.gather(x, [1])[0] * 3.0 + tf.reduce_max(x)
    assert tape.gradient(y, x).numpy().tolist() == [4.0, 5.0, 2.0]


@both
def test_a_pause(wrap):
    x = tf.Variable(3.0)

    @wrap
    def gradients():
        with tf.GradientTape() as outer:
            with tf.GradientTape(persistent=True) as tape:
                y = x * x
                with tape.stop_recording():
                    z = y * 5.0
                    within = tape.gradient(y, x)
                w = z * x
            found = tape.gradient([y, z], x), tape.gradient(z, x), tape.gradient(w, x)
        return within, found, outer.gradient(w, x)

    assert plain(gradients()) == (6.0, (6.0, None, 45.0), 135.0)


@both
def test_pauses_in_loops(wrap):
    @wrap
    def gradients(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(2):
                with tape.stop_recording():
                    factor = y * 2.0
                y = y * factor
        return tape.gradient(y, x)

    assert plain(gradients(tf.constant(3.0))) == 216.0  # y = (x · 6) · 36


@both
def test_there_is_no_gradient_in_what_is_not_watched(wrap):
    @wrap
    def gradients(x):
        with tf.GradientTape() as tape:
            y = x * x
        return tape.gradient(y, [x])

    assert gradients(tf.constant(2.0)) == [None]


_scale = 2.0


def _scaled(x):
    return x * _scale


def test_graphs_of_custom_gradients_are_kept_as_long_as_what_they_read_stays(monkeypatch):
    def times(factor):
        return tf.custom_gradient(lambda x: (x * factor, lambda upstream: _scaled(upstream) * factor))

    def gradient(function):
        with tf.GradientTape() as tape:
            x = tf.constant(3.0)
            tape.watch(x)
            y = function(x)
        return float(tape.gradient(y, x))

    assert [gradient(times(factor)) for factor in (1.0, 5.0)] == [2.0, 10.0]
    kept = len(replay._programs)
    assert gradient(times(5.0)) == 10.0 and len(replay._programs) == kept
    monkeypatch.setitem(globals(), "_scale", 7.0)
    assert gradient(times(5.0)) == 35.0


def test_a_step_of_training_images_compiles_once():
    filters, x = tf.Variable(np.ones((2, 2, 1, 3), np.float32)), tf.constant(np.ones((1, 6, 6, 1), np.float32))

    def step(size):
        with tf.GradientTape() as tape:
            y = tf.nn.max_pool2d(tf.nn.conv2d(x, filters, 1, "SAME"), size, size, "SAME")
        return tape.gradient(y, filters)

    step(2)
    kept = len(replay._programs)
    assert np.array_equal(step(2), step(2)) and len(replay._programs) == kept
    step(3)
    assert len(replay._programs) == kept + 1


@both
def test_functions_that_refer_to_themselves(wrap):
    """As the error function does, which `gelu` is made of, and nested functions that call themselves."""

    def power(n):
        @tf.custom_gradient
        def raised(x):
            return x**n, lambda upstream: upstream * n * (power(n - 1)(x) if n > 1 else 1.0) if n else raised(x)

        return raised

    @wrap
    def gradients(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y, z = tf.nn.gelu(x), power(3)(x)
        return tape.gradient(y, x), tape.gradient(z, x)

    of_gelu, of_power = gradients(tf.constant(0.5))
    assert abs(of_gelu - 0.8674951) < 1e-6 and of_power.numpy() == 3 * 0.25


@both
def test_custom_gradients(wrap):
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)
        return tf.math.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))

    @tf.custom_gradient
    def product(x, y):
        return x * y, lambda upstream: (upstream * 10.0, None)

    @wrap
    def gradients(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = log1pexp(x) * 2.0
            z = product(x * 3.0, x)
        return tape.gradient(y, x), z, tape.gradient(z, x)

    assert plain(gradients(tf.constant(100.0))) == (2.0, 30000.0, 30.0)


@both
def test_clipping(wrap):
    @wrap
    def clipped(x, y):
        return tf.norm(x), tf.clip_by_norm(x, 1.0), tf.clip_by_norm(y, 10.0), tf.clip_by_global_norm([x, y, None], 6.5)

    found = plain(clipped(tf.constant([3.0, 4.0]), tf.constant([12.0])))
    assert found == (5.0, pytest.approx([0.6, 0.8]), [10.0], ([[1.5, 2.0], [6.0], None], 13.0))


@both
def test_jacobians_of_batches_and_of_jacobians(wrap):
    @wrap
    def jacobians(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = x * x * x
            whole, each = tape.jacobian(y, x), tape.batch_jacobian(y, x)
            total = tf.reduce_sum(whole)
        return whole, each, outer.gradient(total, x)

    whole, each, second = jacobians(tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    assert whole.shape == (2, 2, 2, 2)
    assert plain(each) == [[[3.0, 0.0], [0.0, 12.0]], [[27.0, 0.0], [0.0, 48.0]]]
    assert plain(second) == [[6.0, 12.0], [18.0, 24.0]]
