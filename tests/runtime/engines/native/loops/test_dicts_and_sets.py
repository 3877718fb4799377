"""Dicts and sets, whose tables machine code searches itself: keys and values of all kinds, changes, references."""

import contextlib
import gc
import random
import sys
from collections import Counter, OrderedDict, defaultdict  # noqa: F401

import numpy as np  # noqa: F401
import pytest

import autograph as ag
from tests.outcomes import execute, run
from tests.runtime.engines.native.programs import regions


class Key:
    """A key of the user's that equals a number."""

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return hash(self.number)

    def __eq__(self, other):
        return other == self.number

    def __repr__(self):
        return f"Key({self.number})"


class Text(str):
    """A text of a class of the user's."""


class Dict(dict):
    """A dict of a class of the user's."""

    def __setitem__(self, key, value):
        super().__setitem__(key, [value])


def counts(xs, d):
    for x in xs:
        if x in d:
            d[x] += 1
        else:
            d[x] = 1
    return d


def gets(xs, d):
    for x in xs:
        d[x] = d.get(x, 0) + 1
    return d


def of_numbers(n, d, m):
    total = 0
    for i in range(n):
        k = (i * m) % 23 - 4
        if k in d:
            total += d[k]
        d[k] = d.get(k, 3) * 2 - i
    return total, d


def products(xs, d, f):
    for x in xs:
        d[x] = d[x] * f
    return d


def set_defaults(xs, d):
    total = 0
    for x in xs:
        d.setdefault(x, 0)
        total += d.setdefault(x, 300)
        d[x] = total
    return total, list(d.items())


def missing(xs, d):
    for x in xs:
        d[x] += 1
    return d


def twice(xs, d, e):
    for x in xs:
        if x in d:
            e[x] = d[x] + 1
            d[x] = e[x] * 2
        else:
            d[x] = 1
    return d, e, d is e


def deleted(xs, d):
    for x in xs:
        if x in d:
            del d[x]
        else:
            d[x] = len(d)
    return list(d.items())


def seen(xs, s):
    hits = 0
    for x in xs:
        if x in s:
            hits += 1
            s.discard(x)
        s.add(x)
        s.discard(3)
    return hits, s


def while_iterated(d):
    for k in d:
        d[k] += 1
        if d[k] > 5:
            d[k + 100] = 0
    return d


KEYS = [
    "[1, 2, 3, 2, 1, 7, 1, 2]", "[True, 1, 1.0, False, 0, 0.0, -0.0, 2, 2.0, True]",
    "[0, -1, -2, -1, -2, 2**30, -2**30, 2**31, 2**61 - 1, -2**61 + 1, 2**61, 2**64 + 5, 5]",
    "['a', 'b', 'a', 'ab', 'a', 'é', '€', 'é', '']", "[Text('a'), 'a', Text('b'), 'b', 'a']",
    "[''.join(['x', 'y']), 'xy', ''.join(['x', 'y']), ''.join(['é', 'y']), 'éy']",
    "[np.int64(1), 1, np.float64(2), 2, np.bool_(True), np.int8(-1), -1, np.str_('a'), 'a']",
    "[(1, 2), (1, 2), (1.0, 2), ('a',), (), None, None, (None,), 1]", "[i * 4096 for i in range(60)] * 2",
    "[Key(1), 1, Key(2), Key('a'), 'a', 2, 1, Key(1)]",
    "[1, 'a', 2, 'b', 1, 'a', 2.5, float('nan'), 1]", "[1, 2, [3], 4]",
    "[*range(300), *range(0, 300, 3)]", "[str(i % 40) for i in range(90)]", "[]", "[frozenset([1]), 1, b'a', 2j, 2]",
]  # fmt: skip
DICTS = [
    "{}", "{1: 5, 2: 6, 3: 7}", "{'a': 300, 'b': 400}", "{1: 2**62, 2: -2**63, 5: 2**63 - 1}", "defaultdict(int)",
    "{True: 1, 0.0: 2, Key(2): 3, Text('a'): 4}", "{(1, 2): 5, None: 6, 1: 7}", "{1: 1.5, 'a': 2.5, -1: 7}",
    "{1: True, 2: np.int64(4), -2: 2j, 'a': 'x'}", "defaultdict(float, {1: 5})", "defaultdict(lambda: 7)",
    "defaultdict(None, {1: 2})", "Counter('aab')", "Counter([1, 1])", "OrderedDict([(2, 1), (1, 2)])", "Dict({1: 2})",
    "vars(Named())", "vars(Named(9))",
]  # fmt: skip


