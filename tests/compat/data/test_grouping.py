"""TensorFlow's spelling: datasets of batches, windows, groups and buckets."""

import numpy as np
import pytest

import autograph.compat.tensorflow as tf

Dataset = tf.data.Dataset


def listed(dataset):
    """The elements as lists; those of datasets inside, too."""

    def leaf(value):
        return listed(value) if hasattr(value, "element_spec") else value.numpy().tolist()

    return [tf.nest.map_structure(leaf, element) for element in dataset]


def triangle(count):
    """The tensors `[]`, `[1]`, `[2, 2]`, …"""
    return Dataset.range(count).map(lambda x: tf.fill([x], x))


@pytest.mark.parametrize(
    ("options", "windows"),
    [
        ({"size": 3}, [[0, 1, 2], [3, 4, 5], [6]]),
        ({"size": 3, "drop_remainder": True}, [[0, 1, 2], [3, 4, 5]]),
        ({"size": 3, "shift": 2, "stride": 2, "drop_remainder": True}, [[0, 2, 4], [2, 4, 6]]),
        ({"size": 2, "shift": 3}, [[0, 1], [3, 4], [6]]),
    ],
)
def test_windows(options, windows):
    found = Dataset.range(7).window(**options)
    assert listed(found) == windows
    assert len(found) == len(windows)


def test_windows_of_structures_are_structures_of_datasets():
    pairs = Dataset.from_tensor_slices({"a": [1, 2, 3], "b": [4.0, 5.0, 6.0]}).window(2)
    assert listed(pairs) == [{"a": [1, 2], "b": [4.0, 5.0]}, {"a": [3], "b": [6.0]}]
    flat = Dataset.range(5).window(3, 1, drop_remainder=True).flat_map(lambda window: window.batch(3))
    assert listed(flat) == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    sums = Dataset.range(6).window(2).map(lambda window: window.reduce(np.int64(0), lambda a, b: a + b))
    assert listed(sums) == [1, 5, 9]


def test_batches_of_unequal_shapes_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot batch tensors with different shapes"):
        listed(triangle(4).batch(2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="greater than zero"):
        Dataset.range(3).batch(0)


def test_padding():
    assert listed(triangle(3).padded_batch(2)) == [[[0], [1]], [[2, 2]]]
    assert listed(triangle(3).padded_batch(3, [4])) == [[[0, 0, 0, 0], [1, 0, 0, 0], [2, 2, 0, 0]]]
    named = triangle(3).map(lambda x: (x, tf.strings.as_string(tf.size(x))))
    padded = named.padded_batch(2, ([None], []), (np.int64(-1), "none"), drop_remainder=True)
    assert listed(padded) == [([[-1], [1]], [b"0", b"1"])]
    assert padded.element_spec[0] == tf.TensorSpec([2, None], tf.int64)
    with pytest.raises(tf.errors.DataLossError, match="smaller size"):
        listed(triangle(3).padded_batch(3, [1]))
    with pytest.raises(TypeError, match="Mismatched type"):
        triangle(3).padded_batch(3, padding_values=1.5)


def test_groups():
    grouped = Dataset.range(7).group_by_window(lambda x: x % 2, lambda key, group: group.batch(2), window_size=2)
    assert listed(grouped) == [[0, 2], [1, 3], [4, 6], [5]]
    sized = Dataset.range(6).group_by_window(
        lambda x: x % 2, lambda key, group: group.map(lambda x: (key, x)), window_size_func=lambda key: key + 1
    )
    assert listed(sized) == [(0, 0), (0, 2), (1, 1), (1, 3), (0, 4), (1, 5)]
    with pytest.raises(ValueError, match="window_size"):
        Dataset.range(3).group_by_window(lambda x: x, lambda key, group: group)


def test_buckets():
    bucket = {"element_length_func": tf.size, "bucket_boundaries": [2, 4], "bucket_batch_sizes": [2, 2, 2]}
    assert listed(triangle(5).bucket_by_sequence_length(**bucket)) == [
        [[0], [1]], [[2, 2, 0], [3, 3, 3]], [[4, 4, 4, 4]],
    ]  # fmt: skip
    bounded = triangle(3).bucket_by_sequence_length(**bucket, pad_to_bucket_boundary=True)
    assert listed(bounded) == [[[0], [1]], [[2, 2, 0]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have length < max"):
        listed(triangle(5).bucket_by_sequence_length(**bucket, pad_to_bucket_boundary=True))


def test_unbatching():
    assert listed(Dataset.range(5).batch(2).unbatch()) == [0, 1, 2, 3, 4]
    assert len(Dataset.range(4).batch(2, drop_remainder=True).unbatch()) == 4
    with pytest.raises(ValueError, match="scalar"):
        Dataset.range(3).unbatch()
