"""`while_stmt`: Python's loop, handed over at the test, or `until`, that turns staged."""

import weakref

import pytest

import autograph.operators as ag__
from tests.recording import Staged, recorded


def count_to(limit, until=None, step=1, options=None):
    """What the library makes of: while n < limit: n += step"""
    n = 0

    def loop_test():
        return n < limit

    def loop_body():
        nonlocal n
        n += step

    stop = until and (lambda: until(n))
    ag__.while_stmt(loop_test, loop_body, ("n",), stop, options)
    return n


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_runs_while_the_test_is_true(limit):
    assert count_to(limit) == limit


def test_until_is_asked_after_each_iteration():
    asked = []
    assert count_to(5, until=lambda n: asked.append(n) or n == 3) == 3
    assert asked == [1, 2, 3]


def test_any_truth_value_will_do():
    rest = [1, 2, 3]
    ag__.while_stmt(lambda: rest, lambda: rest.pop())
    assert rest == []
    rest = [1, 2, 3]
    ag__.while_stmt(lambda: True, lambda: rest.pop(), (), lambda: "" if rest else "stop")
    assert rest == []


@pytest.mark.parametrize("registered", [False, True])
def test_truth_is_asked_once_an_iteration(registered):
    class Countdown:
        left = 4

        def __bool__(self):
            Countdown.left -= 1
            return Countdown.left > 0

    iterations = []
    with recorded():
        ag__.while_stmt(Countdown, lambda: iterations.append(Countdown.left))
    assert iterations == [3, 2, 1]


def test_the_value_of_the_test_is_let_go_before_the_iteration():
    class Thing:
        pass

    things = [Thing()]
    alive = weakref.ref(things[0])
    ag__.while_stmt(alive, things.clear)
    assert alive() is None


def test_exceptions_leave_the_state_as_far_as_it_got():
    n = 0

    def loop_body():
        nonlocal n
        n += 1
        if n == 3:
            raise KeyError(n)

    with pytest.raises(KeyError, match="3"):
        ag__.while_stmt(lambda: True, loop_body, ("n",))
    assert n == 3


def test_a_staged_test_reaches_the_backend():
    with recorded() as backend:
        result = count_to(Staged("limit"))
    assert backend.log == [("while_stmt", ("n",))]
    assert repr(result) == "Staged(phi(0, 1))"


def test_options_are_passed_on():
    with recorded() as backend:
        count_to(Staged("limit"), options={"max_iterations": 5})
    assert backend.log == [("while_stmt", ("n",), {"max_iterations": 5})]


def test_a_test_that_turns_staged_later():
    tests = iter([True, True, Staged("go")])
    n = 0

    def loop_body():
        nonlocal n
        n += 1

    with recorded() as backend:
        ag__.while_stmt(lambda: next(tests, Staged("go")), loop_body, ("n",))
    assert backend.log == [("while_stmt", ("n",))]
    assert repr(n) == "Staged(phi(2, 3))"  # two iterations were plain


def test_an_until_that_turns_staged():
    with recorded() as backend:
        result = count_to(9, until=lambda n: Staged("stop") if n == 2 else False)
    assert backend.log == [("not_", "stop"), ("and_", 2), ("while_stmt", ("n",))]
    assert repr(result) == "Staged(phi(2, 3))"


def test_a_staged_until_before_a_plain_end():
    class Deciding(Staged):
        """Says `not stop and test()` to be the plain `test()`."""

    with recorded() as backend:
        backend.and_ = lambda first, rest, test: rest[0]()
        assert count_to(2, until=lambda n: Deciding("stop")) == 2
    assert backend.constructs == ["not_", "not_"]


def test_a_tracing_backend_is_asked_about_plain_loops_once():
    with recorded(tracing=True, plain_loops=True) as backend:
        assert count_to(3) == 3
    assert backend.log == [("plain while_stmt", ("n",))]


def test_a_tracing_backend_may_take_a_plain_loop():
    with recorded(tracing=True) as backend:
        backend.while_stmt = lambda first, test, body, state, until, options: state.set([first])
        assert count_to(3) is True
