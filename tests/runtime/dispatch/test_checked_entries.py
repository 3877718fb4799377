"""Entries of traces that are machine code: they see each change that plain Python would see."""

import copy
import math
import types
from functools import partial

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.dispatch import specialize
from tests import comparing

SCALE, OFFSETS = 2.0, (1.0, 2.0)
assert_same = partial(comparing.assert_same, names=["helper"])


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(specialize, "MANY_CALLS", 3)


def often(function, *args, engine="native"):
    """The staged function, after calls that put its trace into the inline cache."""
    staged = ag.function(function, engine=engine)
    for _ in range(80):
        staged(*copy.deepcopy(args))
    return staged


def is_checked(staged):
    return any(each is not None for trace in staged.traces for each in trace.checked.values())


def helper(x, y=3.0):
    return x * y


def uses_much(x, k, xs):
    return helper(math.sqrt(x)) + SCALE * k + xs[0] + OFFSETS[0]


def test_each_change_of_globals_is_seen(monkeypatch):
    staged = often(uses_much, 4.0, 2, [1.0, 2.0, 3.0])
    args = 4.0, 2, [1.0, 2.0, 3.0]
    assert is_checked(staged)
    assert_same(staged, *args)
    names = globals()
    for name, value in {
        "SCALE": 3.0,
        "OFFSETS": (5.0, 2.0),
        "helper": lambda x: x + 1,
        "math": types.SimpleNamespace(sqrt=lambda x: x + 9),
    }.items():
        with monkeypatch.context() as patch:
            patch.setitem(names, name, value)
            assert_same(staged, *args)
            patch.delitem(names, name)
            assert_same(staged, *args)
        assert_same(staged, *args)
    with monkeypatch.context() as patch:
        patch.setattr(math, "sqrt", lambda x: -x)
        assert_same(staged, *args)
        patch.delattr(math, "sqrt")
        assert_same(staged, *args)
    assert_same(staged, *args)


def test_changes_of_functions_are_seen(monkeypatch):
    staged = often(uses_much, 4.0, 2, [1.0, 2.0, 3.0])
    args = 4.0, 2, [1.0, 2.0, 3.0]
    for name, value in {
        "__defaults__": (7.0,),
        "__code__": (lambda x, y: y - x).__code__,
        "__kwdefaults__": {"y": 8.0},
    }.items():
        with monkeypatch.context() as patch:
            patch.setattr(helper, name, value)
            assert_same(staged, *args)
        assert_same(staged, *args)
    with monkeypatch.context() as patch:
        patch.setattr(helper, "__defaults__", None)
        assert_same(staged, *args)
    assert_same(staged, *args)


def test_own_defaults_are_seen():
    def total(a, b=2.0, *, c=3.0):
        return helper(a) + helper(b) + helper(c) + helper(a + b)

    staged = ag.function(total, engine="native")
    for _ in range(80):
        assert staged(1.0) == total(1.0)
    assert staged(1.0, c=5.0) == total(1.0, c=5.0)
    staged.__defaults__ = (10.0,)
    assert staged(1.0) == total(1.0) == 3.0 * (1 + 10 + 3 + 11)
    total.__kwdefaults__["c"] = 20.0
    assert staged(1.0) == total(1.0) == 3.0 * (1 + 10 + 20 + 11)
    staged.__kwdefaults__ = {"c": 20.0}
    assert staged(1.0) == total(1.0) == 3.0 * (1 + 10 + 20 + 11)


def test_cells_are_seen():
    factor = 2.0

    def scaled(a, b, c):
        return helper(a) * factor + helper(b) + helper(c)

    def change(value):
        nonlocal factor
        factor = value

    def empty():
        nonlocal factor
        del factor

    staged = often(scaled, 1.0, 2.0, 3.0)
    for value in (2.0, 5, 2.0, np.float64(3), "x"):
        change(value)
        assert_same(staged, 1.0, 2.0, 3.0)
    empty()
    assert_same(staged, 1.0, 2.0, 3.0)


