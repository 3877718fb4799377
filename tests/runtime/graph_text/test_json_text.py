"""The JSON of a graph has the form that the module's documentation describes."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings

from autograph.runtime.graph.graph import Constant, Graph, walk
from autograph.runtime.graph_text import json_text, notation
from autograph.runtime.graph_text.parser import parse
from autograph.runtime.graph_text.printer import objects
from tests.runtime.graph_text.test_printer import Point, collatz, place
from tests.runtime.random_graphs import graphs

KINDS = {"value": str, "literal": str, "object": str, "tuple": list, "list": list, "dict": list, "slice": list}


def check_arg(arg):
    kind = next(iter(arg))
    if kind == "namedtuple":
        assert set(arg) == {"namedtuple", "parts"}
        parts = arg["parts"]
    else:
        assert set(arg) in ({kind}, {"literal", "json"}) and isinstance(arg[kind], KINDS[kind])
        parts = arg[kind] if KINDS[kind] is list else []
    for part in [each for pair in parts for each in pair] if kind == "dict" else parts:
        check_arg(part)


def check_block(block):
    for param in block["params"]:
        assert set(param) == {"name", "type"}
    for node in block["nodes"]:
        assert set(node) == {"op", "effect", "args", "kwargs", "outputs", "blocks", "place"}
        for arg in [*node["args"], *node["kwargs"].values()]:
            check_arg(arg)
        for inner in node["blocks"]:
            assert isinstance(inner.pop("label"), str)
            check_block(inner)
    for result in block["results"] or []:
        check_arg(result)


@pytest.mark.once
@given(graphs())
@settings(max_examples=100, deadline=None)
def test_the_form(graph):
    made = json.loads(json_text.to_json(graph))
    assert (made["format"], made["version"], made["name"]) == ("autograph-graph", 1, graph.name)
    check_block(made["block"])
    assert list(made["objects"]) == list(objects(graph))


def test_a_node():
    graph = collatz()
    graph.block.nodes[0].place = place(12)
    loop = json.loads(json_text.to_json(graph))["block"]["nodes"][0]
    assert loop["args"] == [{"literal": "0", "json": 0}, {"value": "n"}]
    assert loop["outputs"] == [{"name": "steps", "type": "py.int"}, {"name": "n.1", "type": "py.int"}]
    assert loop["place"] == {"file": "/home/me/model.py", "line": 12}
    test, body = loop["blocks"]
    assert (test["label"], body["label"]) == ("test", "body")
    assert test["params"][1] == {"name": "n.2", "type": "py.int"}
    assert test["results"] == [{"value": "%0"}]
    assert body["nodes"][0]["op"] == "mod"


def test_constants():
    graph = Graph("f")
    graph.block.results = (
        (2**60, 1.5, float("inf"), "a", None, np.float32(0.5), [slice(1, None)], {1: ()}, Point(1, Constant([]))),
    )
    assert json.loads(json_text.to_json(graph))["block"]["results"] == [{"tuple": [
        {"literal": "1152921504606846976"},
        {"literal": "1.5", "json": 1.5},
        {"literal": "inf"},
        {"literal": "'a'", "json": "a"},
        {"literal": "None", "json": None},
        {"literal": "f32(0.5)"},
        {"list": [{"slice": [{"literal": "1", "json": 1}, *[{"literal": "None", "json": None}] * 2]}]},
        {"dict": [[{"literal": "1", "json": 1}, {"tuple": []}]]},
        {"namedtuple": "Point", "parts": [{"literal": "1", "json": 1}, {"object": "list"}]},
    ]}]  # fmt: skip


def test_the_documentation_names_every_key():
    keys = set(re.findall(r'"(\w+)":', json_text.to_json(collatz())))
    assert {key for key in keys if f'"{key}"' not in json_text.__doc__ and f"`{key}`" not in json_text.__doc__} == set()


def test_names_are_those_of_the_text():
    graph = parse("graph f(x: f64, x.1: f64):\n    %0: f64 = x + x.1\n    -> %0")
    (node,) = json.loads(json_text.to_json(graph))["block"]["nodes"]
    assert node["args"] == [{"value": "x"}, {"value": "x.1"}]
    assert [each.op for each in walk(graph.block)] == [node["op"]]
    assert notation.BINARY[node["op"]] == "+"
