"""Guards look at the attributes that a function has read, of whatever can be reached from its arguments."""

import copy
import operator
import threading
import types
import weakref

import numpy as np
import pytest

import autograph as ag
from tests.runtime.objects import no_stand_in_is_left  # noqa: F401


class Square:
    LIMIT = 3

    def __init__(self, number):
        self.number, self.used, self.color, self.neighbors = number, False, 0, []

    def is_free(self):
        return not self.used

    def __repr__(self):
        return f"<{self.number}>"


def board(size):
    """Squares that each know their neighbors."""
    squares = [Square(number) for number in range(size * size)]
    for square in squares:
        x, y = square.number % size, square.number // size
        near = ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
        square.neighbors = [squares[b * size + a] for a, b in near if 0 <= a < size and 0 <= b < size]
    return squares


def count(square):
    return len(square.neighbors)


def useful(square):
    if square.is_free():
        for other in square.neighbors:
            if other.color == 0:
                return True
    return False


def guards(staged):
    assert not staged.traces[-1].plain
    return len(staged.traces[-1].guards)


@pytest.mark.parametrize("function", [count, useful])
def test_guards_are_as_many_as_the_attributes_that_are_read(function):
    found = []
    for size in (3, 6, 12, 24):
        staged = ag.function(function)
        square = board(size)[size + 1]
        assert staged(square) == function(square)
        found.append(guards(staged))
    assert len(set(found)) == 1 and found[0] < 20


def test_a_tree_with_parents_is_looked_at_as_far_as_it_is_read():
    class Node:
        def __init__(self, parent):
            self.parent, self.children, self.value = parent, [], 1
            if parent is not None:
                parent.children.append(self)

    root = Node(None)
    level = [root]
    for _ in range(7):
        level = [Node(parent) for parent in level for _ in range(2)]
    staged = ag.function(lambda node: len(node.children) + node.value)
    assert staged(root) == 3
    assert guards(staged) < 10


