"""Random numbers drawn by machine code: the numbers, and the state behind them, are those of Python."""

import random
import sys
import threading
import tracemalloc
from unittest import mock

import numpy as np
import pytest

import autograph as ag
from autograph.common import cpython_internals, numpy_internals
from tests import outcomes
from tests.runtime.engines.native.programs import collection, regions

PROGRAMS, calls = collection()
SEEDS = ["3, 700", "4, 0", "5, 1"]


@calls(*SEEDS)
def module_random(seed, n):
    random.seed(seed)
    total = 0.0
    for _ in range(n):
        if random.random() < 0.5:
            total += random.random()
    return total, random.getstate()


@calls(*SEEDS)
def object_random(seed, n):
    draw = random.Random(seed)
    total = 0.0
    for _ in range(n):
        total += draw.random()
    return total, draw.getstate()


@calls(*SEEDS)
def generator_random(seed, n):
    rng = np.random.default_rng(seed)
    found = np.zeros(n)
    for i in range(n):
        found[i] = rng.random() - rng.random()
    return found, rng.bit_generator.state


@calls("np.random.MT19937(3)", "np.random.Philox(4)", "np.random.SFC64(5)", "np.random.PCG64DXSM(6)")
def bit_generators(source):
    rng = np.random.Generator(source)
    count = 0
    while rng.random() < 0.99:
        count += 1
    return count, rng.random()


@calls(*SEEDS)
def both_at_a_time(seed, n):
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    total, x = 0, 0.0
    while total < n:
        if draw.random() < rng.random():
            total += 2
        x += draw.random()
    return total, x, draw.getstate(), rng.bit_generator.state


@calls("3, 300, 7", "4, 0, 1", "5, 50, 1", "5, 50, 0", "6, 60, 2**32", "6, 60, 2**40 + 3", "6, 60, -3", "7, 9, 2**64")
def pythons_integers(seed, n, limit):
    random.seed(seed)
    draw = random.Random(seed + 1)
    total = 0
    for i in range(n):
        total ^= random.randint(1, limit) + random.randrange(limit) - draw.randrange(-i, limit)
        total ^= draw.randint(-limit, limit)
    return total, random.getstate(), draw.getstate()


@calls("3, 80, 1", "3, 80, 62", "3, 80, 63", "3, 80, 64", "3, 80, 32", "3, 80, 33", "3, 80, 0", "3, 80, -1")
def pythons_bits(seed, n, k):
    random.seed(seed)
    draw = random.Random(seed + 1)
    total = 0
    for _ in range(n):
        total ^= random.getrandbits(k) ^ draw.getrandbits(k)
    return total, random.getstate(), draw.getstate()


@calls("3, 90, 0.5, 2", "3, 9, -1, 1", "3, 9, 1e308, -1e308", "3, 9, 2**62 + 1, 2**63 - 1", "3, 9, -2**63, 2**63 - 1",
       "3, 9, float('nan'), 1.0", "3, 9, True, 5", "3, 9, np.float64(2), 1", "3, 9, float('inf'), 0")  # fmt: skip
def pythons_floats(seed, n, a, b):
    random.seed(seed)
    draw = random.Random(seed + 1)
    found = []
    for _ in range(n):
        found.append(random.uniform(a, b) + draw.uniform(b, a))
    return found, random.getstate(), draw.getstate()


@calls("3, 90, 0.5, 2", "3, 90, 0, -1.5", "3, 9, 0.5, 0", "3, 9, 1e308, 1e308", "3, 9, float('inf'), 1")
def pythons_distributions(seed, n, a, b):
    random.seed(seed)
    draw = random.Random(seed + 1)
    total = 0.0
    for _ in range(n):
        total += random.normalvariate(a, b) + draw.normalvariate(b, a)
        total -= random.expovariate(b) * draw.expovariate(0.5)
    return total, random.getstate(), draw.getstate()


@calls("3, 90, 0.5, 2", "4, 9, -2, 1.5", "5, 9, 0, 0", "6, 9, 1, -1", "7, 9, -1e308, 1e308", "8, 9, np.float32(1.5), 3",
       "8, 9, 2, float('nan')", "8, 9, 1.0, float('inf')")  # fmt: skip
