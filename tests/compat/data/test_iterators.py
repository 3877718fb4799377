"""TensorFlow's spelling: iterators over datasets, and their optional values."""

import numpy as np
import pytest

import autograph.compat.tensorflow as tf

Dataset = tf.data.Dataset


def total(data):
    rest = iter(data)
    result = tf.constant(0, tf.int64)
    item = rest.get_next_as_optional()
    while item.has_value():
        result = 10 * result + item.get_value()
        item = rest.get_next_as_optional()
    return result


def test_optional_values_end_a_loop():
    data = Dataset.range(1, 4)
    assert int(total(data)) == int(tf.function(total)(data)) == 123
    assert int(tf.function(total)(Dataset.range(0))) == 0


def test_optional_values():
    iterator = iter(Dataset.zip((Dataset.range(1), Dataset.range(1))))
    first, end = iterator.get_next_as_optional(), iterator.get_next_as_optional()
    assert bool(first.has_value())
    assert [int(each) for each in first.get_value()] == [0, 0]
    assert not end.has_value()
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        end.get_value()
    optional = tf.experimental.Optional
    assert int(optional.from_value({"a": 3}).get_value()["a"]) == 3
    assert not optional.empty(tf.TensorSpec((), tf.int32)).has_value()


def test_reductions_in_functions():
    @tf.function
    def mean(data):
        total, count = data.reduce((np.int64(0), 0), lambda state, x: (state[0] + x, state[1] + 1))
        return total / tf.cast(count, tf.int64)

    assert float(mean(Dataset.range(5))) == 2.0


def test_iterators_can_be_moved():
    iterator = iter(Dataset.range(10))
    assert [int(next(iterator)) for _ in range(4)] == [0, 1, 2, 3]
    assert iterator.position == 4
    iterator.seek(2)
    assert int(next(iterator)) == 2


def test_ends_and_infinities():
    assert int(Dataset.range(3).repeat().cardinality()) == tf.data.INFINITE_CARDINALITY
    assert int(Dataset.range(3).filter(lambda x: x > 1).cardinality()) == tf.data.UNKNOWN_CARDINALITY
    assert list(Dataset.range(0).repeat()) == []
    assert len(Dataset.range(3).repeat(0)) == len(Dataset.range(3).skip(-1)) == 0
    with pytest.raises(ValueError, match="predicate"):
        Dataset.range(3).filter(lambda x: x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Index must be"):
        Dataset.range(3).shard(3, 3)
