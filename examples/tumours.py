"""Logistic regression by L-BFGS tells malign tumours from benign ones, and sorts wines.

    python examples/tumours.py [--short]         # after: pip install "autograph-py[examples]"

The data come with scikit-learn. The whole search, with its line searches and the gradients of the loss, is one staged
function, called for each strength of the penalty.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from reporting import table

import autograph as ag
from autograph import nn, optim


def data(load: Any) -> tuple[Any, Any, Any, Any]:
    """Measurements (scaled, and a constant 1) and classes to train with, and others to test with."""
    measured, classes = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(measured))
    count = len(measured) * 3 // 4
    train, test = order[:count], order[count:]
    scaled = (measured - measured[train].mean(axis=0)) / measured[train].std(axis=0)
    scaled = np.hstack([scaled, np.ones((len(scaled), 1))])
    return scaled[train], classes[train], scaled[test], classes[test]


def fit(xs: Any, classes: Any, kinds: int, penalty: Any) -> Any:
    """The weights, of shape (measurements, kinds), that make the classes likeliest; how the search went."""

    def loss(weights: Any) -> Any:
        return nn.softmax_cross_entropy(xs @ weights, classes) + 0.5 * penalty * np.sum(weights[:-1] ** 2)

    return optim.lbfgs(ag.value_and_grad(loss), np.zeros((xs.shape[1], kinds)), iterations=200, tolerance=1e-6)


def main(short: bool = False) -> dict[str, float]:
    from sklearn.datasets import load_breast_cancer, load_wine

    staged = ag.function(fit, static_argnames=("kinds",))
    rows, best = [], {}
    for name, load in {"tumours": load_breast_cancer, "wines": load_wine}.items():
        xs, classes, test, wanted = data(load)
        for penalty in (0.01,) if short else (0.1, 0.01, 0.001, 0.0001):
            began = time.perf_counter()
            found = staged(xs, classes, int(classes.max()) + 1, penalty)
            seconds = time.perf_counter() - began
            right = float(np.mean(np.argmax(test @ found.x, axis=1) == wanted))
            best[name] = max(best.get(name, 0.0), right)
            rows.append([name, penalty, found.iterations, found.evaluations, float(found.value), right, seconds])
            print(f"{name}, penalty {penalty}: {found.iterations} iterations")
    best["graphs"] = sum(not trace.plain for trace in staged.traces)
    best["converged"] = float(found.converged)
    head = ["", "penalty", "iterations", "evaluations", "loss", "accuracy on test data", "seconds"]
    print("\n" + table("Logistic regression by L-BFGS", head, rows))
    return best


if __name__ == "__main__":
    main("--short" in sys.argv)
