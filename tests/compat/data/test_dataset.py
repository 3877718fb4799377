"""TensorFlow's spelling: datasets and iterators over them, eagerly and in staged loops."""

import numpy as np
import pytest

import autograph.compat.tensorflow as tf


def listed(dataset):
    return [tf.nest.map_structure(lambda leaf: leaf.tolist(), element) for element in dataset.as_numpy_iterator()]


def test_datasets():
    numbers = tf.data.Dataset.range(6)
    assert listed(numbers.map(lambda x: x * x).filter(lambda x: x % 2 == 0)) == [0, 4, 16]
    assert listed(numbers.batch(4)) == [[0, 1, 2, 3], [4, 5]]
    assert listed(numbers.batch(4, drop_remainder=True)) == [[0, 1, 2, 3]]
    assert listed(numbers.take(2).repeat(2)) == [0, 1, 0, 1]
    assert listed(numbers.skip(4).enumerate()) == [(0, 4), (1, 5)]
    assert listed(tf.data.Dataset.zip((numbers, numbers.skip(3)))) == [(0, 3), (1, 4), (2, 5)]
    assert listed(numbers.shuffle(3, seed=1)) == listed(numbers.shuffle(3, seed=1))
    assert sorted(listed(numbers.shuffle(3))) == list(range(6))
    assert len(numbers.batch(4)) == 2
    assert listed(numbers.prefetch(1).cache().concatenate(numbers.take(1)))[-1] == 0
    slices = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": [[1.0], [2.0]]})
    assert listed(slices) == [{"a": 1, "b": [1.0]}, {"a": 2, "b": [2.0]}]
    generated = tf.data.Dataset.from_generator(lambda: iter([1, 2]), output_signature=tf.TensorSpec((), tf.int32))
    assert listed(generated) == [1, 2]
    assert numbers.reduce(np.int64(0), lambda total, x: total + x).numpy() == 15


def sums(data):
    total = tf.constant(0, tf.int64)
    for x in data:
        total = total * 10 + x
        if total > 100:
            break
    return total


def resumes(data):
    total = tf.constant(0, tf.int64)
    rest = iter(data)
    for x in rest:
        total += x
        if total > 2:
            break
    return total, next(rest)


def nexts(data):
    rest = iter(data)
    return 10 * next(rest) + next(rest)


@pytest.mark.parametrize("function", [sums, resumes, nexts])
def test_staged_loops_over_datasets(function):
    data = tf.data.Dataset.range(7)
    eager, staged = function(data), tf.function(function)(data)
    assert tf.nest.map_structure(int, staged) == tf.nest.map_structure(int, eager)


def test_elements_are_taken_apart():
    @tf.function
    def f(data):
        total = tf.constant(0)
        for pair, name in data:
            total += pair["x"] * name
        return total

    data = tf.data.Dataset.from_tensor_slices(({"x": [1, 2, 3]}, [10, 100, 1000]))
    assert f(data).numpy() == 3210


def test_the_end_of_an_iteration():
    @tf.function
    def f(data, go_on):
        rest = iter(data)
        try:
            while go_on:
                next(rest)
        except StopIteration:
            pass

    with pytest.raises(tf.errors.OutOfRangeError):
        f(tf.data.Dataset.range(3), tf.constant(True))


def test_ragged_and_sparse_tensors():
    def rows(ragged):
        found = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for row in ragged:
            total = 0
            for x in row:
                total = total * 10 + x
            found = found.write(found.size(), total)
        return found.stack()

    ragged = tf.ragged.constant([[], [1], [1, 2]])
    assert rows(ragged).numpy().tolist() == tf.function(rows)(ragged).numpy().tolist() == [0, 1, 12]

    def grows(n):
        sparse = tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [2, 2])
        for _ in range(n):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(sparse, tf.TensorShape(None))])
            sparse = tf.sparse.expand_dims(sparse)
        return tf.sparse.to_dense(sparse)

    for n in (0, 2):
        assert tf.function(grows)(tf.constant(n)).numpy().tolist() == grows(n).numpy().tolist()


def test_distributed_datasets():
    strategy = tf.distribute.MirroredStrategy()
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]]))

    @tf.function
    def f(data):
        total = 0
        for x in data:
            total = total * 10 + strategy.reduce("SUM", x, axis=0)
        return total

    assert f(data).numpy() == 37


def numbers(dataset):
    return [tf.nest.map_structure(lambda leaf: leaf.numpy(), each) for each in dataset]


def test_more_ways_to_change_datasets():
    six, dataset = tf.data.Dataset.range(6), tf.data.Dataset
    assert numbers(six.take_while(lambda x: x < 3)) == [0, 1, 2]
    assert numbers(dataset.range(3).flat_map(lambda x: dataset.from_tensors(x).repeat(2))) == [0, 0, 1, 1, 2, 2]
    assert numbers(dataset.range(4).scan(np.int64(0), lambda s, x: (s + x, s * 10 + x))) == [0, 1, 12, 33]
    assert numbers(dataset.from_tensor_slices(["a", "b", "a"]).unique()) == [b"a", b"b"]
    assert numbers(six.shard(3, 1)) == [1, 4]
    assert dataset.from_tensors(5).get_single_element().numpy() == 5
    for wrong in (six, dataset.range(0)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Dataset was"):
            wrong.get_single_element()
    with pytest.raises(ValueError, match="rank >= 1"):
        dataset.from_tensor_slices(5)
