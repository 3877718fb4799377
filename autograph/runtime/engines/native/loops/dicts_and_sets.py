"""Dicts and sets in machine code: `d[k]`, `d.get(k)`, `k in d`, `d[k] = v`, `s.add(x)`.

If the key is an integer or a text, the code finds its place in the table itself (`llvm/table_lookups.py`); a number
that only the dict refers to is overwritten there. It puts a new integer or text there, too, unless the table is full.
Then, and for all other keys that are hashed and compared without code of the user's, it calls Python's C API.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from autograph.runtime.engines.native.analysis.structure import Point
from autograph.runtime.engines.native.emit.emitter import number_of, unboxed
from autograph.runtime.engines.native.llvm import ir, table_lookups
from autograph.runtime.engines.native.llvm.cpython_abi import class_of
from autograph.runtime.engines.native.llvm.ir import FALSE, I32, NULL, PTR, TRUE, Value
from autograph.runtime.engines.native.llvm.known_places import NOTHING, Attribute, Known
from autograph.runtime.engines.native.llvm.table_keys import FLOAT, HAS_HASHES, INTEGER, OBJECT, TEXT, Key, Kind
from autograph.runtime.engines.native.llvm.table_layouts import FACTORY, HAS_TABLES
from autograph.runtime.engines.native.llvm.table_lookups import is_absent, is_found
from autograph.runtime.engines.native.loops.c_calls import (
    are_plain,
    call,
    call_object,
    change,
    class_of_operand,
    give,
    give_none,
    give_truth,
    if_plain,
    is_plain,
    plain_at_run_time,
    raise_if,
)
from autograph.runtime.engines.native.loops.iterators import raise_error
from autograph.runtime.engines.native.loops.lists import at_node, changed, in_object, is_harmless, read, stored
from autograph.runtime.engines.native.loops.python_calls import PythonCalls
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.operands import Boxed, Fixed, Given, Mixed, NoLowering, Number
from autograph.runtime.graph.types import BOOL, INT, TensorType
from autograph.runtime.graph.types import FLOAT as FLOAT_NUMBER

DICTS = (dict, defaultdict, Counter, OrderedDict)
SETS = (set, frozenset)
_MISSING = object()     # a default that is not there
_ADDS = (defaultdict, Counter)  # dicts that run code, or change, if a key is not there
_ITEMS = INTEGER, FLOAT, TEXT   # kinds of the items of tuples that are looked up
_FACTORIES = (int, float, list, set, dict, str)     # of a `defaultdict`, which run no code of the user's

# Lookups --------------------------------------------------------------------------------------------------------------


class _Lookup(NamedTuple):
    """A lookup of a key: its place, as `table_lookups` says, and the node of which it is part.

    The next node may use it (`Known.lookup`): `if x in h: h[x] += 1` looks up once. Where only Python knows, it may run
    code of the user's, and the next node asks again.
    """

    node: Node
    thing: Any
    key: Any
    place: Value


def _find(calls: PythonCalls, node: Node, thing: Any, key: Any) -> _Lookup | None:
    """Look up a key; None if the key is of another class."""
    kind, last = _kind(key) if HAS_TABLES and HAS_HASHES else "", calls.flow.state.known.lookup
    if not kind:
        return None
    if last is not None and _are_same(last.thing, thing) and _are_same(last.key, key):
        return _Lookup(node, thing, key, last.place)
    is_set = class_of_operand(thing) in SETS
    place = table_lookups.find(calls.flow.emit.objects, calls.object(thing)[0], is_set, _registers(calls, key), kind)
    return _Lookup(node, thing, key, place)


def _registers(calls: PythonCalls, key: Any) -> Key:
    """The registers of a key: numbers, addresses of objects."""
    if isinstance(key, tuple):
        return tuple(_registers(calls, each) for each in key)   # type: ignore[misc]
    return key.ref if isinstance(key, Number) else calls.object(key)[0]


def _are_same(one: Any, other: Any) -> bool:
    """Whether two operands are the same object or number, or tuples of the same ones."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_are_same, one, other))
    if type(one) is not type(other) or isinstance(one, Fixed):
        return type(one) is type(other) and one.value is other.value
    is_known = isinstance(one, Number) and one.known is not None
    return one.ref is other.ref or (is_known and one.known == other.known)


