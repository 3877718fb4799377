"""Special methods and properties of the user's classes, which Python calls, and which are traced like other code.

Traced code calls `obj.method(…)` through the trace; but `a + b`, `len(a)`, `print(a)` and `a.size` make Python call the
user's functions without a word to it. So the classes that a trace meets have stand-ins for these functions until it is
done. In the thread that traces, a stand-in calls what the trace puts in the place of the function; in all others, and
for whoever is not traced, it calls the function itself.
"""

from __future__ import annotations

import dataclasses
import functools
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

from autograph.common import forking, pytree
from autograph.common.statics import class_has, compares_itself, is_a
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.effects import effect_of
from autograph.runtime.graph.object_model import described, identity_is_users, is_open, is_users, own_dict, parts_inside
from autograph.runtime.graph.opdef import PURE, VIEW
from autograph.runtime.tracing.control_flow.cond import NoState, stage_if
from autograph.runtime.tracing.environment.environment import CapturedEnvironment
from autograph.runtime.tracing.proxies.graph_break import Plain
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import PATCHED, attributes

# Looked up by this library as well, or not to be traced.
_LEFT = frozenset("__getattribute__ __del__ __aenter__ __aexit__ __aiter__ __anext__ __await__ __reduce_ex__".split())
_TEXTS = frozenset({"__str__", "__repr__", "__format__"})
_NUMBERS = frozenset("__bool__ __hash__ __int__ __float__ __complex__ __index__ __len__ __length_hint__".split())
_REACH = 10_000
_PARTLESS = frozenset({int, float, complex, bool, str, bytes, type(None), range, types.FunctionType, types.ModuleType})


class Instruments:
    """The stand-ins that one trace has put into classes; a context manager, which removes them."""

    def __init__(self, trace: Trace, environment: CapturedEnvironment) -> None:
        self.trace = trace
        self._environment = environment
        self._classes: dict[type, None] = {}
        self._seen: dict[int, Any] = {}
        self._entered = False
        self._hiding: dict[type, frozenset[str]] = {}
        self._refused = ""
        self.relied: dict[type, None] = {}  # classes of which traced code may ask anything

    def __enter__(self) -> Instruments:
        if self._refused:
            raise Plain(self._refused, ())
        _TRACING.stack.append(self.trace)
        self._entered = True
        try:
            for kind in self._classes:
                _instrument(kind, self.trace)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        """Take all stand-ins out, whatever fails meanwhile; they do nothing from the first line on."""
        self._entered = False
        _TRACING.stack.remove(self.trace)
        with ExitStack() as rest:
            for kind in (*self._classes, *self._classes):   # once more, in case that it fails
                rest.callback(_release, kind, self.trace)

    def _refuse(self, reason: str) -> None:
        """Have the function run as plain Python: what looks at attributes here would be noticed."""
        self._refused = reason
        if self._entered:
            raise Plain(reason, self.trace.place())

    def meet(self, thing: Any) -> None:
        """Have stand-ins in the classes of all that can be reached from a thing."""
        kind = thing if is_a(thing, type) else type(thing)
        if not compares_itself(kind):
            self.relied[kind] = None
        rest = [thing]
        while rest and len(self._seen) < _REACH:
            thing = rest.pop()
            if reason := identity_is_users(thing):
                self._refuse(reason)
                continue
            if type(thing) in _PARTLESS or is_tensor(thing) or id(thing) in self._seen:
                continue
            self._seen[id(thing)] = thing
            if is_a(thing, type):
                self.meet_class(thing)
            else:
                self.meet_class(type(thing))
                self._check_attributes(thing)
                if pytree.is_nested(thing) and is_users(type(thing)):
                    self._environment.know_class(type(thing), whole=True)
                rest.extend(_parts(thing))

    def _check_attributes(self, thing: Any) -> None:
        """See to it that one gets the attributes of an object by asking for them."""
        kind = type(thing)
        if not is_users(kind):
            return
        if kind not in self._hiding:
            self._hiding[kind] = described(kind)
        for name in self._hiding[kind].intersection(own_dict(thing) or ()):
            self._refuse(f"the attribute {name} of an object of class {kind.__qualname__} is behind a descriptor")

    def meet_class(self, kind: type) -> None:
        """Have stand-ins in a class and its bases."""
        for base in type.mro(kind) if kind not in self._classes and is_users(kind) else ():
            if base not in self._classes and is_users(base):
                if "__getattribute__" in vars(base):
                    self._refuse(f"{base.__qualname__}.__getattribute__ runs at each access of an attribute")
                self._classes[base] = None
                self._environment.know_class(base)
                self.meet_class(type(base))
                if self._entered:
                    _instrument(base, self.trace)
                for member in list(vars(base).values()):
                    if is_users(type(member)):  # a descriptor
                        self.meet_class(type(member))


