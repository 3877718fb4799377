"""Machine code that remembers where attributes and items are: what changes them in between is seen."""

from __future__ import annotations

import copy
import gc
import weakref
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests.comparing import assert_same, result_or_error
from tests.runtime.engines.native.programs import regions

ENGINES = ["numpy", "native", "default"]


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def __repr__(self) -> str:
        return f"Vector({self.x!r}, {self.y!r})"


class Body:
    def __init__(self, place: Vector, speed: Vector, mass: Any = 1.0) -> None:
        self.place, self.speed, self.mass = place, speed, mass

    def __repr__(self) -> str:
        return f"Body({vars(self)!r})"


class Renamed(Vector):
    """Its `z` is the slot of `x`."""

    __slots__ = ()
    z = Vector.x  # type: ignore[attr-defined]


class Last:
    """It notes the value of an attribute when it goes."""

    def __init__(self, body: Any) -> None:
        self.body = weakref.ref(body)

    def __del__(self) -> None:
        body = self.body()
        if body is not None:
            body.mass += 100.0

    def __repr__(self) -> str:
        return "Last()"

    def __deepcopy__(self, memo: Any) -> Last:
        return Last(copy.deepcopy(self.body(), memo))


def staged(function: Any, engine: str) -> Any:
    return ag.function(function) if engine == "default" else ag.function(function, engine=engine)


def pulls(bodies: list[Body], count: int) -> float:
    total = 0.0
    for _ in range(count):
        for one in bodies:
            for other in bodies:
                gap = other.place.x - one.place.x
                one.speed.x += gap * other.mass
                one.speed.y -= gap * one.speed.x
                other.speed.x -= gap * one.mass
                total += one.speed.x + other.speed.x
        for one in bodies:
            one.place.x += one.speed.x / 64
            one.place.y += one.place.x
            one.place.x -= one.place.y / 64
    return total


def bodies(*numbers: Any) -> list[Body]:
    return [Body(Vector(each, each), Vector(each / 4, each), each) for each in numbers]


def shared() -> list[Body]:
    """The place of one body is the speed of another one, and two bodies are one."""
    found = bodies(1.0, 2.0, 3.0)
    found[0].place = found[1].speed
    return [*found, found[2]]


def inexact() -> list[Body]:
    found = bodies(1.0, -0.0)
    found[1].place.x = float("inf")
    found[0].speed.x = float("nan")
    return found


def in_dict() -> list[Body]:
    """The names are in another order, and one body has more of them."""
    found = bodies(1.0, 2.0)
    for name in ("place", "mass"):
        value = found[1].__dict__.pop(name)
        found[1].__dict__.update({"more" + name: 1, name: value})
    return found


MIXED = bodies(1.0, 2.0) + bodies(1, 2) + bodies(True, np.float64(2.5), 2**70)


@pytest.mark.parametrize("engine", ENGINES)
def test_aliases(engine: str) -> None:
    function = staged(pulls, engine)
    for things in (bodies(1.0, 2.0, 3.0), shared(), inexact(), in_dict(), bodies(), bodies(1, 2), MIXED):
        for count in (1, 3):
            assert_same(function, things, count)


@pytest.mark.parametrize("engine", ENGINES)
def test_two_names_of_a_slot(engine: str) -> None:
    def names(things: list[Renamed], count: int) -> float:
        total = 0.0
        for _ in range(count):
            for each in things:
                total += each.x
                each.z = each.x + 1.0  # type: ignore[misc, assignment]
                total += each.x
                each.x = 2.0 * each.z  # type: ignore[has-type]
                total += each.z
        return total

    assert_same(staged(names, engine), [Renamed(1.0, 2.0), Renamed(3.0, 4.0)], 5)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_dict_of_an_object(engine: str) -> None:
    def through(things: list[Any], count: int) -> Any:
        total = 0.0
        for k in range(count):
            for body, names in things:
                total += body.mass + names["mass"]
                body.mass = total / 8
                total += names["mass"]
                names["mass"] = total / 16
                total += body.mass
                if k == 5:
                    names["new"] = total
                    body.mass += names["new"]
        return total

    plain, function = through, staged(through, engine)
    for _ in range(3):
        results = []
        for run in (plain, function):
            things = [(each, vars(each)) for each in bodies(1.0, 2.0)]
            results.append((run(things, 9), repr(things)))
        assert results[0] == results[1]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("place", [0, 44, 99])
