"""Lets the asserts of the probes show differences, and functions be traced at once."""

import pytest

pytest.register_assert_rewrite("tests.ecosystem.probes")


@pytest.fixture
def traced_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let functions be traced at their first call, also in other processes: what a test asks for is in the trace."""
    monkeypatch.setenv("AUTOGRAPH_TIERS", "off")
