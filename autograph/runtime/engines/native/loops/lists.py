"""Lists in machine code: their length and items are read, set and appended without Python.

An item is a number if the code expects one, see `result_speculation`; if there is another object, the code is left
behind the node, so that the region learns of it. The reference to any other item is borrowed from the list; the code
owns one from the next point at which Python may resume, and before anything can change a list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.common.cpython_internals import CLASS, HAS_DIGITS, LIST_ITEMS, SIZE, TUPLE_ITEMS
from autograph.runtime.engines.native.analysis.structure import Point
from autograph.runtime.engines.native.emit import list_items, mixed_numbers
from autograph.runtime.engines.native.emit.emitter import equals_itself, unboxed
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, class_of
from autograph.runtime.engines.native.llvm.ir import FALSE, I64, PTR, TRUE
from autograph.runtime.engines.native.llvm.ir import Value as Register
from autograph.runtime.engines.native.llvm.known_places import NOTHING, Attribute
from autograph.runtime.engines.native.llvm.table_layouts import HAS_TABLES
from autograph.runtime.engines.native.loops.python_calls import PythonCalls
from autograph.runtime.engines.native.loops.result_speculation import UNKNOWN, class_expected, is_class, of_class
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.operands import Boxed, Complex, Fixed, Given, Mixed, NoLowering, Number
from autograph.runtime.graph.passed_numbers import is_nan
from autograph.runtime.graph.traits import ON_LIST
from autograph.runtime.graph.types import BOOL, FLOAT, INT
from autograph.runtime.ops.native import distances

_MOST = 2**60       # items of a list, of eight bytes each


def is_list(operand: Any) -> bool:
    """Whether an operand is a list."""
    return isinstance(operand, (Boxed, Given)) and operand.of is list


def at_node(calls: PythonCalls, node: Node) -> Point:
    """The point of a node of the current block."""
    block = calls.flow.block
    if block is None or node not in block.nodes:
        raise NoLowering        # both sides of an `if` are computed
    return Point(block, block.nodes.index(node))


def length(calls: PythonCalls, thing: Any) -> Number:
    emit = calls.flow.emit
    found = Number(INT, emit.objects.load_at(I64, thing.ref, SIZE))
    emit.ranges.bound(found.ref, 0, _MOST)
    return found


def _address(calls: PythonCalls, thing: Any, index: Any) -> Register:
    """The address of the reference to an item; leaves the code if the index is out of bounds."""
    emit = calls.flow.emit
    index = calls.flow.operand(index)
    if not isinstance(index, Number) or index.type != INT:
        raise NoLowering
    place = emit.place(index, length(calls, thing))
    return emit.b.gep(emit.objects.load_at(PTR, thing.ref, LIST_ITEMS), place.ref, PTR)


def _len(calls: PythonCalls, node: Node, thing: Any) -> bool:
    calls.flow.define(node.output, length(calls, thing))
    return False


def _getitem(calls: PythonCalls, node: Node, thing: Any, index: Any) -> bool:
    at = at_node(calls, node)
    taken(calls, at, node.output, lambda: calls.flow.emit.b.load(PTR, _address(calls, thing, index)))
    return False


def unpack(calls: PythonCalls, node: Node, thing: Any, count: int) -> bool:
    """`a, b = thing`. Leaves the code, for Python to raise the error, if there are more items, or fewer."""
    at, flow, objects = at_node(calls, node), calls.flow, calls.flow.emit.objects
    flow.emit.demand(objects.has_size(thing.ref, count))
    items = objects.load_at(PTR, thing.ref, LIST_ITEMS)
    used = flow.structure.live(Point(at.block, at.place + 1))
    places = {value: SLOT * place for place, value in enumerate(node.outputs) if value in used}
    parts = {value: objects.load_at(PTR, items, place) for value, place in places.items()}
    for value, part in parts.items():
        flow.define(value, Boxed(part))
    for value, part in parts.items():
        taken(calls, at, value, lambda part=part: part)     # type: ignore[misc]
    return False


def taken(calls: PythonCalls, at: Point, value: Value, load: Callable[[], Register]) -> None:
    """Define the value of a node as an object that is borrowed from another one, unboxed if it is a number.

    Args:
        load: emits the code for the object.
    """
    flow, objects = calls.flow, calls.flow.emit.objects
    kind = calls.expect(value, value.type)
    if isinstance(kind, tuple):
        raise NoLowering
    item, behind, is_mixed = load(), Point(at.block, at.place + 1), kind == mixed_numbers.KINDS
    if kind is None or kind == UNKNOWN or (type(kind) is frozenset and not is_mixed):
        flow.define(value, Boxed(item))
        return
    if is_mixed:
        flow.leave_unless(mixed_numbers.has_class(flow.emit, item), behind, value, item)
    else:
        flow.leave_unless(objects.is_of_class(item, class_expected(kind)), behind, value, item)
    if is_class(kind):
        flow.define(value, of_class(item, kind))
        return
    number = mixed_numbers.unboxed(flow.emit, item) if is_mixed else unboxed(flow.emit, item, kind)
    if flow.must_be_no_nan(value, number):
        flow.leave_unless(equals_itself(flow.emit, number).ref, behind, value, item)
    flow.define(value, number)


def read(
    calls: PythonCalls, node: Node, thing: Register, name: str, find: Callable[[], tuple[Attribute, Register]]
) -> None:
    """Define the output of a node as the value of an attribute, or of a key of a dict, and remember it.

    Args:
        find: emits the code that finds its place, and the object there.
    """
    flow, value = calls.flow, node.output
    known = flow.state.known.attributes.get((thing, name))
    if known is not None and known.value is not None:
        flow.leave_if_nan(value, known.value)
        flow.define(value, known.value)
        return
    found, item = find()
    taken(calls, at_node(calls, node), value, lambda: item)
    found = found._replace(value=flow.state.env[value])
    flow.state.known = flow.state.known.with_attribute(thing, name, found)


def is_harmless(calls: PythonCalls, old: Register, new: Any) -> Register:
    """Whether no code of the user's runs when a number replaces an object: that is a number of Python's, or None."""
    b, objects = calls.flow.emit.b, calls.flow.emit.objects
    kind = objects.load_at(PTR, old, CLASS)
    found: Register = FALSE
    for each in (float, int, bool, type(None), *[complex] * isinstance(new, Complex)):
        found = b.or_(found, b.icmp("eq", kind, objects.address(each)))
    return found


def _setitem(calls: PythonCalls, node: Node, thing: Any, index: Any, value: Any) -> bool:
    at, flow, emit = at_node(calls, node), calls.flow, calls.flow.emit
    value = stored(calls, value)
    flow.resume_from(at)
    address, known = _address(calls, thing, index), NOTHING
    old, done = emit.b.load(PTR, address), emit.b.new_block("stored")
    if flow.state.known.attributes and isinstance(value, (Number, Mixed)) and calls.flow.supposes():
        emit.demand(is_harmless(calls, old, value))
        known = flow.state.known.behind(node)
    if (new := in_object(value)) is not None:
        emit.objects.overwrite(old, *new, done)
    elif isinstance(value, Mixed):
        number, is_int = value.parts
        emit.objects.overwrite(old, [number.ref], float, done, emit.b.xor(is_int.ref, TRUE))
    ref, is_new = calls.object(value)
    emit.b.store(ref if is_new else emit.objects.acquire(ref), address)
    emit.objects.release(old)
    emit.b.br(done)
    emit.b.begin(done)
    flow.state.known = known
    changed(calls, at)
    return True


def in_object(value: Any) -> tuple[list[Register], type] | None:
    """The numbers in the object of an operand, and its class, if one is written into the object that it replaces."""
    if not isinstance(value, (Number, Complex)) or (kind := class_of(value.type)) not in (int, float, complex):
        return None
    return [part.ref for part in (value.parts if isinstance(value, Complex) else (value,))], kind


def stored(calls: PythonCalls, value: Any) -> Any:
    """The operand of a value that is stored; Python stores a constant NaN, which stays that object."""
    if is_nan(value):
        raise NoLowering
    return calls.flow.operand(value)


def _is_constant(value: Any) -> bool:
    """Whether a value is a tuple of constants, of which Python has one object."""
    return type(value) is tuple and all(type(each) in _CONSTANTS for each in value)


_CONSTANTS = frozenset({bool, int, float, complex, str, bytes, type(None)})


def release(calls: PythonCalls, at: Point, old: Register) -> None:
    """Release an item that was replaced, which may run code of the user's."""
    calls.flow.emit.objects.forget(old)
    changed(calls, at)