def test_objects_that_go(engine: str, place: int) -> None:
    """Code of the user's runs when an item of the list is replaced."""

    def replaces(owners: list[Body], things: list[Any], count: int) -> float:
        total = 0.0
        for k in range(count):
            body = owners[k % 2]
            total += body.mass
            things[k] = 1.5
            total += body.mass
            body.mass += 1.0
        return total

    plain, function = replaces, staged(replaces, engine)
    for _ in range(6):
        results = []
        for run in (plain, function):
            body = bodies(1.0)[0]
            things: list[Any] = [0.0] * 100
            things[place] = Last(body)
            results.append((run([body] * 2, things, 100), body.mass, things))
            gc.collect()
        assert repr(results[0]) == repr(results[1])


@pytest.mark.parametrize("engine", ENGINES)
def test_objects_that_go_each_time(engine: str) -> None:
    """There is machine code after some side exits, which supposes nothing."""

    def replaces(owners: list[Body], things: list[Any]) -> float:
        total = 0.0
        for k in range(len(things)):
            body = owners[k % 2]
            total += body.mass
            things[k] = total
            total += body.mass
        return total

    plain, function = replaces, staged(replaces, engine)
    for _ in range(4):
        results = []
        for run in (plain, function):
            body = bodies(1.0)[0]
            results.append((run([body] * 2, [Last(body) for _ in range(200)]), body.mass))
        assert results[0] == results[1]
    if engine == "native":
        assert not any(region.reasons for region in regions(function))


def records(things: list[dict[str, Any]], count: int) -> float:
    total = 0.0
    for _ in range(count):
        for each in things:
            each["v"] += each["x"] * 0.25
            each["x"] -= each["v"] * 0.5
            each["v"] *= 0.75
            total += each["x"] + each["v"]
    return total


class Key(str):
    """A key that says when it is compared."""

    def __eq__(self, other: object) -> bool:
        ASKED.append(str(other))
        return str(self) == str(other)

    __hash__ = str.__hash__


ASKED: list[str] = []
ONE = {"x": 1.0, "v": -2.0}
RECORDS: list[list[Any]] = [
    [ONE, {"v": 1.0, "x": 2.0}],
    [ONE, {"x": 1, "v": 2}],
    [ONE, {"x": 1.0}],
    [{"v": 1.0, "more": ONE}],
    [ONE, {"x": 1.0, "v": None}],
    [{"x": float("nan"), "v": float("inf")}, {"x": -0.0, "v": 0.0}],
    [{Key("x"): 1.0, Key("v"): 2.0}],
    [{"x": np.float64(1.5), "v": 2.0}, {"x": 2**70, "v": 1.0}],
    [],
]


@pytest.mark.parametrize("engine", ENGINES)
def test_records(engine: str) -> None:
    function = staged(records, engine)
    for things in (*RECORDS, RECORDS[0], [RECORDS[0][0]] * 2):
        for count in (1, 7):
            assert_same(function, things, count)


@pytest.mark.parametrize("engine", ENGINES)
def test_code_of_keys(engine: str) -> None:
    plain, function = records, staged(records, engine)
    for _ in range(4):
        asked = []
        for run in (plain, function):
            ASKED.clear()
            result = run([{Key("x"): 1.0, Key("v"): 2.0} for _ in range(50)], 2)
            asked.append((result, list(ASKED)))
        assert asked[0] == asked[1]


