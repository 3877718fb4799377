"""`tf.print`, which prints when the graph runs."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core.convert import convert_to_tensor, is_tensor
from autograph.compat.tensorflow.core.tensor import effect


def print(*inputs: Any, output_stream: Any = None, sep: str = " ", end: str = "\n", summarize: int = 3) -> None:
    """Print tensors and other objects when the graph runs, by default to the standard error."""
    leaves = [each for value in inputs for each in pytree.flatten(value)]
    values = [convert_to_tensor(each)._value if _is_array(each) else each for each in leaves]

    def show(*arrays: Any) -> None:
        rest = iter(arrays)
        shown = [pytree.map(lambda leaf: _Shown(next(rest), _is_array(leaf), summarize), value) for value in inputs]
        texts = [str(each) for each in shown]
        stream = sys.stderr if output_stream is None else output_stream
        builtins.print(*texts, sep=sep, end=end, file=stream)

    effect(show, *values)


def _is_array(value: Any) -> bool:
    return is_tensor(value) or isinstance(value, (np.ndarray, np.generic))


class _Shown:
    """Has the text of a leaf in `tf.print`."""

    def __init__(self, value: Any, tensor: bool, summarize: int) -> None:
        self.value = value
        self.tensor = tensor
        self.summarize = summarize

    def __str__(self) -> str:
        return text_of(self.value, self.summarize) if self.tensor else str(self.value)

    def __repr__(self) -> str:
        return str(self) if self.tensor else repr(self.value)


def text_of(value: Any, summarize: int = 3) -> str:
    """The text of a value: without commas, and with the ends only if it is long."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if not isinstance(value, np.ndarray):
        return _number(value)
    parts = [text_of(each, summarize) for each in value]
    if 0 <= 2 * summarize < len(parts):
        parts = [*parts[:summarize], "...", *parts[len(parts) - summarize :]]
    glue = "\n " if value.ndim > 1 else " "
    inner = [part.replace("\n", "\n ") for part in parts]
    return f"[{glue.join(inner)}]"


def _number(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    if not isinstance(value, (float, np.floating)):
        return str(value)
    few, many = (6, 9) if np.asarray(value).dtype.itemsize <= 4 else (15, 17)
    text = f"{value:.{few}g}"
    return text if type(value)(text) == value or value != value else f"{value:.{many}g}"


def print_like_python(*args: Any, **kwargs: Any) -> None:
    """`print(…)` when the graph runs; arguments that are no tensors are printed as they are then."""
    values = [convert_to_tensor(each)._value for each in args if is_tensor(each)]

    def show(*arrays: Any) -> None:
        rest = iter(arrays)
        builtins.print(*[next(rest) if is_tensor(each) else each for each in args], **kwargs)

    effect(show, *values)
