"""CPython's internals: layouts of objects, flags and versions of classes, reference counts.

Each fact is here once, and is checked at import. If a fact does not hold, its users do without, and report it:
`LAYOUT_PROBLEM` keeps the native engine from making machine code, classes without version tags get slower guards, and
where references do not count, every object is taken for one that others know. `numpy_internals.py` is the same for
NumPy.

CPython gives each class a version tag when an attribute is looked up in it, and takes the tag away from the class and
from all its subclasses when an attribute or the bases change. No tag is given twice. So if the tag is the same, the
class gives what it gave, under all names.
"""

from __future__ import annotations

import ctypes
import gc
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from types import MemberDescriptorType
from typing import Any, NamedTuple, cast

from autograph.common.statics import class_attribute, is_descriptor, mro_of, reads_plainly

# Flags of classes: immutable, made while Python runs, abstract; of instances that hold their values themselves until
# their `__dict__` is read (from CPython 3.13 on), and whose `__dict__` is made when it is read (from CPython 3.11 on).
IMMUTABLE, HEAP, ABSTRACT, INLINE_VALUES, MANAGED_DICT = 1 << 8, 1 << 9, 1 << 20, 1 << 2, 1 << 4
CLASS, VALUE, ITEMS = 8, 16, 32     # where an object has its class, a number or range its value, and `bytes` theirs
SIZE, LIST_ITEMS = 16, 24       # where a list or tuple has its length, and a list the address of its items
ALLOCATED, TUPLE_ITEMS = 32, 24     # where a list has the number of items that fit in its memory, and a tuple its items
# Where an iterator over a list or tuple, or backward over a list, has the index of the next item, and the list, which
# is null at the end; where an `enumerate` has the next number, and an iterator; where a `zip` has the number of its
# iterators, a tuple of them, and whether it is strict.
NEXT_INDEX, ITERATED, STRICT = 16, 24, 40
WORD, DOUBLE = ctypes.c_uint64, ctypes.c_double
UNTAGGED: Sequence[int] = (0,)  # the version of a class that cannot be known
TAG_OFFSET = 384  # of `tp_version_tag` in a `PyTypeObject`, from CPython 3.10 to 3.13, of 64 bits
_MANY = 1 << 30  # references, where they do not count


def first_problem(checks: dict[str, Callable[[], bool]]) -> str:
    """The problem of which the check fails first, "" if there is none. A check may rely on those before it."""
    return next((problem for problem, passes in checks.items() if not passes()), "")


# Memory ---------------------------------------------------------------------------------------------------------------


def read(kind: Any, address: int, count: int = 1) -> list[Any]:
    """So many values of a type of `ctypes` at an address."""
    found: list[Any] = (kind * count).from_address(address)[:]
    return found


def write(kind: Any, address: int, value: Any) -> None:
    """Put a value of a type of `ctypes` at an address."""
    kind.from_address(address).value = value


