"""`tf.summary` writes what TensorFlow's writes, when graphs run."""

from __future__ import annotations

import json

import numpy as np
import pytest

import autograph.compat.tensorflow as tf
from tests.events import events_in, values_in

from tensorboard.compat.proto.config_pb2 import RunMetadata  # isort: skip

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def defaults():
    """No test leaves a default to others."""
    yield
    tf.summary.trace_off()
    state = tf.summary._state
    state.writer, state.step, state.recorded = None, None, True


@pytest.fixture
def writer(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path), flush_millis=10_000, filename_suffix=".v2")
    yield writer
    writer.close()


def graphs_in(folder):
    """Name and nodes of each graph, the nodes with their inputs."""
    found = {}
    for event in events_in(folder):
        for value in event.summary.value:
            (text,) = value.tensor.string_val
            (function,) = RunMetadata.FromString(text).function_graphs
            found[value.tag] = {node.name: list(node.input) for node in function.pre_optimization_graph.node}
    return found


# Writing --------------------------------------------------------------------------------------------------------------


def test_scalars(writer, tmp_path):
    assert not tf.summary.scalar("loss", 1.0, 0)
    with writer.as_default():
        for step in range(2):
            assert tf.summary.scalar("loss", 0.5 * step, step=step)
        tf.summary.scalar("loss", tf.constant(2), step=tf.constant(7, tf.int64), description="of training")
        tf.summary.scalar("large", 1, step=2**40)
    assert values_in(tmp_path) == [("loss", 0, 0.0), ("loss", 1, 0.5), ("loss", 7, 2.0), ("large", 2**40, 1.0)]
    (file,) = tmp_path.iterdir()
    assert file.name.endswith(".v2")


def test_other_summaries(writer, tmp_path):
    with writer.as_default(step=3):
        tf.summary.histogram("h", tf.constant([0, 1, 1]), buckets=2)
        tf.summary.text("t", tf.constant("words"))
        tf.summary.image("i", tf.zeros([4, 2, 5, 3]), max_outputs=2)
        tf.summary.audio("a", tf.zeros([1, 10, 1]), sample_rate=8000)
    histogram, text, image, audio = values_in(tmp_path)
    assert histogram == ("h", 3, [[0.0, 0.5, 1.0], [0.5, 1.0, 2.0]])
    assert text == ("t", 3, b"words")
    assert image[2][:2] == [b"5", b"2"] and len(image[2]) == 4
    assert audio[2][0][:4] == b"RIFF"


@pytest.mark.parametrize("kind, pixel, shown", [("uint8", 200, 200), ("int32", 2**30, 128), ("float32", 0.5, 127)])
def test_pixels_of_each_type(writer, tmp_path, kind, pixel, shown):
    import io

    from PIL import Image

    with writer.as_default(step=0):
        tf.summary.image("i", tf.constant(pixel, kind, shape=[1, 1, 1, 1]))
    ((_, _, (_, _, picture)),) = values_in(tmp_path)
    assert np.asarray(Image.open(io.BytesIO(picture))).tolist() == [[shown]]


def test_names_have_the_scopes_around_them(writer, tmp_path):
    with writer.as_default(step=0), tf.name_scope("train"):
        tf.summary.scalar("loss", 1)
    assert values_in(tmp_path) == [("train/loss", 0, 1.0)]


def test_a_writer_that_writes_nothing():
    with tf.summary.create_noop_writer().as_default(step=0):
        assert not tf.summary.scalar("loss", 1.0)
        assert not tf.summary.should_record_summaries()
        tf.summary.flush()


# Steps and conditions -------------------------------------------------------------------------------------------------


def test_steps(writer, tmp_path):
    writer.set_as_default()
    with pytest.raises(ValueError, match="No step set"):
        tf.summary.scalar("x", 1)
    tf.summary.experimental.set_step(4)
    assert tf.summary.experimental.get_step() == 4
    tf.summary.scalar("x", 1)
    with writer.as_default(step=9):
        tf.summary.scalar("x", 2)
        tf.summary.scalar("x", 3, step=1)
    assert tf.summary.experimental.get_step() == 4
    tf.summary.flush(writer)
    assert values_in(tmp_path) == [("x", 4, 1.0), ("x", 9, 2.0), ("x", 1, 3.0)]


