"""Says which loop has no derivatives in reverse mode, where JAX only says that some loop has none.

The results of a loop with an unknown number of iterations pass through a primitive that does nothing, but to raise a
clear error where reverse mode transposes it.
"""

from __future__ import annotations

from typing import Any

from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from autograph.errors import StagingError

_result = Primitive("loop_result")
_tangent = Primitive("loop_tangent")


def results_of_loop(values: list[Any], construct: str, where: tuple[Any, ...]) -> list[Any]:
    """Return the values of a loop's variables after it, with the guard around floats."""
    message = (
        f"this {construct} has no derivatives in reverse mode, as JAX does not know how often it runs. Set a bound, in "
        "its body: ag.set_loop_options(max_trips=n); or use forward mode (jax.jvp, jax.jacfwd)"
    )
    guard = {"message": message, "where": tuple(where)}
    return [_result.bind(value, **guard) if value.dtype.kind in "fcV" else value for value in values]


def _jvp(primals: Any, tangents: Any, **guard: Any) -> Any:
    tangent = tangents[0]
    is_zero = type(tangent) is ad.Zero
    return _result.bind(*primals, **guard), tangent if is_zero else _tangent.bind(tangent, **guard)


def _transpose(cotangent: Any, value: Any, *, message: str, where: tuple[Any, ...]) -> Any:
    if type(cotangent) is ad.Zero:
        return [cotangent]
    raise StagingError(message, *where)


def _define(primitive: Primitive) -> None:
    primitive.def_impl(lambda value, **_: value)
    primitive.def_abstract_eval(lambda aval, **_: aval)
    batching.primitive_batchers[primitive] = lambda args, dims, **guard: (primitive.bind(*args, **guard), dims[0])
    mlir.register_lowering(primitive, lambda context, value, **_: [value])


_define(_result)
_define(_tangent)
ad.primitive_jvps[_result] = _jvp
ad.primitive_jvps[_tangent] = lambda primals, tangents, **guard: (
    _tangent.bind(*primals, **guard),
    tangents[0] if type(tangents[0]) is ad.Zero else _tangent.bind(tangents[0], **guard),
)
ad.primitive_transposes[_tangent] = _transpose
