"""Tests of a backend: small plain functions, and a suite that compares their outcomes, plain and under the backend.

    suite = backend_suite(lambda function, *arguments: jax.jit(function)(*arguments))

    @suite.parametrize
    def test_backend(name):
        suite.check(name)

`corpus/` has the functions, `suite.py` runs them, `outcomes.py` compares.
"""

from autograph.testing.corpus import Entry
from autograph.testing.outcomes import Outcome, difference
from autograph.testing.suite import BackendSuite, Call, Result, backend_suite, summary

__all__ = ["BackendSuite", "Call", "Entry", "Outcome", "Result", "backend_suite", "difference", "summary"]
