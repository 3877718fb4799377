"""Attributes of objects in machine code: read from slots, instances and dicts, and set there.

The code knows the classes of the objects that the first call has, and where their instances have an attribute. That
holds as long as the version tag of the class is the same (`cpython_internals`); otherwise the code is left. A float
that only the object refers to is overwritten. For all other attributes, functions of Python's C API do what Python
does, descriptors and `__getattr__` included; so these may run code of the user's, as Python callbacks may.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from autograph.common.cpython_internals import (
    ABSTRACT,
    CLASS,
    CLASS_NAMES,
    COUNT,
    HAS_PLACES,
    ITEMS,
    NO_VALUE,
    NO_VALUES,
    SIZE,
    TAG_OFFSET,
    VALUES_BEGIN,
    AttributePlace,
    Unshadowed,
)
from autograph.runtime.engines.native.analysis.class_versions import Version
from autograph.runtime.engines.native.analysis.structure import Point
from autograph.runtime.engines.native.llvm import ir, table_lookups
from autograph.runtime.engines.native.llvm.attribute_lookups import (
    among_values,
    new_instance,
    replace,
    values_of,
)
from autograph.runtime.engines.native.llvm.cpython_abi import class_of
from autograph.runtime.engines.native.llvm.ir import FALSE, I32, I64, NULL, PTR, TRUE, Value
from autograph.runtime.engines.native.llvm.known_places import NOTHING, Attribute
from autograph.runtime.engines.native.llvm.table_keys import TEXT
from autograph.runtime.engines.native.llvm.table_layouts import HAS_TABLES
from autograph.runtime.engines.native.loops.c_calls import raise_if
from autograph.runtime.engines.native.loops.iterators import raise_again
from autograph.runtime.engines.native.loops.lists import at_node, changed, in_object, is_harmless, read, stored
from autograph.runtime.engines.native.loops.python_calls import PythonCalls
from autograph.runtime.engines.native.loops.result_speculation import UNKNOWN
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.graph import Value as GraphValue
from autograph.runtime.graph.object_model import is_described, is_users
from autograph.runtime.graph.operands import Boxed, Complex, Fixed, Given, Instance, Mixed, Number
from autograph.runtime.graph.traits import MAKES_OBJECTS, ON_ATTRIBUTE
from autograph.runtime.graph.types import BOOL
from autograph.runtime.ops.python.attributes import REFLECTED, takes_first

# The address of an attribute ------------------------------------------------------------------------------------------


def _attribute(calls: PythonCalls, thing: Value, name: str, places: list[Any]) -> tuple[Attribute, Value]:
    """An attribute, and the object that it is; leaves if there is none, and for other classes."""
    emit = calls.flow.emit
    found = calls.flow.state.known.attribute(thing, name, places)
    if found is not None:
        return found, emit.b.load(PTR, found.address)
    found = Attribute(*_address(calls, thing, name, places), places)
    if not all(place.slot for _, place in places):
        emit.demand(emit.b.icmp("ne", found.address, NULL))
    value = emit.b.load(PTR, found.address)
    emit.demand(emit.b.icmp("ne", value, NULL))
    return found, value


def _address(calls: PythonCalls, thing: Value, name: str, places: list[Any]) -> tuple[Value, Value]:
    """The address of an attribute, and the dict that knows of it, or null; leaves for other classes."""
    emit = calls.flow.emit
    b, objects = emit.b, emit.objects
    version = objects.load_at(I32, objects.load_at(PTR, thing, CLASS), TAG_OFFSET)
    owner = b.room(PTR)

    def find(place: AttributePlace) -> Value:
        if place.slot:
            if place.items:
                emit.demand(b.icmp("sge", objects.load_at(I64, thing, SIZE), place.items))
            b.store(NULL, owner)
            return b.gep(thing, place.slot)
        return among_values(b, thing, objects.address(sys.intern(name)), place, owner)

    def choose(rest: list[Any]) -> Value:
        (each, place), *others = rest
        is_known = b.icmp("eq", version, b.load(I32, b.gep(objects.address(each), ITEMS)))
        if not others:
            emit.demand(is_known)
            return find(place)
        found = b.if_else(is_known, lambda: find(place), lambda: choose(others))
        assert found is not None
        return found

    return choose(places), b.load(PTR, owner)


# Nodes ----------------------------------------------------------------------------------------------------------------


def _get(calls: PythonCalls, node: Node, operand: Any, name: str) -> bool:
    """`x.name`"""
    if isinstance(operand, Instance):
        _demand_tag(calls, calls.versions.of(operand.of))
        part = operand.parts[operand.names.index(name)]
        calls.flow.leave_if_nan(node.output, part)
        calls.flow.define(node.output, part)
        return False
    places = calls.versions.places(node, name, "__getattribute__")
    if not places:
        return _get_by_python(calls, node, operand, name)
    flow, at, value, thing = calls.flow, at_node(calls, node), node.output, calls.object(operand)[0]
    if not calls.expects_array(value):
        read(calls, node, thing, name, lambda: _attribute(calls, thing, name, places))
        return False
    calls.expect(value, value.type)
    flow.resume_from(at)
    found = flow.emit.objects.another(_attribute(calls, thing, name, places)[1])
    flow.define(value, Boxed(found))
    flow.own((value, ()), found)
    flow.resume_from(Point(at.block, at.place + 1))
    calls.take([value], at.block)
    return True


def _get_by_python(calls: PythonCalls, node: Node, operand: Any, name: str) -> bool:
    flow, emit, at, value = calls.flow, calls.flow.emit, at_node(calls, node), node.output
    flow.resume_from(at)
    found = emit.objects.python("PyObject_GetAttr", calls.object(operand)[0], emit.objects.address(name))
    emit.stop_if(Number(BOOL, emit.b.is_null(found)), lambda: raise_again(calls, node))
    flow.define(value, Boxed(found))
    flow.own((value, ()), found)
    _after(calls, at)
    if calls.expect(value, value.type) != UNKNOWN and calls.take([value], at.block):
        flow.resume_from(Point(at.block, at.place + 1))
    return True


def _set(calls: PythonCalls, node: Node, operand: Any, name: str, value: Any) -> bool:
    """`x.name = value`"""
    emit, at, value = calls.flow.emit, at_node(calls, node), stored(calls, value)
    is_plain = isinstance(value, Fixed) and type(value.value) in (str, type(None))
    is_one = is_plain or isinstance(value, (Number, Complex, Boxed, Given))
    places = calls.versions.places(node, name, "__setattr__") if is_one else []
    if not places:
        return _set_by_python(calls, node, operand, name, value)
    calls.flow.resume_from(at)
    b, objects, thing = emit.b, emit.objects, calls.object(operand)[0]
    (attribute, old), is_number = _attribute(calls, thing, name, places), isinstance(value, (Number, Complex))
    known = calls.flow.state.known.stored(node, thing, name, attribute._replace(value=value))
    if is_number:
        emit.demand(is_harmless(calls, old, value))
    failed, done = b.room(I32), b.new_block("set")
    b.store(ir.constant(I32, 0), failed)
    if (numbers := in_object(value)) is not None:
        objects.overwrite(old, *numbers, done)
    at_place = thing, objects.address(name), attribute.address, attribute.owner
    b.store(replace(objects, at_place, *calls.object(value), is_number or is_plain), failed)
    b.br(done)
    b.begin(done)
    emit.stop_if(Number(BOOL, b.icmp("ne", b.load(I32, failed), 0)), lambda: raise_again(calls, node))
    calls.flow.state.known = known if is_number else NOTHING
    changed(calls, at)
    return True


def _set_by_python(calls: PythonCalls, node: Node, operand: Any, name: str, value: Any) -> bool:
    emit, at = calls.flow.emit, at_node(calls, node)
    b, objects = emit.b, emit.objects
    calls.flow.resume_from(at)
    ref, is_new = calls.object(value)
    failed = objects.python("PyObject_SetAttr", calls.object(operand)[0], objects.address(name), ref)
    if is_new:
        objects.forget(ref)
    emit.stop_if(Number(BOOL, b.icmp("ne", failed, 0)), lambda: raise_again(calls, node))
    _after(calls, at)
    return True


def _after(calls: PythonCalls, at: Point) -> None:
    """Go on behind code that may have been the user's."""
    calls.ran_any_code()
    calls.flow.resume_from(Point(at.block, at.place + 1))
    calls.look_at_arrays()


