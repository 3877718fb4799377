"""Loop versioning: a fast and a slow version of the iterations of an innermost `for`.

The preheader checks loop invariants, indices that follow the items, and counters, see `guard_hoisting`; then iterations
of the fast version run, which checks none of these. The slow version checks everything in its place. It runs the first
or the last iterations where a check fails for these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.runtime.engines.native.analysis import induction_variables
from autograph.runtime.engines.native.analysis.structure import Key, Point
from autograph.runtime.engines.native.analysis.view_groups import makes_array
from autograph.runtime.engines.native.emit import guard_hoisting, simd, speculation
from autograph.runtime.engines.native.emit.guard_hoisting import FastLoop, Strip
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.llvm.ir import I64
from autograph.runtime.engines.native.llvm.ir import Block as Label
from autograph.runtime.engines.native.llvm.unroll import unroll
from autograph.runtime.engines.native.loops.block_versions import (
    Flow,
    State,
    each_part,
    held_by,
    kinds_of,
    without_register,
)
from autograph.runtime.engines.native.loops.counted_loops import at, begin_iteration, counter_of, set_limit, weight
from autograph.runtime.graph.graph import Block, Node, Value, walk
from autograph.runtime.graph.opdef import OPS, WRITE
from autograph.runtime.graph.operands import Array, Number, Range, is_held, kind_of
from autograph.runtime.graph.types import FLOAT, INT, scalar

_STRONG = scalar("float64")


class FastPath:
    """The fast version of a counted loop, while it is emitted.

    Attributes:
        body: of the loop.
        sums: values that do not overflow in it.
        vectorizes: whether LLVM may vectorize it.
    """

    def __init__(self, flow: Flow, node: Node, iterator: Any, slow: Label, edge: Label, speculates: bool) -> None:
        """
        Args:
            iterator: the rest of the iterable, which has another item.
            slow: the block where an iteration of the slow version begins.
            edge: the block that checks whether there are more iterations.
            speculates: whether iterations run speculatively, see `speculation`.
        """
        self.body = node.blocks[0]
        self.sums: set[Value] = set()
        self.vectorizes = False
        self._flow = flow
        self._emit = flow.emit
        self._node = node
        self._iterator = iterator
        self._slow, self._edge = slow, edge
        self._speculates = speculates
        self._counter = counter_of(flow, iterator)
        self._head = flow.emit.b.new_block("fast")
        self._blocks = {self.body, *(block for each in walk(self.body) for block in each.blocks)}
        self._kinds = kinds_of(flow.live(node))
        self._carried = list(zip(self.body.params[1:], induction_variables.results_of(node)))
        self._lasting = induction_variables.recurrences(node)       # they need not be checked before the end
        self._env: dict[Key, Any] = {}          # operands that are the same wherever paths meet
        self._queue: list[Callable[[], None]] = []      # versions of blocks that have no code yet
        self._loops = False     # whether an iteration may follow one; none does if all change the types of values

    def emit(self, walk: Callable[[Block], None]) -> bool | None:
        """Emit the preheader and the iterations of the fast version.

        Args:
            walk: emits the body.

        Returns:
            whether there are no checks, so that no iterations are slow; None if there can be no fast version of this
            kind, or it does not pay.
        """
        flow, emit, start = self._flow, self._emit, self._flow.state.copy()
        preheader, first, done, again = map(emit.b.new_block, ("before", "iteration", "done", "again"))
        emit.jump(preheader)
        emit.b.begin(preheader)
        loop, speculated = self._begin_loop(), None
        independent = emit.fast or all(self._is_sum(*each) for each in self._carried)
        now = self._begin_iteration(first, done if self._speculates else self._edge)
        if self._speculates:
            counter = self._counter
            speculated = speculation.begin(emit, loop, counter.item.ref, now.ref, counter.down, not independent)
            emit.speculation = speculated
        begin_iteration(flow, self._node, at(self._iterator, now))
        self._env |= {key: flow.state.env[key] for key in (self._node, self.body.params[0])}
        walk(self.body)
        while self._queue:
            self._queue.pop()()
        emit.loop = emit.speculation = None
        if not self._loops or (speculated is not None and not speculation.pays(emit, speculated)):
            return None
        may_be_vectors = speculated is not None and (independent or speculated.elements)
        vectorized = may_be_vectors and speculated is not None and self._vectorize(speculated, first)
        logged = None if vectorized else speculated
        if logged is not None:
            speculation.declare_distinct(emit, logged)
        fast = self._head if vectorized else self._unrolled(loop, first, independent)
        if logged is not None:
            emit.b.begin(done)
            speculation.end_strip(emit, logged, now.ref, self._edge, again)
            self._begin_again(start, again)
        flow.state = start
        emit.b.begin(preheader)
        if logged is not None:
            speculation.begin_strip(emit, loop)
        strip = self._next_strip(fast)
        if logged is not None and logged.distinct:
            loop.conditions.append(speculation.may_be_same(emit, logged, strip.item, strip.limit))
        if speculated is not None and vectorized and speculated.stores:
            loop.conditions.append(simd.conflict(emit, speculated, strip.item, strip.limit))
        guard_hoisting.enter(emit, loop, strip)
        return not (loop.conditions or loop.bounds)

    # An iteration -----------------------------------------------------------------------------------------------------

    def _begin_loop(self) -> FastLoop:
        """Find the loop invariants, check the counters, and let the state be that of the head of the loop."""
        flow, node = self._flow, self._node
        loop = self._emit.begin_loop()
        loop.invariants.add(self._counter.step.ref)
        env = flow.live(node)
        others = [key for key in env if key not in (node, *self.body.params)]
        self._env = {key: flow.fetch(key) for key in others if isinstance(env[key], (Number, Array))}
        for each in self._env.values():
            loop.invariants |= {each.ref, *(each.facts if isinstance(each, Array) else ())}
        for param, result in self._carried:
            begin = flow.state.env[param]
            if isinstance(begin, Number) and begin.type.dtype.char == INT.dtype.char:
                if sums := induction_variables.sums_of(flow.structure, param, result):
                    guard_hoisting.leave_if_far(self._emit, flow.fetch(param), induction_variables.START)
                    self.sums |= sums
        env = {key: self._env.get(key) or each_part(without_register, key, each) for key, each in env.items()}
        flow.state = State(env, set(), held_by(env))
        return loop

    def _cell(self, key: Any) -> Any:
        """The cell of an integer of the loop."""
        return self._emit.cells.place((self._node, key), I64)

    def _begin_iteration(self, first: Label, done: Label) -> Number:
        """Begin an iteration, unless the last one is done. Returns its item, or index."""
        emit, is_range = self._emit, isinstance(self._iterator, Range)
        emit.ranges.found = {}
        emit.b.begin(self._head)
        now = Number(INT, emit.b.load(I64, self._cell((0,) if is_range else (1,))))
        end = Number(INT, emit.b.load(I64, self._cell("end")))
        emit.branch(emit.compare(self._counter.before, now, end), first, done)
        emit.b.begin(first)
        if emit.loop is not None and is_range:
            emit.loop.offsets[now.ref] = emit.constant(0, INT)
        return now

    def _is_sum(self, param: Value, result: Any) -> bool:
        """Whether an iteration depends on the one before at most by a sum."""
        return result is param or (isinstance(result, Value) and result in self.sums)

    def jump(self, at: Point | Node, live: dict[Key, Any], go_on: Callable[[], None]) -> bool:
        """Go to a point of the iteration, or to the next one. Returns whether `at` is one of these."""
        flow, emit = self._flow, self._emit
        if at is self._node and self._kinds == kinds_of(live):
            flow.hold(held_by(live))
            flow.keep_fresh(live)
            for param in self._lasting:
                if emit.speculation is not None:
                    speculation.defer_to_last(emit, emit.speculation, (param, ()), live[param])
            speculation.jump_back(emit, self._head)
            self._loops = True
            return True
        if not isinstance(at, Point) or at.block not in self._blocks:
            if emit.loop is not None:
                emit.loop.exits += 1
            return False

        def go() -> None:
            env = flow.state.env
            env.update({key: self._env[key] for key in env if key in self._env})
            flow.state.owned = held_by(env)
            go_on()

        flow.jump((self._head, at), live, go, queue=self._queue)
        return True

    # Around the iterations --------------------------------------------------------------------------------------------

    def _vectorize(self, speculated: speculation.Speculation, first: Label) -> bool:
        """Vectorize speculative iterations. Returns whether that is possible."""
        counters = (self._emit.cells.places.get(((self._node, (part,)), I64)) for part in range(3))
        private = {*counters, *speculation.accumulators(self._emit)}
        target = simd.Target(self._head, first, self._slow, self._edge, self._cell("limit"), private)
        return self._counter.step.known == 1 and simd.vectorize(self._emit, speculated, target)

    def _unrolled(self, loop: FastLoop, first: Label, independent: bool) -> Label:
        """Unroll iterations that LLVM does not vectorize. Returns the block where they begin."""
        step = self._counter.step
        self.vectorizes = step.known in (1, -1) and independent and loop.loads > 0 and loop.exits == 0
        return self._head if self.vectorizes else unroll(self._emit.b, self._head, first, step.ref)

    def _begin_again(self, start: State, again: Label) -> None:
        """Restore the initial values of iterations that were undone, and run the slow version."""
        self._emit.b.begin(again)
        keys: list[Key] = [self._node, *self.body.params[1:]]
        for key in keys:
            each_part(self._flow.keep, key, start.env[key])
        self._emit.jump(self._slow)

    def _next_strip(self, fast: Label) -> Strip:
        """The next iterations: up to a poll for signals, to a check of speculation, or to the end."""
        set_limit(self._flow, self._node, self._iterator, self._edge, self._speculates)
        item, down, ends = self._counter.item, self._counter.down, (self._cell("end"), self._cell("limit"))
        return Strip(item, Number(INT, self._emit.b.load(I64, ends[1])), down, ends, fast, self._slow)


# Which loops ----------------------------------------------------------------------------------------------------------


def may_have_fast_path(flow: Flow, node: Node, iterator: Any) -> bool:
    """Whether a loop is innermost, short, and only of numbers and elements, as far as its graph tells.

    The objects that the code owns when an iteration begins must be the same in all iterations.
    """
    inner = list(walk(node.blocks[0]))
    if len(inner) > induction_variables.NODES or not all(map(_is_simple, inner)) or weight(node) > 1:
        return False
    held = held_by(flow.live(node))
    of_objects = not isinstance(iterator, Range) and is_held(iterator[0])
    changes = any(key in node.blocks[0].params for key, _ in held)
    return not of_objects and flow.state.owned.keys() == held.keys() and not changes


def _is_simple(node: Node) -> bool:
    op = OPS.get(node.op)
    can = op is not None and op.lower is not None and not makes_array(node)
    return node.op in ("if", "build", "unpack", "bound") or can


def may_speculate(flow: Flow, node: Node, iterator: Any) -> bool:
    """Whether iterations may run speculatively, as far as the graph tells."""
    writes = any(OPS[each.op].effect == WRITE for each in node.blocks[0].nodes if each.op in OPS)
    one_by_one = isinstance(iterator, Range) and iterator.known in (1, -1)
    return one_by_one and FLAGS != 0 and not flow.emit.fast and (writes or bool(induction_variables.recurrences(node)))


# Floats of Python and of NumPy ----------------------------------------------------------------------------------------


def promoted(node: Node, carried: list[Any]) -> list[Any]:
    """The carried operands; a Python float is NumPy's if the first iteration makes it that, with the same results.

    So `total = 0.0`, to which elements are added, needs no version of its own for the first iteration.
    """
    results = induction_variables.results_of(node)
    if not results:  # nothing is carried, or no iteration comes to its end
        return carried
    pairs = zip(node.blocks[0].params[-len(carried) :], carried, results)
    return [Number(_STRONG, each[1].ref) if _is_weak(node, *each) else each[1] for each in pairs]


def _is_weak(node: Node, param: Value, begin: Any, result: Any) -> bool:
    """Whether a parameter is a Python float that is only combined with NumPy's, and becomes one of these."""
    if kind_of(begin) != FLOAT or not _is_strong(result):
        return False
    body = list(walk(node.blocks[0]))
    blocks = (node.blocks[0], *(block for each in body for block in each.blocks))
    uses = [[arg for arg in each.args if arg is not param] for each in body if param in each.inputs]
    return (
        all(induction_variables.is_linear(each) for each in body if param in each.inputs)
        and all(len(others) == 1 and _is_strong(others[0]) for others in uses)
        and not any(param in block.result_values for block in blocks)
    )


def _is_strong(arg: Any) -> bool:
    return isinstance(arg, Value) and arg.type == _STRONG
