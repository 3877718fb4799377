"""The suite on the backend of JAX: all arguments are staged by `jax.jit`, with numbers of 64 bits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

jax = pytest.importorskip("jax")

from autograph.errors import StagingError  # noqa: E402
from autograph.testing import Outcome, backend_suite, difference  # noqa: E402

REFUSES: dict[str, Any] = {
    "comprehensions.with_a_staged_condition": (StagingError, "does not stage the condition of a comprehension"),
    "stores.through_a_slice": (StagingError, "for an array that is read again later"),
    "containers.append_in_a_branch": (StagingError, "`kept` has other items on one path than on another"),
    "output.caught": (StagingError, "cannot stage that an exception is caught"),
    "matches.sequences": (StagingError, "asks on this line whether a staged value is true"),
}
# The plain function means something else on JAX's arrays than on NumPy's, and means that here, too.
OF_JAX = {"stores.augmented_name"}      # `ys = xs; ys += 1` makes a new array
# Numbers of a variable get one type in JAX: the integer 0 becomes 0.0 if a path of the loop adds a float.
ONE_TYPE = {"while_loops.integer_becomes_float"}


def run(function: Any, *arguments: Any) -> Any:
    with jax.enable_x64(True):
        result = jax.block_until_ready(jax.jit(function)(*arguments))
        jax.effects_barrier()
    return result


def differ(expected: Outcome, actual: Outcome) -> str:
    """The difference. JAX orders dicts by key, and quotes exceptions of the program in one of its own."""
    if isinstance(expected.value, dict):
        expected = replace(expected, value=dict(sorted(expected.value.items())))
    wanted = f"{type(expected.exception).__name__}: {expected.exception}".removesuffix(": ")
    if isinstance(actual.exception, jax.errors.JaxRuntimeError) and wanted in str(actual.exception):
        return difference(Outcome(printed=expected.printed), Outcome(printed=actual.printed))
    return difference(expected, actual)


SUITE = backend_suite(run, differ=differ, refuses=REFUSES, only=lambda entry: entry.name not in OF_JAX | ONE_TYPE)


@SUITE.parametrize
def test_jax(name: str) -> None:
    SUITE.check(name)
