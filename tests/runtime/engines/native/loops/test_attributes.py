"""Attributes of objects in machine code: the same outcomes, and no references lost."""

import copy
import gc
import sys

import pytest

import autograph as ag
from tests.runtime.engines.native.programs import regions


class Slots:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


class Plain:
    def __init__(self, x, y):
        self.x, self.y = x, y


class Computed(Plain):
    """`x` is a property that counts its calls."""

    reads = 0

    @property
    def x(self):
        self.reads += 1
        return self._x

    @x.setter
    def x(self, value):
        self._x = value


class Counting(Slots):
    """It has slots, but a `__setattr__` of its own."""

    stores = 0

    def __setattr__(self, name, value):
        type(self).stores += 1
        super().__setattr__(name, value)


class Made(Slots):
    __slots__ = ()

    def __getattr__(self, name):
        return 2.5


def moved(things):
    total = 0.0
    for thing in things:
        total += thing.x * thing.y
        thing.x = thing.x + 0.5 * thing.y
    return total


def state(things):
    return [(type(thing.x), thing.x, thing.y, getattr(thing, "reads", 0)) for thing in things]


def both(things, others):
    """The outcome of `moved` in machine code and plain, and the states afterwards."""
    function, found = ag.function(moved, engine="native"), []
    for _ in range(3):
        for run, each in ((function, things), (moved, others)):
            try:
                found.append(run(each))
            except (AttributeError, TypeError) as error:
                line = error.__traceback__
                while line.tb_next is not None:
                    line = line.tb_next
                found.append((type(error), str(error), line.tb_lineno))
        assert found[-2] == found[-1]
    return function


@pytest.mark.parametrize("kind", [Slots, Plain, Computed, Counting])
def test_same_as_python(kind):
    things, others = ([kind(0.5 * place, 2.0) for place in range(200)] for _ in range(2))
    assert regions(both(things, others))
    assert state(things) == state(others)


