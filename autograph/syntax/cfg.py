"""Builds the control-flow graph of a function. Each step has the names that it reads and writes as bit sets.

The graph is built backwards, block by block: `block(statements, after)` returns the step that enters the block. So the
successors of a step exist before the step, and a single sweep over the steps in their order solves all data-flow
equations except those of loops. A step may also raise, which leads to its `handlers`: names that are live there are
live before the step.

A loop or `if` that will become bodies of generated functions (`node.plain is None`) differs in one way: a `return` in
such a body leaves only the body, and execution continues behind the `if`, or with the next iteration. For each of these
constructs the graph has a `Construct`: the step behind it, and for each body the entry and the names written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import gast

from autograph.syntax import scope, trees


@dataclass
class Step:
    """A statement, or the header of a compound statement."""

    reads: int
    writes: int
    successors: list[int]
    handlers: tuple[int, ...]
    unbinds: int = 0
    captures: int = 0  # the names that functions made here read
    nodes: tuple[gast.AST, ...] = ()


@dataclass
class Construct:
    """The steps of a construct that will be converted. A body is `(entry step, names written in it)`."""

    node: gast.AST
    head: int | None  # the header of a loop
    after: int
    bodies: dict[str, tuple[int, int]]
    target: int = 0  # names written by a `for` loop's target
    test: int = 0  # names written by a `while` loop's test


class _Jumps(NamedTuple):
    """The targets of the jumps in the code at hand."""

    return_: int  # `return`
    break_: int
    continue_: int
    handlers: tuple[int, ...] = ()


@dataclass
class Graph:
    """The steps of one function, and the number of the bit of each name."""

    names: dict[str, int] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    constructs: list[Construct] = field(default_factory=list)
    entry: int = 0

    def bits(self, names: Iterable[str]) -> int:
        """The set of `names` as bits; adds names that are new."""
        return union(1 << self.names.setdefault(name, len(self.names)) for name in names)

    def listed(self, bits: int) -> list[str]:
        """The names in a set of bits, in order."""
        return [name for name, i in self.names.items() if bits >> i & 1] if bits else []


def union(bits: Iterable[int]) -> int:
    """Return the union of bit sets."""
    total = 0
    for each in bits:
        total |= each
    return total


def build(function: gast.AST, names: Sequence[str], rebound: scope.Names) -> Graph:
    """Build the graph of a function's body.

    Args:
        names: the names of the first bits.
        rebound: the names that inner functions assign; so any call may write them.
    """
    builder = _Builder(Graph({name: i for i, name in enumerate(names)}), rebound)
    end = builder.step(0, 0, [], ())
    builder.graph.entry, _ = builder.block(function.body, end, _Jumps(end, end, end))
    return builder.graph


class _Builder:
    def __init__(self, graph: Graph, rebound: scope.Names) -> None:
        self.graph = graph
        self.rebound = graph.bits(rebound)

    def step(self, reads: int, writes: int, successors: list[int], handlers: tuple[int, ...]) -> int:
        """Add a step; return its number."""
        self.graph.steps.append(Step(reads, writes, successors, handlers))
        return len(self.graph.steps) - 1

    def uses(self, after: int, jumps: _Jumps, *nodes: gast.AST | None) -> tuple[int, int]:
        """Add a step that evaluates `nodes`; return its number and the names that it may write."""
        found = scope.uses(*nodes)
        reads, writes = self.graph.bits(found.reads), self.graph.bits(found.writes)
        here = self.step(reads, self.graph.bits(found.kills), [after], jumps.handlers)
        step = self.graph.steps[here]
        step.nodes = tuple([node for node in nodes if node is not None])
        step.unbinds, step.captures = self.graph.bits(found.deletes), self.graph.bits(found.captured)
        return here, writes | (self.rebound if self.rebound and _may_call(nodes) else 0)

    def block(self, statements: list[Any], after: int, jumps: _Jumps) -> tuple[int, int]:
        """Add the steps of a block; return its entry and the names written in it."""
        written = 0
        for statement in reversed(statements):
            method = _METHODS.get(type(statement), _Builder.simple)
            after, more = method(self, statement, after, jumps)
            written |= more
        return after, written

    def simple(self, node: gast.AST, after: int, jumps: _Jumps) -> tuple[int, int]:
        return self.uses(after, jumps, node)

    def visit_Return(self, node: gast.AST, after: int, jumps: _Jumps) -> tuple[int, int]:
        here, written = self.uses(0, jumps, node)
        targets = {gast.Return: [jumps.return_], gast.Break: [jumps.break_], gast.Continue: [jumps.continue_]}
        self.graph.steps[here].successors = targets.get(type(node), [])
        return here, written

    visit_Break = visit_Continue = visit_Raise = visit_Return

    def visit_If(self, node: gast.AST, after: int, jumps: _Jumps) -> tuple[int, int]:
        if node.plain is None:
            after = jumps.return_ if node.returns else after
            inside = jumps._replace(return_=after)
        else:
            inside = jumps
        body = self.block(node.body, after, inside)
        orelse = self.block(node.orelse, after, inside)
        here, written = self.uses(body[0], jumps, node.test)
        self.graph.steps[here].successors.append(orelse[0])
        if node.plain is None:
            self.graph.constructs.append(Construct(node, None, after, {"body": body, "orelse": orelse}))
        return here, written | body[1] | orelse[1]

    def loop(self, node: gast.AST, after: int, jumps: _Jumps, head: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Add the body and the `else` of a loop whose next iteration begins at `head`."""
        orelse = self.block(node.orelse, after, jumps)
        until = self.graph.bits(getattr(node, "until", ()))
        latch = self.step(until, 0, [head, after] if until else [head], jumps.handlers)
        inside = jumps._replace(break_=after, continue_=latch)
        if node.plain is None:
            inside = inside._replace(return_=latch)
        return self.block(node.body, latch, inside), orelse

    def visit_While(self, node: gast.AST, after: int, jumps: _Jumps) -> tuple[int, int]:
        head, in_test = self.uses(after, jumps, node.test)
        body, orelse = self.loop(node, after, jumps, head)
        self.graph.steps[head].successors = [body[0], orelse[0]]
        if node.plain is None:
            bodies = {"body": (body[0], body[1] | in_test)}
            self.graph.constructs.append(Construct(node, head, after, bodies, test=in_test))
        return head, in_test | body[1] | orelse[1]

    def visit_For(self, node: gast.AST, after: int, jumps: _Jumps) -> tuple[int, int]:
        head = self.step(0, 0, [], jumps.handlers)
        body, orelse = self.loop(node, after, jumps, head)
        target, in_target = self.uses(body[0], jumps, node.target)
        self.graph.steps[head].successors = [target, orelse[0]]
        written = in_target | body[1]
        if node.plain is None:
            self.graph.constructs.append(Construct(node, head, after, {"body": (target, written)}, target=in_target))
        here, in_iter = self.uses(head, jumps, node.iter)
        return here, written | in_iter | orelse[1]

    visit_AsyncFor = visit_For

    def visit_With(self, node: gast.AST, after: int, jumps: _Jumps) -> tuple[int, int]:
        inside = jumps._replace(handlers=(*jumps.handlers, after))  # a context manager may swallow the exception
        body = self.block(node.body, after, inside)
        here, written = self.uses(body[0], inside, *node.items)
        return here, written | body[1]

    visit_AsyncWith = visit_With

    def visit_Try(self, node: gast.AST, after: int, jumps: _Jumps) -> tuple[int, int]:
        written = 0
        if node.finalbody:
            end = self.step(0, 0, [after, *jumps[:3], *jumps.handlers], jumps.handlers)
            after, written = self.block(node.finalbody, end, jumps)
            jumps = _Jumps(after, after, after, (*jumps.handlers, after))
        handlers = []
        for handler in node.handlers:
            entry, more = self.block(handler.body, *self.unbind_on_exit(handler.name, after, jumps))
            written |= more
            head = gast.ExceptHandler(handler.type, handler.name, [])
            entry, more = self.uses(entry, jumps, head)
            handlers.append(entry)
            written |= more
        orelse = self.block(node.orelse, after, jumps)
        body = self.block(node.body, orelse[0], jumps._replace(handlers=(*jumps.handlers, *handlers)))
        return body[0], written | orelse[1] | body[1]

    visit_TryStar = visit_Try

    def unbind_on_exit(self, name: Any, after: int, jumps: _Jumps) -> tuple[int, _Jumps]:
        """Add steps that delete the variable of an exception handler on each way out of it."""
        if name is None:
            return after, jumps
        steps: dict[int, int] = {}
        for target in (after, *jumps[:3]):
            if target not in steps:
                steps[target] = self.step(0, 0, [target], jumps.handlers)
                self.graph.steps[steps[target]].unbinds = self.graph.bits([name.id])
        return steps[after], _Jumps(steps[jumps.return_], steps[jumps.break_], steps[jumps.continue_], jumps.handlers)

    def visit_Match(self, node: gast.AST, after: int, jumps: _Jumps) -> tuple[int, int]:
        written, otherwise = 0, after
        for case in reversed(node.cases):
            entry, more = self.block(case.body, after, jumps)
            written |= more
            if case.guard is not None:
                entry, more = self.uses(entry, jumps, case.guard)
                self.graph.steps[entry].successors.append(otherwise)
                written |= more
            bound = self.step(0, 0, [entry], jumps.handlers)
            entry, more = self.uses(bound, jumps, case.pattern)
            # A pattern may bind some of its names and still fail, so they are not definitely bound in the next case.
            steps = self.graph.steps
            steps[bound].writes, steps[entry].writes = steps[entry].writes, 0
            steps[entry].successors.append(otherwise)
            otherwise, written = entry, written | more
        here, more = self.uses(otherwise, jumps, node.subject)
        return here, written | more


_METHODS = trees.visitors(_Builder)


_SUSPENDS = (gast.Yield, gast.YieldFrom, gast.Await)
_MAY_CALL = (gast.Call, gast.Attribute, gast.BinOp, gast.Compare, gast.Subscript, *_SUSPENDS)


def _may_call(nodes: Sequence[gast.AST | None]) -> bool:
    """Whether evaluating `nodes` may run other code of the user's."""
    return any(isinstance(n, _MAY_CALL) for n in scope.walk_own(*[n for n in nodes if n is not None]))
