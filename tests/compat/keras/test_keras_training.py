"""TensorFlow's spelling: what `fit` and `evaluate` count, and models that are saved."""

import numpy as np
import pytest

import autograph.compat.tensorflow as tf
from autograph.compat.tensorflow.keras import layers, losses

pytestmark = pytest.mark.once

X = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
Y = (X.sum(1) > 0.5).astype(np.float32)


@pytest.fixture(autouse=True)
def _names_from_the_beginning():
    tf.keras.backend.clear_session()
    tf.random.set_seed(0)


def binary():
    model = tf.keras.Sequential([layers.Dense(3, activation="relu", input_shape=(4,)), layers.Dense(1, "sigmoid")])
    model.compile("adam", "binary_crossentropy", ["accuracy", "mae"])
    return model


@pytest.mark.parametrize("y", [Y, Y[:, None]], ids=["numbers", "column"])
def test_all_examples_count_the_same(y):
    """Also in a last batch that is smaller, and whether targets are numbers or rows of one."""
    model = binary()
    p = model.predict(X)[:, 0]
    expected = [-np.mean(Y * np.log(p) + (1 - Y) * np.log(1 - p)), np.mean((p > 0.5) == Y), np.mean(np.abs(p - Y))]
    assert np.allclose(model.evaluate(X, y, verbose=0), expected, atol=1e-5)
    data = tf.data.Dataset.from_tensor_slices((X, y)).batch(32)
    assert np.allclose(model.evaluate(data, verbose=0), expected, atol=1e-5)


@pytest.mark.parametrize("loss", ["sparse_categorical_crossentropy", losses.sparse_categorical_crossentropy])
def test_what_accuracy_is_is_told_by_shapes(loss):
    model = tf.keras.Sequential([layers.Dense(3, activation="softmax", input_shape=(4,))])
    classes = np.arange(50) % 3
    for given, y in ((loss, classes), ("categorical_crossentropy", tf.keras.utils.to_categorical(classes))):
        model.compile("sgd", given, ["accuracy"])
        found = model.evaluate(X, y, verbose=0)[1]
        assert found == pytest.approx(np.mean(model.predict(X).argmax(-1) == classes))


def test_examples_are_kept_for_validation(capsys):
    model = binary()
    history = model.fit(X, Y, epochs=2, validation_split=0.2, verbose=0).history
    assert capsys.readouterr().out == ""
    last = [history[f"val_{name}"][-1] for name in ("loss", "accuracy", "mae")]
    assert last == pytest.approx(model.evaluate(X[40:], Y[40:], verbose=0))
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(20)
    assert "val_loss" in model.fit(data, validation_data=data, verbose=0).history


def test_what_is_not_there_is_refused():
    with pytest.raises(TypeError, match="kernel_regularizer"):
        layers.Dense(2, kernel_regularizer="l2")


def test_an_input_is_no_layer(capsys):
    model = tf.keras.Sequential([tf.keras.Input(shape=(4,)), layers.Dense(2)])
    model.summary()
    assert "Total params: 10" in capsys.readouterr().out
    assert [layer.name for layer in model.layers] == ["dense"]


def test_metrics_are_no_layers(capsys):
    class Own(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.out = layers.Dense(1)

        def call(self, inputs):
            return self.out(inputs)

    model = Own()
    model.compile("sgd", "mse", ["mae"])
    model.fit(X, Y, verbose=0)
    assert [layer.name for layer in model.layers] == ["dense"] and model.count_params() == 5
    model.summary()
    assert "Non-trainable params: 0" in capsys.readouterr().out


def test_models_are_saved(tmp_path):
    model = binary()
    model.fit(X, Y, verbose=0)
    model.save(tmp_path / "model.keras")
    again = tf.keras.models.load_model(tmp_path / "model.keras")
    for each in (model, again):
        each.fit(X, Y, verbose=0, shuffle=False, epochs=2)
    assert (again.predict(X) == model.predict(X)).all()  # so what the optimizer remembers was saved, too
    assert again.optimizer.iterations.numpy() == model.optimizer.iterations.numpy() == 6


def test_weights_are_saved(tmp_path):
    model, other = binary(), binary()
    model.save_weights(tmp_path / "weights")
    other.load_weights(tmp_path / "weights")
    assert (other.predict(X) == model.predict(X)).all()
    with pytest.raises(ValueError, match="has 4 arrays, and the model sequential.* has 0 variables"):
        tf.keras.Sequential([layers.Dense(1)]).load_weights(tmp_path / "weights")
