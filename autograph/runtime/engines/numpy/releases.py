"""Releases: deletes large arrays once they are no longer used.

In the user's program, intermediate results of expressions have no names, and the variables of a function end with its
call; so their memory is free for the next array, which then is in the processor's cache. The generated function has
variables for some intermediate results, and for variables of functions that were traced into:

    def f(x):                               t1 = np.exp(x)
        return norm(np.exp(x)) + …   →      t2 = np.sqrt(np.sum(t1 * t1))
                                            del t1

Variables of the user's function itself live as long as it does, as in the user's program.
"""

from __future__ import annotations

from collections.abc import Iterator

from autograph.runtime.engines.numpy.coalescing import Variables, assigned_name
from autograph.runtime.engines.numpy.line_table import calls
from autograph.runtime.engines.numpy.plan import Body, Break, Delete, If, Loop, Plan, Return, Statement
from autograph.runtime.graph.effects import effect_of
from autograph.runtime.graph.graph import Node, Value, values_in
from autograph.runtime.graph.opdef import VIEW
from autograph.runtime.passes.buffer_reuse import is_worthwhile


def release_arrays(plan: Plan, variables: Variables) -> None:
    """Insert the statements that delete variables into a plan."""
    if any(_is_released(value) for value in variables.liveness.homes):
        _Releases(plan, variables).insert(plan.body, is_whole=True)


class _Releases:
    """Inserts the statements, block by block.

    Attributes:
        set_at: for each variable, the numbers of the statements that set it.
    """

    def __init__(self, plan: Plan, variables: Variables) -> None:
        self._plan = plan
        self._variables, self._liveness = variables, variables.liveness
        self._last_uses = self._liveness.last_uses()
        self._set_at: dict[str, list[int]] = {}
        for value, (_, time) in self._liveness.homes.items():
            self._set_at.setdefault(variables.name(value), []).append(time)

    def insert(self, body: Body, is_whole: bool = False) -> None:
        """Insert statements into a block; `is_whole` for that of the function, after whose end all is released."""
        found: dict[int, list[Value]] = {}
        for number, statement in enumerate(body):
            for inner in _blocks(statement):
                self.insert(inner)
            for value in self._used_last(statement):
                last = number if not assigned_name(value) else _end_of_call(value.node, body, number)
                is_end = is_whole and all(map(self._is_return, body[last + 1 :]))
                if not is_end and self._may_delete(value, body[last]):
                    found.setdefault(last, []).append(value)
        for number in sorted(found, reverse=True):
            body.insert(number + 1, Delete(_node(body[number]), found[number]))

    def _is_return(self, statement: Statement) -> bool:
        """Whether a statement returns values without computing them."""
        return isinstance(statement, Return) and self._plan.nested.isdisjoint(values_in(statement.result))

    def _used_last(self, statement: Statement) -> list[Value]:
        """The arrays that a statement of their own block reads last."""
        if isinstance(statement, (Return, Break)):
            return []
        region, begin, end = self._liveness.extents[statement]
        times = (begin,) if isinstance(statement, (If, Loop)) else dict.fromkeys((begin, end))
        return [each for time in times for each in self._last_uses.get((region, time), ()) if _is_released(each)]

    def _may_delete(self, value: Value, statement: Statement) -> bool:
        """Whether the variable of a value surely holds it after a statement, and for no other use."""
        end, begin = self._liveness.extents[statement][2], self._liveness.homes[value][1]
        is_set = any(begin < time <= end for time in self._set_at[self._variables.name(value)])
        return not is_set and not self._variables.is_live(value, end)


def _is_released(value: Value) -> bool:
    """Whether a value is a large array that the user's program has no variable for as long as the function runs."""
    node = value.node
    if node is None or not is_worthwhile(value):
        return False
    if assigned_name(value) and len(calls(node.place)) < 2:
        return False
    viewed = node.args[0] if effect_of(node).kind == VIEW and node.args else value
    return viewed is value or (isinstance(viewed, Value) and _is_released(viewed))


def _end_of_call(node: Node | None, body: Body, number: int) -> int:
    """The place of the last statement, from one on, of the very call that a node is in."""
    assert node is not None
    around = calls(node.place)[:-1]
    for place in range(number + 1, len(body)):
        statement = body[place]
        within = calls(statement.node.place) if not isinstance(statement, Return) and statement.node is not None else []
        if len(within) <= len(around) or within[: len(around)] != around:
            return place - 1
    return len(body) - 1


def _blocks(statement: Statement) -> Iterator[Body]:
    if isinstance(statement, If):
        yield from (statement.then, statement.orelse)
    elif isinstance(statement, Loop):
        yield from (statement.before, statement.body)


def _node(statement: Statement) -> Node | None:
    return None if isinstance(statement, Return) else statement.node
