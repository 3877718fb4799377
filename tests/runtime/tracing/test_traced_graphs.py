"""Graphs of traced functions, before and after the passes: they are in order, and all their forms can be made."""

import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.graph_text.parser import parse
from autograph.runtime.graph_text.verifier import check
from autograph.runtime.graph_text.view import GraphView
from tests.runtime.same_graphs import same


def first_above(xs, limit):
    for i, x in enumerate(xs):
        if x < 0:
            continue
        if x > limit:
            return i, x
    raise ValueError(f"none of {len(xs)} is above {limit:.2f}")


def count_in_place(xs, counts):
    for x in xs:
        counts[int(x), ...] += 1
        del x
    return {"counts": counts, "largest": [counts.max(), counts[::-1]]}


def last(n):
    while n > 3:
        n -= 1
        found = n
    return found


def root(x, steps=20):
    guess = x / 2
    while True:
        better = (guess + x / guess) / 2
        if abs(better - guess) < 1e-9 or steps == 0:
            break
        guess, steps = better, steps - 1
    return guess


SCALES = np.ones(2)


def outside(xs):
    SCALES[0] *= 2
    print(f"scale {SCALES[0]!r}")
    return [SCALES[0] * x for x in xs]


CASES = [
    (first_above, (np.ones(3), 0.5)),
    (count_in_place, (np.zeros(3), np.zeros((2, 2), int))),
    (last, (5,)),
    (root, (np.float64(2),)),
    (outside, (np.ones(2),)),
]


@pytest.mark.parametrize("function, args", CASES, ids=[function.__name__ for function, _ in CASES])
@pytest.mark.parametrize("passes", [False, True], ids=["raw", "optimized"])
def test_forms(function, args, passes):
    view: GraphView = ag.function(function, passes=passes).graph(*args)
    check(view.graph)
    again = parse(view.to_text(places=True), view.objects)
    assert same(again, view.graph)
    assert str(GraphView(again)) == str(view)
    assert "# test_traced_graphs.py:" in view.to_text(places=True)
    ElementTree.fromstring(view.to_html())
    assert json.loads(view.to_json())["name"] == function.__name__
    assert view.to_dot().startswith("digraph")


def test_what_is_known_of_arrays_with_open_dimensions():
    def about(x):
        axes = tuple(range(np.ndim(x) - 1))
        return np.mean(x, axis=axes), np.result_type(x, 1)

    staged = ag.function(about)
    for n in (3, 5):
        assert staged(np.ones((n, 4)))[1] == np.dtype(float)
    assert str(staged.graph(np.ones((7, 4)))) == (
        "graph about(x: f64[?,4]):\n    %0: f64[4] = np.mean(x, axis=(0,))\n    -> (%0, dtype(f64))"
    )
