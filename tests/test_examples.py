"""The examples: arrays in lockstep give what their elements give one by one; the demo runs and finds no difference."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import autograph as ag
from autograph.errors import StagingError

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "examples"))
from comparing import outcome, told  # noqa: E402
from computing import COMPUTING  # noqa: E402
from lockstep import lockstep  # noqa: E402
from programs import PROGRAMS, Program  # noqa: E402


def sign(x):
    if x > 0:
        return 1
    if x < 0:
        return -1
    return 0


def collatz(n):
    steps = 0
    while True:
        if n == 1:
            break
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def root(n):
    for i in range(60):
        if i * i > n:
            break
        if i > 40:
            return -1
    else:
        i = 99
    return i


def clipped(x):
    return max(0, min(x, 10)) + sign(x)


def nested(x):
    total = 0
    while x > 0 and total < 50:
        y = x
        while y > 1 or total < 2:
            y, total = y - 2, total + 1
        if not total % 3 == 0:
            total += 5
        x -= 3
    return total, x


@pytest.mark.parametrize("function", [sign, collatz, root, clipped, nested], ids=lambda function: function.__name__)
def test_lockstep(function: Callable[[int], int]) -> None:
    numbers = np.arange(1, 1500) if function is collatz else np.arange(-20, 1500)
    found = lockstep(function)(numbers)
    one_by_one = [function(n) for n in numbers.tolist()]
    assert np.array_equal(np.stack(found, -1) if isinstance(found, tuple) else found, one_by_one)


def test_only_active_elements_change_containers() -> None:
    def f(x):
        state = [0, 0]
        while x > 0:
            if x % 2 == 0:
                state[1] += x
            state[0] += 1
            x = x - 1
        return state

    count, even = lockstep(f)([4, 0, 3])
    assert (count.tolist(), even.tolist()) == ([4, 0, 3], [6, 0, 2])


def test_a_branch_that_no_element_takes_does_not_run() -> None:
    def f(x):
        if x < 0:
            raise ValueError("negative")
        return x + 1

    assert lockstep(f)([1, 2]).tolist() == [2, 3]
    with pytest.raises(ValueError, match="negative"):
        lockstep(f)([1, -2])


def each(xs):
    for x in xs:
        print(x)


def of_two_kinds(x):
    if x > 0:
        return [x]
    return None


def bound_for_some(x):
    if x > 0:
        y = x
    return y


def appended_for_some(x):
    found = []
    if x > 0:
        found.append(x)
    return found


@pytest.mark.parametrize(
    "function, message",
    [
        (each, "lockstep does not stage `for` loops"),
        (of_two_kinds, "some elements would have a list, others a NoneType"),
        (bound_for_some, "lockstep does not stage variables that are unbound for some elements"),
        (appended_for_some, "some elements would call .append, others would not"),
        (lambda x: f"{x}", "lockstep does not stage what needs one number"),
    ],
)
def test_what_is_not_in_lockstep_is_refused(function: Callable[[int], object], message: str) -> None:
    with pytest.raises(StagingError, match=message):
        lockstep(function)([0, 1, 2])


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "examples" / "demo.py"), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "All answers are equal." in done.stdout
    return done


def demo(*arguments: str) -> str:
    done = run(*arguments)
    assert "\x1b" not in done.stdout
    return done.stdout


@pytest.mark.once
@pytest.mark.usefixtures("default_engine")
def test_short_demo() -> None:
    shown = demo("--short")
    assert "ag__.while_stmt(loop_test, loop_body, ('n', 'steps'))" in shown  # the converted code,
    assert "graph collatz(n: py.int):" in shown  # the graph,
    assert "\n    while n != 1:\n" in shown  # what runs,
    assert "\n  traced: (n: py.int): the first call\n" in shown  # and why
    assert "\nDrawn by `julia` in " in shown
    for program in [*PROGRAMS, *COMPUTING]:
        assert f"  {program.function.__name__} " in shown


@pytest.mark.slow
@pytest.mark.versions
@pytest.mark.usefixtures("default_engine")
def test_demo() -> None:
    demo()


@pytest.mark.parametrize("program", [*PROGRAMS, *COMPUTING], ids=lambda program: program.function.__name__)
def test_program(program: Program) -> None:
    staged = ag.function(program.function)
    wanted = [outcome(program.function, arguments) for arguments in program.calls()]
    for _ in range(2):
        assert [outcome(staged, arguments) for arguments in program.calls()] == wanted


@pytest.mark.once
def test_the_demo_in_colors() -> None:
    assert "\x1b" in run("--short", FORCE_COLOR="1").stdout


def test_outcomes_tell_things_apart() -> None:
    def fails(x):
        x[0] += 1
        raise ValueError(x)

    different = [1, 1.0, True, np.float64(1), np.float32(1), np.array(1), np.array([1]), [1], (1,), {1: 1}, "1", None]
    assert len({repr(told(value)) for value in different}) == len(different)
    assert outcome(fails, ([1],)) == outcome(ag.function(fails), ([1],))
    assert outcome(fails, ([1],)) != outcome(fails, ([2],))
    assert outcome(print, (1,)) != outcome(print, (2,))
