"""Well-formed graphs pass; whatever else is wrong is told, with the node as it is printed."""

import textwrap

import numpy as np
import pytest
from hypothesis import given, settings

import autograph.runtime.ops  # noqa: F401  # the ops must be declared
from autograph.runtime.graph.graph import UNBOUND, Block, Constant, Graph, Node
from autograph.runtime.graph.types import ANY, INT
from autograph.runtime.graph_text.parser import parse, parse_type
from autograph.runtime.graph_text.verifier import GraphError, check, fits, never_ends
from tests import counting
from tests.runtime.graph_text.test_printer import COLLATZ, collatz, place
from tests.runtime.random_graphs import DECLARED, graphs
from tests.runtime.same_graphs import same

pytestmark = pytest.mark.once


def program(text):
    return textwrap.dedent(text).strip("\n")


@given(graphs(DECLARED))
@settings(max_examples=150, deadline=None)
def test_well_formed_graphs_pass(graph):
    assert check(graph) is graph


@pytest.mark.parametrize(
    "text",
    [
        COLLATZ,
        "graph f():\n    -> 1",
        "graph f(x: f64):\n    raise(x, cause=None)\n    -> never",
        """
        graph first(xs: f64[?]):
            found: f64? = for(xs, unbound, target=0, until=True):
              body(x: f64, found.1: f64?):
                %0: bool = x > 0
                -> %0, x
            -> found
        """,
        """
        graph widening(n: py.int):
            total: ~f64 = for(@pairs, 0, target=(0, (1, 2))):
              body(i: py.int, a: py.int, b: py.int, total.1: ~f64):
                total.2: ~f64 = total.1 + f64(0.5)
                -> total.2
            -> total
        """,
        """
        graph raising(x: py.int):
            while(x):
              test(x.1: py.int):
                raise(ValueError)
                -> never
              body(x.2: py.int):
                -> x.2
            -> never
        """.replace("while(x)", "a: py.int = while(x)"),
    ],
)
def test_these_pass(text):
    check(parse(program(text), {"pairs": [(1, (2, 3))]}))


WRONG = {
    "there is no op 'frobnicate'": """
        graph f():
            frobnicate(1)
            -> 1
        """,
    "a graph has one result, or none if it always raises, but this has 2": """
        graph f():
            -> 1, 2
        """,
    "`if` must have 2 blocks (then and else) here, but has 1": """
        graph f():
            if(True):
              then:
                pass
            -> 1
        """,
    "`add` must have 0 blocks (none) here, but has 1": """
        graph f():
            add(1, 2):
              block:
                pass
            -> 1
        """,
    "`if` must have 1 arguments here, but has 2": """
        graph f():
            if(True, False):
              then:
                pass
              else:
                pass
            -> 1
        """,
    "`if` must have 1 results of `else` here, but has 0": """
        graph f():
            x: py.int = if(True):
              then:
                -> 1
              else:
                pass
            -> x
        """,
    "x is of type py.int, which does not cover y of type f64": """
        graph f(y: f64):
            x: py.int = if(True):
              then:
                -> 1
              else:
                -> y
            -> x
        """,
    "`while` must have 1 params of `body` here, but has 0": """
        graph f():
            x: py.int = while(0):
              test(x.1: py.int):
                -> x.1
              body:
                -> 1
            -> x
        """,
    "`while` must have 1 results of `test` here, but has 2": """
        graph f():
            x: py.int = while(0):
              test(x.1: py.int):
                -> x.1, 1
              body(x.2: py.int):
                -> x.2
            -> x
        """,
    "`while` must have 2 results of `body` here, but has 1": """
        graph f():
            x: py.int = while(0, until=True):
              test(x.1: py.int):
                -> x.1
              body(x.2: py.int):
                -> x.2
            -> x
        """,
    "the param x.2 is of type py.int, which does not cover 0.5": """
        graph f():
            x: py.float = while(0.5):
              test(x.1: py.float):
                -> x.1
              body(x.2: py.int):
                -> x.2
            -> x
        """,
    "x.1 is of type py.int, which does not cover 0.5": """
        graph f():
            x: py.int = while(0):
              test(x.1: py.int):
                -> x.1
              body(x.2: py.int):
                -> 0.5
            -> x
        """,
    "the output x is of type py.int, which does not cover x.1 of type ~f64": """
        graph f():
            x: py.int = while(0):
              test(x.1: ~f64):
                -> x.1
              body(x.2: ~f64):
                -> x.2
            -> x
        """,
    "`while` has no keyword 'target'": """
        graph f():
            while(target=0):
              test:
                -> True
              body:
                pass
            -> 1
        """,
    "the target must consist of the numbers 0, 1, … of params, each once, not [0, 2]": """
        graph f():
            for('ab', target=(0, 2)):
              body(a: str, b: str):
                pass
            -> 1
        """,
    "`for` must have 2 params of `body` here, but has 1": """
        graph f():
            x: py.int = for('ab', 0, target=0):
              body(a: str):
                -> 0
            -> x
        """,
    "the output x is of type str, which does not cover 0": """
        graph f():
            x: str = for('ab', 0):
              body(a: str, x.1: py.int):
                -> 0
            -> x
        """,
    "this never ends, so no nodes can follow it": """
        graph f():
            raise(ValueError)
            print(1)
            -> 1
        """,
    "this never ends, so its block must have None for its results": """
        graph f():
            raise(ValueError)
            -> 1
        """,
    "a block without an end (its results are None) must end in what never ends, like `raise`": """
        graph f():
            print(1)
            -> never
        """,
    "`unpack` must have 2 outputs here, but has 3": """
        graph f(x: object):
            a: object, b: object, c: object = unpack(x, 2)
            -> a
        """,
    "`add` must have 1 outputs here, but has 2": """
        graph f(x: object):
            a: object, b: object = add(x, 2)
            -> a
        """,
}


