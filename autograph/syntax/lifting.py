"""Lambda lifting: nested functions that call themselves become functions of the variables that they capture.

Of the functions in

    def queens(n):
        columns, count = set(), 0

        def place(row):
            nonlocal count
            for column in range(n):
                if column not in columns:
                    columns.add(column)
                    place(row + 1)
                    count += 1

`place` becomes, where only data decide how deep it recurses and machine code shall call it,

    def place(n, columns, count, row):
        for column in range(n):
            if column not in columns:
                columns.add(column)
                place(n, columns, count, row + 1)
                count[0] += 1

A variable that they rebind is in a list of one item meanwhile. So are treated together all nested functions that such a
function calls; they refer to each other by cells. A function is not lifted if that could be visible.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import gast

from autograph.syntax import scope, trees

_LOOKING = frozenset("locals vars eval exec globals dir super __class__ breakpoint".split())
_LATER = (gast.Lambda, gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)
_SUSPENDED = (gast.Yield, gast.YieldFrom, gast.Await, gast.NamedExpr, gast.Delete, gast.Global)
_AT_ONCE = frozenset("all any dict frozenset list max min set sorted sum tuple".split())


class Lifting(NamedTuple):
    """Lifted functions.

    Attributes:
        functions: the definitions, by name.
        captured: the parameters that each has first, for the variables of the function around them.
        boxed: those of these that a list of one item holds.
    """

    functions: dict[str, Any]
    captured: tuple[str, ...]
    boxed: frozenset[str]


def lift(outer: Any, name: str, above: Collection[str]) -> Lifting | None:
    """Lift a function nested in another one, and those that it calls; None if it cannot be lifted.

    Args:
        outer: the tree of the function around it, of which the trees of the lifted functions are taken.
        above: the free variables of that.
    """
    if not isinstance(outer, gast.FunctionDef):
        return None
    own = scope.inner(outer)
    variables = {*own.writes, *scope.parameters(outer)} - own.globals.keys() - own.nonlocals.keys()
    nested = {node.name: node for node in scope.walk_own(*outer.body) if isinstance(node, gast.FunctionDef)}
    functions, free = _group(name, nested)
    captured = [each for each in free if each in variables]
    boxed = {each for node in functions.values() for each in scope.inner(node).nonlocals}
    if not functions or free.keys() & {*above} or not boxed <= variables:
        return None
    if not _are_alone(outer, functions, captured, boxed) or not all(
        _can_lift(node, functions, captured) for node in functions.values()
    ):
        return None
    lifter = _Lifter(functions, captured, boxed)
    for node in functions.values():
        lifter.lift(node)
        if boxed & scope.inner(node).writes.keys():     # by an import, say
            return None
    return Lifting(functions, (*captured,), frozenset(boxed))


def _free(function: Any) -> dict[str, None]:
    """The free variables of a function, and the globals that it names."""
    return scope.inner(function).free(scope.parameters(function))


def _group(name: str, nested: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, None]]:
    """A function and the nested ones that it names, directly or indirectly; and all other free names of these."""
    functions: dict[str, Any] = {}
    free: dict[str, None] = {}
    queue = [name] if name in nested else []
    for each in queue:
        if each not in functions:
            functions[each] = nested[each]
            found = _free(nested[each])
            queue += [other for other in found if other in nested]
            free.update({other: None for other in found if other not in nested})
    return functions, free


def _are_alone(outer: Any, functions: Mapping[str, Any], captured: Collection[str], boxed: Collection[str]) -> bool:
    """Whether nothing else binds the names of the functions, or rebinds meanwhile what they capture."""
    others = {*boxed}
    for node in trees.walk(outer):
        names = [node.id] if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load) else []
        names += getattr(node, "names", []) if isinstance(node, gast.Nonlocal | gast.Global) else []
        names += [getattr(node, field, None) for field in ("name", "rest", "asname")]
        bound = functions.keys() & {each for each in names if type(each) is str}
        if bound and not any(node is each for each in functions.values()):
            return False
    for node in scope.walk_own(*outer.body):
        if isinstance(node, (*_LATER, gast.GeneratorExp)) and not any(node is each for each in functions.values()):
            found = scope.uses(node)
            if found.rebound.keys() & {*captured} or found.captured.keys() & others:
                return False
    return True


def _can_lift(node: Any, functions: Mapping[str, Any], captured: Collection[str]) -> bool:
    """Whether a function takes just positional arguments, is only called, and keeps nothing of what it captures."""
    arguments, found = node.args, scope.inner(node)
    if node.decorator_list or arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
        return False
    if not all(isinstance(each, gast.Constant) for each in arguments.defaults):
        return False
    own = {*scope.parameters(node), *(found.writes.keys() - found.nonlocals.keys())}
    if own & {*captured} or _LOOKING & found.reads.keys():
        return False
    calls = [each for each in trees.walk(*node.body) if isinstance(each, gast.Call)]
    at_once = {id(each.args[0]) for each in calls if len(each.args) == 1 and getattr(each.func, "id", "") in _AT_ONCE}
    called = {id(each.func) for each in calls if _fits(each, functions)}
    for each in trees.walk(*node.body):
        if isinstance(each, _SUSPENDED) or (isinstance(each, _LATER) and _takes(each, functions, captured)):
            return False
        if isinstance(each, gast.GeneratorExp) and id(each) not in at_once and _takes(each, functions, captured):
            return False
        if isinstance(each, gast.Name) and each.id in functions and id(each) not in called:
            return False
    return True


def _takes(node: Any, functions: Mapping[str, Any], captured: Collection[str]) -> bool:
    """Whether something that may run later captures a lifted function, or what that captures."""
    return not scope.uses(node).captured.keys().isdisjoint({*functions, *captured})


def _fits(call: Any, functions: Mapping[str, Any]) -> bool:
    """Whether a call of a lifted function gives it as many arguments as it takes, each for a parameter."""
    function = functions.get(getattr(call.func, "id", ""))
    if function is None or call.keywords or any(isinstance(each, gast.Starred) for each in call.args):
        return False
    most = len(function.args.args)
    return bool(most - len(function.args.defaults) <= len(call.args) <= most)


class _Lifter(gast.NodeTransformer):    # type: ignore[misc]
    """Gives functions parameters for what they capture."""

    def __init__(self, functions: Mapping[str, Any], captured: Collection[str], boxed: Collection[str]) -> None:
        self._functions, self._captured, self._boxed = functions, captured, boxed

    def lift(self, function: Any) -> None:
        function.body = [self.visit(each) for each in function.body]
        function.args.args[:0] = [self._name(each, gast.Param(), function) for each in self._captured]

    def _name(self, name: str, context: Any, like: Any) -> Any:
        return gast.copy_location(gast.Name(name, context, None, None), like)

    def visit_Call(self, node: Any) -> Any:
        is_lifted = getattr(node.func, "id", "") in self._functions
        node.args = [self.visit(each) for each in node.args]
        node.keywords = [self.visit(each) for each in node.keywords]
        if is_lifted:
            node.args[:0] = [self._name(each, gast.Load(), node) for each in self._captured]
        else:
            node.func = self.visit(node.func)
        return node

    def visit_Name(self, node: Any) -> Any:
        if node.id not in self._boxed:
            return node
        index = gast.copy_location(gast.Constant(0, None), node)
        item = gast.Subscript(self._name(node.id, gast.Load(), node), index, node.ctx)
        return gast.copy_location(item, node)

    def visit_Nonlocal(self, node: Any) -> Any:
        return gast.copy_location(gast.Pass(), node)