# Each gets a square of a board, changes something, and says how often that asks for another trace.
CHANGES = {
    "what is not read": (lambda s: setattr(s.neighbors[0].neighbors[0], "color", 5), 0),
    "an attribute that is not read": (lambda s: setattr(s, "number", 100), 0),
    "a new attribute": (lambda s: setattr(s, "other", 100), 0),
    "a value": (lambda s: setattr(s, "used", True), 1),
    "a value of another object": (lambda s: setattr(s.neighbors[0], "color", 1), 1),
    "an item": (lambda s: s.neighbors.__setitem__(1, Square(7)), 0),
    "an item of another class": (lambda s: s.neighbors.__setitem__(1, types.SimpleNamespace(color=0)), 1),
    "the length": (lambda s: s.neighbors.append(Square(7)), 1),
    "another list": (lambda s: setattr(s, "neighbors", s.neighbors[:]), 0),
    "the same object twice": (lambda s: s.neighbors.__setitem__(1, s.neighbors[0]), 1),
    "the object in its own list": (lambda s: s.neighbors.__setitem__(1, s), 1),
    "a method of the object": (lambda s: setattr(s, "is_free", lambda: False), 1),
    "another class": (lambda s: setattr(s, "__class__", type("Other", (Square,), {})), 1),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen_if_it_matters(change):
    staged, (make, traces) = ag.function(useful), CHANGES[change]
    square, expected = board(4)[5], board(4)[5]
    for _ in range(2):
        assert staged(square) == useful(expected)
    before = staged.traces[-1].number
    make(square), make(expected)
    for _ in range(2):
        assert staged(square) == useful(expected)
    assert staged.traces[-1].number == before + traces


def test_constants_in_the_class_are_guarded():
    class Own(Square):
        pass

    def f(square):
        return square.LIMIT + type(square).LIMIT

    staged, square = ag.function(f), Own(1)
    assert staged(square) == 6
    Own.LIMIT = 5
    assert staged(square) == 10
    square.LIMIT = 1
    assert staged(square) == 6
    Own.LIMIT = 2
    assert staged(square) == 3


@pytest.mark.parametrize(
    "read",
    [
        lambda s: getattr(s, "col" + "or"),
        lambda s: operator.attrgetter("color")(s),
        lambda s: s.__dict__["color"],
        lambda s: vars(s)["color"],
        lambda s: object.__getattribute__(s, "color"),
        lambda s: s.__getattribute__("color"),
        lambda s: copy.copy(s).color,
        lambda s: s.__reduce_ex__(2)[2]["color"],
        lambda s: max([s], key=lambda each: each.color).color,
        lambda s: [each.color for each in [s] if hasattr(each, "color")][0],
        lambda s: weakref.ref(s)().color,
        lambda s: s.used or s.color,
    ],
)
def test_ways_to_read_an_attribute(read):
    square, expected, staged = Square(1), Square(1), ag.function(lambda square, x: read(square) + x)
    for color in (0, 3, 3, 4):
        square.color = expected.color = color
        assert staged(square, 1.5) == read(expected) + 1.5


def test_a_missing_attribute_that_appears():
    staged = ag.function(lambda square: getattr(square, "bonus", 1) if hasattr(square, "bonus") else square.color)
    square = Square(1)
    assert staged(square) == 0
    square.bonus = 7
    assert staged(square) == 7
    del square.bonus
    assert staged(square) == 0


class Slotted:
    __slots__ = ("a", "b")


def test_empty_slots():
    def f(thing):
        return thing.a if not hasattr(thing, "b") else thing.b

    staged, thing = ag.function(f), Slotted()
    thing.a = 1
    assert staged(thing) == 1
    thing.b = 2
    assert staged(thing) == 2
    del thing.b
    assert staged(thing) == 1


class Pair:
    def __init__(self, xs):
        self.xs, self.inner = xs, None


def shared(first, second):
    first.xs = second.xs


def appended(first, second):
    first.xs.append(1)
    return len(second.xs)


def appended_after_reading(first, second):
    found = len(second.xs)
    first.xs.append(1)
    return found, len(second.xs), first.xs is second.xs


def bound_anew(first, second):
    second.xs = first.xs + [1]
    return first.xs is second.xs, len(first.xs)


def of_inner(first, second):
    second.inner.xs.append(2)
    return len(first.xs), first.inner is second.inner


@pytest.mark.parametrize("function", [shared, appended, appended_after_reading, bound_anew, of_inner])
def test_lists_that_are_shared_sometimes(function):
    def run(function):
        found = []
        for sharing in (False, True, True, False, True, False):
            first, second = Pair([1]), Pair([2, 3])
            first.inner = second.inner = Pair([5])
            if sharing:
                second.xs, second.inner = first.xs, Pair(first.xs)
            found += [function(first, second), first.xs, second.xs, first.xs is second.xs, second.inner.xs]
        return found

    assert run(ag.function(function)) == run(function)


def push(xs, x):
    xs.append(x)
    return xs


def changed_in_a_loop(first, second, n):
    found = [push(second.xs, 1) is second.xs and push(first.xs, 1) is second.xs for _ in range(n)]
    for _ in range(n):
        found.append(push(second.xs, 1) is second.xs)
        found.append(push(first.xs, 1) is second.xs)
    first.inner.xs.append(n)
    second.xs.reverse()
    if first.xs is second.xs:
        first.xs.pop()
    return found, len(first.xs)


@pytest.mark.parametrize("before", range(0, 32, 5))
def test_lists_that_are_changed_before_another_name_of_theirs_is_read(before):
    def make(sharing):
        first, second = Pair([1, 2]), Pair([3, 4])
        first.inner = second if sharing & 2 else first if sharing & 4 else Pair([5, 6])
        second.xs = first.xs if sharing & 1 else second.xs
        first.inner.xs = first.xs if sharing & 8 else second.xs if sharing & 16 else first.inner.xs
        return first, second

    def run(function, *kinds):
        pairs = [make(kind) for kind in kinds]
        return [(function(*pair, 2), pair[0].xs, pair[1].xs, pair[0].inner.xs) for pair in pairs]

    for after in range(0, 32, 3):
        assert run(ag.function(changed_in_a_loop), before, after) == run(changed_in_a_loop, before, after), after


def test_arrays_of_an_object_that_is_found_late():
    def f(square):
        for each in square.neighbors:
            each.weights += 1.0
        return sum(each.weights[0] for each in square.neighbors)

    def run(function):
        square = board(4)[5]
        for each in square.neighbors:
            each.weights = np.zeros(2)
        return [function(square) for _ in range(3)], [each.weights.tolist() for each in square.neighbors]

    assert run(ag.function(f)) == run(f)


def test_names_of_a_class_are_as_without_tracing():
    class Own:
        a = 1

        def names(self):
            return sorted(name for name in vars(type(self)) if name.startswith("__get"))

    staged = ag.function(lambda own, x: (own.names(), own.a + x))
    assert staged(Own(), 1) == ([], 2)
    assert Own.__getattribute__ is object.__getattribute__


def test_other_threads_read_meanwhile():
    square, stop, errors = board(4)[5], threading.Event(), []

    def read():
        while not stop.is_set():
            if len(square.neighbors) != 4:
                errors.append(square.neighbors)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for _ in range(20):
            assert ag.function(useful)(square)
    finally:
        stop.set()
        thread.join()
    assert not errors
    assert "__getattribute__" not in vars(Square)


def test_a_call_keeps_nothing_alive_that_guards_have_looked_at():
    class Node:
        def __init__(self):
            self.next, self.value = None, 1

    gone = []

    @ag.do_not_convert
    def check(reference):
        gone.append(reference() is None)

    def f(node, reference):
        value = node.next.value + node.next.value
        node.next = None
        check(reference)
        return value

    staged = ag.function(f)
    for _ in range(3):
        node = Node()
        node.next = Node()
        staged(node, weakref.ref(node.next))
    assert gone == [True] * 3


class Measured:
    def __init__(self):
        self.value, self.array, self.rows = 0, np.zeros(3), [np.ones(2)]


def set_first(thing, n):
    setattr(thing, "value", n)  # noqa: B010
    return thing.value


def set_in_a_branch(thing, n):
    if n > 3:
        setattr(thing, "value", n)  # noqa: B010
    return thing.value


def delete_first(thing, n):
    delattr(thing, "value")
    return n


def set_by_object(thing, n):
    object.__setattr__(thing, "value", n)
    return n


def set_in_namespace(thing, n):
    vars(thing)["value"] = n
    return n


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("function", [set_first, set_in_a_branch, delete_first, set_by_object, set_in_namespace])
def test_an_object_that_is_changed_before_it_is_read_keeps_its_attributes(function, engine):
    staged = ag.function(function, engine=engine)
    for n in (3, 4, 5):
        one, other = Measured(), Measured()
        array, row = one.array, one.rows[0]
        assert staged(one, n) == function(other, n)
        assert repr(vars(one)) == repr(vars(other))
        assert one.array is array and one.rows[0] is row
