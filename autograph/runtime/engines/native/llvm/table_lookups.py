"""Keys in dicts and sets, looked up in their tables without Python.

The functions are parts of the module of the code that calls them. They only read memory, so LLVM looks up a key once
for `if x in h: h[x] += 1`. Each returns the address of the reference to the value (of the entry, in a set). If the key
is not there, it returns `ABSENT` in the lowest bits, and above them where a new key goes: the address of the entry in a
set, the place in the index of a dict. Where only Python knows, it returns `ASK`: if a key of another class may be
equal, if the table is one that objects share, if an integer is large, or if a text has no hash yet.

A new key is put at that place (`put_in_set`, `put_in_dict`), unless Python would make another table.
"""

from __future__ import annotations

from collections.abc import Callable

from autograph.common.cpython_internals import (
    CLASS,
    DICT_NAMES,
    DICT_VALUES,
    DIGIT,
    DIGIT_BITS,
    ENTRY,
    ENTRY_VALUE,
    IMMORTALS,
    INDEX,
    INDEX_SIZE,
    IS_OLD,
    ITEMS,
    SIZE,
    TABLE_KIND,
    VALUE,
)
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import ObjectBuilder, integer_of_one_digit
from autograph.runtime.engines.native.llvm.ir import DOUBLE, I8, I16, I32, I64, NULL, PTR, Value
from autograph.runtime.engines.native.llvm.table_keys import (
    FLOAT,
    INTEGER,
    OBJECT,
    READS,
    TEXT,
    Key,
    Kind,
    hash_of,
    is_same,
    types_of,
)
from autograph.runtime.engines.native.llvm.table_layouts import (
    DICT_USED,
    DICT_VERSION,
    DUMMY,
    EMPTY,
    GENERAL,
    LIMITS,
    LOG_SIZE,
    NEIGHBORS,
    SET_ENTRY,
    SET_FILL,
    SET_HASH,
    SET_MASK,
    SET_TABLE,
    SET_USED,
    SHIFT,
    TABLE_COUNT,
    TABLE_ROOM,
    TABLE_VERSION,
    TEXT_HASH,
    TEXTS,
    WATCHERS,
)

ASK, ABSENT = 1, 2      # the lowest bits of a result that is no address of a key's place
_BITS = ASK | ABSENT
_CLASSES = {INTEGER: int, FLOAT: float, TEXT: str, "": tuple}


class Versions(bytes):
    """The next version of a dict that machine code changes, in memory.

    Python counts from 1; these are so much larger that no two are the same.
    """

    def __new__(cls) -> Versions:
        return super().__new__(cls, (1 << 63).to_bytes(8, "little"))


_VERSIONS, _STEP = Versions(), 1 << 12


def find(objects: ObjectBuilder, thing: Value, is_set: bool, key: Key, kind: Kind) -> Value:
    """Look up a key of a kind in a dict or set."""
    function = _lookup(objects.b.function.module, is_set, kind)
    keys = key if isinstance(key, tuple) else (key,)
    classes = [objects.address(_CLASSES[each]) for each in _classes_of(kind)]
    found: Value = objects.b.call(function, thing, *keys, *classes)
    return found


def _classes_of(kind: Kind) -> list[str]:
    """The kinds of keys whose classes a lookup needs to know; "" is that of a tuple."""
    if kind == OBJECT:
        return [INTEGER, FLOAT, TEXT]
    return [*dict.fromkeys(kind), ""] if isinstance(kind, tuple) else [kind]


def is_found(b: Builder, found: Value) -> Value:
    """Whether a lookup has found the key."""
    return b.icmp("eq", b.and_(b.cast("ptrtoint", found, I64), _BITS), 0)


def is_absent(b: Builder, found: Value) -> Value:
    """Whether a lookup says that the key is not there."""
    return b.icmp("eq", b.and_(b.cast("ptrtoint", found, I64), _BITS), ABSENT)


def is_watched(objects: ObjectBuilder, thing: Value) -> Value:
    """Whether a function watches a dict."""
    if not IMMORTALS:
        return ir.FALSE
    return objects.b.icmp("ne", objects.b.and_(objects.load_at(I64, thing, DICT_VERSION), WATCHERS), 0)


