"""Code before and after conversion, one below or one beside the other."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Row(NamedTuple):
    """A line of each side, counted from 0, or None where the other side has nothing like it."""

    left: int | None
    right: int | None
    changed: bool

    @property
    def mark(self) -> str:
        if self.left is None or self.right is None:
            return ">" if self.left is None else "<"
        return "|" if self.changed else " "


def unified(before: str, after: str, filename: str) -> str:
    """What `diff -u` prints."""
    sides = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return "".join(difflib.unified_diff(*sides, filename, f"{filename} (converted)"))


def rows(before: str, after: str) -> Iterator[Row]:
    """Align the lines; those that differ in nothing but indentation count as equal."""
    left, right = ([line.strip() for line in text.splitlines()] for text in (before, after))
    for tag, *span in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        for pair in zip_longest(range(*span[:2]), range(*span[2:])):
            yield Row(*pair, tag != "equal")


def side_by_side(before: str, after: str) -> str:
    """What `diff -y` prints, with columns as wide as they need to be."""
    left, right = before.splitlines(), after.splitlines()
    width = max(map(len, left), default=0)
    lines = (f"{line(left, row.left):{width}} {row.mark} {line(right, row.right)}" for row in rows(before, after))
    return "".join(f"{text.rstrip()}\n" for text in lines)


def line(lines: Sequence[T], number: int | None) -> T | str:
    """A line, or nothing where there is none."""
    return "" if number is None else lines[number]
