"""List comprehensions of programs are such in generated code; what else appends to lists is as it was."""

import traceback

import numpy as np
import pytest

import autograph as ag
from tests import outcomes


def squares(xs):
    return [x * x for x in xs]


def filtered(xs, n):
    return [(x, x // n) for x in xs if x if x % n != 1]


def nested(rows):
    return [[row[i] for row in rows] for i in range(len(rows[0]))]


def ordered(xs):
    mean = sum(xs) / len(xs)
    return sorted((x - mean) ** 2 for x in xs)


def twice(xs, ys):
    a = [x + 1 for x in xs]
    x = len(a)
    b = [x * y for y in ys if y]
    return a, b, x


def pairs(ps):
    return [a * b for a, b in ps]


def later(xs):
    a = [x for x in xs]
    a.append(a)
    return a


def written(xs):
    out = []
    for x in xs:
        if x > 1:
            out.append(x)
    return out


def leaking(xs):
    y = None
    a = [y := x for x in xs]
    return a, y


def choosing(xs, n):
    return [x if x > n else -x for x in (xs if n else xs[::-1])]


LONG = "[*range(-5, 40)]"
CALLS = [
    (squares, LONG, "[t2 * t2 for t2 in xs]"),
    (squares, "np.arange(50.0)", "for t2 in xs]"),
    (squares, "[1] * 20 + ['a']", "[t2 * t2 for t2 in xs]"),
    (filtered, f"{LONG}, 3", "[(t2, t2 // n) for t2 in xs if t2 and t2 % n != 1]"),
    (filtered, f"{LONG}, 0", "[(t2, t2 // n) for t2 in xs if t2 and t2 % n != 1]"),
    (nested, "[[*range(9)]] * 20", "[[t4[t2] for t4 in rows] for t2 in range(len(rows[0]))]"),
    (nested, "[[*range(9)]] * 20 + [[1]]", "[[t4[t2] for t4 in rows] for t2 in range(len(rows[0]))]"),
    (ordered, LONG, "[(t2 - mean) ** 2 for t2 in xs]"),
    (twice, f"{LONG}, {LONG}", "b = [x * t2 for t2 in ys if t2]"),
    (pairs, "[(n, n) for n in range(30)]", ""),
    (pairs, "[(n, n) for n in range(30)] + [(1, 2, 3)]", ""),
    (later, LONG, "a = [t1 for t1 in xs]"),
    (written, LONG, ".append("),
    (leaking, LONG, ""),
    (choosing, f"{LONG}, 3", "[t2 if t2 > n else -t2 for t2 in (xs if n else xs[::-1])]"),
]


@pytest.mark.parametrize("engine", ["numpy", "auto"])
@pytest.mark.parametrize(("plain", "arguments", "text"), CALLS)
def test_as_the_program_has_it(plain, arguments, text, engine):
    staged = ag.function(plain, engine=engine)
    for _ in range(2):
        wanted, found = (outcomes.run(each, arguments, {"np": np}) for each in (plain, staged))
        assert found == wanted
        assert found.raised_at == wanted.raised_at
    if engine == "numpy":
        assert text in staged.traces[-1].source


def test_tracebacks_show_the_function_once():
    staged = ag.function(squares)
    try:
        staged([1] * 20 + ["a"])
    except TypeError as error:
        entries = traceback.extract_tb(error.__traceback__)[1:]
    assert [(each.name, each.line) for each in entries][-1] == ("squares", "return [x * x for x in xs]")
    assert [each.line for each in entries].count("return [x * x for x in xs]") == 1
