"""Classes get their members back, and plain code works, even if putting stand-ins in or taking them out fails."""

from __future__ import annotations

import contextlib
import functools
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.tracing import trace_function
from autograph.runtime.tracing.calls import special_methods
from autograph.runtime.tracing.environment.environment import CapturedEnvironment
from autograph.runtime.tracing.state.trace import CURRENT
from autograph.runtime.tracing.state.undo_log import PATCHED


class Meta(type):
    def __len__(cls) -> int:
        return 7


class Base(metaclass=Meta):
    def __init__(self, x: float) -> None:
        self.x = x

    def __add__(self, other: float) -> float:
        return self.x + other

    @property
    def double(self) -> float:
        return 2 * self.x


class Derived(Base):
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: float) -> float:
        return self.x * index

    @functools.cached_property
    def half(self) -> float:
        return self.x / 2


def program(thing: Derived, y: float) -> float:
    return (thing + y) * thing[y] + thing.double + thing.half + len(thing)


INNER = [Derived(3.0)]


def meets_a_class_late(y: float) -> float:
    return program(INNER[0], y) + len(Derived)


CLASSES = (Meta, Base, Derived)
CALLS: list[tuple[Callable[..., float], Callable[[], tuple[Any, ...]]]] = [
    (program, lambda: (Derived(2.0), 3.0)),
    (meets_a_class_late, lambda: (3.0,)),
]
FAILURES = [RuntimeError("injected"), KeyboardInterrupt(), MemoryError()]


class Fault:
    """Lets the call number `at` of a function fail, before it has done anything or after that."""

    def __init__(self, function: Callable[..., Any], at: int, error: BaseException, after: bool) -> None:
        self.function, self.at, self.error, self.after = function, at, error, after
        self.calls = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        if self.calls != self.at:
            return self.function(*args, **kwargs)
        if self.after:
            self.function(*args, **kwargs)
        raise self.error


@contextmanager
def classes_stay() -> Iterator[None]:
    before = [dict(vars(kind)) for kind in CLASSES]
    yield
    assert [dict(vars(kind)) for kind in CLASSES] == before
    assert not PATCHED and not special_methods._PATCHES
    assert not CURRENT.traces


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("step", ["_set", "_stand_in", "_patch", "_unpatch", "_restore"])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0].__name__)
def test_each_step_may_fail(call, step, error, after, monkeypatch):
    function, arguments = call
    original, at = getattr(special_methods, step), 0
    wanted = function(*arguments())
    while True:
        at += 1
        fault = Fault(original, at, error, after)
        with classes_stay():
            monkeypatch.setattr(special_methods, step, fault)
            staged = ag.function(function)
            try:
                assert staged(*arguments()) == wanted
            except (type(error), ag.errors.AutographError):
                pass
            monkeypatch.setattr(special_methods, step, original)
            assert function(*arguments()) == wanted    # nothing of the trace is left that plain code would meet
            assert staged(*arguments()) == wanted
        if fault.calls < at:
            break
    assert at > 2


def test_reports_may_fail(monkeypatch):
    with classes_stay():
        staged = ag.function(program)
        fault = Fault(lambda *_: None, 2, MemoryError(), False)
        monkeypatch.setattr(CapturedEnvironment, "register_class", fault)
        with contextlib.suppress(MemoryError, ag.errors.AutographError):
            staged(Derived(2.0), 3.0)
        assert fault.calls >= 2
        monkeypatch.undo()
        assert staged(Derived(2.0), 3.0) == program(Derived(2.0), 3.0)


class Holder:
    def __init__(self) -> None:
        self.weights = np.arange(3.0)
        self.inner = {"bias": np.ones(3)}
        self.count = 0


HOLDERS = [Holder(), Holder()]