class Named:
    """An object, whose `__dict__` shares its table with others."""

    def __init__(self, *values):
        self.a = 1
        self.b = 2
        for value in values:
            self.c = value


ENGINES = "native", "numpy", None


def compared(function, *calls):
    """Compare outcomes of a plain and a staged function, in all engines."""
    for engine in ENGINES:
        staged = ag.function(function) if engine is None else ag.function(function, engine=engine)
        for arguments in calls:
            expected = run(function, arguments)
            for _ in range(2):
                found = run(staged, arguments)
                assert found == expected, (engine, arguments)
                assert found.raised_at == expected.raised_at


@pytest.mark.parametrize("d", DICTS)
@pytest.mark.parametrize("function", [counts, gets, missing, deleted, set_defaults])
def test_keys_of_all_kinds_in_dicts_of_all_kinds(function, d):
    compared(function, *(f"{keys}, {d}" for keys in KEYS))


@pytest.mark.parametrize("start", ["set()", "{1, 2, 3}", "{'a', Key(2), 0.0, Text('b')}", "set(range(100))", "{3}"])
def test_items_of_all_kinds_in_sets(start):
    compared(seen, *(f"{keys}, {start}" for keys in KEYS))


@pytest.mark.parametrize(
    "d", ["{}", "{i: i * 300 for i in range(-9, 9)}", "{1: 0.5, 2: 1e308, 3: -0.0}", "{0: 'a', 1: 2}"]
)
def test_numbers_in_registers(d):
    compared(of_numbers, *(f"{n}, {d}, {m}" for n in (0, 1, 5, 90) for m in (1, -7, 10**9, 2**62)))


@pytest.mark.parametrize(
    "d", ["{1: 2, 'a': 3}", "{1: 0.5, 'a': 300}", "{1: 2**40, 'a': float('inf')}", "{1: [], 'a': ''}"]
)
def test_values_change_their_class(d):
    compared(products, *(f"[1, 'a', 1, 1, 'a', 'b'], {d}, {f}" for f in (2, 0.5, 2**40, -1, True, 2j, "float('nan')")))


def test_two_dicts_may_be_one():
    for d in DICTS[:5]:
        compared(twice, *(f"{keys}, {rest}" for keys in KEYS[:3] for rest in (f"*[{d}] * 2", f"{d}, {{1: 4}}")))


def test_a_dict_that_changes_while_it_is_iterated():
    compared(while_iterated, "{}", "{1: 1, 2: 2}", "{1: 300, 2: 1.5}", "{1: 4, 2: 5, 3: 1}", "{1: 'a'}")


def test_large_tables():
    """The numbers in the index of a table have one, two or four bytes."""
    for count in (100, 200, 50_000):
        numbers = {i * 7: i for i in range(count)}
        texts = {f"key {i}": i for i in range(count)}
        for d in (numbers, texts):
            keys = [*random.Random(5).choices(list(d), k=300), -1, "absent", 6]
            staged = ag.function(gets, engine="native")
            for _ in range(3):
                assert list(staged(keys, dict(d)).items()) == list(gets(keys, dict(d)).items())
        mine = ag.function(seen, engine="native")
        for _ in range(3):
            assert mine(list(numbers)[::9] + [1, 2], set(numbers)) == seen(list(numbers)[::9] + [1, 2], set(numbers))


@pytest.mark.parametrize("nodes", [1, 2, 3, 5, 8, 13, 40, 200])
def test_code_that_is_left_after_some_nodes(nodes, fuel):
    for function, rest in ((counts, "{1: 5}"), (gets, "{2: 7.5}"), (missing, "defaultdict(int)"), (seen, "{3}")):
        staged = ag.function(function, engine="native")
        arguments = f"[1, 2, 3, 'a', 1.0, 2, 1, 400] * 3, {rest}"
        for _ in range(2):
            fuel.value = nodes
            assert run(staged, arguments) == run(function, arguments)


def held(xs, d, kept):
    for x in xs:
        kept.append(d[x])
        d[x] = d[x] + 1000
    return d


