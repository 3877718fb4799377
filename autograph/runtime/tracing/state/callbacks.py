"""The functions that a graph calls as they are, and what they get."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograph.common.packages import why_called
from autograph.common.statics import own_attribute
from autograph.runtime.tracing.proxies.proxy import is_tensor


class Callbacks:
    """The functions that the graph calls without tracing them.

    Attributes:
        called: the functions.
        handed: the same with their names and what they get, for each call.
        packages: installed packages whose functions and objects the graph uses.
        differentiated: whether a derivative, which cannot go through callbacks, is recorded.
    """

    def __init__(self) -> None:
        self.called: list[Any] = []
        self.handed: list[tuple[str, tuple[Any, ...]]] = []
        self.packages: set[str] = set()
        self.differentiated = False

    def note(self, function: Any, args: tuple[Any, ...]) -> str:
        """Note that a function is called; returns the reason why it is not traced into."""
        self.called.append(function)
        package, why = why_called(function)
        self.packages.update(package)
        name = own_attribute(function, "__name__", type(function).__name__)
        self.handed.append((str(name), (function, *_within(args))))
        return why

    def differentiate(self) -> None:
        """Note that a derivative is recorded."""
        self.differentiated = True


def _within(args: tuple[Any, ...]) -> Iterator[Any]:
    """The arguments of a call, and what is in containers among them, which traced code may change later."""
    rest, seen = [*args], set[int]()
    while rest:
        part = rest.pop()
        if type(part) in (list, tuple, set, dict) and id(part) not in seen:
            seen.add(id(part))
            rest += part.values() if type(part) is dict else part
        if not is_tensor(part):
            yield part
