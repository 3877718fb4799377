"""Liveness: the live ranges of the values of a plan.

Statements are numbered in the order of the text. A value lives from where it is computed to where it is read last; a
value from outside of a loop that is read inside lives as long as the loop. The branches of an `if` have numbers one
after the other, though only one runs: a value that only the second one reads has a hole where the first is. So a value
lives in spans, from one number up to, but not including, another.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from autograph.runtime.engines.numpy import plan as plans
from autograph.runtime.engines.numpy.plan import Body, Plan, operands
from autograph.runtime.graph.graph import Value
from autograph.runtime.graph.traits import MAKES_OBJECTS

Span: TypeAlias = tuple[int, int]


@dataclass(slots=True, eq=False)
class Region:
    """The statements of a block.

    Attributes:
        entry: the number of the statement around it, where it reads the condition.
        loop: whether it runs again and again.
        end: the number of its last statement; for both blocks of a loop, that of the loop.
    """

    outer: Region | None
    entry: int
    loop: bool
    start: int
    end: int = 0


@dataclass(slots=True, eq=False)
class Affinity:
    """Two values that should share a variable, so that no copy is needed.

    Attributes:
        depth: the number of loops around.
    """

    depth: int
    first: Value
    second: Value


@dataclass(slots=True, eq=False)
class Liveness:
    """The live ranges of all values in variables, and the pairs that should share a variable.

    Attributes:
        extents: for each statement, its block, and the numbers of it and of the last statement inside.
        homes: for each value, the block and the number of the statement that computes it.
    """

    plan: Plan
    affinities: list[Affinity] = field(default_factory=list)
    used: set[Value] = field(default_factory=set)
    extents: dict[plans.Statement, tuple[Region, int, int]] = field(default_factory=dict)
    homes: dict[Value, tuple[Region, int]] = field(default_factory=dict)
    _time: int = 0
    _depth: int = 0
    _ends: dict[Value, int] = field(default_factory=dict)
    _reach: dict[Value, dict[Region, int]] = field(default_factory=dict)
    _held: dict[Value, list[Span]] = field(default_factory=dict)
    _lasting: list[tuple[Region, list[Value]]] = field(default_factory=list)

    _joined: set[Value] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._joined.update(variable for _, variable in self.plan.joins)    # they are set by copies only
        root = Region(None, 0, False, 0)
        self._define(self.plan.params, root, 0)
        self._walk(self.plan.body, root)
        for region, targets in self._lasting:
            for value in targets:
                self._ends[value] = max(region.end, self._ends.get(value, 0))

    def spans(self) -> dict[Value, list[Span]]:
        """The spans of each value, in the order of the values' definitions."""
        found: dict[Value, list[Span]] = {}
        for value, (_, start) in self.homes.items():
            end = self._ends.get(value, 0 if value in self._joined else start + 1)
            spans = [*self._held.get(value, ())]
            if end > start:
                spans.append((start, end))
            for region, last in self._reach.get(value, {}).items():
                spans.append((region.entry, region.end) if region.loop else (region.start, last))
            found[value] = spans
        return found

    def last_uses(self) -> dict[tuple[Region, int], list[Value]]:
        """The values by the place where they are read last: their block, and the number of the statement in it."""
        found: dict[tuple[Region, int], list[Value]] = {}
        for value, end in self._ends.items():
            found.setdefault((self.homes[value][0], end), []).append(value)
        return found

    # Events -----------------------------------------------------------------------------------------------------------

    def _tick(self) -> int:
        self._time += 2
        return self._time

    def _define(self, values: Iterable[Value], region: Region, time: int) -> None:
        for value in values:
            self.homes[value] = (region, time)

    def _use(self, args: Any, region: Region, time: int, renamed: dict[Value, Value] | None = None) -> None:
        for value in self.plan.variables_in(args):
            self._use_value(renamed.get(value, value) if renamed else value, region, time)

    def _use_value(self, value: Value, region: Region, time: int) -> None:
        self.used.add(value)
        home = self.homes[value][0]
        if region is not home:
            reached = self._reach.setdefault(value, {})
            while region is not home:
                is_done = region in reached
                reached[region] = max(time, reached.get(region, 0))
                if is_done:
                    return
                time = region.entry
                assert region.outer is not None
                region = region.outer
        self._ends[value] = max(time, self._ends.get(value, 0))

    # Statements -------------------------------------------------------------------------------------------------------

    def _walk(self, body: Body, region: Region) -> None:
        for statement in body:
            self._visit(statement, region)

    def _visit(self, statement: plans.Statement, region: Region) -> None:
        name = sys.intern(f"_visit_{type(statement).__name__}")     # Python caches look-ups, with the names
        time = self._tick()
        getattr(self, name)(statement, region, time)
        self.extents[statement] = region, time, self._time

    def _visit_Compute(self, statement: plans.Compute, region: Region, time: int) -> None:
        if statement.node.op in MAKES_OBJECTS:
            self._define(statement.outputs, region, time)
            time = self._tick()     # the attributes are set after the variable
            self._extend(statement.outputs, time)
        self._use(self.plan.parts(statement.node), region, time)
        if statement.node.op not in MAKES_OBJECTS:
            self._define(statement.outputs, region, time)
        if "out" in statement.node.kwargs and len(statement.outputs) == 1:
            self._prefer(statement.outputs[0], statement.node.kwargs["out"])

    def _extend(self, values: Iterable[Value], time: int) -> None:
        """Let variables live that are set, and then read within the same statement."""
        self.used.update(values)
        for value in values:
            self._ends[value] = max(time, self._ends.get(value, 0))

    def _visit_Copy(self, statement: plans.Copy, region: Region, time: int) -> None:
        self._use(statement.sources, region, time)
        self._define(statement.targets, region, time)
        if statement.lasting:
            self._lasting.append((region, statement.targets))
        for target, source in zip(statement.targets, statement.sources):
            self._prefer(target, source)

    def _visit_Break(self, statement: plans.Break, region: Region, time: int) -> None:
        self._use(statement.condition, region, time, statement.renamed)

    def _visit_Return(self, statement: plans.Return, region: Region, time: int) -> None:
        self._use(statement.result, region, time)

    def _visit_Update(self, statement: plans.Update, region: Region, time: int) -> None:
        node = statement.node
        if statement.item is not None:
            self._use((operands(statement.item), node.args[1:]), region, time)
            return
        self._use(node.args[0], region, time)
        self._define(statement.outputs, region, time)
        time = self._tick()     # `v` of `x += v` is read after the variable has been set to `x`
        self._use(node.args[1:], region, time)
        self._extend(statement.outputs, time)
        for value in statement.outputs:
            self._prefer(value, node.args[0])

    def _prefer(self, first: Value, second: Any) -> None:
        if isinstance(second, Value):
            second = self.plan.aliases.get(second, second)
            if second not in self.plan.nested:
                self.affinities.append(Affinity(self._depth, first, second))

    def _visit_If(self, statement: plans.If, region: Region, time: int) -> None:
        self._use(statement.test, region, time)
        for body in (statement.then, statement.orelse):
            branch = Region(region, time, False, self._tick())
            self._walk(body, branch)
            branch.end = self._tick()
        self._define([value for value in statement.node.outputs if value in self._joined], region, self._tick())

    def _visit_Loop(self, statement: plans.Loop, region: Region, time: int) -> None:
        for init, *_ in statement.carried:
            self._use_value(init, region, time)
        self._use(statement.iterable, region, time, statement.renamed)
        self._depth += 1
        test = Region(region, time, True, self._tick())
        self._define([group[1] for group in statement.carried if len(group) > 3], test, test.start)
        self._walk(statement.before, test)
        self._use(statement.condition, test, self._tick())
        body = Region(region, time, True, self._tick())
        self._define(statement.items, body, body.start)
        self._define([group[-2] for group in statement.carried], body, body.start)
        self._walk(statement.body, body)
        self._depth -= 1
        test.end = body.end = self._tick()
        for init, *_, out in statement.carried:
            self._held[init] = [(time, body.start)]
            self._define([out], region, body.end)
