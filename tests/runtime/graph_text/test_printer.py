"""Graph → text: how each thing is written. That it is read back is shown in test_parser.py."""

import collections
import math
import operator
import textwrap

import numpy as np
import pytest

from autograph.runtime.graph.graph import UNBOUND, Block, Constant, Graph, Node
from autograph.runtime.graph.types import ANY, BOOL, FLOAT, INT, MaybeUnbound, ObjectType, array, scalar
from autograph.runtime.graph_text import printer
from autograph.runtime.graph_text.printer import describe, objects, to_text

pytestmark = pytest.mark.once

Point = collections.namedtuple("Point", "x y")


def program(text):
    return textwrap.dedent(text).strip("\n")


def returning(*constants):
    graph = Graph("f")
    graph.block.results = constants
    return graph


def written(constant):
    """How a constant is written."""
    return to_text(returning(constant)).splitlines()[1].removeprefix("    -> ")


def applied(op, *args, output=True, params=("x", "y"), **kwargs):
    """How a node is written; args that are names of params stand for these."""
    graph = Graph("f")
    values = {name: graph.block.add_param(array("f8", 3), name) for name in params}
    node = graph.block.append(Node(op, tuple(values.get(a, a) if type(a) is str else a for a in args), kwargs))
    if output:
        node.add_output(ANY, "out")
    return to_text(graph).splitlines()[1].strip().removeprefix("out: object = ")


def collatz():
    graph = Graph("collatz")
    n = graph.block.add_param(INT, "n")
    test, body = Block(), Block()
    loop = graph.block.append(Node("while", (0, n), None, (test, body)))
    graph.block.results = (loop.add_output(INT, "steps"),)
    loop.add_output(INT, "n")
    test.add_param(INT, "steps")
    unequal = test.append(Node("ne", (test.add_param(INT, "n"), 1)))
    test.results = (unequal.add_output(BOOL),)
    steps, n = body.add_param(INT, "steps"), body.add_param(INT, "n")
    rest = body.append(Node("mod", (n, 2))).add_output(INT)
    even = body.append(Node("eq", (rest, 0))).add_output(BOOL)
    then, orelse = Block(), Block()
    branch = body.append(Node("if", (even,), None, (then, orelse)))
    then.results = (then.append(Node("floordiv", (n, 2))).add_output(INT, "n"),)
    tripled = orelse.append(Node("mul", (3, n))).add_output(INT)
    orelse.results = (orelse.append(Node("add", (tripled, 1))).add_output(INT, "n"),)
    n = branch.add_output(INT, "n")
    body.results = (body.append(Node("add", (steps, 1))).add_output(INT, "steps"), n)
    return graph


COLLATZ = program("""
    graph collatz(n: py.int):
        steps: py.int, n.1: py.int = while(0, n):
          test(steps.1: py.int, n.2: py.int):
            %0: py.bool = n.2 != 1
            -> %0
          body(steps.2: py.int, n.3: py.int):
            %1: py.int = n.3 % 2
            %2: py.bool = %1 == 0
            n.4: py.int = if(%2):
              then:
                n.5: py.int = n.3 // 2
                -> n.5
              else:
                %3: py.int = 3 * n.3
                n.6: py.int = %3 + 1
                -> n.6
            steps.3: py.int = steps.2 + 1
            -> steps.3, n.4
        -> steps
""")


def test_a_whole_graph():
    assert to_text(collatz()) == COLLATZ


