"""Calls of classes, and of special methods by their names; the text of what holds staged values."""

from __future__ import annotations

import abc
import argparse
import array  # noqa: F401
import ast  # noqa: F401
import calendar
import collections
import decimal
import difflib
import enum
import hashlib
import linecache
import random
import sys
import textwrap
import threading  # noqa: F401
import time
import types
import zlib
from fractions import Fraction  # noqa: F401
from typing import Any, Generic, TypeVar

import numpy as np
import pytest

import autograph as ag
from autograph.common import trace_rules
from autograph.errors import StrictError
from autograph.runtime.graph.object_model import is_made_anew
from tests.runtime.objects import check, no_stand_in_is_left  # noqa: F401

T = TypeVar("T")

# Classes that make, or are made, in their own way ---------------------------------------------------------------------


class Pair(collections.namedtuple("Pair", "x y")):
    def __new__(cls, x: Any, y: Any = 1.0) -> Pair:
        print("new", x)
        if x > 2:
            x = 2.0
        return super().__new__(cls, x * 2, y)


class Named(collections.namedtuple("Named", "x y")):
    def __init__(self, x: Any, y: Any = 1.0) -> None:
        print("named", x)


class Measure(float):
    def __new__(cls, value: Any) -> Measure:
        print("measure", value)
        return float.__new__(cls, value * 2)


class Doubled:
    def __new__(cls, x: Any) -> Any:
        return x * 2


class Kept(dict):  # type: ignore[type-arg]
    def __new__(cls, x: Any) -> Kept:
        print("kept", x)
        return super().__new__(cls)

    def __init__(self, x: Any) -> None:
        self["x"] = x


class Announced(type):
    def __call__(cls, *args: Any) -> Any:
        print("announced", args)
        return super().__call__(*args)


class Loud(metaclass=Announced):
    def __init__(self, x: Any) -> None:
        print("loud", x)
        self.x = x


class Base(abc.ABC):
    def __init__(self, x: Any) -> None:
        print("base", x)
        self.x = x * 2

    @abc.abstractmethod
    def get(self) -> Any: ...


class Child(Base):
    def get(self) -> Any:
        return self.x


class Held(Generic[T]):
    def __init__(self, x: T) -> None:
        print("held", x)
        self.x = x


def pair(x: Any) -> Any:
    p = Pair(x)
    for i in range(3):
        p = Pair(p.x + i, p.y)
    print([p])
    return p


def named(x: Any) -> Any:
    return Named(x + 1)


def measure(x: Any) -> Any:
    return Measure(x) + 1


def doubled(x: Any) -> Any:
    return Doubled(x) + 1


def kept(x: Any) -> Any:
    return Kept(x + 1)["x"]


def loud(x: Any) -> Any:
    return Loud(x + 1).x


def abstract(x: Any) -> Any:
    return Child(x).get() + 1


def generic(x: Any) -> Any:
    return Held[float](x).x + Held(x).x


@pytest.mark.parametrize("function", [pair, named, measure, doubled, kept, loud, abstract, generic])
@pytest.mark.parametrize("argument", ["1.0", "np.float64(3)"])
def test_classes(function: Any, argument: str) -> None:
    check(function, argument)


class Changing:
    def __init__(self, x: Any) -> None:
        self.x = x


class Renewed:
    def __new__(cls, x: Any) -> Renewed:
        made = object.__new__(cls)
        made.x = x
        return made


@pytest.mark.parametrize(("kind", "name"), [(Changing, "__init__"), (Renewed, "__new__")])
def test_methods_that_make_objects_are_replaced(kind: Any, name: str, monkeypatch: Any) -> None:
    staged = ag.function(lambda x: kind(x).x + 1)
    assert staged(1.0) == 2.0
    old = getattr(kind, name)
    monkeypatch.setattr(kind, name, lambda self_or_class, x: old(self_or_class, x * 10))
    assert staged(1.0) == 11.0