def set_version(objects: ObjectBuilder, thing: Value) -> None:
    """Give a dict a new version, as a value was replaced."""
    b, place = objects.b, objects.b.gep(objects.address(_VERSIONS), ITEMS)
    version = b.load(I64, place)
    b.store(b.add(version, _STEP), place)
    b.store(version, b.gep(thing, DICT_VERSION))


def put_in_set(
    objects: ObjectBuilder, thing: Value, found: Value, key: Value, kind: str, make: Callable[[], Value]
) -> Value:
    """Put a key into a set where a lookup has not found it; gives whether there is room; else Python has to do it.

    Args:
        make: gives a new reference to the object of the key.
    """
    b = objects.b
    fill, mask = (objects.load_at(I64, thing, each) for each in (SET_FILL, SET_MASK))
    entry = b.cast("inttoptr", b.and_(b.cast("ptrtoint", found, I64), ~_BITS), PTR)
    is_new = b.is_null(b.load(PTR, entry))     # else a key was removed there
    more = b.add(fill, b.cast("zext", is_new, I64))
    has_room = b.icmp("slt", b.mul(more, 5), b.mul(mask, 3))

    def put() -> Value:
        b.store(make(), entry)
        b.store(_known_hash(objects, key, kind), b.gep(entry, SET_HASH))
        b.store(more, b.gep(thing, SET_FILL))
        b.store(b.add(objects.load_at(I64, thing, SET_USED), 1), b.gep(thing, SET_USED))
        return ir.TRUE

    return _if_room(b, b.or_(has_room, b.xor(is_new, ir.TRUE)), put)


def take_from_set(objects: ObjectBuilder, thing: Value, found: Value) -> None:
    """Remove the key that a lookup has found in a set."""
    b, old = objects.b, objects.b.load(PTR, found)
    b.store(objects.load_at(PTR, objects.address(DUMMY), ITEMS), found)
    b.store(ir.constant(I64, -1), b.gep(found, SET_HASH))
    b.store(b.sub(objects.load_at(I64, thing, SET_USED), 1), b.gep(thing, SET_USED))
    objects.release(old)


def put_in_dict(
    objects: ObjectBuilder, thing: Value, found: Value, key: Value, kind: str, make: Callable[[], tuple[Value, Value]]
) -> Value:
    """Put a key and a value into a dict where a lookup has not found the key; gives whether there is room.

    Args:
        make: gives new references to the objects of both, which the garbage collector need not know.
    """
    if IS_OLD:
        return ir.FALSE
    b, table = objects.b, objects.load_at(PTR, thing, DICT_NAMES)
    room, count = (objects.load_at(I64, table, each) for each in (TABLE_ROOM, TABLE_COUNT))
    of = objects.load_at(I8, table, TABLE_KIND)
    is_general, is_text = b.icmp("eq", of, GENERAL), _is_text(objects, key, kind)
    fits = b.or_(is_general, b.and_(is_text, b.icmp("eq", of, TEXTS)))
    fits = b.and_(b.and_(fits, b.icmp("sgt", room, 0)), b.xor(is_watched(objects, thing), ir.TRUE))

    def put() -> Value:
        size, width = _index_of(b, table)
        has_hash = b.select(is_general, ir.constant(I64, 8), 0)
        entry = b.gep(b.gep(table, b.binary("shl", size, width)), b.mul(count, b.add(has_hash, ENTRY)))
        entry = b.gep(entry, INDEX)
        with b.if_then(is_general):
            b.store(_known_hash(objects, key, kind), entry)
        entry, place = b.gep(entry, has_hash), b.binary("lshr", b.cast("ptrtoint", found, I64), 2)
        for of, log in ((I8, 0), (I16, 1), (I32, 2)):
            with b.if_then(b.icmp("eq", width, log)):
                b.store(b.cast("trunc", count, of), b.gep(b.gep(table, INDEX), place, of))
        new, value = make()
        b.store(new, entry)
        b.store(value, b.gep(entry, ENTRY_VALUE))
        b.store(b.sub(room, 1), b.gep(table, TABLE_ROOM))
        b.store(b.add(count, 1), b.gep(table, TABLE_COUNT))
        b.store(ir.constant(I32, 0), b.gep(table, TABLE_VERSION))
        b.store(b.add(objects.load_at(I64, thing, DICT_USED), 1), b.gep(thing, DICT_USED))
        set_version(objects, thing)
        return ir.TRUE

    return _if_room(b, fits, put)


