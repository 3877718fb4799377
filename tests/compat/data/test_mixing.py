"""TensorFlow's spelling: datasets that draw from several datasets, or change the order."""

import numpy as np
import pytest

import autograph.compat.tensorflow as tf

Dataset = tf.data.Dataset


def listed(dataset):
    return [tf.nest.map_structure(lambda leaf: leaf.tolist(), element) for element in dataset.as_numpy_iterator()]


@pytest.mark.parametrize("threads", [None, 2, tf.data.AUTOTUNE])
def test_interleaving(threads):
    """A source that has ended is replaced by the next one, where its turn comes next."""
    lengths = Dataset.from_tensor_slices([(0, 2), (1, 1), (2, 0), (3, 3)])
    found = lengths.interleave(
        lambda pair: Dataset.range(tf.cast(pair[1], tf.int64)).map(lambda x: 10 * tf.cast(pair[0], tf.int64) + x),
        cycle_length=2, num_parallel_calls=threads,
    )  # fmt: skip
    assert listed(found) == [0, 10, 1, 30, 31, 32]
    blocks = Dataset.range(3).interleave(
        lambda x: Dataset.from_tensors(x).repeat(3), cycle_length=2, block_length=2, num_parallel_calls=threads
    )
    assert listed(blocks) == [0, 0, 1, 1, 0, 1, 2, 2, 2]


def test_functions_that_give_no_dataset_are_refused():
    with pytest.raises(TypeError, match="must return a `Dataset`"):
        listed(Dataset.range(3).flat_map(lambda x: x))


def test_choosing_and_sampling():
    three, two = Dataset.range(3), Dataset.range(10, 12)
    order = Dataset.from_tensor_slices(np.array([0, 1, 1, 1, 0, 1, 0]))
    assert listed(Dataset.choose_from_datasets([three, two], order)) == [0, 10, 11]
    assert listed(Dataset.choose_from_datasets([three, two], order, stop_on_empty_dataset=False)) == [0, 10, 11, 1, 2]
    assert listed(Dataset.sample_from_datasets([three, two], weights=[1.0, 0.0])) == [0, 1, 2]
    sampled = Dataset.sample_from_datasets([three, two], weights=[0.5, 0.5], seed=1)
    assert listed(sampled) == listed(sampled)
    assert sorted(listed(sampled)) == [0, 1, 2, 10, 11]
    with pytest.raises(ValueError, match="weights"):
        Dataset.sample_from_datasets([three, two], weights=[1.0])


def test_shuffling_fills_a_buffer():
    assert listed(Dataset.range(5).shuffle(1)) == [0, 1, 2, 3, 4]
    shuffled = listed(Dataset.range(100).shuffle(10, seed=3))
    assert sorted(shuffled) == list(range(100)) != shuffled
    assert all(number - place < 10 for place, number in enumerate(shuffled))
    fixed = Dataset.range(10).shuffle(10, seed=3, reshuffle_each_iteration=False)
    assert listed(fixed) == listed(fixed)
    with pytest.raises(tf.errors.InvalidArgumentError, match="buffer_size"):
        Dataset.range(3).shuffle(0)


def test_resampling_gives_classes_their_shares():
    unequal = Dataset.range(4000).map(lambda x: x % 10 // 9)
    found = unequal.rejection_resample(lambda x: tf.cast(x, tf.int32), [0.5, 0.5], initial_dist=[0.9, 0.1], seed=1)
    classes = [kind for kind, _ in listed(found)]
    assert 600 < len(classes) < 1000
    assert 0.4 < np.mean(classes) < 0.6


def test_side_by_side():
    assert listed(Dataset.zip({"a": Dataset.range(2), "b": Dataset.range(5)})) == [{"a": 0, "b": 0}, {"a": 1, "b": 1}]
    assert len(Dataset.zip(Dataset.range(3), Dataset.range(2).repeat())) == 3
    with pytest.raises(TypeError, match="structure"):
        Dataset.zip([Dataset.range(3)])
    with pytest.raises(TypeError, match="different types"):
        Dataset.range(3).concatenate(Dataset.from_tensors(1.0))
