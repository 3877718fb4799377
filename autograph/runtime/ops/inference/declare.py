"""Declaring many functions and methods by one rule."""

from __future__ import annotations

import builtins
import cmath
import math
import random
import time
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import FUNCTIONS, Infer, declare
from autograph.runtime.graph.types import BOOL, NONE, Type

_ROOTS: dict[str, Any] = {"np": np, "math": math, "cmath": cmath, "random": random, "time": time}


def find(path: str) -> Any:
    """The function that an op is named after, `np.linalg.solve` or `len`; None if this version has none."""
    first, *rest = path.split(".")
    found = _ROOTS[first] if rest else getattr(builtins, first, None)
    for name in rest:
        found = getattr(found, name, None)
    return found


def functions(names: str, infer: Infer, *, prefix: str = "np.", raises: bool = True, **facts: Any) -> None:
    """Declare functions, of which a version of NumPy or Python may lack some, and some be other names of others."""
    for name in names.split():
        target = find(prefix + name)
        if target is not None and FUNCTIONS.get(target, prefix + name) == prefix + name:
            declare(prefix + name, infer, target=target, raises=raises, **facts)


def methods(names: str, infer: Infer, *, raises: bool = True, **facts: Any) -> None:
    """Declare methods."""
    for name in names.split():
        declare(f".{name}", infer, raises=raises, **facts)


def always(found: Type) -> Infer:
    """The rule of what gives the same type whatever it is given."""

    def infer(*args: Any, **kwargs: Any) -> Type:
        return found

    return infer


nothing = always(NONE)
truth = always(BOOL)
