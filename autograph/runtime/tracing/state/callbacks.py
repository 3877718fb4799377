"""The functions that a graph calls as they are, and what they get."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograph.common.packages import why_called
from autograph.common.statics import ATOMS, own_attribute
from autograph.runtime.tracing.proxies.proxy import is_tensor


class Callbacks:
    """The functions that the graph calls without tracing them.

    Attributes:
        called: the functions.
        handed: by the identities of functions: a name, and the function and what it gets in each call. Tuples hold
            that, since a list that refers to a container of traced code is taken for one of the program's.
        packages: installed packages whose functions and objects the graph uses.
        differentiated: whether a derivative, which cannot go through callbacks, is recorded.
    """

    def __init__(self) -> None:
        self.called: list[Any] = []
        self.handed: dict[int, tuple[str, list[tuple[Any, ...]]]] = {}
        self.packages: set[str] = set()
        self.differentiated = False

    def note(self, function: Any, args: tuple[Any, ...]) -> str:
        """Note that a function is called; returns the reason why it is not traced into."""
        self.called.append(function)
        package, why = why_called(function)
        self.packages.update(package)
        self.hand(str(own_attribute(function, "__name__", type(function).__name__)), function, args)
        return why

    def hand(self, name: str, function: Any, args: tuple[Any, ...]) -> None:
        """Note that a function, which has a name in messages, gets arguments when the graph runs."""
        _, things = self.handed.setdefault(id(function), (name, [(function,)]))
        things.append((*_within(args),))

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
            rest += (each for each in (part.values() if type(part) is dict else part) if type(each) not in ATOMS)
        if not is_tensor(part) and type(part) not in ATOMS:
            yield part
