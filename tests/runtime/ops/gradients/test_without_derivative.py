"""Which ops give floats and have no derivative, and why: a gradient that depends on one is refused, never wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograph.runtime.graph.opdef import OPS, OpDef
from autograph.runtime.graph.traits import GRADIENT
from autograph.runtime.graph.types import ANY, FLOAT, ObjectType, TensorType, array

pytestmark = pytest.mark.once

WITHOUT = {
    "the reverse of a graph deals with them itself": """
        bound build custom_gradient
    """,
    "passes make them, behind the reverse": """
        room
    """,
    "containers and iterators, whose items the trace knows or the gradient is refused": """
        enumerate filter iter reversed tuple zip
    """,
    "they are made of no floats that vary": """
        np.bartlett np.blackman np.empty np.eye np.fft.fftfreq np.fft.rfftfreq np.frombuffer np.hamming np.hanning
        np.identity np.kaiser np.ones np.tri np.zeros
    """,
    "they take the bits of floats for something else": """
        .byteswap .view
    """,
    "which elements, and how many, they give is up to the values": """
        np.histogram np.histogram_bin_edges np.intersect1d np.setdiff1d np.setxor1d np.trim_zeros np.union1d
        np.unique_all np.unique_counts np.unique_inverse
    """,
    "of binary ufuncs that are no sums, products or extremes nobody uses these methods": """
        np.arctan2.accumulate np.arctan2.reduce np.arctan2.reduceat np.copysign.accumulate np.copysign.reduce
        np.copysign.reduceat np.divide.accumulate np.divide.reduce np.divide.reduceat np.float_power.accumulate
        np.float_power.reduce np.float_power.reduceat np.floor_divide.accumulate np.floor_divide.reduce
        np.floor_divide.reduceat np.fmod.accumulate np.fmod.reduce np.fmod.reduceat np.heaviside.accumulate
        np.heaviside.reduce np.heaviside.reduceat np.hypot.accumulate np.hypot.reduceat np.logaddexp2.accumulate
        np.logaddexp2.reduceat np.mod.accumulate np.mod.reduce np.mod.reduceat np.nextafter.accumulate
        np.nextafter.reduce np.nextafter.reduceat np.power.accumulate np.power.reduce np.power.reduceat
        np.subtract.accumulate np.subtract.reduce np.subtract.reduceat
    """,
    "of segments only sums are common": """
        np.fmax.reduceat np.fmin.reduceat np.logaddexp.reduceat np.maximum.reduceat np.minimum.reduceat
        np.multiply.reduceat
    """,
    "they draw numbers from distributions that nothing but their parameters scale or shift, or that have none": """
        np.random.beta np.random.chisquare np.random.f np.random.gamma np.random.noncentral_chisquare
        np.random.noncentral_f np.random.pareto np.random.power np.random.rand np.random.randn np.random.random
        np.random.random_sample np.random.ranf np.random.sample np.random.standard_cauchy
        np.random.standard_exponential np.random.standard_gamma np.random.standard_normal np.random.standard_t
        np.random.triangular np.random.vonmises np.random.wald np.random.weibull random.betavariate
        random.gammavariate random.paretovariate random.random random.triangular random.vonmisesvariate
        random.weibullvariate
    """,
    "they choose among elements by chance": """
        np.random.choice np.random.permutation random.choice
    """,
    "in place they take arrays of integers; others they make floats only where these are given for the results": """
        iand ilshift ior irshift ixor np.isneginf np.isposinf
    """,
    "it gives indices": """
        np.ix_
    """,
    "they tell the time": """
        time.monotonic time.perf_counter time.process_time time.thread_time time.time
    """,
}


def gives_floats(op: OpDef) -> bool:
    """Whether it is known to give floats, or something in which there are, for one or two floats or arrays of them."""
    counts = (op.target.nin,) if isinstance(op.target, np.ufunc) else (1, 2)
    kinds = (FLOAT, array(float, 3), array(float, 3, 3))
    return any(_has_floats(_inferred(op, (kind,) * count)) for kind in kinds for count in counts)


def _inferred(op: OpDef, args: tuple[Any, ...]) -> Any:
    try:
        return op.infer(*args)
    except Exception:  # the rules of constructs of Python take their arguments for granted
        return ANY


def _has_floats(type: Any) -> bool:
    if isinstance(type, list):
        return any(map(_has_floats, type))
    if isinstance(type, TensorType):
        return type.dtype.kind in "fc"
    return isinstance(type, ObjectType) and any(map(_has_floats, type.items))


def test_ops_without_derivative_are_these() -> None:
    known = {name for names in WITHOUT.values() for name in names.split()}
    of_programs = {name: op for name, op in OPS.items() if op.name not in GRADIENT}
    found = {name for name, op in of_programs.items() if op.vjp is None and gives_floats(op)}
    assert found - known == set()
    assert {name for name in known - found if name in OPS} == set()


def test_ops_with_derivatives_have_one_in_some_argument_or_are_constant_between_jumps() -> None:
    """A rule for no argument at all says that the derivative is zero: these do not change with small changes."""
    constant = {name for name, op in OPS.items() if op.vjp is not None and not any(op.vjp) and gives_floats(op)}
    steps = "ceil floor rint spacing trunc around fix round".split()
    of_steps = {f"np.{name}" for name in steps} | {"math.ulp", ".round", "round"}
    of_steps |= {"floordiv", "ifloordiv", "np.floor_divide", "np.floor_divide.outer", "np.sign"}
    of_zeros = {"np.zeros_like", "np.ones_like", "np.empty_like", "zero_gradient", "some_gradient", "stop_gradient"}
    assert constant - of_steps - of_zeros == set()