def _if_room(b: Builder, has_room: Value, put: Callable[[], Value]) -> Value:
    found = b.if_else(has_room, put, lambda: ir.FALSE)
    assert found is not None
    return found


def _known_hash(objects: ObjectBuilder, key: Value, kind: str) -> Value:
    """The hash of a key, after a lookup that did not ask."""
    b = objects.b
    if kind != OBJECT:
        return hash_of(b, key, kind)

    def of_number() -> Value:
        return either(objects.is_of_class(key, float), lambda: hash_of(b, _float_in(b, key), FLOAT), of_integer)

    def of_integer() -> Value:
        return hash_of(b, integer_of_one_digit(b, key)[1], INTEGER)

    def either(condition: Value, then: Callable[[], Value], orelse: Callable[[], Value]) -> Value:
        found = b.if_else(condition, then, orelse)
        assert found is not None
        return found

    return either(_is_text(objects, key, kind), lambda: hash_of(b, key, TEXT), of_number)


def _float_in(b: Builder, thing: Value) -> Value:
    return b.load(DOUBLE, b.gep(thing, VALUE))


def _is_text(objects: ObjectBuilder, key: Value, kind: str) -> Value:
    """Whether a key is a text, after a lookup that did not ask."""
    return objects.is_of_class(key, str) if kind == OBJECT else ir.TRUE if kind == TEXT else ir.FALSE


def _index_of(b: Builder, table: Value) -> tuple[Value, Value]:
    """The size of the index of a table, and the logarithm of the bytes of a number in it."""
    log_size, log_bytes = (b.cast("zext", b.load(I8, b.gep(table, each)), I64) for each in (LOG_SIZE, INDEX_SIZE))
    return b.binary("shl", ir.constant(I64, 1), log_size), b.sub(log_bytes, log_size)


# Functions ------------------------------------------------------------------------------------------------------------


def _lookup(module: ir.Module, is_set: bool, kind: Kind) -> ir.Function:
    name = f"{'_'.join(kind) if isinstance(kind, tuple) else kind}_in_{'set' if is_set else 'dict'}"
    if name in module.functions:
        return module.functions[name]
    keys = tuple(ir.Parameter(f"key{place}", type) for place, type in enumerate(types_of(kind)))
    thing, classes = ir.Parameter("thing", PTR), {each: ir.Parameter(f"of_{each}", PTR) for each in _classes_of(kind)}
    others = {each: _lookup(module, is_set, each) for each in (INTEGER, FLOAT, TEXT) if kind == OBJECT}
    parameters = thing, *keys, *classes.values()
    is_quick = kind == INTEGER and not (is_set or IS_OLD)
    names = (f"all_{name}", name) if is_quick else (name,)
    functions = [module.define(each, PTR, *parameters, words="internal", attributes=READS) for each in names]
    b = Builder(functions[0])
    key, ask_if = keys if isinstance(kind, tuple) else keys[0], lambda condition: _ask_if(b, condition)
    if is_quick:
        first = Builder(functions[1])
        _look_first(first, thing, keys[0], classes[INTEGER], lambda: first.call(functions[0], *parameters))
    if kind == OBJECT:
        _by_class(b, thing, keys[0], classes, others)
        return module.functions[name]
    hash = hash_of(b, key, kind, ask_if)

    def match(other: Value, hashed: Callable[[], Value], address: Value) -> None:
        """Return the address if another key is the same; `ASK` if it may be."""
        if kind == TEXT:
            with b.if_then(b.icmp("eq", other, keys[0])):
                b.ret(address)
        with b.if_then(b.icmp("eq", hashed(), hash)), b.if_then(is_same(b, other, key, kind, classes, ask_if)):
            b.ret(address)

    if is_set:
        _search_set(b, thing, hash, match)
    else:
        _search_dict(b, thing, hash, kind, match)
    return module.functions[name]


