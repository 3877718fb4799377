"""Lists, dicts, strings and tuples in machine code: operations that functions of Python's C API do, without callbacks.

A call of such a function takes some ten nanoseconds, a Python callback some hundred. If it fails, it has done nothing:
the code is left before the node, and Python does it again and raises the error. Subclasses are left to Python, and so
are operations that may run code of the user's, such as comparing items that are no numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.common.cpython_internals import ALLOCATED, CLASS, LIST_ITEMS, SIZE, TUPLE_ITEMS
from autograph.runtime.engines.native.analysis.structure import Point
from autograph.runtime.engines.native.llvm.ir import FALSE, I64, NULL, PTR, TRUE, Value
from autograph.runtime.engines.native.loops.iterators import parts_of
from autograph.runtime.engines.native.loops.lists import at_node, length, stored
from autograph.runtime.engines.native.loops.python_calls import PythonCalls
from autograph.runtime.engines.native.loops.result_speculation import UNKNOWN
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.operands import Boxed, Fixed, Given, NoLowering, Number, Range
from autograph.runtime.graph.passed_numbers import is_nan
from autograph.runtime.graph.traits import ON_CONTAINER
from autograph.runtime.graph.types import BOOL, FLOAT, INT

_EQ, _NE = 2, 3     # `Py_EQ`, `Py_NE`
_OBJECTS: dict[str, type] = {"tuple": tuple, "dict": dict, "str": str}


def class_of_operand(operand: Any) -> type | None:
    """The class of an object, if it is known."""
    if isinstance(operand, (Boxed, Given)):
        return operand.of if isinstance(operand.of, type) else None
    return type(operand.value) if isinstance(operand, Fixed) else None


def _is_key(operand: Any) -> bool:
    """Whether an object is hashed and compared without code of the user's."""
    return isinstance(operand, Number) or class_of_operand(operand) is str


def _int(calls: PythonCalls, operand: Any) -> Number:
    found = calls.flow.operand(operand)
    if not isinstance(found, Number) or found.type != INT:
        raise NoLowering
    return found


# Calls and results ----------------------------------------------------------------------------------------------------


def _call(calls: PythonCalls, name: str, *args: Any) -> Value:
    """Call a function of the C API; operands become objects."""
    objects, made, refs = calls.flow.emit.objects, [], []
    for arg in args:
        if not isinstance(arg, (Value, int)):
            ref, is_new = calls.object(arg)
            made += [ref] * is_new
            arg = ref
        refs.append(arg)
    found = objects.python(name, *refs)
    for ref in made:
        objects.forget(ref)
    return found


def _leave_if(calls: PythonCalls, failed: Value) -> None:
    """Leave to the node, which Python does again, if a function has failed."""
    emit = calls.flow.emit

    def give_up() -> None:
        emit.objects.python("PyErr_Clear")
        emit.jump(emit.leave())

    emit.stop_if(Number(BOOL, failed), give_up)


def give(calls: PythonCalls, node: Node, found: Value, kind: type | None = None) -> bool:
    """Define the output of a node, a new reference; the code is left behind the node if it is not as expected."""
    flow, at = calls.flow, at_node(calls, node)
    behind = Point(at.block, at.place + 1)
    if not node.outputs or node.output not in flow.structure.live(behind):
        flow.emit.objects.forget(found)
        return True
    value = node.output
    flow.define(value, Boxed(found, kind))
    flow.own((value, ()), found)
    flow.resume_from(behind)
    by_type = _OBJECTS.get(getattr(value.type, "name", ""))
    if kind is None and by_type is not None:
        flow.emit.objects.demand_class(found, by_type)
        flow.define(value, Boxed(found, by_type))
    elif kind is None and calls.expect(value, value.type) != UNKNOWN:
        calls.take([value], at.block)
    return True


