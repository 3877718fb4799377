"""What `lower` shows of machine code."""

import inspect
import re

import numpy as np
import pytest

import autograph as ag
from tests.runtime.engines.native.programs import regions


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def roots(xs):
    return np.sqrt(xs) * 2.0 + xs


def told(function, line):
    """The comment for a line of a function."""
    lines, first = inspect.getsourcelines(function)
    place = next(place for place, text in enumerate(lines) if line in text)
    return f"{__file__}:{first + place}: {lines[place].strip()}"


@pytest.mark.parametrize("form, below", [("llvm", r"= mul i64 .*, 3|= shl .*"), ("asm", r"(lea|imul|add|sub)\w*\t")])
def test_the_users_lines_stand_above_what_comes_from_them(form, below):
    lowered = ag.function(collatz, engine="native").lower(27)
    text = getattr(lowered, f"to_{form}")(places=True)
    head, *parts = re.split(r"^\s+(?:;|#|//) (?=/)", text, flags=re.MULTILINE)
    of = {part.splitlines()[0]: "".join(each for each in parts if each[:200].startswith(part.splitlines()[0]))
          for part in parts}  # fmt: skip
    for line in ("while n != 1:", "if n % 2 == 0:", "n = n // 2", "n = 3 * n + 1", "steps += 1"):
        assert told(collatz, line) in of
    assert re.search(below, of[told(collatz, "n = 3 * n + 1")])
    assert head.startswith((f"; {__file__}:", f"# {__file__}:", f"// {__file__}:"))
    assert "for (int, int)" in head.splitlines()[0]
    assert "DILocation" not in text and ".loc" not in text and "@entry" not in text and "!dbg" not in text


def test_lines_change_no_instruction():
    function = ag.function(collatz, engine="native")
    lowered = function.lower(27)

    def instructions(text):
        found = re.findall(r"^\t(?!\.|#|//)(.*)", text.partition("\nentry:")[0], re.MULTILINE)
        return [re.sub(r"\.\w+", "", line) for line in found]

    assert instructions(lowered.to_asm(places=True)) == instructions(lowered.asm)


def test_machine_code_of_what_has_not_run():
    """It is made of what the types say, and serves the calls that come."""
    function = ag.function(collatz, engine="native")
    lowered = function.lower(27)
    assert not regions(function)[0].versions
    assert "i64 @loop" in lowered.llvm
    (version,) = regions(function)[0].compiled
    assert function(27) == 111 and regions(function)[0].compiled == [version]


def test_operations_on_whole_arrays():
    function = ag.function(roots, engine="native")
    for spec in (ag.TensorSpec((None,), "f8"), ag.TensorSpec((3, 1), "f4"), np.ones((2, 0))):
        text = function.lower(spec).to_llvm(places=True)
        assert told(roots, "return") in text and "llvm.sqrt" in text
    assert function(np.ones(3)).tolist() == [3.0, 3.0, 3.0]


def test_kinds_that_types_do_not_tell():
    """There is no machine code before there is a call."""

    def total(xs):
        found = 0
        for x in xs:
            found += x
        return found

    function, xs = ag.function(total, engine="native"), np.arange(3.0)
    assert "f64[?]" not in function.lower(iter([1, 2])).to_llvm(places=True)
    function(xs)
    assert "for (f64[?], int)" in function.lower(xs).to_llvm(places=True)


def test_a_loop_that_waits_until_it_pays():
    function = ag.function(collatz, engine="auto")
    assert function.lower(27).to_asm(places=True) == function.lower(27).llvm == ""


def distances(x):
    apart = x[:, None] - x
    return (apart * apart).sum(axis=2)


def shares(x):
    e = np.exp(x - 1)
    total = e.sum(axis=1, keepdims=True)
    return e / total


@pytest.mark.parametrize("function, first, last", [(distances, "apart =", "return"), (shares, "e = np", "return")])
def test_sums(function, first, last):
    """What is computed is there twice: for eight numbers at a time, and for the rest."""
    text = ag.function(function, engine="native").lower(np.ones((5, 20))).to_llvm(places=True)
    assert told(function, first) in text and told(function, last) in text


def test_print_shows_all():
    lowered = ag.function(collatz, engine="native").lower(27)
    assert str(lowered).startswith("def collatz(n):") and told(collatz, "n = n // 2") in str(lowered)
    assert str(ag.function(collatz, engine="numpy").lower(27)).endswith("return steps\n")
