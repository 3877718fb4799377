"""Functions that call themselves: the whole graph is a region, whose machine code calls itself.

The arguments of such a call go into a frame on the stack, as numbers and addresses, and machine code is called again
without Python. Its result comes back in the same way, if it is one of those that are known when the call is emitted. So
code is emitted until these are known: first without results of inner calls, then with those of the paths that need
none.

If the inner level takes a side exit, Python finishes that level, and gives its result as an object; the level around
goes on with it. Where Python finishes a level, the levels below it run as plain Python, see `graph/recursion.py`. An
exception ends all levels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from typing import Any

from autograph.common.cpython_internals import ITEMS, RECURSION_LEFT
from autograph.runtime.engines.native.abi.links import Link, link_of
from autograph.runtime.engines.native.analysis.side_exits import Exit, Fetch, Handed
from autograph.runtime.engines.native.analysis.structure import Point, Structure
from autograph.runtime.engines.native.emit.emitter import number_of
from autograph.runtime.engines.native.emit.recursion import call_level, slot, too_deep
from autograph.runtime.engines.native.llvm.cpython_abi import llvm_type, take_exception
from autograph.runtime.engines.native.llvm.errors import Refused
from autograph.runtime.engines.native.llvm.ir import I64, NULL, PTR
from autograph.runtime.engines.native.llvm.ir import Block as Label
from autograph.runtime.engines.native.llvm.ir import Value as Register
from autograph.runtime.engines.native.llvm.link_cells import CHECKED, CODE, EPOCH, NUMBERS, REFUSED
from autograph.runtime.engines.native.llvm.memory import load_number, store_number
from autograph.runtime.engines.native.loops.block_versions import Flow
from autograph.runtime.engines.native.loops.iterators import raise_again, raise_error
from autograph.runtime.engines.native.loops.lists import at_node
from autograph.runtime.engines.native.loops.python_calls import PythonCalls
from autograph.runtime.engines.native.loops.result_speculation import UNKNOWN, is_class
from autograph.runtime.graph.graph import Node, Value, walk
from autograph.runtime.graph.operands import Array, Boxed, Fixed, Given, NoLowering, Number, without_refs
from autograph.runtime.graph.recursion import calls_itself, calls_levels, helper_in, itself_in
from autograph.runtime.graph.traits import ON_ATTRIBUTE, RESHAPES
from autograph.runtime.graph.types import BOOL, TensorType


class Left:
    """Lets Python finish an inner level that has not ended as expected: the code calls it.

    Attributes:
        version: the machine code.
    """

    def __init__(self, region: Any) -> None:
        self._region = region
        self.version: Any = None

    def __call__(self, number: int, address: int, *inputs: Any) -> Any:
        return self._region.left_by(self.version, number, address, *inputs)


def ends_of(flow: Flow) -> tuple[Any, ...]:
    """The different results of code that calls itself, which it can take from the frame, as recipes.

    Raises:
        Refused: there is none.
    """
    nodes = [node for block in flow.structure.root.blocks for node in walk(block)]
    if not calls_itself(flow.structure.root) or not any(map(itself_in, nodes)):
        return ()
    values = [without_refs(each.values[0]) for each in flow.exits[1:] if each.at is None and len(each.values) == 1]
    ends = [each for each in dict.fromkeys(values) if isinstance(each, (Fetch, Handed, Fixed, Given, Array))]
    if not ends:
        raise Refused("no path of it ends without another call of itself")
    return tuple(ends)


def on_itself(node: Node, args: tuple[Any, ...]) -> Callable[..., bool] | None:
    """The routine that emits the call of a function by itself, or of a helper, if a node is one."""
    if helper_in(node) is not None:
        return _call_helper
    return _call_itself if itself_in(node) is not None else None


def _call_itself(calls: PythonCalls, node: Node, *args: Any) -> bool:
    flow, emit, itself = calls.flow, calls.flow.emit, itself_in(node)
    at = at_node(calls, node)
    if itself is None or not itself.fits or emit.loop is not None or not _can_call_itself(flow.structure):
        raise NoLowering
    given = dict(zip(itself.names, map(flow.operand, args[1:])))
    if any(param.name not in given for param in flow.inputs):
        raise NoLowering
    inputs = [given[param.name] for param in flow.inputs]
    words = [_word(calls, param, each) for param, each in zip(flow.inputs, inputs)]
    flow.resume_from(at)
    if flow.itself.ends:
        _Call(calls, node, at, inputs).emit([word for word in words if word is not None])
    else:       # it is not known yet how the code may end
        calls.expected[node.output] = UNKNOWN
        flow.define(node.output, Boxed(NULL))
    return True


def _call_helper(calls: PythonCalls, node: Node, *args: Any) -> bool:
    flow, emit, helper = calls.flow, calls.flow.emit, helper_in(node)
    at = at_node(calls, node)
    if helper is None or emit.loop is not None or not _can_call_itself(flow.structure):
        raise NoLowering
    inputs = [_of_class(calls, value, flow.operand(arg)) for value, arg in zip(node.args[1:], args[1:])]
    words = [_word_for_helper(calls, each) for each in inputs]
    flow.resume_from(at)
    link = link_of(helper, tuple(map(_kind_of, inputs)))
    _HelperCall(calls, node, at, inputs, link).emit(words)
    return True


def _of_class(calls: PythonCalls, value: Any, arg: Any) -> Any:
    """The operand of an argument of a helper; an object whose class the graph tells or checks has that class."""
    if not isinstance(arg, Boxed) or arg.of is not None:
        return arg
    kinds = calls.flow.structure.classes.get(value, ())
    if not kinds or any(each is not kinds[0] for each in kinds):
        return arg
    calls.flow.emit.objects.demand_class(arg.ref, kinds[0])
    return Boxed(arg.ref, kinds[0])


def _word_for_helper(calls: PythonCalls, arg: Any) -> tuple[Any, Register] | None:
    """The dtype of a number, and the word for an argument of a helper; None if it needs none."""
    if isinstance(arg, Number) and arg.type in NUMBERS:
        return arg.type.dtype, arg.ref
    if isinstance(arg, Array):
        return None, calls.flow.emit.frame.array_object(arg)
    if isinstance(arg, (Given, Boxed)) and isinstance(arg.of, type):
        return None, arg.ref
    if isinstance(arg, Fixed) and arg.value is None:
        return None
    raise NoLowering


def _kind_of(arg: Any) -> Any:
    """The kind of an argument of a helper."""
    if isinstance(arg, Number):
        return arg.type
    if isinstance(arg, Array):
        return arg.dtype, arg.ndim, arg.flags
    return None if isinstance(arg, Fixed) else arg.of


def _can_call_itself(structure: Structure) -> bool:
    """Whether code may call itself: the arrays that it has stay as they are meanwhile."""
    nodes = [node for block in structure.root.blocks for node in walk(block)] if calls_levels(structure.root) else []
    return bool(nodes and RECURSION_LEFT) and not any(map(_reshapes, nodes))


def _reshapes(node: Node) -> bool:
    """Whether a node may change the shape or dtype of an array; attributes of other names are no array's."""
    sets = ON_ATTRIBUTE.get(node.op) == "set" and node.args[1] not in ("shape", "dtype", "strides", "data")
    return node.op in RESHAPES and not sets


