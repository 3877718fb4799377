"""TensorFlow's spelling: when functions are traced, what is static, and what runs when."""

import gc
import re
import weakref

import numpy as np
import pytest

import autograph.compat.tensorflow as tf


def test_one_trace_for_each_kind_of_tensor_and_each_python_value(capsys):
    @tf.function
    def double(a):
        print("Tracing with", a)
        return a + a

    values = [3, 2, tf.constant(1.5), tf.constant("a"), tf.constant("b"), 3, tf.constant(2.5), True]
    results = [double(value) for value in values]
    assert [result.numpy() for result in results] == [6, 4, 3.0, b"aa", b"bb", 6, 5.0, 2]
    assert capsys.readouterr().out.splitlines() == [
        "Tracing with 3",
        "Tracing with 2",
        'Tracing with Tensor("a:0", shape=(), dtype=float32)',
        'Tracing with Tensor("a:0", shape=(), dtype=string)',
        "Tracing with True",
    ]


def test_print_at_trace_time_and_at_run_time(capsys):
    @tf.function
    def step(x):
        print("tracing")
        tf.print("running", x)
        return x

    step(tf.constant(1))
    step(tf.constant(2))
    captured = capsys.readouterr()
    assert captured.out == "tracing\n"
    assert captured.err == "running 1\nrunning 2\n"


def test_signatures_are_told_as_documented():
    @tf.function
    def my_relu(x):
        return tf.maximum(0.0, x)

    assert str(my_relu(tf.constant(5.5))) == "tf.Tensor(5.5, shape=(), dtype=float32)"
    assert str(my_relu([1, -1])) == "tf.Tensor([1. 0.], shape=(2,), dtype=float32)"
    assert str(my_relu(tf.constant([3.0, -3.0]))) == "tf.Tensor([3. 0.], shape=(2,), dtype=float32)"
    my_relu(tf.constant([-1.0, 1.0]))
    assert (
        my_relu.pretty_printed_concrete_signatures()
        == """my_relu(x)
  Args:
    x: float32 Tensor, shape=()
  Returns:
    float32 Tensor, shape=()

my_relu(x=[1, -1])
  Returns:
    float32 Tensor, shape=(2,)

my_relu(x)
  Args:
    x: float32 Tensor, shape=(2,)
  Returns:
    float32 Tensor, shape=(2,)"""
    )


def test_globals_are_frozen_and_variables_are_read():
    scale = 2
    v = tf.Variable(2.0)

    @tf.function
    def f(x):
        return x * scale * v

    assert f(tf.constant(1.0)).numpy() == 4
    scale = 3
    v.assign(5.0)
    assert f(tf.constant(1.0)).numpy() == 10


def test_variables_are_made_once():
    @tf.function
    def each_time(x):
        return tf.Variable(1.0) + x

    with pytest.raises(ValueError, match=r"only supports singleton tf\.Variables created on the first call"):
        each_time(tf.constant(1.0))

    class Counter:
        count = None

        @tf.function
        def step(self, by):
            if self.count is None:
                self.count = tf.Variable(0)
            return self.count.assign_add(by)

    counter = Counter()
    assert [counter.step(tf.constant(2)).numpy() for _ in range(3)] == [2, 4, 6]
    assert Counter().step(tf.constant(5)).numpy() == 5


def test_methods_do_not_keep_their_objects():
    class Scale:
        __slots__ = ("__weakref__", "by")

        def __init__(self, by):
            self.by = by

        __hash__ = None

        @tf.function
        def of(self, x):
            return x * self.by

    scale = Scale(3)
    assert [scale.of(tf.constant(2)).numpy() for _ in range(2)] == [6, 6]
    assert scale.of.experimental_get_tracing_count() == 1
    assert Scale(5).of(tf.constant(2)).numpy() == 10
    gone = weakref.ref(scale)
    del scale
    gc.collect()
    assert gone() is None


def test_what_nobody_needs_is_not_run():
    def unused(x):
        tf.gather(x, [1])
        return x

    with pytest.raises(tf.errors.InvalidArgumentError):
        unused(tf.constant([0.0]))
    assert tf.function(unused)(tf.constant([0.0])).numpy().tolist() == [0.0]


