"""Traces the bodies of constructs: runs the user's code once, keeps its operations, and undoes its effects."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import lax
from jax._src import core, dtypes
from jax._src import linear_util as lu
from jax._src.interpreters import partial_eval as pe
from jax._src.lax import lax as lax_internal

from autograph.backends.jax import effects
from autograph.backends.jax.arrays import ArrayTrace, ArrayTracer, is_number
from autograph.backends.jax.devices import NONE, Axes, axes_of, entered, varying, varying_type
from autograph.backends.jax.lines import explained, is_of_jax
from autograph.backends.jax.structures import Slot, mapped, reachable
from autograph.backends.jax.undo_log import children_of, put_back
from autograph.common.cpython_internals import references
from autograph.common.messages import UNBOUND_FREE, UNBOUND_LOCAL
from autograph.common.trace_rules import files_of, is_own
from autograph.errors import AutographError
from autograph.operators.state import State, Variable

_OPERATORS = files_of("operators")


class Outcome:
    """The effect of a body, when it runs.

    Attributes:
        jaxpr, consts: what it computes; its first inputs are the constants, its results are the leaves of the values
            below.
        result: what it returns, with slots for leaves.
        variables: the new values of the variables that it rebinds.
        contents: for each object that it changes, by identity: the object, what it held before, and holds then.
        made: the identities of those that it makes.
        doubts: the arrays from before it whose values are not known after it, and why.
        unknown: the same for those that it makes.
        raised: the exception that it raises, whenever it runs; raising it is the last that the jaxpr does.
    """

    def __init__(self) -> None:
        self.jaxpr: Any = None
        self.consts: Sequence[Any] = ()
        self.result: Any = None
        self.variables: dict[Variable, Any] = {}
        self.contents: dict[int, tuple[Any, Any, Any]] = {}
        self.made: set[int] = set()
        self.doubts: dict[int, tuple[ArrayTracer, str]] = {}
        self.unknown: dict[int, tuple[ArrayTracer, str]] = {}
        self.raised: BaseException | None = None

    @property
    def inputs(self) -> list[Any]:
        """The variables of the jaxpr for the arguments of the body."""
        return list(self.jaxpr.invars[len(self.consts) :])

    def held(self, thing: Any) -> Any:
        """Return an object as it is after the body: a copy with the items that it has then."""
        if id(thing) not in self.contents:
            return thing
        held = copy.copy(thing)
        put_back(held, self.contents[id(thing)][2])
        return held

    def run(self, *arguments: Any) -> list[Any]:
        """Compute the leaves."""
        return list(core.eval_jaxpr(self.jaxpr, (), *self.consts, *arguments))

    def run_in(self, trace: ArrayTrace) -> list[Any]:
        """Compute the leaves in the trace below."""
        with core.set_current_trace(trace.parent_trace):
            return self.run()


def traced(
    trace: ArrayTrace, run: Callable[[], Any], state: State, start: Callable[[list[Any]], Any], avals: Sequence[Any],
    condition: tuple[Any, bool] | None = None, axes: Axes = NONE,
) -> Outcome:
    """Trace a body.

    Args:
        run: the body.
        state: the variables that it can reach.
        start: sets variables to the arguments of the jaxpr, which have the types `avals`. May return a condition.
        condition: a staged bool, and its value where the body runs.
        axes: those of devices over which it differs whether the body runs.
    """
    outcome = Outcome()

    def body(*arguments: Any) -> list[Any]:
        before, count = state.snapshot(), trace.count
        try:
            with trace.body(core.trace_ctx.trace, axes), trace.iterators.body(before.values()):
                reached = start([trace.array(each) for each in arguments]) or condition
                if reached:
                    trace.reach(*reached)
                try:
                    outcome.result = run()
                except Exception as error:
                    if not is_users(error):
                        raise
                    outcome.raised = _renamed(error, before)
                    effects.fail(trace, outcome.raised)
                return _collect(trace, outcome, state, before, count)
        finally:
            state.restore(before)

    with core.set_current_trace(trace.parent_trace):
        outcome.jaxpr, outcome.consts = to_jaxpr(body, avals)
    _find_made(outcome, state)
    return outcome


def _find_made(outcome: Outcome, state: State) -> None:
    """Find the objects among the changed ones that the body has made.

    Nothing refers to them that was there before: no variable, and nothing else but the outcome of the body.
    """
    changed = {key for key, (thing, _, _) in outcome.contents.items() if not isinstance(thing, ArrayTracer)}
    if not changed:
        return
    variables = [*state.snapshot(), *state.module_variables()]
    changed -= {id(thing) for thing in reachable([variable.get() for variable in variables])}
    results = [outcome.result, *outcome.variables.values(), *(after for _, _, after in outcome.contents.values())]
    in_results = {id(thing) for thing in reachable(results)}
    counts = references([outcome.contents[key][0] for key in changed])
    outcome.made = {key for key, count in zip(changed, counts) if key in in_results or count <= 1}   # in `contents`


def _renamed(error: Exception, variables: dict[Variable, Any]) -> Exception:
    """Return the error that the user's function raises: in a body, its own variables are free."""
    if type(error) is NameError and any(variable.name == error.name for variable in variables):
        if str(error) == UNBOUND_FREE.format(error.name):
            return UnboundLocalError(UNBOUND_LOCAL.format(error.name)).with_traceback(error.__traceback__)
    return error


