"""`if`, conditional expressions, `and` and `or` on values that are known when the program runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jax import lax
from jax._src import core

from autograph.backends.jax.arrays import Absent, ArrayTrace, ArrayTracer, Doubtful
from autograph.backends.jax.bodies import DifferentShapes, Outcome, aval_of, empty, fitted, traced, unified
from autograph.backends.jax.devices import axes_of, check_agreed, varying, varying_type
from autograph.backends.jax.lines import place
from autograph.backends.jax.structures import Hole, Join, Mismatch, Slot, mapped, staging_error
from autograph.backends.jax.undo_log import put_back
from autograph.operators.state import State

Thunk = Callable[[], Any]


def stage_if(trace: ArrayTrace, test: Any, body: Thunk, orelse: Thunk | None, state: State, construct: str) -> Any:
    """Stage `body() if test else orelse()`, where `test` is a bool of the trace below; return the result."""
    where = place()
    then = traced(trace, body, state, _nothing, (), (test, True), axes_of(test))
    other = traced(trace, orelse or _none, state, _nothing, (), (test, False), axes_of(test))
    check_agreed(then.jaxpr, axes_of(test), construct)
    check_agreed(other.jaxpr, axes_of(test), construct)
    if then.raised is not None or other.raised is not None:
        for outcome, value in ((then, True), (other, False)):
            if outcome.raised is not None:
                _run_where(trace, test, value, outcome)
        if then.raised is not None and other.raised is not None:
            raise other.raised
        outcome = other if other.raised is None else then
        return adopt(trace, outcome, state, outcome.run_in(trace))
    try:
        return _merge(trace, test, then, other, state)
    except Mismatch as mismatch:
        raise staging_error(mismatch, where, construct) from None


def _run_where(trace: ArrayTrace, test: Any, value: bool, outcome: Outcome) -> None:
    """Run a branch that raises, where the test has a value; its callbacks ask themselves whether they are reached."""
    with core.set_current_trace(trace.parent_trace):
        if all(eqn.effects or _is_cheap(eqn, has_gradient=False) for eqn in outcome.jaxpr.eqns):
            outcome.run()
        else:
            lax.cond(test if value else ~test, outcome.run, list)


def _nothing(arguments: list[Any]) -> None:
    pass


def _none() -> None:
    return None


def adopt(trace: ArrayTrace, outcome: Outcome, state: State, leaves: list[Any]) -> Any:
    """Let the program go on as after a body whose leaves are given; return the body's result."""
    memo: dict[int, Any] = {}
    made: dict[Slot, ArrayTracer] = {}

    def lifted(leaf: Any) -> Any:
        if type(leaf) is not Slot:
            return leaf
        array = trace.array(leaves[leaf.at])
        for other in leaf.kin:
            trace.relate(array, other)
        made[leaf] = array
        for mate in leaf.mates:
            if mate in made:
                trace.relate(array, made[mate])
        if leaf.absent is not None:
            flag, value, name = leaf.absent
            array.absent = Absent(trace.array(leaves[flag.at]), value, name)
        return array

    def lift(value: Any) -> Any:
        return mapped(value, lifted, lambda thing: id(thing) in outcome.contents, memo)

    for variable, value in outcome.variables.items():
        variable.set(lift(value))
    for thing, _, after in outcome.contents.values():
        if isinstance(thing, ArrayTracer):
            trace.write(thing, leaves[after.at])
        else:
            trace.undo_log.log(thing)
            put_back(thing, lift(after))
    for array, why in (*outcome.doubts.values(), *outcome.unknown.values()):
        trace.undo_log.log(array)
        array.doubt = why
    return lift(outcome.result)


def _merge(trace: ArrayTrace, test: Any, then: Outcome, other: Outcome, state: State) -> Any:
    join = Join(then.held, other.held, state)
    kept = {*state.carried, *state.beyond}
    variables = [each for each in {**then.variables, **other.variables} if each in kept]
    sets = [join.join(then.variables.get(each, each.get()), other.variables.get(each, each.get()), each.name)
            for each in variables]
    made = then.made | other.made
    contents = {**then.contents, **other.contents}
    things = [(thing, before) for key, (thing, before, _) in contents.items() if key not in made]
    puts = []
    for thing, before in things:
        afters = [each.contents[id(thing)][2] if id(thing) in each.contents else before for each in (then, other)]
        if isinstance(thing, ArrayTracer):
            a, b = (after if type(after) is Slot else after[0] for after in afters)
        else:
            a, b = afters
        puts.append(join.join(a, b, name_of(thing, state)))
    result = join.join(then.result, other.result, "the result")
    leaves = _computed(trace, test, then, other, join)
    for variable, make in zip(variables, sets):
        variable.set(make(leaves))
    for (thing, _), make in zip(things, puts):
        if isinstance(thing, ArrayTracer):
            trace.write(thing, fitted_content(trace, thing, trace.read(make(leaves))))
        else:
            trace.undo_log.log(thing)
            put_back(thing, make(leaves))
    for array, why in {**then.doubts, **other.doubts}.values():
        trace.undo_log.log(array)
        array.doubt = why
    value = result(leaves)
    trace.shared.update({id(thing): thing for thing in join.shared})
    return value


