"""The undo log: all changes of containers and objects during a trace, so that they can be undone.

Bodies are traced more than once: both branches of an `if` from the same beginning, the body of a loop until its types
hold. In between, the changed containers and objects get their old contents back. Variables are not in the log, since
constructs know theirs.
"""

from __future__ import annotations

import builtins
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from keyword import iskeyword
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

from autograph.common import disk_cache
from autograph.common.cpython_internals import HEAP
from autograph.common.statics import (
    READERS,
    cell_content,
    class_attribute,
    class_has,
    is_a,
    module_of,
    reads_plainly,
)
from autograph.common.trace_rules import is_own
from autograph.runtime.graph.object_model import delete_attribute, is_slot, own_dict, parts_inside, set_attribute
from autograph.runtime.tracing.proxies.context import TraceContext
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.iterators import TracedIterator

_MISSING: Any = object()
_ADVANCED: Any = ()  # the contents of an iterator, which cannot be restored
# By identity of a stand-in: the function or property of the user's class that it replaces; see `special_methods.py`.
PATCHED: dict[int, Any] = {}


class Fallback(dict[Any, Any]):
    """A dict that computes the values of missing names; the names in it were assigned while tracing."""


class Changes:
    """The contents of containers and objects at the beginning of a construct, noted before their first change.

    Attributes:
        written: their contents that the graph had written at that time.
    """

    def __init__(self, written: dict[int, tuple[Any, Any]] | None = None) -> None:
        self.before: dict[int, tuple[Any, Any]] = {}
        self.written = dict(written or ())

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """The containers with their contents."""
        return iter(self.before.values())

    def __reversed__(self) -> Iterator[tuple[Any, Any]]:
        """The same, in the order for restoring: an object and its `__dict__` may both be among them."""
        return reversed(self.before.values())


class UndoLog:
    """The changes of the constructs that are being traced, the innermost last.

    Attributes:
        shared_with_graph: objects that the graph has copied, so that they must not change.
        watched: containers that change without a report: globals and closure cells of traced code.
        written: the contents that containers and objects have when the graph runs, as far as it has written them.
        pending: whether there may be further changes to write before something raises.
    """

    def __init__(self, context: TraceContext) -> None:
        self.stack: list[Changes] = [Changes()]
        self.shared_with_graph: dict[int, Any] = {}
        self.watched: list[Any] = []
        self.written: dict[int, tuple[Any, Any]] = {}
        self.pending = False
        self._context = context
        self._writing = False

    def touch(self, container: Any) -> None:
        """Note the contents of a container that is about to change."""
        self.pending = True
        if id(container) in self.shared_with_graph:
            self._context.materializer.refuse(container)
        before = self.stack[-1].before
        if id(container) not in before:
            self._context.environment.note_write(container)     # may note the contents, and replace parts by proxies
            before.setdefault(id(container), (container, contents(container)))

    def changed(self) -> None:
        """Note that a touched container may have changed, after nodes that were recorded in the meantime."""
        self.pending = True

    def replace(self, container: Any, key: Any, value: Any) -> None:
        """Replace a part of a container by a proxy until the trace ends, even if changes are undone before."""
        first = self.initial_contents(container)
        self.stack[0].before.setdefault(id(container), (container, contents(container) if first is None else first))
        for changes in self.stack[1:]:
            noted = changes.before.get(id(container))
            if noted is not None:
                changes.before[id(container)] = container, _with(noted[1], key, value)
        put(container, key, value)

    def begin(self) -> Changes:
        changes = Changes(self.written)
        self.stack.append(changes)
        for container in self.watched:
            self.touch(container)
        return changes

    def noted(self) -> list[Any]:
        """The pairs of containers and contents in this log."""
        return [pair for pairs in (self.written, *(each.before for each in self.stack)) for pair in pairs.values()]

    def all_changes(self) -> list[tuple[Any, Any]]:
        """All containers that have changed since the beginning of the trace, with their contents at that time."""
        found: dict[int, tuple[Any, Any]] = {}
        for changes in self.stack:
            for key, noted in changes.before.items():
                found.setdefault(key, noted)
        return list(found.values())

    def stored(self) -> Iterator[Any]:
        """The values that were stored in containers and objects from before the trace."""
        for container, before in self.all_changes():
            old, new = entries(before), entries(contents(container))
            if old is not None and new is not None:
                yield from (value for key, value in new.items() if value is not old.get(key))

    def initial_contents(self, container: Any) -> Any:
        """The contents of a container at the beginning of the trace; None if it has not changed."""
        noted = (changes.before.get(id(container)) for changes in self.stack)
        return next((each[1] for each in noted if each is not None), None)

    def write_back(self) -> None:
        """Let the graph write the changes of the program, before an operation that may raise."""
        if self._writing or not (self.pending or any(not same(contents(w), self.base(w)) for w in self.watched)):
            return
        self._writing = True
        try:
            self._context.write_back()
        finally:
            self._writing = False
        self.pending = False

    def base(self, container: Any) -> Any:
        """The contents of a container when the graph runs, before the next write-back."""
        found = self.written.get(id(container))
        if found is None:
            found = next(changes.before[id(container)] for changes in self.stack if id(container) in changes.before)
        return found[1]

    def settle(self, container: Any, key: Any) -> None:
        """Note that all paths have written an entry; an object that each path has made must be written again."""
        base = self.base(container)
        if isinstance(base, list) and key >= len(base):
            return  # a list that the program has made and extended: the graph does not write it
        value = contents(container)[key]
        whole = dict(base) if isinstance(base, dict) else list(base)
        whole[key] = value if type(value) in _LEAVES or is_tensor(value) else _MISSING
        self.written[id(container)] = container, whole

    def watch(self, container: Any) -> None:
        """Watch a container that changes without a report."""
        self.watched.append(container)
        self.touch(container)

    def undo(self, existed: Callable[[Any], bool] = lambda container: True) -> None:
        """End the innermost construct, and restore the containers that it changed.

        Args:
            existed: whether a container existed before the construct; others are left as they are.

        Raises:
            Restart: an iterator that existed before has advanced; or
            Unstageable: the same, and the graph cannot make it.
        """
        ended = self.stack.pop()
        self.written = ended.written
        changes = [(container, content) for container, content in reversed(ended) if existed(container)]
        for container, content in changes:
            restore(container, content)
        for container in self.watched:
            self.touch(container)
        for container, content in changes:
            if content is _ADVANCED:
                raise container.staged("an iterator{} goes on in a branch or loop, and was made before it")

    def keep(self) -> None:
        """End the innermost construct, whose changes become those of the one around it."""
        inner = self.stack.pop().before
        outer = self.stack[-1].before
        for key, noted in inner.items():
            outer.setdefault(key, noted)


