"""The errors that users catch: all in `ag.errors`, each defined once, and there before NumPy is."""

import inspect
import subprocess
import sys

import pytest

import autograph as ag
from autograph import errors
from autograph.runtime.dispatch import options


def test_each_says_when_it_is_raised():
    for name, kind in inspect.getmembers(errors, inspect.isclass):
        assert kind.__module__ == "autograph.errors", name
        assert (kind.__doc__ or "").strip().endswith("."), name
        assert issubclass(kind, (errors.AutographError, Warning))


def test_they_are_there_without_numpy():
    program = "import sys; from autograph.errors import StagingError, RetraceWarning; print('numpy' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "False\n"


def test_their_text_begins_with_the_place():
    assert str(errors.AutographError("no", "f.py", 3)) == "f.py:3: no"
    assert str(errors.AutographError("no", "f.py")) == "f.py: no"
    assert str(errors.AutographError("no")) == "no"


def test_one_catches_what_tracing_and_the_operators_raise(monkeypatch):
    @ag.function
    def f(x):
        return memoryview(b"abc")[x]

    with pytest.raises(ag.errors.AutographError):
        f.with_options(strict="specialize")(1)
    monkeypatch.setattr(options, "can_compile", lambda: False)
    with pytest.raises(ag.errors.EngineError):
        f.with_options(engine="native")
