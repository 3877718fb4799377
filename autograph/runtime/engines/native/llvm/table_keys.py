"""Keys of dicts and sets: how CPython hashes them, and when two are the same.

A key is an integer or float in a register, the object of a text, or a tuple of such keys, of which no object exists: a
lookup of `m[i, j]` makes none. The functions that build machine code are beside those that do the same in Python, with
which the import checks that this CPython does so.

Where only Python knows, the code goes to where `ask_if` says: an integer has more than one digit, a float is no number,
infinite or tiny, a text has no hash yet, or an object of another class may be equal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from autograph.common.cpython_internals import (
    CLASS,
    DIGIT_BITS,
    IS_ASCII,
    SIZE,
    TEXT_ITEMS,
    TEXT_STATE,
    TUPLE_ITEMS,
    VALUE,
)
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import integer_of_one_digit
from autograph.runtime.engines.native.llvm.ir import DOUBLE, I8, I32, I64, PTR, TRUE, Value
from autograph.runtime.engines.native.llvm.table_layouts import IS_COMPACT, TEXT_HASH

INTEGER, FLOAT, TEXT, OBJECT = "integer", "float", "text", "object"     # an object may be any of the others
# A kind of keys is one of these, or for a tuple the kinds of its items, none of which is `OBJECT`.
Kind: TypeAlias = "str | tuple[str, ...]"
Key: TypeAlias = "Value | tuple[Value, ...]"
AskIf: TypeAlias = Callable[[Value], None]

_FAR = (1 << DIGIT_BITS) - 1    # the largest integer of one digit, which is its own hash
# The hash of a float is its value modulo this prime number; a fraction has 52 bits behind the first one, and exponents
# are stored as numbers that are larger by `_BIAS`.
_BITS, _FRACTION, _BIAS = 61, 52, 1023
_PRIME = (1 << _BITS) - 1
_EXACT = 2.0**53         # below which floats that are integers are exact, and their own hashes
_ENDS = 0x7FF           # the exponent of infinities and NaNs
_LANES = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x27D4EB2F165667C5     # xxHash's prime numbers, for tuples
_ROTATION, _LENGTH, _NEVER = 31, 3527539, 1546275796


# As Python does it ----------------------------------------------------------------------------------------------------


def float_hash(number: float) -> int:
    """The hash of a finite float, as machine code computes it."""
    fraction, denominator = abs(number).as_integer_ratio()
    exponent = -(denominator.bit_length() - 1) % _BITS
    found = fraction * 2**exponent % _PRIME
    return -2 if number < 0 and found == 1 else -found if number < 0 else found


def tuple_hash(hashes: Sequence[int]) -> int:
    """The hash of a tuple whose items have some hashes, as machine code computes it."""
    one, two, five = _LANES
    found = five
    for each in hashes:
        found = (found + each * two) % 2**64
        found = ((found << _ROTATION | found >> 64 - _ROTATION) * one) % 2**64
    found = (found + (len(hashes) ^ (five ^ _LENGTH))) % 2**64
    return _NEVER if found == 2**64 - 1 else _signed(found)


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def _has_hashes() -> bool:
    """Whether floats and tuples are hashed as described above."""
    if sys.hash_info.modulus != _PRIME or sys.hash_info.width != 64:
        return False
    numbers = [0.0, -0.0, 1.0, -1.0, 0.5, -0.1, 1 / 3, 2.0**60, 2.0**61, -(2.0**61), 1e300, -1e-300, 5e-324, 123456.789]
    pairs = [(), (0,), (1, -1), (-1, 2.5, "a"), ("", "b"), (1 << 29, 0.0, -7, 3), (-2, -1)]
    are_floats = all(hash(each) == float_hash(each) for each in numbers)
    return are_floats and all(hash(each) == tuple_hash([*map(hash, each)]) for each in pairs)


HAS_HASHES = _has_hashes()


# In machine code ------------------------------------------------------------------------------------------------------


def types_of(kind: Kind) -> list[str]:
    """The types of the registers of a key."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return [{INTEGER: I64, FLOAT: DOUBLE}.get(each, PTR) for each in kinds]


def hash_of(b: Builder, key: Key, kind: Kind, ask_if: AskIf | None = None) -> Value:
    """The hash of a key that is no `OBJECT`.

    Args:
        ask_if: None behind a lookup that did not ask.
    """
    if isinstance(kind, tuple):
        assert isinstance(key, tuple)
        return _hash_of_tuple(b, [hash_of(b, *each, ask_if) for each in zip(key, kind)])
    assert isinstance(key, Value)
    if kind == FLOAT:
        return _hash_of_float(b, key, ask_if)
    if kind == INTEGER:
        if ask_if is not None:
            ask_if(b.icmp("ugt", b.add(key, _FAR), 2 * _FAR))
        return _no_error(b, key, -2)
    hash = b.load(I64, b.gep(key, TEXT_HASH))
    if ask_if is not None:
        ask_if(b.icmp("eq", hash, -1))
    return hash


def _no_error(b: Builder, hash: Value, other: int) -> Value:
    """A hash that is not -1, by which Python's functions report errors."""
    return b.select(b.icmp("eq", hash, -1), ir.constant(I64, other), hash)


def _hash_of_float(b: Builder, key: Value, ask_if: AskIf | None) -> Value:
    """That of the integer which the float is, or else that of its fraction."""
    is_near = b.and_(b.fcmp("olt", key, _EXACT), b.fcmp("ogt", key, -_EXACT))
    integer = b.cast("fptosi", b.select(is_near, key, 0.5), I64)
    is_integer = b.fcmp("oeq", b.cast("sitofp", integer, DOUBLE), key)
    found = b.if_else(is_integer, lambda: _no_error(b, integer, -2), lambda: _hash_of_fraction(b, key, ask_if))
    assert found is not None
    return found


