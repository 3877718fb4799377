"""Parses Python, also while other threads do."""

from __future__ import annotations

import ast
from typing import Any

# CPython counts the depth of what all threads parse at the same time: https://github.com/python/cpython/issues/106905
_DEPTH_ERROR = "AST constructor recursion depth mismatch"
_TRIES = 4


def parse(text: str, filename: str = "<unknown>", mode: str = "exec", flags: int = 0) -> Any:
    """The tree of a text.

    Args:
        filename: for errors.
        mode: "exec" for statements, "eval" for an expression.
        flags: of `compile`, for imports from `__future__`.
    """
    for tried in range(1, _TRIES + 1):
        try:
            return compile(text, filename, mode, flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        except SystemError as error:
            if tried == _TRIES or not str(error).startswith(_DEPTH_ERROR):
                raise
    raise AssertionError
