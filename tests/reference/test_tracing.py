"""Reference document 001, on `tf.function` and tracing: each of its programs, with `tf` from this library."""

import pytest

import autograph.compat.tensorflow as tf

pytestmark = pytest.mark.once

FIRST = """Tracing with, 3
tf.Tensor(6, shape=(), dtype=int32)

Tracing with, 2
tf.Tensor(4, shape=(), dtype=int32)

Tracing with, Tensor("a:0", shape=(), dtype=float32)
tf.Tensor(2.2, shape=(), dtype=float32)

Tracing with, Tensor("a:0", shape=(), dtype=string)
tf.Tensor(b'aa', shape=(), dtype=string)

tf.Tensor(b'bb', shape=(), dtype=string)
"""


def test_functions_are_decorated_or_wrapped():
    @tf.function
    def f(x, y):
        return x + y

    def g(x, y):
        return x * y

    h = tf.function(g)
    assert str(f(2, 3)) == "tf.Tensor(5, shape=(), dtype=int32)"
    assert str(h(tf.constant(2.0), 3)) == "tf.Tensor(6.0, shape=(), dtype=float32)"


def test_what_is_traced_when(capsys):
    @tf.function
    def double(a):
        print("Tracing with, {}".format(a))  # noqa: UP032  (as documented)
        return a + a

    def calls():
        print(double(3))
        print()
        print(double(2))
        print()
        print(double(tf.constant(1.1)))
        print()
        print(double(tf.constant("a")))
        print()
        print(double(tf.constant("b")))
        return capsys.readouterr().out

    assert calls() == FIRST
    again = "".join(line for line in FIRST.splitlines(keepends=True) if not line.startswith("Tracing"))
    assert calls() == again
    assert calls() == again  # the third program of the document is the same, with comments