def draws(x: Any) -> Any:
    old, new = np.random.RandomState(0), np.random.Generator(np.random.PCG64(int(x)))
    return old.normal() + x, old.rand(2), new.integers(0, 100, 3), random.Random(1).random()


def spaces(x: Any) -> Any:
    space, other = types.SimpleNamespace(a=[1]), argparse.Namespace(b=1)
    space.a.append(2)
    space.b = other.b = space == types.SimpleNamespace(a=[1, 2])
    return space, other, repr(space), x


def tools(x: Any) -> Any:
    wrapper, context = textwrap.TextWrapper(), decimal.Context(prec=3)
    wrapper.width = 10 if x > 0 else 5
    context.prec += 1
    return wrapper.wrap("aaa bbb ccc ddd"), wrapper.width, context.prec, context.divide(1, 3)


def packs(x: Any) -> Any:
    packer, unpacker, digest = zlib.compressobj(), zlib.decompressobj(), hashlib.blake2b(digest_size=4)
    digest.update(b"text")
    return unpacker.decompress(packer.compress(b"text" * 9) + packer.flush()), digest.hexdigest(), x


def polynomials(x: Any) -> Any:
    fixed, series = np.poly1d([1.0, 2.0]), np.polynomial.Polynomial([1.0, 2.0])
    fixed[3] = series.coef[0] = x
    return fixed.coeffs, fixed(2.0), series(2.0), np.poly1d([x, 1.0])(3)


@pytest.mark.parametrize("function", [draws, spaces, tools, packs, polynomials])
def test_objects_that_can_change_are_others_at_each_call(function: Any) -> None:
    check(function, "1.5", "2", "np.float64(0)")


MADE = """
object(); [object() for _ in range(2)][1]; zlib.compressobj(); zlib.decompressobj(); np.poly1d([1, 2])
TypeVar("T")
np.polynomial.Polynomial([1, 2]); hashlib.blake2b(); threading.local(); array.array("d"); ast.Name("a")
type("Made", (), {}); type("Made", (object,), {"x": x}); collections.namedtuple("Made", "x")
collections.namedtuple("Made", "x")(x).__class__; abc.ABCMeta("Made", (), {}); enum.Enum("Made", "x")
"""


@pytest.mark.parametrize("text", MADE.strip().replace("\n", ";").split(";"))
def test_each_call_makes_another(text: str) -> None:
    staged = ag.function(written(f"def f(x):\n    return {text.strip()}\n"))
    first, second = staged(1.5), staged(1.5)
    assert first is not second
    assert type(first) is type(second)
    assert getattr(first, "x", 1.5) == 1.5 or isinstance(first, enum.EnumMeta) or hasattr(first, "_fields")


def sentinels(x: Any) -> Any:
    missing, other = object(), object()
    found = [{"x": x}.get(name, missing) for name in ("x", "y")]
    held = [missing]
    for i in range(int(x)):
        held.append(missing if i % 2 else other)
    same = [each is missing for each in held]
    return found[0], found[1] is missing, missing is other, missing == other, same, len({missing, other})


def test_objects_tell_what_is_missing() -> None:
    check(sentinels, "1.5", "4", "np.float64(3)")


def test_what_makes_classes_runs_plain() -> None:
    with pytest.raises(StrictError, match="type makes a class"):
        ag.function(lambda x: type("Made", (), {"x": x}), strict="plain")(1.5)


def test_one_table_tells_what_calls_are_converted_and_which_are_made_late() -> None:
    """A class of the standard library whose objects can change is known by its name alone, too."""
    unknown = []
    for name in trace_rules.PURE | {"io", "os", "queue", "select", "socket", "threading"}:
        for attribute, kind in vars(sys.modules.get(name, types)).items():
            if isinstance(kind, type) and is_made_anew(kind) and not (name + attribute).startswith("_"):
                dotted = f"{name}.{attribute}"
                unknown += [dotted] if trace_rules.is_plain(dotted) and not trace_rules.is_made_late(dotted) else []
    assert [dotted for dotted in unknown if "._" not in dotted] == []


