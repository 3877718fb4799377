"""The scheduler: makes a plan of a graph, deciding which nodes are nested expressions, and which are statements.

Nodes stay in their order, unless it cannot matter. A value that is used once waits on a stack, instead of being
assigned to a variable at once; see `schedule_stack`. If a node's arguments are the topmost values of the stack, in the
order in which Python evaluates them, then these can be nested into its expression, and each is computed at the same
time as before. If not, or when a statement comes, the waiting values are assigned to variables first. This is the work
of a compiler for a stack machine, backwards.

The last `if` of a block needs no join if only the end of the block follows: each of its branches then ends with that, a
`return` or the `break` of the loop around.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from autograph.runtime.engines.numpy.plan import Body, Break, Compute, Copy, If, Loop, Plan, Return, Update, operands
from autograph.runtime.engines.numpy.schedule_stack import DEPTH, WIDTH, Cost, Frame
from autograph.runtime.engines.numpy.uses import Uses, is_free_update, nests, width_of
from autograph.runtime.graph.graph import Block, Graph, Node, Value, map_args, values_in
from autograph.runtime.graph.traits import IN_PLACE, LOOP, MAKES_OBJECTS, STATEMENT
from autograph.runtime.graph.types import BOOL

_SHORT = 8      # nodes in a branch that may be an expression


@dataclass(slots=True)
class End:
    """The statements at the end of a block: a copy to variables; then to leave the loop, or the function.

    Attributes:
        results: of the block itself.
        stop: the condition on which to leave the loop around.
        params: the carried values during an iteration.
    """

    targets: list[Value]
    sources: list[Any]
    node: Node | None
    results: Any
    stop: Any = None
    params: tuple[Value, ...] = ()
    returns: bool = False


class Scheduler:
    """Makes the plan of one graph."""

    def __init__(self, graph: Graph) -> None:
        self._uses = uses = Uses(graph)
        self.plan = Plan(graph.params, aliases=uses.aliases)
        self._false: set[Value] = set()     # carried values that are false in every iteration
        results = graph.block.results
        end = End([], list(results), None, results, returns=True) if results is not None else None
        self.plan.body = self._body(graph.block, 1, end)

    def _of(self, arg: Any) -> Any:
        return self._uses.of(arg) if isinstance(arg, Value) else arg

    # Blocks -----------------------------------------------------------------------------------------------------------

    def _body(self, block: Block, depth: int, end: End | None) -> Body:
        frame = self._run(block, depth, end)
        self._close(frame, end)
        return frame.statements

    def _run(self, block: Block, depth: int, end: End | None = None) -> Frame:
        frame = Frame(self._uses, self.plan, depth)
        skipped: Node | None = None
        for position, node in enumerate(block.nodes):
            if node is skipped:
                continue
            last = position == len(block.nodes) - 1
            if node.op == "if":
                self._visit_if(frame, node, end if last else None)
            elif node.op in LOOP:
                self._visit_loop(frame, node)
            elif node.op in IN_PLACE:
                skipped = self._visit_update(frame, node, None if last else block.nodes[position + 1])
            elif node.op in STATEMENT:
                self._visit_statement(frame, node)
            else:
                frame.add(node, frame.take(operands(node), nests(node)))
        return frame

    def _close(self, frame: Frame, end: End | None) -> None:
        if frame.closed:
            return
        if end is None:
            frame.flush()
        elif end.returns:
            frame.take(end.sources)
            frame.flush()
            frame.statements.append(Return(end.sources[0]))
        else:
            self._copy(frame, end)

    def _visit_statement(self, frame: Frame, node: Node) -> None:
        if node.op not in MAKES_OBJECTS:    # its parts exist before its variable does, as the user's debugger shows
            frame.take(operands(node))
        frame.flush()
        outputs = [value for value in node.outputs if value not in self._uses.aliases]
        frame.statements.append(Compute(node, outputs))

    # In place ---------------------------------------------------------------------------------------------------------

    def _visit_update(self, frame: Frame, node: Node, following: Node | None) -> Node | None:
        """Schedule `x += v`; gives the node that is a part of it, the last one of `x[i] += v`."""
        item = self._uses.items.get(node)
        target = self._uses.of(item.outputs[0]) if item else None
        unread = all(value in self._uses.aliases or not self._uses.count[value] for value in node.outputs)
        if item and target in frame.waiting and unread:
            frame.take(node.args)
            if target in self.plan.nested:
                frame.flush()
                self._renest(frame, item)
                frame.statements.append(Update(node, [], item))
                return following
        target = node.args[0]
        if isinstance(target, Value) and target in frame.waiting:
            frame.flush(up_to={target})
        cost = frame.take(node.args[1:])
        is_free = cost.free and is_free_update(node)
        if not is_free or any(self._reads(waiting, {self._of(target)}) for waiting in frame.waiting):
            frame.flush()
        outputs = [value for value in node.outputs if value not in self._uses.aliases]
        frame.statements.append(Update(node, outputs))
        return None

    def _renest(self, frame: Frame, item: Node) -> None:
        """Nest values that were assigned to variables only because two nodes of `x[i] += v` use `x` and `i`."""
        found = values_in(item.args[:2])
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

    # Branches ---------------------------------------------------------------------------------------------------------

    def _visit_if(self, frame: Frame, node: Node, end: End | None) -> None:
        """Schedule an `if`, as an expression or a statement."""
        live = [position for position, value in enumerate(node.outputs) if self._uses.count[value]]
        at_the_end = end is not None and self._ends_in_branches(node, end)
        frames: list[Frame] = []
        if self._may_be_choice(node) and not (at_the_end and self._should_return(node, end)):
            frames = [self._run(block, frame.depth + 1) for block in node.blocks]
            if self._choice(frame, node, live[0], frames):
                return
        if node in self._uses.logical and self._of(node.args[0]) in frame.waiting:
            frame.flush(up_to={self._of(node.args[0])})
        frame.take(node.args)
        frame.flush()
        bodies: list[Body] = []
        for number, block in enumerate(node.blocks):
            branch = self._end_of_branch(node, block, live, end if at_the_end else None)
            inner = frames[number] if frames else self._run(block, frame.depth + 1, branch)
            self._close(inner, branch)
            bodies.append(inner.statements)
        frame.statements.append(If(node, node.args[0], *bodies))
        frame.closed = at_the_end

    def _end_of_branch(self, node: Node, block: Block, live: list[int], end: End | None) -> End | None:
        """The end of a branch: assignments of the outputs, or the statements at the `end` of all."""
        if block.results is None:
            return None
        results = [block.results[i] for i in live]
        if end is None:
            return End([node.outputs[i] for i in live], results, node, results)
        results_of = dict(zip(node.outputs, block.results))

        def leaf(arg: Any) -> Any:
            return results_of.get(arg, arg) if isinstance(arg, Value) else arg

        return replace(end, sources=map_args(leaf, end.sources), stop=leaf(end.stop), results=results)

    def _may_be_choice(self, node: Node) -> bool:
        """Whether an `if` is small enough to be an expression, and has no name."""
        live = [value for value in node.outputs if self._uses.count[value]]
        return len(live) == 1 and not live[0].name and all(map(self._is_expression, node.blocks))

    def _is_expression(self, block: Block) -> bool:
        """Whether a block computes one value, each part of which is used once."""
        if block.results is None or len(block.nodes) > _SHORT:
            return False
        for node in block.nodes:
            used = [self._uses.count[value] for value in node.outputs]
            if node.op in STATEMENT or sum(used) != 1:
                return False
            if node.op == "if" and not self._may_be_choice(node):
                return False
        return True

    def _should_return(self, node: Node, end: End | None) -> bool:
        """Whether an `if` at the end should be a statement, though it may be an expression."""
        if end is None or not end.returns:
            return True
        return not self._is_logical(node) and end.sources[0] in node.outputs

    def _is_logical(self, node: Node) -> bool:
        """Whether a choice is `a and b` or `a or b`."""
        test = node.args[0]
        constants = [result for block in node.blocks for result in block.results or () if isinstance(result, bool)]
        return node in self._uses.logical or (bool(constants) and isinstance(test, Value) and test.type == BOOL)

    def _choice(self, frame: Frame, node: Node, position: int, frames: list[Frame]) -> bool:
        """Make an `if` an expression, `a if c else b`, if its branches turned out to hold one expression each."""
        results = tuple((block.results or ())[position] for block in node.blocks)
        costs: list[Cost] = []
        for inner, result in zip(frames, results):
            if inner.statements or list(inner.waiting) not in ([], [self._of(result)]):
                return False
            costs += inner.waiting.values() or [Cost(width_of(result))]
        width, depth = sum(cost.width for cost in costs), max(cost.depth for cost in costs)
        if width > WIDTH // 2 or depth > DEPTH // 2:
            return False
        for inner in frames:
            self.plan.nested.update(inner.waiting)
        self.plan.choices[node] = (results[0], results[1])
        nested = frame.take(node.args)
        cost = Cost(width + nested.width + 8, max(depth, nested.depth) + 1, free=False, quiet=False)
        frame.put(node, [node.outputs[position]], cost)
        return True

    def _ends_in_branches(self, node: Node, end: End) -> bool:
        """Whether to put the end of a block into the branches of its last `if`."""
        count = self._uses.count
        outputs = [value for value in node.outputs if count[value]]
        if sum(value in outputs for value in values_in(end.results)) != sum(map(count.__getitem__, outputs)):
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

    # Loops ------------------------------------------------------------------------------------------------------------

    def _visit_loop(self, frame: Frame, node: Node) -> None:
        is_for = node.op == "for"
        live = self._uses.live(node)
        inits = node.args[1:] if is_for else node.args
        iterable = node.args[0] if is_for else None
        carried = self._carried(node, live)
        self.plan.joins += [(group[0], each) for group in carried for each in group[1:]]
        sources = [init for init, used in zip(inits, live) if used]
        frame.take((sources, iterable), whole=True)
        frame.flush()
        targets = [group[0] for group in carried]
        frame.statements.append(Copy(targets, sources, node))
        renamed = {self._of(source): target for source, target in zip(sources, targets) if isinstance(source, Value)}
        before, condition = self._test(frame, node)
        body = node.blocks[-1]
        items = body.params[: len(body.params) - len(live)]
        statements = self._body(body, frame.depth + 1, self._iteration(node, live, carried, inits))
        loop = Loop(node, before, condition, iterable, items, carried, statements, renamed)
        first = statements[0] if statements else None
        if isinstance(first, Compute) and first.node.op == "unpack" and [first.node.args[0]] == items:
            if self._uses.count[items[0]] == 1 and not items[0].name:
                loop.unpacked, loop.items, loop.body = first.node, first.outputs, statements[1:]
        frame.statements.append(loop)

    def _carried(self, node: Node, live: list[bool]) -> list[list[Value]]:
        """For each carried variable, its values in order, without those of iterations."""
        groups = []
        for position in (i for i, used in enumerate(live) if used):
            out = node.outputs[position]
            params = [block.params[len(block.params) - len(live) + position] for block in node.blocks]
            groups.append([Value(out.type, None, out.name), *params, out])
        return groups

    def _test(self, frame: Frame, node: Node) -> tuple[Body, Any]:
        """The condition of a `while`, and the statements that precede it."""
        if node.op == "for":
            return [], None
        block = node.blocks[0]
        test = self._run(block, frame.depth + 1)
        if block.results is not None:
            test.take(block.results)
        test.flush()
        return test.statements, block.results[0] if block.results is not None else True

    def _iteration(
        self, node: Node, live: list[bool], carried: list[list[Value]], inits: tuple[Any, ...]
    ) -> End | None:
        """The end of a loop's body."""
        block = node.blocks[-1]
        if block.results is None:
            return None
        results = list(block.results)
        stop = results.pop(0) if node.kwargs.get("until") else None
        sources = [result for result, used in zip(results, live) if used]
        starts = [init for init, used in zip(inits, live) if used]
        params = tuple(group[-2] for group in carried)
        for param, source, start in zip(params, sources, starts):
            if source is stop and (start is False or start in self._false):
                self._false.add(param)
        return End([group[-1] for group in carried], sources, node, (sources, stop), stop, params)

    # Ends of blocks ---------------------------------------------------------------------------------------------------

    def _copy(self, frame: Frame, end: End) -> None:
        pairs = [
            (Value(target.type, None, target.name), source, target) for target, source in zip(end.targets, end.sources)
        ]
        order = {value: number for number, value in enumerate(frame.waiting)}
        pairs.sort(key=lambda pair: order.get(self._of(pair[1]), -1) if isinstance(pair[1], Value) else -1)
        sources = [source for _, source, _ in pairs]
        renamed = {self._of(source): target for target, source, _ in pairs if isinstance(source, Value)}
        stop, late = self._stop(frame, end, renamed)
        frame.take((sources, stop) if late else sources, whole=True)
        frame.flush()
        self.plan.joins += [(target, variable) for target, _, variable in pairs]
        if pairs:
            frame.statements.append(Copy([target for target, _, _ in pairs], sources, end.node, lasting=True))
        if stop is not None:
            assert end.node is not None
            frame.statements.append(Break(stop, end.node, renamed))

    def _stop(self, frame: Frame, end: End, renamed: dict[Value, Value]) -> tuple[Any, bool]:
        """The condition of `if stop: break`, which comes after the copy; and whether it can be computed there."""
        stop = end.stop
        if stop is False or stop in self._false:
            return None, False
        if not isinstance(stop, Value):
            return stop, False
        changed = {param for param, source in zip(end.params, end.sources) if self._of(source) is not param}
        if self._of(stop) in frame.waiting:
            if next(reversed(frame.waiting)) is self._of(stop) and not self._reads(stop, changed - set(renamed)):
                return stop, True
            frame.flush(up_to={self._of(stop)})
        elif self._of(stop) in changed and self._of(stop) not in renamed:
            copy = Value(stop.type)
            frame.statements.append(Copy([copy], [stop], end.node))
            return copy, False
        return stop, False

    def _reads(self, value: Value, variables: set[Value]) -> bool:
        """Whether the expression of a value that waits reads one of some variables."""
        return any(found in variables for found in self.plan.variables_in(self.plan.parts(value.node)))