def fitted_content(trace: ArrayTrace, array: ArrayTracer, value: Any) -> Any:
    with core.set_current_trace(trace.parent_trace):
        return fitted(value, array.aval)


def name_of(thing: Any, state: State) -> str:
    """A changed object in the words of an error message: the name of a variable, if there is one."""
    variables = (*state.carried, *state.passing, *state.beyond)
    name = next((variable.name for variable in variables if variable.get() is thing), None)
    return name or ("an array" if isinstance(thing, ArrayTracer) else f"a {type(thing).__name__}")


def _computed(trace: ArrayTrace, test: Any, then: Outcome, other: Outcome, join: Join) -> list[Any]:
    """The joined leaves, as arrays of the program."""
    avals, flagged = [], []
    for (a, b), name in zip(join.pairs, join.names):
        present = [leaf for leaf in (a, b) if type(leaf) is not Hole]
        try:
            aval = aval_of(present[0]) if len(present) == 1 else unified(aval_of(a), aval_of(b))
        except DifferentShapes:
            shapes = " and ".join(str(aval_of(each).shape) for each in (a, b))
            raise Mismatch(f"`{name}` has the shapes {shapes}") from None
        avals.append(varying_type(aval, axes_of(test)))
        flagged.append(next((absent for leaf in (a, b) if (absent := absence(leaf)) is not None), None))

    with core.set_current_trace(trace.parent_trace):
        outer = [[value_before(trace, leaf, aval, outcome) for leaf, aval in zip(leaves, avals)]
                 for leaves, outcome in zip(zip(*join.pairs), (then, other))]

    def results(outcome: Outcome, side: int) -> list[Any]:
        values = outcome.run()
        leaves = [value_of(trace, pair[side], aval, outcome, values) if known is None else known
                  for pair, aval, known in zip(join.pairs, avals, outer[side])] if outer else []
        flags = [flag_of(trace, pair[side], values) for pair, flag in zip(join.pairs, flagged) if flag]
        return leaves + [varying(flag, axes_of(test)) for flag in flags]

    with core.set_current_trace(trace.parent_trace):
        if not avals and not (then.jaxpr.effects or other.jaxpr.effects):
            values: list[Any] = []
        elif is_cheap(then.jaxpr) and is_cheap(other.jaxpr):
            trace.note("`if`", "select", "both branches are cheap")
            values = [lax.select(_spread(test, a), a, b) for a, b in zip(results(then, 0), results(other, 1))]
        else:
            trace.note("`if`", "cond", "")
            values = lax.cond(test, lambda: results(then, 0), lambda: results(other, 1))
    flags = iter(values[len(avals):])
    made: dict[Slot, ArrayTracer] = {}
    leaves = []
    for pair, value, absent in zip(join.pairs, values, flagged):
        array = trace.array(value)
        for leaf, is_then in zip(pair, (True, False)):
            _relate(trace, array, leaf, (test, is_then), made)
        if absent is not None:
            array.absent = Absent(trace.array(next(flags)), *absent)
        leaves.append(array)
    return leaves


def _relate(
    trace: ArrayTrace, array: ArrayTracer, leaf: Any, same: tuple[Any, bool], made: dict[Slot, ArrayTracer]
) -> None:
    """Note which arrays a joined array may be, by one of its two leaves; it is that one where a test has a value."""
    if type(leaf) is ArrayTracer and leaf.ndim:
        if leaf.part_of is None and leaf.aval.dtype == array.aval.dtype:
            test, value = same
            trace.link(array, leaf, test if value else _inverse(trace, test))
        else:
            trace.relate(array, leaf)
    elif type(leaf) is Slot and leaf.aval.ndim:
        for other in (*leaf.kin, *(made[mate] for mate in (leaf, *leaf.mates) if mate in made)):
            trace.relate(array, other)
        made[leaf] = array


def _inverse(trace: ArrayTrace, test: Any) -> Any:
    with core.set_current_trace(trace.parent_trace):
        return lax.bitwise_not(test)


def _spread(test: Any, like: Any) -> Any:
    return lax.broadcast(test, like.shape) if like.ndim else test


def kin_of(leaf: Any) -> tuple[ArrayTracer, ...]:
    """The arrays that a leaf may be, or may be a part of, if it is an array of the program."""
    if type(leaf) is Slot:
        return leaf.kin if leaf.aval.ndim else ()
    return (leaf.root, *leaf.kin) if type(leaf) is ArrayTracer and leaf.ndim else ()


