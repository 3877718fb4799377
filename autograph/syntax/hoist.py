"""Hoists generated functions out of loops, so that they are made once instead of in each iteration.

Only the compiled code changes, not the printed text:

    def loop_body(x):                           def if_body_1():
        def if_body():                              nonlocal total
            nonlocal total                          total += x
            total += x                  →       def loop_body(x_):
        ag__.if_stmt(x > 0, if_body, …)             nonlocal x
                                                    x = x_
                                                    ag__.if_stmt(x > 0, if_body_1, …)

Variables of a loop's body that a hoisted function reads become variables of the function around the loop, as they are
in the user's code. Generated functions have the attributes `role` ('loop' or 'branch') and `reference` (the `Name` in
the call of their operator).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from autograph.syntax import scope, template, trees
from autograph.syntax.names import Namer, all_names

_OTHERS = (*scope.COMPREHENSIONS, gast.ExceptHandler, gast.stmt)
_LOOPS = (gast.For, gast.While, gast.AsyncFor)


def hoist(tree: gast.AST) -> frozenset[str]:
    """Hoist the generated functions of all loops below `tree`, in place; return their new names."""
    names = functools.cache(lambda: Namer(all_names(tree)))
    new_names: set[str] = set()
    for node in _functions(tree):
        # the user's functions, and branches outside of loops, unless they look at their own names
        if getattr(node, "role", None) != "loop" and not getattr(node, "why_plain", None):
            _Hoist(node, names, new_names).block(node.body)
    return frozenset(new_names)


def _functions(tree: Any) -> list[Any]:
    """Return the functions that statements at and below a node make, each before those in it."""
    found, stack = [], [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef)):
            found.append(node)
        stack += [statement for block in trees.blocks(node) for statement in block][::-1]
    return found


class _Hoist:
    """Hoists functions out of the loops in the own code of one function, `home`."""

    def __init__(self, home: Any, names: Callable[[], Namer], new_names: set[str]) -> None:
        self.home = home
        self.names = names
        self.new_names = new_names
        self.owned: dict[int, set[str]] = {}  # the local variables of each generated function
        self.not_declared: set[str] | None = None  # names that need no declaration in `home`

    def block(self, statements: list[Any]) -> None:
        out: list[Any] = []
        for node in statements:
            if isinstance(node, _LOOPS) or getattr(node, "role", None) == "loop":
                self.names()  # collect all names of the tree while it is complete
                extracted: list[_Extracted] = []
                _extract(node, [node] if hasattr(node, "role") else [], extracted)
                promoted: scope.Names = {}
                definitions = [self.move(item, promoted) for item in extracted]
                out += self.declarations(promoted)
                for statement in definitions:
                    trees.at_header(statement, node)
                    if isinstance(statement, gast.Assign):
                        trees.at_header(statement.value, node)
                out += definitions
            else:
                for inner in trees.own_blocks(node):
                    self.block(inner)
            out.append(node)
        statements[:] = out

    def move(self, item: _Extracted, promoted: scope.Names) -> Any:
        """Return the statement that makes a function in `home`.

        Variables that the function reads of the generated functions around it become variables of `home`; they are
        added to `promoted`.
        """
        function = item.function
        item.reference.id = self.names().fresh(item.reference.id)
        self.new_names.add(item.reference.id)
        for name in scope.inner(function).free(scope.parameters(function)):
            owner = next((owner for owner in reversed(item.enclosing) if name in self.names_of(owner)), None)
            if owner is not None:
                self.names_of(owner).remove(name)
                _make_nonlocal(owner, name, self.names())
                promoted[name] = None
        if isinstance(function, gast.Lambda):
            return template.assign(item.reference.id, function)
        function.name = item.reference.id
        return function

    def names_of(self, function: Any) -> set[str]:
        """Return the local variables of a generated function."""
        if id(function) not in self.owned:
            own = scope.inner(function)
            names = {*own.writes, *scope.parameters(function)} - own.nonlocals.keys() - own.globals.keys()
            self.owned[id(function)] = names
        return self.owned[id(function)]

    def declarations(self, promoted: scope.Names) -> list[Any]:
        """Return statements that make promoted variables local to `home`."""
        if self.not_declared is None:
            own = scope.uses(*self.home.body)
            self.not_declared = {*own.nonlocals, *own.globals, *scope.parameters(self.home)}
        names = [name for name in promoted if name not in self.not_declared]
        self.not_declared.update(names)
        return [template.declare(name, template.constant(None)) for name in names]


@dataclass
class _Extracted:
    """A function extracted from a loop, the name that refers to it, and the generated functions around it."""

    function: Any
    reference: Any
    enclosing: list[Any]


def _extract(node: Any, enclosing: list[Any], extracted: list[_Extracted]) -> None:
    """Extract the generated functions from a statement or function."""
    for block in trees.blocks(node):
        remaining = []
        for statement in block:
            if hasattr(statement, "role"):
                _extract(statement, [*enclosing, statement], extracted)
                extracted.append(_Extracted(statement, statement.reference, enclosing))
                continue
            if not isinstance(statement, trees.DEFINITIONS):
                _extract(statement, enclosing, extracted)
                _extract_lambdas(statement, enclosing, extracted)
            remaining.append(statement)
        block[:] = remaining


def _extract_lambdas(node: Any, enclosing: list[Any], extracted: list[_Extracted]) -> None:
    """Extract the generated lambdas from a statement's expressions, except from inner scopes."""
    for name in trees.PARTS[type(node)]:
        value = getattr(node, name, None)
        for i, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, gast.AST) or isinstance(child, _OTHERS):
                continue
            if isinstance(child, gast.Lambda):
                if hasattr(child, "origin"):
                    continue
                if not child.args.args:
                    _extract_lambdas(child, enclosing, extracted)
                if template.operator_of(node) == "fstring":  # made only if something traces; see `inline`
                    continue
                reference = gast.copy_location(template.name("operand"), child)
                extracted.append(_Extracted(child, reference, enclosing))
                if isinstance(value, list):
                    value[i] = reference
                else:
                    setattr(node, name, reference)
            else:
                _extract_lambdas(child, enclosing, extracted)


def _make_nonlocal(function: Any, name: str, names: Namer) -> None:
    """Make a local variable of a generated function one of the function around it."""
    function.body = [s for s in function.body if not isinstance(scope.unannotated(s, (name,)), gast.Pass)]
    for node in scope.walk_own(*function.body):
        for block in trees.blocks(node):
            _unannotate(block, name)
    _unannotate(function.body, name)
    begin: list[Any] = [gast.Nonlocal([name])]
    for parameter in function.args.args:
        if parameter.id == name:
            parameter.id = names.fresh(name)
            begin.append(template.assign(name, template.name(parameter.id)))
    function.body[:0] = begin


def _unannotate(block: list[Any], name: str) -> None:
    for i, node in enumerate(block):
        if (new := scope.unannotated(node, (name,))) is not None:
            block[i] = gast.copy_location(new, node)
