"""TensorSpec, input signatures and concrete functions."""

import collections
import re

import numpy as np
import pytest

from autograph.errors import SignatureError
from autograph.runtime.dispatch.decorator import function
from autograph.runtime.graph.tensor_spec import TensorSpec
from autograph.runtime.graph.types import FLOAT, array

pytestmark = pytest.mark.usefixtures("tracer")


def test_specs():
    spec = TensorSpec((None, 3), "f4", name="x")
    assert repr(spec) == "TensorSpec((None, 3), 'float32', name='x')"
    assert str(spec) == "f32[?,3]"
    assert spec == TensorSpec([None, 3], np.float32, "x") != TensorSpec((None, 3), "f4")
    assert hash(spec) == hash(TensorSpec((None, 3), "f4", name="x"))
    assert TensorSpec.of(np.zeros((2, 1), "i2")) == TensorSpec((2, 1), "i2")
    assert str(TensorSpec(None, "f8")) == "f64 of any shape"
    assert TensorSpec(3).shape == (3,)
    with pytest.raises(TypeError, match=r"a dimension of a shape is a length or None, not 'n'"):
        TensorSpec(("n",))


# Input signatures -----------------------------------------------------------------------------------------------------


def test_an_input_signature_makes_one_trace(tracer):
    f = function(lambda x, n: x.sum() + n, input_signature=[TensorSpec((None,), "f8"), int])
    assert [f(np.ones(k), k) for k in (1, 2, 3)] == [2, 4, 6]
    assert f(np.ones(2), n=1) == 3
    assert tracer.texts == ["x: f64[?], n: py.int"]
    assert f.traces[0].calls == 4


MISFITS = {
    "(np.ones(2, 'f4'), 1)": "`x` is f32[?], and not f64[?]",
    "(np.ones((2, 2)), 1)": "`x` is f64[2,2], and not f64[?]",
    "(np.ones(2), 1.5)": "`n` is py.float, and not py.int",
    "(np.ones(2), True)": "`n` is True, and not py.int",
    "([1.0], 1)": "`x` is missing, and the structure is another one",
    "('abc', 1)": "`x` is 'abc', and not f64[?]",
    "(collections.deque(), 1)": "`x` is a deque, and not f64[?]",
}


@pytest.mark.parametrize("call, problem", MISFITS.items())
def test_other_calls_are_errors(call, problem):
    f = function(lambda x, n: x.sum() + n, input_signature=[TensorSpec((None,), "f8"), int])
    with pytest.raises(SignatureError) as caught:
        eval(f"f{call}", {"f": f, "np": np, "collections": collections})
    assert isinstance(caught.value, TypeError)
    assert str(caught.value) == (
        f"<lambda> takes only what its input_signature says, (x: f64[?], n: py.int), but in this call {problem}. Pass "
        "such arguments, leave dimensions open with None, or leave input_signature= out"
    )


def test_a_spec_of_no_dimensions_takes_numbers(tracer):
    f = function(lambda x: x + 1, input_signature=[TensorSpec((), "f8")])
    assert [f(1), f(1.5), f(np.float32(2)), f(np.array(3.0))] == [2, 2.5, 3, 4]
    assert type(f(1)) is int
    assert tracer.texts == ["x: ~f64[]"]
    with pytest.raises(SignatureError, match=r"`x` is py.complex, and not ~f64\[\]"):
        f(1j)


def test_a_spec_of_any_shape(tracer):
    f = function(lambda x: np.sum(x), input_signature=[TensorSpec(None, "f8")])
    assert [f(np.ones(2)), f(np.ones((2, 2))), f(3)] == [2, 4, 3]
    assert tracer.texts == ["x: object"]


def test_classes_strings_structures_and_defaults(tracer):
    class Model:
        k = 2

    f = function(
        lambda model, text, flag, pair, n=3: (model.k, text, flag, pair, n),
        input_signature=(Model, str, bool, {"a": [int, TensorSpec((2,), "i8")]}),
    )
    pair = {"a": [1, np.ones(2, int)]}
    assert f(Model(), "abc", True, pair)[:3] == (2, "abc", True)
    assert f(Model(), "xyz", False, pair)[:3] == (2, "xyz", False)
    assert tracer.texts == [
        "model: Model, text: str, flag: py.bool, pair['a'][0]: py.int, pair['a'][1]: i64[2], n: py.int"
    ]
    with pytest.raises(SignatureError, match="`model` is a deque, and not a Model"):
        f(collections.deque(), "xyz", False, pair)


def test_the_same_array_twice_under_an_input_signature(tracer):
    f = function(lambda x, y: x is y, input_signature=[TensorSpec((None,), "f8")] * 2)
    a, b = np.ones(2), np.ones(3)
    assert [f(a, b), f(a, a), f(b, a), f(b, b)] == [False, True, False, True]
    assert len(tracer) == 2


def test_many_kinds_of_calls_leave_little_behind():
    f = function(lambda x, text: text, input_signature=[TensorSpec((None,), "f8"), str])
    for n in range(300):
        assert f(np.ones(n), f"text {n}") == f"text {n}"
    assert len(f.traces) == 1
    assert len(f._specializer.traces.find) < 80


