"""Escape analysis: the containers and objects that the bodies of a construct share with the rest of the program.

Code that also knows a container can tell it from an equal one, and sees it change. So where paths meet, no other may
take its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import BuiltinFunctionType, ModuleType
from typing import Any, NoReturn

import numpy as np

from autograph.common import forking
from autograph.common.code_marks import UNBOUND
from autograph.common.cpython_internals import holders
from autograph.common.statics import is_a
from autograph.runtime.graph.signature import Respecialize
from autograph.runtime.tracing.proxies.context import TraceContext
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.staged_containers import STAGEABLE, staged_as
from autograph.runtime.tracing.state.undo_log import Changes, inside, reached


@dataclass(frozen=True, slots=True)
class Renewal:
    """A list or dict that is one of the caller's unless iterations of a loop have made another one of it.

    Attributes:
        container: the list or dict of traced code.
        path: what the caller's is called.
        renewed: whether it is another one: a proxy; False for what is the caller's itself.
    """

    container: Any
    path: str
    renewed: Any


class Renewals(dict[int, Renewal]):
    """What is known of such, by their identities.

    Traced code may read their parts. What depends on which object it is makes the caller's an object of the graph.
    """

    def __init__(self, handed_out: dict[int, Any]) -> None:
        super().__init__()
        self._handed_out = handed_out

    def add(self, container: Any, path: str, renewed: Any = False) -> None:
        self[id(container)] = Renewal(container, path, renewed)
        if renewed is not False:
            self._handed_out[id(container)] = container     # to be told when it is changed

    def check(self, *things: Any) -> None:
        """See to it that none of these may be the caller's, or another one."""
        for thing in things:
            found = self.get(id(thing))
            if found is not None and found.renewed is not False:
                self.tell_apart(found.path)

    def check_within(self, values: Iterable[Any]) -> None:
        """The same of what can be reached from some values: what holds one may get to see another one."""
        if len(self) > 0:
            found = reached(values, Changes())
            self.check(*[known.container for known in self.values() if found is None or id(known.container) in found])

    def tell_apart(self, path: str) -> NoReturn:
        reason = f"`{path}` is replaced in a loop, and it matters which list or dict it is"
        raise Respecialize(whole=(path,), reason=reason)


class Tuples:
    """Tuples of traced code that stand for objects which only the graph knows: joined of those of two paths.

    So do tuples that were there before the function was called.
    """

    def __init__(self, context: TraceContext) -> None:
        self._context = context
        self._proxies: dict[int, tuple[tuple[Any, ...], Any]] = {}

    def add(self, value: tuple[Any, ...], proxy: Any = None) -> None:
        """Know a tuple that has been joined, and the proxy of the object, unless both paths have made it."""
        self._proxies[id(value)] = value, proxy

    def proxy_of(self, value: Any) -> Any:
        return self._proxies.get(id(value), (None, None))[1]

    def has_identity(self, value: Any) -> bool:
        """Whether something is a tuple that the graph can tell from others."""
        if not isinstance(value, tuple) or value == ():
            return False
        return self.proxy_of(value) is not None or self._context.materializer.is_outer(value)

    def lower(self, value: tuple[Any, ...]) -> Any:
        """What stands for such a tuple in the graph."""
        return self._context.materializer.lower_tuple(value)

    def is_joined(self, value: Any) -> bool:
        return id(value) in self._proxies

    def may_be_one(self, first: Any, second: Any) -> bool:
        """Whether two tuples are one or not depending on the path."""
        are_tuples = first is not second and isinstance(first, tuple) and isinstance(second, tuple)
        return are_tuples and (self.is_joined(first) or self.is_joined(second))


class EscapeAnalysis:
    """Which objects were there before a body, and which the body made.

    Args:
        roots: gives what the program could reach then.
        changes: what was noted of the contents that things had then, unless they have them again.
        renewals: containers that may be the caller's, by their identities.
    """

    def __init__(
        self,
        roots: Callable[[], Iterable[Any]],
        changes: Changes | None = None,
        renewals: Renewals | None = None,
        tuples: Tuples | None = None,
    ) -> None:
        self._roots = roots
        self.tuples = Tuples(TraceContext()) if tuples is None else tuples
        self.renewals = Renewals({}) if renewals is None else renewals
        self._changes = Changes() if changes is None else changes
        self._given_away: list[Any] = []

    @forking.cached_property
    def _found(self) -> dict[int, bool] | None:
        return reached((root for root in self._roots() if root is not UNBOUND), self._changes)

    def give_away(self, container: Any) -> None:
        """Take a container for a new one from now on: only a variable knew it that is bound to another one."""
        self._given_away.append(container)

    def __call__(self, thing: Any) -> bool:
        """Whether a container or object was there before; if that is too much to look through, everything was."""
        if any(thing is container for container in self._given_away):
            return False
        return self._found is None or id(thing) in self._found or id(thing) in self.renewals

    def can_be_staged(self, container: Any) -> bool:
        """Whether the graph can hold the contents of such a container: not if it holds the attributes of an object."""
        return self._found is not None and not self._found.get(id(container), False)

    def within(self, value: Any) -> list[Any]:
        """The containers that were there before in a value which the graph has to make anew."""
        found: list[Any] = []
        seen: set[int] = set()
        rest = [value]
        while rest:
            part = rest.pop()
            if is_a(part, _CONSTANT) or is_tensor(part) or id(part) in seen or staged_as(part) is not None:
                continue
            seen.add(id(part))
            if is_a(part, tuple) or not self(part):
                rest.extend(inside(part))
            elif type(part) in STAGEABLE:
                found.append(part)
        return found


def is_alone(container: Any, variable: Any, notes: type) -> bool:
    """Whether nothing but a variable knows a container, and what notes the values of variables while tracing."""
    referrers, cell = holders(container), getattr(variable, "cell", None)
    return referrers is not None and all(
        each is cell or type(each) is notes or _notes_values(each) for each in referrers
    )


def _notes_values(thing: Any) -> bool:
    return type(thing) is dict and all(hasattr(key, "get") and hasattr(key, "set") for key in thing)


_CONSTANT = (type(None), int, float, complex, str, bytes, range, type, ModuleType, BuiltinFunctionType, np.generic,
             np.ndarray, np.dtype, np.ufunc)  # fmt: skip
