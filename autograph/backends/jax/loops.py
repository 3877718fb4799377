"""`for` and `while` on values that are known when the program runs: `lax.scan` and `lax.while_loop`.

The body of a loop is traced once, with the variables that it changes as inputs. Where it changes more, such as an array
or an attribute, or where the type of a variable widens, it is traced again, until nothing is new.
"""

from __future__ import annotations

import dis
import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any

import jax
from jax._src import core

from autograph.backends.jax import counting
from autograph.backends.jax.arrays import Absent, ArrayTrace, ArrayTracer
from autograph.backends.jax.bodies import (
    DifferentShapes,
    Outcome,
    aval_of,
    empty,
    fitted,
    index_aval,
    traced,
    unified,
)
from autograph.backends.jax.branches import (
    absence,
    flag_of,
    kin_of,
    name_of,
    present,
    value_after,
    value_before,
    value_of,
)
from autograph.backends.jax.devices import NONE, axes_of, check_agreed, varying, varying_type
from autograph.backends.jax.lines import here, place
from autograph.backends.jax.lowering import lowered
from autograph.backends.jax.structures import BodyRaises, Hole, Mismatch, Slot, children, is_leaf, mapped, reachable
from autograph.backends.jax.undo_log import put_back
from autograph.operators.state import UNBOUND, State, Variable

Thunk = Callable[[], Any]
SHORT = 8       # loops of at most so many iterations are unrolled
FLAG = core.ShapedArray((), jax.numpy.bool_.dtype)


class Carry:
    """A leaf that a loop carries from iteration to iteration.

    Attributes:
        init: its value before the loop: a number, an array of the program, or a Hole.
        aval: its type in the loop.
        absent: what it may be instead, None or UNBOUND, with the variable's name.
        kin: the arrays from before the loop that it may be.
        at: its place among the inputs of the body.
        now: the array that it is at the beginning of the body that is being traced; later the one after the loop.
    """

    def __init__(self, init: Any, aval: Any, absent: tuple[Any, str] | None, kin: tuple[ArrayTracer, ...]) -> None:
        self.init = init
        self.aval = aval
        self.absent = absent
        self.kin = kin
        self.at = 0
        self.now: Any = None


class Again(Exception):
    """The body must be traced again, since it changes more than was known."""


