"""Lowerings of functions and methods that draw a random number.

They draw from the generator's own state, so that the numbers, and those that Python draws afterwards, are the same as
without machine code. They check the arguments before they draw: Python would draw again.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from autograph.runtime.graph.graph import Constant
from autograph.runtime.graph.operands import Emitter, Given, Number

Draw = Callable[..., Any]


def kind_of_owner(owner: Any) -> Any:
    """The class of a generator."""
    return owner.of if isinstance(owner, Given) else type(owner.value) if isinstance(owner, Constant) else type(owner)


def of_owner(function: Any, rule: Draw) -> Draw:
    """The lowering of a function of a module, which is a method of a generator, by that of the method."""
    owner = function.__self__
    return lambda emit, *args: rule(emit, owner, *args)


def random_float(emit: Emitter, owner: Any) -> Number:
    """`random.random()`, or the method of that name of a `random.Random` or of a generator of NumPy."""
    draws = emit.draws
    is_python = kind_of_owner(owner) is random.Random
    return draws.double(draws.python(owner, in_c=True) if is_python else draws.numpy(owner))