@pytest.mark.parametrize("engine", ENGINES)
def test_new_keys_and_old_ones(engine: str) -> None:
    def changes(record: dict[str, Any], count: int) -> Any:
        total = 0.0
        for k in range(count):
            total += record["x"]
            record["x"] = total
            if k % 3 == 0:
                record["new"] = record["x"]
            total += record["x"]
            if k % 5 == 4:
                del record["new"]
                record["x"] += 1.0
        return total, list(record.items())

    function = staged(changes, engine)
    for record in ({"x": 1.0}, {"x": 1.0, "new": 2}, {"x": 1}, {"y": 1.0}, {str(k): k for k in range(20)} | {"x": 1.5}):
        for count in (1, 4, 20):
            assert_same(function, record, count)


def moves(things: list[Body], counts: dict[str, Any], count: int) -> Any:
    """Paths meet which know different attributes."""
    total, seen = 0.0, 0
    for k in range(count):
        for one in things:
            other = things[k % len(things)]
            if one.mass > other.mass:
                one.place.x += other.speed.x
            elif k % 3 == 1:
                other.speed, one.place = one.place, other.speed
            else:
                other.mass = one.mass
                counts["same"] += 1
            total += one.place.x + other.mass
            if total > 100:
                total -= one.place.x * 2
                if one.mass == other.mass:
                    seen += 1
                else:
                    one.mass += other.mass / 2
            one.speed.x = total / 16
            total += other.speed.x
            counts["seen"] = seen
    return total, seen


@pytest.mark.parametrize("engine", ENGINES)
def test_paths_that_meet(engine: str) -> None:
    function = staged(moves, engine)
    for things in (bodies(1.0, 2.0, 3.0), shared(), in_dict(), bodies(1, 2, 3), MIXED, bodies(4.0, 3.0, 2.0, 1.0)):
        for counts in ({"same": 0, "seen": 0}, {"same": 1.5}, {"seen": 0}):
            assert_same(function, things, counts, 7)


@pytest.mark.parametrize("engine", ENGINES)
def test_constants_are_stored(engine: str) -> None:
    def marks(things: list[Any], count: int) -> Any:
        seen = 0
        for k in range(count):
            each = things[k % len(things)]
            seen += each.mass
            if each.speed is None:
                each.speed = "slow"
                seen += each.mass
            elif each.speed == "slow":
                each.speed = 2.5
            else:
                each.speed = None
                seen += 2 * each.mass
            each.mass += 1
        return seen

    plain, function = marks, staged(marks, engine)
    for make in (lambda: bodies(1, 2, 3), lambda: bodies(1.0, 2), lambda: [*bodies(1), Vector(1, 2)], in_dict):
        for _ in range(3):
            things = make()
            for each in things[:1]:
                each.speed = Last(each)
            others = make()
            for each in others[:1]:
                each.speed = Last(each)
            found = result_or_error(function, things, 50, names=("marks",))
            wanted = result_or_error(plain, others, 50, names=("marks",))
            assert repr((found, things)) == repr((wanted, others))
    if engine == "native":
        assert not [name for region in regions(function) for name in region.reasons]


@pytest.mark.parametrize("engine", ENGINES)
def test_flags_that_end_a_loop(engine: str) -> None:
    """A result is unknown until a flag says that there is one."""

    def runs(program: list[Any], most: int) -> Any:
        stack: list[Any] = []
        place, steps = 0, 0
        while steps < most:
            name, number = program[place]
            place += 1
            steps += 1
            if name == "push":
                stack.append(number)
            elif name == "add":
                stack.append(stack.pop() + stack.pop())
            elif name == "less":
                stack.append(stack[-1] < number)
            elif name == "jump":
                if stack.pop():
                    place = number
            elif name == "half":
                stack.append(stack.pop() / number)
            else:
                return stack, steps
        return None

    function = staged(runs, engine)
    loop = [("push", 1), ("push", 2), ("add", 0), ("less", 400), ("jump", 1), ("halt", 0)]
    for program in (loop, [*loop[:5], ("half", 2), ("less", 150), ("jump", 1), ("halt", 0)], [("add", 0)], loop[:2]):
        for most in (1, 5, 3000, 3000):
            assert_same(function, program, most)