@pytest.mark.parametrize("problem, text", WRONG.items())
def test_what_is_wrong_is_told(problem, text):
    with pytest.raises(GraphError) as caught:
        check(parse(program(text)))
    assert str(caught.value).startswith(problem)
    assert "\n    in graph f" in str(caught.value)


def refused(graph, problem):
    with pytest.raises(GraphError) as caught:
        check(graph)
    assert str(caught.value).startswith(problem)


def test_an_error_names_node_and_place():
    graph = Graph("f")
    x = graph.block.add_param(INT, "x")
    node = graph.block.append(Node("frobnicate", (x, [1, 2]), place=place(7)))
    with pytest.raises(GraphError) as caught:
        check(graph)
    assert str(caught.value) == (
        "/home/me/model.py:7: there is no op 'frobnicate'\n    in graph f: frobnicate(x, [1, 2])"
    )
    assert caught.value.node is node and caught.value.lineno == 7


def test_uses_before_the_definition():
    graph = collatz()
    body = graph.block.nodes[0].blocks[1]
    body.nodes[:2] = body.nodes[1::-1]
    refused(graph, "%2, among the arguments, is used before it is computed\n    in graph collatz: %1: ")


def test_uses_outside_of_the_block():
    graph = collatz()
    test, body = graph.block.nodes[0].blocks
    graph.block.results = (test.nodes[0].output,)
    refused(graph, "%0, among the results, is used outside of its block")
    graph = collatz()
    test, body = graph.block.nodes[0].blocks
    body.results = (test.params[0], body.params[1])
    refused(graph, "steps.1, among the results, is used outside of its block")


def test_a_node_does_not_see_its_own_outputs():
    graph = collatz()
    loop = graph.block.nodes[0]
    loop.blocks[1].results = tuple(loop.outputs)
    refused(graph, "steps, among the results, is used before it is computed")


def test_two_definitions():
    graph = collatz()
    test, body = graph.block.nodes[0].blocks
    body.params[0] = test.params[0]
    refused(graph, "steps.1 is defined twice")
    graph = collatz()
    graph.block.nodes[0].outputs[1] = graph.block.nodes[0].outputs[0]
    refused(graph, "steps is defined twice")


def test_nodes_and_blocks_in_two_places():
    graph = collatz()
    loop = graph.block.nodes[0]
    graph.block.append(loop)
    refused(graph, "a node is in two places")
    graph = Graph("f")
    block = Block()
    graph.block.append(Node("if", (True,), None, (block, block)))
    refused(graph, "a block is in two places")


