"""`for_stmt` takes from the iterator what a `for` statement takes, and nothing more."""

import gc

import pytest

import autograph.operators as ag__
from tests.recording import Staged, recorded


def collect(iterable, until=None):
    seen = []
    ag__.for_stmt(iterable, seen.append, (), until)
    return seen


@pytest.mark.parametrize("until", [None, lambda: False])
@pytest.mark.parametrize("iterable", [[], [1], (1, 2), "abc", {"a": 1}, range(3)])
def test_visits_all(iterable, until):
    assert collect(iterable, until) == list(iterable)


def test_takes_nothing_beyond_a_break():
    numbers = iter(range(10))
    seen = []
    ag__.for_stmt(numbers, seen.append, (), lambda: len(seen) == 3)
    assert (seen, list(numbers)) == ([0, 1, 2], [3, 4, 5, 6, 7, 8, 9])


@pytest.mark.parametrize("until", [None, lambda: False])
@pytest.mark.parametrize("registered", [False, True])
def test_iter_is_called_once_and_iterators_need_no_iter(until, registered):
    class Numbers:
        started = 0

        def __iter__(self):
            Numbers.started += 1
            return Bare()

    class Bare:
        n = 0

        def __next__(self):
            self.n += 1
            if self.n == 3:
                raise StopIteration
            return self.n

    with recorded():
        assert collect(Numbers(), until) == [1, 2]
    assert Numbers.started == 1


def test_the_old_protocol_of_iteration():
    class Sequence:
        def __getitem__(self, index):
            return [10, 20][index]

    assert collect(Sequence()) == [10, 20]


@pytest.mark.parametrize("until", [None, lambda: False])
def test_stop_iteration_from_the_body_is_an_error(until):
    def body(x):
        raise StopIteration("mine")

    with pytest.raises(StopIteration, match="mine"):
        ag__.for_stmt([1], body, (), until)


@pytest.mark.parametrize("until", [None, lambda: False])
def test_not_iterable(until):
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        collect(5, until)


def test_mutation_on_the_way():
    table = {1: 1}
    with pytest.raises(RuntimeError, match="dictionary changed size during iteration"):
        ag__.for_stmt(table, lambda key: table.update({key + 1: 0}))
    numbers = [1, 2, 3]
    seen = []
    ag__.for_stmt(numbers, lambda x: (seen.append(x), numbers.remove(x)))
    assert seen == [1, 3]


@pytest.mark.parametrize("ends", ["break", "error", "exhausted"])
def test_a_generator_is_closed_when_the_loop_is_over(ends):
    log = []

    def numbers():
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    def body(x):
        if ends == "error":
            raise KeyError

    gc.disable()
    try:
        ag__.for_stmt(numbers(), body, (), (lambda: True) if ends == "break" else None)
    except KeyError:
        log.append("caught")
    finally:
        gc.enable()
    assert log == (["closed", "caught"] if ends == "error" else ["closed"])


def test_throwing_into_a_loop_over_a_generator():
    def numbers():
        try:
            yield 1
        except KeyError:
            yield "not thrown into"

    def body(x):
        raise KeyError

    with pytest.raises(KeyError):
        ag__.for_stmt(numbers(), body)


def test_a_staged_iterable_reaches_the_backend():
    total = 0

    def loop_body(x):
        nonlocal total
        total = total + x

    with recorded() as backend:
        ag__.for_stmt(Staged("xs"), loop_body, ("total",), options={"unroll": 2})
    assert backend.log == [("for_stmt", ("total",), {"unroll": 2})]
    assert repr(total) == "Staged(phi(0, (0 + item)))"


def test_an_until_that_turns_staged_hands_over_the_rest():
    n, left = 0, []

    def loop_body(x):
        nonlocal n
        n += 1

    with recorded() as backend:
        taken = backend.for_stmt
        backend.for_stmt = lambda rest, *args: (left.extend(rest), taken(rest, *args))[1]
        ag__.for_stmt(range(5), loop_body, ("n",), lambda: Staged("stop") if n == 2 else False)
    assert backend.log == [("not_", "stop"), ("for_stmt", ("n",))]
    assert (left, repr(n)) == ([2, 3, 4], "Staged(phi(2, 3))")


def test_a_tracing_backend_is_asked_about_plain_loops():
    with recorded(tracing=True, plain_loops=True) as backend:
        assert collect(range(3)) == [0, 1, 2]
    assert backend.log == [("plain for_stmt", ())]


def test_staged_three_deep_in_plain_and_staged_loops():
    total = 0

    def loop_body(row):
        def loop_body(x):
            nonlocal total

            def if_body():
                nonlocal total
                total += 1

            ag__.if_stmt(x > 0, if_body, None, ("total",))

        ag__.for_stmt(row, loop_body, ("total",))

    with recorded() as backend:
        ag__.for_stmt([[1, Staged("x")], Staged("row")], loop_body, ("total",))
    assert backend.log == [("if_stmt", ("total",)), ("for_stmt", ("total",)), ("if_stmt", ("total",))]
