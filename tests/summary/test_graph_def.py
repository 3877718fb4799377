"""Graphs for TensorBoard: called functions, loops and branches are scopes; nodes know types, shapes and lines."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import autograph as ag
from tests.events import events_in

from autograph.summary.graph_def import Drawing  # isort: skip


class Dense(ag.Module):
    def __init__(self, n, m):
        self.w = ag.Variable(np.ones((n, m)), name="w")

    def __call__(self, x):
        return np.maximum(x @ self.w, 0)


class Net(ag.Module):
    def __init__(self):
        self.first, self.layers = Dense(4, 3), [Dense(3, 2)]

    def __call__(self, x):
        x = self.first(x)
        return self.layers[0](x)


net = Net()


def predict(x):
    return net(x)


def scale(x):
    return x * 2


def rounds(x):
    x = scale(x)
    while np.sum(x) < 9:
        x = scale(x)
        if np.max(x) > 5:
            x = x - 1
    return scale(x)


def drawn(function, *args):
    return Drawing(ag.function(function).graph(*args).graph)


def nodes(drawing):
    return {node.name: (node.op, list(node.input)) for node in drawing.graph_def.node}


def test_functions_loops_and_branches_are_scopes():
    assert nodes(drawn(rounds, np.ones(3))) == {
        "x": ("Placeholder", []),
        "scale/mul": ("mul", ["x"]),
        "while/x": ("Carried", ["scale/mul", "while/body/if/x"]),
        "while/test/sum": ("np.sum", ["while/x"]),
        "while/test/lt": ("lt", ["while/test/sum"]),
        "while/test/continue": ("Test", ["while/test/lt"]),
        "while/body/scale/mul": ("mul", ["while/x"]),
        "while/body/max": ("np.max", ["while/body/scale/mul"]),
        "while/body/gt": ("gt", ["while/body/max"]),
        "while/body/if/test": ("Test", ["while/body/gt"]),
        "while/body/if/then/sub": ("sub", ["while/body/scale/mul"]),
        "while/body/if/x": ("Merge", ["while/body/if/then/sub", "while/body/scale/mul", "^while/body/if/test"]),
        "scale_1/mul": ("mul", ["while/x"]),
        "return": ("Return", ["scale_1/mul"]),
    }


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code does not know its class")
def test_modules_are_scopes_and_their_variables_have_paths():
    found = nodes(drawn(predict, np.ones((5, 4))))
    assert found["Net/Dense/matmul"] == ("np.matmul", ["x", "net/first/w/value"])
    assert found["Net/Dense_1/matmul"] == ("np.matmul", ["Net/Dense/maximum", "net/layers/0/w/value"])
    assert found["net/layers/0/w/value"] == ("Captured", [])


def test_a_loop_over_items():
    def total(xs):
        result = 0.0
        for i, x in enumerate(xs):
            if x < 0:
                break
            result += x * i
        return result

    found = nodes(drawn(total, np.ones(3)))
    assert found["for/x"][0] == found["for/i"][0] == "Item"
    assert found["for/result"] == ("Carried", ["for/body/if/result"])
    assert found["for/body/stop"] == ("Test", ["for/body/if/value"]) or found["for/body/stop"][0] == "Test"
    assert found["return"] == ("Return", ["for/result"])


def test_nodes_know_type_shape_code_and_line():
    drawing = drawn(scale, ag.TensorSpec((None, 3), "f4"))
    node = next(node for node in drawing.graph_def.node if node.name == "mul")
    (shape,) = node.attr["_output_shapes"].list.shape
    assert [dim.size for dim in shape.dim] == [-1, 3] and not shape.unknown_rank
    assert node.attr["T"].type == 1 and node.device == ""
    assert node.attr["code"].s == b"%0: f32[?,3] = x * 2"
    line = scale.__code__.co_firstlineno + 1
    assert node.attr["line"].s.decode() == f"{__file__}:{line}"


def test_each_node_that_computes_has_a_name():
    drawing = drawn(rounds, np.ones(3))
    names = {node.name for node in drawing.graph_def.node}
    assert set(drawing.names.values()) <= names
    assert {"scale/mul", "while/test/lt", "while/body/if/then/sub"} <= set(drawing.names.values())


def test_calls_bear_the_names_of_their_functions():
    @ag.do_not_convert
    def log(x):
        pass

    def logged(x):
        log(x)
        ag.summary.scalar("x", x, 0)
        return x

    found = nodes(drawn(logged, 1.0))
    assert found["log"] == ("call", ["x"])
    assert found["scalar"][0] == "call"


def test_what_never_ends_has_no_result():
    def fail(x):
        raise ValueError(x)

    assert "return" not in nodes(drawn(fail, 1.0))


def test_a_writer_takes_functions_and_graphs(tmp_path):
    from tensorboard.compat.proto.config_pb2 import RunMetadata

    staged = ag.function(scale)
    with ag.summary.create_file_writer(tmp_path) as writer:
        for each in (scale, staged):
            writer.graph(each, 1.0)
        writer.graph(staged.graph(1.0))
        assert ag.summary.graph(staged.get_concrete_function(1.0))
    values = [value for event in events_in(tmp_path) for value in event.summary.value]
    assert [value.tag for value in values] == ["scale"] * 4
    for value in values:
        (text,) = value.tensor.string_val
        ((graph,),) = ([each.pre_optimization_graph] for each in RunMetadata.FromString(text).function_graphs)
        assert [node.name for node in graph.node] == ["x", "mul", "return"]
        assert value.metadata.plugin_data.plugin_name == "graph_run_metadata_graph"


def test_what_runs_as_plain_python_has_no_graph(tmp_path):
    def plain(x):
        with open(x) as file:
            return file.read()

    with ag.summary.create_file_writer(tmp_path) as writer:
        with pytest.raises(ag.errors.TracingError, match="plain has no graph for this call"):
            writer.graph(plain, "name")
