"""Reference document 004, the introduction to graphs: each of its programs, with `tf` from this library."""

import re
import timeit
from pathlib import Path

import numpy as np
import pytest

import autograph.compat.tensorflow as tf

pytestmark = pytest.mark.once

GRAPH = Path(__file__).with_name("simple_relu.pbtxt")


def test_a_function_and_its_graph_give_the_same():
    def a_regular_function(x, y, b):
        x = tf.matmul(x, y)
        x = x + b
        return x

    a_function_that_uses_a_graph = tf.function(a_regular_function)
    x1 = tf.constant([[1.0, 2.0]])
    y1 = tf.constant([[2.0], [3.0]])
    b1 = tf.constant(4.0)
    orig_value = a_regular_function(x1, y1, b1).numpy()
    tf_function_value = a_function_that_uses_a_graph(x1, y1, b1).numpy()
    assert orig_value == tf_function_value


def test_a_graph_contains_the_functions_that_are_called():
    def inner_function(x, y, b):
        x = tf.matmul(x, y)
        x = x + b
        return x

    @tf.function
    def outer_function(x):
        y = tf.constant([[2.0], [3.0]])
        b = tf.constant(4.0)
        return inner_function(x, y, b)

    assert repr(outer_function(tf.constant([[1.0, 2.0]])).numpy()) == "array([[12.]], dtype=float32)"


def simple_relu(x):
    if tf.greater(x, 0):
        return x
    else:
        return 0


def test_a_branch_that_depends_on_a_tensor(capsys):
    tf_simple_relu = tf.function(simple_relu)
    print("First branch, with graph:", tf_simple_relu(tf.constant(1)).numpy())
    print("Second branch, with graph:", tf_simple_relu(tf.constant(-1)).numpy())
    assert capsys.readouterr().out == "First branch, with graph: 1\nSecond branch, with graph: 0\n"


CODE = """def tf__simple_relu(x):
    def if_body():
        return x

    def else_body():
        return 0
    return ag__.if_stmt(tf.greater(x, 0), if_body, else_body)
"""


def test_the_code_that_autograph_makes():
    """The document shows TensorFlow's own operators; those of this library do the same, and are told as such."""
    assert tf.autograph.to_code(simple_relu) == CODE


def test_the_graph_itself(capsys):
    """As the document prints it; the numbers of functions go on through a whole program there."""
    tf_simple_relu = tf.function(simple_relu)
    print(tf_simple_relu.get_concrete_function(tf.constant(1)).graph.as_graph_def())
    shown = capsys.readouterr().out
    assert shown.replace("cond_true_1", "cond_true_33").replace("cond_false_2", "cond_false_34") == GRAPH.read_text()


def test_one_graph_for_each_signature(capsys):
    @tf.function
    def my_relu(x):
        return tf.maximum(0., x)  # fmt: skip

    print(my_relu(tf.constant(5.5)))
    print(my_relu([1, -1]))
    print(my_relu(tf.constant([3., -3.])))  # fmt: skip
    assert capsys.readouterr().out == (
        "tf.Tensor(5.5, shape=(), dtype=float32)\n"
        "tf.Tensor([1. 0.], shape=(2,), dtype=float32)\n"
        "tf.Tensor([3. 0.], shape=(2,), dtype=float32)\n"
    )
    print(my_relu(tf.constant(-2.5)))
    print(my_relu(tf.constant([-1., 1.])))  # fmt: skip
    assert capsys.readouterr().out == (
        "tf.Tensor(0.0, shape=(), dtype=float32)\ntf.Tensor([0. 1.], shape=(2,), dtype=float32)\n"
    )
    print(my_relu.pretty_printed_concrete_signatures())
    assert (
        capsys.readouterr().out
        == """my_relu(x)
  Args:
    x: float32 Tensor, shape=()
  Returns:
    float32 Tensor, shape=()

my_relu(x=[1, -1])
  Returns:
    float32 Tensor, shape=(2,)

my_relu(x)
  Args:
    x: float32 Tensor, shape=(2,)
  Returns:
    float32 Tensor, shape=(2,)
"""
    )


