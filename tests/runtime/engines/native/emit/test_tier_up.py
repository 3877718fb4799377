"""Code of the baseline tier stops after some iterations of the first call, and goes on as it is or as good code."""

import _thread
import re
import signal
import sys
import threading

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.emit import polling, simd, speculation, tier_up
from autograph.runtime.engines.native.loops import counted_loops, region
from tests import emitted, outcomes
from tests.runtime.engines.native.programs import regions


@pytest.fixture(params=["baseline", "good", "mixed"], autouse=True)
def how(request, monkeypatch):
    """First calls run baseline code that stops every five iterations, and goes on as it is, as good code, or either."""
    monkeypatch.setenv("AUTOGRAPH_CACHE", "0")
    monkeypatch.setattr(region, "AGAIN", 1)
    monkeypatch.setattr(tier_up, "PATIENCE", {"baseline": 1.0, "good": 0.0, "mixed": 1e-7}[request.param])
    for module in (polling, counted_loops):
        monkeypatch.setattr(module, "POLL", 5)
    for module in (speculation, counted_loops):
        monkeypatch.setattr(module, "STRIP", 3)
    monkeypatch.setattr(simd, "SIZES", (16,))
    return request.param


def check(function, args):
    """Call a function in Python and natively, twice: by baseline code, and by good code."""
    native = ag.function(function, engine="native")
    for number in range(2):
        assert outcomes.run(native, args, {"np": np}) == outcomes.run(function, args, {"np": np})
        versions = [version for region in regions(native) for version in region.compiled]
        assert versions and all((version.code.baseline is None) == number for version in versions)
        for found in (version.code.baseline for version in versions if not number):
            for text in (found.text, *map(found.resumed, range(1, found.places + 1))):
                emitted.check(text)


def nested(n):
    total, last = 0, 0.5
    for i in range(n):
        j = 0
        while j < i:
            if (i + j) % 3:
                total += j
            else:
                last = last * 1.25 + j
            j += 1
    return total, last


def writes(x, y):
    for i in range(len(x)):
        x[i] = y[i] * 2.5 - x[i]
    for i in range(len(x) - 1, -1, -1):
        if x[i] > y[i]:
            y[i] = x[i - 1]
    return x, y


def changing(n):
    best, total = None, 0
    for i in range(n):
        if best is None or (i * 7) % 11 > best:
            best = (i * 7) % 11
        total = total + best if i % 4 else total * 1.0
    return best, total


def ranked(links, damping):
    """Operations on vectors that are computed only to find out whether they warn."""
    rank = np.full(len(links), 1 / len(links))
    for _ in range(40):
        new = damping * (links * rank) + (1 - damping) / len(links)
        new /= new.sum()
        change = abs(new - rank).max()
        rank = new
        if change < 1e-9:
            break
    return rank


def until(x, limit):
    for i, each in enumerate(x):
        if each > limit:
            break
        limit -= 0.5
    return i, limit


def of_rows(x):
    total = 0.0
    for row in x:
        for j in range(len(row)):
            row[j] += j
            total += row[j]
    return total, x


def of_lists(n):
    found = []
    for i in range(n):
        row = np.zeros(3)
        for j in range(12):
            row[j % 3] += i * j
        found.append(row)
    return found


def overflows(n):
    x = 1
    for i in range(n):
        for j in range(8):
            x = x * 3 + j
    return x


def raises(x, n):
    total = 0
    for i in range(n):
        for j in range(9):
            total += x[i + j]
    return total


def steps(a, b, c):
    total = 0
    for i in range(a, b, c):
        for j in range(i, -i, -3):
            total = total * 3 % 1001 + j
    return total, i, j


def dots(x, y):
    total, product = 0.0, 1.0
    for i in range(len(x)):
        total += x[i] * y[i]
        product *= x[i]
    return total, product


def sorts(x):
    for i in range(1, len(x)):
        each, j = x[i], i
        while j > 0 and x[j - 1] > each:
            x[j] = x[j - 1]
            j -= 1
        x[j] = each
    return x


@pytest.mark.parametrize("function, args", [
    (nested, "30"), (changing, "40"), (until, "np.linspace(0, 9, 30), 7"), (of_rows, "np.ones((13, 17))"),
    (of_lists, "14"), (overflows, "20"), (raises, "np.arange(20), 20"), (steps, "40, 2, -3"),
    (sorts, "np.cos(np.arange(40))"), (ranked, "np.cos(np.arange(376.0)) ** 2, 0.85"),
    (writes, "np.linspace(-3, 3, 700), np.linspace(4, -4, 700)"),
    (writes, "np.array([np.inf, 1e308, np.nan] * 9), np.array([np.inf, 1e308, 0.0] * 9)"),
    (dots, "np.linspace(-3, 3, 50), np.linspace(4, -4, 50)"), (dots, "np.array([2, 1e308] * 9), np.ones(18)"),
])  # fmt: skip
def test_it_does_the_same(function, args):
    check(function, args)


