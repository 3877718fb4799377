import sys

import pytest

from autograph.runtime.compilation import Hooks
from tests.runtime.fake import FakeTracer, fake_engine


@pytest.fixture
def tracer(monkeypatch):
    """A fake tracer in the place of the real one, and an engine for what it makes."""
    fake = FakeTracer()
    monkeypatch.setattr(Hooks, "tracer", fake)
    monkeypatch.setattr(Hooks, "inliner", None)
    monkeypatch.setattr(Hooks, "active", [])
    monkeypatch.setitem(sys.modules, "autograph.runtime.engines.numpy", fake_engine())
    return fake
