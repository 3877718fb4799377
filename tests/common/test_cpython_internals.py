"""CPython's internals: layouts, version tags of classes, reference counts; and what happens where they differ."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import types
from collections.abc import Callable, Sized
from pathlib import Path
from typing import Any

import pytest

import autograph
from autograph.common import cpython_internals
from autograph.common.cpython_internals import (
    ABSTRACT,
    HEAP,
    IMMUTABLE,
    INLINE_VALUES,
    assign_version_tag,
    first_problem,
    possible_owners,
    references,
    version_tag,
    with_fast_attributes,
)

HAS_TAGS = sys.implementation.name == "cpython" and (3, 10) <= sys.version_info[:2] <= (3, 13)


def base_and_class() -> tuple[type, type]:
    base = type("Base", (), {"first": 1})
    return base, type("Kind", (base,), {})


@pytest.mark.skipif(not HAS_TAGS, reason="where other versions keep tags is not known")
@pytest.mark.parametrize(
    "change",
    [
        lambda base, kind: setattr(base, "first", 2),
        lambda base, kind: setattr(kind, "first", 2),
        lambda base, kind: delattr(base, "first"),
        lambda base, kind: setattr(base, "__len__", lambda self: 1),
        lambda base, kind: setattr(kind, "__bases__", (type("Other", (), {}),)),
    ],
)
def test_a_class_has_one_tag_until_it_or_a_base_changes(change: Callable[[type, type], None]) -> None:
    base, kind = base_and_class()
    tag = version_tag(kind)
    assign_version_tag(kind)
    before = tag[0]
    kind().first  # type: ignore[attr-defined]  # noqa: B018
    assert tag[0] == before != 0
    change(base, kind)
    assert tag[0] == 0
    assign_version_tag(kind)
    assert tag[0] not in (0, before)


def test_where_nothing_is_known_a_class_has_no_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpython_internals, "HAS_TAGS", False)
    assert version_tag(int)[0] == 0


def test_another_layout_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cpython_internals._has_tags() is HAS_TAGS
    monkeypatch.setattr(cpython_internals, "TAG_OFFSET", 24)
    assert not cpython_internals._has_tags()


def test_flags_of_classes() -> None:
    assert not int.__flags__ & HEAP and type("Kind", (), {}).__flags__ & HEAP
    assert int.__flags__ & IMMUTABLE and not type("Kind", (), {}).__flags__ & IMMUTABLE
    assert Sized.__flags__ & ABSTRACT and not list.__flags__ & ABSTRACT
    assert bool(type("Kind", (), {}).__flags__ & INLINE_VALUES) == (sys.version_info >= (3, 13))


def test_the_layout_is_known() -> None:
    assert cpython_internals.LAYOUT_PROBLEM == ""


def test_integers_and_counts_of_references_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cpython_internals.HAS_DIGITS is cpython_internals.HAS_SIMPLE_COUNTS is HAS_TAGS
    monkeypatch.setattr(cpython_internals, "DIGIT", 28)
    assert not cpython_internals._has_digits()
    monkeypatch.setattr(sys, "gettotalrefcount", int, raising=False)
    assert not cpython_internals._counts_are_simple()


@pytest.mark.parametrize(
    "name, offset, problem",
    [
        ("CLASS", 0, "an object's class is not at 0"),
        ("VALUE", 8, "a float's value is not at 8"),
        ("ITEMS", 16, "the items of bytes are not at 16"),
    ],
)
def test_the_problem_of_another_layout(name: str, offset: int, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpython_internals, name, offset)
    assert cpython_internals._layout_problem() == problem


def test_checks_stop_at_the_first_problem() -> None:
    def fail() -> bool:
        raise AssertionError

    assert first_problem({"one": lambda: True, "two": lambda: False, "three": fail}) == "two"
    assert first_problem({}) == ""


def test_references() -> None:
    thing, other = object(), object()
    things = [thing, other, object()]
    assert references([*things]) == [2, 2, 1]
    kept = {thing: thing, 1: other}
    assert references([*things]) == [4, 3, 1]
    del kept, thing
    assert references(things) == [0, 1, 0]


def test_where_references_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """All objects are taken for ones that others know."""
    assert cpython_internals.COUNTS and cpython_internals._counts()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "getrefcount", lambda thing: 1 << 30)
        assert not cpython_internals._counts()
    monkeypatch.setattr(cpython_internals, "COUNTS", False)
    assert references([object()])[0] > 1000


@pytest.mark.parametrize("attributes", [{}, {"x": [1]}, {"x": 1, "y": None}])
def test_the_owner_of_a_dict_is_possible(attributes: dict[str, Any]) -> None:
    thing = type("Kind", (), {})()
    vars(thing).update(attributes)
    assert any(each is thing for each in possible_owners(vars(thing)))


OF_INTERNALS = re.compile(r"\b(getrefcount|get_referrers|get_referents|from_address|pythonapi|memmove|string_at)\b")
MODULES = {"common/cpython_internals.py", "common/numpy_internals.py"}
OWN_MEMORY = {"runtime/engines/native/loops/region.py"}     # which has the frame of machine code


def test_no_other_module_relies_on_internals() -> None:
    package = Path(autograph.__file__).parent
    found = {path.relative_to(package).as_posix() for path in package.rglob("*.py")
             if OF_INTERNALS.search(path.read_text(encoding="utf-8"))}  # fmt: skip
    assert found == MODULES | OWN_MEMORY


OWNED = """
import gc
from autograph.common.cpython_internals import address_of, builtin

class Owner:
    pass

for _ in range(100):
    owner, other = Owner(), Owner()
    other.function = builtin(address_of("PyObject_Str"), owner)
    assert other.function.__self__ is owner and "loop" in repr(other.function)
    owner.other = other
    del owner, other
    gc.collect()
"""


def test_the_functions_of_an_owner_go_with_it() -> None:
    """The C library fills memory that it frees, so that whoever still reads it crashes."""
    variables = {**os.environ, "PYTHONMALLOC": "malloc", "MALLOC_PERTURB_": str(0xFF)}
    subprocess.run([sys.executable, "-X", "faulthandler", "-c", OWNED], env=variables, check=True)


class Point:
    def __init__(self, x: int, y: int) -> None:
        self.x, self.y = x, y


@pytest.mark.versions
def test_a_dict_that_is_read_gets_a_table_of_its_own_and_stays_as_it_is() -> None:
    point, other = Point(1, 2), Point(3, 4)
    names = vars(point)
    shared = sys.getsizeof(names)
    assert with_fast_attributes(point, names) is names is vars(point)
    assert list(names.items()) == [("x", 1), ("y", 2)] and {type(name) for name in names} == {str}
    assert (sys.getsizeof(names) > shared) == ((3, 11) <= sys.version_info < (3, 13))
    again = sys.getsizeof(with_fast_attributes(point, names))
    assert again == sys.getsizeof(names)
    assert vars(other) == {"x": 3, "y": 4}


def test_the_names_of_modules_stay_in_a_table_of_texts() -> None:
    module = types.ModuleType("module")
    module.x = 1  # type: ignore[attr-defined]
    before = sys.getsizeof(vars(module))
    assert sys.getsizeof(with_fast_attributes(module, vars(module))) == before
