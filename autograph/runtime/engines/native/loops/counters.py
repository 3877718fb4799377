"""What loops count, so that it need not be looked at in each iteration whether it overflows.

What an iteration changes by no more than a constant is looked at now and then: before the iterations of a counted loop;
and when a `while` begins and where it looks at signals, for there are only so many iterations in between.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from autograph.common import forking
from autograph.runtime.engines.native.analysis.structure import Point
from autograph.runtime.engines.native.loops.block_versions import Versions
from autograph.runtime.graph.graph import Node, Value, walk
from autograph.runtime.graph.operands import Number
from autograph.runtime.graph.traits import ADDITION, COMMUTATIVE, LOOP, SHORTENS, plain
from autograph.runtime.graph.types import INT

NODES = 200                     # of a body, at most
START, CHANGE = 2**61, 2**40    # a sum begins within this, and changes by no more in an iteration


class Counting(Versions):
    """Knows what is counted, and which loops end soon."""

    def _find_sums(self, node: Node, items: int) -> set[Value]:
        """Find what is counted by a `for`. Before the iterations it is made sure that it does not overflow."""
        found = set[Value]()
        for param, result in zip(node.blocks[0].params[items:], results_of(node)):
            begin = self._state.env[param]
            if isinstance(begin, Number) and begin.type.dtype.char == INT.dtype.char:
                if sums := self._sums_of(param, result):
                    self.emit.leave_if_far(self._fetch(param), START)
                    found |= sums
        return found

    @forking.cached_property
    def _counted(self) -> dict[Node, dict[Value, set[Value]]]:
        """For each `while` what it counts: the parameters of its test, and the sums that come of each."""
        root = self.structure.root
        nodes = [root, *(each for block in root.blocks for each in walk(block))]
        return {each: self._counts(each) for each in nodes if each.op == "while"}

    @forking.cached_property
    def _sums(self) -> set[Value]:
        return {value for counts in self._counted.values() for sums in counts.values() for value in sums}

    def _counts(self, node: Node) -> dict[Value, set[Value]]:
        if not _is_innermost(node):     # other loops look at signals, too
            return {}
        carried = zip(*(block.params for block in node.blocks), results_of(node))
        sums = {param: self._sums_of(other, result) for param, other, result in carried if param.type == INT}
        return {param: found for param, found in sums.items() if found}

    def _begin_counting(self, node: Node) -> None:
        """When a `while` begins, leave if what it counts is large."""
        if self._counted[node]:
            self._leave_from(Point(node.blocks[0], 0))
            for param in self._counted[node]:
                self.emit.leave_if_far(self._fetch(param), START)

    def _look(self, node: Node) -> None:
        """Look at signals in an iteration of a `while`."""
        if not self._ends_soon(node):
            counts = partial(self._go_on_counting, node) if self._counted[node] else None
            self.emit.poll("1", self._stop, self._heads[node], counts)

    def _go_on_counting(self, node: Node) -> None:
        """Leave if what it counts is large, where it looks at signals."""
        state = self._state.copy()
        self._begin_counting(node)
        self._state = state

    def _sums_of(self, param: Value, result: Any) -> set[Value]:
        """What is computed of a parameter by adding what is small, if an iteration does nothing else with it."""
        sums: dict[Value, int | None] = {}
        change = self._change(result, param, sums)
        return {value for value, by in sums.items() if by is not None} if change and change <= CHANGE else set()

    def _change(self, value: Any, param: Value, sums: dict[Value, int | None]) -> int | None:
        """By how much at most a value differs from a parameter, if it is a sum of that and small numbers."""
        if value is param:
            return 0
        if not isinstance(value, Value) or value.node is None:
            return None
        if value not in sums:
            node, sums[value] = value.node, None
            if plain(node.op) in ADDITION and len(node.args) == 2:
                sums[value] = self._added(node.args[0], node.args[1], param, sums)
                if sums[value] is None and plain(node.op) in COMMUTATIVE:
                    sums[value] = self._added(node.args[1], node.args[0], param, sums)
            elif node.op == "if":
                place = node.outputs.index(value)
                ends = [block.results[place] for block in node.blocks if block.results is not None]
                changes = [self._change(end, param, sums) for end in ends]
                sums[value] = None if None in changes or not changes else max(changes)  # type: ignore[type-var]
        return sums[value]

    def _added(self, to: Any, by: Any, param: Value, sums: dict[Value, int | None]) -> int | None:
        """The same of a sum or difference."""
        span = self.structure.span(by) if isinstance(by, Value) else (by, by)
        if not _is_integer(by) or max(map(abs, span)) > CHANGE:
            return None
        change = self._change(to, param, sums)
        return None if change is None else change + int(max(map(abs, span)))

    def _ends_soon(self, node: Node) -> bool:
        """Whether a `while` has at most as many iterations as an integer has bits: each halves a number, up to zero."""
        if not _is_innermost(node):
            return False
        body = node.blocks[1]
        return any(
            param.type == INT and self.structure.span(param, body)[0] > 0 and _is_halved(result, param)
            for param, result in zip(body.params, results_of(node))
        )


def results_of(node: Node) -> tuple[Any, ...]:
    """What an iteration of a loop carries into the next."""
    results = node.blocks[-1].results or ()
    return results[bool(node.kwargs.get("until")) :]


def _is_innermost(node: Node) -> bool:
    """Whether there is no loop in a loop, which must be short, too."""
    inner = [each for block in node.blocks for each in walk(block)]
    return len(inner) <= NODES and not any(each.op in LOOP for each in inner)


def _is_integer(arg: Any) -> bool:
    return arg.type == INT if isinstance(arg, Value) else type(arg) is int


def _is_halved(value: Any, of: Value) -> bool:
    """Whether a number, which is positive, has at least a bit less than another."""
    if not isinstance(value, Value) or value.node is None:
        return False
    node = value.node
    if node.op == "if":
        place = node.outputs.index(value)
        return all(block.results is not None and _is_halved(block.results[place], of) for block in node.blocks)
    rule = SHORTENS.get(plain(node.op))
    return rule is not None and rule(node.args, of)
