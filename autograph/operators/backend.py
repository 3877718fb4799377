"""The protocol of backends, which stage values, and their registry.

Converted code runs as plain Python until a construct meets a value of a registered backend: the `if` a staged
condition, the `for` a staged iterable. Then the backend gets the whole construct. While a backend traces, it is also
asked about constructs without staged values that may concern it: loops, comprehensions, builtins, calls, `in`, `raise`,
and objects that are indexed or mutated.
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
    """A function of an item of a comprehension that returns the elements of another `for`, instead of one element."""

    __slots__ = ("function",)

    def __init__(self, function: OneArgument) -> None:
        self.function = function

    def __call__(self, item: Any) -> Any:
        return self.function(item)


class Mapped:
    """A function of which `map` is called, for a call that takes all items."""

    __slots__ = ("function",)

    def __init__(self, function: OneArgument) -> None:
        self.function = function

    def __call__(self, item: Any) -> Any:
        return self.function(item)


class Backend(Protocol):
    """Stages values. Subclass it, and define methods for the constructs that you stage; or match its structure.

    Any method of a construct may return NotImplemented: the construct then runs as plain Python. The inherited methods
    do so for plain values, and raise StagingError for staged ones. `first` is the value that Python computes first,
    which is already computed.
    """

    name: str
    maps: bool = False      # whether `gen_exp` takes over `map`, as `Mapped`, where a call takes all items at once
    may_drop: bool = False  # whether it stages jumps out of `finally`, which drop exceptions, also its own

    def owns(self, value: Any) -> bool:
        """Whether this backend stages `value`. While it traces, it is also asked about lists and objects."""
        return False

    def tracing(self) -> bool:
        """Whether this backend traces in this thread, other than within `traced_by`; see `register`."""
        return False

    def enter(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function to call instead of the converted `function`, where the program calls one of `ag.convert`.

        A backend that is watched begins its trace there, by `traced_by`.
        """
        return function

    def if_stmt(self, test: Any, body: Thunk, orelse: Thunk | None, state: State) -> Any:
        """`if`: set the carried variables, and return the result of the branch."""
        return unstaged(self, "`if` statements", test)

    def if_exp(self, test: Any, body: Thunk, orelse: Thunk) -> Any:
        """`body() if test else orelse()`."""
        return unstaged(self, "conditional expressions", test)

    def while_stmt(
        self, first: Any, test: Thunk, body: Thunk, state: State, until: Thunk | None, options: Options
    ) -> Any:
        """`while`: run the rest of the loop; `first` decides whether there is another iteration.

        `until()`, called after each iteration, returns whether it reached a `break`. `first` is plain if the backend
        traces and the loop has not begun.
        """
        return unstaged(self, "`while` loops", first)

    def for_stmt(
        self, iterable: Any, body: OneArgument, state: State, until: Thunk | None, options: Options, first: Any
    ) -> Any:
        """`for`: run the rest of the loop over the remaining items of `iterable`.

        `first` is True before the first iteration. Later, if `until()` returns a staged value, it is the staged
        condition for another iteration.
        """
        return unstaged(self, "`for` loops", iterable, first)

    def truth(self, value: Any) -> Any:
        """Return a substitute for a value of which only the truth matters, so that its truth is computed once."""
        return value

    def and_(self, first: Any, rest: Sequence[Thunk], test: bool = False) -> Any:
        """`first and rest[0]() and …`; the chained comparison `a < b < c` also comes as `a < b and …`.

        Args:
            test: only the truth of the result matters. Return True or False in place of an operand whose truth is
                known, so that it is not computed twice.
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

        At the beginning, `first` is True and `done` empty. Later, if a condition is staged, `first` is that condition,
        and `iterable` has the remaining items, beginning with the item of the condition. If `element` is a `Several`,
        it returns an iterable of elements for each item: the comprehension has another `for`.
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
        """A generator expression, or the rest of one; return an iterable. See `list_comp`."""
        return unstaged(self, "generator expressions", iterable, first)

    def assert_stmt(self, test: Any, message: Thunk | None) -> Any:
        """`assert test, message()`."""
        return unstaged(self, "`assert`", test)

    def raise_(self, exception: Any) -> Any:
        """Return the exception to raise when the user's code raises `exception` while this backend traces."""
        return NotImplemented

    def fstring(self, text: Thunk) -> Any:
        """Return the result of the f-string `text()` while this backend traces; `text` also formats staged values."""
        return NotImplemented

    def percent(self, template: Any, value: Any) -> Any:
        """Return `template % value`, for a literal string or bytes, while this backend traces."""
        return NotImplemented

    def call(self, function: Any) -> Any:
        """Return the function to call instead of `function` while this backend traces."""
        return NotImplemented

    def ref(self, value: Any) -> Any:
        """Return the object to index, mutate or set attributes of instead of `value` while this backend traces."""
        return NotImplemented

    def add_item(self, thing: Any, key: Any, more: Any, first: Any) -> Any:
        """Stage `try: thing[key] += more` with `except KeyError: thing[key] = first`, and return True."""
        return NotImplemented

    def concrete(self, value: Any, parts: bool, inside: bool) -> Any:
        """Return the object to compare by identity, match, or search, instead of `value`, while this backend traces."""
        return NotImplemented

    def bound(self, value: Any, free: bool) -> Any:
        """Return the value of a variable, if it is bound in the program; in Python it is, with `value`."""
        return NotImplemented

    def whole(self, value: Any) -> Any:
        """Return the object to compare, or combine with another set, instead of `value` while this backend traces."""
        return NotImplemented

    def context(self, manager: Any) -> Any:
        """Return the context manager to enter instead of `manager` while this backend traces."""
        return NotImplemented

    def is_(self, left: Any, right: Any) -> Any:
        """`left is right`, where one is None, and the other a variable that may be set to None."""
        return NotImplemented

    def builtin(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Call the builtin function `name`; calls the method `NAME_`, if there is one."""
        method = getattr(self, f"{name}_", None)
        return method(*args, **kwargs) if method else unstaged(self, f"{name}()", *args, *kwargs.values())


def unstaged(backend: Backend, construct: str, *values: Any) -> Any:
    """Return NotImplemented for a construct of plain values.

    Raises:
        StagingError: `backend` owns one of `values`.
    """
    if not any(map(backend.owns, values)):
        return NotImplemented
    frame = user_frame()
    raise StagingError(
        f"the backend {backend.name} does not stage {construct}. Compute this from values that are not staged, "
        "or write it with constructs that the backend does stage",
        *((frame.f_code.co_filename, frame.f_lineno) if frame else ()),
    )


class Watch:
    """A backend whose library starts the traces. It traces in this thread while `state.value` is not `idle`.

    Functions of `ag.convert` compare the two in each call. So a library that keeps such a state costs least.

    Attributes:
        backend: the backend; None if `state` stands for several.
    """

    __slots__ = ("backend", "idle", "state")

    def __init__(self, backend: Backend | None, state: Any = None, idle: Any = False) -> None:
        self.backend = backend
        self.state = _Asked(backend) if state is None else state
        self.idle = idle

    def __bool__(self) -> bool:
        return self.state.value is not self.idle


class _Asked:
    """The state of a backend that is asked for its `tracing()`."""

    __slots__ = ("backend",)

    def __init__(self, backend: Any) -> None:
        self.backend = backend

    @property
    def value(self) -> bool:
        return bool(self.backend.tracing())


class _Never:
    """A state that stays idle."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = False


_NOBODY = Watch(None, _Never())


class Watched(list["Watch"]):
    """The watched backends; the last one first.

    Attributes:
        joint: what functions of `ag.convert` look at: the only watch, or one that is true while any is.
    """

    __slots__ = ("joint",)

    def __init__(self) -> None:
        super().__init__()
        self.replace([])

    def replace(self, watches: list[Watch]) -> None:
        """Watch other backends."""
        self[:] = watches
        self.joint = Watch(None, self) if len(watches) > 1 else watches[0] if watches else _NOBODY

    @property
    def value(self) -> bool:
        """Whether a watched backend traces."""
        return any(self)

    def __reduce__(self) -> str:
        return "WATCHED"    # there is only one, also when functions of `ag.convert` are pickled by value


class _Active(list["Backend"]):
    """Has observers, which are called when the first trace begins, and when the last one has ended.

    Its entries are added and removed by methods of `list`, which do not fail where recursion is at its limit.
    """

    def __init__(self) -> None:
        super().__init__()
        self.observers: list[Callable[[], None]] = []

    def tell(self) -> None:
        """Call the observers."""
        for observer in self.observers:
            observer()

    def __reduce__(self) -> str:
        return "ACTIVE"     # there is only one, also when functions of `ag.convert` are pickled by value


# For plain values, operators only check these three, which are changed in place. STAGED gives the backend of each
# staged type, BACKENDS lists the backends whose `owns` is called. ACTIVE has an entry for each trace in any thread.
STAGED: dict[type, Backend] = {}
BACKENDS: list[Backend] = []
ACTIVE = _Active()

# The backends registered with `watch`. Functions of `ag.convert` ask these.
WATCHED = Watched()

# No backend owns values of exactly these types. But a tracing backend may own those that can be changed.
PLAIN: frozenset[type] = frozenset(
    {bool, int, float, complex, str, bytes, type(None), list, tuple, dict, set, frozenset, range}
)
CHANGEABLE: frozenset[type] = frozenset({list, dict, set, deque})


class _Traces(threading.local):
    """The backends that trace in this thread, innermost last."""

    def __init__(self) -> None:
        self.stack: list[Backend | None] = []


_traces = _Traces()
_registered: list[tuple[Backend, tuple[type, ...]]] = []


def register(backend: Backend, watch: bool | Watch = False, types: Iterable[type] = ()) -> None:
    """Let `backend` stage values; if several own a value, the one registered last gets it.

    Args:
        watch: ask the backend's `tracing()` where a function of `ag.convert` is called. For a backend whose library
            starts the traces. Its `enter` uses `traced_by`, so that operators know. A `Watch` with a state finds out
            faster.
        types: the types of its values, without subclasses. Then its `owns` is only called while it traces, and values
            of other types cost nothing. The backend of a type comes before those whose `owns` is called.
    """
    _registered.append((backend, tuple(types)))
    STAGED.update(dict.fromkeys(_registered[-1][1], backend))
    if not _registered[-1][1]:
        BACKENDS.insert(0, backend)
    if watch is not False:
        WATCHED.replace([watch if isinstance(watch, Watch) else Watch(backend), *WATCHED])


def unregister(backend: Backend) -> None:
    """Undo `register`."""
    at = next(i for i in reversed(range(len(_registered))) if _registered[i][0] is backend)
    _, types = _registered.pop(at)
    for kind in types:
        earlier = [other for other, theirs in _registered if kind in theirs]
        if earlier:
            STAGED[kind] = earlier[-1]
        else:
            del STAGED[kind]
    if not types:
        BACKENDS.remove(backend)
    WATCHED.replace([watch for watch in WATCHED if watch.backend is not backend])


@contextmanager
def traced_by(backend: Backend) -> Iterator[None]:
    """While it lasts, `backend` traces the code that this thread runs."""
    ACTIVE.append(backend)
    _traces.stack.append(backend)
    try:
        if len(ACTIVE) == 1:
            ACTIVE.tell()
        yield
    finally:
        _traces.stack.pop()
        ACTIVE.remove(backend)
        if not ACTIVE:
            ACTIVE.tell()


@contextmanager
def untraced() -> Iterator[None]:
    """While it lasts, no backend traces the code that this thread runs."""
    _traces.stack.append(None)
    try:
        yield
    finally:
        _traces.stack.pop()


def tracing() -> Backend | None:
    """Return the backend that traces in this thread, if any; the innermost of several."""
    if _traces.stack:
        return _traces.stack[-1]
    return next((watch.backend for watch in [*WATCHED] if watch.backend and watch), None) if WATCHED else None


def entered(backend: Backend, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function to call instead of a converted one of `ag.convert`; a backend need not have `enter`."""
    enter = getattr(backend, "enter", None)
    return function if enter is None else enter(function)


def owner(value: Any) -> Backend | None:
    """Return the backend that stages `value`, if any."""
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
    """Return the backend for a construct: the owner of the first staged value, else the one that traces."""
    for value in values:
        backend = owner(value)
        if backend is not None:
            return backend
    return tracing() if ACTIVE else None


def ask(construct: str, *values: Any) -> Any:
    """Call the method for a construct of the backend responsible for `values`.

    Returns:
        its result; NotImplemented if the construct is to run as plain Python.

    Raises:
        StagingError: one of `values` is staged by a backend that has no such method.
    """
    backend = responsible(*values)
    if backend is None:
        return NotImplemented
    method = getattr(backend, construct, None)
    return unstaged(backend, f"`{construct}`", *values) if method is None else method(*values)


def ask_tracer(construct: str, *values: Any) -> Any:
    """Call the method for a construct of the backend that traces in this thread; NotImplemented if none traces."""
    backend = tracing()
    return NotImplemented if backend is None else getattr(backend, construct)(*values)


def substitute(construct: str, value: Any, *options: Any) -> Any:
    """Return the tracing backend's substitute for `value`, or `value` if there is none."""
    answer = ask_tracer(construct, value, *options)
    return value if answer is NotImplemented else answer
