"""In staged functions, each summary is written when the graph runs, in order."""

from __future__ import annotations

import numpy as np
import pytest

import autograph as ag
from autograph import summary
from autograph.common import trace_rules
from autograph.summary import scalar
from tests.events import values_in


def halve(x, n):
    ag.summary.scalar("begin", 1.0, 0)
    for i in range(n):
        x = x * 0.5
        ag.summary.scalar("x", x, i)
        if x < 0.1:
            ag.summary.scalar("small", x, step=i)
    ag.summary.scalar("end", x, n)
    return x


def halve_with(writer, x, n):
    for i in range(n):
        x = x * 0.5
        writer.scalar("x", x, i)
        if x < 0.1:
            writer.text("small", "yes", i)
    writer.flush()
    return x


def staged(function, engine):
    if engine == "native":
        pytest.importorskip("llvmlite")
    return ag.function(function, engine=engine)


def outcome(function, folder, *args):
    with ag.summary.create_file_writer(folder):
        results = [function(*args) for _ in range(2)]
    return results, values_in(folder)


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_the_default_writer(tmp_path, engine):
    plain = outcome(halve, tmp_path / "plain", np.float64(1.5), 5)
    function = staged(halve, engine)
    assert outcome(function, tmp_path / "staged", np.float64(1.5), 5) == plain
    (trace,) = function.traces
    assert trace.graph is not None
    assert function(np.float64(1.5), 5) == plain[0][0]    # without a writer


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_a_writer_of_the_users(tmp_path, engine):
    found = []
    function = staged(halve_with, engine)
    for name, called in (("plain", halve_with), ("staged", function), ("other", function)):
        with ag.summary.create_file_writer(tmp_path / name) as writer:
            found.append((called(writer, np.float64(1.5), 5), values_in(tmp_path / name)))
    assert found[0] == found[1] == found[2]
    assert function.traces[0].graph is not None


def test_a_captured_writer(tmp_path):
    writer = ag.summary.create_file_writer(tmp_path / "1")

    @ag.function(engine="numpy")
    def double(x):
        writer.scalar("x", x, 0)
        return x * 2

    assert double(1.5) == 3.0
    writer.close()
    writer = ag.summary.create_file_writer(tmp_path / "2")
    assert double(2.5) == 5.0
    writer.close()
    assert values_in(tmp_path / "1") == [("x", 0, 1.5)]
    assert values_in(tmp_path / "2") == [("x", 0, 2.5)]
    assert all(trace.graph is not None for trace in double.traces)


def test_a_writer_that_the_function_makes(tmp_path):
    @ag.function(engine="numpy")
    def total(xs, folder):
        result = 0.0
        with ag.summary.create_file_writer(folder):
            for i, x in enumerate(xs):
                result += x
                ag.summary.scalar("result", result, i)
        return result

    assert total(np.array([1.0, 2.0]), str(tmp_path)) == 3.0
    assert values_in(tmp_path) == [("result", 0, 1.0), ("result", 1, 3.0)]


def test_derivatives_do_not_go_through_summaries(tmp_path):
    def loss(x):
        value = np.sum(x * x)
        ag.summary.scalar("loss", value, 0)
        return value

    with ag.summary.create_file_writer(tmp_path):
        assert ag.grad(loss)(np.ones(3)).tolist() == [2, 2, 2]
        assert ag.function(ag.value_and_grad(loss))(np.ones(3))[1].tolist() == [2, 2, 2]
    assert values_in(tmp_path) == [("loss", 0, 3.0)] * 2


def cube(x):
    value = np.sum(x * x * x)
    scalar("cube", value, 0)
    return value


@pytest.mark.parametrize(
    "derive",
    [
        ag.grad(cube),
        lambda x: ag.jvp(cube, (x,), (x,)),
        lambda x: ag.vjp(cube, x)[1](1.0),
        ag.hessian(cube),
        ag.grad(ag.checkpoint(cube)),
    ],
    ids=["grad", "jvp", "vjp", "hessian", "checkpoint"],
)
def test_derivatives_write_as_often_as_they_print(tmp_path, capsys, derive, monkeypatch):
    with ag.summary.create_file_writer(tmp_path):
        derive(np.ones(2))
    written = len(values_in(tmp_path))
    monkeypatch.setitem(globals(), "scalar", print)
    derive(np.ones(2))
    assert written == capsys.readouterr().out.count("cube") > 0


def test_names_are_known_to_the_tracer():
    assert sorted(trace_rules.SUMMARY) == sorted(ag.summary.__all__)


def test_functions_by_other_names(tmp_path):
    def by_name(x):
        for i in range(3):
            x = x * 0.5
            scalar("direct", x, i)
            summary.scalar("module", x, step=i)
        return x

    function = ag.function(by_name, engine="numpy")
    with ag.summary.create_file_writer(tmp_path):
        for start in (1.0, 2.0):
            assert function(start) == start / 8
    assert function.traces[0].graph is not None
    assert [value for name, _, value in values_in(tmp_path) if name == "direct"] == [0.5, 0.25, 0.125, 1.0, 0.5, 0.25]
    assert len(values_in(tmp_path)) == 12


def test_an_error_is_on_the_users_line(tmp_path):
    @ag.function(engine="numpy")
    def report(x):
        y = x * 2
        ag.summary.scalar("y", y, 0)
        return y

    with ag.summary.create_file_writer(tmp_path):
        with pytest.raises(ValueError, match="the scalar 'y' is one real number") as raised:
            report(np.arange(3.0))
    lines = [each.lineno - report.python_function.__code__.co_firstlineno for each in raised.traceback[1:2]]
    assert lines == [3] or raised.traceback[1].name == "report"
