"""TensorFlow's spelling: gradient tapes, eager and in graphs."""

import numpy as np
import pytest

import autograph.compat.tensorflow as tf


def numbers(structure):
    return tf.nest.map_structure(lambda leaf: None if leaf is None else np.asarray(leaf.numpy()).tolist(), structure)


def both(function, *args):
    """What a function with a tape in it gives eagerly, which is what it gives as a graph."""
    eager, staged = numbers(function(*args)), numbers(tf.function(function)(*args))
    np.testing.assert_allclose(np.hstack(tf.nest.flatten(staged)), np.hstack(tf.nest.flatten(eager)), rtol=1e-6)
    return eager


def test_tensors_are_watched_where_that_is_asked_for():
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.gradient(y, x)

    assert both(f, tf.constant(3.0)) == 6

    with tf.GradientTape() as tape:
        x = tf.constant(3.0)
        y = x * x
    assert tape.gradient(y, tf.constant(1.0)) is None


def test_constants_of_graphs_can_be_watched():
    def f():
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * x
        return tape.gradient(y, x)

    assert both(f) == 12


def test_variables_are_watched():
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)

    def f(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((v * x - 1.0) ** 2) * w
            for _ in tf.range(2):
                loss += tf.reduce_sum(v) * w
        return tape.gradient(loss, [v, w])

    assert both(f, tf.constant(3.0)) == [[42.0, 96.0], 35.0]
    with tf.GradientTape() as tape:
        y = v * 2
    assert tape.gradient(y, w) is None
    with tf.GradientTape() as tape:
        y = v * 2
    assert numbers(tape.gradient(y, {"w": w}, unconnected_gradients="zero")) == {"w": 0}


def test_through_branches_and_loops():
    def f(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for i in tf.range(n):
                if i % 2 == 0:
                    y = y * x
                else:
                    y = y + x
        return tape.gradient(y, x)

    assert both(f, tf.constant(2.0), tf.constant(3)) == 16  # of (x·x + x)·x


def test_second_derivatives():
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x * x * x
            first = inner.gradient(y, x)
        return outer.gradient(first, x)

    assert both(f, tf.constant(3.0)) == 18


def test_a_tape_is_used_once_unless_it_is_persistent():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="non-persistent"):
        tape.gradient(y, x)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert [numbers(tape.gradient(*pair)) for pair in ((z, x), (y, x), (z, y))] == [108, 6, 18]


def test_of_functions_that_run_as_graphs(capsys):
    c = tf.Variable(1.0)

    @tf.function
    def f(x):
        tf.print("once")
        y = x * c
        c.assign_add(1.0)
        return y * c

    with tf.GradientTape() as tape:
        y = f(tf.constant(3.0))
    assert (y.numpy(), c.numpy()) == (6, 2)
    assert tape.gradient(y, c).numpy() == 9
    assert c.numpy() == 2
    assert capsys.readouterr().err == "once\n"

    @tf.function
    def draws(x):
        return x * tf.random.uniform(())

    with tf.GradientTape() as tape:
        y = draws(c)
    with pytest.raises(NotImplementedError, match="put the GradientTape into the function"):
        tape.gradient(y, c)


def test_variables_have_the_values_that_were_read():
    c = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        square = c * c
        c.assign(10.0)
        y = square * c
    assert tape.gradient(y, c).numpy() == 44  # 2·2·10 + 4


def test_assignments_under_a_tape():
    c = tf.Variable(2.0)

    @tf.function
    def f(n):
        for _ in tf.range(n):
            with tf.GradientTape() as tape:
                y = c * c
            c.assign_sub(0.25 * tape.gradient(y, c))
        return c

    assert f(tf.constant(3)).numpy() == 0.25

    @tf.function
    def around(n):
        with tf.GradientTape() as tape:
            y = c * 1.0
            for _ in tf.range(n):
                c.assign(2.0 * c)
                y += c
        return tape.gradient(y, c)

    with pytest.raises(NotImplementedError, match="assign to it behind the tape"):
        around(tf.constant(3))


def test_a_layer():
    weights, bias = tf.Variable([[0.2, -0.2], [0.3, 0.4]]), tf.Variable([0.0, 0.1])

    def f(x):
        with tf.GradientTape() as tape:
            logits = tf.nn.relu(x @ weights + bias)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=logits))
        return tape.gradient(loss, [weights, bias])

    x = tf.constant([[1.0, 2.0], [3.0, -1.0]])
    both(f, x)

    def loss(w):
        logits = np.maximum(x.numpy() @ w + bias.numpy(), 0)
        return np.mean(np.log(np.exp(logits).sum(1)) - logits[[0, 1], [0, 1]])

    w, step = weights.numpy().astype(float), 1e-6
    for at in np.ndindex(2, 2):
        shift = np.zeros((2, 2))
        shift[at] = step
        slope = (loss(w + shift) - loss(w - shift)) / (2 * step)
        assert abs(slope - f(x)[0].numpy()[at]) < 1e-4


def test_stopped_gradients_and_jacobians():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * tf.stop_gradient(x))
    assert numbers(tape.gradient(y, x)) == [1.0, 2.0]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert numbers(tape.jacobian(y, x)) == [[2.0, 0.0], [0.0, 4.0]]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * 3
    assert numbers(tape.gradient(y, x, output_gradients=[1.0, 10.0])) == [3.0, 30.0]
