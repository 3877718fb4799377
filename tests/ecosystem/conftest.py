"""Lets the asserts of the probes show differences."""

import pytest

pytest.register_assert_rewrite("tests.ecosystem.probes")
