"""The order of attributes, keys and keywords, which `vars` and `list` show."""

import functools
from collections import OrderedDict
from dataclasses import dataclass

from tests.corpus_staged import calls


@dataclass
class Ellipsoid:
    model: str
    a: float
    f: float

    def __init__(self, a, b, model=""):
        self.f = (a - b) / a
        self.model = model
        self.a = a


class Base:
    def __init__(self, a, b):
        self.second = b
        self.first = a


class Derived(Base):
    def __init__(self, a, b):
        self.zero = a - b
        super().__init__(a, b)
        self.last = a


class Slotted:
    __slots__ = ("__dict__", "a", "z")

    def __init__(self, a, b):
        self.q, self.a, self.z, self.b = b, a, b, a


class Lazy:
    def __init__(self, n):
        self.n = n

    @functools.cached_property
    def doubled(self):
        return self.n * 2

    @property
    def tripled(self):
        if not hasattr(self, "_tripled"):
            self._tripled = self.n * 3
        return self._tripled


def shown(thing):
    return list(vars(thing).items())


@calls("2.0, 1.0", "1.0, 2.0")
def of_objects_made_here(a, b):
    made = [kind(a, b) for kind in (Ellipsoid, Base, Derived, Slotted)]
    lazy = Lazy(a)
    return [shown(each) for each in made], lazy.tripled, lazy.doubled, shown(lazy)


@calls("2.0, 1.0", "1.0, 2.0")
def of_an_object_that_is_returned(a, b):
    return Ellipsoid(a, b, "sphere")


@calls("2.0, 1.0", "1.0, 2.0")
def of_objects_made_on_two_paths(a, b):
    made = Ellipsoid(a, b) if a > b else Ellipsoid(b, a)
    return shown(made)


@calls("2.0, 1.0", "1.0, 2.0")
def of_attributes_and_keys_set_on_two_paths(a, b):
    made, table = Ellipsoid(a, b), {}
    if a > b:
        table["x"], table["y"] = a, b
    else:
        table["y"], table["x"] = a, b
        del made.f
        made.f = b
    return shown(made), table


@calls("2.0, 1.0")
def deleted_and_set_again(a, b):
    made, table, ordered = Base(a, b), {"a": a, "b": b}, OrderedDict(a=a, b=b)
    del made.second
    made.second = a
    table["a"] = table.pop("a") + 1
    ordered.move_to_end("a")
    return shown(made), list(table), list(ordered)


@calls("Base(1, 2), 3.0", "Base(1, 2), 0.0")
def attributes_added_to_an_argument(thing, x):
    first = thing.first
    del thing.first
    thing.z = x
    thing.first = first + x
    thing.y = x
    return list(vars(thing))


@calls("{'a': 1, 'b': 2}, 3.0", "{'a': 1, 'b': 2}, 0.0")
def keys_of_an_argument(table, x):
    if x > 1:
        table["a"] = table.pop("a") + x
    table["z"] = x
    return list(table)


@calls("1.0, 2.0")
def keywords(a, b):
    def named(**names):
        return list(names.items())

    return named(z=a, a=b, m=1), named(**{"q": a, "c": b}, d=2), named(**dict(b=b, a=a) | {"c": a, "b": 1})