class Loop:
    """A loop while it is staged.

    Attributes:
        step: runs an iteration; gets its number and the parts of `arrays`, all of the trace below. Returns whether
            there is another one, or None if only the length decides.
        length: the number of iterations, if it is known before: an int, or a staged number of the trace below.
        arrays: arrays with a part for each iteration.
        bound: the greatest number of iterations of a loop that must have derivatives.
    """

    def __init__(
        self, trace: ArrayTrace, state: State, step: Callable[[Any, Iterator[Any]], Any], construct: str,
        length: Any = None, arrays: Sequence[Any] = (), bound: int | None = None,
    ) -> None:
        self.trace = trace
        self.state = state
        self.step = step
        self.construct = construct
        self.length = length
        self.arrays = list(arrays)
        self.bound = bound
        self.where = place()
        self.variables: dict[Variable, Any] = {}        # their values before the loop, with carries for leaves
        self.contents: dict[int, tuple[Any, Any]] = {}  # of objects that the body changes, the same
        self.growing: dict[int, tuple[list[Any], list[Any]]] = {}   # lists, and what an iteration appends
        self.carries: list[Carry] = []
        self.doubts: dict[int, tuple[ArrayTracer, str]] = {}
        self.mates: dict[tuple[int, int], tuple[Carry, Carry]] = {}   # carries that may be one array
        self.others: list[Any] = []     # containers from before the loop that a variable is bound to in it
        self.axes = NONE        # of devices over which it differs how often it runs
        self.outcome = Outcome()

    @functools.cached_property
    def known(self) -> set[int]:
        """The identities of the containers and objects that variables held before the loop."""
        return {id(each) for each in reachable([variable.get() for variable in self.state.snapshot()])}

    def run(self, first: Any = None) -> bool:
        """Stage the loop; return False if it has nothing to stage, so that Python can run it.

        Args:
            first: whether there is a first iteration, if it is known only when the program runs.

        Raises:
            Mismatch: a variable changes its structure.
            BodyRaises: each iteration raises, so that the loop is a branch.
        """
        self.axes = axes_of(0 if self.length is None else self.length) | axes_of(False if first is None else first)
        for variable in self.state.carried:
            self.variables[variable] = self._carried(variable.get())
        for array in probably_stored(self.state):
            self._carry_content(array)
        for _ in range(20):
            self._trace()
            try:
                ends = self._compare()
            except Again:
                continue
            return self._staged(first, ends)
        raise here(f"{self.construct}: the types of its variables change in each iteration")

    def _staged(self, first: Any, ends: dict[Carry, Any]) -> bool:
        needs_nothing = first is None and not self.growing and not self.arrays
        is_known = self.length is None or type(self.length) is int
        if needs_nothing and is_known and counting.is_independent(self.outcome, self.carries):
            return False
        known: dict[Carry, Any] = {}
        if first is None and self.length is None:
            counted = counting.count(self.outcome, self.carries, ends)
            if counted is not None:
                self.length, known = counted
                self.outcome.result = None
                if self.length <= SHORT:
                    self.trace.note(self.construct, "unrolled", f"{self.length} iterations")
                    return False
        check_agreed(self.outcome.jaxpr, self.axes, self.construct)
        self._finish(self._emit(first, ends), {**ends, **known})
        return True

    def _carried(self, value: Any, keeps: bool = False) -> Any:
        """Return a value with carries for its leaves.

        Args:
            keeps: leave containers in it that were there before the loop. If they change, they have own carries.
        """
        def carry(leaf: Any) -> Any:
            aval = core.typeof(present(self.trace, leaf))
            self.carries.append(Carry(leaf, aval, absence(leaf), kin_of(leaf)))
            return self.carries[-1]

        return mapped(value, carry, lambda thing: keeps and id(thing) in self.known, {})

    # Tracing the body -------------------------------------------------------------------------------------------------

    def _trace(self) -> None:
        avals = [FLAG, index_aval(), *(row_of(core.typeof(array)) for array in self.arrays)]
        for carry in self.carries:
            carry.at, carry.aval = len(avals), varying_type(carry.aval, self.axes)
            avals += [carry.aval] if carry.absent is None else [carry.aval, FLAG]
        avals = [varying_type(aval, self.axes) for aval in avals]
        self.outcome = traced(self.trace, self._iteration, self.state, self._start, avals, axes=self.axes)
        if self.outcome.raised is not None:
            raise BodyRaises

    def _start(self, arguments: list[Any]) -> tuple[Any, bool]:
        """Let variables and objects be the inputs of the body; return the condition under which it runs."""
        trace = self.trace
        self.inputs = [trace.read(each) for each in arguments[1 : 2 + len(self.arrays)]]
        for carry in self.carries:
            carry.now = arguments[carry.at]
            if carry.absent is not None:
                carry.now.absent = Absent(arguments[carry.at + 1], *carry.absent)
        for carry in self.carries:
            for array in carry.kin:
                trace.relate(carry.now, array)
        for one, other in self.mates.values():
            trace.relate(one.now, other.now)
        placed: dict[int, Any] = {}
        self._place(placed)
        trace.shared.update(copies_of(placed))
        for items, _ in self.growing.values():
            trace.undo_log.log(items)
            unknown = trace.array(self.inputs[0])
            unknown.doubt = "it is an item of a list that grows in the loop"
            items[:] = [unknown]
        return trace.read(arguments[0]), True

    def _place(self, memo: dict[int, Any]) -> None:
        """Let variables and objects hold what their carries are now."""
        trace = self.trace
        for variable, value in self.variables.items():
            variable.set(replaced(value, memo))
        for thing, held in self.contents.values():
            if not isinstance(thing, ArrayTracer):
                trace.undo_log.log(thing)
                put_back(thing, replaced(held, memo))
            elif held.now is not thing:
                trace.write(thing, trace.read(held.now))
        for array, why in self.doubts.values():
            trace.undo_log.log(array)
            array.doubt = why

    def _iteration(self) -> Any:
        index, *parts = self.inputs
        return self.step(index, iter(parts))

    # What an iteration changes ----------------------------------------------------------------------------------------

    def _compare(self) -> dict[Carry, Any]:
        """Return the value of each carry after an iteration.

        Raises:
            Again: there are more of them, or their types widen.
            Mismatch: a variable changes its structure.
        """
        outcome, again = self.outcome, False
        ends: dict[Carry, Any] = {}
        for variable, value in list(self.variables.items()):
            new = outcome.variables.get(variable, variable.get())
            self.variables[variable], wider = self._match(value, new, variable.name, ends)
            again |= wider
        for variable in outcome.variables.keys() - self.variables.keys():
            if variable in self.state.beyond:
                value, new = self._carried(variable.get()), outcome.variables[variable]
                self.variables[variable], again = self._match(value, new, variable.name, ends)[0], True
        for key, (thing, before, after) in outcome.contents.items():
            again |= key not in outcome.made and self._match_contents(key, thing, before, after, ends)
        for key, doubt in outcome.doubts.items():
            again |= key not in self.doubts
            self.doubts[key] = doubt
        if self._find_mates(ends) or again or self._differs_more():
            raise Again
        for thing, held in self.contents.values():
            if isinstance(thing, ArrayTracer):
                ends.setdefault(held, held.now)     # it was not stored into
        return ends

    def _differs_more(self) -> bool:
        """Whether it differs between devices how often the loop runs, and this was not known."""
        before, result = self.axes, self.outcome.result
        self.axes |= axes_of(aval_of(result)) if isinstance(result, (Slot, jax.Array)) else NONE
        return self.axes != before

    def _find_mates(self, ends: dict[Carry, Any]) -> bool:
        """Find the carries that may be one array after an iteration; whether there are more than were known."""
        by_slot: dict[int, list[Carry]] = {}
        for carry, end in ends.items():
            if type(end) is Slot and end.aval.ndim:
                by_slot.setdefault(id(end), []).append(carry)
        pairs = [(one, other) for group in by_slot.values() for one in group[:1] for other in group[1:]]
        for carry, end in ends.items():
            mates = end.mates if type(end) is Slot else ()
            pairs += [(carry, other) for mate in mates for other in by_slot.get(id(mate), ())]
        new = {tuple(sorted((one.at, other.at))): (one, other) for one, other in pairs if one is not other}
        found = [pair for pair in new.values() if (id(pair[0]), id(pair[1])) not in self.mates]
        self.mates.update({(id(one), id(other)): (one, other) for one, other in found})
        return bool(found)

    def _match_contents(self, key: int, thing: Any, before: Any, after: Any, ends: dict[Carry, Any]) -> bool:
        """Compare what an object holds before and after an iteration; whether it was not known to change."""
        if type(thing) is list and (grown := self._grown(key, thing, before[0], after[0])) is not None:
            return grown
        name = name_of(thing, self.state)
        known = key in self.contents
        if not known and isinstance(thing, ArrayTracer):
            self._carry_content(thing)
        elif not known:
            self.contents[key] = thing, self._carried(before, keeps=True)
        _, held = self.contents[key]
        if isinstance(thing, ArrayTracer):
            ends[held] = after
            return self._widen(held, after, name) or not known
        held, wider = self._match(held, after, name, ends)
        self.contents[key] = thing, held
        return wider or not known

    def _carry_content(self, array: ArrayTracer) -> None:
        """Let the loop carry the value of an array that an iteration stores into."""
        self.carries.append(Carry(array, array.aval, None, ()))
        self.contents[id(array)] = array, self.carries[-1]

    def _grown(self, key: int, items: list[Any], before: list[Any], after: list[Any]) -> bool | None:
        """Whether it was not known that a list grows; None if it does not only grow."""
        if key not in self.growing:
            if len(after) <= len(before) or any(a is not b for a, b in zip(before, after)):
                return None
            self.growing[key] = items, []
            return True
        if len(after) < 1 or not isinstance(after[0], (Slot, ArrayTracer)):
            raise Mismatch("a list both grows and loses items")
        self.growing[key] = items, after[1:]
        return False

    def _match(self, old: Any, new: Any, name: str, ends: dict[Carry, Any]) -> tuple[Any, bool]:
        """Compare a value with carries for leaves with the value after an iteration.

        Returns:
            the value with carries that it must have, and whether this is another one, or has wider types.
        """
        if type(old) is Carry:
            if new is None or new is UNBOUND:
                new = Hole(new, name)
            elif not is_leaf(new):
                raise Mismatch(f"`{name}` is a number before an iteration, and a {type(new).__name__} after it")
            ends[old] = new
            return old, self._widen(old, new, name)
        if old is new:
            return old, False
        if old is None or old is UNBOUND:
            return self._carried_hole(old, new, name), True
        parts, parts_new = children(old), children(self.outcome.held(new))
        if type(old) is not type(new) or parts is None or parts_new is None:
            if type(old) is type(new) and parts is parts_new is None and old == new:
                return old, False
            kinds = type(old).__name__, type(new).__name__
            raise Mismatch(f"`{name}` is a {kinds[0]} before an iteration and a {kinds[1]} after it")
        if id(old) in self.known and (carried := self._carried(old)) is not old:
            return self._match(carried, new, name, ends)[0], True
        (items, make), (items_new, _) = parts, parts_new
        if id(new) in self.known and not any(new is each for each in self.others):
            self.others.append(new)
        if len(items) != len(items_new):
            raise Mismatch(f"`{name}` has {len(items)} items before an iteration and {len(items_new)} after it")
        found = [self._match(a, b, name, ends) for a, b in zip(items, items_new)]
        changed = any(a is not b for a, (b, _) in zip(items, found))
        return make([each for each, _ in found]) if changed else old, any(wider for _, wider in found)

    def _carried_hole(self, missing: Any, new: Any, name: str) -> Any:
        """Return the carries of a variable that is unbound, or None, before the loop."""
        def carry(leaf: Any) -> Any:
            made = Carry(Hole(missing, name), aval_of(leaf), (missing, name), kin_of(leaf))
            self.carries.append(made)
            return made

        if missing is None and not is_leaf(new):
            raise Mismatch(f"`{name}` is None before an iteration and a {type(new).__name__} after it")
        return mapped(self.outcome.held(new), carry, lambda thing: False, {})

    def _widen(self, carry: Carry, new: Any, name: str) -> bool:
        again = False
        if (absent := absence(new)) is not None and carry.absent is None:
            carry.absent, again = absent, True
        if type(new) is Hole:
            return again
        try:
            aval = unified(carry.aval, aval_of(new), broadcast=self._runs())
        except DifferentShapes:
            shapes = f"{carry.aval.shape} before an iteration and {aval_of(new).shape} after it"
            raise Mismatch(f"`{name}` has the shape {shapes}") from None
        if aval != carry.aval:
            same_type = aval == carry.aval.update(weak_type=aval.weak_type)
            carry.aval, again = aval, not (same_type and self._has_one_width())
        known = {id(each) for each in carry.kin}
        more = tuple(each for each in kin_of(new) if id(each) not in known)
        if more and not self._is_same(carry, new):
            carry.kin, again = (*carry.kin, *more), True
        return again

    def _runs(self) -> bool:
        """Whether there is an iteration for sure."""
        return type(self.length) is int and self.length > 0

    def _is_same(self, carry: Carry, end: Any) -> bool:
        """Whether an iteration leaves a carry as it is."""
        outcome = self.outcome
        return end is carry.now or (type(end) is Slot and outcome.jaxpr.outvars[end.at] is outcome.inputs[carry.at])

    def _has_one_width(self) -> bool:
        """Whether all floats of an iteration have one type, and all integers.

        Then it computes the same whether a number is Python's (weakly typed) or an array's.
        """
        avals = [var.aval for eqn in self.outcome.jaxpr.eqns for var in (*eqn.invars, *eqn.outvars)]
        dtypes = {aval.dtype for aval in avals if hasattr(aval, "dtype")}
        return all(sum(dtype.kind == kind for dtype in dtypes) <= 1 for kind in "ifuc") and not any(
            dtype.kind == "V" for dtype in dtypes)

    # The loop of JAX --------------------------------------------------------------------------------------------------

    def _emit(self, first: Any, ends: dict[Carry, Any]) -> list[Any]:
        """Run the iterations; return the final values of the carries, and what was appended to lists."""
        trace = self.trace
        with core.set_current_trace(trace.parent_trace):
            init: list[Any] = []
            moving, inputs = [], []
            self.arrays = [varying(array, self.axes) for array in self.arrays]
            if isinstance(self.length, jax.Array):
                self.length = varying(self.length, self.axes)
            for carry in self.carries:
                is_hole = type(carry.init) is Hole
                start = [empty(carry.aval) if is_hole else fitted(present(trace, carry.init), carry.aval)]
                if carry.absent is not None:
                    start.append(flag_of(trace, carry.init, ()))
                start = [varying(each, self.axes) for each in start]
                if self._stays(carry, ends[carry]):
                    inputs += start
                else:
                    moving.append(carry)
                    inputs += [None] * len(start)
                    init += start

            if any(type(carry.init) is int and carry.aval.dtype == "int32" for carry in moving):
                _warn_of_32_bits(self.where)
            outer = {carry: value_before(trace, ends[carry], carry.aval, self.outcome) for carry in moving}

            def iterate(go: Any, index: Any, parts: Any, values: Any) -> tuple[Any, list[Any], list[Any]]:
                rest = iter(values)
                results = self.outcome.run(
                    go, index, *parts, *(next(rest) if value is None else value for value in inputs))
                new: list[Any] = []
                for carry in moving:
                    end, known = ends[carry], outer[carry]
                    new.append(value_of(trace, end, carry.aval, self.outcome, results) if known is None else known)
                    if carry.absent is not None:
                        new.append(varying(flag_of(trace, end, results), self.axes))
                more = self.outcome.result
                more = more if more is None else value_after(trace, more, self.outcome, results)
                return more, new, [results[slot.at] for slot in self._appended()]

            return lowered(self, first, init, iterate, self._sources(moving, ends, inputs))

    def _sources(
        self, moving: list[Carry], ends: dict[Carry, Any], inputs: list[Any]
    ) -> tuple[list[Any], list[tuple[Any, Any]]] | None:
        """The variables of the body's jaxpr that are carried as they are, None for others; and its known inputs.

        None instead if what the jaxpr computes behind the last statement holds only after an iteration.
        """
        jaxpr = self.outcome.jaxpr
        carried: list[Any] = []
        for carry in moving:
            end = ends[carry]
            var = jaxpr.outvars[end.at] if type(end) is Slot else None
            if not isinstance(var, core.Var):
                return None     # a number that is known after each iteration, but is another one before the first
            is_same = carry.absent is None and end.aval == carry.aval
            carried += [var] if is_same else [None] * (1 + (carry.absent is not None))
        first = len(jaxpr.invars) - len(inputs)
        known = [(var, value) for var, value in zip(jaxpr.invars[first:], inputs) if value is not None]
        return carried, [*known, *zip(jaxpr.invars, self.outcome.consts)]

    def _stays(self, carry: Carry, end: Any) -> bool:
        """Whether a carry has its first value in all iterations, so that it need not be carried."""
        return self._is_same(carry, end) and type(carry.init) is not Hole

    def _appended(self) -> list[Slot]:
        """The leaves of the items that an iteration appends to lists."""
        slots: list[Slot] = []
        for _, items in self.growing.values():
            mapped(items, lambda leaf: slots.append(leaf) if type(leaf) is Slot else None or leaf, lambda _: False, {})
        return list({slot.at: slot for slot in slots}.values())

    # After the loop ---------------------------------------------------------------------------------------------------

    def _finish(self, final: list[Any], ends: dict[Carry, Any]) -> None:
        """Let variables and objects be what the loop leaves."""
        trace, rest = self.trace, iter(final)
        has_run = self._runs()
        for carry in self.carries:
            end = ends[carry]
            if self._stays(carry, end):
                carry.now = carry.init
                continue
            value = next(rest)
            flag = next(rest) if carry.absent is not None else None
            is_constant = self.outcome.result is None and not isinstance(end, (Slot, Hole, ArrayTracer))
            if self._runs() and (is_constant or type(end) is ArrayTracer):
                carry.now = end     # the same after each iteration
                continue
            carry.now = trace.array(value)
            for array in kin_of(end) if has_run else (*kin_of(carry.init), *kin_of(end)):
                trace.relate(carry.now, array)
            if carry.absent is not None and not (has_run and absence(end) is None):
                carry.now.absent = Absent(trace.array(flag), *carry.absent)
        for one, other in self.mates.values():
            if type(one.now) is type(other.now) is ArrayTracer:
                trace.relate(one.now, other.now)
        if not has_run:     # the variables may still hold what they do now
            self.others += [old for each in self.variables if type(old := each.get()) in (list, dict)]
        placed: dict[int, Any] = {}
        self._place(placed)
        trace.shared.update({id(thing): thing for thing in self.others})
        if self.others or not has_run:
            trace.shared.update(copies_of(placed))
        self._extend_lists({slot.at: trace.array(each) for slot, each in zip(self._appended(), rest)})

    def _extend_lists(self, stacked: dict[int, ArrayTracer]) -> None:
        """Append the items of all iterations to the lists that grow."""
        trace = self.trace
        for items, appended in self.growing.values():
            trace.undo_log.log(items)
            for index in range(self.length):
                memo: dict[int, Any] = {}

                def item(leaf: Any, index: int = index) -> Any:
                    return trace.row(stacked[leaf.at], index) if type(leaf) is Slot else leaf

                items.extend(mapped(each, item, lambda _: False, memo) for each in appended)