def _word(calls: PythonCalls, param: Value, arg: Any) -> tuple[Any, Register] | None:
    """The dtype of a number, and the word of the frame for an argument; None if it needs none."""
    flow, emit = calls.flow, calls.flow.emit
    like = flow.inputs[param]
    if isinstance(like, Number) and isinstance(arg, Number) and like.type == arg.type:
        if flow.must_be_no_nan(param, arg):
            emit.leave_if(emit.compare("ne", arg, arg))
        return arg.type.dtype, arg.ref
    if isinstance(like, Array) and isinstance(arg, Array):
        if (like.dtype, like.ndim, like.flags) == (arg.dtype, arg.ndim, arg.flags):
            return None, emit.frame.array_object(arg)
    if isinstance(like, Given) and isinstance(like.of, type) and isinstance(arg, (Given, Boxed)):
        if arg.of is None:
            emit.objects.demand_class(arg.ref, like.of)
        if arg.of in (None, like.of):
            return None, arg.ref
    if isinstance(like, Fixed) and isinstance(arg, Fixed) and like.value is arg.value:
        return None
    raise NoLowering


class _Call:
    """The call of a function by itself.

    Args:
        at: the point of the node.
        inputs: the operands of the arguments.
    """

    def __init__(self, calls: PythonCalls, node: Node, at: Point, inputs: Sequence[Any]) -> None:
        self._calls = calls
        self._flow = calls.flow
        self._emit = calls.flow.emit
        self._node = node
        self._value = node.output
        self._behind = Point(at.block, at.place + 1)
        self._inputs = inputs
        self._frame = self._flow.itself.frame_in(self._emit.b)
        self._kind = calls.expect(self._value, self._value.type)

    def emit(self, words: Sequence[tuple[Any, Register] | None]) -> None:
        flow, emit, b = self._flow, self._emit, self._emit.b
        found, before = dict(emit.ranges.found), flow.state.copy()
        deep, on, other, have, done = map(b.new_block, ("deep", "level", "other", "object", "called"))
        names = [code.co_name for code, _ in self._node.place]
        frames = 1 + sum(one != other for one, other in pairwise(names))
        emit.settle()
        self._enter(too_deep(emit, self._frame, frames), words, deep, on)
        b.begin(on)
        self._put(words)
        number = call_level(emit, self._frame, frames, flow.stop, self._linked_cell)
        results = self._take(number, other, done)
        b.begin(other)
        emit.stop_if(Number(BOOL, b.icmp("eq", number, 0)), self._raise_again)
        self._refused(number, deep)
        objects = [(self._left(number), b.block)]
        b.br(have)
        flow.begin(deep, before.copy())
        objects.append((self._calls.fall_back(self._node), b.block))
        b.br(have)
        b.begin(have)
        thing = b.phi(PTR, *objects)
        flow.state = before.copy()
        results.append((self._unboxed(thing), b.block))
        b.br(done)
        flow.begin(done, before)
        emit.ranges.found = found
        self._define(results)

    @property
    def _linked_cell(self) -> Register | None:
        """The cell of the link to the next level, if that is of another function."""
        return None

    def _enter(self, is_deep: Register, words: Sequence[Any], deep: Label, on: Label) -> None:
        """Go to where the next level is called, or to where Python runs it."""
        self._emit.b.cond_br(is_deep, deep, on, False)

    def _refused(self, number: Register, deep: Label) -> None:
        """Let Python run the level if that has refused to run."""

    def _raise_again(self) -> None:
        """Raise the exception of the inner level at the line of its call, as it passes through this one."""
        raise_again(self._calls, self._node)

    def _put(self, words: Sequence[tuple[Any, Register] | None]) -> None:
        """Store the arguments in the frame of the next level."""
        b, itself = self._emit.b, self._flow.itself
        for place, each in enumerate(words):
            if each is None:
                continue
            dtype, word = each
            if dtype is None:
                b.store(word, slot(b, self._frame, place))
            else:
                store_number(b, slot(b, self._frame, place), dtype, word)
        itself.inputs = max(itself.inputs, len(words))

    @property
    def _only(self) -> Any:
        """The recipe of the only result, if it is a number, or a constant such as None; else None."""
        first, *more = self._flow.itself.ends
        if more or not isinstance(first, (Fetch, Fixed)):
            return None
        kinds = (UNKNOWN, None, first.type) if isinstance(first, Fetch) else (UNKNOWN, None)
        return first if self._kind in kinds else None

    def _take(self, number: Register, other: Label, done: Label) -> list[tuple[Register | None, Label]]:
        """Take the result of the inner level from its frame, by the number of its exit."""
        b, only = self._emit.b, self._only
        results: list[tuple[Register | None, Label]] = []
        for end, code in self._ends():
            here, on = b.new_block("end"), b.new_block("on")
            b.cond_br(b.icmp("eq", number, code), here, on, True)
            b.begin(here)
            found = self._result(end, only is not None, on)
            results.append((found, b.block))
            b.br(done)
            b.begin(on)
        b.br(other)
        return results

    def _ends(self) -> list[tuple[Any, int]]:
        """The results of the inner level that are expected, and the numbers of their exits."""
        flow = self._flow
        return [(end, flow.number_of(Exit(None, [], (end,)))) for end in flow.itself.ends]

    def _result(self, end: Any, is_only: bool, other: Label) -> Register | None:
        """The number in the frame of an inner level that has ended; or a new reference to the object."""
        b, objects = self._emit.b, self._emit.objects
        if isinstance(end, Fetch):
            found = load_number(b, slot(b, self._frame, end.slot), end.type.dtype)
            if not is_only:
                return objects.number_object(found, end.type)
            number = Number(end.type, found)
            if self._flow.must_be_no_nan(self._value, number):
                on = b.new_block("number")
                b.cond_br(self._emit.compare("eq", number, number).ref, on, other, True)
                b.begin(on)
            return found
        if isinstance(end, Handed):
            return b.load(PTR, slot(b, self._frame, end.slot))
        if isinstance(end, (Given, Array)):
            return objects.another(self._calls.object(self._inputs[end.input])[0])
        return None if is_only else objects.another(objects.address(end.value))

    def _left(self, number: Register) -> Register:
        """Let Python finish the inner level. Returns a new reference to its result."""
        b, objects = self._emit.b, self._emit.objects
        made = [self._calls.object(each) for each in self._inputs]
        numbers = [number, b.cast("ptrtoint", self._frame, I64)]
        made[:0] = [(objects.python("PyLong_FromLongLong", each), True) for each in numbers]
        found = objects.call(objects.address(self._flow.itself.left), [ref for ref, _ in made])
        for ref, is_new in made:
            if is_new:
                objects.forget(ref)
        self._emit.stop_if(Number(BOOL, b.is_null(found)), self._raise_again)
        return found

    def _unboxed(self, thing: Register) -> Register | None:
        """The result from an object, in exchange for the reference; the code is left if it is not as expected."""
        emit, only = self._emit, self._only
        if only is None:
            return thing
        number = None
        with self._flow.resuming(self._behind, self._value, thing):
            self._calls.look_at_arrays()
            if isinstance(only, Fetch):
                number = number_of(emit, thing, only.type)
                self._flow.leave_if_nan(self._value, number)
            else:
                emit.demand(emit.b.icmp("eq", thing, emit.objects.address(only.value)))
        emit.objects.release(thing)
        return number.ref if isinstance(number, Number) else None

    def _define(self, results: Sequence[tuple[Register | None, Label]]) -> None:
        """Define the value of the node, where the paths meet."""
        b, flow, only = self._emit.b, self._flow, self._only
        if isinstance(only, Fetch):
            self._calls.expected[self._value] = only.type
            flow.define(self._value, Number(only.type, b.phi(llvm_type(only.type.dtype), *_found(results))))
            return
        if only is not None:
            self._calls.expected[self._value] = None
            flow.define(self._value, only)
            return
        thing = b.phi(PTR, *_found(results))
        flow.define(self._value, Boxed(thing))
        flow.own((self._value, ()), thing)
        flow.resume_from(self._behind)
        self._calls.look_at_arrays()
        if isinstance(self._kind, TensorType) or is_class(self._kind):
            self._calls.narrow(self._value, thing)


