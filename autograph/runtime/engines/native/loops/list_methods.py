"""Methods and operators of lists in machine code: `xs[a:b]`, `xs.pop()`, `xs + ys`, `x in xs`, `bisect_left(xs, x)`.

`lists.py` has single items. To search for a number, the code goes through the items itself as long as these are of the
same class. At an item of another class it calls the C function instead, if all items are numbers; or else Python, since
code of the user's may compare the items.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Any

from autograph.common.cpython_internals import ALLOCATED, HAS_DIGITS, HAS_SIMPLE_COUNTS, LIST_ITEMS, SIZE
from autograph.runtime.engines.native.analysis.structure import Point
from autograph.runtime.engines.native.emit import list_items
from autograph.runtime.engines.native.emit.emitter import number_of, unboxed
from autograph.runtime.engines.native.llvm import deque_items
from autograph.runtime.engines.native.llvm.cpython_abi import class_of
from autograph.runtime.engines.native.llvm.ir import FALSE, I64, NULL, PTR, TRUE, Value, constant
from autograph.runtime.engines.native.loops.c_calls import (
    are_numbers,
    call,
    call_object,
    called,
    class_of_operand,
    give,
    give_none,
    integer,
    leave_if,
    made,
    raise_if,
)
from autograph.runtime.engines.native.loops.lists import (
    at_node,
    is_text,
    items_of,
    length,
    number_by_python,
    stored,
    text_place,
)
from autograph.runtime.engines.native.loops.python_calls import PythonCalls
from autograph.runtime.engines.native.loops.result_speculation import UNKNOWN
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.operands import Boxed, NoLowering, Number
from autograph.runtime.graph.types import BOOL, INT

_OTHER = -1     # the place if an item is of another class

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
    operands = operands_of(calls, items)
    calls.flow.resume_from(at_node(calls, node))
    return give(calls, node, new_list(calls, operands), list)


def operands_of(calls: PythonCalls, items: list[Any]) -> list[Any]:
    """The operands of the items of a display, in which a list is a display within."""
    return [operands_of(calls, each) if type(each) is list else stored(calls, each) for each in items]


def new_list(calls: PythonCalls, operands: list[Any]) -> Value:
    emit = calls.flow.emit
    found = emit.objects.python("PyList_New", len(operands))
    leave_if(calls, emit.b.is_null(found))
    if operands:
        fill(calls, operands, emit.objects.load_at(PTR, found, LIST_ITEMS))
    return found


def fill(calls: PythonCalls, operands: list[Any], items: Value) -> None:
    """Store the items of a display in the memory of a new list."""
    emit = calls.flow.emit
    for place, operand in enumerate(operands):
        ref, is_new = (new_list(calls, operand), True) if type(operand) is list else calls.object(operand)
        emit.b.store(ref if is_new else emit.objects.acquire(ref), emit.b.gep(items, place, PTR))


def repeat(calls: PythonCalls, node: Node, thing: Any, count: Any) -> bool:
    """`xs * n` or `[x] * n`."""
    if not is_list(thing):
        thing, count = count, thing
    if type(thing) is list:
        return _repeat_new(calls, node, thing, integer(calls, count))
    return made(calls, node, list, "PySequence_Repeat", thing, integer(calls, count).ref)


def _repeat_new(calls: PythonCalls, node: Node, items: list[Any], count: Number) -> bool:
    operands, emit = operands_of(calls, items), calls.flow.emit
    calls.flow.resume_from(at_node(calls, node))
    once = new_list(calls, operands)
    found = emit.objects.python("PySequence_Repeat", once, count.ref)
    emit.objects.forget(once)
    raise_if(calls, node, emit.b.is_null(found))
    return give(calls, node, found, list)


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
    operands = operands_of(calls, items) if type(items) is list else items
    bounds = _bounds(calls, thing, index)
    calls.flow.resume_from(at)
    new = new_list(calls, operands) if type(items) is list else None
    failed = call(calls, "PyList_SetSlice", thing, *bounds, items if new is None else new)
    if new is not None:
        emit.objects.forget(new)
    raise_if(calls, node, emit.b.icmp("ne", failed, 0))
    calls.flow.resume_from(Point(at.block, at.place + 1))
    calls.look_at_arrays()      # as above
    return True


# Searching ------------------------------------------------------------------------------------------------------------


def _sought(calls: PythonCalls, item: Any) -> Number:
    """The operand of a number that is sought."""
    found = stored(calls, item)
    if not isinstance(found, Number) or class_of(found.type) not in (int, float):
        raise NoLowering
    return found


def _search(calls: PythonCalls, thing: Value, sought: Number) -> Value:
    """The place of the first item that equals a number; the length if there is none; or `_OTHER`."""
    emit, b = calls.flow.emit, calls.flow.emit.b
    items, size = emit.objects.load_at(PTR, thing, LIST_ITEMS), emit.objects.load_at(I64, thing, SIZE)
    head, look, compare, other, on, done = map(b.new_block, ("seek", "look", "compare", "other", "on", "found"))
    before = b.block
    b.br(head)
    b.begin(head)
    place = b.phi(I64, (constant(I64, 0), before))
    b.cond_br(b.icmp("slt", place, size), look, done)
    b.begin(look)
    item = b.load(PTR, b.gep(items, place, PTR))
    b.cond_br(emit.objects.is_of_class(item, class_of(sought.type)), compare, other, True)
    b.begin(compare)
    equal = emit.compare("eq", unboxed(emit, item, sought.type), sought)
    end = b.block
    b.cond_br(equal.ref, done, on)
    b.begin(on)
    place.add_incoming(b.add(place, 1), b.block)
    b.br(head)
    b.begin(other)
    b.br(done)
    b.begin(done)
    return b.phi(I64, (place, head), (place, end), (constant(I64, _OTHER), other))


def _bisect(calls: PythonCalls, thing: Value, sought: Number, is_left: bool) -> Value:
    """The place where a number belongs in a sorted list, as `bisect` finds it; or `_OTHER`."""
    emit, b = calls.flow.emit, calls.flow.emit.b
    items, size = emit.objects.load_at(PTR, thing, LIST_ITEMS), emit.objects.load_at(I64, thing, SIZE)
    head, look, compare, other, done = map(b.new_block, ("bisect", "look", "compare", "other", "found"))
    before = b.block
    b.br(head)
    b.begin(head)
    low, high = b.phi(I64, (constant(I64, 0), before)), b.phi(I64, (size, before))
    b.cond_br(b.icmp("slt", low, high), look, done)
    b.begin(look)
    middle = b.binary("ashr", b.add(low, high), 1)
    item = b.load(PTR, b.gep(items, middle, PTR))
    b.cond_br(emit.objects.is_of_class(item, class_of(sought.type)), compare, other, True)
    b.begin(compare)
    number, above = unboxed(emit, item, sought.type), b.add(middle, 1)
    if is_left:
        goes_up = emit.compare("lt", number, sought).ref
    else:
        goes_up = b.xor(emit.compare("lt", sought, number).ref, TRUE)
    low.add_incoming(b.select(goes_up, above, low), b.block)
    high.add_incoming(b.select(goes_up, high, middle), b.block)
    b.br(head)
    b.begin(other)
    b.br(done)
    b.begin(done)
    return b.phi(I64, (low, head), (constant(I64, _OTHER), other))


def _or_slow(calls: PythonCalls, place: Value, fast: Callable[[], Any], slow: Callable[[], Any]) -> Any:
    """The result of one of two paths: the second if an item was of another class."""
    b = calls.flow.emit.b
    return b.if_else(b.icmp("ne", place, _OTHER), fast, slow, True)


def _by_objects(calls: PythonCalls, node: Node, thing: Any, direct: Callable[[], Value]) -> Value:
    """A new reference that `direct` gives if all items of a list are numbers; otherwise Python runs the node."""
    if class_of_operand(thing) is not list:
        return calls.fall_back(node)
    found = calls.flow.emit.b.if_else(are_numbers(calls, thing.ref), direct, lambda: calls.fall_back(node))
    assert found is not None
    return found


def contains(calls: PythonCalls, node: Node, item: Any, thing: Any) -> bool:
    """`x in xs`"""
    emit, b, sought = calls.flow.emit, calls.flow.emit.b, _sought(calls, item)
    calls.flow.resume_from(at_node(calls, node))
    size, place = emit.objects.load_at(I64, thing.ref, SIZE), _search(calls, thing.ref, sought)

    def slow() -> Value:
        return b.icmp("ne", _number(calls, node, thing, "PySequence_Contains", sought), 0)

    truth = _or_slow(calls, place, lambda: b.icmp("slt", place, size), slow)
    calls.flow.define(node.output, Number(BOOL, truth))
    return True


def index(calls: PythonCalls, node: Node, thing: Any, item: Any) -> bool:
    """`xs.index(x)`"""
    if is_text(item):
        return text_place(calls, node, thing, item)
    emit, b, sought = calls.flow.emit, calls.flow.emit.b, _sought(calls, item)
    calls.flow.resume_from(at_node(calls, node))
    size, place = emit.objects.load_at(I64, thing.ref, SIZE), _search(calls, thing.ref, sought)

    def fast() -> Value:
        emit.leave_if(Number(BOOL, b.icmp("eq", place, size)))      # Python raises the error
        return place

    found = _or_slow(calls, place, fast, lambda: _number(calls, node, thing, "PySequence_Index", sought))
    emit.ranges.bound(found, 0, 2**60)
    calls.flow.define(node.output, Number(INT, found))
    return True


def count(calls: PythonCalls, node: Node, thing: Any, item: Any) -> bool:
    """`xs.count(x)`"""
    if is_text(item):
        return text_place(calls, node, thing, item, counts=True)
    emit, sought = calls.flow.emit, _sought(calls, item)
    calls.flow.resume_from(at_node(calls, node))

    def ask() -> Value:
        return _number(calls, node, thing, "PySequence_Count", sought)

    if HAS_DIGITS:
        kind = class_of(sought.type)
        function = list_items.occurrences(emit.b.function.module, kind)
        counted = emit.b.call(function, *items_of(calls, thing.ref), emit.objects.address(kind), sought.ref)
        found = emit.b.if_else(emit.b.icmp("ne", counted, list_items.NONE), lambda: counted, ask, True)
        assert found is not None
    else:
        found = ask()
    emit.ranges.bound(found, 0, 2**60)
    calls.flow.define(node.output, Number(INT, found))
    return True


def _over(calls: PythonCalls, thing: Any, function: Any, *args: Value, otherwise: Value) -> Value:
    """The result of a function of the items of a list, or of a short deque; `otherwise` for long ones."""
    objects, b = calls.flow.emit.objects, calls.flow.emit.b
    if class_of_operand(thing) is list:
        return b.call(function, *items_of(calls, thing.ref), *args)
    items, size, are_together = deque_items.items_together(objects, thing.ref)
    found = b.if_else(are_together, lambda: b.call(function, items, size, *args), lambda: otherwise, True)
    assert found is not None
    return found


def _number(calls: PythonCalls, node: Node, thing: Any, name: str, sought: Number) -> Value:
    """The number that a function of the C API finds, or Python."""
    b = calls.flow.emit.b

    def ask() -> Value:
        found = call(calls, name, thing, sought)
        leave_if(calls, b.icmp("slt", found, 0))
        return found if found.type == I64 else b.cast("sext", found, I64)

    found = b.if_else(are_numbers(calls, thing.ref), ask, lambda: number_by_python(calls, node))
    assert found is not None
    return found


def remove(calls: PythonCalls, node: Node, thing: Any, item: Any) -> bool:
    """`xs.remove(x)`"""
    emit, b, sought = calls.flow.emit, calls.flow.emit.b, _sought(calls, item)
    calls.flow.resume_from(at_node(calls, node))
    size, place = emit.objects.load_at(I64, thing.ref, SIZE), _search(calls, thing.ref, sought)

    def fast() -> None:
        emit.leave_if(Number(BOOL, b.icmp("eq", place, size)))      # as above
        failed = emit.objects.python("PyList_SetSlice", thing.ref, place, b.add(place, 1), NULL)
        leave_if(calls, b.icmp("ne", failed, 0))

    _or_slow(calls, place, fast, lambda: _run(calls, node, thing, list.remove, thing, sought))
    return give_none(calls, node)


def _run(calls: PythonCalls, node: Node, thing: Any, function: Any, *args: Any) -> None:
    """Call a function that returns None, or Python if not all items of a list are numbers."""

    def run() -> Value:
        found = call_object(calls, function, *args)
        raise_if(calls, node, calls.flow.emit.b.is_null(found))
        return found

    calls.flow.emit.objects.forget(_by_objects(calls, node, thing, run))


# Sorted lists ---------------------------------------------------------------------------------------------------------


def _bisected(is_left: bool) -> Callable[..., bool]:
    """`bisect.bisect_left(xs, x)` or `bisect.bisect_right(xs, x)`"""

    def routine(calls: PythonCalls, node: Node, thing: Any, item: Any) -> bool:
        emit, sought = calls.flow.emit, _sought(calls, item)
        calls.flow.resume_from(at_node(calls, node))
        place = _bisect(calls, thing.ref, sought, is_left)
        found = _or_slow(calls, place, lambda: place, lambda: number_by_python(calls, node))
        emit.ranges.bound(found, 0, 2**60)
        calls.flow.define(node.output, Number(INT, found))
        return True

    return routine


def _inserted(is_left: bool) -> Callable[..., bool]:
    """`bisect.insort_left(xs, x)` or `bisect.insort_right(xs, x)`"""

    def routine(calls: PythonCalls, node: Node, thing: Any, item: Any) -> bool:
        emit, b, sought = calls.flow.emit, calls.flow.emit.b, _sought(calls, item)
        calls.flow.resume_from(at_node(calls, node))
        place = _bisect(calls, thing.ref, sought, is_left)

        def fast() -> None:
            leave_if(calls, b.icmp("ne", call(calls, "PyList_Insert", thing, place, sought), 0))

        _or_slow(calls, place, fast, lambda: emit.objects.forget(calls.fall_back(node)))
        return give_none(calls, node)

    return routine


# The routines of functions of the standard library, for a list and a number.
FUNCTIONS: dict[Any, Callable[..., bool]] = {
    bisect.bisect_left: _bisected(True), bisect.bisect_right: _bisected(False),
    bisect.insort_left: _inserted(True), bisect.insort_right: _inserted(False),
}  # fmt: skip


# All items ------------------------------------------------------------------------------------------------------------


def total(calls: PythonCalls, node: Node, thing: Any) -> bool:
    """`sum(xs)`: a number without an object if all items are integers of one digit, or all floats; or else Python's."""
    flow, emit, b, at = calls.flow, calls.flow.emit, calls.flow.emit.b, at_node(calls, node)
    value, behind = node.output, Point(at.block, at.place + 1)
    expected = calls.expect(value, value.type)
    type = INT if expected == UNKNOWN else expected
    if type not in list_items.SUMS:
        return aggregate(sum)(calls, node, thing)
    flow.resume_from(at)
    kind, function = class_of(type), list_items.total(b.function.module, class_of(type))
    added = _over(calls, thing, function, emit.objects.address(kind), otherwise=list_items.nothing(kind))

    def ask() -> Value:
        found = _by_objects(calls, node, thing, lambda: called(calls, node, sum, thing))
        with flow.resuming(behind, value, found):
            number = number_of(emit, found, type)
            flow.leave_if_nan(value, number)
        emit.objects.forget(found)
        assert isinstance(number, Number)
        ref: Value = number.ref
        return ref

    result = b.if_else(list_items.is_total(b, added), lambda: added, ask, True)
    assert result is not None
    flow.define(value, Number(type, result))
    return True


