"""Chained comparisons and membership."""

import pytest

import autograph.operators as ag__
from tests.recording import Staged, recorded


@pytest.mark.parametrize("a", [0, 1, 2])
@pytest.mark.parametrize("b", [0, 1, 2])
@pytest.mark.parametrize("c", [0, 1, 2])
def test_chains_agree_with_python(a, b, c):
    none = None
    assert ag__.compare(a, "<", lambda: b, "<=", lambda: c) == (a < b <= c)
    assert ag__.compare(a, "==", lambda: b, "!=", lambda: c, ">", lambda: 0) == (a == b != c > 0)
    assert ag__.compare(a, ">=", lambda: b) == (a >= b)
    assert ag__.compare(a, "in", lambda: [b], "is not", lambda: none) == (a in [b] != none)
    assert ag__.compare(a, "not in", lambda: [b], "is", lambda: none) == (a not in [b] == none)


def test_each_operand_once_and_none_too_many():
    log = []

    def operand(value):
        return lambda: log.append(value) or value

    assert not ag__.compare(1, "<", operand(2), "<", operand(0), "<", operand(5))
    assert log == [2, 0]


def test_results_need_not_be_booleans():
    class Odd:
        def __lt__(self, other):
            return f"<{other}" if other else ""

    assert ag__.compare(Odd(), "<", lambda: 0, "<", lambda: 1 / 0) == ""
    assert ag__.compare(Odd(), "<", lambda: 1, "<", lambda: 2) is True  # 1 < 2
    assert ag__.compare(Odd(), "<", lambda: 1) == "<1"


def test_a_staged_comparison_becomes_a_staged_and():
    x = Staged("x")
    with recorded() as backend:
        assert repr(ag__.compare(0, "<=", lambda: x, "<", lambda: 9)) == "Staged(phi((x >= 0), (x < 9)))"
        assert repr(ag__.compare(0, "<", lambda: 1, "<", lambda: x)) == "Staged((x > 1))"
        assert ag__.compare(1, "<", lambda: 0, "<", lambda: x) is False
    assert backend.log == [("and_", 2)]


def test_membership():
    assert ag__.in_(1, [1]) is True
    assert ag__.not_in(1, [1]) is False
    with pytest.raises(TypeError, match="argument of type 'int' is not"):
        ag__.in_(1, 1)


def test_staged_membership():
    x = Staged("x")
    with recorded() as backend:
        assert repr(ag__.in_(x, [1, 2])) == "Staged((x in [1, 2]))"
        assert repr(ag__.not_in(1, x)) == "Staged(not (1 in x))"
        assert repr(ag__.compare(x, "not in", lambda: [1])) == "Staged(not (x in [1]))"
        assert ag__.in_(1, [1]) is True
    assert backend.constructs == ["in_", "in_", "not_", "in_", "not_"]
