"""What is raised, warned of and traced inside generated functions is at the user's lines."""

import gc
import linecache
import sys
import traceback
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograph.common.code_marks import BODY
from autograph.common.line_tables import Position
from autograph.runtime.engines.numpy.engine import compile
from autograph.runtime.engines.numpy.line_table import calls, disguised
from autograph.runtime.graph.graph import Graph
from tests.runtime.engines.recording import record
from tests.runtime.engines.texts import executable


def half(x, y):
    product = x * y
    return product + (x / y)


def thirds(x, y):
    first = half(x, y)
    return first + half(
        y, x
    )


def calls_back(x, y):
    return x(y)


def failing(y):
    raise KeyError(y)


def raised(made, *args):
    """The traceback of an error, from where it enters the user's code."""
    with pytest.raises((ArithmeticError, TypeError, LookupError)) as caught:
        made(*args)
    entries = traceback.extract_tb(caught.value.__traceback__)
    own = [entry for entry in entries if "pytest" not in entry.line and entry.name not in ("raised", "__call__")]
    return [(entry.name, entry.line) for entry in own]


def line(function, number):
    """A line of a function, counted from its `def`."""
    return linecache.getline(__file__, function.__code__.co_firstlineno + number).strip()


def test_an_error_is_at_the_users_line():
    made = compile(record(half))
    assert made(1, 2) == 2.5
    assert raised(made, 1, 0) == [("half", "return product + (x / y)")]
    assert raised(made, None, 0) == [("half", "product = x * y")]


def test_each_function_that_the_user_called_has_an_entry():
    made = compile(record(thirds))
    assert raised(made, 1, 0) == [("thirds", "first = half(x, y)"), ("half", line(half, 2))]
    found = raised(made, 0, 1)
    assert found == [("thirds", line(thirds, 2)), ("half", line(half, 2))]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 knows no columns")
def test_the_very_expression_is_pointed_at():
    made = compile(record(thirds))
    with pytest.raises(ZeroDivisionError) as caught:
        made(1, 0)
    text = "".join(traceback.format_tb(caught.value.__traceback__))
    assert "    return product + (x / y)\n                      ~~^~~\n" in text


def test_what_the_users_function_calls_when_it_runs_comes_after_it():
    made = compile(record(calls_back))
    assert raised(made, failing, 1) == [("calls_back", "return x(y)"), ("failing", "raise KeyError(y)")]

    def nested(x, y):
        return calls_back(x, y)

    made = compile(record(nested))
    assert [name for name, _ in raised(made, failing, 1)] == ["nested", "calls_back", "failing"]


def test_entries_are_real_frames_in_the_users_file():
    made = compile(record(thirds))
    with pytest.raises(ZeroDivisionError) as caught:
        made(1, 0)
    last = caught.traceback[-1]
    assert (last.frame.code.raw.co_filename, last.frame.code.raw.co_name) == (__file__, "half")
    assert last.frame.code.raw.co_firstlineno == half.__code__.co_firstlineno


def test_a_helper_from_another_file():
    namespace = {}
    exec(builtin_compile("def helper(x, y):\n    return x / y\n", "other.py", "exec"), namespace)
    helper = namespace["helper"]

    def outer(x, y):
        return helper(x, y)

    made = compile(record(outer))
    with pytest.raises(ZeroDivisionError) as caught:
        made(1, 0)
    entries = traceback.extract_tb(caught.value.__traceback__)[-2:]
    assert [(entry.filename, entry.lineno) for entry in entries] == [
        (__file__, outer.__code__.co_firstlineno + 1), ("other.py", 2)
    ]  # fmt: skip


builtin_compile = __builtins__["compile"] if isinstance(__builtins__, dict) else __builtins__.compile


def test_warnings_of_numpy_are_at_the_users_line():
    made = compile(record(thirds))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made(np.float64(1), np.float64(0))
    assert [(each.filename, each.lineno) for each in caught] == [(__file__, half.__code__.co_firstlineno + 2)]


def test_debuggers_see_the_users_lines():
    made = compile(record(half))
    seen = []

    def trace(frame, event, arg):
        seen.append((frame.f_code.co_name, frame.f_lineno - half.__code__.co_firstlineno, event))
        return trace

    sys.settrace(trace)
    try:
        made.run(1, 2)
    finally:
        sys.settrace(None)
    assert {number for name, number, event in seen if name == "half" and event == "line"} >= {1, 2}


def test_a_graph_without_places_shows_its_own_text():
    made = executable("""
        graph f(x: f64, y: f64):
            %0: f64 = x + y
            print(%0)
            %1: f64 = %0 / y
            -> %1
    """)
    assert raised(made, 1, 0) == [("f", "return t1 / y")]


def test_the_generated_text_on_demand(monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_FULL_TRACEBACK", "1")
    made = compile(record(thirds))
    ((name, shown),) = raised(made, 1, 0)
    assert name == "thirds" and shown in made.source and shown != line(thirds, 1)


def test_the_text_is_forgotten_with_the_function():
    made = executable("graph forgotten(x: f64):\n    -> x")
    filename = made.run.__code__.co_filename
    assert linecache.getline(filename, 1) == "def forgotten(x):\n"
    del made
    gc.collect()
    assert filename not in linecache.cache


def test_a_file_name_for_the_text():
    from autograph.runtime.graph_text.parser import parse

    made = compile(parse("graph f(x: f64):\n    -> x"), filename="<my text>")
    assert linecache.getline("<my text>", 2) == "    return x\n"
    assert made.run.__code__.co_filename == "<my text>"


def test_the_pieces_of_a_converted_function_are_one_call():
    def piece():
        pass

    whole = half.__code__
    body = piece.__code__.replace(co_filename=whole.co_filename, co_name=whole.co_name)
    body = body.replace(co_consts=(*body.co_consts, BODY))
    if sys.version_info >= (3, 11):
        body = body.replace(co_qualname=whole.co_qualname)
    other = thirds.__code__
    assert calls(((other, 2), (whole, 4), (body, 6), (body, 8))) == [(other, 2), (body, 8)]
    assert calls(((whole, 4), (other, 2), (body, 6))) == [(whole, 4), (other, 2), (body, 6)]


def nothing():
    """Long enough to have a table."""
    return [nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing]


LINES = st.one_of(st.integers(1, 20), st.integers(1, 100000))
POSITIONS = st.one_of(
    st.just(Position(None)),
    LINES.map(Position),
    st.builds(
        lambda line, lines, column, end: Position(line, line + lines, column, end),
        LINES, st.integers(0, 300), st.integers(0, 3000), st.integers(0, 3000),
    ),
)  # fmt: skip


@given(st.data())
def test_tables_of_lines_say_what_they_are_told(data):
    code = nothing.__code__
    spans, size = [], len(code.co_code)
    while size:
        part = 2 * data.draw(st.integers(1, size // 2))
        spans.append((part, data.draw(POSITIONS)))
        size -= part
    made = disguised(code, half.__code__, iter(spans))
    expected = [position.line for part, position in spans for _ in range(part // 2)]
    found = [line for start, end, line in made.co_lines() for _ in range(start, end, 2)]
    assert found == expected
    if sys.version_info >= (3, 11):
        positions = [position for part, position in spans for _ in range(part // 2)]
        expected = [each if each.end_line else (each.line, each.line, None, None) for each in positions]
        assert list(made.co_positions()) == expected


def test_an_empty_graph():
    graph = Graph("f")
    graph.block.results = (None,)
    made = compile(graph)
    assert made.source == "def f():\n    pass\n" and made() is None
