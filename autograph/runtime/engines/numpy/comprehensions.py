"""List comprehensions of the program's are list comprehensions again, which take less time than loops.

    t1 = []
    for t2 in xs:                           t1 = [t2 * t2 for t2 in xs if t2 > 0]
        if t2 > 0:              ->
            t1.append(t2 * t2)

A loop that the program has written as such stays one: before Python 3.12, a comprehension is a function that is made
and called, which takes longer than a few turns.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Callable

from autograph.runtime.engines.numpy.ast_rewrites import blocks
from autograph.runtime.engines.numpy.line_table import Marks


def collect_lists(function: ast.FunctionDef, marks: Marks) -> None:
    """Write loops as comprehensions that have been such, as far as nobody else uses their variables."""
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
    """What a statement appends to a list."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if isinstance(call.func, ast.Attribute) and call.func.attr == "append" and not call.keywords:
            if isinstance(target, ast.Name) and ast.unparse(call.func.value) == target.id and len(call.args) == 1:
                return call.args[0]
    return None


def _is_only_for(statement: ast.stmt, item: ast.expr, names: Counter[str]) -> bool:
    """Whether a statement makes a list that is appended, and no more."""
    if not (isinstance(statement, ast.Assign) and isinstance(statement.value, ast.ListComp)):
        return False
    name = statement.targets[0]
    return isinstance(name, ast.Name) and isinstance(item, ast.Name) and name.id == item.id and names[name.id] == 3


def _is_at_one_place(marks: Marks, *statements: ast.stmt) -> bool:
    """Whether statements come from one instruction of the program, as those of a comprehension do."""
    nodes = [marks[each.lineno - 1] for each in statements]
    return len({node.place if node is not None else number for number, node in enumerate(nodes)}) == 1