def test_effects_keep_their_order(capsys):
    v = tf.Variable(1)

    @tf.function
    def f():
        tf.print(v)
        v.assign(2)
        tf.print(v)
        v.assign_add(v)
        return v

    assert f().numpy() == 4
    assert capsys.readouterr().err == "1\n2\n"


def test_functions_can_run_eagerly(capsys):
    @tf.function
    def f(x):
        print("here")
        return x + 1

    tf.config.run_functions_eagerly(True)
    try:
        f(tf.constant(1))
        f(tf.constant(1))
    finally:
        tf.config.run_functions_eagerly(False)
    assert capsys.readouterr().out == "here\nhere\n"


def test_functions_call_functions(capsys):
    def inner(x, b):
        return x + b

    @tf.function
    def middle(x):
        if x > 0:
            return inner(x, 1)
        return inner(x, -1)

    @tf.function
    def outer(x):
        return middle(x) * 2

    assert [outer(tf.constant(n)).numpy() for n in (1, -1)] == [4, -4]


def test_input_signature_makes_one_trace():
    traces = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def total(x):
        traces.append(x.shape)
        return tf.reduce_sum(x)

    assert [total(tf.constant([1.0] * n)).numpy() for n in (1, 2, 3)] == [1, 2, 3]
    assert traces == [[None]]
    with pytest.raises(TypeError):
        total(tf.constant([[1.0]]))


