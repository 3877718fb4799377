"""Arguments for a function, as they are written on the command line.

    f64[3,?]   py.int   f64           any array, number or scalar of that type
    5   'text'   None   [1, 2]        a Python value
    [f64[3], {'w': f64[3,?]}]         a structure of these
    weights.npy                       the array in a file
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np

from autograph.cli.failure import Failure
from autograph.common.printing.unparse import unparse
from autograph.errors import AutographError
from autograph.runtime.dispatch.input_signature import placeholders
from autograph.runtime.graph.tensor_spec import TensorSpec
from autograph.runtime.graph.types import PYTHON_TYPES, TensorType
from autograph.runtime.graph_text.parser import parse_type

_NAMED = re.compile(r"([^\W\d]\w*)=(?!=)(.*)", re.DOTALL)
_QUESTION_MARK = re.compile(r"(?<=[\[,])\s*\?\s*(?=[\],])")


def arguments(texts: tuple[str, ...]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call: positional ones, and those that are written NAME=VALUE.

    Raises:
        Failure: one of the texts is not understood.
    """
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for text in texts:
        named = _NAMED.fullmatch(text.strip())
        if named:
            kwargs[named[1]] = example(named[2])
        elif kwargs:
            raise Failure(f"--arg {text!r} has no name: put it before the arguments that have one")
        else:
            args.append(example(text))
    return args, kwargs


def example(text: str) -> Any:
    """The value, or placeholder, for a text."""
    text = text.strip()
    if text.endswith(".npy"):
        return _array(text)
    written = _typed(text)
    if written is not None:
        return written
    try:
        return _build(ast.parse(_QUESTION_MARK.sub("None", text), mode="eval").body)
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError):
        raise Failure(
            f"cannot make an argument of {text!r}: write a type (f64[3,?], py.int), a Python value (5, 'text', "
            "[1, 2]), a structure of these, or the name of a .npy file"
        ) from None


def _array(path: str) -> Any:
    try:
        return np.load(Path(path), allow_pickle=False)
    except (OSError, EOFError, MemoryError, ValueError) as error:
        raise Failure(f"cannot read the array {path!r}: {error}") from error


def _typed(text: str) -> Any:
    """A placeholder for values of a type; None if the text is not a type of numbers or arrays."""
    try:
        type = parse_type(text)
    except AutographError:
        return None
    if not isinstance(type, TensorType):
        return None
    if type.kind == "array":
        return TensorSpec(type.shape, type.dtype)
    if type.kind == "python" and type.dtype in PYTHON_TYPES:
        return placeholders(PYTHON_TYPES[type.dtype], classes=True)
    return np.zeros((), type.dtype)[()]


def _build(node: ast.expr) -> Any:
    if isinstance(node, (ast.List, ast.Tuple)):
        parts = [_build(part) for part in node.elts]
        return parts if isinstance(node, ast.List) else tuple(parts)
    if isinstance(node, ast.Dict) and None not in node.keys:
        keys = [ast.literal_eval(key) for key in node.keys if key is not None]
        return dict(zip(keys, map(_build, node.values)))
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        written = _typed(unparse(node).replace(" ", "").replace("None", "?"))
        if written is None:
            raise ValueError("neither a type nor a constant")
        return written
    return ast.literal_eval(node)
