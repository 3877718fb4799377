"""Loops over the letters of texts, and over texts in lists, which they compare."""

from __future__ import annotations

import pytest

import autograph as ag
from tests.runtime.engines.native.programs import regions


class Text(str):
    """Compared by its length."""

    def __eq__(self, other):
        return len(self) == len(other)

    def __lt__(self, other):
        return len(self) < len(other)

    __hash__ = str.__hash__


def classes(text):
    lower = spaces = late = others = 0
    for letter in text:
        if "a" <= letter <= "z":
            lower += 1
        elif letter == " ":
            spaces += 1
        elif letter > "é":
            late += 1
        elif letter != "":
            others += 1
    return lower, spaces, late, others


def shifted(text):
    moved = []
    for letter in text:
        moved.append(chr((ord(letter) - 97 + 3) % 26 + 97) if "a" <= letter <= "z" else letter)
    return "".join(moved)


def rising(text):
    """Letters that are compared with one another, by all operators."""
    count = 0
    for i in range(1, len(text)):
        one, other = text[i - 1], text[i]
        count += (one < other) + 10 * (one <= other) + 100 * (one > other) + 1000 * (one >= other) + (one != other)
    return count


def words(text):
    found = ""
    for word in text.split():
        if word == "the" or word > found:
            found = word
    return found


def vowels(text):
    count = 0
    for letter in text:
        if letter in "aeiou":
            count += 1
        elif letter not in "bcdfgh ":
            count += 100
    return count, "quick" in text, [word in "the a fox" for word in text.split()]


TEXTS = ["the quick brown fox " * 5, "", "Zoë ßtraße \U0001f600 \x00\x7f\x80ÿĀ" * 4, "a\ud800b" * 20, "the The ab " * 4]


@pytest.mark.parametrize("function", [classes, shifted, rising, words, vowels])
def test_letters_are_compared_in_machine_code(function):
    staged = ag.function(function, engine="native")
    for text in (TEXTS[0], TEXTS[-1]):
        assert staged(text) == function(text)
    found = regions(staged)
    assert any(region.compiled for region in found) and not any(region.left for region in found)
    for text in (*TEXTS, Text("the the fox"), *TEXTS[::-1]):
        assert staged(text) == function(text)
