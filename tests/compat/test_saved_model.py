"""TensorFlow's spelling: what has been saved is loaded where the code it came from is not; and graphs as text."""

import re
import subprocess
import sys

import pytest

import autograph.compat.tensorflow as tf

pytestmark = pytest.mark.once

LOADING = """
import sys
import autograph.compat.tensorflow as tf
model = tf.saved_model.load(sys.argv[1])
print(model.step(tf.constant([1.0, 2.0]), 2).numpy(), model.inner.scale.numpy(), len(model.variables))
print(model.step(tf.constant([1.0, 2.0]), 2).numpy())
try:
    model.step(tf.constant([1.0, 2.0]), 3)
except ValueError as error:
    print(str(error).partition(":")[0])
"""


class Inner(tf.Module):
    def __init__(self):
        super().__init__()
        self.scale = tf.Variable(3.0)


class Outer(tf.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.calls = tf.Variable(0)

    @tf.function
    def step(self, x, n):
        self.calls.assign_add(1)
        tf.print("call", self.calls)
        for _ in tf.range(n):
            x = x * self.inner.scale
        if tf.reduce_sum(x) > 10.0:
            x = -x
        return x


def test_it_runs_without_its_code(tmp_path):
    model = Outer()
    model.step(tf.constant([1.0, 2.0]), 2)
    tf.saved_model.save(model, str(tmp_path))
    done = subprocess.run([sys.executable, "-c", LOADING, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "[ -9. -18.] 3.0 2",
        "[ -9. -18.]",
        "Could not find a matching concrete function to call",
    ]
    assert done.stderr == "call 2\ncall 3\n"


def test_a_module_without_the_constructor_of_its_base(tmp_path):
    class Plain(tf.Module):
        def __init__(self, value):
            self.weight = tf.Variable(value)

        @tf.function
        def multiply(self, x):
            return x * self.weight

    module = Plain(3)
    module.multiply(tf.constant([1, 2]))
    tf.saved_model.save(module, str(tmp_path))
    assert tf.saved_model.load(str(tmp_path)).multiply(tf.constant([4, 5])).numpy().tolist() == [12, 15]


def test_there_is_nothing_to_load(tmp_path):
    with pytest.raises(OSError, match="SavedModel file does not exist"):
        tf.saved_model.load(str(tmp_path))


def test_graphs_with_loops_are_written_down():
    @tf.function
    def f(x, n):
        for _ in tf.range(n):
            x = tf.matmul(x, x) + 1.0
        while tf.reduce_sum(x) < 5.0:
            x = tf.exp(x)
        return tf.reduce_mean(x, axis=0)

    written = f.get_concrete_function(tf.ones([2, 2]), tf.constant(3)).graph.as_graph_def()
    assert written.names == ["x", "n", "Range/x", "Range/z", "Range", "for", "while", "Mean", "Identity"]
    assert str(written).count("  function {") == 3


def test_functions_in_graphs_use_nothing_but_their_own():
    @tf.function
    def f(x, n):
        y = x * 2.0
        for i in tf.range(n):
            y = y + tf.cast(i, tf.float32)
            if tf.reduce_sum(y) > 10.0:
                y = y - x
        if n > 2:
            return y / x
        return x

    text = str(f.get_concrete_function(tf.ones([2]), tf.constant(3)).graph.as_graph_def())
    functions = text.partition("library {")[2].split("  function {")[1:]
    assert [re.search('name: "(.*)"', each)[1] for each in functions] == [
        "cond_false_5", "cond_true_4", "for_body_1", "for_cond_false_3", "for_cond_true_2"
    ]  # fmt: skip
    for each in functions:
        names = set(re.findall('name: "(.*)"', each))
        assert {name.partition(":")[0] for name in re.findall('input: "(.*)"', each)} <= names
        assert {name.partition(":")[0] for name in re.findall('value: "(.*)"', each)} <= names
    assert "Tcond" in text and text.count("_lower_using_switch_merge") == 2
