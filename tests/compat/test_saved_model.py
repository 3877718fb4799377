"""TensorFlow's spelling: what has been saved is loaded where the code it came from is not; and graphs as text."""

import json
import random
import re
import subprocess
import sys

import pytest

import autograph as ag
import autograph.compat.tensorflow as tf
from autograph.errors import LoadError, SaveError
from autograph.saving.contents import contents_of
from autograph.saving.directory import checksum

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
        "Could not find matching concrete function to call loaded from the SavedModel. Got",
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


def round_trip(module, folder, **options):
    tf.saved_model.save(module, str(folder), **options)
    return tf.saved_model.load(str(folder))


def values(structure):
    """A structure of tensors with lists and bytes in their places."""
    arrays = tf.nest.map_structure(lambda each: each.numpy() if hasattr(each, "numpy") else each, structure)
    return tf.nest.map_structure(lambda each: each.tolist() if hasattr(each, "tolist") else each, arrays)


def doubled_until(x, n):
    for i in tf.range(n):
        x = x * 2.0
        tf.print("step", i, x)
        if tf.reduce_sum(x) > 100.0:
            break
    return x


def stacked(x):
    rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for i in tf.range(3):
        rows = rows.write(i, x * tf.cast(i, tf.float32))
    return rows.stack()


def of_texts(text, number):
    parts = {"joined": tf.strings.join([text, "!"], "-"), "upper": tf.strings.upper(text)}
    parts |= {"replaced": tf.strings.regex_replace(text, "a", "b"), "length": tf.strings.length(text)}
    return {**parts, "split": tf.strings.split(text, " "), "shown": tf.as_string(number, precision=2)}


def in_structure(x, flag):
    return [x, (x + 1 if flag else x, {"key": x * 2, "none": None})]


def branched(x):
    while x < 100:
        x = x * 3 if x % 2 == 0 else x + 7
    return x // 2


CASES = [
    (doubled_until, (tf.constant([1.0, 2.0]), tf.constant(5))),
    (stacked, (tf.constant([1.0, 2.0]),)),
    (of_texts, (tf.constant("a bc"), tf.constant(3.5))),
    (in_structure, (tf.constant(1), True)),
    (branched, (tf.constant(4),)),
]


@pytest.mark.parametrize(("function", "args"), CASES, ids=[function.__name__ for function, _ in CASES])
def test_it_gives_and_prints_the_same(function, args, tmp_path, capfd):
    module = tf.Module()
    module.run = tf.function(function)
    expected = values(module.run(*args))
    printed = capfd.readouterr()
    loaded = round_trip(module, tmp_path / "first")
    assert values(loaded.run(*args)) == expected
    assert capfd.readouterr() == printed
    assert values(round_trip(loaded, tmp_path / "second").run(*args)) == expected


class Counter(tf.Module):
    def __init__(self):
        super().__init__()
        self.total = tf.Variable(1.0, name="total")
        self.fixed = tf.Variable([1, 2], trainable=False)
        self.text = tf.Variable("hi")
        self.parts = [tf.Module(), {"again": self.total}]

    @tf.function
    def increase(self, n):
        for _ in tf.range(n):
            self.total.assign_add(1.0)
        return self.total

    @tf.function
    def put(self, x):
        self.total.assign(x)

    @tf.function
    def scaled(self, x):
        return x * self.total


def counter():
    module = Counter()
    module.increase(tf.constant(2))
    module.put(tf.constant(5.0))
    module.scaled(tf.constant(1.0))
    return module


def test_variables_keep_names_types_and_identity(tmp_path):
    module = counter()
    loaded = round_trip(module, tmp_path)
    assert [each.name for each in loaded.variables] == [each.name for each in module.variables]
    assert [each.name for each in loaded.non_trainable_variables] == ["Variable:0"] and not loaded.fixed.trainable
    assert [each.dtype for each in loaded.variables] == [each.dtype for each in module.variables]
    assert loaded.parts[1]["again"] is loaded.total and loaded.text.numpy() == b"hi"
    assert loaded.increase(tf.constant(3)).numpy() == 8.0 == loaded.total.numpy()
    loaded.put(tf.constant(2.5))
    assert loaded.scaled(tf.constant(2.0)).numpy() == 5.0