def _look_first(b: Builder, thing: Value, key: Value, of: Value, otherwise: Callable[[], Value]) -> None:
    """Look up an integer at its first place in a dict of up to 20,000 keys, with few instructions; or else call.

    Others than the first place are seldom needed: integers that follow each other have places of their own.
    """
    table, rest = b.load(PTR, b.gep(thing, DICT_NAMES)), b.new_block("rest")

    def go_on_if(condition: Value) -> None:
        following = b.new_block("next")
        b.cond_br(condition, following, rest, True)
        b.begin(following)

    go_on_if(b.icmp("ult", key, 1 << DIGIT_BITS))       # which is its own hash
    go_on_if(b.icmp("eq", b.load(I8, b.gep(table, TABLE_KIND)), GENERAL))
    log_size, log_bytes = (b.cast("zext", b.load(I8, b.gep(table, each)), I64) for each in (LOG_SIZE, INDEX_SIZE))
    place, index = b.and_(key, b.sub(b.binary("shl", ir.constant(I64, 1), log_size), 1)), b.gep(table, INDEX)

    def load(of: str) -> Value:
        return b.cast("sext", b.load(of, b.gep(index, place, of)), I64)

    def wide() -> Value:
        go_on_if(b.icmp("eq", log_bytes, b.add(log_size, 1)))
        return load(I16)

    number = b.if_else(b.icmp("eq", log_bytes, log_size), lambda: load(I8), wide)
    assert number is not None
    with b.if_then(b.icmp("slt", number, 0), False):
        go_on_if(b.icmp("eq", number, EMPTY))
        b.ret(_absent(b, b.cast("inttoptr", b.binary("shl", place, 2), PTR)))
    entry = b.gep(b.gep(index, b.binary("shl", ir.constant(I64, 1), log_bytes)), b.mul(number, 8 + ENTRY))
    go_on_if(b.icmp("eq", b.load(I64, entry), key))     # as the digit of zero may be any number
    other = b.load(PTR, b.gep(entry, 8))
    go_on_if(b.icmp("eq", b.load(PTR, b.gep(other, CLASS)), of))
    go_on_if(b.icmp("eq", b.load(I32, b.gep(other, DIGIT)), b.cast("trunc", key, I32)))
    go_on_if(b.icmp("ule", b.load(I64, b.gep(other, SIZE)), 8 if IMMORTALS else 1))     # no negative number
    b.ret(b.gep(entry, 8 + ENTRY_VALUE))
    b.begin(rest)
    b.ret(otherwise())


def _ask_if(b: Builder, condition: Value) -> None:
    with b.if_then(condition, False):
        b.ret(ask(b))


def ask(b: Builder) -> Value:
    """That only Python knows."""
    return b.cast("inttoptr", ir.constant(I64, ASK), PTR)


def _absent(b: Builder, place: Value) -> Value:
    """That the key is not there, and where it would be."""
    return b.gep(place, ABSENT)


def _by_class(
    b: Builder, thing: Value, key: Value, classes: dict[str, ir.Parameter], lookups: dict[str, ir.Function]
) -> None:
    """Look up an object of unknown class."""
    kind = b.load(PTR, b.gep(key, CLASS))
    with b.if_then(b.icmp("eq", kind, classes[INTEGER])):
        is_compact, value = integer_of_one_digit(b, key)
        _ask_if(b, b.xor(is_compact, ir.TRUE))
        b.ret(b.call(lookups[INTEGER], thing, value, classes[INTEGER]))
    with b.if_then(b.icmp("eq", kind, classes[FLOAT])):
        b.ret(b.call(lookups[FLOAT], thing, _float_in(b, key), classes[FLOAT]))
    _ask_if(b, b.icmp("ne", kind, classes[TEXT]))
    b.ret(b.call(lookups[TEXT], thing, key, classes[TEXT]))


Match = Callable[[Value, Callable[[], Value], Value], None]


def _search(b: Builder, hash: Value, mask: Value, look: Callable[[Value, Value], Value], found: Value) -> None:
    """Look at the places of a table for a hash, until `look` returns.

    Args:
        look: gets the place, and what it gave at the place before.
        found: what it gets at the first place.
    """
    first, before, head = b.and_(hash, mask), b.block, b.new_block("place")
    b.br(head)
    b.begin(head)
    place, rest, last = b.phi(I64, (first, before)), b.phi(I64, (hash, before)), b.phi(found.type, (found, before))
    following_free = look(place, last)
    more = b.binary("lshr", rest, SHIFT)
    following = b.and_(b.add(b.mul(place, 5), b.add(more, 1)), mask)
    place.add_incoming(following, b.block)
    rest.add_incoming(more, b.block)
    last.add_incoming(following_free, b.block)
    b.br(head)