def generators_floats(seed, n, a, b):
    rng = np.random.default_rng(seed)
    total = 0.0
    for _ in range(n):
        total += rng.standard_normal() + rng.normal(a, b) * rng.standard_exponential()
        total -= rng.uniform() * rng.normal() + rng.uniform(a, b) + rng.exponential() - rng.normal(a)
        total += rng.exponential(b)
    return total, rng.bit_generator.state


@calls("3, 90, 0, 6", "4, 9, 1, 2**40", "5, 9, -2**63, 2**63 - 1", "6, 9, 5, 5", "7, 9, 5, 2", "8, 9, True, 3",
       "9, 9, np.int32(3), np.uint8(9)", "9, 9, 0, 2**32", "9, 9, 0, 2**32 - 1", "9, 9, 1.5, 7", "9, 9, 0, 2**63")
def generators_integers(seed, n, low, high):
    rng = np.random.default_rng(seed)
    total = 0
    for _ in range(n):
        total ^= rng.integers(high) ^ rng.integers(low, high) ^ rng.integers(low, high, endpoint=True)
        total ^= rng.poisson(3.5)
    return total, rng.bit_generator.state


@calls("3, 91, 0.5, 2", "4, 9, -2, 1.5", "5, 9, 0, 0", "6, 9, 1, -1", "8, 9, np.float32(1.5), 3")
def states_floats(seed, n, a, b):
    np.random.seed(seed)
    rng = np.random.RandomState(seed)
    total = 0.0
    for i in range(n):
        total += np.random.random() * rng.random() + np.random.rand() - rng.random_sample() + np.random.uniform(a, b)
        total += np.random.standard_normal() - rng.standard_normal() + np.random.normal(a, b)
        if i % 3 == 0:
            total += rng.randn() - np.random.randn()
    return total, np.random.get_state(), rng.get_state(), rng.normal()


@calls("3, 90, 0, 6", "4, 9, 1, 2**40", "5, 9, -2**63, 2**63 - 1", "6, 9, 5, 5", "7, 9, 5, 2", "9, 9, 1.5, 7")
def states_integers(seed, n, low, high):
    np.random.seed(seed)
    rng = np.random.RandomState(seed)
    total = 0
    for _ in range(n):
        total ^= np.random.randint(high) ^ rng.randint(low, high) ^ np.random.randint(low, high)
    return total, type(total), np.random.get_state(), rng.get_state()


@calls(*(f"{seed}, 900, {limit}" for seed, limit in enumerate([1, 2, 3, 5, 8, 11, 2**31, 2**32 - 1, 2**32, 2**33])))
def several_draws(seed, n, limit):
    random.seed(seed)
    total = 0
    for i in range(n):
        total ^= random.randrange(limit)
        if i % 50 == 0:
            total ^= random.getrandbits(7)
    return total, random.getstate()


@calls("3, 300", "4, 700", "5, 1")
def constant_choices(seed, n):
    random.seed(seed)
    x = y = 0
    words = []
    for i in range(n):
        dx, dy = random.choice([(0, 1), (0, -1), (1, 0), (-1, 0)])
        x += dx * random.choice([-1, 1]) + random.choice([0.5, 2.5])
        y += dy + random.choice([(1, 2), (3, 4)])[1]
        words.append(random.choice([i % 7, 3]))
    return x, y, words, random.getstate()


@calls("3, 90, [1, 2, 3]", "4, 20, [0.5, 'a', None]", "5, 20, []", "6, 50, (1.5, 2.5)", "7, 50, [[1], [2], [3]]",
       "8, 9, np.arange(7) / 3", "9, 9, ()", "9, 9, 'abc'", "9, 9, np.arange(0)", "9, 9, np.ones((2, 3))", "9, 9, 5",
       "9, 9, [2**70, 3]", "9, 20, {}")  # fmt: skip
def pythons_choices(seed, n, xs):
    random.seed(seed)
    draw = random.Random(seed + 1)
    found = []
    for _ in range(n):
        found.append(random.choice(xs))
        found.append(draw.choice(xs))
        found.append(random.choice("ACGT") + draw.choice("ab"))
        found.append(random.choice((1, 2, 3)) + draw.choice([1, 2.5]))
    return found, random.getstate(), draw.getstate()


