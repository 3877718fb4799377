"""Each call follows the state of the process: contexts, locale, time zone, limits, registries."""

from __future__ import annotations

import abc
import ast
import calendar
import codecs
import contextlib
import contextvars
import copy
import copyreg
import csv
import datetime
import decimal
import fractions
import gc
import importlib
import inspect
import io
import itertools
import json
import locale
import logging
import mimetypes
import numbers
import os
import pickle
import pprint
import random
import re
import reprlib
import signal
import statistics
import string
import sys
import threading
import time
import types
import typing
import uuid
import warnings
import zoneinfo
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.common import trace_rules
from autograph.runtime.graph.object_model import is_made_anew
from autograph.runtime.graph.opdef import op_of
from autograph.runtime.tracing.calls.dispatch import makes_classes
from autograph.runtime.tracing.calls.stand_ins import _asks, _makes_anew, is_impure
from autograph.runtime.tracing.environment.process_settings import asks_locale, fields, guarded
from autograph.runtime.tracing.proxies.context import Environment, TraceContext
from autograph.runtime.tracing.state.trace import Trace
from tests.runtime.changing import check_each_step

Case = Callable[[], Iterator[Any]]
CASES: list[Case] = []


def case(function: Case) -> Case:
    CASES.append(function)
    return function


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    here, limit, weekday = os.getcwd(), sys.get_int_max_str_digits(), calendar.firstweekday()
    spoken, mask, path = locale.setlocale(locale.LC_ALL), os.umask(0o22), list(sys.path)
    with decimal.localcontext(), np.printoptions(), np.errstate(), warnings.catch_warnings():
        yield
    os.chdir(here)
    os.umask(mask)
    sys.path[:] = path
    sys.set_int_max_str_digits(limit)
    calendar.setfirstweekday(weekday)
    locale.setlocale(locale.LC_ALL, spoken)
    monkeypatch.undo()
    time.tzset()


