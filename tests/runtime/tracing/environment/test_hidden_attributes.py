"""Objects whose classes have a say when attributes are looked at, set or copied: staging must not be noticed."""

from __future__ import annotations

import copy
from collections import UserList
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import autograph as ag
from tests.runtime.objects import Tally, check, no_stand_in_is_left  # noqa: F401

# Dataclasses that are more than their fields ------------------------------------------------------------------------


@dataclass
class Started:
    x: Any
    y: int = field(init=False, default=3)  # of the class, until it is set


@dataclass
class Uncopied:
    x: Any

    def __copy__(self) -> Any:
        print("copied")
        return Uncopied(-1)

    def __reduce__(self) -> Any:
        raise RuntimeError("not to be copied")


@dataclass
class Failure(Exception):
    x: Any


@dataclass
class Watched:
    x: Any

    def __getattribute__(self, name: str) -> Any:
        if name == "x":
            print(name)
        return object.__getattribute__(self, name)


@dataclass
class Fallen:
    x: Any
    y: int = field(init=False)

    def __getattr__(self, name: str) -> Any:
        if name != "y":
            raise AttributeError(name)
        print(name)
        return 7


def made_with_a_default(x: Any) -> Any:
    made = Started(x)
    return made, made.y, vars(made).copy()


def changed(thing: Any) -> Any:
    thing.x += 1
    return thing, vars(thing).copy()


def copied(x: Any) -> Any:
    made = Uncopied(x)
    if x > 1:
        made.x = 5
    return made, copy.copy(made).x


def raised(error: Any) -> Any:
    return error, error.args, error.x


def asked_for_what_is_not_there(thing: Any) -> Any:
    return thing.y + thing.x


def test_dataclasses_that_are_more_than_their_fields() -> None:
    check(made_with_a_default, "1", "2")
    check(changed, "Started(1)", "Uncopied(1)", "Watched(1)", "Started(2)", "Uncopied(2)", "Watched(2)")
    check(copied, "1", "2")
    check(raised, "Failure(1)", "Failure(2)", "Failure(2.5)")
    check(asked_for_what_is_not_there, "Fallen(1)", "Fallen(2)")


def test_a_dataclass_that_is_an_object_once_is_taken_apart_still() -> None:
    def is_float(thing: Any) -> Any:
        return isinstance(thing.x, float), thing.x

    staged = ag.function(is_float)
    more = Started(1)
    more.more = 1  # type: ignore[attr-defined]
    for thing in (more, Started(1), Started(2.5), Started(True)):
        assert staged(thing) == is_float(thing)


# Attributes behind descriptors --------------------------------------------------------------------------------------


class Descriptor:
    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, thing: Any, kind: Any = None) -> Any:
        print("get")
        return self if thing is None else thing.__dict__[self.name]

    def __set__(self, thing: Any, value: Any) -> None:
        print("set")
        thing.__dict__[self.name] = value


class Described:
    x = Descriptor()

    def __init__(self, x: Any) -> None:
        self.x = x


class Behind:
    def __init__(self, x: Any) -> None:
        self.__dict__["x"] = x

    @property
    def x(self) -> Any:
        print("x")
        return self.__dict__["x"]


class Logged:
    def __init__(self, x: Any) -> None:
        self.k = x

    def __getattribute__(self, name: str) -> Any:
        if name == "k":
            print(name)
        return object.__getattribute__(self, name)


def reads(thing: Any) -> Any:
    return thing.x * 2


def doubles(thing: Any) -> Any:
    thing.x *= 2
    if thing.x > 2:
        thing.x += 1
    return thing.x


def makes(x: Any) -> Any:
    made = Described(x)
    made.x *= 2
    return made, Behind(x)


def logs(x: Any) -> Any:
    made = Logged(x)
    made.k += x
    return made, made.k


def test_attributes_behind_descriptors() -> None:
    check(reads, "Behind(1)", "Described(1)", "Behind(2)", "Described(2)")
    check(doubles, "Described(1)", "Described(2)", "Described(2.5)")
    check(makes, "1", "2", "2.5")
    check(logs, "1", "2", "2.5")


def fills(thing: Any, x: Any) -> Any:
    thing.x = x
    return vars(thing).copy()


def empties(thing: Any) -> Any:
    del thing.__dict__["x"]
    return vars(thing)


def test_attributes_that_come_to_be_behind_descriptors() -> None:
    check(fills, "Described.__new__(Described), 1", "Described.__new__(Described), 2.5")
    check(empties, "Described(1)", "Described(2)")


class Told:
    """Says what it is asked for as a key."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __hash__(self) -> int:
        print("hash", self.x)
        return 5

    def __eq__(self, other: object) -> bool:
        print("eq", self.x)
        return self is other


def keys(x: Any) -> Any:
    one, other = Told(x), Told(x + 1)
    found = {one: x, other: 2}
    return one in found, found.pop(other), len({one, other}), [each.x for each in found]


def test_keys_that_tell_of_it() -> None:
    check(keys, "1", "2", "2.5")


def test_methods_of_object_are_no_reason_to_ask_for_attributes() -> None:
    asked = []

    class Asked:
        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            raise AttributeError(name)

    found = Asked()
    for function in (lambda x: found.__dir__(), lambda x: x.__dir__()):
        staged = ag.function(function)
        assert [sorted(staged(found)) for _ in range(2)] == [sorted(object.__dir__(found))] * 2
    assert asked == []


def test_methods_of_object_of_what_the_standard_library_makes() -> None:
    for thing in (Fraction(1, 2), UserList([1])):
        staged = ag.function(lambda x: x.__reduce_ex__(2))
        assert [staged(thing) for _ in range(2)] == [thing.__reduce_ex__(2)] * 2
