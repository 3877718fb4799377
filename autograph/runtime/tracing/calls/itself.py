"""The calls of a traced function by itself, where only data decide how deep it recurses."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.recursion import Itself
from autograph.runtime.graph.signature import Signature, Static
from autograph.runtime.graph.static_keys import static_key
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.trace import Trace


def recorded_itself(
    trace: Trace, function: FunctionType, traced: Any, signature: Signature, staged: Any
) -> Callable[..., Any]:
    """The function that traced code calls instead of the traced one: it records a call of `Itself`.

    Args:
        traced: its traced form, whose defaults are those of the graph.
        signature: that of the trace.
        staged: the staged function that the program calls; None if that is the plain one.
    """

    @functools.wraps(function)
    @on_behalf
    def itself(*args: Any, **kwargs: Any) -> Any:
        parameters = inspect.Signature.from_callable(traced, follow_wrapped=False)
        bound = parameters.bind(*args, **kwargs)
        bound.apply_defaults()
        values = bound.arguments
        keywords = sum(each.kind is each.KEYWORD_ONLY for each in parameters.parameters.values())
        fits = _is_alike(signature, values, len(values) - keywords)
        called = Itself(function, staged, tuple(values), keywords, fits)
        trace.callbacks.note(function, tuple(values.values()))
        return trace.record("call", (called, *values.values()))

    return itself


def is_variadic(function: Any) -> bool:
    """Whether a function takes any number of arguments, or may do so, as it is written in C."""
    code = getattr(function, "__code__", None)
    return code is None or bool(code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS))


def _is_alike(signature: Signature, values: Mapping[str, Any], positional: int) -> bool:
    """Whether the static arguments of a call are those of a signature that flattens nothing."""
    args, kwargs = signature.tree
    parts = [*args, *(kwargs[name] for name in list(values)[positional:])]
    if not all(type(part) is int for part in parts):
        return False
    leaves = [signature.leaves[number] for number in parts]
    return all(
        not isinstance(leaf, Static) or (not is_tensor(value) and static_key(value) == leaf.key)
        for leaf, value in zip(leaves, values.values())
    )
