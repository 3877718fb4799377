"""Small plain functions over numbers and arrays, grouped by construct, each with the calls to try it on.

    @calls("3", "-2.5")
    def sign(x): ...

A text is a list of arguments, evaluated anew for each call, with NumPy as `np`. All arguments are numbers or arrays,
and a suite stages all of them; parameters with defaults stay plain. A function that stores into an argument returns it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

CONSTRUCTS = """conditionals logical matches while_loops for_loops jumps comprehensions containers stores callees
output unbound""".split()
_calls: dict[Any, tuple[str, ...]] = {}


def calls(*arguments: str) -> Callable[[F], F]:
    """Put a function into the corpus, to be called with each of `arguments`."""

    def mark(function: F) -> F:
        _calls[function] = arguments
        return function

    return mark


@dataclass(frozen=True)
class Entry:
    """A function of the corpus.

    Attributes:
        construct: the module of the corpus that it is in.
        function: the function.
        calls: texts of arguments.
    """

    construct: str
    function: Callable[..., Any]
    calls: tuple[str, ...]

    @property
    def name(self) -> str:
        """Construct and function, as `jumps.first_negative`."""
        return f"{self.construct}.{self.function.__name__}"

    @property
    def takes_arrays(self) -> bool:
        """Whether an argument is an array."""
        return any(isinstance(value, np.ndarray) for call in self.calls for value in arguments(call))

    def __str__(self) -> str:
        return self.name


def arguments(call: str) -> tuple[Any, ...]:
    """Return new arguments of a call."""
    values: tuple[Any, ...] = eval(f"({call},)", {"np": np})
    return values


def entries() -> list[Entry]:
    """Return all functions of the corpus, in the order of the files."""
    found = []
    for construct in CONSTRUCTS:
        module = importlib.import_module(f"{__name__}.{construct}")
        found += [Entry(construct, value, _calls[value]) for value in vars(module).values() if _is_member(value)]
    return found


def _is_member(value: Any) -> bool:
    return callable(value) and value in _calls