def _kind(key: Any) -> Kind:
    """The kind of a key: "" if it is neither a number nor a text, nor a tuple of these."""
    if isinstance(key, tuple):
        kinds = [_kind(each) for each in key]
        return tuple(kinds) if all(kind in _ITEMS for kind in kinds) else ""    # type: ignore[arg-type]
    if isinstance(key, Number):
        return INTEGER if key.type == INT else FLOAT if key.type == FLOAT_NUMBER else ""
    if class_of_operand(key) is str:
        return TEXT
    return OBJECT if isinstance(key, (Boxed, Given)) and class_of_operand(key) is None else ""


def _by_lookup(
    calls: PythonCalls, found: _Lookup | None, then: Callable[[Value], Value], absent: Callable[[], Value] | None,
    ask: Callable[[], Value],
) -> Value:  # fmt: skip
    """Call `then` with the place of a key that was found, `absent` if it is not there, and otherwise `ask`."""
    if found is None:
        return ask()
    b, place = calls.flow.emit.b, found.place

    def orelse() -> Value:
        other = ask() if absent is None else b.if_else(is_absent(b, place), absent, ask)
        assert other is not None
        return other

    is_there = is_found(b, place)
    result = b.if_else(is_there, lambda: then(place), orelse)
    assert result is not None
    kept = place if class_of_operand(found.thing) not in _ADDS else b.select(is_there, place, table_lookups.ask(b))
    calls.flow.state.known = Known(found.node, found._replace(place=kept))
    return result


def _give(
    calls: PythonCalls,
    node: Node,
    found: _Lookup | None,
    ask: Callable[[], Value],
    default: Any = _MISSING,
    put: Callable[[], None] = lambda: None,
) -> None:
    """Define the output of a node that looks up a value.

    Args:
        ask: gives a new reference to the value, from Python.
        default: the operand of what the value is if the key is not there.
        put: emits what happens then.
    """
    emit = calls.flow.emit
    b, objects = emit.b, emit.objects

    def absent() -> Value:
        put()
        return _another(calls, default)

    def given() -> Value:
        put()
        return default.ref      # type: ignore[no-any-return]

    number = None if found is None else _number_expected(calls, node, default)
    if number is None:
        orelse = None if default is _MISSING else absent
        give(calls, node, _by_lookup(calls, found, lambda place: objects.acquire(b.load(PTR, place)), orelse, ask))
        return
    value, behind = node.output, _behind(calls, node)

    def take(place: Value) -> Value:
        item = b.load(PTR, place)
        calls.flow.leave_unless(objects.is_of_class(item, class_of(number)), behind, value, item)
        result: Value = unboxed(emit, item, number).ref
        return result

    def take_asked() -> Value:
        item = ask()
        with calls.flow.resuming(behind, value, item):
            objects.demand_class(item, class_of(number))
            result: Value = unboxed(emit, item, number).ref
        objects.forget(item)
        return result

    orelse = None if default is _MISSING else given
    calls.flow.define(value, Number(number, _by_lookup(calls, found, take, orelse, take_asked)))
    calls.flow.resume_from(behind)


def _number_expected(calls: PythonCalls, node: Node, default: Any) -> TensorType | None:
    """The type of number that the value of a node is expected to be, if it is no NaN that matters."""
    if not node.outputs or node.output not in calls.flow.structure.live(_behind(calls, node)):
        return None
    kind = calls.expect(node.output, node.output.type)
    if not isinstance(kind, TensorType) or kind.kind != "python" or kind.dtype.kind not in "bif":
        return None
    fits = default is _MISSING or (isinstance(default, Number) and default.type == kind)
    return kind if fits and not calls.flow.must_be_no_nan(node.output, Number(kind, NULL)) else None


def _behind(calls: PythonCalls, node: Node) -> Point:
    at = at_node(calls, node)
    return Point(at.block, at.place + 1)


# New ones -------------------------------------------------------------------------------------------------------------