class _Tracing(threading.local):
    """The traces that are being made in this thread."""

    def __init__(self) -> None:
        self.stack: list[Trace] = []


class _Patches:
    """The stand-ins in one class, by what they are called there, and the traces that need them."""

    def __init__(self) -> None:
        self.traces: list[Trace] = []
        self.stand_ins: dict[str, Any] = {}


_TRACING = _Tracing()
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


def _instrument(kind: type, trace: Trace) -> None:
    """Put stand-ins into a class for a trace: all of them, or none if that fails."""
    with _LOCK:
        patches = _PATCHES.setdefault(kind, _Patches())
        patches.traces.append(trace)
        if len(patches.traces) > 1:
            return
        try:
            _restore(kind, patches.stand_ins)   # what a failure may have left
            for name, member in list(vars(kind).items()):
                stand_in = _stand_in(kind, name, member)
                if stand_in is not member:
                    patches.stand_ins[name] = stand_in
                    PATCHED[id(stand_in)] = member
                    _set(kind, name, stand_in)
        except BaseException:
            _release(kind, trace)
            raise


def _release(kind: type, trace: Trace) -> None:
    """Take the stand-ins out of a class, if no other trace needs them."""
    with _LOCK:
        patches = _PATCHES.get(kind)
        if patches is None or trace not in patches.traces:
            return
        patches.traces.remove(trace)
        if patches.traces:
            return
        with ExitStack() as rest:
            rest.callback(_forget, kind)
            rest.callback(_restore, kind, patches.stand_ins)    # what is left, if it fails
            _restore(kind, patches.stand_ins)


def _forget(kind: type) -> None:
    if not _PATCHES[kind].stand_ins:
        del _PATCHES[kind]


def _restore(kind: type, stand_ins: dict[str, Any]) -> None:
    """Have a class as it was, and forget its stand-ins one by one."""
    for name, stand_in in list(stand_ins.items()):
        if vars(kind).get(name) is stand_in:
            _set(kind, name, PATCHED[id(stand_in)])
        PATCHED.pop(id(stand_in), None)
        del stand_ins[name]


_set = type.__setattr__  # whatever the metaclass does when attributes are set


def _stand_in(kind: type, name: str, member: Any) -> Any:
    if name in ("__name__", "__qualname__"):
        return member  # a class takes these for its own
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
    """A function that is traced in the place of `function` where one traces."""

    @functools.wraps(function)
    @on_behalf
    def dispatch(*args: Any, **kwargs: Any) -> Any:
        if not _TRACING.stack or getattr(function, "__ag_do_not_convert__", False):
            return function(*args, **kwargs)
        trace = _TRACING.stack[-1]
        nodes = len(trace.block.nodes)
        trace.asked.append(name)
        try:
            result = trace.context.calls.replacement(function)(*args, **kwargs)
        finally:
            trace.asked.pop()
        if name == "__hash__" and any(effect_of(node).kind not in (PURE, VIEW) for node in trace.block.nodes[nodes:]):
            reason = f"{function.__qualname__} does more than to give a number, and is called when the graph runs, too"
            raise Plain(reason, trace.place())
        return _concrete(trace, name, result) if is_tensor(result) else result

    return dispatch


def _concrete(trace: Trace, name: str, result: Any) -> Any:
    """A staged result of a special method, as Python takes it."""
    if name in _TEXTS:
        return trace.formatted(result, "", "")
    if name in _NUMBERS or name == "__iter__":
        trace.needs(result, f"as the result of {name}")
    return result


def _fields_equal(kind: type, member: types.FunctionType) -> Callable[..., Any]:
    """What compares instances of a dataclass: as tuples are compared, but staged."""
    names = [field.name for field in dataclasses.fields(kind) if field.compare]

    @functools.wraps(member)
    @on_behalf
    def equal(self: Any, other: Any) -> Any:
        if not _TRACING.stack or type(other) is not type(self):
            return member(self, other)
        trace = _TRACING.stack[-1]

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
    """The stand-in for a `PropertyMock`, which counts how often it is asked."""

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
        if _TRACING.stack:
            raise Plain("a PropertyMock records each access of its attribute", _TRACING.stack[-1].place())


class _Cached:
    """The stand-in for a `cached_property`."""

    def __init__(self, member: Any) -> None:
        self.member = member

    def __get__(self, thing: Any, owner: Any = None) -> Any:
        if thing is None or not _TRACING.stack:
            return self.member.__get__(thing, owner)
        trace = _TRACING.stack[-1]
        value = trace.context.calls.replacement(self.member.func)(thing)
        trace.undo_log.touch(thing)
        vars(thing)[self.member.attrname] = value
        return value
