"""Objects that called functions give back, and that the traced function knows by another name, too."""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import autograph as ag
from tests import outcomes


class Settings:
    shared = 1

    def __init__(self) -> None:
        self.k, self.xs, self.t = 1, [1], None


def set_and_read(get, known, n):
    get().k = n * 2
    return known.k + n


def write_and_get(get, known, n):
    known.k = n * 3
    return get().k + n


def read_before(get, known, n):
    found, before = get(), known.k
    found.k = n + before
    return known.k * n, found.k


def set_in_loop(get, known, n):
    found = get()
    for i in range(n):
        found.k = found.k + i
    return known.k


def append(get, known, n):
    get().xs.append(n)
    return len(known.xs), sum(known.xs)


def set_item(get, known, n):
    get().xs[0] = n
    return known.xs[0] * n


def set_in_branch(get, known, n):
    found = get()
    if n > 2:
        found.k = 100
    return known.k + n


def set_by_name(get, known, n):
    setattr(get(), "k", n)
    return known.k + n


def set_none(get, known, n):
    get().t = n
    return known.t


def set_of_class(get, known, n):
    get().shared = n
    return known.shared + n


def write_both(get, known, n):
    found = get()
    known.k += n
    found.k += n
    known.k += n
    return found.k, known.k


FUNCTIONS = [set_and_read, write_and_get, read_before, set_in_loop, append, set_item, set_in_branch, set_by_name]
FUNCTIONS += [set_none, set_of_class, write_both]


def cached(thing: Any) -> Callable[[], Any]:
    return functools.lru_cache(lambda: thing)


def context(thing: Any) -> Callable[[], Any]:
    variable = contextvars.ContextVar[Any]("variable")
    variable.set(thing)
    return variable.get


def marked(thing: Any) -> Callable[[], Any]:
    return ag.do_not_convert(lambda: thing)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("way", [cached, context, marked])
def test_object_with_two_names(way: Callable[[Any], Any], function: Callable[..., Any]) -> None:
    def run(decorate: Callable[[Any], Any]) -> list[Any]:
        known = Settings()
        get = way(known)
        staged, done = decorate(lambda n: function(get, known, n)), []
        for n in (3, 2, 4):
            done += [outcomes.run(lambda n=n: staged(n)), outcomes.described(known)]
        return done

    assert run(ag.function) == run(lambda function: function)


def test_other_attributes_are_set_by_the_graph() -> None:
    thing, known = SimpleNamespace(), Settings()
    get = marked(thing)

    @ag.function
    def keep(n):
        get().result = n * known.k
        return known.k + n

    assert keep(3) == 4
    assert thing.result == 3
    assert ".result = " in str(keep.graph(3))
