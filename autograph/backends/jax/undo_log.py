"""Notes the changes of a body, other than of its variables: of arrays, lists, dicts, sets and objects.

JAX traces both branches of an `if`, and the body of a loop once. What they do to objects must not be done yet: the
log of a body keeps the state that each object had before its first change, so that the body's changes can be
undone, and become results of the construct.
"""

from __future__ import annotations

import dis
import functools
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

from autograph.backends.jax.lines import here
from autograph.operators.tracebacks import is_library

_MISSING: Any = object()
CONTAINERS = (list, dict, set, deque, bytearray)


class Globals:
    """Variables of a module that a function sets.

    Attributes:
        holder: the `__dict__` of the module.
        names: theirs.
    """

    def __init__(self, holder: dict[str, Any], names: frozenset[str]) -> None:
        self.holder = holder
        self.names = names


_GLOBALS: dict[tuple[int, frozenset[str]], Globals] = {}


def globals_of(holder: dict[str, Any], names: frozenset[str]) -> Globals:
    """Return the object for global variables of a module: always the same one."""
    return _GLOBALS.setdefault((id(holder), names), Globals(holder, names))


@functools.cache
def stored_globals(code: CodeType) -> frozenset[str]:
    """The global variables that a function sets."""
    inner = [stored_globals(const) for const in code.co_consts if isinstance(const, CodeType)]
    names = {step.argval for step in dis.get_instructions(code) if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL")}
    return frozenset(names).union(*inner)


def contents_of(thing: Any) -> Any:
    """Return the items and attributes of an object: enough to put them back."""
    if type(thing) is Globals:
        return {name: thing.holder[name] for name in thing.names if name in thing.holder}
    if isinstance(thing, CONTAINERS):
        return (thing.copy(), _attributes(thing))
    if hasattr(type(thing), "content"):     # an array
        return (thing.content, thing.own_aval, thing.doubt, thing.kin, thing.links)
    return _attributes(thing)


def _attributes(thing: Any) -> dict[str, Any]:
    return {**getattr(thing, "__dict__", {}), **{name: getattr(thing, name) for name in slots_of(type(thing))
                                                 if hasattr(thing, name)}}


def slots_of(kind: type) -> Iterator[str]:
    """The names of the slots of a class."""
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{base.__name__.lstrip('_')}{name}"
            if name not in ("__dict__", "__weakref__"):
                yield name


def children_of(contents: Any) -> list[Any]:
    """The things in what `contents_of` has returned, keys and names included."""
    items, attributes = contents if isinstance(contents, tuple) else ((), contents)
    pairs = [*items.items()] if isinstance(items, dict) else [*enumerate(items)]
    return [part for pair in (*pairs, *attributes.items()) for part in pair]


def put_back(thing: Any, contents: Any) -> None:
    """Let an object hold again what it held."""
    if type(thing) is Globals:
        for name in thing.names - contents.keys():
            thing.holder.pop(name, None)
        thing.holder.update(contents)
        return
    if hasattr(type(thing), "content"):
        thing.content, thing.own_aval, thing.doubt, thing.kin, thing.links = contents
        return
    if isinstance(thing, CONTAINERS):
        items, contents = contents
        refill(thing, items)
    now, kind = _attributes(thing), type if isinstance(thing, type) else object
    for name in now.keys() - contents.keys():
        kind.__delattr__(thing, name)
    for name, value in contents.items():
        if now.get(name, _MISSING) is not value:
            set_attribute(thing, name, value)


def set_attribute(thing: Any, name: str, value: Any) -> None:
    """Set an attribute of an object or class, whatever code of its own the class has for that."""
    (type if isinstance(thing, type) else object).__setattr__(thing, name, value)


def refill(container: Any, items: Any) -> None:
    """Give a container other items."""
    if isinstance(container, (list, bytearray)):
        container[:] = items
    else:
        container.clear()
        (container.extend if isinstance(container, deque) else container.update)(items)


class UndoLog:
    """The objects that a body has changed, with what they held before."""

    def __init__(self) -> None:
        self.before: dict[int, tuple[Any, Any]] = {}

    def log(self, thing: Any) -> None:
        """Note that an object is about to change."""
        if id(thing) not in self.before:
            self.before[id(thing)] = thing, contents_of(thing)

    def changed(self) -> list[tuple[Any, Any, Any]]:
        """Each changed object, with what it held before, and what it holds now."""
        return [(thing, before, contents_of(thing)) for thing, before in self.before.values()]

    def undo(self) -> None:
        """Let all objects hold what they held before."""
        for thing, before in self.before.values():
            put_back(thing, before)


# Iterators ------------------------------------------------------------------------------------------------------------
#
# Python's iterators cannot be put back. So a trace notes those that are from before the body that is being traced, and
# those that a loop left early, and refuses to go on with them.

# Iterators whose items can be taken without any effect.
_LISTS: tuple[Any, ...] = ([], (), {}, {}.values(), {}.items(), set(), "", range(0), range(1 << 99))
_BACKWARDS: tuple[Any, ...] = ([], (), {}, range(0))
_TAKEN = frozenset(
    [zip, enumerate, reversed, *(type(iter(each)) for each in _LISTS), *(type(reversed(each)) for each in _BACKWARDS)])


class Iterators:
    """The iterators of a trace.

    Attributes:
        unsteady: by identity, those of which no item may be taken now.
        inner: by identity, iterators with those that they take items from.
    """

    def __init__(self) -> None:
        self.unsteady: dict[int, Any] = {}
        self.inner: dict[int, tuple[Any, list[Any]]] = {}

    def made(self, result: Any, sources: Iterable[Any]) -> Any:
        """Note that an iterator takes its items from some of other ones; return it."""
        inner = [each for each in sources if is_iterator(each) and each is not result]
        if inner and is_iterator(result):
            self.inner[id(result)] = result, inner
        return result

    def leave(self, iterator: Any) -> None:
        """Note that the number of items taken is not known."""
        if is_iterator(iterator) and id(iterator) not in self.unsteady:
            self.unsteady[id(iterator)] = iterator
            for each in self.inner.get(id(iterator), (None, []))[1]:
                self.leave(each)

    def leave_early(self, iterator: Any) -> None:
        """Note that the program leaves a loop over an iterator early, if it does; the trace takes all items.

        Raises:
            StagingError: this may take for ever, or run code of the program too often.
        """
        for each in (iterator, *self.inner.get(id(iterator), (None, []))[1]):
            if isinstance(each, Iterator) and type(each) not in _TAKEN and not _is_ours(each):
                raise here("how many items this loop takes is known only when the program runs, and taking one may run "
                           "code, or have no end. JAX leaves early only loops over ranges, arrays, lists and the like")
        self.leave(iterator)

    def check(self, *values: Any) -> None:
        """Check that items may be taken from those values that are iterators.

        Raises:
            StagingError: how many were taken before is known only when the program runs.
        """
        for value in values:
            if id(value) in self.unsteady and is_iterator(value):
                raise here("this line goes on with an iterator which a staged `if` or loop advances, by a number of "
                           "items that is known only when the program runs. Use a list or array, and an index")
            for each in self.inner.get(id(value), (None, []))[1]:
                self.check(each)

    @contextmanager
    def body(self, values: Iterable[Any]) -> Iterator[None]:
        """While it lasts, a body is traced, from before which some values are."""
        before = dict(self.unsteady)
        for value in values:
            self.leave(value)
        try:
            yield
        finally:
            self.unsteady = before


def _is_ours(iterator: Any) -> bool:
    """Whether an iterator is a generator of this library, or a generator expression that calls nothing."""
    code = getattr(iterator, "gi_code", None)
    if code is not None:
        return is_library(code) and code.co_name != "_one_by_one"
    parts = [getattr(iterator, name, None) for name in ("element", "condition")]
    return any(parts) and not any(_calls(part.__code__) for part in parts if part is not None)


@functools.cache
def _calls(code: CodeType) -> bool:
    return any("CALL" in step.opname for step in dis.get_instructions(code))


def is_iterator(value: Any) -> bool:
    """Whether a value is an iterator, which gives each item once."""
    return isinstance(value, Iterator) or getattr(type(value), "once", False) is True
