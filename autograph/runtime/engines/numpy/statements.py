"""Generates the statements of a function from a plan, as a tree of Python's own `ast`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from autograph.common.code_marks import UNBOUND
from autograph.common.messages import UNBOUND_FREE, UNBOUND_LOCAL
from autograph.common.parsing import parse
from autograph.runtime.engines.numpy.coalescing import is_usable
from autograph.runtime.engines.numpy.expressions import Expressions, numbered
from autograph.runtime.engines.numpy.plan import Body, Break, Compute, Copy, Delete, If, Loop, Return, Update
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.object_model import set_attribute, sets_plainly
from autograph.runtime.graph.opdef import lookup
from autograph.runtime.graph.traits import MAKES_OBJECTS
from autograph.runtime.graph.types import TensorType


class Statements:
    """Makes Python's statements of those of a plan."""

    def __init__(self, expressions: Expressions) -> None:
        self._make = expressions
        self._variables = expressions.variables

    def body(self, body: Body) -> list[ast.stmt]:
        """The statements of a block."""
        found: list[ast.stmt] = []
        around: list[list[ast.stmt]] = []  # the statements before, and around, each `with` that is open
        for statement in body:
            if isinstance(statement, Return):
                result = None if statement.result is None else self._make.arg(statement.result)
                found.append(ast.Return(result, **self._make.at))
                continue
            with self._make.mark(statement.node):
                if isinstance(statement, Compute) and statement.node.op == "enter":
                    inside: list[ast.stmt] = []
                    manager = ast.withitem(self._make.arg(statement.node.args[0]))
                    found.append(ast.With([manager], inside, **self._make.at))
                    around.append(found)
                    found = inside
                elif isinstance(statement, Compute) and statement.node.op == "exit":
                    found = self._ended(found, around)
                else:
                    name = sys.intern(f"_{type(statement).__name__.lower()}")   # Python caches look-ups, with the names
                    found += getattr(self, name)(statement)
        while around:
            found = self._ended(found, around)
        return found

    def _ended(self, inside: list[ast.stmt], around: list[list[ast.stmt]]) -> list[ast.stmt]:
        """The statements around a `with` that ends."""
        if not inside:
            inside.append(ast.Pass(**self._make.at))
        return around.pop()

    # Nodes ------------------------------------------------------------------------------------------------------------

    def _compute(self, statement: Compute) -> Iterator[ast.stmt]:
        make, at, node, outputs = self._make, self._make.at, statement.node, statement.outputs
        if node.op == "raise":
            cause = make.arg(node.kwargs["cause"]) if "cause" in node.kwargs else None
            yield ast.Raise(make.arg(node.args[0]), cause, **at)
        elif node.op == "bound":
            yield from self._bound(node, outputs)
        elif node.op == "unpack":
            yield ast.Assign([self._unpacked(node, outputs)], make.arg(node.args[0]), **at)
        elif node.op in ("setitem", "setattr"):
            target = self._place(node.op == "setitem", ast.Store(), *node.args[:2])
            yield ast.Assign([target], make.arg(node.args[2]), **at)
        elif node.op in ("delitem", "delattr"):
            yield ast.Delete([self._place(node.op == "delitem", ast.Del(), *node.args)], **at)
        elif node.op in MAKES_OBJECTS:
            yield from self._new(node.args[0], node.args[1], outputs[0])
        elif any(self._variables.is_used(value) for value in outputs):
            yield ast.Assign([make.target(outputs[0])], make.node(node), **at)
        else:
            yield ast.Expr(make.node(node), **at)

    def _new(self, kind: Any, parts: dict[str, Any], made: Value) -> Iterator[ast.stmt]:
        """The new object, then its attributes."""
        make, at = self._make, self._make.at
        yield ast.Assign([make.target(made)], make.function(object.__new__, [kind]), **at)
        for name, part in parts.items():
            if is_usable(name) and sets_plainly(kind.value, name):
                yield ast.Assign([self._place(False, ast.Store(), made, name)], make.arg(part), **at)
            else:
                yield ast.Expr(make.function(set_attribute, [made, name, part]), **at)

    def _unpacked(self, node: Node, outputs: list[Value]) -> ast.expr:
        """`a, *b`, to assign to."""
        make = self._make
        with make.mark(node):
            targets: list[ast.expr] = [make.target(value) for value in outputs]
            if "star" in node.kwargs:
                targets[node.kwargs["star"]] = ast.Starred(targets[node.kwargs["star"]], ast.Store(), **make.at)
            return ast.Tuple(targets, ast.Store(), **make.at)

    def _place(self, is_item: bool, context: ast.expr_context, x: Any, key: Any) -> ast.Subscript | ast.Attribute:
        """`x[key]` or `x.key`, to assign to."""
        make = self._make
        if is_item:
            return ast.Subscript(make.arg(x), make.index(key), context, **make.at)
        return ast.Attribute(make.arg(x), key, context, **make.at)

    def _bound(self, node: Node, outputs: list[Value]) -> Iterator[ast.stmt]:
        make, x = self._make, node.args[0]
        name, free = node.kwargs.get("name", ""), "free" in node.kwargs
        message = make.constant((UNBOUND_FREE if free else UNBOUND_LOCAL).format(name))
        error: Any = make.call("NameError" if free else "UnboundLocalError", [message])
        if free:
            error.keywords.append(ast.keyword("name", make.constant(name), **make.at))
        raising = ast.Raise(error, None, **make.at)
        if x is UNBOUND:
            yield raising
        elif isinstance(x, Value) and "name" in node.kwargs:
            test = ast.Compare(make.arg(x), [ast.Is()], [make.constant(UNBOUND)], **make.at)
            yield ast.If(test, [raising], [], **make.at)
        for value in outputs:
            yield ast.Assign([make.target(value)], make.arg(x), **make.at)

    def _update(self, statement: Update) -> Iterator[ast.stmt]:
        node, make, item = statement.node, self._make, statement.item
        x = node.args[0]
        target: ast.Name | ast.Subscript | ast.Attribute
        if item is not None:
            target = self._place(item.op == "getitem", ast.Store(), *item.args[:2])
        else:
            source = make.arg(x)
            if statement.outputs or not isinstance(source, ast.Name):
                target = make.target(statement.outputs[0] if statement.outputs else x)
            else:
                target = ast.Name(source.id, ast.Store(), **make.at)  # `x` is another name for it
            if not (isinstance(source, ast.Name) and source.id == target.id):
                yield ast.Assign([target], source, **make.at)
        yield ast.AugAssign(target, augmented(lookup(node.op).template), make.operands(node)[1], **make.at)

    def _delete(self, statement: Delete) -> Iterator[ast.stmt]:
        names = dict.fromkeys(self._variables.name(value) for value in statement.values)
        yield ast.Delete([ast.Name(name, ast.Del(), **self._make.at) for name in names], **self._make.at)

    # Copies -----------------------------------------------------------------------------------------------------------

    def _copy(self, statement: Copy) -> Iterator[ast.stmt]:
        rest = []
        for target, source in zip(statement.targets, statement.sources):
            name = self._variables.name(target)
            reads = {self._variables.name(value) for value in self._make.plan.variables_in(source)}
            computed = isinstance(source, Value) and source in self._make.plan.nested
            if computed or reads != {name} or not isinstance(source, Value):
                rest.append(_Assignment(target, name, source, reads, computed))
        while rest:
            alone = next((each for each in rest if each.may_come_first(rest)), None)
            if alone is None:
                yield self._assign_together(rest)
                return
            rest.remove(alone)
            node = alone.source.node if alone.computed else statement.node
            with self._make.mark(node):
                make = self._make
                yield ast.Assign([make.target(alone.target)], make.arg(alone.source), **make.at)

    def _assign_together(self, assignments: list[_Assignment]) -> ast.stmt:
        make, at = self._make, self._make.at
        targets: list[ast.expr] = [make.target(each.target) for each in assignments]
        sources = [make.arg(each.source) for each in assignments]
        return ast.Assign([ast.Tuple(targets, ast.Store(), **at)], ast.Tuple(sources, ast.Load(), **at), **at)

    # Control flow -----------------------------------------------------------------------------------------------------

    def _if(self, statement: If) -> Iterator[ast.stmt]:
        make = self._make
        test = make.truth(statement.test)
        then, orelse = self.body(statement.then), self.body(statement.orelse)
        if orelse and not then:
            test, then, orelse = make.untrue(test), orelse, []
        if then and leaves(then[-1]):
            yield ast.If(test, then, [], **make.at)
            yield from orelse
        elif then or not _is_harmless(statement.test):
            yield ast.If(test, then or [ast.Pass(**make.at)], orelse, **make.at)

    def _loop(self, statement: Loop) -> Iterator[ast.stmt]:
        make, at, node = self._make, self._make.at, statement.node
        if node.op == "for":
            make.renamed = statement.renamed
            iterable = make.arg(statement.iterable)
            make.renamed = {}
            if statement.unpacked is not None:
                target = self._unpacked(statement.unpacked, statement.items)
            else:
                target = self._target(node.kwargs.get("target", 0), statement.items)
            yield ast.For(target, iterable, self.body(statement.body) or [ast.Pass(**at)], [], **at)
            return
        before = self.body(statement.before)
        test = make.truth(statement.condition)
        body = self.body(statement.body)
        if before:
            body = [*before, ast.If(make.untrue(test), [ast.Break(**at)], [], **at), *body]
            test = ast.Constant(True, **at)
        yield ast.While(test, body or [ast.Pass(**at)], [], **at)

    def _target(self, structure: Any, items: list[Value]) -> ast.expr:
        """The target of a `for`: `i, (a, b)`."""
        if isinstance(structure, (tuple, list)):
            parts = [self._target(part, items) for part in structure]
            return ast.Tuple(parts, ast.Store(), **self._make.at)
        return self._make.target(items[structure])

    def _break(self, statement: Break) -> Iterator[ast.stmt]:
        leave = ast.Break(**self._make.at)
        if statement.condition is True:
            yield leave
        else:
            self._make.renamed = statement.renamed
            test = self._make.truth(statement.condition)
            self._make.renamed = {}
            yield ast.If(test, [leave], [], **self._make.at)