def test_loaded_functions_are_trained_further(tmp_path):
    loaded = round_trip(counter(), tmp_path)
    with tf.GradientTape() as tape:
        loss = loaded.scaled(tf.constant(3.0)) ** 2
    assert tape.gradient(loss, loaded.total).numpy() == 90.0
    optimizer = tf.keras.optimizers.SGD(0.05)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = (loaded.scaled(x) - 4.0) ** 2
        optimizer.apply_gradients([(tape.gradient(loss, loaded.total), loaded.total)])
        return loss

    losses = [step(tf.constant(2.0)).numpy() for _ in range(5)]
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.1 * losses[0]


def test_random_numbers_have_gradients(tmp_path):
    module = tf.Module()
    module.noisy = tf.function(lambda x: x * tf.random.normal([3]) + tf.random.uniform([3]))
    module.noisy(tf.ones([3]))
    loaded = round_trip(module, tmp_path)
    x = tf.zeros([3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loaded.noisy(x)
    assert (tape.gradient(y, x).numpy() != 0).all() and ((y.numpy() >= 0) & (y.numpy() < 1)).all()
    assert not (loaded.noisy(x).numpy() == y.numpy()).any()


class Named(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="xs"), tf.TensorSpec([], tf.int32)])
    def pair(self, x, n):
        return {"doubled": x * 2.0, "n": n}


def test_a_signature_has_named_arguments_and_results(tmp_path):
    loaded = round_trip(Named(), tmp_path)
    assert list(loaded.signatures) == ["serving_default"]
    signature = loaded.signatures["serving_default"]
    specs = {"xs": tf.TensorSpec([None], tf.float32, "xs"), "n": tf.TensorSpec([], tf.int32, "n")}
    assert signature.structured_input_signature == ((), specs)
    assert {name: spec.name for name, spec in signature.structured_outputs.items()} == {"doubled": "doubled", "n": "n"}
    assert values(signature(xs=tf.constant([1.0]), n=tf.constant(2))) == {"doubled": [2.0], "n": 2}


def test_the_contents_are_shown(tmp_path):
    """What `saved_model_cli show --all` shows of TensorFlow's own format; `autograph inspect` prints it."""
    module = counter()
    module.part = Named()
    tf.saved_model.save(module, str(tmp_path), signatures={"pair": module.part.pair})
    found = contents_of(tmp_path)
    assert [each.path for each in found.functions] == ["increase", "put", "scaled", "part.pair", "signatures.pair"]
    (call,) = found.function("signatures.pair").calls
    assert call.arguments == {"xs": "float32[?]", "n": "int32[]"}
    assert call.result == {"doubled": "float32[?]", "n": "int32[]"}
    shown = {each.path: (each.dtype, each.shape, each.trainable) for each in found.variables}
    assert shown["total"] == ("float32", (), True) and shown["fixed"] == ("int32", (2,), False)


def test_a_function_without_results_is_no_signature_by_default(tmp_path):
    module = tf.Module()
    module.v = tf.Variable(1.0)

    def put(x):
        module.v.assign(x)

    module.put = tf.function(put, input_signature=[tf.TensorSpec([])])
    assert len(round_trip(module, tmp_path).signatures) == 0


def test_results_without_names_are_numbered(tmp_path):
    module = tf.Module()
    module.v = tf.Variable(2.0)
    module.f = tf.function(lambda a: (a * module.v, a), input_signature=[tf.TensorSpec([], tf.float32)])
    concrete = tf.function(lambda x: x + 1).get_concrete_function(tf.TensorSpec([None], tf.int32))
    loaded = round_trip(module, tmp_path, signatures={"one": module.f, "other": concrete})
    assert values(loaded.signatures["one"](a=tf.constant(3.0))) == {"output_0": 6.0, "output_1": 3.0}
    assert values(loaded.signatures["other"](tf.constant([3]))) == {"output_0": [4]}
    assert [each.name for each in loaded.signatures["one"].structured_outputs.values()] == ["output_0", "output_1"]
    again = round_trip(loaded, tmp_path / "again")
    assert values(again.signatures["one"](a=tf.constant(3.0))) == {"output_0": 6.0, "output_1": 3.0}