MANY = 50_000  # objects: too many to look through
# Python's own builtins: no object of the program can be reached from them.
_PYTHONS = [
    each
    for each in vars(builtins).values()
    if type(each) is BuiltinFunctionType or (type(each) is type and not each.__flags__ & HEAP)
]
_SEEN = dict.fromkeys(map(id, _PYTHONS), False)


def reached(values: Iterable[Any], changes: Changes) -> dict[int, bool] | None:
    """The identities of all objects that could be reached from `values` before `changes`; None if there are too many.

    Each has a flag: whether it is the `__dict__` of an object.
    """
    seen = dict(_SEEN)
    rest = list(values)
    while rest:
        if len(seen) > MANY:
            return None
        value = rest.pop()
        if id(value) in seen or type(value) in _LEAVES:
            continue
        seen[id(value)] = False
        own = own_dict(value) if type(value).__dictoffset__ and not _is_ours(value) else None
        if type(own) is dict:
            seen[id(own)] = True
        noted = changes.before.get(id(value))
        parts = inside(value) if noted is None else inside(noted[1])
        if not _LEAVES.issuperset(map(type, parts)):
            rest.extend(parts)
    return seen


_LEAVES = frozenset({int, float, bool, complex, str, bytes, type(None)})


def inside(value: Any) -> Iterable[Any]:
    """The objects that can be reached from a value in one step."""
    kind = type(value)
    if kind is TracedIterator:
        return [value.container, *value.sources]
    if _is_ours(value):
        return ()
    if issubclass(kind, Fallback):  # the builtins are not the program's
        return [part for name, part in value.items() if name != "__builtins__"]
    if issubclass(kind, (dict, list, tuple, set, frozenset, deque)):
        own = attributes(value).values() if kind.__flags__ & HEAP else ()
        return [*parts_inside(value), *own]
    if kind is FunctionType:
        if is_own(value.__code__.co_filename):  # its original, but not its own helpers
            return [getattr(value, "__wrapped__", None), PATCHED.get(id(value))]
        return [*(value.__defaults__ or ()), *map(cell_content, value.__closure__ or ())]
    if kind is MethodType:
        return [value.__self__, value.__func__]
    if issubclass(kind, BuiltinFunctionType):
        return [value.__self__]
    if kind is CellType:
        return [cell_content(value)]
    if issubclass(kind, ModuleType):
        return ()
    if issubclass(kind, type):
        return [part for base in value.__mro__ if base.__flags__ & HEAP for part in vars(base).values()]
    if issubclass(kind, BaseException):
        return [*fields(value).values(), *attributes(value).values(), kind]
    has_parts = kind.__flags__ & HEAP or own_dict(value) is not None
    return [*attributes(value).values(), kind] if has_parts else ()


def _is_ours(value: Any) -> bool:
    """Whether a value is a proxy or another object of this library."""
    return str(module_of(type(value))).startswith("autograph.runtime") and not is_a(value, Fallback)


def contents(container: Any) -> Any:
    """A copy of the contents of a container, or the attributes of an object."""
    kind = type(container)
    if kind is CellType:    # as most are
        content = cell_content(container, _MISSING)
        return {} if content is _MISSING else {"cell_contents": content}
    if kind is TracedIterator:
        return _ADVANCED
    if issubclass(kind, dict):
        return dict(_dict_of(container).items(container))
    if issubclass(kind, (list, deque)):
        return [*parts_inside(container)]
    if issubclass(kind, set):
        return {*parts_inside(container)}
    if issubclass(kind, bytearray):
        return bytearray(container)
    if issubclass(kind, (type, ModuleType)):
        return {name: PATCHED.get(id(part), part) for name, part in vars(container).items() if id(part) not in READERS}
    found = attributes(container)
    return {**fields(container), **found} if issubclass(kind, BaseException) else found


