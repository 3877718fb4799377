"""`assert_stmt` and `raise_`."""

import subprocess
import sys

import pytest

import autograph.operators as ag__
from tests.recording import Staged, recorded


@pytest.mark.parametrize("test", [True, 1, "a"])
def test_an_assertion_that_holds(test):
    ag__.assert_stmt(lambda: test, lambda: pytest.fail("the message is wanted only on failure"))


@pytest.mark.parametrize("message", ["text", None, ("a", "tuple"), KeyError("x")])
def test_an_assertion_that_fails(message):
    with pytest.raises(AssertionError) as caught:
        ag__.assert_stmt(lambda: 0, lambda: message)
    assert caught.value.args == (message,)


def test_no_message():
    with pytest.raises(AssertionError) as caught:
        ag__.assert_stmt(lambda: None)
    assert caught.value.args == ()


def test_nothing_is_checked_when_optimized():
    program = "import autograph.operators as ag__\nag__.assert_stmt(lambda: print('computed'))"
    done = subprocess.run([sys.executable, "-O", "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0)


def test_staged_assertions_reach_the_backend():
    with recorded() as backend:
        ag__.assert_stmt(lambda: Staged("x") > 0, lambda: "must be positive")
        ag__.assert_stmt(lambda: Staged("y"))
    assert backend.log == [("assert_stmt", "(x > 0)", "must be positive"), ("assert_stmt", "y", None)]


def test_exceptions_pass_by_a_tracing_backend():
    error = KeyError("x")
    assert ag__.raise_(error) is error
    assert ag__.raise_(KeyError) is KeyError
    with recorded(tracing=True) as backend:
        assert ag__.raise_(error) is error
        backend.raise_ = lambda exception: ValueError(exception)
        assert type(ag__.raise_(error)) is ValueError
    assert backend.log == [("raise_", KeyError)]