def test_a_loaded_object_can_be_called(tmp_path):
    class Scale(tf.Module):
        def __init__(self):
            self.v = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def __call__(self, x):
            return x * self.v

    loaded = round_trip(Scale(), tmp_path)
    assert loaded(tf.constant(3.0)).numpy() == loaded(3.0).numpy() == 6.0
    assert not callable(round_trip(tf.Module(), tmp_path / "plain"))


def test_calls_that_fit_none_say_which_there_are(tmp_path):
    loaded = round_trip(counter(), tmp_path)
    with pytest.raises(ValueError, match="Could not find matching concrete function") as caught:
        loaded.scaled("text")
    text = str(caught.value)
    assert "Got:\n  Positional arguments (1 total):\n    * 'text'" in text
    assert "Expected these arguments to match one of the following 1 option(s)" in text
    assert "TensorSpec(shape=(), dtype=tf.float32" in text


def test_errors_have_the_lines_of_the_source(tmp_path):
    module = tf.Module()

    def divided(x):
        y = tf.constant(12)
        return y // x

    module.divide = tf.function(divided)
    module.divide(tf.constant(3))
    loaded = round_trip(module, tmp_path)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero") as caught:
        loaded.divide(tf.constant(0))
    frames = [(each.path.name, each.lineno + 1) for each in caught.traceback]
    assert ("test_saved_model.py", divided.__code__.co_firstlineno + 2) in [(str(name), line) for name, line in frames]


def test_python_in_a_graph_is_refused_with_its_line(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: tf.py_function(lambda y: y, [x], tf.float32))
    module.f(tf.constant(1.0))
    with pytest.raises(SaveError, match=r"test_saved_model.py:\d+: the graph calls Python code of its own"):
        tf.saved_model.save(module, str(tmp_path))
    with pytest.raises(ValueError, match="Only `tf.functions` with an input signature or concrete functions"):
        tf.saved_model.save(module, str(tmp_path), signatures=module.f)
    with pytest.raises(ValueError, match="Got a dictionary containing non-Tensor value"):
        nested = tf.function(lambda x: {"a": {"b": x}}, input_signature=[tf.TensorSpec([])])
        tf.saved_model.save(module, str(tmp_path), signatures=nested)


def changed(data, rng):
    """A text with one of its parts changed: a digit, a letter, or a piece taken away or put in twice."""
    at = rng.randrange(len(data))
    kind = rng.randrange(4)
    if kind == 0:
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    if kind == 1:
        return data[:at] + data[at + rng.randrange(1, 60) :]
    if kind == 2:
        return data[:at] + data[at : at + 30] + data[at:]
    numbers = [match.span() for match in re.finditer(rb"(?<=[:,\[])\d+", data)]
    begin, end = rng.choice(numbers)
    return data[:begin] + str(rng.choice([0, 1, 2, 7, 10**6, 2**60])).encode() + data[end:]


def test_a_changed_directory_is_loaded_or_refused(tmp_path):
    """Changes with a checksum that fits: the object loads, or the library says what is wrong with it."""
    module = counter()
    module.run = tf.function(of_texts)
    module.run(tf.constant("a bc"), tf.constant(3.5))
    tf.saved_model.save(module, str(tmp_path))
    file, rng = tmp_path / "graph.json", random.Random(7)
    original, refused = file.read_bytes(), 0
    for _ in range(300):
        try:
            document = json.loads(changed(original, rng))
            document["checksum"] = checksum(document)
            file.write_text(json.dumps(document))
        except (KeyError, TypeError, ValueError, RecursionError):
            file.write_bytes(changed(original, rng))
        try:
            tf.saved_model.load(str(tmp_path))
        except LoadError:
            refused += 1
    assert 150 < refused <= 300


def test_other_formats_are_refused(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(b"")
    with pytest.raises(LoadError, match="in the format of TensorFlow itself"):
        tf.saved_model.load(str(tmp_path))
    round_trip(counter(), tmp_path / "own")
    with pytest.raises(LoadError, match="load it with tf.saved_model.load"):
        ag.load(tmp_path / "own")


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
