"""TensorFlow's spelling: AutoGraph's optional feature of lists whose elements have a type."""

import numpy as np
import pytest

import autograph.compat.tensorflow as tf
from autograph.compat.tensorflow.python import autograph

pytestmark = pytest.mark.once
LISTS = tf.autograph.experimental.Feature.LISTS


def untyped(n):
    found = []
    for i in range(n):
        found.append(i)
    return autograph.stack(found, strict=False)


def updated():
    found = [1, 2, 3]
    autograph.set_element_type(found, tf.int32)
    found[1] = 5 * found[2]
    return autograph.stack(found, strict=False)


def filled(n):
    found = []
    autograph.set_element_type(found, tf.int32)
    for i in range(n):
        found.append(i)
    return autograph.stack(found, strict=False)


def rows(m, n):
    found = []
    autograph.set_element_type(found, tf.int32)
    for _ in range(m):
        row = []
        autograph.set_element_type(row, tf.int32)
        for j in range(n):
            row.append(j)
        found.append(row)
    return autograph.stack(found, strict=False)


def fibonacci(n):
    found = [1, 1]
    autograph.set_element_type(found, tf.int32)
    for i in range(2, n):
        found.append(found[i - 1] + found[i - 2])
        found[i] = -found[i - 1]
    return autograph.stack(found, strict=False)


def emptied(n):
    found, total = [1, 2, 3, 4], 0
    autograph.set_element_type(found, tf.int32, ())
    for _ in range(n):
        total += found.pop()
    return autograph.stack(found, strict=False), total


@pytest.mark.parametrize(
    ("function", "args"),
    [(updated, ()), (filled, (5,)), (rows, (5, 3)), (fibonacci, (5,)), *((emptied, (n,)) for n in (0, 2, 4))],
)
def test_lists_of_elements_of_a_type(function, args):
    staged = tf.function(function, experimental_autograph_options=LISTS)(*args)
    eager = function(*args)
    for one, other in zip(staged, eager) if isinstance(staged, tuple) else [(staged, eager)]:
        assert np.array_equal(one, other)


def test_lists_that_cannot_be_stacked():
    def run(function, *args):
        tf.function(function, experimental_autograph_options=LISTS)(*args)

    with pytest.raises(ValueError, match="cannot stack a list without knowing its element type; use set_element_type"):
        run(untyped, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="an empty list"):
        run(filled, 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="an empty list"):
        run(rows, 0, 3)
    assert untyped(3) == [0, 1, 2]
    assert np.array_equal(autograph.stack([1, 2]), [1, 2])


def test_lists_do_not_grow_in_staged_loops():
    def collects(n):
        found = []
        for i in tf.range(n):
            found.append(i)
        return found

    with pytest.raises(ValueError, match="Trying to push to a list in a loop"):
        tf.function(collects, experimental_autograph_options=LISTS)(tf.constant(3))
