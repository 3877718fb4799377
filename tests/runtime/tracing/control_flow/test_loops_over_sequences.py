"""Loops over objects of the user's with `__getitem__` and `__len__` ask for no length, as Python's do not."""

from __future__ import annotations

from typing import Any

import pytest

import autograph as ag

ASKED: list[str] = []


class Sequence:
    def __init__(self, count):
        self.count = count

    def __len__(self):
        ASKED.append("length")
        return self.count

    def __getitem__(self, index):
        ASKED.append("item")
        if index >= self.count:
            raise IndexError(index)
        return index * 1.5


class Countdown:
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return self

    def __length_hint__(self):
        ASKED.append("hint")
        return self.count

    def __next__(self):
        self.count -= 1
        if self.count < 0:
            raise StopIteration
        return self.count


def total(xs):
    found = 0
    for x in xs:
        found = found + x
    return found


@pytest.mark.parametrize("make", [Sequence, Countdown])
@pytest.mark.parametrize("engine", ["numpy", "native", "auto"])
def test_no_length_is_asked(make: Any, engine: str) -> None:
    staged = ag.function(total, engine=engine)
    for count in (3, 0, 5):
        ASKED.clear()
        wanted = total(make(count)), [*ASKED]
        ASKED.clear()
        assert (staged(make(count)), ASKED) == wanted
