"""A block under construction: its statements so far, and the values that wait to be nested or assigned."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from autograph.runtime.engines.numpy.plan import Body, Compute, Plan
from autograph.runtime.engines.numpy.uses import Uses, is_free, is_part, width, width_of
from autograph.runtime.graph.effects import effect_of
from autograph.runtime.graph.graph import Node, Value, values_in
from autograph.runtime.graph.opdef import PURE, VIEW
from autograph.runtime.passes.buffer_reuse import is_worthwhile

WIDTH = 92  # of a line, roughly, in characters
DEPTH = 20
LONG = 4    # times as long lines may be for large arrays


class Cost(NamedTuple):
    """The size and effects of an expression.

    Attributes:
        width: the number of its characters, roughly.
        depth: of its tree.
        free: whether it does not matter when it runs.
        quiet: whether it changes nothing, and running it is invisible, if it does not raise or warn.
    """

    width: int = 0
    depth: int = 0
    free: bool = True
    quiet: bool = True


class Frame:
    """One block.

    Attributes:
        statements: so far.
        waiting: the values that have not been assigned to variables, the topmost last.
        closed: whether the branches of its last `if` hold the end of the block.
    """

    def __init__(self, uses: Uses, plan: Plan, depth: int) -> None:
        self._uses = uses
        self._plan = plan
        self.depth = depth
        self.statements: Body = []
        self.waiting: dict[Value, Cost] = {}
        self._loud = 0  # how many of these are not quiet
        self.closed = False

    def add(self, node: Node, nested: Cost) -> None:
        """Add the results of a node; `nested` is the cost of its nested arguments."""
        free = nested.free and is_free(node)
        quiet = nested.quiet and effect_of(node).kind in (PURE, VIEW)
        self.put(node, node.outputs, Cost(width(node) + nested.width, nested.depth + 1, free, quiet))

    def put(self, node: Node, outputs: list[Value], cost: Cost) -> None:
        """Let a value wait if it is used once, else assign it to a variable."""
        used = self._uses.count
        if len(outputs) == 1 and used[outputs[0]] == 1 and outputs[0] not in self._uses.shared:
            self.waiting[outputs[0]] = cost
            self._loud += not cost.quiet
            return
        if not cost.free and not self._may_come_first(node, cost):
            self.flush()
        if not cost.free or any(used[value] for value in outputs):
            self.statements.append(Compute(node, outputs))

    def _may_come_first(self, node: Node, cost: Cost) -> bool:
        """Whether a node may run before the waiting values: it takes a part of an array.

        So these can be nested later: NumPy reuses the memory of intermediate results of an expression, but not of
        variables.
        """
        return cost.depth == 1 and is_part(node) and not self._loud

    def take(
        self, args: Any, nests: Callable[[Value], bool] | None = None, whole: bool = False
    ) -> Cost:
        """Nest the waiting values of some arguments, as far as possible, and assign the others to variables.

        Args:
            nests: whether a value may be nested here at all.
            whole: whether the expression is all that is assigned to a variable, to which the user gave the name.

        Returns:
            The cost of the nested values.
        """
        places: dict[Value, int] = {}
        for number, value in enumerate(map(self._uses.of, values_in(args))):
            places[value] = -1 if value in places else number       # a value that is used twice is not nested
        wanted = [value for value in places if value in self.waiting]
        if not wanted:
            return Cost()
        nested, cost = self._fitting(self._in_order(places, nests, whole), width_of(args))
        if len(wanted) > len(nested):
            self.flush(up_to=set(wanted).difference(nested))
        for value in nested:
            self._release(value)
        self._plan.nested.update(nested)
        return cost

    def _in_order(
        self, places: dict[Value, int], nests: Callable[[Value], bool] | None, whole: bool
    ) -> list[Value]:
        """The nodes that can be nested without changing the order of evaluation, the topmost first."""
        nested: list[Value] = []
        limit: float = math.inf
        for value, cost in reversed(self.waiting.items()):
            place = places.get(value)
            if place is None and cost.free:
                continue
            if place is None or place < 0 or (value.name and not whole) or (nests and not nests(value)):
                break
            if not cost.free:
                if place > limit:
                    break
                limit = place
            nested.append(value)
        return nested

    def _fitting(self, values: list[Value], around: int) -> tuple[list[Value], Cost]:
        """As many of some values as fit into a line; it is longer for large arrays, whose memory NumPy reuses."""
        room = max(WIDTH - 4 * self.depth, WIDTH // 2) - around
        nested: list[Value] = []
        wide, deep, free, quiet = 0, 0, True, True
        for value in values:
            cost = self.waiting[value]
            most = LONG * room if is_worthwhile(value) else room
            if wide + cost.width > most or cost.depth > DEPTH:
                break
            nested.append(value)
            wide, deep = wide + cost.width - len(value.name or "t1"), max(deep, cost.depth)
            free, quiet = free and cost.free, quiet and cost.quiet
        return nested, Cost(wide, deep, free, quiet)

    def flush(self, up_to: set[Value] | None = None) -> None:
        """Assign the waiting values to variables; all, or up to the last of `up_to`."""
        values = list(self.waiting)
        if up_to is not None:
            while values[-1] not in up_to:
                values.pop()
        for value in values:
            self._release(value)
            assert value.node is not None
            self.statements.append(Compute(value.node, [value]))

    def _release(self, value: Value) -> None:
        """Remove a value from those that wait."""
        self._loud -= not self.waiting.pop(value).quiet