def changed(calls: PythonCalls, at: Point) -> None:
    """Python resumes behind a node from now on, which may have released an object."""
    calls.flow.resume_from(Point(at.block, at.place + 1))
    calls.look_at_arrays()


def _append(calls: PythonCalls, node: Node, thing: Any, value: Any) -> bool:
    at, flow, emit = at_node(calls, node), calls.flow, calls.flow.emit
    value = Fixed(value) if _is_constant(value) else stored(calls, value)
    flow.resume_from(at)
    ref, is_new = calls.object(value)
    failed = emit.objects.append(thing.ref, ref, is_new)
    emit.stop_if(Number(BOOL, emit.b.icmp("ne", failed, 0)), flow.stop)
    if not isinstance(value, tuple):        # to make one may run the garbage collector
        flow.state.known = flow.state.known.behind(node)
    for none in node.outputs:
        flow.define(none, Fixed(None))
    return True


_ROUTINES: dict[str, Callable[..., bool]] = {
    "length": _len, "load": _getitem, "store": _setitem, "append": _append
}  # fmt: skip


def on_list(op: str) -> Callable[..., bool] | None:
    """The routine that emits an op for a list of Python's, if there is one."""
    return _ROUTINES.get(ON_LIST.get(op, ""))


def constant_item(items: tuple[Any, ...], index: Any) -> Any:
    """The item of a tuple that is no object, at a constant index."""
    place = index.known if isinstance(index, Number) else index
    if type(place) is not int or not -len(items) <= place < len(items):
        raise NoLowering
    return items[place]


