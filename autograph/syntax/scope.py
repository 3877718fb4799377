"""Scopes: finds the names that functions read, write and capture.

`uses(node)` returns the names that a statement or expression reads and writes in the scope of its function, and those
that functions in it capture. Of an inner scope, only its free variables count. A comprehension runs at once, so its
free variables are read; a generator expression, lambda or function runs later, at any time, so its are captured.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gast

from autograph.syntax.trees import children, visitors

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)

Names = dict[str, None]  # an ordered set: insertion order is order of first appearance


@dataclass
class Uses:
    """Sets of names, each in the order of first appearance."""

    reads: Names = field(default_factory=dict)
    writes: Names = field(default_factory=dict)
    kills: Names = field(default_factory=dict)  # definitely written, when the statement completes
    deletes: Names = field(default_factory=dict)  # by inner functions, too
    captured: Names = field(default_factory=dict)
    rebound: Names = field(default_factory=dict)  # captured and assigned by an inner function (`nonlocal`)
    globals: Names = field(default_factory=dict)
    nonlocals: Names = field(default_factory=dict)

    def free(self, bound: Iterable[str] = ()) -> Names:
        """Return the free variables of a scope with these uses.

        Args:
            bound: further names that the scope binds.
        """
        own = {*self.writes, *bound} - self.nonlocals.keys()
        names = {**self.reads, **self.captured, **self.nonlocals}
        return {n: None for n in names if n not in own and n not in self.globals}


def uses(*nodes: gast.AST | None) -> Uses:
    """Return the uses of all `nodes` together."""
    collector = _Collector()
    for node in nodes:
        if node is not None:
            collector.visit(node)
    return collector.found


def parameters(function: gast.AST) -> list[str]:
    """Return the names of the parameters of a function or lambda, in order."""
    return [p.id for p in _parameters(function)]


def _parameters(function: gast.AST) -> list[Any]:
    a = function.args
    return [p for p in (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg) if p is not None]


def inner(function: gast.AST) -> Uses:
    """Return the uses of a function's body, without defaults, decorators and annotations."""
    body = function.body if isinstance(function.body, list) else [function.body]
    return uses(*body)


def targets(comprehension: gast.AST) -> Names:
    """Return the variables of a comprehension."""
    return uses(*(generator.target for generator in comprehension.generators)).writes


def elements(comprehension: gast.AST) -> list[gast.AST]:
    """Return the element of a comprehension, or the key and the value."""
    is_dict = isinstance(comprehension, gast.DictComp)
    return [comprehension.key, comprehension.value] if is_dict else [comprehension.elt]


def inner_parts(comprehension: gast.AST) -> list[gast.AST]:
    """Return the parts of a comprehension that run in its own scope: all but the first iterable."""
    first, *others = comprehension.generators
    return [first.target, *first.ifs, *others, *elements(comprehension)]


def walk_own(*nodes: gast.AST) -> Iterator[gast.AST]:
    """Yield every node at and below `nodes` that runs in the same function: none inside inner functions and classes."""
    stack = [*reversed(nodes)]
    while stack:
        node = stack.pop()
        yield node
        if below := _OWN_PARTS.get(type(node), children)(node):
            stack += reversed(below)


def defaults(function: gast.AST) -> list[gast.AST]:
    """Return the default values of a function's parameters."""
    return [d for d in (*function.args.defaults, *function.args.kw_defaults) if d is not None]


def outer_parts(function: gast.AST) -> list[gast.AST]:
    """Return the parts of a `def` that run when the function is made: decorators, defaults, annotations."""
    annotations = [x for x in (*(p.annotation for p in _parameters(function)), function.returns) if x is not None]
    return [*function.decorator_list, *defaults(function), *annotations]


_OWN_PARTS: dict[type, Callable[[Any], list[gast.AST]]] = {
    gast.FunctionDef: outer_parts,
    gast.AsyncFunctionDef: outer_parts,
    gast.Lambda: defaults,
    gast.ClassDef: lambda node: [*node.decorator_list, *node.bases, *node.keywords],
}


