"""Methods and properties of objects in lists: traced into, and those of other objects are called, as in Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

import autograph as ag
from tests.comparing import result_or_error

ENGINES = ["numpy", *["native"] * (find_spec("llvmlite") is not None)]


class Ball:
    def __init__(self, x: float, v: float) -> None:
        self.x, self.v = x, v

    def move(self, dt: float) -> None:
        self.x += self.v * dt
        if self.x > 1000:
            raise OverflowError("far away")

    def apart(self, other: Ball) -> float:
        return math.sqrt(self.norm() + other.norm())

    def norm(self) -> float:
        return self.x * self.x

    @property
    def energy(self) -> float:
        return 0.5 * self.v**2


class Heavy(Ball):
    @property
    def energy(self) -> float:
        return 10 * self.v

    def norm(self) -> float:
        return 3.0


class Slotted:
    __slots__ = ("v", "x")
    __init__, move, apart, norm, energy = Ball.__init__, Ball.move, Ball.apart, Ball.norm, Ball.energy


class Lazy:
    """Its methods are found by `__getattr__`."""

    x, v = 1.0, 2.0

    def __getattr__(self, name: str) -> Any:
        return getattr(Ball(self.x, self.v), name)


def program(balls: list[Any], steps: int) -> float:
    total = 0.0
    for step in range(steps):
        for ball in balls:
            ball.move(0.5)
            total += ball.energy
            total += ball.apart(balls[step % len(balls)])
    return total


def made(*kinds: type) -> list[Any]:
    return [kinds[number % len(kinds)](number * 0.5, 1.5) for number in range(20)]


def shadowed() -> list[Any]:
    balls = made(Ball)
    balls[7].move = lambda dt: None
    vars(balls[9])["".join(["no", "rm"])] = lambda: 2.0      # the key is not the text that the code has
    return balls


def shared() -> list[Any]:
    return made(Ball)[:3] * 5


CASES: dict[str, Callable[[], list[Any]]] = {
    "one class": lambda: made(Ball), "slots": lambda: made(Slotted), "a subclass": lambda: made(Heavy),
    "mixed": lambda: made(Ball, Heavy, Slotted), "lazy": lambda: [*made(Ball), *[Lazy() for _ in range(3)]],
    "shadowed": shadowed, "one twice": shared, "far": lambda: [*made(Ball), Ball(999.5, 3.0), Ball(1.0, 1.0)],
    "no object": lambda: [*made(Ball), 3], "empty": list,
}  # fmt: skip


def outcome(function: Callable[..., Any], balls: list[Any]) -> Any:
    result = result_or_error(function, balls, 9, names={"program", *vars(Ball)})
    return result, [getattr(each, "x", each) for each in balls]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("begin", CASES)
def test_as_in_python(begin: str, engine: str) -> None:
    """Whatever the balls of the first call were."""
    function = ag.function(program, engine=engine)
    for _ in range(3):
        for case in (begin, *CASES):
            assert outcome(function, CASES[case]()) == outcome(program, CASES[case]()), case


@pytest.mark.parametrize("engine", ENGINES)
def test_methods_that_change_between_calls(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function = ag.function(program, engine=engine)
    for member in (Ball.norm, Heavy.norm, lambda self: 4.5, Ball.norm):
        monkeypatch.setattr(Ball, "norm", member)
        assert outcome(function, made(Ball)) == outcome(program, made(Ball))
    monkeypatch.setattr(Ball, "energy", property(lambda self: self.x))
    assert outcome(function, made(Ball)) == outcome(program, made(Ball))
    monkeypatch.setattr(Ball, "energy", 2.0)
    assert outcome(function, made(Ball)) == outcome(program, made(Ball))


def changes_its_class(balls: list[Any], norm: Any) -> float:
    total = 0.0
    for number in range(30):
        for ball in balls:
            total += ball.norm()
        if number == 12:
            setattr(type(balls[0]), "norm", norm)  # noqa: B010
        if number == 20:
            balls[3].norm = lambda: 100.0
    return total


@pytest.mark.parametrize("engine", ENGINES)
def test_methods_that_change_during_a_loop(engine: str) -> None:
    def fresh() -> list[Any]:
        return made(type("Fresh", (Ball,), {}))

    wanted = changes_its_class(fresh(), Heavy.norm)
    function = ag.function(changes_its_class, engine=engine)
    assert [function(fresh(), Heavy.norm) for _ in range(3)] == [wanted] * 3


def looked_up_first(balls: list[Any], seen: list[Any]) -> None:
    for ball in balls:
        ball.absent(seen.append(ball))


@pytest.mark.parametrize("engine", ENGINES)
def test_methods_are_looked_up_before_their_arguments_are_computed(engine: str) -> None:
    class Absent(Ball):
        def absent(self, value: None) -> None:
            self.x = 7.0

    function = ag.function(looked_up_first, engine=engine)
    for balls in ([Absent(1.0, 2.0), Ball(1.0, 2.0)], [Ball(1.0, 2.0)]):
        for run in (function, looked_up_first):
            seen: list[Any] = []
            with pytest.raises(AttributeError, match="absent"):
                run(balls, seen)
            assert seen == balls[:-1]
    assert "has_member" in str(function.graph([Absent(1.0, 2.0)] * 70, []))


def kept_methods(balls: list[Any], kept: list[Any]) -> float:
    total = 0.0
    for ball in balls:
        norm = ball.norm
        kept.append(norm)
        total += norm() + norm()
    return total


@pytest.mark.parametrize("engine", ENGINES)
def test_methods_that_are_kept_are_bound_methods(engine: str) -> None:
    balls, kept = made(Ball), list[Any]()
    function = ag.function(kept_methods, engine=engine)
    assert function(balls, kept) == kept_methods(balls, [])
    assert kept == [ball.norm for ball in balls]


@pytest.mark.skipif("native" not in ENGINES, reason="needs llvmlite")
@pytest.mark.parametrize("kinds", [[Ball], [Slotted], [Ball, Heavy, Slotted]])
def test_machine_code_does_without_python(kinds: list[type]) -> None:
    function = ag.function(program, engine="native", strict="native_callback")
    assert function(made(*kinds), 9) == program(made(*kinds), 9)
