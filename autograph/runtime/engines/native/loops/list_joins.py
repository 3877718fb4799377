"""Lists and tuples that are joined: `out + left[i:] + right[j:]`, `[x] + xs`, `path + (x,)`.

Python makes a list for each part and each `+`. The code makes that of the last `+`, and copies the items of all parts
into it. If it is left among these nodes (`join_group`), Python does them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from autograph.common.cpython_internals import LIST_ITEMS, SIZE, TUPLE_ITEMS
from autograph.runtime.engines.native.analysis.list_groups import routine_of
from autograph.runtime.engines.native.emit import list_items
from autograph.runtime.engines.native.llvm.ir import I64, PTR, constant
from autograph.runtime.engines.native.llvm.ir import Value as Register
from autograph.runtime.engines.native.loops.c_calls import call, class_of_operand, give, leave_if, made, raise_if
from autograph.runtime.engines.native.loops.list_methods import fill, new_list, operands_of
from autograph.runtime.engines.native.loops.lists import at_node
from autograph.runtime.engines.native.loops.python_calls import PythonCalls
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.operands import Boxed, Given, NoLowering, Number
from autograph.runtime.graph.traits import ON_CONTAINER
from autograph.runtime.graph.types import BOOL


@dataclass(frozen=True)
class Part:
    """Items of a list or tuple, from a place on.

    Attributes:
        size: the length of the list or tuple.
    """

    thing: Register
    first: Number
    count: Number
    size: Register


@dataclass(frozen=True)
class Joined:
    """A list that is no object: its parts, and displays, which are lists of operands."""

    parts: list[Any]


class ListJoin:
    """Emits the nodes of a `join_group`; raises `NoLowering` if not all are lists, or all tuples.

    Args:
        operation: emits a node of numbers, and returns whether it has an effect.
    """

    def __init__(self, calls: PythonCalls, operation: Callable[[Node], bool]) -> None:
        self._calls = calls
        self._operation = operation
        self._lists: dict[Value, Joined] = {}
        self._kinds: set[type] = set()

    def run(self, group: list[Node]) -> list[Node]:
        """Emit the nodes. Returns them."""
        flow = self._calls.flow
        flow.resume_from(at_node(self._calls, group[0]))
        for node in group:
            flow.emit.b.place = node.place
            if ON_CONTAINER.get(node.op) == "join":
                self._set(node, [each for arg in node.args for each in self._parts(arg)])
            elif routine_of(node) == "slice":
                self._set(node, [self._part(*node.args)])
            elif self._operation(node):
                raise NoLowering
        (kind, *others), parts = self._kinds, self._lists[group[-1].output].parts
        if others:
            raise NoLowering
        give(self._calls, group[-1], self._list(parts) if kind is list else self._tuple(parts), kind)
        return group

    def _set(self, node: Node, parts: list[Any]) -> None:
        if node in self._calls.flow.structure.passed.with_nan:
            raise NoLowering
        self._calls.direct.setdefault(node, None)
        self._lists[node.output] = self._calls.flow.state.env[node.output] = Joined(parts)

    def _parts(self, arg: Any) -> list[Any]:
        """The parts of an operand of `+`."""
        if isinstance(arg, Value) and arg in self._lists:
            return self._lists[arg].parts
        if type(arg) in (list, tuple):
            self._kinds.add(type(arg))
            return [operands_of(self._calls, list(self._calls.flow.args(arg)))]
        return [self._part(arg, slice(None))]

    def _part(self, thing: Any, index: slice) -> Part:
        flow = self._calls.flow
        thing, index = flow.args((thing, index))
        kind = class_of_operand(thing)
        if not isinstance(thing, (Boxed, Given)) or kind not in (list, tuple):
            raise NoLowering
        self._kinds.add(kind)
        first, count = list_items.part(flow.emit, flow.operand, thing.ref, index)
        return Part(thing.ref, first, count, self._size(thing.ref))

    def _size(self, thing: Register) -> Register:
        return self._calls.flow.emit.objects.load_at(I64, thing, SIZE)

    def _list(self, parts: list[Any]) -> Register:
        """A new list of the items of parts."""
        emit, b = self._calls.flow.emit, self._calls.flow.emit.b
        counts = self._counts(parts)
        found = emit.objects.python("PyList_New", reduce(b.add, counts))
        leave_if(self._calls, b.is_null(found))
        places = self._filled(parts, counts, emit.objects.load_at(PTR, found, LIST_ITEMS))
        # To make objects may collect garbage, which runs code of the user's.
        for part in {each.thing: each for each in parts if isinstance(each, Part)}.values():
            changed = Number(BOOL, b.icmp("ne", self._size(part.thing), part.size))
            emit.stop_if(changed, lambda: self._leave_without(found))
        for part, place in places:
            self._copy(part, emit.objects.load_at(PTR, part.thing, LIST_ITEMS), place)
        return found

    def _tuple(self, parts: list[Any]) -> Register:
        """A tuple of the items of parts: one of them, as in Python, if the others are empty."""
        emit, b = self._calls.flow.emit, self._calls.flow.emit.b
        counts = self._counts(parts)
        total = reduce(b.add, counts)

        def make() -> Register:
            found = emit.objects.python("PyTuple_New", total)
            leave_if(self._calls, b.is_null(found))
            for part, place in self._filled(parts, counts, b.gep(found, TUPLE_ITEMS)):
                self._copy(part, b.gep(part.thing, TUPLE_ITEMS), place)
            return found

        def one_or(parts: list[Part]) -> Register:
            if not parts:
                return make()
            (part, *rest) = parts
            is_all = b.and_(*(b.icmp("eq", part.count.ref, each) for each in (total, part.size)))
            found = b.if_else(is_all, lambda: emit.objects.acquire(part.thing), lambda: one_or(rest))
            assert found is not None
            return found

        return one_or([each for each in parts if isinstance(each, Part)])

    def _counts(self, parts: list[Any]) -> list[Register]:
        return [each.count.ref if isinstance(each, Part) else constant(I64, len(each)) for each in parts]

    def _filled(self, parts: list[Any], counts: list[Register], items: Register) -> list[tuple[Part, Register]]:
        """Store the items of displays. Returns the other parts, and where their items belong."""
        b = self._calls.flow.emit.b
        places: list[tuple[Part, Register]] = []
        place: Register = constant(I64, 0)
        for part, count in zip(parts, counts):
            target = b.gep(items, place, PTR)
            if isinstance(part, Part):
                places.append((part, target))
            else:
                fill(self._calls, part, target)
            place = b.add(place, count)
        return places

    def _copy(self, part: Part, items: Register, target: Register) -> None:
        b = self._calls.flow.emit.b
        b.call(list_items.copied(b.function.module), b.gep(items, part.first.ref, PTR), target, part.count.ref)

    def _leave_without(self, made: Register) -> None:
        emit = self._calls.flow.emit
        emit.objects.forget(made)
        emit.jump(emit.leave())


def extend(calls: PythonCalls, node: Node, one: Any, other: Any) -> bool:
    """`xs += ys` of lists."""
    if type(other) is not list:
        return made(calls, node, list, "PySequence_InPlaceConcat", one, other)
    operands = operands_of(calls, other)
    calls.flow.resume_from(at_node(calls, node))
    new = new_list(calls, operands)
    found = call(calls, "PySequence_InPlaceConcat", one, new)
    calls.flow.emit.objects.forget(new)
    raise_if(calls, node, calls.flow.emit.b.is_null(found))
    return give(calls, node, found, list)