# Special methods by their names ---------------------------------------------------------------------------------------

METHODS = """
abs() neg() pos() add(1) radd(1) eq(x) eq(1) lt(1) hash() bool() str() repr() round() int() float() pow(2) truediv(2)
floordiv(2) mod(2) divmod(2) len() getitem(0) contains(1.0) matmul(x) iadd(1) setitem(0,5.0) copy() index() trunc()
ceil() invert() and(1) complex()
"""
VALUES = """
1.5; -2; True; np.float64(-2.5); np.array([1.0, -2.0]); np.array(3); Fraction(-1, 2); [1.0, 2.0]; 2 + 1j
"""


@pytest.mark.parametrize("method", METHODS.split())
def test_special_methods(method: str) -> None:
    """`x.__add__(y)` is not `x + y`: it does not ask `y`, and what has no such method says so."""
    name, _, rest = method.partition("(")
    function = written(f"def f(x):\n    return x.__{name}__({rest}\n")
    for value in VALUES.split(";"):
        check(function, value)


def written(text: str) -> Any:
    """The function of a text."""
    name = f"<test {text}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    exec(compile(text, name, "exec"), names := dict(globals()))
    return names["f"]


# Texts ----------------------------------------------------------------------------------------------------------------


class Row(tuple):  # type: ignore[type-arg]
    pass


class Told(tuple):  # type: ignore[type-arg]
    def __repr__(self) -> str:
        return "Told" + str(list(self))


class Items(list):  # type: ignore[type-arg]
    pass


class Point(collections.namedtuple("Point", "x y")):
    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{self.x}>"


Plain = collections.namedtuple("Plain", "x y")
TEXTS = """
repr(o); str(o); f"{o}"; f"{o!r}"; "%s" % (o,); "%r" % [o]; str([o]); repr({1: o}); "{}".format(o); "{}".format([o])
o.__repr__(); o.__str__(); type(o).__repr__(o); len(repr([o])); ", ".join(map(repr, [o, o])); ascii(o); format(o)
print(o, [o]); "1" in str([o]); str(o).split(",")
"""


HOLDERS = "Row((x, 1)); Told((x, 1)); Items([x]); Point(x, 1); Plain(x, [x]); [x]; {1: x}".split("; ")


@pytest.mark.parametrize("made", HOLDERS)
def test_strings_of_containers_of_staged_values(made: str) -> None:
    for text in TEXTS.replace("\n", ";").split(";"):
        if text.strip():
            check(written(f"def f(x):\n    o = {made}\n    return {text.strip()}\n"), "1.5")


# The standard library's own -------------------------------------------------------------------------------------------


def test_numbers_of_the_standard_library_that_are_set(monkeypatch: Any) -> None:
    @ag.function
    def count() -> Any:
        before = difflib.HtmlDiff._default_prefix  # type: ignore[attr-defined]
        difflib.HtmlDiff._default_prefix += 1  # type: ignore[attr-defined]
        return before

    @ag.function
    def first(x: Any) -> Any:
        return x + calendar.firstday  # type: ignore[attr-defined]

    monkeypatch.setattr(difflib.HtmlDiff, "_default_prefix", 0)
    assert [count(), count(), difflib.HtmlDiff._default_prefix] == [0, 1, 2]  # type: ignore[attr-defined]
    monkeypatch.setattr(calendar, "firstday", 5, raising=False)
    assert first(1) == 6
    monkeypatch.setattr(calendar, "firstday", 7)
    assert first(1) == 8


