"""Operators of objects in lists and attributes: traced into, and those of other objects are called, as in Python."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

import autograph as ag
from tests.comparing import result_or_error

ENGINES = ["numpy", *["native"] * (find_spec("llvmlite") is not None)]


class Vec:
    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y

    def __add__(self, other: Any) -> Any:
        return Vec(self.x + other.x, self.y + other.y)

    def __sub__(self, other: Any) -> Any:
        return Vec(self.x - other.x, self.y - other.y)

    def __mul__(self, factor: float) -> Any:
        return Vec(self.x * factor, self.y * factor)

    def __rmul__(self, factor: float) -> Any:
        return Vec(factor * self.x, factor * self.y)

    def __neg__(self) -> Any:
        return Vec(-self.x, -self.y)

    def __lt__(self, other: Any) -> Any:
        return self.x < other.x

    def __getitem__(self, place: int) -> float:
        return self.x if place == 0 else self.y

    def __setitem__(self, place: int, value: float) -> None:
        if place == 0:
            self.x = value
        else:
            self.y = value

    def __iadd__(self, other: Any) -> Any:
        self.x += other
        return self


class Slotted:
    __slots__ = ("x", "y")
    __init__, __add__, __sub__, __mul__, __rmul__ = Vec.__init__, Vec.__add__, Vec.__sub__, Vec.__mul__, Vec.__rmul__
    __neg__, __lt__, __getitem__, __setitem__, __iadd__ = (
        Vec.__neg__, Vec.__lt__, Vec.__getitem__, Vec.__setitem__, Vec.__iadd__
    )  # fmt: skip


class First(Vec):
    """Python asks the `__radd__` of a subclass first, even if it is on the right."""

    def __radd__(self, other: Any) -> Any:
        return Vec(other.x + 100, other.y)

    def __gt__(self, other: Any) -> Any:
        return True


class Picky(Vec):
    def __add__(self, other: Any) -> Any:
        return NotImplemented if type(other) is Vec else Vec(self.x + 7, other.y)

    def __sub__(self, other: Any) -> Any:
        return self

    def __lt__(self, other: Any) -> Any:
        return NotImplemented


class Strict(Vec):
    def __mul__(self, factor: float) -> Any:
        if self.x > 4:
            raise OverflowError("too long")
        return Vec(self.x * factor, self.y)


class Body:
    def __init__(self, place: Any, speed: Any) -> None:
        self.place, self.speed = place, speed

    def move(self, dt: float) -> None:
        self.place = self.place + self.speed * dt


def moving(bodies: list[Any], steps: int) -> float:
    for _ in range(steps):
        for body in bodies:
            body.move(0.5)
            body.place = body.place + 0.25 * body.speed
    return float(bodies[0].place.y)


def comparing(bodies: list[Any], steps: int) -> float:
    total, least = 0.0, bodies[0].place
    for step in range(steps):
        for body in bodies:
            gap = -(bodies[step % len(bodies)].place - body.place)
            total += gap.x
            if body.place < least:
                least = body.place
    return total + float(least.x)


def indexing(bodies: list[Any], steps: int) -> float:
    total = 0.0
    for _ in range(steps):
        for body in bodies:
            place = body.place
            place += 0.5
            place[1] = place[0] + 1
            total += place[1]
    return total


PROGRAMS = [moving, comparing, indexing]


def made(*kinds: type) -> list[Body]:
    return [Body(kinds[n % len(kinds)](n * 0.5, n * 1.5), kinds[n * 2 % len(kinds)](1.5, n * 1.0)) for n in range(9)]


def sharing() -> list[Body]:
    bodies = made(Vec)
    for body in bodies[3:]:
        body.place, body.speed = bodies[0].place, bodies[1].place
    return bodies


def with_operators_of_their_own() -> list[Body]:
    bodies = made(Vec)
    for body in bodies[4:7]:
        vars(body.place)["__add__"] = lambda other: 3       # Python looks at the class alone
    return bodies


CASES: dict[str, Callable[[], list[Body]]] = {
    "one class": lambda: made(Vec), "slots": lambda: made(Slotted), "a subclass on the right": lambda: made(Vec, First),
    "NotImplemented": lambda: made(Vec, Picky), "an error": lambda: made(Vec, Strict), "shared": sharing,
    "mixed": lambda: made(Vec, Slotted, First), "in the instance": with_operators_of_their_own,
    "numbers": lambda: [*made(Vec), Body(2.0, 3.0)], "texts": lambda: [*made(Vec), Body("a", Vec(1.0, 2.0))],
}  # fmt: skip


def outcome(function: Callable[..., Any], bodies: list[Body]) -> Any:
    result = result_or_error(function, bodies, 7, names={"moving", "comparing", "indexing", "move", *vars(Vec)})
    found = [(body.place, body.speed) for body in bodies]
    places = [getattr(vec, "x", vec) for pair in found for vec in pair]
    ids = [id(vec) for pair in found for vec in pair]
    return result, places, [type(vec) for pair in found for vec in pair], [ids.index(each) for each in ids]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("begin", ["one class", "mixed", "NotImplemented"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_python(program: Callable[..., float], begin: str, engine: str) -> None:
    """Whatever the bodies of the first call had."""
    function = ag.function(program, engine=engine)
    for _ in range(2):
        for case in (begin, *CASES):
            assert outcome(function, CASES[case]()) == outcome(program, CASES[case]()), case


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_operators_that_change_between_calls(
    program: Callable[..., float], engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = ag.function(program, engine=engine)
    for name, member in (
        ("__add__", Vec.__add__), ("__add__", lambda self, other: Vec(self.x + 1, other.y)), ("__rmul__", None),
        ("__lt__", lambda self, other: other.x < self.x), ("__rmul__", Vec.__mul__), ("__neg__", lambda self: self),
    ):  # fmt: skip
        monkeypatch.setattr(Vec, name, member)
        for _ in range(2):
            assert outcome(function, made(Vec)) == outcome(program, made(Vec)), name


@pytest.mark.parametrize("engine", ENGINES)
def test_operators_that_change_during_a_loop(engine: str) -> None:
    def program(bodies: list[Body], kind: Any, add: Any) -> float:
        for number in range(30):
            for body in bodies:
                body.place = body.place + body.speed
            if number == 12:
                kind.__add__ = add
            if number == 20:
                kind.__radd__ = lambda self, other: 0
        return sum(body.place.x for body in bodies)

    def run(function: Callable[..., float]) -> float:
        kind = type("Fresh", (Vec,), {"__add__": lambda self, other: kind(self.x + other.x, self.y)})
        return function(made(kind), kind, lambda self, other: kind(self.x - other.x, self.y))

    function = ag.function(program, engine=engine)
    wanted = run(program)
    assert [run(function) for _ in range(3)] == [wanted] * 3


KEPT: list[Any] = []


class Keeping(Vec):
    def __add__(self, other: Any) -> Any:
        KEPT.append(other)
        return Keeping(self.x + other.x, self.y)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kinds", [[Keeping], [Vec, Keeping], [Keeping, Vec]])
def test_operands_that_operators_keep(kinds: list[type], engine: str) -> None:
    """They are the objects that Python's operators get, also if these change later."""
    def program(bodies: list[Body], steps: int) -> float:
        total = Vec(0.0, 0.0)
        for _ in range(steps):
            for body in bodies:
                body.place = body.place + total * 2
                total = total + body.place
                body.place.x += 1.0
        return total.x

    def run(function: Callable[..., float]) -> Any:
        KEPT.clear()
        bodies = made(*kinds)
        return function(bodies, 5), [each.x for each in KEPT], [body.place.x for body in bodies]

    function = ag.function(program, engine=engine)
    wanted = run(program)
    assert [run(function) for _ in range(3)] == [wanted] * 3


