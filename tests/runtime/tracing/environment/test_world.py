"""Each call looks up the state of the world outside the program again."""

from __future__ import annotations

import array
import collections
import contextvars
import datetime
import functools
import io
import os
import pathlib
import queue
import random
import sys
import threading
import time
import types
import unittest.mock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autograph as ag

FILE, QUEUE, CONTEXT, LOCAL = Path(), queue.Queue(), contextvars.ContextVar("context"), threading.local()
ARRAY, TABLE = array.array("d", [0.0]), {}
PROXY, CHAIN, MOCK = types.MappingProxyType(TABLE), collections.ChainMap(TABLE), unittest.mock.Mock()


def environment(x):
    return os.environ["AUTOGRAPH_TEST"], os.getenv("AUTOGRAPH_TEST")


def arguments_of_the_program(x):
    return sys.argv[0] * 2


def files(x):
    other = FILE.parent / "other"
    return FILE.read_text(), other.exists(), os.path.exists(other), os.listdir(FILE.parent)


def opened(x):
    with open(FILE) as file:
        return file.read()


def queues(x):
    return QUEUE.get_nowait() * x


def contexts(x):
    return CONTEXT.get() * x, LOCAL.value * x


def buffers_and_views(x):
    return ARRAY[0] * x, PROXY["value"], CHAIN["value"] * x


@functools.lru_cache
def scaled(n):
    return TABLE["value"] * n


def caches(x):
    return scaled(2) * x


def mocks(x):
    return MOCK(2) * x


def texts_in_memory(x):
    text = io.StringIO()
    print(x, file=text)
    print("to stdout", file=sys.stdout)
    return text.getvalue()


def limits(x):
    return sys.getrecursionlimit() + x


def change(number: int, folder: Path) -> None:
    """Make the world another one."""
    os.environ["AUTOGRAPH_TEST"] = sys.argv[0] = str(number)
    globals()["FILE"] = folder / "file"
    FILE.write_text(str(number))
    other = folder / "other"
    other.touch() if number % 2 else other.unlink(missing_ok=True)
    QUEUE.put(number)
    CONTEXT.set(number)
    LOCAL.value = ARRAY[0] = TABLE["value"] = number
    scaled.cache_clear()
    MOCK.return_value = number
    sys.setrecursionlimit(1000 + number)


CASES = [
    *(environment, arguments_of_the_program, files, opened, queues, contexts),
    *(buffers_and_views, caches, mocks, texts_in_memory, limits),
]


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("AUTOGRAPH_TEST", "")
    monkeypatch.setattr(sys, "argv", [""])
    limit = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(limit)


@pytest.mark.parametrize("function", CASES, ids=lambda each: each.__name__)
def test_the_world_is_looked_at_by_every_call(function: Callable[..., Any], tmp_path: Path, capsys: Any) -> None:
    def reported(call: Callable[..., Any]) -> list[Any]:
        found = []
        for number in range(4):
            change(number, tmp_path)
            found.append((call(1.0), capsys.readouterr().out))
            while not QUEUE.empty():
                QUEUE.get()
        return found

    assert reported(ag.function(function)) == reported(function)


@pytest.mark.parametrize(
    "tell",
    [
        lambda x: datetime.datetime.now(),
        lambda x: datetime.datetime.now(datetime.timezone.utc).timestamp() + x,
        lambda x: time.perf_counter_ns(),
        lambda x: random.Random().random() * x,
        lambda x: os.urandom(8),
        lambda x: id(threading.Lock()) and next(counted),
    ],
)
def test_no_two_calls_tell_the_same(tell: Callable[..., Any]) -> None:
    staged = ag.function(tell)
    assert len({repr(staged(1.0)) for _ in range(3) if not time.sleep(0.001)}) == 3


counted = iter(range(100))


def test_where_the_program_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    @ag.function
    def here(x):
        return pathlib.Path.cwd(), os.getcwd()

    before = here(1)
    monkeypatch.chdir(tmp_path)
    assert here(1) == (tmp_path, str(tmp_path)) != before


def test_classes_of_pure_modules_are_made_while_tracing() -> None:
    @ag.function(strict="callback")
    def weekday(x):
        day = datetime.date(2024, 1, 1)
        return day.weekday() + x if day.year > 2000 else x

    assert weekday(1) == 1


def test_libraries_that_draw_and_log_are_called_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    library = types.ModuleType("seaborn")
    vars(library)["drawn"] = drawn
    text = "def start(): drawn.append('start')\ndef plot(x, label=''): drawn.append((x, label)); return [x]"
    exec(text, vars(library))
    monkeypatch.setitem(sys.modules, "seaborn", library)

    def f(x, n, plotter):
        library.start()
        for i in range(n):
            (line,) = library.plot(x * i, label=f"{i}")
            if line > 2:
                plotter.plot(line)
        return x + 1

    staged = ag.function(f, strict="plain")
    for x, n in ((1.0, 2), (2.0, 3), (3.0, 3)):
        drawn.clear()
        wanted = f(x, n, library), list(drawn)
        drawn.clear()
        assert (staged(x, n, library), drawn) == wanted


def asks(x):
    return input("? ") + str(x)


def reads(x):
    return open("a file that is not there").read() + str(x)


def reads_what_is_asked_for(x):
    if x > 0:
        return open(input("which? ")).read() * 2
    return input("or? ")


def asks_in_another(x):
    return reads_what_is_asked_for(-x) + "!"


@pytest.mark.parametrize("where", ["builtins", __name__])
@pytest.mark.parametrize("function", [asks, reads, reads_what_is_asked_for, asks_in_another])
def test_builtins_that_tests_replace(function: Callable[..., Any], where: str) -> None:
    staged, found = ag.function(function), []

    def call(x: float) -> Any:
        try:
            return staged(x)
        except OSError as error:
            return type(error)

    for answer in "one", "two", "three":
        asked = unittest.mock.patch(f"{where}.input", lambda text, answer=answer: answer, create=True)
        text = f"{answer} {{}}".format
        read = unittest.mock.patch(f"{where}.open", lambda name, text=text: io.StringIO(text(name)), create=True)
        with asked, read:
            found += [call(1.5), call(-1.5)]
            assert found[-2:] == [function(1.5), function(-1.5)]
        if function is reads:
            assert call(1.5) is FileNotFoundError
    assert len({*found}) >= 3


def tells(x):
    print("x is", x)
    return x


def test_a_print_that_tests_replace(capsys: pytest.CaptureFixture[str]) -> None:
    staged, reported = ag.function(tells), []
    staged(1.5)
    for answer in "one", "two":
        with unittest.mock.patch("builtins.print", lambda *parts, answer=answer: reported.append((answer, *parts))):
            for each in staged, ag.function(tells), tells:  # traced before, and now
                each(2.5)
        staged(3.5)
    assert reported == [("one", "x is", 2.5)] * 3 + [("two", "x is", 2.5)] * 3
    assert capsys.readouterr().out == "x is 1.5\nx is 3.5\nx is 3.5\n"
