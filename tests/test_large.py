"""Functions that are long, deep or wide do the same plain and converted, and convert in linear time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from autograph import api
from tests import counting, outcomes

pytestmark = pytest.mark.once


def indented(depth: int, line: str) -> str:
    return "    " * depth + line + "\n"


def lines(n: int, template: str) -> str:
    return "".join(template.format(i=i, next=i + 1) for i in range(n))


def elif_chain(n: int) -> str:
    return "def f(x):\n    if x == -1:\n        y = 'first'\n" + lines(n, "    elif x == {i}:\n        y = {i}\n") + (
        "    else:\n        y = None\n    return y\n")  # fmt: skip


def guards(n: int) -> str:
    return "def f(x):\n" + lines(n, "    if x == {i}:\n        return 'found', {i}\n") + "    return x\n"


def guards_between_statements(n: int) -> str:
    return "def f(x):\n    y = 0\n" + lines(n, "    y += {i}\n    if y == x:\n        return y\n")


def guards_in_loop(n: int) -> str:
    return "def f(x):\n    out = []\n    for i in range(6):\n" + lines(
        n, "        if i + x == {i}:\n            out.append({i})\n            continue\n"
    ) + "        if i == 4:\n            break\n        out.append('end')\n    return out, i\n"


def returns_in_loop(n: int) -> str:
    exits = lines(n, "        x += 1\n        if x % {next} == 7:\n            return x\n")
    return "def f(x):\n    while True:\n" + exits


def raises(n: int) -> str:
    return "def f(x):\n" + lines(n, "    if x == {i}:\n        raise ValueError({i})\n    print({i})\n")


def nested_ifs(n: int) -> str:
    text = "def f(x):\n    y = 0\n"
    for depth in range(n):
        text += indented(depth + 1, f"if x > {depth}:") + indented(depth + 2, f"y += {depth}")
    return text + "    return y\n"


def nested_loops(n: int) -> str:
    text = "def f(x):\n    y = 0\n"
    for depth in range(n):
        text += indented(depth + 1, f"for i{depth} in range(min(x, 2) - y // 40):")
    return text + indented(n + 1, "y += 1") + indented(n + 1, "if y > x * 20:") + indented(n + 2, "break") + (
        "    return y\n")  # fmt: skip


def nested_everything(n: int) -> str:
    text = "def f(x):\n    y = []\n"
    openers = "if x > {0}:", "for i{0} in range(2):", "try:", "while len(y) < 30:", "with nullcontext():"
    for depth in range(n):
        text += indented(depth + 1, openers[depth % 5].format(depth))
        text += indented(depth + 2, f"y.append({depth})")
    for depth in reversed(range(n)):
        if depth % 5 == 2:
            text += indented(depth + 1, "finally:") + indented(depth + 2, f"y.append('f{depth}')")
    return "from contextlib import nullcontext\n" + text + "    return y\n"


def nested_functions(n: int) -> str:
    text = "def f(x):\n    total = 0\n"
    for depth in range(n):
        text += indented(depth + 1, f"def g{depth}(k):") + indented(depth + 2, "nonlocal total")
        text += indented(depth + 2, f"if k > {depth}:") + indented(depth + 3, f"total += {depth}")
    for depth in reversed(range(n)):
        text += indented(depth + 1, f"g{depth}(x)")
    return text + "    return total\n"


def straight_line(n: int) -> str:
    return "def f(x):\n    y = 0\n" + lines(n, "    y = y + {i} * x  # {i}\n") + "    return y\n"


def many_statements(n: int) -> str:
    return "def f(x):\n    y = 0\n" + lines(
        n, "    if y < x:\n        y += {i}\n    for k in range(2):\n        y -= k\n"
    ) + "    return y, k\n"


def many_variables(n: int) -> str:
    return "def f(x):\n    if x:\n" + lines(n, "        v{i} = {i}\n") + "    return " + lines(n, "v{i} + ") + "0\n"


def many_operands(n: int) -> str:
    return "def f(x):\n    return " + lines(n, "x > {i} and ") + "'all', " + lines(n, "x == {i} or ") + "'none'\n"


def many_comparisons(n: int) -> str:
    return "def f(x):\n    return -9 < " + lines(n, "x + {i} < ") + "900\n"


def long_sum(n: int) -> str:
    return "def f(x):\n    if x:\n        return 0" + lines(n, " + {i} * x") + "\n"


def match_arms(n: int) -> str:
    return "def f(x):\n    match x:\n" + lines(n, "        case {i}:\n            y = {i}\n") + "    return y\n"


SHAPES = [(elif_chain, 100), (guards, 300), (guards_between_statements, 100), (guards_in_loop, 60),
          (returns_in_loop, 60), (raises, 100), (nested_ifs, 60), (nested_loops, 19), (nested_everything, 19),
          (nested_functions, 15), (straight_line, 500), (many_statements, 150), (many_variables, 200),
          (many_operands, 100), (many_comparisons, 60), (long_sum, 100), (match_arms, 100)]  # fmt: skip


@pytest.mark.parametrize("shape, size", SHAPES, ids=lambda value: getattr(value, "__name__", str(value)))
def test_large_functions(shape: Callable[[int], str], size: int) -> None:
    text = shape(size)
    plain = outcomes.execute(text, f"<{shape.__name__}>")["f"]
    converted = api.to_graph(plain)
    ejected = outcomes.execute(api.convert_source(text, "<large>").text, f"<{shape.__name__} ejected>")["f"]
    for arguments in ("0", "1", "5", f"{size - 1}", "'x'"):
        wanted = outcomes.run(plain, arguments)
        assert outcomes.run(converted, arguments, {}) == wanted
        assert outcomes.run(ejected, arguments) == wanted


@pytest.mark.parametrize("shape", [guards, straight_line, many_statements, elif_chain, many_variables])
def test_work_is_linear_in_length(shape: Callable[[int], str]) -> None:
    def work(size: int) -> int:
        text = shape(size)
        api.convert_source(text, "<large>")     # now all that is remembered is there
        return counting.lines(lambda: api.convert_source(text, "<large>"))

    small, large = work(40), work(160)
    assert large < 5 * small, f"4 times the length takes {large / small:.1f} times as many steps"

