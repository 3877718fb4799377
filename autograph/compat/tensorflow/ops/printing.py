"""`tf.print`, which prints when the graph runs."""

from __future__ import annotations

import builtins
import sys
from functools import partial
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core.convert import convert_to_tensor, is_tensor
from autograph.compat.tensorflow.core.kernels import kernel
from autograph.compat.tensorflow.core.tensor import effect


def print(*inputs: Any, output_stream: Any = None, sep: str = " ", end: str = "\n", summarize: int = 3) -> None:
    """Print tensors and other objects when the graph runs, by default to the standard error."""
    inputs = tuple(map(_sorted, inputs))
    leaves = [each for value in inputs for each in pytree.flatten(value)]
    values = [convert_to_tensor(each)._value if _is_array(each) else each for each in leaves]
    stream = "stdout" if output_stream is sys.stdout else output_stream
    effect(partial(_show, pytree.map(_is_array, inputs), stream, sep, end, summarize), *values)


@kernel
def _show(structure: Any, stream: Any, sep: str, end: str, summarize: int, *values: Any) -> None:
    """Print values in a structure, whose leaves say which ones are tensors."""
    rest = iter(values)
    shown = [pytree.map(lambda is_array: _Shown(next(rest), is_array, summarize), value) for value in structure]
    file = sys.stderr if stream is None else sys.stdout if stream == "stdout" else stream
    builtins.print(*map(str, shown), sep=sep, end=end, file=file)


def _sorted(value: Any) -> Any:
    """A structure with the keys of its dicts in order."""
    if type(value) is dict:
        return {key: _sorted(value[key]) for key in sorted(value)}
    if type(value) in (list, tuple):
        return type(value)([_sorted(each) for each in value])
    return value


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
        return f'"{value.decode(errors="replace")}"'
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
    others = [None if is_tensor(each) else [each] for each in args]
    effect(partial(_show_plainly, others, kwargs), *values)


@kernel
def _show_plainly(others: Any, options: Any, *values: Any) -> None:
    """Print values in the places where there are no others."""
    rest = iter(values)
    builtins.print(*[next(rest) if each is None else each[0] for each in others], **options)
