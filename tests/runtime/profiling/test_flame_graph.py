"""The files for viewers: their structure, as speedscope and Chrome define it, and what they say."""

import json

import numpy as np
import pytest

import autograph as ag


@ag.do_not_convert
def between(x):
    return inner(x)


@ag.function(engine="numpy")
def inner(x):
    return np.cos(x)


def helper(x):
    return np.sqrt(x)


@ag.function(engine="numpy")
def outer(x):
    y = helper(x)
    for _ in range(3):
        y = between(y)
    return y


@pytest.fixture(scope="module")
def profile():
    outer(np.ones(4))
    with ag.profile() as p:
        outer(np.ones(4)), inner(np.ones(4))
    return p


# speedscope ----------------------------------------------------------------------------------------------------------


def check_speedscope(text):
    """Check a text by what the schema of speedscope demands of sampled profiles."""
    found = json.loads(text)
    assert found["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert set(found) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}
    frames = found["shared"]["frames"]
    for frame in frames:
        assert isinstance(frame["name"], str) and set(frame) <= {"name", "file", "line", "col"}
        assert isinstance(frame.get("line", 0), int)
    assert found["profiles"] and 0 <= found["activeProfileIndex"] < len(found["profiles"])
    for each in found["profiles"]:
        assert set(each) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        assert each["type"] == "sampled" and each["unit"] == "seconds"
        assert len(each["samples"]) == len(each["weights"]) and min(each["weights"], default=1) > 0
        assert each["endValue"] - each["startValue"] == pytest.approx(sum(each["weights"]))
        assert all(0 <= number < len(frames) for stack in each["samples"] for number in stack)
    return found


def stacks(found):
    names = [frame["name"] for frame in found["shared"]["frames"]]
    return {tuple(names[number] for number in stack) for each in found["profiles"] for stack in each["samples"]}


def test_speedscope(profile):
    found = check_speedscope(profile.speedscope())
    lines = {line: number for number, line in enumerate(open(__file__), 1)}
    at = {name: f"test_flame_graph.py:{lines[text]}" for name, text in {
        "call": "    y = helper(x)\n", "sqrt": "    return np.sqrt(x)\n", "between": "        y = between(y)\n",
        "cos": "    return np.cos(x)\n",
    }.items()}  # fmt: skip
    calling = ("outer", f"outer ({at['between']})", "call between [Python]")
    assert {
        ("outer", f"outer ({at['call']})", f"helper ({at['sqrt']})", "np.sqrt [NumPy]"),
        (*calling, "inner", f"inner ({at['cos']})", "np.cos [NumPy]"),
        ("inner", f"inner ({at['cos']})", "np.cos [NumPy]"),
    } <= stacks(found)
    (thread,) = found["profiles"]
    total = sum(function.seconds for function in profile.functions)
    assert sum(thread["weights"]) == pytest.approx(total)


def test_an_empty_profile_is_a_file_as_well():
    assert check_speedscope(ag.profile().speedscope())["profiles"][0]["samples"] == []
    assert json.loads(ag.profile().chrome_trace())["traceEvents"] == []


# Chrome --------------------------------------------------------------------------------------------------------------


def test_chrome_trace(profile):
    found = json.loads(profile.chrome_trace())
    names = [event for event in found["traceEvents"] if event["ph"] == "M"]
    assert [event["name"] for event in names] == ["thread_name"] and names[0]["args"] == {"name": "MainThread"}
    events = [event for event in found["traceEvents"] if event["ph"] == "X"]
    assert len(events) == len(profile.events) and found["otherData"] == {"events that are not kept": 0}
    for event in events:
        assert isinstance(event["name"], str) and isinstance(event["cat"], str)
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int)
        assert event["ts"] >= 0 and event["dur"] >= 0
    counts = {name: sum(event["name"] == name for event in events) for name in ("outer", "inner", "np.cos")}
    assert counts == {"outer": 1, "inner": 4, "np.cos": 4}


def test_events_are_within_those_that_they_are_part_of(profile):
    (outermost,) = (event for event in profile.events if event.name == "outer" and event.kind == "function")
    (graph,) = (event for event in profile.events if event.name == "outer" and event.kind == "graph")
    inside = [event for event in profile.events if event.name == "np.cos"][:3]
    for outer, within in [(outermost, graph), *((graph, event) for event in inside)]:
        assert outer.begin <= within.begin and within.begin + within.seconds <= outer.begin + outer.seconds
    assert [event.nodes[0].op for event in inside] == ["np.cos"] * 3
    begins = [event.begin for event in inside]
    assert begins == sorted(begins)


def test_late_events_are_dropped_and_counted(monkeypatch):
    from autograph.runtime.profiling import recorder

    monkeypatch.setattr(recorder, "EVENTS", 5)
    with ag.profile() as p:
        outer(np.ones(2))
    assert len(p.threads[0].events) == 5
    assert json.loads(p.chrome_trace())["otherData"]["events that are not kept"] == p.threads[0].dropped > 0
    assert next(node.calls for node in p.nodes if node.op == "np.cos") == 3


@pytest.mark.parametrize("name, key", [("a.speedscope.json", "$schema"), ("a.chrome.json", "traceEvents"), ("a.trace.json", "traceEvents"), ("a.json", "version")])  # fmt: skip  # noqa: E501
def test_the_name_of_a_file_says_what_it_is(profile, tmp_path, name, key):
    profile.save(tmp_path / name)
    assert key in json.loads((tmp_path / name).read_text(encoding="utf-8"))
