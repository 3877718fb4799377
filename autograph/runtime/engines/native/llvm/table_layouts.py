"""How CPython's dicts and sets find integers and texts; see `cpython_internals`.

A dict refers to a table: an index, whose size is a power of two, and entries in the order in which they were added. A
place of the index has the number of an entry, or `EMPTY`, or belongs to a key that was deleted. The search begins at
the hash modulo the size of the index, and goes on as `places` says until it comes to the key or to an empty place. The
kind of a table says what its entries are: if all keys are texts, an entry has no hash, since each text has its own.

A set has its entries in the table itself, and looks at the next ones first. A key that was removed leaves a dummy, the
last of which, on the way to an empty entry, takes the next new key.
"""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from autograph.common.cpython_internals import (
    DICT_NAMES,
    DICT_VALUES,
    ENTRY,
    ENTRY_VALUE,
    HAS_DIGITS,
    HAS_PLACES,
    HAS_SIMPLE_COUNTS,
    INDEX,
    INDEX_SIZE,
    IS_ASCII,
    IS_OLD,
    WORD,
    read,
)

# Where a dict has the number of its items, and its version, which changes with each item that is set. From CPython 3.12
# on, the lowest bits of that say who watches the dict.
DICT_USED, DICT_VERSION, WATCHERS = 16, 24, 0xFF
GENERAL, TEXTS = 0, 1   # kinds of tables, from CPython 3.11 on
LOG_SIZE = INDEX_SIZE - 1   # where such a table has the logarithm of the size of its index
# Where a table has its version, 0 if it has none; the number of entries for which there is room; and that of entries.
TABLE_VERSION, TABLE_ROOM, TABLE_COUNT = 12, 16, 24
EMPTY = -1              # a place of an index
SHIFT = 5               # of the bits of the hash that join in
TEXT_HASH, IS_COMPACT = 24, 1 << 5      # where a text has its hash, or -1; the bit of its state if letters follow it
# Where a set has the size of its table less one, and the table, whose entries are key and hash; how many entries behind
# one it looks at.
SET_MASK, SET_TABLE, SET_HASH, SET_ENTRY, NEIGHBORS = 32, 40, 8, 16, 9
SET_FILL, SET_USED = 16, 24     # where it has the number of entries that are or were in use, and of those that are
FACTORY = 48            # where a `defaultdict` has its factory
_BYTES = ctypes.c_int8, ctypes.c_int16, ctypes.c_int32, ctypes.c_int64
LIMITS = 0xFF, 0xFFFF, 0xFFFFFFFF       # the largest old tables whose index has numbers of 1, 2 and 4 bytes


def places(hash: int, mask: int) -> Iterator[int]:
    """The places of an index at which to look for a hash."""
    rest, place = hash % 2**64, hash & mask
    while True:
        yield place
        rest >>= SHIFT
        place = (place * 5 + rest + 1) & mask


def value_address(thing: dict[Any, Any], key: int | str) -> int:
    """The address of the reference to the value of a key, 0 if it is not there; as machine code finds it."""
    (table,) = read(WORD, id(thing) + DICT_NAMES)
    if IS_OLD:
        (size,), kind = read(WORD, table + INDEX_SIZE), GENERAL
        width = sum(size > limit for limit in LIMITS)
        begin = table + INDEX + (size << width)
    else:
        log_size, log_bytes, kind = read(ctypes.c_uint8, table + LOG_SIZE, 3)
        size, width, begin = 1 << log_size, log_bytes - log_size, table + INDEX + (1 << log_bytes)
    has_hash = 8 if kind == GENERAL else 0
    for place in places(hash(key), size - 1):
        (number,) = read(_BYTES[width], table + INDEX + (place << width))
        if number == EMPTY:
            return 0
        entry = begin + number * (ENTRY + has_hash) + has_hash
        if number >= 0 and _is_key(read(WORD, entry)[0], key):
            return int(entry + ENTRY_VALUE)
    return 0


def set_address(thing: set[Any], key: int | str) -> int:
    """The address of the entry of an item, 0 if it is not there; as machine code finds it."""
    (mask,), (table,) = read(WORD, id(thing) + SET_MASK), read(WORD, id(thing) + SET_TABLE)
    for place in places(hash(key), mask):
        for entry in range(place, place + 1 + (NEIGHBORS if place + NEIGHBORS <= mask else 0)):
            at = table + SET_ENTRY * entry
            found, hashed = read(WORD, at)[0], read(ctypes.c_int64, at + SET_HASH)[0]
            if found == hashed == 0:
                return int(at)
            if hashed == hash(key) and _is_key(found, key):
                return int(at)
    return 0


class Dummy(bytes):
    """The address of the object that takes the place of a key that was removed from a set, in memory."""

    def __new__(cls) -> Dummy:
        thing = {7}
        thing.remove(7)
        (table,) = read(WORD, id(thing) + SET_TABLE)
        return super().__new__(cls, read(WORD, table + 7 * SET_ENTRY)[0].to_bytes(8, "little"))


DUMMY = Dummy()