def _hash_of_fraction(b: Builder, key: Value, ask_if: AskIf | None) -> Value:
    """The fraction times a power of two, which rotates its bits, modulo the prime number."""
    bits = b.cast("bitcast", key, I64)
    is_zero = b.icmp("eq", b.binary("shl", bits, 1), 0)
    exponent = b.and_(b.binary("lshr", bits, _FRACTION), _ENDS)
    if ask_if is not None:
        ask_if(b.and_(b.icmp("uge", b.sub(exponent, 1), _ENDS - 1), b.xor(is_zero, TRUE)))
    fraction = b.or_(b.and_(bits, (1 << _FRACTION) - 1), 1 << _FRACTION)
    rotation = b.binary("urem", b.add(exponent, -(_BIAS + _FRACTION) % _BITS), _BITS)
    high = b.and_(b.binary("shl", fraction, rotation), _PRIME)
    found = b.or_(high, b.binary("lshr", fraction, b.sub(ir.constant(I64, _BITS), rotation)))
    found = b.select(b.icmp("slt", bits, 0), b.sub(ir.constant(I64, 0), found), found)
    return b.select(is_zero, ir.constant(I64, 0), _no_error(b, found, -2))


def _hash_of_tuple(b: Builder, hashes: Sequence[Value]) -> Value:
    one, two, five = _LANES
    found: Value = ir.constant(I64, _signed(five))
    for each in hashes:
        found = b.add(found, b.mul(each, _signed(two)))
        found = b.or_(b.binary("shl", found, _ROTATION), b.binary("lshr", found, 64 - _ROTATION))
        found = b.mul(found, _signed(one))
    found = b.add(found, _signed(len(hashes) ^ five ^ _LENGTH))
    return _no_error(b, found, _NEVER)


def is_same(b: Builder, other: Value, key: Key, kind: Kind, classes: Mapping[str, Value], ask_if: AskIf) -> Value:
    """Whether an object of the same hash is the same key as one that is no `OBJECT`.

    Args:
        classes: the addresses of the classes by kind, and of `tuple` under "".
    """
    ask_if(b.icmp("ne", b.load(PTR, b.gep(other, CLASS)), classes["" if isinstance(kind, tuple) else kind]))
    if isinstance(kind, tuple):
        assert isinstance(key, tuple)
        return _are_same(b, other, [*zip(key, kind)], classes, ask_if)
    assert isinstance(key, Value)
    if kind == FLOAT:
        return b.fcmp("oeq", b.load(DOUBLE, b.gep(other, VALUE)), key)
    if kind == INTEGER:
        is_compact, value = integer_of_one_digit(b, other)
        return b.and_(is_compact, b.icmp("eq", value, key))
    found = b.call(same_texts(b.function.module), other, key)
    ask_if(b.icmp("eq", found, UNKNOWN))
    return b.icmp("ne", found, 0)


def _are_same(
    b: Builder, other: Value, items: list[tuple[Value, str]], classes: Mapping[str, Value], ask_if: AskIf
) -> Value:  # fmt: skip
    """Whether the items of a tuple are the same as some keys; Python, too, compares no more behind the first other."""

    def from_item(place: int) -> Value:
        if place == len(items):
            return TRUE
        key, kind = items[place]
        item = b.load(PTR, b.gep(other, TUPLE_ITEMS + 8 * place))

        def compare() -> Value:
            return is_same(b, item, key, kind, classes, ask_if)

        found = compare() if kind != TEXT else b.if_else(b.icmp("eq", item, key), lambda: TRUE, compare)
        assert found is not None
        return _if_so(b, found, lambda: from_item(place + 1))

    return _if_so(b, b.icmp("eq", b.load(I64, b.gep(other, SIZE)), len(items)), lambda: from_item(0))


def _if_so(b: Builder, condition: Value, then: Callable[[], Value]) -> Value:
    found = b.if_else(condition, then, lambda: ir.FALSE)
    assert found is not None
    return found


UNKNOWN = 2    # what `same_texts` returns if only Python knows


def same_texts(module: ir.Module) -> ir.Function:
    """A function that compares two texts: 1 if they are equal, 0 if not, `UNKNOWN` if Python knows."""
    name = "same_texts"
    if name in module.functions:
        return module.functions[name]
    one, other = ir.Parameter("one", PTR), ir.Parameter("other", PTR)
    b = Builder(module.define(name, I32, one, other, words="internal", attributes=READS))
    size = b.load(I64, b.gep(one, SIZE))
    with b.if_then(b.icmp("ne", size, b.load(I64, b.gep(other, SIZE)))):
        b.ret(0)
    states = b.and_(*(b.load(I8, b.gep(each, TEXT_STATE)) for each in (one, other)))
    is_known = IS_ASCII | IS_COMPACT
    with b.if_then(b.icmp("ne", b.and_(states, is_known), is_known), False):
        b.ret(UNKNOWN)
    with b.loop(0, size) as loop:
        letters = [b.load(I8, b.gep(b.gep(each, TEXT_ITEMS), loop.index)) for each in (one, other)]
        with b.if_then(b.icmp("ne", *letters)):
            b.ret(0)
    b.ret(1)
    return module.functions[name]


READS = "noinline nounwind readonly willreturn"     # the attributes of functions that only read memory