def test_values_know_where_they_come_from():
    graph = collatz()
    graph.params[0].node = graph.block.nodes[0]
    refused(graph, "n is a param, but names a node that computes it")
    graph = collatz()
    graph.block.nodes[0].outputs[0].node = None
    refused(graph, "steps is not marked as an output of its node")
    graph = collatz()
    graph.params[0].type = int
    refused(graph, "the value 'n' must have a type of runtime/graph/types.py, not <class 'int'>")


def test_the_form_of_arguments():
    graph = Graph("f")
    graph.block.append(Node("len", [1]))
    refused(graph, "args must be a tuple, and the keys of kwargs strings")


@pytest.mark.parametrize(
    "type, arg",
    [
        ("object", [1]),
        ("list", []),
        ("list<py.int>", []),
        ("list<py.int>", [1, 2]),
        ("tuple<py.int,object>", (1, "a")),
        ("dict", {"a": 1}),
        ("slice", slice(1)),
        ("list", Constant([1])),
        ("f64?", UNBOUND),
        ("f64?", np.float64(1)),
        ("~f64", 1),
        ("str", "a"),
        ("NoneType", None),
    ],
)
def test_what_fits(type, arg):
    assert fits(parse_type(type), arg)


@pytest.mark.parametrize(
    "type, arg",
    [
        ("list<py.int>", [1, 2.0]),
        ("tuple<py.int>", (1, 2)),
        ("tuple", [1]),
        ("object", UNBOUND),
        ("f64", 1),
        ("f64", np.zeros(())),
        ("list", Constant({})),
    ],
)
def test_what_does_not_fit(type, arg):
    assert not fits(parse_type(type), arg)


def test_what_never_ends():
    raising, ending = Block(), Block()
    raising.append(Node("raise", (ValueError,)))
    raising.results = None
    assert never_ends(raising.nodes[0])
    assert never_ends(Node("if", (True,), None, (raising, raising)))
    assert never_ends(Node("while", (), None, (raising, ending)))
    assert not never_ends(Node("if", (True,), None, (raising, ending)))
    assert not never_ends(Node("while", (), None, (ending, raising)))
    assert not never_ends(Node("for", ("",), None, (raising,)))


def test_names_and_places_do_not_matter_for_sameness():
    other = parse(COLLATZ.replace("steps", "count").replace("n.", "m.").replace("collatz", "other"))
    other.block.nodes[0].place = place(1)
    assert same(collatz(), other)


@pytest.mark.parametrize(
    "old, new",
    [
        ("!= 1", "!= True"), ("!= 1", "!= 1.0"), ("!= 1", "!= 2"), ("!=", "=="), ("%2: py.bool", "%2: object"),
        ("3 * n.3", "3 * steps.2"), ("-> steps.3, n.4", "-> steps.2, n.4"), ("-> steps\n", "-> [steps]\n"),
        ("(n: py.int)", "(n: py.float)"), ("n.5: py.int = n.3 // 2\n", "n.5: py.int = floordiv(n.3, 2, out=None)\n"),
    ],
)  # fmt: skip
def test_all_else_does(old, new):
    assert old in COLLATZ + "\n"
    assert not same(collatz(), parse((COLLATZ + "\n").replace(old, new)))


def test_objects_are_the_same_by_identity():
    def f(*results):
        graph = Graph("f")
        graph.block.results = results
        return graph

    xs = np.zeros(2)
    assert same(f(xs, Constant(xs)), f(xs, Constant(xs)))
    assert not same(f(xs), f(xs.copy()))
    assert not same(f(Constant([])), f(Constant([])))
    assert not same(f([]), f(Constant([])))
    assert same(f([float("nan"), -0.0]), f([float("nan"), -0.0]))
    assert not same(f(0.0), f(-0.0))
    assert not same(f((1,)), f([1]))


def chain(length):
    graph = Graph("f")
    value = graph.block.add_param(ANY, "x")
    for _ in range(length):
        then, orelse = Block(), Block()
        node = graph.block.append(Node("if", (value,), None, (then, orelse)))
        then.results = orelse.results = (value,)
        value = node.add_output(ANY, "x")
    graph.block.results = (value,)
    return graph


def test_the_work_is_linear():
    small, large = (counting.lines(lambda graph=chain(length): check(graph)) for length in (100, 800))
    assert large < 9 * small
