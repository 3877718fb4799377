"""Text → graph: what the printer writes is read back as the same graph; what is wrong is told with line and column."""

import collections
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograph.runtime.graph.graph import Constant
from autograph.runtime.graph.types import ANY, INT, STR, MaybeUnbound, ObjectType, TensorType, array, inexact, scalar
from autograph.runtime.graph_text.parser import ParseError, parse, parse_type
from autograph.runtime.graph_text.printer import objects, to_text
from tests.runtime.random_graphs import TYPES, graphs
from tests.runtime.same_graphs import same

pytestmark = pytest.mark.once


@given(graphs())
@settings(max_examples=300, deadline=None)
def test_what_is_printed_is_read_back_as_the_same_graph(graph):
    text, table = to_text(graph), objects(graph)
    again = parse(text, table)
    assert to_text(again) == text
    assert same(graph, again)
    assert list(objects(again)) == list(table)


@given(TYPES)
def test_types_are_read_back(type):
    from autograph.runtime.graph_text.notation import type_text

    table = {}
    text = type_text(type, lambda dtype: (table.setdefault("record", dtype), "@record")[1])
    assert parse_type(text, table) == type


@pytest.mark.parametrize(
    "text, type",
    [
        ("py.int", INT),
        ("f64", scalar("f8")),
        ("bool", scalar("?")),
        ("f64[]", array("f8")),
        ("i32[3,?]", array("i4", 3, None)),
        ("~f64[3]", inexact(array("f8", 3))),
        ("<U5", scalar("U5")),
        ("<M8[ns][2]", array("M8[ns]", 2)),
        ("str", STR),
        ("tuple<f64,list<list<py.int>>>",
         ObjectType("tuple", (scalar("f8"), ObjectType("list", (ObjectType("list", (INT,)),))))),
        ("object?", MaybeUnbound(ANY)),
        ("f64[?]?", MaybeUnbound(TensorType(np.dtype("f8"), (None,)))),
        ("'f64'", ObjectType("f64")),
    ],
)  # fmt: skip
def test_types(text, type):
    assert parse_type(text) == type


def program(text):
    return textwrap.dedent(text).strip("\n")


def test_comments_spaces_and_blank_lines_do_not_matter():
    loose = """
        # A comment.
        graph f( x:f64 ,y : f64 ):   # another one

             z:f64=x + y
             -> [z,x , ]
        # the end
    """
    assert to_text(parse(program(loose))) == program("""
        graph f(x: f64, y: f64):
            z: f64 = x + y
            -> [z, x]
    """)


def test_an_object_is_looked_up_and_a_list_is_wrapped():
    numbers = [1, 2]
    graph = parse("graph f():\n    -> (@print, @numbers)", {"print": print, "numbers": numbers})
    assert graph.block.results == ((print, Constant(numbers)),)


def test_a_hidden_module_is_told_from_a_value_of_its_name():
    graph = parse(program("""
        graph f(np: object, x: f64[2]):
            y: object = np.sum(x)
            -> y
    """))
    assert (graph.block.nodes[0].op, graph.block.nodes[0].args[0]) == (".sum", graph.params[0])
    assert "graph f(np: object" in to_text(graph)
    graph.block.nodes[0].op = "np.sum"
    assert "np.1: object" in to_text(graph)


@pytest.mark.parametrize(
    "text, line, column, problem",
    [
        ("", 1, 1, "expected `graph NAME(PARAMS):`"),
        ("graph f(x: f64)", 1, 16, "`:` is missing here"),
        ("graph f(x):", 1, 10, "`:` is missing here"),
        ("graph f(x: ):", 1, 12, "expected a type"),
        ("graph f(x: f64, x: f64):", 1, 17, "x is defined already, in line 1"),
        ("graph f():", 1, 11, "expected an indented block"),
        ("graph f():\n-> 1", 2, 1, "expected an indented block"),
        ("graph f():\n    -> x", 2, 8, "there is no value x here"),
        ("graph f():\n    -> %0", 2, 8, "there is no value %0 here"),
        ("graph f():\n    -> 1\n    -> 2", 3, 5, "nothing may follow the end of a block"),
        ("graph f():\n    -> 1\n-> 2", 3, 1, "the graph has ended"),
        ("graph f():\n    -> @g", 2, 8, "the object @g is not in the table of objects"),
        ("graph f():\n    x: f64 = g(1, 2", 2, 20, "`,` or `)` is missing here"),
        ("graph f():\n    x: f64 = g(a=1, 2)", 2, 21, "an argument without a name"),
        ("graph f():\n    x: f64 = 1 ? 2", 2, 15, "expected an operator"),
        ("graph f():\n    x: f64 = 1 + 2 + 3", 2, 20, "this does not belong here"),
        ("graph f():\n    g(1)\n      g(2)", 3, 7, "this block is indented by 4 spaces"),
        ("graph f():\n    if(1):\n      then:\n        pass\n      elif:\n        pass", 5, 7, "the block `else:`"),
        ("graph f():\n    if(True):", 2, 14, "expected the blocks of `if`"),
        ("graph f():\n    if(1):\n      then:\n        a: f64 = g()\n      else:\n        -> a", 6, 12, "no value a"),
        ("graph f():\n    -> i8(300)", 2, 8, "this is no i8"),
        ("graph f():\n    -> dtype(f99)", 2, 14, "there is no dtype 'f99'"),
        ("graph f():\n    -> 1[0]", 2, 9, "`,` is missing here"),
    ],
)  # fmt: skip
def test_errors_tell_where(text, line, column, problem):
    with pytest.raises(ParseError, match=r"line \d+, column \d+: ") as caught:
        parse(text)
    assert problem in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_an_error_points_at_the_place():
    with pytest.raises(ParseError) as caught:
        parse("graph f(x: f64):\n    y: f64 = x + z\n    -> y")
    assert str(caught.value) == program("""
        line 2, column 18: there is no value z here
                y: f64 = x + z
                             ^
    """)


