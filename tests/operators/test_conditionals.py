"""`if_stmt` and `if_exp` are Python's, and hand staged conditions over with their state."""

import sys
import weakref

import pytest

import autograph.operators as ag__
from tests.recording import Staged, recorded


class Truth:
    def __init__(self, value):
        self.value, self.asked = value, 0

    def __bool__(self):
        self.asked += 1
        return self.value


@pytest.mark.parametrize("test", [True, False, 1, 0, "a", "", [0], None])
def test_one_branch_runs_and_its_result_comes_back(test):
    log = []
    result = ag__.if_stmt(test, lambda: log.append("body") or 1, lambda: log.append("else") or 2)
    assert (log, result) == ((["body"], 1) if test else (["else"], 2))
    assert ag__.if_exp(test, lambda: 1, lambda: 2) == result


def test_without_else():
    assert ag__.if_stmt(False, lambda: 1, None) is None


@pytest.mark.parametrize("operator", [ag__.if_stmt, ag__.if_exp])
@pytest.mark.parametrize("registered", [False, True])
def test_truth_is_asked_once(operator, registered):
    test = Truth(True)
    if registered:
        with recorded():
            operator(test, lambda: 1, lambda: 2)
    else:
        operator(test, lambda: 1, lambda: 2)
    assert test.asked == 1


def test_truth_may_raise():
    class Undecided:
        def __bool__(self):
            raise ZeroDivisionError("undecided")

    with pytest.raises(ZeroDivisionError, match="undecided"):
        ag__.if_stmt(Undecided(), lambda: 1, lambda: 2)


def test_variables_change_through_cells():
    x = 1

    def if_body():
        nonlocal x
        x += 1
        raise KeyError

    with pytest.raises(KeyError):
        ag__.if_stmt(True, if_body, None, ("x",))
    assert x == 2  # as far as the branch got


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the caller itself holds on to its arguments")
def test_the_condition_is_let_go_before_the_branch():
    conditions = [Truth(True)]
    alive = weakref.ref(conditions[0])
    gone = ag__.if_stmt(conditions.pop(), lambda: alive() is None, None)
    assert gone


def test_a_staged_if_reaches_the_backend_with_its_names():
    y, z, unrelated = 1, 2, 3

    def if_body():
        nonlocal y
        y = z

    def else_body():
        unrelated

    with recorded() as backend:
        ag__.if_stmt(Staged("c"), if_body, else_body, ("y",))
    assert backend.log == [("if_stmt", ("y",))]
    assert (repr(y), z) == ("Staged(phi(2, 1))", 2)


def test_what_both_branches_return_is_returned():
    with recorded() as backend:
        assert ag__.if_stmt(Staged("c"), lambda: 1, lambda: 1) == 1
        assert repr(ag__.if_stmt(Staged("c"), lambda: 1, lambda: 2)) == "Staged(phi(1, 2))"
        assert repr(ag__.if_exp(Staged("c"), lambda: 1, lambda: 2)) == "Staged(phi(1, 2))"
    assert backend.constructs == ["if_stmt", "if_stmt", "if_exp"]


def test_a_variable_bound_on_one_path_only():
    y: ag__.unbound

    def if_body():
        nonlocal y
        y = 1

    with recorded():
        ag__.if_stmt(Staged("c"), if_body, None, ("y",))
    assert repr(y) == "Staged(phi(1, UNBOUND))"


def test_staged_three_deep():
    a, b, c, x = Staged("a"), Staged("b"), Staged("c"), 0

    def if_body():
        def if_body():
            def if_body():
                nonlocal x
                x = 1

            ag__.if_stmt(c, if_body, None, ("x",))

        ag__.if_stmt(b, if_body, None, ("x",))

    with recorded() as backend:
        ag__.if_stmt(a, if_body, None, ("x",))
    assert backend.log == [("if_stmt", ("x",))] * 3
    assert repr(x) == "Staged(phi(phi(phi(1, 0), 0), 0))"


def test_from_a_called_function():
    def positive(x):
        def if_body():
            return 1

        def else_body():
            return 0

        return ag__.if_stmt(x > 0, if_body, else_body)

    def if_body():
        nonlocal y
        y = ag__.call(positive)(Staged("x"))

    y = 0
    with recorded() as backend:
        ag__.if_stmt(Staged("c"), if_body, None, ("y",))
    assert backend.log == [("if_stmt", ("y",)), ("if_stmt", ())]
    assert repr(y) == "Staged(phi(phi(1, 0), 0))"
