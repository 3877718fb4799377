"""Attributes among the values of an instance, or in its dict, found without Python; and new instances."""

from __future__ import annotations

import sys

from autograph.common.cpython_internals import (
    COUNT,
    DICT_NAMES,
    DICT_VALUES,
    ENTRY,
    ENTRY_VALUE,
    HAS_PLACES,
    HASH,
    INDEX,
    INDEX_SIZE,
    IS_OLD,
    SMALL_INDEX,
    TABLE_KIND,
    VALID,
    VALUES_ADDRESS,
    VALUES_BEGIN,
    WORD,
    AttributePlace,
    Unshadowed,
    attribute_place,
    read,
)
from autograph.runtime.engines.native.llvm import ir, table_lookups
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import ObjectBuilder
from autograph.runtime.engines.native.llvm.ir import FALSE, I8, I32, I64, NULL, PTR, TRUE, Value
from autograph.runtime.engines.native.llvm.table_layouts import HAS_TABLES, TEXTS
from autograph.runtime.graph.operands import Fixed, Instance

NEW = 312       # where a class has the C function behind `__new__`
_SEARCH = "attribute_in_dict"
_READS = "noinline nounwind readonly willreturn"


def among_values(b: Builder, thing: Value, name: Value, place: AttributePlace, owner: Value) -> Value:
    """The address of an attribute among the values of an instance, or in its dict; null if it is not there.

    Args:
        owner: gets the dict that knows of the value; null if there is none.
    """
    values, holds, dict, is_free = values_of(b, thing, place)

    def inline() -> Value:
        b.store(b.select(is_free, NULL, dict), owner)
        return b.gep(values, VALUES_BEGIN + 8 * place.number)

    def search() -> Value:
        b.store(dict, owner)
        return _searched(b, dict, name, place.number)

    found = search() if IS_OLD else b.if_else(holds, inline, search)
    assert found is not None
    return found


def _searched(b: Builder, dict: Value, name: Value, first: int) -> Value:
    """The address of the value of a name in a dict, which may be null; null if it has none.

    The dict of an instance that was copied has the names in the order of the class, and only texts. So the code looks
    there without a call, and LLVM joins what it checks for several attributes.
    """
    function = _search(b.function.module)
    if IS_OLD:
        return b.call(function, dict, name, first)
    known, same, slow, done = map(b.new_block, ("known", "same", "slow", "found"))
    b.cond_br(b.is_null(dict), slow, known)
    b.begin(known)
    table, values = b.load(PTR, b.gep(dict, DICT_NAMES)), b.load(PTR, b.gep(dict, DICT_VALUES))
    is_usual = b.and_(b.is_null(values), b.icmp("eq", b.load(I8, b.gep(table, TABLE_KIND)), TEXTS))
    b.cond_br(b.and_(is_usual, b.icmp("sgt", b.load(I64, b.gep(table, COUNT)), first)), same, slow)
    b.begin(same)
    size = b.binary("shl", ir.constant(I64, 1), b.cast("zext", b.load(I8, b.gep(table, INDEX_SIZE)), I64))
    entry = b.gep(b.gep(table, size), INDEX + first * ENTRY)
    near = b.gep(entry, ENTRY_VALUE)
    b.cond_br(b.icmp("eq", b.load(PTR, entry), name), done, slow)
    b.begin(slow)
    far = b.call(function, dict, name, first)
    b.br(done)
    b.begin(done)
    return b.phi(PTR, (near, same), (far, slow))


def values_of(b: Builder, thing: Value, place: AttributePlace | Unshadowed) -> tuple[Value, Value, Value, Value]:
    """The values of an instance; whether these hold, else its dict; and whether no dict knows of them."""
    word = b.load(I64, b.gep(thing, place.dict))
    dict = b.cast("inttoptr", word, PTR)
    if sys.version_info >= (3, 13):
        values = b.gep(thing, place.values)
        return values, b.icmp("ne", b.load(I8, b.gep(values, VALID)), 0), dict, b.icmp("eq", word, 0)
    if sys.version_info >= (3, 12):
        return b.gep(dict, 1), b.icmp("ne", b.and_(word, 1), 0), dict, TRUE
    if IS_OLD:
        return NULL, FALSE, dict, TRUE
    values = b.load(PTR, b.gep(thing, VALUES_ADDRESS))
    return values, b.icmp("ne", values, NULL), dict, TRUE


