"""What `explain` tells, as text, as HTML, as JSON, and as an assertion."""

import json

import numpy as np

from autograph.runtime.dispatch.compilation import Hooks
from autograph.runtime.dispatch.decorator import function
from autograph.runtime.dispatch.explain import Report
from autograph.runtime.graph.signature import Event, Guard

EVENTS = [
    Event("trace", "(x: f64[3]): the first call"),
    Event("callback", "scipy.special.erf is called back", ("user.py", 7)),
    Event("unroll", "3 iterations of this loop are written out", ("user.py", 5)),
    Event("callback", "time.time <is> called back", ("user.py", 8)),
    Event("weather", "it rains"),
]
REPORT = Report("f, trace 1", EVENTS)


def test_a_text_to_read():
    assert str(REPORT) == """\
f, trace 1
  traced: (x: f64[3]): the first call
  unrolled: user.py:5: 3 iterations of this loop are written out
  called back:
    user.py:7: scipy.special.erf is called back
    user.py:8: time.time <is> called back
  weather: it rains"""
    assert repr(REPORT) == "<Report on f, trace 1: 5 entries>"


def test_an_assertion():
    assert len(REPORT) == 5
    assert not REPORT.where(kind="plain")
    assert [entry.place[1] for entry in REPORT.where(kind={"callback", "unroll"})] == [7, 5, 8]
    assert REPORT.where(line=7, text="erf").entries == [EVENTS[1]]
    assert not REPORT.where(line=7, text="time")


def test_a_table_for_notebooks():
    html = REPORT._repr_html_()
    assert "<b>f, trace 1</b>" in html
    assert "time.time &lt;is&gt; called back" in html
    assert html.count("<tr>") == 5


def test_json():
    assert json.loads(REPORT.to_json())[1] == {
        "kind": "callback",
        "message": "scipy.special.erf is called back",
        "file": "user.py",
        "line": 7,
    }


def test_all_that_is_told_of_a_call(tracer, monkeypatch):
    def statements(function):
        return [Event("converted", "if", ("user.py", 3)), Event("plain", "while: it never ends", ("user.py", 4))]

    monkeypatch.setattr(Hooks, "statements", statements)
    tracer.events = [Event("callback", "f is called back", ("user.py", 5))]
    tracer.guards = [Guard("g == 1", {"g": 1}, "the global `g` changes, user.py:1")] * 2
    f = function(lambda x: x, engine="numpy")
    f(np.ones(3))
    text = str(f.explain(np.ones(4)))
    lines = text.splitlines()
    assert lines[:9] == [
        "<lambda>, trace 2",
        "  traced: (x: f64[?]): `x` came as f64[3] and as f64[4], so its dimension 0 is left open from now on",
        "  engine: runs on the engine numpy: asked for by engine=",
        "  changes of the signature: `x` came as f64[3] and as f64[4], so its dimension 0 is left open from now on",
        "  traced again if: the global `g` changes, user.py:1",
        "  converted: user.py:3: if",
        "  plain Python: user.py:4: while: it never ends",
        "  called back: user.py:5: f is called back",
        lines[8],
    ]
    assert lines[8].startswith("  time: trace ")
    assert " optimize " in lines[8] and " compile " in lines[8]


def test_explaining_does_not_call(tracer):
    called = []
    f = function(lambda x: called.append(x))
    f.explain(1), f.graph(1), f.lower(1), f.get_concrete_function(1)
    assert called == []
    assert len(tracer) == 1
    assert f.traces[0].calls == 0
    f(1)
    assert f.traces[0].calls == 1


def test_traces_tell_of_themselves(tracer):
    f = function(lambda x: x)
    f(1)
    (trace,) = f.traces
    assert repr(trace) == "<trace 1: (x: py.int), 1 calls; the first call>"
    assert set(trace.seconds) == {"trace", "optimize", "compile"}
    assert trace.engine == "numpy"
    assert "ag_run(a0)" in trace.entry_source
    assert str(f.lower(1)) == trace.source == f.lower(1).source
    assert repr(f.lower(1)) == "<lowered for the engine numpy; print it to see the code>"