# Distances ------------------------------------------------------------------------------------------------------------


def are_points(*args: Any) -> bool:
    """Whether operands are two objects, tuples or lists, whose items may be coordinates; or one, and a new tuple."""
    objects = [each for each in args if isinstance(each, (Boxed, Given)) and each.of in (tuple, list)]
    return len(args) == 2 and len(objects) + sum(type(each) is tuple for each in args) == 2 and bool(objects)


def distance(calls: PythonCalls, node: Node, *points: Any) -> bool:
    """`math.dist(p, q)`. Python computes it of items of other classes than floats and short integers."""
    if not (HAS_DIGITS and distances.is_pythons()):
        raise NoLowering
    flow, emit, objects = calls.flow, calls.flow.emit, calls.flow.emit.objects
    count = next((len(each) for each in points if type(each) is tuple), None)
    if count is not None:
        found = distances.dist(emit, *(_coordinates(calls, each, count) for each in points))
        flow.leave_if_nan(node.output, found)
        flow.define(node.output, found)
        return False
    flow.resume_from(at_node(calls, node))
    one, other = (objects.load_at(I64, each.ref, SIZE) for each in points)
    emit.leave_if(Number(BOOL, emit.b.icmp("ne", one, other)))
    items = [_items_in(calls, each) for each in points]
    function = list_items.distance(emit.b.function.module)
    computed = emit.b.call(function, *items, one, objects.address(float), objects.address(int))

    def ask() -> Register:
        made = calls.fall_back(node)
        number: Register = objects.value_of(made, FLOAT)
        objects.forget(made)
        return number

    found = Number(FLOAT, emit.b.if_else(emit.b.fcmp("uno", computed, computed), ask, lambda: computed, False))
    flow.leave_if_nan(node.output, found)
    flow.define(node.output, found)
    return False