def _search(module: ir.Module) -> ir.Function:
    """A function that returns the address of the value of a name in a dict, which may be null; null if it has none.

    It looks at a place first.
    """
    if _SEARCH in module.functions:
        return module.functions[_SEARCH]
    dict, name, first = ir.Parameter("dict", PTR), ir.Parameter("name", PTR), ir.Parameter("first", I64)
    b = Builder(module.define(_SEARCH, PTR, dict, name, first, words="internal", attributes=_READS))
    with b.if_then(b.is_null(dict)):
        b.ret(NULL)
    table, values = b.load(PTR, b.gep(dict, DICT_NAMES)), b.load(PTR, b.gep(dict, DICT_VALUES))
    if IS_OLD:
        size = b.load(I64, b.gep(table, INDEX_SIZE))
        hash: Value = ir.constant(I64, HASH)
        with b.if_then(b.icmp("sgt", size, SMALL_INDEX)):
            b.ret(NULL)
    else:
        size = b.binary("shl", ir.constant(I64, 1), b.cast("zext", b.load(I8, b.gep(table, INDEX_SIZE)), I64))
        hash = b.select(b.icmp("eq", b.load(I8, b.gep(table, TABLE_KIND)), 0), ir.constant(I64, HASH), 0)
    entries, count = b.gep(b.gep(b.gep(table, size), INDEX), hash), b.load(I64, b.gep(table, COUNT))

    def look(place: Value) -> None:
        entry = b.gep(entries, b.mul(place, b.add(hash, ENTRY)))
        with b.if_then(b.icmp("eq", b.load(PTR, entry), name)):
            with b.if_then(b.is_null(values)):
                b.ret(b.gep(entry, ENTRY_VALUE))
            b.ret(b.gep(b.gep(values, place, PTR), VALUES_BEGIN))

    with b.if_then(b.icmp("slt", first, count)):
        look(first)
    with b.loop(0, count) as loop:
        look(loop.index)
    b.ret(NULL)
    return module.functions[_SEARCH]


def replace(
    objects: ObjectBuilder, attribute: tuple[Value, Value, Value, Value], new: Value, is_new: bool, is_number: bool
) -> Value:
    """Replace an attribute that is there. Returns a number that is not 0 if that has failed.

    Args:
        attribute: the object, the name, the address of the attribute, and the dict that knows of it, as above.
        is_new: whether the attribute may take over the reference.
        is_number: whether it is a number, text or None, which the garbage collector need not know of.
    """
    b, (thing, name, address, dict) = objects.b, attribute

    def in_place() -> Value:
        old = b.load(PTR, address)
        b.store(new if is_new else objects.acquire(new), address)
        objects.release(old)
        return ir.constant(I32, 0)

    def in_dict() -> Value:
        table_lookups.set_version(objects, dict)
        return in_place()

    def by_python() -> Value:
        failed = objects.python("PyObject_SetAttr", thing, name, new)
        if is_new:
            objects.forget(new)
        return failed

    def known() -> Value:
        found = b.if_else(table_lookups.is_watched(objects, dict), by_python, in_dict)
        assert found is not None
        return found

    failed = b.if_else(b.is_null(dict), in_place, known if is_number and HAS_TABLES else by_python, True)
    assert failed is not None
    return failed


def make(objects: ObjectBuilder, operand: Instance) -> Value:
    """A new object with the attributes of an instance; null for an exception."""
    parts = []
    for name, part in zip(operand.names, operand.parts):
        is_constant = isinstance(part, Fixed)
        ref = objects.address(part.value) if is_constant else objects.number_object(part.ref, part.type)
        parts.append((name, ref, not is_constant))
    return new_instance(objects, operand.of, parts)


def _allocated(objects: ObjectBuilder, kind: type) -> Value:
    """A new object without attributes, null for an exception.

    In CPython 3.11 and 3.12, `object.__new__` also makes room for the values of attributes, which are slow without it.
    """
    if not _MAKES_ROOM:
        return objects.python("PyType_GenericAlloc", objects.address(kind), 0)
    b, make = objects.b, objects.load_at(PTR, objects.address(object), NEW)
    return b.emit(PTR, "call", (make, objects.address(kind), objects.address(()), NULL))


def _has_makers() -> bool:
    """Whether the C functions behind `__new__` are where they should be."""
    kinds = [type("Made", (), {}), object, *(type("Other", (), {"__new__": make}) for make in (max, min))]
    first, second, third, fourth = (read(WORD, id(kind) + NEW)[0] for kind in kinds)
    return bool(first) and first == second != third == fourth


_MAKES_ROOM = (3, 11) <= sys.version_info[:2] < (3, 13) and HAS_PLACES and _has_makers()


def new_instance(objects: ObjectBuilder, kind: type, parts: list[tuple[str, Value, bool]]) -> Value:
    """A new object of a class, for which Python allocates the memory; null for an exception.

    Args:
        parts: the name of each attribute, its object, and whether that is a new reference, which is taken over.
    """
    b = objects.b
    made = _allocated(objects, kind)

    def fill() -> Value:
        failed: Value = ir.constant(I32, 0)
        for name, ref, is_new in parts:
            place = attribute_place(kind, name)
            if place is not None and place.slot:
                b.store(ref if is_new else objects.acquire(ref), b.gep(made, place.slot))
                continue
            failed = b.or_(failed, objects.python("PyObject_GenericSetAttr", made, objects.address(name), ref))
            if is_new:
                objects.forget(ref)
        def drop() -> Value:
            objects.forget(made)
            return NULL

        whole = b.if_else(b.icmp("eq", failed, 0), lambda: made, drop, True)
        assert whole is not None
        return whole

    def give_up() -> Value:
        for _, ref, is_new in parts:
            if is_new:
                objects.forget(ref)
        return NULL

    found = b.if_else(b.icmp("ne", made, NULL), fill, give_up, True)
    assert found is not None
    return found
