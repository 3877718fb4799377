"""TensorFlow's spelling: what `fit` reports to callbacks, and what these do."""

import numpy as np
import pytest

import autograph.compat.tensorflow as tf

callbacks = tf.keras.callbacks
X = np.linspace(-1, 1, 20, dtype=np.float32)[:, None]
Y = 3 * X + 1


def line(rate=0.1):
    model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile(tf.keras.optimizers.SGD(rate), "mse")
    return model


def fitted(*given, epochs=3, model=None, **options):
    model = model or line()
    return model, model.fit(X, Y, epochs=epochs, verbose=0, shuffle=False, callbacks=list(given), **options)


def test_events_come_in_order():
    events = []

    class Recorder(callbacks.Callback):
        def __getattribute__(self, name):
            if name.startswith("on_") and not name.endswith("_batch_begin"):
                return lambda *args: events.append((name[3:], *args[:-1]))
            return super().__getattribute__(name)

    fitted(Recorder(), epochs=1, batch_size=10, validation_data=(X, Y), validation_batch_size=20)
    assert events == [
        ("train_begin",), ("epoch_begin", 0), ("train_batch_end", 0), ("train_batch_end", 1), ("test_begin",),
        ("test_batch_end", 0), ("test_end",), ("epoch_end", 0), ("train_end",),
    ]  # fmt: skip


def test_functions_as_callbacks():
    losses = []
    _, history = fitted(callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: losses.append(logs["loss"])))
    assert losses == history.history["loss"]
    assert history.epoch == [0, 1, 2]
    with pytest.raises(ValueError, match="no event on_lunch"):
        callbacks.LambdaCallback(on_lunch=print)


def test_stopping_early_and_going_back():
    stop = callbacks.EarlyStopping("loss", min_delta=0.1, patience=2, restore_best_weights=True)
    model, history = fitted(stop, epochs=100)
    losses = history.history["loss"]
    assert 5 < len(losses) < 40
    assert len(losses) == stop.best_epoch + 3
    assert losses[-1] < model.evaluate(X, Y, verbose=0) < losses[stop.best_epoch]
    growing = callbacks.EarlyStopping("accuracy")
    assert growing.improves(0.5, 0.4)


def test_values_that_are_not_there_are_reported(capsys):
    fitted(callbacks.EarlyStopping("val_loss"))
    assert "`val_loss`, which is not available. Available are: loss" in capsys.readouterr().out


def test_learning_rates():
    _, history = fitted(callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2))
    assert history.history["learning_rate"] == pytest.approx([0.05, 0.025, 0.0125])
    model, _ = fitted(callbacks.LearningRateScheduler(lambda epoch: 0.3))
    assert float(model.optimizer.learning_rate) == pytest.approx(0.3)
    plateau = callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, min_delta=100, cooldown=1, min_lr=0.03)
    model, history = fitted(plateau, epochs=6)
    assert history.history["learning_rate"] == pytest.approx([0.1, 0.1, 0.05, 0.03, 0.03, 0.03])


def test_losses_that_are_not_finite(capsys):
    model = line()
    big = np.float32(1e30)
    history = model.fit(X * big, Y * big, epochs=5, verbose=0, callbacks=callbacks.TerminateOnNaN())
    assert len(history.epoch) == 1
    assert "Invalid loss" in capsys.readouterr().out


def test_logs_in_a_file(tmp_path):
    path = tmp_path / "log.csv"
    _, history = fitted(callbacks.CSVLogger(path), epochs=2)
    _, more = fitted(callbacks.CSVLogger(path, append=True), epochs=1)
    header, *rows = [row.split(",") for row in path.read_text().splitlines()]
    assert header == ["epoch", "loss"]
    assert [float(row[1]) for row in rows] == history.history["loss"] + more.history["loss"]


def test_saving_the_best(tmp_path):
    saved = []
    model = line(0.3)
    model.save_weights = saved.append
    best = callbacks.ModelCheckpoint(
        tmp_path / "at{epoch}.weights.h5", "loss", save_best_only=True, save_weights_only=True,
        initial_value_threshold=2.0,
    )  # fmt: skip
    _, history = fitted(best, model=model, epochs=4)
    good = [number + 1 for number, loss in enumerate(history.history["loss"]) if loss < 2.0]
    assert 0 < len(good) < 4
    assert saved == [str(tmp_path / f"at{number}.weights.h5") for number in good]


def test_steps():
    """With `steps_per_epoch`, a dataset goes on in the next epoch."""
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(5).repeat()
    read = []
    noted = data.map(lambda x, y: (tf.py_function(lambda row: read.append(float(row[0, 0])) or row, [x], x.dtype), y))
    noted = noted.map(lambda x, y: (tf.ensure_shape(x, [None, 1]), y))
    line().fit(noted, epochs=2, steps_per_epoch=3, verbose=0)
    assert read == pytest.approx([float(X[at, 0]) for at in (0, 5, 10, 15, 0, 5)])
    assert line().predict(data, steps=3, verbose=0).shape == (15, 1)
    assert line().evaluate(data, steps=2, verbose=0) > 0


def test_weights_of_examples():
    zero = line()
    zero.fit(X, Y, sample_weight=np.zeros(20, np.float32), verbose=0)
    assert zero.get_weights()[0].tolist() == [[0.0]]
    both = [line(), line()]
    both[0].fit(X, X > 0, class_weight={False: 1.0, True: 0.0}, verbose=0, shuffle=False)
    both[1].fit(X, X > 0, sample_weight=(X[:, 0] <= 0).astype(np.float32), verbose=0, shuffle=False)
    assert np.array_equal(*(model.get_weights()[0] for model in both))
    with pytest.raises(ValueError, match="class_weight"):
        zero.fit(X, Y, sample_weight=np.ones(20), class_weight={0: 1.0})