def _layout_problem() -> str:
    number, pair, parts, data = 0.5, 0.5 - 2j, range(3, 1000, 2), bytes(range(8))
    bounds = [id(parts.start), id(parts.stop), id(parts.step)]
    items, pairs = [number, data], (number, data)
    once, rest, backwards = iter(items), iter(pairs), reversed(items)
    next(once), next(backwards)
    numbered, zipped, parallel = enumerate(once, 5), zip(once, parts, strict=True), zip(once, parts)
    return first_problem(
        {
            "it is not CPython of 64 bits with a GIL": _is_usual,
            f"an object's class is not at {CLASS}": lambda: read(WORD, id(number) + CLASS) == [id(float)],
            f"a float's value is not at {VALUE}": lambda: read(DOUBLE, id(number) + VALUE) == [number],
            f"a complex number's parts are not at {VALUE}": lambda: (
                read(DOUBLE, id(pair) + VALUE, 2) == [pair.real, pair.imag]
            ),
            f"a range's bounds are not at {VALUE}": lambda: read(WORD, id(parts) + VALUE, 3) == bounds,
            f"the items of bytes are not at {ITEMS}": lambda: read(ctypes.c_ubyte, id(data) + ITEMS, 8) == [*data],
            f"a list's length is not at {SIZE}": lambda: read(WORD, id(items) + SIZE) == [len(items)],
            f"a list's items are not at {LIST_ITEMS}": lambda: (
                read(WORD, read(WORD, id(items) + LIST_ITEMS)[0], 2) == [id(each) for each in items]
            ),
            f"the memory of a list is not at {ALLOCATED}": lambda: (
                read(WORD, id(items) + ALLOCATED)[0] == (sys.getsizeof(items) - sys.getsizeof([])) // 8 >= len(items)
            ),
            f"a tuple's items are not at {TUPLE_ITEMS}": lambda: (
                read(WORD, id(pairs) + SIZE, 3) == [len(pairs), *map(id, pairs)]
            ),
            f"an iterator's place is not at {NEXT_INDEX}": lambda: (
                read(WORD, id(once) + NEXT_INDEX, 2) == [1, id(items)]
                and read(WORD, id(rest) + NEXT_INDEX, 2) == [0, id(pairs)]
                and read(WORD, id(numbered) + NEXT_INDEX, 2) == [5, id(once)]
                and read(WORD, id(backwards) + NEXT_INDEX, 2) == [len(items) - 2, id(items)]
            ),
            f"the iterators of a `zip` are not at {ITERATED}": lambda: (
                read(WORD, id(zipped) + NEXT_INDEX) == [2]
                and read(WORD, read(WORD, id(zipped) + ITERATED)[0] + TUPLE_ITEMS) == [id(once)]
                and [read(ctypes.c_int, id(each) + STRICT) for each in (zipped, parallel)] == [[1], [0]]
            ),
        }
    )


def _is_usual() -> bool:
    is_gil_there: Any = getattr(sys, "_is_gil_enabled", lambda: True)
    return sys.implementation.name == "cpython" and ctypes.sizeof(ctypes.c_void_p) == 8 and is_gil_there()


LAYOUT_PROBLEM = _layout_problem()  # which fact about objects does not hold; "" if all do


# The C API ------------------------------------------------------------------------------------------------------------


class _Method(ctypes.Structure):
    """`PyMethodDef`"""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


def _function(name: str, result: Any, *args: Any) -> Any:
    """A function of Python's C API, with types of its own: `ctypes.pythonapi` shares its functions."""
    return ctypes.PYFUNCTYPE(result, *args)((name, ctypes.pythonapi))


_FASTCALL, _NAME = 0x80, b"loop"
_new_builtin = _function("PyCFunction_NewEx", ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
release = _function("Py_DecRef", None, ctypes.py_object)
new_instance = _function("_PyObject_New", ctypes.py_object, ctypes.py_object)
pointer_in = _function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)


def builtin(address: int, owner: Any) -> Callable[..., Any]:
    """A function of Python's for the C function at an address, which gets `owner` as its `self`.

    It is called as `PyObject *f(PyObject *self, PyObject **args, Py_ssize_t count)`. Its description is in the bytes
    that are its `__module__`, as it reads that when it goes: structures of `ctypes` that are garbage go before it.
    """
    method = bytes(_Method(_NAME, address, _FASTCALL, None))
    return cast("Callable[..., Any]", _new_builtin(id(method) + ITEMS, owner, method))


