"""What a drawn program does plain and under `jax.jit`, and the smallest part of it that differs.

    python -m tests.backends.jax.fuzzing 0 400          # seeds; lists those that differ, each with its smallest part
    python -m tests.backends.jax.fuzzing 17 --show      # one, with its outcomes
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import itertools
import linecache
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

import autograph as ag
from tests.backends.jax.running import Ran, copied, load, on_jax, run, same, same_text
from tests.backends.jax.strategies import ARGUMENTS, MATRICES, Program
from tests.outcomes import time_limit

NUMBERS = itertools.count()


class Differs(Exception):
    """A program does something else under `jax.jit`."""


def arguments() -> Iterator[tuple[Any, ...]]:
    """The lists of arguments for `main`, as NumPy's arrays and scalars."""
    for (n, b, p, x, y), m in zip(ARGUMENTS, MATRICES):
        yield np.int64(n), np.bool_(b), np.float64(p), np.array(x), np.array(y), np.array(m)


def verdict(text: str) -> Counter[str]:
    """Run a program plain and staged, with each list of arguments.

    Returns:
        how many calls did the same, raised the same, were refused, and had numbers too large to compare.

    Raises:
        Differs: one did something else.
    """
    filename = f"<drawn for JAX {next(NUMBERS)}>"
    plain = load(text.replace("import jax.numpy as jnp", "import numpy as jnp"), f"{filename} on NumPy").main
    program = load(text, filename).main
    staged = jax.jit(ag.convert(program))
    tally: Counter[str] = Counter()
    for args in arguments():
        tally[judged_beside_jax(run(staged, on_jax(args)), run(plain, copied(args)), program, args)] += 1
    for name in (filename, f"{filename} on NumPy"):
        del linecache.cache[name]
    return tally


def judged_beside_jax(actual: Ran, wanted: Ran, program: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """The verdict on one call, of a program that may do what JAX does without conversion, too: `x += v` rebinds."""
    try:
        return judged(actual, wanted)
    except Differs:
        alone = run(program, on_jax(args))
        if alone.error is not None or judged(actual, alone) != "same":
            raise
        return "as JAX alone"


def judged(actual: Ran, wanted: Ran) -> str:
    """The verdict on one call."""
    if actual.refused:
        return "refused"
    if wanted.error is None and not all(map(comparable, jax.tree.leaves(wanted.value))):
        return "too large"
    if wanted.error is not None:
        name = type(wanted.error).__name__
        if actual.error is None:
            raise Differs(f"returned {actual.value}; the plain run raised {name}: {wanted.error}")
        if name not in f"{type(actual.error).__name__}: {actual.error}":
            raise Differs(f"raised {actual.error!r}; the plain run raised {name}: {wanted.error}") from actual.error
        return "raised"
    if actual.error is not None:
        raise Differs(f"raised {type(actual.error).__name__}: {actual.error}") from actual.error
    try:
        same(actual.value, wanted.value)
        same_text(actual.printed, wanted.printed)
    except AssertionError as error:
        raise Differs(str(error)) from error
    return "same"


def comparable(leaf: Any) -> bool:
    """Whether a number is neither so large nor so undefined that rounding decides about it."""
    array = np.asarray(leaf)
    return array.dtype.kind in "bif" and bool(np.all(np.abs(array.astype(float)) < 1e6))


def smallest(text: str) -> str:
    """A program without the statements that it differs without, in the same way."""

    def kind(text: str) -> str | None:
        try:
            with time_limit(2):
                plain = load(text.replace("import jax.numpy as jnp", "import numpy as jnp"), "<smaller>").main
                for args in arguments():
                    run(plain, copied(args))
            verdict(text)
        except Differs as error:
            return str(error).split(" ")[0] + type(error.__cause__).__name__
        except BaseException:
            return None
        return None

    wanted, before = kind(text), ""
    while text != before:
        before = text
        for at in reversed(range(len(blocks(ast.parse(text))))):
            text = next((shorter for shorter in without(text, at) if kind(shorter) == wanted), text)
    return text


def without(text: str, at: int) -> Iterator[str]:
    """A program without a statement, and with what a compound one holds in its place."""
    for opened in (False, True):
        tree = ast.parse(text)
        places = blocks(tree)
        if at >= len(places):
            return
        block, index = places[at]
        inner = getattr(block[index], "body", None)
        if opened and (inner is None or isinstance(block[index], (ast.FunctionDef, ast.ClassDef))):
            return
        block[index : index + 1] = inner if opened else [ast.Pass()] * (len(block) == 1)
        shorter = ast.unparse(tree)
        with contextlib.suppress(SyntaxError):
            compile(shorter, "", "exec")
            if len(shorter) < len(ast.unparse(ast.parse(text))):
                yield shorter


def blocks(tree: ast.AST) -> list[tuple[list[Any], int]]:
    """Each statement, as a place of a list."""
    lists = [
        getattr(node, field)
        for node in ast.walk(tree)
        for field in ("body", "orelse")
        if isinstance(getattr(node, field, None), list)
    ]
    return [(block, at) for block in lists for at in range(len(block))]


def main() -> None:
    """Run the programs of some seeds, and print those that differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int, nargs="?")
    parser.add_argument("--show", action="store_true", help="print the programs, and what is refused")
    parser.add_argument("--whole", action="store_true", help="look for no smaller parts")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    tally: Counter[str] = Counter()
    begun = time.monotonic()
    for seed in range(options.first, options.last or options.first + 1):
        text = Program(seed).text
        if options.show:
            print(text)
        try:
            tally += verdict(text)
        except Differs as error:
            tally["DIFFERS"] += 1
            print(f"==== {seed}: {error}")
            print(text if options.whole else smallest(text), flush=True)
    print(dict(tally), f"{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
