"""The list of passes, and what they cost."""

import sys
from textwrap import dedent

import pytest

from autograph.runtime.graph_text.parser import parse
from autograph.runtime.graph_text.printer import to_text
from autograph.runtime.graph_text.verifier import check
from autograph.runtime.passes import LAST, PASSES, optimize
from tests.runtime.passes import texts

pytestmark = pytest.mark.once

PROGRAM = dedent("""\
    graph f(n: py.int, x: f64[3]):
      a: tuple<py.int> = x.shape
      b: py.int = a[0]
      c: py.bool = b < 4
      d: py.int = if(c):
        then:
          e: py.int = n * 2
          -> e
        else:
          -> 0
      g: py.int = n * 2
      h: py.int = d + g
      -> h
""")


def test_together():
    graph = parse(PROGRAM)
    report = optimize(graph, check=check)
    assert to_text(graph) == texts.normal("""
        graph f(n: py.int, x: f64[3]):
            e: py.int = n * 2
            h: py.int = e + e
            -> h
    """)
    assert report.changed == ["simplify", "constant_folding", "prune_branches", "cse"]
    assert [message for message, _ in report.notes] == [
        "`.` gives one of its operands",
        "`[]` gives one of its operands",
        "`<` of constants is computed while tracing",
        "the condition of this `if` is always true",
        "`*` has been computed before",
    ]


def test_without_some():
    graph = parse(PROGRAM)
    assert optimize(graph, without={"simplify"}).changed == []
    assert to_text(graph) == texts.normal(PROGRAM)
    assert optimize(parse(PROGRAM), without=list(PASSES)).changed == []


def test_without_one_that_there_is_not():
    with pytest.raises(ValueError, match="there is no pass 'speed'; the passes are simplify, redundant_broadcasts, "):
        optimize(parse(PROGRAM), without=["speed"])


def test_each_pass_is_checked():
    seen = []
    optimize(parse(PROGRAM), check=seen.append)
    assert len(seen) == 2 * len(PASSES) - len(LAST)


LINE = [
    "a{i}: f64[3] = x * {i}", "b{i}: f64[3] = a{i} + y", "x[0] = {i}", "c{i}: f64 = b{i}[1]", "d{i}: py.int = n + 1",
]  # fmt: skip
IF = [
    "e{i}: f64[3] = if(n):", "  then:", "    p{i}: f64[3] = x * {i}", "    -> p{i}", "  else:", "    y[1] = 2",
    "    -> y",
]  # fmt: skip
LOOP = [
    "g{i}: py.int = for(range(0, 9), n):", "  body(j{i}: py.int, q{i}: py.int):", "    r{i}: py.int = n * {i}",
    "    s{i}: py.int = q{i} + r{i}", "    x[0] = s{i}", "    -> s{i}",
]  # fmt: skip
WHILE = [
    "k{i}: py.int = while(n):", "  test(t{i}: py.int):", "    u{i}: py.bool = t{i} < 9", "    -> u{i}",
    "  body(v{i}: py.int):", "    w{i}: py.int = v{i} + 1", "    -> w{i}",
]  # fmt: skip


def graph_of(lines, count):
    body = "".join(f"  {line}\n" for i in range(count) for line in (part.replace("{i}", str(i)) for part in lines))
    return parse(f"graph f(n: py.int, x: f64[3], y: f64[3]):\n{body}  -> (x, y)")


def work(run, graph):
    """How many calls it takes."""
    count = 0

    def profile(frame, event, arg):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        run(graph)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("lines", [LINE, IF, LOOP, WHILE, [*LINE, *IF, *LOOP]])
@pytest.mark.parametrize("name", PASSES)
def test_the_work_grows_with_the_graph(name, lines):
    small, large = (work(PASSES[name], graph_of(lines, count)) for count in (40, 160))
    assert large <= 4.4 * small


@pytest.mark.parametrize("name", PASSES)
def test_the_work_does_not_grow_with_the_square_of_the_depth(name):
    def nested(depth):
        inner = ["x[0] = 1"]
        for i in range(depth):
            indented = [f"    {line}" for line in inner]
            inner = [f"a{i}: py.int = n + {i}", f"if(a{i}):", "  then:", *indented, "  else:", "    pass"]
        return graph_of(inner, 1)

    small, large = (work(PASSES[name], nested(depth)) for depth in (10, 40))
    assert large <= 8 * small


def test_a_long_graph():
    graph = graph_of([*LINE, *IF, *LOOP, *WHILE], 700)
    optimize(graph)
    check(graph)