@calls("3, 20, list(range(50))", "4, 9, [0.5, 'a', None]", "5, 9, []", "6, 9, [1]", "7, 9, np.arange(70) / 3",
       "8, 9, np.arange(3, dtype='u1')", "8, 9, np.ones((3, 2))", "8, 9, np.arange(9)[::2]", "8, 9, (1, 2)",
       "8, 9, np.zeros(3, complex)", "8, 9, {0: 1, 1: 2}")  # fmt: skip
def pythons_shuffles(seed, n, xs):
    random.seed(seed)
    draw = random.Random(seed + 1)
    found = []
    for i in range(n):
        random.shuffle(xs)
        draw.shuffle(xs)
        found.append(i)
        if len(xs):
            found.append(xs[0])
    return found, xs, random.getstate(), draw.getstate()


@calls("3, 91, 0.5, 2", "3, 90, 0, -1.5", "3, 9, 0.5, 0", "3, 9, 1e308, 1e308", "3, 9, float('inf'), 1",
       "3, 9, 2**60, 3", "3, 9, np.float64(2), 1")  # fmt: skip
def pythons_normals(seed, n, mu, sigma):
    random.seed(seed)
    draw = random.Random(seed + 1)
    total = 0.0
    for i in range(n):
        total += random.gauss(mu, sigma) - draw.gauss(sigma, mu)
        if i % 3 == 0:
            total += random.gauss(0.0, 1.0) + draw.random()
    return total, random.getstate(), draw.getstate(), draw.gauss(0, 1), random.gauss(0, 1)


@calls("3, 90, 0.5, 2", "4, 9, -2, 1.5", "5, 9, 0, 0", "6, 9, 1, -1")
def keywords(seed, n, a, b):
    np.random.seed(seed)
    rng = np.random.default_rng(seed)
    total = 0.0
    for _ in range(n):
        total += rng.normal(loc=a, scale=b) + rng.exponential(scale=b) - rng.normal(scale=b) + rng.poisson(lam=b)
        total += rng.uniform(low=a, high=b + 9) + rng.integers(low=0, high=10) + rng.integers(high=7, low=2)
        total += np.random.normal(loc=a, scale=b) + np.random.uniform(high=b + 9, low=a) + np.random.randint(low=5)
    return total, rng.bit_generator.state, np.random.get_state()


@calls("3, 90, 7, np.arange(7) / 3", "4, 9, 1, np.arange(3)", "5, 9, 0, np.arange(2)", "6, 9, 3, np.arange(0)",
       "7, 9, np.int32(9), np.ones((3, 2))", "8, 9, 2.5, np.ones(3)", "8, 9, 2**40, [1, 2]", "9, 9, -1, np.ones(3)")
def numpys_choices(seed, n, count, xs):
    np.random.seed(seed)
    rng = np.random.default_rng(seed)
    total = 0.0
    for _ in range(n):
        total += rng.choice(count) + rng.choice(xs) - np.random.choice(xs) * np.random.choice(count)
    return total, type(rng.choice(count)), rng.bit_generator.state, np.random.get_state()


@calls("3, 20, np.arange(70) / 3", "4, 9, np.arange(3, dtype='u1')", "5, 9, np.arange(0)", "6, 9, np.ones((3, 2))",
       "7, 9, np.arange(9)[::2]", "8, 9, [1, 2, 3]", "9, 9, np.arange(4) * 1j", "9, 9, 5")  # fmt: skip
def numpys_shuffles(seed, n, xs):
    np.random.seed(seed)
    rng = np.random.RandomState(seed), np.random.default_rng(seed)
    total = 0.0
    for i in range(n):
        np.random.shuffle(xs)
        rng[0].shuffle(xs)
        rng[1].shuffle(xs)
        total = total * 0.5 + len(xs) * i
    return total, xs, rng[1].bit_generator.state, np.random.get_state(), rng[0].get_state()


@calls("3, 20, 3, 0.5", "4, 9, 1, 2", "5, 9, 0, 1", "6, 9, -1, 1", "7, 9, np.int64(2), 3", "8, 9, 2, -1",
       "9, 5, 2000, 1")
