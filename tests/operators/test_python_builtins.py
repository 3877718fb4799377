"""Builtins called through `ag__` are those builtins, errors included; staged arguments go to the backend."""

import builtins
import io
from functools import partial

import pytest

import autograph.operators as ag__
from tests.recording import Staged, recorded

NAMES = [
    "range", "len", "print", "enumerate", "zip", "map", "filter", "int", "float", "bool", "complex", "min", "max",
    "sum", "any", "all", "sorted", "reversed", "str", "repr", "ascii", "format", "ord", "chr", "type", "iter", "next",
    "list", "tuple", "set", "frozenset", "dict",
]  # fmt: skip


def key(x):
    return -x


ARGUMENTS = [(), (5,), ("5",), ([3, 1, 2],), (None,), ([1], [2]), (1, 2, 3, 4)]
CALLS = [
    *((name, args, {}) for name in NAMES for args in ARGUMENTS),
    *((name, ([3, 1, 2],), {"nonsense": 1}) for name in NAMES if name != "print"),
    ("int", ("ff",), {"base": 16}),
    ("int", ("ff", 16), {}),
    ("min", ([],), {"default": 7}),
    ("max", (3, 1, 2), {"key": key}),
    ("sorted", ([3, 1, 2],), {"key": key, "reverse": True}),
    ("sum", ([[1], [2]],), {"start": []}),
    ("enumerate", ("ab",), {"start": 3}),
    ("zip", ([1, 2], [3]), {"strict": True}),
    ("map", (pow, [2, 3], [4, 5]), {}),
    ("filter", (None, [0, 1]), {}),
    ("complex", (), {"real": 1, "imag": 2}),
    ("range", (1, 10, 3), {}),
    ("str", (b"a", "ascii"), {}),
    ("format", (5, "03d"), {}),
    ("iter", (int, 0), {}),
    ("next", (iter(()), 7), {}),
    ("next", (iter(()),), {}),
    ("dict", ([("a", 1)],), {"b": 2}),
]  # fmt: skip


def outcome(function, args, kwargs):
    try:
        result = function(*args, **kwargs)
        return type(result), list(result) if hasattr(result, "__next__") else result
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("tracing", [None, False, True])
@pytest.mark.parametrize(("name", "args", "kwargs"), CALLS)
def test_same_results_and_same_errors(name, args, kwargs, tracing):
    expected = outcome(getattr(builtins, name), args, kwargs)
    if tracing is None:
        assert outcome(getattr(ag__, name + "_"), args, kwargs) == expected
    else:
        with recorded(tracing):
            assert outcome(getattr(ag__, name + "_"), args, kwargs) == expected


def test_print():
    file = io.StringIO()
    ag__.print_(1, "a", sep="-", end="!", file=file)
    assert file.getvalue() == "1-a!"


@pytest.mark.parametrize("name", [name for name in NAMES if name != "type"])  # on which everything rests
def test_replaced_builtins_are_seen(name):
    original, operator = getattr(builtins, name), getattr(ag__, name + "_")
    setattr(builtins, name, lambda *args: ("replaced", args))  # not by monkeypatch, which needs its builtins
    try:
        result = operator([1])
    finally:
        setattr(builtins, name, original)
    assert result == ("replaced", ([1],))


@pytest.mark.parametrize("name", NAMES)
def test_staged_arguments_reach_the_backend(name):
    args = (None, Staged("x")) if name in ("map", "filter") else (Staged("x"),)
    with recorded() as backend:
        assert getattr(ag__, name + "_")(*args).text.startswith(name + "(")
    assert backend.log == [(name, *(["None", "x"] if len(args) == 2 else ["x"]))]


def test_staged_bounds_and_companions():
    with recorded() as backend:
        assert repr(ag__.range_(2, Staged("n"))) == "Staged(range(2, n))"
        assert repr(ag__.zip_([1], Staged("xs"))) == "Staged(zip([1], xs))"
        assert repr(ag__.max_(1, Staged("x"))) == "Staged(max(1, x))"
        total = 0

        def loop_body(pair):
            nonlocal total
            total += pair[1]

        ag__.for_stmt(ag__.enumerate_(ag__.range_(Staged("n"))), loop_body, ("total",))
    assert backend.constructs == ["range", "zip", "max", "range", "enumerate", "for_stmt"]


def test_functions_handed_to_builtins_are_converted_while_tracing():
    from autograph.operators.calls import set_converter

    before = set_converter(lambda function: lambda x: ("converted", x))
    try:
        with recorded(tracing=True):
            assert list(ag__.map_(key, [1])) == [("converted", 1)]
            assert ag__.sorted_([1, 2], key=key) == [1, 2]  # by ("converted", x), not by -x
            assert next(ag__.iter_(partial(key, 1), None)) == ("converted", 1)
    finally:
        set_converter(before)
