"""Strings, tuples, lists and other containers in machine code, without callbacks.

Functions of Python's C API do what the methods and operators do (see `c_calls.py`). Keys are numbers, texts, or tuples
of these, so that to hash and compare them runs no code of the user's.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

from autograph.common.cpython_internals import (
    IS_ASCII,
    LETTER_STEP,
    LETTERS,
    LIST_ITEMS,
    SIZE,
    TEXT_ITEMS,
    TEXT_STATE,
    TUPLE_ITEMS,
)
from autograph.runtime.engines.native.analysis.structure import Point
from autograph.runtime.engines.native.llvm import deque_items
from autograph.runtime.engines.native.llvm.ir import I8, I32, I64, PTR, TRUE, Value
from autograph.runtime.engines.native.loops import dicts_and_sets, list_joins, list_methods
from autograph.runtime.engines.native.loops.c_calls import (
    call,
    call_object,
    called,
    class_of_operand,
    give,
    give_none,
    give_truth,
    if_plain,
    integer,
    is_plain,
    is_plain_object,
    made,
    may_be_plain,
    plain_at_run_time,
    raise_if,
)
from autograph.runtime.engines.native.loops.dicts_and_sets import DICTS, SETS
from autograph.runtime.engines.native.loops.iterators import BACKWARD, parts_of
from autograph.runtime.engines.native.loops.list_methods import FUNCTIONS, is_list
from autograph.runtime.engines.native.loops.lists import (
    are_points,
    at_node,
    contains_text,
    distance,
    is_text,
    length,
    release,
    stored,
    unpack,
)
from autograph.runtime.engines.native.loops.python_calls import PythonCalls
from autograph.runtime.engines.native.loops.result_speculation import CLASSES, SIZED, UNKNOWN
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.opdef import OPS, ORDERED
from autograph.runtime.graph.operands import Boxed, Fixed, Given, NoLowering, Number, Range
from autograph.runtime.graph.passed_numbers import is_nan
from autograph.runtime.graph.traits import (
    CHOOSES_BY,
    COMPARES_ITEMS,
    CONSUMES,
    DRAWS_ITEMS,
    INSERTS,
    LOOKS_INTO,
    ON_CONTAINER,
    SEARCHES,
    SHALLOW,
)
from autograph.runtime.graph.types import BOOL, FLOAT, INT

_PLAIN = "builtins", "math"     # modules whose functions run code of the user's only for objects of the user's
_METHOD, _HEAPS = type(list.append), (heapq.heappush, heapq.heappop, heapq.heappushpop, heapq.heapreplace)
_KINDS = frozenset(CLASSES.values())


# Constants ------------------------------------------------------------------------------------------------------------


def is_table(thing: Any) -> bool:
    """Whether an argument is a container of constant numbers, texts and tuples of these."""
    if type(thing) is dict:
        return all(map(_is_constant, (*thing, *thing.values())))
    return type(thing) in (tuple, list, set) and all(map(_is_constant, thing))


def _is_constant(thing: Any) -> bool:
    if isinstance(thing, Number):
        return thing.known is not None and thing.type in (INT, FLOAT, BOOL)
    if type(thing) is tuple:
        return all(type(each) is not Number and _is_constant(each) for each in thing)
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
            place = _LOOKS.get(ON_CONTAINER.get(node.op) or DRAWS_ITEMS.get(node.op, ""))
            reads = [] if place is None else [node.args[place]]
            if value in node.inputs and (value not in reads or node.inputs.count(value) > 1):
                return False
    return True


# Routines, and the argument into which they look.
_LOOKS = LOOKS_INTO | {"choice": -1}


# Items ----------------------------------------------------------------------------------------------------------------


def _item(calls: PythonCalls, node: Node, thing: Any, index: Any) -> bool:
    """`thing[index]`"""
    thing = table(calls, node, thing) if type(thing) is tuple else thing
    kind = class_of_operand(thing)
    if isinstance(index, slice):
        return _slice(calls, node, thing, index)
    index = calls.flow.operand(index)
    if kind in DICTS:
        return dicts_and_sets.value(calls, node, thing, index)
    if kind is str:
        return _letter(calls, node, thing, integer(calls, index))
    if kind is deque:
        return _item_of_deque(calls, node, thing, integer(calls, index))
    if kind is tuple:
        return _item_of_tuple(calls, node, thing, integer(calls, index))
    raise NoLowering


def _letter(calls: PythonCalls, node: Node, thing: Any, index: Number) -> bool:
    """`thing[index]` of a text; letters of ASCII are objects that are there."""
    emit, b = calls.flow.emit, calls.flow.emit.b
    calls.flow.resume_from(at_node(calls, node))
    ref, _ = calls.object(thing)
    place = emit.place(index, length(calls, Boxed(ref))).ref

    def known() -> Value:
        code = b.cast("zext", b.load(I8, b.gep(b.gep(ref, TEXT_ITEMS), place)), I64)
        return emit.objects.another(b.gep(emit.objects.address(chr(0)), b.mul(code, LETTER_STEP)))

    def ask() -> Value:
        found = call(calls, "PySequence_GetItem", ref, place)
        raise_if(calls, node, b.is_null(found))
        return found

    is_ascii = b.icmp("ne", b.and_(emit.objects.load_at(I8, ref, TEXT_STATE), IS_ASCII), 0)
    letter = b.if_else(is_ascii, known, ask, True) if LETTER_STEP else ask()
    assert letter is not None
    return give(calls, node, letter, str)


def _item_of_tuple(calls: PythonCalls, node: Node, thing: Any, index: Number) -> bool:
    emit = calls.flow.emit
    calls.flow.resume_from(at_node(calls, node))
    ref, _ = calls.object(thing)
    place = emit.place(index, length(calls, Boxed(ref)))
    item = emit.b.load(PTR, emit.b.gep(emit.b.gep(ref, TUPLE_ITEMS), place.ref, PTR))
    return give(calls, node, emit.objects.another(item))


def _slice(calls: PythonCalls, node: Node, thing: Any, index: slice) -> bool:
    """`xs[a:b:c]` of a list, text or tuple."""
    kind = class_of_operand(thing)
    if kind is list and index.step is None:
        return list_methods.slice_of(calls, node, thing, index)
    bounds = [Fixed(None) if each is None else integer(calls, each) for each in (index.start, index.stop, index.step)]
    emit = calls.flow.emit
    calls.flow.resume_from(at_node(calls, node))
    where = call_object(calls, slice, *bounds)
    raise_if(calls, node, emit.b.is_null(where))
    found = call(calls, "PyObject_GetItem", thing, where)
    emit.objects.forget(where)
    raise_if(calls, node, emit.b.is_null(found))
    return give(calls, node, found, kind)


def _set_item(calls: PythonCalls, node: Node, thing: Any, index: Any, value: Any) -> bool:
    """`thing[index] = value` of a dict, or of a slice of a list."""
    if isinstance(index, slice):
        return list_methods.set_slice(calls, node, thing, index, value)
    return dicts_and_sets.set_item(calls, node, thing, index, value)


def _delete(calls: PythonCalls, node: Node, thing: Any, index: Any) -> bool:
    """`del thing[index]`"""
    if class_of_operand(thing) is list:
        return list_methods.delete(calls, node, thing, index)
    return dicts_and_sets.delete(calls, node, thing, index)


def _contains(calls: PythonCalls, node: Node, item: Any, thing: Any) -> bool:
    """`item in thing`"""
    item = stored(calls, Fixed(item) if type(item) is str else item)
    thing = table(calls, node, thing) if is_table(thing) else Fixed(thing) if type(thing) is str else thing
    if class_of_operand(thing) is list and not isinstance(thing, Fixed):
        if is_text(item):
            return contains_text(calls, node, thing, item)
        return list_methods.contains(calls, node, item, thing)
    if class_of_operand(thing) is str and class_of_operand(item) is not str:
        raise NoLowering
    return dicts_and_sets.contains(calls, node, item, thing)


def _remove(calls: PythonCalls, node: Node, thing: Any, item: Any) -> bool:
    """`thing.remove(item)`"""
    if class_of_operand(thing) is set:
        return dicts_and_sets.remove(calls, node, thing, item)
    return list_methods.remove(calls, node, thing, item)


def _build(calls: PythonCalls, node: Node, items: Any) -> bool:
    """`[a, b]` or `{a: b}`."""
    if is_table(items) and items and _is_only_read(calls, node.output):
        calls.flow.define(node.output, table(calls, node, items))
        return False
    if type(items) is list:
        return list_methods.display(calls, node, items)
    emit, pairs = calls.flow.emit, [(stored(calls, key), stored(calls, value)) for key, value in items.items()]
    if not all(is_plain(key) for key, _ in pairs):
        raise NoLowering
    calls.flow.resume_from(at_node(calls, node))
    found = call(calls, "PyDict_New")
    raise_if(calls, node, emit.b.is_null(found))
    for key, value in pairs:
        raise_if(calls, node, emit.b.icmp("slt", call(calls, "PyDict_SetItem", found, key, value), 0))
    return give(calls, node, found, dict)


# Iterators and texts --------------------------------------------------------------------------------------------------


def _iterate(function: Any, kind: type | None = None) -> Callable[..., bool]:
    """`enumerate(xs, first)` or `zip(xs, ys)` of lists, tuples, texts and ranges, or `reversed(xs)` of a list."""

    def routine(calls: PythonCalls, node: Node, *args: Any) -> bool:
        calls.flow.resume_from(at_node(calls, node))
        found = call_object(calls, function, *map(calls.flow.operand, args))
        raise_if(calls, node, calls.flow.emit.b.is_null(found))
        return give(calls, node, found, kind or function)

    return routine


def _is_sequence_or_range(operand: Any) -> bool:
    return isinstance(operand, Range) or class_of_operand(operand) in (list, tuple, str, enumerate, zip, BACKWARD)


def _compared(predicate: str, how: int) -> Callable[..., bool]:
    """`a == b`, `a < b` and so on of strings; the letters of ASCII lie in memory in their order.

    Args:
        predicate: compares the addresses of letters.
        how: the number of the comparison for Python, such as `Py_LT`.
    """

    def routine(calls: PythonCalls, node: Node, *args: Any) -> bool:
        b = calls.flow.emit.b
        one, other = (calls.object(Fixed(each) if type(each) is str else each)[0] for each in args)
        calls.flow.resume_from(at_node(calls, node))

        def ask() -> Value:
            return call(calls, "PyObject_RichCompareBool", one, other, how)

        def compare() -> Value:
            addresses = [b.cast("ptrtoint", each, I64) for each in (one, other)]
            return b.cast("zext", b.icmp(predicate, *addresses), I32)

        are_letters = b.and_(*(_is_letter(calls, each) for each in (one, other)))
        found = b.if_else(are_letters, compare, ask) if LETTER_STEP else ask()
        assert found is not None
        return give_truth(calls, node, found)

    return routine


def _is_letter(calls: PythonCalls, thing: Value) -> Value:
    """Whether an object is one of the letters of ASCII, of which each is one object."""
    b = calls.flow.emit.b
    first, address = (b.cast("ptrtoint", each, I64) for each in (calls.flow.emit.objects.address(chr(0)), thing))
    return b.icmp("ult", b.sub(address, first), LETTERS * LETTER_STEP)


# Sizes and parts ------------------------------------------------------------------------------------------------------


def _size(calls: PythonCalls, node: Node, thing: Any) -> bool:
    """`len(thing)`"""
    if _is_made(thing, deque):
        calls.flow.define(node.output, length(calls, thing))
        return False
    found = call(calls, "PyObject_Size", thing)    # it does not fail
    calls.flow.emit.ranges.bound(found, 0, 2**62)
    calls.flow.define(node.output, Number(INT, found))
    return False


def _is_empty(calls: PythonCalls, node: Node, thing: Any) -> bool:
    """`not xs`"""
    size = length(calls, thing).ref if _is_made(thing, deque) else call(calls, "PyObject_Size", thing)
    found = calls.flow.emit.b.icmp("eq", size, 0)
    calls.flow.define(node.output, Number(BOOL, found))
    return False


def _unpack(calls: PythonCalls, node: Node, thing: Any, count: int) -> bool:
    """`a, b = thing`"""
    if is_list(thing):
        return unpack(calls, node, thing, count)
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


# Deques ---------------------------------------------------------------------------------------------------------------


def _item_of_deque(calls: PythonCalls, node: Node, thing: Any, index: Number) -> bool:
    """`queue[i]`"""
    emit = calls.flow.emit
    if not deque_items.HAS_DEQUES:
        return made(calls, node, None, "PySequence_GetItem", thing, index.ref)
    calls.flow.resume_from(at_node(calls, node))
    place = emit.place(index, length(calls, thing)).ref

    def ask() -> Value:
        found = call(calls, "PySequence_GetItem", thing, place)
        raise_if(calls, node, emit.b.is_null(found))
        return found

    return give(calls, node, deque_items.item(emit.objects, thing.ref, place, ask))


def _added(method: Any, is_left: bool) -> Callable[..., bool]:
    """`queue.append(x)` or `queue.appendleft(x)`"""

    def routine(calls: PythonCalls, node: Node, thing: Any, value: Any) -> bool:
        objects, at = calls.flow.emit.objects, at_node(calls, node)
        value = stored(calls, value)
        calls.flow.resume_from(at)
        ref, is_new = calls.object(value)
        item = ref if is_new else objects.another(ref)

        def ask() -> None:
            found = objects.call(objects.address(method), [thing.ref, item])
            objects.forget(item)
            raise_if(calls, node, calls.flow.emit.b.is_null(found))
            objects.forget(found)

        old = deque_items.add(objects, thing.ref, item, is_left, ask)
        give_none(calls, node)
        release(calls, at, old)
        return True

    return routine


def _popped(method: Any, is_left: bool) -> Callable[..., bool]:
    """`queue.popleft()` or `queue.pop()`"""

    def routine(calls: PythonCalls, node: Node, thing: Any) -> bool:
        calls.flow.resume_from(at_node(calls, node))
        found = deque_items.take(
            calls.flow.emit.objects, thing.ref, is_left, lambda: called(calls, node, method, thing)
        )
        return _give(calls, node, found)

    return routine


_ON_DEQUES: dict[Any, tuple[int, Callable[..., bool]]] = {
    deque.append: (1, _added(deque.append, False)), deque.appendleft: (1, _added(deque.appendleft, True)),
    deque.pop: (0, _popped(deque.pop, False)), deque.popleft: (0, _popped(deque.popleft, True)),
} if deque_items.HAS_DEQUES else {}  # fmt: skip


# Functions and methods written in C -----------------------------------------------------------------------------------
# Of those that have no routine the code calls the function itself: `queue.popleft()`, `ch.isdigit()`. It does so only
# if no code of the user's can run: if the arguments are numbers, texts or tuples of these, or are not looked into.


def call_directly(calls: PythonCalls, node: Node) -> bool:
    """Emit a node as such a call. Raises `NoLowering` if it is none."""
    args = calls.flow.args(node.args)
    if node.kwargs or not args or node.op in CHOOSES_BY:
        raise NoLowering
    first, *rest = args
    op = OPS.get(node.op)
    if op is not None and op.target is None and isinstance(first, BuiltinFunctionType):
        return _function(calls, node, first, rest)
    if op is not None and op.target is None and (first in SETS or first is defaultdict):
        return dicts_and_sets.make(calls, node, first, rest)
    if node.op.startswith("."):
        kind = class_of_operand(first)
        method = getattr(kind, node.op[1:], None) if kind in _KINDS else None
        searches = node.op in SEARCHES or node.op in COMPARES_ITEMS
        if type(method) is not _METHOD or (searches and kind is not str):
            raise NoLowering
        count, routine = _ON_DEQUES.get(method, (None, _called))
        if count == len(rest):
            return routine(calls, node, first, *rest)
        return _called(calls, node, method, [first, *rest], rest)
    function = None if op is None or op.effect == ORDERED else op.target
    if not isinstance(function, (BuiltinFunctionType, type)) or function.__module__ not in _PLAIN:
        raise NoLowering
    return _called(calls, node, function, args, args)


def _called(calls: PythonCalls, node: Node, function: Any, args: list[Any], seen: list[Any]) -> bool:
    """Call a function with some arguments, of which it looks at those that are `seen`."""
    args, seen = ([stored(calls, arg) for arg in each] for each in (args, seen))
    calls.flow.resume_from(at_node(calls, node))
    plain: Value | None = None
    for arg in () if node.op in INSERTS else seen:
        if not (node.op in SHALLOW and _is_container(arg)) and not _is_joined(node, args, arg):
            found = plain_at_run_time(calls, arg)
            plain = found if plain is None else plain if found is None else calls.flow.emit.b.and_(plain, found)
    return _give(calls, node, if_plain(calls, node, plain, lambda: called(calls, node, function, *args)))


def _give(calls: PythonCalls, node: Node, found: Value) -> bool:
    """Define the output of a node; the function may have released an object, which may run code of the user's."""
    at = at_node(calls, node)
    give(calls, node, found)
    calls.flow.resume_from(Point(at.block, at.place + 1))
    calls.look_at_arrays()
    return True


