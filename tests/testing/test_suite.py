"""The suite finds what a backend does otherwise, and refusals that are declared, or are no longer true."""

from __future__ import annotations

import operator
from functools import reduce

import numpy as np
import pytest

import autograph as ag
from autograph.errors import StagingError
from autograph.operators.backend import Backend, register, traced_by, unregister
from autograph.testing import backend_suite, summary
from autograph.testing.corpus import CONSTRUCTS, entries

GRAPH = backend_suite(lambda function, *arguments: ag.function(function)(*arguments))


def test_the_corpus_is_rich() -> None:
    found = entries()
    assert len(found) >= 150 and len({entry.name for entry in found}) == len(found)
    assert {entry.construct for entry in found} == set(CONSTRUCTS)
    assert all(entry.calls for entry in found)


@GRAPH.parametrize
def test_the_graph_of_this_library(name: str) -> None:
    GRAPH.check(name)


class Real(np.ndarray):
    """A number that only this backend decides about."""


class Careless(Backend):
    """Takes the first branch, whatever the condition, and stages nothing else."""

    name = "careless"

    def owns(self, value):
        return isinstance(value, Real)

    def if_stmt(self, test, body, orelse, state):
        return body()


@pytest.fixture
def careless():
    backend = Careless()
    register(backend, types=[Real])

    def run(function, *arguments):
        with traced_by(backend):
            return function(*arguments)

    def suite(**options):
        return backend_suite(run, stage=lambda value: np.asarray(value).view(Real), **options)

    yield suite
    unregister(backend)


def test_a_difference_shows_both_outcomes(careless) -> None:
    result = careless().result("conditionals.without_else")
    assert (result.status, result.passed) == ("different", False)
    assert [call.status for call in result.calls] == ["different", "equal"]
    _, call, plain, backend, _ = str(result).splitlines()
    assert result.calls[0].reason == "the result is -3.0, not 3.0"
    assert call == "  (3.0) different"
    assert plain == "    plain:   returned 3.0"
    assert backend == "    backend: returned Real(-3.)"
    with pytest.raises(AssertionError, match="conditionals.without_else: different"):
        careless().check("conditionals.without_else")


def test_a_refusal_must_be_declared(careless) -> None:
    name = "conditionals.conditional_expression"
    assert careless().result(name).status == "different"
    for refusal in StagingError, (StagingError, "does not stage conditional expressions"):
        assert careless(refuses={name: refusal}).result(name).status == "refused"
    for refusal in TypeError, (StagingError, "does not stage `while`"):
        assert careless(refuses={name: refusal}).result(name).status == "different"


def test_a_refusal_that_is_no_longer_one_is_reported(careless) -> None:
    suite = careless(refuses={"logical.both": StagingError, "for_loops.over_a_tuple": StagingError})
    assert suite.result("logical.both").status == "refused"
    assert suite.result("for_loops.over_a_tuple").status == "no longer refused"
    with pytest.raises(AssertionError, match="no longer refused"):
        suite.check("for_loops.over_a_tuple")


def test_a_declared_refusal_does_not_hide_a_difference(careless) -> None:
    suite = careless(refuses={"conditionals.without_else": StagingError})
    assert suite.result("conditionals.without_else").status == "different"


def test_refusals_must_be_of_functions_that_are_tried() -> None:
    with pytest.raises(ValueError, match="refuses= names jumps.missing, which the suite does not run"):
        backend_suite(operator.call if hasattr(operator, "call") else reduce, refuses={"jumps.missing": StagingError})


def test_summary(careless) -> None:
    suite = careless(only=lambda entry: entry.construct in ("matches", "unbound"))
    heading, matches, unbound, total, *rest = summary(suite.results()).splitlines()
    assert heading.split() == ["construct", "equal", "refused", "different", "no", "longer", "refused"]
    assert [matches.split()[0], unbound.split()[0], total.split()[0]] == ["matches", "unbound", "all"]
    assert int(total.split()[3]) == int(matches.split()[3]) + int(unbound.split()[3]) > 0
    assert any(line.startswith("unbound.on_one_path: different (") for line in rest)