@pytest.mark.parametrize("engine", ["numpy", "auto"])
def test_tuples_that_c_makes_are_not_taken_apart(engine: str) -> None:
    """`sys.version_info` has the parts of a tuple, but no tuple can be made it."""

    def reported(x: Any) -> Any:
        version, day = sys.version_info, time.gmtime(0)
        return version, (x, version), {"version": version}, version.major + x, version[:2], day

    staged = ag.function(reported, engine=engine)
    for _ in range(3):
        found = staged(1)
        assert found == reported(1) and [type(each) for each in found] == [type(each) for each in reported(1)]
        assert type(found[1][1]) is type(found[2]["version"]) is type(sys.version_info)


def test_any_number_of_arguments_for_a_staged_constructor_of_a_library() -> None:
    """Its parameters have defaults, so that their number is unknown."""

    library: dict[str, Any] = {"__name__": "datetime"}
    exec("def __new__(cls, a, b=1, *, c=2):\n    cls.parts = a, b, c\n    return object.__new__(cls)", library)
    made = type("Made", (), {"__new__": staticmethod(ag.function(library["__new__"]))})

    @ag.function
    def make(year: int, month: int) -> Any:
        return made(*calendar.monthrange(year, month)).parts

    assert [make(2026, 11), make(2024, 2)] == [(6, 30, 2), (3, 29, 2)]


def test_methods_of_named_tuples_are_only_called_by_the_program() -> None:
    class Spoken(collections.namedtuple("Spoken", "x")):
        def _asdict(self) -> Any:
            raise AssertionError

    assert ag.function(lambda p: p.x + 1)(Spoken(1.0)) == 2.0


GONE: list[Any] = []


class Telling:
    """Tells when it is gone."""

    def __del__(self) -> None:
        GONE.append(self.v)

    v = 0


class Given(Telling):
    def __init__(self, v: Any) -> None:
        self.v = v


def lets_go_at_once(x: Any) -> Any:
    Given(x)
    return list(GONE), x


def binds_again(x: Any) -> Any:
    thing = Given(x)
    v, thing = thing.v, None
    return v, list(GONE), thing


def has_no_init(x: Any) -> Any:
    thing = Telling()
    thing.v = x
    del thing
    return list(GONE)


def holds_some(x: Any) -> Any:
    things = [Given(x + at) for at in range(3)]
    del things[1]
    return sum(thing.v for thing in things), list(GONE)


@pytest.mark.parametrize("engine", ["numpy", "native", "auto"])
@pytest.mark.parametrize("function", [lets_go_at_once, binds_again, has_no_init, holds_some])
def test_objects_tell_when_they_are_gone(function: Any, engine: str) -> None:
    def reported(function: Any) -> Any:
        GONE.clear()
        return [function(x) for x in (1, 2, 2.5)], list(GONE)

    assert reported(ag.function(function, engine=engine)) == reported(function)


def new_arrays(x: Any, n: Any) -> Any:
    by_place, alone, by_name = np.ndarray((n, 3), x.dtype), np.ndarray(4), np.ndarray(dtype=int, shape=(2, n))
    for each in (by_place, alone, by_name):
        each[...] = x[0, 0]
    columns = np.ndarray((n, 2), order="F")
    columns[:] = 0
    return by_place, alone, by_name, columns


def array_in_memory(x: Any, n: Any) -> Any:
    part = np.ndarray((n,), float, x)
    part += 1
    return part, x


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_arrays_that_are_made_by_their_class(engine: str) -> None:
    for function in (new_arrays, array_in_memory):
        staged = ag.function(function, engine=engine)
        for n in (2, 1, 0, -1, 2.0, 2**62):
            expected, found = (_outcome(each, np.ones((3, 3)), n) for each in (function, staged))
            assert found == expected
    assert "np.empty((n, 3), " in ag.function(new_arrays, engine=engine).lower(np.ones((3, 3)), 2).source


def _outcome(function: Any, *args: Any) -> Any:
    try:
        return [(each.dtype, each.shape, each.flags.num, each.tolist()) for each in function(*args)]
    except Exception as error:
        return type(error), str(error)