class _HelperCall(_Call):
    """The call of a helper, by a link.

    Args:
        link: see `abi/links.py`.
    """

    def __init__(self, calls: PythonCalls, node: Node, at: Point, inputs: Sequence[Any], link: Link) -> None:
        super().__init__(calls, node, at, inputs)
        self._link = link
        if self._kind == UNKNOWN:
            link.prepare(list(map(_kind_of, inputs)))
        if self._kind == UNKNOWN and link.type is not None:
            self._kind = calls.expected[self._value] = link.type
        self._cell: Register = self._emit.b.gep(self._emit.objects.address(link.cell), ITEMS)

    @property
    def _linked_cell(self) -> Register | None:
        return self._cell

    def _enter(self, is_deep: Register, words: Sequence[Any], deep: Label, on: Label) -> None:
        b, objects = self._emit.b, self._emit.objects
        now = b.load(I64, b.gep(objects.address(EPOCH), ITEMS))
        renew, checked = b.new_block("renew"), b.new_block("checked")
        b.cond_br(b.icmp("eq", b.load(I64, b.gep(self._cell, CHECKED)), now), checked, renew, True)
        b.begin(renew)
        made = [self._calls.object(each) for each in self._inputs]
        found = objects.call(objects.address(self._link.renewed), [ref for ref, _ in made])
        for ref, is_new in made:
            if is_new:
                objects.forget(ref)
        self._emit.stop_if(Number(BOOL, b.is_null(found)), super()._raise_again)
        objects.forget(found)
        b.store(now, b.gep(self._cell, CHECKED))
        b.br(checked)
        b.begin(checked)
        is_slow = b.or_(is_deep, b.icmp("eq", b.load(I64, b.gep(self._cell, CODE)), 0))
        refs = [each[1] for each in words if each is not None and each[0] is None]
        for one, other in combinations(refs, 2):    # the code is for different objects
            is_slow = b.or_(is_slow, b.icmp("eq", one, other))
        b.cond_br(is_slow, deep, on, False)

    def _refused(self, number: Register, deep: Label) -> None:
        b = self._emit.b
        on = b.new_block("on")
        b.cond_br(b.icmp("eq", number, REFUSED), deep, on, False)
        b.begin(on)

    def _raise_again(self) -> None:
        emit = self._emit
        places = [emit.cells.place(("exception", part), PTR) for part in range(3)]
        error = take_exception(emit.objects, places)
        emit.objects.forget(emit.objects.call(emit.objects.address(self._link.translated), [error]))
        raise_error(self._calls, self._node, error)

    @property
    def _only(self) -> Any:
        return Fetch(0, self._kind) if self._kind in NUMBERS else None

    def _ends(self) -> list[tuple[Any, int]]:
        return [] if self._only is None else [(self._only, NUMBERS[self._kind])]

    def _left(self, number: Register) -> Register:
        """The object of a result that is not as expected."""
        b, objects, done = self._emit.b, self._emit.objects, self._emit.b.new_block("boxed")
        found = []
        for type, code in NUMBERS.items():
            here, on = b.new_block("number"), b.new_block("on")
            b.cond_br(b.icmp("eq", number, code), here, on, False)
            b.begin(here)
            found.append((objects.number_object(load_number(b, slot(b, self._frame, 0), type.dtype), type), b.block))
            b.br(done)
            b.begin(on)
        found.append((b.load(PTR, slot(b, self._frame, 0)), b.block))
        b.br(done)
        b.begin(done)
        return b.phi(PTR, *found)


def _found(results: Sequence[tuple[Register | None, Label]]) -> list[tuple[Register, Label]]:
    return [(value, block) for value, block in results if value is not None]