def test_it_goes_on_in_the_midst(how, monkeypatch):
    """Each of its loops may be where good code goes on, which is compiled for that."""
    gone = []
    go_on = region.CompiledRegion._go_on
    monkeypatch.setattr(region.CompiledRegion, "_go_on", lambda *args: gone.append(args) or go_on(*args))
    check(nested, "30")
    assert bool(gone) == (how != "baseline")


def by_for(items):
    found = None
    for item in items:
        for j in range(7):
            if j == 3:
                found = item
    return found


def by_while(items):
    """Signals are looked at when the test has been done; what the iteration begins with must be there up to then."""
    found = None
    for item in items:
        j = 0
        while j < 7:
            found = item if j > 3 else found
            j += 1
    return found


@pytest.mark.parametrize("last", [by_for, by_while])
def test_references_are_neither_lost_nor_let_go(last):
    marks = [object() for _ in range(40)]
    counts = [sys.getrefcount(mark) for mark in marks]
    native = ag.function(last, engine="native")
    last_ones = [id(native(marks)) for _ in range(2)]
    assert last_ones == [id(marks[-1])] * 2
    assert [sys.getrefcount(mark) for mark in marks][:-1] == counts[:-1]      # with any code, the last one is kept


def test_where_there_is_no_baseline():
    def total(n):
        found = 0
        for i in range(n):
            found += i
        return found

    fast = ag.function(total, engine="native", fastmath=True)
    auto = ag.function(total, engine="auto")
    for function in (fast, auto):
        assert function(10) == 45
        assert not any(version.code.baseline for region in regions(function) for version in region.compiled)


def test_an_interrupt(monkeypatch):
    monkeypatch.setattr(region, "AGAIN", 9)
    for module in (polling, counted_loops):
        monkeypatch.setattr(module, "POLL", 1 << 16)

    def endless(n):
        i = 0
        while i >= 0:
            i = (i + n) % 7 if n else -1
        return i

    native = ag.function(endless, engine="native")
    assert native(0) == -1
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs in the background ignores it
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            native(3)
    finally:
        signal.signal(signal.SIGINT, before)
    timer.join()
    assert [version.code.baseline is None for region in regions(native) for version in region.compiled] == [False]


def test_an_interrupt_lets_go_of_objects(how, monkeypatch):
    monkeypatch.setattr(region, "AGAIN", 9)
    for module in (polling, counted_loops):
        monkeypatch.setattr(module, "POLL", 1 << 12)

    def endless(marks, n):
        found = None
        for mark in marks:
            i = 0
            while i >= 0:
                i = (i + n) % 7 if n else -1
            found = mark
        return found

    marks = [object() for _ in range(3)]
    native = ag.function(endless, engine="native")
    assert native(marks, 0) is marks[-1]
    counts = [sys.getrefcount(mark) for mark in marks]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    try:
        native(marks, 3)
    except KeyboardInterrupt as error:
        del error
    else:
        raise AssertionError("it was not interrupted")
    finally:
        signal.signal(signal.SIGINT, before)
    timer.join()
    assert [sys.getrefcount(mark) for mark in marks] == counts


def test_what_takes_llvm_long(monkeypatch):
    """Baseline code has no `switch`, compares no Booleans, and calls in one place what looks at signals."""
    monkeypatch.setattr(polling, "POLL", 1 << 16)

    def odd(x, flags):
        total = 0.0
        for i in range(len(x)):
            if flags[i] == (x[i] > 0.5):
                j = 0
                while j < i and x[j] < 1.0:
                    total += x[j]
                    j += 1
        return total

    args = np.linspace(0, 2, 20), np.arange(20) % 3 == 0
    native = ag.function(odd, engine="native")
    assert native(*args) == odd(*args)
    ((version,),) = [region.compiled for region in regions(native)]
    text = version.code.baseline.text
    assert text.count("call i32 @PyErr_CheckSignals") == 1 and "PyErr_CheckSignals" in text.partition("suspend:")[2]
    assert "switch" not in text and not re.search(r"icmp ne i1 \S+, false", text)


def test_threads(monkeypatch):
    """While one thread runs baseline code, another one makes good code."""
    monkeypatch.setattr(tier_up, "PATIENCE", 1.0)
    native = ag.function(nested, engine="native")
    wanted = nested(40)
    found = []
    threads = [threading.Thread(target=lambda: found.append(native(40))) for _ in range(6)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert found == [wanted] * 6 and native(40) == wanted