def _is_key(address: int, key: int | str) -> bool:
    thing = ctypes.cast(address, ctypes.py_object).value
    return type(thing) is type(key) and thing == key


def _has_dict_tables() -> bool:
    """Whether dicts are as described above."""
    numbers = {each * 7 - 9: object() for each in range(180)}
    for key in list(numbers)[::3]:
        del numbers[key]
    mixed: dict[Any, Any] = {"a": 0, 7: 1, -1: 2, -2: 3, **{each << 9: each for each in range(20)}}
    texts = {f"text {each}": object() for each in range(12)}
    keys = [*range(-4, 20, 3), *range(1000, 1020, 3), *(each << 9 for each in range(24)), *texts, "a", "absent"]
    for thing in (dict[Any, Any](), {1: 2}, numbers, mixed, texts):
        for key in keys[:: 1 if thing is mixed else 4]:
            address = value_address(thing, key)
            if read(WORD, address) != [id(thing[key])] if key in thing else address:
                return False
    return read(WORD, id(mixed) + DICT_USED) == [len(mixed)] and read(WORD, id(mixed) + DICT_VALUES) == [0]


def _has_versions() -> bool:
    counts: defaultdict[int, int] = defaultdict(int)
    thing, found = {1: 2}, set()
    for value in range(4):
        thing[1] = value
        found.add(read(WORD, id(thing) + DICT_VERSION)[0])
    return len(found) == 4 and read(WORD, id(counts) + FACTORY) == [id(int)]


def _has_set_tables() -> bool:
    """Whether sets are as described above."""
    mixed: set[Any] = {"a", 7, -1, -2, *(each << 9 for each in range(24))}
    for key in (5 << 9, 9 << 9):
        mixed.remove(key)
    for thing in (set[Any](), {1}, mixed):
        for key in (*range(-2, 8, 3), *(each << 9 for each in range(0, 30, 3)), "a", "absent"):
            address = set_address(thing, key)
            if (read(WORD, address)[0] != 0) != (key in thing):
                return False
    return True


def _counts_entries() -> bool:
    """Whether dicts and sets count their entries as described above, and Python makes larger tables when it is time."""
    thing, texts, items = dict.fromkeys(range(3), 0), {"a": 0}, {1, 2}
    for key in range(3, 40):
        (table,) = read(WORD, id(thing) + DICT_NAMES)
        was_full = not IS_OLD and read(ctypes.c_int64, table + TABLE_ROOM) == [0]
        if not IS_OLD and read(ctypes.c_int64, table + TABLE_COUNT) != [key]:
            return False
        thing[key] = key
        if not IS_OLD and was_full != (read(WORD, id(thing) + DICT_NAMES) != [table]):
            return False
        (table,), (mask,) = read(WORD, id(items) + SET_TABLE), read(WORD, id(items) + SET_MASK)
        fill, used = read(WORD, id(items) + SET_FILL, 2)
        items.add(key)
        has_room = (fill + 1) * 5 < mask * 3
        if used != key - 1 or fill != used or has_room != (read(WORD, id(items) + SET_TABLE) == [table]):
            return False
    (table,) = read(WORD, id(items) + SET_TABLE)
    items.remove(30)
    entry = table + 30 * SET_ENTRY
    is_removed = read(WORD, entry) == [int.from_bytes(DUMMY, "little")] and read(ctypes.c_int64, entry + 8) == [-1]
    kinds = [read(ctypes.c_uint8, read(WORD, id(each) + DICT_NAMES)[0] + LOG_SIZE + 2)[0] for each in (thing, texts)]
    return is_removed and read(WORD, id(items) + SET_FILL, 2) == [39, 38] and (IS_OLD or kinds == [GENERAL, TEXTS])


def _uses_entries_again() -> bool:
    """Whether a set puts a new key where one was removed: into the last such entry on its way to an empty one."""
    items = set(range(10))
    (table,) = read(WORD, id(items) + SET_TABLE)
    for key in (3, 5):
        items.remove(key)
    items.add(35)       # which would be at 3, as there are 32 entries
    found = read(WORD, table + 3 * SET_ENTRY) + read(WORD, table + 5 * SET_ENTRY)
    return found == [int.from_bytes(DUMMY, "little"), id(35)] and read(WORD, id(items) + SET_FILL, 2) == [10, 9]


def _has_text_hashes() -> bool:
    for text in ("abc", "é", "€"):
        key = "".join([*text])
        (state,) = read(ctypes.c_uint8, id(key) + 32)
        if read(ctypes.c_int64, id(key) + TEXT_HASH) not in ([-1], [hash(key)]):
            return False
        if read(ctypes.c_int64, id(key) + TEXT_HASH) != [hash(key)] or not state & IS_COMPACT:
            return False
        if bool(state & IS_ASCII) != key.isascii():
            return False
    return True


HAS_TABLES = (
    HAS_PLACES and HAS_DIGITS and HAS_SIMPLE_COUNTS and _has_text_hashes()
    and _has_dict_tables() and _has_versions() and _has_set_tables()
    and _counts_entries() and _uses_entries_again()
)  # fmt: skip