def other_locale(category: int = locale.LC_ALL) -> None:
    """Set another locale of which numbers are written in another way; skip if there is none."""
    for name in ("de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "en_US.UTF-8", "en_US.utf8"):
        with contextlib.suppress(locale.Error):
            locale.setlocale(category, name)
            return
    pytest.skip("there is only the locale C")


def zone(name: str) -> None:
    os.environ["TZ"] = name
    time.tzset()


# Decimals -------------------------------------------------------------------------------------------------------------

THREE, LONG_ONE = Decimal(3), Decimal("1.23456789012345678901234567890123456789")


@case
def decimals():
    yield lambda x: (THREE**-1, Decimal(1) / THREE, +LONG_ONE, THREE.sqrt(), x)
    decimal.getcontext().prec = 5
    yield
    decimal.getcontext().rounding = decimal.ROUND_UP
    yield
    decimal.getcontext().prec = 28
    yield


@case
def decimals_in_containers():
    holder = types.SimpleNamespace(value=THREE, several=[THREE, LONG_ONE], table={"a": (THREE,)})
    yield lambda x: (1 / holder.value, [-each for each in holder.several], holder.table["a"][0] / 7, x)
    decimal.getcontext().prec = 4
    yield


@case
def decimals_made_of_texts():
    yield lambda x: (Decimal("1") / Decimal("7"), Decimal("abc").is_nan(), x)
    decimal.getcontext().prec = 3
    yield
    decimal.getcontext().traps[decimal.InvalidOperation] = False
    yield
    decimal.getcontext().traps[decimal.InvalidOperation] = True
    yield


@case
def decimals_as_texts():
    big = Decimal("1E+40")
    yield lambda x: (str(big), f"{big}", f"{LONG_ONE:.3f}", "%s" % big, round(LONG_ONE, 3), repr(big), x)  # noqa: UP031
    decimal.getcontext().capitals = 0
    yield
    decimal.getcontext().rounding = decimal.ROUND_UP
    yield


@case
def contexts_of_decimals():
    yield lambda x: (decimal.getcontext().prec + x, decimal.getcontext().create_decimal("1.2345678"))
    decimal.getcontext().prec = 6
    yield
    decimal.setcontext(decimal.Context(prec=3))
    yield
    with decimal.localcontext() as context:
        context.prec = 2
        yield
    yield


@case
def decimals_and_floats():
    yield lambda x: (THREE == 3.0, THREE < 4.5, x)
    decimal.getcontext().traps[decimal.FloatOperation] = True
    yield


@case
def statistics_of_decimals():
    values = [Decimal(1), Decimal(2), Decimal(4)]
    yield lambda x: (statistics.mean(values), sum(values) / 3, max(values) / 7, x)
    decimal.getcontext().prec = 4
    yield


@case
def numbers_by_threads():
    found: list[Any] = []

    def f(x):
        return 1 / THREE, x

    yield f
    staged = ag.function(f)
    decimal.getcontext().prec = 4
    thread = threading.Thread(target=lambda: found.extend((staged(1), f(1))))
    thread.start()
    thread.join()
    assert found[0] == found[1]
    yield


# Integers and texts ---------------------------------------------------------------------------------------------------

DIGITS, HUGE = "7" * 3000, 10**3000


def _limits() -> Iterator[None]:
    for limit in (640, 0, 2000, 4300, 2000):
        sys.set_int_max_str_digits(limit)
        yield


LIMITED: dict[str, Callable[[Any], Any]] = {
    "str": lambda x: len(str(HUGE)) + x,
    "repr": lambda x: len(repr(HUGE)) + x,
    "format": lambda x: len(format(HUGE, "d")) + x,
    "f-string": lambda x: len(f"{HUGE}") + x,
    "percent": lambda x: len("%d" % HUGE) + x,  # noqa: UP031
    "str.format": lambda x: len("{}".format(HUGE)) + x,  # noqa: UP032
    "in a list": lambda x: len(str([HUGE])) + x,
    "in a tuple": lambda x: len(f"{(HUGE, 1)}") + x,
    "int": lambda x: int(DIGITS) % 10 + x,
    "computed": lambda x: len(str(10**2500 + 1)) + x,
    "literal_eval": lambda x: ast.literal_eval(DIGITS) % 10 + x,
    "json.dumps": lambda x: len(json.dumps(HUGE)) + x,
    "json.loads": lambda x: json.loads(DIGITS) % 10 + x,
    "fractions": lambda x: len(str(fractions.Fraction(HUGE))) + x,
    "Fraction": lambda x: fractions.Fraction(DIGITS) % 10 + x,
    "pformat": lambda x: len(pprint.pformat(HUGE)) + x,
    "bytes": lambda x: len(b"%d" % HUGE) + x,
    "__str__": lambda x: len(HUGE.__str__()) + x,
    "int.__repr__": lambda x: len(int.__repr__(HUGE)) + x,
    "map": lambda x: len("".join(map(str, [HUGE, 1]))) + x,
    "join": lambda x: len(",".join(str(each) for each in (HUGE, 1))) + x,
    "template": lambda x: len(string.Template("$a").substitute(a=HUGE)) + x,
    "hex": lambda x: len(hex(HUGE)) + x,
    "short": lambda x: len(str(10**30)) + x,
}


def caught(x):
    try:
        return len(str(HUGE)) + x
    except ValueError:
        return -x


LIMITED["caught"] = caught

for name, limited in LIMITED.items():

    def _case(limited: Any = limited) -> Iterator[Any]:
        yield limited
        yield from _limits()

    _case.__name__ = f"digits of integers, {name}"
    CASES.append(_case)


@case
def the_limit_itself():
    yield lambda x: sys.get_int_max_str_digits() + x
    yield from _limits()


@case
def numbers_by_the_locale():
    n, price, parts = 1234567, 1234.5, ("{:n}", "n")
    yield lambda x: (f"{n:n}", format(price, "n"), "{:n}".format(n), format(n, parts[1]), parts[0].format(n), x)  # noqa: UP032
    other_locale()
    yield
    locale.setlocale(locale.LC_ALL, "C")
    yield


@case
def numbers_by_the_locale_otherwise():
    n = 1234567
    yield lambda x: (n.__format__("n"), string.Formatter().format("{:n}", n), locale.format_string("%d", n, True), x)
    other_locale()
    yield


@case
def dates_by_the_locale():
    day = datetime.date(2024, 3, 4)
    yield lambda x: (day.strftime("%A %B"), f"{day:%A}", format(day, "%B"), "{:%a}".format(day), x)  # noqa: UP032
    other_locale()
    yield


@case
def names_of_days():
    yield lambda x: (calendar.day_name[0], calendar.month_abbr[3], calendar.month(2024, 2), x)
    other_locale()
    yield


@case
def patterns_by_the_locale():
    pattern = re.compile(rb"(?L)\w+")
    yield lambda x: (pattern.match(b"\xe9") is None, re.findall(rb"(?L)\w", b"a\xe9"), locale.localeconv(), x)
    other_locale()
    yield


# Time -----------------------------------------------------------------------------------------------------------------

NOON = datetime.datetime(2024, 7, 1, 12)


@case
def time_zones():
    zone("UTC")
    yield lambda x: (NOON.timestamp(), NOON.astimezone(datetime.timezone.utc), NOON.astimezone().tzname(), x)
    zone("EST+5EDT,M3.2.0,M11.1.0")
    yield
    zone("UTC")
    yield


@case
def times_of_stamps():
    zone("UTC")
    aware = NOON.replace(tzinfo=datetime.timezone.utc)
    yield lambda x: (
        datetime.datetime.fromtimestamp(0),
        datetime.date.fromtimestamp(0),
        aware.astimezone().strftime("%H %Z"),
        f"{aware.astimezone():%H %Z}",
        time.localtime(0).tm_hour,
        time.timezone,
        time.tzname,
        time.mktime((2024, 1, 1, 0, 0, 0, 0, 1, 0)),
        x,
    )
    zone("EST+5")
    yield
    zone("CET-1CEST")
    yield


@case
def times_of_numpy():
    zone("UTC")
    stamp = np.datetime64("2024-01-01T00:00")
    yield lambda x: (np.datetime_as_string(stamp, timezone="local"), str(stamp), x)
    zone("EST+5")
    yield


@case
def zones_by_name():
    yield lambda x: (zoneinfo.TZPATH, zoneinfo.ZoneInfo("UTC").utcoffset(None), len(zoneinfo.available_timezones()), x)
    zoneinfo.reset_tzpath(to=())
    yield
    zoneinfo.reset_tzpath()
    yield


def test_now_and_today_are_now_and_today() -> None:
    asked = ag.function(lambda x: (np.datetime64("today"), np.datetime64("now", "ms"), np.array("now", "M8[us]"), x))
    assert asked(1)[0] <= asked(1)[1] <= asked(1)[2]
    assert [str(asked.graph(1)).count(when) for when in ("'today'", "'now'")] == [1, 2]


@case
def the_first_day_of_the_week():
    yield lambda x: (calendar.firstweekday() + x, calendar.monthcalendar(2024, 2), calendar.week([(1, 0)], 2))
    calendar.setfirstweekday(3)
    yield
    calendar.setfirstweekday(6)
    yield


# Registries and settings ----------------------------------------------------------------------------------------------


class Point:
    def __init__(self, v: Any = 1) -> None:
        self.v = v


@case
def what_is_copied_and_pickled():
    point = Point(1)
    yield lambda x: (copy.copy(point).v, copy.deepcopy([point])[0].v, len(pickle.dumps(point)) > 0, x)
    copyreg.pickle(Point, lambda point: (Point, (7,)))
    yield
    del copyreg.dispatch_table[Point]
    yield


@case
def pickles():
    yield lambda x: (pickle.dumps(1j), pickle.dumps((1, "a"), 2), pickle.loads(pickle.dumps(3)), x)
    copyreg.pickle(complex, lambda number: (complex, (9, 9)))
    yield
    copyreg.pickle(complex, copyreg.pickle_complex)
    yield


@case
def dialects():
    text = ["a;b,c"]
    csv.register_dialect("of_the_test", delimiter=";")
    yield lambda x: (list(csv.reader(text, "of_the_test")), csv.list_dialects(), csv.field_size_limit(), x)
    csv.register_dialect("of_the_test", delimiter=",")
    yield
    before = csv.field_size_limit(10)
    yield
    csv.field_size_limit(before)
    csv.unregister_dialect("of_the_test")
    yield


@case
def encoders():
    yield lambda x: (json.dumps({"a": 1, "b": [1.5]}), json.loads("[1, 2.5]"), x)
    before = json.JSONEncoder.item_separator
    json.JSONEncoder.item_separator = ";"
    json._default_encoder = json.JSONEncoder()
    yield
    json.JSONEncoder.item_separator = before
    json._default_encoder = json.JSONEncoder()
    yield


@case
def short_texts():
    yield lambda x: (reprlib.repr("a" * 100), reprlib.repr(list(range(50))), x)
    reprlib.aRepr.maxstring, reprlib.aRepr.maxlist = 10, 3
    yield
    reprlib.aRepr.maxstring, reprlib.aRepr.maxlist = 30, 6
    yield


@case
def codecs_and_errors():
    codecs.register_error("of_the_test", lambda error: ("?", error.end))
    yield lambda x: ("é".encode("ascii", "of_the_test"), b"\xff".decode("utf-8", "replace"), x)
    codecs.register_error("of_the_test", lambda error: ("!", error.end))
    yield


@case
def abstract_numbers():
    class Number:
        pass

    number = Number()
    yield lambda x: (isinstance(number, numbers.Number), isinstance(x, numbers.Integral))
    numbers.Number.register(Number)
    yield


@case
def tokens():
    yield lambda x: (abc.get_cache_token() >= 0, x)
    yield


@case
def hints():
    def helper(a: int) -> str:
        return str(a)

    yield lambda x: (typing.get_type_hints(helper), str(inspect.signature(helper)), x)
    helper.__annotations__["a"] = float
    yield
    helper.__defaults__ = (3,)
    yield


@case
def mime_types():
    yield lambda x: (mimetypes.guess_type("a.of_the_test"), x)
    mimetypes.add_type("text/test", ".of_the_test")
    yield


@case
def print_options():
    numbers, single = np.arange(3) / 3, np.float64(1.5)
    yield lambda x: (str(numbers), np.array2string(numbers), f"{numbers}", str(single), np.array_repr(numbers), x)
    np.set_printoptions(precision=2)
    yield
    np.set_printoptions(legacy="1.25")
    yield


@case
def print_options_of_numbers():
    single = np.float64(1.5)
    yield lambda x: (repr(single), f"{single!r}", str([single]), x)
    np.set_printoptions(legacy="1.25")
    yield
    np.set_printoptions(legacy=False)
    yield


@case
def errors_of_numpy():
    yield lambda x: (np.geterr(), np.getbufsize(), x)
    np.seterr(all="ignore")
    yield
    before = np.setbufsize(1 << 14)
    yield
    np.setbufsize(before)
    yield


# The process ----------------------------------------------------------------------------------------------------------


@case
def limits_of_the_process():
    yield lambda x: (sys.getrecursionlimit(), sys.getswitchinterval(), gc.isenabled(), gc.get_threshold(), x)
    recursion, interval, threshold = sys.getrecursionlimit(), sys.getswitchinterval(), gc.get_threshold()
    sys.setrecursionlimit(recursion + 7)
    yield
    sys.setswitchinterval(0.01)
    yield
    gc.disable()
    yield
    gc.enable()
    gc.set_threshold(threshold[0] + 1, *threshold[1:])
    yield
    sys.setrecursionlimit(recursion)
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)


