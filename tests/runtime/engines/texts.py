"""What tests of the engine share: graphs as texts, and the functions they become."""

from __future__ import annotations

import ast
import copy
import importlib
import math
import pkgutil
from textwrap import dedent

from autograph.common.printing.precedence import TEST
from autograph.runtime import ops
from autograph.runtime.engines.numpy import engine
from autograph.runtime.engines.numpy.constants import StandIn
from autograph.runtime.engines.numpy.engine import Executable, compile
from autograph.runtime.graph_text.parser import parse
from autograph.runtime.graph_text.verifier import check

for _module in pkgutil.iter_modules(ops.__path__):
    importlib.import_module(f"{ops.__name__}.{_module.name}")


def written(tree):
    """The text of an expression."""
    printer = engine._Printer(engine._DOUBLE_QUOTES)
    printer.place(tree, TEST)
    return printer.text()


def executable(text: str, **objects) -> Executable:
    """The executable of a graph, given as text. The text of the function is that of the tree which was compiled."""
    made = compile(check(parse(dedent(text).strip(), objects)))
    assert same_program(made)
    return made


def source(text: str, **objects) -> str:
    return executable(text, **objects).source


def becomes(text: str, expected: str, **objects) -> Executable:
    """Assert what a graph is as a function."""
    made = executable(text, **objects)
    if made.source != dedent(expected).lstrip("\n"):
        raise AssertionError(f"the function is\n{made.source}")
    return made


def same_program(made: Executable) -> bool:
    """Whether the text of a function is read as the very tree that was compiled, which has the numbers it tells."""
    for node in ast.walk(made._tree):
        if isinstance(node, StandIn) and isinstance(node.shown, ast.Constant):
            array = made.run.__globals__[node.id]
            assert array == array.dtype.type(node.shown.value)
    (again,) = ast.parse(made.source).body
    return ast.dump(_Parsed().visit(again)) == ast.dump(_Parsed().visit(copy.deepcopy(made._tree)))


class _Parsed(ast.NodeTransformer):
    """Makes of a tree what Python's parser would."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        value = node.value
        if isinstance(value, complex) and "complex(" in written(node):
            return ast.parse(written(node), mode="eval").body
        if isinstance(value, float) and not math.isfinite(value):
            return ast.parse(f"float('{value}')", mode="eval").body
        if type(value) in (int, float) and math.copysign(1, value) < 0:
            return ast.UnaryOp(ast.USub(), ast.Constant(-value))
        return node

    def visit_StandIn(self, node: StandIn) -> ast.expr:
        return self.visit(node.shown)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.parse(node.id, mode="eval").body if "." in node.id else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        self.generic_visit(node)
        parts: list[ast.expr] = []
        for part in node.values:
            if isinstance(part, ast.Constant) and not part.value:
                continue        # as Python 3.12.1 has them
            if isinstance(part, ast.Constant) and parts and isinstance(parts[-1], ast.Constant):
                parts[-1] = ast.Constant(parts[-1].value + part.value)
            else:
                parts.append(part)
        return ast.JoinedStr(parts)
