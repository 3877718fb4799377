"""Machine code that seeks texts in lists: `"a" in xs`, `xs.count("a")`, `xs.index("a")`."""

from __future__ import annotations

from typing import Any

import pytest

import autograph as ag
from tests.comparing import assert_same


class Text(str):
    def __eq__(self, other: object) -> bool:
        SEEN.append(str(other))
        return super().__eq__(other)

    __hash__ = str.__hash__


class Equal:
    def __repr__(self) -> str:
        return "equal"

    def __eq__(self, other: object) -> bool:
        SEEN.append("asked")
        return True

    __hash__ = None     # type: ignore[assignment]


SEEN: list[str] = []


def counts(words: list[Any], sought: list[Any]) -> list[int]:
    found = []
    for each in sought:
        found.append(words.count(each))
        found.append(words.count("a") + 10 * words.count("é") + 100 * words.count(""))
    return found


def contains(words: list[Any], sought: list[Any]) -> list[bool]:
    found = []
    for each in sought:
        found.append(each in words)
        found.append("a" in words)
        found.append("é" not in words)
    return found


def places(words: list[Any], sought: list[Any]) -> list[int]:
    found = []
    for each in sought:
        found.append(words.index(each))
    return found


LISTS: list[list[Any]] = [
    [],
    ["a"],
    ["b", "a", "abc", "a", ""],
    ["b", "é", "日本", "a" * 300, "a"],
    ["b", 1, "a", None, 2.5],
    [1, 2, 3],
    ["b", Text("a"), "a"],
    ["x", Equal(), "a"],
    [("a",), "a"],
]
SOUGHT: list[list[Any]] = [
    ["a", "b"], ["".join(["a", "bc"]), "a"], ["é", "日" + "本", "a" * 300], [Text("a"), "b"], ["nothing"], ["a", 1], [],
]  # fmt: skip


@pytest.mark.parametrize("engine", ["numpy", "native", "default"])
@pytest.mark.parametrize("function", [counts, contains, places], ids=lambda each: each.__name__)
def test_texts_are_found_as_python_finds_them(function: Any, engine: str) -> None:
    staged = ag.function(function) if engine == "default" else ag.function(function, engine=engine)
    for words in LISTS:
        for sought in SOUGHT:
            for _ in range(2):
                SEEN.clear()
                assert_same(staged, words * 3, sought * 9)
                half = len(SEEN) // 2
                assert SEEN[:half] == SEEN[half:]


def of_ascii(words: list[str], sought: list[str]) -> list[Any]:
    return [(words.count(each), words.count("a"), each in words, "ab" in words) for each in sought]


@pytest.mark.parametrize("function", [of_ascii, places], ids=lambda each: each.__name__)
def test_texts_are_found_without_python(function: Any) -> None:
    staged = ag.function(function, engine="native", strict="native_callback")
    words, sought = ["b", "a", "abc", "", *map(chr, range(97, 123))] * 4, [*map(chr, range(97, 123))] * 4
    for _ in range(2):
        assert staged(words, sought) == function(words, sought)
