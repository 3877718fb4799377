"""What real code and programs written to break things have brought to light, each the smallest that shows it."""

from __future__ import annotations

import collections  # noqa: F401  (for arguments)
import datetime  # noqa: F401
import functools
import operator
import random
import sys
import types

import numpy as np

from tests.corpus_staged import calls

# Keywords


@calls("1, a=3", "1", "1, b=3", "1, b=4, a=2", "1, 2, a=np.arange(2)")
def returns_all_it_got(*args, **kwargs):
    return args, kwargs


@calls("0, 1, 3", "0, 1, 3, endpoint=False, retstep=True", "0, 1, 0", "0, 5, 3, dtype=int")
def hands_on_keywords(*args, **kwargs):
    return np.linspace(*args, **kwargs)


@calls("3", "2, a=1", "0, a=1, b=2")
def adds_to_keywords(n, **kwargs):
    for i in range(n):
        kwargs[f"k{i}"] = i * n
    return kwargs, sum(kwargs.values())


# None where something was


class Slot:
    shared = 5

    def __init__(self, value):
        self.value = value

    def take(self):
        taken = self.value
        self.value = None
        return taken


@calls("Slot(1)", "Slot(None)", "Slot(2.5)", "Slot(np.ones(2))", "Slot('a')")
def sets_an_attribute_to_none(slot):
    slot.value = None
    return slot


@calls("Slot(1), 2", "Slot(None), 3", "Slot(2.5), 0", "Slot(np.ones(2)), 1")
def takes_what_is_there(slot, n):
    first = slot.take()
    if n > 1:
        slot.value = n
    return first, slot.take(), slot


@calls("Slot(1), 2", "Slot(1), -2", "Slot(None), 2")
def sets_an_attribute_to_none_on_one_path(slot, n):
    if n > 0:
        slot.value = None
    return slot.value, slot


@calls("Slot(1), 3", "Slot(1), 0")
def hides_the_attribute_of_a_class(slot, n):
    slot.shared = None
    for i in range(n):
        slot.value = None if i else i
    return slot


class Normal(random.Random):
    kept = None

    def draw(self):
        kept = self.kept
        self.kept = None
        if kept is None:
            kept = self.random()
            self.kept = -kept
        return kept


@calls("Normal(3), 1", "Normal(4), 2.5")
def draws_by_twos(generator, scale):
    return [generator.draw() * scale, generator.draw(), generator.draw()], generator.kept


@calls("random.Random(3), 0., 1.", "random.Random(3), 2, 1")
def draws_normally(generator, mu, sigma):
    return [generator.gauss(mu, sigma) for _ in range(3)]


# Modules


@calls("1, 2", "2, 2", "np.arange(2), np.ones(2)", "'a', 'b'")
def methods_of_modules(a, b):
    return operator.__eq__(a, b), operator.__lt__(a, b), operator.__ne__(a, b), operator.__name__


@calls("1")
def what_modules_are_called(x):
    return repr(operator) + repr(np.random), np.random.__doc__[:5], isinstance(sys, types.ModuleType), x


@calls("1", "2.5", "np.arange(2)")
def sets_an_attribute_of_a_module(x):
    sys.mine = x
    np.mine = x
    return sys.mine + np.mine


# Objects that are left behind


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    @functools.cached_property
    def total(self):
        print("added up")
        return sum(self.a) + sum(self.b)


@calls("Pair([1], [2]), 3", "Pair([], [0.5]), 2.5")
def exchanges_lists_and_adds_to_one(pair, x):
    first = pair.a
    pair.a, pair.b = pair.b, pair.a
    pair.a.append(x)
    return pair.a, first is pair.b, pair


@calls("Pair([1], [2]), 1", "Pair([1], [2]), 0", "Pair([0.5], [2]), 2.5")
def keeps_what_a_cached_property_gives(pair, x):
    total = pair.total * x
    pair.a = [x]
    return total + pair.total, pair


@calls("Pair([1], [2])", "Pair([1.5], [])")
def computes_a_cached_property_again(pair):
    before = pair.total
    pair.a.append(before)
    del pair.total
    return before, pair.total, pair


# What is changed in place, or is not


@calls("1, np.ones(2)", "np.ones(2), 1", "2.5, np.array(1)", "np.float32(1), np.arange(2)", "np.array(1), np.arange(2)")
def begins_with_a_number(x, y):
    total = x
    total += y
    twice = x
    twice *= y
    twice -= y
    return total, twice, total is x, x


@calls("1, a=np.ones(2)", "1, a=np.ones(2), b=2", "1, a=2.5", "1", "1, s=np.arange(2)")
def sums_keywords(x, **named):
    total = x
    for name, value in named.items():
        if name.startswith("s"):
            total -= value
        else:
            total += value
    return total, x


@calls("[1, 2], 2", "(1, 2), 2.5", "True, 2.5", "True, 1j", "3, 1j")
def cannot_be_changed_in_place(x, y):
    if y:
        x **= y
        flag = True
        flag //= y
    return x