def _warn_of_32_bits(where: tuple[Any, ...]) -> None:
    """Say, at the first loop that counts with a Python integer of 32 bits, that it does."""
    global _has_warned
    if not _has_warned and where:
        _has_warned = True
        warnings.warn_explicit(
            "this loop counts with integers of 32 bits, as JAX does by default, where Python's have any size. For 64 "
            'bits: jax.config.update("jax_enable_x64", True)', UserWarning, *where
        )


_has_warned = False


def probably_stored(state: State) -> list[ArrayTracer]:
    """Guess the arrays that a body, or a function that it calls, stores into: those named by code that stores items."""
    values = {variable: variable.get() for variable in (*state.passing, *state.beyond)}
    functions = *state.functions, *(value for value in values.values() if type(value) is FunctionType)
    names = {name for function in functions for name in _named_with_stores(function.__code__)}
    arrays: dict[int, ArrayTracer] = {}
    for variable, value in values.items():
        if variable.name in names and type(value) is ArrayTracer and value.ndim:
            arrays[id(value.root)] = value.root
    return list(arrays.values())


@functools.cache
def _named_with_stores(code: CodeType) -> frozenset[str]:
    """The free variables of the code objects in `code` that assign to items."""
    found = [_named_with_stores(const) for const in code.co_consts if isinstance(const, CodeType)]
    own = code.co_freevars if any(step.opname == "STORE_SUBSCR" for step in dis.get_instructions(code)) else ()
    return frozenset(own).union(*found)


def row_of(aval: Any) -> Any:
    """The type of a part of an array for one iteration."""
    return core.mapped_aval(aval.shape[0], 0, aval)


def copies_of(placed: dict[int, tuple[Any, Any]]) -> dict[int, Any]:
    """The containers and objects that `replaced` has made in place of others, by identity."""
    return {id(new): new for old, new in placed.values() if new is not old and not isinstance(new, tuple)}


def replaced(value: Any, memo: dict[int, Any]) -> Any:
    """Return a value with its carries replaced by what these are now."""
    if type(value) is Carry:
        return value.now
    if id(value) in memo:
        return memo[id(value)][1]
    parts = children(value)
    if parts is None:
        return value
    items, make = parts
    new = [replaced(item, memo) for item in items]
    made = value if all(a is b for a, b in zip(items, new)) else make(new)
    memo[id(value)] = value, made
    return made
