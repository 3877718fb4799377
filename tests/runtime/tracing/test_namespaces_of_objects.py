"""Changes of the `__dict__` of an object are changes of its attributes, and it stays the `__dict__` of the object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

import autograph as ag
from tests import outcomes


class Box:
    def __init__(self, x: Any) -> None:
        self.x, self.n = x, 1


class Slots:
    __slots__ = ("__dict__", "unused")

    def __init__(self, x: Any) -> None:
        self.x, self.n = x, 1


@dataclass
class Record:
    x: Any
    n: Any = 1


class Nothing:
    pass


class Shared:
    state: dict[str, Any] = {}

    def __init__(self, k: Any) -> None:
        self.__dict__ = self.state
        self.k = k


@ag.do_not_convert
def helper(names, n):
    names["x"] = n * 7
    names["new"] = n


def update_with_filled(b, n):
    d = {}
    for i in range(n):
        d[f"k{i}"] = i
    b.__dict__.update(d)
    return sorted(vars(b))


def set_item(b, n):
    vars(b)["y"] = n * 2
    return b.y


def merge_in_place(b, n):
    d = {"y": n}
    b.__dict__ |= d
    return b.y + n


def pop_and_set(b, n):
    v = b.__dict__.pop("x")
    b.__dict__["x2"] = n
    return v + n


def set_defaults(b, n):
    b.__dict__.setdefault("z", n * 3)
    b.__dict__.setdefault("x", n * 3)
    return b.z + b.x


def clear(b, n):
    b.__dict__.clear()
    b.q = n
    return list(vars(b))


def set_in_loop(b, n):
    for i in range(n):
        vars(b)["k"] = i
    return b


def set_names_in_loop(b, n):
    for i in range(n):
        vars(b)[f"k{i}"] = i
    return b


def update_in_branch(b, n):
    if n > 1:
        b.__dict__.update(y=n)
    return getattr(b, "y", 7)


def keep_and_update(b, n):
    d = b.__dict__
    d["y"] = n
    d.update({"w": n + 1})
    return b.y + d["w"]


def delete_item(b, n):
    del vars(b)["x"]
    return hasattr(b, "x"), n * 2


def add_in_place(b, n):
    vars(b)["x"] += n
    return b.x


def pop_last(b, n):
    b.__dict__.popitem()
    return n * 2, list(b.__dict__.items())


def merge_filled(b, n):
    d = {}
    for i in range(n):
        d[f"k{i}"] = i
    b.__dict__ |= d
    return b


def update_with_pairs(b, n):
    for k, v in [("x", n), ("y", n * 2)]:
        setattr(b, k, v)
    vars(b).update([("u", n), ("v", n + 1)])
    vars(b).update(x=n)
    return b.u, b.x


def update_with_filled_pairs(b, n):
    xs = []
    for i in range(n):
        xs.append((f"k{i}", i))
    vars(b).update(xs)
    return b


def update_with_same_key(b, n):
    d = {}
    for i in range(n):
        d["x"] = i
    vars(b).update(d)
    return b.x + n


def update_in_loop(b, n):
    for i in range(n):
        b.__dict__.update(x=i)
    return b.x + n


def copy_items(b, n):
    d = {}
    for i in range(n):
        d["x"] = i
    for k, v in d.items():
        b.__dict__[k] = v
    return b.x


def set_attributes_of_filled(b, n):
    d = {}
    for i in range(n):
        d["x"] = i
    for k, v in d.items():
        setattr(b, k, v)
    return b.x


def copy_to_new(b, n):
    c = Box(n)
    c.__dict__.update(b.__dict__)
    c.__dict__["w"] = n
    return c


def fill_new(b, n):
    c = Box(n)
    d = {}
    for i in range(n):
        d[f"k{i}"] = i
    c.__dict__.update(d)
    return c, c.k0 if n else 0


def make_without_init(b, n):
    c = Box.__new__(Box)
    vars(c).update(vars(b))
    vars(c)["x"] = n
    return c


def call_methods_of_dict(b, n):
    dict.update(b.__dict__, y=n)
    dict.__setitem__(vars(b), "z", n)
    return b.y


def set_one_of_several(b, n):
    k = "abc"[n % 3]
    vars(b)[k] = n
    return sorted(vars(b))


def update_with_list(b, n):
    b.__dict__.update({"x": n, "y": [n]})
    b.y.append(n)
    return b.y


def sum_up(b, n):
    d = vars(b)
    x = 0
    for k in d:
        x += d[k] * n
    d["sum"] = x
    return x


def return_namespace(b, n):
    return b.__dict__, n * 2


def return_after_set(b, n):
    d = b.__dict__
    b.y = n
    return d["y"], d


def copy(b, n):
    d = b.__dict__.copy()
    d["y"] = n
    return d, b


def change_and_return(b, n):
    d = vars(b)
    d["y"] = n
    del d["y"]
    d["x"] = n
    return d


def store_new(b, n):
    c = Box(n)
    d = {}
    for i in range(n):
        d[f"k{i}"] = i
    c.__dict__ |= d
    b.child = c
    return n * 2


def set_names_of_new(b, n):
    c = Box(n)
    for i in range(n):
        vars(c)[f"k{i}"] = i
    return c


def return_new_and_namespace(b, n):
    c = Box(n)
    d = vars(c)
    d["y"] = n * 3
    return c, d


def return_empty_namespace(b, n):
    c = Nothing()
    d = vars(c)
    return c, d, n + 1


def return_emptied_namespace(b, n):
    vars(b).clear()
    return vars(b), n * 2


def replace(b, n):
    d = {"x": n, "y": 2}
    b.__dict__ = d
    d["z"] = n
    return d, b.z


def store_namespace(b, n):
    b.d = vars(b)
    return n * 2


def share(b, n):
    c = Box(n)
    c.__dict__ = b.__dict__
    c.y = n
    return b.y, c


def hand_over(b, n):
    helper(vars(b), n)
    return b.x + n


def list_of_namespaces(b, n):
    xs = [vars(b)]
    xs[0]["x"] = n
    return b.x, xs


def add_in_loop(b, n):
    d = vars(b)
    for i in range(n):
        d["x"] += i
    return d["x"], b.x


def branches(b, n):
    d = vars(b)
    if n > 2:
        d["x"] += n
    else:
        d["y"] = n
    return d["x"], b


def two_new(b, n):
    c = Box(n)
    e = Box(n + 1)
    vars(c).update(vars(e))
    vars(c)["w"] = vars(e)
    e.x = 10
    return c, e


def update_with_own(b, n):
    b.kids = {}
    for i in range(n):
        b.kids[f"k{i}"] = i
    vars(b).update(b.kids)
    return b


def update_with_comprehension(b, n):
    d = {}
    for i in range(n):
        d[f"k{i}"] = i
    b.__dict__.update({k: v + 1 for k, v in d.items()})
    return n


def fill_simple_namespace(b, n):
    d = {}
    for i in range(n):
        d[f"k{i}"] = i
    s = SimpleNamespace(a=n)
    vars(s).update(d)
    s.q = n
    return s, s.q


def printed(b, n):
    print(vars(b))
    return n * 2


def replace_by_setattr(b, n):
    setattr(b, "__dict__", {"x": n})
    return b.x


def replace_of_new(b, n):
    c = Box(n)
    c.__dict__ = {"x": n}
    return c.x


def share_state(b, n):
    Shared.state.clear()
    first, second = Shared(n), Shared(n + 1)
    return first.k, second.k, Shared.state


PROGRAMS = [each for each in list(globals().values()) if getattr(each, "__module__", "") == __name__]
PROGRAMS = [each for each in PROGRAMS if type(each) is type(helper) and each is not helper]
MAKERS = [Box, Record, Slots, lambda x: SimpleNamespace(x=x, n=1)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_namespace_of_an_object(program: Callable[..., Any]) -> None:
    """As an argument, as a part of one, and as an attribute of what is captured."""

    def run(decorate: Callable[[Any], Any], make: Callable[[Any], Any]) -> list[Any]:
        things, held = [make(5) for _ in range(3)], SimpleNamespace()
        whole, part = decorate(program), decorate(lambda xs, n: program(xs[0], n))
        captured = decorate(lambda n: program(held.thing, n))
        done = []
        held.thing = things[2]
        for n in (3, 2, 4, 0):
            found = [
                outcomes.run(lambda n=n: seen(whole(things[0], n), things[0])),
                outcomes.run(lambda n=n: seen(part([things[1], 1], n), things[1])),
                outcomes.run(lambda n=n: seen(captured(n), things[2])),
            ]
            done += [*found, outcomes.described(things)]
        return done

    for make in MAKERS:
        assert run(ag.function, make) == run(lambda function: function, make)


def seen(result: Any, thing: Any) -> Any:
    """A result, with which of its parts are the `__dict__` of an object that is there."""
    parts = result if isinstance(result, tuple) else (result,)
    spaces = [vars(each) for each in (thing, *parts) if hasattr(each, "__dict__")]
    return result, [[part is space for space in spaces] for part in parts]