@pytest.mark.parametrize(
    "constant, text",
    [
        (1, "1"), (-1, "-1"), (True, "True"), (None, "None"), (..., "..."), (UNBOUND, "unbound"),
        (1.0, "1.0"), (1e100, "1e+100"), (-0.0, "-0.0"), (math.inf, "inf"), (-math.inf, "-inf"), (math.nan, "nan"),
        (2j, "2j"), (1 - 2j, "(1-2j)"),
        ("it's", '"it\'s"'), ("a\n# b", r"'a\n# b'"), (b"a", "b'a'"),
        (np.float32(0.1), "f32(0.1)"), (np.float64(0.1), "f64(0.1)"), (np.int8(-3), "i8(-3)"),
        (np.bool_(True), "bool_(True)"), (np.complex64(0.1 + 1j), "c64((0.1+1j))"), (np.float16(np.inf), "f16(inf)"),
        (np.dtype("f4"), "dtype(f32)"), (np.dtype(bool), "dtype(bool)"), (np.dtype(">f8"), "dtype('>f8')"),
        (np.dtype("U5"), "dtype('<U5')"),
        (int, "int"), (np.float32, "np.float32"), (ValueError, "ValueError"), (print, "print"),
        (math.sqrt, "math.sqrt"),
        (np.sum, "np.sum"), (np.add, "np.add"), (np.linalg.solve, "np.linalg.solve"),
        (np.random.normal, "np.random.normal"),
        (range(3), "range(0, 3)"), (slice(None), ":"), (slice(1, None), "1:"), (slice(None, None, -1), "::-1"),
        ((), "()"), ((1,), "(1,)"), ([1, (2, [])], "[1, (2, [])]"), ({"a": slice(1, 2), 3: {}}, "{'a': 1:2, 3: {}}"),
        (slice((1, 2), [3]), "(1, 2):[3]"), (slice(slice(1), 2), "(:1):2"),
        (Point(1, 2), "@Point(1, 2)"), (np.zeros(3), "@ndarray"), (Constant([1]), "@list"), (describe, "@describe"),
        (lambda: 0, "@object"), (operator, "@operator"), ({1}, "@set"),
    ],
)  # fmt: skip
def test_constants(constant, text):
    assert written(constant) == text


def test_integers_of_any_length():
    assert written(10**5000) == hex(10**5000)
    assert written(-(10**5000)) == hex(-(10**5000))


@pytest.mark.parametrize(
    "node, text",
    [
        (("add", "x", "y"), "x + y"),
        (("sub", -1, -1), "-1 - -1"),
        (("pow", -1, "y"), "(-1) ** y"),
        (("in", "x", [1]), "x in [1]"),
        (("in", "x", range(3)), "x in range(0, 3)"),
        (("eq", range(3), "x"), "(range(0, 3)) == x"),
        (("add", slice(1), "x"), "(:1) + x"),
        (("add", "x", "y", 1), "add(x, y, 1)"),
        (("neg", "x"), "-x"),
        (("not", "x"), "not x"),
        (("neg", 1), "neg(1)"),
        (("iadd", "x", "y"), "x += y"),
        (("getitem", "x", 0), "x[0]"),
        (("getitem", "x", (0, slice(1, None), ..., None)), "x[0, 1:, ..., None]"),
        (("getitem", "x", (0,)), "x[0,]"),
        (("getitem", "x", ()), "x[()]"),
        (("getitem", "x", slice(None)), "x[:]"),
        (("getitem", "a text", 0), "getitem('a text', 0)"),
        (("getitem", Constant([1]), "y"), "@list[y]"),
        (("getattr", "x", "T"), "x.T"),
        (("getattr", "x", "a b"), "getattr(x, 'a b')"),
        (("getattr", "x", "T", None), "getattr(x, 'T', None)"),
        ((".sum", "x", 0), "x.sum(0)"),
        ((".sum", [1]), ".sum([1])"),
        (("np.sum", "x"), "np.sum(x)"),
        (("two words", "x"), "'two words'(x)"),
    ],
)  # fmt: skip
def test_operators_and_calls(node, text):
    assert applied(*node) == text


@pytest.mark.parametrize(
    "node, text",
    [
        (("setitem", "x", 0, "y"), "x[0] = y"),
        (("setitem", "x", (slice(None), 1), slice(2)), "x[:, 1] = :2"),
        (("setattr", "x", "shape", (3, 1)), "x.shape = (3, 1)"),
        (("delitem", "x", "y"), "del x[y]"),
        ((".append", "x", "y"), "x.append(y)"),
        (("iadd", "x", 1), "x += 1"),
    ],
)
def test_nodes_without_outputs(node, text):
    assert applied(*node, output=False) == text


def test_keywords():
    assert applied("np.sum", "x", axis=(0, 1), dtype=np.float32) == "np.sum(x, axis=(0, 1), dtype=np.float32)"
    assert applied("f", **{"a b": 1}) == "f('a b'=1)"
    assert applied("add", "x", "y", out=None) == "add(x, y, out=None)"


