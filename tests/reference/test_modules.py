"""Reference document 002, on AutoGraph's rules and `tf.Module`: each of its programs, with `tf` from this library."""

import datetime
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import autograph.compat.tensorflow as tf
from autograph.compat.tensorflow.keras import layers, losses, metrics, models
from tests.board import tensorboard

pytestmark = pytest.mark.once


def test_numpy_is_run_by_tracing_and_tensorflow_by_each_call(capsys):
    @tf.function
    def np_random():
        a = np.random.randn(3, 3)
        tf.print(a)

    @tf.function
    def tf_random():
        a = tf.random.normal((3, 3))
        tf.print(a)

    def shown(function):
        function()
        return capsys.readouterr().err

    first = shown(np_random)
    assert first.count("\n") == 3 and shown(np_random) == first
    first = shown(tf_random)
    assert first.count("\n") == 3 and shown(tf_random) != first


def test_a_variable_is_made_outside(capsys):
    x = tf.Variable(1.0, dtype=tf.float32)

    @tf.function
    def outer_var():
        x.assign_add(1.0)
        tf.print(x)
        return x

    outer_var()
    outer_var()
    assert capsys.readouterr().err == "2\n3\n"

    @tf.function
    def inner_var():
        x = tf.Variable(1.0, dtype=tf.float32)
        x.assign_add(1.0)
        tf.print(x)
        return x

    with pytest.raises(ValueError, match="singleton tf.Variables created on the first call"):
        inner_var()


def test_lists_outside_are_changed_by_tracing_only():
    tensor_list = []

    @tf.function
    def append_tensor(x):
        tensor_list.append(x)
        return tensor_list

    append_tensor(tf.constant(5.0))
    append_tensor(tf.constant(6.0))
    assert len(tensor_list) == 1
    assert str(tensor_list[0]) == 'Tensor("x:0", shape=(), dtype=float32)'


def test_a_function_with_a_signature(capsys):
    x = tf.Variable(1.0, dtype=tf.float32)

    @tf.function(input_signature=[tf.TensorSpec(shape=[], dtype=tf.float32)])
    def add_print(a):
        x.assign_add(a)
        tf.print(x)
        return x

    assert str(add_print(tf.constant(3.0))) == "tf.Tensor(4.0, shape=(), dtype=float32)"
    with pytest.raises(TypeError):
        add_print(tf.constant(3))
    assert capsys.readouterr().err == "4\n"


class DemoModule(tf.Module):
    def __init__(self, init_value=tf.constant(0.0), name=None):  # noqa: B008  (as documented)
        super().__init__(name=name)
        with self.name_scope:
            self.x = tf.Variable(init_value, dtype=tf.float32, trainable=True)

    @tf.function(input_signature=[tf.TensorSpec(shape=[], dtype=tf.float32)])
    def addprint(self, a):
        with self.name_scope:
            self.x.assign_add(a)
            tf.print(self.x)
            return self.x


def test_a_module_of_ones_own(capsys):
    demo = DemoModule(init_value=tf.constant(1.0))
    result = demo.addprint(tf.constant(5.0))
    assert result.numpy() == 6 and capsys.readouterr().err == "6\n"
    print(demo.variables)
    print(demo.trainable_variables)
    assert capsys.readouterr().out == (
        "(<tf.Variable 'demo_module/Variable:0' shape=() dtype=float32, numpy=6.0>,)\n" * 2
    )
    assert demo.submodules == ()


def test_a_module_is_saved_and_loaded(tmp_path, capsys):
    demo = DemoModule(init_value=tf.constant(1.0))
    demo.addprint(tf.constant(5.0))
    tf.saved_model.save(demo, str(tmp_path / "1"), signatures={"serving_default": demo.addprint})
    demo2 = tf.saved_model.load(str(tmp_path / "1"))
    assert demo2.addprint(tf.constant(5.0)).numpy() == 11
    assert demo.x.numpy() == 6
    assert capsys.readouterr().err == "6\n11\n"


