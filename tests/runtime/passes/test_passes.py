"""That passes change nothing that can be seen: random programs, before and after."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograph.runtime.graph_text.printer import to_text
from autograph.runtime.graph_text.verifier import check
from autograph.runtime.passes import PASSES, buffer_reuse
from tests.runtime.passes import interpreter
from tests.runtime.passes.programs import Log, Program, inputs, outcome

pytestmark = pytest.mark.once


def assert_same(seed: int, names: list[str], rounds: int = 1) -> None:
    """Assert that a program does the same after some passes."""
    log = Log()
    graph = check(Program(Random(seed), log).graph)
    before = to_text(graph)
    expected = [outcome(lambda *args: interpreter.run(graph, *args), log, inputs(Random(case))) for case in range(4)]
    text = before
    for name in names * rounds:
        done = PASSES[name](graph)
        check(graph)
        assert done.changed == (to_text(graph) != text), name
        text = to_text(graph)
    for case in range(4):
        found = outcome(lambda *args: interpreter.run(graph, *args), log, inputs(Random(case)))
        assert found == expected[case], f"case {case}\n{before}\n{text}"


@pytest.fixture(scope="module", autouse=True)
def _reuse_of_small_arrays():
    """Let the reuse of memory be worthwhile for all arrays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffer_reuse, "WORTHWHILE", 0)
        yield


@pytest.mark.parametrize("name", PASSES)
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_each_pass(name, seed):
    assert_same(seed, [name])


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_all_passes(seed):
    assert_same(seed, list(PASSES), rounds=2)


def test_what_does_not_fit_is_told_in_the_same_words():
    """With an array that the result goes to, NumPy names its shape, too: this program adds (3,) and (2,)."""
    assert_same(826788, ["buffer_reuse"])
    assert_same(826788, list(PASSES), rounds=2)