@case
def folders_and_environment():
    yield lambda x: (os.getcwd(), os.path.abspath("a"), os.environ.get("OF_THE_TEST"), os.path.expandvars("$HOME"), x)
    os.chdir("/")
    yield
    os.environ["OF_THE_TEST"] = "1"
    yield
    del os.environ["OF_THE_TEST"]
    yield


@case
def what_sys_holds():
    yield lambda x: (
        len(sys.path),
        "module_of_the_test" in sys.modules,
        sys.argv[0],
        sys.dont_write_bytecode,
        sys.stdout is sys.__stdout__,
        getattr(sys, "ps1", None),
        getattr(sys, "tracebacklimit", None),
        x,
    )
    sys.path.append("other")
    yield
    sys.modules["module_of_the_test"] = types.ModuleType("module_of_the_test")
    yield
    del sys.modules["module_of_the_test"]
    sys.dont_write_bytecode = not sys.dont_write_bytecode
    yield
    sys.dont_write_bytecode = not sys.dont_write_bytecode
    sys.tracebacklimit = 5
    yield
    del sys.tracebacklimit
    yield


@case
def levels_and_handlers():
    logger = logging.getLogger("of the test")
    yield lambda x: (
        logger.level,
        logger.isEnabledFor(10),
        logging.getLogger("of the test").getEffectiveLevel(),
        logging.getLevelName(15),
        signal.getsignal(signal.SIGUSR1),
        x,
    )
    logger.setLevel(5)
    yield
    logging.disable(50)
    yield
    logging.disable(0)
    logging.addLevelName(15, "OF THE TEST")
    yield
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGUSR1, before)
    yield