DEEP = 5_000
NESTED_BLOCKS = "graph f():\n" + "".join(f"{' ' * (4 + 4 * n)}if(1):\n{' ' * (6 + 4 * n)}then:\n" for n in range(DEEP))


@pytest.mark.parametrize(
    "text, line, column, problem",
    [
        (f"graph f():\n    -> {'9' * DEEP}", 2, 1 + 7 + DEEP, "this cannot be read: Exceeds the limit"),
        (f"graph f(x: f64[{'9' * DEEP}]):\n    pass", 1, 1 + 16 + DEEP, "this cannot be read: Exceeds the limit"),
        ("graph f(x: f64[9223372036854775808]):\n    pass", 1, 15, "no array has this shape"),
        (f"graph f(x: f64[{'1,' * 64}1]):\n    pass", 1, 15, "no array has this shape"),
        ("graph f(x: <V99999999999):\n    pass", 1, 25, "this cannot be read"),
        ("graph f(x: <f77):\n    pass", 1, 16, "this cannot be read"),
        ("graph f():\n    -> dtype('(99999,99999)i4')", 2, 32, "this cannot be read"),
        (f"graph f():\n    -> {'[' * DEEP}", 2, None, "this is nested too deeply"),
        (f"graph f():\n    -> {'(' * DEEP}", 2, None, "this is nested too deeply"),
        (f"graph f():\n    -> {'{1: ' * DEEP}", 2, None, "this is nested too deeply"),
        (f"graph f(x: {'list<' * DEEP}", 1, None, "this is nested too deeply"),
        (NESTED_BLOCKS, None, None, "this is nested too deeply"),
        ("graph f():\n    -> {[1]: 2}", 2, 12, "this cannot be read: unhashable type"),
        ("graph f():\n    -> {1: 2, 1: 3}", 2, 15, "the key 1 is there already"),
        ("graph f():\n    g(a=1, a=2)", 2, 12, "the argument a is there already"),
        ("graph f(x: f64):\n    x: f64 = g()", 2, 5, "x is defined already, in line 1"),
        ("graph f():\n    -> '\udc80'", 2, 11, "this cannot be read"),
        ("graph f():\n    -> '\0'", 2, 11, "this cannot be read"),
        ("graph f\0():\n    -> 1", 1, 8, "`(` is missing here"),
        ("graph f():\n    -> '\\N{no such name}'", 2, 26, "this cannot be read"),
        ("graph b'f'():\n    -> 1", 1, 8, "`(` is missing here"),
        ("graph f():\n    -> @pair(1)", 2, 8, "missing 1 required positional argument"),
    ],
)
def test_hostile_texts(text, line, column, problem):
    with pytest.raises(ParseError) as caught:
        parse(text, {"pair": collections.namedtuple("pair", "a b")})
    assert problem in str(caught.value)
    assert line in (None, caught.value.line) and column in (None, caught.value.column)
    assert len(str(caught.value)) < 1000 and str(caught.value).encode().decode().replace("\n", "").isprintable()


FRAGMENTS = [
    "(" * DEEP, "{" * DEEP, "9" * DEEP, "0x" + "f" * DEEP, "-" * DEEP, "tuple<" * DEEP, "<V99999999999",
    "|S0", "<M8[zz]", "f64[99999999999999999999]", "dtype('f8,')", "1e9999", "(1e999+1j)", "f16(1e99)",
    "u1(-1)", "i8(300)", "\0", "\udc80", "'\\x'", "b'\\xff'", "\u2028", "\r", "٣", "²", "%", "%'", "x: f64",
    "x.99", "{[1]: 2}", "range(1, 2, 0)", "f(a=1, a=2)", "@pair(1)", "@nope", "np.core.x", "np.os.system",
    "->", "pass", "\n", "\n ", "#", "'", '"', "\\", ":", "=", "if(1):", "then:", "body(", "test(", "never",
    "unbound", "del ", "not ", "...", "~", "?", "[", "]", "<", ">",
]  # fmt: skip


@given(graphs(), st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_what_is_broken_is_read_or_is_a_parse_error(graph, random):
    text = to_text(graph)
    for _ in range(random.choice([1, 1, 2, 3])):
        start = random.randrange(len(text) + 1)
        end = start + random.choice([0, 0, 1, 5])
        text = text[:start] + random.choice([*FRAGMENTS, text[start : start + 20], ""]) + text[end:]
    try:
        to_text(parse(text, objects(graph)))
    except ParseError as error:
        line = text.split("\n")[error.line - 1]
        assert 1 <= error.column <= len(line) + 1
