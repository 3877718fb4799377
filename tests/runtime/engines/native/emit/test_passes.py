"""What range analysis, guard hoisting, speculation, SIMD vectorization, unrolling and tier-up do with small IR."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from autograph.runtime.engines.native.emit import guard_hoisting, simd, speculation
from autograph.runtime.engines.native.emit.loop_emitter import LoopEmitter
from autograph.runtime.engines.native.emit.polling import begin_polling, poll
from autograph.runtime.engines.native.emit.tier_up import BaselineTier, assembled
from autograph.runtime.engines.native.emit.value_ranges import Ranges
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.ir import I64, Block, Module, Parameter, constant
from autograph.runtime.engines.native.llvm.ir_verifier import verify
from autograph.runtime.engines.native.llvm.printer import printed, written
from autograph.runtime.engines.native.llvm.unroll import unroll
from autograph.runtime.graph.operands import Array, Number
from autograph.runtime.graph.types import BOOL, INT, scalar

DOUBLE = scalar("float64")


def text(*blocks: Block) -> str:
    """The assembly of blocks, with registers and labels in their order."""
    names: dict[str, str] = {}
    found = []
    for block in blocks:
        found += [f"%{block.name}:", *(f"  {written(each)}" for each in block.instructions)]
    return re.sub(r"%\w+", lambda each: names.setdefault(each[0], f"%{len(names)}"), "\n".join(found))


def opcodes(block: Block) -> list[str]:
    """The instructions of a block, roughly."""
    return [each.opcode for each in block.instructions]


# Range analysis -------------------------------------------------------------------------------------------------------


def number(ref: Any, known: int | None = None) -> Number:
    return Number(INT, ref, known)


def test_ranges_of_sums():
    ranges, x, y = Ranges(), number(Parameter("x", I64)), number(Parameter("y", I64))
    ranges.bound(x.ref, 0, 10)
    assert ranges.bounds(y) == (-(2**63), 2**63 - 1)
    assert ranges.fits("add", x, number(None, 5)) and not ranges.fits("add", x, y)
    ranges.note("add", x, number(None, 5), y)
    assert ranges.bounds(y) == (5, 15)
    assert ranges.decided("lt", y, number(None, 16)) is True
    assert ranges.decided("gt", x, y) is None


def test_ranges_that_conditions_tell():
    ranges, x = Ranges(), number(Parameter("x", I64))
    ranges.learn(x, 0, float("inf"))
    assert ranges.bounds(x) == (0, 2**63 - 1) and ranges.decided("lt", x, number(None, 0)) is False
    ranges.found = {}
    assert ranges.decided("lt", x, number(None, 0)) is None


# Unrolling ------------------------------------------------------------------------------------------------------------


def counted(step: int, body_size: int = 1) -> tuple[Builder, Block, Block, Block]:
    """A loop that counts in a cell."""
    function = Module().define("f", I64, Parameter("n", I64))
    b = Builder(function)
    cell = b.alloca(I64)
    head, body, done = map(function.new_block, ("head", "body", "done"))
    b.store(constant(I64, 0), cell)
    b.br(head)
    b.begin(head)
    item = b.load(I64, cell)
    b.cond_br(b.icmp("slt", item, b.add(function.parameters[0], 0)), body, done)
    b.begin(body)
    for _ in range(body_size):
        item = b.add(item, step)
    b.store(item, cell)
    b.br(head)
    b.begin(done)
    b.ret(0)
    head.instructions[:] = [head.instructions[0], head.instructions[1], head.instructions[2], head.instructions[3]]
    return b, head, body, done


def test_iterations_are_put_into_one():
    b, head, body, _ = counted(1)
    many = unroll(b, head, body, constant(I64, 1))
    b.function.blocks["entry1"].instructions[-1].blocks = (many,)
    verify(b.function)
    inside = many.successors[0]
    assert opcodes(many) == ["load", "add", "sub", "icmp", "br"] and many.successors[1] is head
    assert text(inside) == """\
