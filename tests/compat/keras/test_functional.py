"""TensorFlow's spelling: Keras models as graphs of layers."""

import numpy as np
import pytest

import autograph.compat.tensorflow as tf

keras, layers = tf.keras, tf.keras.layers
ROWS = np.random.default_rng(0).standard_normal((32, 8)).astype(np.float32)


def two_outputs():
    inputs = keras.Input((8,), name="rows")
    hidden = layers.Dense(4, activation="relu", name="hidden")(inputs)
    classes = layers.Dense(3, activation="softmax", name="b")(hidden)
    return keras.Model(inputs, [layers.Dense(1, name="a")(hidden), classes])


def test_a_model_computes_what_its_layers_compute():
    model = two_outputs()
    a, b = model(ROWS)
    hidden = model.get_layer("hidden")(ROWS)
    assert np.array_equal(a, model.get_layer("a")(hidden))
    assert np.array_equal(b, model.get_layer("b")(hidden))
    assert model.output_names == ["a", "b"]
    assert [layer.name for layer in model.layers] == ["rows", "hidden", "b", "a"]
    assert model.get_layer("hidden").output.shape == (None, 4)
    assert model.count_params() == 8 * 4 + 4 + 4 + 1 + 4 * 3 + 3
    assert [part.shape for part in model.predict(ROWS, verbose=0)] == [(32, 1), (32, 3)]


def test_training_several_outputs():
    model = two_outputs()
    losses = {"a": "mse", "b": "sparse_categorical_crossentropy"}
    model.compile("sgd", losses, {"b": ["accuracy"]}, loss_weights={"a": 2.0, "b": 1.0})
    labels = {"a": ROWS[:, :1], "b": (ROWS[:, 0] > 0).astype(int)}
    history = model.fit(ROWS, labels, epochs=5, verbose=0).history
    assert set(history) == {"loss", "a_loss", "b_loss", "b_accuracy"}
    assert history["loss"][-1] < history["loss"][0]
    logs = model.evaluate(ROWS, [labels["a"], labels["b"]], verbose=0, return_dict=True)
    assert logs["loss"] == pytest.approx(2 * logs["a_loss"] + logs["b_loss"], rel=1e-5)
    with pytest.raises(ValueError, match="no output 'c'"):
        model.compile("sgd", {"c": "mse"})


def test_shared_layers_and_several_inputs():
    shared = layers.Dense(2, name="shared")
    one, two = keras.Input((4,), name="one"), keras.Input((4,), name="two")
    model = keras.Model([one, two], layers.concatenate([shared(one), shared(two)]))
    assert model.count_params() == 4 * 2 + 2
    x, y = ROWS[:, :4], ROWS[:, 4:]
    assert np.array_equal(model([x, y]), np.concatenate([shared(x), shared(y)], 1))
    assert np.array_equal(model.predict({"two": y, "one": x}, verbose=0), model([x, y]))
    with pytest.raises(ValueError, match="expects 2 input"):
        model(x)


def test_models_in_models_and_operators():
    inner = keras.Sequential([keras.Input((8,)), layers.Dense(8), layers.Dropout(0.5)], name="inner")
    inputs = keras.Input((8,))
    model = keras.Model(inputs, (inner(inputs) + 2 * inputs)[:, :3])
    assert np.allclose(model(ROWS), (inner(ROWS).numpy() + 2 * ROWS)[:, :3])
    assert not np.allclose(model(ROWS, training=True), model(ROWS))
    assert model.get_layer("inner") is inner


def test_layers_of_a_sequential_are_placeholders():
    model = keras.Sequential([keras.Input((6, 6, 1)), layers.Conv2D(2, 3), layers.Flatten()])
    features = keras.Model(model.inputs, [layer.output for layer in model.layers])
    images = np.ones((1, 6, 6, 1), np.float32)
    assert [tuple(each.shape) for each in features(images)] == [(1, 4, 4, 2), (1, 32)]


def test_layers_of_ones_own():
    class Scaled(layers.Layer):
        def build(self, input_shape):
            self.scale = self.add_weight("scale", (input_shape[-1],), initializer="ones")

        def call(self, x, flip=False):
            return {"sum": tf.reduce_sum(x * self.scale, -1), "flipped": -x if flip else x}

    inputs = keras.Input((8,))
    found = Scaled()(inputs, flip=True)
    assert found["sum"].shape == (None,)
    model = keras.Model(inputs, found)
    assert np.array_equal(model(ROWS)["flipped"], -ROWS)
    assert len(model.trainable_weights) == 1


def test_a_subclass_may_give_inputs_and_outputs():
    class Doubled(keras.Model):
        def __init__(self):
            inputs = keras.Input((8,))
            super().__init__(inputs=inputs, outputs=layers.Lambda(lambda x: 2 * x)(inputs))

    assert np.array_equal(Doubled()(ROWS), 2 * ROWS)


@pytest.mark.parametrize(
    ("use", "error", "text"),
    [
        (lambda: tf.reduce_sum(keras.Input((3,))), ValueError, "cannot be used as input to a TensorFlow function"),
        (lambda: bool(keras.Input((3,)) == 1 or keras.Input((3,))), TypeError, "no value"),
        (lambda: keras.Model(keras.Input((3,)), layers.ReLU()(keras.Input((3,)))), ValueError, "no input of the model"),
        (lambda: keras.Model(ROWS, ROWS), ValueError, "must be KerasTensors"),
        (lambda: two_outputs().get_layer("c"), ValueError, "No such layer: c"),
        (lambda: layers.Dense(2).output, AttributeError, "has never been called"),
        (lambda: two_outputs().fit(ROWS, ROWS), ValueError, "compile"),
    ],
)
def test_errors(use, error, text):
    with pytest.raises(error, match=text):
        use()