def make(calls: PythonCalls, node: Node, kind: type, args: list[Any]) -> bool:
    """`set(xs)` or `frozenset(xs)` of a list or tuple, or `defaultdict(int)`."""
    operands = list(map(calls.flow.operand, args))
    classes = list(map(class_of_operand, operands))
    is_default = kind is defaultdict and any(args[:1] == [each] for each in _FACTORIES) and classes[1:] == [dict]
    if not is_default and (kind is defaultdict or classes not in ([list], [tuple])):
        raise NoLowering
    calls.flow.resume_from(at_node(calls, node))
    plain = None if is_default else are_plain(calls, calls.object(operands[0])[0], classes == [list])

    def run() -> Value:
        found = call_object(calls, kind, *operands)
        raise_if(calls, node, calls.flow.emit.b.is_null(found))
        return found

    return give(calls, node, if_plain(calls, node, plain, run), kind)


# Reads ----------------------------------------------------------------------------------------------------------------


def value(calls: PythonCalls, node: Node, thing: Any, key: Any) -> bool:
    """`thing[key]` of a dict."""
    kind = class_of_operand(thing)
    if _is_usual(calls, node, thing, key):
        read(calls, node, thing.ref, key.value, lambda: _item(calls, thing.ref, key.value))
        return False
    calls.flow.resume_from(at_node(calls, node))
    found = _find(calls, node, thing, key)

    def ask() -> Value:
        if kind is defaultdict:
            _mind_factory(calls, thing)
        return if_plain(calls, node, plain_at_run_time(calls, key), lambda: _asked(calls, node, thing, key))

    _give(calls, node, found, ask)
    if kind is defaultdict:
        changed(calls, at_node(calls, node))
    return True


def _is_usual(calls: PythonCalls, node: Node, thing: Any, key: Any) -> bool:
    """Whether a node reads the value of a constant text in a dict, of which the place is known or supposed."""
    if not (HAS_TABLES and class_of_operand(key) is str and isinstance(key, Fixed) and class_of_operand(thing) is dict):
        return False
    is_known = (thing.ref, key.value) in calls.flow.state.known.attributes
    return bool(node.outputs) and not calls.expects_array(node.output) and (is_known or calls.flow.supposes())


def _item(calls: PythonCalls, thing: Value, key: str) -> tuple[Attribute, Value]:
    """The place of a constant text in a dict, and the object there; leaves if the code does not find it."""
    emit = calls.flow.emit
    found = calls.flow.state.known.attributes.get((thing, key))
    if found is None:
        place = table_lookups.find(emit.objects, thing, False, emit.objects.address(key), TEXT)
        emit.demand(is_found(emit.b, place))
        found = Attribute(place, thing, [])
    return found, emit.b.load(PTR, found.address)


def _asked(calls: PythonCalls, node: Node, thing: Any, key: Any) -> Value:
    """A new reference to the value of a key, from Python's C API."""
    emit, is_dict = calls.flow.emit, class_of_operand(thing) is dict
    found = call(calls, "PyDict_GetItemWithError" if is_dict else "PyObject_GetItem", thing, key)
    if not is_dict:
        raise_if(calls, node, emit.b.is_null(found))
        return found
    with emit.b.if_then(emit.b.is_null(found), False):
        raise_if(calls, node, emit.b.icmp("ne", emit.objects.python("PyErr_Occurred"), NULL))
        error = call_object(calls, KeyError, key)
        raise_if(calls, node, emit.b.is_null(error))
        raise_error(calls, node, error)
    return emit.objects.another(found)


def _mind_factory(calls: PythonCalls, thing: Any) -> None:
    """Mind that the factory of a `defaultdict` may be the user's."""
    emit = calls.flow.emit
    if not HAS_TABLES or not calls.avoids_any_code:
        calls.ran_any_code()
        return
    factory = emit.objects.load_at(PTR, calls.object(thing)[0], FACTORY)
    known: Value = FALSE
    for each in _FACTORIES:
        known = emit.b.or_(known, emit.b.icmp("eq", factory, emit.objects.address(each)))
    emit.leave_if(Number(BOOL, emit.b.xor(known, TRUE)))