class Number(float):
    def __mul__(self, other):
        return "mine"


class Items(list):
    def __getitem__(self, place):
        return 100.0


KINDS = [4, True, 4.0, 2 + 1j, np.float64(4), np.float32(4), np.int64(4), 2**70, float("nan"), -0.0, "4", None, [4.0]]
KINDS += [Number(4), np.array(4.0), np.array([4.0, 9.0])]
LISTS = [[1.0, 2.0, 3.0], [1.0, 2.0], [1.0, 2.0, 3.0, 4.0], [], (1.0, 2.0, 3.0), [1, 2.0, 3.0], [1.0, 2.0, "3"]]
LISTS += [Items([1.0, 2.0, 3.0]), [Number(1), 2.0, 3.0], np.array([1.0, 2.0, 3.0]), {0: 1.0}, "abc", None]


@pytest.mark.parametrize("engine", ["native", "numpy", "auto"])
def test_arguments_of_other_classes_are_seen(engine):
    def computed(x, k, xs):
        total = 0.0
        for i in range(3):
            total += xs[i] * k
        return helper(x) + total

    staged = often(computed, 4.0, 2.0, [1.0, 2.0, 3.0], engine=engine)
    for each in KINDS:
        assert_same(staged, each, 2.0, [1.0, 2.0, 3.0])
        assert_same(staged, 4.0, each, [1.0, 2.0, 3.0])
        assert_same(staged, 4.0, 2.0, [1.0, each, 3.0])
    for each in LISTS:
        assert_same(staged, 4.0, 2.0, each)
    assert_same(staged, 4.0, 2.0, [1.0, 2.0, 3.0])


def arrays():
    base = np.arange(24, dtype=np.float64)
    readonly = base[:6].reshape(2, 3).copy()
    readonly.flags.writeable = False
    unaligned = np.frombuffer(bytes(1) + base[:6].tobytes(), np.uint8)[1:].view(np.float64).reshape(2, 3)
    yield from (base[:6].reshape(2, 3), base[:6].reshape(3, 2), base[::4].reshape(2, 3), base[:6], base[:0])
    yield from (np.asfortranarray(base[:6].reshape(2, 3)), base[5::-1].reshape(2, 3), readonly, unaligned.copy())
    for dtype in (np.float32, np.int32, np.complex128, bool, ">f8", object):
        yield base[:6].reshape(2, 3).astype(dtype)
    yield np.ma.masked_array(base[:6].reshape(2, 3))
    yield base[:6].reshape(2, 3).view(type("Rows", (np.ndarray,), {}))


@pytest.mark.parametrize("engine", ["native", "auto"])
def test_arrays_of_other_layouts_are_seen(engine):
    def changed(x, k):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                x[i, j] = helper(x[i, j]) + k
        return x

    staged = often(changed, np.arange(6.0).reshape(2, 3), 2.0, engine=engine)
    assert engine == "auto" or is_checked(staged)
    for x in arrays():
        wanted = comparing.result_or_error(changed, x.copy() if x.flags.writeable else x, 2.0, names=())
        found = comparing.result_or_error(staged, x.copy() if x.flags.writeable else x, 2.0, names=())
        assert repr(found) == repr(wanted) and type(found) is type(wanted)


