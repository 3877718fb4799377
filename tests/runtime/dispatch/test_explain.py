"""What `explain` tells, as text, as HTML, as JSON, and as an assertion."""

import json
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from autograph.common.printing.locations import duration
from autograph.runtime.dispatch.advice import Advice
from autograph.runtime.dispatch.compilation import Hooks
from autograph.runtime.dispatch.decorator import function
from autograph.runtime.dispatch.explain import LoopSummary, Report, TierSummary
from autograph.runtime.dispatch.trace_report import short_signature
from autograph.runtime.graph.signature import Event, Guard

EVENTS = [
    Event("trace", "(x: f64[3]): the first call"),
    Event("callback", "scipy.special.erf is called back", ("user.py", 7)),
    Event("unroll", "3 iterations of this loop are written out", ("user.py", 5)),
    Event("callback", "time.time <is> called back", ("user.py", 8)),
    Event("weather", "it rains"),
]
SUMMARY = TierSummary(2, 1200, 36e-6, 1.5e-6, "loops become machine code when that pays")
LOOPS = [LoopSummary(("user.py", 5), 2, runs=20, seconds=0.0012), LoopSummary(("helpers.py", 9), 0, "it is short")]
ADVICE = [Advice("append", "`out` grows in this loop", "Make an array before it", ("user.py", 6), 2.0, 3)]
REPORT = Report("f, trace 1", EVENTS)
FULL = Report("f, trace 1", EVENTS, file="user.py", summary=SUMMARY, loops=LOOPS, advice=ADVICE)


def test_a_text_to_read():
    assert str(FULL) == """\
f, trace 1 (user.py)
  summary:
    machine code (tier 2), 1,200 calls of 1.5 µs, plain 36 µs: 24 times as fast
    loops become machine code when that pays
  advice: line 6: `out` grows in this loop ×3. Make an array before it
  loops:
    line 5: machine code (tier 2), 20 runs in 1.2 ms
    helpers.py:9: plain Python (tier 0): it is short
  traced: (x: f64[3]): the first call
  unrolled: line 5: 3 iterations of this loop are written out
  called back:
    line 7: scipy.special.erf is called back
    line 8: time.time <is> called back
  weather: it rains"""
    assert repr(FULL) == "<Report on f, trace 1: 5 entries>"
    assert str(FULL.where(kind="unroll")) == """\
f, trace 1 (user.py)
  unrolled: line 5: 3 iterations of this loop are written out"""


def test_summaries():
    assert str(TierSummary(0, 1)) == "plain Python (tier 0), 1 call"
    assert str(TierSummary(0, 2, 3e-7, 9e-7)) == "plain Python (tier 0), 2 calls of 0.3 µs, staged 0.9 µs"
    assert str(TierSummary(1, 2, None, 2.5)) == "a graph on NumPy (tier 1), 2 calls of 2.5 s"
    assert [duration(seconds) for seconds in (0.0, 1e-9, 0.02, 123.4)] == ["0 µs", "0.001 µs", "20 ms", "123 s"]


def test_equal_lines_are_one_with_a_count():
    report = Report("f, trace 1", [Event("pass", "reused", ("user.py", 7))] * 28 + [Event("pass", "reused", None)])
    assert str(report) == "f, trace 1\n  optimized:\n    user.py:7: reused ×28\n    reused"


def test_places_are_relative_to_the_file_of_the_function():
    events = [
        Event("plain", "`with` is around it, /project/model.py:12", ("/project/model.py", 3)),
        Event("plain", "it is recursive, /project/lib/walk.py:7"),
        Event("plain", "`y` changed, /home/you/x.py:7 and <string>:2", ("<stdin>", 1)),
    ]
    assert str(Report("f, trace 1", events, file="/project/model.py")).splitlines()[2:] == [
        "    line 3: `with` is around it, line 12",
        "    it is recursive, lib/walk.py:7",
        "    <stdin>:1: `y` changed, /home/you/x.py:7 and <string>:2",
    ]


def test_cells_are_called_as_ipython_calls_them(monkeypatch):
    def code_name(file):
        return ("Cell", "In[12]") if file == "/tmp/ipykernel_1/2.py" else None

    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name=code_name))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    events = [Event("plain", "it is, /tmp/ipykernel_1/2.py:4", ("<ipython-input-3-0a1b2c>", 2))]
    assert str(Report("f, trace 1", events, file="/tmp/ipykernel_1/2.py")) == (
        "f, trace 1 (Cell In[12])\n  plain Python: Cell In[3], line 2: it is, line 4"
    )


