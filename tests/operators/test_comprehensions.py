"""Comprehensions are built as Python builds them; staged iterables and conditions go to the backend."""

import contextlib
import inspect
import re

import pytest

import autograph.operators as ag__
from tests.recording import Staged, recorded

ITERABLES = [[], [3, 1, 2], "abcab", {"k": 1}, range(4)]


def odd(x):
    return (ord(x) if isinstance(x, str) else x) % 2


@pytest.mark.parametrize("registered", [False, True])
@pytest.mark.parametrize("iterable", ITERABLES)
def test_same_as_python(iterable, registered):
    double = lambda x: x * 2
    with recorded(tracing=registered):
        assert ag__.list_comp(iterable, double) == [x * 2 for x in iterable]
        assert ag__.list_comp(iterable, double, odd) == [x * 2 for x in iterable if odd(x)]
        assert ag__.set_comp(iterable, double, odd) == {x * 2 for x in iterable if odd(x)}
        assert ag__.dict_comp(iterable, double, odd, odd) == {x * 2: odd(x) for x in iterable if odd(x)}
        assert ag__.dict_comp(iterable, double, odd) == {x * 2: odd(x) for x in iterable}
        assert list(ag__.gen_exp(iterable, double)) == list(x * 2 for x in iterable)
        assert list(ag__.gen_exp(iterable, double, odd)) == list(x * 2 for x in iterable if odd(x))


def test_keys_come_before_values():
    log = []
    ag__.dict_comp([1], lambda x: log.append("key"), lambda x: log.append("value"))
    assert log == ["key", "value"]


@pytest.mark.parametrize("registered", [False, True])
@pytest.mark.parametrize("condition", [None, lambda x: True])
class TestGenerators:
    def test_it_is_a_generator(self, condition, registered):
        with recorded():
            generator = ag__.gen_exp([1, 2], str, condition)
        assert inspect.isgenerator(generator)
        assert generator.__name__ == "<genexpr>"
        assert next(generator) == "1"
        generator.close()
        assert list(generator) == []

    def test_iter_is_called_at_once_and_elements_are_late(self, condition, registered):
        with recorded(tracing=registered):
            with pytest.raises(TypeError, match="'int' object is not iterable"):
                ag__.gen_exp(5, str, condition)
            factor = 1
            generator = ag__.gen_exp(iter([1, 2]), lambda x: x * factor, condition)
            factor = 10
            assert list(generator) == [10, 20]

    def test_stop_iteration_from_an_element(self, condition, registered):
        def stop(x):
            raise StopIteration

        with recorded(tracing=registered):
            with pytest.raises(RuntimeError, match="generator raised StopIteration"):
                list(ag__.gen_exp([1], stop, condition))
            with pytest.raises(StopIteration):
                ag__.list_comp([1], stop, condition)


@pytest.mark.parametrize("construct", ["list_comp", "set_comp", "dict_comp", "gen_exp"])
def test_staged_iterables_and_conditions_reach_the_backend(construct):
    operator = getattr(ag__, construct)
    parts = (lambda x: x, lambda x: x + 1) if construct == "dict_comp" else (lambda x: x + 1,)
    with recorded() as backend:
        assert list(operator(Staged("xs"), *parts))[-1] == "(item + 1)"
        xs = [1, 2, Staged("x"), 4]
        assert list(operator(xs, *parts, lambda x: x > 1))[-2:] == ["(x + 1)", "(x > 1)"] or construct == "gen_exp"
    before = {"list_comp": [[], [3]], "set_comp": [set(), {3}], "dict_comp": [{}, {2: 3}], "gen_exp": [None, None]}
    assert backend.log == [(construct, done) for done in before[construct]]


def test_a_generator_hands_over_where_its_condition_turns_staged():
    with recorded() as backend:
        generator = ag__.gen_exp([1, 2, Staged("x"), 4], lambda x: x, lambda x: x > 1)
        assert next(generator) == 2
        assert backend.log == []
        assert list(generator) == ["x", "(x > 1)"]


def test_conditions_are_asked_for_their_truth_once():
    class Truth:
        asked = 0

        def __bool__(self):
            Truth.asked += 1
            return True

    with recorded():
        ag__.list_comp([1, 2], str, lambda x: Truth())
        list(ag__.gen_exp([1, 2], str, lambda x: Truth()))
    assert Truth.asked == 4


class Anew:
    """Comes apart differently each time."""

    def __init__(self):
        self.count = 0

    def __iter__(self):
        self.count += 2
        return iter((self.count - 1, self.count))


class TestTakingApart:
    @pytest.mark.parametrize("registered", [None, False, True])
    def test_same_as_python(self, registered):
        pairs = [(1, 2), [3, 4], "56", iter((7, 8))]
        again = [(1, 2), [3, 4], "56", iter((7, 8))]
        with contextlib.nullcontext() if registered is None else recorded(tracing=registered):
            assert ag__.dict_comp(pairs, lambda a, b: a, lambda a, b: b, lambda a, b: a) == {a: b for a, b in again}
            assert ag__.dict_comp([iter("ab")], lambda a, b: a, lambda a, b: b) == {"a": "b"}
            assert ag__.set_comp(zip("ab"), lambda a: a, target=(0,)) == {"a", "b"}
            nested = list(ag__.gen_exp([(1, (2, 3))], lambda a, b, c: a + b + c, lambda a, b, c: b, (0, (1, 2))))
            assert nested == [6]
            same = Anew()
            assert ag__.list_comp([same, same], lambda a, b: a + b, lambda a, b: True) == [3, 7]

    @pytest.mark.parametrize("item", [5, (1,), (1, 2, 3), "", None])
    def test_same_errors(self, item):
        with pytest.raises((TypeError, ValueError)) as expected:
            [a for a, b in [item]]
        for condition in (None, lambda a, b: True):
            with pytest.raises(expected.type, match=re.escape(str(expected.value)) + "$"):
                ag__.list_comp([item], lambda a, b: a, condition)

    def test_a_backend_gets_functions_of_one_item(self):
        with recorded() as backend:
            backend.list_comp = lambda iterable, element, condition, done, first: [
                element((1, 2)), condition and condition((3, 4)), element((5, 6)), done,
            ]  # fmt: skip
            assert ag__.list_comp(Staged("x"), lambda a, b: a + b) == [3, None, 11, []]
            resumed = ag__.list_comp([(0, 2), (7, 8)], lambda a, b: a + b, lambda a, b: a and Staged("x"))
            assert (resumed[0], resumed[1].text, *resumed[2:]) == (3, "x", 11, [])