def _is_container(operand: Any) -> bool:
    """Whether an object is a container whose iterator runs no code of the user's."""
    return isinstance(operand, Range) or class_of_operand(operand) in _KINDS


def _is_joined(node: Node, args: list[Any], operand: Any) -> bool:
    """Whether an operand is a list or tuple of texts, of which a text makes one."""
    return node.op in CONSUMES and class_of_operand(args[0]) is str and class_of_operand(operand) in (list, tuple)


# Functions of the standard library ------------------------------------------------------------------------------------


def _function(calls: PythonCalls, node: Node, function: Any, args: list[Any]) -> bool:
    """Emit the call of a function for a list, of numbers or a heap."""
    if not args or class_of_operand(args[0]) is not list:
        raise NoLowering
    routine: Callable[..., bool] | None = FUNCTIONS.get(function)
    if routine is not None and len(args) == 2:
        return routine(calls, node, *args)
    if function not in _HEAPS or not all(map(may_be_plain, args[1:])):
        raise NoLowering
    heap, *items = [stored(calls, arg) for arg in args]
    calls.flow.resume_from(at_node(calls, node))
    plain = _begins_plainly(calls, heap.ref)
    for item in items:
        found = plain_at_run_time(calls, item)
        plain = plain if found is None else calls.flow.emit.b.and_(plain, found)
    return _give(calls, node, if_plain(calls, node, plain, lambda: called(calls, node, function, heap, *items)))


