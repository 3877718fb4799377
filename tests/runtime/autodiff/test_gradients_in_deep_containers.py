"""Derivatives in and through lists, tuples and dicts that are nested more deeply than Python's stack is."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import autograph as ag
from autograph import optim

pytestmark = pytest.mark.once

DEPTH = 10_000


class Pair(NamedTuple):
    first: Any
    second: Any


KINDS = {
    "list": (lambda part: [part], 0),
    "tuple": (lambda part: (part,), 0),
    "dict": (lambda part: {"key": part}, "key"),
    "more": (lambda part: [None, "text", part, 3], 2),
    "pair": (lambda part: Pair([1], part), 1),
}


def nested(leaf, wrap=KINDS["list"][0], depth=DEPTH):
    for _ in range(depth):
        leaf = wrap(leaf)
    return leaf


def innermost(structure, key=0, depth=DEPTH):
    for _ in range(depth):
        structure = structure[key]
    return structure


def product(x, structure, key):
    for _ in range(DEPTH):
        structure = structure[key]
    return x * structure


@pytest.mark.parametrize("kind", ["list", "tuple", "dict"])
def test_gradients_come_in_the_form_of_the_argument(kind):
    wrap, key = KINDS[kind]
    in_x, in_structure = ag.grad(product, argnums=(0, 1))(3.0, nested(2.0, wrap), key)
    assert (in_x, innermost(in_structure, key)) == (2.0, 3.0)
    assert type(in_structure) is type(wrap(None))


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_go_past_what_has_none(kind):
    wrap, key = KINDS[kind]
    assert ag.grad(product)(3.0, nested(2.0, wrap), key) == 2.0


def test_gradients_of_what_is_written_in_place():
    def function(structure, x):
        inner = structure
        for _ in range(DEPTH - 1):
            inner = inner[0]
        inner[0] = inner[0] * x
        return inner[0] * x

    in_structure, in_x = ag.grad(function, argnums=(0, 1))(nested(2.0), 3.0)
    assert (innermost(in_structure), in_x) == (9.0, 12.0)


def test_gradients_of_what_the_function_nests():
    def function(x):
        kept = []
        for i in range(3):
            part = x * i
            for _ in range(DEPTH):
                part = [part]
            kept.append(part)
        return product(1.0, kept[2], 0) * x

    assert ag.grad(function)(3.0) == 12.0


def test_vjp_takes_gradients_that_are_as_deep():
    result, pull = ag.vjp(lambda structure: structure, nested(2.0))
    assert innermost(result) == 2.0
    assert innermost(pull(nested(5.0))[0]) == 5.0


def test_gradients_of_gradients():
    def slope(x):
        return ag.grad(product)(x, nested(x * x), 0)

    assert ag.grad(slope)(3.0) == 6.0


def test_optimizers_clip_and_apply_gradients_that_are_as_deep():
    gradients, variable = nested(2.0), ag.Variable(1.0)
    assert innermost(optim.clip_by_value(gradients, 0.0, 0.5)) == 0.5
    assert optim.global_norm(gradients) == 2.0
    optim.SGD(0.5).update(nested(variable), gradients)
    assert float(variable.value) == 0.0


def test_variables_are_found_in_modules_that_hold_deep_lists():
    class Model(ag.Module):
        def __init__(self):
            self.layers = nested(ag.Variable(1.0))
            self.layers.append(self.layers)     # it may hold itself, too

    found = Model().named_variables()
    assert [*found] == ["layers" + ".0" * DEPTH]


def test_a_list_that_holds_itself_is_refused():
    endless = [2.0]
    endless.append(endless)
    with pytest.raises(ValueError, match="contains itself"):
        ag.grad(lambda x, kept: kept[0] * x, argnums=1)(3.0, endless)
    with pytest.raises(ValueError, match="contains itself"):
        optim.global_norm(endless)
