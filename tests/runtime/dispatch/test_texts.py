"""A text that traced code works on at length becomes an object of the graph, so that one trace serves other texts."""

from __future__ import annotations

from typing import Any

import pytest

import autograph as ag
from autograph.runtime.tracing.control_flow.loop import IDLE
from tests.comparing import assert_same


def spread_bits(lines: list[str]) -> tuple[int, list[int]]:
    """A search that depends on texts only."""
    bits = [0] * 9
    places = []
    for r, line in enumerate(lines):
        for c, letter in enumerate(line):
            if letter == ".":
                places.append((r, c))
            else:
                bits[r] |= 1 << int(letter)
    rounds = 0
    for _ in range(400):
        for r, c in places:
            rounds += 1
            bits[r] ^= 1 << c
    return rounds, bits


def caught(text: str) -> int:
    total = 0
    try:
        while total < 100_000:
            for letter in text:
                total += ord(letter)
    except:  # noqa: E722
        return -1
    finally:
        total += 1
    return total


def by_mode(x: float, mode: str) -> float:
    table = [0] * 256
    for k in range(3 * IDLE):
        table[k % 256] += k
    return x * table[7] if mode == "fast" else x + len(mode)


def table_of(x: float, kind: str) -> float:
    """Needs its text while it is traced."""
    total = 0
    for k in range(3 * IDLE):
        total += k % 7
    names = {"a.b": 1.5, "c.d": 2.5}
    return x * total * next(value for name, value in names.items() if hash(name) == hash(kind))


def of_bytes(data: bytes) -> list[int]:
    counts = [0] * 4
    for _ in range(IDLE):
        for value in data:
            counts[value & 3] += 1
    return counts


LINES = ["53..7....", "6..195...", ".98....6.", "8...6...3", "4..8.3..1"]
CALLS: list[tuple[Any, list[tuple[Any, ...]]]] = [
    (spread_bits, [(LINES,), (LINES[::-1],), (["...", "12.", "9x."],), ([],), ([".."] * 9,)]),
    (caught, [("a b",), ("c-d",), ("é!",)]),
    (by_mode, [(1.5, "fast"), (2.5, "slow"), (1.5, "a-b"), (1.5, "")]),
    (table_of, [(1.5, "a.b"), (1.5, "c.d"), (1.5, "x.y")]),
    (of_bytes, [(b"\x01\x02 abc",), (b"",), (b"\x03",)]),
]


@pytest.mark.parametrize("engine", ["numpy", "native", None])
@pytest.mark.parametrize("function, calls", CALLS, ids=[function.__name__ for function, _ in CALLS])
def test_same_for_all_texts(function: Any, calls: list[tuple[Any, ...]], engine: str | None) -> None:
    staged = ag.function(function) if engine is None else ag.function(function, engine=engine)
    for call in calls * 2:
        assert_same(staged, *call)


def test_one_trace_serves_other_texts() -> None:
    staged = ag.function(spread_bits)
    for at in range(3):
        lines = LINES[at:] + LINES[:at]
        assert staged(lines) == spread_bits(lines)
    assert [trace.plain for trace in staged.traces] == [""]
    told = [event.message for event in staged.explain(LINES).where(kind="signature")]
    reason = f"{IDLE + 1:,} iterations depend on no other arguments"
    assert told[0] == f"`lines[0]` is one object of the graph from now on: {reason}"


def test_names_of_modes_stay_part_of_the_signature() -> None:
    staged = ag.function(by_mode)
    assert staged(1.5, "fast") == by_mode(1.5, "fast")
    assert "mode='fast'" in str(staged.explain(1.5, "fast"))


def test_a_text_that_has_to_be_known_stays_part_of_the_signature() -> None:
    staged = ag.function(table_of)
    assert staged(1.5, "a.b") == table_of(1.5, "a.b")
    assert [trace.plain for trace in staged.traces] == [""]
    assert staged(1.5, "c.d") == table_of(1.5, "c.d")


def test_derivatives_keep_texts_in_the_signature() -> None:
    staged = ag.function(table_of)
    staged(1.5, "a.b")
    assert ag.grad(staged)(1.5, "a.b") == table_of(1.0, "a.b")


def test_text_that_strict_options_need_to_know() -> None:
    assert ag.function(table_of, strict=True)(1.5, "a.b") == table_of(1.5, "a.b")
