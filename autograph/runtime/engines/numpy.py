"""The engine that is always there: a graph becomes one plain function of Python and NumPy.

The function does what the user's program does, on the same objects and in the same order: operators are operators,
calls are calls, a `while` is a `while`. Therefore it gives the same answers, and costs what such code costs if it is
written by hand.

    plan = Scheduler(graph).plan        which expressions are nested, what is a statement          `schedule`
    variables = Variables(plan)         which values share a variable, and its name                `variables`
    Expressions, Statements             an `ast`, in which line numbers tell of the graph's nodes  `expressions`, …
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any

from autograph.runtime.engines.constants import Globals
from autograph.runtime.engines.expressions import Expressions
from autograph.runtime.engines.schedule import Scheduler
from autograph.runtime.engines.statements import Statements
from autograph.runtime.engines.text import text_of
from autograph.runtime.engines.variables import Variables, is_usable
from autograph.runtime.graph import Graph, Node


class Executable:
    """A graph that can be called.

    Attributes:
        graph: what it is made from.
        run: the bare function. It takes the graph's parameters by position.
    """

    def __init__(self, graph: Graph, run: Callable[..., Any], tree: ast.FunctionDef, marks: list[Node | None]) -> None:
        self.graph = graph
        self.run = run
        self._tree = tree
        self._marks = marks

    def __call__(self, *args: Any) -> Any:
        return self.run(*args)

    @cached_property
    def source(self) -> str:
        """The text of the function."""
        return text_of(self._tree)

    def translate(self, error: BaseException) -> BaseException:
        return error


def compile(graph: Graph, *, filename: str | None = None) -> Executable:
    """Make a graph a function.

    Args:
        filename: by which debuggers know the text of the function.
    """
    plan = Scheduler(graph).plan
    variables = Variables(plan)
    constants = Globals(variables.names)
    expressions = Expressions(plan, variables, constants)
    body = Statements(expressions).body(plan.body)
    if body and isinstance(body[-1], ast.Return) and body[-1].value is None:
        body.pop()
    name = _function_name(graph.name)
    params = [variables.name(param) for param in plan.params]
    tree = _function(name, params, body, expressions.at)
    module = ast.Module([tree], [])
    code = builtins.compile(module, filename or f"<autograph {name}>", "exec")
    inner = next(each for each in code.co_consts if isinstance(each, CodeType))
    run = FunctionType(inner, {"__builtins__": builtins, **constants.values}, name)
    return Executable(graph, run, tree, expressions.marks)


def _function(name: str, params: list[str], body: list[ast.stmt], at: dict[str, int]) -> ast.FunctionDef:
    (template,) = ast.parse(f"def {name}({', '.join(params)}): pass").body
    assert isinstance(template, ast.FunctionDef)
    template.body = body or [ast.Pass(**at)]
    return template


def _function_name(name: str) -> str:
    found = re.sub(r"\W", "_", name.rpartition(".")[2])
    return found if is_usable(found) else "function"
