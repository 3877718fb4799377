"""Containers that are compared, combined and gone through as a whole: Python does that without their elements."""

from __future__ import annotations

import collections
import importlib
import inspect
import linecache
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph import api
from autograph.common import code_marks
from tests import outcomes

OTHERS = {
    "set": ["{1.0}", "{0.0, 1.0}", "frozenset({1.0})", "t"],
    "dict": ["{0.0: 1, 1.0: 2}", "{1.0: 2}", "t"],
    "Counter": ["collections.Counter({1.0: 1})", "t"],
}
STARTS = {"set": "{0.0}", "dict": "{0.0: 1}", "Counter": "collections.Counter({0.0: 1})"}
CHANGES = {"set": "s.add(x)", "dict": "s[x] = 2", "Counter": "s[x] += 1"}
OPERATORS = {"set": "== != < <= > >= | & - ^", "dict": "== != |", "Counter": "== != <= > | & - +"}
CALLS = """
s.update({0}); [s] == [t]; t in [s]; (s, 1) == (t, 1); [s].index(t); {{1: s}} == {{1: t}}; len(s); sorted(s); {{*s}}
"""
METHODS = "union intersection difference symmetric_difference issubset issuperset isdisjoint".split()


def written(expression: str, kind: str) -> Any:
    """A function that puts its argument into a container, and then has this."""
    text = f"def f(x):\n    s, t = {STARTS[kind]}, {STARTS[kind]}\n    {CHANGES[kind]}\n    r = {expression}\n"
    text += "    return r, s, t, 'yes' if r else 'no'\n"
    name = f"<test {text}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    exec(compile(text, name, "exec"), names := {"collections": collections})
    return names["f"]


def check(function: Any, *calls: str) -> None:
    staged = ag.function(function)
    for arguments in calls:
        assert outcomes.run(staged, arguments) == outcomes.run(function, arguments), arguments


@pytest.mark.parametrize(("kind", "operator"), [(kind, each) for kind in STARTS for each in OPERATORS[kind].split()])
def test_operators(kind: str, operator: str) -> None:
    for other in OTHERS[kind]:
        check(written(f"s {operator} {other}", kind), "1.0", "0.0")
        check(written(f"{other} {operator} s", kind), "1.0", "3.0")


@pytest.mark.parametrize("kind", STARTS)
def test_other_uses(kind: str) -> None:
    for call in CALLS.split(";"):
        check(written(call.format(OTHERS[kind][0]).strip(), kind), "1.0", "0.0")


@pytest.mark.parametrize("method", METHODS)
def test_methods_of_sets(method: str) -> None:
    for other in OTHERS["set"]:
        check(written(f"s.{method}({other})", "set"), "1.0")
        check(written(f"set({other}).{method}(s)", "set"), "1.0")


ROWS = [{"a", "b"}, {"c"}]


def fits(word: str) -> Any:
    return [set(word).issubset(row) for row in ROWS], {*ROWS[0]}, {*ROWS[1], *word}


def seen_in_a_loop(x: Any) -> Any:
    seen: set[Any] = set()
    i = 0
    while i < len(x):
        seen.add(float(x[i]))
        i += 1
    return seen == {1.0}, seen - {1.0}, {1.0, 2.0} > seen, seen


def counted(x: Any) -> Any:
    counts = collections.Counter({1.0: 1})
    counts[x] += 2
    counts.update([x, 3.0])
    counts.subtract({1.0: 1})
    return counts, counts.most_common(1), counts.total() if hasattr(counts, "total") else 0, counts == counts.copy()


def test_sets_of_the_module() -> None:
    check(fits, "'ab'", "'cc'")


def test_in_loops() -> None:
    check(seen_in_a_loop, "np.array([1.0])", "np.array([1.0, 2.0])", "np.array([])", "[1.0, 2.0, 1.0]")


def test_counters() -> None:
    check(counted, "2.0", "3.0", "np.float64(1)")


class Tally:
    def __init__(self) -> None:
        self.counts: Any = collections.Counter()


def of_attributes(xs: Any) -> Any:
    tally, other = Tally(), [collections.Counter()]
    more = other[0].update
    for x in xs:
        tally.counts[x] += 1
        if x > 1:
            tally.counts.update([x, 3.0], a=1)
        more(tally.counts)
    other[0].subtract({1.0: 1})
    return tally.counts, tally.counts.most_common(1), other, sorted(other[0].elements(), key=str)


def in_iterations(xs: Any) -> Any:
    counts: Any = collections.Counter()

    def add(x: Any) -> Any:
        counts[x] += 1
        return counts.most_common(1)

    return [add(x) for x in xs], counts


def on_one_path(xs: Any) -> Any:
    counts = collections.Counter("a")
    if xs[0] > 0:
        counts.update(xs[:1])
    counts.update(b=xs[0])
    return counts.most_common(), counts.update([7]), counts


def that_fails(xs: Any) -> Any:
    counts = collections.Counter("a")
    counts[xs[0]] += 1
    return counts.update(5)  # type: ignore[call-overload]


@pytest.mark.parametrize("function", [of_attributes, in_iterations, on_one_path, that_fails])
def test_methods_of_counters_are_those_of_containers(function: Any) -> None:
    """They are written in Python, and the graph calls them like others."""
    staged = ag.function(function, strict="plain")
    for arguments in ("np.array([1.0, 2.0, 1.0])", "np.array([-1.0])"):
        assert outcomes.run(staged, arguments) == outcomes.run(function, arguments), arguments


def compared(x: Any) -> Any:
    seen = {0.0}
    seen.add(x)
    return seen == {0.0, 1.0}, {0.0, 1.0} == seen, seen - {1.0}, x in seen


def by_the_hook(folder: Any) -> Any:
    (folder / "of_the_hook.py").write_text(inspect.getsource(compared).replace("Any", "object"))
    with ag.importing.install("of_the_hook"):
        return importlib.import_module("of_the_hook").compared


def without_source(folder: Any) -> Any:
    return eval("lambda x: sees({0.0, x}, 1.0)", {"sees": eval("lambda seen, x: (x in seen, seen == {0.0, 1.0})")})


@pytest.mark.parametrize("make", [lambda folder: ag.to_graph(compared), by_the_hook, without_source])
def test_functions_that_were_converted_before_or_cannot_be(make: Any, tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    function = make(tmp_path)
    assert make is without_source or code_marks.is_converted(function.__code__)
    staged = ag.function(lambda x: function(x))
    for x in (1.0, 2.0, 1.0):
        assert staged(x) == function(x)


def test_other_code_is_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not behind the code that need not ask."""
    def unwanted(function: Any) -> Any:
        raise AssertionError

    def fresh(x: Any) -> Any:
        return compared(x)

    monkeypatch.setattr(api, "conversion_of", unwanted)
    assert api.convert_callee(fresh, whole=True)(1.0) == compared(1.0)


def test_code_asks_only_where_it_must() -> None:
    """A trace without such containers is made at once, of the code that is kept on disk."""
    assert "whole" not in ag.to_code(seen_in_a_loop)
    staged = ag.function(lambda x, y: (x - y) == y)
    assert staged(np.ones(2), np.ones(2)).tolist() == [False, False]
