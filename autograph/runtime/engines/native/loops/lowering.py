"""From a loop of the graph, and what its inputs are, to machine code.

The blocks of the loop are walked, and each node is done by the lowering of its op. An `if` and the end of a loop part
the paths; where they meet again, `block_versions` says how the code goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from inspect import CO_VARARGS, CO_VARKEYWORDS, signature
from typing import Any

from autograph.common.code_marks import UNBOUND
from autograph.runtime.engines.native.analysis.if_conversion import compares, is_light, late_last
from autograph.runtime.engines.native.analysis.side_exits import Exit
from autograph.runtime.engines.native.analysis.structure import Point
from autograph.runtime.engines.native.emit.emitter import POLL
from autograph.runtime.engines.native.llvm.errors import Refused
from autograph.runtime.engines.native.loops.fast_path import RunningAhead
from autograph.runtime.engines.native.loops.iterators import Iterators
from autograph.runtime.engines.native.loops.python_calls import is_python_callback
from autograph.runtime.graph.graph import Block, Node, Value, walk
from autograph.runtime.graph.opdef import OPS, WRITE
from autograph.runtime.graph.operands import Array, Boxed, Fixed, NoLowering, Number, Range, kind_of
from autograph.runtime.graph.traits import EXTREME, MAKES_ARRAYS, ORDERING
from autograph.runtime.graph.types import INT
from autograph.runtime.ops.native.scalars import inverse, truth
from autograph.runtime.passes.rewriter import shown

NODES = 20_000      # lowered in all
EDGE = ".edge"      # behind the name of a loop's head: where it goes on to the next iterations, if there are any
SIZE = 30_000       # instructions in all
FUEL: list[int] = []        # for tests: the address of an integer, how many nodes are run before the code is left


class Lowering(Iterators, RunningAhead):
    """Makes the machine code of a loop for inputs of certain kinds."""

    def run(self) -> str:
        """The text of the code."""
        self.emit.start()
        try:
            self._loop(self.structure.root)
        except NoLowering:
            raise Refused("there is no machine code for what it iterates over or begins with") from None
        while self._queue:
            self._queue.pop()()
        for label, at, state in self._leaving:
            self._emit_exit(label, at, state)
        if not self.is_of_use():
            raise Refused("all that it does is Python's and NumPy's")
        return self.emit.text

    # Nodes ------------------------------------------------------------------------------------------------------------

    def _walk(self, block: Block, index: int = 0) -> None:
        """Do the nodes of a block, from one on, until the paths part.

        Where it is left, Python goes on behind the last node that has changed anything: the others may as well be done
        again, so they share the place.
        """
        self._leave_from(Point(block, index))
        self._block = block
        self.emit.always = self._iterations is not None and block is self._iterations.node.blocks[0]
        place: int | None = index
        while place is not None:
            self._nodes += 1
            if self._nodes > NODES or self.emit.size > SIZE:
                raise Refused("its code would be too long")
            try:
                node = self.structure.node_at(Point(block, place))
                self.emit.come_from(node.place)
                if place == len(block.nodes):
                    self._end(block)
                    return
                for address in FUEL:
                    self.emit.spend(address)
                if node.op == "if" and self._selected(node):
                    place += 1
                    continue
                if node.blocks:
                    self._if(node) if node.op == "if" else self._loop(node)
                    return
                changes = self._tried(node)
                if changes is None:
                    if block.results is None or not is_python_callback(node):
                        raise NoLowering
                    place = self._call(block, place)
                    continue
                self._count(block, self._gain_of(node))
                place += 1
                if changes:
                    self._leave_from(Point(block, place))
            except NoLowering:
                assert place is not None
                if not self.structure.is_rare(block):
                    what = shown(block.nodes[place]) if place < len(block.nodes) else "what an iteration ends with"
                    raise Refused(f"there is no machine code for {what} of what it gets") from None
                self.emit.jump(self._leave())
                return

    def _operation(self, node: Node) -> bool:
        """Do a node without blocks. Gives whether it has changed anything."""
        args = self._args(node.args)
        if node.op == "build" and type(args[0]) is tuple:
            found = args[0]
        elif node.op == "bound":
            found = self._bound(args[0])
        elif node.op == "unpack" and "star" not in node.kwargs and isinstance(args[0], tuple):
            if len(args[0]) != len(node.outputs):
                raise NoLowering
            for value, part in zip(node.outputs, args[0]):
                self._define(value, part)
            return False
        elif node.op == "getitem" and type(args[0]) is tuple:
            found = _item(args[0], args[1])
        else:
            op = OPS.get(node.op)
            if op is None or op.lower is None or not _takes(op.lower, len(args), tuple(node.kwargs)):
                raise NoLowering
            changes = op.effect == WRITE and isinstance(args[0], Array)
            if changes:
                self.emit.settle()
            sums = self._sums if self._iterations is None else self._iterations.sums
            self.emit.bounded = not sums.isdisjoint(node.outputs)
            args = late_last(node, self._block, args) if node.op in EXTREME else args
            found = op.lower(self.emit, *args, **self._args(node.kwargs))
            if changes:
                return True
            if op.name in MAKES_ARRAYS:
                self._define(node.output, found)
                self._own(node.output, found.ref)
                return True     # nobody sees it, but there must not be another one
        for value in node.outputs:
            self._define(value, found)
        return False

    def _bound(self, x: Any) -> Any:
        value = x.value if isinstance(x, Fixed) else x
        if value is UNBOUND:
            raise NoLowering
        return x

    def _choose(self, node: Node, test: Any, then: Callable[[], None], orelse: Callable[[], None]) -> None:
        """Both paths behind a condition of a node; only one, if it is known which."""
        condition = self._truth(node, self._operand(test))
        if condition.known is not None:
            (then if condition.known else orelse)()
            return
        first, second = self.emit.label("then"), self.emit.label("else")
        self.emit.branch(condition, first, second)
        state, at, found = self._state, self._at, self.emit.found
        for label, path in ((first, then), (second, orelse)):
            self._state, self._at, self._left = state.copy(), at, None
            self.emit.begin(label)
            self.emit.found = dict(found)
            path()

    def _if(self, node: Node) -> None:
        then, orelse = node.blocks
        self._choose(node, self._args(node.args)[0], lambda: self._walk(then), lambda: self._walk(orelse))

    def _selected(self, node: Node) -> bool:
        """Do an `if` of which both blocks do next to nothing, without parting the paths. Gives whether it was possible.

        The machine need not guess then which of them will be taken.
        """
        if not all(map(is_light, node.blocks)):
            return False
        try:
            with self._trial():
                self._select(node)
        except NoLowering:
            return False
        return True

    def _select(self, node: Node) -> None:
        condition = truth(self.emit, self._operand(self._args(node.args)[0]))
        if condition.known is not None:
            raise NoLowering
        test, both = getattr(node.args[0], "node", None), {}    # nothing computes a constant
        # the longer one first, so that what takes the machine longest begins first
        for block, holds in sorted(zip(node.blocks, (True, False)), key=lambda pair: -len(pair[0].nodes)):
            # what would go wrong in a block that is not to be run; rather leave, if the condition does not prevent it
            guarded = test is not None and test.op in ORDERING and bool(block.nodes)
            guard = (condition if holds else inverse(self.emit, condition)) if guarded else None
            with self.emit.only_if(guard):
                for each in block.nodes:
                    self.emit.come_from(each.place)
                    self._operation(each)
                    if not all(self._is_integer(value) for value in each.outputs):
                        raise NoLowering
            both[holds] = list(map(self._operand, self._args(block.results)))
        self.emit.come_from(node.place)
        pairs = list(zip(both[True], both[False]))
        if not all(one == other or (_is_number(one) and kind_of(one) == kind_of(other)) for one, other in pairs):
            raise NoLowering
        for value, (one, other) in zip(node.outputs, pairs):
            self._define(value, one if one == other else self.emit.select(condition, one, other))

    def _is_integer(self, value: Value) -> bool:
        found = self._state.env[value]
        return isinstance(found, Number) and found.type.dtype.kind in "iub"

    def _end(self, block: Block) -> None:
        """What happens at the end of a block."""
        if block.results is None:
            raise NoLowering
        node, _ = self.structure.owner(block)
        results = list(map(self._operand, self._args(block.results)))
        if node.op == "if":
            self._after(node, results)
        elif node.op == "while" and block is node.blocks[0]:
            carried = [self._fetch(param) for param in block.params]
            self._choose(node, results[0], lambda: self._iteration(node, carried), lambda: self._after(node, carried))
        elif node.kwargs.get("until"):
            test, *rest = results
            self._choose(node, test, lambda: self._after(node, rest), lambda: self._head(node, rest))
        else:
            self._head(node, results)

    def _after(self, node: Node, results: list[Any]) -> None:
        """Go on behind a node that has blocks."""
        after = self.structure.after(node.blocks[0])
        self.emit.come_from(node.place)
        if after is None:
            self._finish(Exit(None, [], self._written(tuple(self.structure.used(results)))))
            return
        for value, operand in zip(node.outputs, results):
            self._define(value, operand)
        self._jump(after, lambda key: self.structure.is_live(key, after), lambda: self._walk(*after))

    # Loops ------------------------------------------------------------------------------------------------------------

    def _loop(self, node: Node) -> None:
        """Go to a loop."""
        args = list(map(self._operand, self._args(node.args)))
        if node.op == "while":
            self._state.env.update(zip(node.blocks[0].params, args))
            self._begin_counting(node)
            self._head(node, args)
            return
        iterable, *carried = args
        if isinstance(iterable, Array) and iterable.ndim == 1:
            iterable = iterable, self.emit.constant(0, INT)
        elif not isinstance(iterable, Range):
            self._define(node, self._iterator(node, iterable))
            self._head(node, carried)
            return

        def go(down: bool | None = None) -> None:
            found = replace(iterable, down=down) if down is not None else iterable
            self._define(node, found)
            self.emit.keep((node, "limit"), INT.dtype, self._counting(found)[0])
            # At the edge, which is no part of the iterations then; but the code of a `while` comes to lie badly there.
            self._head(node, carried, "" if any(each.op == "while" for each in walk(node.blocks[0])) else EDGE)

        if isinstance(iterable, Range) and iterable.down is None:
            step = Number(INT, iterable.step)
            down = self.emit.compare("lt", step, self.emit.constant(0, INT))
            self._choose(node, down, lambda: go(True), lambda: go(False))
        else:
            go()

    def _head(self, node: Node, carried: list[Any], entry: str = "") -> None:
        """Go to the head of a loop, or to its edge."""
        params = node.blocks[0].params
        for param, operand in zip(params[len(params) - len(carried) :], carried):
            self._define(param, operand)

        def go_on() -> None:
            self.emit.come_from(node.place)
            if node.op == "while":
                self._heads[node] = self.emit.here
                if not compares(node.blocks[0]):
                    self._look(node)
                self._walk(node.blocks[0])
            else:
                self._next(node, len(params) - len(carried))

        self._jump(node, lambda key: self.structure.is_live_in_loop(key, node), go_on, entry)

    def _iteration(self, node: Node, carried: list[Any]) -> None:
        """An iteration of a `while`.

        Signals are looked at in front of its test, or behind it, where that may as well be done again. So iterations
        end with the test, of which LLVM makes better code.
        """
        if compares(node.blocks[0]):
            self._look(node)
        body = node.blocks[1]
        for param, operand in zip(body.params, carried):
            self._define(param, operand)
        self._walk(body)

    def _next(self, node: Node, items: int) -> None:
        """An iteration of a `for`, if there is another item.

        The code counts up to a limit, behind which is the edge: there it sets the next one, and looks at signals. Each
        of these blocks takes what it needs out of its cells, and none is left where the code before them was.
        """
        body, emit, begin, head = node.blocks[0], self.emit, self._state.copy(), self.emit.here
        iterator = self._fetch(node)
        if isinstance(iterator, Boxed):
            self._next_of(node, iterator, items)
            return
        before = "gt" if self._counting(iterator)[-1] else "lt"
        iteration, edge, ahead, done = emit.label("iteration"), f"{head}{EDGE}", emit.label("ahead"), emit.label("done")
        limit, now = emit.kept((node, "limit"), INT.dtype), Number(INT, self._counting(iterator)[0])
        rarely = self._may_run_ahead(node, iterator)

        def take() -> Any:
            self._state = begin.copy()
            return self._fetch(node)

        self._leave_from(None)
        emit.begin(edge)
        iterator = take()
        carried = [self._fetch(param) for param in body.params[items:]]
        item, stop, _, _ = self._counting(iterator)
        promoted = self._promoted(node, carried)
        emit.branch(emit.compare(before, Number(INT, item), Number(INT, stop)), ahead, done)
        emit.begin(ahead)
        state, all_ahead = self._state.copy(), promoted != carried
        if all_ahead:
            self._head(node, promoted, EDGE)
        elif rarely:
            all_ahead = self._run_ahead(node, iterator, items, iteration, edge)
        else:
            self._set_limit(node, iterator, POLL, edge)
            emit.jump(iteration)
        emit.found = {}
        emit.begin(head)
        if all_ahead:
            emit.jump(edge)
        else:
            emit.branch(emit.compare(before, now, Number(INT, limit)), iteration, edge, rarely=rarely)
            emit.begin(iteration)
            self._begin_iteration(node, take())
            self._walk(body)
        self._state = state
        self._leave_from(None)
        emit.found = {}
        emit.begin(done)
        self._after(node, carried)

    def _set_limit(self, node: Node, iterator: Any, iterations: int, head: str) -> None:
        """Let a loop run on for so many iterations, or to its end; look at signals before."""
        emit = self.emit
        *parts, down = self._counting(iterator)
        item, stop, step = (Number(INT, part) for part in parts)
        room = emit.integer("sub", item, stop) if down else emit.integer("sub", stop, item)
        size = emit.integer("sub", emit.constant(0, INT), step) if down else step
        span = emit.integer("mul", size, emit.constant(iterations, INT))
        far = emit.compare("gt", room, span)
        if iterations == POLL:
            emit.poll(emit.integer("div", emit.select(far, span, room), size).ref, self._stop, head)
        emit.keep((node, "limit"), INT.dtype, stop.ref)
        with emit.rarely(far):
            if iterations < POLL:
                emit.poll(str(iterations), self._stop, head)
            emit.keep((node, "limit"), INT.dtype, emit.integer("sub" if down else "add", item, span).ref)


@cache
def _takes(rule: Any, count: int, names: tuple[str, ...]) -> bool:
    """Whether a lowering can be called with so many arguments and keywords of these names."""
    code = rule.__code__
    if not (names or code.co_kwonlyargcount or code.co_flags & (CO_VARARGS | CO_VARKEYWORDS)):
        return code.co_argcount - 1 - count in range(len(rule.__defaults__ or ()) + 1)
    try:
        signature(rule).bind(None, *[None] * count, **dict.fromkeys(names))
    except TypeError:
        return False
    return True


def _is_number(operand: Any) -> bool:
    return isinstance(operand, Number)


def _item(items: tuple[Any, ...], index: Any) -> Any:
    place = index.known if isinstance(index, Number) else index
    if type(place) is not int or not -len(items) <= place < len(items):
        raise NoLowering
    return items[place]
