"""Traits are of ops that there are, and say what they mean; relations lead to ops."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import autograph.runtime.ops  # noqa: F401  (declares them)
from autograph.runtime.graph import traits
from autograph.runtime.graph.opdef import OPS, declare
from autograph.runtime.ops.native import intervals

ALL = {name: value for name, value in vars(traits).items() if isinstance(value, traits.Trait | traits.Relation)}

FOR_OTHERS = {"AS_UFUNC_OF"}      # of which the ops here have no need


def traits_of(op):
    """The traits and relations of an op, by their names: True, or what it is related to."""
    found = {name: value for name, value in vars(traits).items() if name in ALL and op in value}
    return {name: value[op] if isinstance(value, traits.Relation) else True for name, value in found.items()}


@pytest.mark.parametrize("name", ALL)
def test_a_trait_is_of_ops_that_there_are(name):
    assert (ALL[name] or name in FOR_OTHERS) and set(ALL[name]) <= set(OPS), set(ALL[name]) - set(OPS)
    assert ALL[name].meaning


def test_the_traits_of_an_op():
    assert traits_of("lt") == {
        "COMPARISON": True, "ELEMENTWISE": True, "GIVES_BOOLEANS": True, "ORDERING": True,
        "MAKES_VIEWS": True, "READS_VIEWS": True,
        "NEGATED": "ge", "MIRRORED": "gt",
        "AS_UFUNC": "np.less",
        "NARROWS": intervals.below,
        "ON_CONTAINER": "lt",
    }  # fmt: skip


def test_comparisons_are_negated_and_mirrored_in_pairs():
    for relation in (traits.NEGATED, traits.MIRRORED):
        assert set(relation) == traits.COMPARISON
        assert all(relation[relation[op]] == op for op in relation)


def test_operators_in_place_have_plain_ones():
    assert set(traits.PLAIN) == traits.IN_PLACE
    assert all(op == f"i{plain}" for op, plain in traits.PLAIN.items())


def test_the_operator_that_one_in_place_does():
    assert [traits.plain(op) for op in ("iadd", "add", "invert", "in", "int")] == ["add", "add", "invert", "in", "int"]


def _is_expression(template):
    try:
        ast.parse(template.format(*"xyz"), mode="eval")
    except SyntaxError:
        return False
    return True


def test_statements_are_what_python_has_no_expression_for():
    written = {op: OPS[op].template for op in OPS if OPS[op].template}
    assert {op for op in written if not _is_expression(written[op])} == traits.STATEMENT & written.keys()


@pytest.mark.parametrize("op", traits.REDUCES)
def test_reductions_combine_elements_by_a_ufunc(op):
    x = np.arange(24.0).reshape(2, 3, 4) % 5 + 1
    function = getattr(np, op.rpartition(".")[-1])
    for axis in (None, 0, (0, 2)):
        assert np.array_equal(function(x, axis=axis), traits.REDUCES[op].reduce(x, axis=axis))


@pytest.mark.parametrize("op", traits.SILENT_METHOD)
@pytest.mark.filterwarnings("error")
def test_silent_methods_do_what_functions_do_and_never_warn(op):
    method = traits.SILENT_METHOD[op][1:]
    for x in (np.array([[1.0, np.nan], [np.inf, 1e308]]), np.array([2**63 - 1, -(2**63)]), np.array([1j, np.nan])):
        assert np.array_equal(OPS[op].target(x), getattr(x, method)(), equal_nan=x.dtype.kind != "i")
        assert np.array_equal(OPS[op].target(x, 0), getattr(x, method)(0), equal_nan=x.dtype.kind != "i")


def test_operators_and_ufuncs_lead_to_each_other():
    assert {traits.AS_OPERATOR[ufunc]: ufunc for ufunc in traits.AS_OPERATOR} == traits.AS_UFUNC


def test_a_declaration_gives_traits(monkeypatch):
    monkeypatch.setattr(traits, "BITWISE", traits.Trait("one of the test's own"))
    monkeypatch.setattr(traits, "NEUTRAL", traits.Relation("one of the test's own"))
    try:
        declare("demo.flip", traits=[traits.BITWISE, (traits.NEUTRAL, (0, "iu"))])
        assert traits_of("demo.flip") == {"BITWISE": True, "NEUTRAL": (0, "iu")}
    finally:
        del OPS["demo.flip"]