def test_conditions(writer, tmp_path):
    with writer.as_default(step=0):
        assert tf.summary.should_record_summaries()
        with tf.summary.record_if(False):
            assert not tf.summary.scalar("no", 1)
            assert not tf.summary.should_record_summaries()
        for number in range(3):
            with tf.summary.record_if(lambda number=number: tf.equal(number % 2, 0)):
                tf.summary.scalar("even", number)
    assert values_in(tmp_path) == [("even", 0, 0.0), ("even", 0, 2.0)]


# In graphs ------------------------------------------------------------------------------------------------------------


def test_graphs_write_at_each_run(writer, tmp_path):
    step = tf.Variable(0, dtype=tf.int64)
    traced = []

    @tf.function
    def train(x):
        traced.append(x)
        for _ in tf.range(3):
            step.assign_add(1)
            x = x * 0.5
            tf.summary.scalar("x", x)
            if x < 0.3:
                tf.summary.text("small", "yes", step=step)
            with tf.summary.record_if(tf.equal(step % 2, 0)):
                tf.summary.scalar("even", x)
        return x

    with writer.as_default(step=step):
        assert train(tf.constant(1.0)) == 0.125
        train(tf.constant(4.0))
    assert len(traced) == 1
    assert values_in(tmp_path) == [
        ("x", 1, 0.5), ("x", 2, 0.25), ("small", 2, b"yes"), ("even", 2, 0.25), ("x", 3, 0.125), ("small", 3, b"yes"),
        ("x", 4, 2.0), ("even", 4, 2.0), ("x", 5, 1.0), ("x", 6, 0.5), ("even", 6, 0.5),
    ]  # fmt: skip


def test_a_graph_keeps_the_writer_of_its_tracing(writer, tmp_path):
    @tf.function
    def log(x):
        tf.summary.scalar("x", x, step=0)
        return x

    with writer.as_default():
        log(tf.constant(1.0))
    log(tf.constant(2.0))
    writer.flush()
    assert values_in(tmp_path) == [("x", 0, 1.0), ("x", 0, 2.0)]


def test_gradients_do_not_write_again(writer, tmp_path):
    x = tf.Variable(3.0)

    @tf.function
    def square():
        y = x * x
        tf.summary.scalar("y", y, step=0)
        return y

    with writer.as_default(), tf.GradientTape() as tape:
        y = square()
    assert tape.gradient(y, x) == 6
    assert values_in(tmp_path) == [("y", 0, 9.0)]


# The page Graphs ------------------------------------------------------------------------------------------------------


class DemoModule(tf.Module):
    def __init__(self):
        super().__init__()
        with self.name_scope:
            self.x = tf.Variable(0.0)

    @tf.function
    def addprint(self, a):
        with self.name_scope:
            self.x.assign_add(a)
            while a < 3.0:
                with tf.name_scope("double"):
                    a = a * 2.0
            tf.print(self.x)
            return self.x * a


def test_modules_are_scopes(writer, tmp_path, capsys):
    tf.summary.trace_on(graph=True)
    DemoModule().addprint(tf.constant(1.0))
    with writer.as_default():
        tf.summary.trace_export("demo", step=0)
    assert graphs_in(tmp_path) == {
        "demo": {
            "a": [],
            "demo_module/Variable": [],
            "demo_module/ReadVariableOp": ["demo_module/Variable"],
            "demo_module/AddV2": ["demo_module/ReadVariableOp", "a"],
            "demo_module/AssignVariableOp": ["demo_module/Variable", "demo_module/AddV2"],
            "demo_module/while/a": ["a", "demo_module/while/body/double/Mul"],
            "demo_module/while/test/Less": ["demo_module/while/a"],
            "demo_module/while/test/continue": ["demo_module/while/test/Less"],
            "demo_module/while/body/double/Mul": ["demo_module/while/a"],
            "demo_module/ReadVariableOp_1": ["demo_module/Variable"],
            "demo_module/PrintV2": ["demo_module/ReadVariableOp_1"],
            "demo_module/ReadVariableOp_2": ["demo_module/Variable"],
            "demo_module/Mul": ["demo_module/ReadVariableOp_2", "demo_module/while/a"],
            "return": ["demo_module/Mul"],
        }
    }


