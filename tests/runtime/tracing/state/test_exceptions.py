"""Exceptions while tracing: the user's are raised by the graph, this library's own ask for a report."""

from __future__ import annotations

import dataclasses
import math
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.common.trace_rules import ROOT
from autograph.errors import InternalError
from autograph.runtime import passes
from autograph.runtime.tracing.proxies.source_location import SourceLocation
from autograph.runtime.tracing.state.mutation import ContainerRef
from autograph.runtime.tracing.state.trace import Trace
from tests import outcomes


def broken(text: str, file: str) -> Any:
    """A function as if it stood in a file of this library."""
    names: dict[str, Any] = {"np": np}
    exec(compile(f"def broken(*args, **kwargs): {text}", os.path.join(ROOT, *file.split("/")), "exec"), names)
    return names["broken"]


def stores(xs: list[float], x: float) -> Any:
    xs[0] = x + 1
    return xs


@pytest.mark.parametrize("text", ["None.missing", "len(5)", "{}[1]", "np.mean('x')", "assert 0", "raise ValueError"])
@pytest.mark.parametrize(
    ("thing", "name", "file"),
    [
        (Trace, "record", "runtime/tracing/state/trace.py"),
        (SourceLocation, "place", "runtime/tracing/proxies/source_location.py"),
        (ContainerRef, "_touch", "runtime/tracing/state/mutation.py"),
        (passes, "optimize", "runtime/passes/__init__.py"),
    ],
)
def test_errors_of_this_library(monkeypatch: Any, text: str, thing: Any, name: str, file: str) -> None:
    staged = ag.function(stores)
    with monkeypatch.context() as patched:
        patched.setattr(thing, name, broken(text, file))
        with pytest.raises(InternalError, match=r"fails to stage stores .* report") as reported:
            staged([1.0], 2.0)
        assert reported.value.__cause__ is not None
        assert not staged.traces
    assert staged([1.0], 2.0) == [3.0]


class Odd:
    def __len__(self) -> int:
        return -1

    def __bool__(self) -> Any:
        return 3

    def __iter__(self) -> Any:
        return 5


class Slots:
    __slots__ = ("k",)


def helper(a: Any) -> Any:
    return a


def changed_meanwhile(x: Any) -> Any:
    names = {1: x, 2: x}
    for name in names:
        names[name + 2] = x


def stops(x: Any) -> Any:
    for item in 5:  # type: ignore[attr-defined]
        x += item


WRONG: list[Callable[[Any], Any]] = [
    lambda x: x + [1][5],
    lambda x: x + {"a": 1}["b"],
    lambda x: x + (1, 2).missing,  # type: ignore[attr-defined]
    lambda x: x + "abc".missing,  # type: ignore[attr-defined]
    lambda x: x + int("x"),
    lambda x: x + min([]),
    lambda x: x + next(iter([])),
    lambda x: x + sorted([1, "a"])[0],  # type: ignore[type-var]
    lambda x: x + sum([[1]]),  # type: ignore[call-overload]
    lambda x: x + len(5),  # type: ignore[arg-type]
    lambda x: helper(x, 1),  # type: ignore[call-arg]
    lambda x: helper(b=x),  # type: ignore[call-arg]
    lambda x: [1, 2].index(x if x is None else 7) + x,
    lambda x: [1].pop(4) + x,
    lambda x: {}.popitem() + x,
    lambda x: set().pop() + x,
    lambda x: math.sqrt("x") + x,  # type: ignore[arg-type]
    lambda x: np.float64("x") + x,
    lambda x: np.zeros(-1) + x,
    lambda x: np.missing + x,
    lambda x: __import__("no_such_module").thing + x,
    lambda x: setattr(Slots(), "other", x),
    lambda x: Slots().k + x,
    lambda x: object.__new__(int, x),  # type: ignore[call-overload]
    lambda x: len(Odd()) + x,
    lambda x: x if Odd() else -x,
    lambda x: list(Odd()),  # type: ignore[call-overload]
    lambda x: [each + x for each in 5],  # type: ignore[attr-defined]
    lambda x: any(each > x for each in 5),  # type: ignore[attr-defined]
    lambda x: x + (3 in 5),  # type: ignore[operator]
    lambda x: (lambda a, b: a + b)(*[x]),
    lambda x: x(1),
    lambda x: 5(x),  # type: ignore[operator]
    lambda x: "%d" % "x" + str(x),
    lambda x: f"{'a':d}" + str(x),
    lambda x: Slots(x),  # type: ignore[call-arg]
    lambda x: ag.missing(x),  # type: ignore[attr-defined]
    lambda x: ag.TensorSpec("x") + x,  # type: ignore[operator, arg-type]
    lambda x: ag.do_not_convert(5) + x,  # type: ignore[call-overload]
    lambda x: ag.vjp(5, x),  # type: ignore[arg-type]
    lambda x: ag.jvp("x", [x], [x]),  # type: ignore[arg-type]
    changed_meanwhile,
    stops,
]


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("function", WRONG)
def test_errors_of_the_user(function: Callable[[Any], Any]) -> None:
    staged = ag.function(function)
    for call in ("1", "1", "2.5"):
        wanted = outcomes.run(function, call)
        actual = outcomes.run(staged, call)
        assert wanted.exception
        assert actual == wanted
        assert actual.raised_at == wanted.raised_at


