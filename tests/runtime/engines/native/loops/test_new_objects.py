"""Objects that loops make: in machine code, the same outcomes, and no references lost."""

import gc
import sys
from dataclasses import dataclass

import pytest

import autograph as ag


class Slots:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


class Plain:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Plain(self.x + other.x, self.y)


@dataclass
class Data:
    x: float
    y: object


class Strict(Slots):
    """A property hides a slot."""

    @property
    def x(self):
        return Slots.x.__get__(self) * 2

    @x.setter
    def x(self, value):
        Slots.x.__set__(self, value + 1)


class Both(Slots):
    """It has a slot, and a `__dict__` for its other attribute."""

    def __init__(self, x, y):
        self.x, self.z = x, y


def listed(kind, n, thing):
    made = []
    for i in range(n):
        made.append(kind(i * 0.5, thing))
        if i % 3 == 0:
            made.append(kind(i, (i, thing)))
    return made


def comprehended(kind, n, thing):
    return [kind(i, thing) for i in range(n)]


def read_again(kind, n, thing):
    made = []
    for i in range(n):
        made.append(kind(i * 0.5, thing))
        made[i].x = made[i // 2].x + 1
    return made


def in_table(kind, n, thing):
    table = {}
    for i in range(n):
        table[i % 7] = kind(float(i), thing)
    return list(table.values())


PROGRAMS = [listed, comprehended, read_again, in_table]
KINDS = [Slots, Plain, Data, Strict, Both]


def shown(made):
    slots = [getattr(each, name, None) for each in made for name in ("x", "y", "z")]
    return [type(each) for each in made], list(map(type, slots)), slots


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_python(program, kind):
    function, thing = ag.function(program, engine="native"), object()
    for n in (12, 0, 1, 40):
        assert shown(function(kind, n, thing)) == shown(program(kind, n, thing))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_is_lost(program, kind):
    function, thing = ag.function(program, engine="native"), object()
    function(kind, 20, thing)
    gc.collect()
    before = sys.getrefcount(thing), sys.getrefcount(kind)
    for _ in range(5):
        function(kind, 20, thing)
    gc.collect()
    assert (sys.getrefcount(thing), sys.getrefcount(kind)) == before


def test_left_anywhere(fuel):
    function, thing = ag.function(read_again, engine="native"), object()
    for kind in (Slots, Plain):
        wanted = shown(read_again(kind, 20, thing))
        for _ in range(3):
            fuel.value = -1
            assert shown(function(kind, 20, thing)) == wanted
        for nodes in range(1, 60):
            fuel.value = nodes
            assert shown(function(kind, 20, thing)) == wanted


def test_classes_that_change_between_calls(monkeypatch):
    class Changing(Slots):
        __slots__ = ()

    function = ag.function(listed, engine="native")
    for member in (1, property(lambda thing: 3, lambda thing, value: None), Slots.__init__, 2):
        for _ in range(3):
            assert shown(function(Changing, 9, None)) == shown(listed(Changing, 9, None))
        monkeypatch.setattr(Changing, "extra", member, raising=False)
        monkeypatch.setattr(Changing, "y", member if type(member) is property else Slots.y, raising=False)


@pytest.mark.parametrize("kind", [Slots, Plain, Data])
def test_machine_code_does_without_python(kind):
    function = ag.function(listed, engine="native", strict="native_callback")
    assert shown(function(kind, 12, None)) == shown(listed(kind, 12, None))
