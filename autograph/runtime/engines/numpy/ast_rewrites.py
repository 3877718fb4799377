"""Loops that ask at the end of each turn whether there is another one ask at its beginning again.

A test that does something, such as asking objects whether they are equal, is traced as part of the turn before:

    go = i < n and x[i] == x[k]                     j = i
    j = i                                           while j < n and x[j] == x[k]:
    while go:                             ->            j += 1
        j += 1
        go = j < n and x[j] == x[k]

It is the same test if, with what the variables begin with in their places, it reads the same.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy


def rotate_back(function: ast.FunctionDef) -> None:
    """Put tests where they stand in the user's program, as far as nobody else reads what they have told."""
    rotated = _rotated(function)
    names = Counter(node.id for node in ast.walk(function) if isinstance(node, ast.Name)) if rotated else Counter()
    for name, found in rotated.items():
        if names[name] != 3 * len(found):
            continue
        for statements, first, loop in found:
            del statements[next(number for number, each in enumerate(statements) if each is first)]
            last = loop.body.pop()
            assert isinstance(last, ast.Assign)
            loop.test = last.value
            if not loop.body:
                loop.body.append(ast.copy_location(ast.Pass(), last))


_Found = dict[str, list[tuple[list[ast.stmt], ast.stmt, ast.While]]]


def _rotated(function: ast.FunctionDef) -> _Found:
    """By the name of what they test: statements, that among them which sets it first, and the loop."""
    found: _Found = {}
    for statements in blocks(function):
        for number, loop in enumerate(statements):
            if isinstance(loop, ast.While) and isinstance(loop.test, ast.Name):
                first = _first(loop.test.id, statements[:number], loop.body[-1])
                if first is not None:
                    found.setdefault(loop.test.id, []).append((statements, first, loop))
    return found


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements in a statement, the outer ones first."""
    for value in vars(node).values():
        if isinstance(value, list) and value and isinstance(value[0], (ast.stmt, ast.excepthandler, ast.match_case)):
            if isinstance(value[0], ast.stmt):
                yield value
            for each in value:
                yield from blocks(each)


def _first(name: str, before: list[ast.stmt], last: ast.stmt) -> ast.stmt | None:
    """The statement that does before a loop what `last` does at the end of a turn: to set `name` by the same test."""
    if not (isinstance(last, ast.Assign) and _is_name(last.targets[0], name)):
        return None
    test = last.value
    for statement in reversed(before):
        if not isinstance(statement, ast.Assign):
            break
        if _is_name(statement.targets[0], name):
            return statement if ast.dump(statement.value) == ast.dump(test) else None
        copies = _copies(statement)
        if not copies:
            break
        test = _Renaming(copies).visit(deepcopy(test))
    return None


def _is_name(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name


def _copies(statement: ast.Assign) -> dict[str, ast.expr]:
    """What variables become by `a = b` or `a, b = b, 1`; nothing if a statement does more."""
    target, value = statement.targets[0], statement.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(target.elts, value.elts))
    if not all(isinstance(a, ast.Name) and isinstance(b, (ast.Name, ast.Constant)) for a, b in pairs):
        return {}
    return {a.id: b for a, b in pairs if isinstance(a, ast.Name)}


class _Renaming(ast.NodeTransformer):
    """Puts what variables are copies of in their places."""

    def __init__(self, copies: dict[str, ast.expr]) -> None:
        self._copies = copies

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._copies.get(node.id, node)
