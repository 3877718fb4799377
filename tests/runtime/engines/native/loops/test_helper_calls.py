"""Machine code that calls the machine code of helpers, which recurse as deep as the data say."""

from __future__ import annotations

import contextlib
import copy
import io
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.common.cpython_internals import RECURSION_LEFT
from autograph.runtime.engines.native.abi.links import Link
from autograph.runtime.graph.graph import walk
from autograph.runtime.graph.recursion import helper_in

pytestmark = pytest.mark.skipif(not RECURSION_LEFT, reason="Python's counter of frames is not where it is known to be")

HERE = sys.modules[__name__]
PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []


def program(*calls: tuple[Any, ...]) -> Callable[..., Any]:
    """Let a function be compared on some arguments."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append((function, calls))
        return function

    return add


class Bad(Exception):
    pass


def power(n):
    return 1 if n == 0 else 3 * power(n - 1)


@program((5,), (39,), (41,), (100,), (3,))
def overflows(n):
    return power(n) + 1


@program((45,), (10,))
def overflows_in_a_loop(n):
    total = 0
    for i in range(n):
        total += power(i)
    return total


def deep(n, xs):
    return xs[10] if n == 0 else deep(n - 1, xs) + 1


@program(
    (5, [1] * 20), (5, [1]), (7, [1.5] * 11), (3, ["a"] * 11), (3, [2**70] * 11), (2, [True] * 11), (2, [None] * 11)
)
def reads_lists(n, xs):
    total = 0
    for i in range(n):
        total = total + deep(i, xs)
    return total


def down(n):
    return 0 if n <= 0 else 1 + down(n - 1)


@program((10,), (600,), (2000,), (100_000,))
def is_as_deep(n):
    return down(n) * 2


@program((3,), (1500,))
def is_as_deep_in_a_loop(n):
    total = 0
    for i in range(3):
        total += down(n - i)
    return total


def quotient(n, d):
    return 1 / d if n == 0 else quotient(n - 1, d - 1) + 1.0


@program((3, 9), (3, 3), (5, 7.0), (3, 3.0))
def divides(n, d):
    total = 0.0
    for i in range(n + 1):
        total += quotient(i, d)
    return total


def of_any_kind(n):
    if n <= 0:
        return None
    if n == 1:
        return 1
    if n == 2:
        return 2.5
    if n == 3:
        return True
    if n == 4:
        return "s"
    if n == 5:
        return [n]
    return of_any_kind(n - 6)


@program((3,), (10,), (30,))
def gives_several_kinds(n):
    found = []
    for i in range(n):
        found.append(of_any_kind(i))
    return found


def change_both(a, b, n):
    if n == 0:
        return 0
    a.append(n)
    b[0] = b[0] + len(a)
    return change_both(a, b, n - 1) + b[0]


@program(([1], [2], 3), ([], [0], 2))
def passes_one_list_twice(a, b, n):
    total = 0
    for i in range(n):
        total += change_both(a, b, i)
        total += change_both(a, a, i) if len(a) else 0
    return total


def double_from(x, i):
    if i >= len(x):
        return 0.0
    x[i] = x[i] * 2
    return x[i] + double_from(x, i + 1)


@program(
    (np.arange(5.0),), (np.arange(9.0),), (np.arange(3),), (np.arange(8.0)[::2],), (np.array([np.nan, np.inf]),),
    (np.zeros(0),), (np.arange(4, dtype="f4"),), (np.broadcast_to(np.ones(1), (3,)),),
)
def changes_arrays(x):
    total = 0.0
    for k in range(3):
        total += double_from(x, k)
    return total


@program((np.arange(5.0), 3), (np.arange(9.0), 12), (np.arange(3), 2), (np.zeros(0), 1))
def changes_arrays_often(x, n):
    total = 0.0
    for k in range(n):
        total += double_from(x, k)
    return total


def shrink(x):
    return float(len(x)) if len(x) <= 1 else shrink(x[1:]) + x[0]


@program((np.arange(6.0),), (np.arange(9.0),))
def passes_views(x):
    total = 0.0
    for k in range(3):
        total += shrink(x)
    return total


def itself_again(n, v):
    return v if n == 0 else itself_again(n - 1, v)


@program((3, float("nan")), (3, 1.5), (3, -0.0), (3, float("inf")))
def keeps_nans(n, v):
    found = [v]
    for i in range(n):
        found.append(itself_again(i, v))
    return [x is v for x in found] if v != v else found, found == [v] * len(found)


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


@program((10,), (31,))
def calls_each_other(n):
    return [is_even(i) for i in range(n)], is_odd(n)


def raising(n, k):
    if n == 0:
        if k > 3:
            raise Bad("bad", k)
        return k
    return raising(n - 1, k) + 1


@program((3,), (10,))
def raises(n):
    total = 0
    for i in range(n):
        total += raising(i, i)
    return total


@program((10,))
def catches(n):
    total = 0
    for i in range(n):
        try:
            total += raising(i, i)
        except Bad:
            total += 100
    return total


def printing(n):
    if n == 0:
        print("zero")
        return 0
    return printing(n - 1) + n


@program((4,))
def prints(n):
    total = 0
    for i in range(n):
        total += printing(i)
    return total


def appending(xs, n):
    xs.append(n)
    if n == 3:
        raise ValueError("three")
    return 0 if n >= 6 else appending(xs, n + 1) + 1


@program(([], 4), ([], 0))
def has_effects_before_it_raises(xs, n):
    total = 0
    for _ in range(3):
        total += appending(xs, n)
    return total


def with_defaults(n, k=2, *, z=1):
    return k * z if n == 0 else with_defaults(n - 1, k, z=z) + 1


@program((4,))
def passes_keywords(n):
    total = 0
    for i in range(n):
        total += with_defaults(i) + with_defaults(i, 3) + with_defaults(i, k=4) + with_defaults(i, z=5)
    return total


def counting_up(n, x):
    return x if n == 0 else counting_up(n - 1, x + 1)


@program(
    (3, 1), (3, 1.5), (3, True), (3, np.float64(2)), (3, np.int32(2)), (3, 2**62), (3, 2**63 - 2), (3, 2**64), (3, 1j),
    (3, "a"), (3, np.int8(126)),
)
def takes_many_types(n, x):
    found = []
    for i in range(n):
        found.append(counting_up(i, x))
    return found


def walking(n, seen, places):
    if n in seen:
        return 0
    seen.add(n)
    places[n] = len(seen)
    return walking((n * 7 + 3) % 50, seen, places) + 1


@program((5,))
def changes_sets_and_dicts(n):
    seen = set()
    places = {}
    total = 0
    for i in range(n):
        total += walking(i, seen, places)
    return total, sorted(seen), places


def halving(x):
    return x if x < 1.0 else halving(x / 2.0) * 1.5


@program((3.0,), (1e300,), (float("inf"),), (7,))
def gives_floats(x):
    total = 0.0
    for _ in range(4):
        total += halving(x)
    return total


def sorting(xs, first, last):
    if first < last:
        place = first
        for i in range(first, last):
            if xs[i] < xs[last]:
                xs[i], xs[place] = xs[place], xs[i]
                place += 1
        xs[place], xs[last] = xs[last], xs[place]
        sorting(xs, first, place - 1)
        sorting(xs, place + 1, last)


@program(([3, 1, 2, 9, 4] * 5,), ([2.5, 1, 3] * 9,), ([2, "a", 1],), ([],), ([2**70, 1, -(2**80)] * 7,))
def sorts(xs):
    sorting(xs, 0, len(xs) - 1)
    return xs


def frame_lines(error: BaseException) -> list[tuple[str, int | None]]:
    """The lines of this file in a traceback, without those that define a function."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename == __file__]
    return [(each.name, each.lineno) for each in frames[1:] if not str(each.line).startswith(("def", "@"))]