%0:
  %1 = load i64, ptr %2
  %3 = add i64 %1, 1
  store i64 %3, ptr %2
  %4 = load i64, ptr %2
  %5 = add i64 %4, 1
  store i64 %5, ptr %2
  %6 = load i64, ptr %2
  %7 = add i64 %6, 1
  store i64 %7, ptr %2
  %8 = load i64, ptr %2
  %9 = add i64 %8, 1
  store i64 %9, ptr %2
  br label %10"""


@pytest.mark.parametrize("case", ["long", "of two blocks", "of unknown steps"])
def test_iterations_that_stay_as_they_are(case):
    b, head, body, done = counted(1, 30 if case == "long" else 1)
    if case == "of two blocks":
        body.instructions[-1].blocks = (done,)
    step = Parameter("step", I64) if case == "of unknown steps" else constant(I64, 1)
    before = printed(b.function)
    assert unroll(b, head, body, step) is head and printed(b.function) == before


# Guard hoisting and speculation ---------------------------------------------------------------------------------------


def begun(speculates: bool = False) -> tuple[LoopEmitter, Number, Number, dict[str, Block]]:
    """An emitter in an iteration of a loop; its item, and a number that does not change."""
    emit = LoopEmitter("loop", lambda: blocks["exit"])
    names = "before head body exit slow edge done again".split()
    blocks = {name: emit.b.function.new_block(name) for name in names}
    fixed = number(emit.frame.argument(0, INT.dtype))
    for index in range(2):
        emit.frame.argument_array(1 + index, index)
    emit.b.begin(emit.start)
    emit.jump(blocks["before"])
    emit.b.begin(blocks["before"])
    loop = emit.begin_loop()
    emit.b.begin(blocks["head"])
    item, end = emit.cells.load((("node", ()), 0), I64), emit.cells.load(("node", "end"), I64)
    emit.branch(emit.compare("lt", number(item), number(end)), blocks["body"], blocks["done"])
    emit.b.begin(blocks["body"])
    emit.always, loop.offsets[item] = True, emit.constant(0, INT)
    if speculates:
        emit.speculation = speculation.begin(emit, loop, fixed.ref, item, down=False, carries=False)
    return emit, number(item), fixed, blocks


def array(input: int, dtype: str = "float64") -> Array:
    return Array(input, np.dtype(dtype), 1, True, True, 0)


def test_what_does_not_change_is_computed_before():
    emit, item, fixed, blocks = begun()
    total = emit.integer("add", emit.integer("mul", fixed, emit.constant(3, INT)), fixed)
    emit.integer("add", item, total)
    emit.integer("div", fixed, total)       # it may trap
    assert opcodes(blocks["before"]) == ["mul", "add"]
    assert opcodes(blocks["body"]) == ["add", "sdiv"]


def test_a_guard_is_taken_out():
    emit, item, fixed, blocks = begun()
    emit.leave_if(emit.compare("lt", fixed, emit.constant(0, INT)))
    assert len(emit.loop.conditions) == 1 and emit.loop.exits == 0
    emit.leave_if(emit.compare("lt", item, emit.constant(0, INT)))
    assert len(emit.loop.conditions) == 1 and emit.loop.exits == 1
    assert opcodes(blocks["before"]) == ["icmp"] and opcodes(blocks["body"]) == ["icmp", "br"]


def test_bounds_of_an_index_become_a_span():
    emit, item, fixed, blocks = begun()
    moved, overflow = emit.overflowing("sub", item, emit.constant(1, INT))
    assert overflow.known is False and emit.loop.offsets[moved.ref].known == -1
    place = emit.place(moved, emit.length(array(0), 0))
    assert place.ref is moved.ref and emit.loop.exits == 0
    ((offset, length),) = emit.loop.bounds.values()
    assert offset.known == -1 and length.ref.block is emit.entry


def entered(emit: LoopEmitter, blocks: dict[str, Block], item: int) -> str:
    """What the preheader checks before iterations from an item up to 50."""
    loop, emit.loop = emit.loop, None
    emit.b.begin(loop.preheader)
    cells = emit.cells.place("end", I64), emit.cells.place("limit", I64)
    first, limit = (emit.constant(each, INT) for each in (item, 50))
    before = len(emit.b.function.blocks)
    strip = guard_hoisting.Strip(first, limit, False, cells, blocks["body"], blocks["slow"])
    guard_hoisting.enter(emit, loop, strip)
    return text(loop.preheader, *list(emit.b.function.blocks.values())[before:])


def test_the_preheader_checks_the_guards():
    emit, _, fixed, blocks = begun()
    emit.leave_if(emit.compare("lt", fixed, emit.constant(0, INT)))
    assert entered(emit, blocks, 0) == """\
%0:
  %1 = icmp slt i64 %2, 0
  store i64 50, ptr %3
  br i1 %1, label %4, label %5
