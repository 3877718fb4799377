"""Objects that machine code has only as their attributes: the same outcomes, wherever the code is left."""

import gc
import math
import sys
from dataclasses import dataclass

import pytest

import autograph as ag


class Operators:
    def __add__(self, other):
        return type(self)(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return type(self)(self.x - other.x, self.y - other.y)

    def __mul__(self, factor):
        return type(self)(self.x * factor, self.y * factor)

    def length(self):
        return math.hypot(self.x, self.y)

    @property
    def half(self):
        return self.x / 2


class Plain(Operators):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Plain(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Plain(self.x - other.x, self.y - other.y)

    def __mul__(self, factor):
        return Plain(self.x * factor, self.y * factor)


class Slots:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Slots(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Slots(self.x - other.x, self.y - other.y)

    def __mul__(self, factor):
        return Slots(self.x * factor, self.y * factor)

    length, half = Operators.length, Operators.half


@dataclass
class Data:
    x: float
    y: float = 0.0

    def __add__(self, other):
        return Data(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Data(self.x - other.x, self.y - other.y)

    def __mul__(self, factor):
        return Data(self.x * factor, self.y * factor)

    length, half = Operators.length, Operators.half


@dataclass(frozen=True)
class Frozen:
    x: float
    y: float

    def __add__(self, other):
        return Frozen(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Frozen(self.x - other.x, self.y - other.y)

    def __mul__(self, factor):
        return Frozen(self.x * factor, self.y * factor)

    length, half = Operators.length, Operators.half


gone = []


class Mourned(Plain):
    """Python calls `__del__` of each object."""

    def __sub__(self, other):
        return Mourned(self.x - other.x, self.y - other.y)

    def __mul__(self, factor):
        return Mourned(self.x * factor, self.y * factor)

    def __del__(self):
        gone.append(self.x)


def lengths(places, n):
    total = 0.0
    for i in range(n):
        a, b = places[i % len(places)], places[(i + 1) % len(places)]
        way = b - a
        total += (way * 0.5 + a).length()
    return total


def escapes_sometimes(places, n):
    kept = []
    for i in range(n):
        way = places[i % len(places)] - places[i % 2]
        if way.x > 0.5:
            kept.append(way)
            kept.append(way)
        way = way * 2
        if i % 5 == 0:
            kept.append(way.half)
    return kept, [each is other for each, other in zip(kept, kept[1:])]


def best_of(places, n):
    best, last, count = places[0], None, 0
    for i in range(n):
        way = places[i % len(places)] - places[i % 3]
        if way.length() > best.length():
            best = way
        last = way
        count += best is last
        way = way + best
        if way.x > 100:
            break
    return best, last, best is last, count


def changed_twice(places, n):
    total = 0.0
    for i in range(n):
        way = places[i % len(places)] * 2
        other = way
        if i % 2:
            other.x = other.x + 1
        total += way.x - other.y
    return total, way, way is other


def carried(places, n):
    a, b = places[0], places[1]
    for i in range(n):
        a, b = b, a * 0.5 + places[i % len(places)]
        if i % 7 == 3:
            a = a - b
    return a, b, a is b


def fails(places, n):
    found = []
    try:
        for i in range(n):
            way = places[i % len(places)] - places[0]
            found.append(way.x)
            found.append(1 / (way.y + i - 7))
    except ZeroDivisionError as error:
        found.append((str(error), error.__traceback__.tb_lineno))
    return found


def with_none(places, n):
    found, last = 0, None
    for i in range(n):
        way = places[i % len(places)] - places[0] if i % 3 else None
        if way is not None and way.x > 0:
            found += 1
            last = way
    return found, last


def asked(places, n):
    found = []
    i = 0
    while i < n:
        way = places[i % len(places)] * i
        found.append((str(type(way).__name__), hasattr(way, "x"), hasattr(way, "z"), bool(way), isinstance(way, Plain)))
        i += 1
    return found


PROGRAMS = [lengths, escapes_sometimes, best_of, changed_twice, carried, fails, with_none, asked]
KINDS = [Plain, Slots, Data, Frozen, Mourned]
NUMBERS = {
    "floats": [(0.5, 1.0), (1.5, -2.0), (-0.0, 0.25), (3.0, 1e300)], "integers": [(1, 2), (3, -4), (0, 7), (2**62, 5)],
    "both": [(1, 2.0), (0.5, 3), (True, 1), (2, 2)],
    "strange": [(math.inf, 1.0), (math.nan, 0.0), (1.0, -math.inf), (0.5, 2)],
}  # fmt: skip


def shown(found):
    """What a result is, with the attributes of objects and their identities."""
    if isinstance(found, (tuple, list)):
        return type(found), list(map(shown, found))
    if isinstance(found, (Plain, Slots, Data, Frozen)):
        return type(found), shown([found.x, found.y])
    return type(found), repr(found)


def outcome(function, kind, numbers, n):
    gone.clear()
    places = [kind(*each) for each in numbers]
    try:
        found = shown(function(places, n))
    except (AttributeError, TypeError, OverflowError, NameError) as error:
        found = type(error), str(error)
    return found, shown(places), len(gone) if kind is Mourned else 0


@pytest.fixture
def garbage_stays():
    """A function after which no cycles are collected until the end of the test, such as those of earlier tests."""

    def begin():
        gc.collect()
        gc.disable()

    yield begin
    gc.enable()


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_python(program, kind, numbers, fuel, garbage_stays):
    function, numbers = ag.function(program, engine="native"), NUMBERS[numbers]
    fuel.value = -1
    traced = outcome(function, kind, numbers, 12)       # objects that this call has seen may be deleted later
    assert traced[:2] == outcome(program, kind, numbers, 12)[:2]
    if kind is Mourned:
        garbage_stays()
    for n in (12, 0, 1, 40):
        assert outcome(function, kind, numbers, n) == outcome(program, kind, numbers, n)
    wanted = outcome(program, kind, numbers, 9)
    for nodes in range(1, 150, 7):
        fuel.value = nodes
        assert outcome(function, kind, numbers, 9) == wanted


@pytest.mark.parametrize("program", [lengths, escapes_sometimes, best_of, carried])
def test_nothing_is_lost(program, fuel):
    function, extra = ag.function(program, engine="native"), 12345.5
    for kind in (Plain, Slots, Data):
        places = [kind(0.5, 1.0), kind(extra, 2.0), kind(-1.0, 0.25)]
        for fuel.value in (-1, *range(1, 100, 7)):
            function(places, 20)    # which makes code that refers to the class
        gc.collect()
        before = [sys.getrefcount(each) for each in (kind, extra, *places)]
        for fuel.value in (-1, *range(1, 100, 7)):
            function(places, 20)
        gc.collect()
        assert [sys.getrefcount(each) for each in (kind, extra, *places)] == before


def test_a_class_that_changes():
    class Changing(Plain):
        pass

    Changing.__sub__ = lambda self, other: Changing(self.x - other.x, self.y - other.y)
    Changing.__mul__ = lambda self, factor: Changing(self.x * factor, self.y * factor)
    function, places = ag.function(lengths, engine="native"), [Changing(0.5 * i, 1.0) for i in range(9)]
    assert function(places, 30) == lengths(places, 30)
    Changing.length = lambda self: self.x
    assert function(places, 30) == lengths(places, 30)
    Changing.x = property(lambda self: 2.5, lambda self, value: None)
    assert function(places, 30) == lengths(places, 30)
    del Changing.x
    Changing.__getattribute__ = lambda self, name: object.__getattribute__(self, name)
    assert function(places, 30) == lengths(places, 30)


@pytest.mark.parametrize("kind", [Plain, Slots, Data])
def test_no_objects_are_made(kind):
    """There would be a collection of garbage after some hundreds of them."""
    places = [kind(0.5 * i, 1.0) for i in range(9)]
    function = ag.function(lengths, engine="native", strict="native_callback")
    function(places, 10)
    gc.collect()
    before = gc.get_count()[0]
    function(places, 600)
    assert gc.get_count()[0] < before + 300
