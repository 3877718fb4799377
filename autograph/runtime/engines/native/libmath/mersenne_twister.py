"""Python's random numbers: the Mersenne Twister on the state of a `random.Random`, in place.

The functions take the address of the object. They do what `_randommodule.c` does (Matsumoto and Nishimura, "Mersenne
Twister", 1998), so that the numbers, and the state behind them, are Python's. A module gets those that it calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from autograph.common.cpython_internals import TWISTER, TWISTER_SIZE, TWISTER_WORDS
from autograph.runtime.engines.native.libmath.libm import PREFIX
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder

_SHIFTED = 397      # the distance of the word that goes into a new one
_UPPER, _LOWER, _MATRIX = 0x80000000, 0x7FFFFFFF, 0x9908B0DF
_CONSTANT = 4 * math.exp(-0.5) / math.sqrt(2.0)     # of normal numbers
_TWO = ir.vector(2, ir.I32)
_AT_ONCE = 8        # words


def double(module: ir.Module) -> ir.Function:
    """The function of `random()`: 53 bits of two words."""

    def build(b: Builder, draw: ir.Value) -> None:
        index = b.load(ir.I32, b.gep(draw, TWISTER))

        def both() -> ir.Value:
            b.store(b.add(index, 2), b.gep(draw, TWISTER))
            place = b.cast("zext", index, ir.I64)
            words = _tempered(b, b.load(_TWO, b.gep(b.gep(draw, TWISTER_WORDS), place, of=ir.I32), align=4))
            return _of_words(b, *(b.extract_element(words, each) for each in range(2)))

        def one_by_one() -> ir.Value:
            return _of_words(b, *(b.call(word(module), draw) for _ in range(2)))

        found = b.if_else(b.icmp("ult", index, TWISTER_SIZE - 1), both, one_by_one, likely=True)
        assert found is not None
        b.ret(found)

    return _function(module, "ag_twister_double", ir.DOUBLE, "alwaysinline", build)


def _of_words(b: Builder, first: ir.Value, second: ir.Value) -> ir.Value:
    """The float in [0, 1) with 27 bits of one word and 26 of another."""
    high, low = (b.cast("zext", b.binary("lshr", each, by), ir.I64) for each, by in ((first, 5), (second, 6)))
    whole = b.cast("uitofp", b.or_(b.binary("shl", high, 26), low), ir.DOUBLE)
    return b.binary("fmul", whole, 2.0**-53)


def below(module: ir.Module) -> ir.Function:
    """The function of `_randbelow(n)`, for `n` from 1 to 2**63 - 1.

    Python draws until a number is less than `n`. If about each second one is, as for a power of 2, no branch predictor
    knows how many draws that takes. So the code looks at several words at once then, and takes the first that will do.
    """
    limit = ir.Parameter("limit", ir.I64)

    def build(b: Builder, draw: ir.Value) -> None:
        zeros = b.intrinsic("ctlz", limit, ir.constant(ir.I1, 1))
        count, place = b.binary("sub", 64, zeros), b.gep(draw, TWISTER)
        again, more, one, done, rest = map(b.new_block, ("again", "more", "one", "done", "rest"))
        shift, most = (b.splat(b.cast("trunc", each, ir.I32), _AT_ONCE) for each in (b.binary("sub", 32, count), limit))
        is_seldom = b.icmp("ult", b.binary("shl", limit, 3), b.binary("shl", 5, count))     # at most 5 of 8 numbers do
        is_guess = b.and_(b.icmp("ule", count, 32), is_seldom)
        b.br(again)
        b.begin(again)
        index = b.load(ir.I32, place)
        b.cond_br(b.and_(is_guess, b.icmp("ule", index, TWISTER_SIZE - _AT_ONCE)), more, one)
        b.begin(more)
        words = b.load(most.type, _word_at(b, draw, b.cast("zext", index, ir.I64)), align=4)
        numbers = b.binary("lshr", _tempered(b, words), shift)
        fit = b.cast("zext", b.cast("bitcast", b.icmp("ult", numbers, most), f"i{_AT_ONCE}"), ir.I32)
        first = b.intrinsic("cttz", b.or_(fit, 1 << (_AT_ONCE - 1)), ir.constant(ir.I1, 1))     # or the last one
        b.store(b.add(b.add(index, first), 1), place)
        b.cond_br(b.icmp("ne", fit, 0), done, again, likely=True)
        b.begin(done)
        b.ret(b.cast("zext", b.extract_element(numbers, b.cast("zext", first, ir.I64)), ir.I64))
        b.begin(one)
        found = b.call(bits(module), draw, count)
        b.cond_br(b.icmp("ult", found, limit), rest, again)
        b.begin(rest)
        b.ret(found)

    return _function(module, "ag_twister_below", ir.I64, "noinline", build, limit)


def bits(module: ir.Module) -> ir.Function:
    """The function of `getrandbits(k)`, for `k` from 1 to 64: from the lowest bits on; of the last word its highest."""
    count = ir.Parameter("count", ir.I64)

    def build(b: Builder, draw: ir.Value) -> None:
        def few() -> ir.Value:
            return b.binary("lshr", b.cast("zext", b.call(word(module), draw), ir.I64), b.binary("sub", 32, count))

        def many() -> ir.Value:
            low, high = (b.cast("zext", b.call(word(module), draw), ir.I64) for _ in range(2))
            high = b.binary("lshr", high, b.binary("sub", 64, count))
            return b.or_(b.binary("shl", high, 32), low)

        found = b.if_else(b.icmp("ule", count, 32), few, many, likely=True)
        assert found is not None
        b.ret(found)

    return _function(module, "ag_twister_bits", ir.I64, "alwaysinline", build, count)


def shuffle(module: ir.Module, size: int) -> ir.Function:
    """The function of `shuffle`, for so many elements of `size` bytes at an address."""
    data, count = ir.Parameter("data", ir.PTR), ir.Parameter("count", ir.I64)

    def build(b: Builder, draw: ir.Value) -> None:
        swap_all(b, data, count, size, lambda last: b.call(below(module), draw, b.add(last, 1)))

    return _function(module, f"ag_twister_shuffle_{size}", ir.VOID, "noinline", build, data, count)


def swap_all(b: Builder, data: ir.Value, count: ir.Value, size: int, draw: Callable[[ir.Value], ir.Value]) -> None:
    """Swap each element, the last one first, with one up to it: `draw` builds the place of that (Fisher and Yates)."""
    kind = f"i{8 * size}"
    with b.loop(0, b.sub(count, 1)) as loop:
        last = b.sub(b.sub(count, 1), loop.index)
        places = [b.gep(data, each, kind) for each in (last, draw(last))]
        for value, place in zip([b.load(kind, each, 1) for each in places], reversed(places)):
            b.store(value, place, 1)
    b.ret()


def normal(module: ir.Module) -> ir.Function:
    """The function of `normalvariate()` (Kinderman and Monahan, 1977)."""

    def build(b: Builder, draw: ir.Value) -> None:
        again, done = map(b.new_block, ("again", "done"))
        b.br(again)
        b.begin(again)
        first, second = (b.call(double(module), draw) for _ in range(2))
        other = b.binary("fsub", 1.0, second)
        found = b.binary("fdiv", b.binary("fmul", b.binary("fsub", first, 0.5), _CONSTANT), other)
        quarter = b.binary("fmul", b.binary("fmul", found, found), 0.25)
        log = b.call_outside(f"{PREFIX}log", ir.DOUBLE, other)
        b.cond_br(b.fcmp("ole", quarter, b.fneg(log)), done, again)
        b.begin(done)
        b.ret(found)

    return _function(module, "ag_twister_normal", ir.DOUBLE, "noinline", build)


def two_normals(b: Builder, draw: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The two numbers of `gauss()` (Box and Muller, 1958)."""
    first, second = (b.call(double(b.function.module), draw) for _ in range(2))
    angle = b.binary("fmul", first, 2.0 * math.pi)
    log = b.call_outside(f"{PREFIX}log", ir.DOUBLE, b.binary("fsub", 1.0, second))
    size = b.intrinsic("sqrt", b.binary("fmul", log, -2.0))
    cosine, sine = (b.call_outside(f"{PREFIX}{name}", ir.DOUBLE, angle) for name in ("cos", "sin"))
    return b.binary("fmul", cosine, size), b.binary("fmul", sine, size)