def test_layers_are_scopes(writer, tmp_path):
    tf.keras.backend.clear_session()
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(2)])
    tf.summary.trace_on()
    tf.function(model)(tf.ones([5, 3]))
    with writer.as_default():
        tf.summary.trace_export("model", step=0)
    (nodes,) = graphs_in(tmp_path).values()
    assert nodes["sequential/dense/MatMul"][1] == "sequential/dense/ReadVariableOp"
    assert nodes["sequential/dense/ReadVariableOp"] == ["sequential/dense/kernel"]
    assert nodes["sequential/dense_1/MatMul"][0] == "sequential/dense/Maximum"


def test_several_graphs_and_the_graph_of_the_run(writer, tmp_path):
    @tf.function
    def f(x):
        return x + 1

    tf.summary.trace_on()
    f(tf.constant(1))
    f(tf.constant(1.0))
    with writer.as_default():
        tf.summary.trace_export("both", step=0)
        assert tf.summary.graph(f.get_concrete_function(tf.constant(1)).graph)
    (both, _) = events_in(tmp_path)
    (value,) = both.summary.value
    (function,) = RunMetadata.FromString(value.tensor.string_val[0]).function_graphs
    names = [node.name for node in function.pre_optimization_graph.node]
    assert names == ["x", "AddV2", "return", "f_1/x", "f_1/AddV2", "f_1/return"]


def test_run_times(writer, tmp_path, capsys):
    tf.summary.trace_on(graph=True, profiler=True)
    DemoModule().addprint(tf.constant(1.0))
    with writer.as_default():
        tf.summary.trace_export("demo", step=0, profiler_outdir=str(tmp_path))
    ((value,),) = (event.summary.value for event in events_in(tmp_path))
    assert value.metadata.plugin_data.plugin_name == "graph_run_metadata"
    found = RunMetadata.FromString(value.tensor.string_val[0])
    stats = {stats.node_name: stats.timeline_label for stats in found.step_stats.dev_stats[0].node_stats}
    assert stats["demo_module/while/body/double/Mul"] == "mul: 2 runs by NumPy"
    assert stats.keys() <= {node.name for node in found.function_graphs[0].pre_optimization_graph.node}
    (trace,) = (tmp_path / "plugins" / "profile").rglob("*.trace.json")
    assert "mul" in {event["name"] for event in json.loads(trace.read_text())["traceEvents"]}


def test_the_callback_of_keras(tmp_path):
    tf.keras.backend.clear_session()
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)], name="net")
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])
    x = np.linspace(-1, 1, 60, dtype="f4").reshape(20, 3)
    board = tf.keras.callbacks.TensorBoard(tmp_path, histogram_freq=1, update_freq=2, write_steps_per_second=True)
    history = model.fit(x, x[:, :1], epochs=2, batch_size=5, validation_split=0.5, callbacks=[board], verbose=0).history

    found = values_in(tmp_path / "train")
    losses = [value for name, _, value in found if name == "epoch_loss"]
    assert losses == pytest.approx(history["loss"])
    assert [step for name, step, _ in found if name == "batch_mae"] == [0, 2]
    assert {name for name, _, _ in found} >= {"epoch_mae", "epoch_learning_rate", "epoch_steps_per_second", "net"}
    assert len([name for name, _, _ in found if name.endswith("/histogram")]) == 8
    others = values_in(tmp_path / "validation")
    assert [value for name, _, value in others if name == "epoch_loss"] == pytest.approx(history["val_loss"])
    assert [step for name, step, _ in others if name == "evaluation_loss_vs_iterations"] == [2, 4]
    (text,) = (each.tensor.string_val[0] for event in events_in(tmp_path / "train") for each in event.summary.value
               if each.tag == "net")  # fmt: skip
    (function,) = RunMetadata.FromString(text).function_graphs
    names = {node.name for node in function.pre_optimization_graph.node}
    assert {"net/dense/MatMul", "net/dense_1/MatMul"} <= names


def test_what_is_missing_for_an_export(writer):
    with pytest.raises(ValueError, match="Must enable trace before export"):
        tf.summary.trace_export("graph", 0)
    tf.summary.trace_on()
    with pytest.raises(ValueError, match="No default writer"):
        tf.summary.trace_export("graph", 0)
    with writer.as_default(), pytest.raises(ValueError, match="No step set"):
        tf.summary.trace_export("graph")


def test_importing_tensorflows_spelling_does_not_import_tensorboard():
    import subprocess
    import sys

    text = "import sys, autograph.compat.tensorflow as tf; tf.summary.scalar('x', 1, 0); print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout.split()
    assert not [name for name in found if name.partition(".")[0] in ("tensorboard", "tensorflow")]
