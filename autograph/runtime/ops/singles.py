"""How machine code does functions of NumPy on single numbers.

Those that are exact or rounded correctly are an instruction or a few. For others it calls the loop that NumPy runs.
"""

from __future__ import annotations

from typing import Any

from autograph.runtime.opdef import Lower
from autograph.runtime.operands import Emitter, NoLowering, Number
from autograph.runtime.ops.exact import RULES
from autograph.runtime.ops.scalars import fitted, number, result

_WARN = ("sqrt", "square", "reciprocal")
_QUIET = ("fabs", "absolute", "sign", "floor", "ceil", "trunc", "rint", "copysign", "isnan", "isinf", "isfinite")
_CALLED = tuple(
    """exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh cbrt
    power arctan2 hypot""".split()
)
OF_NUMBERS = (*_WARN, *_QUIET, *_CALLED)


def of_numbers(op: str, name: str) -> Lower:
    """The function of that name, which is what an op does."""

    def lowered(emit: Emitter, *args: Any) -> Number:
        given = [number(emit, arg) for arg in args]
        type = result(op, *given)
        if type.dtype.kind == "f":
            given = [fitted(emit, each, type) for each in given]
        elif type.dtype.kind != "b":
            raise NoLowering
        found = emit.ufunc(name, type, *given) if name in _CALLED else RULES[name](emit, *given)
        if name in _WARN:
            emit.leave_if_warned(found, *given)
        return Number(type, found.ref)

    return lowered