def aggregate(function: Any) -> Callable[..., bool]:
    """`function(xs)`, such as `sum`."""

    def routine(calls: PythonCalls, node: Node, thing: Any) -> bool:
        calls.flow.resume_from(at_node(calls, node))
        return give(calls, node, _by_objects(calls, node, thing, lambda: called(calls, node, function, thing)))

    return routine


def extreme(function: Any, how: str) -> Callable[..., bool]:
    """`min(xs)` or `max(xs)`: an item."""

    def routine(calls: PythonCalls, node: Node, thing: Any) -> bool:
        emit, b, classes = calls.flow.emit, calls.flow.emit.b, map(calls.flow.emit.objects.address, (int, float))
        if not HAS_DIGITS:
            return aggregate(function)(calls, node, thing)
        calls.flow.resume_from(at_node(calls, node))
        item = _over(calls, thing, list_items.extreme(b.function.module, how), *classes, otherwise=NULL)

        def ask() -> Value:
            return _by_objects(calls, node, thing, lambda: called(calls, node, function, thing))

        found = b.if_else(b.is_null(item), ask, lambda: emit.objects.another(item), False)
        assert found is not None
        return give(calls, node, found)

    return routine


def sort(calls: PythonCalls, node: Node, thing: Any) -> bool:
    """`xs.sort()`"""
    calls.flow.resume_from(at_node(calls, node))
    with calls.flow.emit.b.if_then(_is_unsorted(calls, thing.ref), False):
        _run(calls, node, thing, list.sort, thing)
    return give_none(calls, node)


