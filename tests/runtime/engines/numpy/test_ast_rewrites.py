"""Tests that stand at the end of each iteration, put back in front of the loop, where they read the same."""

import ast
import textwrap

import pytest

import autograph as ag
from autograph.runtime.engines.numpy.ast_rewrites import rotate_back
from tests.outcomes import run


def rotated(text):
    (function,) = ast.parse("def f():\n" + textwrap.indent(textwrap.dedent(text), "    ")).body
    rotate_back(function)
    return "\n".join(map(ast.unparse, function.body))


def plainly(text):
    return "\n".join(map(ast.unparse, ast.parse(textwrap.dedent(text)).body))


@pytest.mark.parametrize(
    "before, after",
    [
        ("go = a(i)\nwhile go:\n  i += 1\n  go = a(i)", "while a(i):\n  i += 1"),
        ("go = a(i)\nj = i\nwhile go:\n  j += 1\n  go = a(j)", "j = i\nwhile a(j):\n  j += 1"),
        ("go = a(0, i)\nj = 0\nk = j\nwhile go:\n  j += 1\n  go = a(k, i)", "j = 0\nk = j\nwhile a(k, i):\n  j += 1"),
        ("go = a(j, i)\ni, j = j, i\nwhile go:\n  b()\n  go = a(i, j)", "i, j = j, i\nwhile a(i, j):\n  b()"),
        ("go = a()\nwhile go:\n  go = a()", "while a():\n  pass"),
        (
            "go = a()\nwhile go:\n  go = a()\nif b:\n  go = c()\n  while go:\n    go = c()",
            "while a():\n  pass\nif b:\n  while c():\n    pass",
        ),
    ],
)
def test_a_test_is_put_back(before, after):
    assert rotated(before) == plainly(after)


@pytest.mark.parametrize(
    "text",
    [
        "go = a(i)\nwhile go:\n  i += 1\n  go = b(i)",
        "go = a(i)\nj = k\nwhile go:\n  j += 1\n  go = a(j)",
        "go = a(i)\nb()\nwhile go:\n  i += 1\n  go = a(i)",
        "go = a(i)\nj = b()\nwhile go:\n  i += 1\n  go = a(i)",
        "go = a(i)\nwhile go:\n  i += 1\n  go = a(i)\nreturn go",
        "go = a(i)\nwhile go:\n  i += 1\n  go = a(i)\nwhile go:\n  b()",
        "go = a(i)\nwhile go:\n  go = a(i)\n  i += 1",
        "go = a(i, j)\ni, j = j, i\nwhile go:\n  b()\n  go = a(i, j)",
        "go: bool\nwhile go:\n  i += 1\n  go = a(i)",
    ],
)
def test_other_loops_stay(text):
    assert rotated(text) == plainly(text)


class Box:
    def __init__(self, value, log):
        self.value, self.log = value, log

    def __eq__(self, other):
        self.log.append((self.value, other.value))
        if self.value > 8:
            raise ValueError("too large")
        return self.value == other.value


def runs(boxes):
    found, i = [], 0
    while i < len(boxes):
        j = i
        while j < len(boxes) and boxes[j] == boxes[i]:
            j += 1
        found.append(j - i)
        i = j
    return found


def test_the_generated_code_reads_like_the_program():
    staged = ag.function(runs)
    values = [[n // 3] for n in range(20)]
    assert staged(values) == runs(values)
    assert "while j < len(boxes) and boxes[j] == boxes[i]:" in str(staged.lower(values))


@pytest.mark.parametrize("values", [[1, 1, 2, 3, 3, 3] * 5, [], [9] * 20, [1] * 17 + [9, 9]])
def test_objects_are_asked_as_often(values):
    names = {"Box": Box, "values": values, "log": []}
    asked = []
    for function in (runs, ag.function(runs)):
        names["log"] = log = []
        outcome = run(function, "[Box(value, log) for value in values]", names)
        asked.append((outcome, outcome.raised_at, log))
    assert asked[0] == asked[1]