# What tracing is interrupted with, caught by the user's code ----------------------------------------------------------


class Loud:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __bool__(self) -> bool:
        print("truth of", self.x)
        return bool(self.x)


class Everything:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> bool:
        return True


def bare(a: int, n: int) -> Any:
    try:
        if Loud(n) if a else Loud(1):
            n += 1
    except:  # noqa: E722
        print("caught")
    return n


def returns_at_last(a: int, n: int) -> Any:
    try:
        if Loud(n) if a else Loud(1):
            n += 1
    finally:
        return n  # noqa: B012


def breaks_at_last(a: int, n: int) -> Any:
    for i in range(3):
        try:
            n += i
            if Loud(n) if a else Loud(1):
                n += 1
        finally:
            break  # noqa: B012
    return n


def within_manager(a: int, n: int) -> Any:
    with Everything():
        if Loud(n) if a else Loud(1):
            n += 1
    return n


def tries_again(a: int, n: int) -> Any:
    while True:
        try:
            n += len("abc"[: [1, 2, 3][a]])
            break
        except:  # noqa: E722
            n += 1
    return n


def exits(a: int, n: int) -> Any:
    try:
        if a:
            raise SystemExit(n)
    except:  # noqa: E722
        return -1
    return n


@pytest.mark.parametrize("function", [bare, returns_at_last, breaks_at_last, within_manager, tries_again, exits])
def test_interruptions_are_not_for_the_user(function: Any) -> None:
    staged = ag.function(function)
    for call in ("0, 2", "1, 2", "2, 0", "1, 0", "0, 2"):
        assert outcomes.run(staged, call) == outcomes.run(function, call)


@dataclasses.dataclass(order=True)
class Measured:
    x: Any

    def __post_init__(self) -> None:
        self.more = 1   # so that it is no structure


def as_dicts(things: Any) -> Any:
    return [dataclasses.asdict(thing) for thing in sorted(things)]


def test_a_library_that_refuses_a_proxy_by_a_statement() -> None:
    staged = ag.function(as_dicts)
    for things in ([Measured(2), Measured(1)], [Measured(3)], [Measured(2.5)]):
        assert staged(things) == as_dicts(things)


def raises_again(x: int) -> int:
    if x > 0:
        raise  # noqa: PLE0704
    return x


def handles(function: Callable[[int], int], error: Exception, x: int) -> Any:
    """The reports about a function that is called where `error` is handled."""
    try:
        raise error
    except Exception:
        try:
            return function(x)
        except Exception as again:
            return again, again.__context__


def raises_error(x: int) -> int:
    raise ValueError(x)


@pytest.mark.parametrize("engine", ["numpy", "auto"])
def test_what_is_handled_outside_is_raised_again(engine: str) -> None:
    staged = ag.function(raises_again, engine=engine)
    assert staged(-1) == -1
    of_a_graph, _ = handles(ag.function(raises_error, engine=engine), KeyError("b"), 1)
    for error in (KeyError("a"), of_a_graph):
        context = error.__context__
        for function in (raises_again, staged, staged):
            again, its_context = handles(function, error, 1)
            assert again is error and its_context is context
        assert handles(staged, error, -1) == -1
    with pytest.raises(RuntimeError, match="No active exception to reraise"):
        staged(1)


def asks_what_is_handled(x: int) -> Any:
    try:
        raise ValueError("no")
    except ValueError:
        return sys.exc_info()[1], traceback.format_exc().splitlines()[-1], x


@pytest.mark.parametrize("engine", ["numpy", "auto"])
def test_what_is_handled_can_be_asked_for(engine: str) -> None:
    staged = ag.function(asks_what_is_handled, engine=engine)
    for x in (1, 2):
        error, text, given = staged(x)
        assert (repr(error), text, given) == ("ValueError('no')", "ValueError: no", x)