def _has(calls: PythonCalls, node: Node, operand: Any, name: str, kind: Fixed, member: Fixed) -> bool:
    """`has_member(x, name, kind, member)`, or false where that is unknown: the program does the same then."""
    emit = calls.flow.emit
    b, objects, version = emit.b, emit.objects, calls.versions.of(kind.value)
    place = version.member(name, member.value)
    if isinstance(operand, Instance):
        is_it = place is not None and operand.of is kind.value and name not in operand.names
        _demand_tag(calls, version)
        calls.flow.define(node.output, emit.constant(is_it, BOOL))
        return False
    if place is None or not isinstance(operand, (Boxed, Given)):
        calls.flow.define(node.output, emit.constant(False, BOOL))
        return False
    thing = calls.object(operand)[0]
    known = objects.address(version)

    def check() -> Value:
        tag = objects.load_at(I32, objects.address(kind.value), TAG_OFFSET)
        emit.demand(b.icmp("eq", tag, b.load(I32, b.gep(known, ITEMS))))
        return _is_unshadowed(calls, thing, name, place, version) if place.dict else TRUE

    if _is_made(node, kind.value):      # it hardly is another one, so there is no code for that
        emit.objects.demand_class(thing, kind.value)
        emit.demand(check())
        calls.flow.define(node.output, Fixed(True))
        return False
    found = b.if_else(objects.is_of_class(thing, kind.value), check, lambda: FALSE)
    assert found is not None
    calls.flow.define(node.output, Number(BOOL, found))
    return False


