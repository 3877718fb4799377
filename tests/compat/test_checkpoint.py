"""TensorFlow's spelling: checkpoints, which set variables that exist, and those that come later."""

import os
import random

import numpy as np
import pytest

import autograph.compat.tensorflow as tf
from autograph.errors import LoadError

pytestmark = pytest.mark.once


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = tf.keras.layers.Dense(5)

    def call(self, x):
        return self.inner(x)


def dataset():
    inputs = tf.range(10.0)[:, None]
    labels = inputs * 5.0 + tf.range(5.0)[None, :]
    return tf.data.Dataset.from_tensor_slices({"x": inputs, "y": labels}).repeat().batch(2)


class Training:
    """A model with its optimizer and data, in a checkpoint."""

    def __init__(self, folder, **options):
        self.net, self.optimizer, self.iterator = Net(), tf.keras.optimizers.Adam(0.1), iter(dataset())
        parts = {"net": self.net, "optimizer": self.optimizer, "iterator": self.iterator}
        self.checkpoint = tf.train.Checkpoint(step=tf.Variable(1), **parts)
        self.manager = tf.train.CheckpointManager(self.checkpoint, str(folder), **{"max_to_keep": 3, **options})

    def run(self, steps):
        """Train; gives the losses."""
        losses = []
        for _ in range(steps):
            example = next(self.iterator)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.abs(self.net(example["x"]) - example["y"]))
            variables = self.net.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            self.checkpoint.step.assign_add(1)
            losses.append(float(loss))
        return losses


def test_training_goes_on_as_if_it_had_not_stopped(tmp_path):
    first = Training(tmp_path)
    first.run(7)
    path = first.manager.save()
    expected = first.run(5)
    again = Training(tmp_path)
    status = again.checkpoint.restore(path)
    assert again.run(5) == expected  # layers, slots and the iterator got their values when they were there
    status.assert_consumed()
    assert int(again.checkpoint.step) == 13 and int(again.checkpoint.save_counter) == 1


def test_a_manager_keeps_the_latest(tmp_path):
    training = Training(tmp_path, checkpoint_name="run")
    training.run(1)
    paths = [training.manager.save() for _ in range(5)]
    assert paths == [str(tmp_path / f"run-{number}") for number in range(1, 6)]
    assert training.manager.checkpoints == paths[2:]
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", *(f"run-{at}.safetensors" for at in (3, 4, 5))]
    assert tf.train.latest_checkpoint(str(tmp_path)) == paths[4]
    another = Training(tmp_path)
    assert another.manager.checkpoints == paths[2:]
    assert another.manager.restore_or_initialize() == paths[4]
    assert tf.train.latest_checkpoint(str(tmp_path / "none")) is None


def test_a_manager_saves_at_intervals(tmp_path):
    step = tf.Variable(0)
    checkpoint = tf.train.Checkpoint(step=step)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), None, step_counter=step, checkpoint_interval=2)
    saved = []
    for _ in range(5):
        saved.append(manager.save() is not None)
        step.assign_add(1)
    assert saved == [True, False, True, False, True]