def _search_dict(b: Builder, thing: Value, hash: Value, kind: Kind, match: Match) -> None:
    table = b.load(PTR, b.gep(thing, DICT_NAMES))
    has_hash: Value = ir.constant(I64, 8)
    if IS_OLD:
        _ask_if(b, b.icmp("ne", b.load(PTR, b.gep(thing, DICT_VALUES)), NULL))
        size: Value = b.load(I64, b.gep(table, INDEX_SIZE))
        width: Value = ir.constant(I64, 0)
        for limit in LIMITS:
            width = b.add(width, b.cast("zext", b.icmp("ugt", size, limit), I64))
    else:
        of = b.load(I8, b.gep(table, TABLE_KIND))
        if kind != TEXT:
            with b.if_then(b.icmp("ne", of, GENERAL), False):     # all keys are texts; an empty dict has this kind
                is_empty = b.icmp("eq", b.load(I64, b.gep(thing, DICT_USED)), 0)
                b.ret(b.select(is_empty, _absent(b, NULL), ask(b)))
        else:
            _ask_if(b, b.icmp("ugt", of, TEXTS))
            has_hash = b.select(b.icmp("eq", of, GENERAL), has_hash, 0)
        size, width = _index_of(b, table)
    _ask_if(b, b.icmp("ugt", width, 2))
    index = b.gep(table, INDEX)
    entries = b.gep(index, b.binary("shl", size, width))
    step = b.add(has_hash, ENTRY)

    def number_at(place: Value) -> Value:
        def load(of: str) -> Callable[[], Value]:
            return lambda: b.cast("sext", b.load(of, b.gep(index, place, of)), I64)

        def wide() -> Value:
            return b.if_else(b.icmp("eq", width, 1), load(I16), load(I32)) or width

        return b.if_else(b.icmp("eq", width, 0), load(I8), wide) or width

    def look(place: Value, nothing: Value) -> Value:
        number = number_at(place)
        with b.if_then(b.icmp("eq", number, EMPTY)):
            b.ret(_absent(b, b.cast("inttoptr", b.binary("shl", place, 2), PTR)))
        with b.if_then(b.icmp("sge", number, 0)):
            entry = b.gep(b.gep(entries, b.mul(number, step)), has_hash)
            other = b.load(PTR, entry)

            def hashed() -> Value:
                where = b.gep(entry, -8)
                return b.load(I64, b.select(b.icmp("ne", has_hash, 0), where, b.gep(other, TEXT_HASH)))

            match(other, hashed, b.gep(entry, ENTRY_VALUE))
        return nothing

    _search(b, hash, b.sub(size, 1), look, NULL)


def _search_set(b: Builder, thing: Value, hash: Value, match: Match) -> None:
    mask, table = b.load(I64, b.gep(thing, SET_MASK)), b.load(PTR, b.gep(thing, SET_TABLE))

    def look(place: Value, free: Value) -> Value:
        near = b.icmp("ule", b.add(place, NEIGHBORS), mask)
        with b.loop(place, b.add(place, b.select(near, ir.constant(I64, 1 + NEIGHBORS), 1)), carried=[free]) as loop:
            entry, (free,) = b.gep(table, b.mul(loop.index, SET_ENTRY)), loop.carried
            other, hashed = b.load(PTR, entry), b.load(I64, b.gep(entry, SET_HASH))
            with b.if_then(b.or_(b.is_null(other), b.icmp("eq", hashed, hash)), False):
                with b.if_then(b.is_null(other)):
                    b.ret(_absent(b, b.select(b.is_null(free), entry, free)))
                match(other, lambda: hashed, entry)
            loop.carry(b.select(b.icmp("eq", hashed, -1), entry, free))     # no branch, as it would be mispredicted
        return loop.results[0]

    _search(b, hash, mask, look, NULL)
