"""Declaring functions and methods, several by one rule."""

from __future__ import annotations

import builtins
import cmath
import math
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import FUNCTIONS, Infer, declare
from autograph.runtime.graph.types import Type
from autograph.runtime.ops.inference.bind_arguments import method
from autograph.runtime.ops.inference.infer import rule

ROOTS: dict[str, Any] = {"np": np, "math": math, "cmath": cmath, "random": random, "time": time}


def find(path: str) -> Any:
    """The function that an op is named after, `np.linalg.solve` or `len`; None if this version has none."""
    first, *rest = path.split(".")
    found = ROOTS[first] if rest else getattr(builtins, first, None)
    for name in rest:
        found = getattr(found, name, None)
    return found


def functions(
    names: str, result: Infer | Type | None = None, *, raises: bool = True, foldable: bool = False, **facts: Any
) -> None:
    """Declare functions of NumPy and Python, and methods.

    Args:
        names: as nodes have them: `np.take .take`. A function that this version of NumPy or Python lacks is left out,
            and so is another name of a function that has been declared.
        result: the rule that infers the type of the result (see `infer.py`), or that type, if it is always the same.
        foldable: whether functions may be called with constants before the program runs.
        facts: as `declare` has them.
    """
    infer = rule(result) if callable(result) else result
    for name in names.split():
        if name.startswith("."):
            declare(name, infer, raises=raises, **facts)
        elif (target := find(name)) is not None and FUNCTIONS.get(target, name) == name:
            declare(name, infer, target=target, raises=raises, fold=target if foldable else None, **facts)


def each_function(names: str, make: Callable[..., Infer], **facts: Any) -> None:
    """Declare functions of NumPy and methods of arrays, each by a rule of its own.

    Args:
        names: as `functions` has them; one that is a ufunc in this version is left out, see `ufuncs.py`.
        make: gives the rule for a function of NumPy; and for a method, if that is its second argument.
    """
    for name in names.split():
        function = getattr(np, name.rpartition(".")[2], None)
        if function is not None and not isinstance(function, np.ufunc):
            functions(name, make(function, method(name[1:])) if name.startswith(".") else make(function), **facts)
