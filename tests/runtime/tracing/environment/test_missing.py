"""A name or attribute that a function has not found may be there in a later call."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import pytest

import autograph as ag
from tests import outcomes


class Kind:
    pass


module = types.ModuleType("module")


def helper() -> None:
    pass


def on_one_path(n: Any) -> Any:
    return to_come[0] if n > 3 else n  # type: ignore[name-defined] # noqa: F821


def always(n: Any) -> Any:
    return to_come[0] + n  # type: ignore[name-defined] # noqa: F821


def of_a_class(n: Any) -> Any:
    return hasattr(Kind, "to_come"), getattr(Kind, "to_come", n)


def of_its_objects(n: Any) -> Any:
    return Kind().to_come if hasattr(Kind, "to_come") else n  # type: ignore[attr-defined]


def asked_of_a_class(n: Any) -> Any:
    return Kind.to_come, n  # type: ignore[attr-defined]


def of_a_module(n: Any) -> Any:
    return hasattr(module, "to_come"), getattr(module, "to_come", n)


def of_a_function(n: Any) -> Any:
    return hasattr(helper, "to_come"), getattr(helper, "to_come", n)


PLACES: list[tuple[Callable[[Any], Any], Any]] = [
    (on_one_path, None), (always, None), (of_a_class, Kind), (of_its_objects, Kind), (asked_of_a_class, Kind),
    (of_a_module, module), (of_a_function, helper),
]  # fmt: skip


@pytest.mark.parametrize("function, place", PLACES)
def test_what_is_there_later(function: Any, place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    staged = ag.function(function)
    for n in ("5", "2"):
        assert outcomes.run(staged, n) == outcomes.run(function, n)
    if place is None:
        monkeypatch.setitem(globals(), "to_come", [7])
    else:
        monkeypatch.setattr(place, "to_come", [7], raising=False)
    for n in ("5", "2"):
        assert outcomes.run(staged, n) == outcomes.run(function, n)
    monkeypatch.undo()
    for n in ("5", "2"):
        assert outcomes.run(staged, n) == outcomes.run(function, n)


class MakingUp(type):
    """Its classes print what they are asked for in vain."""

    def __getattr__(cls, name: str) -> Any:
        print("asked for", name)
        if name == "made_up":
            return 5
        raise AttributeError(name)


class Made(metaclass=MakingUp):
    pass


def of_a_class_that_is_asked(n: Any) -> Any:
    return hasattr(Made, "to_come"), getattr(Made, "to_come", n), hasattr(Made, "made_up")


def test_who_makes_attributes_up_is_asked_as_often() -> None:
    staged = ag.function(of_a_class_that_is_asked)
    for n in ("5", "5", "2"):
        assert outcomes.run(staged, n) == outcomes.run(of_a_class_that_is_asked, n)
