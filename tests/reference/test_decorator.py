"""Reference document 000, on `tf.function` as a decorator: each of its programs, with `tf` from this library."""

import re
import timeit

import pytest

import autograph.compat.tensorflow as tf

pytestmark = pytest.mark.once


SIZE = 30  # the document has 100, for which BLAS may start threads that wait for one another on a busy machine


def square_matrix(size=SIZE):
    return tf.random.uniform(shape=[size, size], minval=-1, maxval=1, dtype=tf.dtypes.float32)


def some_costly_computation(x):
    aux = tf.eye(SIZE, dtype=tf.dtypes.float32)
    result = tf.zeros(SIZE, dtype=tf.dtypes.float32)
    for i in range(1, 100):
        aux = tf.matmul(x, aux) / i
        result = result + aux
    return result


def test_a_costly_function_gives_the_same_as_a_graph_and_can_be_timed(capsys):
    x = square_matrix()
    quicker_computation = tf.function(some_costly_computation)
    decorated = tf.function(some_costly_computation)
    for name, function in [("origin", some_costly_computation), ("quick", quicker_computation), ("2", decorated)]:
        print(f"costly {name} 10 repeat", timeit.repeat("function(x)", repeat=2, number=1, globals=locals()))
    lines = capsys.readouterr().out.splitlines()
    assert all(re.fullmatch(r"costly \w+ 10 repeat \[[-\d.e]+, [-\d.e]+\]", line) for line in lines), lines
    plain, graph = some_costly_computation(x), quicker_computation(x)
    assert graph.shape == (SIZE, SIZE) and graph.dtype is tf.float32
    assert (plain.numpy() == graph.numpy()).all()


def test_print_is_run_by_tracing_only(capsys):
    @tf.function
    def quick_computation(x):
        print("Only prints the first time!")
        return some_costly_computation(x)

    x = square_matrix()
    quick_computation(x)
    quick_computation(x)
    assert capsys.readouterr().out == "Only prints the first time!\n"


def test_tf_print_is_run_by_each_call(capsys):
    @tf.function
    def quick_computation_with_print(x):
        tf.print("Prints every time!")
        return some_costly_computation(x)

    x = square_matrix()
    quick_computation_with_print(x)
    quick_computation_with_print(x)
    assert capsys.readouterr().err == "Prints every time!\nPrints every time!\n"


def test_a_loop_over_rows_and_its_vectorised_form(capsys):
    x = square_matrix()

    @tf.function
    def function_with_for(x):
        summ = float(0)
        for row in x:
            summ = summ + tf.reduce_mean(row)
        return summ

    @tf.function
    def vectorized_function(x):
        result = tf.reduce_mean(x, axis=0)
        return tf.reduce_sum(result)

    print(function_with_for(x))
    print(vectorized_function(x))
    shown = capsys.readouterr().out.splitlines()
    assert all(re.fullmatch(r"tf\.Tensor\([-\d.e]+, shape=\(\), dtype=float32\)", line) for line in shown), shown
    assert abs(function_with_for(x).numpy() - vectorized_function(x).numpy()) < 1e-5
    assert timeit.timeit("function_with_for(x)", number=10, globals=locals()) > 0
    assert timeit.timeit("vectorized_function(x)", number=10, globals=locals()) > 0


def test_a_python_global_is_frozen_by_tracing(capsys):
    x = tf.Variable(2, dtype=tf.dtypes.float32)
    y = 2

    @tf.function
    def power(x):
        return tf.pow(x, y)

    print(power(x))
    y = 3
    print(power(x))
    assert capsys.readouterr().out == "tf.Tensor(4.0, shape=(), dtype=float32)\n" * 2


def test_a_variable_that_is_passed_is_read_by_each_call(capsys):
    x = tf.Variable(2, dtype=tf.dtypes.float32)
    y = tf.Variable(2, dtype=tf.dtypes.float32)

    @tf.function
    def power(x, y):
        return tf.pow(x, y)

    print(power(x, y))
    y.assign(3)
    print(power(x, y))
    assert capsys.readouterr().out == (
        "tf.Tensor(4.0, shape=(), dtype=float32)\ntf.Tensor(8.0, shape=(), dtype=float32)\n"
    )


def test_types_that_do_not_match(capsys):
    x = tf.Variable(1, dtype=tf.dtypes.float32)
    y = tf.Variable(1, dtype=tf.dtypes.int32)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.add(x, y)
    assert str(caught.value) == (
        "cannot compute AddV2 as input #1(zero-based) was expected to be a float tensor but is a int32 tensor "
        "[Op:AddV2]"
    )
    y = tf.cast(y, tf.dtypes.float32)
    tf.print(tf.add(x, y))
    assert capsys.readouterr().err == "2\n"


def test_shapes_that_do_not_match():
    x = square_matrix(100)
    y = tf.random.uniform(shape=[1, 100], minval=-1, maxval=1, dtype=tf.dtypes.float32)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.matmul(x, y)
    assert str(caught.value) == "Matrix size-incompatible: In[0]: [100,100], In[1]: [1,100] [Op:MatMul]"