@case
def filters_of_warnings():
    yield lambda x: (len(warnings.filters), warnings.filters[0][0], x)
    warnings.simplefilter("error")
    yield


@case
def variables_of_contexts():
    variable = contextvars.ContextVar("of the test", default=1)
    yield lambda x: (variable.get() + x, contextvars.copy_context().get(variable))
    token = variable.set(2)
    yield
    variable.reset(token)
    yield


@case
def subclasses_and_names():
    yield lambda x: (Point.__subclasses__(), threading.current_thread().name, threading.active_count(), x)
    kind = type("Other", (Point,), {})
    yield
    del kind
    threading.current_thread().name, before = "of the test", threading.current_thread().name
    yield
    threading.current_thread().name = before
    yield


@case
def names_that_are_made_of_others():
    yield lambda x: (uuid.uuid5(uuid.NAMESPACE_DNS, "a"), x)
    yield


@pytest.mark.parametrize("case", CASES, ids=lambda each: each.__name__.replace("_", " "))
def test_the_state_of_the_process_is_looked_at_by_every_call(case: Case) -> None:
    check_each_step(case)


# All that is taken for pure -------------------------------------------------------------------------------------------

# Those that are staged in a way of their own, wait for a person, or end the process.
LEFT_OUT = frozenset(
    """input print open exec eval compile breakpoint help exit quit copyright credits license __import__ __build_class__
    globals locals vars dir id hash iter aiter anext next memoryview""".split()
)
SAMPLES: list[Any] = [
    *(3, -2, 2.5, None, "a b", "3", "%Y-%m-%d %H", "n", "{:n}", b"ab", (1, 2), [3, 1], {"a": 1}),
    *(NOON, NOON.date(), NOON.time(), datetime.timedelta(hours=1), datetime.timezone.utc, fractions.Fraction(1, 3)),
    *(re.compile("a"), np.float64(1.5), np.datetime64("2024-01-01"), np.dtype("f8"), int, 1j, slice(1), range(3)),
]


