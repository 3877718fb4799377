"""TensorFlow's spelling: `tf.random.Generator`, and random numbers by seeds."""

import numpy as np
import pytest

import autograph.compat.tensorflow as tf


def test_a_seed_gives_the_same_numbers_again():
    one, two = (tf.random.Generator.from_seed(7) for _ in range(2))
    first = one.normal([3])
    assert np.array_equal(first, two.normal([3]))
    assert not np.array_equal(first, one.normal([3]))
    one.reset_from_seed(7)
    assert np.array_equal(first, one.normal([3]))
    others = one.split(2)
    assert not np.array_equal(*(each.uniform([8]) for each in others))


def test_functions_advance_the_generator():
    generator = tf.random.Generator.from_seed(1)
    draw = tf.function(lambda: generator.uniform([4], 2, 3))
    found = [draw().numpy() for _ in range(2)]
    assert not np.array_equal(*found)
    assert all(((each >= 2) & (each < 3)).all() for each in found)


def test_kinds_of_numbers():
    generator = tf.random.Generator.from_seed(1)
    assert np.abs(generator.truncated_normal([1000])).max() <= 2
    whole = generator.uniform([1000], 3, 6, tf.int32)
    assert whole.dtype == tf.int32
    assert set(whole.numpy()) == {3, 4, 5}
    assert generator.uniform_full_int([2]).dtype == tf.uint64
    assert 0 <= generator.binomial([100], 5, 0.5).numpy().min() <= generator.binomial([100], 5, 0.5).numpy().max() <= 5
    assert generator.make_seeds(3).shape == (2, 3)
    with pytest.raises(ValueError, match="maxval"):
        generator.uniform([1], dtype=tf.int32)


def test_numbers_by_seeds():
    draw = tf.function(lambda seed: tf.random.stateless_normal([3], seed))
    assert np.array_equal(draw([1, 2]), tf.random.stateless_normal([3], [1, 2]))
    assert not np.array_equal(draw([1, 2]), draw([1, 3]))
    seeds = tf.random.experimental.stateless_split([1, 2], 3)
    assert seeds.shape == (3, 2)
    assert tf.random.experimental.stateless_fold_in([1, 2], 3).shape == (2,)
    with pytest.raises(ValueError, match="seed must have shape"):
        tf.random.stateless_uniform([1], [1, 2, 3])


def test_the_generator_of_the_program():
    before = tf.random.experimental.get_global_generator()
    tf.random.experimental.set_global_generator(tf.random.Generator.from_seed(3))
    assert tf.random.experimental.get_global_generator().normal([2]).shape == (2,)
    tf.random.experimental.set_global_generator(before)