def _is_made(node: Node, kind: type) -> bool:
    """Whether the graph has made the object whose method a node asks for, of a class and without such an attribute."""
    made = node.args[0].node if isinstance(node.args[0], GraphValue) else None
    if made is None or made.op not in MAKES_OBJECTS:
        return False
    return made.args[0].value is kind and node.args[1] not in made.args[1]


def _is_unshadowed(calls: PythonCalls, thing: Value, name: str, place: Unshadowed, version: Version) -> Value:
    """Whether an instance has no attribute of its own with a name; leaves if it may have values with new names."""
    emit = calls.flow.emit
    b, objects = emit.b, emit.objects
    values, holds, dict, _ = values_of(b, thing, place)

    def of_values() -> Value:
        if place.number != NO_VALUE:
            return b.is_null(b.load(PTR, b.gep(values, VALUES_BEGIN + 8 * place.number)))
        count = objects.load_at(I64, objects.load_at(PTR, objects.address(version.kind), CLASS_NAMES), COUNT)
        known = b.load(I32, b.gep(objects.address(version), ITEMS + 4))
        emit.demand(b.icmp("eq", b.cast("trunc", count, I32), known))
        return TRUE

    def of_dict() -> Value:
        if not HAS_TABLES:
            return by_python()
        found = table_lookups.find(objects, dict, False, objects.address(sys.intern(name)), TEXT)
        is_asked = b.icmp("eq", found, table_lookups.ask(b))
        answer = b.if_else(is_asked, by_python, lambda: table_lookups.is_absent(b, found))
        assert answer is not None
        return answer

    def by_python() -> Value:
        found = objects.python("PyDict_GetItemWithError", dict, objects.address(sys.intern(name)))
        failed = b.icmp("ne", objects.python("PyErr_Occurred"), NULL)       # a key of the user's; Python will ask again
        with b.if_then(failed):
            objects.python("PyErr_Clear")
        return b.and_(b.is_null(found), b.xor(failed, TRUE))

    def outside() -> Value:
        found = b.if_else(b.is_null(dict), lambda: TRUE, of_dict)
        assert found is not None
        return found

    found = outside() if place.number == NO_VALUES else b.if_else(holds, of_values, outside)
    assert found is not None
    return found


def _has_setter(calls: PythonCalls, node: Node, operand: Any, name: str, kind: Fixed, member: Fixed) -> bool:
    """`has_setter(x, name, kind, member)`, or false where that is unknown."""
    if calls.versions.of(kind.value).has_operator("__setattr__", object.__setattr__):
        return _has(calls, node, operand, name, kind, member)
    calls.flow.define(node.output, calls.flow.emit.constant(False, BOOL))
    return False


def _has_operator(
    calls: PythonCalls, node: Node, operand: Any, name: str, kind: Fixed, member: Fixed, other: Any
) -> bool:
    """`has_operator(x, name, kind, member, other)`, or false where that is unknown."""
    emit = calls.flow.emit
    b, objects, version = emit.b, emit.objects, calls.versions.of(kind.value)
    is_it = not isinstance(operand, Instance) or operand.of is kind.value
    if not isinstance(operand, (Boxed, Given, Instance)) or not is_it or not version.has_operator(name, member.value):
        calls.flow.define(node.output, emit.constant(False, BOOL))
        return False
    if isinstance(operand, Instance):
        _demand_tag(calls, version)
        calls.flow.define(node.output, Number(BOOL, _takes_first(calls, kind.value, name, calls.flow.operand(other))))
        return False
    thing, known = calls.object(operand)[0], objects.address(version)

    def check() -> Value:
        tag = objects.load_at(I32, objects.address(kind.value), TAG_OFFSET)
        emit.demand(b.icmp("eq", tag, b.load(I32, b.gep(known, ITEMS))))
        return _takes_first(calls, kind.value, name, calls.flow.operand(other))

    found = b.if_else(objects.is_of_class(thing, kind.value), check, lambda: FALSE)
    assert found is not None
    calls.flow.define(node.output, Number(BOOL, found))
    return False