def _made(calls: PythonCalls, node: Node, kind: type | None, name: str, *args: Any) -> bool:
    """Define the output of a node: a new object that a function returns, or null."""
    calls.flow.resume_from(at_node(calls, node))
    found = _call(calls, name, *args)
    _leave_if(calls, calls.flow.emit.b.is_null(found))
    return give(calls, node, found, kind)


# Constants ------------------------------------------------------------------------------------------------------------


def is_table(thing: Any) -> bool:
    """Whether an argument is a container of constant numbers and texts."""
    if type(thing) is dict:
        return all(map(_is_constant, (*thing, *thing.values())))
    return type(thing) in (tuple, list, set) and all(map(_is_constant, thing))


def _is_constant(thing: Any) -> bool:
    if isinstance(thing, Number):
        return thing.known is not None and thing.type in (INT, FLOAT, BOOL)
    return type(thing) in (int, float, bool, str) and not is_nan(thing)


def table(calls: PythonCalls, node: Node, thing: Any) -> Fixed:
    """The operand of such a container, one object in all iterations, since no other code sees it."""
    if calls.direct[node] is None:
        parts = thing if type(thing) is dict else [each.known if isinstance(each, Number) else each for each in thing]
        calls.direct[node] = type(thing)(parts)
    return Fixed(calls.direct[node])


def _is_only_read(calls: PythonCalls, value: Any) -> bool:
    """Whether nodes only look into a container."""
    blocks = [*calls.flow.structure.root.blocks]
    for block in blocks:
        if value in block.result_values:
            return False
        for node in block.nodes:
            blocks += node.blocks
            place = _LOOKS.get(ON_CONTAINER.get(node.op, ""))
            reads = [] if place is None else [node.args[place]]
            if value in node.inputs and (value not in reads or node.inputs.count(value) > 1):
                return False
    return True


_LOOKS = {"item": 0, "get": 0, "size": 0, "contains": 1}     # routines, and the argument into which they look


# Items ----------------------------------------------------------------------------------------------------------------


def _item(calls: PythonCalls, node: Node, thing: Any, index: Any) -> bool:
    """`thing[index]`"""
    thing = table(calls, node, thing) if type(thing) is tuple else thing
    kind = class_of_operand(thing)
    if kind is list and isinstance(index, slice):
        return _slice(calls, node, thing, index)
    index = calls.flow.operand(index)
    if kind is dict and _is_key(index):
        return _made(calls, node, None, "PyObject_GetItem", thing, index)
    if kind is str:
        return _made(calls, node, str, "PyObject_GetItem", thing, _int(calls, index))
    if kind is tuple:
        return _item_of_tuple(calls, node, thing, _int(calls, index))
    raise NoLowering


def _item_of_tuple(calls: PythonCalls, node: Node, thing: Any, index: Number) -> bool:
    emit = calls.flow.emit
    calls.flow.resume_from(at_node(calls, node))
    ref, _ = calls.object(thing)
    place = emit.place(index, length(calls, Boxed(ref)))
    item = emit.b.load(PTR, emit.b.gep(emit.b.gep(ref, TUPLE_ITEMS), place.ref, PTR))
    return give(calls, node, emit.objects.another(item))


def _slice(calls: PythonCalls, node: Node, thing: Any, index: slice) -> bool:
    """`xs[a:b]` of a list; the C function clips the bounds."""
    emit = calls.flow.emit
    if index.step is not None:
        raise NoLowering
    count = length(calls, thing)
    bounds = []
    for each, default in ((index.start, emit.constant(0, INT)), (index.stop, count)):
        bound = default if each is None else _int(calls, each)
        negative = emit.compare("lt", bound, emit.constant(0, INT))
        bounds.append(emit.select(negative, emit.integer("add", bound, count), bound))
    return _made(calls, node, list, "PyList_GetSlice", thing, *(each.ref for each in bounds))