class _Guards(Environment):
    """Counts the guards."""

    def __init__(self) -> None:
        self.count = 0

    def guard(self, condition: Any, what: str) -> None:
        self.count += 1


class _Context(TraceContext):
    def __init__(self) -> None:
        self.environment = self.guards = _Guards()


def _pure_functions() -> Iterator[Any]:
    for name in sorted(trace_rules.PURE):
        with contextlib.suppress(ImportError):
            yield from _of_module(importlib.import_module(name))
    yield from _of_module(np)
    for kind in sorted({type(each) for each in SAMPLES} - {type, type(len)}, key=repr):
        members = (getattr(kind, name) for name in dir(kind))
        yield from (member for member in members if callable(member) and hasattr(member, "__name__"))


def _of_module(module: types.ModuleType) -> Iterator[Any]:
    for name, value in sorted(vars(module).items()):
        if callable(value) and not (isinstance(value, type) and issubclass(value, BaseException)) and name[0] != "_":
            yield value


def _is_called_while_tracing(function: Any) -> bool:
    name = getattr(function, "__name__", "")
    owner = None if isinstance(function, type) else getattr(function, "__objclass__", None)
    if name in LEFT_OUT or name in ("__init__", "__init_subclass__", "__del__", "__subclasshook__", "__hash__"):
        return False
    if owner is not None and trace_rules.is_impure(str(owner.__module__), name):
        return False
    if op_of(function) is not None or is_impure(function) or makes_classes(function):
        return False
    return not (isinstance(function, type) and (is_made_anew(function) or issubclass(function, type)))


