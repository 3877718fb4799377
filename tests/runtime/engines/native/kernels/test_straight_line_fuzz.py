"""Generated statements on small arrays give, warn of, raise and change what they do in plain Python."""

import copy
import linecache
import random
import warnings

import numpy as np
import pytest

import autograph as ag

PROGRAMS = 24
SLICES = [":", "1:", "2:", ":-1", ":-2", "::2", "::-1", "0:2", "1:-1"]
FLOATS = ["h", "2", "0.5", "np.float32(1.5)", "3"], "+-*/", ["abs", "sqrt", "square"], ["sum", "max", "min", "mean"]
INTEGERS = ["2", "3", "k"], "+-*", ["abs", "square"], ["sum", "max", "min"]


class Program:
    """Statements on the vectors `x` and `y`, drawn at random.

    Attributes:
        text: the function `f(x, y, h, k)`.
    """

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.length = self.draw.choice([2, 3, 5, 8, 20, 100])
        self.is_float = self.draw.random() < 0.75
        self.numbers, self.operators, self.functions, self.reductions = FLOATS if self.is_float else INTEGERS
        self.names, made = ["x", "y"], ["x", "y"]
        lines = []
        for number in range(self.draw.randint(4, 9)):
            lines.append(self.statement(f"v{number}"))
            made += [f"v{number}"] * lines[-1].startswith(f"v{number} =")
        returned = self.draw.sample(made, min(len(made), self.draw.randint(1, 4)))
        lines.append(f"return {', '.join(returned)},")
        self.text = "def f(x, y, h, k):\n" + "".join(f"    {line}\n" for line in lines)

    def statement(self, name):
        pick, value, target = self.draw.random(), self.value(), self.draw.choice(self.names)
        if pick < 0.35:
            return f"{target}[{self.draw.choice(SLICES)}] {self.draw.choice(['=', '+=', '-=', '*='])} {value}"
        if pick < 0.45:
            return f"{target} {self.draw.choice(['+=', '-=', '*='])} {value}"
        if pick < 0.55:
            return f"{target}[{self.place()}] = {self.draw.choice(self.names)}[{self.place()}] + y[0]"
        if self.draw.random() < 0.8 and any(sign in value for sign in "[ ("):
            self.names.append(name)
        return f"{name} = {value}"

    def place(self):
        return self.draw.randint(-self.length, self.length - 1)

    def value(self, depth=0):
        pick, name = self.draw.random(), self.draw.choice(self.names)
        if depth > 2 or pick < 0.35:
            return name if self.draw.random() < 0.5 else f"{name}[{self.draw.choice(SLICES)}]"
        if pick < 0.45:
            return self.draw.choice(self.numbers)
        if pick < 0.8:
            return f"({self.value(depth + 1)} {self.draw.choice(self.operators)} {self.value(depth + 1)})"
        if pick < 0.85:
            return f"np.{self.draw.choice(['maximum', 'minimum'])}({self.value(depth + 1)}, {self.value(depth + 1)})"
        if pick < 0.9:
            return f"np.{self.draw.choice(self.functions)}({self.value(depth + 1)})"
        if pick < 0.95:
            return f"{name}[{self.draw.choice(self.names)} {self.draw.choice(['>', '<=', '!='])} 1]"
        return f"{name}.{self.draw.choice(self.reductions)}()"

    def arguments(self, seed):
        draw = np.random.default_rng(seed)
        x, y = (draw.normal(size=self.length) if self.is_float else draw.integers(-5, 9, self.length) for _ in "xy")
        if seed % 3 == 2 and self.is_float:
            x[0], y[-1] = np.inf, 0
        return x if seed % 2 else np.repeat(x, 2)[::2], y, 0.75, 3


def described(value):
    if isinstance(value, tuple):
        return tuple(map(described, value))
    if not isinstance(value, np.ndarray):
        return type(value), repr(value)
    bits = np.where(np.isnan(value), np.nan, value) if value.dtype.kind == "f" else value
    return value.dtype, value.shape, value.size and value.strides, value.flags.num, bits.tobytes()


def outcome(function, args):
    args = copy.deepcopy(args)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = described(function(*args))
        except Exception as error:
            found = type(error), str(error)
    return found, described(args), sorted((str(each.message), each.lineno) for each in told)


def made(seed):
    """A program, and its function."""
    program, name, names = Program(seed), f"<program {seed}>", {"np": np}
    linecache.cache[name] = len(program.text), None, program.text.splitlines(True), name
    exec(compile(program.text, name, "exec"), names)
    return program, names["f"]


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_programs(seed):
    program, function = made(seed)
    staged = ag.function(function, engine="native")
    for call in range(4):
        args = program.arguments(call)
        assert outcome(staged, args) == outcome(function, args), program.text


def test_most_are_one_piece():
    count = 0
    for seed in range(PROGRAMS):
        program, function = made(seed)
        staged, args = ag.function(function, engine="native"), program.arguments(0)
        outcome(staged, args)
        count += "are one piece of machine code" in str(staged.explain(*copy.deepcopy(args)))
    assert count > PROGRAMS // 2