def get(calls: PythonCalls, node: Node, thing: Any, key: Any, default: Any = None) -> bool:
    """`thing.get(key, default)` of a dict."""
    emit, key, default = calls.flow.emit, stored(calls, key), stored(calls, default)
    calls.flow.resume_from(at_node(calls, node))
    found = _find(calls, node, thing, key)

    def failed() -> Value:
        raise_if(calls, node, emit.b.icmp("ne", emit.objects.python("PyErr_Occurred"), NULL))
        ref, is_new = calls.object(default)
        return ref if is_new else emit.objects.another(ref)

    def look() -> Value:
        ref = call(calls, "PyDict_GetItemWithError", thing, key)
        item = emit.b.if_else(emit.b.is_null(ref), failed, lambda: emit.objects.another(ref))
        assert item is not None
        return item

    def ask() -> Value:
        return if_plain(calls, node, plain_at_run_time(calls, key), look)

    _give(calls, node, found, ask, default)
    return True


def contains(calls: PythonCalls, node: Node, item: Any, thing: Any) -> bool:
    """`item in thing`"""
    emit, b = calls.flow.emit, calls.flow.emit.b
    calls.flow.resume_from(at_node(calls, node))
    found = _find(calls, node, thing, item) if class_of_operand(thing) in (*DICTS, *SETS) else None
    if found is None and is_plain(item):
        return give_truth(calls, node, call(calls, "PySequence_Contains", thing, item))

    def look() -> Value:
        answer = call(calls, "PySequence_Contains", thing, item)
        raise_if(calls, node, b.icmp("slt", answer, 0))
        return emit.objects.number_object(b.icmp("ne", answer, 0), BOOL)

    def ask() -> Value:
        truth = if_plain(calls, node, plain_at_run_time(calls, item), look)
        answer: Value = number_of(emit, truth, BOOL).ref    # type: ignore[union-attr]
        emit.objects.forget(truth)
        return answer

    truth = _by_lookup(calls, found, lambda _: TRUE, lambda: FALSE, ask)
    calls.flow.define(node.output, Number(BOOL, truth))
    return True


# Writes ---------------------------------------------------------------------------------------------------------------


def set_item(calls: PythonCalls, node: Node, thing: Any, key: Any, value: Any) -> bool:
    """`thing[key] = value` of a dict."""
    key, value, kind = stored(calls, key), stored(calls, value), class_of_operand(thing)
    if isinstance(key, Fixed) and type(key.value) is str and _overwrite(calls, node, thing, key.value, value):
        return True
    name = "PyDict_SetItem" if kind is dict else "PyObject_SetItem"
    calls.flow.resume_from(at_node(calls, node))
    found = _find(calls, node, thing, key) if _is_simple(value) and kind is not OrderedDict else None

    def ask() -> None:
        change(calls, node, key, lambda: call(calls, name, thing, key, value))

    if found is None:
        ask()
    else:
        b, objects = calls.flow.emit.b, calls.flow.emit.objects
        is_watched = table_lookups.is_watched(objects, calls.object(thing)[0])
        is_there = b.and_(is_found(b, found.place), b.xor(is_watched, TRUE))
        b.if_else(is_there, lambda: _replace(calls, thing, found.place, value), lambda: _put(calls, found, ask, value))
        calls.flow.state.known = NOTHING
    changed(calls, at_node(calls, node))    # the item that was replaced may have run code of the user's
    return True


def _overwrite(calls: PythonCalls, node: Node, thing: Any, key: str, value: Any) -> bool:
    """Set the value of a constant text, of which the place is known, to a number. Returns whether that is possible."""
    at, flow, emit = at_node(calls, node), calls.flow, calls.flow.emit
    if (thing.ref, key) not in flow.state.known.attributes:
        return False
    flow.resume_from(at)
    found = flow.state.known.attributes.get((thing.ref, key))
    if found is None or not isinstance(value, Number) or not calls.flow.supposes():
        return False
    emit.demand(is_harmless(calls, emit.b.load(PTR, found.address), value))
    emit.demand(emit.b.xor(table_lookups.is_watched(emit.objects, thing.ref), TRUE))
    known = flow.state.known.stored(node, thing.ref, key, found._replace(value=value))
    _replace(calls, thing, found.address, value)
    flow.state.known = known
    changed(calls, at)
    return True