def _takes_first(calls: PythonCalls, kind: type, name: str, other: Any) -> Value:
    """Whether the class of another operand lets Python ask the special method of a class first."""
    if isinstance(other, (Boxed, Given)) and other.of is None:
        return FALSE if name in REFLECTED else calls.flow.emit.objects.is_of_class(calls.object(other)[0], kind)
    of: type | None = class_of(other.type) if isinstance(other, Number) else None
    if of is None:
        of = type(other.value) if isinstance(other, Fixed) else float if isinstance(other, Mixed) else None
    if isinstance(other, Instance):
        of = other.of
    return TRUE if of is not None and takes_first(kind, name, of) else FALSE


def on_attribute(node: Node, args: Any) -> Callable[..., bool] | None:
    """The routine that emits a node for an attribute of an object, if there is one."""
    routine, count = _ROUTINES.get(ON_ATTRIBUTE.get(node.op, ""), (None, -1))
    takes = len(args) == count and not node.kwargs and type(args[1]) is str
    kinds = (Boxed, Given, Instance) if routine is _get else (Boxed, Given)
    return routine if takes and (count > 3 or isinstance(args[0], kinds)) else None


_ROUTINES: dict[str, tuple[Callable[..., bool], int]] = {
    "get": (_get, 2), "set": (_set, 3), "has": (_has, 4), "setter": (_has_setter, 4), "operator": (_has_operator, 5)
}  # fmt: skip


# New objects ----------------------------------------------------------------------------------------------------------
# Python's C API allocates an object. The code fills the slots itself; the C API sets other attributes, without code of
# the user's.


def _new(calls: PythonCalls, node: Node, kind: Fixed, parts: dict[str, Any]) -> bool:
    """An object of a class with these attributes."""
    flow, at, version = calls.flow, at_node(calls, node), calls.versions.of(kind.value)
    b, objects = flow.emit.b, flow.emit.objects
    operands = {name: stored(calls, part) for name, part in parts.items()}
    if node.output in calls.unshared and all(map(_is_part, operands.values())) and all(map(version.is_plain, parts)):
        _demand_tag(calls, version)
        flow.define(node.output, Instance(kind.value, tuple(operands), tuple(operands.values())))
        return False
    flow.resume_from(at)
    _demand_tag(calls, version)
    found = new_instance(objects, kind.value, [(name, *calls.object(each)) for name, each in operands.items()])
    raise_if(calls, node, b.is_null(found))
    flow.define(node.output, Boxed(found))
    flow.own((node.output, ()), found)
    changed(calls, at)
    return True


def _demand_tag(calls: PythonCalls, version: Version) -> None:
    """Leave if a class has changed."""
    objects = calls.flow.emit.objects
    tag = objects.load_at(I32, objects.address(version.kind), TAG_OFFSET)
    calls.flow.emit.demand(objects.b.icmp("eq", tag, objects.load_at(I32, objects.address(version), ITEMS)))


def _is_part(operand: Any) -> bool:
    """Whether an operand may be an attribute of an instance for which there is no object."""
    return isinstance(operand, Number) or (isinstance(operand, Fixed) and type(operand.value) in (str, type(None)))


def make_objects(calls: PythonCalls, at: Point) -> None:
    """Make the objects of instances that the node at a point needs."""
    for value in at.block.nodes[at.place].inputs:
        if isinstance(calls.flow.state.env.get(value), Instance) and not _reads(calls, at.block.nodes[at.place], value):
            calls.make_object(value, at)


def _reads(calls: PythonCalls, node: Node, value: GraphValue) -> bool:
    """Whether a node only reads attributes of an instance, or asks for its class."""
    does = ON_ATTRIBUTE.get(node.op, "")
    return does in ("has", "operator") or (does == "get" and node.args[1] in calls.flow.state.env[value].names)


def on_new_object(node: Node, args: Any) -> Callable[..., bool] | None:
    """The routine that emits a node which makes an object, if there is one."""
    if node.op not in MAKES_OBJECTS or not HAS_PLACES:
        return None
    kind, parts = args[0].value, args[1]
    if not is_users(kind) or kind.__flags__ & ABSTRACT or not node.outputs:
        return None
    return None if any(is_described(kind, name) for name in parts) else _new
