"""How machine code does functions of NumPy on single numbers, of those that are exact or rounded correctly."""

from __future__ import annotations

from typing import Any

from autograph.runtime.opdef import Lower
from autograph.runtime.operands import Emitter, NoLowering, Number
from autograph.runtime.ops.exact import RULES
from autograph.runtime.ops.scalars import fitted, number, result

_WARN = ("sqrt", "square", "reciprocal")
_QUIET = ("fabs", "absolute", "sign", "floor", "ceil", "trunc", "rint", "copysign", "isnan", "isinf", "isfinite")
OF_NUMBERS = (*_WARN, *_QUIET)


def of_numbers(op: str, name: str) -> Lower:
    """The function of that name, which is what an op does."""
    rule = RULES[name]

    def lowered(emit: Emitter, *args: Any) -> Number:
        given = [number(emit, arg) for arg in args]
        type = result(op, *given)
        if type.dtype.kind == "f":
            given = [fitted(emit, each, type) for each in given]
        elif type.dtype.kind != "b":
            raise NoLowering
        found = rule(emit, *given)
        if name in _WARN:
            emit.leave_if_warned(found, *given)
        return Number(type, found.ref)

    return lowered
