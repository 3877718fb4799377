"""Counting what code does, for tests of how its cost grows: unlike times, counts are the same on a busy machine."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines(work: Callable[[], Any]) -> int:
    """How many lines of Python run in a call."""
    count = 0

    def follow(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return follow

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def calls(work: Callable[[], Any]) -> int:
    """How many calls of Python functions there are in a call, itself left out."""
    count = -1

    def follow(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(follow)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