def _set_item(calls: PythonCalls, node: Node, thing: Any, index: Any, value: Any) -> bool:
    """`thing[index] = value` of a dict."""
    index, value = stored(calls, index), stored(calls, value)
    if not _is_key(index):
        raise NoLowering
    at = at_node(calls, node)
    calls.flow.resume_from(at)
    _leave_if(calls, calls.flow.emit.b.icmp("ne", _call(calls, "PyDict_SetItem", thing, index, value), 0))
    calls.flow.resume_from(Point(at.block, at.place + 1))
    calls.look_at_arrays()      # the item that was replaced may have run code of the user's
    return True


def _get(calls: PythonCalls, node: Node, thing: Any, key: Any, default: Any = None) -> bool:
    """`thing.get(key, default)` of a dict."""
    emit, key, default = calls.flow.emit, stored(calls, key), stored(calls, default)
    if not _is_key(key):
        raise NoLowering
    calls.flow.resume_from(at_node(calls, node))
    found = _call(calls, "PyDict_GetItemWithError", thing, key)

    def absent() -> Value:
        _leave_if(calls, emit.b.icmp("ne", emit.objects.python("PyErr_Occurred"), NULL))
        ref, is_new = calls.object(default)
        return ref if is_new else emit.objects.another(ref)

    item = emit.b.if_else(emit.b.is_null(found), absent, lambda: emit.objects.another(found))
    assert item is not None
    return give(calls, node, item)


def _contains(calls: PythonCalls, node: Node, item: Any, thing: Any) -> bool:
    """`item in thing`"""
    emit, item = calls.flow.emit, stored(calls, item)
    thing = table(calls, node, thing) if is_table(thing) else thing
    if class_of_operand(thing) is list and not isinstance(thing, Fixed):
        return _in_list(calls, node, item, thing)
    if not _is_key(item):
        raise NoLowering
    calls.flow.resume_from(at_node(calls, node))
    found = _call(calls, "PySequence_Contains", thing, item)
    _leave_if(calls, emit.b.icmp("slt", found, 0))
    calls.flow.define(node.output, Number(BOOL, emit.b.icmp("ne", found, 0)))
    return True


def _pop(calls: PythonCalls, node: Node, thing: Any, *index: Any) -> bool:
    """`xs.pop()` of a list."""
    if index:
        return _pop_at(calls, node, thing, _int(calls, *index))
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
    """`xs.pop(i)` of a list."""
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
    _leave_if(calls, emit.b.icmp("ne", failed, 0))
    return item


# New containers -------------------------------------------------------------------------------------------------------


def _is_sequence(thing: Any) -> bool:
    return type(thing) is list or class_of_operand(thing) is list


def _build(calls: PythonCalls, node: Node, items: Any) -> bool:
    """`[a, b]` or `{}`."""
    if type(items) is dict and items:
        if not _is_only_read(calls, node.output):
            raise NoLowering
        calls.flow.define(node.output, table(calls, node, items))
        return False
    if type(items) is dict:
        return _made(calls, node, dict, "PyDict_New")
    operands = [stored(calls, item) for item in items]
    calls.flow.resume_from(at_node(calls, node))
    return give(calls, node, _new_list(calls, operands), list)


def _repeat_new(calls: PythonCalls, node: Node, items: list[Any], count: Number) -> bool:
    operands, emit = [stored(calls, item) for item in items], calls.flow.emit
    calls.flow.resume_from(at_node(calls, node))
    once = _new_list(calls, operands)
    found = emit.objects.python("PySequence_Repeat", once, count.ref)
    emit.objects.forget(once)
    _leave_if(calls, emit.b.is_null(found))
    return give(calls, node, found, list)


def _new_list(calls: PythonCalls, operands: list[Any]) -> Value:
    """A new list of operands."""
    emit = calls.flow.emit
    found = emit.objects.python("PyList_New", len(operands))
    _leave_if(calls, emit.b.is_null(found))
    for place, operand in enumerate(operands):
        ref, is_new = calls.object(operand)
        emit.b.store(
            ref if is_new else emit.objects.another(ref),
            emit.b.gep(emit.objects.load_at(PTR, found, LIST_ITEMS), place, PTR),
        )
    return found


