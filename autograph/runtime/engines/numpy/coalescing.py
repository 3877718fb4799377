"""Coalescing: chooses the values that share a variable, and names the variables.

A value that a loop carries, or that an `if` returns, is in one variable throughout. Beyond that, two values share a
variable if the user gave both the same name, or if one is copied to the other and they have no two names, unless both
are live at the same time (then they *interfere*).
"""

from __future__ import annotations

import keyword
import re
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable

from autograph.common.bytecode import stored_names
from autograph.runtime.engines.numpy.liveness import Affinity, Liveness, Span
from autograph.runtime.engines.numpy.plan import Plan
from autograph.runtime.graph.graph import Value

UNUSED = "_"
_RECENT = 8     # how many variables of the same name are tried for another value of that name


class Variable:
    """The values that share one variable, and its live range."""

    __slots__ = ("names", "param", "spans", "used")

    def __init__(self, spans: list[Span]) -> None:
        self.spans = spans
        self.names: Counter[str] = Counter()
        self.param: str | None = None
        self.used = False

    @property
    def name(self) -> str:
        """The user's name for it: the most frequent, or the first."""
        if self.param is not None:
            return self.param
        return max(self.names, key=lambda name: self.names[name], default="")

    def interferes(self, other: Variable) -> bool:
        few, many = sorted((self.spans, other.spans), key=len)
        for start, end in few:
            place = bisect_left(many, (end, end))
            if place and many[place - 1][1] > start:
                return True
        return False


class Variables:
    """The variables of a plan.

    Attributes:
        liveness: of the values in them.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._parents: dict[Value, Value] = {}
        self._variables: dict[Value, Variable] = {}
        self.liveness = liveness = Liveness(plan)
        self._begin(liveness)
        for affinity in sorted(liveness.affinities, key=lambda affinity: (-affinity.depth, not self._alike(affinity))):
            if self._alike(affinity) is not False:
                self._try(affinity.first, affinity.second)
        self._share_names()
        self._names = self._name()

    def name(self, value: Value) -> str:
        """The name of the variable of a value."""
        return self._names[self._find(value)]

    def is_used(self, value: Value) -> bool:
        """Whether the variable of a value is ever read."""
        return self._variables[self._find(value)].used

    def is_live(self, value: Value, time: int) -> bool:
        """Whether the variable of a value is read after a statement, before it is set again."""
        return any(start <= time < end for start, end in self._variables[self._find(value)].spans)

    @property
    def names(self) -> set[str]:
        return set(self._names.values())

    # Sharing ----------------------------------------------------------------------------------------------------------

    def _find(self, value: Value) -> Value:
        parents = self._parents
        root = value
        while (parent := parents.get(root)) is not None:
            root = parent
        while value is not root:
            parents[value], value = root, parents[value]
        return root

    def _begin(self, liveness: Liveness) -> None:
        spans = liveness.spans()
        for first, second in self._plan.joins:
            one, other = self._find(first), self._find(second)
            if one is not other:
                self._parents[other] = one
        groups: dict[Value, list[Value]] = {}
        for value in spans:
            groups.setdefault(self._find(value), []).append(value)
        params = {param: param.name for param in self._plan.params}
        for root, values in groups.items():
            variable = Variable(_union(span for value in values for span in spans[value]))
            variable.names.update(filter(None, (usable(assigned_name(value)) for value in values)))
            variable.used = any(value in liveness.used for value in values)
            if root in params:
                variable.param = usable(params[root])
            self._variables[root] = variable

    def _alike(self, affinity: Affinity) -> bool | None:
        """Whether the user gave both values the same name; None if one has none."""
        first, second = (self._variables[self._find(value)].name for value in (affinity.first, affinity.second))
        return first == second if first and second else None

    def _try(self, first: Value, second: Value) -> bool:
        one, other = self._find(first), self._find(second)
        if one is other:
            return True
        if self._variables[one].interferes(self._variables[other]):
            return False
        if len(self._variables[one].spans) < len(self._variables[other].spans):
            one, other = other, one
        self._parents[other] = one
        merged, added = self._variables[one], self._variables.pop(other)
        for span in added.spans:
            insort(merged.spans, span)
        merged.names.update(added.names)
        merged.param = merged.param if merged.param is not None else added.param
        merged.used |= added.used
        return True

    def _share_names(self) -> None:
        named: dict[str, list[Value]] = {}
        for root, variable in sorted(self._variables.items(), key=lambda item: item[1].spans[0]):
            if not variable.name:
                continue
            recent = named.setdefault(variable.name, [])
            if not any(self._try(each, root) for each in reversed(recent[-_RECENT:])):
                recent.append(root)

    # Names ------------------------------------------------------------------------------------------------------------

    def _name(self) -> dict[Value, str]:
        params = {variable.param: root for root, variable in [*self._variables.items()][::-1] if variable.param}
        names = {root: param for param, root in params.items() if param is not None}
        used, wanted = {*names.values()}, {variable.name for variable in self._variables.values()}
        versions: Counter[str] = Counter()
        for root, variable in sorted(self._variables.items(), key=lambda item: item[1].spans[0]):
            if root in names:
                continue
            name = variable.name
            if not name and not variable.used and variable.param is None:
                names[root] = UNUSED
                continue
            if not name or name in used:
                pattern, base = (f"{name}_%d", name) if name else ("t%d", "t")
                while not name or name in used or name in wanted:
                    versions[base] += 1
                    name = pattern % versions[base]
            names[root] = name
            used.add(name)
        return names


def _union(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def assigned_name(value: Value) -> str:
    """The user's name for a value: that of the variable in which the next instruction stores it, if any."""
    if value.name or value.node is None or not value.node.place or len(value.node.outputs) != 1:
        return value.name
    code, instruction = value.node.place[-1]
    names = stored_names(code).get(instruction, ())
    return names[0] if len(names) == 1 else ""


def usable(name: str) -> str:
    """An identifier for a user's name, such as `x_0` for `x[0]`; "" if there is none."""
    name = re.sub(r"\W+", "_", name).strip("_") if not name.isidentifier() else name
    return name if is_usable(name) else ""


def is_usable(name: str) -> bool:
    """Whether a variable may have this name."""
    return name.isidentifier() and not keyword.iskeyword(name) and not (name.startswith("__") and name.endswith("__"))
