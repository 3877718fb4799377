"""Draws programs of loops over Python integers, of all sizes, for `test_range_analysis.py`."""

from __future__ import annotations

import random
from collections.abc import Iterator

NAMES = "abcd"
SMALL = 0, 1, -1, 2, 3, 5, 7, 8, 10, 64, 255
LARGE = 2**31, 2**53, 2**61, 2**62 - 1, 2**62, 2**63 - 1, -(2**62), -(2**63), 1000003, 0xFFFFFFFF
STARTS = (*SMALL, *LARGE, -7, 2**63 - 3, -(2**63) + 2)


class Program:
    """The text of a function `f(a, b, c, d)`, by a seed."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self._loops = 0
        body = [line for _ in range(self._draw.randint(1, 3)) for line in self._statement(2)]
        lines = [*body, *self._loop(3), *body, "return a, b, c, d"]
        self.text = "\n".join(["def f(a, b, c, d):", *(f"    {line}" for line in lines), ""])
        self.calls = [tuple(self._draw.choice(STARTS) for _ in NAMES) for _ in range(6)]

    def _name(self) -> str:
        return self._draw.choice(NAMES)

    def _constant(self) -> str:
        value = self._draw.choice(SMALL if self._draw.random() < 0.8 else LARGE)
        return f"({value})" if value < 0 else str(value)

    def _expression(self) -> str:
        kind, name = self._draw.randrange(9), self._name()
        if kind < 3:
            return f"{name} {self._draw.choice('+-')} {self._draw.choice([self._name(), self._constant()])}"
        if kind == 3:
            return f"{name} * {self._constant()} {self._draw.choice('+-')} {self._name()}"
        if kind == 4:
            return f"{name} {self._draw.choice(['//', '%'])} {self._draw.choice([self._name(), self._constant()])}"
        if kind == 5:
            return f"{name} {self._draw.choice('&|^')} {self._draw.choice([self._name(), self._constant()])}"
        if kind == 6:
            return f"{name} {self._draw.choice(['>>', '<<'])} {self._draw.choice([0, 1, 2, 5, 13, 33])}"
        if kind == 7:
            return f"{name} & ({self._name()} - 1)"
        return self._draw.choice([f"-{name}", f"~{name}", f"abs({name})", f"min({name}, {self._constant()})",
                                  f"max({name}, {self._name()})", name, self._constant()])  # fmt: skip

    def _condition(self, depth: int = 2) -> str:
        kind = self._draw.randrange(8)
        if kind < 4 or not depth:
            how = self._draw.choice("< <= > >= == !=".split())
            return f"{self._name()} {how} {self._draw.choice([self._name(), self._constant()])}"
        if kind == 4:
            return f"not ({self._condition(depth - 1)})"
        if kind == 5:
            return f"{self._name()} % {self._draw.choice([2, 3, 4])} == {self._draw.choice([0, 1])}"
        if kind == 6:
            return self._name()
        return f"({self._condition(depth - 1)} {self._draw.choice(['and', 'or'])} {self._condition(depth - 1)})"

    def _statement(self, depth: int) -> Iterator[str]:
        kind = self._draw.randrange(8)
        if kind < 3 or not depth:
            yield f"{self._name()} = {self._expression()}"
        elif kind < 5:
            by = self._draw.choice([self._name(), self._constant()])
            yield f"{self._name()} {self._draw.choice(['+=', '-='])} {by}"
        elif kind < 7:
            yield f"if {self._condition()}:"
            yield from self._inside(depth - 1)
            if self._draw.random() < 0.6:
                yield "else:"
                yield from self._inside(depth - 1)
        else:
            yield from self._loop(depth - 1)

    def _inside(self, depth: int, most: int = 2) -> list[str]:
        return [f"    {line}" for _ in range(self._draw.randint(1, most)) for line in self._statement(depth)]

    def _loop(self, depth: int) -> Iterator[str]:
        self._loops += 1
        iteration, kind = f"t{self._loops}", self._draw.randrange(4)
        iterations = self._draw.choice([1, 2, 5, 9])
        if kind == 0:
            yield f"for {iteration} in range({iterations}):"
            yield f"    {self._name()} {self._draw.choice(['+=', '^=', '='])} {iteration}"
        elif kind == 1:
            name = self._name()
            yield f"{iteration}, {name} = 0, {name} & {2**62 - 1}"
            yield f"while {self._draw.choice([name, f'{name} > 0', f'{name} != 0'])}:"
            how = self._draw.choice(["//= 10", ">>= 3", f"&= {name} - 1"])
            yield from self._inside(0)
            yield f"    {name} {how}"
            yield f"    {iteration} += 1"
            yield f"    if {iteration} > {self._draw.choice([3, 70])}:"
            yield "        break"
            return
        else:
            yield f"{iteration} = {iterations}"
            yield f"while {iteration} > 0 and {self._condition()}:" if kind == 2 else f"while {iteration}:"
            yield f"    {iteration} -= 1"
        yield from self._inside(depth, 4)
        if self._draw.random() < 0.3:
            yield f"    if {self._condition()}:"
            yield f"        {self._draw.choice(['break', 'continue'])}"
