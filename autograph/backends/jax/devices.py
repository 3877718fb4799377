"""Values that differ between the devices of a `shard_map`, and constructs that some devices run and others do not.

JAX knows over which axes of devices a value varies. Where such a value meets one that all devices share, as the weights
of a network, JAX converts the shared one. The derivative of this step is a sum over the devices, for which each of them
waits. It must not happen in a branch that only some of them take, or in a loop that some leave before the others: the
program would hang. So if the condition of a construct varies, all values vary in its bodies, and the shared ones are
converted before it. JAX's `vmap` of `cond` needs the same.
"""

from __future__ import annotations

from typing import Any

import jax
from jax import lax
from jax._src import core
from jax._src.lax import lax as lax_internal

from autograph.backends.jax.lines import here

Axes = frozenset[Any]
NONE: Axes = frozenset()
_COLLECTIVES = ("psum", "pmax", "pmin", "ppermute", "pbroadcast", "all_gather", "all_to_all", "ragged_all_to_all",
                "reduce_scatter", "psend", "precv")


def axes_of(value: Any) -> Axes:
    """The axes of devices over which a value, or a value of a type, varies."""
    aval = value if isinstance(value, core.AbstractValue) else core.typeof(value)
    return frozenset(aval.manual_axis_type.varying) if isinstance(aval, core.ShapedArray) else NONE


def varying_type(aval: Any, axes: Axes) -> Any:
    """A type, varying over more axes."""
    more = axes - axes_of(aval)
    if not more or not isinstance(aval, core.ShapedArray):
        return aval
    sharding = aval.sharding.update(mesh=jax.sharding.get_abstract_mesh())
    return aval.update(sharding=sharding, manual_axis_type=aval.manual_axis_type.update(varying=axes_of(aval) | more))


def varying(value: Any, axes: Axes) -> Any:
    """A number or an array, converted to vary over more axes."""
    missing = axes - axes_of(value)
    if not missing:
        return value
    if not isinstance(value, jax.Array):
        aval = core.typeof(value)
        value = lax_internal._convert_element_type(value, aval.dtype, aval.weak_type)
    return lax.pcast(value, tuple(missing), to="varying")


def without_casts(jaxpr: Any) -> Any:
    """A jaxpr for values that do not vary."""
    same: dict[Any, Any] = {}
    eqns = []

    def source(var: Any) -> Any:
        return var if isinstance(var, core.Literal) else same.get(var, var)

    for eqn in jaxpr.eqns:
        if eqn.primitive is core.pvary_p:
            same[eqn.outvars[0]] = source(eqn.invars[0])
        else:
            eqns.append(eqn.replace(invars=list(map(source, eqn.invars))))
    return jaxpr.replace(eqns=eqns, outvars=list(map(source, jaxpr.outvars))) if same else jaxpr


class Body:
    """A body that is being traced.

    Attributes:
        outside, inside: the traces around it, and of it.
        axes: those over which its condition, or one around it, varies.
    """

    def __init__(self, outside: Any, inside: Any, axes: Axes) -> None:
        self.outside = outside
        self.inside = inside
        self.axes = axes
        self._entered: dict[int, tuple[Any, Any]] = {}

    def enter(self, value: Any) -> Any:
        """Return a value from before the body, as one that varies."""
        if self.axes <= axes_of(value):
            return value
        if id(value) not in self._entered:
            with core.set_current_trace(self.outside):
                self._entered[id(value)] = value, varying(value, self.axes)
        return self._entered[id(value)][1]


def entered(trace: Any, value: Any) -> Any:
    """Return a value as one of the innermost body of a trace, where it varies as the conditions of all bodies do."""
    if not trace.axes or not isinstance(core.typeof(value), core.ShapedArray):
        return value
    inside = [body.inside for body in trace.bodies]
    made_in = getattr(value, "_trace", None)
    first = inside.index(made_in) + 1 if made_in in inside else 0
    for body in trace.bodies[first:] if isinstance(value, jax.Array) else ():
        value = body.enter(value)
    with core.set_current_trace(inside[-1]):
        return varying(value, trace.axes)


def check_agreed(jaxpr: Any, axes: Axes, construct: str) -> None:
    """Check that devices do not wait for each other in a body that some of them do not run.

    Raises:
        StagingError: they do.
    """
    found = axes and _collective(jaxpr, axes)
    if found:
        raise here(f"{construct}: its condition differs between the devices of the axis {found[1]!r}, and its body "
                   f"calls `{found[0]}` over that axis, in which each device waits for all others. Call it before the "
                   "construct, or let all devices agree on the condition, as by jax.lax.pmax")


def _collective(jaxpr: Any, axes: Axes) -> tuple[str, Any] | None:
    """The name and the axis of an operation over one of some axes, if there is one."""
    for eqn in jaxpr.eqns:
        name = eqn.primitive.name
        if name.startswith(_COLLECTIVES):
            over = eqn.params.get("axes", eqn.params.get("axis_name", ()))
            for axis in over if isinstance(over, tuple) else (over,):
                if axis in axes:
                    return name.removesuffix("_invariant"), axis
    inner = (_collective(each, axes) for each in core.subjaxprs(jaxpr))
    return next((found for found in inner if found), None)