def test_one_list_for_two_arguments_is_seen():
    def copied(n, xs, ys):
        for i in range(n):
            ys[i + 1] = xs[i]
        return ys

    staged = often(copied, 2, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    xs, others = [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]
    assert staged(2, xs, xs) == copied(2, others, others) == [1.0, 1.0, 1.0]
    assert xs == others
    assert staged(2, xs, xs) is xs
    assert_same(staged, 2, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    assert_same(staged, 3, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    assert_same(staged, 2, [1.0, None, 3.0], [4.0, 5.0, 6.0])


def test_texts_and_constants_are_seen():
    def told(x, how, flag, xs):
        for i in range(2):
            x = x * xs[i] if how == "times" else x + xs[i]
        return x if flag else -x

    staged = often(told, 2.0, "times", True, (1.0, 2.0))
    for how in ("times", "".join(["ti", "mes"]), "plus", None, b"times"):
        for flag in (True, False, 1, None):
            assert_same(staged, 2.0, how, flag, (1.0, 2.0))


def test_errors_show_the_same_lines():
    def divided(x, y, xs):
        total = 0.0
        for i in range(len(xs)):
            total += helper(xs[i]) / y
        return total + 1 / x

    staged = often(divided, 4.0, 2.0, [1.0, 2.0, 3.0])
    assert is_checked(staged)
    for x, y in ((0.0, 2.0), (4.0, 0.0), (0, 0), (4.0, 2.0)):
        assert_same(staged, x, y, [1.0, 2.0, 3.0])
    found = []
    for each in (ag.function(divided, engine="native"), staged):
        with pytest.raises(ZeroDivisionError) as raised:
            each(0.0, 2.0, [1.0, 2.0, 3.0])
        found.append([(entry.name, entry.lineno) for entry in raised.traceback][1:])
    assert found[0] == found[1]


def test_calls_are_counted_and_diverted():
    staged = often(uses_much, 4.0, 2, [1.0, 2.0, 3.0])
    before = staged.traces[0].calls
    for _ in range(10):
        staged(4.0, 2, [1.0, 2.0, 3.0])
    assert staged.traces[0].calls == before + 10
    ag.run_eagerly(True)
    try:
        assert_same(staged, 4.0, 2, [1.0, 2.0, 3.0])
    finally:
        ag.run_eagerly(False)
    assert staged.traces[0].calls == before + 10


def test_wrong_calls_and_keywords():
    staged = often(uses_much, 4.0, 2, [1.0, 2.0, 3.0])
    assert staged(xs=[1.0, 2.0, 3.0], k=2, x=4.0) == uses_much(4.0, 2, [1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="missing 1 required"):
        staged(4.0, 2)
    with pytest.raises(TypeError, match="unexpected keyword"):
        staged(4.0, 2, [1.0, 2.0, 3.0], other=1)


def test_parameters_with_names_of_the_entry():
    def odd(p1, a0, p0):
        for i in range(2):
            a0 += p0[i] * p1
        return helper(a0)

    staged = often(odd, 2.0, 3.0, [1.0, 5.0])
    assert_same(staged, 2.0, 3.0, [1.0, 5.0])
    assert_same(staged, 7.0, 1.0, [4.0, 6.0])

    def clashing(ag_type, ag_k0_0, ag_len):
        for i in range(2):
            ag_type += ag_len[i] * ag_k0_0
        return helper(ag_type)

    staged = often(clashing, 2.0, 3.0, [1.0, 5.0])
    assert_same(staged, 2.0, 3.0, [1.0, 5.0])
    assert_same(staged, 7.0, 1.0, [4.0, 6.0])


class Key:
    """A key that has the hash of a text, and is compared with it."""

    def __init__(self, text, act):
        self.hash, self.act = hash(text), act

    def __hash__(self):
        return self.hash

    def __eq__(self, other):
        self.act()
        return False


@pytest.mark.parametrize("engine", ["native", "numpy"])
def test_keys_of_globals_that_compare_themselves(engine):
    xs, seen = [[1.0, 2.0], [3.0, 4.0]], []

    def summed(k, xs):
        total = 0.0
        for i in range(2):
            total += helper(xs[0][i]) * k + xs[1][i] + SCALE
        return total

    def act():
        seen.append([*xs[0]])
        xs[0][:] = [len(seen) + 0.25, len(seen) + 0.5]     # these objects are gone at the next look

    staged = often(summed, 2.0, xs, engine=engine)
    names, key = globals(), Key("helper", act)
    before = dict(names)
    names.clear()
    names[key] = None
    names.update(before)
    try:
        for _ in range(50):
            xs[0][:] = [1.0, 2.0]
            assert type(staged(2.0, xs)) is float
        assert seen
    finally:
        names.clear()
        names.update(before)