def test_a_training_that_was_interrupted_goes_on(tmp_path):
    x, y = np.linspace(0, 1, 12, dtype="f")[:, None], np.linspace(1, 3, 12, dtype="f")[:, None]

    def model():
        found = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        found.compile(tf.keras.optimizers.Adam(0.1), "mse")
        return found

    class Stop(tf.keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 2:
                raise KeyboardInterrupt

    whole = model()
    whole.fit(x, y, epochs=5, shuffle=False, verbose=0)
    backup = tmp_path / "backup"
    with pytest.raises(KeyboardInterrupt):
        model().fit(
            x, y, epochs=5, shuffle=False, verbose=0, callbacks=[tf.keras.callbacks.BackupAndRestore(backup), Stop()]
        )
    again = model()
    history = again.fit(
        x, y, epochs=5, shuffle=False, verbose=0, callbacks=[tf.keras.callbacks.BackupAndRestore(backup)]
    )
    assert history.epoch == [2, 3, 4] and os.listdir(backup) == []
    assert all(map(np.array_equal, whole.get_weights(), again.get_weights()))


def test_variables_that_come_later_are_restored(tmp_path):
    training = Training(tmp_path)
    training.run(2)
    path = training.manager.save()
    bias = tf.Variable(tf.zeros([5]))
    layer = tf.train.Checkpoint(bias=bias)
    root = tf.train.Checkpoint(net=tf.train.Checkpoint(inner=layer))
    status = root.restore(path)
    status.assert_existing_objects_matched()
    assert np.array_equal(bias.numpy(), training.net.inner.bias.numpy())
    kernel = tf.Variable(tf.zeros([1, 5]))
    layer.kernel = kernel
    assert np.array_equal(kernel.numpy(), training.net.inner.kernel.numpy())
    with pytest.raises(AssertionError, match=r"no counterpart in Python: .*step/.ATTRIBUTES/VARIABLE_VALUE"):
        status.assert_consumed()
    layer.other = tf.Variable(1.0)
    with pytest.raises(AssertionError, match="not bound to checkpointed values"):
        status.assert_existing_objects_matched()
    status.expect_partial().assert_nontrivial_match()


def test_lists_and_dicts_are_restored(tmp_path):
    saved = tf.train.Checkpoint()
    saved.listed = [tf.Variable(1.0)]
    saved.listed.append(tf.Variable(2.0))
    saved.mapped = {"one": saved.listed[0], "two": saved.listed[1]}
    path = saved.save(str(tmp_path / "lists"))
    other, two, one = tf.train.Checkpoint(), tf.Variable(0.0), tf.Variable(0.0)
    other.mapped = {"two": two}
    other.restore(path)
    assert two.numpy() == 2.0
    other.listed = []
    other.listed.append(one)
    assert one.numpy() == 1.0 and repr(saved.listed).startswith("ListWrapper([<tf.Variable")


def test_the_contents_are_listed(tmp_path):
    training = Training(tmp_path)
    training.run(1)
    training.manager.save()
    names = dict(tf.train.list_variables(str(tmp_path)))
    key = "net/inner/kernel/.ATTRIBUTES/VARIABLE_VALUE"
    assert names[key] == [1, 5] and names["_CHECKPOINTABLE_OBJECT_GRAPH"] == []
    assert names["net/inner/kernel/.OPTIMIZER_SLOT/optimizer/mean/.ATTRIBUTES/VARIABLE_VALUE"] == [1, 5]
    reader = tf.train.load_checkpoint(str(tmp_path))
    assert reader.get_variable_to_dtype_map()[key] == tf.float32 and reader.has_tensor(key)
    assert np.array_equal(reader.get_tensor(key), training.net.inner.kernel.numpy())
    assert np.array_equal(tf.train.load_variable(str(tmp_path), key), training.net.inner.kernel.numpy())


def test_texts_and_numbers_of_all_types(tmp_path):
    values = [True, 3, 2.5, "text", ["a", "bcd", ""], np.float16(1.5), np.uint8([1, 2]), np.zeros((2, 0))]
    checkpoint = tf.train.Checkpoint(listed=[tf.Variable(each) for each in values])
    path = checkpoint.write(str(tmp_path / "types"))
    before = [each.numpy() for each in checkpoint.listed]
    for each in checkpoint.listed[:5]:
        each.assign(tf.zeros_like(each) if each.dtype != tf.string else tf.fill(each.shape, "other"))
    checkpoint.read(path).assert_consumed()
    assert all(np.array_equal(first, each.numpy()) for first, each in zip(before, checkpoint.listed))


def test_what_cannot_be_restored(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]))
    path = checkpoint.save(str(tmp_path / "one"))
    with pytest.raises(ValueError, match="incompatible tensor with shape"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(path)
    with pytest.raises(ValueError, match="dtype float32 for the variable"):
        tf.train.Checkpoint(v=tf.Variable(["a", "b"])).restore(path)
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files"):
        checkpoint.restore(str(tmp_path / "none"))
    with pytest.raises(AssertionError, match="No checkpoint specified"):
        checkpoint.restore(None).assert_consumed()
    (tmp_path / "checkpoint").write_text('{"model_checkpoint_path": "../x", "all_model_checkpoint_paths": []}')
    with pytest.raises(LoadError, match="names of other directories"):
        tf.train.latest_checkpoint(str(tmp_path))


def test_a_changed_file_is_read_or_refused(tmp_path):
    draw, refused = random.Random(3), 0
    checkpoint = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]), s=tf.Variable(["a", "bc"]), n=[tf.Variable(1)])
    path = checkpoint.write(str(tmp_path / "one"))
    file = tmp_path / "one.safetensors"
    original = file.read_bytes()
    for _ in range(300):
        data, at = bytearray(original), draw.randrange(len(original))
        if draw.random() < 0.6:
            data[at] = draw.randrange(256)
        else:
            del data[at : at + draw.randrange(1, 50)]
        file.write_bytes(data)
        try:
            checkpoint.read(path)
        except (LoadError, ValueError, tf.errors.NotFoundError) as error:
            refused += 1
            assert str(error)
    assert refused > 150
