"""What docs/limits.md says of machine code."""

from __future__ import annotations

import autograph as ag


def carried(x, n):
    y = x
    for i in range(n):
        if i > 5:
            y = i
    return y


def compared(x, n):
    y = x
    for i in range(n):
        if y is not x:
            return i
        y = i
    return -1


def test_an_equal_number_is_not_the_same_object() -> None:
    staged, x = ag.function(carried, engine="native"), 12345
    assert carried(x, 3) is x
    assert staged(x, 3) == x and type(staged(x, 3)) is int and staged(x, 3) is not x


def test_who_asks_for_the_same_object_is_left_to_numpy() -> None:
    staged, x = ag.function(compared, engine="native"), 12345
    assert staged(x, 3) == compared(x, 3)
    assert not any(event.kind == "machine code" for event in staged.explain(x, 3))
