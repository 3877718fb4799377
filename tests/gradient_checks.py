"""Holds gradients of programs against finite differences, and their values against the plain function's.

A program is the text of a module with a function `main(n, p, x, a, xs)`, see gradient_strategies.py. It is tried at two
points. What is no test of a gradient is left out and counted: the plain function raises; its value is no finite number;
its finite differences are not the same for two steps, or from the left and the right, as at a kink.
"""

from __future__ import annotations

import contextlib
import itertools
import linecache
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import autograph as ag
from autograph.errors import AutographError, DerivativeError
from tests import outcomes
from tests.drawing import EXAMPLES

NUMBERS = itertools.count()
POINTS = (
    (2, np.array([0.83, 0.41, -0.67, 1.12, 0.29, -0.53, 0.94, 0.37, -0.18, 0.71, 0.62, -0.34])),
    (3, np.array([-0.61, 0.92, 0.33, -0.46, 0.77, 0.58, -0.21, -0.88, 1.07, 0.13, -0.72, 0.49])),
)
ARGUMENTS = (1, 2, 3, 4)
VERDICTS = ("raised", "unfit", "compared", "refused")

Vector = np.ndarray[Any, np.dtype[np.float64]]


class Unfit(Exception):
    """A point at which finite differences tell nothing."""


def arguments(n: int, at: Vector) -> tuple[Any, ...]:
    return n, float(at[0]), at[1:4].copy(), at[4:10].reshape(2, 3).copy(), at[10:].tolist()


def flat(gradients: Any) -> Vector:
    return np.concatenate([np.ravel(each) for each in gradients]).astype(float)


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What a function gives, or the class of what it raises; and what its arguments are then."""
    with warnings.catch_warnings(), outcomes.time_limit():
        warnings.simplefilter("ignore")
        try:
            return function(*args), args
        except AutographError:
            raise
        except Exception as error:
            return type(error), args


def number(found: Any) -> float:
    if not isinstance(found, (float, np.floating)) or not np.isfinite(found) or abs(found) > 1e6:
        raise Unfit("raised" if isinstance(found, type) else f"no usable float: {type(found).__name__}")
    return float(found)


def differences(function: Callable[[Vector], float], at: Vector) -> Vector:
    """The gradient of a function by finite differences, where those are of use."""
    middle, found = function(at), np.zeros_like(at)
    for place in range(len(at)):
        slopes = []
        for step in (1e-5, 2e-5):
            one = np.zeros_like(at)
            one[place] = step
            up, down = function(at + one), function(at - one)
            slopes += [(up - down) / (2 * step), (up - middle) / step, (middle - down) / step]
        if not np.allclose(slopes, slopes[0], rtol=1e-3, atol=2e-3):
            raise Unfit("kink, jump or large curvature")
        found[place] = (4 * slopes[0] - slopes[3]) / 3
    return found


def close(found: Vector, wanted: Vector, name: str, exact: bool) -> None:
    rtol, atol = (1e-4, 1e-5) if exact else (1e-2, 1e-2)
    scale = 1 + np.abs(wanted).max()
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol * scale, err_msg=name)


def _gradient(gradient: Any, args: tuple[Any, ...]) -> Any:
    with warnings.catch_warnings(), outcomes.time_limit():
        warnings.simplefilter("ignore")
        return gradient(*args), args


class Checks:
    """Checks programs, and counts what becomes of them.

    Attributes:
        tally: how many programs came to which verdict.
        reasons: why programs were refused.
    """

    def __init__(self) -> None:
        self.tally: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self._shown: set[type[Exception]] = set()
        self._started = time.monotonic()

    def done(self) -> int:
        """How many programs have been checked."""
        return sum(self.tally[each] for each in VERDICTS)

    def check(self, text: str, second: bool) -> str:
        """Hold the gradients of a program against differences; tell what became of that."""
        filename = f"<drawn {next(NUMBERS)}>"
        names, finer = outcomes.execute(text, filename), outcomes.execute(text, filename)
        finer["F32"] = np.float64
        verdicts = []
        try:
            gradient = ag.value_and_grad(names["main"], argnums=ARGUMENTS)
            for n, at in POINTS:
                exact = "F32(" not in text
                verdicts.append(self._check_at(names["main"], finer["main"], gradient, n, at, second, exact))
        except DerivativeError as error:
            self.reasons[error.message[:90]] += 1
            verdicts.append("refused")
        except Exception as error:
            self._show(text, error)
            raise
        finally:
            del linecache.cache[filename]
        verdict = max(verdicts, key=VERDICTS.index)
        self.tally[verdict] += 1
        self._progress()
        return verdict

    def _check_at(self, plain: Any, finer: Any, gradient: Any, n: int, at: Vector, second: bool, exact: bool) -> str:
        exact = "F32" not in plain.__code__.co_names and exact
        wanted, wanted_args = outcome(plain, arguments(n, at))
        try:
            number(wanted)
        except Unfit:
            if isinstance(wanted, type):
                with contextlib.suppress(DerivativeError):      # which may tell first that the program is wrong
                    actual, _ = outcome(gradient, arguments(n, at))
                    assert actual is wanted, "raises the same"
                return "raised"
            return "unfit"
        (value, found), actual_args = _gradient(gradient, arguments(n, at))
        assert type(value) is type(wanted), "the type of the value"
        np.testing.assert_array_equal(value, wanted, "the value")
        assert outcomes.described(actual_args) == outcomes.described(wanted_args), "what becomes of the arguments"
        try:
            slopes = differences(lambda each: number(outcome(finer, arguments(n, each))[0]), at)
        except Unfit:
            return "unfit"
        close(flat(found), slopes, "gradient", exact)
        if second and exact:
            self._check_second(gradient, n, at)
        return "compared"

    def _check_second(self, gradient: Any, n: int, at: Vector) -> None:
        """Hold the gradient of a gradient, in one direction, against differences of the gradient."""
        direction = np.linspace(-1.0, 1.0, len(at))

        def slope(n: Any, p: Any, x: Any, a: Any, xs: Any) -> Any:
            _, (in_p, in_x, in_a, in_xs) = gradient(n, p, x, a, xs)
            matrix = np.sum(in_a * direction[4:10].reshape(2, 3))
            return in_p * direction[0] + np.sum(in_x * direction[1:4]) + matrix + np.dot(in_xs, direction[10:])

        def plain(each: Vector) -> float:
            _, found = _gradient(gradient, arguments(n, each))[0]
            return number(flat(found) @ direction)

        try:
            wanted = differences(plain, at)
        except Unfit:
            self.tally["unfit in second order"] += 1
            return
        found, _ = _gradient(ag.grad(slope, argnums=ARGUMENTS), arguments(n, at))
        close(flat(found), wanted, "gradient of the gradient", True)
        self.tally["compared in second order"] += 1

    def _show(self, text: str, error: Exception) -> None:
        """Print the first program that fails with a class of errors: hypothesis shows none that fails only once."""
        if type(error) not in self._shown:
            self._shown.add(type(error))
            print(f"{type(error).__name__}: {error}, in the program\n{text}")

    def _progress(self) -> None:
        """Tell from time to time how far a long run is."""
        done = self.done()
        if EXAMPLES and done % 100 == 0:
            seconds = time.monotonic() - self._started
            print(f"{done} programs, {dict(self.tally)}, {seconds:.0f} s", file=sys.__stderr__, flush=True)
