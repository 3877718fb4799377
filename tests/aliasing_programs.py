"""Programs about containers that are reached under several names, drawn from a seed, and what their calls did.

    python -m tests.aliasing_programs 0 400            # seeds; tells those that differ, and a program of each
    python -m tests.aliasing_programs 17 --show        # one, with both outcomes

A program is a module with a function `main(a, b, p, r, d, n)`: two lists, two objects with a list, dict, set, deque,
array and another object each, a dict of lists, and a number; besides, there are globals, a closure variable and a
default. Calls come in a sequence over one world, so that what an earlier call has shared, changed or bound anew is
what the next one finds; which arguments are one object changes from call to call.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import textwrap
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests import outcomes

PRELUDE = '''\
from collections import deque
from dataclasses import dataclass
import numpy as np


class Box:
    def __init__(self, xs, d, s, q, v):
        self.xs, self.d, self.s, self.q, self.v, self.n, self.other = xs, d, s, q, v, 0, None

    def add(self, e):
        self.xs.append(e)
        return len(self.xs)


@dataclass
class Pair:
    xs: list
    ys: list


def push(xs, e):
    xs.append(e)
    return xs


def swap(x, y):
    x.xs, y.xs = y.xs, x.xs


def total(xs):
    s = 0
    for e in xs:
        s += e
    return s


def first(xs):
    return xs[0] if xs else -1
'''
LISTS = ["a", "b", "p.xs", "r.xs", "d['k']", "d['m']", "G", "C", "D", "BOX.xs", "pair.xs", "pair.ys", "rows[0]",
         "rows[1]", "p.d['l']", "p.other.xs"]  # fmt: skip
GROUPS = [["a", "b"], ["p.xs", "r.xs"], ["p.xs", "r.xs"], ["p.xs", "p.other.xs"], ["d['k']", "d['m']"], ["a", "p.xs"],
          ["rows[0]", "rows[1]"], ["pair.xs", "pair.ys"], ["a", "G"], ["a", "C"], ["a", "D"], ["p.xs", "BOX.xs"],
          ["p.xs", "r.xs", "a"], ["p.xs", "r.xs", "p.other.xs"], ["a", "b", "C"], ["a", "rows[0]"]]  # fmt: skip
ARRAYS = ["v", "w", "p.v", "r.v", "GV"]
SETS = ["p.s", "r.s"]
DEQUES = ["p.q", "r.q"]
DICTS = ["p.d", "r.d"]
PARAMETERS = ["a", "b", "p", "r", "d", "pair", "rows", "v", "w"]
CALLS = 4


class Program:
    """One program.

    Args:
        seed: what it is drawn from.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        pick = self.random
        self.lists = pick.choice(GROUPS) if pick.random() < 0.6 else pick.sample(LISTS, pick.randint(2, 5))
        self.arrays = pick.sample(ARRAYS, 2) if pick.random() < 0.3 else []
        self.others = pick.choice([[], [], SETS, DEQUES, DICTS])
        self.left = pick.randint(2, 6)
        lines = [line for _ in range(self.left) for line in self.statement(0)]
        body = "\n".join(["out = []", *lines, "return out"])
        self.names = [name for name in PARAMETERS if re.search(rf"\b{name}\b", body)]
        text = f"def make(C):\n    def main({', '.join([*self.names, 'n', 'D=[5, 6]' * ('D' in body)])}):\n"
        self.text = PRELUDE + "\n\n" + text + textwrap.indent(body, " " * 8) + "\n    return main\n"

    def list(self) -> str:
        return self.random.choice(self.lists)

    def statement(self, depth: int) -> list[str]:
        pick, x, y, e = self.random, self.list(), self.list(), self.random.choice(["n", "1", "7", "n + 1"])
        simple = [
            f"{x}.append({e})", f"{x}.append({e})", f"{x}[0] = {e}", f"{x} += [{e}]", f"{x}.extend({y}[:2])",
            f"{x}.insert(0, {e})", f"out.append({x} is {y})", f"out.append(len({x}))", f"out.append(first({x}))",
            f"out.append(total({x}))", f"out.append({x}[-1])", f"push({x}, {e})", f"out.append({x})",
            f"out.append({x} == {y})", f"{x}.pop()", f"{x}[-1] += {e}", f"{x}[:1] = []", f"out.append(sum({x}))",
            f"t = {x}; t.append({e}); out.append(len({y}))", f"t = [{x}, {y}]; t[0].append({e}); out.append(t[1][-1])",
            f"out.append({x}[:])", f"out.append([q * 2 for q in {x}])", f"{x}.clear()",
            f"out.append(push({x}, {e}) is {y})", f"del {x}[:1]", f"{x}.reverse()",
        ]  # fmt: skip
        objects = [
            "p.xs = r.xs", "p.xs, r.xs = r.xs, p.xs", "swap(p, r)", "r.xs = [1, 2]", "p.xs = a", "p.add(n)", "r.n += 1",
            "out.append(p is r)", "out.append(r.n)", "p.n = n", "d['k'] = d['m']", "d['m'] = [n]", "d['k'] = a",
            "p.d['l'] = a", "r.d = p.d", "p.other = r", "r.v = p.v", "p.other.xs.append(n)", "p.other.n += 1",
            "out.append(p.other is r)", "rows[0] = rows[1]", "pair.xs = pair.ys", "rows.append(a)",
        ]  # fmt: skip
        if self.arrays and pick.random() < 0.5:
            v, w = pick.choice(self.arrays), pick.choice(self.arrays)
            return [pick.choice([
                f"{v}[0] = {e}", f"{v} += 1" if "." not in v else f"{v}[...] = {v} + 1", f"out.append({v}[0])",
                f"out.append({v}[0] + {w}[-1])", f"out.append(float({w}.sum()))", f"{v}[1:] = {w}[:-1]",
                f"out.append({v} is {w})", f"out.append({v}.copy())",
            ])]  # fmt: skip
        if self.others and pick.random() < 0.5:
            s, t = pick.choice(self.others), pick.choice(self.others)
            mine = {
                "s": [f"{s}.add({e})", f"out.append({e} in {t})", f"{s}.discard(1)", f"{s} |= {{{e}}}"],
                "q": [f"{s}.append({e})", f"out.append({t}[-1])", f"{s}.appendleft({e})", f"{s}.popleft()"],
                "d": [f"{s}['j'] = {e}", f"out.append({t}.get('j', -1))", f"{s}.update(i={e})", f"{s}.pop('j', 0)"],
            }[s[-1]]  # fmt: skip
            return [pick.choice([*mine, f"out.append(len({t}))", f"out.append({s} is {t})"])]
        if pick.random() < 0.2:
            return [pick.choice(objects)]
        if depth < 2 and pick.random() < 0.35:
            inner = textwrap.indent("\n".join(self.statement(depth + 1) + self.statement(depth + 1)), "    ")
            other = textwrap.indent("\n".join(self.statement(depth + 1)), "    ")
            return [pick.choice([
                f"if n > 1:\n{inner}\nelse:\n{other}", f"for i in range(n):\n{inner}", f"if len({x}) > 2:\n{inner}",
                f"for i in range(2):\n{inner}", f"for q in {x}[:3]:\n{inner}", f"if {x} is {y}:\n{inner}",
                f"i{depth} = 0\nwhile i{depth} < n:\n{inner}\n    i{depth} += 1",
                f"try:\n{inner}\nexcept IndexError:\n{other}",
            ])]  # fmt: skip
        return [pick.choice(simple)]

    def calls(self) -> Iterator[Callable[[World], dict[str, Any]]]:
        """For each call, what changes the world before it and gives its arguments."""
        pick = self.random
        style = pick.choice(["same", "varied"])
        fixed = [pick.random() for _ in range(20)]
        for _ in range(CALLS):
            choices = fixed if style == "same" and pick.random() < 0.7 else [pick.random() for _ in range(20)]
            n = pick.choice([0, 1, 2, 3])
            yield lambda world, choices=choices, n=n: world.arguments(choices, n)  # type: ignore[misc]