def _collect(trace: ArrayTrace, outcome: Outcome, state: State, before: dict[Variable, Any], count: int) -> list[Any]:
    """Put slots in place of all that the body has computed; return the leaves."""
    leaves: list[Any] = []
    memo: dict[int, Any] = {}

    def slot(value: Any) -> Slot:
        value = entered(trace, value)
        leaves.append(value)
        return Slot(len(leaves) - 1, core.typeof(value))

    def lowered(leaf: Any) -> Any:
        if type(leaf) is not ArrayTracer or leaf.number <= count:
            return leaf
        if doubt := leaf.doubt or leaf.root.doubt:
            outcome.unknown[id(leaf)] = leaf, doubt
            return leaf
        absent, leaf.absent = leaf.absent, None
        made = slot(trace.read(leaf))
        arrays.append((leaf, made))
        made.kin = tuple(each.root for each in related(leaf) if each.root.number <= count)
        if absent is not None:
            leaf.absent, made.absent = absent, (slot(trace.read(absent.flag)), absent.value, absent.name)
        return made

    def keep(thing: Any) -> bool:
        return id(thing) in trace.undo_log.before

    if outcome.raised is not None:
        return []
    arrays: list[tuple[ArrayTracer, Slot]] = []
    outcome.result = mapped(outcome.result, lowered, keep, memo)
    for variable in state.changed(before):
        outcome.variables[variable] = mapped(variable.get(), lowered, keep, memo)
    rest = list(trace.undo_log.changed())
    for thing, old, new in rest:
        if isinstance(thing, ArrayTracer):
            if new[0] is not old[0] and thing.number <= count:
                outcome.contents[id(thing)] = thing, old, slot(new[0])
            if new[2] is not old[2] and thing.number <= count:
                outcome.doubts[id(thing)] = thing, new[2]
        elif not _is_unchanged(old, new):
            outcome.contents[id(thing)] = thing, old, mapped(new, lowered, keep, memo)
    slots = {id(array): made for array, made in arrays}
    roots = {id(array.root): made for array, made in reversed(arrays)}
    for array, made in arrays:
        others = [each for each in related(array) if each is not array]
        made.mates = tuple(slots.get(id(each)) or roots[id(each.root)] for each in others if id(each.root) in roots)
    return leaves


def _is_unchanged(old: Any, new: Any) -> bool:
    """Whether an object holds the very same things as before."""
    parts = [[*children_of(each)] for each in (old, new)]
    return len(parts[0]) == len(parts[1]) and all(a is b for a, b in zip(*parts))


