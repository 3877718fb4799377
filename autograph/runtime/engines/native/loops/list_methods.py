"""Methods and operators of lists in machine code, for items of any class: `xs[a:b]`, `xs.pop()`, `xs + ys`, `[a] * n`.

`lists.py` has single items; `searches.py` what compares items.
"""

from __future__ import annotations

from typing import Any

from autograph.common.cpython_internals import ALLOCATED, LIST_ITEMS, SIZE
from autograph.runtime.engines.native.analysis.structure import Point
from autograph.runtime.engines.native.llvm.ir import I64, NULL, PTR, Value
from autograph.runtime.engines.native.loops.c_calls import (
    call,
    class_of_operand,
    give,
    give_none,
    integer,
    leave_if,
    made,
    raise_if,
)
from autograph.runtime.engines.native.loops.lists import at_node, length, stored
from autograph.runtime.engines.native.loops.python_calls import PythonCalls
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.operands import NoLowering, Number
from autograph.runtime.graph.types import BOOL, INT

# Parts ----------------------------------------------------------------------------------------------------------------


def slice_of(calls: PythonCalls, node: Node, thing: Any, index: slice) -> bool:
    """`xs[a:b]`; the C function clips the bounds."""
    if index.step is not None:
        raise NoLowering
    return made(calls, node, list, "PyList_GetSlice", thing, *_bounds(calls, thing, index))


def _bounds(calls: PythonCalls, thing: Any, index: slice) -> list[Value]:
    """The bounds of a slice, counted from the beginning; they may be out of bounds."""
    emit, count, bounds = calls.flow.emit, length(calls, thing), []
    for each, default in ((index.start, emit.constant(0, INT)), (index.stop, count)):
        bound = default if each is None else integer(calls, each)
        negative = emit.compare("lt", bound, emit.constant(0, INT))
        bounds.append(emit.select(negative, emit.integer("add", bound, count), bound).ref)
    return bounds


def copy(calls: PythonCalls, node: Node, thing: Any) -> bool:
    """`list(xs)` or `xs.copy()`"""
    return slice_of(calls, node, thing, slice(None))


def pop(calls: PythonCalls, node: Node, thing: Any, *index: Any) -> bool:
    """`xs.pop()`"""
    if index:
        return _pop_at(calls, node, thing, integer(calls, *index))
    flow, emit = calls.flow, calls.flow.emit
    flow.resume_from(at_node(calls, node))
    size = emit.objects.load_at(I64, thing.ref, SIZE)
    emit.leave_if(Number(BOOL, emit.b.icmp("eq", size, 0)))
    last = emit.b.sub(size, 1)
    items = emit.objects.load_at(PTR, thing.ref, LIST_ITEMS)
    item = emit.b.load(PTR, emit.b.gep(items, last, PTR))
    # As long as half of its memory is in use, Python only sets the length; otherwise it takes less memory.
    half = emit.b.binary("ashr", emit.objects.load_at(I64, thing.ref, ALLOCATED), 1)

    def shorten() -> Value:
        emit.b.store(last, emit.b.gep(thing.ref, SIZE))
        return item

    found = emit.b.if_else(emit.b.icmp("sge", last, half), shorten, lambda: _removed(calls, thing, last, item), True)
    assert found is not None
    return give(calls, node, found)


def _pop_at(calls: PythonCalls, node: Node, thing: Any, index: Number) -> bool:
    """`xs.pop(i)`"""
    emit = calls.flow.emit
    calls.flow.resume_from(at_node(calls, node))
    place = emit.place(index, length(calls, thing)).ref
    item = emit.b.load(PTR, emit.b.gep(emit.objects.load_at(PTR, thing.ref, LIST_ITEMS), place, PTR))
    return give(calls, node, _removed(calls, thing, place, item))


def _removed(calls: PythonCalls, thing: Any, place: Value, item: Value) -> Value:
    """Remove an item from a list. Returns a new reference to it."""
    emit = calls.flow.emit
    emit.objects.another(item)
    failed = emit.objects.python("PyList_SetSlice", thing.ref, place, emit.b.add(place, 1), NULL)
    leave_if(calls, emit.b.icmp("ne", failed, 0))
    return item


# New lists ------------------------------------------------------------------------------------------------------------


def is_list(thing: Any) -> bool:
    """Whether an operand is a list, or the display of one."""
    return type(thing) is list or class_of_operand(thing) is list


def display(calls: PythonCalls, node: Node, items: list[Any]) -> bool:
    """`[a, [b, c]]`"""
    operands = _operands(calls, items)
    calls.flow.resume_from(at_node(calls, node))
    return give(calls, node, _new_list(calls, operands), list)


