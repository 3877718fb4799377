"""What TensorFlow's AutoGraph does not take, by the text of a function: `else` of loops, and generators."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FunctionType, MethodType
from typing import Any


def check(function: Callable[..., Any]) -> None:
    """See to it that a function can be converted by TensorFlow's rules.

    Raises:
        NotImplementedError: it has a construct that cannot.
    """
    plain = function.__func__ if type(function) is MethodType else function
    if type(plain) is not FunctionType:
        return
    if inspect.isgeneratorfunction(plain):
        raise NotImplementedError(f"generators are not supported: {plain.__qualname__} is one")
    refused = _refused(plain.__code__)
    if refused:
        raise NotImplementedError(refused)


@lru_cache(maxsize=4096)
def _refused(code: CodeType) -> str:
    """What a function must not have, if it has it; "" if all is well, or nobody knows its text."""
    try:
        lines, _ = inspect.getsourcelines(code)
        tree: Any = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return ""
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.While)) and node.orelse:
            kind = "for" if isinstance(node, ast.For) else "while"
            line = code.co_firstlineno + node.lineno - 1
            return f"{kind}/else statement not yet supported ({code.co_filename}:{line})"
    return ""


