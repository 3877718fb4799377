"""Induction variables: carried values that an iteration changes by a small number, by halving, or linearly.

If an iteration changes an integer by at most a constant, not every iteration has to check for overflow. A counted loop
checks before its iterations; a `while` checks when it begins and where it polls for signals, since the number of
iterations in between is limited.
"""

from __future__ import annotations

from typing import Any

from autograph.runtime.engines.native.analysis.structure import Structure
from autograph.runtime.graph.graph import Node, Value, walk
from autograph.runtime.graph.traits import ADDITION, ARITHMETIC, COMMUTATIVE, LOOP, RING, SHORTENS, plain
from autograph.runtime.graph.types import INT

NODES = 200         # of a body, at most
START = 2**61       # the largest initial value of a sum
CHANGE = 2**40      # the largest change in an iteration


def counted_in(structure: Structure) -> dict[Node, dict[Value, set[Value]]]:
    """For each `while` the parameters of its test that iterations add to, and the sums computed of each."""
    nodes = [structure.root, *(each for block in structure.root.blocks for each in walk(block))]
    return {each: _counted_by(structure, each) for each in nodes if each.op == "while"}


def _counted_by(structure: Structure, node: Node) -> dict[Value, set[Value]]:
    if not _is_innermost(node):     # other loops poll, too
        return {}
    carried = zip(*(block.params for block in node.blocks), results_of(node))
    sums = {param: sums_of(structure, other, result) for param, other, result in carried if param.type == INT}
    return {param: found for param, found in sums.items() if found}


def sums_of(structure: Structure, param: Value, result: Any) -> set[Value]:
    """The values computed of a parameter by adding small numbers, if the next iteration gets one of these."""
    sums: dict[Value, int | None] = {}

    def changed(value: Any) -> int | None:
        """The largest difference of a value from the parameter, if it is a sum of that and small numbers."""
        if value is param:
            return 0
        if not isinstance(value, Value) or value.node is None:
            return None
        if value not in sums:
            node, sums[value] = value.node, None
            if plain(node.op) in ADDITION and len(node.args) == 2:
                sums[value] = added(*node.args)
                if sums[value] is None and plain(node.op) in COMMUTATIVE:
                    sums[value] = added(*node.args[::-1])
            elif node.op == "if":
                place = node.outputs.index(value)
                changes = [changed(block.results[place]) for block in node.blocks if block.results is not None]
                sums[value] = None if None in changes or not changes else max(changes)  # type: ignore[type-var]
        return sums[value]

    def added(to: Any, by: Any) -> int | None:
        """The same of a sum or difference."""
        span = structure.range_of(by) if isinstance(by, Value) else (by, by)
        if not _is_integer(by) or max(map(abs, span)) > CHANGE:
            return None
        change = changed(to)
        return None if change is None else change + int(max(map(abs, span)))

    change = changed(result)
    return {value for value, by in sums.items() if by is not None} if change and change <= CHANGE else set()


def results_of(node: Node) -> tuple[Any, ...]:
    """The values that an iteration of a loop passes to the next."""
    results = node.blocks[-1].results or ()
    return results[bool(node.kwargs.get("until")) :]


def _is_innermost(node: Node) -> bool:
    """Whether a loop contains no loop, and is short."""
    inner = [each for block in node.blocks for each in walk(block)]
    return len(inner) <= NODES and not any(each.op in LOOP for each in inner)


def _is_integer(arg: Any) -> bool:
    return arg.type == INT if isinstance(arg, Value) else type(arg) is int


# Halving --------------------------------------------------------------------------------------------------------------


def ends_soon(node: Node, structure: Structure) -> bool:
    """Whether a `while` has at most 64 iterations, since each halves a number until it is zero."""
    if not _is_innermost(node):
        return False
    body = node.blocks[1]
    return any(
        param.type == INT and structure.range_of(param, body)[0] > 0 and _is_halved(result, param)
        for param, result in zip(body.params, results_of(node))
    )


def _is_halved(value: Any, of: Value) -> bool:
    """Whether a number has fewer bits than `of`, which is positive."""
    if not isinstance(value, Value) or value.node is None:
        return False
    node = value.node
    if node.op == "if":
        place = node.outputs.index(value)
        return all(block.results is not None and _is_halved(block.results[place], of) for block in node.blocks)
    rule = SHORTENS.get(plain(node.op))
    return rule is not None and rule(node.args, of)


# Sums and products ----------------------------------------------------------------------------------------------------


def recurrences(node: Node) -> list[Value]:
    """The carried parameters of a `for` that an iteration only adds to or multiplies.

    Once such a float is infinite or NaN, it stays so.
    """
    pairs = zip(node.blocks[0].params[1:], results_of(node))
    return [param for param, result in pairs if result is not param and _comes_of(result, param, {})]


def _comes_of(value: Any, param: Value, known: dict[Value, bool]) -> bool:
    """Whether a value is a parameter, or computed of it by sums and products."""
    if value is param or not isinstance(value, Value) or value.node is None or not is_linear(value.node):
        return value is param
    if value not in known:
        known[value] = any(_comes_of(arg, param, known) for arg in value.node.args)
    return known[value]


def is_linear(node: Node) -> bool:
    """Whether a node adds, subtracts or multiplies two numbers: its result is finite only if both are."""
    op = plain(node.op)
    return op in RING and op in ARITHMETIC