def arrays_of_draws(seed, n, size, b):
    np.random.seed(seed)
    rng = np.random.default_rng(seed)
    total, last = 0.0, None
    for _ in range(n):
        x = rng.random(size)
        y = rng.normal(0.5, b, size=size)
        k = rng.integers(1, 9, size)
        total += x[0] * y[size - 1] + k[0] + rng.standard_normal(3)[1] + rng.random((size, 2))[0, 1]
        total += rng.exponential(size=2)[1] - rng.poisson(b, 2)[0] + rng.uniform(0, b + 9, size)[0]
        z = np.random.rand(size, 2)
        total += z[0, 1] - np.random.randn(2)[1] + np.random.randint(0, 7, size)[0] * np.random.normal(size=2)[0]
        last = y
    return total, last, k.dtype, rng.bit_generator.state, np.random.get_state()


@calls("3, 50")
def among_callbacks(seed, n):
    random.seed(seed)
    draw = random.Random(seed)
    total = 0
    for i in range(n):
        total += draw.randint(1, 6) + {3: 1}.setdefault(random.randrange(9), i)
        total += round(random.gauss(0, 9)) + round(draw.gauss(0, 9)) + draw.choice(range(3))
    return total, random.getstate(), draw.getstate()


def same(function, name, arguments):
    wanted, found = (outcomes.run(each, arguments, {"np": np}) for each in (PROGRAMS[name][0], function))
    found.warnings = [each for each in found.warnings if each[0] != "RetraceWarning"]
    assert found == wanted


def is_drawn(function):
    """Whether a loop is machine code that calls no Python."""
    return any(not version.callbacks for region in regions(function) for version in region.compiled)


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_python(name):
    plain, examples = PROGRAMS[name]
    function = ag.function(plain, engine="native")
    for arguments in (*examples, *reversed(examples)):
        for _ in range(3):
            same(function, name, arguments)
    assert is_drawn(function) or name in ("among_callbacks", "constant_choices")    # unpacking may raise


@pytest.mark.parametrize("name", PROGRAMS)
def test_left_anywhere(name, fuel):
    """Whatever node the code is left at, Python goes on, and no number is drawn twice."""
    plain, examples = PROGRAMS[name]
    function = ag.function(plain, engine="native")
    for _ in range(2):
        same(function, name, examples[0])
    for nodes in range(1, 60, 2):
        fuel.value = nodes
        same(function, name, examples[0])


def total(draw, n, change=None):
    found = 0.0
    for i in range(n):
        found += draw.random() * 0.5
        if i == 3 and change is not None:
            change(draw)
    return found


def kept(draw, n, at=()):
    total = 0.0
    for i in range(n):
        total += draw.gauss(0.0, 1.0)
        if i in at:
            draw.gauss_next = at[i]
    return total, draw.getstate()


def test_what_gauss_keeps():
    """Attributes that programs set are used, and refused, as Python does."""
    function = ag.function(kept, engine="native")
    for at in ({3: 0.25}, {4: None}, {2: 7}, {3: np.float64(1.5)}):
        for _ in range(2):
            draws = random.Random(1), random.Random(1)
            vars(draws[0])      # from then on the attributes are in a dict
            assert function(draws[0], 9, at) == function(draws[1], 9, at) == kept(random.Random(1), 9, at)
            assert vars(draws[0]) == vars(draws[1])
    draw = random.Random(1)
    for _ in range(3):
        function(draw, 9)
    before = sys.getrefcount(None)
    for _ in range(3):
        function(draw, 1001)
    assert abs(sys.getrefcount(None) - before) < 50
    del draw.gauss_next
    with pytest.raises(AttributeError, match="gauss_next"):
        function(draw, 9)


