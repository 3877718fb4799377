"""Converts one function: prepares its statements, finds the state of its constructs, rewrites them.

`converters/pipeline.py` has the converters and their order. This file does the rest: the names of each function, inner
functions and classes, declarations that must stay in their function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gast

from autograph.converters import calls, logical, ref
from autograph.converters.context import bodies, owners, plain, staging
from autograph.converters.context.base import Context, Rewrite, Walk, replace
from autograph.syntax import liveness, names, scope, trees

Prepare = Any  # Callable[[gast.AST, Context], None]


class Functions:
    """Converts functions, lambdas and classes.

    Args:
        prepare: steps that each change the statements of a whole function, in order.
        rewriters: for each type of node, functions that may return a replacement; the first one wins.
    """

    def __init__(self, prepare: Sequence[Prepare], rewriters: Mapping[type, list[Rewrite]], context: Context) -> None:
        self.prepare = prepare
        self.context = context
        self.walk = Walk(rewriters, logical.mark_roles, self.nested, context)

    def nested(self, node: Any, context: Context) -> Any:
        """Convert an inner function or class; its defaults and decorators belong to the function around it."""
        if not isinstance(node, gast.ClassDef):
            self.walk.visit_list(node.args.defaults)
            self.walk.visit_list(node.args.kw_defaults)
            decorators = getattr(node, "decorator_list", [])
            self.walk.visit_list(decorators)
            decorators[:] = [calls.decorator(each, context) for each in decorators]
        return self.inner(node, context)

    def inner(self, node: Any, context: Context) -> Any:
        """Convert a function, lambda or class, in place."""
        if "ag__" in context.used_names:
            self._leave_plain(node, "the name `ag__` is taken: is this converted code already?")
        elif isinstance(node, gast.Lambda):
            self._lambda(node)
        elif isinstance(node, gast.ClassDef):
            self._class(node)
        else:
            self._function(node)
        return node

    def block(self, statements: list[Any]) -> None:
        """Convert the functions among a module's or a class's statements, but not the statements themselves."""
        for node in statements:
            self._visit_unstaged(node)

    def _visit_unstaged(self, node: Any) -> None:
        if isinstance(node, _FUNCTIONS) and not self.context.locals:  # so that it gets the same text as alone
            self.context.namer = names.Namer(names.all_names(node))
        if isinstance(node, (*scope.FUNCTIONS, gast.ClassDef)):
            self.inner(node, self.context)
            return
        if isinstance(node, (gast.If, *plain.LOOPS)):
            self.context.decide(node, _KEYWORDS[type(node)], "only functions are staged, not modules and classes")
        for child in trees.children(node):
            self._visit_unstaged(child)

    def _class(self, node: gast.ClassDef) -> None:
        self.context.classes.append(node.name)
        self.context.functions.append(node.name)
        self.block(node.body)
        self.context.functions.pop()
        self.context.classes.pop()

    def _scan(self, node: Any) -> None:
        """Collect the facts about an outermost function that concern all functions in it."""
        if not self.context.none_variables:
            nodes = list(trees.walk(node))
            self.context.mutated = ref.mutated(nodes)
            targets = [each.target for each in nodes if isinstance(each, gast.comprehension)]
            self.context.targets = set(scope.uses(*targets).writes)

    def _lambda(self, node: gast.Lambda) -> None:
        context = self.context
        self._scan(node)
        context.functions.append("<lambda>")
        context.locals.append(set(scope.parameters(node)))
        context.none_variables.append(set())
        context.globals.append(set())
        node.body = self.walk.visit(node.body)
        self._pop_names()

    def _function(self, node: Any) -> None:
        context = self.context
        if _sets_trace_function(node, context):
            self._leave_plain(node, "the function sets a trace function, which would also see code of this library")
            return
        own = scope.uses(*node.body)
        self._scan(node)
        context.functions.append(node.name)
        context.locals.append({*own.writes, *scope.parameters(node)} - own.globals.keys() - own.nonlocals.keys())
        context.none_variables.append(set(_set_to_none(node)))
        context.globals.append(set(own.globals))
        _hoist_declarations(node)
        for step in self.prepare:
            step(node, context)
        live = liveness.analyze(node)
        owners.mark_bodies(node.body)
        foreign = [name for name in own.rebound if name not in own.writes]  # of an outer function
        bound = owners.declare(node.body, [*scope.parameters(node), *own.globals, *own.nonlocals, *foreign])
        # Names that may be read unbound, and that only bodies still bind, must stay local to the function.
        unbound = [name for name in live if name in own.writes and name not in bound]
        self.walk.visit_list(node.body)
        if unbound:
            _insert(node, bodies.declarations(unbound))
        self._pop_names()

    def _leave_plain(self, node: Any, reason: str) -> None:
        self.context.functions.append(getattr(node, "name", "<lambda>"))
        for inner in trees.children(node):
            for found in trees.walk(inner):
                if type(found) in _KEYWORDS:
                    self.context.decide(found, _KEYWORDS[type(found)], reason)
        self.context.functions.pop()

    def _pop_names(self) -> None:
        for stack in (self.context.functions, self.context.locals, self.context.none_variables, self.context.globals):
            stack.pop()


def _set_to_none(function: Any) -> Iterator[str]:
    """Yield the variables to which a function may assign None, as far as its text shows."""
    for node in scope.walk_own(*function.body):
        if isinstance(node, gast.Assign):
            for target in node.targets:
                yield from _names_set_to_none(target, node.value)
        elif isinstance(node, (gast.AnnAssign, gast.NamedExpr)) and node.value is not None:
            yield from _names_set_to_none(node.target, node.value)


def _names_set_to_none(target: Any, value: Any) -> Iterator[str]:
    if isinstance(target, gast.Name):
        if staging.may_be_none(value):
            yield target.id
    elif isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple) and len(target.elts) == len(value.elts):
        for inner, part in zip(target.elts, value.elts, strict=True):
            yield from _names_set_to_none(inner, part)


_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef)
_KEYWORDS = {gast.If: "if", gast.While: "while", gast.For: "for", gast.AsyncFor: "for"}


_TRACE_SETTERS = frozenset({"sys.settrace", "sys.setprofile", "threading.settrace", "threading.setprofile"})
_TRACE_SETTER_NAMES = frozenset({"settrace", "setprofile"})


def _sets_trace_function(function: Any, context: Context) -> bool:
    if _TRACE_SETTER_NAMES.isdisjoint(context.used_names):
        return False
    calls = (node for node in scope.walk_own(*function.body) if isinstance(node, gast.Call))
    return any(context.dotted(node.func) in _TRACE_SETTERS for node in calls)


def _hoist_declarations(function: Any) -> None:
    """Move `global` and `nonlocal` out of blocks that may become functions, to the start of the function."""
    hoisted: list[Any] = []
    for block in trees.inner_blocks(function.body):
        declared = [s for s in block if isinstance(s, (gast.Global, gast.Nonlocal))]
        if declared:
            hoisted += [replace(statement, type(statement)(statement.names)) for statement in declared]
            rest = [s for s in block if s not in declared]
            block[:] = rest or [gast.copy_location(gast.Pass(), declared[0])]
    if hoisted:
        _insert(function, hoisted)


def _insert(function: Any, statements: list[Any]) -> None:
    """Insert statements at the start of a function, below its docstring."""
    start = 1 if trees.is_docstring(function.body[0]) else 0
    function.body[start:start] = statements
