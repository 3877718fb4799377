"""What is staged, what is part of the signature, and that keys tell signatures apart."""

import collections
import enum
import functools
import math
from dataclasses import dataclass
from inspect import Parameter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograph.common import pytree
from autograph.runtime.dispatch.arguments import arrange, key_at, key_of, read
from autograph.runtime.graph.signature import Dynamic, Policy, Signature, Static
from autograph.runtime.graph.static_keys import static_key
from autograph.runtime.graph.types import COMPLEX, FLOAT, INT, ObjectType, array, scalar
from tests.outcomes import no_addresses


class Color(enum.Enum):
    RED = 1


class StrColor(str, enum.Enum):
    RED = "red"


@dataclass
class Point:
    x: object
    y: object


Pair = collections.namedtuple("Pair", "first second")


class Layer:
    def __init__(self):
        self.w = 1


def parameters(*names):
    return [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]


def signature_of(*values, policy=None) -> Signature:
    return read(parameters(*"xyz"[: len(values)]), values, policy or Policy())[0]


def leaf(value):
    (only,) = signature_of(value).leaves
    return only


@pytest.mark.parametrize(
    "value, type",
    [
        (3, INT),
        (2.5, FLOAT),
        (1j, COMPLEX),
        (np.float32(1), scalar("f4")),
        (np.bool_(True), scalar("?")),
        (np.zeros((2, 3)), array("f8", 2, 3)),
        (np.array(1), array("i8")),
        (range(3), ObjectType("range", (INT,))),
        ({1, 2}, ObjectType("set")),
        (iter([1]), ObjectType("list_iterator")),
        (np.random.default_rng(0), ObjectType("Generator")),
        (Layer(), ObjectType("Layer")),
        ([1].append, ObjectType("builtin_function_or_method")),
        (np.ma.array([1]), ObjectType("MaskedArray")),
        (collections.Counter(), ObjectType("Counter")),
        ("x" * 100, ObjectType("str")),
    ],
    ids=lambda value: no_addresses(str(value)),
)
def test_what_is_staged(value, type):
    assert isinstance(leaf(value), Dynamic)
    assert leaf(value).type == type


@pytest.mark.parametrize(
    "value",
    [True, None, "mean", b"x", ..., Color.RED, StrColor.RED, math.sin, len, Layer, np.float64, np.dtype("f8"), np.sin,
     np.sum, math, slice(0, 2), frozenset({1}), list[int], lambda: 0, Layer().__init__, functools.partial(print)],
    ids=lambda value: no_addresses(str(value)),
)  # fmt: skip
def test_what_is_part_of_the_signature(value):
    assert leaf(value) == Static(value)


def test_booleans_numbers_and_strings_are_told_apart():
    assert len({Static(True), Static(1), Static(1.0), Static("1"), Static(np.int64(1))}) == 5
    assert Static(0.0) != Static(-0.0)
    assert Static(math.nan) == Static(math.nan)
    assert Static((1, True)) != Static((True, 1))
    assert Static(frozenset({1})) != Static(frozenset({True}))
    assert Static([1, {"a": 2}]) == Static([1, {"a": 2}])
    assert Static(range(0, 3, 2)) != Static(range(0, 4, 2))


def test_objects_without_a_value_are_told_apart_by_which_they_are():
    first, second = object(), object()
    assert static_key(first) == static_key(first) != static_key(second)
    assert static_key([[]]) == static_key([[]])  # lists have a value
    layer = Layer()
    assert static_key(layer.__init__) == static_key(layer.__init__) != static_key(Layer().__init__)


def test_structures_are_taken_apart():
    signature = signature_of({"w": [np.zeros(2), 1], "mode": "fast"}, Point(1, Pair(2.0, (3,))))
    assert signature.paths == ("x['w'][0]", "x['w'][1]", "x['mode']", "y.x", "y.y.first", "y.y.second[0]")
    assert str(signature) == (
        "x['w'][0]: f64[2], x['w'][1]: py.int, x['mode']='fast', "
        "y.x: py.int, y.y.first: py.float, y.y.second[0]: py.int"
    )


def test_a_signature_rebuilds_the_arguments():
    given = {"w": [np.zeros(2), 1]}, Point(1, Pair(2.0, (3,)))
    signature, reading = read(parameters("x", "y"), given, Policy())
    args, kwargs = signature.fill(reading.values)
    assert kwargs == {}
    assert args == given
    assert args[0] is not given[0] and args[0]["w"] is not given[0]["w"]


def test_a_signature_keeps_no_arrays():
    assert pytree.flatten(signature_of([np.zeros(3)]).tree) == [0]


def test_a_list_that_stands_at_two_places_is_one_list():
    shared = [1]
    signature, reading = read(parameters("x", "y"), (shared, (shared, [1])), Policy())
    (x, (y, z)), _ = signature.fill(reading.values)
    assert x is y and y is not z
    assert len(signature.leaves) == 2


def test_the_same_array_is_known():
    x = np.zeros(2)
    assert signature_of(x, x, x.copy()).same == (0, 0, 2)
    assert signature_of(x, [x]).same == (0, 0)
    assert signature_of(3, 3).same == (0, 1)  # numbers have no identity that matters