def _repeat(calls: PythonCalls, node: Node, thing: Any, count: Any) -> bool:
    """`xs * n` or `[x] * n`."""
    if not _is_sequence(thing):
        thing, count = count, thing
    if type(thing) is list:
        return _repeat_new(calls, node, thing, _int(calls, count))
    return _made(calls, node, list, "PySequence_Repeat", thing, _int(calls, count).ref)


def _join(calls: PythonCalls, node: Node, one: Any, other: Any) -> bool:
    """`xs + ys` of lists."""
    return _made(calls, node, list, "PySequence_Concat", one, other)


def _copy(calls: PythonCalls, node: Node, thing: Any) -> bool:
    """`list(xs)` or `xs.copy()` of a list."""
    return _slice(calls, node, thing, slice(None))


def _iterate(function: Any) -> Callable[..., bool]:
    """`enumerate(xs, first)` or `zip(xs, ys)` of lists, tuples, texts and ranges."""

    def routine(calls: PythonCalls, node: Node, *args: Any) -> bool:
        emit = calls.flow.emit
        calls.flow.resume_from(at_node(calls, node))
        made = [calls.object(calls.flow.operand(arg)) for arg in args]
        found = emit.objects.call(emit.objects.address(function), [ref for ref, _ in made])
        for ref, is_new in made:
            if is_new:
                emit.objects.forget(ref)
        _leave_if(calls, emit.b.is_null(found))
        return give(calls, node, found, function)

    return routine


def _is_sequence_or_range(operand: Any) -> bool:
    return isinstance(operand, Range) or class_of_operand(operand) in (list, tuple, str, enumerate, zip)


# Texts ----------------------------------------------------------------------------------------------------------------


def _compared(how: int) -> Callable[..., bool]:
    """`a == b` or `a != b` of strings."""

    def routine(calls: PythonCalls, node: Node, one: Any, other: Any) -> bool:
        emit = calls.flow.emit
        calls.flow.resume_from(at_node(calls, node))
        found = _call(calls, "PyObject_RichCompareBool", one, other, how)
        _leave_if(calls, emit.b.icmp("slt", found, 0))
        calls.flow.define(node.output, Number(BOOL, emit.b.icmp("ne", found, 0)))
        return True

    return routine


# Sizes and parts ------------------------------------------------------------------------------------------------------


def _size(calls: PythonCalls, node: Node, thing: Any) -> bool:
    """`len(thing)`"""
    found = _call(calls, "PyObject_Size", thing)    # it does not fail
    calls.flow.emit.ranges.bound(found, 0, 2**62)
    calls.flow.define(node.output, Number(INT, found))
    return False


def _is_empty(calls: PythonCalls, node: Node, thing: Any) -> bool:
    """`not xs`"""
    found = calls.flow.emit.b.icmp("eq", _call(calls, "PyObject_Size", thing), 0)
    calls.flow.define(node.output, Number(BOOL, found))
    return False


def _unpack(calls: PythonCalls, node: Node, thing: Any, count: int) -> bool:
    """`a, b = thing`"""
    flow, at = calls.flow, at_node(calls, node)
    flow.resume_from(at)
    for value, part in zip(node.outputs, parts_of(calls, node, thing.ref, count)):
        flow.define(value, Boxed(part))
        flow.own((value, ()), part)
    behind = Point(at.block, at.place + 1)
    flow.resume_from(behind)    # which releases those that nothing uses
    used = [value for value in node.outputs if value in flow.structure.live(behind)]
    calls.take([value for value in used if calls.expect(value, value.type) != UNKNOWN], at.block)
    return True


# Numbers in lists -----------------------------------------------------------------------------------------------------


