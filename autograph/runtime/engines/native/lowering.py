"""From a loop of the graph, and what its inputs are, to machine code.

The blocks of the loop are walked, and each node is done by the lowering of its op. Where paths meet (behind an `if`, at
the head of a loop, behind it), what is there may be of different types from different paths: `total = 0` is an integer
when the loop begins, and a float from the second turn on. So there is code for each combination of types that really
comes (a *version*), made when the first path leads to it; therefore all types are exact, everywhere. Where there would
be too many versions, the code is left.

    env         what each value is, where the code is being made: an operand. One without a `ref` is in its cell.
    fresh       the values whose cells do not have them yet; they are put there before a jump
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autograph.marks import UNBOUND
from autograph.runtime.engines.native.emitter import Emitter
from autograph.runtime.engines.native.exits import Exit, Fetch, Interrupted
from autograph.runtime.engines.native.structure import Key, Point, Structure
from autograph.runtime.graph import Block, Constant, Node, Value, map_args
from autograph.runtime.opdef import OPS
from autograph.runtime.operands import Array, Fixed, Given, NoLowering, Number, Range, kind_of, mapped, unplaced
from autograph.runtime.ops.scalars import number, truth
from autograph.runtime.passes.rewriting import shown
from autograph.runtime.types import INT

VERSIONS = 6        # of what follows one point
NODES = 20_000      # lowered in all
POLL = 1 << 16      # turns from one look at signals to the next
LOOPS = ("while", "for")
FUEL: list[int] = []        # for tests: the address of an integer, how many nodes are run before the code is left



class Refused(Exception):
    """There is no use in machine code for a loop: each of its turns would leave it."""


@dataclass(slots=True)
class _State:
    env: dict[Key, Any]
    fresh: set[Key]

    def copy(self) -> _State:
        return _State(dict(self.env), set(self.fresh))


class Lowering:
    """Makes the machine code of a loop for inputs of certain kinds.

    Attributes:
        exits: what is to be done when the code gives back their number.
    """

    def __init__(self, structure: Structure, inputs: dict[Value, Any], emit: Emitter | None = None) -> None:
        self.structure = structure
        self.inputs = inputs
        self.exits: list[Exit] = [Interrupted()]
        self.slots = 0
        self.emit = emit or Emitter("loop", self._leave)
        self._at: Point | None = None
        self._state = _State({}, set())
        self._left: str | None = None       # the block by which the node in hand is left
        self._leaving: list[tuple[str, Point, _State]] = []
        self._versions: dict[Any, dict[Any, str]] = {}
        self._queue: list[Callable[[], None]] = []
        self._nodes = 0

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
        return self.emit.text

    # What values are --------------------------------------------------------------------------------------------------

    def _value(self, leaf: Any) -> Any:
        """The operand that a value is; constants are what they are."""
        if not isinstance(leaf, Value):
            return leaf
        return self.inputs[leaf] if leaf in self.inputs else self._fetch(leaf)

    def _fetch(self, key: Key) -> Any:
        found = self._state.env[key]
        fetched = mapped(lambda path, each: self._loaded((key, path), each), found)
        if fetched is not found:
            self._state.env[key] = fetched
        return fetched

    def _loaded(self, cell: Any, each: Any) -> Any:
        if isinstance(each, Number) and not each.ref:
            return Number(each.type, self.emit.kept(cell, each.type.dtype))
        if isinstance(each, Range) and not each.start:
            start, stop, step = (self.emit.kept((cell, part), INT.dtype) for part in range(3))
            return Range(start, stop, step, each.known)
        return each

    def _args(self, args: Any) -> Any:
        return map_args(self._value, args)

    def _operand(self, arg: Any) -> Any:
        """What an argument is as a value of its own."""
        if isinstance(arg, tuple) and type(arg) is tuple:
            return tuple(map(self._operand, arg))
        if isinstance(arg, (Number, Range, Array, Given, Fixed)):
            return arg
        if isinstance(arg, (list, dict, set, slice, Constant, tuple)):
            raise NoLowering
        try:
            return number(self.emit, arg)
        except NoLowering:
            if isinstance(arg, (np.generic, np.ndarray)):
                raise
            return Fixed(arg)

    def _define(self, key: Key, operand: Any) -> None:
        self._state.env[key] = self._operand(operand)
        self._state.fresh.add(key)

    # Jumps ------------------------------------------------------------------------------------------------------------

    def _jump(self, label: Any, lives: Callable[[Key], bool], go_on: Callable[[], None], before: _State | None) -> None:
        """Go on where other paths may lead, too. If there are too many versions, leave with the state `before`."""
        state = self._state
        live = {key: operand for key, operand in state.env.items() if lives(key)}
        kinds = frozenset((key, kind_of(operand)) for key, operand in live.items())
        versions = self._versions.setdefault(label, {})
        if kinds not in versions:
            if len(versions) >= VERSIONS and before is not None:
                self._state = before
                self.emit.jump(self._leave())
                return
            name = versions[kinds] = self.emit.label("at")
            begin = {key: mapped(lambda path, each: unplaced(each), operand) for key, operand in live.items()}

            def go() -> None:
                self._state = _State(dict(begin), set())
                self.emit.begin(name)
                go_on()

            self._queue.append(go)
        for key in live:
            if key in state.fresh:
                mapped(lambda path, each: self._keep((key, path), each), live[key])   # noqa: B023
        self.emit.jump(versions[kinds])

    def _keep(self, cell: Any, each: Any) -> Any:
        if isinstance(each, Number):
            self.emit.keep(cell, each.type.dtype, each.ref)
        elif isinstance(each, Range):
            for part, ref in enumerate((each.start, each.stop, each.step)):
                self.emit.keep((cell, part), INT.dtype, ref)
        return each

    def _leave(self) -> str:
        """The block by which the node in hand is left, with everything as it was before it."""
        if self._left is None:
            self._left = self.emit.label("exit")
            assert self._at is not None
            self._leaving.append((self._left, self._at, self._state.copy()))
        return self._left

    def _emit_exit(self, label: str, at: Point, state: _State) -> None:
        self._state = state
        self.emit.begin(label)
        keys = [key for key in state.env if self.structure.is_live(key, at)]
        self._finish(Exit(at, keys, self._handed_back(keys)))

    def _finish(self, exit: Exit) -> None:
        self.emit.finish(len(self.exits))
        self.exits.append(exit)

    def _handed_back(self, keys: list[Key]) -> tuple[Any, ...]:
        """Put values into the frame. Gives how to fetch them from there."""
        return self._written(tuple(self._fetch(key) for key in keys))

    def _written(self, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        """The same, of operands."""
        slot = 0

        def write(path: Any, each: Any) -> Any:
            nonlocal slot
            if isinstance(each, Number):
                self.emit.hand_back(slot, each.type.dtype, each.ref)
                slot += 1
                return Fetch(slot - 1, each.type)
            if isinstance(each, Range):
                for part in (each.start, each.stop, each.step):
                    self.emit.hand_back(slot, INT.dtype, part)
                    slot += 1
                return Fetch(slot - 3, None)
            return each

        found: tuple[Any, ...] = mapped(write, operands)
        self.slots = max(self.slots, slot)
        return found

    # Nodes ------------------------------------------------------------------------------------------------------------

    def _walk(self, block: Block, index: int = 0) -> None:
        """Do the nodes of a block, from one on, until the paths part."""
        for place in range(index, len(block.nodes) + 1):
            self._at, self._left = Point(block, place), None
            self._nodes += 1
            if self._nodes > NODES:
                raise Refused("its code would be too long")
            try:
                if place == len(block.nodes):
                    self._end(block)
                    return
                node = block.nodes[place]
                for address in FUEL:
                    self.emit.spend(address)
                if node.blocks:
                    self._if(node) if node.op == "if" else self._loop(node)
                    return
                self._operation(node)
            except NoLowering:
                if not self.structure.is_rare(block):
                    what = shown(block.nodes[place]) if place < len(block.nodes) else "what a turn ends with"
                    raise Refused(f"there is no machine code for {what} of what it gets") from None
                self.emit.jump(self._leave())
                return

    def _operation(self, node: Node) -> None:
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
            return
        elif node.op == "getitem" and type(args[0]) is tuple:
            found = _item(args[0], args[1])
        else:
            op = OPS.get(node.op)
            if op is None or op.lower is None:
                raise NoLowering
            found = op.lower(self.emit, *args, **self._args(node.kwargs))
        for value in node.outputs:
            self._define(value, found)

    def _bound(self, x: Any) -> Any:
        value = x.value if isinstance(x, Fixed) else x
        if value is UNBOUND:
            raise NoLowering
        return x

    def _choose(self, test: Any, then: Callable[[], None], orelse: Callable[[], None]) -> None:
        """Both paths behind a condition; only one, if it is known which."""
        condition = truth(self.emit, self._operand(test))
        if condition.known is not None:
            (then if condition.known else orelse)()
            return
        first, second = self.emit.label("then"), self.emit.label("else")
        self.emit.branch(condition, first, second)
        state, at = self._state, self._at
        for label, path in ((first, then), (second, orelse)):
            self._state, self._at, self._left = state.copy(), at, None
            self.emit.begin(label)
            path()

    def _if(self, node: Node) -> None:
        then, orelse = node.blocks
        self._choose(self._args(node.args)[0], lambda: self._walk(then), lambda: self._walk(orelse))

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
            self._choose(results[0], lambda: self._turn(node, carried), lambda: self._after(node, carried))
        elif node.kwargs.get("until"):
            self._choose(results[0], lambda: self._after(node, results[1:]), lambda: self._again(node, results[1:]))
        else:
            self._again(node, results)

    def _after(self, node: Node, results: list[Any]) -> None:
        """Go on behind a node that has blocks."""
        after = self.structure.after(node.blocks[0])
        if after is None:
            self._finish(Exit(None, [], self._written(tuple(results))))
            return
        before = self._state.copy() if self._at is not None else None
        for value, operand in zip(node.outputs, results):
            self._define(value, operand)
        self._jump(after, lambda key: self.structure.is_live(key, after), lambda: self._walk(*after), before)

    # Loops ------------------------------------------------------------------------------------------------------------

    def _loop(self, node: Node) -> None:
        """Go to a loop."""
        args = list(map(self._operand, self._args(node.args)))
        before = self._state.copy()
        if node.op == "for":
            iterable = args.pop(0)
            if isinstance(iterable, Array) and iterable.ndim == 1:
                iterable = iterable, self.emit.constant(0, INT)
            elif not isinstance(iterable, Range):
                raise NoLowering
            self._define(node, iterable)
        self._head(node, args, before)

    def _again(self, node: Node, carried: list[Any]) -> None:
        self._head(node, carried, self._state.copy())

    def _head(self, node: Node, carried: list[Any], before: _State) -> None:
        """Go to the head of a loop."""
        params = node.blocks[0].params
        for param, operand in zip(params[len(params) - len(carried) :], carried):
            self._define(param, operand)

        def go_on() -> None:
            self.emit.poll(POLL, 0)
            if node.op == "while":
                self._walk(node.blocks[0])
            else:
                self._next(node, len(params) - len(carried))

        self._jump(node, lambda key: self.structure.is_live_in_loop(key, node), go_on, before)

    def _turn(self, node: Node, carried: list[Any]) -> None:
        """A turn of a `while`."""
        body = node.blocks[1]
        for param, operand in zip(body.params, carried):
            self._define(param, operand)
        self._walk(body)

    def _next(self, node: Node, items: int) -> None:
        """A turn of a `for`, if there is another item."""
        body = node.blocks[0]
        emit, iterator = self.emit, self._fetch(node)
        carried = [self._fetch(param) for param in body.params[items:]]
        more, index, rest = self._advanced(iterator)
        turn, done = emit.label("turn"), emit.label("done")
        emit.branch(more, turn, done)
        state = self._state.copy()
        emit.begin(turn)
        self._define(node, rest)
        self._define(body.params[0], index if isinstance(iterator, Range) else emit.load(iterator[0], [index]))
        self._walk(body)
        self._state = state
        self._at, self._left = None, None
        emit.begin(done)
        self._after(node, carried)

    def _advanced(self, iterator: Any) -> tuple[Number, Number, Any]:
        """Whether an iterator has another item, what or where it is, and what remains behind it."""
        emit = self.emit
        if not isinstance(iterator, Range):
            array, place = iterator
            more = emit.compare("lt", place, emit.length(array, 0))
            return more, place, (array, emit.integer("add", place, emit.constant(1, INT)))
        item, stop, step = (Number(INT, ref) for ref in (iterator.start, iterator.stop, iterator.step))
        if iterator.known is not None:
            more = emit.compare("lt" if iterator.known > 0 else "gt", item, stop)
        else:
            upwards = emit.compare("gt", step, emit.constant(0, INT))
            more = emit.select(upwards, emit.compare("lt", item, stop), emit.compare("gt", item, stop))
        return more, item, replace(iterator, start=emit.integer("add", item, step).ref)


def _item(items: tuple[Any, ...], index: Any) -> Any:
    place = index.known if isinstance(index, Number) else index
    if type(place) is not int or not -len(items) <= place < len(items):
        raise NoLowering
    return items[place]