@dataclass(slots=True, eq=False)
class _Assignment:
    """One of several that happen at once.

    Attributes:
        reads: the variables that the source reads.
        computed: whether the source is an expression, which must be evaluated after those before it.
    """

    target: Value
    name: str
    source: Any
    reads: set[str]
    computed: bool

    def may_come_first(self, rest: list[_Assignment]) -> bool:
        """Whether it may be done before all others of `rest`."""
        if self.computed and next(each for each in rest if each.computed) is not self:
            return False
        return not any(self.name in each.reads for each in rest if each is not self)


def leaves(statement: ast.stmt) -> bool:
    """Whether a statement always leaves its block."""
    if isinstance(statement, ast.If):
        return bool(statement.orelse) and leaves(statement.body[-1]) and leaves(statement.orelse[-1])
    if isinstance(statement, ast.With):
        return leaves(statement.body[-1])
    return isinstance(statement, (ast.Return, ast.Raise, ast.Break))


def _is_harmless(test: Any) -> bool:
    """Whether the truth of a value can be tested without effects."""
    if not isinstance(test, Value):
        return True
    type = test.type
    return test.node is None and isinstance(type, TensorType) and type.exact and type.kind != "array"


@cache
def augmented(template: str) -> ast.operator:
    """The operator of `{} += {}`."""
    statement = parse(numbered(template)).body[0]
    assert isinstance(statement, ast.AugAssign)
    return statement.op
