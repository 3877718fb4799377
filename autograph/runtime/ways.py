"""Lists, dicts and the like that a function gets at by several ways: as a global, in an argument, in an object.

Traced code has another one for each way, so what it changes in one of them would not show in the others. A function
that changes what there are several ways to runs as plain Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from autograph.runtime.outside import Outside
from autograph.runtime.signals import Plain


class Ways:
    """The ways to containers.

    Args:
        arguments: those among the arguments of the call that is traced, by their paths.

    Attributes:
        whole: those of the arguments that the graph gets as they are.
    """

    def __init__(self, outside: Outside, arguments: Mapping[str, Any]) -> None:
        self.whole: list[Any] = []
        self._checked: dict[int, tuple[Any, int]] = {}  # with how much was known then
        self._outside = outside
        self._arguments = arguments

    def check_argument(self, path: str) -> None:
        """The same for a container among the arguments."""
        if path in self._arguments:
            self.check(self._arguments[path])

    def check_reread(self) -> None:
        """The same for those that the graph itself reads, which it may change, too."""
        for value in [*self._outside.reread.values(), *self.whole]:
            self.check(value)

    def check(self, value: Any) -> None:
        """See to it that there is one way only to a container that is changed.

        Raises:
            Plain: there are several.
        """
        known = self._outside.known_in_all
        if self._checked.get(id(value), (value, -1))[1] == known:
            return
        self._checked[id(value)] = value, known
        found = list(self._to(value))
        if len(found) > 1:
            reason = f"a {type(value).__name__} is changed that is {' and '.join(found)}"
            raise Plain(reason, self._outside.trace.place())

    def _to(self, value: Any) -> Iterator[str]:
        outside = self._outside
        if outside.is_global(value):
            yield "a global"
        yield from [f"the argument {path}" for path, each in self._arguments.items() if each is value][:1]
        for thing, base, key, part in outside.known_parts():
            if part is value and key is not None and not isinstance(thing, ModuleType):
                yield f"in {base.text}"
                return