@pytest.fixture
def get_mse():
    @tf.function
    def get_MSE(y_true, y_pred):
        print("Calculating MSE!")
        sq_diff = tf.pow(y_true - y_pred, 2)
        return tf.reduce_mean(sq_diff)

    yield get_MSE
    tf.config.run_functions_eagerly(False)


def test_eagerly_or_as_a_graph(get_mse):
    """The document draws its numbers; these are those it shows."""
    drawn = tf.random.uniform([5], maxval=10, dtype=tf.int32)
    assert re.fullmatch(r"tf\.Tensor\(\[\d \d \d \d \d\], shape=\(5,\), dtype=int32\)", str(drawn))
    y_true = tf.constant([1, 0, 4, 4, 7])
    y_pred = tf.constant([3, 6, 3, 0, 6])
    assert str(y_true) == "tf.Tensor([1 0 4 4 7], shape=(5,), dtype=int32)"
    assert str(y_pred) == "tf.Tensor([3 6 3 0 6], shape=(5,), dtype=int32)"
    assert repr(get_mse(y_true, y_pred)) == "<tf.Tensor: shape=(), dtype=int32, numpy=11>"
    tf.config.run_functions_eagerly(True)
    assert repr(get_mse(y_true, y_pred)) == "<tf.Tensor: shape=(), dtype=int32, numpy=11>"


def test_print_runs_while_tracing_or_eagerly_each_time(get_mse, capsys):
    y_true, y_pred = tf.constant([1, 0, 4, 4, 7]), tf.constant([3, 6, 3, 0, 6])
    for _ in range(3):
        get_mse(y_true, y_pred)
    assert capsys.readouterr().out == "Calculating MSE!\n"
    tf.config.run_functions_eagerly(True)
    for _ in range(3):
        get_mse(y_true, y_pred)
    assert capsys.readouterr().out == "Calculating MSE!\n" * 3


def test_what_is_not_needed_is_not_run_in_a_graph(capsys):
    """The document's eager call prints the tensor, as a GPU does; on a CPU TensorFlow raises, as its comments say."""

    def unused_return_eager(x):
        tf.gather(x, [1])
        return x

    try:
        print(unused_return_eager(tf.constant([0.0])))
    except tf.errors.InvalidArgumentError as e:
        print(f"{type(e).__name__}: {e}")
    told = capsys.readouterr().out
    assert told.startswith("InvalidArgumentError: "), told
    assert "indices[0] = 1 is not in [0, 1)" in told, told

    @tf.function
    def unused_return_graph(x):
        tf.gather(x, [1])
        return x

    print(unused_return_graph(tf.constant([0.0])))
    assert capsys.readouterr().out == "tf.Tensor([0.], shape=(1,), dtype=float32)\n"


def test_powers_are_timed(capsys):
    x = tf.random.uniform(shape=[10, 10], minval=-1, maxval=2, dtype=tf.dtypes.int32)

    def power(x, y):
        result = tf.eye(10, dtype=tf.dtypes.int32)
        for _ in range(y):
            result = tf.matmul(x, result)
        return result

    power_as_graph = tf.function(power)
    print("Eager execution:", timeit.timeit(lambda: power(x, 100), number=2))
    print("Graph execution:", timeit.timeit(lambda: power_as_graph(x, 100), number=2))
    assert re.fullmatch(r"Eager execution: \S+\nGraph execution: \S+\n", capsys.readouterr().out)
    assert np.array_equal(power(x, 100).numpy(), power_as_graph(x, 100).numpy())


def test_when_a_function_is_traced(capsys):
    @tf.function
    def a_function_with_python_side_effect(x):
        print("Tracing!")
        return x * x + tf.constant(2)

    print(a_function_with_python_side_effect(tf.constant(2)))
    print(a_function_with_python_side_effect(tf.constant(3)))
    assert capsys.readouterr().out == (
        "Tracing!\ntf.Tensor(6, shape=(), dtype=int32)\ntf.Tensor(11, shape=(), dtype=int32)\n"
    )
    print(a_function_with_python_side_effect(2))
    print(a_function_with_python_side_effect(3))
    assert capsys.readouterr().out == (
        "Tracing!\ntf.Tensor(6, shape=(), dtype=int32)\nTracing!\ntf.Tensor(11, shape=(), dtype=int32)\n"
    )