def _operands(calls: PythonCalls, items: list[Any]) -> list[Any]:
    """The operands of the items of a display, in which a list is a display within."""
    return [_operands(calls, each) if type(each) is list else stored(calls, each) for each in items]


def _new_list(calls: PythonCalls, operands: list[Any]) -> Value:
    emit = calls.flow.emit
    found = emit.objects.python("PyList_New", len(operands))
    leave_if(calls, emit.b.is_null(found))
    for place, operand in enumerate(operands):
        ref, is_new = (_new_list(calls, operand), True) if type(operand) is list else calls.object(operand)
        emit.b.store(
            ref if is_new else emit.objects.another(ref),
            emit.b.gep(emit.objects.load_at(PTR, found, LIST_ITEMS), place, PTR),
        )
    return found


def repeat(calls: PythonCalls, node: Node, thing: Any, count: Any) -> bool:
    """`xs * n` or `[x] * n`."""
    if not is_list(thing):
        thing, count = count, thing
    if type(thing) is list:
        return _repeat_new(calls, node, thing, integer(calls, count))
    return made(calls, node, list, "PySequence_Repeat", thing, integer(calls, count).ref)


def _repeat_new(calls: PythonCalls, node: Node, items: list[Any], count: Number) -> bool:
    operands, emit = _operands(calls, items), calls.flow.emit
    calls.flow.resume_from(at_node(calls, node))
    once = _new_list(calls, operands)
    found = emit.objects.python("PySequence_Repeat", once, count.ref)
    emit.objects.forget(once)
    raise_if(calls, node, emit.b.is_null(found))
    return give(calls, node, found, list)


def join(calls: PythonCalls, node: Node, one: Any, other: Any) -> bool:
    """`xs + ys`"""
    return made(calls, node, list, "PySequence_Concat", one, other)


# Changes --------------------------------------------------------------------------------------------------------------


def insert(calls: PythonCalls, node: Node, thing: Any, index: Any, item: Any) -> bool:
    """`xs.insert(i, x)`"""
    index, item = integer(calls, index), stored(calls, item)
    calls.flow.resume_from(at_node(calls, node))
    failed = call(calls, "PyList_Insert", thing, index.ref, item)
    leave_if(calls, calls.flow.emit.b.icmp("ne", failed, 0))
    return give_none(calls, node)


def reverse(calls: PythonCalls, node: Node, thing: Any) -> bool:
    """`xs.reverse()`"""
    calls.flow.resume_from(at_node(calls, node))
    leave_if(calls, calls.flow.emit.b.icmp("ne", call(calls, "PyList_Reverse", thing), 0))
    return give_none(calls, node)


def delete(calls: PythonCalls, node: Node, thing: Any, index: Any) -> bool:
    """`del xs[i]` or `del xs[a:b]`"""
    at, emit = at_node(calls, node), calls.flow.emit
    if isinstance(index, slice):
        return set_slice(calls, node, thing, index, NULL)
    index = integer(calls, index)
    calls.flow.resume_from(at)
    place = emit.place(index, length(calls, thing))
    leave_if(calls, emit.b.icmp("ne", call(calls, "PySequence_DelItem", thing, place.ref), 0))
    calls.flow.resume_from(Point(at.block, at.place + 1))
    calls.look_at_arrays()      # the item may have run code of the user's
    return True


def set_slice(calls: PythonCalls, node: Node, thing: Any, index: slice, items: Any) -> bool:
    """`xs[a:b] = ys`, of lists; `NULL` deletes the items."""
    if index.step is not None or not (items is NULL or is_list(items)):
        raise NoLowering
    at, emit = at_node(calls, node), calls.flow.emit
    operands = _operands(calls, items) if type(items) is list else items
    bounds = _bounds(calls, thing, index)
    calls.flow.resume_from(at)
    new = _new_list(calls, operands) if type(items) is list else None
    failed = call(calls, "PyList_SetSlice", thing, *bounds, items if new is None else new)
    if new is not None:
        emit.objects.forget(new)
    raise_if(calls, node, emit.b.icmp("ne", failed, 0))
    calls.flow.resume_from(Point(at.block, at.place + 1))
    calls.look_at_arrays()      # as above
    return True


def extend(calls: PythonCalls, node: Node, one: Any, other: Any) -> bool:
    """`xs += ys` of lists."""
    return made(calls, node, list, "PySequence_InPlaceConcat", one, other)