def test_an_assertion():
    assert len(REPORT) == 5
    assert not REPORT.where(kind="plain")
    assert [entry.place[1] for entry in REPORT.where(kind={"callback", "unroll"})] == [7, 5, 8]
    assert REPORT.where(line=7, text="erf").entries == [EVENTS[1]]
    assert not REPORT.where(line=7, text="time")


def test_a_page_for_notebooks():
    html = FULL._repr_html_()
    assert "<b>f, trace 1</b>" in html
    assert "time.time &lt;is&gt; called back" in html
    assert html.count("<div") == len(str(FULL).splitlines())


def test_json():
    told = json.loads(FULL.to_json())
    assert list(told) == ["version", "title", "file", "summary", "advice", "loops", "events"]
    assert told["version"] == 1
    assert told["summary"] == {
        "tier": 2,
        "calls": 1200,
        "plain_seconds": 36e-6,
        "staged_seconds": 1.5e-6,
        "reason": "loops become machine code when that pays",
        "speedup": 24,
    }
    assert told["advice"][0] == {
        "rule": "append",
        "cause": "`out` grows in this loop",
        "remedy": "Make an array before it",
        "gain": 2.0,
        "count": 3,
        "seconds": 0.0,
        "file": "user.py",
        "line": 6,
    }
    assert told["loops"][1] == {
        "tier": 0, "reason": "it is short", "runs": 0, "seconds": 0.0, "file": "helpers.py", "line": 9
    }  # fmt: skip
    assert told["events"][1] == {
        "kind": "callback",
        "message": "scipy.special.erf is called back",
        "about": "",
        "seconds": 0.0,
        "file": "user.py",
        "line": 7,
    }
    assert json.loads(REPORT.to_json())["summary"] is None


def test_json_when_asked_for():
    told = json.loads(function(lambda x: x).explain(1, format="json"))
    assert told["title"] == "<lambda>, trace 1" and told["summary"]["tier"] == 1
    with pytest.raises(ValueError, match="format= is 'json', not 'xml'"):
        function(lambda x: x).explain(1, format="xml")


def test_an_argument_may_be_called_format(tracer):
    f = function(lambda x, format="json": x)
    assert isinstance(f.explain(1, format="json"), Report)
    assert isinstance(function(lambda **options: options).explain(format="json"), Report)


def test_all_that_is_told_of_a_call(tracer, monkeypatch):
    def statements(function):
        return [Event("converted", "if", (__file__, 3)), Event("plain", "while: it never ends", (__file__, 4))]

    monkeypatch.setattr(Hooks, "statements", statements)
    tracer.events = [Event("callback", "f is called back", ("user.py", 5))]
    tracer.guards = [Guard("g == 1", {"g": 1}, "the global `g` changes, user.py:1")] * 2
    f = function(lambda x: x, engine="numpy")
    f(np.ones(3))
    text = str(f.explain(np.ones(4)))
    first, *lines = text.splitlines()
    assert re.fullmatch(r"<lambda>, trace 2 \(.*test_explain\.py\)", first)
    assert lines[:9] == [
        "  summary: a graph on NumPy (tier 1), 0 calls",
        "  traced: (x: f64[?]): `x` came as f64[3] and as f64[4], so its dimension 0 is left open from now on",
        "  engine: runs on the engine numpy: asked for by engine=",
        "  changes of the signature: `x` came as f64[3] and as f64[4], so its dimension 0 is left open from now on",
        "  traced again if: the global `g` changes, user.py:1",
        "  converted: line 3: if",
        "  plain Python: line 4: while: it never ends",
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


def test_equal_items_of_a_list_are_one_part_of_the_signature():
    f = function(lambda xs, y: xs)
    (event,) = f.explain([1, 2, 3, 4, 5.0, 6.0], 7).where(kind="trace")
    assert event.message == "(xs[0] to xs[3]: py.int, xs[4]: py.float, xs[5]: py.float, y: py.int): the first call"
    assert short_signature("a='x, y', b[0]: py.int, b[1]: py.int") == "a='x, y', b[0]: py.int, b[1]: py.int"


def test_loops_of_a_function_that_runs_plain_are_listed(monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_TIERS", "")
    monkeypatch.setenv("AUTOGRAPH_ENGINE", "auto")

    def total(xs):
        result = 0.0
        try:
            for x in xs:
                result += x * 0.5
        except ZeroDivisionError:
            result = -1.0
        return result

    staged = function(total)
    xs = [1.0] * 300_000
    for _ in range(4):
        assert staged(xs) == total(xs)
    report = staged.explain(xs)
    assert report.summary.calls
    for loop in report.loops:
        assert loop.place == (__file__, total.__code__.co_firstlineno + 3)
