"""Which comprehensions stay, and why."""

from __future__ import annotations

import pytest

from tests.converters.conversion import decisions

CASES = {
    "[x for x in xs]": None,
    "{x: x for x in xs if x if x}": None,
    "[f for f in [y for y in xs]]": None,
    "[(lambda x: x)(x) for x in xs]": None,
    "[(lambda: xs)() for x in xs]": None,
    "[lambda: b for a, b in xs]": "an inner function captures its variable",
    "[y for x in xs for y in x]": None,
    "[a for x in xs if x for x, a in x for b in x if b]": None,
    "[lambda: x for x in xs for y in x]": "an inner function captures its variable",
    "[y for x in xs for y.a in x]": "its target is more than names",
    "{x: y for x in xs for y in x}": "it is a dict with several `for`s",
    "[a for a, b in xs]": None,
    "{a: b for [a, (b, c)] in xs if c}": None,
    "[a for a, *b in xs]": "its target is more than names",
    "[a for a.b in xs]": "its target is more than names",
    "[0 for () in xs]": "its target is more than names",
    "[a for a, (b, a) in xs]": "its target names a variable twice",
    "[(y := x) for x in xs]": "`:=` binds a name of the function",
    "[x for x in xs if (y := x)]": "`:=` binds a name of the function",
    "[lambda: x for x in xs]": "an inner function captures its variable",
    "[lambda y=x: y for x in xs]": None,
    "[(x + y for y in xs) for x in xs]": "an inner function captures its variable",
    "[(y for y in x) for x in xs]": None,
    "[sum(y for y in range(x) if x % y) for x in xs if any(x > y for y in xs)]": None,
    "[sum([sum(x + y for z in xs) for y in xs]) for x in xs]": None,
    "[sorted(xs, key=lambda y: y - x) + sorted(x - y for y in xs) for x in xs]": None,
    "['-'.join(f'{x}{y}' for y in xs) for x in xs]": None,
    "[xs.join(x for y in xs) for x in xs]": "an inner function captures its variable",
    "[min((x for y in xs), xs) for x in xs]": "an inner function captures its variable",
    "[iter(x for y in xs) for x in xs]": "an inner function captures its variable",
    "[list(lambda: x for y in xs) for x in xs]": "an inner function captures its variable",
    "{x: [lambda: x] for x in xs}": "an inner function captures its variable",
    "[super().f for x in xs]": "`super()` looks at the function around it (line 1)",
    "[locals() for x in xs]": "`locals` looks at the names of its function (line 1)",
}


@pytest.mark.parametrize("comprehension", CASES)
def test_reasons(comprehension):
    found = [d for d in decisions(f"def f(xs): return {comprehension}") if d.construct == "comprehension"]
    assert found[-1].reason == CASES[comprehension]
