"""Lists and dicts of the caller's that loops replace: carried part by part; without iterations, the caller's."""

from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.tracing.state import escape, undo_log


def loss(ws):
    return sum((w * w).sum() for w in ws)


def doubled(ws, n):
    for _ in range(n):
        ws = [w * 2.0 for w in ws]
    return ws


@pytest.fixture(autouse=True)
def in_a_small_program(monkeypatch):
    """After other tests there are more objects than the analysis looks through."""
    monkeypatch.setattr(undo_log, "MANY", 10_000_000)


def copied(ws, n):
    for _ in range(n):
        ws = list(ws)
    return ws


def descent(ws, n):
    for _ in range(n):
        gradients = ag.grad(loss)(ws)
        ws = [w - 0.1 * gradient for w, gradient in zip(ws, gradients)]
    return ws, loss(ws), len(ws)


def with_momentum(ws, n):
    speeds = [np.zeros_like(w) for w in ws]
    for _ in range(n):
        speeds = [0.9 * speed + w for speed, w in zip(speeds, ws)]
        ws = [w - 0.1 * speed for w, speed in zip(ws, speeds)]
    return {"ws": ws, "both": (ws, speeds)}


def nested(ws, n):
    for _ in range(3):
        for _ in range(n):
            ws = [w * 2.0 for w in ws]
    return ws


def after_another(ws, n):
    for _ in range(n):
        ws = [w * 2.0 for w in ws]
    while ws[0].sum() < 100 and n > 1:
        ws = [w + 2.0 for w in ws]
        n -= 1
    return ws


def changed_before_and_within(ws, n):
    ws[0] = ws[0] + 1
    for _ in range(n):
        ws = [w * 2.0 for w in ws]
        ws[0] = ws[0] + 1
    return ws


def kept_by_another(ws, n):
    first = ws
    for _ in range(n):
        ws = [w * 2.0 for w in ws]
    return ws, first


APART = [doubled, copied, descent, with_momentum, nested, after_another, changed_before_and_within, kept_by_another]


def distinguished(ws, n):
    first, count = ws, 0
    for _ in range(n):
        if ws is first:
            count += 1
        ws = [w * 2.0 for w in ws]
    return ws, count


def distinguished_in_a_chain(ws, n):
    first, count = ws, 0
    for _ in range(n):
        if ws is first is not None:
            count += 1
        ws = [w * 2.0 for w in ws]
    return ws, count


def one_iteration_behind(ws, n):
    before = None
    for _ in range(n):
        before = ws
        ws = [w * 2.0 for w in ws]
    return ws, before


def collected(ws, n):
    found = []
    for _ in range(n):
        found.append(ws)
        ws = [w * 2.0 for w in ws]
    return found, ws


def returned_early(ws, n):
    for _ in range(n):
        if ws[0].sum() > 30:
            return ws
        ws = [w * 2.0 for w in ws]
    return None


def changed_afterwards(ws, n):
    for _ in range(n):
        ws = [w * 2.0 for w in ws]
    ws[0] = ws[0] + 1
    ws.append(ws[0])
    return ws


def changed_in_an_iteration(ws, n):
    for _ in range(n):
        ws[0] = ws[0] + 1
        ws = [w * 2.0 for w in ws]
    return ws


def swapped(ws, n):
    others = ws
    for _ in range(n):
        ws, others = others, [w * 2.0 for w in ws]
    return ws, others


def in_a_branch(ws, n):
    if n > 1:
        for _ in range(n - 2):
            ws = [w * 2.0 for w in ws]
    return ws


def chosen_afterwards(ws, n):
    first = ws
    for _ in range(n):
        ws = [w * 2.0 for w in ws]
    return ws if n > 2 else first


KEPT = None


def kept_outside(ws, n):
    global KEPT
    KEPT = ws
    for _ in range(n):
        ws = [w * 2.0 for w in ws]
    is_same, KEPT = KEPT is ws, None
    return ws, is_same


WHOLE = [kept_outside, distinguished, distinguished_in_a_chain, one_iteration_behind, collected, returned_early,
         changed_afterwards, changed_in_an_iteration, swapped, in_a_branch, chosen_afterwards]  # fmt: skip


def weights() -> list[Any]:
    return [np.ones(3), np.arange(3.0), np.ones((2, 2))]


def described(thing: Any, seen: dict[int, Any]) -> Any:
    """Something as numbers and texts, with a number for each list or dict that stands at several places."""
    if isinstance(thing, (list, dict)):
        if id(thing) in seen:
            return seen[id(thing)]
        seen[id(thing)] = len(seen)
    if isinstance(thing, (list, dict, tuple)):
        parts = thing.items() if isinstance(thing, dict) else enumerate(thing)
        return type(thing).__name__, [(name, described(part, seen)) for name, part in parts]
    return thing.tolist() if isinstance(thing, np.ndarray) else thing


@pytest.mark.parametrize("iterations", [0, 1, 2, 20])
@pytest.mark.parametrize("function", [*APART, *WHOLE])
def test_it_is_the_callers_own_if_there_was_no_iteration(function, iterations):
    given, expected = weights(), weights()
    staged = ag.function(function, strict=() if function is kept_outside else "plain")
    found = described((given, staged(given, iterations)), {})
    assert found == described((expected, function(expected, iterations)), {})


@pytest.mark.parametrize("function", APART)
def test_its_parts_are_carried(function):
    graph = str(ag.function(function).graph(weights(), 20))
    loop = next(line for line in graph.splitlines() if " = for(" in line)
    assert "f64[3]" in loop or function is copied
    assert "object" not in loop and "list" not in loop and "dict" not in loop


@pytest.mark.parametrize("iterations", [0, 1, 5])
def test_dicts(iterations):
    @ag.function(strict="plain")
    def doubled(ws, n):
        for _ in range(n):
            ws = {name: ws[name] * 2.0 for name in ws}
        return ws

    given = {"a": np.ones(3), "b": np.arange(2.0)}
    found = doubled(given, iterations)
    assert (found is given) == (iterations == 0)
    assert found["b"].tolist() == [0.0, 2.0**iterations]
    assert "ws: f64[3], ws.1: f64[2] = for(" in str(doubled.graph(given, iterations))


def test_parts_of_tuples():
    @ag.function(strict="plain")
    def layers(pairs, n):
        for _ in range(n):
            pairs = [(w * 2.0, b + 1) for w, b in pairs]
        return pairs

    given = [(np.ones(2), np.zeros(1)), (np.ones(3), np.zeros(1))]
    assert layers(given, 0) is given
    assert layers(given, 2)[1][0].tolist() == [4.0] * 3
    assert "f64[3]" in str(layers.graph(given, 2)).partition("for(")[0]


def test_who_holds_a_thing() -> None:
    holder, twice = [[1], [2]], [[3]] * 2
    alone = escape._holders([*holder], [])
    variable = holder[0]
    with_a_variable = escape._holders([*holder, []], [holder])
    del variable
    other = (holder[0],)
    (with_another, of_twice) = escape._holders([holder[0], twice[0]], [other, other])
    assert (alone, with_a_variable, of_twice) == ([[holder], [holder]], [None, [holder], []], None)
    assert with_another is not None and {id(holder), id(other)} == set(map(id, with_another))


def test_nothing_is_known_where_references_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(escape, "COUNTS", False)
    assert escape._holders([[]], []) == [None]
