"""TensorFlow's spelling: generated programs of branches and loops give staged what they give eagerly.

They change numbers, tuples, lists, dicts, attributes and tensor arrays, in branches and loops within each other, with
`break` and `continue`.
"""

import random

import numpy as np
import pytest

import autograph.compat.tensorflow as tf

BEGIN = """\
def program(n):
    a, b = n, n + 1
    table, items, box = {"x": n, "y": n + 3}, [n, n - 1], Box()
    box.v, pair = n, (n, n + 1)
    array = tf.TensorArray(tf.int32, 3).unstack([n, 1, 2])
"""
END = "    return a, b, table, items, box.v, pair, array.stack()\n"
NUMBERS = ["a", "b", "table['x']", "table['y']", "items[0]", "items[1]", "box.v", "pair[1]", "array.read(1)"]
CHANGES = [
    "a = ({}) % 1000", "b = ({}) % 1000", "table['x'] = ({}) % 1000", "items[1] = ({}) % 1000", "items[0] += {}",
    "box.v = ({}) % 1000", "pair = ({}, pair[0])", "array = array.write(({}) % 3, b)", "array = array.write(1, {})",
]  # fmt: skip


class Box:
    pass


class Generator(random.Random):
    """Writes a program; `seed` says which."""

    def expression(self, numbers):
        return f"{self.choice(numbers)} {self.choice('+-*')} {self.choice([*numbers, '1', '3'])}"

    def test(self, numbers):
        return f"{self.choice(numbers)} % {self.choice('235')} {self.choice('<>')} {self.choice('01')}"

    def block(self, indent, numbers, in_loop):
        for _ in range(self.randint(1, 3)):
            yield from self.statement(indent, numbers, in_loop)

    def statement(self, indent, numbers, in_loop):
        kind, number = self.random(), f"i{len(indent) // 4}"
        if kind > 0.5 or len(indent) > 12:
            yield indent + self.choice(CHANGES).format(self.expression(numbers))
        elif kind > 0.25:
            yield f"{indent}if {self.test(numbers)}:"
            if in_loop and kind > 0.45:
                yield indent + self.choice(["    break", "    continue"])
                return
            yield from self.block(indent + "    ", numbers, in_loop)
            if kind > 0.35:
                yield f"{indent}else:"
                yield from self.block(indent + "    ", numbers, in_loop)
        elif kind > 0.1:
            yield f"{indent}for {number} in tf.range({self.choice(['n % 4', '3'])}):"
            yield from self.block(indent + "    ", [*numbers, number], True)
        else:
            yield from (f"{indent}{number} = n % 4", f"{indent}while {number} > 0:", f"{indent}    {number} -= 1")
            yield from self.block(indent + "    ", [*numbers, number], True)

    def program(self):
        lines = [line for _ in range(4) for line in self.statement("    ", NUMBERS, False)]
        return BEGIN + "".join(f"{line}\n" for line in lines) + END


def plain(value):
    """A result as plain lists and numbers, to be compared."""
    if isinstance(value, tf.Tensor):
        return np.asarray(value.numpy()).tolist()
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, (list, tuple)) else value


@pytest.mark.once
@pytest.mark.parametrize("seed", range(30))
def test_generated_programs(seed, tmp_path):
    text = Generator(seed).program()
    file = tmp_path / f"program_{seed}.py"
    file.write_text(text)
    namespace = {"tf": tf, "Box": Box}
    exec(compile(text, file, "exec"), namespace)
    program = namespace["program"]
    staged = tf.function(program)
    for n in map(tf.constant, (0, 2, 7)):
        assert plain(staged(n)) == plain(program(n)), text