def address_of(name: str) -> int:
    """Where a function of Python's C API is."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


thread_state = _function("PyThreadState_Get", ctypes.c_void_p)
thread_number = _function("PyThreadState_GetID", ctypes.c_uint64, ctypes.c_void_p)


def _state(depth: int) -> list[int]:
    return _state(depth - 1) if depth else read(ctypes.c_int32, thread_state(), 32)


def _recursion_left() -> int:
    """Where the state of a thread has the number of frames that Python may still enter; 0 if that is not known."""
    found = [4 * place for place, (one, other) in enumerate(zip(_state(0), _state(7))) if one - other == 7]
    return found[0] if len(found) == 1 and _is_usual() and (3, 11) <= sys.version_info[:2] <= (3, 13) else 0


RECURSION_LEFT = _recursion_left()

# Version tags ---------------------------------------------------------------------------------------------------------


def version_tag(kind: type) -> Sequence[int]:
    """The version tag of a class, as a view of one item; 0 if it has none at the moment.

    The view must not outlive the class.
    """
    return _tag_at(kind) if HAS_TAGS else UNTAGGED


def assign_version_tag(kind: type) -> None:
    """Give a class a version tag, if CPython has any left."""
    with suppress(AttributeError):
        type.__getattribute__(kind, "ag_absent")


def _tag_at(kind: type) -> Sequence[int]:
    return memoryview((ctypes.c_uint32 * 1).from_address(id(kind) + TAG_OFFSET)).cast("B").cast("I")


def _has_tags() -> bool:
    """Whether version tags are where they should be, and change as described above."""
    if not _is_usual() or not (3, 10) <= sys.version_info[:2] <= (3, 13):
        return False
    base = type("Base", (), {"first": 1})
    kind, other = type("Kind", (base,), {}), type("Other", (), {})
    tags = _tag_at(kind)
    earlier: list[int] = []
    changes: tuple[Callable[[], None], ...] = (
        lambda: None,
        lambda: setattr(base, "second", 2),
        lambda: delattr(base, "first"),
        lambda: setattr(kind, "third", 3),
        lambda: setattr(kind, "__bases__", (other,)),
    )
    for change in changes:
        change()
        if earlier and tags[0] != 0:
            return False
        assign_version_tag(kind)
        earlier.append(tags[0])
        assign_version_tag(kind)
        if earlier[-1] == 0 or tags[0] != earlier[-1]:
            return False
    return len(set(earlier)) == len(earlier)


HAS_TAGS = _has_tags()


# Integers and references in machine code ------------------------------------------------------------------------------
# A *compact* integer has one digit of 30 bits at most, behind a word that has its sign: the number of its digits,
# negative if it is; from CPython 3.12 on, that number times 8, plus 1 for zero and 2 for a negative integer. Small
# integers are one object each. From 3.12 on, these and others are *immortal*: their references are not counted.

DIGIT, DIGIT_BITS, SMALL_INTS = 24, 30, range(-5, 257)
IMMORTALS = sys.version_info >= (3, 12)


def _is_known() -> bool:
    return sys.implementation.name == "cpython" and (3, 10) <= sys.version_info[:2] <= (3, 13)


def _has_digits() -> bool:
    """Whether integers are as described above."""
    most = (1 << DIGIT_BITS) - 1
    for number in (0, 1, -1, 300, -300, most, -most, most + 1, -most - 1, 1 << 40, -(1 << 62)):
        count, negative = -(-abs(number).bit_length() // DIGIT_BITS), number < 0
        word = count << 3 | (2 if negative else not number) if IMMORTALS else -count if negative else count
        if read(ctypes.c_int64, id(number) + SIZE) != [word]:
            return False
        if count and read(ctypes.c_uint32, id(number) + DIGIT) != [abs(number) & most]:
            return False
    return True


def _counts_are_simple() -> bool:
    """Whether an object begins with the number of its references, and immortal ones have a negative one of 32 bits."""
    thing, is_debug = object(), hasattr(sys, "gettotalrefcount")
    others = [thing] * 3
    counted = read(ctypes.c_int64, id(thing)) == [len(others) + 1]
    immortal = all(read(ctypes.c_int32, id(each))[0] < 0 for each in (None, 0, True)) if IMMORTALS else True
    return counted and immortal and not is_debug


COMPENSATES = sys.version_info >= (3, 12)   # `sum` adds up what it loses by rounding floats
HAS_DIGITS = _is_known() and _has_digits()
HAS_SIMPLE_COUNTS = _is_known() and _counts_are_simple()
# The bytes from one small integer to the next; 0 if they are not one behind the other.
SMALL_INT_STEP = id(1) - id(0) if all(id(each) - id(0) == (id(1) - id(0)) * each for each in SMALL_INTS) else 0


# Attributes -----------------------------------------------------------------------------------------------------------
# The descriptor of a slot refers to a `PyMemberDef`, which has a kind, an offset in instances, and flags.
#
# The values of other attributes are in an array of the instance (from CPython 3.11 on), in the order in which the class
# knows their names, until its `__dict__` is read; else in that dict. A dict refers to a table of names, whose entries
# have the values, too, unless the dict has an array of values of its own.

_MEMBER, _KIND, _OFFSET, _FLAGS, _OBJECT = 40, 8, 16, 24, 16
# Before an instance: the address of the values (3.11), and that of the dict, which from 3.12 on may be that of the
# values less one. CPython 3.13 has the values in the instance, behind a byte that says whether they hold.
VALUES_ADDRESS, DICT_ADDRESS, VALID = -32, -24, 3
VALUES_BEGIN = 8 if sys.version_info >= (3, 13) else 0     # behind the address of values
# Where a dict has its table and its values; where a table has the number of its entries, the logarithm of the size of
# its index (before 3.11 that size), its kind, and its index, which the entries follow; where an entry has name and
# value, and its size. Before 3.11, and if the kind is 0, an entry begins with the hash of the name.
DICT_NAMES, DICT_VALUES = 32, 40
IS_OLD = sys.version_info < (3, 11)
COUNT, INDEX_SIZE, TABLE_KIND, INDEX = (32, 8, 16, 40) if IS_OLD else (24, 9, 10, 32)
HASH, ENTRY_VALUE, ENTRY = 8, 8, 16
SMALL_INDEX = 255       # of an old table, of which each item is a byte


class AttributePlace(NamedTuple):
    """Where the instances of a class have an attribute.

    Attributes:
        slot: the offset of the slot; 0 if it is no slot.
        number: the place of the value among those of an instance.
        values: the offset of the values in an instance, from CPython 3.13 on.
        dict: the offset of the address of the dict.
        items: the number of items that a named tuple must have, of which the slot is one; 0 for other objects.
    """

    slot: int = 0
    number: int = 0
    values: int = 0
    dict: int = DICT_ADDRESS
    items: int = 0


def attribute_place(kind: type, name: str, method: str = "__getattribute__") -> AttributePlace | None:
    """Where the instances of a class have an attribute; None if that is unknown, or if reading it runs other code.

    Args:
        method: `__setattr__` for code that sets the attribute.
    """
    reads, member = method != "__setattr__", class_attribute(kind, name)
    if type(member) is _FIELD is not property and HAS_PLACES and class_attribute(kind, method) is _READS_TUPLE:
        index = member.__reduce__()[1][0]
        return AttributePlace(TUPLE_ITEMS + 8 * index, items=index + 1)
    is_plain = reads_plainly(kind) if reads else class_attribute(kind, method) is object.__setattr__
    if not HAS_PLACES or not is_plain:
        return None
    if type(member) is MemberDescriptorType:
        offset = _slot_offset(kind, member)
        return AttributePlace(offset) if offset else None
    if is_descriptor(member) or not kind.__flags__ & HEAP:
        return None
    if not IS_OLD and not kind.__flags__ & MANAGED_DICT:
        return None
    if sys.version_info >= (3, 13) and not kind.__flags__ & INLINE_VALUES:
        return None
    offset = kind.__dictoffset__ if IS_OLD else DICT_ADDRESS
    if IS_OLD and offset <= 0:
        return None
    names, known = _names_of_values(kind), id(sys.intern(name))
    if known not in names:
        return AttributePlace(dict=offset) if IS_OLD else None
    return AttributePlace(0, names.index(known), kind.__basicsize__, offset)


_FIELD = type(NamedTuple("Named", [("x", Any)]).__dict__["x"])     # what reads an item of a named tuple
_READS_TUPLE = class_attribute(tuple, "__getattribute__")   # which does what that of `object` does
NO_VALUE, NO_VALUES = -1, -2


class Unshadowed(NamedTuple):
    """Where an instance could have an attribute that hides a function of its class.

    Attributes:
        dict: the offset of the address of the dict of an instance; 0 if nothing hides it.
        values: the offset of the values of an instance, from CPython 3.13 on.
        number: the place of that attribute among these; or `NO_VALUE`; or `NO_VALUES`, if instances have only a dict.
    """

    dict: int = 0
    values: int = 0
    number: int = NO_VALUES


def member_place(kind: type, name: str, member: Any) -> Unshadowed | None:
    """Where instances could hide a function or property of their class; None if it is not that, or if it is unknown."""
    if not HAS_PLACES or class_attribute(kind, name) is not member or not reads_plainly(kind):
        return None
    has_managed = not IS_OLD and bool(kind.__flags__ & MANAGED_DICT)
    if type(member) is property or not (has_managed or kind.__dictoffset__):
        return Unshadowed()
    if IS_OLD or not has_managed:
        return Unshadowed(kind.__dictoffset__) if IS_OLD and kind.__dictoffset__ > 0 else None
    if sys.version_info >= (3, 13) and not kind.__flags__ & INLINE_VALUES:
        return Unshadowed(DICT_ADDRESS)
    names = [ctypes.cast(each, ctypes.py_object).value for each in _names_of_values(kind)]
    return Unshadowed(DICT_ADDRESS, kind.__basicsize__, names.index(name) if name in names else NO_VALUE)


def count_of_names(kind: type) -> int:
    """The number of the names of the values that instances of a class have; it never shrinks."""
    has_table = HAS_PLACES and not IS_OLD and kind.__flags__ & HEAP      # the classes of C have no room for one
    (table,) = read(WORD, id(kind) + CLASS_NAMES) if has_table else (0,)
    return int(read(WORD, table + COUNT)[0]) if table else 0


def _slot_offset(kind: type, member: Any) -> int:
    """Where the instances of a class have the value of a slot, which can be set and deleted; 0 if it is no slot."""
    if all(member.__objclass__ is not base for base in mro_of(kind)):
        return 0
    (address,) = read(WORD, id(member) + _MEMBER)
    (what,), (offset,), (flags,) = (
        read(of, address + place) for of, place in ((ctypes.c_int, _KIND), (WORD, _OFFSET), (ctypes.c_int, _FLAGS))
    )
    return int(offset) if what == _OBJECT and not flags else 0


def _names_of_values(kind: type) -> list[int]:
    """The addresses of the names of the values of a class, in their order."""
    (table,) = read(WORD, id(kind) + CLASS_NAMES)
    return [read(WORD, at)[0] for at in _entries(table)] if table else []


def _entries(table: int) -> list[int]:
    """The addresses of the entries of a table of names, behind the hashes."""
    (count,) = read(WORD, table + COUNT)
    (size,) = read(WORD, table + INDEX_SIZE) if IS_OLD else read(ctypes.c_uint8, table + INDEX_SIZE)
    has_hash = HASH if IS_OLD or read(ctypes.c_uint8, table + TABLE_KIND) == [0] else 0
    begin = table + INDEX + (size if IS_OLD else 1 << size) + has_hash
    return [begin + (ENTRY + has_hash) * place for place in range(count)]


def value_address(thing: Any, place: AttributePlace, name: str) -> int:
    """The address of the reference to an attribute of an instance, 0 if it has none; as machine code finds it."""
    at = id(thing)
    if place.slot:
        return 0 if place.items and tuple.__len__(thing) < place.items else at + place.slot
    (dict,) = read(WORD, at + place.dict)
    values = 0
    if sys.version_info >= (3, 13):
        values = at + place.values if read(ctypes.c_uint8, at + place.values + VALID) == [1] else 0
    elif sys.version_info >= (3, 12):
        values, dict = (dict + 1, 0) if dict & 1 else (0, dict)
    elif not IS_OLD:
        (values,) = read(WORD, at + VALUES_ADDRESS)
    if values:
        return int(values) + VALUES_BEGIN + 8 * place.number
    return _address_in_dict(dict, id(sys.intern(name))) if dict else 0


def _address_in_dict(dict: int, name: int) -> int:
    (table,), (values,) = read(WORD, dict + DICT_NAMES), read(WORD, dict + DICT_VALUES)
    if IS_OLD and read(WORD, table + INDEX_SIZE)[0] > SMALL_INDEX:
        return 0
    for place, entry in enumerate(_entries(table)):
        if read(WORD, entry) == [name]:
            return int(values) + VALUES_BEGIN + 8 * place if values else entry + ENTRY_VALUE
    return 0


def _class_names() -> int:
    """Where a class has the table of the names of its instances' values: behind its name, slots and qualified name."""
    kind = type("".join(["Na", "med"]), (), {})
    words = read(WORD, id(kind), int(type.__dict__["__basicsize__"].__get__(type)) // 8)
    return 8 * (words.index(id(kind.__name__)) + 3) if id(kind.__name__) in words else 0


class _Name(str):
    """A text that is no plain `str`: a dict that is asked for one gets a table of its own."""

    __slots__ = ()


def _has_places() -> bool:
    """Whether attributes are where they should be: in slots, in instances, and in dicts of several kinds."""
    slots = type("Slots", (), {"__slots__": ("first", "second")})
    plain = type("Plain", (), {})
    things = [slots(), plain(), plain(), plain(), plain(), plain(), plain()]
    vars(things[2]), vars(things[3]).update(other=0), vars(things[6]).update({_Name("other"): 0})
    for thing in things:
        for name in ("first", "second"):
            setattr(thing, name, object())
    vars(things[4])
    things[5].__dict__ = {"other": 0, **vars(things[5])}
    return all(_is_at_place(thing, name) for thing in things for name in ("first", "second"))


def _is_at_place(thing: Any, name: str) -> bool:
    place = attribute_place(type(thing), name)
    address = 0 if place is None else value_address(thing, place, name)
    return address != 0 and read(WORD, address) == [id(getattr(thing, name))]


HAS_PLACES = _is_usual() and (3, 10) <= sys.version_info[:2] <= (3, 13)
CLASS_NAMES = _class_names() if HAS_PLACES else 0
HAS_PLACES = HAS_PLACES and bool(CLASS_NAMES) and HAS_TAGS and _has_places()


# Texts ----------------------------------------------------------------------------------------------------------------
# A text of ASCII has a bit of its state set, and its letters as bytes. Each letter of ASCII is one object; these may be
# one behind the other.

TEXT_STATE, IS_ASCII, TEXT_ITEMS, LETTERS = 32, 1 << 6, sys.getsizeof("") - 1, 128


def _letter_step() -> int:
    """The bytes from the object of one letter of ASCII to the next; 0 if texts are not as described above."""
    for text in ("", "a", "abc" * 50, "é", "aé", "€", "a𝄞"):
        if (read(ctypes.c_uint8, id(text) + TEXT_STATE)[0] & IS_ASCII != 0) != text.isascii():
            return 0
        if read(WORD, id(text) + SIZE) != [len(text)]:
            return 0
        if text.isascii() and read(ctypes.c_uint8, id(text) + TEXT_ITEMS, len(text)) != [*text.encode()]:
            return 0
    first, step = id(chr(0)), id(chr(1)) - id(chr(0))
    is_one = all(id(f"é{chr(code)}"[1]) == id(chr(code)) == first + step * code for code in range(LETTERS))
    return step if is_one and step > 0 else 0


LETTER_STEP = _letter_step() if _is_known() else 0


# Random numbers -------------------------------------------------------------------------------------------------------
# A `random.Random` holds the state of a Mersenne Twister: the index of the next word, and the words.

TWISTER, TWISTER_WORDS, TWISTER_SIZE = 16, 20, 624
# The methods that draw numbers, and those that they call.
DRAWS = """random getrandbits uniform randint randrange _randbelow _randbelow_with_getrandbits choice shuffle gauss
normalvariate expovariate""".split()
_IN_C = type(random.Random.random)


def _has_twister() -> bool:
    """Whether the state is where it should be."""
    draw = random.Random(1)
    for _ in range(2):
        *words, index = draw.getstate()[1]
        found = read(ctypes.c_uint32, id(draw) + TWISTER_WORDS, TWISTER_SIZE)
        if found != words or read(ctypes.c_int32, id(draw) + TWISTER) != [index]:
            return False
        draw.random()
    return HAS_TAGS


def twister_tag() -> int:
    """The version tag of `random.Random` while its methods are the library's; 0 if one is replaced."""
    assign_version_tag(random.Random)
    known = HAS_TWISTER and all(_is_of_library(getattr(random.Random, name, None)) for name in DRAWS)
    return version_tag(random.Random)[0] if known else 0


def _is_of_library(method: Any) -> bool:
    code = getattr(method, "__code__", None)
    return type(method) is _IN_C or (code is not None and code.co_filename == random.__file__)


def hides_draws(draw: random.Random) -> bool:
    """Whether an attribute of a `random.Random` hides one of these methods."""
    return not vars(draw).keys().isdisjoint(DRAWS)


HAS_TWISTER = _has_twister()


# References -----------------------------------------------------------------------------------------------------------
# How many references the interpreter itself has to an object depends on its version; so examples tell the counts.

referrers, referents = gc.get_referrers, gc.get_referents     # which objects refer to one, and to which one refers


def references(things: list[Any]) -> list[int]:
    """For each thing in a list, how many references there are to it besides that of the list."""
    return [sys.getrefcount(thing) - _IN_LIST for thing in things] if COUNTS else [_MANY] * len(things)


def possible_owners(names: dict[str, Any]) -> Iterator[Any]:
    """The objects of which this may be the `__dict__`.

    From CPython 3.13 on, an object that keeps its values inline refers to them, and not to its `__dict__`.
    """
    yield from referrers(names, *names.values())
    if not names:
        yield from (each for each in gc.get_objects() if type(each).__flags__ & INLINE_VALUES)


def attribute_values(thing: Any) -> Iterator[Any]:
    """The values of the attributes of an object of the user's, and the items of dicts among them.

    CPython 3.11 and 3.12 make the attributes of an object slow once its `__dict__` was read.
    """
    if not mro_of(type(thing))[-2:][0].__flags__ & HEAP:    # it may be a list or the like
        return
    for each in gc.get_referents(thing):
        yield each
        yield from list(each.values()) if type(each) is dict and len(each) <= _NAMES else ()


_NAMES = 100    # in a namespace


def with_fast_attributes(thing: Any, names: dict[str, Any]) -> dict[str, Any]:
    """The `__dict__` of an object, whose attributes are as fast as before it was read.

    In CPython 3.11 and 3.12 the dict of some objects shares the table of its names with others at first, and attributes
    are three times as slow then. (With a table of its own, method calls take one and a half times as long; but most
    code reads more attributes than it calls methods.)
    """
    if _SHARES and type(thing).__flags__ & MANAGED_DICT and type(names) is dict:
        first = next(iter(list(names)), None)
        if type(first) is str and names.setdefault(_Name(first), _ABSENT) is _ABSENT:
            names.pop(first, None)      # another thread has deleted it meanwhile
    return names


_ABSENT, _SHARES = object(), (3, 11) <= sys.version_info < (3, 13)


def _counts() -> bool:
    """Whether each reference to an object counts."""
    thing = object()
    found = [references([thing] * count)[0] for count in range(1, 5)]
    return found == [*range(found[0], found[0] + 4)]


COUNTS, _IN_LIST = True, 0
(_IN_LIST,) = references([object()])
COUNTS = _counts()

# The references to a thing, the interpreter's own included: to compare with those of an example, if they count.
reference_count = sys.getrefcount
