"""Objects of traced code that a program stores in objects that only the graph knows, and may change later."""

import weakref

import pytest

import autograph as ag


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __mul__(self, factor):
        return Point(self.x * factor, self.y * factor)


class Slotted:
    __slots__ = ("__weakref__", "x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __mul__(self, factor):
        return Slotted(self.x * factor, self.y * factor)


class Mover:
    def __init__(self, place, speed):
        self.place, self.speed, self.other = place, speed, place

    def bounce(self, kind):
        self.place = self.place * 1.5
        if self.place.x > 2:
            self.speed = kind(-self.speed.x, self.speed.y)
            self.place = kind(0.5, self.place.y)

    def share(self, kind):
        self.place = self.other = kind(self.place.x + 1, self.place.y)
        self.other.x = self.other.x * 2

    def change_later(self, kind):
        made = kind(self.place.x, self.place.y)
        self.place = made
        made.x = made.x + 1
        self.place.y = self.place.y - made.x

    def keep_two(self, kind):
        made = kind(self.place.y, self.place.x)
        self.place, self.other = made, made
        self.other.x += 1

    def nest(self, kind):
        self.other = kind(kind(self.place.x, 1), 2)
        self.other.x.x += 1
        self.place = self.other.x

    def refer(self, kind):
        made = Slotted(self.place.x, 2.0)
        self.seen = weakref.ref(made)
        self.place = made
        self.place.y = self.place.y + 1
        self.same = self.seen() is self.place


def run(movers, method, kind, n):
    for _ in range(n):
        for mover in movers:
            if method == "bounce":
                mover.bounce(kind)
            elif method == "share":
                mover.share(kind)
            elif method == "change_later":
                mover.change_later(kind)
            elif method == "keep_two":
                mover.keep_two(kind)
            elif method == "nest":
                mover.nest(kind)
            else:
                mover.refer(kind)
    return len(movers)


def state(thing):
    if isinstance(thing, (Point, Slotted)):
        return type(thing), state(thing.x), state(thing.y)
    return type(thing), repr(thing)


def outcome(function, method, kind):
    movers = [Mover(kind(0.5 + i, 2), kind(1.0, i)) for i in range(4)]
    try:
        function(movers, method, kind, 7)
    except (AttributeError, TypeError) as error:
        return type(error), str(error)
    parts = [(each.place, each.speed, each.other) for each in movers]
    return [(list(map(state, each)), each[0] is each[2], each[1] is each[2]) for each in parts], [
        getattr(each, "same", None) for each in movers
    ]


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("kind", [Point, Slotted])
@pytest.mark.parametrize("method", ["bounce", "share", "change_later", "keep_two", "nest", "refer"])
def test_as_in_python(method, kind, engine):
    function = ag.function(run, engine=engine)
    for _ in range(3):
        assert outcome(function, method, kind) == outcome(run, method, kind)


def bounced(movers, n):
    for _ in range(n):
        for mover in movers:
            mover.bounce(Point)
    return len(movers)


def test_a_new_attribute_is_staged():
    function, movers = ag.function(bounced, engine="native", strict="plain"), [Mover(Point(0.5, 2.0), Point(1.0, 1.0))]
    assert function(movers, 5) == 1
