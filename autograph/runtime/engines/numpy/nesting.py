"""Keeps within the number of loops that Python allows in one another."""

from __future__ import annotations

import ast
from typing import Any

DEPTH = 18      # Python allows 20 blocks in one another


def limit_nesting(function: ast.FunctionDef, at: dict[str, Any]) -> None:
    """Move loops that are nested too deeply into functions of their own, which share the variables."""
    _Limiter(function, at).body(function.body, 0)


class _Limiter:
    def __init__(self, function: ast.FunctionDef, at: dict[str, Any]) -> None:
        self._function = function
        self._at = at

    def body(self, body: list[ast.stmt], depth: int) -> None:
        for position, statement in enumerate(body):
            if isinstance(statement, ast.If):
                self.body(statement.body, depth)
                self.body(statement.orelse, depth)
            elif isinstance(statement, ast.With):
                self.body(statement.body, (depth + 1) % DEPTH)
            elif isinstance(statement, (ast.For, ast.While)):
                self.body(statement.body, (depth + 1) % DEPTH)
                if depth == DEPTH - 1:
                    body[position : position + 1] = self._moved(statement)

    def _moved(self, loop: ast.For | ast.While) -> list[ast.stmt]:
        """A function that holds a loop, and its call."""
        inside = {each: each.id for each in ast.walk(loop) if isinstance(each, ast.Name)}
        outside = {
            each.id for each in ast.walk(self._function) if isinstance(each, ast.Name) and each not in inside
        } | {arg.arg for arg in self._function.args.args}
        stored = {name for each, name in inside.items() if isinstance(each.ctx, ast.Store)}
        name = self._fresh(outside.union(inside.values()))
        (function,) = ast.parse(f"def {name}(): pass").body
        assert isinstance(function, ast.FunctionDef)
        shared = sorted(stored & outside)
        function.body = [ast.Nonlocal(shared, **self._at), loop] if shared else [loop]
        for each in ast.walk(function):
            if isinstance(each, (ast.stmt, ast.expr)) and not hasattr(each, "lineno"):
                ast.copy_location(each, loop)
        call = ast.Call(ast.copy_location(ast.Name(name, ast.Load()), loop), [], [])
        return [function, ast.copy_location(ast.Expr(ast.copy_location(call, loop)), loop)]

    def _fresh(self, taken: set[str]) -> str:
        number = 1
        while f"loop_{number}" in taken:
            number += 1
        return f"loop_{number}"