def word(module: ir.Module) -> ir.Function:
    """The function of the next 32 bits."""

    def build(b: Builder, draw: ir.Value) -> None:
        place = b.gep(draw, TWISTER)
        index, here = b.load(ir.I32, place), b.block
        full, ready = map(b.new_block, ("full", "ready"))
        b.cond_br(b.icmp("uge", index, TWISTER_SIZE), full, ready, likely=False)
        b.begin(full)
        b.call(_refill(module), draw)
        b.br(ready)
        b.begin(ready)
        now = b.phi(ir.I32, (index, here), (0, full))
        b.store(b.add(now, 1), place)
        b.ret(_tempered(b, b.load(ir.I32, _word_at(b, draw, b.cast("zext", now, ir.I64)))))

    return _function(module, "ag_twister_word", ir.I32, "", build)


def _refill(module: ir.Module) -> ir.Function:
    """The function that computes the next words from the last ones."""

    def build(b: Builder, draw: ir.Value) -> None:
        for begin, end, shift in (
            (0, TWISTER_SIZE - _SHIFTED, _SHIFTED),
            (TWISTER_SIZE - _SHIFTED, TWISTER_SIZE - 1, _SHIFTED - TWISTER_SIZE),
        ):
            with b.loop(begin, end, at_least_once=True) as loop:
                _twist(b, draw, loop.index, b.add(loop.index, 1), b.add(loop.index, shift))
        last, first, other = (ir.constant(ir.I64, each) for each in (TWISTER_SIZE - 1, 0, _SHIFTED - 1))
        _twist(b, draw, last, first, other)
        b.ret()

    return _function(module, "ag_twister_refill", ir.VOID, "noinline", build)


