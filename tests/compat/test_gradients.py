"""TensorFlow's spelling: gradient tapes, eager and in graphs."""

import numpy as np
import pytest

import autograph.compat.tensorflow as tf
from autograph.compat.tensorflow.core import graphs

pytestmark = pytest.mark.once


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


def test_computations_of_one_structure_share_a_graph():
    made = graphs.remembered()
    graphs.remember(found := [])
    w, b = tf.Variable(tf.ones([3, 2])), tf.Variable(tf.zeros([2]))
    try:
        for step in range(4):
            x = tf.constant([[1.0, 2.0, 3.0 + step]])
            with tf.GradientTape() as tape:
                y = tf.nn.relu(tf.matmul(x, w) + b)[:, step % 2]
                y = tf.reduce_sum(tf.nn.softmax(tf.stack([y, y * float(step)]), axis=0) * y[tf.constant(0)])
            gradients = tape.gradient(y, [w, b])
            w.assign_sub(gradients[0] * 0.1)
    finally:
        graphs.remember(made)
    assert len(found) == 2  # one for each column, which is no tensor


def test_what_differs_has_graphs_of_its_own():
    x = tf.constant([1.0, 2.0, 3.0])

    def gradient(function, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x).numpy().tolist()

    for exponent in (2.0, 3.0):
        scale = np.float32(exponent)
        assert gradient(lambda x: x**exponent, x) == [exponent * each ** (exponent - 1) for each in (1.0, 2.0, 3.0)]
        custom = tf.custom_gradient(lambda x: (x, lambda upstream: upstream * scale))
        assert gradient(custom, x) == [exponent] * 3
    for axis in (0, 1):
        weights = [[1.0, 2.0], [3.0, 4.0]]
        found = gradient(lambda x: tf.reduce_sum(tf.reduce_max(x, axis=axis)), tf.constant(weights))
        assert found == ([[0.0, 0.0], [1.0, 1.0]] if axis == 0 else [[0.0, 1.0], [0.0, 1.0]])
    for size in (2, 3):
        assert gradient(lambda x: x[: tf.constant(size)], x) == [1.0] * size + [0.0] * (3 - size)


def third_power(x):
    with tf.GradientTape() as outer:
        z = x * 2.0
        with tf.GradientTape() as inner:
            y = x * x * x * z
        first = inner.gradient(y, x)
        z = first + z * x
    return first, outer.gradient(z, x)


def third_power_of_constant(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.gradient(y, x)
    return first, outer.gradient(first, x)


def in_a_loop(x):
    with tf.GradientTape() as outer:
        y = 0.0
        for _ in tf.range(3):
            with tf.GradientTape() as inner:
                z = x * x * x
            y += inner.gradient(z, x)
    return outer.gradient(y, x)


def assigned_between(x):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x * x
            x.assign_add(1.0)
            y = y + x * x * 10.0
        first = inner.gradient(y, x)
    second = outer.gradient(first, x)
    x.assign(3.0)
    return y, first, second


def assigned_while_stopped(x):
    with tf.GradientTape() as tape:
        y = x * x
        with tape.stop_recording():
            x.assign_add(1.0)
        y = y + x * 10.0
    gradient = tape.gradient(y, x)
    x.assign(3.0)
    return y, gradient


def stepped_between(x, optimizer):
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        optimizer.apply_gradients([(tf.constant(-1.0), x)])
        z = x * 10.0
    found = y, z, tape.gradient(y, x), tape.gradient(z, x)
    x.assign(3.0)
    return found


@pytest.mark.parametrize("wrap", [lambda function: function, tf.function], ids=["eager", "graph"])
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (third_power, (162.0, 174.0)),
        (in_a_loop, 54.0),
        (assigned_between, (169.0, 86.0, 22.0)),
        (assigned_while_stopped, (49.0, 16.0)),
    ],
)
def test_tapes_within_tapes(function, expected, wrap):
    x = tf.Variable(3.0)
    assert numbers(wrap(lambda: function(x))()) == expected


@pytest.mark.parametrize("wrap", [lambda function: function, tf.function], ids=["eager", "graph"])
def test_constants_are_watched_by_tapes_within_tapes(wrap):
    x = tf.constant(3.0)
    assert numbers(wrap(lambda: third_power_of_constant(x))()) == (27.0, 18.0)