def _begins_plainly(calls: PythonCalls, heap: Value) -> Value:
    """Whether the first item of a heap, if there is one, is plain; then the others are taken to be so, too."""
    b, objects = calls.flow.emit.b, calls.flow.emit.objects

    def look() -> Value:
        return is_plain_object(calls, b.load(PTR, objects.load_at(PTR, heap, LIST_ITEMS)))

    found = b.if_else(b.icmp("eq", objects.load_at(I64, heap, SIZE), 0), lambda: TRUE, look)
    assert found is not None
    return found


# Which ----------------------------------------------------------------------------------------------------------------


def _first_is(*kinds: type) -> Callable[..., bool]:
    return lambda *args: class_of_operand(args[0]) in kinds


def _has_item(thing: Any, index: Any) -> bool:
    kind = class_of_operand(thing)
    if type(thing) is tuple:
        return isinstance(index, Number) and index.known is None and is_table(thing)
    return kind in (*DICTS, str, tuple, deque) or (kind is list and isinstance(index, slice))


def _is_changed(thing: Any, index: Any, *value: Any) -> bool:
    return class_of_operand(thing) in DICTS or (class_of_operand(thing) is list and isinstance(index, slice))


def _may_have(item: Any, thing: Any) -> bool:
    return class_of_operand(thing) in (*DICTS, *SETS, list, str) or is_table(thing) or type(thing) is str


