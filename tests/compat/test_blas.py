"""TensorFlow's spelling: small products of matrices use one thread."""

import math
import threading

import numpy as np
import pytest

import autograph.compat.tensorflow as tf
from autograph.compat.tensorflow.core import blas

functions = blas._functions()
needs_openblas = pytest.mark.skipif(functions is None, reason="NumPy has another library for products")


@pytest.mark.parametrize(
    ("program", "shapes", "expected"),
    [
        (lambda a, b: a @ b, [[2, 3], [3, 5]], 30),
        (lambda a, b: tf.einsum("ij,jk->ik", a, b), [[2, 3], [3, 5]], 30),
        (lambda a, b: a + b, [[2, 3], [2, 3]], 0),
        (lambda a, b: a @ b, [[None, 3], [3, 5]], math.inf),
        (lambda a, b: tf.cond(tf.reduce_sum(a) > 0, lambda: a @ b, lambda: tf.ones([4, 4])), [[4, 4], [4, 4]], 64),
    ],
)
def test_the_largest_product_of_a_graph(program, shapes, expected):
    concrete = tf.function(program).get_concrete_function(*(tf.TensorSpec(shape) for shape in shapes))
    assert blas.largest_product(concrete.graph.trace.graph) == pytest.approx(expected)


def test_which_products_use_one_thread():
    assert blas.context_for(0) is blas.context_for(math.inf) is blas.context_for(blas.SMALL) is blas.AS_SET
    assert blas.context_for(1000) is blas.ONE_THREAD


@needs_openblas
def test_the_number_of_threads_is_set_for_the_time_of_a_call():
    get, set_to = functions
    before = get()
    set_to(2)
    try:
        with pytest.raises(KeyError), blas.ONE_THREAD:
            assert get() == 1
            raise KeyError
        assert get() == 2
        inside, leave = threading.Event(), threading.Event()

        def other():
            with blas.ONE_THREAD:
                inside.set()
                leave.wait(30)

        thread = threading.Thread(target=other)
        thread.start()
        inside.wait(30)
        with blas.ONE_THREAD:
            pass
        assert get() == 1
        leave.set()
        thread.join()
        assert get() == 2
    finally:
        set_to(before)


@needs_openblas
def test_functions_and_eager_products_use_it(monkeypatch):
    seen = []

    class Recorder:
        def __enter__(self):
            seen.append("in")

        def __exit__(self, *raised):
            seen.append("out")

    monkeypatch.setattr(blas, "ONE_THREAD", Recorder())
    ones = tf.ones([4, 4])
    assert np.array_equal(tf.matmul(ones, ones), 4 * np.ones((4, 4)))
    assert np.array_equal(tf.function(lambda x: x @ x)(ones), 4 * np.ones((4, 4)))
    assert seen == ["in", "out"] * 2