def _are_numbers(calls: PythonCalls, thing: Value) -> Value:
    """Whether all items of a list are Python's numbers, so that to compare or add them runs no code of the user's."""
    b, objects = calls.flow.emit.b, calls.flow.emit.objects
    items, classes = objects.load_at(PTR, thing, LIST_ITEMS), [objects.address(kind) for kind in (int, float, bool)]
    with b.loop(0, objects.load_at(I64, thing, SIZE), carried=[FALSE]) as loop:
        kind = objects.load_at(PTR, b.load(PTR, b.gep(items, loop.index, PTR)), CLASS)
        is_other = [b.icmp("ne", kind, each) for each in classes]
        loop.carry(b.or_(loop.carried[0], b.and_(b.and_(is_other[0], is_other[1]), is_other[2])))
    return b.xor(loop.results[0], TRUE)


def _of_numbers(
    calls: PythonCalls, node: Node, thing: Any, direct: Callable[[], Value], kind: type | None = None
) -> bool:
    """Define the output of a node of a list: an object that `direct` makes if all items are numbers."""
    emit = calls.flow.emit
    calls.flow.resume_from(at_node(calls, node))

    def computed() -> Value:
        found = direct()
        _leave_if(calls, emit.b.is_null(found))
        return found

    found = emit.b.if_else(_are_numbers(calls, thing.ref), computed, lambda: calls.fall_back(node))
    assert found is not None
    return give(calls, node, found, kind)


def _aggregate(function: Any, kind: type | None = None) -> Callable[..., bool]:
    """`function(xs)` of a list, such as `sum`."""

    def routine(calls: PythonCalls, node: Node, thing: Any) -> bool:
        objects = calls.flow.emit.objects
        return _of_numbers(calls, node, thing, lambda: objects.call(objects.address(function), [thing.ref]), kind)

    return routine


def _changed(name: str) -> Callable[..., bool]:
    """A method of a list of numbers that returns None, and is a function of the C API."""

    def routine(calls: PythonCalls, node: Node, thing: Any) -> bool:
        emit = calls.flow.emit

        def change() -> Value:
            _leave_if(calls, emit.b.icmp("ne", emit.objects.python(name, thing.ref), 0))
            return emit.objects.another(emit.objects.address(None))

        return _of_numbers(calls, node, thing, change)

    return routine


def _found(name: str) -> Callable[..., bool]:
    """`xs.index(x)` or `xs.count(x)` of a list and a number."""

    def routine(calls: PythonCalls, node: Node, thing: Any, item: Any) -> bool:
        emit, item = calls.flow.emit, stored(calls, item)

        def find() -> Value:
            place = _call(calls, name, thing, item)
            _leave_if(calls, emit.b.icmp("slt", place, 0))
            return emit.objects.number_object(place, INT)

        if not isinstance(item, Number):
            raise NoLowering
        return _of_numbers(calls, node, thing, find)

    return routine


def _in_list(calls: PythonCalls, node: Node, item: Any, thing: Any) -> bool:
    """`x in xs` of a number and a list."""
    emit = calls.flow.emit

    def look() -> Value:
        found = _call(calls, "PySequence_Contains", thing, item)
        _leave_if(calls, emit.b.icmp("slt", found, 0))
        return emit.objects.number_object(emit.b.icmp("ne", found, 0), BOOL)

    if not isinstance(item, Number):
        raise NoLowering
    return _of_numbers(calls, node, thing, look)


# Changes --------------------------------------------------------------------------------------------------------------


def _insert(calls: PythonCalls, node: Node, thing: Any, index: Any, item: Any) -> bool:
    """`xs.insert(i, x)`"""
    index, item = _int(calls, index), stored(calls, item)
    calls.flow.resume_from(at_node(calls, node))
    failed = _call(calls, "PyList_Insert", thing, index.ref, item)
    _leave_if(calls, calls.flow.emit.b.icmp("ne", failed, 0))
    for none in node.outputs:
        calls.flow.define(none, Fixed(None))
    return True


