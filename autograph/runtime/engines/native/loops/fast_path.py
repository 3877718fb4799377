"""Loop versioning: code for many iterations of a counted loop at once, see `guard_hoisting`.

An innermost `for` has two codes for an iteration. The fast path is for iterations of which it has been checked before
that what does not change in them is as it should be, that indices that go with the items are within bounds, and that
what is counted does not overflow. The slow path checks everything at its time. The first iterations may be of that
kind, and the last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.runtime.engines.native.analysis.induction_variables import (
    NODES,
    START,
    is_linear,
    recurrences,
    results_of,
    sums_of,
)
from autograph.runtime.engines.native.analysis.structure import Key, Point
from autograph.runtime.engines.native.emit import simd, speculation
from autograph.runtime.engines.native.emit.guard_hoisting import Chunk, leave_if_far
from autograph.runtime.engines.native.emit.unroll import unroll
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.llvm.ir import Block as Label
from autograph.runtime.engines.native.loops.block_versions import Flow, State, held_by, kinds_of
from autograph.runtime.engines.native.loops.counted_loops import at, begin_iteration, counter_of, set_limit
from autograph.runtime.graph.graph import Block, Node, Value, walk
from autograph.runtime.graph.opdef import OPS, WRITE
from autograph.runtime.graph.operands import Array, Number, Range, is_held, kind_of, mapped, unplaced
from autograph.runtime.graph.traits import MAKES_ARRAYS
from autograph.runtime.graph.types import BOOL, FLOAT, INT, scalar

_STRONG = scalar("float64")
CAPACITY = 2**56            # an array that is longer counts as this long


class FastPath:
    """The fast path of a counted loop, while it is being emitted.

    Attributes:
        body: of the loop.
        sums: values that do not overflow in it.
        vectorizes: whether LLVM may find something to vectorize.
    """

    def __init__(self, flow: Flow, node: Node, iterator: Any, slow: Label, edge: Label, blind: bool) -> None:
        """
        Args:
            iterator: what the loop has yet to iterate over: it has another item.
            slow: the block where an iteration of the slow path begins.
            edge: the block where it is checked whether there are more iterations.
            blind: whether iterations run blindly, see `speculation`.
        """
        self.body = node.blocks[0]
        self.sums: set[Value] = set()
        self.vectorizes = False
        self._flow = flow
        self._emit = flow.emit
        self._node = node
        self._iterator = iterator
        self._slow, self._edge = slow, edge
        self._blind = blind
        self._counter = counter_of(flow, iterator)
        self._head = flow.emit.b.new_block("fast")
        self._blocks = {self.body, *(block for each in walk(self.body) for block in each.blocks)}
        self._kinds = kinds_of(flow.live(node))
        self._carried = list(zip(self.body.params[1:], results_of(node)))
        self._lasting = recurrences(node)       # they need not be checked before the end
        self._env: dict[Key, Any] = {}          # what is the same wherever paths meet
        self._queue: list[Callable[[], None]] = []      # versions of blocks that there is no code of yet
        self._again = False     # whether an iteration may follow one; none does if all change the types of values

    def emit(self, walk: Callable[[Block], None]) -> bool | None:
        """Emit iterations up to the limit, and go there if all is sure.

        Args:
            walk: emits the body.

        Returns:
            whether there is nothing to be checked, so that no iterations are slow; None if iterations cannot be run so,
            or need not.
        """
        flow, emit, start = self._flow, self._emit, self._flow.state.copy()
        before, first, done, again = map(emit.b.new_block, ("before", "iteration", "done", "again"))
        emit.jump(before)
        emit.b.begin(before)
        chunk = self._begin_chunk()
        alone = emit.fast or all(self._stays(*each) for each in self._carried)
        now = self._begin_iteration(first, done if self._blind else self._edge)
        if self._blind:
            speculation.begin_blind(emit, chunk, self._counter.item.ref, now.ref, self._counter.down)
            chunk.carries = not alone
        begin_iteration(flow, self._node, at(self._iterator, now))
        self._env |= {key: flow.state.env[key] for key in (self._node, self.body.params[0])}
        walk(self.body)
        while self._queue:
            self._queue.pop()()
        chunk, emit.chunk = emit.chunk or chunk, None
        if not self._again or (self._blind and not speculation.is_blind_of_use(emit, chunk)):
            return None
        fast = self._several(chunk, first, alone)
        if self._blind and not chunk.at_once:
            emit.b.begin(done)
            speculation.look_behind(emit, chunk, now.ref, self._edge, again)
            self._begin_again(start, again)
        flow.state = start
        emit.b.begin(before)
        self._begin_iterations(chunk, fast)
        return not (chunk.conditions or chunk.spans)

    # An iteration -----------------------------------------------------------------------------------------------------

    def _begin_chunk(self) -> Chunk:
        """Find out what the iterations may rely on, and what there is when one begins."""
        flow, node = self._flow, self._node
        chunk = self._emit.begin_chunk()
        chunk.fixed.add(self._counter.step.ref)
        env = flow.live(node)
        others = [key for key in env if key not in (node, *self.body.params)]
        self._env = {key: flow.fetch(key) for key in others if isinstance(env[key], (Number, Array))}
        for each in self._env.values():
            chunk.fixed |= {each.ref, *(each.facts if isinstance(each, Array) else ())}
        for param, result in self._carried:
            begin = flow.state.env[param]
            if isinstance(begin, Number) and begin.type.dtype.char == INT.dtype.char:
                if sums := sums_of(flow.structure, param, result):
                    leave_if_far(self._emit, flow.fetch(param), START)
                    self.sums |= sums
        env = {key: self._env.get(key) or mapped(_unplaced, each) for key, each in env.items()}
        flow.state = State(env, set(), held_by(env))
        return chunk

    def _begin_iteration(self, first: Label, done: Label) -> Number:
        """Begin an iteration, if it is not the last; gives its item, or index."""
        emit, node, is_range = self._emit, self._node, isinstance(self._iterator, Range)
        emit.ranges.found = {}
        emit.b.begin(self._head)
        now = Number(INT, emit.cells.kept((node, (0,) if is_range else (1,)), INT.dtype))
        end = Number(INT, emit.cells.kept((node, "end"), INT.dtype))
        emit.branch(emit.compare(self._counter.before, now, end), first, done)
        emit.b.begin(first)
        if emit.chunk is not None and is_range:
            emit.chunk.offsets[now.ref] = emit.constant(0, INT)
        return now

    def _stays(self, param: Value, result: Any) -> bool:
        """Whether an iteration depends on the one before by the sum of a value only."""
        return result is param or (isinstance(result, Value) and result in self.sums)

    def jump(self, at: Point | Node, live: dict[Key, Any], go_on: Callable[[], None]) -> bool:
        """Go on at a point of the iteration, or with the next one. Gives whether it was one of these."""
        flow, emit = self._flow, self._emit
        if at is self._node and self._kinds == kinds_of(live):
            flow.hold(held_by(live))
            flow.keep_fresh(live)
            for param in self._lasting:
                if self._blind and emit.chunk is not None:
                    speculation.look_later(emit, emit.chunk, (param, ()), live[param])
            speculation.jump_back(emit, self._head)
            self._again = True
            return True
        if not isinstance(at, Point) or at.block not in self._blocks:
            if emit.chunk is not None:
                emit.chunk.exits += 1
            return False

        def go() -> None:
            env = flow.state.env
            env.update({key: self._env[key] for key in env if key in self._env})
            flow.state.owned = held_by(env)
            go_on()

        flow.jump((self._head, at), live, go, queue=self._queue)
        return True

    # Around the iterations --------------------------------------------------------------------------------------------

    def _several(self, chunk: Chunk, first: Label, alone: bool) -> Label:
        """Do several iterations at once, if that can be done. Gives the block where they begin."""
        emit, step = self._emit, self._counter.step
        may = self._blind and step.known == 1 and alone
        chunk.at_once = may and simd.vectorize(emit, chunk, self._node, self._head, first, self._slow, self._edge)
        if chunk.at_once:
            return self._head
        self.vectorizes = step.known in (1, -1) and alone and chunk.loads > 0 and chunk.exits == 0
        if self._blind:
            speculation.tell_apart(emit, chunk)
        return self._head if self.vectorizes else unroll(emit.b, self._head, first, step.ref)

    def _begin_again(self, start: State, again: Label) -> None:
        """Put back into its cells what iterations have begun with that are undone, and run them slowly."""
        self._emit.b.begin(again)
        keys: list[Key] = [self._node, *self.body.params[1:]]
        for key in keys:
            mapped(lambda path, each: self._flow.keep((key, path), each), start.env[key])     # noqa: B023
        self._emit.jump(self._slow)

    def _begin_iterations(self, chunk: Chunk, fast: Label) -> None:
        """Set how many iterations there are to be, and go to them if all is sure."""
        emit = self._emit
        if self._blind and not chunk.at_once:
            speculation.before_blind(emit, chunk)
        set_limit(self._flow, self._node, self._iterator, self._edge, self._blind)
        limit = Number(INT, emit.cells.kept((self._node, "limit"), INT.dtype))
        if chunk.apart:
            chunk.conditions.append(speculation.meet(emit, chunk, self._counter.item, limit))
        if chunk.at_once:
            chunk.conditions.append(simd.collide(emit, chunk, self._counter.item, limit))
        emit.cells.keep((self._node, "end"), INT.dtype, limit.ref)
        if any(each.known for each in chunk.conditions):
            emit.jump(self._slow)
            return
        for each in chunk.conditions:
            if each.known is None:
                sure = emit.b.new_block("sure")
                emit.branch(each, self._slow, sure, rarely=True)
                emit.b.begin(sure)
        self._check_bounds(chunk, limit, fast)

    def _span(self, offset: Number, length: Number) -> tuple[Number, Number]:
        """The items at which an index is the first within bounds, and the first beyond them."""
        emit = self._emit
        low = emit.integer("sub", emit.constant(0, INT), offset)
        high = emit.integer("sub", self._least("lt", length, emit.constant(CAPACITY, INT)), offset)
        if self._counter.down:      # the items are below the one, and not below the other
            low, high = (emit.integer("sub", each, emit.constant(1, INT)) for each in (high, low))
        return low, high

    def _check_bounds(self, chunk: Chunk, limit: Number, fast: Label) -> None:
        """Go to iterations up to the limit, or up to where an index would come out of bounds."""
        emit, item, rare = self._emit, self._counter.item, self._emit.b.new_block("rare")
        first, last = ("gt", "lt") if self._counter.down else ("lt", "gt")
        doubt, spans = emit.constant(False, BOOL), []
        for offset, length in chunk.spans.values():
            low, high = self._span(offset, length)
            spans.append((low, high))
            doubt = emit.integer("or", doubt, emit.compare(first, item, low))
            doubt = emit.integer("or", doubt, emit.compare(last, limit, high))
        if doubt.known is not None:
            emit.jump(self._slow if doubt.known else fast)
            return
        emit.branch(doubt, rare, fast, rarely=True)
        emit.b.begin(rare)
        until, bad = limit, emit.constant(False, BOOL)
        for low, high in spans:
            early = emit.compare(first, item, low)
            late = emit.compare("le" if self._counter.down else "ge", item, high)
            bad = emit.integer("or", emit.integer("or", bad, early), late)
            until = self._least(first, until, high)
            limit = emit.select(early, self._least(first, limit, low), limit)
        emit.cells.keep((self._node, "end"), INT.dtype, until.ref)
        emit.cells.keep((self._node, "limit"), INT.dtype, limit.ref)
        if bad.known is None:
            emit.branch(bad, self._slow, fast)
        else:
            emit.jump(self._slow if bad.known else fast)

    def _least(self, less: str, a: Number, b: Number) -> Number:
        return self._emit.select(self._emit.compare(less, a, b), a, b)


def _unplaced(_: Any, operand: Any) -> Any:
    return unplaced(operand)


# Which loops ----------------------------------------------------------------------------------------------------------


def may_run_ahead(flow: Flow, node: Node, iterator: Any) -> bool:
    """Whether a loop is an innermost one, short, and only of numbers and elements, as far as one can see.

    The objects that the code owns when an iteration begins must be the same ones in all iterations.
    """
    inner = list(walk(node.blocks[0]))
    if len(inner) > NODES or not all(map(_is_simple, inner)):
        return False
    held = held_by(flow.live(node))
    of_objects = not isinstance(iterator, Range) and is_held(iterator[0])
    changes = any(key in node.blocks[0].params for key, _ in held)
    return not of_objects and flow.state.owned.keys() == held.keys() and not changes


def _is_simple(node: Node) -> bool:
    op = OPS.get(node.op)
    can = op is not None and op.lower is not None and op.name not in MAKES_ARRAYS
    return node.op in ("if", "build", "unpack", "bound") or can


def may_be_blind(flow: Flow, node: Node, iterator: Any) -> bool:
    """Whether iterations may be such that they can be run blindly, see `speculation`."""
    writes = any(OPS[each.op].effect == WRITE for each in node.blocks[0].nodes if each.op in OPS)
    one_by_one = isinstance(iterator, Range) and iterator.known in (1, -1)
    return one_by_one and FLAGS != 0 and not flow.emit.fast and (writes or bool(recurrences(node)))


# Floats of Python and of NumPy ----------------------------------------------------------------------------------------


def promoted(node: Node, carried: list[Any]) -> list[Any]:
    """What is carried, with floats of NumPy for those of Python where an iteration (there is one) makes no difference.

    So `total = 0.0`, to which elements are added, needs no code of its own for the first of them.
    """
    results = results_of(node)
    if not results:  # nothing is carried, or no iteration comes to its end
        return carried
    pairs = zip(node.blocks[0].params[-len(carried) :], carried, results)
    return [Number(_STRONG, each[1].ref) if _is_weak(node, *each) else each[1] for each in pairs]


def _is_weak(node: Node, param: Value, begin: Any, result: Any) -> bool:
    """Whether a parameter is a Python float that is combined with floats of NumPy only, and then is one of them."""
    if kind_of(begin) != FLOAT or not _is_strong(result):
        return False
    body = list(walk(node.blocks[0]))
    blocks = (node.blocks[0], *(block for each in body for block in each.blocks))
    uses = [[arg for arg in each.args if arg is not param] for each in body if param in each.inputs]
    return (
        all(is_linear(each) for each in body if param in each.inputs)
        and all(len(others) == 1 and _is_strong(others[0]) for others in uses)
        and not any(param in block.result_values for block in blocks)
    )


def _is_strong(arg: Any) -> bool:
    return isinstance(arg, Value) and arg.type == _STRONG