@pytest.mark.parametrize("engine", ENGINES)
def test_errors_half_way(engine: str) -> None:
    def fails(things: list[Any], count: int) -> float:
        total = 0.0
        for k in range(count):
            for each in things:
                each.speed.x += each.mass
                each.mass = each.speed.x / (3 - k)
                total += each.mass
                each.speed.y = total
        return total

    function = staged(fails, engine)
    for things in (bodies(1.0, 2.0), bodies(1, 2), [*bodies(1.0), Vector(1.0, 2.0)], [*bodies(1.0), None]):
        for count in (2, 5):
            assert_same(function, things, count)


@pytest.mark.parametrize("engine", ENGINES)
def test_classes_that_change(engine: str) -> None:
    class Changing:
        def __init__(self, x: float) -> None:
            self.x = x

    def sums(things: list[Any]) -> float:
        total = 0.0
        for each in things:
            each.x += 1.0
            each.x = each.x + each.x
            total += each.x
        return total

    function, seen = staged(sums, engine), []

    def note(self: Any, name: str, value: Any) -> None:
        seen.append((name, value))
        object.__setattr__(self, name, value)

    def run(each: Any) -> Any:
        things = [Changing(float(k)) for k in range(9)]
        seen.clear()
        return each(things), [vars(thing) for thing in things], list(seen)

    for _ in range(3):
        assert run(function) == run(sums)
    Changing.__setattr__ = note  # type: ignore[method-assign, assignment]
    assert run(function) == run(sums)
    del Changing.__setattr__
    assert run(function) == run(sums)
    Changing.x = property(lambda self: self.__dict__["x"] * 2, lambda self, value: self.__dict__.update(x=value))  # type: ignore[assignment]
    assert run(function) == run(sums)


@pytest.mark.parametrize("engine", ENGINES)
def test_methods_with_lists_of_the_object(engine: str) -> None:
    class Board:
        def __init__(self, size: int) -> None:
            self.size, self.count, self.cols = size, 0, [False] * size
            self.up, self.down = [False] * (2 * size), [False] * (2 * size)
            self.path: list[int] = []

        def place(self, row: int) -> None:
            if row == self.size:
                self.count += 1
                return
            for col in range(self.size):
                if self.cols[col] or self.up[row + col] or self.down[row - col + self.size]:
                    continue
                self.cols[col] = self.up[row + col] = self.down[row - col + self.size] = True
                self.path.append(col)
                self.place(row + 1)
                self.path.pop()
                self.cols[col] = self.up[row + col] = self.down[row - col + self.size] = False

    def queens(size: int) -> tuple[int, list[int]]:
        board = Board(size)
        board.place(0)
        return board.count, board.path

    function = staged(queens, engine)
    for size in (1, 4, 6, 6):
        assert_same(function, size)


def test_no_reference_is_lost() -> None:
    def swaps(things: list[Body], count: int) -> float:
        total = 0.0
        for _ in range(count):
            for each in things:
                place = each.place
                place.x += 1.0
                total += each.place.x + place.y
                each.place, each.speed = each.speed, place
                total += each.place.x
                each.place.x -= 0.5
        return total

    function, things = ag.function(swaps, engine="native"), bodies(1.0, 2.0)
    for _ in range(3):
        wanted = swaps(copy.deepcopy(things), 8)
        assert function(copy.deepcopy(things), 8) == wanted
    gone = weakref.ref(things[0])
    function(things, 1000)
    for each in things:
        assert len(gc.get_referrers(each.place)) == 1 or type(each.place) is Vector
    del things, each
    gc.collect()
    assert gone() is None