def test_a_number_that_others_know_is_not_overwritten():
    for values in ({1: 500, 2: 2.5}, {1: 10**6, 2: 7}):
        first, kept = dict(values), []
        staged = ag.function(held, engine="native")
        for _ in range(3):
            before, mine, theirs = list(first.values()), dict(first), []
            staged([1, 2, 1, 2, 2], mine, theirs)
            assert before == list(first.values()) == list(values.values())
            expected = dict(values)
            kept.clear()
            held([1, 2, 1, 2, 2], expected, kept)
            assert (mine, theirs) == (expected, kept)


def test_references():
    """None is lost, and none is left."""
    things = [object() for _ in range(5)]

    def looked_up(xs, d, default):
        last, found = None, 0
        for x in xs:
            last = d.get(x, default)
            if x in d and d[x] is last:
                found += 1
        return found, last

    def stored(xs, d):
        for x in xs:
            d[x] = x
            d[x] = 1.5
            d[x] = x
        return d

    keys = [f"k{i}" for i in range(4)] + [1000, 2000]
    table = dict(zip(keys, things))
    mine, mine_too = ag.function(looked_up, engine="native"), ag.function(stored, engine="native")
    for number in range(4):
        if number == 2:
            gc.collect()
            before = [sys.getrefcount(each) for each in (*things, *keys, table)]
        assert mine(keys * 20 + ["no", 3], table, None) == looked_up(keys * 20 + ["no", 3], table, None)
        assert mine_too(keys, {keys[0]: 5}) == {each: each for each in keys}
    gc.collect()
    assert [sys.getrefcount(each) for each in (*things, *keys, table)] == before


class Noisy:
    """A value whose end changes a dict."""

    def __init__(self, d):
        self.d = d

    def __del__(self):
        self.d.pop(1, None)
        self.d.update({i: i for i in range(50, 90)})


def test_an_old_value_that_runs_code_when_it_goes():
    def replaced(xs, d):
        total = 0
        for x in xs:
            d[x] = 5
            if 1 in d:
                total += d[1]
            d[1] = total
        return total, d

    found, staged = [], ag.function(replaced, engine="native")
    staged([1, 2, 1], {1: 2, 2: object()})      # the call that traces keeps its arguments
    for function in (replaced, *[staged] * 3):
        d = {1: 2}
        d |= {2: Noisy(d), 3: Noisy(d)}
        found.append((function([1, 2, 1, 3, 1], d)[0], list(d.items())))
    assert found == [found[0]] * 4


def test_random_numbers_stay_in_machine_code_beside_a_defaultdict():
    def rolls(n, d):
        for _ in range(n):
            d[random.randint(1, 6) + random.randint(1, 6)] += 1
        return d, random.random()

    for factory in (int, float, lambda: 0, lambda: random.randrange(5)):
        staged = ag.function(rolls, engine="native")
        for seed in range(4):
            random.seed(seed)
            found, state = staged(200, defaultdict(factory)), random.getstate()
            random.seed(seed)
            assert (rolls(200, defaultdict(factory)), random.getstate()) == (found, state)
            assert list(found[0].items()) == list(found[0].items())
        if factory is int:
            assert not any(each.count.value for region in regions(staged) for each in region.callbacks.values())


def test_names_of_modules_and_classes_are_not_missed():
    """Python caches what a dict of names gives, by the version of the dict."""
    names = execute("x = 300\ny = 1\ndef f():\n    return x, y\n", "<names>")

    def set_names(n, d):
        for i in range(n):
            d["x"] = i + 1000
            d["y"] = i
        return d["x"]

    staged = ag.function(set_names, engine="native")
    for count in (3, 300, 7, 1200, 9):
        assert [names["f"]() for _ in range(2000)][-1] == names["f"]()
        staged(count, names)
        assert names["f"]() == (count + 999, count - 1)


def test_sets_and_dicts_that_are_made_in_loops():
    def birthdays(n, days, first):
        hits, last = 0, None
        for _ in range(n):
            seen, counts = set(first), defaultdict(int)
            for _ in range(9):
                day = random.randrange(days)
                counts[day] += 1
                if day in seen:
                    hits += 1
                    break
                seen.add(day)
            last = seen, frozenset([hits, n]), dict(counts)
        return hits, last, random.random()

    for first in ([], [3], (1, 2.5, "a"), [Key(2), 5], [[1]]):
        staged = ag.function(birthdays, engine="native")
        for seed in range(3):
            results = []
            for function in (birthdays, staged):
                random.seed(seed)
                with contextlib.ExitStack() as stack:
                    if first == [[1]]:
                        stack.enter_context(pytest.raises(TypeError, match="unhashable type: 'list'"))
                    results.append((function(40, 20, first), random.getstate()))
            assert results[:1] == results[1:]


