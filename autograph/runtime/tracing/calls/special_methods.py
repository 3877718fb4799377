"""Instrumentation of the user's classes, so that special methods and properties are traced like other code.

Traced code calls `obj.method(…)` through the trace. In `a + b`, `len(a)`, `print(a)` and `a.size`, however, Python
calls the user's functions itself. So during a trace, the classes that it meets have stand-ins for these functions. In
the tracing thread, a stand-in calls the replacement of the function; in other threads, the function itself.

The classes get a `__getattribute__`, too, which notes the attributes that are read, so that guards need not look at
others. Such a class is *watched*.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

from autograph.common import forking, pytree
from autograph.common.statics import READERS, class_has, compares_itself, is_a, reads_plainly
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.effects import effect_of
from autograph.runtime.graph.object_model import described, identity_is_users, is_open, is_users, own_dict, parts_inside
from autograph.runtime.graph.opdef import PURE, VIEW
from autograph.runtime.tracing.control_flow.cond import NoState, stage_if
from autograph.runtime.tracing.environment.environment import CapturedEnvironment
from autograph.runtime.tracing.proxies.graph_break import UNWATCHED, Plain, Restart
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.trace import CURRENT, Trace
from autograph.runtime.tracing.state.undo_log import PATCHED, attributes

# Methods that this library calls as well, or that are not traced.
_LEFT = frozenset("__getattribute__ __del__ __aenter__ __aexit__ __aiter__ __anext__ __await__ __reduce_ex__".split())
_TEXTS = frozenset({"__str__", "__repr__", "__format__"})
_NUMBERS = frozenset("__bool__ __hash__ __int__ __float__ __complex__ __index__ __len__ __length_hint__".split())
_REACH = 10_000
_PARTLESS = frozenset({int, float, complex, bool, str, bytes, type(None), range, types.FunctionType, types.ModuleType})


class Instrumentation:
    """The stand-ins that one trace puts into classes; a context manager, which removes them.

    Attributes:
        inspected: classes that traced code may inspect.
        seen: the things whose classes have stand-ins, by identity.
    """

    def __init__(self, trace: Trace, environment: CapturedEnvironment) -> None:
        self.trace = trace
        self._environment = environment
        self._classes: dict[type, None] = {}
        self.seen: dict[int, Any] = {}
        self._watched: dict[type, bool] = {}
        self._watches = UNWATCHED not in trace.context.late
        self._ended = False
        self._entered = False
        self._hiding: dict[type, frozenset[str]] = {}
        self._refused = ""
        self.inspected: dict[type, None] = {}

    def __enter__(self) -> Instrumentation:
        if self._refused:
            raise Plain(self._refused, ())
        self._entered = True
        try:
            for kind in self._classes:
                _patch(kind, self.trace, self._watches)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        """Remove all stand-ins, even if some of them fail to be removed at first."""
        self._entered, self._ended = False, True
        with ExitStack() as rest:
            for kind in (*self._classes, *self._classes):   # twice, in case that one fails
                rest.callback(_unpatch, kind, self.trace)

    def _refuse(self, reason: str) -> None:
        """Interrupt tracing, now or when it begins: to read attributes here would have effects."""
        self._refused = reason
        if self._entered:
            self.trace.graph_break(reason)

    def is_watched(self, kind: type) -> bool:
        """Whether the attributes that are read of instances of a class are noted."""
        if compares_itself(kind):
            return False
        found = self._watched.get(kind)
        if found is None and (self._ended or not self._watches):
            return False
        if found is None:
            self.instrument_class(kind)
            found = self._watched[kind] = kind in self._classes and _is_watchable(kind)
        return found

    def instrument(self, thing: Any) -> None:
        """Put stand-ins into the classes of all objects that traced code can reach from a thing."""
        kind = thing if is_a(thing, type) else type(thing)
        if not compares_itself(kind):
            self.inspected[kind] = None
        if id(thing) not in self.seen:
            self._instrument([thing.__self__ if type(thing) is types.MethodType else thing])

    def instrument_parts(self, thing: Any) -> None:
        """The same for the attributes of an object, which traced code is about to read."""
        self._instrument([*attributes(thing).values()])

    def _instrument(self, rest: list[Any]) -> None:
        reach = max(_REACH, len(self.seen) + 1)    # one thing in any case
        while rest:
            if len(self.seen) >= reach:
                if self._watches:
                    raise Restart({UNWATCHED})
                return
            thing = rest.pop()
            if reason := identity_is_users(thing):
                self._refuse(reason)
                continue
            if type(thing) in _PARTLESS or is_tensor(thing) or id(thing) in self.seen:
                continue
            self.seen[id(thing)] = thing
            if is_a(thing, type):
                self.instrument_class(thing)
            else:
                self.instrument_class(type(thing))
                self._check_attributes(thing)
                if pytree.is_nested(thing) and is_users(type(thing)):
                    self._environment.register_class(type(thing), whole=True)
                if not self._environment.sources.is_unread(thing):
                    rest.extend(_parts(thing))

    def _check_attributes(self, thing: Any) -> None:
        """Check that no descriptor hides an attribute of an object."""
        kind = type(thing)
        if not is_users(kind):
            return
        if kind not in self._hiding:
            self._hiding[kind] = described(kind)
        for name in self._hiding[kind].intersection(own_dict(thing) or ()):
            self._refuse(f"the attribute {name} of an object of class {kind.__qualname__} is behind a descriptor")

    def instrument_class(self, kind: type) -> None:
        """Put stand-ins into a class and its bases."""
        for base in type.mro(kind) if kind not in self._classes and is_users(kind) else ():
            if base not in self._classes and is_users(base):
                if "__getattribute__" in vars(base):
                    self._refuse(f"{base.__qualname__}.__getattribute__ runs at each access of an attribute")
                self._classes[base] = None
                self._environment.register_class(base)
                self.instrument_class(type(base))
                if self._entered:
                    _patch(base, self.trace, self._watches)
                for member in list(vars(base).values()):
                    if is_users(type(member)):  # a descriptor
                        self.instrument_class(type(member))


class _Patches:
    """The stand-ins in one class, by name, and the traces that need them."""

    def __init__(self) -> None:
        self.traces: list[Trace] = []
        self.stand_ins: dict[str, Any] = {}
        self.is_watched = False


_LOCK = forking.lock()  # a `__del__`, which may stage something, may run at any time
_PATCHES: dict[type, _Patches] = {}


def _parts(thing: Any) -> Iterator[Any]:
    if is_a(thing, dict):
        yield from parts_inside(thing)
        yield from dict.keys(thing)
    elif is_a(thing, (list, tuple, set, frozenset)):
        yield from parts_inside(thing)
    elif type(thing) is types.MethodType:
        yield thing.__self__
    elif is_a(thing, functools.partial):
        yield from (thing.func, thing.args, thing.keywords)
    if is_users(type(thing)) or is_open(type(thing)):
        yield from attributes(thing).values()


# Putting stand-ins in, and taking them out ----------------------------------------------------------------------------


def _patch(kind: type, trace: Trace, watches: bool) -> None:
    """Put stand-ins into a class for a trace: all of them, or none if one fails."""
    with _LOCK:
        patches = _PATCHES.setdefault(kind, _Patches())
        patches.traces.append(trace)
        try:
            if watches and not patches.is_watched and _is_watchable(kind):
                patches.is_watched = True
                _set(kind, "__getattribute__", _noting)
            if len(patches.traces) > 1:
                return
            _restore(kind, patches.stand_ins)   # left by a failure
            for name, member in list(vars(kind).items()):
                stand_in = _stand_in(kind, name, member)
                if stand_in is not member:
                    patches.stand_ins[name] = stand_in
                    PATCHED[id(stand_in)] = member
                    _set(kind, name, stand_in)
        except BaseException:
            _unpatch(kind, trace)
            raise


def _unpatch(kind: type, trace: Trace) -> None:
    """Remove the stand-ins from a class, if no other trace needs them."""
    with _LOCK:
        patches = _PATCHES.get(kind)
        if patches is None or trace not in patches.traces:
            return
        patches.traces.remove(trace)
        if patches.traces:
            return
        with ExitStack() as rest:
            rest.callback(_forget, kind)
            rest.callback(_unwatch, kind, patches)
            rest.callback(_restore, kind, patches.stand_ins)    # the rest, if it fails
            _restore(kind, patches.stand_ins)


def _forget(kind: type) -> None:
    if not _PATCHES[kind].stand_ins:
        del _PATCHES[kind]


def _restore(kind: type, stand_ins: dict[str, Any]) -> None:
    """Restore the members of a class, and forget its stand-ins one by one."""
    for name, stand_in in list(stand_ins.items()):
        if vars(kind).get(name) is stand_in:
            _set(kind, name, PATCHED[id(stand_in)])
        PATCHED.pop(id(stand_in), None)
        del stand_ins[name]


def _is_watchable(kind: type) -> bool:
    return is_open(kind) and reads_plainly(kind)


def _unwatch(kind: type, patches: _Patches) -> None:
    if patches.is_watched:
        type.__delattr__(kind, "__getattribute__")
        patches.is_watched = False


@on_behalf
def _noting(thing: Any, name: str) -> Any:
    """The `__getattribute__` of watched classes."""
    for trace in CURRENT.traces:
        trace.context.environment.note_read(thing, name)
    return object.__getattribute__(thing, name)


READERS[id(_noting)] = _noting
_set = type.__setattr__  # without calling the `__setattr__` of a metaclass


def _stand_in(kind: type, name: str, member: Any) -> Any:
    if name in ("__name__", "__qualname__"):
        return member  # setting these would rename the class
    if type(member) is types.FunctionType:
        if not (name.startswith("__") and name.endswith("__")) or name in _LEFT:
            return member
        if member.__code__.co_filename == "<string>":  # made by dataclasses, namedtuple and their like
            compares = name == "__eq__" and class_has(kind, "__dataclass_fields__")
            return _fields_equal(kind, member) if compares else member
        return _dispatching(member, name)
    if type(member) is property:
        fget, fset, fdel = map(_accessor, (member.fget, member.fset, member.fdel))
        return property(fget, fset, fdel, member.__doc__)
    if type(member) is functools.cached_property:
        return _Cached(member)
    return _Mocked(member) if type(member).__module__ == "unittest.mock" and hasattr(member, "__get__") else member


def _accessor(function: Any) -> Any:
    return _dispatching(function) if type(function) is types.FunctionType else function


def _dispatching(function: types.FunctionType, name: str = "") -> Callable[..., Any]:
    """A function that calls the replacement of `function` while the thread is tracing."""

    @functools.wraps(function)
    @on_behalf
    def dispatch(*args: Any, **kwargs: Any) -> Any:
        if not CURRENT.traces:
            return function(*args, **kwargs)
        trace = CURRENT.traces[-1]
        nodes = len(trace.block.nodes)
        trace.special_calls.append(name)
        try:
            result = trace.context.calls.replacement(function)(*args, **kwargs)
        finally:
            trace.special_calls.pop()
        if name == "__hash__" and any(effect_of(node).kind not in (PURE, VIEW) for node in trace.block.nodes[nodes:]):
            reason = f"{function.__qualname__} does more than to give a number, and is called when the graph runs, too"
            trace.graph_break(reason)
        return _concrete(trace, name, result) if is_tensor(result) else result

    return dispatch


def _concrete(trace: Trace, name: str, result: Any) -> Any:
    """A staged result of a special method, in a form that Python accepts."""
    if name in _TEXTS:
        return trace.formatted(result, "", "")
    if name in _NUMBERS or name == "__iter__":
        trace.needs(result, f"as the result of {name}")
    return result


def _fields_equal(kind: type, member: types.FunctionType) -> Callable[..., Any]:
    """The comparison of instances of a dataclass: as tuples are compared, but staged."""
    names = [field.name for field in dataclasses.fields(kind) if field.compare]

    @functools.wraps(member)
    @on_behalf
    def equal(self: Any, other: Any) -> Any:
        if not CURRENT.traces or type(other) is not type(self):
            return member(self, other)
        trace = CURRENT.traces[-1]

        def rest(position: int) -> Any:
            for at in range(position, len(names)):
                mine, theirs = getattr(self, names[at]), getattr(other, names[at])
                same: Any = mine is theirs or mine == theirs
                if is_tensor(same):
                    return stage_if(trace, same, partial(rest, at + 1), lambda: False, NoState(), loose=False)
                if not same:
                    return False
            return True

        return rest(0)

    return equal


class _Mocked:
    """The stand-in for a `PropertyMock`, which counts the accesses."""

    def __init__(self, member: Any) -> None:
        self.member = member

    def __get__(self, thing: Any, owner: Any = None) -> Any:
        self._refuse()
        return self.member.__get__(thing, owner)

    def __set__(self, thing: Any, value: Any) -> None:
        self._refuse()
        self.member.__set__(thing, value)

    @staticmethod
    def _refuse() -> None:
        if CURRENT.traces:
            CURRENT.traces[-1].graph_break("a PropertyMock records each access of its attribute")


class _Cached:
    """The stand-in for a `cached_property`."""

    def __init__(self, member: Any) -> None:
        self.member = member

    def __get__(self, thing: Any, owner: Any = None) -> Any:
        if thing is None or not CURRENT.traces:
            return self.member.__get__(thing, owner)
        trace = CURRENT.traces[-1]
        value = trace.context.calls.replacement(self.member.func)(thing)
        trace.undo_log.touch(thing)
        vars(thing)[self.member.attrname] = value
        return value