def test_concrete_functions():
    @tf.function
    def double(x, times=2):
        return x * times

    concrete = double.get_concrete_function(tf.TensorSpec([None], tf.float32))
    assert concrete(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    assert concrete.structured_outputs == tf.TensorSpec([None], tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="x, was expected to be a float tensor but is a"):
        concrete(tf.constant([1]))


def test_a_concrete_function_knows_the_values_of_other_arguments():
    @tf.function
    def power(a, b):
        return a**b

    square = power.get_concrete_function(a=tf.TensorSpec(None, tf.float32), b=2)
    x = tf.constant(10.0)
    assert [found.numpy() for found in (square(x), square(a=x), square(x, 2), square(3.0, b=2))] == [100, 100, 100, 9]
    for args, kwargs in [((x, 3), {}), ((x,), {"b": 3}), ((x,), {"b": x}), ((), {}), ((x,), {"c": 2}), ((x, 2, 3), {})]:
        with pytest.raises(TypeError):
            square(*args, **kwargs)
    exponent = power.get_concrete_function(2.0, tf.TensorSpec([], tf.float32))
    assert [exponent(b=tf.constant(3.0)).numpy(), exponent(tf.constant(3.0)).numpy()] == [8, 8]


def test_a_concrete_function_takes_the_tensors_of_structures_by_their_names():
    @tf.function
    def f(pair, scale, options=None):
        return (pair[0] - pair[1]) * scale

    x, y = tf.constant(5.0), tf.constant(3.0)
    concrete = f.get_concrete_function((x, y), 10, options={"k": 1})
    for args, kwargs in [(((x, y),), {}), (((x, y), 10), {"options": {"k": 1}}), ((x, y), {}), ((x,), {"pair_1": y})]:
        assert concrete(*args, **kwargs).numpy() == 20
    with pytest.raises(TypeError, match="the argument options of this concrete function is {'k': 1}, not {'k': 2}"):
        concrete((x, y), 10, {"k": 2})


def test_a_concrete_method_knows_its_object():
    class Scaled:
        def __init__(self, factor):
            self.factor = factor

        @tf.function
        def times(self, x, n):
            return x * self.factor * n

    scaled = Scaled(3.0)
    concrete = scaled.times.get_concrete_function(tf.TensorSpec([], tf.float32), n=2)
    assert concrete(tf.constant(1.0)).numpy() == 6


# What runs while tracing ----------------------------------------------------------------------------------------------


class Counting(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable(0)
        self.counter = 0

    @tf.function
    def __call__(self):
        if self.counter == 0:
            with tf.init_scope():
                self.counter += 1
                self.v.assign_add(1)
        return self.v


def test_an_init_scope_runs_once_while_tracing():
    counting = Counting()
    assert [counting().numpy() for _ in range(3)] == [1, 1, 1]


def test_an_init_scope_is_eager_and_ends(capsys):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        with tf.init_scope():
            print(tf.executing_eagerly(), tf.constant(2).numpy() + 1)
            total = 0
            for i in tf.range(3):
                if i > 0:
                    total += int(i)
            v.assign(v * 3)
        print(tf.executing_eagerly(), total)
        return x + total + v

    assert [f(tf.constant(1.0)).numpy() for _ in range(2)] == [7, 7]
    assert capsys.readouterr().out == "True 3\nFalse 3\n"
    with pytest.raises(ZeroDivisionError):
        with tf.init_scope():
            assert tf.executing_eagerly()
            1 / 0
    assert f(tf.constant(2.0)).numpy() == 8


def test_no_tape_watches_an_init_scope():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        with tf.init_scope():
            y = x * x
        z = y * x
    assert tape.gradient(z, x).numpy() == 9


def test_structures_go_in_and_come_out():
    @tf.function
    def f(pair, options):
        return {"sum": pair[0] + pair[1], "rest": (options["k"], None, [pair[0]])}

    found = f((tf.constant(1), np.int32(2)), {"k": 5})
    assert found["sum"].numpy() == 3
    assert found["rest"][0].numpy() == 5
    assert found["rest"][1] is None


def test_shapes_are_checked_in_graphs():
    for function, *shapes in [(tf.add, [2, 3], [2]), (tf.matmul, [2, 3], [2, 3]), (tf.divide, [2, 3], [4, 3])]:
        tensors = [tf.ones(dims) for dims in shapes]
        told = str(shapes)[1:-1].replace(", ", ",").replace("],", "], ")
        with pytest.raises(ValueError, match=re.escape(f"with input shapes: {told}.")):
            tf.function(function)(*tensors)
        with pytest.raises(tf.errors.InvalidArgumentError):
            function(*tensors)


def test_a_second_shape_leads_to_a_trace_for_any():
    for option in ("reduce_retracing", "experimental_relax_shapes"):
        f = tf.function(lambda x, scale, y=None: x * scale, **{option: True})
        for length in (1, 2, 3, 4, 3):
            assert f(tf.ones([length]), 2.0).shape == (length,)
        assert f.experimental_get_tracing_count() == 2
        assert "shape=(None,)" in f.pretty_printed_concrete_signatures()
        f(tf.ones([5]), 3.0)
        f(tf.ones([5]), 2.0, tf.ones([1]))
        assert f.experimental_get_tracing_count() == 4
        assert f(tf.ones([2, 2]), 2.0).shape == (2, 2)
        assert [f(tf.ones(shape), 2.0).shape for shape in ([1], [1, 1])] == [(1,), (1, 1)]
        assert f.experimental_get_tracing_count() == 5  # of any shape


def test_traces_for_any_shapes_tell_the_keys_of_dicts_apart():
    f = tf.function(lambda d: d["a"] if "b" in d else d["a"] * 100, reduce_retracing=True)
    x = tf.constant(1)
    assert [f({"a": x, name: x}).numpy() for name in ("b", "c", "b")] == [1, 100, 1]


def test_what_a_concrete_function_takes_and_gives():
    concrete = tf.function(lambda x, y: (x + y, x)).get_concrete_function(tf.TensorSpec([None]), tf.TensorSpec([]))
    assert [str(each.shape) for each in concrete.inputs] == ["(None,)", "()"]
    assert [str(each.shape) for each in concrete.outputs] == ["(None,)", "(None,)"]
    assert [each.type for each in concrete.graph.get_operations()][:3] == ["Placeholder", "Placeholder", "AddV2"]
    (node,) = [each for each in concrete.graph.as_graph_def().node if each.op == "AddV2"]
    assert node.input == ["x", "y"]


def test_types_are_strict_in_graphs():
    @tf.function
    def f(x):
        return x + tf.constant(1.5)

    with pytest.raises(TypeError, match="has type float32 that does not match type int32"):
        f(tf.constant(1))


def test_python_needs_the_value_of_no_tensor():
    @tf.function(autograph=False)
    def f(x):
        return 1 if x > 0 else 2

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="symbolic"):
        f(tf.constant(1))


def test_what_is_no_tensor_is_not_returned():
    @tf.function
    def f():
        return object()

    with pytest.raises(TypeError, match="zero or more Tensors"):
        f()


def test_generators_and_else_of_loops_are_refused():
    def generator():
        yield 1

    def for_else(xs):
        for _ in xs:
            pass
        else:
            return 1

    def while_else(n):
        while n > 0:
            n -= 1
        else:
            n = 7
        return n

    def calls_it(xs):
        return for_else(xs)

    refused = [(calls_it, "for/else"), (for_else, "for/else"), (while_else, "while/else")]
    for function, args, text in [(generator, (), "generators"), *((f, (0,), text) for f, text in refused)]:
        with pytest.raises(NotImplementedError, match=text):
            tf.function(function)(*args)


# What Python asks of tensors ------------------------------------------------------------------------------------------


def test_what_python_needs_is_an_error_of_tensorflow() -> None:
    @tf.function
    def splits(n):
        return tf.split(tf.range(4), n)

    @tf.function
    def asks_numpy(x):
        return np.ravel([x, x])

    @tf.function
    def handles_it(n):
        try:
            return np.asarray(n)
        except NotImplementedError:
            return tf.constant(0)

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match=r"`n`, as a Python value is not allowed"):
        splits(tf.constant(2))
    with pytest.raises(NotImplementedError, match="Cannot convert a symbolic"):
        asks_numpy(tf.constant(2))
    assert handles_it(tf.constant(2)).numpy() == 0