@disk_cache.storable
def attributes(thing: Any) -> dict[str, Any]:
    """The attributes of an object by name, also those in slots."""
    found = dict(own_dict(thing) or ())
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{kind.__name__.lstrip('_')}{name}"
            slot = kind.__dict__.get(name)
            is_own = isinstance(slot, MemberDescriptorType) and slot.__objclass__ is kind
            if is_own and (value := _filled(slot, thing)) is not _MISSING:
                found[name] = value
    return found


def filled_slots(thing: Any) -> list[str] | None:
    """The names of all slots of an object, if each is filled, and read by `thing.name` without code of its class."""
    kind = type(thing)
    slots, is_plain = slots_of(kind), not class_has(kind, "__getattr__") and reads_plainly(kind)
    for name, member in slots:
        is_plain &= class_attribute(kind, name) is member and not iskeyword(name)
        is_plain &= _filled(member, thing) is not _MISSING
    return [name for name, _ in slots] if is_plain else None


def slots_of(kind: type) -> list[tuple[str, MemberDescriptorType]]:
    """The slots of a class and its bases, by name."""
    return [
        (name, member)
        for base in kind.__mro__
        for name, member in base.__dict__.items()
        if type(member) is MemberDescriptorType and member.__objclass__ is base
    ]


def fields(error: BaseException) -> dict[str, Any]:
    """The fields of an exception in its builtin classes, such as `args`, `__cause__` and `errno`."""
    kinds = [kind for kind in type(error).__mro__ if issubclass(kind, BaseException) and not kind.__flags__ & HEAP]
    members = {name: member for kind in kinds for name, member in vars(kind).items()}
    named = {name: member for name, member in members.items() if is_slot(member, type(error)) and name not in _FIXED}
    in_order = sorted(named, key="__suppress_context__".__eq__)  # last, since setting `__cause__` sets it
    found = {name: _filled(named[name], error) for name in in_order}
    return {name: value for name, value in found.items() if value is not _MISSING}


# Fields that are not set, or that change by raising; `characters_written` can be neither read nor restored at first.
_FIXED = frozenset({"__dict__", "__traceback__", "__context__", "message", "exceptions", "characters_written"})


def _filled(slot: Any, thing: Any) -> Any:
    """The value in a slot. (A subclass may hide the slot by a property, which may raise, so `getattr` would not do.)"""
    try:
        return slot.__get__(thing)
    except AttributeError:
        return _MISSING


def restore(container: Any, content: Any) -> None:
    """Give a container the contents that `contents` has returned."""
    if content is _ADVANCED:
        return
    if is_a(container, dict):
        kind = _dict_of(container)
        kind.clear(container)
        for key, value in content.items():
            kind.__setitem__(container, key, value)
    elif is_a(container, (list, bytearray)):
        _sequence_of(container).__setitem__(container, slice(None), content)
    elif is_a(container, set):
        set.clear(container)
        set.update(container, content)
    elif is_a(container, deque):
        deque.clear(container)
        deque.extend(container, content)
    else:
        now = contents(container)
        kept = [name for name in now if name in content]
        is_in_order = kept == list(content)[: len(kept)] or is_a(container, type)  # missing names come last
        for name in [name for name in now if name not in content or not is_in_order]:
            delete_attribute(container, name)
        for name, value in content.items():
            if now.get(name, _MISSING) is not value or not is_in_order:
                put(container, name, value)


def entries(content: Any) -> dict[Any, Any] | None:
    """The result of `contents` by key or position; None if it has neither."""
    if isinstance(content, dict):
        return content
    if isinstance(content, list):
        return dict(enumerate(content))
    return None


def same(after: Any, before: Any) -> bool:
    """Whether two `contents` of a container have the same objects."""
    old, new = entries(before), entries(after)
    if old is None or new is None:
        return bool(before == after)
    return list(old) == list(new) and all(new[key] is old[key] for key in old)


def put(container: Any, key: Any, value: Any) -> None:
    """Set the entry `key` of a container, or the attribute `key` of an object."""
    if is_a(container, dict):
        _dict_of(container).__setitem__(container, key, value)
    elif is_a(container, (list, deque)):
        _sequence_of(container).__setitem__(container, key, value)
    else:
        set_attribute(container, key, value)


def _with(content: Any, key: Any, value: Any) -> Any:
    """Contents with another entry."""
    changed = dict(content) if isinstance(content, dict) else list(content)
    changed[key] = value
    return changed


def _dict_of(container: Any) -> Any:
    """The built-in class whose methods change a dict without calling code of a subclass."""
    return OrderedDict if is_a(container, OrderedDict) else dict


def _sequence_of(container: Any) -> Any:
    """The same for a container with items by position."""
    return next(kind for kind in (list, deque, bytearray) if is_a(container, kind))
