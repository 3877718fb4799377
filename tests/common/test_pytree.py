"""Structures come apart in order, go together again unchanged, and say where they differ."""

from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograph.common import pytree

Point = namedtuple("Point", "x y")


@dataclass(frozen=True)
class Pair:
    first: object
    second: object = None


@dataclass
class Counted:
    value: int
    made: int = field(init=False)

    def __post_init__(self):
        self.made = self.value + 1


class Box:
    def __init__(self, inside):
        self.inside = inside


EVERYTHING = {"a": [1, (2, 3)], "b": Point(4, {"c": 5}), "d": Pair(6, [7]), "e": []}
structures = st.recursive(
    st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
        | st.builds(Point, inner, inner)
        | st.builds(Pair, inner, inner)
    ),
    max_leaves=12,
)


def test_leaves_come_in_order():
    assert pytree.flatten(EVERYTHING) == [1, 2, 3, 4, 5, 6, 7]
    assert pytree.flatten({"z": 1, "a": 2}) == [1, 2]  # as inserted, not sorted


@given(structures)
def test_pack_undoes_flatten(structure):
    packed = pytree.pack(structure, pytree.flatten(structure))
    assert packed == structure
    assert type(packed) is type(structure)


@given(structures)
def test_map_visits_every_leaf_once(structure):
    doubled = pytree.map(lambda a, b: a + b, structure, structure)
    assert pytree.flatten(doubled) == [2 * leaf for leaf in pytree.flatten(structure)]
    pytree.assert_same_structure(structure, doubled)


def test_a_leaf_is_a_structure_of_one():
    assert pytree.flatten(5) == [5]
    assert pytree.pack(5, [6]) == 6
    assert pytree.flatten(None) == [None]


def test_strings_sets_and_subclasses_are_leaves():
    class Special(list):
        pass

    leaves = ["abc", {1, 2}, Special([1, 2])]
    assert pytree.flatten(leaves) == leaves
    assert not any(map(pytree.is_nested, leaves))


def test_the_old_structure_is_left_alone():
    old = [{"a": 1}]
    assert pytree.pack(old, [2]) == [{"a": 2}]
    assert old == [{"a": 1}]


def test_dataclasses_keep_what_post_init_made():
    packed = pytree.pack(Counted(1), [10, 20])
    assert (packed.value, packed.made) == (10, 20)


def test_dataclass_types_and_unset_fields():
    assert pytree.flatten(Pair) == [Pair]
    half = Counted.__new__(Counted)
    half.value = 3
    assert pytree.flatten(half) == [3]


def test_dict_types_survive():
    ordered = pytree.pack(OrderedDict(b=1, a=2), [3, 4])
    assert type(ordered) is OrderedDict and list(ordered.items()) == [("b", 3), ("a", 4)]
    default = pytree.pack(defaultdict(list, a=1), [2])
    assert default["a"] == 2 and default["new"] == []


def test_registered_types_are_structures():
    assert pytree.flatten(Box(1)) != [1]
    pytree.register(Box, lambda box: {"inside": box.inside}, lambda box, parts: Box(*parts), ".{}".format)
    try:
        assert pytree.flatten([Box([7])]) == [7]
        assert pytree.pack(Box([7]), [8]).inside == [8]
    finally:
        del pytree._KINDS[Box]


@pytest.mark.parametrize("count", [1, 3])
def test_pack_counts_the_leaves(count):
    with pytest.raises(pytree.StructureError, match=f"has 2 leaves, but {count} were given"):
        pytree.pack([1, 2], range(count))


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([1, [2]], [1, [2, 3]], r"x\[1\] is a list of 1 on one side and of 2 on the other"),
        ({"a": (1,)}, {"a": [1]}, r"x\['a'\] is a tuple on one side and a list on the other"),
        ([1], [[1]], r"x\[0\] is a leaf of type int on one side and a list on the other"),
        ({"a": 1, "b": 2}, {"a": 1, "c": 2}, "x is a dict with 'b' on one side only and 'c' on the other only"),
        ([Pair(1, 2)], [Point(1, 2)], r"x\[0\] is a Pair on one side and a Point on the other"),
        (Pair([1]), Pair([]), r"x\.first is a list of 1 on one side and of 0 on the other"),
    ],
)
def test_differences_name_the_place(first, second, message):
    with pytest.raises(pytree.StructureError, match=f"^{message}$"):
        pytree.assert_same_structure(first, second, "x")


def test_dicts_may_differ_in_order():
    assert pytree.map(lambda a, b: a - b, {"a": 5, "b": 7}, {"b": 1, "a": 2}) == {"a": 3, "b": 6}


def test_resolve_is_recursion_of_any_depth():
    def depth(thing, around):
        return pytree.Within(((part, around + 1) for part in thing), max) if type(thing) is list else around

    deep = 7
    for _ in range(10_000):
        deep = [1, deep, [2]]
    assert pytree.resolve(depth, deep, 0) == 10_001
    assert pytree.resolve(depth, 7, 0) == 0


def test_resolve_refuses_what_contains_itself():
    endless = [1]
    endless.append([2, endless])
    with pytest.raises(pytree.StructureError, match="a list that contains itself"):
        pytree.resolve(lambda thing: pytree.Within(zip(thing), sum) if type(thing) is list else thing, endless)
    shared = [1]
    within = lambda thing: pytree.Within(zip(thing), sum) if type(thing) is list else thing  # noqa: E731
    assert pytree.resolve(within, [shared] * 3) == 3
