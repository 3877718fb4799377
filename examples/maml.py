"""Learning to learn: a network that fits any sine wave after one step from ten points (MAML; Finn and others, 2017).

    python examples/maml.py [--short]

The loss is that after a step of gradient descent, so that its gradient needs second derivatives: `ag.grad` inside of
`ag.value_and_grad`. The whole training is one staged function.
"""

from __future__ import annotations

import itertools
import sys
import time
from typing import Any

import numpy as np
from reporting import table

import autograph as ag
from autograph import nn, optim

POINTS, WAVES, INNER_RATE = 10, 8, 0.02


def parameters(units: int) -> list[ag.Variable]:
    sizes, rng = [1, units, units, 1], np.random.default_rng(0)
    made = []
    for inputs, outputs in itertools.pairwise(sizes):
        made += [ag.Variable(nn.he_normal((inputs, outputs), rng)), ag.Variable(np.zeros(outputs))]
    return made


def predict(weights: Any, x: Any) -> Any:
    """What the network of these weights makes of points of shape (points, 1)."""
    h = nn.tanh(x @ weights[0] + weights[1])
    h = nn.tanh(h @ weights[2] + weights[3])
    return h @ weights[4] + weights[5]


def error(weights: Any, x: Any, y: Any) -> Any:
    return nn.mse(predict(weights, x), y)


def adapted(weights: Any, x: Any, y: Any, steps: int) -> Any:
    """Weights after some steps of gradient descent on one wave."""
    for _ in range(steps):
        gradients = ag.grad(error)(weights, x, y)
        weights = [weight - INNER_RATE * gradient for weight, gradient in zip(weights, gradients)]
    return weights


def waves(rng: Any, count: int) -> tuple[Any, Any]:
    """Points of sine waves of random height and phase, of shape (waves, points, 1), half of them to learn from."""
    height, phase = rng.uniform(0.1, 5, (count, 1, 1)), rng.uniform(0, np.pi, (count, 1, 1))
    x = rng.uniform(-5, 5, (count, 2 * POINTS, 1))
    return x, height * np.sin(x + phase)


def later_error(weights: Any, x: Any, y: Any) -> Any:
    """The mean error on the other points of each wave, after one step on its first."""
    total = 0.0
    for wave in range(len(x)):
        new = adapted(weights, x[wave, :POINTS], y[wave, :POINTS], 1)
        total = total + error(new, x[wave, POINTS:], y[wave, POINTS:])
    return total / len(x)


def train(variables: Any, optimizer: Any, steps: int) -> Any:
    rng = np.random.default_rng(1)
    errors = np.zeros(steps)
    for step in range(steps):
        x, y = waves(rng, WAVES)
        weights = [variable.value for variable in variables]
        errors[step], gradients = ag.value_and_grad(later_error)(weights, x, y)
        optimizer.update(variables, optim.clip_by_global_norm(gradients, 10.0))
        if step % 200 == 199:
            print(f"step {step + 1:5}  error after one step {errors[step - 199 : step + 1].mean():.3f}")
    return errors


def main(short: bool = False) -> dict[str, float]:
    steps = 200 if short else 4000
    variables = parameters(20 if short else 40)
    optimizer = optim.Adam(optim.CosineDecay(3e-3, steps)).init(variables)
    staged = ag.function(train)
    began = time.perf_counter()
    errors = staged(variables, optimizer, steps)
    seconds = time.perf_counter() - began
    x, y = waves(np.random.default_rng(2), 100)
    rows = []
    untrained = [variable.value for variable in parameters(20 if short else 40)]
    learn = ag.function(adapted, static_argnames=("steps",))
    for name, weights in {"untrained": untrained, "trained": [variable.value for variable in variables]}.items():
        after = [
            np.mean([error(learn(weights, a[:POINTS], b[:POINTS], n), a[POINTS:], b[POINTS:]) for a, b in zip(x, y)])
            for n in (0, 1, 5)
        ]
        rows.append([name, *map(float, after)])
    print("\n" + table("Mean squared error on new waves", ["network", "at once", "after 1 step", "after 5"], rows))
    return {
        "first": float(errors[:20].mean()), "last": float(errors[-20:].mean()), "after one": rows[1][2],
        "at once": rows[1][1], "seconds": seconds, "graphs": sum(not trace.plain for trace in staged.traces),
    }  # fmt: skip


if __name__ == "__main__":
    main("--short" in sys.argv)