@calls("True, 1.5", "True, 1", "3, 2")
def shifts_what_is_constant(x, y):
    flag = True
    flag <<= y
    return flag


# Functions of the function's own in the hands of NumPy


@calls("1", "2.5", "np.arange(2)")
def universal_functions_of_its_own(x):
    scale = x * 2
    scaled = np.frompyfunc(lambda a, b: a * scale + b, 2, 1)
    return scaled([1, 2], [3, 4]), scaled.nin, [np.frompyfunc(lambda n, k=k: n * k, 1, 1)(x) for k in range(2)]


# Lists and dicts of classes, and dicts that take each other's place


class Registry:
    """Its lists belong to all instances; each call begins with empty ones."""

    names: list = []
    counts: dict = {}

    def __init__(self):
        self.names.clear()
        self.counts.clear()
        self.own = {"a": 1}


@calls("Registry(), 3", "Registry(), 0", "Registry(), 2.5")
def appends_to_a_list_of_the_class(registry, x):
    registry.names.append(x)
    registry.counts["x"] = x
    return registry.names, registry.names is Registry.names, Registry.counts


@calls("Registry(), 3", "Registry(), 0", "Registry(), 12")
def appends_in_a_loop_to_a_list_of_the_class(registry, n):
    for i in range(n):
        Registry.names.append(i * n)
        registry.counts[i % 2] = i
    return Registry.names, registry.counts


@calls("Registry(), np.arange(3)", "Registry(), np.ones(1)", "Registry(), []")
def appends_items_to_a_list_of_the_class(registry, xs):
    for x in xs:
        registry.names.append(x)
        if x > 1:
            registry.names.append(registry)
    return len(registry.names), registry.names[:2]


@calls("Registry(), 3", "Registry(), 0", "Registry(), 12")
def takes_over_from_the_dict_before(registry, n):
    for _ in range(n):
        before = registry.own
        registry.own = {}
        registry.own.update(before)
    return registry.own, registry


@calls("Registry(), 3", "Registry(), -3", "Registry(), 0.5")
def takes_over_on_one_path(registry, x):
    if x > 0:
        registry.own, before = {}, registry.own
        registry.own.update(before, x=x)
        registry.names.append(before)
    return registry.own, registry.names


# Attributes that may not be there


class Bag(list):
    extra = 1


@calls(
    "[1] * 20",
    "{1: 2}",
    "np.ones(2)",
    "Bag([2])",
    "collections.deque([1])",
    "datetime.date(2024, 1, 1)",
    "'a' * 40",
    "3",
    "tuple(range(20))",
)
def asks_for_attributes(x):
    return (
        hasattr(x, "nope"),
        hasattr(x, "append"),
        getattr(x, "extra", None),
        getattr(x, "year", -1),
        getattr(x, "shape", ()),
        getattr(x, "nope", x) is x,
    )


@calls("[1] * 20, 'nope'", "[2] * 20, 'extra'", "np.ones(2), 'nope'")
def reads_an_attribute_that_is_not_there(x, name):
    if name == "extra":
        return x.extra
    return x.nope


# What is in a container that the graph has made its own


@calls("Registry(), 3", "Registry(), 12", "Registry(), 0")
def asks_for_a_key_of_a_dict_set_before(registry, n):
    registry.own = {"a": n}
    found = 0
    for _ in range(n):
        if "a" in registry.own and "b" not in registry.own:
            found += 1
    return found


@calls("Pair([1], [2]), 3", "Pair([1], [2]), 0")
def matches_a_list_set_before(pair, n):
    pair.a = [n, 2]
    found = 0
    for _ in range(n):
        match pair.a:
            case [a, b]:
                found += a - b
            case _:
                found -= 1
    return found


@calls("Registry(), 3", "Registry(), 12", "Registry(), 0")
def raises_for_a_key_that_was_updated(registry, n):
    registry.own, before = {}, registry.own
    registry.own.update(before)
    for i in range(n):
        if "a" in registry.own:
            raise ValueError(i)
    return registry


@calls("np.array([(1, 2), (3, 4)], 'i4,i4')", "np.zeros((2, 3), [('a', float)])", "np.array(['ab', 'c'])")
def shapes_of_structures(x):
    return np.shape(x), np.ndim(x), np.size(x), np.result_type(x), np.can_cast(x.dtype, "O")


class Shelf:
    def __init__(self, items):
        self.items = items
        self.named = {"a": items}
        self.rows = [items]


@calls("Shelf([1, 2]), 3", "Shelf([]), 0.5")
def reads_a_changed_list_by_another_way(shelf, x):
    shelf.items.append(x)
    shelf.items.extend(shelf.named["a"])
    return sum(shelf.named["a"]), len(shelf.rows[0]), shelf.rows[0] is shelf.items, shelf
