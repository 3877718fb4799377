"""Floats and tuples as keys of dicts and sets: hashes, equality with other classes, order, objects that are kept."""

import random
from collections import Counter, OrderedDict, defaultdict  # noqa: F401

import numpy as np  # noqa: F401
import pytest

import autograph as ag
from autograph.runtime.engines.native.llvm.table_keys import float_hash, tuple_hash
from tests.outcomes import run
from tests.runtime.engines.native.loops.test_dicts_and_sets import (  # noqa: F401
    Dict,
    Key,
    Text,
    compare_drawn,
    compared,
)


class Pair(tuple):
    """A tuple of a class of the user's."""


def counts(xs, f, d):
    for x in xs:
        k = x * f
        if k in d:
            d[k] += 1
        else:
            d[k] = 1
    return list(d.items())


def gets(xs, f, d):
    for x in xs:
        d[x] = d.get(x, 0) + 1
        d[x * f] = d.get(x * f, 0) + 1
    return list(d.items())


def seen(xs, f, s):
    hits = 0
    for x in xs:
        k = x * f
        hits += k in s
        s.add(k)
        if hits % 3 == 1:
            s.discard(k + f)
    return hits, sorted(map(repr, s)) if "nan" in str(s) else list(s)   # a NaN's hash is its address


def by_pair(xs, ys, d):
    total = 0
    for x in xs:
        for y in ys:
            if (x, y) in d:
                total += d[x, y]
                d[x, y] = total
            else:
                d[x, y] = 1
    return total, list(d.items())


def by_three(n, d):
    for i in range(n):
        d[i % 3 - 1, i % 2 * 0.5, "ab"[i % 2]] = d.get((i % 3 - 1, i % 2 * 0.5, "ab"[i % 2]), i) + 1
    return list(d.items())


def missing(n, d):
    for i in range(n):
        d[i, i + 1] = d[i, i % 5] + d[i % 2, 1]
    return d


def pairs_seen(n, s):
    hits = 0
    for i in range(n):
        hits += (i % 7, -i % 5) in s
        s.add((i % 7, -i % 5))
        s.discard((i % 3, 2))
        if (i, 0) in s:
            s.remove((i, 0))
    return hits, list(s)


FLOATS = [
    "[0.5, 1.0, 0.5, -1.0, 2.5, 1.0, -0.5]", "[0.0, -0.0, 0.0, -0.0, 1.0]", "[-0.0, 0.0, 3.5]",
    "[1.5, 2, 3, 1.5, True]",
    "[float('inf'), 1.0, float('-inf'), float('inf')]", "[float('nan'), float('nan'), 1.0, 1.0]",
    "[1e300, 1e-300, 5e-324, 2.0**61, 2.0**61 - 1, -(2.0**61), 2.0**122, 1e300, 5e-324, 0.1, -0.1]",
    "[i / 10 for i in range(200)] * 2", "[i * 0.5 - 9 for i in range(40)] * 2", "[np.float64(0.5), 0.5, 0.25]",
    "[0.5, 'a', 0.5]", "[]", "[[1.5], 2.5]", "[Key(0.5), 0.5]",
]  # fmt: skip
DICTS = [
    "{}", "{0.5: 1, 1.0: 2}", "{1: 5, 0: 6, 2: 7}", "{True: 1, False: 2}", "{Key(0.5): 1, Key(1.0): 2}", "{'a': 1}",
    "{0.5: 1.5, 'a': [], 1: 2**70}", "defaultdict(int)", "Counter([0.5])", "OrderedDict([(0.5, 1)])", "Dict({0.5: 1})",
    "{np.float64(0.5): 1, np.float32(1): 2}", "{0j: 1, 1 + 0j: 2}", "defaultdict(lambda: 7)",
]  # fmt: skip


@pytest.mark.parametrize("d", DICTS)
@pytest.mark.parametrize("function", [counts, gets])
def test_floats_in_dicts_of_all_kinds(function, d):
    compared(function, *(f"{xs}, {f}, {d}" for xs in FLOATS for f in (1.0, -0.5)))


@pytest.mark.parametrize("start", ["set()", "{0.5, 1.0}", "{1, 0, True}", "{Key(0.5), 'a'}", "{0.0, -1}", "{-0.0}"])
def test_floats_in_sets(start):
    compared(seen, *(f"{xs}, {f}, {start}" for xs in FLOATS for f in (1.0, -0.5)))


PAIRS = [
    "{}", "{(1, 2): 3, (0, 0): 9}", "{(1.0, 2): 3, (True, False): 4}", "{Pair((1, 2)): 3}", "{(1, Key(2)): 3, 1: 2}",
    "{(1, 2, 3): 1, (1,): 2, (): 3}", "defaultdict(int)", "defaultdict(lambda: 7)", "Counter()", "{'a': 1}",
    "{('a', 1): 2, (1, 'a'): 3, (Text('b'), 2): 4}", "{(-1, -2): 1, (-2, -1): 2}", "Dict({(1, 2): 3})",
    "{(2**40, 1): 2, (1, None): 4}", "OrderedDict()", "{(i, i % 3): i for i in range(200)}",
]  # fmt: skip