def outcome(function: Callable[..., Any], call: tuple[Any, ...]) -> Any:
    given = copy.deepcopy(call) if all(each == each for each in call if type(each) is float) else call
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            found: Any = function(*given)
            found = type(found), repr(found)
        except RecursionError:
            found = RecursionError
        except Exception as error:
            found = type(error), str(error), frame_lines(error)
    return found, repr(given), printed.getvalue()


ENGINES: list[dict[str, Any]] = [{}, {"engine": "native"}, {"engine": "numpy"}]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("options", ENGINES, ids=["default", "native", "numpy"])
@pytest.mark.parametrize(("function", "calls"), PROGRAMS, ids=[each.__name__ for each, _ in PROGRAMS])
def test_same_as_plain(function: Callable[..., Any], calls: tuple[Any, ...], options: dict[str, Any]) -> None:
    staged = ag.function(function, **options)
    for _ in range(2):
        for call in calls:
            for _ in range(3):
                assert outcome(staged, call) == outcome(function, call)


# Which calls are direct -----------------------------------------------------------------------------------------------


@pytest.fixture
def python_calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the helpers that are called through Python."""
    called: list[str] = []
    find = Link._find

    def noted(self: Link, values: Any) -> None:
        find(self, values)
        if not self._holds():
            called.append(self._helper.__name__)    # type: ignore[attr-defined]

    monkeypatch.setattr(Link, "_find", noted)
    return called


@pytest.mark.parametrize(
    ("function", "call"),
    [
        (overflows_in_a_loop, (10,)), (overflows, (10,)), (divides, (3, 9)), (sorts, ([3, 1, 2] * 7,)),
        (changes_arrays_often, (np.arange(9), 9)), (changes_sets_and_dicts, (5,)), (calls_each_other, (10,)),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)  # fmt: skip
def test_machine_code_calls_machine_code(
    function: Callable[..., Any], call: tuple[Any, ...], python_calls: list[str]
) -> None:
    staged = ag.function(function, engine="native")
    for _ in range(4):
        staged(*copy.deepcopy(call))
    assert not python_calls
    helpers = [helper_in(node) for trace in staged.traces for node in walk(trace.graph.block)]
    links = [link for helper in helpers if helper is not None for link in helper.links.values()]
    assert links and all(link._holds() for link in links), staged.explain(*copy.deepcopy(call))


# Helpers that change --------------------------------------------------------------------------------------------------


def changing(n):
    return FACTOR if n == 0 else changing(n - 1) + 1


FACTOR = 1


@pytest.mark.parametrize("options", ENGINES, ids=["default", "native", "numpy"])
def test_globals_of_helpers_are_read_anew(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def sums(n):
        total = 0
        for i in range(n):
            total += changing(i)
        return total

    staged = ag.function(sums, **options)
    for value in (1, 2, 2, 1.5, "a", 2**70, 1, 1):
        monkeypatch.setattr(HERE, "FACTOR", value)
        for _ in range(3):
            assert outcome(staged, (5,)) == outcome(sums, (5,))


def other(n):
    return -n


@pytest.mark.parametrize("options", ENGINES, ids=["default", "native", "numpy"])
def test_helpers_may_be_replaced_between_calls(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def sums(n):
        total = 0
        for i in range(n):
            total += power(i)
        return total

    staged, code = ag.function(sums, **options), power.__code__
    first = power
    for _ in range(3):
        assert staged(6) == sums(6) == 364
        monkeypatch.setattr(HERE, "power", other)
        assert staged(6) == sums(6) == -15
        monkeypatch.setattr(HERE, "power", first)
        assert staged(6) == sums(6) == 364
        first.__code__ = down.__code__
        assert staged(6) == sums(6) == 15
        first.__code__ = code


def meddling(n):
    """A helper that has another one replaced while it runs."""
    if n == 0:
        return meddle()
    return meddling(n - 1) + power(2)


def meddle():
    return TODO.pop()() if TODO else 0


TODO: list[Callable[[], int]] = []


@pytest.mark.parametrize("options", ENGINES, ids=["default", "native", "numpy"])
@pytest.mark.parametrize("name", ["power", "meddle"])
def test_helpers_may_be_replaced_during_a_call(
    options: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sums(n):
        total = 0
        for i in range(n):
            total += meddling(i)
        return total

    def replace() -> int:
        monkeypatch.setattr(HERE, name, other if name != "meddle" else lambda: 7)
        return 1000

    monkeypatch.setattr(HERE, "meddle", ag.do_not_convert(meddle))
    saved = getattr(HERE, name)
    staged = ag.function(sums, **options)
    found = []
    for function in (sums, staged, sums, staged, staged):
        for todo in ([], [replace], [lambda: 5, replace]):
            monkeypatch.setattr(HERE, name, saved)
            TODO[:] = todo
            found.append(function(5))
    assert found == found[:3] * 5


def test_threads_call_one_helper() -> None:
    def sums(n):
        total = 0
        for i in range(n):
            total += power(i % 30)
        return total

    staged, wanted = ag.function(sums, engine="native"), sums(200)
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.extend(staged(200) for _ in range(20))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 80


def test_no_references_leak() -> None:
    staged = ag.function(gives_several_kinds, engine="native")
    lists = ag.function(reads_lists, engine="native")
    xs = [10**30] * 20
    for _ in range(5):
        staged(30)
        lists(5, xs)
    counts = [sys.getrefcount(each) for each in (None, "s", xs, xs[0])]
    for _ in range(50):
        staged(30)
        lists(5, xs)
    after = [sys.getrefcount(each) for each in (None, "s", xs, xs[0])]
    assert all(abs(one - two) < 20 for one, two in zip(counts, after))