def _is_unsorted(calls: PythonCalls, thing: Value) -> Value:
    """Sort a list if it has few items, all integers or all floats. Returns whether it has not been sorted."""
    emit, b = calls.flow.emit, calls.flow.emit.b
    if not HAS_DIGITS:
        return TRUE
    classes = map(emit.objects.address, (int, float))
    return b.icmp("eq", b.call(list_items.sort(b.function.module), *items_of(calls, thing), *classes), 0)


def sort_copy(calls: PythonCalls, node: Node, thing: Any) -> bool:
    """`sorted(xs)`"""
    emit, b = calls.flow.emit, calls.flow.emit.b
    if class_of_operand(thing) is not list:
        return _sort_new(calls, node, thing)
    calls.flow.resume_from(at_node(calls, node))

    def copied() -> Value:
        found = call(calls, "PyList_GetSlice", thing, 0, size)
        raise_if(calls, node, b.is_null(found))
        return found

    def try_to_sort() -> Value:
        found = b.if_else(is_last, lambda: emit.objects.another(thing.ref), copied) if may_take else copied()
        assert found is not None

        def drop() -> Value:
            emit.objects.forget(found)
            return NULL

        made = b.if_else(_is_unsorted(calls, found), drop, lambda: found, False)
        assert made is not None
        return made

    def ask() -> Value:
        return _by_objects(calls, node, thing, lambda: called(calls, node, sorted, thing))

    size, may_take = emit.objects.load_at(I64, thing.ref, SIZE), _is_used_up(calls, node)
    is_last = b.icmp("eq", emit.objects.load_at(I64, thing.ref, 0), 1) if may_take else FALSE
    made = b.if_else(b.icmp("sle", size, list_items.FEW), try_to_sort, lambda: NULL)
    assert made is not None
    found = b.if_else(b.is_null(made), ask, lambda: made, False)
    assert found is not None
    return give(calls, node, found, list)


