"""Range analysis of the Python integers of a loop, over its graph.

Python's integers are exact, so a range holds on all paths, also after a side exit. This is abstract interpretation over
intervals: the analysis visits the loop until nothing changes. The range of a carried value joins those of its initial
value and of the results of iterations. A bound that keeps moving is widened to infinity, and narrowed once the others
are known. A block that runs under a condition uses it: `x > 0` narrows `x`. (See Cousot and Cousot, "Abstract
interpretation", 1977.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any

from autograph.runtime.graph import traits
from autograph.runtime.graph.graph import Block, Node, Value, walk
from autograph.runtime.graph.types import BOOL, INT, TensorType
from autograph.runtime.ops.native.intervals import ANY, Rule, Span, interval, join, meet

NODES = 2_000       # of a loop that is analyzed, at most
SWEEPS = 16         # after which the analysis gives up
DEPTH = 8           # operations that a query outside of the loop follows, at most
WIDE, NARROW = 1, 2     # sweeps before widening, and of narrowing
_STOPS = -inf, -1, 0    # thresholds of widening for lower bounds


class RangeAnalysis:
    """The ranges of the integers of a loop.

    Args:
        known: the ranges of values from outside; of an iterator, that of its items.
    """

    def __init__(self, root: Node, known: Mapping[Value, Span]) -> None:
        self._ranges: dict[Value, Span] = dict(known)
        self._under: dict[Block, dict[Value, Span]] = {}
        self._scopes: list[dict[Value, Span]] = []
        self._nodes: dict[Block, list[tuple[Node, Rule | None]]] = {}
        self._moved = True
        self._widens = self._narrows = False
        short = sum(1 for block in root.blocks for _ in walk(block)) <= NODES
        for sweep in range(SWEEPS if short else 0):
            if not self._moved:
                break
            self._moved, self._widens = False, sweep >= WIDE
            self._node(root)
        if self._moved:
            self._ranges, self._under = {}, {}
            return
        self._narrows = True
        for _ in range(NARROW):
            self._node(root)

    def of(self, value: Value, blocks: Sequence[Block]) -> Span:
        """The range of a value in the innermost of some nested blocks."""
        found = self._ranges.get(value, ANY)
        for block in blocks:
            found = meet(found, self._under.get(block, {}).get(value, ANY))
        return found

    def _get(self, arg: Any) -> Span:
        if type(arg) is int or type(arg) is bool:
            return interval(arg, arg)
        if not _is_integer(arg):
            return ANY
        found = self._ranges.get(arg, ANY)
        for scope in self._scopes:
            if arg in scope:
                found = meet(found, scope[arg])
        return meet(found, (0, 1)) if arg.type == BOOL else found

    # Sweeps -----------------------------------------------------------------------------------------------------------

    def _block(self, block: Block, under: dict[Value, Span] | None) -> list[Span] | None:
        """Visit a block that runs under conditions. Returns the ranges of its results; None if it does not end."""
        if under is None:
            return None
        self._under[block] = under
        self._scopes.append(under)
        ends = all(self._node(*each) for each in self._nodes_of(block)) and block.results is not None
        found = list(map(self._get, block.results)) if ends and block.results is not None else None
        self._scopes.pop()
        return found

    def _nodes_of(self, block: Block) -> list[tuple[Node, Rule | None]]:
        """The nodes with blocks or a rule, and their rules."""
        if block not in self._nodes:
            rules = ((node, None if node.blocks else _rule_of(node)) for node in block.nodes)
            self._nodes[block] = [each for each in rules if each[0].blocks or each[1] is not None]
        return self._nodes[block]

    def _node(self, node: Node, rule: Rule | None = None) -> bool:
        """Visit a node. Returns whether the code behind it is reachable."""
        if node.op == "if":
            return self._if(node)
        if node.op in traits.LOOP:
            self._loop(node)
        elif rule is not None:
            self._ranges[node.outputs[0]] = rule(*map(self._get, node.args))
        return True

    def _if(self, node: Node) -> bool:
        under = (self._narrowed_by(node.args[0], holds) for holds in (True, False))
        found = [end for end in map(self._block, node.blocks, under) if end is not None]
        for value, *spans in zip(node.outputs, *found) if found else ():
            self._ranges[value] = join(*spans)
        return bool(found)

    def _loop(self, node: Node) -> None:
        first, body, until = node.blocks[0], node.blocks[-1], bool(node.kwargs.get("until"))
        inits = node.args[len(node.args) - len(node.outputs) :]
        carried, inner = (block.params[len(block.params) - len(inits) :] for block in (first, body))
        begin = list(map(self._get, inits))
        if not self._narrows:
            for param, span in zip(carried, begin):
                self._join(param, span)
        under: dict[Value, Span] | None = {}
        flag = None
        if node.op == "while":
            ended = self._block(first, {})
            test = None if ended is None else (first.results or (None,))[0]
            flag = carried.index(test) if test in carried else None
            under = None if ended is None else self._loop_condition(test, carried, inner, inits, flag)
        elif len(first.params) > len(carried):
            self._ranges[first.params[0]] = self._items(node.args[0])
        results = self._block(body, under)
        rest = (body.results or ())[until:]
        for place, param in enumerate(carried):
            self._join(param, begin[place], *([] if results is None else [results[until:][place]]))
            self._ranges[node.outputs[place]] = self._ranges[param]
        if flag is not None and under is not None:
            again = [self._carried_ranges({}, inits, flag)]
            again += [] if results is None else [self._carried_ranges(under, rest, flag)]
            for place, param in enumerate(inner):
                self._join(param, *(each[place] for each in again if each is not None))
        if node.op == "while" and not until:
            known = self._narrowed_by((first.results or (None,))[0], False) or {}
            for param, value in zip(carried, node.outputs):
                self._ranges[value] = meet(self._ranges[param], known.get(param, ANY))

    def _loop_condition(
        self, test: Any, carried: list[Value], inner: list[Value], inits: Sequence[Any], flag: int | None
    ) -> dict[Value, Span] | None:
        """The conditions under which a `while` has another iteration; None if it never has."""
        if flag is None:
            self._ranges.update((other, self._ranges[param]) for param, other in zip(carried, inner))
        elif not self._narrows:
            begin = self._carried_ranges({}, inits, flag)
            for place, other in enumerate(inner):
                if begin is not None:
                    self._join(other, begin[place])
        narrowed = self._narrowed_by(test, True)
        if narrowed is None or not all(other in self._ranges for other in inner):
            return None
        return narrowed | {other: narrowed[param] for param, other in zip(carried, inner) if param in narrowed}

    def _carried_ranges(self, under: dict[Value, Span], args: Sequence[Any], flag: int) -> list[Span] | None:
        """The carried ranges of an iteration whose condition is carried as well, and holds."""
        self._scopes.append(under)
        narrowed = None if args[flag] is False else self._narrowed_by(args[flag], True)
        self._scopes.append(narrowed or {})
        found = None if narrowed is None else list(map(self._get, args))
        del self._scopes[-2:]
        return found

    def _join(self, param: Value, *spans: Span) -> None:
        """Join the ranges of a parameter at the beginning of iterations."""
        if not spans:
            return
        before, after = self._ranges.get(param), join(*spans)
        if before is None:
            self._ranges[param], self._moved = after, True
            return
        if self._narrows:
            self._ranges[param] = meet(before, after)
            return
        after = join(before, after)
        if after == before:
            return
        self._moved = True
        if self._widens:
            low = after[0] if after[0] == before[0] else max(each for each in _STOPS if each <= after[0])
            after = low, after[1] if after[1] == before[1] else inf
        self._ranges[param] = after

    def _items(self, items: Any) -> Span:
        """The range of the items of a `range`."""
        if not isinstance(items, Value) or items.node is None or items.node.op not in traits.MAKES_RANGES:
            return self._ranges.get(items, ANY) if isinstance(items, Value) else ANY
        return items_of(items.node, self._get)

    # Conditions -------------------------------------------------------------------------------------------------------

    def _narrowed_by(self, test: Any, holds: bool) -> dict[Value, Span] | None:
        """The ranges if a condition holds, or does not; None if that is impossible."""
        found: dict[Value, Span] = {}
        for name, a, b in _comparisons(test, holds):
            if not (_is_integer(a) and _is_integer(b)):
                continue
            one, other = (meet(self._get(each), found.get(each, ANY)) for each in (a, b))
            mirrored = traits.MIRRORED[name]
            for arg, span in ((a, traits.NARROWS[name](one, other)), (b, traits.NARROWS[mirrored](other, one))):
                if span[0] > span[1]:
                    return None
                if isinstance(arg, Value):
                    found[arg] = span
        return found


def outside(arg: Any, depth: int = DEPTH) -> Span:
    """The range of an argument from outside of a loop; of a `range`, that of its items."""
    get = partial(outside, depth=depth - 1)
    if isinstance(arg, Value) and arg.node is not None and arg.node.op in traits.MAKES_RANGES:
        return items_of(arg.node, get)
    if not _is_integer(arg):
        return ANY
    if not isinstance(arg, Value):
        return interval(arg, arg)
    node = arg.node
    if node is None or node.blocks or not depth:
        return ANY
    rule = _rule_of(node)
    return ANY if rule is None else rule(*map(get, node.args))


def _rule_of(node: Node) -> Rule | None:
    """The rule for the range of a node's output, if there is one."""
    if node.op in traits.LENGTH and len(node.args) == 1:
        return lambda _: (0, _longest(node.args[0]))
    known = not node.kwargs and len(node.outputs) == 1 and all(map(_is_integer, node.args))
    return traits.INTERVAL.get(traits.plain(node.op)) if known else None