def _coordinates(calls: PythonCalls, point: Any, count: int) -> tuple[Any, ...]:
    """The numbers of a point; leaves the code unless they are so many, all floats or integers."""
    if type(point) is tuple:
        return point
    emit, items, found = calls.flow.emit, _items_in(calls, point), []
    emit.demand(emit.objects.has_size(point.ref, count))
    for place in range(count):
        item = emit.objects.load_at(PTR, items, SLOT * place)
        emit.demand(mixed_numbers.has_class(emit, item))
        found.append(mixed_numbers.unboxed(emit, item).parts[0])
    return tuple(found)


def _items_in(calls: PythonCalls, thing: Any) -> Register:
    """The address of the items of a list or tuple."""
    emit = calls.flow.emit
    return emit.objects.load_at(PTR, thing.ref, LIST_ITEMS) if thing.of is list else emit.b.gep(thing.ref, TUPLE_ITEMS)


# Searching for texts --------------------------------------------------------------------------------------------------


def is_text(item: Any) -> bool:
    """Whether an operand is a text that the code may seek. Others than those of ASCII are left to Python."""
    of = item.of if isinstance(item, (Boxed, Given)) else type(item.value if isinstance(item, Fixed) else item)
    return HAS_TABLES and of is str


def _search_text(calls: PythonCalls, thing: Any, text: Any, counts: bool) -> Register:
    """The place of the first item that equals a text, or how many do; or `NONE`."""
    b, objects = calls.flow.emit.b, calls.flow.emit.objects
    sought, _ = calls.object(Fixed(text) if type(text) is str else text)
    function = list_items.texts(b.function.module, counts)
    return b.call(function, *items_of(calls, thing.ref), objects.address(str), sought)


def contains_text(calls: PythonCalls, node: Node, thing: Any, text: Any) -> bool:
    """`"a" in xs`"""
    b = calls.flow.emit.b
    calls.flow.resume_from(at_node(calls, node))
    size, place = calls.flow.emit.objects.load_at(I64, thing.ref, SIZE), _search_text(calls, thing, text, False)
    is_known, fast = b.icmp("ne", place, list_items.NONE), lambda: b.icmp("slt", place, size)
    found = b.if_else(is_known, fast, lambda: b.icmp("ne", number_by_python(calls, node), 0), True)
    assert found is not None
    calls.flow.define(node.output, Number(BOOL, found))
    return True


def text_place(calls: PythonCalls, node: Node, thing: Any, text: Any, counts: bool = False) -> bool:
    """`xs.index("a")` or `xs.count("a")`"""
    emit, b = calls.flow.emit, calls.flow.emit.b
    calls.flow.resume_from(at_node(calls, node))
    size, place = emit.objects.load_at(I64, thing.ref, SIZE), _search_text(calls, thing, text, counts)
    if not counts:
        emit.leave_if(Number(BOOL, b.icmp("eq", place, size)))      # Python raises the error
    is_known = b.icmp("ne", place, list_items.NONE)
    found = b.if_else(is_known, lambda: place, lambda: number_by_python(calls, node), True)
    assert found is not None
    emit.ranges.bound(found, 0, 2**60)
    calls.flow.define(node.output, Number(INT, found))
    return True


def items_of(calls: PythonCalls, thing: Register) -> tuple[Register, Register]:
    """The address of the items of a list, and their number."""
    objects = calls.flow.emit.objects
    return objects.load_at(PTR, thing, LIST_ITEMS), objects.load_at(I64, thing, SIZE)


def number_by_python(calls: PythonCalls, node: Node) -> Register:
    """The index, count or truth value that Python finds."""
    objects, found = calls.flow.emit.objects, calls.fall_back(node)
    number = objects.python("PyLong_AsLongLong", found)
    objects.forget(found)
    return number