@pytest.mark.parametrize("engine", ENGINES)
def test_a_variable_on_the_right_that_changes(engine: str) -> None:
    def program(bodies: list[Body], steps: int) -> float:
        pull = Vec(0.0, -1.0)
        for step in range(steps):
            for body in bodies:
                body.speed = body.speed + pull
                pull.x = body.speed.x * step
        return pull.x

    function = ag.function(program, engine=engine)
    for kinds in ([Vec], [Keeping], [Vec, First]):
        wanted = program(made(*kinds), 5)
        assert [function(made(*kinds), 5) for _ in range(3)] == [wanted] * 3


class Point:
    __slots__ = ("x", "y")
    __init__ = Vec.__init__

    def __add__(self, other: Any) -> Any:
        return Point(self.x + other.x, self.y + other.y)

    def __sub__(self, other: Any) -> Any:
        return Point(self.x - other.x, self.y - other.y)

    def __mul__(self, factor: float) -> Any:
        return Point(self.x * factor, self.y * factor)

    __rmul__ = __mul__


@pytest.mark.skipif("native" not in ENGINES, reason="needs llvmlite")
@pytest.mark.parametrize("kind", [Vec, Point])
def test_machine_code_does_without_python(kind: type) -> None:
    def program(bodies: list[Body], steps: int) -> None:
        for _ in range(steps):
            for body in bodies:
                body.move(0.5)
                body.place = body.place - 0.25 * body.speed

    function = ag.function(program, engine="native", strict="native_callback")
    one, other = made(kind), made(kind)
    program(one, 9)
    function(other, 9)
    assert [body.place.x for body in one] == [body.place.x for body in other]
