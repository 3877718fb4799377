"""The advice of `explain`: a program for each rule in advice/, before and after the remedy.

A head says which calls to explain; behind semicolons are the calls before the last one. Below the line is the advice.
`pytest --update-goldens` writes it.
"""

import ast
import re
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.dispatch import advice
from autograph.runtime.dispatch.advice import RULES, Rule, advice_for
from autograph.runtime.dispatch.explain import LoopSummary, Report, TierSummary
from autograph.runtime.dispatch.options import can_compile
from autograph.runtime.dispatch.trace_report import advice_on_figures, report_on
from autograph.runtime.graph.signature import Event
from tests.goldens import Golden

FOLDER = Path(__file__).parent / "advice"
PATHS = sorted(FOLDER.glob("*.py"))
CALLS = 3  # of each example
# Their programs would be long, or depend on what is installed.
ELSEWHERE = {"llvmlite", "too-long", "changing-types", "often", "budget", "package", "sourceless"}
EXPOSED = "it changes objects, and if it raises, code around it may read its variables"
ELSEWHERE |= {"attribute", "no-lowering", "unrolled", "numpy-call", "exposed", "nested-list", "mixed-list"}

pytestmark = pytest.mark.skipif(not can_compile(), reason="needs llvmlite")


def reports(golden: Golden) -> dict[str, Report]:
    """By the name of the function, the report on the last call of each example."""
    namespace = {"__name__": "advised", "np": np}
    exec(compile(golden.source, str(golden.path), "exec"), namespace)
    found = {}
    for example in re.findall(r"^# >>> (.*)$", golden.source, re.MULTILINE):
        calls = ast.parse(example).body
        name = calls[-1].value.func.id
        engine = "numpy" if golden.path.stem == "pinned" else "native"
        namespace["staged"] = staged = ag.function(namespace[name], engine=engine)
        for call in calls:
            text = ast.unparse(call)
            for _ in range(CALLS):
                eval(text.replace(name, "staged", 1), namespace)
        found[name] = eval(text.replace(name, "staged.explain", 1), namespace)
        del staged
    return found


def shown(reports: dict[str, Report]) -> str:
    """The advice for each function, as its report shows it, in comments."""
    lines = []
    for name, report in reports.items():
        _, *advice = map(str, Report("", (), file=report.file, advice=report.advice).lines())
        for line in (f"{name}:", *(advice or ["  no advice"])):
            lines += textwrap.wrap(line, 116, initial_indent="# ", subsequent_indent="#     ")
    return "\n".join(lines)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_advice(path, request, monkeypatch):
    monkeypatch.setattr(advice, "SHORT", 0.0)
    golden = Golden(path, request.config.getoption("--update-goldens"))
    if not golden.readable_here:
        pytest.skip("Python 3.10 does not know the columns of operations")
    golden.check(shown(reports(golden)))


def test_each_rule_has_a_program():
    """A rule whose pattern no event has any more shows here."""
    text = " ".join(re.sub(r"\n# +", " ", path.read_text(encoding="utf-8")) for path in PATHS)
    missing = {rule.name for rule in RULES if not _is_in(rule, text)}
    assert missing == ELSEWHERE


def _is_in(rule: Rule, text: str) -> bool:
    """Whether some advice of a rule is in a text."""
    return re.search(re.sub(r"\\\{\w+\\\}", ".+", re.escape(rule.remedy)), text) is not None


@pytest.mark.parametrize(
    ("kind", "message", "remedy"),
    [
        ("engine", "runs on the engine numpy: llvmlite is not installed, which makes machine code", "pip install"),
        ("native", "this loop stays in Python: its code would be too long", "Move parts of it"),
        ("native", "this loop stays in Python: it is left to Python too often", "Give each variable one type"),
        ("native", "this loop stays in Python: there is no machine code for `enter`", "Compute that outside"),
        ("native_callback", "`sum` runs in Python, some 3.2 µs each, 5 ms\n`x.sum()`; NumPy runs this", "If its"),
        ("plain", f"runs as plain Python: {EXPOSED}", "Move it into a function"),
        ("native", "this is left to Python\n`a[i][j]`; `a` is a list of lists of bools and ints", "Make it a 2-D"),
        ("native", "this is left to Python\n`a[i]`; `a` is a list of bools and ints", "Give all its numbers"),
        ("native", "this is left to Python\n`.speed = …`; `p` is an object of class Particle", "Use a local"),
        ("unroll", "600 iterations of this loop take 1800 operations", "Loop over `range(n)`"),
        ("plain", "64 traces were dropped after hardly a call, so calls without a trace run as plain Python", "Pass"),
        ("callback", "erf is called as it is, as scipy is not traced: trace_packages='scipy' would", "Name its"),
    ],
)
def test_advice_for_events_of_long_programs(kind, message, remedy):
    (found,) = advice_for([Event(kind, message, ("model.py", 3))])
    assert found.remedy.startswith(remedy) and found.place == ("model.py", 3)


def test_equal_advice_is_given_once_and_the_greatest_gain_first():
    events = [
        Event("native_callback", "`exp` runs in Python", ("model.py", 3), "`exp(x)`", seconds=0.5),
        Event("native_callback", "`log` runs in Python", ("model.py", 4), "`log(x)`", seconds=0.7),
        Event("native_callback", "`exp` runs in Python", ("model.py", 5), "`exp(x)`", seconds=0.5),
        Event("native_callback", "`cos` runs in Python", ("model.py", 6), "`cos(x)`", seconds=1e-6),
        Event("plain", "runs as plain Python: `with` is around an operation, /home/model.py:9"),
    ]
    found = advice_for(events)
    assert [(each.rule, each.place, each.count) for each in found] == [
        ("handler", ("/home/model.py", 9), 1),
        ("python-call", ("model.py", 3), 2),
        ("python-call", ("model.py", 4), 1),
    ]


def test_functions_that_are_too_short():
    summary = TierSummary(0, 1000, plain_seconds=3e-7)
    assert [each.cause for each in advice_on_figures(summary)] == [
        "a call takes 0.3 µs, about as long as entering a staged function"
    ]
    assert not advice_on_figures(TierSummary(0, 1000, plain_seconds=3e-5))
    assert not advice_on_figures(TierSummary(1, 1000, plain_seconds=3e-7))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code has no columns, by which advice names an expression")
def test_a_loop_that_carries_no_values_gets_advice():
    def pour(stack, under):
        dry = []
        while stack:
            name, depth = stack.pop()
            if depth < 3:
                stack.extend((other, depth + 1) for other in under(name))
            else:
                dry.append(name)
        return dry

    under = {0: (), 1: (0, 0), 2: (1, 0), 3: (1, 1)}.get
    staged = ag.function(pour, engine="native")
    assert staged([(3, 0)], under) == pour([(3, 0)], under)
    assert staged.explain([(3, 0)], under).advice


def test_advice_is_on_the_loops_where_these_are_staged_on_their_own():
    @ag.function(engine="numpy")
    def total(xs):
        result = 0.0
        for x in xs:
            try:
                result += 1 / x
            except ZeroDivisionError:
                pass
        return result

    total([1.0] * 20)
    made, (trace,) = total._specializer, total.traces
    assert [each.rule for each in report_on(made, trace).advice] == ["handler"]
    staged = LoopSummary((__file__, 3), 2)
    assert report_on(made, trace, loops=[staged]).advice == []
    plain = LoopSummary((__file__, 9), 0, "the value of `x` is needed as text, /home/me/model.py:10")
    (found,) = report_on(made, trace, loops=[staged, plain]).advice
    assert (found.rule, found.place) == ("text", ("/home/me/model.py", 10))