def test_arrays_are_not_lost():
    def f(rng, n):
        for i in range(n):
            x = rng.random(3000)
            if x[0] > 2 or i == 40:
                rng.random(-1)
        return x

    function, memory = ag.function(f, engine="native"), []
    tracemalloc.start()
    for n in (30, 30, 30, 39, 39):
        found = function(np.random.default_rng(1), n)
        assert sys.getrefcount(found) == 2
        assert found.tobytes() == f(np.random.default_rng(1), n).tobytes()
        memory.append(tracemalloc.get_traced_memory()[0])
    with pytest.raises(ValueError, match="negative dimensions"):
        function(np.random.default_rng(1), 50)
    tracemalloc.stop()
    assert memory[-1] - memory[-2] < 20_000


def test_items_are_not_lost():
    xs = [object() for _ in range(9)]

    def f(n):
        found = None
        for _ in range(n):
            random.shuffle(xs)
            found = random.choice(xs)
        return found

    function, before = ag.function(f, engine="native"), [sys.getrefcount(each) for each in xs]
    for _ in range(3):
        assert function(50) in xs
    assert [sys.getrefcount(each) for each in xs] == before


def hide(draw):
    draw.random = lambda: 100.0


def test_hidden_methods():
    """Attributes of an object hide its methods, also if they are set while the loop runs."""
    function = ag.function(total, engine="native")
    for _ in range(3):
        assert function(random.Random(1), 50) == total(random.Random(1), 50)
    for change in (None, hide):
        draws = random.Random(1), random.Random(1)
        for each in draws if change is None else ():
            hide(each)
        for _ in range(3):
            assert function(draws[0], 50, change) == total(draws[1], 50, change)


def test_replaced_methods():
    """A method of the class that is replaced is called."""
    function = ag.function(total, engine="native")
    for _ in range(2):
        assert function(random.Random(1), 50) == total(random.Random(1), 50)
    with mock.patch.object(random.Random, "random", lambda self: 2.0, create=True):
        assert function(random.Random(1), 50) == 50.0
    for _ in range(2):
        assert function(random.Random(1), 50) == total(random.Random(1), 50)


class Loaded(random.Random):
    def random(self):
        return 0.25


def test_subclasses():
    function = ag.function(total, engine="native")
    for draw in (random.Random(1), Loaded(1), random.Random(1)):
        copied = Loaded(1) if type(draw) is Loaded else random.Random(1)
        assert function(draw, 50) == total(copied, 50)
    assert 0 < function(random.SystemRandom(), 50) < 50


def module_total(n):
    found = 0.0
    for _ in range(n):
        found += random.random() * 0.5
    return found


def test_replaced_function():
    function = ag.function(module_total, engine="native")
    function(5)
    with mock.patch.object(random, "random", lambda: 2.0):
        assert function(5) == 5.0


def test_lock():
    """While another thread has the lock of a generator, machine code draws nothing from it."""
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    function = ag.function(total, engine="native")
    for _ in range(2):
        assert function(rng, 50) == total(other, 50)
    found = []
    thread = threading.Thread(target=lambda: found.append(function(rng, 50)))
    with rng.bit_generator.lock:
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
    thread.join()
    assert found == [total(other, 50)]


def test_layouts():
    assert cpython_internals.HAS_TWISTER
    assert cpython_internals.twister_tag() == cpython_internals.twister_tag() != 0
    assert numpy_internals.lock_class() is not None
    for kind in (np.random.Generator, np.random.RandomState):
        assert numpy_internals.generator_layout(kind) is not None
    assert numpy_internals.generator_layout(random.Random) is None


@pytest.mark.parametrize("others", [[], [2.5, "a"], ["hides"]])
def test_searches_that_may_run_code_which_hides_methods(others):
    def function(draw, xs, n):
        found = []
        for _ in range(n):
            draw.shuffle(xs)
            found.append(xs.index(1))
        return found

    class Hiding:
        def __init__(self, draw):
            self.draw = draw

        def __eq__(self, other):
            self.draw._randbelow = lambda n: 0
            return False

    staged = ag.function(function, engine="native")
    for seed in range(9):
        draws = random.Random(seed), random.Random(seed)
        given, same = ([1, 2, *(Hiding(draw) if each == "hides" else each for each in others)] for draw in draws)
        assert staged(draws[0], given, 50) == function(draws[1], same, 50)
        assert draws[0].getstate() == draws[1].getstate()
    if not others:
        assert "left to Python" not in str(staged.explain(random.Random(1), [1, 2], 50))
