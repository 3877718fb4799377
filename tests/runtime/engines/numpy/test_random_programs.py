"""Whatever the graph, the engine's function does what a simple interpreter of graphs does, in the same order."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograph.runtime.engines.numpy.engine import compile
from autograph.runtime.graph_text.printer import to_text
from autograph.runtime.graph_text.verifier import check
from tests.runtime.engines.programs import LOG, interpret, programs
from tests.runtime.engines.texts import same_program

pytestmark = pytest.mark.once


def outcome(function, args):
    LOG.clear()
    args = copy.deepcopy(args)
    try:
        result = repr(function(*args))
    except (ArithmeticError, LookupError, TypeError, ValueError, UnboundLocalError) as error:
        result = repr(error)
    return result, list(LOG), repr(args)


@given(programs(), st.integers(-3, 4), st.integers(-1, 3), st.lists(st.integers(0, 3), max_size=4))
@settings(max_examples=400, deadline=None)
def test_the_function_does_what_the_graph_says(graph, first, second, numbers):
    check(graph)
    args = (first, second, numbers)
    expected = outcome(lambda *args: interpret(graph, *args), args)
    made = compile(graph)
    assert same_program(made)
    assert outcome(made.run, args) == expected, f"{to_text(graph)}\n{made.source}"
