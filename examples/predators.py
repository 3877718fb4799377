"""Hares and lynxes: the parameters of a differential equation, fitted through a thousand Runge-Kutta steps.

    python examples/predators.py [--short]

Lotka and Volterra's equations are integrated by a loop of RK4 steps, and L-BFGS finds the parameters under which the
solution comes closest to noisy observations. Gradients go backwards through all the steps. The whole search is one
staged function.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from reporting import table

import autograph as ag
from autograph import optim

TRUE = np.array([1.1, 0.4, 0.4, 0.1])
START = np.array([10.0, 5.0])
YEARS = 20.0


def growth(animals: Any, parameters: Any) -> Any:
    hares, lynxes = animals[0], animals[1]
    births, eaten, deaths, fed = parameters[0], parameters[1], parameters[2], parameters[3]
    return np.stack([births * hares - eaten * hares * lynxes, fed * hares * lynxes - deaths * lynxes])


def solve(parameters: Any, steps: int) -> Any:
    """The numbers of hares and lynxes at each of so many steps."""
    animals, length = START, YEARS / steps
    path = np.zeros((steps, 2))
    for step in range(steps):
        k1 = growth(animals, parameters)
        k2 = growth(animals + 0.5 * length * k1, parameters)
        k3 = growth(animals + 0.5 * length * k2, parameters)
        k4 = growth(animals + length * k3, parameters)
        animals = animals + length / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path[step] = animals
    return path


def fit(guess: Any, observed: Any, every: int, steps: int) -> Any:
    """The parameters under which the solution is nearest to what was observed at each `every` steps."""

    def distance(logarithms: Any) -> Any:
        path = solve(np.exp(logarithms), steps)
        mean = np.mean((np.log(path[every - 1 :: every]) - observed) ** 2)
        print(f"mean squared distance {mean:8.5f}")
        return mean

    found = optim.lbfgs(ag.value_and_grad(distance), np.log(guess), iterations=60, tolerance=1e-6)
    return np.exp(found.x), found


def main(short: bool = False) -> dict[str, float]:
    steps = 200 if short else 1000
    rng, every = np.random.default_rng(0), steps // 40
    observed = np.log(solve(TRUE, steps)[every - 1 :: every]) + rng.normal(0, 0.05, (40, 2))
    guess = TRUE * np.array([1.2, 0.9, 0.9, 1.1])
    staged = ag.function(fit)
    began = time.perf_counter()
    fitted, found = staged(guess, observed, every, steps)
    seconds = time.perf_counter() - began
    names = ["births of hares", "hares eaten", "deaths of lynxes", "births of lynxes"]
    rows = list(zip(names, TRUE.tolist(), guess.tolist(), fitted.tolist()))
    print(table("Parameters", ["", "true", "guess", "fitted"], rows))
    figures = {
        "steps of Runge and Kutta": steps,
        "iterations": found.iterations,
        "mean squared distance": float(found.value),
        "greatest relative error": float(np.max(np.abs(fitted / TRUE - 1))),
        "seconds, tracing included": seconds,
        "graphs": sum(not trace.plain for trace in staged.traces),
    }
    print("\n" + table("Fit", ["", "figure"], list(figures.items())))
    return figures


if __name__ == "__main__":
    main("--short" in sys.argv)