def items_of(node: Node, get: Callable[[Any], Span]) -> Span:
    """The range of the items of a `range`, by its arguments."""
    if node.kwargs or not 1 <= len(node.args) <= 3 or not all(map(_is_integer, node.args)):
        return ANY
    start, stop = ((0, 0), get(node.args[0])) if len(node.args) == 1 else (get(node.args[0]), get(node.args[1]))
    low, high = get(node.args[2]) if len(node.args) == 3 else (1, 1)
    if low > 0:
        return start[0], max(start[0], stop[1] - 1)
    return (min(stop[0] + 1, start[1]), start[1]) if high < 0 else ANY


def _comparisons(test: Any, holds: bool, depth: int = DEPTH) -> Iterator[tuple[str, Any, Any]]:
    """The comparisons that hold if a condition does, or does not."""
    if not isinstance(test, Value) or not depth:
        return
    node = test.node
    if node is not None and node.op in traits.COMPARISON and len(node.args) == 2:
        yield node.op if holds else traits.NEGATED[node.op], node.args[0], node.args[1]
    elif node is not None and node.op in traits.NEGATION:
        yield from _comparisons(node.args[0], not holds, depth - 1)
    elif node is not None and node.op == "if":
        place = node.outputs.index(test)
        for block, taken in zip(node.blocks, (True, False)):
            if block.results is not None and _is_known(block.results[place], not holds):     # so it was the other one
                other = node.blocks[taken]
                yield from _comparisons(node.args[0], not taken, depth - 1)
                if other.results is not None:
                    yield from _comparisons(other.results[place], holds, depth - 1)
    elif _is_integer(test):
        yield "ne" if holds else "eq", test, 0


def _is_known(arg: Any, truth: bool) -> bool:
    return type(arg) in (bool, int) and bool(arg) is truth


def _is_integer(arg: Any) -> bool:
    if isinstance(arg, Value):
        return arg.type in (INT, BOOL)
    return type(arg) in (int, bool)


def _longest(arg: Any) -> float:
    """The upper bound of a length."""
    known = isinstance(arg, Value) and isinstance(arg.type, TensorType) and arg.type.exact
    return (2**63 - 1) // max(arg.type.dtype.itemsize, 1) if known else 2**63 - 1
