"""Run times of nodes: each that ran has a time, under the name that it has in the graph."""

from __future__ import annotations

import numpy as np
import pytest

import autograph as ag
from tests.events import events_in

from tensorboard.compat.proto.config_pb2 import RunMetadata  # isort: skip


def settle(x, n):
    x = np.sin(x)
    for _ in range(n):
        x = np.sort(x) * 0.5 + x * 0.25
        if np.max(x) > 9:
            x = x - 1
    return x


def traced(folder):
    """The names of the nodes of the only graph, and the stats of its nodes."""
    (value,) = (value for event in events_in(folder) for value in event.summary.value)
    found = RunMetadata.FromString(value.tensor.string_val[0])
    assert value.metadata.plugin_data.plugin_name == "graph_run_metadata"
    (device,) = found.step_stats.dev_stats
    names = {node.name for node in found.function_graphs[0].pre_optimization_graph.node}
    return names, {stats.node_name: stats for stats in device.node_stats}


def test_nodes_that_ran_have_times(tmp_path):
    x = np.linspace(0, 1, 50_000)
    with ag.summary.create_file_writer(tmp_path) as writer:
        result = writer.trace(ag.function(settle, engine="numpy"), x, 20)
    assert np.array_equal(result, settle(x, 20))
    names, stats = traced(tmp_path)
    assert stats.keys() <= names
    assert {"sin", "for/body/sort", "for/body/mul"} <= stats.keys()
    assert "for/body/if/then/sub" in names - stats.keys()
    assert stats["for/body/sort"].timeline_label == "np.sort: 20 runs by NumPy"
    assert all(each.all_end_rel_micros >= 1 for each in stats.values())
    assert stats["for/body/sort"].all_end_rel_micros > stats["for/body/mul"].all_end_rel_micros / 10


def test_machine_code_has_the_names_of_the_graph(tmp_path):
    pytest.importorskip("llvmlite")
    x = np.linspace(0, 1, 50_000)
    with ag.summary.create_file_writer(tmp_path):
        result = ag.summary.trace(ag.function(settle, engine="native"), x, 20)
    assert np.array_equal(result, settle(x, 20))
    names, stats = traced(tmp_path)
    assert stats and stats.keys() <= names
    assert any("machine code" in each.timeline_label for each in stats.values())


def plain(text):
    with open(text) as file:
        return len(file.read())


def test_without_a_writer_it_is_a_call():
    assert ag.summary.trace(plain, __file__) > 0


def test_an_error_of_the_function_is_raised(tmp_path):
    def fail(x):
        if x > 0:
            raise KeyError(x)
        return x

    with ag.summary.create_file_writer(tmp_path) as writer:
        with pytest.raises(KeyError):
            writer.trace(fail, 1.0)
        with pytest.raises(ag.errors.TracingError, match="has no graph"):
            writer.trace(plain, __file__)
    assert events_in(tmp_path) == []