def test_names_keep_apart():
    graph = Graph("<lambda>")
    for name in ["x", "x", "", "", "x[0]", "x[0]", "None", "größe"]:
        graph.block.add_param(INT, name)
    assert to_text(graph).splitlines()[0] == (
        "graph '<lambda>'(x: py.int, x.1: py.int, %0: py.int, %1: py.int, %'x[0]': py.int, %'x[0]'.1: py.int, "
        "None.1: py.int, größe: py.int):"
    )


def test_a_value_does_not_hide_a_function_of_its_name():
    graph = Graph("f")
    total, other = graph.block.add_param(ANY, "sum"), graph.block.add_param(ANY, "max")
    graph.block.append(Node("call", (sum, total, other)))
    graph.block.append(Node("len", (total,)))
    graph.block.add_param(ANY, "len")
    assert to_text(graph) == program("""
        graph f(sum.1: object, max: object, len.1: object):
            call(sum, sum.1, max)
            len(sum.1)
    """)


def test_types():
    graph = Graph("f")
    record = np.dtype([("a", "f8")])
    for type in [FLOAT, scalar("f4"), array("i8", 3, None), MaybeUnbound(ANY), ObjectType("list", (INT,)),
                 ObjectType("f64"), array(record, 2)]:
        graph.block.add_param(type)
    assert [part.split(": ")[1] for part in to_text(graph).splitlines()[0][:-2].split(", ")] == [
        "py.float", "f32", "i64[3,?]", "object?", "list<py.int>", "'f64'", "@Float64DType[2]".replace(
            "Float64DType", record.__class__.__name__)]  # fmt: skip


def test_how_blocks_end():
    graph = Graph("f")
    raising, empty = Block(), Block()
    raising.append(Node("raise", (ValueError,)))
    raising.results = None
    graph.block.append(Node("if", (True,), None, (raising, empty)))
    assert to_text(graph) == program("""
        graph f():
            if(True):
              then:
                raise(ValueError)
                -> never
              else:
                pass
    """)
    assert to_text(Graph("f")) == "graph f():\n    pass"


def test_objects_are_told_apart_by_identity_and_described_below():
    first, second, table = np.zeros(3), np.zeros(3), {"a": 1}
    graph = returning((first, second, first, Constant(table), Constant(written), written))
    line = written.__code__.co_firstlineno
    assert to_text(graph) == program(f"""
        graph f():
            -> (@ndarray, @ndarray.1, @ndarray, @dict, @written, @written.1)
        # @ndarray: f64[3]
        # @ndarray.1: f64[3]
        # @dict: dict of 1
        # @written: function written, test_printer.py:{line}
        # @written.1: function written, test_printer.py:{line}
    """)
    found = objects(graph)
    assert found["ndarray"] is first and found["ndarray.1"] is second
    assert found["dict"] == Constant(table) and found["written.1"] is written


def place(line, filename="/home/me/model.py"):
    """A place in a file."""
    code = compile("\n" * (line - 1) + "f()", filename, "eval")
    instruction = next(start for start, _, found in code.co_lines() if found == line)
    return ((code, instruction),)


def test_places():
    graph = Graph("f")
    graph.block.append(Node("len", ("text",), place=place(3) + place(12))).add_output(INT)
    graph.block.append(Node("len", ((),), place=place(120, "other.py")))
    graph.block.append(Node("len", ([],)))
    assert to_text(graph, places=True) == program("""
        graph f():
            %0: py.int = len('text')  # model.py:12
            len(())                   # other.py:120
            len([])
    """)
    long = "longer than what comes before most comments, ever"
    graph.block.append(Node("len", (long,), place=place(1)))
    assert to_text(graph, places=True).splitlines()[2:] == [
        "    len(())                                                   # other.py:120",
        "    len([])",
        f"    len('{long}')  # model.py:1",
    ]


def test_the_text_of_one_node():
    graph = collatz()
    body = graph.block.nodes[0].blocks[1]
    assert printer.node_text(graph, body.nodes[2]) == "n.4: py.int = if(%2):"
    assert printer.node_text(graph, Node("add", (1, 2))) == "1 + 2"


def test_the_same_text_under_every_hash_seed(same_under_every_hash_seed):
    assert same_under_every_hash_seed("from tests.runtime.graph_text.test_printer import *; print(to_text(collatz()))")