def _calls(function: Any) -> Iterator[tuple[Any, ...]]:
    """Some calls, most of which raise an error, none of which takes long."""
    yield ()
    yield from ((each,) for each in (*SAMPLES, DIGITS, HUGE))
    yield from itertools.product(SAMPLES, SAMPLES[:10])


def _given(function: Any, args: tuple[Any, ...]) -> Any:
    """The result of a call, if it needs no guard and is not left to the graph."""
    context = _Context()
    trace = Trace("pure", context)
    args = copy.deepcopy(args)
    owner = None if isinstance(function, type) else getattr(function, "__objclass__", None)
    bound = getattr(args[0], function.__name__, function) if owner and args and isinstance(args[0], owner) else function
    given = args[1:] if bound is not function else args
    if is_impure(bound) or _asks(bound, given, {}) or asks_locale(bound, given):
        return None
    try:
        result = guarded(trace, lambda: bound(*given), args, fields(args[0]) if args else ())
    except Exception as error:
        result = error
    text, limit = "", sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    with contextlib.suppress(Exception):  # of what was made of things that make no sense
        text = str(result) if isinstance(result, Exception) else repr(result)
    sys.set_int_max_str_digits(limit)
    return None if context.guards.count or _makes_anew(result) or " at 0x" in text else (type(result), text)


def _other_state() -> None:
    decimal.getcontext().prec = 4
    zone("EST+5")
    with contextlib.suppress(pytest.skip.Exception):
        other_locale()
    sys.set_int_max_str_digits(640)
    calendar.setfirstweekday(3)
    os.chdir("..")
    np.set_printoptions(precision=3)
    np.random.seed(2)
    random.seed(2)
    os.environ["OF_THE_TEST"] = "changed"


@pytest.mark.parametrize("number", range(4))
def test_what_is_taken_for_pure_gives_the_same_whatever_the_state_of_the_process(number: int, tmp_path: Path) -> None:
    zone("UTC")
    folder = tmp_path / "inner"
    folder.mkdir()
    os.chdir(folder)
    unique = {id(each): each for each in _pure_functions() if _is_called_while_tracing(each)}
    functions = list(unique.values())[number::4]
    assert len(functions) > 50
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as printed:
        warnings.simplefilter("ignore")
        calls = [(function, args) for function in functions for args in _calls(function)]
        before = [_given(function, args) for function, args in calls]
        _other_state()
        after = [_given(function, args) for function, args in calls]
    sys.set_int_max_str_digits(0)
    different = [(each, one, two) for each, one, two in zip(calls, before, after) if one != two and one and two]
    assert different == []
    assert printed.getvalue() == ""
    assert list(tmp_path.rglob("*")) == [folder]