def _sort_new(calls: PythonCalls, node: Node, thing: Any) -> bool:
    """`sorted([a, b])`, or of another container than a list."""
    operands, emit, b = operands_of(calls, thing) if type(thing) is list else None, calls.flow.emit, calls.flow.emit.b
    calls.flow.resume_from(at_node(calls, node))
    made = call(calls, "PySequence_List", thing) if operands is None else new_list(calls, operands)
    raise_if(calls, node, b.is_null(made))

    def direct() -> Value:
        emit.objects.forget(called(calls, node, list.sort, Boxed(made, list)))
        return made

    def by_python() -> Value:
        emit.objects.forget(made)
        return calls.fall_back(node)

    ask = lambda: b.if_else(are_numbers(calls, made), direct, by_python)  # noqa: E731
    found = b.if_else(_is_unsorted(calls, made), ask, lambda: made, False)
    assert found is not None
    return give(calls, node, found, list)


def _is_used_up(calls: PythonCalls, node: Node) -> bool:
    """Whether the code owns a reference to the first argument of a node, and nothing reads that afterwards."""
    at, value, flow = at_node(calls, node), node.args[0], calls.flow
    is_dead = value not in flow.structure.live(Point(at.block, at.place + 1))
    return HAS_SIMPLE_COUNTS and is_dead and (value, ()) in flow.state.owned