def in_parts(d, n):
    total = 0
    for i in range(n):
        if i % 7 - 1 in d:
            total += 1
        if d and (i / 2 in d or float(i) in d):
            total += 10
    return total


def of_parts(d, n):
    total = 0
    for i in range(n):
        if i % 7 in d:
            total += d[i % 7]
        total += d.get(i % 5, i)
    return total


@pytest.mark.parametrize(
    "d", ["[3, 5]", "(3, 5.0, 1.5)", "[float('nan'), 2]", "[True, 2**70]", "{3: 1, -1: 2}", "[]", "{}", "(1,)"]
)
def test_a_container_of_numbers_that_is_taken_apart(d):
    compared(in_parts, f"{d}, 0", f"{d}, 3", f"{d}, 40")


@pytest.mark.parametrize(
    "d", ["{3: 1, 0: 2}", "{1: 2.5, 2: True}", "{3: 2**70, 4: 1}", "{True: 1, 2.0: float('nan')}", "{}"]
)
def test_a_dict_of_numbers_that_is_taken_apart(d):
    compared(of_parts, f"{d}, 0", f"{d}, 3", f"{d}, 40")


def in_order(ops, s):
    for op in ops:
        if op in s:
            s.remove(op)
        elif op < 0:
            s.discard(-op)
        else:
            s.add(op)
    return list(s), len(s), sys.getsizeof(s)


def removed(ops, s):
    for op in ops:
        s.remove(op)
    return s


@pytest.mark.parametrize("most", [8, 300, 2**31])
def test_sets_keep_their_order(most):
    draw = random.Random(most)
    for count in (1, 40, 900):
        ops = [draw.randrange(-most, most) for _ in range(count)]
        compared(in_order, f"{ops}, set()", f"{ops}, {{3, 5, 1.0}}", f"{ops}, {set(ops)}")
    compared(removed, f"{ops}, {set(ops)}", "[1, 2], {1}", "['a', 'a'], {'a', 'b'}", "[1], {True}", "[1], {1.0, 2}")


def keyed(keys, d):
    for key in keys:
        d[key] = 0.5
        if len(d) % 7 == 0:
            del d[key]
    return list(d.items()), sys.getsizeof(d)


@pytest.mark.parametrize("most", [8, 300, 2**31])
def test_new_keys_of_dicts(most):
    draw = random.Random(most)
    for count in (1, 40, 900):
        keys = [draw.randrange(-most, most) for _ in range(count)]
        texts = [f"a{key % 400}" for key in keys]
        compared(keyed, f"{keys}, {{}}", f"{texts}, {{}}", f"{keys}, {{'a': 1}}", f"{texts}, {{5: 1}}")


def grouped(words, d):
    for place, word in enumerate(words):
        d.setdefault(word, []).append(place)
        d.setdefault(word)
    return list(d.items())


def of_computed(xs, d):
    ys = []
    for x in xs:
        ys.append(d.setdefault(x, x * 0.5))
        d.setdefault(x + 1, "new")
    return ys, [any(y is value for value in d.values()) for y in ys if y != y], list(d.items())


def test_defaults_that_are_set():
    starts = "{}", "{'a': [7]}", "{1: None}", "defaultdict(int)", "OrderedDict()", "Dict()", "{2: 0.25}"
    compared(grouped, *(f"{keys}, {d}" for keys in ("['a', 'b', 'a', 'c'] * 5", "[1, 'a', 1]", "[[]]") for d in starts))
    for xs in ("[1, 2.5, 1, 2]", "[float('nan'), 1.0, float('inf')]", "[True, 2**40, 'a']", "[Key(1), 1]"):
        compared(of_computed, *(f"{xs}, {d}" for d in starts))
    compared(set_defaults, "range(300), {}", "range(30), {5: 2**63}", "[i * 0.5 for i in range(40)], {1: 1.5}")


def while_iterated(d, s):
    for key in d:
        d[key + 1] = 1
        s.add(key)
    return d


