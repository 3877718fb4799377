"""From a graph to a plan: which expressions are nested into others, and what becomes a statement.

Nodes stay in their order, always. While a block is gone through, a value that is used once waits on a stack, instead
of being assigned to a variable at once. If a node's arguments are the topmost values of the stack, in the order in
which Python evaluates them, then these can be nested into its expression, and it is as if each was computed where it
stood. If not, or when a statement comes, those that wait are assigned to variables first. This is how a compiler for a
stack machine works, backwards.

The last `if` of a block needs no join if all that follows is the end of the block: each of its branches then ends with
what there is to do, a `return` or the `break` of the loop around.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from autograph.runtime.engines.plan import (
    Body,
    Break,
    Compute,
    Copy,
    If,
    Loop,
    Plan,
    Return,
    Update,
    operands,
)  # fmt: skip
from autograph.runtime.engines.uses import IN_PLACE, LOOPS, Uses
from autograph.runtime.graph import Block, Graph, Node, Value, gather, map_args
from autograph.runtime.types import ObjectType, TensorType

WIDTH = 90  # of an expression, roughly, in characters
DEPTH = 20
_STATEMENTS = frozenset({"setitem", "setattr", "delitem", "delattr", "raise", "unpack", "bound", *IN_PLACE, *LOOPS})
_METHODS_OF: dict[str, type] = {kind.__name__: kind for kind in (list, dict, set, str, tuple, bytes, frozenset, range)}


@dataclass(slots=True)
class End:
    """What there is to do at the end of a block: a copy to variables; then to leave the loop, or the function.

    Attributes:
        stop: the condition on which to leave the loop around.
        params: those that hold what the loop carries, during a turn.
    """

    targets: list[Value]
    sources: list[Any]
    node: Node | None
    stop: Any = None
    params: tuple[Value, ...] = ()
    returns: bool = False


class Frame:
    """A block that is being gone through: its statements so far, and what waits, the topmost last."""

    __slots__ = ("closed", "depth", "statements", "waiting")

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.statements: Body = []
        self.waiting: dict[Value, None] = {}
        self.closed = False


class Scheduler:
    """Makes the plan of one graph."""

    def __init__(self, graph: Graph) -> None:
        self._uses = uses = Uses(graph)
        self.plan = Plan(graph.params, aliases=uses.aliases)
        self._sizes: dict[Value, tuple[int, int]] = {}  # width and depth of what waits
        results = graph.block.results
        end = End([], list(results), None, returns=True) if results is not None else None
        self.plan.body = self._body(graph.block, 1, end)

    # Blocks -----------------------------------------------------------------------------------------------------------

    def _body(self, block: Block, depth: int, end: End | None) -> Body:
        frame = self._run(block, depth, end)
        self._close(frame, end)
        return frame.statements

    def _run(self, block: Block, depth: int, end: End | None = None) -> Frame:
        frame = Frame(depth)
        skipped: Node | None = None
        for position, node in enumerate(block.nodes):
            if node is skipped:
                continue
            last = position == len(block.nodes) - 1
            following = None if last else block.nodes[position + 1]
            if node.op == "if":
                self._visit_if(frame, node, end if last else None)
            elif node.op in LOOPS:
                self._visit_loop(frame, node)
            elif node.op in IN_PLACE:
                skipped = self._visit_update(frame, node, following)
            else:
                self._visit(frame, node)
        return frame

    def _close(self, frame: Frame, end: End | None) -> None:
        if frame.closed:
            return
        if end is None:
            self._flush(frame)
        elif end.returns:
            self._take(frame, end.sources)
            self._flush(frame)
            frame.statements.append(Return(end.sources[0]))
        else:
            self._copy(frame, end)

    # Expressions ------------------------------------------------------------------------------------------------------

    def _visit(self, frame: Frame, node: Node) -> None:
        args = operands(node)
        width, depth = self._take(frame, args, _evaluates_first(node))
        if self._may_wait(node):
            value = node.outputs[0]
            frame.waiting[value] = None
            self._sizes[value] = width + len(node.op) + 2, depth + 1
            return
        self._flush(frame)
        frame.statements.append(Compute(node, [each for each in node.outputs if each not in self._uses.aliases]))

    def _may_wait(self, node: Node) -> bool:
        if node.op in _STATEMENTS or len(node.outputs) != 1:
            return False
        value = node.outputs[0]
        return self._uses.count[value] == 1 and value not in self._uses.shared

    def _take(self, frame: Frame, args: Any, nests: Any = None, end: bool = False) -> tuple[int, int]:
        """Nest what waits into where it is used, as far as it can be; the rest of it goes to variables.

        Args:
            nests: whether an expression may stand in the argument of that number.
            end: whether this is the end of the block.

        Returns:
            The width and depth of the arguments.
        """
        found: list[Value] = []
        gather(args, found)
        places: dict[Value, int] = {}
        for number, value in enumerate(found):
            value = self._uses.of(value)
            places[value] = -1 if value in places else number       # a value that occurs twice is not nested
        wanted = [value for value in places if value in frame.waiting]
        taken: list[Value] = []
        limit: float = math.inf
        for value in reversed(frame.waiting):
            place = places.get(value, -1)
            if place < 0 or place > limit or (value.name and not end) or (nests and not nests(value, found)):
                break
            limit = place
            taken.append(value)
        names = {value: len(value.name) + 4 if value.name else 4 for value in found}
        width = sum(names[value] for value in found) + _literal_width(args)
        room = max(WIDTH - 4 * frame.depth, WIDTH // 2)
        fitting = 0
        for value in taken:
            wider = width + self._sizes[value][0] - names.get(value, 0)
            if wider > room or self._sizes[value][1] > DEPTH:
                break
            width = wider
            fitting += 1
        del taken[fitting:]
        if len(wanted) > len(taken):
            kept = set(taken)
            self._flush(frame, up_to={value for value in wanted if value not in kept})
        for value in taken:
            del frame.waiting[value]
            self.plan.nested.add(value)
        return width, max([self._sizes[value][1] for value in taken], default=0)

    def _flush(self, frame: Frame, up_to: set[Value] | None = None) -> None:
        """Assign to variables what waits; all, or up to the last of `up_to`."""
        values = list(frame.waiting)
        if up_to is not None:
            while values[-1] not in up_to:
                values.pop()
        for value in values:
            del frame.waiting[value]
            assert value.node is not None
            frame.statements.append(Compute(value.node, [value]))

    # In place ---------------------------------------------------------------------------------------------------------

    def _visit_update(self, frame: Frame, node: Node, following: Node | None) -> Node | None:
        """`x += v`. Returns the node that it makes superfluous, the last of `x[i] += v`."""
        item = self._uses.items.get(node)
        target = self._uses.of(item.outputs[0]) if item else None
        unread = all(value in self._uses.aliases or not self._uses.count[value] for value in node.outputs)
        if item and target in frame.waiting and unread:
            self._take(frame, node.args)
            if target in self.plan.nested:
                self._flush(frame)
                self._renest(frame, item)
                frame.statements.append(Update(node, [], item))
                return following
        target = node.args[0]
        if isinstance(target, Value) and target in frame.waiting:
            self._flush(frame, up_to={target})
        self._take(frame, node.args[1:])
        self._flush(frame)
        outputs = [value for value in node.outputs if value not in self._uses.aliases]
        frame.statements.append(Update(node, outputs))
        return None

    def _renest(self, frame: Frame, item: Node) -> None:
        """Nest what has been assigned to variables only because `x[i] += v` is two nodes that use `x` and `i`."""
        found: list[Value] = []
        gather(item.args[:2], found)
        while found and frame.statements:
            value, last = self._uses.of(found.pop()), frame.statements[-1]
            if value in self.plan.nested:
                break
            if value.node is None or not isinstance(last, Compute) or last.outputs != [value]:
                continue
            if self._uses.count[value] != 2 or value in self._uses.shared or value.name:
                break
            frame.statements.pop()
            self.plan.nested.add(value)

    # Statements -------------------------------------------------------------------------------------------------------

    def _visit_if(self, frame: Frame, node: Node, end: End | None) -> None:
        """An `if`, as an expression or a statement."""
        live = [position for position, value in enumerate(node.outputs) if self._uses.count[value]]
        if end is not None and self._ends_in_branches(node, end):
            self._if_at_the_end(frame, node, end)
            return
        frames: list[Frame | None] = [None, None]
        if len(live) == 1 and not node.outputs[live[0]].name and all(map(_is_short, node.blocks)):
            frames = [self._run(block, frame.depth + 1) for block in node.blocks]
            if self._choice(frame, node, live[0], frames):
                return
        self._take_test(frame, node)
        self._flush(frame)
        bodies: list[Body] = []
        for block, inner in zip(node.blocks, frames):
            results, targets = block.results, [node.outputs[i] for i in live]
            branch = None if results is None else End(targets, [results[i] for i in live], node)
            inner = inner or self._run(block, frame.depth + 1, branch)
            self._close(inner, branch)
            bodies.append(inner.statements)
        frame.statements.append(If(node, node.args[0], *bodies))

    def _choice(self, frame: Frame, node: Node, position: int, frames: Iterable[Frame | None]) -> bool:
        """Make an `if` an expression, `a if c else b`, if its branches turned out to hold one expression each."""
        results = tuple((block.results or ())[position] for block in node.blocks)
        waiting: list[Value] = []
        for inner, result in zip(frames, results):
            assert inner is not None
            if inner.statements or list(inner.waiting) not in ([], [self._of(result)]):
                return False
            waiting += inner.waiting
        width = sum(self._sizes[value][0] for value in waiting)
        if width > WIDTH // 2 or any(self._sizes[value][1] > DEPTH // 2 for value in waiting):
            return False
        self.plan.nested.update(waiting)
        self.plan.choices[node] = (results[0], results[1])
        value = node.outputs[position]
        taken, depth = self._take(frame, node.args)
        if self._uses.count[value] == 1 and value not in self._uses.shared:
            frame.waiting[value] = None
            self._sizes[value] = width + taken + 10, depth + 1 + max([self._sizes[v][1] for v in waiting], default=0)
        else:
            self._flush(frame)
            frame.statements.append(Compute(node, [value]))
        return True

    def _of(self, arg: Any) -> Any:
        return self._uses.of(arg) if isinstance(arg, Value) else arg

    def _ends_in_branches(self, node: Node, end: End) -> bool:
        """Whether the branches of the last `if` of a block had better end with what the block ends with."""
        found: list[Value] = []
        gather((end.sources, end.stop), found)
        outputs = [value for value in node.outputs if self._uses.count[value]]
        if sum(value in outputs for value in found) != sum(self._uses.count[value] for value in outputs):
            return False
        if end.returns:
            return bool(outputs) and not any(value.name for value in outputs)
        if not isinstance(end.stop, Value) or end.stop not in outputs:
            return False
        position = node.outputs.index(end.stop)
        return any(self._stops(block, position) for block in node.blocks)

    def _stops(self, block: Block, position: int) -> bool:
        """Whether a branch is known to stop the loop, or part of it is."""
        while block.results is not None:
            stop = block.results[position]
            if not isinstance(stop, Value):
                return stop is True
            if not block.nodes or block.nodes[-1] is not stop.node or stop.node.op != "if":
                return False
            node, position = stop.node, stop.node.outputs.index(stop)
            if self._stops(node.blocks[0], position):
                return True
            block = node.blocks[1]
        return False

    def _take_test(self, frame: Frame, node: Node) -> None:
        test = self._of(node.args[0])
        if node in self._uses.logical and test in frame.waiting:
            self._flush(frame, up_to={test})
        self._take(frame, node.args)

    def _if_at_the_end(self, frame: Frame, node: Node, end: End) -> None:
        self._take_test(frame, node)
        self._flush(frame)
        bodies = []
        for block in node.blocks:
            branch = None
            if block.results is not None:
                results = dict(zip(node.outputs, block.results))

                def leaf(arg: Any, results: dict[Value, Any] = results) -> Any:
                    return results.get(arg, arg) if isinstance(arg, Value) else arg

                branch = replace(end, sources=map_args(leaf, end.sources), stop=leaf(end.stop))
            bodies.append(self._body(block, frame.depth + 1, branch))
        frame.statements.append(If(node, node.args[0], *bodies))
        frame.closed = True

    def _visit_loop(self, frame: Frame, node: Node) -> None:
        live = self._uses.live(node)
        is_for = node.op == "for"
        inits = node.args[1:] if is_for else node.args
        iterable = node.args[0] if is_for else None
        carried = []
        for position in (i for i, used in enumerate(live) if used):
            out = node.outputs[position]
            held = [Value(out.type, None, out.name)]
            held += [block.params[len(block.params) - len(live) + position] for block in node.blocks]
            carried.append([*held, out])
        self.plan.joins += [(group[0], each) for group in carried for each in group[1:]]
        sources = [init for init, used in zip(inits, live) if used]
        self._take(frame, (sources, iterable), end=True)
        self._flush(frame)
        targets = [group[0] for group in carried]
        frame.statements.append(Copy(targets, sources, node))
        renamed = {self._of(source): target for source, target in zip(sources, targets) if isinstance(source, Value)}
        before, condition = self._test(frame, node)
        body = node.blocks[-1]
        items = body.params[: len(body.params) - len(live)]
        statements = self._body(body, frame.depth + 1, self._turn(node, live, carried))
        loop = Loop(node, before, condition, iterable, items, carried, statements, renamed)
        frame.statements.append(loop)

    def _test(self, frame: Frame, node: Node) -> tuple[Body, Any]:
        """The condition of a `while`, and the statements that compute what it is about."""
        if node.op == "for":
            return [], None
        block = node.blocks[0]
        test = self._run(block, frame.depth + 1)
        if block.results is not None:
            self._take(test, block.results)
        self._flush(test)
        return test.statements, block.results[0] if block.results is not None else True

    def _turn(self, node: Node, live: list[bool], carried: list[list[Value]]) -> End | None:
        """The end of a loop's body."""
        block = node.blocks[-1]
        if block.results is None:
            return None
        results = list(block.results)
        stop = results.pop(0) if node.kwargs.get("until") else None
        sources = [result for result, used in zip(results, live) if used]
        params = tuple(group[-2] for group in carried)
        return End([group[-1] for group in carried], sources, node, stop=stop, params=params)

    # Ends of blocks ---------------------------------------------------------------------------------------------------

    def _copy(self, frame: Frame, end: End) -> None:
        pairs = [
            (Value(target.type, None, target.name), source, target) for target, source in zip(end.targets, end.sources)
        ]
        order = {value: number for number, value in enumerate(frame.waiting)}
        pairs.sort(key=lambda pair: order.get(self._of(pair[1]), -1) if isinstance(pair[1], Value) else -1)
        sources = [source for _, source, _ in pairs]
        renamed = {self._of(source): target for target, source, _ in pairs if isinstance(source, Value)}
        stop, late = end.stop if end.stop is not False else None, False
        if stop is not None:
            stop, late = self._stop(frame, end, renamed)
        self._take(frame, (sources, stop) if late else sources, end=True)
        self._flush(frame)
        self.plan.joins += [(target, variable) for target, _, variable in pairs]
        if pairs:
            frame.statements.append(Copy([target for target, _, _ in pairs], sources, end.node, lasting=True))
        if stop is not None:
            assert end.node is not None
            frame.statements.append(Break(stop, end.node, renamed))

    def _stop(self, frame: Frame, end: End, renamed: dict[Value, Value]) -> tuple[Any, bool]:
        """The condition for `if stop: break`, which is asked after the copy; and whether it can be computed there."""
        stop = end.stop
        if not isinstance(stop, Value):
            return stop, False
        changed = {
            param for param, source in zip(end.params, end.sources) if self._of(source) is not param
        }
        if self._of(stop) in frame.waiting:
            if next(reversed(frame.waiting)) is self._of(stop) and not self._reads(stop, changed - set(renamed)):
                return stop, True
            self._flush(frame, up_to={self._of(stop)})
        elif self._of(stop) in changed and self._of(stop) not in renamed:
            kept = Value(stop.type)
            frame.statements.append(Copy([kept], [stop], end.node))
            return kept, False
        return stop, False

    def _reads(self, value: Value, variables: set[Value]) -> bool:
        """Whether the expression of a value that waits reads one of some variables."""
        node = value.node
        assert node is not None
        args = (operands(node), self.plan.choices.get(node, ()))
        return any(found in variables for found in self.plan.variables_in(args))