def absence(leaf: Any) -> tuple[Any, str] | None:
    """Return the value in place of a leaf that may be missing, and the name of its variable; or None."""
    if type(leaf) is Hole:
        return leaf.value, leaf.name
    if type(leaf) is Slot:
        return leaf.absent and leaf.absent[1:]
    return leaf.absent and leaf.absent[1:] if type(leaf) is ArrayTracer else None


def value_of(trace: ArrayTrace, leaf: Any, aval: Any, outcome: Outcome, values: list[Any]) -> Any:
    """The value of a leaf after a body, given the body's results, as one of a type."""
    return empty(aval) if type(leaf) is Hole else fitted(value_after(trace, leaf, outcome, values), aval)


def value_before(trace: ArrayTrace, leaf: Any, aval: Any, outcome: Outcome) -> Any:
    """The value of a leaf that a body does not compute, as one of a type; None if the body computes it."""
    if type(leaf) is Slot or (type(leaf) is ArrayTracer and id(leaf.root) in outcome.contents):
        return None
    return value_of(trace, leaf, aval, outcome, [])


def value_after(trace: ArrayTrace, leaf: Any, outcome: Outcome, results: Sequence[Any]) -> Any:
    """The value of a leaf after a body, given the body's results; an array from before it may have changed there.

    Raises:
        Doubtful: it is not known.
    """
    if type(leaf) is Slot:
        return results[leaf.at]
    if type(leaf) is ArrayTracer:
        why = outcome.unknown.get(id(leaf)) or outcome.doubts.get(id(leaf.root)) or outcome.doubts.get(id(leaf))
        if why is not None:
            raise Doubtful(f"after this line, an array may have changed: {why[1]}", *place())
    if type(leaf) is ArrayTracer and id(leaf.root) in outcome.contents:
        if leaf.part_of is not None:
            return leaf.part_of.get(value_after(trace, leaf.part_of.base, outcome, results))
        return value_after(trace, outcome.contents[id(leaf)][2], outcome, results)
    return present(trace, leaf)


def present(trace: ArrayTrace, leaf: Any) -> Any:
    """The value of a leaf, also of one that may be missing."""
    if type(leaf) is not ArrayTracer or leaf.absent is None:
        return trace.read(leaf)
    absent, leaf.absent = leaf.absent, None
    try:
        return trace.read(leaf)
    finally:
        leaf.absent = absent


def flag_of(trace: ArrayTrace, leaf: Any, values: Sequence[Any]) -> Any:
    """Whether a leaf is missing, as a bool of the trace below, given the results of its body."""
    if type(leaf) is Slot:
        return values[leaf.absent[0].at] if leaf.absent else lax.full((), False)
    if type(leaf) is ArrayTracer and leaf.absent:
        return trace.read(leaf.absent.flag)
    return lax.full((), type(leaf) is Hole)


_CHEAP = frozenset(
    "add sub neg max min select_n eq ne lt le gt ge and or not xor convert_element_type abs sign floor ceil round "
    "broadcast_in_dim reshape squeeze is_finite stop_gradient copy shift_left shift_right_arithmetic "
    "shift_right_logical clamp copy_p pvary pcast".split()
)
_CHEAP_ON_INTEGERS = _CHEAP | {"mul", "div", "rem", "integer_pow"}


def is_cheap(jaxpr: Any, limit: int = 24) -> bool:
    """Whether computing a branch that is not taken costs less than a branch of the processor, and changes no gradient.

    Operations whose derivative may be infinite are excluded, where there is one: zero times infinity is NaN.
    """
    if jaxpr.effects or sum(eqn.primitive.name != "pvary" for eqn in jaxpr.eqns) > limit:
        return False
    has_gradient = any(_kind(var.aval) not in "iub" for var in jaxpr.outvars)
    return all(_is_cheap(eqn, has_gradient) for eqn in jaxpr.eqns)


def _kind(aval: Any) -> str:
    return str(aval.dtype.kind) if hasattr(aval, "dtype") else "V"


def _is_cheap(eqn: Any, has_gradient: bool) -> bool:
    if eqn.primitive.name in ("jit", "pjit"):
        return all(_is_cheap(each, has_gradient) for each in eqn.params["jaxpr"].jaxpr.eqns)
    avals = [var.aval for var in (*eqn.invars, *eqn.outvars)]
    if any(getattr(aval, "size", 1) > 1 << 16 for aval in avals):
        return False
    integral = all(_kind(aval) in "iub" for aval in avals)
    if eqn.primitive.name == "mul" and not integral:
        return not has_gradient or any(isinstance(var, core.Literal) for var in eqn.invars)
    return eqn.primitive.name in (_CHEAP_ON_INTEGERS if integral else _CHEAP)
