"""Objects of the standard library's classes, and of the user's that are derived from them, which are written in Python.

Their methods are not traced into, but run when the graph runs, as they may call the user's, and look at attributes.
"""

from __future__ import annotations

import argparse
import builtins
import collections
import configparser
import csv
import datetime
import decimal
import io
import itertools
import linecache
import re
import string
import struct
import sys
import types
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import autograph as ag

ENGINES = pytest.mark.parametrize("engine", ["numpy", "auto"])


class Table(collections.UserDict):  # type: ignore[type-arg]
    def put(self, key: Any, value: Any) -> int:
        self[key] = value
        return len(self)


class Counting(string.Formatter):
    def __init__(self) -> None:
        self.count = 0

    def get_value(self, key: Any, args: Any, kwargs: Any) -> Any:
        self.count += 1
        return self.count

    def reported(self) -> str:
        return self.format("{}{}")


class Dialect(csv.Dialect):
    delimiter, quotechar = ";", '"'
    lineterminator = "\n"
    quoting: Any = 0

    def __init__(self) -> None:
        pass


@ENGINES
def test_methods_of_base_classes_run_in_their_iteration(engine: str) -> None:
    table, formatter = Table(), Counting()
    put, reported = ag.function(Table.put, engine=engine), ag.function(Counting.reported, engine=engine)
    assert [put(table, "a", 1), put(table, "b", 2), put(table, "a", 3)] == [1, 2, 2]
    assert table.data == {"a": 3, "b": 2}
    assert [reported(formatter) for _ in range(3)] == ["12", "34", "56"] and formatter.count == 6


@ENGINES
@pytest.mark.parametrize(
    "validate",
    [
        lambda dialect: dialect._validate(),
        lambda dialect: csv.Dialect._validate(dialect),
        lambda dialect: csv.Dialect._validate(self=dialect),
    ],
)
def test_methods_of_base_classes_look_at_attributes_of_classes(validate: Any, engine: str, monkeypatch: Any) -> None:
    staged = ag.function(validate, engine=engine)
    staged(Dialect())
    monkeypatch.setattr(Dialect, "quoting", None)
    with pytest.raises(csv.Error, match='"quoting" must be an integer'):
        staged(Dialect())


class Numerator:
    @property
    def numerator(self) -> Numerator:
        return self


@ENGINES
def test_objects_that_are_made_without_their_class(engine: str) -> None:
    def made(numerator: Any) -> Any:
        found = object.__new__(Fraction)
        found._numerator = numerator.numerator  # type: ignore[attr-defined]
        return found

    staged = ag.function(made, engine=engine)
    for given in (Numerator(), Numerator(), 3, 4):
        assert staged(given)._numerator is given


# Classes of a library, whose objects traced code does not look into.
LIBRARY: dict[str, Any] = {"__name__": "datetime"}
exec(
    """class Base:
    __slots__ = ["a", "b"]
    kind: str
class Derived(Base):
    def names(self):
        return self.__slots__, self.__annotations__
    def equals(self):
        return self.__eq__
""",
    LIBRARY,
)


@ENGINES
def test_what_super_finds(engine: str) -> None:
    parser = configparser.ConfigParser()
    add = ag.function(configparser.ConfigParser.add_section, engine=engine)
    items = ag.function(configparser.ConfigParser.items, engine=engine)
    add(parser, "a")
    add(parser, "b")
    assert parser.sections() == ["a", "b"] and [*items(parser)] == [*parser.items()]
    with pytest.raises(configparser.DuplicateSectionError):
        add(parser, "b")


@ENGINES
def test_attributes_that_proxies_have_themselves(engine: str) -> None:
    thing = LIBRARY["Derived"]()
    assert ag.function(type(thing).names, engine=engine)(thing) == (["a", "b"], {"kind": "str"})
    assert ag.function(type(thing).equals, engine=engine)(thing) == thing.__eq__


def test_constructors_of_named_tuples() -> None:
    kind = collections.namedtuple("kind", "x y")  # noqa: PYI024
    staged = ag.function(kind.__new__)
    assert staged(kind, 1, y=2) == (1, 2) and type(staged(kind, 1, 2)) is kind


