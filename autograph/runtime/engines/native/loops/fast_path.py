"""Code for many iterations of a counted loop at once, see `guard_hoisting`.

An innermost `for` has two codes for an iteration. One is for iterations of which it has been made sure before that what
does not change in them is as it should be, that indices that go with the items are within bounds, and that what is
counted does not overflow. The other looks at everything at its time. The first iterations may be of that kind, and the
last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from autograph.runtime.engines.native.analysis.structure import Key, Point
from autograph.runtime.engines.native.emit.emitter import POLL
from autograph.runtime.engines.native.emit.guard_hoisting import Chunk
from autograph.runtime.engines.native.emit.speculation import BLIND
from autograph.runtime.engines.native.emit.value_ranges import RANGE
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.loops.block_versions import State, held_by
from autograph.runtime.engines.native.loops.counters import NODES, Counting, results_of
from autograph.runtime.graph.graph import Block, Node, Value, walk
from autograph.runtime.graph.opdef import OPS, WRITE
from autograph.runtime.graph.operands import Array, Number, Range, is_held, kind_of, mapped, unplaced
from autograph.runtime.graph.traits import ARITHMETIC, MAKES_ARRAYS, RING, plain
from autograph.runtime.graph.types import BOOL, FLOAT, INT, scalar

_STRONG = scalar("float64")
CAPACITY = 2**56            # an array that is longer counts as this long


@dataclass(slots=True)
class Iterations:
    """The iterations of a loop that are being emitted.

    Attributes:
        head: the block that each begins with.
        kinds: what there is then.
        env: what is the same throughout an iteration, wherever paths meet.
        sums: values that do not overflow.
        lasting: what need not be looked at before the iterations have been run.
        queue: what is to be emitted yet.
        again: whether such an iteration may follow one. (None does if all of them lead to values of other types.)
    """

    node: Node
    head: str
    kinds: Any
    env: dict[Key, Any]
    sums: set[Value]
    blocks: set[Block]
    lasting: list[Value]
    queue: list[Callable[[], None]] = field(default_factory=list)
    again: bool = False


class RunningAhead(Counting):
    """Makes the code of a counted loop that looks before the iterations.

    Attributes:
        vectorizes: whether LLVM may find something to vectorize.
    """

    vectorizes = False
    _iterations: Iterations | None = None

    def _walk(self, block: Block, index: int = 0) -> None:
        raise NotImplementedError

    def _set_limit(self, node: Node, iterator: Any, iterations: int, head: str) -> None:
        raise NotImplementedError

    def _counting(self, iterator: Any) -> tuple[str, str, str, bool]:
        """Where an iterator is, where it ends, its steps, and whether they lead down."""
        if isinstance(iterator, Range):
            return iterator.start, iterator.stop, iterator.step, bool(iterator.down)
        return iterator[1].ref, self.emit.length(iterator[0], 0).ref, "1", False

    def _begin_iteration(self, node: Node, iterator: Any) -> None:
        """Set the item of an iteration, and what is left for the others."""
        item, _, step, _ = self._counting(iterator)
        rest, param = self.emit.counted(item, step), node.blocks[0].params[0]
        if isinstance(iterator, Range):
            self._define(node, replace(iterator, start=rest))
            self._define(param, Number(INT, item))
            self._counters.add(param)
            self.emit.bound(item, -RANGE, RANGE)
        else:
            self._define(node, (iterator[0], Number(INT, rest)))
            self._define(param, self.emit.load(iterator[0], [Number(INT, item)]))

    # Which loops ------------------------------------------------------------------------------------------------------

    def _may_run_ahead(self, node: Node, iterator: Any) -> bool:
        """Whether a loop is an innermost one, short, and only of numbers and elements, as far as one can see."""
        inner = list(walk(node.blocks[0]))
        held = not isinstance(iterator, Range) and is_held(iterator[0])
        return len(inner) <= NODES and not held and all(map(_is_simple, inner)) and self._keeps_objects(node)

    def _keeps_objects(self, node: Node) -> bool:
        """Whether the objects that the code owns when an iteration begins are the same ones in all iterations."""
        live = {key: each for key, each in self._state.env.items() if self.structure.is_live_in_loop(key, node)}
        held = held_by(live)
        return self._state.owned.keys() == held.keys() and not any(key in node.blocks[0].params for key, _ in held)

    def _find_lasting(self, node: Node, items: int) -> list[Value]:
        """Find what an iteration only adds to or multiplies, so that once it is not finite, it never is again."""
        pairs = zip(node.blocks[0].params[items:], results_of(node))
        return [param for param, result in pairs if result is not param and _comes_of(result, param, {})]

    def _stays(self, param: Value, result: Any) -> bool:
        """Whether an iteration depends on the one before by the sum of a value only."""
        found = self._iterations
        return result is param or (isinstance(result, Value) and found is not None and result in found.sums)

    def _promoted(self, node: Node, carried: list[Any]) -> list[Any]:
        """What is carried, with floats of NumPy for those of Python where an iteration (there is one) does not tell.

        So `total = 0.0`, to which elements are added, needs no code of its own for the first of them.
        """
        results = results_of(node)
        if not results:  # nothing is carried, or no iteration comes to its end
            return carried
        pairs = zip(node.blocks[0].params[-len(carried) :], carried, results)
        return [Number(_STRONG, each[1].ref) if self._is_weak(node, *each) else each[1] for each in pairs]

    def _is_weak(self, node: Node, param: Value, begin: Any, result: Any) -> bool:
        """Whether a parameter is a Python float that is combined with floats of NumPy only, and then is one of them."""
        if kind_of(begin) != FLOAT or not _is_strong(result):
            return False
        body = list(walk(node.blocks[0]))
        blocks = (node.blocks[0], *(block for each in body for block in each.blocks))
        uses = [[arg for arg in each.args if arg is not param] for each in body if param in each.inputs]
        return (
            all(_is_linear(each) for each in body if param in each.inputs)
            and all(len(others) == 1 and _is_strong(others[0]) for others in uses)
            and not any(param in block.result_values for block in blocks)
        )

    # Their code -------------------------------------------------------------------------------------------------------

    def _run_ahead(self, node: Node, iterator: Any, items: int, slow: str, edge: str) -> bool:
        """Emit iterations up to the limit, and go there if all is made sure.

        Args:
            iterator: it has another item.
            slow: the block where an iteration begins of which nothing is sure.
            edge: where it is looked whether there are more iterations.

        Returns:
            whether there is nothing to be made sure, so that no iterations are slow.
        """
        state, mark, left, count = self._state, self.emit.mark(), self._left, len(self._leaving)
        for blind in (True, False)[not self._may_be_blind(node, iterator) :]:
            self._state = state.copy()
            found = self._emit_iterations(node, iterator, items, slow, edge, blind=blind)
            if found is not None:
                return found
            self.emit.reset(mark)
            del self._leaving[count:]
            self._state, self._left = state, left
        self.emit.poll("1", self._stop, edge)
        self.emit.jump(slow)        # for one iteration; behind it, it is looked ahead anew
        return False

    def _may_be_blind(self, node: Node, iterator: Any) -> bool:
        """Whether iterations may be such that they can be run blindly, see `speculation`."""
        writes = (OPS[each.op].effect == WRITE for each in node.blocks[0].nodes if each.op in OPS)
        one_by_one = isinstance(iterator, Range) and iterator.step in ("1", "-1")
        lasting = self._find_lasting(node, 1)
        return one_by_one and FLAGS != 0 and not self.emit.fast and (bool(lasting) or any(writes))

    def _emit_iterations(
        self, node: Node, iterator: Any, items: int, slow: str, edge: str, *, blind: bool
    ) -> bool | None:
        """The same; None if iterations cannot be run so, or need not."""
        emit, body, state = self.emit, node.blocks[0], self._state.copy()
        before, fast, iteration, done, again = map(emit.label, ("before", "fast", "iteration", "done", "again"))
        emit.jump(before)
        emit.begin(before)
        chunk = emit.begin_chunk()
        item, _, step, down = self._counting(iterator)
        env = {key: each for key, each in self._state.env.items() if self.structure.is_live_in_loop(key, node)}
        chunk.fixed.add(step)
        fixed = self._find_fixed(node, env, chunk)
        sums = self._find_sums(node, items)
        kinds = frozenset((key, kind_of(each)) for key, each in env.items())
        blocks = {body, *(block for each in walk(body) for block in each.blocks)}
        self._iterations = Iterations(node, fast, kinds, fixed, sums, blocks, self._find_lasting(node, items))
        env = {key: fixed.get(key) or mapped(_unplaced, each) for key, each in env.items()}
        self._state = State(env, set(), held_by(env))
        alone = emit.fast or all(map(self._stays, body.params[items:], results_of(node)))
        now = self._begin_fast(node, iterator, fast, iteration, done if blind else edge)
        if blind:
            emit.begin_blind(item, now, down)
            chunk.carries = not alone
        ahead = replace(iterator, start=now) if isinstance(iterator, Range) else (iterator[0], Number(INT, now))
        self._begin_iteration(node, ahead)
        self._iterations.env |= {key: self._state.env[key] for key in (node, body.params[0])}
        self._walk(body)
        while self._iterations.queue:
            self._iterations.queue.pop()()
        chunk, several = emit.chunk or chunk, self._iterations.again
        self._iterations = emit.chunk = None
        if not several or (blind and not emit.is_blind_of_use(chunk)):
            return None
        chunk.at_once = blind and step == "1" and alone and emit.lanes(chunk, node, fast, iteration, slow, edge)
        if not chunk.at_once:
            vectorizes = step in ("1", "-1") and alone and chunk.loads > 0 and chunk.exits == 0
            self.vectorizes |= vectorizes
            if blind:
                emit.tell_apart(chunk)
            if not vectorizes:
                fast = emit.several(fast, iteration, step)
            if blind:
                emit.begin(done)
                emit.look_behind(chunk, now, edge, again)
                self._begin_again(node, items, state, again, slow)
        self._state = state
        emit.begin(before)
        self._begin_iterations(node, chunk, iterator, slow, edge, fast)
        return not (chunk.conditions or chunk.spans)

    def _find_fixed(self, node: Node, env: dict[Key, Any], chunk: Chunk) -> dict[Key, Any]:
        """The numbers and arrays that are the same in all iterations, taken out of their cells."""
        others = [key for key in env if key not in (node, *node.blocks[0].params)]
        found = {key: self._fetch(key) for key in others if isinstance(env[key], (Number, Array))}
        for each in found.values():
            chunk.fixed |= {each.ref, *(each.facts if isinstance(each, Array) else ())}
        return found

    def _begin_iterations(self, node: Node, chunk: Chunk, iterator: Any, slow: str, edge: str, fast: str) -> None:
        """Set how many iterations there are to be, and go to them if all is sure."""
        emit, (item, _, _, down) = self.emit, self._counting(iterator)
        blind = chunk.blind is not None
        if blind and not chunk.at_once:
            emit.before_blind(chunk)
        self._set_limit(node, iterator, BLIND if blind else POLL, edge)
        self._guard(node, chunk, Number(INT, item), down, slow, fast)

    def _begin_again(self, node: Node, items: int, state: State, again: str, slow: str) -> None:
        """Put back into its cells what iterations have begun with that are undone, and run them slowly."""
        self.emit.begin(again)
        keys: list[Key] = [node, *node.blocks[0].params[items:]]
        for key in keys:
            mapped(lambda path, each: self._keep((key, path), each), state.env[key])     # noqa: B023
        self.emit.jump(slow)

    def _begin_fast(self, node: Node, iterator: Any, fast: str, iteration: str, done: str) -> str:
        """Begin an iteration, if it is not the last; gives where its iterator is."""
        emit = self.emit
        emit.found = {}
        emit.begin(fast)
        now = emit.kept(((node, ()), 0) if isinstance(iterator, Range) else (node, (1,)), INT.dtype)
        end = Number(INT, emit.kept((node, "end"), INT.dtype))
        down = self._counting(iterator)[-1]
        emit.branch(emit.compare("gt" if down else "lt", Number(INT, now), end), iteration, done)
        emit.begin(iteration)
        if emit.chunk is not None and isinstance(iterator, Range):
            emit.chunk.offsets[now] = emit.constant(0, INT)
        return now

    def _guard(self, node: Node, chunk: Chunk, item: Number, down: bool, slow: str, fast: str) -> None:
        """Go to iterations up to the limit if all is sure, or up to where an index would come out of bounds."""
        emit, rare = self.emit, self.emit.label("rare")
        limit = Number(INT, emit.kept((node, "limit"), INT.dtype))
        if chunk.apart:
            chunk.conditions.append(emit.meet(chunk, item, limit))
        if chunk.at_once:
            chunk.conditions.append(emit.collide(chunk, item, limit))
        emit.keep((node, "end"), INT.dtype, limit.ref)
        if any(each.known for each in chunk.conditions):
            emit.jump(slow)
            return
        for each in chunk.conditions:
            if each.known is None:
                sure = emit.label("sure")
                emit.branch(each, slow, sure, rarely=True)
                emit.begin(sure)
        spans = []
        first, last = ("gt", "lt") if down else ("lt", "gt")
        doubt = emit.constant(False, BOOL)
        for offset, length in chunk.spans.values():
            low = emit.integer("sub", emit.constant(0, INT), offset)
            high = emit.integer("sub", self._least("lt", length, emit.constant(CAPACITY, INT)), offset)
            if down:        # the items are below the one, and not below the other
                low, high = (emit.integer("sub", each, emit.constant(1, INT)) for each in (high, low))
            spans.append((low, high))
            doubt = emit.integer("or", doubt, emit.compare(first, item, low))
            doubt = emit.integer("or", doubt, emit.compare(last, limit, high))
        if doubt.known is not None:
            emit.jump(slow if doubt.known else fast)
            return
        emit.branch(doubt, rare, fast, rarely=True)
        emit.begin(rare)
        until, bad = limit, emit.constant(False, BOOL)
        for low, high in spans:
            early = emit.compare(first, item, low)
            late = emit.compare("le" if down else "ge", item, high)
            bad = emit.integer("or", emit.integer("or", bad, early), late)
            until = self._least(first, until, high)
            limit = emit.select(early, self._least(first, limit, low), limit)
        emit.keep((node, "end"), INT.dtype, until.ref)
        emit.keep((node, "limit"), INT.dtype, limit.ref)
        emit.branch(bad, slow, fast) if bad.known is None else emit.jump(slow if bad.known else fast)

    def _least(self, less: str, a: Number, b: Number) -> Number:
        return self.emit.select(self.emit.compare(less, a, b), a, b)

    def _leave(self) -> str:
        if self.emit.chunk is not None:
            self.emit.chunk.exits += 1
        return super()._leave()

    # Where paths meet -------------------------------------------------------------------------------------------------

    def _jump(self, label: Any, lives: Callable[[Key], bool], go_on: Callable[[], None], entry: str = "") -> None:
        iterations = self._iterations
        if iterations is not None and label is iterations.node:
            live = {key: operand for key, operand in self._state.env.items() if lives(key)}
            if iterations.kinds == frozenset((key, kind_of(operand)) for key, operand in live.items()):
                self._hold(held_by(live))
                self._keep_fresh(live)
                for param in iterations.lasting:
                    if isinstance(live[param], Number):
                        self.emit.look_later((param, ()), live[param])
                self.emit.jump_back(iterations.head)
                iterations.again = True
                return
        if iterations is None or not (isinstance(label, Point) and label.block in iterations.blocks):
            if iterations is not None and self.emit.chunk is not None:
                self.emit.chunk.exits += 1
            super()._jump(label, lives, go_on, entry)
            return

        def go() -> None:
            env = self._state.env
            env.update({key: iterations.env[key] for key in env if key in iterations.env})
            self._state.owned = held_by(env)
            go_on()

        others, self._queue = self._queue, iterations.queue
        super()._jump((iterations.head, label), lives, go)
        self._queue = others


def _comes_of(value: Any, param: Value, known: dict[Value, bool]) -> bool:
    """Whether a value is a parameter, or comes of it by sums and products."""
    if value is param or not isinstance(value, Value) or value.node is None or not _is_linear(value.node):
        return value is param
    if value not in known:
        known[value] = any(_comes_of(arg, param, known) for arg in value.node.args)
    return known[value]


def _is_linear(node: Node) -> bool:
    """Whether a node adds, subtracts or multiplies two numbers: what it gives is finite only if both are."""
    op = plain(node.op)
    return op in RING and op in ARITHMETIC


def _is_strong(arg: Any) -> bool:
    return isinstance(arg, Value) and arg.type == _STRONG


def _is_simple(node: Node) -> bool:
    op = OPS.get(node.op)
    can = op is not None and op.lower is not None and op.name not in MAKES_ARRAYS
    return node.op in ("if", "build", "unpack", "bound") or can


def _unplaced(_: Any, operand: Any) -> Any:
    return unplaced(operand)
