"""A class of the user's with a bit of everything, and how functions that use such are compared."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import pytest

import autograph as ag
from autograph.runtime.tracing.calls import special_methods
from autograph.runtime.tracing.state.undo_log import PATCHED
from tests import outcomes


@pytest.fixture(autouse=True)
def no_stand_in_is_left(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    assert not PATCHED
    assert not special_methods._PATCHES
    for thing in vars(request.module).values():
        if isinstance(thing, type) and thing.__module__.startswith("tests."):
            for member in vars(thing).values():
                assert getattr(member, "__globals__", {}).get("__name__") != special_methods.__name__


def check(function: Any, *calls: str) -> None:
    """Compare the staged function with the plain one, at two runs of each call, and once more backwards."""
    staged = ag.function(function)
    for arguments in [*(each for call in calls for each in (call, call)), *reversed(calls)]:
        Tally.made = 0
        wanted = outcomes.run(function, arguments)
        Tally.made = 0
        actual = outcomes.run(staged, arguments)
        assert actual == wanted, arguments
        assert actual.raised_at == wanted.raised_at, arguments


class Tally:
    made = 0

    def __init__(self, n: Any = 0) -> None:
        Tally.made += 1
        self.n = n
        self.log: list[Any] = []

    @property
    def double(self) -> Any:
        if self.n > 3:
            print("large")
        return self.n * 2

    @double.setter
    def double(self, value: Any) -> None:
        print("halving", value)
        self.n = value / 2 if value > 0 else 0
        self.log.append(value)

    @double.deleter
    def double(self) -> None:
        self.n = 0

    @functools.cached_property
    def expensive(self) -> Any:
        print("computing")
        return [self.n, self.n**2]

    @classmethod
    def of(cls, n: Any) -> Any:
        return cls(n * 2)

    @staticmethod
    def clip(x: Any) -> Any:
        return 0 if x < 0 else x

    def advance(self, by: Any) -> Any:
        self.n += self.clip(by)
        return self