def test_classes_and_numbers_of_several_kinds():
    def make():
        kinds, numbers = [Slots, Plain, Computed, Made], [1, 2.0, 2**70, True]
        return [kinds[place % 4](numbers[place // 4 % 4], 2.0) for place in range(200)]

    things, others = make(), make()
    both(things, others)
    assert state(things) == state(others)


@pytest.mark.parametrize("kind", [Slots, Plain, Made])
def test_absent_attribute(kind):
    things, others = ([kind(1.0, 2.0) for _ in range(100)] for _ in range(2))
    for each in (things, others):
        del each[70].y
    both(things, others)
    assert [thing.x for thing in things] == [thing.x for thing in others]


def test_class_that_changes():
    class Kind:
        __slots__ = ("x", "y")

    things = [Kind() for _ in range(100)]
    for thing in things:
        thing.x, thing.y = 1.0, 2.0
    function = ag.function(moved, engine="native")
    assert function(things) == 200.0
    slot = Kind.x
    Kind.x = property(lambda self: 10.0, lambda self, value: None)
    assert function(things) == moved(things) == 2000.0
    Kind.x = slot
    assert function(things) == 400.0


def test_no_reference_is_lost():
    things = [Slots(0.5, 2.0) for _ in range(100)]
    function = ag.function(moved, engine="native")
    for _ in range(3):
        function(things)
    gc.collect()
    kept = [object(), 1.25]
    things[0].y = kept[1]
    before = [sys.getrefcount(each) for each in (*things, *kept)]
    for _ in range(50):
        function(things)
    assert [sys.getrefcount(each) for each in (*things, *kept)] == before
    assert all(sys.getrefcount(thing.x) <= 3 for thing in things)


class Dict(dict):
    """The dict of an instance, of a class of its own."""

    def __setitem__(self, name, value):
        raise AssertionError("setting an attribute does not call this")


def read(thing):
    return vars(thing)


def copied(thing):
    vars(thing)["more"] = 1
    return vars(thing)


@pytest.mark.parametrize("dict_of", [read, copied, lambda thing: setattr(thing, "__dict__", dict(y=thing.y, x=thing.x)),
                                     lambda thing: setattr(thing, "__dict__", Dict(vars(thing)))])
def test_values_in_dicts(dict_of):
    """The numbers have several references, so that machine code replaces them; dicts and instances agree."""
    numbers = [0.5, 2.0, 3, True, None]

    def make():
        things = [Plain(numbers[place % 4], numbers[place % 3]) for place in range(200)]
        dicts = [dict_of(thing) and vars(thing) for thing in things]
        return things, dicts

    (things, dicts), (others, _) = make(), make()
    assert regions(both(things, others))
    assert state(things) == state(others)
    assert all(each is None or each == vars(thing) for each, thing in zip(dicts, things))
    assert [list(vars(thing)) for thing in things] == [list(vars(thing)) for thing in others]


def swapped(things, values):
    for thing in things:
        thing.x = values[thing.y]
        thing.y = 1 - thing.y


def test_objects_in_dicts():
    """The garbage collector knows of objects that machine code puts into dicts of instances."""
    def make():
        things, values = [Plain(None, place % 2) for place in range(50)], [[1], [2]]
        for thing in things:
            vars(thing)
            values[thing.y].append(thing)
        return things, values

    (things, values), (others, other_values) = make(), make()
    function = ag.function(swapped, engine="native")
    for _ in range(5):
        function(things, values)
        swapped(others, other_values)
        assert [thing.y for thing in things] == [thing.y for thing in others]
        assert all(thing.x is values[1 - thing.y] for thing in things)
    gc.collect()
    assert all(vars(thing) == {"x": values[1 - thing.y], "y": thing.y} for thing in things)


def with_names(count, extra):
    """A class with so many attributes, and a maker of instances whose dicts are copies, in another order, or longer."""
    names = [f"a{place}" for place in range(count)]

    class Named:
        def __init__(self, numbers):
            for name, number in zip(names, numbers):
                setattr(self, name, number)

        def first(self):
            return self.a0

    def make(place):
        found = Named([place + 0.5 * each for each in range(count)])
        if place % 4 == 1:
            found = copy.deepcopy(found)
        elif place % 4 == 2:
            found.__dict__ = dict(reversed(vars(found).items()))
        elif place % 4 == 3:
            found.__dict__ = {**dict.fromkeys(range(extra)), **vars(found)}
        if place == 9:
            del found.a0
            found.a0 = 2.5
        if place == 14:
            found.first = lambda: -1.0
        return found

    return make


def first_and_last(things, last):
    total = 0.0
    for thing in things:
        total += thing.first() * 0.5
        thing.a0 = thing.a0 + 1.0
        total += getattr(thing, last)
    return total


@pytest.mark.parametrize("count", [1, 5, 6, 11, 25, 40])
@pytest.mark.parametrize("extra", [0, 3, 200])
def test_dicts_of_instances_of_all_sizes(count, extra):
    make, last = with_names(count, extra), f"a{count - 1}"
    things, others = ([make(place) for place in range(20)] for _ in range(2))
    function = ag.function(first_and_last, engine="native")
    for _ in range(3):
        assert function(things, last) == first_and_last(others, last)
    assert [list(vars(thing).items())[:30] for thing in things if "first" not in vars(thing)] == [
        list(vars(thing).items())[:30] for thing in others if "first" not in vars(thing)
    ]


def shadowed(things):
    return sum([thing.first() for thing in things])


@pytest.mark.parametrize("spoil", [lambda thing: None, vars, copy.deepcopy])
def test_methods_hidden_later(spoil):
    """An attribute of an instance hides a method, whatever holds the attributes."""
    make = with_names(3, 0)
    things = [make(0) for _ in range(20)]
    function = ag.function(shadowed, engine="native")
    assert function(things) == shadowed(things)
    for thing in things:
        spoil(thing)
    vars(things[7])["first"] = lambda: 100.0
    assert function(things) == shadowed(things) == 100.0
    things[8].first = lambda: 50.0
    assert function(things) == shadowed(things) == 150.0
    del things[7].first
    assert function(things) == shadowed(things) == 50.0
