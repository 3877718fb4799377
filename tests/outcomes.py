"""What a call did, in a form that two runs of a program can be compared by.

`run` calls a function and tells what came of it: the value with the types and dtypes of everything in it, the
exception with what it was raised from, what was printed, which warnings were issued, and what the arguments are
afterwards. Objects that occur twice are told apart from equal ones, so that aliases must be the same too. Where in
the source all that happened stands in `places`, apart, for not every run keeps the original's lines.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import io
import itertools
import linecache
import re
import signal
import traceback
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SECONDS = 20  # no program of the tests takes a tenth of this; one that was converted wrongly may run for ever


@dataclass
class Outcome:
    """What a call did."""

    value: Any = None
    exception: Any = None
    printed: str = ""
    warnings: list[tuple[str, str]] = field(default_factory=list)
    arguments: Any = None
    places: list[tuple[str, int, str]] = field(default_factory=list, compare=False)

    @property
    def raised_at(self) -> int | None:
        """The line where the exception was raised."""
        ends = itertools.takewhile(lambda place: place[0] not in ("cause", "context"), self.places)
        own = [place for place in ends if place[2] != "warning"]
        return own[-1][1] if own and self.exception else None


def run(function: Callable[..., Any], arguments: str = "", names: Mapping[str, Any] | None = None) -> Outcome:
    """Call `function` with what the text `arguments` evaluates to among `names`, its own globals if not given."""
    namespace = dict(function.__globals__ if names is None else names)
    args, kwargs = eval(f"_arguments({arguments})", {**namespace, "_arguments": lambda *a, **k: (a, k)})
    outcome = Outcome()
    description = _Description()
    out = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(out), time_limit():
        warnings.simplefilter("always")
        try:
            outcome.value = description.of(_complete(function(*args, **kwargs)))
        except Exception as error:
            outcome.exception = description.of(error)
            outcome.places = list(_places(error))
        outcome.arguments = description.of((args, kwargs))
    outcome.printed = no_addresses(out.getvalue())
    outcome.warnings = [(w.category.__name__, str(w.message)) for w in caught]
    outcome.places += [(w.filename, w.lineno, "warning") for w in caught]
    return outcome


def described(value: Any) -> Any:
    """A value in a form that two of them can be compared by."""
    return _Description().of(value)


def execute(text: str, filename: str, names: dict[str, Any] | None = None) -> dict[str, Any]:
    """Execute a text so that its source can be found, in a module `names`; what it defines."""
    linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
    defined: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        code = compile(text, filename, "exec", dont_inherit=True)
    if names is None:
        names = defined = {"__name__": "executed"}
    exec(code, names, defined)
    return defined


def _complete(result: Any) -> Any:
    """What a coroutine or generator that was called comes to."""
    if inspect.iscoroutine(result):
        return asyncio.run(result)
    if inspect.isgenerator(result):
        items: list[Any] = []
        while True:
            try:
                items.append(next(result))
            except StopIteration as stop:
                return "generator", items, stop.value
            except Exception as error:
                error.add_note(f"yielded before: {items}") if hasattr(error, "add_note") else None
                raise
    return result


@contextlib.contextmanager
def time_limit(seconds: float = SECONDS) -> Iterator[None]:
    """Make what takes too much processor time fail, where the system can."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise BaseException(f"still running after {seconds} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _places(error: BaseException) -> Iterator[tuple[str, int, str]]:
    """File, line and function of each entry of a traceback, and of those it came from, this file's left out."""
    for entry in traceback.extract_tb(error.__traceback__):
        if entry.filename != __file__:
            yield entry.filename, entry.lineno or 0, entry.name
    for kind, other in (("cause", error.__cause__), ("context", error.__context__)):
        if other is not None:
            yield kind, 0, type(other).__name__
            yield from _places(other)


class _Description:
    """Describes values by lists, tuples and texts that can be compared; objects seen before by their number."""

    ATOMS = (type(None), bool, int, float, complex, str, bytes, bytearray, range, slice, type(...))

    def __init__(self) -> None:
        self.seen: list[Any] = []  # kept alive, so that no other object gets the same id
        self.numbers: dict[int, int] = {}

    def of(self, value: Any) -> Any:
        kind = type(value)
        if kind in self.ATOMS:
            return kind.__name__, repr(value)
        if kind is tuple:
            return ("tuple", *map(self.of, value))
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return (_name(kind), *map(self.of, value))
        if isinstance(value, np.generic):
            return value.dtype.name, repr(value.item())
        if id(value) in self.numbers:
            return "the same as", self.numbers[id(value)]
        self.numbers[id(value)] = len(self.seen)
        self.seen.append(value)
        return _name(kind), *self.inside(value)

    def inside(self, value: Any) -> Iterator[Any]:
        """The parts of an object that count."""
        if isinstance(value, BaseException):
            yield no_addresses(str(value))
            args = [no_addresses(arg) if type(arg) is str else arg for arg in value.args]     # as in the text above
            yield list(map(self.of, args)) if not isinstance(value, SyntaxError) else None
            # A body knows an unbound local for a free variable, until the error leaves it.
            context = "NameError" if isinstance(value.__context__, NameError) else self.of(value.__context__)
            yield self.of(value.__cause__), context, value.__suppress_context__
            yield getattr(value, "__notes__", None)
        elif isinstance(value, np.ndarray):
            yield value.dtype.name
            yield value.shape
            is_large = value.size > 1000 and value.dtype.char in "?bhilqBHILQfdFD"
            yield _bits(value) if is_large else self.of(value.tolist())
        elif isinstance(value, (types.FunctionType, type)):
            yield _name(value)
        elif isinstance(value, Mapping):
            yield [(self.of(k), self.of(v)) for k, v in value.items()]
        elif isinstance(value, Set):
            yield sorted(map(repr, map(self.of, value)))
        elif isinstance(value, Sequence) or kind_is_view(value):
            yield list(map(self.of, value))
        if hasattr(kind := type(value), "__dict__") and isinstance(getattr(value, "__dict__", None), dict):
            yield kind.__module__.rpartition(".")[2]
            if not isinstance(value, (types.FunctionType, type, types.ModuleType)):
                yield [(name, self.of(part)) for name, part in vars(value).items() if name != "__notes__"]
        for name in getattr(kind, "__slots__", ()) if kind.__flags__ & 1 << 9 else ():      # made by a class statement
            yield name, self.of(getattr(value, name, "unbound"))


def described(value: Any) -> Any:
    """A value in a form that can be compared, with the identities of what it holds."""
    return _Description().of(value)


def kind_is_view(value: Any) -> bool:
    return type(value).__name__ in ("dict_keys", "dict_values", "dict_items", "deque", "memoryview")


def _bits(array: np.ndarray[Any, Any]) -> bytes:
    """The contents of a large array of numbers, where one NaN is as good as another: descriptions take long."""
    copied = np.array(array, order="C")
    if copied.dtype.kind in "fc":
        parts = copied.view(copied.real.dtype)
        parts[np.isnan(parts)] = np.nan
    return copied.tobytes()


def _name(value: Any) -> str:
    # In converted text, what the user defined in a branch is defined in the function that stands for it.
    return re.sub(r"(if|else|loop)_(body|test)(_\d+)?\.<locals>\.", "", value.__qualname__)


def no_addresses(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x…", text)
