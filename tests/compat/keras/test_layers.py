"""TensorFlow's spelling: layers for images and sequences, and those that normalize."""

import numpy as np
import pytest

import autograph.compat.tensorflow as tf

pytestmark = pytest.mark.once
both = pytest.mark.parametrize("wrap", [lambda function: function, tf.function], ids=["eager", "graph"])
layers = tf.keras.layers


def numbers(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, kernel, recurrent, bias):
    h = c = np.zeros((len(x), len(recurrent)), np.float32)
    found = []
    for item in np.moveaxis(x, 1, 0):
        i, f, g, o = np.split(item @ kernel + h @ recurrent + bias, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        found.append(h)
    return np.stack(found, 1), c


def gru(x, kernel, recurrent, bias):
    h = np.zeros((len(x), len(recurrent)), np.float32)
    for item in np.moveaxis(x, 1, 0):
        z, r, n = np.split(item @ kernel + bias[0], 3, 1)
        old_z, old_r, old_n = np.split(h @ recurrent + bias[1], 3, 1)
        z, r = sigmoid(z + old_z), sigmoid(r + old_r)
        h = z * h + (1 - z) * np.tanh(n + r * old_n)
    return h


@both
def test_recurrent_layers(wrap):
    x = numbers(2, 5, 3)
    layer = layers.LSTM(4, return_sequences=True, return_state=True)
    found, hidden, cell = wrap(lambda x: layer(x))(tf.constant(x))
    outputs, last = lstm(x, *layer.get_weights())
    assert np.allclose(found, outputs, atol=1e-6)
    assert np.allclose(hidden, outputs[:, -1], atol=1e-6) and np.allclose(cell, last, atol=1e-6)
    assert layer.bias.numpy().tolist() == [0] * 4 + [1] * 4 + [0] * 8
    layer = layers.GRU(4)
    assert np.allclose(wrap(lambda x: layer(x))(tf.constant(x)), gru(x, *layer.get_weights()), atol=1e-6)
    layer = layers.SimpleRNN(4, go_backwards=True, activation=None, use_bias=False)
    kernel, recurrent = wrap(lambda x: layer(x))(tf.constant(x[:, -1:])) is not None and layer.get_weights()
    assert np.allclose(wrap(lambda x: layer(x))(tf.constant(x[:, :2])), x[:, 1] @ kernel @ recurrent + x[:, 0] @ kernel)
    state = layer(x[:, 3:], initial_state=tf.ones([2, 4]))
    first = np.ones((2, 4)) @ recurrent + x[:, 4] @ kernel
    assert np.allclose(state, first @ recurrent + x[:, 3] @ kernel, atol=1e-5)


@both
def test_gradients_of_recurrent_layers(wrap):
    layer, x = layers.LSTM(3), tf.constant(numbers(2, 4, 2))

    @wrap
    def gradients():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(layer(x) ** 2)
        return tape.gradient(y, layer.trainable_variables)

    layer(x)
    for variable, found in zip(layer.trainable_variables, gradients()):
        value = variable.numpy()
        at = (0,) * value.ndim
        slopes = []
        for shift in (1e-2, -1e-2):
            moved = value.copy()
            moved[at] += shift
            variable.assign(moved)
            slopes.append(float(tf.reduce_sum(layer(x) ** 2)))
        variable.assign(value)
        assert abs((slopes[0] - slopes[1]) / 2e-2 - found[at]) < 1e-3


@both
def test_normalization(wrap):
    x = numbers(8, 3) * 4 + 1
    layer = layers.BatchNormalization(momentum=0.9)
    trained = wrap(lambda x: layer(x, training=True))(tf.constant(x))
    mean, variance = x.mean(0), x.var(0)
    assert np.allclose(trained, (x - mean) / np.sqrt(variance + 1e-3), atol=1e-5)
    assert np.allclose(layer.moving_mean.numpy(), 0.1 * mean, atol=1e-6)
    assert np.allclose(layer.moving_variance.numpy(), 0.9 + 0.1 * variance, atol=1e-5)
    told = wrap(lambda x: layer(x))(tf.constant(x))
    assert np.allclose(told, (x - 0.1 * mean) / np.sqrt(0.9 + 0.1 * variance + 1e-3), atol=1e-5)
    assert [len(each) for each in (layer.trainable_weights, layer.non_trainable_weights)] == [2, 2]
    layer = layers.LayerNormalization()
    found = wrap(lambda x: layer(x))(tf.constant(x))
    assert np.allclose(found, (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-3), atol=1e-5)


def test_shapes_of_images(capsys):
    model = tf.keras.Sequential([
        layers.Conv2D(4, 3, activation="relu", padding="same", input_shape=(9, 9, 2), name="conv"),
        layers.MaxPooling2D(2, name="pool"),
        layers.Conv2D(3, (2, 1), strides=2, name="again"),
        layers.ZeroPadding2D(1, name="pad"),
        layers.AveragePooling2D(3, 1, "same", name="mean"),
        layers.GlobalAveragePooling2D(name="all"),
        layers.Dense(2, name="dense"),
    ])  # fmt: skip
    model.summary()
    shapes = [layer.output_shape for layer in model.layers]
    assert shapes == [
        (None, 9, 9, 4), (None, 4, 4, 4), (None, 2, 2, 3), (None, 4, 4, 3), (None, 4, 4, 3), (None, 3), (None, 2)
    ]  # fmt: skip
    assert "conv (Conv2D)                (None, 9, 9, 4)           76" in capsys.readouterr().out
    x = numbers(2, 9, 9, 2)
    for layer, shape in zip(model.layers, shapes):
        x = layer(x)
        assert x.shape[1:] == shape[1:]


def test_sequences_and_their_shapes():
    model = tf.keras.Sequential([
        layers.Embedding(10, 4, input_shape=(6,)),
        layers.Conv1D(5, 3, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.LSTM(3, return_sequences=True),
        layers.GlobalMaxPooling1D(),
    ])  # fmt: skip
    shapes = [(None, 6, 4), (None, 6, 5), (None, 3, 5), (None, 3, 3), (None, 3)]
    assert [layer.output_shape for layer in model.layers] == shapes
    assert model(np.zeros((2, 6), np.int32)).shape == (2, 3)


def test_a_model_for_images_is_fitted():
    tf.random.set_seed(0)
    x = np.zeros((64, 6, 6, 1), np.float32)
    y = np.arange(64) % 2
    x[y == 0, 2] = 1  # a row or a column
    x[y == 1, :, 3] = 1
    x += numbers(*x.shape) * 0.2
    model = tf.keras.Sequential([
        layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.MaxPooling2D(),
        layers.Flatten(), layers.Dropout(0.1), layers.Dense(2),
    ])  # fmt: skip
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(0.02), loss, metrics=["accuracy"])
    model.fit(x, y, epochs=8, batch_size=16, verbose=0)
    assert model.evaluate(x, y, verbose=0)[1] > 0.95
