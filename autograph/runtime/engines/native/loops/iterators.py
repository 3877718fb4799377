"""Loops over Python iterators: of iterables other than ranges and arrays of numbers.

The loop owns a reference to the iterator, which is Python's own object. Machine code reads and sets the place of an
iterator over a list or tuple, so an item takes no call, and a side exit leads to Python with the iterator as it is. Of
an `enumerate` or `zip` it takes the parts of an item, and makes no tuple of them. The functions emit code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.common.cpython_internals import ITERATED, LIST_ITEMS, NEXT_INDEX, SIZE, STRICT, TUPLE_ITEMS
from autograph.runtime.engines.native.analysis.structure import Point
from autograph.runtime.engines.native.emit.value_ranges import RANGE
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, take_exception
from autograph.runtime.engines.native.llvm.ir import FALSE, I32, I64, NULL, PTR, Block, Value
from autograph.runtime.engines.native.loops.block_versions import Cell
from autograph.runtime.engines.native.loops.lists import taken
from autograph.runtime.engines.native.loops.python_calls import PythonCalls
from autograph.runtime.engines.native.loops.result_speculation import CLASSES
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.graph import Value as Param
from autograph.runtime.graph.operands import Boxed, Given, Number
from autograph.runtime.graph.types import BOOL, INT, ObjectType

_OF_LIST: type = type(iter([]))
_OF_TUPLE: type = type(iter(()))
BACKWARD: type = type(reversed([]))
_ITERATORS: dict[type, type] = {
    list: _OF_LIST, tuple: _OF_TUPLE, **{each: each for each in (_OF_LIST, _OF_TUPLE, BACKWARD)}
}  # fmt: skip
_KNOWN = frozenset({*CLASSES.values(), *_ITERATORS, enumerate, zip})     # whose `__iter__` is written in C


def begin(calls: PythonCalls, node: Node, iterable: Any) -> Boxed:
    """A new reference to the iterator over an object."""
    of: Any = iterable.of if isinstance(iterable, (Boxed, Given)) else None
    if of not in _KNOWN:
        return Boxed(calls.apply(node, "iter", iterable))
    emit = calls.flow.emit
    found = emit.objects.python("PyObject_GetIter", iterable.ref)
    emit.stop_if(Number(BOOL, emit.b.is_null(found)), lambda: raise_again(calls, node))
    return Boxed(found, _ITERATORS.get(of))


# Items ----------------------------------------------------------------------------------------------------------------


def advance(calls: PythonCalls, node: Node, done: Block, go_on: Callable[[bool], None]) -> None:
    """Assign the next item to the targets of a loop; go to a block if there is none, or for an exception.

    Args:
        go_on: emits the iteration; it gets whether several paths lead there.
    """
    flow, target = calls.flow, node.kwargs.get("target", 0)
    iterator = flow.fetch(node)

    def take(item: Value) -> None:
        _is_next(calls, item, done)
        assign(calls, node, target, item)

    def leave() -> None:
        take(calls.flow.emit.objects.python("PyIter_Next", iterator.ref))
        flow.resume_from(Point(node.blocks[0], 0))
        flow.emit.jump(flow.emit.leave())

    parts = _PARTS.get(_name(node.args[0])) if isinstance(target, (list, tuple)) else None
    if parts is None or not parts.are_targets(target):
        if iterator.of is not None and all(isinstance(each, int) for each in _flat(target)):
            item = _next(calls, iterator, objects_stay=True)
            _is_next(calls, item, done)
            _borrow(calls, node, target, item, go_on)
        else:
            take(_next(calls, iterator))
            go_on(False)
        return

    def assign_parts() -> None:
        for each, part in zip(target, parts.take(calls, iterator.ref, len(target), done)):
            if isinstance(part, Number):
                _count(calls, node, each, part)
            else:
                assign(calls, node, each, part)
        go_on(False)

    fit = _either(
        flow.emit.b, flow.emit.objects.is_of_class(iterator.ref, parts.kind),
        lambda: parts.fit(calls, iterator.ref, len(target)), lambda: FALSE,
    )  # fmt: skip
    flow.branch(Number(BOOL, fit), assign_parts, leave)


def _name(value: Any) -> str:
    type = getattr(value, "type", None)
    return type.name if isinstance(type, ObjectType) else ""


def _flat(target: Any) -> list[Any]:
    return list(target) if isinstance(target, (list, tuple)) else [target]


def _borrow(calls: PythonCalls, node: Node, target: Any, item: Value, go_on: Callable[[bool], None]) -> None:
    """Assign an item to which a list or tuple refers, or its parts, to the targets of a loop.

    There are no new references to those that are numbers, and to others only at the point from which Python resumes.
    """
    flow, body = calls.flow, node.blocks[0]
    if isinstance(target, int):
        _take(calls, node, {body.params[target]: item})
        go_on(False)
        return
    found = _items_of(calls, item, len(target))

    def take_parts() -> None:
        parts = [flow.emit.objects.load_at(PTR, found, SLOT * place) for place in range(len(target))]
        _take(calls, node, {body.params[each]: part for each, part in zip(target, parts)})
        go_on(True)

    def ask() -> None:
        assign(calls, node, target, flow.emit.objects.another(item))
        go_on(True)

    flow.branch(Number(BOOL, flow.emit.b.is_null(found)), ask, take_parts)


def _take(calls: PythonCalls, node: Node, parts: dict[Param, Value]) -> None:
    """Define the targets of a loop as objects to which others refer, unboxed if they are numbers."""
    flow, begin = calls.flow, Point(node.blocks[0], 0)
    for param, part in parts.items():
        flow.define(param, Boxed(part))
    flow.resume_from(begin, is_brief=True)
    for param, part in parts.items():
        if param in flow.structure.live(begin) and not isinstance(calls.expect(param, param.type), tuple):
            taken(calls, Point(begin.block, -1), param, lambda part=part: part)     # type: ignore[misc]


def _items_of(calls: PythonCalls, thing: Value, count: int) -> Value:
    """The address of the references to the items of a tuple or list of so many; null for any other object."""
    b, objects = calls.flow.emit.b, calls.flow.emit.objects

    def items(kind: type, address: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
        def of_size() -> Value:
            return _either(b, objects.has_size(thing, count), address, lambda: NULL)

        return _either(b, objects.is_of_class(thing, kind), of_size, otherwise)

    def of_list() -> Value:
        return items(list, lambda: objects.load_at(PTR, thing, LIST_ITEMS), lambda: NULL)

    return items(tuple, lambda: b.gep(thing, TUPLE_ITEMS), of_list)


def _next(calls: PythonCalls, iterator: Boxed, objects_stay: bool = False) -> Value:
    """A new reference to the next item of an iterator; null if there is none, or for an exception.

    Args:
        objects_stay: whether the reference of the list or tuple suffices, so that there is no new one.
    """
    b, objects = calls.flow.emit.b, calls.flow.emit.objects

    def ask() -> Value:
        return objects.python("PyIter_Next", iterator.ref)

    if iterator.of is None:
        return ask()
    container = objects.load_at(PTR, iterator.ref, ITERATED)
    place = b.gep(iterator.ref, NEXT_INDEX)

    def take() -> Value:
        index = b.load(I64, place)

        def load() -> Value:
            b.store(b.add(index, -1 if iterator.of is BACKWARD else 1), place)
            is_tuple = iterator.of is _OF_TUPLE
            items = b.gep(container, TUPLE_ITEMS) if is_tuple else objects.load_at(PTR, container, LIST_ITEMS)
            item = b.load(PTR, b.gep(items, index, PTR))
            return item if objects_stay else objects.acquire(item)

        # Backward, the index is -1 at the end.
        return _either(b, b.icmp("ult", index, objects.load_at(I64, container, SIZE)), load, ask)

    return _either(b, b.is_null(container), ask, take)


def _either(b: Any, condition: Value, then: Callable[[], Value], orelse: Callable[[], Value]) -> Value:
    found: Value = b.if_else(condition, then, orelse)
    return found


def _next_of_any(calls: PythonCalls, iterator: Value) -> Value:
    """The same of an iterator whose class is unknown, probably one over a list or tuple."""
    kinds: tuple[type | None, ...] = (_OF_LIST, _OF_TUPLE, None)

    def among(place: int) -> Value:
        kind = kinds[place]
        if kind is None:
            return _next(calls, Boxed(iterator))
        is_kind = calls.flow.emit.objects.is_of_class(iterator, kind)
        return _either(
            calls.flow.emit.b, is_kind, lambda: _next(calls, Boxed(iterator, kind)), lambda: among(place + 1)
        )

    return among(0)


def _is_next(calls: PythonCalls, item: Value, done: Block, *others: Value) -> None:
    """Go to a block if there is no item. References to others are released there."""
    flow, b = calls.flow, calls.flow.emit.b
    first, none = b.new_block("item"), b.new_block("none") if others else done
    flow.emit.branch(Number(BOOL, b.is_null(item)), none, first)
    if others:
        b.begin(none)
        for each in others:
            flow.emit.objects.forget(each)
        b.br(done)
    flow.begin(first, flow.state)


# Parts of items -------------------------------------------------------------------------------------------------------


class _Enumerated:
    """The parts of an item of an `enumerate`: a number and an item."""

    kind = enumerate

    @staticmethod
    def are_targets(target: Any) -> bool:
        return len(target) == 2 and isinstance(target[0], int)

    @staticmethod
    def fit(calls: PythonCalls, iterator: Value, count: int) -> Value:
        """Whether an `enumerate` has a small number."""
        b = calls.flow.emit.b
        index = calls.flow.emit.objects.load_at(I64, iterator, NEXT_INDEX)
        return b.icmp("ult", b.add(index, RANGE), 2 * RANGE)

    @staticmethod
    def take(calls: PythonCalls, iterator: Value, count: int, done: Block) -> list[Any]:
        b, objects = calls.flow.emit.b, calls.flow.emit.objects
        item = _next_of_any(calls, objects.load_at(PTR, iterator, ITERATED))
        _is_next(calls, item, done)
        place = b.gep(iterator, NEXT_INDEX)
        number = b.load(I64, place)     # only now: the iterator may have used the `enumerate`
        b.store(b.add(number, 1), place)
        return [Number(INT, number), item]


class _Zipped:
    """The parts of an item of a `zip`."""

    kind = zip

    @staticmethod
    def are_targets(target: Any) -> bool:
        return len(target) > 0

    @staticmethod
    def fit(calls: PythonCalls, iterator: Value, count: int) -> Value:
        """Whether a `zip` is of so many iterators, and not strict."""
        b, objects = calls.flow.emit.b, calls.flow.emit.objects
        fits = b.icmp("eq", objects.load_at(I64, iterator, NEXT_INDEX), count)
        return b.and_(fits, b.icmp("eq", objects.load_at(I32, iterator, STRICT), 0))

    @staticmethod
    def take(calls: PythonCalls, iterator: Value, count: int, done: Block) -> list[Any]:
        objects, found = calls.flow.emit.objects, list[Value]()
        for place in range(count):
            of = objects.load_at(PTR, objects.load_at(PTR, iterator, ITERATED), TUPLE_ITEMS + SLOT * place)
            item = _next_of_any(calls, of)
            _is_next(calls, item, done, *found)
            found.append(item)
        return found


_PARTS: dict[str, Any] = {"enumerate": _Enumerated, "zip": _Zipped}


# Targets --------------------------------------------------------------------------------------------------------------


def _count(calls: PythonCalls, node: Node, target: int, number: Number) -> None:
    """Assign the number of an item to a target."""
    flow, param = calls.flow, node.blocks[0].params[target]
    flow.define(param, number)
    flow.counted.add(param)
    flow.emit.ranges.bound(number.ref, -RANGE, RANGE)


def assign(calls: PythonCalls, node: Node, target: Any, thing: Value) -> None:
    """Assign a new reference, or the parts of its object, to the targets of a loop."""
    flow = calls.flow
    if isinstance(target, int):
        param = node.blocks[0].params[target]
        flow.define(param, Boxed(thing))
        flow.own((param, ()), thing)
        return
    whole: Cell = node, (id(target),)
    flow.own(whole, thing)
    parts = parts_of(calls, node, thing, len(target))
    del flow.state.owned[whole]
    flow.emit.objects.forget(thing)
    inner: list[tuple[Any, Cell, Value]] = []
    for each, part in zip(target, parts):
        if isinstance(each, int):
            assign(calls, node, each, part)
        else:
            inner.append((each, (node, (id(each), 0)), part))
            flow.own(inner[-1][1], part)
    for each, cell, part in inner:
        del flow.state.owned[cell]
        assign(calls, node, each, part)


def parts_of(calls: PythonCalls, node: Node, thing: Value, count: int) -> list[Value]:
    """New references to the parts of an object, which should have `count`."""
    emit = calls.flow.emit
    if count == 1:
        return [calls.apply(node, "unpack", Boxed(thing), 1)]
    is_tuple, fits, other, on = map(emit.b.new_block, ("tuple", "fits", "other", "on"))
    emit.branch(Number(BOOL, emit.objects.is_of_class(thing, tuple)), is_tuple, other)
    emit.b.begin(is_tuple)
    emit.branch(Number(BOOL, emit.objects.has_size(thing, count)), fits, other)
    emit.b.begin(fits)
    for place in range(count):
        part = emit.objects.load_at(PTR, thing, TUPLE_ITEMS + SLOT * place)
        emit.cells.store((node, "part", place), emit.objects.acquire(part))
    emit.jump(on)
    emit.b.begin(other)
    calls.operation(node, "unpack", count, outputs=count).is_rare = True
    found = calls.apply(node, "unpack", Boxed(thing), count, outputs=count)
    for place, part in enumerate(calls.parts(found, count)):
        emit.cells.store((node, "part", place), part)
    emit.jump(on)
    emit.b.begin(on)
    return [emit.cells.load((node, "part", place), PTR) for place in range(count)]


def raise_again(calls: PythonCalls, node: Node) -> None:
    """Raise the current exception, of an iterator or a C function, at the line of a node."""
    emit = calls.flow.emit
    places = [emit.cells.place(("exception", part), PTR) for part in range(3)]
    raise_error(calls, node, take_exception(emit.objects, places))


def raise_error(calls: PythonCalls, node: Node, error: Value) -> None:
    """Raise an exception, a new reference, at the line of a node."""
    emit = calls.flow.emit
    callback = calls.operation(node, "raise", outputs=0)
    callback.is_rare = callback.only_raises = True
    calls.callbacks[callback] = None
    emit.objects.call(emit.objects.address(callback), [error])
    emit.objects.forget(error)
    calls.flow.stop()