def related(array: ArrayTracer) -> tuple[ArrayTracer, ...]:
    """The arrays that may be the same one as an array, or that it is, or may be, a part of."""
    root = array.root
    return (root, *array.kin, *root.kin, *(other for other, _ in root.links))


def is_users(error: Exception) -> bool:
    """Whether an exception is one that the user's program raises when it runs, rather than one of staging."""
    if getattr(error, "__ag_raised__", False):
        return True
    if isinstance(error, (AutographError, MemoryError)) or explained(error) is not None:
        return False
    codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not codes or codes[-1].co_filename.startswith(_OPERATORS):      # which call the program's builtins, and assert
        return True
    return not (is_own(codes[-1].co_filename) or is_of_jax(codes[-1]))


def to_jaxpr(function: Callable[..., list[Any]], avals: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
    """Trace a function of arrays to a jaxpr and its constants, which may be tracers of the traces around.

    The constants are the first inputs of the jaxpr, in all versions of JAX.
    """
    debug = lu.DebugInfo("autograph", getattr(function, "__name__", "body"), None, None)
    jaxpr, _, consts = pe.trace_to_jaxpr_dynamic(lu.wrap_init(function, debug_info=debug), list(avals))
    return pe.convert_constvars_jaxpr(jaxpr), consts


# Types of leaves ------------------------------------------------------------------------------------------------------


def aval_of(value: Any) -> Any:
    """The type of a leaf."""
    return value.aval if type(value) is Slot else core.typeof(value)


def index_aval() -> Any:
    """The type of the number of an iteration."""
    return core.ShapedArray((), jax.dtypes.canonicalize_dtype(int), weak_type=True)


class DifferentShapes(Exception):
    """Two arrays that a variable cannot hold in turn."""


def unified(a: Any, b: Any, broadcast: bool = False) -> Any:
    """The type of a variable that may have either of two.

    Raises:
        DifferentShapes: and none may be broadcast.
    """
    if a.shape != b.shape:
        if not (broadcast and () in (a.shape, b.shape)):
            raise DifferentShapes
        shape = b.shape if a.shape == () else a.shape
    else:
        shape = a.shape
    if a.dtype == b.dtype:
        dtype, weak = a.dtype, a.weak_type and b.weak_type
    else:
        dtype, weak = dtypes.result_type(_like(a), _like(b), return_weak_type_flag=True)
    source = a if a.shape == shape and (b.shape != shape or axes_of(a) >= axes_of(b)) else b
    return varying_type(source.update(shape=shape, dtype=dtype, weak_type=weak), axes_of(a) | axes_of(b))


def _like(aval: Any) -> Any:
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


def fitted(value: Any, aval: Any) -> Any:
    """Return a value of the trace below as one of a type."""
    old = core.typeof(value)
    if old.dtype != aval.dtype or old.weak_type != aval.weak_type or not isinstance(value, jax.Array):
        value = lax_internal._convert_element_type(value, aval.dtype, aval.weak_type)
    if old.shape != aval.shape:
        value = lax.broadcast(value, aval.shape) if old.shape == () else jax.numpy.broadcast_to(value, aval.shape)
    return varying(value, axes_of(aval))


def empty(aval: Any) -> Any:
    """Return a value of a type, for a variable that has none."""
    return fitted(jax.numpy.zeros(aval.shape, aval.dtype), aval)


def truth(trace: ArrayTrace, value: Any) -> Any:
    """Return the truth of an array, as a bool of the trace below."""
    value = trace.read(value)
    if value.size != 1:
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")
    with core.set_current_trace(trace.parent_trace):
        value = value.reshape(()) if value.ndim else value
        return value if value.dtype == bool else value != 0


def is_staged(value: Any) -> bool:
    """Whether the value of a number is known only when the program runs."""
    return isinstance(value, core.Tracer) and is_number(value) and value.to_concrete_value() is None
