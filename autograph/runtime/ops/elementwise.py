"""NumPy's functions of element after element that are no ufuncs, and their methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.opdef import VIEW, WRITE, Infer, declare
from autograph.runtime.ops.binding import bind, method, signature
from autograph.runtime.ops.probing import probe, real, shaped
from autograph.runtime.ops.rules import Unknown, broadcast, given_output, is_constant, operand, rule
from autograph.runtime.ops.ufuncs import operands
from autograph.runtime.types import BOOL, ObjectType, TensorType, Type, array

# The functions, by how many of their parameters are broadcast.
POINTWISE: dict[str, int] = {
    "round": 1,
    "around": 1,
    "angle": 1,
    "fix": 1,
    "i0": 1,
    "iscomplex": 1,
    "isreal": 1,
    "isneginf": 1,
    "isposinf": 1,
    "sinc": 1,
    "unwrap": 1,
    "isclose": 2,
}
TESTS = ("allclose", "array_equal", "array_equiv", "iscomplexobj", "isrealobj", "isscalar", "isfortran")


def option(arg: Any) -> Any:
    """An argument other than the operands: the type of a number, or a constant."""
    if is_constant(arg):
        return arg
    found = operand(arg)
    if found.shape:
        raise Unknown
    return found


def pointwise(function: Callable[..., Any], count: int = 1, call: Callable[..., Any] | None = None) -> Infer:
    """The rule of a function whose first `count` parameters are operands; of the method `call`, if there is one."""
    names = list(signature(function).parameters)[:count]

    @rule
    def infer(*args: Any, **kwargs: Any) -> Type:
        given = bind(function, args, kwargs)
        if out := given_output(given.pop("out", None)):
            return out
        found = operands([given.pop(name) for name in names])
        options = {key: option(arg) for key, arg in given.items()}
        return shaped(probe(call or function, *found, **options), broadcast(*(each.shape for each in found)))

    return infer


def clip_rule(call: Callable[..., Any]) -> Infer:
    """The rule of `np.clip` and `.clip`, whose bounds have several names."""

    @rule
    def infer(a: Any, *args: Any, out: Any = None, **kwargs: Any) -> Type:
        if given := given_output(args[2] if len(args) > 2 else out):
            return given
        if kwargs.keys() - {"a_min", "a_max", "min", "max"}:
            raise Unknown
        bounds = [bound for bound in (*args[:2], *kwargs.values()) if bound is not None]
        found = operands([a, *bounds])
        if len(found) == 1:
            raise Unknown
        low, high = (*found[1:], None)[:2]      # which is which does not matter here
        return shaped(probe(call, found[0], low, high), broadcast(*(each.shape for each in found)))

    return infer


@rule
def where(condition: Any, *branches: Any) -> Type:
    test = operand(condition)
    if not branches:
        return ObjectType("tuple", (array(np.intp, None),) * test.ndim)
    found = [test, *operands(branches)]
    return shaped(probe(np.where, *found), broadcast(*(each.shape for each in found)))


@rule
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Type:
    found = operand(x)
    return shaped(probe(np.interp, real(found), [0.0, 1.0], TensorType(operand(fp).dtype, (None,))), found.shape)


@rule
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Type:
    if not isinstance(condlist, (list, tuple)) or not isinstance(choicelist, (list, tuple)):
        raise Unknown
    tests, choices = list(map(operand, condlist)), operands([*choicelist, default])
    shape = broadcast(*(each.shape for each in (*tests, *choices)))

    def call(*values: Any) -> Any:
        return np.select(values[: len(tests)], values[len(tests) : -1], values[-1])

    return shaped(probe(call, *tests, *choices), shape)


@rule
def real_if_close(a: Any, tol: Any = 100) -> Type:
    """Whether it is real depends on the values."""
    found = operand(a)
    answer = shaped(probe(np.real_if_close, found), found.shape)
    if found.dtype.kind != "c":
        return answer
    return TensorType(found.dtype, found.shape, answer.kind, exact=False)


@rule
def nan_to_num(x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Type:
    found = operand(x)
    return shaped(probe(np.nan_to_num, found), found.shape)


def truth(*args: Any, **kwargs: Any) -> Type:
    """The rule of what gives a bool of Python's."""
    return BOOL


ELEMENTWISE = frozenset({"elementwise"})

for _name, _count in POINTWISE.items():
    _function = getattr(np, _name)
    if not isinstance(_function, np.ufunc):
        declare(f"np.{_name}", pointwise(_function, _count), target=_function, tags=ELEMENTWISE)
for _name in ("real", "imag"):
    declare(f"np.{_name}", pointwise(getattr(np, _name)), effect=VIEW, target=getattr(np, _name), tags=ELEMENTWISE)
declare("np.clip", clip_rule(np.clip), target=np.clip, tags=ELEMENTWISE)
declare("np.where", where, target=np.where)
declare("np.interp", interp, target=np.interp, raises=True)
declare("np.select", select, target=np.select)
declare("np.piecewise", target=np.piecewise, effect="ordered", raises=True)     # it calls functions of the user's
declare("np.real_if_close", real_if_close, effect=VIEW, target=np.real_if_close)
declare("np.nan_to_num", nan_to_num, effect=WRITE, target=np.nan_to_num)        # as `copy=False` has it
for _name in TESTS:
    declare(f"np.{_name}", truth, target=getattr(np, _name))

declare(".round", pointwise(np.round, 1, method("round")), tags=ELEMENTWISE)
declare(".clip", clip_rule(method("clip")), tags=ELEMENTWISE)
for _name in ("conj", "conjugate"):
    declare(f".{_name}", pointwise(np.real, 1, method(_name)), effect=VIEW, tags=ELEMENTWISE)