@ENGINES
@pytest.mark.parametrize("name", ["Point", "list", "tuple", "float"])
def test_classes_of_a_namespace_without_a_name(name: str, engine: str) -> None:
    source = f"""if True:
    class {name}:
        def __init__(self, x):
            self.x = x

        def append(self, v):
            self.x += v

    def main(n):
        a = {name}(n)
        for i in range(n):
            a.append(i)
        return [a]
    """
    namespace: dict[str, Any] = {}
    filename = f"<{name} {engine}>"
    linecache.cache[filename] = len(source), None, source.splitlines(keepends=True), filename
    exec(compile(source, filename, "exec"), namespace)
    staged = ag.function(namespace["main"], engine=engine)
    ((first,), (second,)) = staged(4), staged(4)
    assert first is not second and first.x == second.x == 10


def test_names_that_are_made_builtins() -> None:
    @ag.function
    def install(value: Any) -> None:
        builtins.__dict__["_test"] = value

    try:
        for value in (1, 2):
            install(value)
            assert builtins._test == value  # type: ignore[attr-defined]
    finally:
        del builtins._test  # type: ignore[attr-defined]


@ENGINES
def test_attributes_that_are_set_by_name(engine: str) -> None:
    """Of what traced code looks into, though its class is the standard library's."""

    def set_all(thing: Any, values: Any) -> Any:
        for name in values:
            setattr(thing, name, values[name])
        return sorted(vars(thing).items())

    staged = ag.function(set_all, engine=engine)
    for kind in (argparse.Namespace, types.SimpleNamespace):
        for value in (1, 2.5, "x"):
            thing, other = kind(b=1), kind(b=1)
            assert staged(thing, {"a": value, "b": 2}) == set_all(other, {"a": value, "b": 2})
            assert repr(thing) == repr(other)


@ENGINES
def test_attributes_that_no_code_can_name(engine: str) -> None:
    staged = ag.function(lambda thing: sorted(thing.__dict__.items()), engine=engine)
    for names in ("a)", '"', "if", "a.b", "a b"):
        thing = argparse.Namespace(**{names: 1, "other": 2})
        assert staged(thing) == staged(thing) == sorted(vars(thing).items())


def test_what_is_set_in_sys(monkeypatch: Any) -> None:
    @ag.function
    def reported() -> Any:
        return sys.stdout is None, sys.dont_write_bytecode

    for stdout, flag in ((None, True), (io.StringIO(), False), (None, False)):
        monkeypatch.setattr(sys, "stdout", stdout)
        monkeypatch.setattr(sys, "dont_write_bytecode", flag)
        assert reported() == (stdout is None, flag)


def packed(x: Any, n: Any) -> Any:
    data = bytearray(8)
    struct.pack_into("i", data, 0, n)
    return bytes(data), data[0]


def packed_in_a_branch(x: Any, n: Any) -> Any:
    data = bytearray(8)
    if n > 1:
        struct.pack_into("d", data, 0, x)
    return bytes(data)


def written_through_a_view(x: Any, n: Any) -> Any:
    data = bytearray(8)
    view = memoryview(data)
    if n > 1:
        view[0] = 100
    return bytes(data)


def read_through_a_view(x: Any, n: Any) -> Any:
    view = memoryview(b"abc")
    return view[1] * x, len(view) + n, view.tolist()


@ENGINES
@pytest.mark.parametrize("function", [packed, packed_in_a_branch, written_through_a_view, read_through_a_view])
def test_bytearrays_that_code_in_c_changes(function: Any, engine: str) -> None:
    staged = ag.function(function, engine=engine)
    for n in (0, 3, 1):
        assert staged(2.5, n) == function(2.5, n)


def missing(x):
    try:
        return x.missing
    except AttributeError as error:
        return str(error)


MADE = [
    collections.deque([1]), collections.OrderedDict(), collections.Counter(), datetime.date(2020, 1, 1),
    datetime.timedelta(1), decimal.Decimal(1), Fraction(1), re.compile("a"), itertools.count(), iter([1]),
    np.random.default_rng(0), np.poly1d([1]), types.SimpleNamespace(), bytearray(b"a"), range(3), {}.keys(), zip(),
]  # fmt: skip


@pytest.mark.parametrize("made", MADE, ids=lambda made: type(made).__name__)
def test_an_attribute_that_is_missing_is_reported_as_by_python(made):
    assert ag.function(missing, engine="numpy")(made) == missing(made)
