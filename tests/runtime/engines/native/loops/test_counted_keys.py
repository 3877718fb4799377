"""`try: d[k] += n` with `except KeyError: d[k] = n`: staged for dicts of the graph, and as it is for anything else."""

import types
from collections import Counter, OrderedDict, defaultdict  # noqa: F401

import numpy as np  # noqa: F401
import pytest

import autograph as ag
from tests.outcomes import run
from tests.runtime.engines.native.loops.test_dicts_and_sets import DICTS, KEYS, Dict, Key, Named, Text, compared  # noqa: F401
from tests.runtime.engines.native.loops.test_table_keys import FLOATS, PAIRS, Pair  # noqa: F401

TABLE = {1: 2}


class Odd:
    """A key, or a value, that raises KeyError where Python hashes, compares or adds."""

    def __init__(self, where, number=1):
        self.where = where
        self.number = number

    def _do(self, name, found):
        if name in self.where:
            raise KeyError(name, self.number)
        return found

    def __hash__(self):
        return self._do("hash", hash(self.number))

    def __eq__(self, other):
        return self._do("eq", other == self.number)

    def __add__(self, other):
        return self._do("add", self.number + other)

    def __repr__(self):
        return f"Odd({self.where!r}, {self.number!r})"


class Locked(dict):
    """A dict that takes no new keys."""

    def __setitem__(self, key, value):
        if key not in self:
            raise TypeError(f"no new {key!r}")
        super().__setitem__(key, value)


def count(xs, d):
    for x in xs:
        try:
            d[x] += 1
        except KeyError:
            d[x] = 1
    return list(d.items())


def count_new(xs, start):
    d = {}
    for x in xs:
        try:
            d[x] += 0.5
        except KeyError:
            d[x] = start
    return d


def totals(xs, ys):
    d, n = dict(), 0
    for x, y in zip(xs, ys):
        n += 1
        try:
            d[x, y] += -2
        except KeyError:
            d[x, y] = 300
        try:
            d["all"] += 1
        except KeyError:
            d["all"] = 0
    return d, n


def by_themselves(xs, d):
    for x in xs:
        try:
            d[x] += x
        except KeyError:
            d[x] = x
    return d


def around(xs, d):
    missed = []
    for x in xs:
        try:
            try:
                d[x] += 1
            except KeyError:
                d[x] = 1
            missed.append(len(d))
        except TypeError as error:
            missed.append(str(error))
            break
    return missed, d


def of_helper(x, d):
    try:
        d[x] += 1
    except KeyError:
        d[x] = 1
    return len(d)


def helped(xs, d):
    sizes = []
    for x in xs:
        sizes.append(of_helper(x, d))
    return sizes, d


def helped_in_try(xs, d):
    for x in xs:
        try:
            of_helper(x, d)
        except TypeError:
            return d
    return len(xs)


def in_handler(xs, d):
    for x in xs:
        try:
            float(x)
        except (ValueError, TypeError):
            try:
                d[x] += 1
            except KeyError:
                d[x] = 1
    return d


def in_global(xs):
    TABLE.clear()
    for x in xs:
        try:
            TABLE[x] += 1
        except KeyError:
            TABLE[x] = 1
    return dict(TABLE)


def others(xs, d):
    """Statements that are no such ones."""
    errors = []
    for x in xs:
        try:
            d[x] += 1
        except KeyError as error:
            errors.append(error.args)
            d[x] = 1
        try:
            d[x] += 1
        except LookupError:
            d[x] = 5
        try:
            d[x] -= 1
        except KeyError:
            d[x] = 7
        try:
            d[x] += 1
        except KeyError:
            d[0] = 1
        else:
            d[x] += 2
    return errors, d


def late(xs, d):
    for x in xs:
        if x == 2:
            k = x
        try:
            d[k] += 1
        except KeyError:
            d[k] = 1
    return d


def items(xs, counts):
    for x in xs:
        try:
            counts[x] += 1
        except KeyError:
            counts[x] = 1
    return counts


def most_frequent(xs, d):
    for x in xs:
        try:
            d[x] += 1
        except KeyError:
            d[x] = 1
    best, most = None, -1
    for key, value in d.items():
        if value > most:
            best, most = key, value
    return best, most


PROGRAMS = [by_themselves, around, helped, helped_in_try, in_handler, others, items, late, most_frequent]
ODD = ["[Odd('hash'), 1]", "[Odd('eq'), 1, Odd('')]", "[1, Odd('eq')]", "[Odd('', [])]", "[Odd(''), 1, True, Odd('')]"]


MORE = ["Locked({1: 2})", "types.MappingProxyType({1: 2})", "{1: Odd('add'), 2: Odd('')}"]


@pytest.mark.parametrize("d", [*DICTS, *MORE])
def test_keys_of_all_kinds_in_dicts_of_all_kinds(d):
    assert types
    compared(count, *(f"{keys}, {d}" for keys in [*KEYS, *ODD]))
    compared(around, *(f"{keys}, {d}" for keys in (KEYS[0], KEYS[11], *ODD)))


@pytest.mark.parametrize("start", ["0.5", "1", "2**70", "-0.0", "float('nan')", "True", "'a'", "[]", "None"])
def test_dicts_that_are_made_here(start):
    compared(count_new, *(f"{keys}, {start}" for keys in [*KEYS, *FLOATS]))


def test_pairs_and_constants():
    for xs in ("[1, 2, 1, 2, 1]", "['a', 'b', 'a', 'a']", "[0.5, 1, True, 1.0]", "[[1], 2]", "[]"):
        compared(totals, f"{xs}, {xs}", f"{xs}, range(9)", f"{xs}, 'abcab'")


def test_values_of_all_kinds():
    values = ["2**63 - 1", "-2**63", "2**70", "1.5", "float('inf')", "'a'", "[1]", "None", "True", "2j", "np.int8(127)"]
    values += ["np.arange(3)", "Odd('add')", "Odd('')", "(1, 2)", "2**62"]
    compared(count, *(f"[1, 1, 2, 1], {{1: {value}}}" for value in values))


@pytest.mark.parametrize("function", PROGRAMS)
def test_programs(function):
    compared(function, *(f"{keys}, {d}" for keys in [*KEYS[:4], *KEYS[9:12], "[2, 1, 2]"] for d in ("{}", "{1: 4}")))
    compared(function, "[1, 0, 1], [5, 6]", "['a', 1], 'abc'", "[[2], 1], {}", "[1, 2], np.zeros(3)", "[1], None")


def test_a_global_dict():
    compared(in_global, "[1, 2, 1]", "'abca'", "[]", "[[1]]")


def test_such_statements_are_staged():
    for function in (count, helped, most_frequent):
        staged = ag.function(function, engine="native")
        for _ in range(3):
            assert staged([1, 2, 1] * 9, {}) == function([1, 2, 1] * 9, {})
        assert [trace.plain for trace in staged.traces if trace.plain] == []
    assert ag.function(others)([1, 2], {}) == others([1, 2], {})


@pytest.mark.parametrize("nodes", [1, 2, 3, 5, 8, 13, 40, 200])
def test_code_that_is_left_after_some_nodes(nodes, fuel):
    calls = (count, "[1, 2, 3, 'a', 1.0, 2, 1, 400] * 3, {1: 5}"), (totals, "[1, 2, 1] * 4, 'abc' * 4")
    for function, arguments in calls:
        staged = ag.function(function, engine="native")
        for _ in range(2):
            fuel.value = nodes
            assert run(staged, arguments) == run(function, arguments)
