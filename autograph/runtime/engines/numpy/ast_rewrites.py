"""Rewrites of the generated function, as a tree of Python, so that it reads and runs better.

`rotate_back` undoes loop rotation: tests at the end of an iteration move back to the head of the loop. A test with
effects of its own, such as a comparison of objects, is traced as part of the iteration before:

    go = i < n and x[i] == x[k]                     j = i
    j = i                                           while j < n and x[j] == x[k]:
    while go:                             ->            j += 1
        j += 1
        go = j < n and x[j] == x[k]

Both tests are the same if they read the same after substituting the initial values for the variables.

`collect_lists` restores the program's list comprehensions, which take less time than loops:

    t1 = []
    for t2 in xs:                           t1 = [t2 * t2 for t2 in xs if t2 > 0]
        if t2 > 0:              ->
            t1.append(t2 * t2)

Loops of the program stay loops: before Python 3.12, a comprehension creates and calls a function, which takes longer
than a few iterations.

`limit_nesting` moves loops that are nested deeper than Python allows.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from autograph.common.parsing import parse
from autograph.runtime.engines.numpy.line_table import Marks


def rotate_back(function: ast.FunctionDef) -> None:
    """Move tests to the heads of their loops, if their results have no other use."""
    rotated = _rotated(function)
    names = _names(function) if rotated else Counter()
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
    """By the variable of the test: the statements around a loop, the one of them that sets it first, and the loop."""
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
    """The statement that sets `name` before a loop by the same test as `last` after an iteration."""
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
    """The new values of variables after `a = b` or `a, b = b, 1`; nothing for other statements."""
    target, value = statement.targets[0], statement.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(target.elts, value.elts))
    if not all(isinstance(a, ast.Name) and isinstance(b, (ast.Name, ast.Constant)) for a, b in pairs):
        return {}
    return {a.id: b for a, b in pairs if isinstance(a, ast.Name)}


class _Renaming(ast.NodeTransformer):
    """Substitutes the values that variables are copies of."""

    def __init__(self, copies: dict[str, ast.expr]) -> None:
        self._copies = copies

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._copies.get(node.id, node)


def collect_lists(function: ast.FunctionDef, marks: Marks) -> None:
    """Write loops that come from comprehensions as comprehensions again, if their variables have no other use."""
    found = list(blocks(function))
    if any(isinstance(node, ast.FunctionDef) for body in found for node in body):
        return      # which declares variables that would not be any more
    names = functools.cache(lambda: _names(function))
    for body in reversed(found):
        for position in reversed(range(1, len(body))):
            made = _comprehension(body[position - 1], body[position], marks, names)
            if made is not None:
                body[position - 1 : position + 1] = [made]


def _names(*trees: ast.AST) -> Counter[str]:
    return Counter(node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name))


def _comprehension(
    begin: ast.stmt, loop: ast.stmt, marks: Marks, names: Callable[[], Counter[str]]
) -> ast.Assign | None:
    """`x = […]` in the place of `x = []` and a loop that appends to it; `names`: how often which variable is named."""
    if not (isinstance(begin, ast.Assign) and isinstance(begin.value, ast.List) and isinstance(loop, ast.For)):
        return None
    target, body, tests = begin.targets[0], loop.body, []
    while len(body) == 1 and isinstance(body[0], ast.If) and not body[0].orelse:
        tests.append(body[0].test)
        body = body[0].body
    last, item = body[-1], _appended(body[-1], target)
    if begin.value.elts or item is None or not _is_at_one_place(marks, begin, loop, last):
        return None
    if len(body) == 2 and _is_only_for(body[0], item, names()):
        assert isinstance(body[0], ast.Assign)
        item = body[0].value
    elif len(body) != 1:
        return None
    used = _names(item, loop.iter, *tests)
    assert isinstance(target, ast.Name)
    if target.id in used or any(names()[name] != count + used[name] for name, count in _names(loop.target).items()):
        return None
    made = ast.ListComp(item, [ast.comprehension(loop.target, loop.iter, tests, 0)])
    return ast.copy_location(ast.Assign([target], ast.copy_location(made, loop)), loop)


def _appended(statement: ast.stmt, target: ast.expr) -> ast.expr | None:
    """The element that a statement appends to a list."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if isinstance(call.func, ast.Attribute) and call.func.attr == "append" and not call.keywords:
            if isinstance(target, ast.Name) and _is_name(call.func.value, target.id) and len(call.args) == 1:
                return call.args[0]
    return None


def _is_only_for(statement: ast.stmt, item: ast.expr, names: Counter[str]) -> bool:
    """Whether a statement makes a list that is only appended."""
    if not (isinstance(statement, ast.Assign) and isinstance(statement.value, ast.ListComp)):
        return False
    name = statement.targets[0]
    return isinstance(name, ast.Name) and isinstance(item, ast.Name) and name.id == item.id and names[name.id] == 3


def _is_at_one_place(marks: Marks, *statements: ast.stmt) -> bool:
    """Whether statements come from one instruction of the program, as those of a comprehension do."""
    nodes = [marks[each.lineno - 1] for each in statements]
    return len({node.place if node is not None else number for number, node in enumerate(nodes)}) == 1


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
            elif isinstance(statement, (ast.With, ast.For, ast.While)):
                self.body(statement.body, (depth + 1) % DEPTH)
                if depth == DEPTH - 1 and not isinstance(statement, ast.With):
                    body[position : position + 1] = self._moved(statement)

    def _moved(self, loop: ast.For | ast.While) -> list[ast.stmt]:
        """A function that holds a loop, and its call."""
        inside = {each: each.id for each in ast.walk(loop) if isinstance(each, ast.Name)}
        outside = {
            each.id for each in ast.walk(self._function) if isinstance(each, ast.Name) and each not in inside
        } | {arg.arg for arg in self._function.args.args}
        stored = {name for each, name in inside.items() if isinstance(each.ctx, ast.Store)}
        names = outside.union(inside.values())
        name = next(name for number in itertools.count(1) if (name := f"loop_{number}") not in names)
        (function,) = parse(f"def {name}(): pass").body
        assert isinstance(function, ast.FunctionDef)
        shared = sorted(stored & outside)
        function.body = [ast.Nonlocal(shared, **self._at), loop] if shared else [loop]
        for each in ast.walk(function):
            if isinstance(each, (ast.stmt, ast.expr)) and not hasattr(each, "lineno"):
                ast.copy_location(each, loop)
        call = ast.Call(ast.copy_location(ast.Name(name, ast.Load()), loop), [], [])
        return [function, ast.copy_location(ast.Expr(ast.copy_location(call, loop)), loop)]