def set_default(calls: PythonCalls, node: Node, thing: Any, key: Any, default: Any = None) -> bool:
    """`thing.setdefault(key, default)` of a dict."""
    key, default = stored(calls, key), stored(calls, default)
    calls.flow.resume_from(at_node(calls, node))
    found = _find(calls, node, thing, key) if class_of_operand(thing) is not OrderedDict else None
    if found is None:
        raise NoLowering

    def ask() -> Value:
        return if_plain(calls, node, plain_at_run_time(calls, key), direct)

    def direct() -> Value:
        item = call_object(calls, dict.setdefault, thing, key, default)
        raise_if(calls, node, calls.flow.emit.b.is_null(item))
        return item

    def by_python() -> None:
        calls.flow.emit.objects.forget(direct())

    def put() -> None:
        if _is_simple(default):
            _put(calls, found, by_python, default)
        else:
            by_python()

    _give(calls, node, found, ask, default, put)
    b = calls.flow.emit.b
    kept = b.select(is_found(b, found.place), found.place, table_lookups.ask(b))    # which has changed nothing
    calls.flow.state.known = Known(found.node, found._replace(place=kept))
    changed(calls, at_node(calls, node))
    return True


def add_item(calls: PythonCalls, node: Node, thing: Any, key: Any, more: Any, first: Any) -> bool:
    """`try: thing[key] += more` with `except KeyError: thing[key] = first` of a dict; Python does all but the usual."""
    emit, key, more, first = calls.flow.emit, calls.flow.operand(key), calls.flow.operand(more), stored(calls, first)
    if not all(isinstance(each, Number) and each.type in (INT, FLOAT_NUMBER) for each in (more, first)):
        raise NoLowering
    calls.flow.resume_from(at_node(calls, node))
    found = _find(calls, node, thing, key)
    if found is None:
        raise NoLowering
    b, objects = emit.b, emit.objects

    def ask() -> None:
        objects.forget(calls.fall_back(node))

    def add(item: Value) -> None:
        number = unboxed(emit, item, more.type)
        if more.type == INT:
            total, overflow = emit.overflowing("add", number, more)
            emit.leave_if(overflow)
        else:
            total = emit.floating("add", number, more)
        _replace(calls, thing, found.place, total)

    def there() -> None:
        item = b.load(PTR, found.place)
        is_watched = table_lookups.is_watched(objects, calls.object(thing)[0])
        is_usual = b.and_(objects.is_of_class(item, class_of(more.type)), b.xor(is_watched, TRUE))
        b.if_else(is_usual, lambda: add(item), ask)

    b.if_else(is_found(b, found.place), there, lambda: _put(calls, found, ask, first), True)
    calls.flow.state.known = NOTHING
    changed(calls, at_node(calls, node))
    return True


def _is_simple(value: Any) -> bool:
    """Whether a value is a number or text, which the garbage collector need not know."""
    return isinstance(value, (Number, Mixed)) or class_of_operand(value) is str


def _put(calls: PythonCalls, found: _Lookup, ask: Callable[[], None], value: Any = None) -> None:
    """Put a new key into a dict or set where a lookup has not found it; call `ask` if that does not do."""
    b, objects, (thing, _) = calls.flow.emit.b, calls.flow.emit.objects, calls.object(found.thing)
    kind, key = _kind(found.key), found.key
    if isinstance(value, Mixed) or isinstance(kind, tuple):     # to make a tuple may run the garbage collector
        ask()
        return
    ref = _registers(calls, key)
    assert isinstance(ref, Value)

    def put() -> Value:
        if class_of_operand(found.thing) is set:
            return table_lookups.put_in_set(objects, thing, found.place, ref, kind, lambda: _another(calls, key))
        both = lambda: (_another(calls, key), _another(calls, value))   # noqa: E731
        return table_lookups.put_in_dict(objects, thing, found.place, ref, kind, both)

    is_put = b.if_else(is_absent(b, found.place), put, lambda: FALSE)
    assert is_put is not None
    with b.if_then(b.xor(is_put, TRUE)):
        ask()


