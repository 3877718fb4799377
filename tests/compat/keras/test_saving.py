"""TensorFlow's spelling: models in files and directories, and configurations of layers."""

import json
import random
import zipfile

import numpy as np
import pytest

import autograph.compat.tensorflow as tf
from autograph.errors import LoadError

pytestmark = pytest.mark.once

layers, saving = tf.keras.layers, tf.keras.saving
rng = np.random.default_rng(3)
X, Y = rng.random((20, 4), np.float32), rng.integers(0, 3, 20)
FILES = ["config.json", "metadata.json", "model.weights.safetensors"]


def trained():
    start = tf.keras.initializers.RandomNormal(stddev=0.1, seed=4)
    first = layers.Dense(8, activation="relu", input_shape=(4,), kernel_initializer=start)
    model = tf.keras.Sequential([first, layers.Dropout(0.2), layers.BatchNormalization(), layers.Dense(3)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(0.01), loss, metrics=["accuracy"])
    model.fit(X, Y, epochs=2, verbose=0)
    return model


def states(model):
    """The variables of a model, and what its optimizer remembers of them."""
    slots = [slot for each in model.weights for slot in model.optimizer._slots.get(each._storage, ())]
    return [*model.get_weights(), *slots, model.optimizer.iterations.numpy(), model.optimizer.learning_rate.numpy()]


def same(first, second):
    return len(first) == len(second) and all(map(np.array_equal, first, second))


@pytest.mark.parametrize("name", ["model.keras", "directory"])
def test_a_model_is_saved_with_its_optimizer(name, tmp_path):
    model = trained()
    model.save(tmp_path / name)
    loaded = tf.keras.models.load_model(tmp_path / name)
    assert same(states(loaded), states(model)) and len(states(model)) > 20
    assert [type(each) for each in loaded.layers] == [type(each) for each in model.layers]
    assert (loaded.predict(X, verbose=0) == model.predict(X, verbose=0)).all()
    assert loaded.evaluate(X, Y, verbose=0) == model.evaluate(X, Y, verbose=0)
    assert loaded.layers[1].rate == 0.2 and loaded.layers[0].get_config()["activation"] == "relu"


def test_a_file_has_json_and_safetensors(tmp_path):
    trained().save(tmp_path / "model.keras")
    with zipfile.ZipFile(tmp_path / "model.keras") as archive:
        assert sorted(archive.namelist()) == FILES
        assert json.loads(archive.read("metadata.json")) == {"format": "autograph-keras", "version": 1}
        assert json.loads(archive.read("config.json"))["model"]["class_name"] == "Sequential"


def test_a_directory_serves_the_model(tmp_path):
    model = trained()
    model.export(tmp_path)
    loaded = tf.saved_model.load(str(tmp_path))
    assert np.allclose(loaded(X), model.predict(X, verbose=0), atol=1e-6)
    serving = loaded.signatures["serving_default"]
    assert np.allclose(serving(inputs=tf.constant(X))["output_0"], loaded.serve(X))


def test_weights_of_another_format_are_refused(tmp_path):
    model = trained()
    for save in (model.save, model.save_weights):
        with pytest.raises(ValueError, match="is the name of another format"):
            save(tmp_path / "model.weights.h5")
    with pytest.raises(ValueError, match="is the name of another format"):
        tf.keras.models.load_model(tmp_path / "model.h5")
    with pytest.raises(OSError, match="File not found"):
        tf.keras.models.load_model(tmp_path / "model.keras")
    model.save_weights(tmp_path / "model.weights.safetensors")
    with pytest.raises(FileExistsError):
        model.save_weights(tmp_path / "model.weights.safetensors", overwrite=False)
    other = tf.keras.Sequential([layers.Dense(3, input_shape=(4,))])
    with pytest.raises(ValueError, match="has 8 arrays, and the model sequential.* has 2 variables"):
        other.load_weights(tmp_path / "model.weights.safetensors")


class Scaled(layers.Layer):
    def __init__(self, factor, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def build(self, input_shape):
        self.scale = self.add_weight("scale", (input_shape[-1],), initializer="ones")

    def call(self, inputs):
        return inputs * self.scale * self.factor

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


def test_layers_of_the_users_need_their_class(tmp_path):
    model = tf.keras.Sequential([Scaled(3.0, name="mine")])
    expected = model(X)
    model.save(tmp_path / "model.keras")
    with pytest.raises(TypeError, match="Could not locate class 'Scaled'"):
        tf.keras.models.load_model(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras", custom_objects={"Scaled": Scaled})
    assert np.array_equal(loaded(X), expected) and loaded.layers[0].name == "mine"


@saving.register_keras_serializable("tests")
class Net(tf.keras.Model):
    def __init__(self, width=3, **kwargs):
        super().__init__(**kwargs)
        self.hidden, self.out = layers.Dense(width, "tanh"), layers.Dense(1)

    def call(self, inputs):
        return self.out(self.hidden(inputs))


def test_models_of_the_users_are_made_anew(tmp_path):
    model = Net(5)
    expected = model(X)
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    assert type(loaded) is Net and np.array_equal(loaded(X), expected)


def test_a_model_of_inputs_and_outputs_is_saved(tmp_path):
    first, second = tf.keras.Input((4,), name="first"), tf.keras.Input((2,), name="second")
    shared = layers.Dense(3, activation="tanh")
    joined = layers.Concatenate()([shared(first), shared(layers.Dense(4)(second))])
    model = tf.keras.Model([first, second], {"sum": layers.Dense(1)(joined), "joined": joined})
    inputs = [X, X[:, :2]]
    expected = model(inputs)
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    assert same(loaded.get_weights(), model.get_weights()) and loaded.input_names == ["first", "second"]
    assert all(np.array_equal(loaded(inputs)[name], each) for name, each in expected.items())
    model.export(tmp_path / "served")
    serving = tf.saved_model.load(str(tmp_path / "served")).signatures["serving_default"]
    answer = serving(first=tf.constant(X), second=tf.constant(X[:, :2]))
    assert np.allclose(answer["sum"], expected["sum"], atol=1e-6)


def test_configurations_make_layers():
    layer = layers.Dense(3, activation="relu", name="first", use_bias=False)
    config = layer.get_config()
    assert config == {**config, "units": 3, "activation": "relu", "name": "first", "use_bias": False}
    again = layers.Dense.from_config(config)
    assert (again.units, again.name, again.use_bias) == (3, "first", False)
    schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)
    record = saving.serialize_keras_object(tf.keras.optimizers.SGD(schedule, momentum=0.5))
    optimizer = saving.deserialize_keras_object(json.loads(json.dumps(record)))
    assert optimizer._schedule(10).numpy() == schedule(10).numpy() and optimizer.get_config()["momentum"] == 0.5


def test_files_that_run_something_are_refused(tmp_path):
    path = tmp_path / "model.keras"
    for record in ({"class_name": "system", "module": "os", "config": {}}, {"class_name": "Popen", "config": {}}):
        write(path, {"model": record, "input_shape": None, "compile": None})
        with pytest.raises(TypeError, match="Could not locate class"):
            tf.keras.models.load_model(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in FILES:
            archive.writestr(name, b" " * 10_000_000)
    with pytest.raises(LoadError, match="compressed"):
        tf.keras.models.load_model(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../model.weights.safetensors", b"")
    with pytest.raises(LoadError, match="other contents"):
        tf.keras.models.load_model(path)


def write(path, described):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", json.dumps({"format": "autograph-keras", "version": 1}))
        archive.writestr("config.json", json.dumps(described))
        archive.writestr("model.weights.safetensors", b"\x02\0\0\0\0\0\0\0{}")


def test_a_changed_file_is_loaded_or_refused(tmp_path):
    path, draw = tmp_path / "model.keras", random.Random(5)
    trained().save(path)
    original, refused = path.read_bytes(), 0
    for _ in range(300):
        data, at = bytearray(original), draw.randrange(len(original))
        if draw.random() < 0.5:
            data[at] = draw.randrange(256)
        else:
            del data[at : at + draw.randrange(1, 100)]
        path.write_bytes(data)
        try:
            tf.keras.models.load_model(path)
        except (LoadError, TypeError, ValueError) as error:
            refused += 1
            assert str(error)
    assert refused > 250
