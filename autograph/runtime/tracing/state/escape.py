"""Escape analysis: the containers and objects that the bodies of a construct share with the rest of the program.

Other code that refers to a container can distinguish it from an equal one, and sees its changes. So where paths meet,
no other container may replace it.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, ModuleType
from typing import Any, NoReturn

import numpy as np

from autograph.common import forking
from autograph.common.code_marks import UNBOUND
from autograph.common.cpython_internals import COUNTS, references, referents, referrers
from autograph.common.statics import is_a
from autograph.runtime.graph.signature import Respecialize
from autograph.runtime.tracing.proxies.context import TraceContext
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.staged_containers import STAGEABLE, staged_as
from autograph.runtime.tracing.state.undo_log import Changes, inside, reached


@dataclass(frozen=True, slots=True)
class Replacement:
    """A list or dict that is the caller's, unless iterations of a loop have replaced it.

    Attributes:
        container: the list or dict of traced code.
        path: the caller's name of its list or dict.
        replaced: a proxy of whether it was replaced; False for the caller's itself.
    """

    container: Any
    path: str
    replaced: Any


class Replacements(dict[int, Replacement]):
    """Such lists and dicts, by their identities.

    Traced code may read their parts. If it depends on which object one is, the caller's becomes an object of the graph.
    """

    def __init__(self, shared_with_graph: dict[int, Any]) -> None:
        super().__init__()
        self._shared_with_graph = shared_with_graph

    def add(self, container: Any, path: str, replaced: Any = False) -> None:
        self[id(container)] = Replacement(container, path, replaced)
        if replaced is not False:
            self._shared_with_graph[id(container)] = container     # so that the undo log refuses changes

    def check(self, *things: Any) -> None:
        """Check that it does not depend on the path which object one of these is."""
        for thing in things:
            found = self.get(id(thing))
            if found is not None and found.replaced is not False:
                self.tell_apart(found.path)

    def check_within(self, values: Iterable[Any]) -> None:
        """Check all objects that can be reached from some values."""
        if len(self) > 0:
            found = reached(values, Changes())
            self.check(*[each.container for each in self.values() if found is None or id(each.container) in found])

    def tell_apart(self, path: str) -> NoReturn:
        reason = f"`{path}` is replaced in a loop, and it matters which list or dict it is"
        raise Respecialize(whole=(path,), reason=reason)


class Tuples:
    """Tuples of traced code whose identity only the graph knows: joins of two paths, and those from outside."""

    def __init__(self, context: TraceContext) -> None:
        self._context = context
        self._proxies: dict[int, tuple[tuple[Any, ...], Any]] = {}

    def add(self, value: tuple[Any, ...], proxy: Any = None) -> None:
        """Note a joined tuple, and the proxy of the object, unless both paths have made the tuple."""
        self._proxies[id(value)] = value, proxy

    def proxy_of(self, value: Any) -> Any:
        return self._proxies.get(id(value), (None, None))[1]

    def has_identity(self, value: Any) -> bool:
        """Whether a value is a tuple that the graph can distinguish from others."""
        if not isinstance(value, tuple) or value == ():
            return False
        return self.proxy_of(value) is not None or self._context.materializer.is_outer(value)

    def lower(self, value: tuple[Any, ...]) -> Any:
        """The value of the graph for such a tuple."""
        return self._context.materializer.lower_tuple(value)

    def kept(self, value: Any) -> Any:
        """An argument with such tuples in it as values of the graph, for code that is not staged."""
        if self.has_identity(value):
            return self.lower(value)
        return tuple(map(self.kept, value)) if type(value) is tuple else value

    def is_joined(self, value: Any) -> bool:
        return id(value) in self._proxies

    def may_be_one(self, first: Any, second: Any) -> bool:
        """Whether it depends on the path if two tuples are one object."""
        are_tuples = first is not second and isinstance(first, tuple) and isinstance(second, tuple)
        return are_tuples and (self.is_joined(first) or self.is_joined(second))


class GivenAway(list[Any]):
    """Objects that are new from now on, see `EscapeAnalysis.give_away`."""


class EscapeAnalysis:
    """Decides whether an object existed before a body, or the body made it.

    Args:
        roots: returns the objects that the program could reach then.
        changes: the contents that containers had then, unless they have these again.
        replacements: containers that may be the caller's, by their identities.
    """

    def __init__(
        self,
        roots: Callable[[], Iterable[Any]],
        changes: Changes | None = None,
        replacements: Replacements | None = None,
        tuples: Tuples | None = None,
    ) -> None:
        self._roots = roots
        self.tuples = Tuples(TraceContext()) if tuples is None else tuples
        self.replacements = Replacements({}) if replacements is None else replacements
        self._changes = Changes() if changes is None else changes
        self._given_away = GivenAway()

    @forking.cached_property
    def _found(self) -> dict[int, bool] | None:
        return reached((root for root in self._roots() if root is not UNBOUND), self._changes)

    def give_away(self, container: Any) -> None:
        """Treat a container as new from now on: only a variable referred to it, which is bound to another one."""
        if not self.is_given_away(container):
            self._given_away.append(container)

    def is_given_away(self, thing: Any) -> bool:
        """Whether only a variable refers to an object, or did so until the variable was bound to another one."""
        return any(thing is each for each in self._given_away)

    def __call__(self, thing: Any) -> bool:
        """Whether an object existed before; if there are too many to look through, all existed."""
        if self.is_given_away(thing):
            return False
        return self._found is None or id(thing) in self._found or id(thing) in self.replacements

    def can_be_staged(self, container: Any) -> bool:
        """Whether the graph can hold the contents of a container: not if it is the `__dict__` of an object."""
        return self._found is not None and not self._found.get(id(container), False)

    def within(self, value: Any) -> list[Any]:
        """The containers that existed before, within a value that the graph has to make anew."""
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


def unshared(things: list[Any], forms: tuple[type, ...], known: Sequence[Any] = ()) -> list[Any]:
    """Those of different objects to which only a variable refers, besides forms and dicts of slots, which tracing uses.

    Args:
        forms: the classes of forms.
        known: other objects that tracing uses, and the cells of the variables.
    """
    ours = {*map(id, known)}

    def is_ours(holder: Any) -> bool:
        is_form = type(holder) in (*forms, GivenAway)
        return is_form or id(holder) in ours or (type(holder) is dict and all(map(_is_slot, holder)))

    held = zip(things, _holders(things, known))
    return [
        thing for thing, found in held
        if found is not None and not weakref.getweakrefcount(thing) and all(map(is_ours, found))
    ]  # fmt: skip


def _holders(things: list[Any], known: Sequence[Any]) -> list[list[Any] | None]:
    """For each thing in a list, the objects that refer to it besides that list; None if there are other references.

    A local variable of a running function is such another reference. Some holders are known, and most of the rest are
    new. If those of the youngest generation are not all, the interpreter looks through all its objects.
    """
    counts = references(things)
    held: list[list[Any]] = [[] for _ in things]
    looked_at = {id(things)}
    _add_holders(held, things, known, looked_at)
    young = [] if [*map(len, held)] == counts else gc.get_objects(generation=0)
    while young and [*map(len, held)] != counts:
        _add_holders(held, things, young[-_GROUP:], looked_at)
        del young[-_GROUP:]
    if [*map(len, held)] != counts:
        args = (*things,)
        held = [[] for _ in things]
        _add_holders(held, things, referrers(*args), {id(things), id(args)})
    return [each if COUNTS and len(each) == count else None for each, count in zip(held, counts)]


def _add_holders(held: list[list[Any]], things: list[Any], among: Sequence[Any], looked_at: set[int]) -> None:
    """Add those of some objects that refer to a thing to its holders, and note at which this has looked."""
    names = [*map(id, things)]
    if {*names}.isdisjoint(map(id, referents(*among))):
        return
    for each in among:
        parts = {*map(id, referents(each))} if id(each) not in looked_at else ()
        looked_at.add(id(each))
        for name, found in zip(names, held):
            if name in parts:
                found.append(each)


def _is_slot(key: Any) -> bool:
    return hasattr(key, "get") and hasattr(key, "set")


_GROUP = 64    # objects that are looked at at once
_CONSTANT = (type(None), int, float, complex, str, bytes, range, type, ModuleType, BuiltinFunctionType, np.generic,
             np.ndarray, np.dtype, np.ufunc)  # fmt: skip
