"""TensorFlow's spelling: `tf.keras`."""

import re

import numpy as np
import pytest

import autograph.compat.tensorflow as tf
from autograph.compat.tensorflow.keras import layers, losses, metrics, optimizers

pytestmark = pytest.mark.once


@pytest.fixture
def data():
    tf.keras.backend.clear_session()
    tf.random.set_seed(0)
    x = np.random.default_rng(0).normal(size=(256, 4)).astype(np.float32)
    return x, (x.sum(1) > 0).astype(np.int64)


def test_a_model_is_fitted(data, capsys):
    x, y = data
    model = tf.keras.Sequential(
        [layers.Dense(16, activation="relu", input_shape=(4,)), layers.Dropout(0.1), layers.Dense(2)]
    )
    loss = losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=optimizers.Adam(0.02), loss=loss, metrics=["accuracy"])
    history = model.fit(x, y, epochs=4, validation_data=(x, y)).history
    shown = capsys.readouterr().out.splitlines()
    assert shown[::2] == ["Epoch 1/4", "Epoch 2/4", "Epoch 3/4", "Epoch 4/4"]
    line = r"8/8 \[={30}\] - \d+s \d+[mu]?s/step - loss: \S+ - accuracy: \S+ - val_loss: \S+ - val_accuracy: \S+"
    assert all(re.fullmatch(line, each) for each in shown[1::2]), shown
    assert sorted(history) == ["accuracy", "loss", "val_accuracy", "val_loss"]
    assert history["val_accuracy"][-1] > 0.95 > history["loss"][-1]
    assert model.evaluate(x, y, verbose=0) == pytest.approx([history["val_loss"][-1], history["val_accuracy"][-1]])
    assert model.predict(x[:40]).shape == (40, 2)


def test_a_loop_of_ones_own(data):
    x, y = data

    class Classifier(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = layers.Dense(8, activation="tanh")
            self.out = layers.Dense(1)

        def call(self, inputs):
            return self.out(self.hidden(inputs))

    model, optimizer, loss_of = Classifier(), optimizers.SGD(0.5, momentum=0.9), losses.BinaryCrossentropy(True)
    mean = metrics.Mean()

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        mean.update_state(loss)
        return loss

    found = [step(x, y[:, None]).numpy() for _ in range(30)]
    assert found[-1] < 0.2 < found[0]
    assert mean.result().numpy() == pytest.approx(np.mean(found))
    assert optimizer.iterations.numpy() == 30
    names = ["dense/kernel:0", "dense/bias:0", "dense_1/kernel:0", "dense_1/bias:0"]
    assert [variable.name for variable in model.trainable_variables] == names


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (losses.MeanSquaredError(), 2.5),
        (losses.MeanAbsoluteError(), 1.5),
        (losses.Huber(), 1.0),
        (losses.MeanSquaredError(reduction="sum"), 5.0),
    ],
    ids=["mse", "mae", "huber", "sum"],
)
def test_losses(loss, expected):
    assert loss([[0.0, 0.0], [1.0, 1.0]], [[1.0, 2.0], [3.0, 2.0]]).numpy() == expected


def test_cross_entropies_agree():
    logits = tf.constant([[1.0, 2.0, 0.5], [0.1, 0.2, 3.0]])
    sparse = losses.sparse_categorical_crossentropy([1, 2], logits, from_logits=True)
    dense = losses.categorical_crossentropy([[0, 1, 0], [0, 0, 1]], tf.nn.softmax(logits))
    assert np.allclose(sparse.numpy(), dense.numpy(), atol=1e-6)
    given = losses.binary_crossentropy([1.0, 0.0], [0.9, 0.2]).numpy()
    assert given == pytest.approx(-(np.log(0.9) + np.log(0.8)) / 2, rel=1e-5)


def test_metrics_are_means_since_they_were_reset():
    accuracy = metrics.SparseCategoricalAccuracy()
    accuracy.update_state([0, 1], [[0.9, 0.1], [0.8, 0.2]])
    assert accuracy.result().numpy() == 0.5
    accuracy.reset_state()
    assert accuracy([1], [[0.1, 0.9]]).numpy() == 1


@pytest.mark.parametrize("name", ["sgd", "adam", "adamw", "rmsprop"])
def test_optimizers_lower_a_loss(name):
    optimizer, x = optimizers.get(name), tf.Variable([3.0, -2.0])
    optimizer.learning_rate = 0.1
    for _ in range(60):
        optimizer.minimize(lambda: tf.reduce_sum(x * x), [x])
    assert np.abs(x.numpy()).max() < 0.5


def test_rates_that_change_and_gradients_that_are_clipped():
    rate = optimizers.schedules.ExponentialDecay(1.0, 1, 0.5)
    x = tf.Variable(10.0)
    optimizer = optimizers.SGD(rate, clipvalue=1.0)
    for _ in range(3):
        optimizer.apply_gradients([(tf.constant(7.0), x)])
    assert x.numpy() == 10 - 1 - 0.5 - 0.25
    with pytest.raises(ValueError, match="No gradients provided"):
        optimizer.apply_gradients([(None, x)])


def test_layers_and_their_shapes():
    model = tf.keras.Sequential([layers.Embedding(5, 4, input_shape=(3,)), layers.Flatten(), layers.Reshape((6, 2))])
    assert model(tf.constant([[0, 1, 4]])).shape == (1, 6, 2)
    assert [layer.output_shape for layer in model.layers] == [(None, 3, 4), (None, 12), (None, 6, 2)]


def test_layers_are_modules_among_others():
    class Both(tf.Module):
        def __init__(self):
            super().__init__()
            self.layer = layers.Dense(2)
            self.layer(tf.ones([1, 3]))
            self.mean = metrics.Mean()
            self.scale = tf.Variable(1.0, name="scale")

    tf.keras.backend.clear_session()
    both = Both()
    assert [isinstance(each, tf.Module) for each in (both.layer, both.mean, tf.keras.Sequential())] == [True] * 3
    assert [each.name for each in both.submodules] == ["dense", "mean"]
    names = ["dense/kernel:0", "dense/bias:0", "total:0", "count:0", "scale:0"]
    assert [each.name for each in both.variables] == names
    assert both.layer.submodules == () and both.layer.name_scope.name == "dense"
