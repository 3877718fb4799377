"""Traced code reads and changes the attributes of a class for all its instances, however it reaches the class."""

from __future__ import annotations

import copy
import enum
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

import autograph as ag
from tests.runtime.objects import no_stand_in_is_left  # noqa: F401


class Base:
    log: ClassVar[list[Any]] = []
    count = 0

    def note(self, x: Any) -> None:
        self.log.append(x)

    @classmethod
    def tally(cls, x: Any) -> None:
        cls.log.append(x)
        cls.count += 1


class Derived(Base):
    pass


class Registering(type):
    log: ClassVar[list[Any]] = []
    count = 0

    def note(cls, x: Any) -> None:
        cls.log.append(x)


class Registered(metaclass=Registering):
    pass


@dataclass
class Record:
    x: Any
    log: ClassVar[list[Any]] = []
    count: ClassVar[int] = 0

    def note(self, x: Any) -> None:
        self.log.append(x)
        type(self).count += 1


class Pair(namedtuple("Pair", "a b")):  # noqa: PYI024, SLOT002
    log: ClassVar[list[Any]] = []
    count = 0

    def note(self, x: Any) -> None:
        self.log.append(x)
        type(self).count += 1


class Color(enum.Enum):
    RED = 1

    def note(self, x: Any) -> None:
        type(self).log.append(x)  # type: ignore[attr-defined]


Color.log, Color.count = [], 0  # type: ignore[attr-defined]


class Holder:
    def __init__(self) -> None:
        self.derived, self.kind, self.record = Derived(), Derived, Record(1)


CASES: dict[str, tuple[Callable[[Any, Any], Any], Any, type]] = {
    "base": (lambda _, x: Derived.log.append(x), None, Base),
    "made": (lambda _, x: Derived().note(x), None, Base),
    "class method": (lambda _, x: Derived.tally(x), None, Base),
    "argument": (lambda kind, x: kind.log.append(x), Derived, Base),
    "in a list": (lambda kinds, x: [kind.tally(x) for kind in kinds], [Derived], Base),
    "metaclass": (lambda _, x: Registered.note(x), None, Registering),
    "dataclass": (lambda record, x: record.note(x), Record(1), Record),
    "dataclass made": (lambda _, x: Record(x).note(x), None, Record),
    "named tuple": (lambda pair, x: pair.note(x), Pair(1, 2), Pair),
    "enum": (lambda color, x: color.note(x), Color.RED, Color),
    "object in an object": (lambda holder, x: holder.derived.note(x), Holder(), Base),
    "class in an object": (lambda holder, x: holder.kind.log.append(x), Holder(), Base),
    "dataclass in an object": (lambda holder, x: holder.record.note(x), Holder(), Record),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_changed(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    change, argument, kind = CASES[case]
    found = []
    for function in (change, ag.function(change)):
        monkeypatch.setattr(kind, "log", [])
        monkeypatch.setattr(kind, "count", 0)
        given = copy.copy(argument)
        for x in (1, 2, 2.5):
            function(given, x)
        found.append((kind.log, kind.count, Derived.__dict__.get("count")))  # type: ignore[attr-defined]
        if "count" in vars(Derived):
            del Derived.count
    assert found[0] == found[1]
    assert len(found[0][0]) == 3


READERS: list[tuple[Callable[[Any], Any], Any, type]] = [
    (lambda _: (Derived.count, Derived.log[:]), None, Base),
    (lambda kind: (kind.count, kind().log[:]), Derived, Base),
    (lambda record: (record.count, record.log[:]), Record(1), Record),
    (lambda pair: (pair.count, pair.log[:]), Pair(1, 2), Pair),
    (lambda color: (color.count, color.log[:]), Color.RED, Color),
    (lambda holder: (holder.derived.count, holder.record.log[:]), Holder(), Base),
    (lambda holder: (holder.record.count, holder.record.log[:]), Holder(), Record),
    (lambda _: (Registered.count, Registered.log[:]), None, Registering),
]


@pytest.mark.parametrize("read, argument, kind", READERS)
def test_what_is_read(
    read: Callable[[Any], Any], argument: Any, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    staged = ag.function(read)
    monkeypatch.setattr(kind, "log", [])
    monkeypatch.setattr(kind, "count", 0)
    for n in range(3):
        assert staged(argument) == read(argument)
        kind.log.append(n)
        kind.count = n + 10
    kind.log = ["another"]
    assert staged(argument) == read(argument)


def test_an_attribute_that_comes_to_hide_that_of_the_base(monkeypatch: pytest.MonkeyPatch) -> None:
    staged = ag.function(lambda: (Derived.count, Derived().count))
    assert staged() == (0, 0)
    monkeypatch.setattr(Derived, "count", 5, raising=False)
    assert staged() == (5, 5)