def gets_arguments(error: Any, n: Any) -> Any:
    if n > 1:
        error.args = (n,)
    return error


def gets_arguments_in_a_loop(error: Any, n: Any) -> Any:
    for i in range(n):
        error.args = (i, n)
    return error


def is_raised_with_others(error: Any, n: Any) -> Any:
    if n > 1:
        error.args = (n,)
    raise error


def gets_a_cause(error: Any, n: Any) -> Any:
    error.__cause__ = KeyError(n)
    return [error, error]


def gets_a_cause_that_is_shown(error: Any, n: Any) -> Any:
    error.__cause__ = KeyError(n)
    error.__suppress_context__ = n > 1
    return error


def gets_notes(error: Any, n: Any) -> Any:
    error.add_note("first")
    for i in range(n):
        error.add_note(f"number {i}")
    return error, error.__notes__[-1]


def gets_a_note_in_a_branch(error: Any, n: Any) -> Any:
    if n > 1:
        error.add_note("large")
    return error


def gets_fields(error: Any, n: Any) -> Any:
    error.errno = error.code = error.value = n
    if n > 1:
        error.errno = error.code = error.value = 7
    return error


def is_changed_by_functions(error: Any, n: Any) -> Any:
    setattr(error, "args", (n,))
    if n > 1:
        setattr(error, "args", (n, n))
        error.__dict__["large"] = n
    return error


def begins_anew(error: Any, n: Any) -> Any:
    if n > 1:
        type(error).__init__(error, n)
    return error


def gets_a_state(error: Any, n: Any) -> Any:
    if n > 1:
        error.__setstate__({"large": n})
    return error


def is_raised_from_another(error: Any, n: Any) -> Any:
    if n > 1:
        raise error from KeyError(n)
    return error


class Own(OSError):
    pass


def shown(outcome: Any) -> Any:
    if isinstance(outcome, BaseException):
        fields = [getattr(outcome, name, None) for name in ("errno", "code", "value", "__suppress_context__")]
        return type(outcome), outcome.args, vars(outcome), fields, shown(outcome.__cause__)
    return list(map(shown, outcome)) if isinstance(outcome, (list, tuple)) else outcome


@pytest.mark.parametrize("make", [
    ValueError, SystemExit, StopIteration, KeyboardInterrupt, lambda x: OSError(1, x), lambda x: Own(2, x),
])  # fmt: skip
@pytest.mark.parametrize("function", [
    gets_arguments, gets_arguments_in_a_loop, is_raised_with_others, gets_a_cause, gets_a_cause_that_is_shown,
    pytest.param(gets_notes, marks=pytest.mark.skipif(sys.version_info < (3, 11), reason="no notes")),
    pytest.param(gets_a_note_in_a_branch, marks=pytest.mark.skipif(sys.version_info < (3, 11), reason="no notes")),
    gets_fields, is_changed_by_functions, begins_anew, gets_a_state, is_raised_from_another,
])  # fmt: skip
def test_exceptions_that_are_changed(function: Any, make: Any) -> None:
    def made_here(x: Any, n: Any) -> Any:
        return function(make(x), n)

    staged, of_arguments = ag.function(made_here), ag.function(function)
    for n in (0, 3, 1):
        wanted = shown(outcome_of(lambda n=n: made_here(2.5, n)))
        assert shown(outcome_of(lambda n=n: staged(2.5, n))) == wanted
        assert shown(outcome_of(lambda n=n: of_arguments(make(2.5), n))) == wanted


def outcome_of(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except BaseException as error:
        return "raised", error


def gets_a_position(x: Any, n: Any) -> Any:
    error = UnicodeDecodeError("ascii", b"abc", 1, 2, "no")
    if n > 1:
        error.start = 0
    return error.start, error.reason, x


def test_fields_of_exceptions_that_hold_numbers() -> None:
    staged = ag.function(gets_a_position)
    for n in (0, 3):
        assert staged(2.5, n) == gets_a_position(2.5, n)


def test_attributes_of_a_function_that_a_branch_sets() -> None:
    def marked(x: Any, n: Any) -> Any:
        def inner() -> Any:
            return x

        if n > 1:
            inner.__dict__["large"] = n
        return dict(vars(inner))

    staged = ag.function(marked)
    assert [staged(2.5, 0), staged(2.5, 3)] == [{}, {"large": 3}]