def test_sizes_that_only_the_graph_knows() -> None:
    @tf.function
    def vector(n):
        return tf.fill([n], 7)

    @tf.function
    def matrix(n):
        return tf.fill([tf.cast(n, tf.int32), 2], n)

    @tf.function
    def by_a_tuple(n):
        return tf.fill((2, n), 1.5), tf.zeros([n, 1]), tf.ones((n,))

    assert vector(tf.constant(3)).numpy().tolist() == [7, 7, 7]
    assert matrix(tf.constant(1)).numpy().tolist() == [[1, 1]]
    assert [each.shape.as_list() for each in by_a_tuple(tf.constant(2))] == [[2, 2], [2, 1], [2]]
    repeated = tf.data.Dataset.range(3).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x))
    assert [each.tolist() for each in repeated.as_numpy_iterator()] == [[], [1], [2, 2]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be >= 0"):
        tf.fill([-1], 7)


def test_more_sizes_that_only_the_graph_knows() -> None:
    @tf.function
    def parts(n):
        x, square = tf.range(9), tf.constant([[1, 2], [3, 4]])
        slices = x[n:], x[:n], x[::n], square[:, n - 1], tf.slice(x, [n], [3]), tf.slice(x, [n], [-1])
        return *slices, tf.tile(square, [1, n]), tf.tile([1, 2], [n]), tf.one_hot([0, 1], n)

    def plainly(n):
        x, square = np.arange(9), np.array([[1, 2], [3, 4]])
        slices = x[n:], x[:n], x[::n], square[:, n - 1], x[n : n + 3], x[n:]
        return *slices, np.tile(square, [1, n]), np.tile([1, 2], [n]), np.eye(2, n)

    for n in (2, 1):
        assert all(np.array_equal(one, other) for one, other in zip(parts(tf.constant(n)), plainly(n)))


def test_printed_containers_are_pythons(capsys: pytest.CaptureFixture[str]) -> None:
    log = {"foo": ["bar"]}

    @tf.function(experimental_autograph_options=tf.autograph.experimental.Feature.BUILTIN_FUNCTIONS)
    def shows(x):
        print("x is", x, log, {1, 2}, [x is x], sep=";")
        log["foo"].append("more")
        return log is not None

    shows(tf.constant([1, 2]))
    assert capsys.readouterr().out == "x is;[1 2];{'foo': ['bar', 'more']};{1, 2};[True]\n"
    assert type(log["foo"]) is list and log == {"foo": ["bar", "more"]}
