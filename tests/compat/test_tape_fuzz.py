"""TensorFlow's spelling: drawn programs under tapes give the same eagerly and in a graph, gradients included."""

import random

import numpy as np
import pytest

import autograph.compat.tensorflow as tf

pytestmark = pytest.mark.once
UNARY = "sin cos tanh nn.relu square nn.sigmoid nn.softplus nn.softmax cumsum identity stop_gradient".split()


class Writer:
    """Draws the body of a function of vectors of three elements, `x` and `y`, with variables `v` and `w`."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = []

    def expression(self, depth=0):
        rng, more = self.rng, lambda: self.expression(depth + 1)
        forms = [
            lambda: f"({more()} {rng.choice('+-*')} {more()})", lambda: f"tf.{rng.choice(UNARY)}({more()})",
            lambda: f"tf.gather({more()}, [2, 0, 0])", lambda: f"tf.where({more()} > 0.1, {more()}, {more()})",
            lambda: f"(tf.reduce_sum({more()}) * {more()} * 0.1)", lambda: f"tf.reverse({more()}, [0])",
            lambda: f"tf.concat([{more()}[1:], {more()}[:1]], 0)", lambda: f"tf.clip_by_value({more()}, -1.0, 1.0)",
        ]  # fmt: skip
        return rng.choice("xyvw") if depth > 2 or rng.random() < 0.3 else rng.choice(forms[:2] + forms)()

    def block(self, depth):
        for _ in range(self.rng.randint(1, 3)):
            kinds = [self.assign, self.assign, self.shows, self.maps]
            kinds += [self.branch, self.loop, self.array] if depth < 3 else []
            kinds += [self.variable, self.pause, self.inner] if depth == 1 else []
            self.rng.choice(kinds)(depth)

    def add(self, depth, *lines):
        self.lines += ["    " * (depth + 1) + line for line in lines]

    def assign(self, depth):
        self.add(depth, f"{self.rng.choice('xy')} = {self.expression()}")

    def shows(self, depth):
        self.add(depth, "tf.print(tf.reduce_sum(x) > 0.0)")

    def maps(self, depth):
        self.add(depth, "x = tf.map_fn(lambda each: each * tf.sin(each), x)")

    def branch(self, depth):
        self.add(depth, f"if tf.reduce_sum({self.expression()}) > 0.0:")
        self.block(depth + 1)
        self.add(depth, "else:", f"    y = {self.expression()}")

    def loop(self, depth):
        self.add(depth, f"for _ in tf.range({self.rng.randint(0, 3)}):")
        self.block(depth + 1)
        self.add(depth + 1, "x, y = tf.tanh(x), tf.tanh(y)", "if x[0] > 0.5:", "    break")

    def array(self, depth):
        self.add(depth, "rows = tf.TensorArray(tf.float32, 3)", f"for j{depth} in tf.range(3):")
        self.add(depth + 1, f"rows = rows.write(j{depth}, {self.expression()} * tf.cast(j{depth}, tf.float32))")
        self.add(depth + 1, f"if j{depth} > 0:", f"    x = tf.tanh(x + rows.read(j{depth} - 1))")
        self.add(depth, "y = tf.reduce_sum(rows.stack(), 1) * 0.3")

    def variable(self, depth):
        self.add(depth, f"v.assign({self.expression()})")

    def pause(self, depth):
        self.add(depth, "with tape.stop_recording():", f"    y = {self.expression()}")

    def inner(self, depth):
        self.add(depth, "with tf.GradientTape() as inner:", "    inner.watch(x)", f"    z = {self.expression()} * x")
        self.add(depth, f"y += inner.gradient(z, {self.rng.choice('xv')}, unconnected_gradients='zero')")

    def program(self):
        self.block(1)
        head = ["def f(x, y):", "    given = [x, y, v, w]", "    with tf.GradientTape() as tape:"]
        head += ["        tape.watch([x, y])"]
        tail = ["        found = tf.reduce_sum(x * y)"]
        tail += ["    return found, x, tape.gradient(found, given, None, 'zero')"]
        return "\n".join([*head, *self.lines, *tail, ""])


def results(path, wrap):
    """What a program gives when it is called twice, and what is in the variable then."""
    names = {"tf": tf, "v": tf.Variable([0.3, -0.2, 0.5]), "w": tf.Variable([1.0, 0.5, -0.7])}
    exec(compile(path.read_text(), str(path), "exec"), names)
    x, y, function = tf.constant([0.1, 0.9, -0.4]), tf.constant([0.7, -0.3, 0.2]), wrap(names["f"])
    found = [function(x, y), function(x, y * 2.0), names["v"].read_value()]
    return [leaf.numpy() for leaf in tf.nest.flatten(found)]


@pytest.mark.parametrize("seed", range(30))
def test_drawn_programs(seed, tmp_path, capsys):
    path = tmp_path / "program.py"
    path.write_text(Writer(seed).program())
    eager, printed = results(path, lambda function: function), capsys.readouterr().err
    staged = results(path, tf.function)
    assert capsys.readouterr().err == printed
    for one, other in zip(eager, staged, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4, err_msg=path.read_text())
