"""The protocol through which values get staged, and the registry of those who speak it.

Converted code runs as plain Python until a construct meets a value that a registered backend owns: the `if`
of a staged condition, the `for` over a staged iterable. That backend is then handed the whole construct. While
a backend traces, it is moreover asked about what might matter to it although no staged value is in sight: loops,
comprehensions, builtins, calls, `in`, `raise`, and objects about to be indexed or mutated.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from autograph.errors import StagingError
from autograph.operators.state import State
from autograph.operators.tracebacks import user_frame

Thunk = Callable[[], Any]
OneArgument = Callable[[Any], Any]
Options = Mapping[str, Any] | None


class Several:
    """A function of an item of a comprehension that gives not one element, but those of another `for`."""

    __slots__ = ("function",)

    def __init__(self, function: OneArgument) -> None:
        self.function = function

    def __call__(self, item: Any) -> Any:
        return self.function(item)


class Backend(Protocol):
    """Stages values. Subclass it, and define methods for the constructs that you stage; or match its structure.

    Any method of a construct may return NotImplemented: the construct then runs as plain Python. The methods
    inherited from here do so for plain values, and raise StagingError for staged ones. What is called `first`
    has been computed already, once, as Python would have.
    """

    name: str
    may_drop: bool = False  # whether it stages jumps out of `finally`, which drop exceptions, its own included

    def owns(self, value: Any) -> bool:
        """Whether `value` is staged, and by this backend. While it traces, it is also asked of lists and objects."""
        return False

    def tracing(self) -> bool:
        """Whether this backend is tracing in this thread, other than within `traced_by`; see `register`."""
        return False

    def if_stmt(self, test: Any, body: Thunk, orelse: Thunk | None, state: State) -> Any:
        """`if`: set the carried variables, and return what the branches return."""
        return unstaged(self, "`if` statements", test)

    def if_exp(self, test: Any, body: Thunk, orelse: Thunk) -> Any:
        """`body() if test else orelse()`."""
        return unstaged(self, "conditional expressions", test)

    def while_stmt(
        self, first: Any, test: Thunk, body: Thunk, state: State, until: Thunk | None, options: Options
    ) -> Any:
        """`while`: the rest of the loop, from where `first` was to decide whether there is another iteration.

        `until`, asked after each iteration, says whether it met a `break`. `first` is plain when a tracing backend is
        asked about a loop before its first iteration.
        """
        return unstaged(self, "`while` loops", first)

    def for_stmt(
        self,
        iterable: Any,
        body: OneArgument,
        state: State,
        until: Thunk | None,
        options: Options,
        first: Any,
    ) -> Any:
        """`for`: the rest of the loop, over what is left of `iterable`.

        `first` is True before the first iteration. Later, when `until` has turned staged, it is the staged condition
        for going on.
        """
        return unstaged(self, "`for` loops", iterable, first)

    def truth(self, value: Any) -> Any:
        """A substitute for a value of which only the truth matters, so that its truth is computed once."""
        return value

    def and_(self, first: Any, rest: Sequence[Thunk], test: bool = False) -> Any:
        """`first and rest[0]() and …`; the chained comparison `a < b < c` comes as `a < b and …`, too.

        Args:
            test: only the truth of the result matters; in the place of an operand that has been asked for its truth
                there is True or False, so that none is asked twice.
        """
        return unstaged(self, "`and` and chained comparisons", first)

    def or_(self, first: Any, rest: Sequence[Thunk], test: bool = False) -> Any:
        """`first or rest[0]() or …`; `test` as for `and_`."""
        return unstaged(self, "`or`", first)

    def not_(self, value: Any) -> Any:
        """`not value`."""
        return unstaged(self, "`not`", value)

    def in_(self, element: Any, container: Any) -> Any:
        """`element in container`; `not in` is `not_` of it."""
        return unstaged(self, "`in`", element, container)

    def list_comp(
        self, iterable: Any, element: OneArgument, condition: OneArgument | None, done: list[Any], first: Any
    ) -> Any:
        """`[*done, *[element(x) for x in iterable if condition(x)]]`.

        `first` is True, and `done` empty, at the beginning. Later, when a condition has turned staged, it is
        that condition, and `iterable` what is left, beginning with the item that it is about. If `element` is
        `Several`, it gives the elements for an item, of a comprehension with another `for`, as something iterable.
        """
        return unstaged(self, "list comprehensions", iterable, first)

    def set_comp(
        self, iterable: Any, element: OneArgument, condition: OneArgument | None, done: set[Any], first: Any
    ) -> Any:
        """A set comprehension; see `list_comp`."""
        return unstaged(self, "set comprehensions", iterable, first)

    def dict_comp(
        self,
        iterable: Any,
        key: OneArgument,
        value: OneArgument,
        condition: OneArgument | None,
        done: dict[Any, Any],
        first: Any,
    ) -> Any:
        """A dict comprehension; see `list_comp`."""
        return unstaged(self, "dict comprehensions", iterable, first)

    def gen_exp(self, iterable: Any, element: OneArgument, condition: OneArgument | None, first: Any) -> Any:
        """A generator expression, or the rest of one, as something iterable; see `list_comp`."""
        return unstaged(self, "generator expressions", iterable, first)

    def assert_stmt(self, test: Any, message: Thunk | None) -> Any:
        """`assert test, message()`."""
        return unstaged(self, "`assert`", test)

    def raise_(self, exception: Any) -> Any:
        """The exception to raise where the user's code raises `exception` while this backend traces."""
        return NotImplemented

    def fstring(self, text: Thunk) -> Any:
        """The f-string `text()`, while this backend traces; `text` formats staged values, too."""
        return NotImplemented

    def percent(self, template: Any, value: Any) -> Any:
        """`template % value`, of a literal text or bytes, while this backend traces."""
        return NotImplemented

    def call(self, function: Any) -> Any:
        """The function to call for `function` while this backend traces."""
        return NotImplemented

    def ref(self, value: Any) -> Any:
        """The object to index, mutate or set attributes of for `value` while this backend traces."""
        return NotImplemented

    def concrete(self, value: Any, parts: bool, inside: bool) -> Any:
        """The object to compare by identity, or to look into, as patterns and `in` do, for `value` while tracing."""
        return NotImplemented

    def bound(self, value: Any, free: bool) -> Any:
        """The value of a variable that is `value` to Python while this backend traces, if it is bound."""
        return NotImplemented

    def whole(self, value: Any) -> Any:
        """The object that Python compares, or combines with another set, for `value` while this backend traces."""
        return NotImplemented

    def context(self, manager: Any) -> Any:
        """The context manager that a `with` enters for `manager` while this backend traces."""
        return NotImplemented

    def is_(self, left: Any, right: Any) -> Any:
        """`left is right`, where `right` or `left` is None and the other a variable that may come to be None."""
        return NotImplemented

    def builtin(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A call of the builtin function `name`; goes to the method `NAME_`, if there is one."""
        method = getattr(self, f"{name}_", None)
        return method(*args, **kwargs) if method else unstaged(self, f"{name}()", *args, *kwargs.values())


def unstaged(backend: Backend, construct: str, *values: Any) -> Any:
    """NotImplemented for a construct of plain values; StagingError if `backend` owns one of `values`."""
    if not any(map(backend.owns, values)):
        return NotImplemented
    frame = user_frame()
    raise StagingError(
        f"the backend {backend.name} does not stage {construct}. Compute this from values that are not staged, "
        "or write it with constructs that the backend does stage",
        *((frame.f_code.co_filename, frame.f_lineno) if frame else ()),
    )


class _Active(list["Backend"]):
    def __reduce__(self) -> str:
        return "ACTIVE"     # there is but one, also where functions of `ag.convert` are pickled by value


# Operators hold on to these three, which are only ever changed in place; they are all that the plain path looks at.
# STAGED says whose the values of a type are, BACKENDS lists those who must be asked of each value. ACTIVE has an
# entry for each trace in any thread, and one for each backend registered with `watch`.
STAGED: dict[type, Backend] = {}
BACKENDS: list[Backend] = []
ACTIVE: list[Backend] = _Active()

# Values of exactly these types belong to no backend. But one that traces may keep track of those that can be changed,
# and know the truth of objects.
PLAIN: frozenset[type] = frozenset(
    {bool, int, float, complex, str, bytes, type(None), list, tuple, dict, set, frozenset, range}
)
CHANGEABLE: frozenset[type] = frozenset({list, dict, set, deque})


class _Traces(threading.local):
    """The backends tracing in this thread, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[Backend] = []


_traces = _Traces()
_registered: list[tuple[Backend, tuple[type, ...]]] = []
_watched: list[Backend] = []


def register(backend: Backend, watch: bool = False, types: Iterable[type] = ()) -> None:
    """Let `backend` stage values; of several that own a value, the one registered last gets it.

    Args:
        watch: ask the backend's `tracing()` at each loop, call and so on. For a backend that does not start its
            traces itself, and so cannot announce them with `traced_by`.
        types: the types of its values, those of subclasses not included. Its `owns` is not asked then unless it
            traces, and values of other types cost nothing. A type's backend comes before those that are asked.
    """
    _registered.append((backend, tuple(types)))
    STAGED.update(dict.fromkeys(_registered[-1][1], backend))
    if not _registered[-1][1]:
        BACKENDS.insert(0, backend)
    if watch:
        ACTIVE.append(backend)
        _watched.insert(0, backend)


def unregister(backend: Backend) -> None:
    """Undo `register`."""
    at = next(i for i in reversed(range(len(_registered))) if _registered[i][0] is backend)
    _, types = _registered.pop(at)
    for kind in types:
        before = [other for other, theirs in _registered if kind in theirs]
        if before:
            STAGED[kind] = before[-1]
        else:
            del STAGED[kind]
    for backends in (() if types else (BACKENDS,)), (ACTIVE, _watched) if backend in _watched else ():
        for each in backends:
            each.remove(backend)


@contextmanager
def traced_by(backend: Backend) -> Iterator[None]:
    """While it lasts, `backend` traces what runs in this thread."""
    ACTIVE.append(backend)
    _traces.stack.append(backend)
    try:
        yield
    finally:
        _traces.stack.pop()
        ACTIVE.remove(backend)


def tracing() -> Backend | None:
    """The backend that traces what runs in this thread, if any; of several, the innermost."""
    if not ACTIVE:
        return None
    if _traces.stack:
        return _traces.stack[-1]
    return next((backend for backend in _watched if backend.tracing()), None)


def owner(value: Any) -> Backend | None:
    """The backend that staged `value`, if any."""
    kind = type(value)
    if kind in STAGED:
        return STAGED[kind]
    if BACKENDS and kind not in PLAIN:
        for backend in BACKENDS:
            if backend.owns(value):
                return backend
    if ACTIVE and (kind not in PLAIN or kind in CHANGEABLE):
        tracer = tracing()
        if tracer is not None and tracer.owns(value):
            return tracer
    return None


def responsible(*values: Any) -> Backend | None:
    """Whom to ask about a construct of `values`: the owner of the first staged one, else who is tracing."""
    for value in values:
        backend = owner(value)
        if backend is not None:
            return backend
    return tracing() if ACTIVE else None


def ask(construct: str, *values: Any) -> Any:
    """The result of a construct, from the backend that is responsible for `values`: from its method of that name.

    Returns:
        NotImplemented, if the construct is to run as plain Python.

    Raises:
        StagingError: one of `values` is staged by a backend that has no such method.
    """
    backend = responsible(*values)
    if backend is None:
        return NotImplemented
    method = getattr(backend, construct, None)
    return unstaged(backend, f"`{construct}`", *values) if method is None else method(*values)


def ask_tracer(construct: str, *values: Any) -> Any:
    """Return the answer of the backend that traces in this thread; NotImplemented if there is none, or it declines."""
    backend = tracing()
    return NotImplemented if backend is None else getattr(backend, construct)(*values)


def substitute(construct: str, value: Any, *options: Any) -> Any:
    """Return the tracing backend's substitute for `value`, or `value` itself if there is none."""
    answer = ask_tracer(construct, value, *options)
    return value if answer is NotImplemented else answer
