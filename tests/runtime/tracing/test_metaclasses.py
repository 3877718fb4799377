"""Classes whose metaclass says which classes are equal, or what their hash is: functions run as plain Python."""

import logging

import pytest

import autograph as ag


class Unhashable(type):
    def __eq__(cls, other):
        return cls is other

    __hash__ = None


class HashRaises(type):
    def __hash__(cls):
        raise TypeError("no hash")


class EqualityRaises(type):
    def __eq__(cls, other):
        raise RuntimeError("no equality")

    def __hash__(cls):
        return 7


class AllAreEqual(type):
    def __eq__(cls, other):
        return True

    def __hash__(cls):
        return 1


class HasNoTruth(type):
    def __bool__(cls):
        raise RuntimeError("no truth")

    __len__ = __bool__


METACLASSES = [Unhashable, HashRaises, EqualityRaises, AllAreEqual, HasNoTruth]


def make(metaclass, number=3):
    class Kind(metaclass=metaclass):
        scale = number

        def __init__(self, x=1):
            self.x = x

        def scaled(self, y):
            return self.x * self.scale + y

    return Kind


def uses_the_class(kind, thing, x):
    return kind.scale + x


def makes_an_object(kind, thing, x):
    return kind(x).scaled(x)


def calls_a_method(kind, thing, x):
    return thing.scaled(x) + thing.x


def asks_for_the_class(kind, thing, x):
    return isinstance(thing, kind), isinstance(x, kind), type(thing) is kind, issubclass(kind, object)


def loops(kind, thing, x):
    total = 0
    while x > 0:
        total += thing.x * kind.scale
        x -= 1
    return total


def sets_an_attribute(kind, thing, x):
    thing.x = x
    return thing.x + 1


def has_a_key(kind, thing, x):
    try:
        return list({kind: x}.values())
    except TypeError as error:
        return str(error)


def is_compared(kind, thing, x):
    try:
        return kind == x, kind in (1, 2, kind)
    except RuntimeError as error:
        return str(error)


def is_matched(kind, thing, x):
    match thing:
        case int():
            return 0
        case _:
            return x


FUNCTIONS = [
    uses_the_class,
    makes_an_object,
    calls_a_method,
    asks_for_the_class,
    loops,
    sets_an_attribute,
    has_a_key,
    is_compared,
    is_matched,
]


def outcome(function, *args):
    try:
        return function(*args)
    except (TypeError, RuntimeError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("metaclass", METACLASSES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_arguments(function, metaclass, caplog):
    kind = make(metaclass)
    staged, expected = ag.function(function), outcome(function, kind, kind(5), 4)
    assert [outcome(staged, kind, kind(5), 4) for _ in range(3)] == [expected] * 3
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def of_a_tuple(pair, x):
    return pair[0].scaled(x)


def of_a_dict(table, x):
    return table["thing"].scaled(x)


def of_any_number(x, *things):
    return things[0].scaled(x)


def of_names(x, **things):
    return things["thing"].scaled(x)


def of_an_attribute(box, x):
    return box.scaled.__self__.x + box.x.x + x


@pytest.mark.parametrize("metaclass", METACLASSES)
def test_parts_of_arguments(metaclass):
    kind = make(metaclass)
    thing, box = kind(5), make(type)(kind(2))
    for function, args, named in [
        (of_a_tuple, ((thing, 1), 3), {}),
        (of_a_tuple, ([thing] * 20, 3), {}),
        (of_a_dict, ({"thing": thing}, 3), {}),
        (of_any_number, (3, thing), {}),
        (of_names, (3,), {"thing": thing}),
    ]:
        staged = ag.function(function)
        assert [staged(*args, **named) for _ in range(2)] == [function(*args, **named)] * 2
    with pytest.raises(TypeError):
        ag.function(of_an_attribute)(box, "x")


def of_scaled(thing, x):
    return thing.scaled(x)


def test_equal_classes_are_two():
    staged = ag.function(of_scaled)
    for number in (2, 3, 4):
        for metaclass in (type, AllAreEqual):
            thing = make(metaclass, number)(5)
            assert staged(thing, 1) == 5 * number + 1


def capturing(kind, thing):
    things, table = [thing], {"kind": kind}
    return [
        lambda x: kind.scale + x,
        lambda x: thing.scaled(x),
        lambda x: isinstance(thing, kind) and x,
        lambda x: kind(x).scaled(x),
        lambda x: things[0].x + table["kind"].scale + x,
        lambda x, kind=kind, thing=thing: kind.scale + thing.x + x,
        lambda x: type(thing) is kind and x,
    ]


@pytest.mark.parametrize("metaclass", METACLASSES)
@pytest.mark.parametrize("number", range(7))
def test_variables(number, metaclass):
    kind = make(metaclass)
    function = capturing(kind, kind(5))[number]
    staged = ag.function(function)
    assert [staged(x) for x in (1, 2, 2.5)] == [function(x) for x in (1, 2, 2.5)]


def test_the_reason_is_reported():
    staged = ag.function(of_scaled)
    thing = make(Unhashable)(5)
    assert staged(thing, 1) == 16
    (event,) = staged.explain(thing, 1).where(kind="plain")
    assert "the metaclass of make.<locals>.Kind says which classes are equal, or what their hash is" in event.message
    with pytest.raises(ag.errors.AutographError, match="the metaclass of"):
        staged.graph(thing, 1)