class _Collector:
    """Collects uses; has a method for each type of node whose uses are not just those of its children."""

    def __init__(self) -> None:
        self.found = Uses()
        self.bound_earlier: set[str] = set()  # names definitely bound by a `:=` further left in the statement
        self.unconditional = True  # whether the visited node is always evaluated when its statement runs

    def visit(self, node: gast.AST) -> None:
        method = _METHODS.get(type(node))
        if self.bound_earlier and isinstance(node, gast.stmt):
            self.bound_earlier = set()
        if method is not None:
            method(self, node)
        else:
            for child in children(node):
                self.visit(child)

    def each(self, nodes: Iterable[gast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def visit_Name(self, node: gast.Name) -> None:
        ctx = type(node.ctx)
        if ctx is gast.Load:
            if node.id not in self.bound_earlier:
                self.found.reads[node.id] = None
        elif ctx is gast.Store:
            self.bind(node.id)
        elif ctx is gast.Del:
            self.found.reads[node.id] = None
            self.found.deletes[node.id] = None
            self.bind(node.id)

    def bind(self, name: str) -> None:
        self.found.writes[name] = None
        if self.unconditional:
            self.found.kills[name] = None

    def visit_NamedExpr(self, node: gast.NamedExpr) -> None:
        self.visit(node.value)
        self.visit(node.target)
        if self.unconditional:
            self.bound_earlier.add(node.target.id)

    def visit_BoolOp(self, node: gast.AST) -> None:
        """Visit a node of which only the first parts are always evaluated."""
        parts = children(node)
        always = 2 if isinstance(node, gast.Compare) else 1
        self.each(parts[:always])
        unconditional, self.unconditional = self.unconditional, False
        self.each(parts[always:])
        self.unconditional = unconditional

    visit_Compare = visit_IfExp = visit_Assert = visit_BoolOp

    def visit_Assign(self, node: gast.Assign) -> None:
        self.visit(node.value)
        self.each(node.targets)

    def visit_Dict(self, node: gast.Dict) -> None:
        for parts in zip(node.keys, node.values):
            self.each(part for part in parts if part is not None)

    def visit_AugAssign(self, node: gast.AugAssign) -> None:
        if isinstance(node.target, gast.Name):
            self.found.reads[node.target.id] = None
        self.visit(node.target)
        self.visit(node.value)

    def visit_FunctionDef(self, node: gast.AST) -> None:
        generic = _type_parameters(node)
        self.with_type_parameters(node, outer_parts(node), generic)
        self.bind(node.name)
        self.capture(inner(node), [*parameters(node), *generic])

    visit_AsyncFunctionDef = visit_FunctionDef

    def with_type_parameters(self, node: gast.AST, parts: list[gast.AST], names: list[str]) -> None:
        """Visit parts of a definition that see its type parameters, whose own bounds and defaults run later."""
        if not names:
            return self.each(parts)
        found = uses(*parts)
        self.found.reads.update({n: None for n in found.reads if n not in names})
        self.found.captured.update({n: None for n in found.captured if n not in names})
        self.found.writes.update(found.writes)
        self.capture(uses(*node.type_params), names)

    def visit_Lambda(self, node: gast.Lambda) -> None:
        self.each(defaults(node))
        self.capture(inner(node), parameters(node))

    def capture(self, body: Uses, bound: list[str]) -> None:
        self.found.captured.update(body.free(bound))
        self.found.rebound.update(n for n in body.nonlocals.items() if n[0] in body.writes)
        own = {*body.writes, *bound} - body.nonlocals.keys()
        self.found.rebound.update({n: None for n in body.rebound if n not in own})
        self.found.deletes.update({n: None for n in body.deletes if n not in own})

    def visit_ClassDef(self, node: gast.ClassDef) -> None:
        generic = _type_parameters(node)
        self.with_type_parameters(node, [*node.decorator_list, *node.bases, *node.keywords], generic)
        self.bind(node.name)
        body = uses(*node.body)
        # A class body runs at once, its methods run later.
        self.found.reads.update({n: None for n in body.reads if n not in body.globals and n not in generic})
        self.found.captured.update({n: None for n in body.captured if n not in generic})
        self.found.captured.update(body.nonlocals)
        self.found.rebound.update(body.rebound)
        self.found.rebound.update(body.nonlocals)

    def visit_ListComp(self, node: gast.AST) -> None:
        self.visit(node.generators[0].iter)
        bound, found = targets(node), uses(*inner_parts(node))
        self.found.writes.update({n: None for n in found.writes if n not in bound})  # walrus targets
        later = self.found.captured if isinstance(node, gast.GeneratorExp) else self.found.reads
        later.update({n: None for n in found.reads if n not in bound})
        self.found.captured.update({n: None for n in found.captured if n not in bound})
        self.found.rebound.update({n: None for n in found.rebound if n not in bound})

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def visit_ExceptHandler(self, node: gast.ExceptHandler) -> None:
        if node.type is not None:
            self.visit(node.type)
        if node.name is not None:
            self.bind(node.name.id)
        self.each(node.body)

    def visit_alias(self, node: gast.alias) -> None:
        self.bind(node.asname or node.name.partition(".")[0])

    def visit_MatchAs(self, node: gast.AST) -> None:
        bound = node.rest if isinstance(node, gast.MatchMapping) else node.name
        if bound is not None:
            self.bind(bound)
        self.each(children(node))

    visit_MatchStar = visit_MatchMapping = visit_MatchAs

    def visit_Global(self, node: gast.Global) -> None:
        self.found.globals.update(dict.fromkeys(node.names))

    def visit_Nonlocal(self, node: gast.Nonlocal) -> None:
        self.found.nonlocals.update(dict.fromkeys(node.names))

    def visit_TypeAlias(self, node: gast.AST) -> None:
        self.visit(node.name)
        self.capture(uses(node.value, *(node.type_params or ())), _type_parameters(node))

    def visit_AnnAssign(self, node: gast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.visit(node.target)
        elif isinstance(node.target, gast.Name):
            self.found.writes[node.target.id] = None  # a bare annotation makes the name local without binding it
        else:
            self.visit(node.target)
        if not isinstance(node.target, gast.Name):
            self.visit(node.annotation)


def unannotated(node: gast.AST, names: Container[str]) -> Any:
    """Return the statement that replaces an annotated assignment to one of `names`; None for any other node."""
    if not isinstance(node, gast.AnnAssign) or getattr(node.target, "id", None) not in names:
        return None
    return gast.Pass() if node.value is None else gast.Assign([node.target], node.value, None)


def _type_parameters(node: gast.AST) -> list[str]:
    return [p.name for p in getattr(node, "type_params", None) or []]


_METHODS: dict[type, Callable[[_Collector, Any], None]] = visitors(_Collector)