def test_new_keys_while_iterated():
    compared(while_iterated, "{1: 2}, {1}", "{1: 2, 2: 3}, set()", "{}, set()")


STATEMENTS = """d[{k}] = {v};d[{k}] += {v};e[{k}] = d.get({k}, {v});d.pop({k}, None);s.add({k});s.discard({k})
if {k} in d: d[{k}] = d[{k}] + {v};if {k} in s: e[{k}] = {v};del d[{k}];total = total + d.get({k}, 1);d = e;e, d = d, e
if {k} in e: total = e[{k}];s.add({k}) if {k} in s else None;total += len(d);e[{k}] = e.get({k}, 0) + 1;x = {k}
s.remove({k}) if {k} in s else s.add({k});s.add({k});d.setdefault({k}, {v});s.remove({k})"""
ATOMS = """x i i%5 i-3 'a' str(i%3) -1 -2 2.0 True 2**40 total (i,1) i*2**20 i*7 i*64 str(i*5)""".split()
POOLS = [[1, 2, 3], [0, -1, -2, 5], ["a", "b", "0"], [1, 1.0, True, "a"], [2**40, 1, 300], [(1, 1), 2]]
VALUES = ["i", "i * 300", "0.5", "total", "x", "1", "i + 2**62", "-i", "True"]


def _program(draw, atoms):
    def filled():
        text = draw.choice(STATEMENTS.replace("\n", ";").split(";"))
        keys = [draw.choice(atoms)] * 2 if draw.random() < 0.8 else draw.choices(atoms, k=2)
        for key in (*keys, *keys):
            text = text.replace("{k}", key, 1)
        return text.replace("{v}", draw.choice(VALUES))

    body = [f"        {filled()}" for _ in range(draw.randrange(1, 6))]
    head = ["def f(xs, d, e, s, n):", "    total = i = 0", "    for x in xs:", "        i += 1"]
    head.append("        if len(d) > 99: break")
    return "\n".join([*head, *body, "    return total, list(d.items()), list(e.items()), list(s)", ""])


def compare_drawn(seed, fuel, atoms, pools):
    """Compare a drawn program whose keys are some expressions, for dicts of keys from some pools."""
    draw = random.Random(seed)
    function = execute(_program(draw, atoms), f"<dicts {seed} {atoms[1]}>")["f"]
    staged = ag.function(function, engine="native")
    for _ in range(3):
        pool = draw.choice(pools)
        xs = draw.choices(pool, k=draw.randrange(1, 30))
        d, e = ({draw.choice(pool): draw.choice([1, 400, 2.5, 2**63]) for _ in range(3)} for _ in range(2))
        if draw.random() < 0.3:
            xs = xs * 4
        args = f"{xs}, {d}, {e}, {set(pool[:2])}, 3"
        fuel.value = draw.choice([-1, -1, draw.randrange(1, 100)])
        assert run(staged, args) == run(function, args)


@pytest.mark.parametrize("seed", range(25))
def test_random_programs(seed, fuel):
    compare_drawn(seed, fuel, ATOMS, POOLS)


class Word(str):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return str.__hash__(self)


def by_default(words, counts):
    seen = []
    for word in words:
        counts.setdefault(word, 0)
        counts[word] += 1
        seen.append(counts.setdefault(word, "new"))
        if counts[word] == 3:
            del counts[word]
        seen.append(word in counts)
    return seen, counts


def by_get(words, counts):
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


@pytest.mark.parametrize("engine", ["native", None])
@pytest.mark.parametrize("function", [by_default, by_get])
@pytest.mark.parametrize("others", ["ab", [1, True, 1.0], [Word("the"), Word("x")], [("the", 1)], [None, 2**70], [[1]]])
def test_keys_of_other_classes_than_the_first_ones(function, others, engine):
    staged = ag.function(function, **({} if engine is None else {"engine": engine}))
    words = ["the", "a", "the", "".join(["t", "he"]), "a", "é", "\U0001f600", "the"]
    for order in (words, [*words, *others, *words], [*others, *words], [*words, *others]):
        for counts in ({}, {"the": 2, 1: 5}):
            names = [{"words": list(order), "counts": dict(counts)} for _ in range(2)]
            found, wanted = (run(each, "words, counts", named) for each, named in zip((staged, function), names))
            assert found == wanted and found.raised_at == wanted.raised_at, order
            assert repr(names[0]) == repr(names[1])