def test_long_lists_are_taken_as_one_object():
    assert leaf(list(range(17))).type == ObjectType("list")
    assert leaf({n: n for n in range(17)}).type == ObjectType("dict")
    assert leaf([[1] * 13] * 5).type == ObjectType("list")
    assert leaf(tuple("abc" * 6)).type == ObjectType("tuple")
    assert len(signature_of(list(range(16))).leaves) == 16
    assert len(signature_of([np.zeros(1) for _ in range(20)]).leaves) == 20  # the weights of a model, say
    assert key_of(list(range(17))) == key_of([0.5] * 20)


def test_what_holds_itself_ends_somewhere():
    circle = []
    circle.append(circle)
    assert len(signature_of(circle).leaves) == 1
    hash(key_of(circle))
    point = Point(1, None)
    point.y = point
    assert signature_of(point).paths == ("x.x", "x.y")
    assert signature_of(point).leaves[1] == Dynamic(ObjectType("Point"), Point)
    hash(key_of(point))


def test_classes_of_one_name_are_told_apart():
    def make():
        class Local:
            pass

        return Local()

    first, second = make(), make()
    assert leaf(first) != leaf(second)
    assert key_of(first) != key_of(second)
    assert leaf(Layer()) == leaf(Layer())


# What has been learned ------------------------------------------------------------------------------------------------


def test_a_policy_makes_leaves_static():
    policy = Policy(static={"x['n']"})
    signature = signature_of({"n": 3, "m": 4}, policy=policy)
    assert signature.leaves == (Static(3), Dynamic(INT))
    keys = {key_at({"n": n, "m": m}, "x", policy) for n, m in [(3, 4), (3, 5), (4, 4)]}
    assert len(keys) == 2


def test_a_policy_leaves_dimensions_open():
    policy = Policy(dynamic_dims={("x", 2): (True, False)})
    assert str(signature_of(np.zeros((2, 3)), policy=policy)) == "x: f64[?,3]"
    assert key_at(np.zeros((2, 3)), "x", policy) == key_at(np.zeros((5, 3)), "x", policy)
    assert key_at(np.zeros((2, 3)), "x", policy) != key_at(np.zeros((2, 4)), "x", policy)
    assert str(signature_of(np.zeros(3), policy=policy)) == "x: f64[3]"  # another rank


def test_a_policy_takes_containers_and_strings_as_one_object():
    policy = Policy(whole={"x", "y[0]"})
    signature = signature_of([1, 2], ("abc", 1), policy=policy)
    assert [str(leaf) for leaf in signature.leaves] == ["list", "str", "py.int"]


def test_which_parameters_a_policy_concerns():
    policy = Policy({"n", "xs[0]", "shape.shape[0]"}, {"state.w"}, {"long"}, {("array", 1): (True,)})
    assert [name for name in ("n", "xs", "x", "shape", "state", "stat", "array", "long") if policy.concerns(name)] == [
        "n", "xs", "shape", "state", "array", "long",
    ]  # fmt: skip


# Keys -----------------------------------------------------------------------------------------------------------------

numbers = st.sampled_from([0, 1, True, False, 1.0, -0.0, 0.0, 2j, None, "a", "b" * 40, b"x", np.float64(1), np.int8(1)])
arrays = st.builds(np.zeros, st.sampled_from([(), (1,), (2,), (2, 3), (0,)]), st.sampled_from(["f8", "f4", "i8", "?"]))
others = st.sampled_from([int, np.dtype("f8"), Color.RED, math, Layer(), Layer(), range(3), slice(1), {1}, len])
leaves = numbers | arrays | others
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3)
    | st.tuples(inner, inner)
    | st.dictionaries(st.sampled_from(["a", "b", 1, True, (1,)]), inner, max_size=2)
    | st.builds(Point, inner, inner)
    | st.builds(Pair, inner, inner),
    max_leaves=8,
)


def same_signature(first, second) -> bool:
    a, ra = read(parameters("x"), (first,), Policy())
    b, rb = read(parameters("x"), (second,), Policy())
    return (a.paths, a.leaves, ra.lengths) == (b.paths, b.leaves, rb.lengths)


@given(values, values)
def test_keys_are_equal_where_signatures_are(first, second):
    assert (key_of(first) == key_of(second)) is same_signature(first, second)
    assert key_of(first) == key_of(first)
    hash(key_of(first))


@given(values, values)
def test_keys_agree_whether_or_not_a_policy_is_asked(first, second):
    policy = Policy(static={"y"})
    assert (key_at(first, "x", policy) == key_at(second, "x", policy)) is (key_of(first) == key_of(second))


@given(values)
def test_the_code_for_each_leaf_gives_the_leaf(value):
    _, reading = read(parameters("x"), (value,), Policy())
    for code, found in zip(reading.codes, reading.values):
        assert eval(code, {"p0": value, **reading.constants}) is found


def test_arguments_come_in_the_order_of_a_call():
    kinds = [
        Parameter("a", Parameter.POSITIONAL_ONLY),
        Parameter("b", Parameter.POSITIONAL_OR_KEYWORD),
        Parameter("rest", Parameter.VAR_POSITIONAL),
        Parameter("c", Parameter.KEYWORD_ONLY),
        Parameter("more", Parameter.VAR_KEYWORD),
    ]
    assert arrange(kinds, (1, 2, (3, 4), 5, {"d": 6})) == ((1, 2, 3, 4), {"c": 5, "d": 6})
    signature, _ = read(kinds, (1, 2, tuple(range(20)), 5, {"d": 6}), Policy())
    assert signature.paths[1:3] == ("b", "rest[0]") and signature.paths[-1] == "more['d']"
