"""Functions that count their calls do what the plain ones do, with the same tracebacks and lines."""

from __future__ import annotations

import dis
import inspect
import itertools
import sys
import traceback
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest

from autograph.common.call_counter import MOST, Ticks, _split, counting
from tests import corpus, outcomes

pytestmark = [
    pytest.mark.versions,
    pytest.mark.skipif(not (3, 11) <= sys.version_info[:2] <= (3, 13), reason="other bytecode"),
]


def counted(function: Any, ticks: Ticks, samples: list[tuple[Any, ...]]) -> Any:
    """`function` with a prologue that notes the arguments of each sampled call."""

    def sample(values: tuple[Any, ...], cells: tuple[Any, ...]) -> tuple[bool, Any]:
        samples.append(values)
        ticks.rearm(2)
        return False, "sampled"

    made = counting(function, ticks, sample)
    assert made is not None
    return made


def test_every_third_call_is_sampled() -> None:
    samples: list[tuple[Any, ...]] = []
    made = counted(lambda a, b=2, *rest, key=3, **more: "plain", Ticks(2), samples)
    assert [made(n) for n in range(7)] == ["plain", "plain", "sampled", "plain", "plain", "sampled", "plain"]
    assert samples == [(2, 2, (), 3, {}), (5, 2, (), 3, {})]


def test_arguments_come_in_the_order_of_the_signature() -> None:
    samples: list[tuple[Any, ...]] = []

    def function(a: int, /, b: int, *rest: int, key: int, **more: int) -> Callable[[], Any]:
        return lambda: (a, key, rest)      # these are cells

    counted(function, Ticks(0), samples)(1, 2, 3, 4, key=5, other=6)
    assert samples == [(1, 2, (3, 4), 5, {"other": 6})]


def test_a_method_with_super_and_captured_variables() -> None:
    class Base:
        def name(self) -> str:
            return "base"

    class Derived(Base):
        def name(self) -> str:
            return f"{super().name()} of {type(self).__name__} {[__class__.__name__ for _ in range(1)]}"

    plain = Derived.name
    assert counted(plain, Ticks(9), [])(Derived()) == plain(Derived())


def test_the_code_goes_on_in_place_if_there_is_no_sample() -> None:
    scale, seen = 2, []

    def function(a: int, *rest: int, key: int = 1) -> Any:
        return a * scale * key, rest, lambda: a     # `a` and `scale` are cells

    def nothing(values: tuple[Any, ...], cells: tuple[Any, ...]) -> None:
        seen.append((values, cells))

    made: Any = counting(function, Ticks(1), nothing)
    assert [made(3, 4)[:2], made(3, 4, key=5)[:2]] == [(6, (4,)), (30, (4,))]
    assert seen == [((3, (4,), 5), function.__closure__)]
    assert counting(function, Ticks(), nothing).__code__.co_consts[-2] is function.__code__


def test_a_traceback_is_that_of_the_plain_function() -> None:
    def fails(n: int) -> None:
        try:
            while True:
                n -= 1
                if n == 0:
                    raise KeyError(n)
        except ZeroDivisionError:
            pass

    def frames(function: Any) -> list[Any]:
        try:
            function(3)
        except KeyError as error:
            return [each[1:] for each in traceback.extract_tb(error.__traceback__)][1:]
        return []

    ticks = Ticks(9)
    assert frames(counted(fails, ticks, [])) == frames(fails) != []

    def raising(values: tuple[Any, ...], cells: tuple[Any, ...]) -> tuple[bool, Any]:
        try:
            return False, fails(*values)
        except KeyError as error:
            assert error.__traceback__ is not None
            error.__traceback__ = error.__traceback__.tb_next
            return True, error

    assert frames(counting(fails, Ticks(0), raising)) == frames(fails)     # a sampled call, too


def test_an_error_of_a_sampled_call_keeps_its_context() -> None:
    def fails() -> None:
        try:
            raise KeyError
        except KeyError:
            raise ValueError from None

    def raising(values: tuple[Any, ...], cells: tuple[Any, ...]) -> tuple[bool, Any]:
        try:
            return False, fails(*values)
        except ValueError as error:
            return True, error

    made: Any = counting(fails, Ticks(0), raising)
    try:
        try:
            raise TypeError
        except TypeError:
            made()
    except ValueError as error:
        assert type(error.__context__) is KeyError
        assert error.__suppress_context__


def test_many_constants_and_long_loops_are_kept() -> None:
    """With more than 256 constants, instructions have prefixes; with long bodies, jumps do."""
    body = "".join(f"        total += {n}.5 if total % {n + 2} else {n}.25\n" for n in range(400))
    names: dict[str, Any] = {}
    exec(f"def f(count):\n    total = 0\n    for _ in range(count):\n{body}    return total", names)
    assert counted(names["f"], Ticks(99), [])(3) == names["f"](3)


def test_a_line_table_is_split_anywhere() -> None:
    codes = [each.function.__code__ for each in corpus.entries() if type(each.function) is FunctionType]
    for code, units in itertools.product(codes, range(1, 12)):
        before, after = _split(code.co_linetable, units) if len(code.co_code) // 2 > units else (code.co_linetable, b"")
        positions = [*code.co_positions()]
        assert [*itertools.islice(code.replace(co_linetable=before).co_positions(), units)] == positions[:units]
        assert [*code.replace(co_linetable=before + after).co_positions()] == positions


def test_lines_seen_by_a_tracer_are_the_same() -> None:
    def function(n: int) -> int:
        total = 0
        for each in range(n):
            total += each
        return total

    def lines(called: Any) -> list[Any]:
        seen: list[Any] = []

        def trace(frame: Any, event: str, argument: Any) -> Any:
            if frame.f_code.co_name == "function":
                seen.append((event, frame.f_lineno))
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            called(3)
        finally:
            sys.settrace(before)
        return seen

    assert lines(counted(function, Ticks(9), [])) == lines(function)


@pytest.mark.parametrize("entry", list(corpus.entries()), ids=str)
def test_the_corpus(entry: corpus.Entry) -> None:
    function = entry.function
    flags = getattr(function, "__code__", dis).co_flags if type(function) is FunctionType else 0
    if not flags or flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        pytest.skip("no plain function")
    made = counted(function, Ticks(MOST), [])
    for arguments in entry.calls:
        wanted = outcomes.run(function, arguments, vars(entry.module))
        assert outcomes.run(made, arguments, vars(entry.module)) == wanted, arguments
