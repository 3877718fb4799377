"""What is compared by identity, matched, or entered by `with` is shown to the backend, though no text tells."""

import contextlib

import autograph as ag
import autograph.operators as ag__
from tests.recording import Recorder, Staged, recorded


class Showing(Recorder):
    def __init__(self):
        super().__init__()
        self.seen = []

    def concrete(self, value, parts, inside):
        self.seen.append(value)
        return None if isinstance(value, Staged) else NotImplemented

    def is_(self, first, second):
        self.seen += [first, second]
        return super().is_(first, second)

    def context(self, manager):
        self.seen.append(type(manager).__name__)
        return contextlib.nullcontext("another")


def showing():
    return recorded(tracing=True, backend=Showing())


def identities(x, y):
    return x is None, None is not x, (y if y is None else x) is x, x is y is None, x == y is not None


def matches(x, y):
    match x:
        case int() | None:
            return "plain"
        case [a, b]:
            return "pair"
    match x, y:
        case [None, _]:
            return "none"
    return "other"


def enters(x):
    with x as a, contextlib.nullcontext(1) as b:
        return a, b


def untouched(x):
    locals()
    return x is None


def test_identity():
    converted = ag.to_graph(identities)
    assert "concrete" not in ag.to_code(identities)
    assert converted(None, 1) == identities(None, 1) and converted(1, 1) == identities(1, 1)
    with showing() as backend:
        assert converted(Staged("x"), 5)[:2] == (True, False)
        assert [type(value) for value in backend.seen].count(Staged) == 5


def test_patterns():
    converted = ag.to_graph(matches)
    for x in (1, None, [1, 2], "a"):
        assert converted(x, 0) == matches(x, 0)
    with showing():
        assert converted(Staged("x"), 0) == "plain"


def test_managers():
    converted = ag.to_graph(enters)
    assert converted(contextlib.nullcontext(0)) == (0, 1)
    with showing() as backend:
        assert converted(contextlib.nullcontext(0)) == ("another", "another")
    assert backend.seen == ["nullcontext", "nullcontext"]


def test_functions_that_stay_are_left_alone():
    with showing() as backend:
        assert ag.to_graph(untouched)(Staged("x")) is False or backend.seen


def test_variables_that_become_none():
    def best(xs):
        found = None
        for x in xs:
            if found is None or x > found:
                found = x
        return found

    assert "ag__.is_(found, None)" in ag.to_code(best)
    assert ag.to_graph(best)([1, 3, 2]) == 3
    with recorded() as backend:
        backend.is_ = lambda left, right: Staged(f"{left.text} is {right}")
        assert ag__.is_(Staged("x"), None).text == "x is None"
        assert ag__.is_not(Staged("x"), None).text == "not x is None"
        assert ag__.is_(None, None) is True and ag__.is_not(1, None) is True
