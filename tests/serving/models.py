"""Saved models that the tests of serving share."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import autograph as ag

BATCH = ag.TensorSpec((None, 3), "f4")
WEIGHTS = np.arange(6, dtype="f4").reshape(3, 2)


class Pair(NamedTuple):
    """Two results with names."""

    low: Any
    high: Any


class Model(ag.Module):
    """Methods with one input and several, with numbers, structures, and errors."""

    def __init__(self) -> None:
        self.weights = ag.Variable(WEIGHTS)

    @ag.function
    def __call__(self, x: Any) -> Any:
        return x @ self.weights

    @ag.function
    def both(self, x: Any, scale: Any) -> Any:
        return {"scaled": x * scale, "bounds": Pair(x.min(axis=1), x.max(axis=1))}

    @ag.function
    def power(self, x: Any, n: Any) -> Any:
        return x**n, float(n)

    @ag.function
    def nested(self, parts: Any) -> Any:
        return parts["a"] + parts["b"][0]

    @ag.function
    def checked(self, x: Any) -> Any:
        if x < 0:
            raise ValueError(f"negative: {x}")
        return 1 / x

    @ag.function
    def doubled(self, x: Any) -> Any:
        x *= 2
        return x


def save_model(folder: Path) -> Path:
    """Save a model that changes nothing but its arguments."""
    many = ag.TensorSpec((None, 3), "f8")
    calls = {
        "__call__": [(BATCH,)],
        "both": [(BATCH, 1.0), (many, 1.0)],
        "power": [(many, 2)],
        "nested": [({"a": ag.TensorSpec((None,), "f8"), "b": [ag.TensorSpec((None,), "i8")]},)],
        "checked": [(1,)],
        "doubled": [(many,)],
    }
    ag.save(Model(), folder, signatures=calls)
    return folder


class Counter(ag.Module):
    """A method that changes a variable."""

    def __init__(self) -> None:
        self.count = ag.Variable(0)

    @ag.function
    def add(self, n: Any) -> Any:
        for _ in range(n):
            self.count.assign_add(1)
        return self.count.numpy()


def save_counter(folder: Path) -> Path:
    """Save a counter."""
    ag.save(Counter(), folder, signatures={"add": [(1,)]})
    return folder


def pause(seconds: float) -> float:
    """Sleep, which graphs only do by a callback."""
    time.sleep(seconds)
    return seconds


PAUSE = f"{__name__}:pause"


def save_sleeper(folder: Path) -> Path:
    """Save a function that sleeps as long as its input says."""
    ag.save(ag.function(lambda seconds: ag.do_not_convert(pause)(seconds)), folder, signatures=[(0.5,)],
            allow_callbacks=[PAUSE])  # fmt: skip
    return folder