# Concrete functions ---------------------------------------------------------------------------------------------------


def test_a_concrete_function_takes_its_signature_only(tracer):
    f = function(lambda x, y=2: x * y)
    concrete = f.get_concrete_function(np.ones(3))
    assert concrete(np.full(3, 2.0)).tolist() == [4, 4, 4]
    assert concrete(np.ones(3), y=5).tolist() == [5, 5, 5]
    assert len(tracer) == 1
    assert f(np.ones(3)).tolist() == [2, 2, 2]
    assert len(tracer) == 1
    message = (
        "this is <lambda> for (x: f64[3], y: py.int) only, but in this call `x` is f64[4], and not f64[3]. Call "
        "<lambda> itself, which takes anything, or get a concrete function for these"
    )
    with pytest.raises(SignatureError, match=re.escape(message)):
        concrete(np.ones(4))
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        concrete()


def test_a_concrete_function_for_specs(tracer):
    f = function(lambda x, mode: (x.sum(), mode))
    concrete = f.get_concrete_function(TensorSpec((None,), "f8"), "fast")
    assert concrete(np.ones(3), "fast") == (3, "fast")
    assert f(np.ones(4), "fast") == (4, "fast")
    assert tracer.texts == ["x: f64[?], mode='fast'"]
    assert concrete.structured_input_signature == ((array("f8", None), "fast"), {})
    with pytest.raises(SignatureError, match="`mode` is 'slow', and not 'fast'"):
        concrete(np.ones(3), "slow")


def test_what_a_concrete_function_has():
    f = function(lambda x, k: x)
    concrete = f.get_concrete_function(1.5, k=[np.ones(2)])
    assert [str(value.type) for value in concrete.inputs] == ["py.float", "f64[2]"]
    assert [str(value.type) for value in concrete.outputs] == ["object"]
    assert concrete.structured_input_signature == ((FLOAT, [array("f8", 2)]), {})
    assert concrete.graph.graph is concrete.trace.graph
    assert repr(concrete) == "<<lambda> for (x: py.float, k[0]: f64[2])>"
    assert concrete.__name__ == "<lambda>"


def test_a_concrete_function_is_traced_anew_when_the_world_changes(tracer):
    from autograph.runtime.graph.signature import Guard

    world = {"y": 1}
    f = function(lambda x: x + world["y"])
    tracer.guards = [Guard("w['y'] == 1", {"w": world}, "the global `y` changed")]
    concrete = f.get_concrete_function(1)
    assert concrete(1) == 2
    world["y"] = 5
    tracer.guards = []
    assert concrete(1) == 6
    assert concrete.trace.reason == "the global `y` changed"


def test_signatures_for_people_to_read():
    def scale(x, factor, *, mode="mean"):
        return x

    f = function(scale)
    f(np.ones(3), 2)
    f({"w": np.ones(3)}, 2.5, mode=None)
    assert f.pretty_printed_concrete_signatures() == """\
scale(x, factor, mode)
  staged:
    x: f64[3]
    factor: py.int
  static:
    mode = 'mean'
  returns:
    object

scale(x, factor, mode)
  staged:
    x['w']: f64[3]
    factor: py.float
  static:
    mode = None
  returns:
    object"""
    assert str(f.get_concrete_function(np.ones(3), 2)) == f.pretty_printed_concrete_signatures().split("\n\n")[0]


def test_graphs_for_specs():
    f = function(lambda x: x)
    assert str(f.graph(TensorSpec((None, 2), "f4"))).startswith("<lambda>") or "f32[?,2]" in str(
        f.graph(TensorSpec((None, 2), "f4"))
    )
    assert [str(trace.signature) for trace in f.traces] == ["x: f32[?,2]"]


# Without arguments ----------------------------------------------------------------------------------------------------


def test_without_arguments_the_input_signature_counts(tracer):
    f = function(lambda x, n: x.sum() + n, input_signature=[TensorSpec((None,), "f8"), int])
    concrete = f.get_concrete_function()
    assert str(concrete.signature) == "x: f64[?], n: py.int"
    assert concrete(np.ones(3), 2) == 5
    assert f.graph() and f.lower().engine and "traced" in str(f.explain())
    assert tracer.texts == ["x: f64[?], n: py.int"]


def test_without_arguments_a_method_has_its_object(tracer):
    class Scale:
        @function(input_signature=[TensorSpec((None,), "f8")])
        def __call__(self, x):
            return x

    scale = Scale()
    assert "x: f64[?]" in str(scale.__call__.get_concrete_function().signature)
    assert len(Scale.__call__.traces) == 1


def test_without_arguments_the_only_trace_counts(tracer):
    f = function(lambda x: x + 1)
    for ask in (f.graph, f.lower, f.explain, f.get_concrete_function):
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
            ask()
    f(np.ones(2))
    assert str(f.get_concrete_function().signature) == "x: f64[2]"
    assert f.graph() and f.lower().engine and "trace 1" in str(f.explain())
    f(np.ones((2, 2)))
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        f.get_concrete_function()