def _is_short(block: Block) -> bool:
    return block.results is not None and len(block.nodes) <= 8


def _evaluates_first(node: Node) -> Any:
    """What keeps an expression from being nested into a node that does something before it gets to that argument.

    Python looks up `x.method` before it evaluates the arguments, which may raise, and an f-string formats its first
    value before it gets the second.
    """
    if node.op == "fstring":
        return lambda value, found: value is found[0] or not _is_visible(value)
    if node.op.startswith(".") and not _has_method(node.args[0], node.op[1:]):
        return lambda value, found: value is node.args[0]
    return None


def _has_method(arg: Any, name: str) -> bool:
    if not isinstance(arg, Value):
        return True
    if isinstance(arg.type, TensorType):
        return arg.type.exact
    kind = _METHODS_OF.get(arg.type.name) if isinstance(arg.type, ObjectType) else None
    return kind is not None and hasattr(kind, name)


def _literal_width(args: Any) -> int:
    """How many characters the constants among some arguments take, roughly."""
    if isinstance(args, (tuple, list)):
        return sum(map(_literal_width, args))
    if isinstance(args, dict):
        return sum(len(str(key)) + 2 + _literal_width(value) for key, value in args.items())
    if isinstance(args, slice):
        return _literal_width((args.start, args.stop, args.step))
    if isinstance(args, (str, bytes)):
        return min(len(args), 200) + 4
    if isinstance(args, (Value, type(None))):
        return 0
    return len(repr(args)) + 2 if isinstance(args, (int, float, complex)) else 8


def _is_visible(value: Value) -> bool:
    return value.node is not None and value.node.op in ("call", "if")