def _twist(b: Builder, draw: ir.Value, place: ir.Value, after: ir.Value, other: ir.Value) -> None:
    """Compute the word at a place."""
    here, behind, more = (b.load(ir.I32, _word_at(b, draw, each)) for each in (place, after, other))
    joined = b.or_(b.and_(here, _UPPER), b.and_(behind, _LOWER))
    odd = b.binary("sub", 0, b.and_(joined, 1))
    b.store(b.xor(b.xor(more, b.binary("lshr", joined, 1)), b.and_(odd, _MATRIX)), _word_at(b, draw, place))


def _word_at(b: Builder, draw: ir.Value, place: ir.Value) -> ir.Value:
    return b.gep(b.gep(draw, TWISTER_WORDS), place, of=ir.I32)


def _tempered(b: Builder, y: ir.Value) -> ir.Value:
    """The output for a word, or for the words of a vector."""
    y = b.xor(y, b.binary("lshr", y, 11))
    y = b.xor(y, b.and_(b.binary("shl", y, 7), 0x9D2C5680))
    y = b.xor(y, b.and_(b.binary("shl", y, 15), 0xEFC60000))
    return b.xor(y, b.binary("lshr", y, 18))


def _function(
    module: ir.Module,
    name: str,
    result: str,
    attributes: str,
    build: Callable[[Builder, ir.Value], None],
    *more: ir.Parameter,
) -> ir.Function:
    """A function of the module, built when it is first asked for. It takes the address of the object, and `more`."""
    if name not in module.functions:
        draw = ir.Parameter("draw", ir.PTR)
        build(Builder(module.define(name, result, draw, *more, words="internal", attributes=attributes)), draw)
    return module.functions[name]
