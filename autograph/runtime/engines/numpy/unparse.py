"""The text of a generated function, by `common/printing`: it shows the user's expressions for stand-ins."""

from __future__ import annotations

import ast
import math
from typing import Any

from autograph.common.printing.literals import Quoting
from autograph.common.printing.unparse import Unparser
from autograph.runtime.engines.numpy.constants import StandIn

_DOUBLE_QUOTES = Quoting(preferred='"')


def text_of(function: ast.FunctionDef) -> str:
    """The text of a function."""
    printer = _Printer(_DOUBLE_QUOTES)
    printer.dispatch(function)
    return printer.text()[1:] + "\n"


class _Printer(Unparser):
    def part(self, owner: Any, field: str, node: Any) -> None:
        if field in ("target", "targets") and isinstance(node, ast.Tuple) and len(node.elts) == 1:
            super().part(owner, field, node.elts[0])
            self.write(",")
        else:
            super().part(owner, field, node)

    def place(self, node: Any, level: int) -> None:
        super().place(_shown(node), level)


def _shown(tree: ast.expr) -> ast.expr:
    """The expression that the printer writes for a part of the tree."""
    if isinstance(tree, StandIn):
        return _shown(tree.shown)
    value = tree.value if isinstance(tree, ast.Constant) else None
    if isinstance(value, float) and not math.isfinite(value):
        return _call("float", repr(value))
    if isinstance(value, complex) and (repr(value)[0] in "(-" or "inf" in repr(value) or "nan" in repr(value)):
        return _call("complex", str(value).strip("()"))
    return tree


def _call(name: str, text: str) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), [ast.Constant(text)], [])
