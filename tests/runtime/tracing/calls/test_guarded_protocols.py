"""Setters, static and class methods, `len`, `in` and calls of objects in lists: traced into, else as in Python."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

import autograph as ag
from tests.comparing import result_or_error

ENGINES = ["numpy", *["native"] * (find_spec("llvmlite") is not None)]


class Gauge:
    offset = 32.0

    def __init__(self, degrees: float, marks: list[float]) -> None:
        self.degrees, self.marks = degrees, marks

    @property
    def other(self) -> float:
        return self.degrees * 1.8 + 32

    @other.setter
    def other(self, value: float) -> None:
        if value > 5000:
            raise OverflowError("too hot")
        self.degrees = (value - 32) / 1.8

    @staticmethod
    def clamp(value: float) -> float:
        return max(0.0, min(100.0, value))

    @classmethod
    def shift(cls, value: float) -> float:
        return value + cls.offset

    def __len__(self) -> int:
        return len(self.marks)

    def __contains__(self, value: Any) -> Any:
        return value in self.marks

    def __call__(self, value: float, factor: float = 2.0) -> float:
        total = 0.0
        for mark in self.marks:
            total = total * value + mark * factor
        return total


class Cold(Gauge):
    offset = -1.0

    @staticmethod
    def clamp(value: float) -> float:
        return value

    def __len__(self) -> int:
        return 1

    def __contains__(self, value: Any) -> Any:
        return [value]


class Watched(Gauge):
    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value + 1 if name == "other" else value)


class Wrong(Gauge):
    def __len__(self) -> int:
        return -len(self.marks)


def setting(gauges: list[Any], steps: int) -> float:
    for _ in range(steps):
        for gauge in gauges:
            gauge.other = gauge.other + 1.0
    return float(gauges[0].other)


def calling(gauges: list[Any], steps: int) -> float:
    total = 0.0
    for _ in range(steps):
        for gauge in gauges:
            total += gauge.clamp(gauge.degrees * 3) + gauge.shift(total) * 0.25 + gauge(0.5) - gauge(1.5, factor=0.5)
    return total


def looking(gauges: list[Any], steps: int) -> float:
    count = 0
    for step in range(steps):
        for gauge in gauges:
            count += len(gauge)
            if step in gauge:
                count += 10
            if float(step) not in gauge:
                count += 100
    return count


PROGRAMS = [setting, calling, looking]


def made(*kinds: type) -> list[Any]:
    return [kinds[n % len(kinds)](n * 5.0, [n * 1.0, 2.0, 3.0][: n % 3 + 1]) for n in range(9)]


def shadowed() -> list[Any]:
    gauges = made(Gauge)
    for gauge in gauges[4:6]:
        gauge.clamp = lambda value: 1000.0
        gauge.shift = lambda value: 2000.0
        vars(gauge)["other"] = vars(gauge)["__len__"] = 3
    return gauges


CASES: dict[str, Callable[[], list[Any]]] = {
    "one class": lambda: made(Gauge), "mixed": lambda: made(Gauge, Cold), "setattr": lambda: made(Gauge, Watched),
    "no length": lambda: made(Gauge, Wrong), "shadowed": shadowed, "too hot": lambda: [*made(Gauge), Gauge(2757., [])],
    "a list": lambda: [*made(Gauge), [1.0, 2.0]],
}  # fmt: skip


def outcome(function: Callable[..., Any], gauges: list[Any]) -> Any:
    result = result_or_error(function, gauges, 5, names={"setting", "calling", "looking", "other", *vars(Gauge)})
    return result, [getattr(each, "degrees", each) for each in gauges]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("begin", ["one class", "mixed", "setattr"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_python(program: Callable[..., float], begin: str, engine: str) -> None:
    """Whatever the gauges of the first call were."""
    function = ag.function(program, engine=engine)
    for _ in range(2):
        for case in (begin, *CASES):
            assert outcome(function, CASES[case]()) == outcome(program, CASES[case]()), case


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_classes_that_change_between_calls(
    program: Callable[..., float], engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = ag.function(program, engine=engine)
    changes: list[tuple[str, Any]] = [
        ("clamp", staticmethod(lambda value: 1.0)), ("clamp", lambda self, value: self.degrees), ("offset", 1.0),
        ("shift", classmethod(lambda cls, value: cls.offset)), ("__len__", lambda self: 2), ("__call__", max),
        ("__contains__", None), ("other", property(lambda self: 1.0, lambda self, value: None)),
        ("__setattr__", lambda self, name, value: object.__setattr__(self, name, 7.0)), ("other", 4.0),
    ]  # fmt: skip
    assert outcome(function, made(Gauge)) == outcome(program, made(Gauge))
    for name, member in changes:
        monkeypatch.setattr(Gauge, name, member, raising=False)
        for _ in range(2):
            assert outcome(function, made(Gauge)) == outcome(program, made(Gauge)), name


@pytest.mark.skipif("native" not in ENGINES, reason="needs llvmlite")
@pytest.mark.parametrize("program", PROGRAMS)
def test_machine_code_does_without_python(program: Callable[..., float]) -> None:
    function = ag.function(program, engine="native", strict="native_callback")
    assert outcome(function, made(Gauge)) == outcome(program, made(Gauge))
