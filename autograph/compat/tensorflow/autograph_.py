"""`tf.autograph`: conversion by itself, and its options."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from autograph import api


class Feature(enum.Enum):
    """Optional features of conversion."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    def __str__(self) -> str:
        return self.value


def to_graph(entity: Callable[..., Any], recursive: bool = True, experimental_optional_features: Any = None) -> Any:
    """The converted function, which runs as plain Python, or is traced where a graph is made."""
    return api.to_graph(entity)


def to_code(entity: Callable[..., Any], recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The source of the converted function, which gets the name that TensorFlow gives it."""
    text = api.to_code(getattr(entity, "python_function", entity))
    return re.sub(r"^def (\w+)", r"def tf__\1", text, count=1, flags=re.MULTILINE)


def do_not_convert(func: Any = None) -> Any:
    """Leave a function as it is."""
    return do_not_convert if func is None else api.do_not_convert(func)


def set_loop_options(
    parallel_iterations: Any = None, swap_memory: Any = None, maximum_iterations: Any = None,
    shape_invariants: Any = None,
) -> None:
    """Options of the loop in which this stands; converted code takes them from there."""


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Does nothing: nothing is logged."""


def trace(*args: Any) -> None:
    """Print something while tracing."""
    print(*args)


experimental = SimpleNamespace(
    Feature=Feature, do_not_convert=do_not_convert, set_loop_options=set_loop_options
)
