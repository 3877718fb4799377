"""Programs that change something between the calls of a staged function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import autograph as ag


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives or raises, to be compared."""
    try:
        result = call()
        return repr(result), type(result)
    except Exception as error:
        return type(error), str(error)


def check_each_step(case: Callable[[], Iterator[Any]], **options: Any) -> Any:
    """Compare a function, staged and plain, after each change.

    Args:
        case: yields a function of one number, and changes something before each further `yield`.
    """
    steps = case()
    function = next(steps)
    staged = ag.function(function, **options)
    for number in range(2):
        assert outcome(lambda: staged(number)) == outcome(lambda: function(number))
    for step, _ in enumerate(steps):
        for number in (1, 1, 2):
            assert outcome(lambda: staged(number)) == outcome(lambda: function(number)), f"after change {step + 1}"
    return staged
