"""From a loop of the graph, for inputs of certain kinds, to machine code.

A walk over the blocks of the loop emits each node by the lowering of its op. Paths part at an `if` and at the end of an
iteration; where they merge, `block_versions` decides about versions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from autograph.common.code_marks import UNBOUND
from autograph.runtime.engines.native.analysis import view_groups
from autograph.runtime.engines.native.analysis.if_conversion import compares, is_speculatable, late_last
from autograph.runtime.engines.native.analysis.induction_variables import START, counted_in, ends_soon
from autograph.runtime.engines.native.analysis.list_groups import join_group, list_group
from autograph.runtime.engines.native.analysis.side_exits import Exit
from autograph.runtime.engines.native.analysis.structure import Point
from autograph.runtime.engines.native.emit import mixed_numbers
from autograph.runtime.engines.native.emit.external_calls import view_object
from autograph.runtime.engines.native.emit.guard_hoisting import leave_if_far
from autograph.runtime.engines.native.emit.list_items import ListGroup
from autograph.runtime.engines.native.emit.polling import begin_polling, spend
from autograph.runtime.engines.native.emit.tier_up import assembled
from autograph.runtime.engines.native.kernels.straight_lines import is_straight
from autograph.runtime.engines.native.llvm.errors import Refused
from autograph.runtime.engines.native.llvm.ir import I64, NULL
from autograph.runtime.engines.native.llvm.ir import Block as Label
from autograph.runtime.engines.native.loops.attributes import make_objects, on_attribute, on_new_object
from autograph.runtime.engines.native.loops.block_versions import Flow
from autograph.runtime.engines.native.loops.containers import call_directly, on_container
from autograph.runtime.engines.native.loops.counted_loops import begin_iteration, counter_of, set_limit, weight
from autograph.runtime.engines.native.loops.fast_path import FastPath, may_have_fast_path, may_speculate, promoted
from autograph.runtime.engines.native.loops.iterators import advance, begin, raise_again
from autograph.runtime.engines.native.loops.list_joins import ListJoin
from autograph.runtime.engines.native.loops.lists import constant_item, is_list, on_list
from autograph.runtime.engines.native.loops.python_calls import PythonCalls, is_python_callback
from autograph.runtime.engines.native.loops.random_items import on_random_items
from autograph.runtime.engines.native.loops.recursion import on_itself
from autograph.runtime.graph.graph import Block, Node, Place, Value, walk
from autograph.runtime.graph.opdef import OPS, ORDERED, WRITE
from autograph.runtime.graph.operands import (
    Array,
    Boxed,
    Computed,
    Fixed,
    Gathered,
    Mixed,
    NoLowering,
    Number,
    Range,
    Rows,
    View,
    kind_of,
    takes,
)
from autograph.runtime.graph.traits import CHOOSES_BY, EXTREME, LOOP, MAKES_ARRAYS, ORDERING, RELEASES_LOCK
from autograph.runtime.graph.types import BOOL, INT, TensorType
from autograph.runtime.ops.native.number_rules import inverse
from autograph.runtime.ops.native.scalars import truth
from autograph.runtime.passes.rewriter import shown

NODES = 20_000      # lowered, at most
SIZE = 30_000       # instructions, at most
LARGE = 2_000       # from which on Python is called for operations on vectors, which take a hundred or two
VIEWS = (View, Gathered, Computed, Rows)    # operands for which there is no object
FUEL: list[int] = []        # for tests: the address of the number of nodes that run before the code is left


class Lowering:
    """Emits the machine code of a loop for inputs of certain kinds.

    Attributes:
        flow: the code, and the values in it.
        calls: its Python callbacks.
        vectorizes: whether LLVM may vectorize a loop of it.
    """

    def __init__(self, flow: Flow, calls: PythonCalls) -> None:
        self.flow = flow
        self.calls = calls
        self.vectorizes = False
        self._emit = flow.emit
        self._structure = flow.structure
        self._counted = counted_in(flow.structure)
        self._sums = {value for counts in self._counted.values() for sums in counts.values() for value in sums}
        self._fast: FastPath | None = None      # while it is emitted
        self._heads: dict[Node, Label] = {}       # the first block of an iteration of a `while`
        self._rows: dict[Node, TensorType] = {}     # the types of items of loops over arrays
        self._nodes = 0
        self._views = False     # whether all readers of views are emitted at once

    def run(self) -> tuple[str, list[Place]]:
        """The assembly of the code, and the source locations of its lines."""
        self._emit.b.begin(self._emit.start)
        begin_polling(self._emit)
        try:
            if is_straight(root := self._structure.root) or view_groups.computes_few(root):
                self.flow.know_shapes()
            self._enter(root) if root.op in LOOP else self._walk(root.blocks[0])
        except NoLowering:
            raise Refused("there is no machine code for the type of its items or initial values") from None
        while self.flow.queue:
            self.flow.queue.pop()()
        self.flow.emit_side_exits()
        if not self.calls.is_of_use():
            raise Refused("all its operations call Python or NumPy", self.calls.callbacks)
        return assembled(self._emit)

    # Nodes ------------------------------------------------------------------------------------------------------------

    def _walk(self, block: Block, index: int = 0) -> None:
        """Emit the nodes of a block, from one on, until the paths part.

        Python resumes behind the last node that had an effect. Nodes without effects may run again, so they share a
        side exit.
        """
        self.flow.resume_from(Point(block, index))
        self.flow.block = block
        self._emit.always = self._fast is not None and block is self._fast.body
        place: int | None = index
        while place is not None:
            self._nodes += 1
            if self._nodes > NODES or self._emit.b.function.numbers > SIZE:
                raise Refused("its code would be too long", self.calls.callbacks)
            try:
                node = self._structure.node_at(Point(block, place))
                self._emit.b.place = node.place
                if place == len(block.nodes):
                    self._end(block)
                    return
                make_objects(self.calls, Point(block, place))
                for address in FUEL:
                    spend(self._emit, address)
                if node.op == "if" and all(map(is_speculatable, node.blocks)) and self.flow.attempt(self._select, node):
                    place += 1
                    continue
                if node.blocks:
                    self._enter(node)
                    return
                nodes, changes = self._lowered(block, place)
                if not nodes:
                    place = self._without_lowering(block, place, node)
                    continue
                self.calls.count(block, *nodes)
                place += len(nodes)
                if changes:
                    self.flow.changed_by(nodes[-1], Point(block, place))
                if self._part(block, place, nodes[-1]):
                    return
            except NoLowering:
                assert place is not None
                if not self._structure.is_rare(block):
                    what = shown(block.nodes[place]) if place < len(block.nodes) else "the results of an iteration"
                    reason = f"there is no machine code for {what} of these types"
                    raise Refused(reason, self.calls.callbacks) from None
                self._emit.jump(self._emit.leave())
                return

    def _lowered(self, block: Block, place: int) -> tuple[list[Node], bool]:
        """Emit machine code for a node, or for a view and the nodes up to the last one that reads it.

        Returns the nodes, none if there is no lowering, and whether the last one has an effect. The others must have
        none: Python resumes before them, so that no view is live there.
        """
        is_long = self._emit.b.function.numbers - self._emit.dropped > LARGE and not is_straight(self._structure.root)
        if is_long and view_groups.is_of_vectors(block.nodes[place]):
            return [], False
        for group in view_groups.view_groups(self._structure, block, place):
            if (changes := self.flow.attempt(self._of_group, group)) is not None:
                return group, changes
        for group_at, kind in ((list_group, ListGroup), (join_group, ListJoin)):
            group = group_at(self._structure, block, place)
            if group and self.flow.attempt(kind(self.calls, self._operation).run, group):
                return group, kind is ListJoin
        changes, node = None, block.nodes[place]
        if not view_groups.makes_view(node) or node in self._structure.made_anew:
            changes = self.flow.attempt(self._alone, node)
            changes = self.flow.attempt(self._call_directly, node) if changes is None else changes
        elif is_straight(self._structure.root) and view_groups.is_plain_view(node):
            changes = self.flow.attempt(self._of_group, [node])
        return ([], False) if changes is None else ([node], changes)

    def _alone(self, node: Node) -> bool:
        """Emit a node that is in no group. Returns whether it has an effect."""
        self._own_before([node])
        return self._operation(node)

    def _own_before(self, nodes: list[Node]) -> None:
        """Own all objects that are live, if other threads may run within nodes, which may change lists, say."""
        if (block := self.flow.block) is not None and any(node.op in RELEASES_LOCK for node in nodes):
            self.flow.own_live(Point(block, block.nodes.index(nodes[0])))

    def _of_group(self, group: list[Node]) -> bool:
        """Emit nodes of which only the last one may have an effect. Returns whether it has."""
        self._views, changes = True, False
        self._own_before(group)
        try:
            for place, node in enumerate(group):
                is_view = view_groups.makes_view(node, self._structure.sizes) and node is not group[-1]
                self._emit.vectors.place = place if is_view else None
                if changes and not view_groups.stores_itself(node):
                    raise NoLowering
                changes = changes or self._operation(node)
        finally:
            self._views, self._emit.vectors.place = False, None
        if not changes and self._becomes_array(group):
            return True
        if any(self._outlives(value, group) for node in group for value in node.outputs):
            raise NoLowering
        return changes

    def _becomes_array(self, group: list[Node]) -> bool:
        """Make an array of the last result of a group if it is a vector that later nodes read, or a single view."""
        last, (*_, value) = group[-1], group[-1].outputs or (None,)
        found = None if value is None else self.flow.state.env.get(value)
        if value is None or not isinstance(found, (Computed, Gathered, View)) or not self._outlives(value, group):
            return False
        if isinstance(found, View) and not view_groups.copies_elements(last):
            made = view_object(self._emit, self.flow.value(last.args[0]), found) if len(group) == 1 else None
            return made is not None and self._own_array(value, made)
        return self._own_array(value, self._emit.vectors.array(found))

    def _own_array(self, value: Value, made: Array | tuple[Array, ...]) -> bool:
        """Own new arrays. Returns true: if their node ran again, there would be others."""
        if self._fast is not None:
            raise NoLowering
        self.flow.define(value, made)
        for path, each in [((), made)] if isinstance(made, Array) else (((at,), each) for at, each in enumerate(made)):
            self.flow.own((value, path), each.ref)
        return True

    def _outlives(self, value: Value, group: list[Node]) -> bool:
        """Whether nodes behind a group read a view; or nothing reads a computed one, of which NumPy may warn."""
        found, block = self.flow.state.env.get(value), self.flow.block
        if not isinstance(found, VIEWS) or value.node in self._structure.made_anew:
            return False
        last = -1 if block is None else self._structure.last_use(block, value)
        return block is None or last > block.nodes.index(group[-1]) or (last < 0 and isinstance(found, Computed))

    def _without_lowering(self, block: Block, place: int, node: Node) -> int | None:
        """Emit a node without a lowering for its operands. Returns the place where the code continues, if it does."""
        if self._part_mixed(block, place) or self._extreme(node, block, place + 1):
            return None
        if block.results is None or not is_python_callback(node):
            raise NoLowering
        after = self.calls.call(block, place, lambda *at: bool(self._lowered(*at)[0]))
        is_parted = after is not None and self._part(block, after, *block.nodes[place:after])
        return None if is_parted else after

    def _part(self, block: Block, place: int, *nodes: Node) -> bool:
        """Part the paths by the class of an output of some nodes. Returns whether it is of several kinds."""
        at, outputs = Point(block, place), [value for node in nodes for value in node.outputs]
        return self.calls.part(outputs, at, lambda: self._jump(at, lambda: self._walk(block, place)))

    def _part_mixed(self, block: Block, place: int) -> bool:
        """Part the paths by the class of an integer or float that a node takes. Returns whether there is such a one."""
        flow, env = self.flow, self.flow.state.env
        value = next((each for each in block.nodes[place].inputs if isinstance(env.get(each), Mixed)), None)
        if value is None:
            return False
        operand = flow.fetch(value)

        def go(path: int) -> None:
            flow.define(value, mixed_numbers.parted(self._emit, operand)[path])
            self._jump(Point(block, place), lambda: self._walk(block, place))

        flow.branch(operand.parts[1], lambda: go(0), lambda: go(1))
        return True

    def _extreme(self, node: Node, block: Block, place: int) -> bool:
        """Emit `min` or `max` of an integer and a float: the result is of the class of either, so paths part."""
        args = list(map(self.flow.value, node.args)) if node.op in CHOOSES_BY and not node.kwargs else []
        compared = self.flow.attempt(partial(mixed_numbers.compared, self._emit, node.op), args)
        if compared is None:
            return False
        operands, test = compared

        def go(found: Any) -> None:
            self.flow.define(node.output, found)
            self._jump(Point(block, place), lambda: self._walk(block, place))

        self._choose(node, test, partial(go, operands[1]), partial(go, operands[0]))
        return True

    def _operation(self, node: Node) -> bool:
        """Emit a node without blocks. Returns whether it has an effect."""
        args = self.flow.args(node.args)
        if node in self._structure.passed.with_nan:
            raise NoLowering
        if node.op == "build" and type(args[0]) is tuple:
            found = args[0]
        elif node.op == "bound":
            found = args[0]
            if (found.value if isinstance(found, Fixed) else found) is UNBOUND:
                raise NoLowering
        elif node.op == "unpack" and "star" not in node.kwargs and isinstance(args[0], tuple):
            if len(args[0]) != len(node.outputs):
                raise NoLowering
            for value, part in zip(node.outputs, args[0]):
                self.flow.define(value, part)
            return False
        elif (emit := next(filter(None, (each(node, args) for each in _ROUTINES)), None)) is not None:
            self.calls.direct.setdefault(node, None)
            return emit(self.calls, node, *args)
        elif node.op == "getitem" and type(args[0]) is tuple:
            found = constant_item(*args)
        elif args and is_list(args[0]) and (emit := on_list(node.op)) is not None:
            return emit(self.calls, node, *args)
        elif any(map(mixed_numbers.is_mixed, args)):
            found = mixed_numbers.operation(self._emit, node, args)
        else:
            return self._by_rule(node, args)
        self._define(node, found)
        return False

    def _by_rule(self, node: Node, args: tuple[Any, ...]) -> bool:
        """Emit a node by the rule of its op. Returns whether it has an effect."""
        op = OPS.get(node.op)
        if op is None or op.lower is None or not takes(op.lower, len(args), tuple(node.kwargs)):
            raise NoLowering
        changes = op.effect == ORDERED or (op.effect == WRITE and isinstance(args[0], (Array, View)))
        if changes:
            self._emit.settle()
        if op.effect == ORDERED and self._emit.loop is not None:
            self._emit.loop.exits += 1      # such iterations could not be undone
        sums = self._sums if self._fast is None else self._fast.sums
        self._emit.bounded = not sums.isdisjoint(node.outputs)
        args = late_last(node, self.flow.block, args) if node.op in EXTREME else args
        kwargs = self.flow.args(node.kwargs)
        found = op.lower(self._emit, *args, **kwargs)
        if not (isinstance(found, View) and node in self._structure.made_anew):
            self._demand_object(found)
        is_given = op.effect == WRITE or any(found is each for each in (*args, *kwargs.values()))
        if isinstance(found, (Array, tuple) if node.op in MAKES_ARRAYS else Array) and not is_given:
            return self._own_array(node.output, found)
        if changes:
            for value in node.outputs if isinstance(found, (Array, View, Number, Fixed)) else ():
                self.flow.define(value, found)
            return True
        self._define(node, found)
        return False

    def _define(self, node: Node, found: Any) -> None:
        """Define the outputs of a node, which must be no NaNs where that matters."""
        several = found if node.op == "unpack" else [found] * len(node.outputs)
        for value, each in zip(node.outputs, several):
            self.flow.leave_if_nan(value, each)
            self.flow.define(value, each)

    def _call_directly(self, node: Node) -> bool:
        """Emit the call of a function or method written in C. Returns true, since it may have an effect."""
        self.calls.direct.setdefault(node, None)
        return call_directly(self.calls, node)

    def _demand_object(self, found: Any) -> None:
        """Refuse views, for which there is no object, unless all that reads them is emitted at once."""
        if isinstance(found, VIEWS) and not self._views:
            raise NoLowering

    def _choose(self, node: Node, test: Any, then: Callable[[], None], orelse: Callable[[], None]) -> None:
        """Emit both paths behind a condition of a node; only one, if the condition is a constant."""
        self.flow.branch(self.calls.truth(node, self.flow.operand(test)), then, orelse)

    def _select(self, node: Node) -> bool:
        """If-conversion: compute both sides of an `if` of cheap blocks, and select, so that no branch is mispredicted.

        Returns true, or raises `NoLowering` if that is not possible.
        """
        condition = truth(self._emit, self.flow.operand(self.flow.args(node.args)[0]))
        if condition.known is not None:
            raise NoLowering
        test, both = getattr(node.args[0], "node", None), {}    # a constant has no node
        # the longer one first, since its result comes last
        for block, holds in sorted(zip(node.blocks, (True, False)), key=lambda pair: -len(pair[0].nodes)):
            # A comparison may be there to prevent an overflow in a block: then only that side may leave the code.
            guarded = test is not None and test.op in ORDERING and bool(block.nodes)
            guard = (condition if holds else inverse(self._emit, condition)) if guarded else None
            with self._emit.only_if(guard):
                for each in block.nodes:
                    self._emit.b.place = each.place
                    self._operation(each)
                    if not all(mixed_numbers.is_integer(self.flow.state.env[value]) for value in each.outputs):
                        raise NoLowering
            both[holds] = list(map(self.flow.operand, self.flow.args(block.results)))
        self._emit.b.place = node.place
        pairs = list(zip(both[True], both[False]))
        for value, (one, other) in zip(node.outputs, pairs):
            if one != other and not (isinstance(one, Number) and kind_of(one) == kind_of(other)):
                raise NoLowering
            self.flow.define(value, one if one == other else self._emit.select(condition, one, other))
        return True

    def _end(self, block: Block) -> None:
        """Emit the end of a block."""
        if block.results is None or block in self._structure.passed.with_nan:
            raise NoLowering
        node, _ = self._structure.owner(block)
        results = list(map(self.flow.operand, self.flow.args(block.results)))
        if node.op == "if":
            self._after(node, results)
        elif node.op == "while" and block is node.blocks[0]:
            carried = [self.flow.fetch(param) for param in block.params]
            self._choose(node, results[0], lambda: self._iteration(node, carried), lambda: self._after(node, carried))
        elif node.kwargs.get("until"):
            test, *rest = results
            self._choose(node, test, lambda: self._after(node, rest), lambda: self._head(node, rest))
        else:
            self._head(node, results)

    def _after(self, node: Node, results: list[Any]) -> None:
        """Continue behind a node that has blocks."""
        after = self._structure.after(node.blocks[0])
        self._emit.b.place = node.place
        if after is None:
            self.flow.finish(Exit(None, [], self.flow.hand_back(tuple(self._structure.used(results)))))
            return
        for value, operand in zip(node.outputs, results):
            self.flow.define(value, operand)
        self._jump(after, lambda: self._walk(*after))

    def _jump(self, at: Point | Node, go_on: Callable[[], None], to_edge: bool = False) -> None:
        """Jump to a point, or to the head of a loop, where paths may merge."""
        live = self.flow.live(at)
        if self._fast is None or not self._fast.jump(at, live, go_on):
            self.flow.jump(at, live, go_on, to_edge)

    # Loops ------------------------------------------------------------------------------------------------------------

    def _enter(self, node: Node) -> None:
        """Enter a loop, or the sides of an `if`."""
        if node.op == "if":
            (test,), (then, orelse) = self.flow.args(node.args), node.blocks
            self._choose(node, test, partial(self._walk, then), partial(self._walk, orelse))
            return
        if node in self._structure.passed.with_nan:
            raise NoLowering
        args = list(map(self.flow.operand, self.flow.args(node.args)))
        if node.op == "while":
            self.flow.state.env.update(zip(node.blocks[0].params, args))
            self._check_sums(node)
            self._head(node, args)
            return
        iterable, *carried = args
        if isinstance(iterable, Array) and iterable.ndim == 1:
            iterable = iterable, self._emit.constant(0, INT)
        elif not isinstance(iterable, Range):
            iterator = begin(self.calls, node, iterable)
            self.flow.own((node, ()), iterator.ref)
            if isinstance(iterable, Array):
                self._rows[node] = TensorType(iterable.dtype, (None,) * (iterable.ndim - 1))
            self.flow.define(node, iterator)
            self._head(node, carried)
            return

        def go(down: bool | None = None) -> None:
            found = replace(iterable, down=down) if down is not None else iterable
            self.flow.define(node, found)
            self._emit.cells.store((node, "limit"), counter_of(self.flow, found).item.ref)
            # The edge is no part of the iterations then; but LLVM lays out the code of a `while` badly there.
            self._head(node, carried, to_edge=not any(each.op == "while" for each in walk(node.blocks[0])))

        if isinstance(iterable, Range) and iterable.down is None:
            down = self._emit.compare("lt", iterable.parts[-1], self._emit.constant(0, INT))
            self.flow.branch(down, lambda: go(True), lambda: go(False))
        else:
            go()

    def _head(self, node: Node, carried: list[Any], to_edge: bool = False) -> None:
        """Jump to the head of a loop, or to its edge."""
        params = node.blocks[0].params
        for param, operand in zip(params[len(params) - len(carried) :], carried):
            self.flow.define(param, operand)

        def go_on() -> None:
            self._emit.b.place = node.place
            if node.op == "while":
                self._heads[node] = self._emit.b.block
                if not compares(node.blocks[0]):
                    self._poll(node)
                self._walk(node.blocks[0])
            else:
                counts = not isinstance(self.flow.state.env[node], Boxed)
                (self._next if counts else self._next_object)(node, len(params) - len(carried))

        self._jump(node, go_on, to_edge)

    def _iteration(self, node: Node, carried: list[Any]) -> None:
        """Emit an iteration of a `while`.

        It polls for signals before its test; or behind it, if the test has no effects. Then iterations end with the
        test, which LLVM compiles to better code.
        """
        if compares(node.blocks[0]):
            self._poll(node)
        body = node.blocks[1]
        for param, operand in zip(body.params, carried):
            self.flow.define(param, operand)
        self._walk(body)

    def _poll(self, node: Node) -> None:
        """Poll for signals in an iteration of a `while`."""
        if not ends_soon(node, self._structure):
            besides = partial(self._check_sums_again, node) if self._counted[node] else None
            self.flow.poll(weight(node), self._heads[node], besides)

    def _check_sums(self, node: Node) -> None:
        """When a `while` begins, leave if its induction variables are large."""
        if self._counted[node]:
            self.flow.resume_from(Point(node.blocks[0], 0))
            for param in self._counted[node]:
                leave_if_far(self._emit, self.flow.fetch(param), START)

    def _check_sums_again(self, node: Node) -> None:
        """Check them again at a poll for signals."""
        state = self.flow.state.copy()
        self._check_sums(node)
        self.flow.state = state

    def _next(self, node: Node, items: int) -> None:
        """Emit an iteration of a counted `for`, if there is another item.

        The code counts up to a limit. Then it comes to the edge, where it polls for signals, and sets the next limit.
        Each of these blocks loads what it needs from cells, and has no side exit to where the code before it began.
        """
        flow, emit, begin, head = self.flow, self._emit, self.flow.state.copy(), self._emit.b.block
        (slow, more, done), edge = map(emit.b.new_block, ("slow", "more", "done")), flow.edge(head)
        iterator = flow.fetch(node)
        limit, counter = Number(INT, emit.cells.load((node, "limit"), I64)), counter_of(flow, iterator)
        has_fast_path = may_have_fast_path(flow, node, iterator)
        flow.begin(edge, begin.copy())
        iterator = flow.fetch(node)
        carried = [flow.fetch(param) for param in node.blocks[0].params[items:]]
        item, stop, *_ = counter_of(flow, iterator)
        weak, all_fast = promoted(node, carried), False
        emit.branch(emit.compare(counter.before, item, stop), more, done)
        emit.b.begin(more)
        state = flow.state.copy()
        if weak != carried:
            all_fast = True
            self._head(node, weak, to_edge=True)
        elif has_fast_path:
            all_fast = self._emit_fast_path(node, iterator, slow, edge)
        else:
            set_limit(flow, node, iterator, edge)
            emit.jump(slow)
        flow.begin(head, begin.copy())
        if all_fast:
            emit.jump(edge)
        else:
            emit.branch(emit.compare(counter.before, counter.item, limit), slow, edge, rarely=has_fast_path)
            emit.b.begin(slow)
            begin_iteration(flow, node, flow.fetch(node))
            self._walk(node.blocks[0])
        flow.begin(done, state)
        self._after(node, carried)

    def _emit_fast_path(self, node: Node, iterator: Any, slow: Label, edge: Label) -> bool:
        """Emit the fast path of a loop. Returns whether no iterations are slow."""
        reset = self.flow.mark()
        for speculates in (True, False)[not may_speculate(self.flow, node, iterator) :]:
            fast = self._fast = FastPath(self.flow, node, iterator, slow, edge, speculates)
            found = fast.emit(self._walk)
            self._fast = None
            if found is not None:
                self.vectorizes |= fast.vectorizes
                return found
            reset()
        self.flow.poll(1, edge)
        self._emit.jump(slow)       # for one iteration; behind it, the edge decides anew
        return False

    def _next_object(self, node: Node, items: int) -> None:
        """Emit an iteration of a `for` over a Python iterator, if there is another item."""
        flow, emit, body, done = self.flow, self._emit, node.blocks[0], self._emit.b.new_block("done")
        carried = [flow.fetch(param) for param in body.params[items:]]
        flow.poll(1, emit.b.block)
        state, at = flow.state.copy(), Point(body, 0)

        def go_on(several: bool) -> None:
            used = [param for param in body.params[:items] if param in self._structure.live(at)]
            objects = [param for param in used if isinstance(flow.state.env[param], Boxed)]
            for param in objects:
                is_row = node in self._rows and node.kwargs.get("target", 0) == 0
                self.calls.expect(param, self._rows[node] if is_row else param.type)
            flow.resume_from(at)
            walk = partial(self._jump, at, partial(self._walk, body))
            if self.calls.take(objects, body) and not self.calls.part(objects, at, walk):
                walk() if several else self._walk(body)

        advance(self.calls, node, done, go_on)
        flow.begin(done, state)
        raised = emit.b.icmp("ne", emit.objects.python("PyErr_Occurred"), NULL)
        emit.stop_if(Number(BOOL, raised), lambda: raise_again(self.calls, node))
        self._after(node, carried)


_ROUTINES = on_itself, on_container, on_attribute, on_random_items, on_new_object