def _is_counted(thing: Any, *first: Any) -> bool:
    is_int = all(type(each) is int or (isinstance(each, Number) and each.type == INT) for each in first)
    return is_int and _is_sequence_or_range(thing)


def _is_object(thing: Any, count: int) -> bool:
    return count > 1 and isinstance(thing, (Boxed, Given)) and class_of_operand(thing) in (list, tuple, None)


def _is_list(*args: Any) -> bool:
    return len(args) == 1 and class_of_operand(args[0]) is list


def _is_list_or_deque(*args: Any) -> bool:
    return _is_list(*args) or (len(args) == 1 and deque_items.HAS_DEQUES and _is_made(args[0], deque))


def _is_sorted(*args: Any) -> bool:
    return len(args) == 1 and (is_list(args[0]) or _is_made(args[0], deque, tuple, *SETS))


def _is_made(operand: Any, *kinds: type) -> bool:
    return isinstance(operand, (Boxed, Given)) and operand.of in kinds


def _extends(thing: Any, items: Any) -> bool:
    return class_of_operand(thing) is list and is_list(items)


def _are_strings(*args: Any) -> bool:
    return all(type(arg) is str or class_of_operand(arg) is str for arg in args)


_SIZED = _first_is(*SIZED)
# The routine, and for which operands.
_ROUTINES: dict[str, tuple[Callable[..., bool], Callable[..., bool]]] = {
    "item": (_item, _has_item),
    "set_item": (_set_item, _is_changed),
    "get": (dicts_and_sets.get, _first_is(*DICTS)),
    "setdefault": (dicts_and_sets.set_default, _first_is(*DICTS)),
    "add_item": (dicts_and_sets.add_item, _first_is(dict)),
    "contains": (_contains, _may_have),
    "add": (dicts_and_sets.add, _first_is(set)),
    "discard": (dicts_and_sets.discard, _first_is(set)),
    "pop": (list_methods.pop, _first_is(list)),
    "build": (_build, lambda items: type(items) in (list, dict)),
    "repeat": (list_methods.repeat, lambda *args: any(map(is_list, args))),
    "copy": (list_methods.copy, _first_is(list)),
    "lt": (_compared("ult", 0), _are_strings),
    "le": (_compared("ule", 1), _are_strings),
    "eq": (_compared("eq", 2), _are_strings),
    "ne": (_compared("ne", 3), _are_strings),
    "gt": (_compared("ugt", 4), _are_strings),
    "ge": (_compared("uge", 5), _are_strings),
    "size": (_size, _SIZED),
    "empty": (_is_empty, _SIZED),
    "unpack": (_unpack, _is_object),
    "enumerate": (_iterate(enumerate), _is_counted),
    "reversed": (_iterate(reversed, BACKWARD), _first_is(list)),
    "zip": (_iterate(zip), lambda *args: all(map(_is_sequence_or_range, args))),
    "sum": (list_methods.total, _is_list_or_deque),
    "min": (list_methods.extreme(min, "lt"), _is_list_or_deque),
    "max": (list_methods.extreme(max, "gt"), _is_list_or_deque),
    "sorted": (list_methods.sort_copy, _is_sorted),
    "sort": (list_methods.sort, _is_list),
    "reverse": (list_methods.reverse, _is_list),
    "index": (list_methods.index, _first_is(list)),
    "count": (list_methods.count, _first_is(list)),
    "remove": (_remove, _first_is(list, set)),
    "insert": (list_methods.insert, _first_is(list)),
    "delete": (_delete, _first_is(list, *DICTS)),
    "extend": (list_joins.extend, _extends),
    "distance": (distance, are_points),
}


def on_container(node: Node, args: Any) -> Callable[..., bool] | None:
    """The routine that emits a node for a container of Python's, if there is one."""
    routine, takes = _ROUTINES.get(ON_CONTAINER.get(node.op, ""), (None, None))
    return routine if takes is not None and not node.kwargs and takes(*args) else None