def test_a_graph_is_shown_by_tensorboard(tmp_path, capsys):
    """TensorBoard reads the graph, in which the nodes of the module are in its scope."""
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    logdir = str(tmp_path / "data" / "demomodule" / stamp)
    writer = tf.summary.create_file_writer(logdir)
    tf.summary.trace_on(graph=True, profiler=True)
    demo = DemoModule(init_value=tf.constant(0.0))
    demo.addprint(tf.constant(5.0))
    with writer.as_default():
        tf.summary.trace_export(name="demomodule", step=0, profiler_outdir=logdir)
    with tensorboard(tmp_path / "data" / "demomodule") as board:
        text = board.get("plugin/graphs/graph", run=stamp, tag="demomodule")
    names = re.findall(r'^  name: "(.*)"', text, re.MULTILINE)
    assert {"a", "demo_module/Variable", "demo_module/AssignVariableOp", "demo_module/PrintV2"} <= set(names)


NOTEBOOK = """
import os, signal
from tensorboard import manager, notebook
notebook.list()
notebook.start("--logdir ./data/demomodule/")
for board in manager.get_all():
    if board.logdir == "./data/demomodule/" and board.pid > 0:
        print(board.version)
        os.kill(board.pid, signal.SIGTERM)
"""


def test_a_notebook_starts_tensorboard(tmp_path):
    """Outside of a notebook, it says where the page is."""
    (tmp_path / "data" / "demomodule").mkdir(parents=True)
    environment = os.environ | {
        "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]), "TMPDIR": str(tmp_path)
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", NOTEBOOK], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert re.search(r"Please visit http://localhost:\d+ in a web browser\.", done.stdout), done.stdout


def test_a_module_is_given_attributes(capsys):
    mymodule = tf.Module()
    mymodule.x = tf.Variable(0.0)

    @tf.function(input_signature=[tf.TensorSpec(shape=[], dtype=tf.float32)])
    def addprint(a):
        mymodule.x.assign_add(a)
        tf.print(mymodule.x)
        return mymodule.x

    mymodule.addprint = addprint
    assert mymodule.addprint(tf.constant(1.0)).numpy() == 1
    assert [variable.numpy() for variable in mymodule.variables] == [1]
    assert capsys.readouterr().err == "1\n"


SUMMARY = """Model: "sequential"
_________________________________________________________________
Layer (type)                 Output Shape              Param #
=================================================================
dense (Dense)                (None, 4)                 44
_________________________________________________________________
dense_1 (Dense)              (None, 2)                 10
_________________________________________________________________
dense_2 (Dense)              (None, 1)                 3
=================================================================
Total params: 57
Trainable params: 57
Non-trainable params: 0
_________________________________________________________________
"""


def test_a_model_of_layers(capsys):
    """The document's table has lost its columns; TensorFlow's, of that time, ends its lines with spaces."""
    assert losses.MeanSquaredError and metrics.MeanSquaredError
    tf.keras.backend.clear_session()
    model = models.Sequential()
    model.add(layers.Dense(4, input_shape=(10,)))
    model.add(layers.Dense(2))
    model.add(layers.Dense(1))
    model.summary()
    shown = capsys.readouterr().out
    assert "".join(f"{line.rstrip()}\n" for line in shown.splitlines()) == SUMMARY

    assert [variable.name for variable in model.variables] == [
        "dense/kernel:0", "dense/bias:0", "dense_1/kernel:0", "dense_1/bias:0", "dense_2/kernel:0", "dense_2/bias:0"
    ]  # fmt: skip
    assert len(model.trainable_variables) == 6
    model.layers[0].trainable = False
    assert [variable.name for variable in model.trainable_variables] == [
        "dense_1/kernel:0", "dense_1/bias:0", "dense_2/kernel:0", "dense_2/bias:0"
    ]  # fmt: skip
    assert set(model.layers) <= set(model.submodules)
    assert [layer.name for layer in model.layers] == ["dense", "dense_1", "dense_2"]
    assert model.name == "sequential"
