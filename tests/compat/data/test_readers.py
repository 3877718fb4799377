"""TensorFlow's spelling: datasets of files and of generators, and elements that are kept."""

import gzip

import numpy as np
import pytest

import autograph.compat.tensorflow as tf
from autograph.compat.tensorflow.data import files

Dataset = tf.data.Dataset


def listed(dataset):
    return [
        tf.nest.map_structure(lambda leaf: leaf if isinstance(leaf, bytes) else leaf.tolist(), element)
        for element in dataset.as_numpy_iterator()
    ]


def test_lines_and_records(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\n")
    (tmp_path / "b.txt").write_bytes(b"three")
    with gzip.open(tmp_path / "c.gz", "wb") as file:
        file.write(b"four\n")
    names = Dataset.list_files(str(tmp_path / "*.txt"), shuffle=False)
    assert listed(tf.data.TextLineDataset(names)) == [b"one", b"two", b"three"]
    assert listed(names.interleave(tf.data.TextLineDataset, cycle_length=2)) == [b"one", b"three", b"two"]
    assert listed(tf.data.TextLineDataset(str(tmp_path / "c.gz"), "GZIP")) == [b"four"]
    assert listed(tf.data.FixedLengthRecordDataset(str(tmp_path / "b.txt"), 2, header_bytes=1)) == [b"hr", b"ee"]
    with pytest.raises(tf.errors.NotFoundError, match="missing"):
        listed(tf.data.TextLineDataset("missing.txt"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched"):
        Dataset.list_files(str(tmp_path / "*.none"))


def test_records_are_checked(tmp_path):
    """The checksum of the empty string and of `a`, as RFC 3720 defines them, masked."""
    path = tmp_path / "records"
    path.write_bytes(files.record(b"first") + files.record(b""))
    assert listed(tf.data.TFRecordDataset(str(path))) == [b"first", b""]
    assert files.masked_crc(b"123456789") == ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) & 0xFFFFFFFF
    whole = path.read_bytes()
    for wrong in (whole[:-3], whole[:13] + b"x" + whole[14:], b"x" + whole[1:]):
        path.write_bytes(wrong)
        with pytest.raises(tf.errors.DataLossError, match="record"):
            listed(tf.data.TFRecordDataset(str(path)))


TABLE = "name,size,share\nant,1,0.5\nbee,,1.5\n"


def test_tables(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    rows = tf.data.experimental.CsvDataset(str(path), [tf.string, -1, tf.float32], header=True)
    assert listed(rows) == [(b"ant", 1, 0.5), (b"bee", -1, 1.5)]
    chosen = tf.data.experimental.CsvDataset(str(path), [tf.float32], header=True, select_cols=[2])
    assert listed(chosen) == [(0.5,), (1.5,)]
    required = tf.data.experimental.CsvDataset(str(path), [tf.string, tf.int32, tf.float32], header=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Field 1 is required"):
        listed(required)
    batches = tf.data.experimental.make_csv_dataset(str(path), 2, label_name="share", shuffle=False, num_epochs=1)
    assert listed(batches) == [({"name": [b"ant", b"bee"], "size": [1, 0]}, [0.5, 1.5])]


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ((1, 2, 3), tf.errors.InvalidArgumentError, "did not match the expected structure"),
        ((1, [[2.0]]), tf.errors.InvalidArgumentError, r"shape \(1, 1\) where an element of shape \(None,\)"),
        (("a", [2.0]), tf.errors.InvalidArgumentError, "could not be converted"),
        (ZeroDivisionError("in the generator"), tf.errors.UnknownError, "ZeroDivisionError: in the generator"),
        (ValueError("in the generator"), tf.errors.InvalidArgumentError, "ValueError: in the generator"),
    ],
)
def test_generators_must_fit_their_signature(given, error, text):
    def generator():
        yield 1, [2.0, 3.0]
        if isinstance(given, Exception):
            raise given
        yield given

    signature = tf.TensorSpec((), tf.int32), tf.TensorSpec((None,), tf.float32)
    iterator = iter(Dataset.from_generator(generator, output_signature=signature))
    assert tf.nest.map_structure(lambda leaf: leaf.numpy().tolist(), next(iterator)) == (1, [2.0, 3.0])
    with pytest.raises(error, match=text):
        next(iterator)


def test_generators_take_arguments():
    found = Dataset.from_generator(lambda n: iter(range(n)), tf.int32, (), args=[tf.constant(3)])
    assert listed(found) == [0, 1, 2]
    named = Dataset.from_generator(lambda: iter([{"a": [1, 2]}]), {"a": tf.int64}, {"a": [2]})
    assert named.element_spec == {"a": tf.TensorSpec([2], tf.int64)}
    assert listed(named) == [{"a": [1, 2]}]


@pytest.mark.parametrize("keep", ["cache", "snapshot"])
def test_elements_are_kept_in_files(tmp_path, keep):
    def make(text):
        data = Dataset.from_tensor_slices(([1, 2], [[b"a\0", text], [b"", b"c"]])).map(lambda x, y: (x, y, y[0]))
        return getattr(data, keep)(str(tmp_path / "kept"))

    first = listed(make(b"b"))
    assert listed(make(b"other")) == first == [(1, [b"a\0", b"b"], b"a\0"), (2, [b"", b"c"], b"")]
    partly = Dataset.range(5).cache(str(tmp_path / "partly"))
    assert [int(x) for x, _ in zip(partly, range(2))] == [0, 1]
    assert listed(partly) == [0, 1, 2, 3, 4]


def test_caching_in_memory_needs_a_whole_iteration():
    calls = []

    def note(x):
        calls.append(int(x))
        return x

    cached = Dataset.range(3).map(lambda x: tf.py_function(note, [x], tf.int64)).cache()
    next(iter(cached))
    assert listed(cached) == listed(cached) == [0, 1, 2]
    assert calls == [0, 0, 1, 2]


def test_strings_keep_their_zeros():
    assert tf.constant(["a", b"b\0", "ä"]).numpy().tolist() == [b"a", b"b\0", "ä".encode()]
    assert np.shape(tf.constant([["a"], ["b\0"]])) == (2, 1)