def _another(calls: PythonCalls, operand: Any) -> Value:
    """A new reference to the object of an operand."""
    ref, is_new = calls.object(operand)
    return ref if is_new else calls.flow.emit.objects.acquire(ref)


def _replace(calls: PythonCalls, thing: Any, found: Value, value: Any) -> None:
    """Replace the value of a key that was found by a number or text."""
    b, objects = calls.flow.emit.b, calls.flow.emit.objects
    old, done = b.load(PTR, found), b.new_block("replaced")
    if (new := in_object(value)) is not None:
        objects.overwrite(old, *new, done)
    elif isinstance(value, Mixed):
        number, is_int = value.parts
        objects.overwrite(old, [number.ref], float, done, b.xor(is_int.ref, TRUE))
    b.store(_another(calls, value), found)
    table_lookups.set_version(objects, calls.object(thing)[0])
    objects.release(old)
    b.br(done)
    b.begin(done)


def delete(calls: PythonCalls, node: Node, thing: Any, key: Any) -> bool:
    """`del thing[key]` of a dict."""
    key = calls.flow.operand(key)
    calls.flow.resume_from(at_node(calls, node))
    change(calls, node, key, lambda: call(calls, "PyObject_DelItem", thing, key))
    changed(calls, at_node(calls, node))
    return True


def add(calls: PythonCalls, node: Node, thing: Any, item: Any) -> bool:
    """`thing.add(item)` of a set."""
    item, b = stored(calls, item), calls.flow.emit.b
    calls.flow.resume_from(at_node(calls, node))
    found = _find(calls, node, thing, item)

    def ask() -> None:
        change(calls, node, item, lambda: call(calls, "PySet_Add", thing, item))

    if found is None:
        ask()
    else:
        with b.if_then(b.xor(is_found(b, found.place), TRUE)):
            _put(calls, found, ask)
        calls.flow.state.known = NOTHING
    changed(calls, at_node(calls, node))
    return give_none(calls, node)


def discard(calls: PythonCalls, node: Node, thing: Any, item: Any) -> bool:
    """`thing.discard(item)` of a set."""
    item = stored(calls, item)
    return _take(calls, node, thing, item, lambda: call(calls, "PySet_Discard", thing, item), is_quiet=True)


def remove(calls: PythonCalls, node: Node, thing: Any, item: Any) -> bool:
    """`thing.remove(item)` of a set."""
    item = stored(calls, item)

    def ask() -> Value:
        """0 if that succeeds, else -1."""
        b, found = calls.flow.emit.b, call_object(calls, set.remove, thing, item)
        result = b.select(b.is_null(found), ir.constant(I32, -1), 0)
        calls.flow.emit.objects.forget(found)
        return result

    return _take(calls, node, thing, item, ask, is_quiet=False)


def _take(calls: PythonCalls, node: Node, thing: Any, item: Any, direct: Callable[[], Value], is_quiet: bool) -> bool:
    """Take an item out of a set: where a lookup finds it, else by a function that returns -1 if it fails.

    Args:
        is_quiet: whether nothing happens if the item is not there.
    """
    b, objects = calls.flow.emit.b, calls.flow.emit.objects
    calls.flow.resume_from(at_node(calls, node))
    found = _find(calls, node, thing, item)

    def ask() -> None:
        change(calls, node, item, direct)

    def orelse() -> None:
        if is_quiet:
            with b.if_then(b.xor(is_absent(b, found.place), TRUE)):     # type: ignore[union-attr]
                ask()
        else:
            ask()

    if found is None:
        ask()
    else:
        place, (ref, _) = found.place, calls.object(thing)
        b.if_else(is_found(b, place), lambda: table_lookups.take_from_set(objects, ref, place), orelse)
        calls.flow.state.known = NOTHING
    changed(calls, at_node(calls, node))
    return give_none(calls, node)