%5:
  br label %6"""


def test_a_guard_that_always_fails_leaves_the_slow_version():
    emit, _, _, blocks = begun()
    emit.loop.conditions.append(emit.constant(True, BOOL))
    entered(emit, blocks, 0)
    assert blocks["before"].successors == (blocks["slow"],)


@pytest.mark.parametrize(("item", "reached"), [(0, ["slow"]), (1, ["body", "slow"])])
def test_the_preheader_bounds_the_items(item, reached):
    """Index `i - 1` is within bounds from item 1 on, and up to the length of the array."""
    emit, now, _, blocks = begun()
    moved, _ = emit.overflowing("sub", now, emit.constant(1, INT))
    emit.place(moved, emit.length(array(0), 0))
    entered(emit, blocks, item)
    assert {name for name, block in blocks.items() for each in emit.b.function.blocks.values()
            if block in each.successors and each.name.startswith(("before", "rare"))} == set(reached)
    rare = [each for each in emit.b.function.blocks.values() if each.name.startswith("rare")]
    assert sum(each.opcode == "store" for block in rare for each in block.instructions) == (2 if item else 0)


def test_what_is_discarded_leaves_no_facts():
    emit, item, fixed, blocks = begun(speculates=True)
    reset, before = emit.mark(), printed(emit.b.function)
    x = emit.load(array(0), [emit.place(item, emit.length(array(0), 0))])
    emit.leave_if(emit.compare("lt", fixed, emit.constant(0, INT)))
    emit.leave_if_warned(emit.floating("mul", x, x), x)
    emit.store(array(1), [item], x)
    assert emit.loop.conditions and emit.loop.bounds and emit.speculation.stores and emit.speculation.checks
    reset()
    facts = emit.loop.conditions, emit.loop.bounds, emit.speculation.stores, emit.speculation.loads
    assert not any(facts) and emit.speculation.checks == emit.loop.loads == 0 and not emit.watched
    assert opcodes(blocks["before"]) == [] and blocks["body"].instructions[0].opcode == "sub"
    assert len(blocks["body"].instructions) == 1 and before.count("icmp") == printed(emit.b.function).count("icmp")


def test_an_undo_log():
    emit, item, _, blocks = begun(speculates=True)
    x = emit.load(array(0), [item])
    total = emit.floating("mul", x, emit.constant(2.0, DOUBLE))
    emit.leave_if_warned(total, x)
    emit.store(array(1), [item], total)
    emit.jump(blocks["head"])
    found = opcodes(blocks["body"])
    # The number of the iteration; the product; the old element goes into the log; the new one; whether it is strange.
    assert found[:5] == ["sub", "getelementptr", "load", "fmul", "getelementptr"]
    assert found[5:10] == ["load", "getelementptr", "store", "getelementptr", "store"]
    assert found[10:] == ["bitcast", "and", "add", "load", "or", "store", "br"]
    found, loop = emit.speculation, emit.loop
    assert (found.checks, loop.exits, len(found.stores), len(found.loads)) == (1, 0, 1, 1)
    assert speculation.pays(emit, found)


def test_no_call_of_python_is_speculative():
    emit, item, _, blocks = begun(speculates=True)
    x = emit.load(array(0), [item])
    emit.leave_if_warned(emit.floating("mul", x, x), x)
    emit.store(array(1), [item], x)
    assert speculation.pays(emit, emit.speculation)
    emit.objects.python("PyErr_Occurred")
    assert not speculation.pays(emit, emit.speculation)


def test_a_strip_is_checked_and_undone():
    emit, item, _, blocks = begun(speculates=True)
    x = emit.load(array(0), [item])
    total = emit.floating("mul", x, x)
    emit.leave_if_warned(total, x)
    emit.store(array(1), [item], total)
    emit.jump(blocks["head"])
    found, emit.loop, emit.speculation = emit.speculation, None, None
    emit.b.begin(blocks["done"])
    speculation.end_strip(emit, found, item.ref, blocks["edge"], blocks["again"])
    undo, look = blocks["done"].successors                      # a deferred condition; infinities and NaNs
    flags, good = look.successors
    assert good is blocks["edge"] and flags.successors == (undo, good)
    assert [each.operands[0].ref for each in flags.instructions if each.opcode == "call"] == ["@fetestexcept"]
    (back,) = undo.successors
    step, again = back.successors
    assert again is blocks["again"] and step.successors == (back,)
    moved = [each.opcode for each in step.instructions if each.type in ("double", "void") and each.opcode != "br"]
    assert moved == ["load", "store", "store"]                  # an entry of the log, the element, and the counter


def test_a_carried_float_is_checked_once():
    emit, item, _, blocks = begun(speculates=True)
    begin = emit.cells.load("total", "double")
    total = emit.floating("add", Number(DOUBLE, begin), emit.load(array(0), [item]))
    emit.leave_if_warned(total)
    speculation.defer_to_last(emit, emit.speculation, "total", total)
    emit.jump(blocks["head"])
    assert emit.speculation.carried == {"total": total} and not emit.speculation.floats
    assert "or" not in opcodes(blocks["body"])


@pytest.mark.parametrize("other", ["an invariant index", "the item"])
def test_elements_that_llvm_may_take_for_different_ones(other):
    emit, item, fixed, blocks = begun(speculates=True)
    x = emit.load(array(0), [item if other == "the item" else fixed])
    emit.leave_if_warned(emit.floating("mul", x, x), x)
    emit.store(array(0), [item], x)
    emit.jump(blocks["head"])
    found = emit.speculation
    speculation.declare_distinct(emit, found)
    (load,), (store,) = found.loads, found.stores
    kinds = [[kind for kind, _ in each.instruction.metadata] for each in (load, store)]
    assert kinds == ([[], []] if other == "the item" else [["noalias"], ["alias.scope"]])
    same = speculation.may_be_same(emit, found, number(None, 0), number(None, 9))
    assert (same.known is False) == (other == "the item")       # what the preheader checks


# SIMD -----------------------------------------------------------------------------------------------------------------


def target(emit: LoopEmitter, blocks: dict[str, Block]) -> simd.Target:
    item = blocks["head"].instructions[0].operands[0]
    found = (blocks[name] for name in ("head", "body", "slow", "edge"))
    return simd.Target(*found, emit.cells.place("limit", I64), {item} | speculation.accumulators(emit))


def test_iterations_become_vectors(monkeypatch):
    monkeypatch.setattr(simd, "SIZES", (32,))
    emit, item, _, blocks = begun(speculates=True)
    x = emit.load(array(0), [item])
    total = emit.floating("add", emit.floating("mul", x, emit.constant(2.0, DOUBLE)), x)
    emit.leave_if_warned(total, x)
    emit.store(array(1), [item], total)
    emit.jump(blocks["head"])
    found, emit.loop, emit.speculation = emit.speculation, None, None
    assert simd.vectorize(emit, found, target(emit, blocks))
    lanes = blocks["head"].successors[0]
    inside, rest = lanes.successors
    assert opcodes(lanes) == ["load", "load", "sub", "icmp", "br"] and blocks["body"].name not in emit.b.function.blocks
    kinds = [(each.opcode, each.type) for each in inside.instructions if each.type.startswith("<4")]
    assert kinds == [
        ("load", "<4 x double>"), ("fmul", "<4 x double>"), ("fadd", "<4 x double>"), ("bitcast", "<4 x i64>"),
        ("and", "<4 x i64>"), ("add", "<4 x i64>"), ("icmp", "<4 x i1>"),
    ]  # fmt: skip
    (stored,) = [
        each for each in emit.b.function.blocks.values() for each in each.instructions
        if each.opcode == "store" and each.operands[0].type == "<4 x double>"
    ]  # fmt: skip
    assert stored.align == 8 and stored.block is not inside      # only when all have been looked at


@pytest.mark.parametrize("why", ["a value that is carried", "what is read later"])
def test_iterations_that_are_no_vectors(why):
    emit, item, _, blocks = begun(speculates=True)
    x = emit.load(array(1), [item])
    if why == "a value that is carried":
        emit.cells.store("total", x.ref)
    emit.store(array(1), [item], emit.floating("mul", x, x))
    if why == "what is read later":
        emit.load(array(1), [item])
    emit.jump(blocks["head"])
    found, emit.loop, emit.speculation = emit.speculation, None, None
    where = target(emit, blocks)
    before = printed(emit.b.function)
    assert not simd.vectorize(emit, found, where)
    assert printed(emit.b.function) == before


# Tier-up --------------------------------------------------------------------------------------------------------------


def test_the_baseline_tier_stops_at_a_poll_and_goes_on_there():
    emit = LoopEmitter("loop", lambda: None)
    head, body, done = map(emit.b.function.new_block, ("head", "body", "done"))
    emit.b.begin(emit.start)
    begin_polling(emit)
    emit.cells.store("i", constant(I64, 0))
    emit.b.br(head)
    emit.b.begin(head)
    emit.polls.append(poll(emit, 1, lambda: emit.b.ret(0), head))
    now = emit.cells.load("i", I64)
    emit.branch(Number(BOOL, emit.b.icmp("slt", now, 100)), body, done)
    emit.b.begin(body)
    emit.cells.store("i", emit.b.add(now, 1))
    emit.b.br(head)
    emit.b.begin(done)
    emit.b.ret(1)
    tier = BaselineTier(emit, slot=2)
    assert (tier.places, tier.slots) == (1, 5)
    good, baseline, resumed = assembled(emit)[0], tier.text, tier.resumed(1)
    assert "ret i64 -1" in baseline and "suspend:" in baseline and "ret i64 -1" not in good + resumed
    first = [text.partition("define i64 @loop")[2].partition("\n}")[0].partition("br ")[2] for text in (good, resumed)]
    assert [each.partition("\n")[0] for each in first] == [f"label {emit.start}", f"label {head}"]
    assert resumed.partition("define i64 @loop")[2].partition("br ")[0].count("load i64") == 2    # both cells