def _delete(calls: PythonCalls, node: Node, thing: Any, index: Any) -> bool:
    """`del xs[i]`"""
    at, emit, index = at_node(calls, node), calls.flow.emit, _int(calls, index)
    calls.flow.resume_from(at)
    place = emit.place(index, length(calls, thing))
    _leave_if(calls, emit.b.icmp("ne", _call(calls, "PySequence_DelItem", thing, place.ref), 0))
    calls.flow.resume_from(Point(at.block, at.place + 1))
    calls.look_at_arrays()      # the item may have run code of the user's
    return True


def _extend(calls: PythonCalls, node: Node, one: Any, other: Any) -> bool:
    """`xs += ys` of lists."""
    return _made(calls, node, list, "PySequence_InPlaceConcat", one, other)


# Which ----------------------------------------------------------------------------------------------------------------


def _first_is(*kinds: type) -> Callable[..., bool]:
    return lambda *args: class_of_operand(args[0]) in kinds


def _has_item(thing: Any, index: Any) -> bool:
    kind = class_of_operand(thing)
    if type(thing) is tuple:
        return isinstance(index, Number) and index.known is None and is_table(thing)
    return kind in (dict, str, tuple) or (kind is list and isinstance(index, slice))


def _is_counted(thing: Any, *first: Any) -> bool:
    is_int = all(type(each) is int or (isinstance(each, Number) and each.type == INT) for each in first)
    return is_int and _is_sequence_or_range(thing)


def _is_object(thing: Any, count: int) -> bool:
    return count > 1 and isinstance(thing, (Boxed, Given)) and class_of_operand(thing) in (tuple, None)


def _is_list(*args: Any) -> bool:
    return len(args) == 1 and class_of_operand(args[0]) is list


def _are_lists(*args: Any) -> bool:
    return all(class_of_operand(arg) is list for arg in args)


def _are_strings(*args: Any) -> bool:
    return all(class_of_operand(arg) is str for arg in args)


_SIZED = _first_is(list, dict, tuple, str)
# The routine, and for which operands.
_ROUTINES: dict[str, tuple[Callable[..., bool], Callable[..., bool]]] = {
    "item": (_item, _has_item),
    "set_item": (_set_item, _first_is(dict)),
    "get": (_get, _first_is(dict)),
    "contains": (_contains, lambda item, thing: class_of_operand(thing) in (dict, set, list) or is_table(thing)),
    "pop": (_pop, _first_is(list)),
    "build": (_build, lambda items: type(items) is list or (type(items) is dict and is_table(items))),
    "repeat": (_repeat, lambda *args: any(map(_is_sequence, args))),
    "join": (_join, _are_lists),
    "copy": (_copy, _first_is(list)),
    "eq": (_compared(_EQ), _are_strings),
    "ne": (_compared(_NE), _are_strings),
    "size": (_size, _SIZED),
    "empty": (_is_empty, _SIZED),
    "unpack": (_unpack, _is_object),
    "enumerate": (_iterate(enumerate), _is_counted),
    "zip": (_iterate(zip), lambda *args: all(map(_is_sequence_or_range, args))),
    "sum": (_aggregate(sum), _is_list),
    "min": (_aggregate(min), _is_list),
    "max": (_aggregate(max), _is_list),
    "sorted": (_aggregate(sorted, list), _is_list),
    "sort": (_changed("PyList_Sort"), _is_list),
    "reverse": (_changed("PyList_Reverse"), _is_list),
    "index": (_found("PySequence_Index"), _first_is(list)),
    "count": (_found("PySequence_Count"), _first_is(list)),
    "insert": (_insert, _first_is(list)),
    "delete": (_delete, _first_is(list)),
    "extend": (_extend, _are_lists),
}


def on_container(node: Node, args: Any) -> Callable[..., bool] | None:
    """The routine that emits a node for a container of Python's, if there is one."""
    routine, takes = _ROUTINES.get(ON_CONTAINER.get(node.op, ""), (None, None))
    return routine if takes is not None and not node.kwargs and takes(*args) else None
