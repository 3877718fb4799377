"""What runs inside of a `try` or `with` is known to do so, while it runs."""

import contextlib
import sys
from types import SimpleNamespace

import pytest

import autograph as ag
from autograph.common.code_marks import shelters
from autograph.operators.tracebacks import shelter_at
from tests.recording import recorded


def where():
    """The construct around the caller, and how many lines below it the caller is."""
    frame = sys._getframe(1)
    while frame is not None:
        shelter = shelter_at(frame.f_code, frame.f_lasti)
        if shelter is not None:
            return shelter.construct, frame.f_lineno - shelter.first
        frame = frame.f_back
    return None


probe = SimpleNamespace(where=where)  # by an attribute, lest it be taken for a function that looks at frames


def handled(n):
    seen = [probe.where()]
    try:
        seen.append(probe.where())
        if n > 0:
            for _ in range(1):
                seen.append(probe.where())
    except ValueError:
        pass
    else:
        seen.append(probe.where())
    try:
        raise KeyError
    except KeyError:
        seen.append(probe.where())
    return seen


def ends(n):
    seen = []
    try:
        seen.append(probe.where())
        with contextlib.nullcontext():
            seen.append(probe.where())
            try: seen.append(probe.where())
            except ValueError: pass
    finally:
        seen.append(probe.where())
    return seen


def generated(n):
    try:
        seen = probe.where()
    finally:
        if n:
            late = n
        seen = seen, late
    return seen


def inner(n):
    try:
        def g():
            if n > 0:
                return probe.where()
        found = g()
    except ValueError:
        return None
    return found, g()


def calls(n):
    return [inner(n), helper(n)]


def helper(n):
    with contextlib.suppress(ValueError):
        return inner(n)


CASES = [
    (handled, [None, ("except", 1), ("except", 4), None, None]),
    (ends, [("finally", 1), ("with", 1), ("except", 0), None]),
    (generated, (("finally", 1), 1)),
    (inner, (("except", 4), None)),
    (calls, [(("except", 4), None), (("except", 4), ("with", 1))]),
]


@pytest.mark.parametrize(("function", "expected"), CASES)
def test_shelters(function, expected):
    with recorded(tracing=True):
        assert ag.to_graph(function)(1) == expected


def test_plain_code_has_none():
    assert shelters(handled.__code__) == () and shelters(ag.to_graph(where).__code__) == ()
    assert len(shelters(ag.to_graph(ends).__code__)) == 3