def changes_objects(x: float) -> float:
    first, second = HOLDERS
    first.count, second.count = 1, first.count
    return float((first.weights * x + second.inner["bias"]).sum()) + first.count


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
def test_objects_get_back_what_they_held(error, monkeypatch):
    """While a function is traced, proxies are in the place of arrays that objects hold; then the arrays are again."""
    parts = [vars(holder)["weights"] for holder in HOLDERS]
    at, calls = 0, 1
    while calls >= at:
        at += 1
        fault = Fault(trace_function.restore, at, error, False)
        monkeypatch.setattr(trace_function, "restore", fault)
        staged = ag.function(changes_objects)
        with contextlib.suppress(type(error), ag.errors.AutographError):
            staged(2.0)
        monkeypatch.undo()
        calls = fault.calls
        assert all(vars(holder)["weights"] is part for holder, part in zip(HOLDERS, parts, strict=True))
        assert all(type(holder.inner["bias"]) is np.ndarray and type(holder.count) is int for holder in HOLDERS)
        assert staged(2.0) == changes_objects(2.0) == 10.0
    assert at > 2


def test_a_failure_in_one_thread_leaves_the_stand_ins_of_another(monkeypatch):
    met, go_on = threading.Event(), threading.Event()

    @ag.do_not_convert
    def wait() -> None:
        met.set()
        assert go_on.wait(30)

    class Waits(Derived):
        def __len__(self) -> int:
            return 3

    def slow(thing: Waits, y: float) -> float:
        made = program(thing, y)
        for _ in WAITING:
            pass
        return made + len(thing)

    class Waiting:
        def __iter__(self) -> Iterator[int]:
            wait()
            return iter(())

    WAITING = Waiting()
    results: list[float] = []
    with classes_stay():
        thread = threading.Thread(target=lambda: results.append(ag.function(slow)(Waits(2.0), 3.0)))
        thread.start()
        assert met.wait(30)
        fault = Fault(special_methods._set, 1, MemoryError(), False)
        monkeypatch.setattr(special_methods, "_set", fault)
        with contextlib.suppress(MemoryError, ag.errors.AutographError):
            ag.function(lambda made, y: made.other + y)(_made_late(), 3.0)
        assert fault.calls >= 1
        monkeypatch.undo()
        go_on.set()
        thread.join()
        assert results == [slow(Waits(2.0), 3.0)]


def _made_late() -> Any:
    class Late:
        @property
        def other(self) -> float:
            return 1.0

    return Late()


def test_a_class_may_be_met_again_while_stand_ins_are_put_into_it():
    """The collector of garbage may run at any time, and with it a `__del__` that stages something."""

    class Last:
        def __add__(self, other: float) -> float:
            return 1.0 + other

    lock = special_methods._LOCK
    with lock:
        assert ag.function(lambda thing, y: thing + y)(Last(), 2.0) == 3.0


class Stack:
    def __init__(self) -> None:
        self.items: list[Any] = []

    def __len__(self) -> int:
        return len(self.items)


class Odd(Stack):
    """Its length is any number."""

    def __len__(self) -> int:
        return self.items[-1] if self.items else 0  # type: ignore[no-any-return]


def emptied(kind: type[Stack], items: list[Any]) -> Any:
    stack, lengths = kind(), []
    for item in items:
        stack.items.append(item)
    while len(stack) > 0 and len(lengths) < 70:
        lengths.append(len(stack))
        stack.items.pop()
    return lengths, "some" if stack else "none"


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("kind", [Stack, Odd])
def test_lengths_are_checked_as_python_checks_them(kind: type[Stack], engine: str) -> None:
    staged = ag.function(emptied, engine=engine)
    for last in (3, 0, -1, 2**70, True, 2.5, None, 2**62):
        items = [*range(1, 65), last]
        try:
            wanted = repr(emptied(kind, items))
        except (TypeError, ValueError, OverflowError) as error:
            with pytest.raises(type(error), match=re.escape(str(error))):
                staged(kind, items)
        else:
            assert repr(staged(kind, items)) == wanted
