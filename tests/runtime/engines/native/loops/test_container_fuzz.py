"""Random loops over lists and dicts of mixed numbers do in machine code what plain Python does, errors included.

Half of them leave the machine code after some nodes.
"""

import random

import pytest

import autograph as ag
from tests.outcomes import execute, run

POOLS = ["[1, 2, 3, 4, 5]", "[0.5, 1.5, 2.5]", "[1, 0.5, True, 2]", "[1, 2**70, 3]", "[3, 1, 2, 'a']"]
HEADS = [
    "for x in {}", "for j, x in enumerate({})", "for x, y in zip(xs, ys)", "for j, (x, y) in enumerate(zip(ys, xs))"
]  # fmt: skip
STATEMENTS = """a = {e};b = {e};{n}.append({e});{n}[{i}] = {e};d[{a}] = {e};{n}.insert({a}, {e});{n} = {n}[1:]
{n} = {n} + ys;{n} = [a] * 4;{n} = list({n});{n} = [b, a, i];{n}.sort();{n}.reverse();del {n}[{i}];{n} += [a]"""
VALUES = """{a};{a} + {a};{a} * 3;{a} - {a};max({n});sum({n});min({a}, {a});d.get({a}, {a});d[{a}];t[i % 3];t[i]
{n}.pop();{n}.pop({i});{n}.count({a});{n}.index({a});{a} in {n};{a} in d;len({n}[{i}:{i}]);sorted({n})[0];len(d)"""
ATOMS = ["a", "b", "i", "2", "0.5", "True", "{n}[{i}]", "len(xs)"]
PLACES = ["i", "0", "-1", "i % 3", "a", "-i", "7"]


class Programs:
    """Draws the text of a function from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def _fill(self, choices: list[str]) -> str:
        text = self.random.choice(choices)
        for mark, more in (("{e}", VALUES.replace("\n", ";").split(";")), ("{a}", ATOMS), ("{i}", PLACES)):
            while mark in text:
                text = text.replace(mark, self._fill(more), 1)
        while "{n}" in text:
            text = text.replace("{n}", self.random.choice(["xs", "ys"]), 1)
        return text

    def _statement(self, indent: str) -> list[str]:
        kind = self.random.randrange(8) if len(indent) < 16 else 2
        if kind == 0:
            return [f"{indent}if {self._fill(ATOMS)} < {self._fill(ATOMS)}:", *self._statement(indent + "    ")]
        if kind == 1:
            head = self.random.choice(HEADS).format(self.random.choice(["xs", "ys"]))
            start = [f"{head}:", "    k += 1", "    if k > 99: break", "    a = a + x"]
            return [*(indent + line for line in start), *self._statement(indent + "    ")]
        return [indent + self._fill(STATEMENTS.replace("\n", ";").split(";"))]

    def function(self) -> str:
        """A function of two lists, a dict, a tuple and a number."""
        body = [line for _ in range(self.random.randrange(2, 6)) for line in self._statement("        ")]
        head = ["def f(xs, ys, d, t, n):", "    a, b, k = 0, 1, 0", "    for i in range(n):"]
        head.append("        if len(xs) + len(ys) > 99: break")
        return "\n".join([*head, *body, "    return a, b, xs, ys, d", ""])

    def arguments(self) -> str:
        """The text of arguments for it."""
        pool = eval(self.random.choice(POOLS))
        xs, ys = ([self.random.choice(pool) for _ in range(self.random.randrange(3, 12))] for _ in range(2))
        table = {self.random.choice([0, 1, 2, 0.5]): self.random.choice(pool) for _ in range(4)}
        return f"{xs}, {ys}, {table}, (1, 2, 3), {self.random.randrange(3, 20)}"


@pytest.mark.parametrize("seed", range(20))
def test_they_do_what_python_does(seed, fuel):
    programs = Programs(seed)
    function = execute(programs.function(), f"<containers {seed}>")["f"]
    staged = ag.function(function, engine="native")
    for _ in range(2):
        args = programs.arguments()
        fuel.value = programs.random.choice([-1, programs.random.randrange(1, 200)])
        assert run(staged, args) == run(function, args)
