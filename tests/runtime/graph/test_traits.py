"""Traits are of ops that there are, and say what they mean; relations lead to ops."""

from __future__ import annotations

import pytest

import autograph.runtime.ops  # noqa: F401  (declares them)
from autograph.runtime.graph import traits
from autograph.runtime.graph.opdef import OPS, declare

ALL = {name: value for name, value in vars(traits).items() if isinstance(value, traits.Trait | traits.Relation)}


@pytest.mark.parametrize("name", ALL)
def test_a_trait_is_of_ops_that_there_are(name):
    assert ALL[name] and set(ALL[name]) <= set(OPS), set(ALL[name]) - set(OPS)
    assert ALL[name].meaning


def test_the_traits_of_an_op():
    assert traits.traits_of("lt") == {
        "COMPARISON": True, "ELEMENTWISE": True, "ORDERING": True, "NEGATED": "ge", "MIRRORED": "gt"
    }  # fmt: skip


def test_comparisons_are_negated_and_mirrored_in_pairs():
    for relation in (traits.NEGATED, traits.MIRRORED):
        assert set(relation) == traits.COMPARISON
        assert all(relation[relation[op]] == op for op in relation)


def test_operators_in_place_have_plain_ones():
    assert set(traits.PLAIN) == traits.IN_PLACE
    assert all(op == f"i{plain}" for op, plain in traits.PLAIN.items())


def test_a_declaration_gives_traits(monkeypatch):
    monkeypatch.setattr(traits, "BITWISE", traits.Trait("one of the test's own"))
    try:
        declare("demo.flip", traits=[traits.BITWISE])
        assert traits.traits_of("demo.flip") == {"BITWISE": True}
    finally:
        del OPS["demo.flip"]