@pytest.mark.parametrize("d", PAIRS)
def test_pairs_in_dicts_of_all_kinds(d):
    items = ["[1, 2, 0, -1, -2]", "[2, 1.0, True, 0]", "['a', 'b', ''.join(['x', 'y']), 'é']", "[0.5, -0.0, 0.0, 2.0]"]
    items += ["[2**40, 1, -(2**30)]", "[None, 1]", "[float('nan'), 1.0]", "[[1], 2]", "[Key(1), 1]", "[]"]
    for ys in (None, "[1, 2, 0]"):
        compared(by_pair, *(f"{xs}, {ys or xs}, {d}" for xs in items))
    compared(by_three, *(f"{n}, {d}" for n in (0, 1, 30)))
    compared(missing, *(f"{n}, {{**{d}, (0, 0): 1, (0, 1): 2, (1, 1): 3, (1, 2): 9}}" for n in (1, 2, 30)))


@pytest.mark.parametrize(
    "start", ["set()", "{(1, -1), (0, 2)}", "{(True, 0.0), (0, 0)}", "{Pair((0, 0)), (1, Key(4))}"]
)
def test_pairs_in_sets(start):
    compared(pairs_seen, *(f"{n}, {start}" for n in (0, 1, 9, 100)))


def test_the_first_key_stays():
    def stores(xs, d):
        for x in xs:
            d[x * 0.5] = x
            d[x, x * 0.5] = x
        return d

    first, pair = 0.5, (1.0, 0.5)
    for engine in ("native", "numpy"):
        staged = ag.function(stores, engine=engine)
        for _ in range(3):
            found = list(staged([1.0, 2.0, 1.0], {first: 0, pair: 1, -0.0: 2}))
            assert found[0] is first
            assert found[1] is pair
            assert str(found[2:]) == "[-0.0, 1.0, (2.0, 1.0)]"


def test_hashes():
    draw = random.Random(7)
    numbers = [draw.gauss(0, 1) * 10.0 ** draw.randrange(-300, 300) for _ in range(2000)]
    numbers += [draw.randrange(-(2**70), 2**70) / 3 for _ in range(1000)]
    numbers += [float(2**k + j) for k in range(130) for j in (-1, 0, 1)]
    assert [float_hash(each) for each in numbers] == [hash(each) for each in numbers]
    tuples = [tuple(draw.choices(numbers, k=draw.randrange(5))) for _ in range(500)]
    assert [tuple_hash([*map(hash, each)]) for each in tuples] == [hash(each) for each in tuples]

    def found(xs, d):
        missed = 0
        for x in xs:
            y = x * 1.0
            missed += (y in d) + 2 * ((y, 1) in d)
        return missed

    staged = ag.function(found, engine="native")
    d = dict.fromkeys([*numbers, *((each, 1) for each in numbers)])
    for _ in range(2):
        assert staged(numbers, d) == 3 * len(numbers)
        assert staged([each * 1.5 for each in numbers], d) == found([each * 1.5 for each in numbers], d)


@pytest.mark.parametrize("nodes", [1, 2, 3, 5, 8, 13, 40, 200])
def test_code_that_is_left_after_some_nodes(nodes, fuel):
    calls = (counts, "[0.5, 1.0, 2.5, 0.5] * 3, 1.0, {1: 5}"), (seen, "[0.5, 1.0, 0.5] * 4, 2.0, {1}")
    for function, arguments in (*calls, (by_pair, "[1, 2, 3], [1, 0.5, 2], {(1, 2): 5}"), (pairs_seen, "30, set()")):
        staged = ag.function(function, engine="native")
        for _ in range(2):
            fuel.value = nodes
            assert run(staged, arguments) == run(function, arguments)


ATOMS = """x x*0.5 i*0.25 i%5 i-3 'a' -0.0 (x,i) (i%3,i%2) (x,0.5) (i%2,'b') (1,2) (i*0.5,x) -1.0 (i,True)""".split()
POOLS = [[0.5, 1.0, -2.5], [1, 2, 0], [0.0, -0.0, 0, 1], [(0.5, 1), (1, 0), 2], [1.5, "a"]]


@pytest.mark.parametrize("seed", range(25))
def test_random_programs(seed, fuel):
    compare_drawn(seed, fuel, ATOMS, POOLS)


def looked_up(keys, d):
    total = found = 0
    for key in keys:
        if key in d:
            found += 1
            total += d[key]
        d[key] = d.get(key, 0) + 1
        if key % 7 == 3:
            del d[key]
    return total, found, list(d.items())[-5:]


def looked_up_by_pairs(keys, d):
    total = 0
    for key in keys:
        total += d.get((key, key + 1), 0)
        d[key, -key] = key
        if (key, key) in d:
            total += 1
    return total, list(d.items())[-5:]


@pytest.mark.parametrize("size", [0, 3, 5, 80, 85, 86, 300, 40_000])
@pytest.mark.parametrize("function", [looked_up, looked_up_by_pairs])
def test_integers_in_tables_of_all_sizes(function, size):
    others = [0, -1, -2, -3, 5, 1, 2**30 - 1, 2**30, 2**31, -(2**30), 2**40, 128, 256, -128, 65_536]
    numbers = [*others, *range(-20, size, max(1, size // 200)), *others, *(each + 128 for each in others)]
    tables = [
        dict.fromkeys(range(size), 2), {each * 2.0: 1 for each in range(size)}, {True: 3, 0.0: 4, 5.0: 1},
        {(each, each): 1 for each in range(-2, size)}, {(1.0, 2): 1, (True, 1): 2, (0, 1, 2): 4, "a": 2},
    ]  # fmt: skip
    staged = ag.function(function, engine="native")
    for table in tables:
        given, other = dict(table), dict(table)
        assert repr(staged(numbers, given)) == repr(function(numbers, other))
        assert list(map(repr, given.items())) == list(map(repr, other.items()))
