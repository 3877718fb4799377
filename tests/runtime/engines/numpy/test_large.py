"""Large graphs: time that grows with their size, and what Python limits."""


import pytest

from autograph.runtime.engines.numpy.engine import compile
from tests import counting
from tests.runtime.engines.texts import executable

pytestmark = pytest.mark.once


def straight(count):
    lines = [f"    %{i}: f64 = %{i - 1} {'*+-'[i % 3]} y" for i in range(1, count)]
    return "\n".join(["graph f(x: f64, y: f64):", "    %0: f64 = x + y", *lines, f"    -> %{count - 1}"])


def branches(count):
    lines = []
    for i in range(0, count, 4):
        lines += [
            f"    %{i}: bool = x{'.%d' % i if i else ''} > y",
            f"    x.{i + 4}: f64 = if(%{i}):",
            "      then:",
            f"        %{i + 1}: f64 = x{'.%d' % i if i else ''} - y",
            f"        -> %{i + 1}",
            "      else:",
            f"        %{i + 2}: f64 = x{'.%d' % i if i else ''} + y",
            f"        -> %{i + 2}",
        ]
    return "\n".join(["graph f(x: f64, y: f64):", *lines, f"    -> x.{count}"])


def many_values(count):
    """All used at the end."""
    lines = [f"    %{i}: f64 = x * {i}" for i in range(count)]
    return "\n".join(["graph f(x: f64):", *lines, f"    -> [{', '.join(f'%{i}' for i in range(count))}]"])


def parts(count):
    """Parts of an array that are used twice, among expressions that wait for the end."""
    lines = []
    for i in range(0, count, 3):
        lines += [f"    %{i}: f64[?] = x * {i}", f"    %{i + 1}: f64[?] = x[{i}:]"]
        lines += [f"    %{i + 2}: f64[?] = %{i + 1} + %{i + 1}"]
    results = ", ".join(f"%{i}, %{i + 2}" for i in range(0, count, 3))
    return "\n".join(["graph f(x: f64[?]):", *lines, f"    -> [{results}]"])


@pytest.mark.parametrize("text", [straight, branches, many_values, parts])
def test_work_grows_with_size(text):
    small, large = executable(text(100)), executable(text(800))
    compile(small.graph).source     # now all that is remembered is there
    steps = [counting.lines(lambda made=made: compile(made.graph).source) for made in (small, large)]
    assert steps[1] < 8 * 2 * steps[0]


def test_unrolled_branches_keep_one_variable():
    made = executable(branches(2000))
    assert set(made.run.__code__.co_varnames) == {"x", "y"}
    assert made(0.5, 1.0) == 0.5 + (500 % 2)


def test_a_long_chain_is_computed():
    made = executable(straight(10000))
    x, y = 1.0, 0.5
    expected = x + y
    for i in range(1, 10000):
        expected = [expected * y, expected + y, expected - y][i % 3]
    assert made(x, y) == expected


@pytest.mark.parametrize("depth", [3, 25, 45])
def test_loops_nested_more_deeply_than_python_allows(depth):
    lines, indent = ["graph f(n: py.int):"], "    "
    for i in range(depth):
        before = f"total.{i - 1}" if i else "0"
        lines += [
            f"{indent}%{i}: object = range(n)",
            f"{indent}all.{i}: py.int = for(%{i}, {before}, target=0):",
            f"{indent}  body(i.{i}: py.int, total.{i}: py.int):",
        ]
        indent += "    "
    lines += [f"{indent}%{depth}: py.int = total.{depth - 1} + i.0", f"{indent}-> %{depth}"]
    for i in reversed(range(1, depth)):
        indent = indent[4:]
        lines.append(f"{indent}-> all.{i}")
    lines.append("    -> (all.0, n)")
    made = executable("\n".join(lines))
    assert made.source.count("def loop_") == (depth - 1) // 18
    assert made(1) == (0, 1) and made(0) == (0, 0)


def test_branches_nested_deeply():
    lines, indent = ["graph f(x: py.int):"], "    "
    for i in range(90):
        lines += [
            f"{indent}%{i}: py.bool = x > {i}",
            f"{indent}y.{i}: py.int = if(%{i}):",
            f"{indent}  then:",
        ]
        indent += "    "
    lines.append(f"{indent}-> 90")
    for i in reversed(range(90)):
        indent = indent[4:]
        lines += [f"{indent}  else:", f"{indent}    -> {i}", f"{indent}-> y.{i}"]
    lines[-1] = "    %200: py.int = y.0 + 0\n    -> %200"
    made = executable("\n".join(lines))
    assert [made(x) for x in (-5, 7, 1000)] == [0, 7, 90]
