"""Law 1: converting a function changes nothing about what it does, nor about how it looks from outside.

What it does is tried on the corpus (tests/test_corpus.py) and on drawn programs (tests/test_fuzz.py); here, on the
standard library, and on everything about a function besides its calls.
"""

from __future__ import annotations

import colorsys
import copy
import difflib
import fnmatch
import fractions
import gc
import heapq
import inspect
import json.decoder
import linecache
import os
import pickle
import posixpath
import pprint
import shlex
import statistics
import string
import sys
import textwrap
import threading
import types
import urllib.parse
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from autograph import api
from tests import corpus, outcomes
from tests.test_corpus import ENTRIES

TEXT = "'''The quick brown fox jumps over the lazy dog. ''' * 5"

LIBRARY = [
    (colorsys.rgb_to_hsv, ".2, .4, .1"),
    (colorsys.hls_to_rgb, ".2, .4, .1"),
    (colorsys.rgb_to_yiq, "1, 0, 'x'"),
    (copy.deepcopy, "{'a': [1, (2, [3])], 'b': {4}}"),
    (difflib.get_close_matches, "'appel', ['ape', 'apple', 'peach', 'puppy']"),
    (difflib.unified_diff, "'one two three'.split(), 'one four three'.split(), lineterm=''"),
    (difflib.ndiff, "['one\\n', 'two\\n'], ['one\\n', 'tree\\n', 'emu\\n']"),
    (fnmatch.translate, "'a*[!b-d]?.py'"),
    (heapq.merge, "[1, 4, 7], [2, 5], [0, 9], key=lambda x: -x"),
    (heapq.nsmallest, "3, [5, 1, 4, 1, 3], key=abs"),
    (heapq.nlargest, "2, 'heapq'"),
    (json.decoder.py_scanstring, "'a\\\\n\\\\u00e9\" rest', 0"),
    (json.decoder.py_scanstring, "'unterminated', 0"),
    (posixpath.relpath, "'/a/b/c', '/a/d'"),
    (pprint.pformat, "{'k': list(range(30)), 'z': 'text ' * 30}, width=40"),
    (shlex.split, "'a \"b c\" d\\\\ e # f', comments=True"),
    (shlex.split, "'no closing \"quotation'"),
    (shlex.quote, "\"it's\""),
    (statistics.mean, "[1, 2, 3.5]"),
    (statistics.median, "[]"),
    (statistics.quantiles, "[1, 5, 2, 8, 3], n=4, method='inclusive'"),
    (statistics.multimode, "'aabbc'"),
    (string.capwords, "'hello  world', None"),
    (textwrap.fill, f"{TEXT}, 30"),
    (textwrap.shorten, f"{TEXT}, 30"),
    (textwrap.dedent, "'  a\\n    b\\n  c'"),
    (urllib.parse.urljoin, "'http://a/b/c/d', '../../g?x#y'"),
    (urllib.parse.parse_qsl, "'a=1&b=%20&c', keep_blank_values=True"),
    (urllib.parse.quote, "'ü /?'"),
]


@pytest.mark.parametrize("function, arguments", LIBRARY, ids=lambda value: getattr(value, "__qualname__", ""))
def test_standard_library(function: Callable[..., Any], arguments: str) -> None:
    wanted = outcomes.run(function, arguments)
    assert outcomes.run(api.to_graph(function), arguments, function.__globals__) == wanted


def test_fractions_as_methods() -> None:
    limit = api.to_graph(fractions.Fraction.limit_denominator)
    assert limit(fractions.Fraction("3.1415926"), 100) == fractions.Fraction(311, 99)
    with pytest.raises(ValueError, match="max_denominator should be at least 1"):
        limit(fractions.Fraction(1), 0)


ATTRIBUTES = ("__name__", "__qualname__", "__module__", "__doc__", "__defaults__", "__kwdefaults__", "__annotations__")
FLAGS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR | inspect.CO_COROUTINE


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_looks_the_same_from_outside(entry: corpus.Entry) -> None:
    original, converted = entry.function, api.to_graph(entry.function)
    for name in (*ATTRIBUTES, "__type_params__", "__globals__"):
        assert getattr(converted, name, None) == getattr(original, name, None), name
    assert inspect.signature(converted) == inspect.signature(original)
    assert converted.__wrapped__ is original
    assert converted.calls is entry.calls
    one, two = original.__code__, converted.__code__
    assert one.co_flags & FLAGS == two.co_flags & FLAGS
    assert one.co_varnames[: one.co_argcount] == two.co_varnames[: two.co_argcount]
    assert (one.co_posonlyargcount, one.co_kwonlyargcount) == (two.co_posonlyargcount, two.co_kwonlyargcount)


def make_pair() -> tuple[Callable[..., Any], Callable[..., Any]]:
    count = 0

    def step(by: int = 1) -> int:
        nonlocal count
        for _ in range(by):
            count += 1
        return count

    return step, api.to_graph(step)


def test_closures_are_shared() -> None:
    step, converted = make_pair()
    assert (step(2), converted(3), step(), converted()) == (2, 5, 6, 7)
    assert converted.__closure__[0] is step.__closure__[0]


def test_globals_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    converted = api.to_graph(corpus.module("scoping").global_in_loop)
    assert converted.__globals__ is vars(corpus.module("scoping"))
    assert converted(3) == corpus.module("scoping").counter


def test_defaults_are_shared() -> None:
    def collect(x: int, into: list[int] = []) -> list[int]:  # noqa: B006
        if x:
            into.append(x)
        return into

    converted = api.to_graph(collect)
    assert collect(1) is converted(2)
    assert collect(0) == [1, 2]


def test_conversion_leaves_nothing_behind() -> None:
    def fresh(n: int) -> int:
        while n > 3:
            n -= 1
        return n

    api.to_graph(corpus.module("jumps").find)
    modules, cached, files = set(sys.modules), set(linecache.cache), set(os.listdir())
    assert api.to_graph(fresh)(5) == 3
    assert set(sys.modules) == modules
    assert set(os.listdir()) == files
    assert set(linecache.cache) - cached <= {__file__}


def test_conversion_is_forgotten_with_its_function() -> None:
    functions = []
    for i in range(3):
        names = outcomes.execute(f"def f(x):\n    if x:\n        return {i}\n", f"<forgotten {i}>")
        functions.append(weakref.ref(names["f"].__code__))
        assert api.to_graph(names["f"])(1) == i
        del names
    gc.collect()
    assert [f() for f in functions] == [None] * 3


def test_pickles_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "from autograph import api\n@api.{}\ndef f(x):\n    if x:\n        return -x\n"
    for decorator in ("convert", "to_graph", "do_not_convert"):
        module = types.ModuleType("pickled")
        monkeypatch.setitem(sys.modules, "pickled", module)
        vars(module).update(outcomes.execute(text.format(decorator), f"<pickled {decorator}>"))
        module.f.__module__ = "pickled"
        assert pickle.loads(pickle.dumps(module.f)) is module.f
        assert copy.deepcopy(module.f) is module.f


def test_threads_convert_at_the_same_time() -> None:
    functions = [entry.function for entry in ENTRIES[:60]] * 3
    answers: list[Any] = []

    def work() -> None:
        answers.append([api.to_graph(f).__code__ for f in functions])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4
    assert all(answer == answers[0] for answer in answers)
