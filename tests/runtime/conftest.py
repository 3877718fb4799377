import sys

import pytest

from autograph.runtime.dispatch.compilation import Hooks
from tests.runtime.fake import FakeTracer, fake_engine


@pytest.fixture
def tracer(monkeypatch):
    """A fake tracer in the place of the real one, and an engine for what it makes."""
    fake = FakeTracer()
    monkeypatch.setattr(Hooks, "tracer", fake)
    monkeypatch.setattr(Hooks, "inliner", None)
    monkeypatch.setattr(Hooks, "active", [])
    monkeypatch.setitem(sys.modules, "autograph.runtime.engines.numpy.engine", fake_engine())
    return fake