class World:
    """The objects that calls get, made by the classes of one run of a program."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names
        make = self.fresh
        self.lists = [[0], [1, 2], [3, 4, 5]]
        self.arrays = [np.arange(4.0), np.ones(4)]
        self.arrays += [self.arrays[0][::-1], np.arange(8.0)[2:6]]
        self.boxes = [make(), make(), make()]
        self.boxes[2].xs, self.boxes[2].other = self.lists[1], self.boxes[0]
        self.boxes[0].other = self.boxes[1]
        names["G"], names["GV"], names["BOX"] = self.lists[2], self.arrays[1], self.boxes[2]
        self.closed = [8, 9]
        self.main = names["make"](self.closed)

    def fresh(self) -> Any:
        return self.names["Box"]([1, 2], {"l": [1]}, {1, 2}, deque([1, 2]), np.arange(4.0))

    def arguments(self, choices: list[float], n: int) -> dict[str, Any]:
        def of(values: list[Any], number: int) -> Any:
            return values[int(choices[number] * len(values))]

        pool = [*self.lists, *[box.xs for box in self.boxes], self.closed, list(range(n + 1))]
        p = of(self.boxes, 0)
        r = of([*self.boxes, self.fresh()], 1)
        if choices[2] < 0.4:
            r.xs = p.xs
        if choices[3] < 0.3:
            r.s, r.q = p.s, p.q
        if choices[4] < 0.3:
            r.d = p.d
        if choices[5] < 0.3:
            r.v = p.v
        if p.other is None:
            p.other = of(self.boxes, 15)
        a, b = of(pool, 6), of(pool, 7)
        if choices[8] < 0.3:
            b = a
        d = {"k": of(pool, 9), "m": of(pool, 10)}
        if choices[11] < 0.3:
            d["m"] = d["k"]
        rows = [of(pool, 12), of([*pool, a], 13)]
        pair = self.names["Pair"](of([*pool, a], 14), of([*pool, p.xs], 16))
        views = [*self.arrays, p.v, self.arrays[0][1:], self.arrays[0].reshape(2, 2).T]
        return {"a": a, "b": b, "p": p, "r": r, "d": d, "pair": pair, "rows": rows, "v": of(views[:5], 17),
                "w": of(views[:5], 18), "n": n}  # fmt: skip


def run(program: Program, seed: int, wrap: Callable[[Any], Any]) -> list[Any]:
    """What each call of a program did, and the world after it."""
    names = outcomes.execute(program.text, f"<aliasing {seed}>")
    world = World(names)
    main = wrap(world.main)
    program.random.seed(seed + 1)
    found = []
    kept: list[Any] = []
    for arrange in program.calls():
        arguments = arrange(world)
        try:
            with outcomes.time_limit(60):
                result = main(**{name: arguments[name] for name in [*program.names, 'n']})
            kept.append(result)
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
        everything = [result, arguments, world.boxes, world.lists, world.arrays, world.closed, names["G"], kept]
        everything.append(world.main.__defaults__)
        found.append(shape(everything))
    return found


def shape(value: Any) -> list[str]:
    """Everything within a value in one order, what was met before by its number."""
    numbers: dict[int, int] = {}
    keep: list[Any] = []
    found: list[str] = []
    rest = [value]
    while rest:
        part = rest.pop()
        if isinstance(part, (int, float, str, bool, np.generic, type(None))):
            found.append(f"{type(part).__name__} {part!r}")
            continue
        if id(part) in numbers:
            found.append(f"#{numbers[id(part)]}")
            continue
        numbers[id(part)] = len(numbers)
        keep.append(part)
        if isinstance(part, np.ndarray):
            found.append(f"array {part.dtype} {part.tolist()!r}")
        elif isinstance(part, set):
            found.append(f"set {sorted(part)!r}")
        elif isinstance(part, dict):
            found.append(f"dict {list(part)!r}")
            rest += reversed(part.values())
        elif isinstance(part, (list, tuple, deque)):
            found.append(f"{type(part).__name__} {len(part)}")
            rest += reversed(part)
        else:
            found.append(f"{type(part).__name__} {list(vars(part))!r}")
            rest += reversed(vars(part).values())
    return found


def differs(seed: int, **options: Any) -> tuple[Program, list[Any], list[Any], Any]:
    import autograph as ag

    staged: list[Any] = []

    def wrap(function: Any) -> Any:
        staged.append(ag.function(function, **options))
        return staged[-1]

    plain = run(Program(seed), seed, lambda function: function)
    return Program(seed), plain, run(Program(seed), seed, wrap), staged[0]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int, nargs="?", default=1)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--engine", default="numpy")
    options = parser.parse_args()
    wrong = []
    for seed in range(options.first, options.first + options.count):
        try:
            program, plain, found, staged = differs(seed, engine=options.engine)
        except Exception as error:
            print(seed, type(error).__name__, error)
            wrong.append(seed)
            continue
        if options.show:
            print(program.text[len(PRELUDE) :])
            print(*staged.traces, sep="\n")
            for call, (one, other) in enumerate(zip(plain, found)):
                where = next((k for k, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), None)
                if one != other:
                    print("call", call, "differs at", where)
                    print("plain ", one[:40], "\nstaged", other[:40])
                    break
        if plain != found:
            wrong.append(seed)
    print(f"{len(wrong)} of {options.count} differ:", *wrong)


if __name__ == "__main__":
    sys.setrecursionlimit(3000)
    main()
