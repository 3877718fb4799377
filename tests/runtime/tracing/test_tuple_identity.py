"""A tuple of the caller's that is given back, kept or compared is that very object."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest

import autograph as ag

Point = namedtuple("Point", "x y")
ENGINES = pytest.mark.parametrize("engine", ["numpy", "native", "auto"])


def pair(first: Any, second: Any) -> tuple[Any, ...]:
    return tuple([first, second])


def given_back(t: Any, u: Any, c: Any) -> Any:
    return t


def longer(t: Any, u: Any, c: Any) -> Any:
    if c > 0:
        return t + (c,)
    return t


def chosen(t: Any, u: Any, c: Any) -> Any:
    return t if c > 0 else u


def assigned(t: Any, u: Any, c: Any) -> Any:
    found = t
    if c > 0:
        found = u
    return found, found is t, found is u


def swapped(t: Any, u: Any, c: Any) -> Any:
    for _ in range(c + 20):
        t, u = u, t
    return t, u, t is u


def kept(t: Any, u: Any, c: Any) -> Any:
    out = []
    for i in range(12):
        if i < c:
            out.append(t)
        elif i % 2:
            out.append(u if c > 0 else t)
    return out, {"t": t}, [(t, u)]


class Box:
    pass


def in_an_attribute(t: Any, u: Any, c: Any) -> Any:
    box = Box()
    box.held = t  # type: ignore[attr-defined]
    if c > 0:
        box.held = u  # type: ignore[attr-defined]
    return box.held, box.held is u  # type: ignore[attr-defined]


def made_here_or_given(t: Any, u: Any, c: Any) -> Any:
    made = (c, c)
    return (made, made) if c > 0 else (made, t)


def replaced_in_a_loop(t: Any, u: Any, c: Any) -> Any:
    found = t
    for i in range(c):
        found = (i, i)
    return found is t


def largest(t: Any, u: Any, c: Any) -> Any:
    found = t
    for each in (t, u, (c, c)):
        if each[0] > found[0]:
            found = each
    return found, found[0] + found[1]


FUNCTIONS = [given_back, longer, chosen, assigned, swapped, kept, in_an_attribute, made_here_or_given]
FUNCTIONS += [replaced_in_a_loop, largest]


def reported(value: Any, known: dict[str, Any]) -> Any:
    """A value, with the names of the known objects in it."""
    for name, each in known.items():
        if value is each:
            return name
    if type(value) is dict:
        return [reported(part, known) for part in value.values()]
    return [reported(part, known) for part in value] if isinstance(value, (tuple, list)) else value


@ENGINES
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", [pair, Point])
def test_is_that_very_tuple(function: Any, kind: Any, engine: Any) -> None:
    t, u = kind(1, 2), kind(3, 4)
    staged = ag.function(function, engine=engine)
    for c in (0, 1, 0, 5):
        wanted = reported(function(t, u, c), {"t": t, "u": u})
        assert reported(staged(t, u, c), {"t": t, "u": u}) == wanted
        assert reported(staged(t, t, c), {"t": t}) == reported(function(t, t, c), {"t": t})
    assert not any(trace.plain for trace in staged.traces)


def test_items_and_attributes_on_two_paths() -> None:
    class Holder:
        def __init__(self) -> None:
            self.pair = pair(5, 6)

    @ag.function
    def chosen(pairs: Any, holder: Any, c: Any) -> Any:
        return pairs[0] if c > 2 else pairs[1] if c > 1 else holder.pair

    pairs, holder = [pair(1, 2), pair(3, 4)], Holder()
    assert chosen(pairs, holder, 3) is pairs[0]
    assert chosen(pairs, holder, 2) is pairs[1]
    assert chosen(pairs, holder, 1) is holder.pair


def made_and_asked(c: Any) -> tuple[bool, Any]:
    made = (c, 1)
    found = made if c > 0 else (c, 2)
    return found is made, found


def test_which_tuple_made_here_is_left_to_plain_python() -> None:
    staged = ag.function(made_and_asked)
    assert [staged(c) for c in (1, 0)] == [made_and_asked(1), made_and_asked(0)]
    assert staged.traces[-1].plain.startswith("the identity of a tuple that was made here matters")


def parts_only(t: Any, n: Any) -> Any:
    for _ in range(n):
        t = t[1], t[0] + t[1]
    return t[0]


def test_nothing_is_carried_for_tuples_of_which_only_parts_are_used() -> None:
    graph = str(ag.function(parts_only).graph((1, 2), 30))
    assert graph.startswith("graph parts_only(%0: py.int, %1: py.int, n: py.int):") and "build" not in graph


def handed(t: Any, u: Any, c: Any) -> Any:
    note(t, by_name=u)
    note((t, c))
    for _ in range(c):
        note(u if c > 1 else t)
    return c + 1


def passed_down(t: Any, u: Any, c: Any) -> Any:
    return t if c <= 0 else passed_down(u, t, c - 1)


def compared_below(t: Any, u: Any, c: Any) -> Any:
    return passed_down(t, u, c) is t, passed_down(t, u, c) is u


noted: list[Any] = []


@ag.do_not_convert
def note(*values: Any, **named: Any) -> None:
    noted.extend([*values, *named.values()])


@ENGINES
@pytest.mark.parametrize("function", [handed, passed_down, compared_below])
def test_code_that_is_not_staged_gets_that_very_tuple(function: Any, engine: Any) -> None:
    t, u = (1, 2.0), (3, 4.0)
    staged = ag.function(function, engine=engine)
    for c in (2, 1, 0, 5):
        known, found = {"t": t, "u": u}, []
        for each in (function, staged):
            noted.clear()
            found.append(reported([each(t, u, c), noted], known))
        assert found[0] == found[1]
