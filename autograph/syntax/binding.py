"""Definite assignment: marks the reads of local variables that may be unbound.

While a backend traces, a variable may hold a proxy and so be bound in Python, although it is unbound in the program.
Only the backend knows. `mark` finds the reads that may be of such variables, and `inline.py` compiles a question to the
backend into them.

A variable is definitely bound at a step if it is bound on all paths to that step. An inner function runs at any time
after it is made. So a variable is definitely bound in an inner function if it is when the function is made, and nothing
ever deletes it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import gast

from autograph.syntax import cfg, scope, trees

_IN_PLACE = sys.version_info >= (3, 12)  # comprehensions are part of the function around them
_PATTERNS = (gast.MatchValue, gast.MatchClass, gast.MatchMapping)


def mark(function: gast.AST, own: scope.Uses, graph: cfg.Graph, live: list[int]) -> None:
    """Set `unbound` on names that may be read while they are unbound: to "local", or to "free" for a free variable.

    Args:
        own: the uses of names in the function's body.
        live: the names that are live before each step of `graph`.
    """
    parameters = graph.bits(scope.parameters(function))
    captured = graph.bits(own.captured)
    deleted = deleted_by_inner = graph.bits(n for n in own.deletes if n in own.rebound)  # at unknown times
    maybe_unbound = deleted_by_inner | (live[graph.entry] | captured) & ~parameters
    for step in graph.steps:
        if step.unbinds:
            deleted |= step.unbinds
            maybe_unbound |= step.unbinds & (captured | cfg.union(live[successor] for successor in step.successors))
    maybe_unbound &= graph.bits(own.writes) & ~graph.bits([*own.globals, *own.nonlocals])
    if maybe_unbound:
        for step, before, after in _reachable_steps(graph, parameters):
            now, later = maybe_unbound & ~(before & ~deleted_by_inner), maybe_unbound & ~(after & ~deleted)
            if step.reads & now or step.captures & later:
                _Marker(set(graph.listed(now)), set(graph.listed(later))).visit(step.nodes)


def _reachable_steps(graph: cfg.Graph, parameters: int) -> Iterator[tuple[cfg.Step, int, int]]:
    """Yield each reachable step, with the names that are definitely bound before and after it."""
    bound = {graph.entry: parameters}
    changed = True
    while changed:
        changed = False
        for i in reversed(range(len(graph.steps))):
            if i in bound:
                step, before = graph.steps[i], bound[i]
                after = _bound_after(step, before)
                edges = [(successor, after) for successor in step.successors]
                edges += [(handler, before & after) for handler in step.handlers]
                for target, here in edges:
                    now = bound.get(target, here) & here
                    changed |= now != bound.get(target)
                    bound[target] = now
    for i, before in bound.items():
        yield graph.steps[i], before, _bound_after(graph.steps[i], before)


def _bound_after(step: cfg.Step, before: int) -> int:
    return (before | step.writes) & ~step.unbinds


class _Marker:
    """Marks the reads of one step.

    Attributes:
        now: the names that may be unbound when the step runs.
        later: the names that may be unbound when functions run that the step makes.
    """

    def __init__(self, now: set[str], later: set[str]) -> None:
        self.now = now
        self.later = later

    def visit(self, nodes: Iterable[Any], kind: str = "local") -> None:
        for node in nodes:
            if isinstance(node, gast.Name):
                if node.id in self.now and not isinstance(node.ctx, gast.Store):
                    node.unbound = kind
            elif isinstance(node, scope.FUNCTIONS):
                self._function(node, kind)
            elif isinstance(node, scope.COMPREHENSIONS):
                self._comprehension(node, kind)
            elif not isinstance(node, _PATTERNS):
                if isinstance(node, gast.AugAssign) and getattr(node.target, "id", None) in self.now:
                    node.target.unbound = kind
                self.visit(trees.children(node), "free" if isinstance(node, gast.ClassDef) else kind)

    def _function(self, node: Any, kind: str) -> None:
        self.visit(scope.outer_parts(node) if hasattr(node, "decorator_list") else scope.defaults(node), kind)
        inside = scope.inner(node)
        own = {*scope.parameters(node), *inside.writes, *inside.globals} - inside.nonlocals.keys()
        later = self.later - own
        if later:
            _Marker(later, later).visit(node.body if isinstance(node.body, list) else [node.body], "free")

    def _comprehension(self, node: Any, kind: str) -> None:
        self.visit([node.generators[0].iter], kind)
        own = scope.targets(node).keys()
        is_late = isinstance(node, gast.GeneratorExp)
        inner = _Marker((self.later if is_late else self.now) - own, self.later - own)
        inside = kind if _IN_PLACE and not is_late else "free"
        inner.visit(scope.inner_parts(node), inside)