def test_steps_of_an_optimizer_are_assignments():
    x, optimizer = tf.Variable(3.0), tf.keras.optimizers.SGD(1.0)
    assert both(lambda: stepped_between(x, optimizer)) == (9.0, 40.0, 6.0, 10.0)


def test_numbers_drawn_in_a_function_are_those_of_its_gradient():
    w = tf.Variable(2.0)

    @tf.function
    def drops(x):
        kept = tf.cast(tf.random.uniform([20]) > 0.5, tf.float32)
        return x * w * kept, kept

    x = tf.range(20.0)
    for _ in range(3):
        with tf.GradientTape() as tape:
            y, kept = drops(x)
        assert numbers(tape.gradient(y, w)) == numbers(tf.reduce_sum(x * kept))

    @tf.function
    def in_a_branch(x):
        if x > 0.0:
            x = x * tf.random.uniform([])
        return x * w

    with tf.GradientTape() as tape:
        y = in_a_branch(tf.constant(1.0))
    with pytest.raises(NotImplementedError, match="put the GradientTape into the function, or draw the numbers before"):
        tape.gradient(y, w)


@pytest.mark.parametrize("wrap", [lambda function: function, tf.function], ids=["eager", "graph"])
def test_gradients_in_the_parameters_of_distributions(wrap):
    tf.random.set_seed(0)
    mean, deviation, end = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0)

    @wrap
    def gradients():
        with tf.GradientTape() as tape:
            x, y = tf.random.normal([5], mean, deviation), tf.random.uniform([5], 0.0, end)
            sum_ = tf.reduce_sum(x) + tf.reduce_sum(y)
        return tape.gradient(sum_, [mean, deviation, end]), x, y

    (of_mean, of_deviation, of_end), x, y = gradients()
    assert of_mean == 5
    assert np.isclose(of_deviation, np.sum((x - 1) / 2))
    assert np.isclose(of_end, np.sum(y / 3))


def shows(x):
    y = x * x
    tf.print(y)
    tf.Assert(tf.reduce_sum(y) > 0.0, [y])
    for _ in tf.range(2):
        y = y * x
        tf.print(y)
        assert tf.reduce_sum(y) > 0.0, "all is positive"
    return y


def makes_in_a_loop(x):
    for i in tf.range(3):
        y = x * x * tf.cast(i, tf.float32)
        rows = tf.TensorArray(tf.float32, 1).write(0, x * y)
    return y + rows.read(0)


@pytest.mark.parametrize(
    ("function", "expected"),
    [(shows, [4.0, 32.0]), (makes_in_a_loop, [10.0, 32.0])],
)
def test_gradients_around_effects(function, expected, capsys):
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x)

    assert both(gradient, tf.constant([1.0, 2.0])) == expected
    printed = capsys.readouterr().err.splitlines()
    assert printed[: len(printed) // 2] == printed[len(printed) // 2 :]


def test_assigning_what_gradients_are_asked_for():
    average = tf.Variable(0.0, trainable=False)

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            average.assign(tf.reduce_sum(x * x))
            y = x * average
        return tape.gradient(y, x)

    assert both(gradient, tf.constant([1.0, 2.0])) == [5.0, 5.0]


def lists_and_variables(x, v):
    x = tf.map_fn(lambda each: each * tf.sin(each), x)
    v.assign(tf.square(v) + 0.5)
    for _ in tf.range(1):
        rows = tf.TensorArray(tf.float32, 3)
        for j in tf.range(3):
            rows = rows.write(j, v * x * tf.cast(j, tf.float32))
            if j > 0:
                x = tf.tanh(x + rows.read(j - 1))
        x = tf.map_fn(lambda each: each * each, tf.reduce_sum(rows.stack(), 1))
    return tf.reduce_sum(x * v)


def test_gradients_in_what_lists_hold_and_what_is_read_and_assigned():
    v = tf.Variable([0.5, -0.2, 0.1])

    def gradients(x):
        v.assign([0.5, -0.2, 0.1])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = lists_and_variables(x, v)
        return tape.gradient(y, [x, v])

    found = both(gradients, tf.constant([0.1, 0.9, -0.4]))
    assert len(found) == 2 and all(map(np.any, found))
