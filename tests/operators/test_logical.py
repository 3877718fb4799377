"""`and_`, `or_`, `not_`: lazy, valued and asked once as in Python; staged operands go to their backend."""

import itertools
import weakref

import pytest

import autograph.operators as ag__
from tests.recording import Staged, recorded

VALUES = [True, False, 0, 1, "", "a", [], [1], None]


def trace(log, value):
    return lambda: log.append(value) or value


@pytest.mark.parametrize("operands", list(itertools.product(VALUES, repeat=2)) + [(1, "a", 0, 2), ("", 0, [], None)])
def test_same_value_and_same_laziness_as_python(operands):
    for operator, sign in ((ag__.and_, " and "), (ag__.or_, " or ")):
        seen, expected = [], []
        result = operator(*(trace(seen, value) for value in operands))
        calls = {f"f{i}": trace(expected, value) for i, value in enumerate(operands)}
        assert result is eval(sign.join(f"{name}()" for name in calls), calls)
        assert seen == expected


@pytest.mark.parametrize("registered", [False, True])
def test_truth_is_asked_once_and_never_of_the_last(registered):
    class Truth:
        asked = 0

        def __bool__(self):
            Truth.asked += 1
            return True

    with recorded():
        ag__.and_(Truth, Truth)
        assert Truth.asked == 1
        ag__.or_(Truth, Truth)
        assert Truth.asked == 2
        ag__.not_(Truth())
        assert Truth.asked == 3


def test_operands_are_let_go():
    class Truth:
        pass

    truths = [Truth()]
    alive = weakref.ref(truths[0])
    gone = ag__.and_(truths.pop, lambda: alive() is None)
    assert gone


def test_not():
    assert [ag__.not_(value) for value in VALUES] == [not value for value in VALUES]


def test_from_the_first_staged_operand_on():
    a, b = Staged("a"), Staged("b")
    with recorded() as backend:
        assert repr(ag__.and_(lambda: 1, lambda: a, lambda: b)) == "Staged(phi(a, b))"
        assert repr(ag__.or_(lambda: 0, lambda: a, lambda: b, lambda: 0)) == "Staged(phi(phi(a, b), 0))"
        assert repr(ag__.not_(a)) == "Staged(not a)"
    assert backend.log == [("and_", 2), ("or_", 3), ("not_", "a")]


def test_a_plain_operand_decides_before_a_staged_one():
    with recorded() as backend:
        assert ag__.and_(lambda: 0, lambda: Staged("a")) == 0
        assert ag__.or_(lambda: 1, lambda: Staged("a")) == 1
        assert repr(ag__.and_(lambda: 1, lambda: Staged("a"))) == "Staged(a)"  # `1 and a` is a
    assert backend.log == []
