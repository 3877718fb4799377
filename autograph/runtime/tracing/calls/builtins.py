"""Built-in functions in traced code: `id`, and `sorted`, `min`, `max` and `list.sort` by keys that are staged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType, NoneType
from typing import Any, NoReturn

from autograph.common.statics import is_a
from autograph.common.trace_rules import on_behalf
from autograph.runtime.tracing.proxies.graph_break import Plain
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.staged_containers import contains_proxy
from autograph.runtime.tracing.state.trace import Trace

_THE_SAME = (type, ModuleType, FunctionType, BuiltinFunctionType, NoneType)  # at each call


class Identity(int):
    """What `id` gives while one traces: a number to look things up by, whose value is nobody's business."""

    trace: Trace

    def refuse(self, *_: Any) -> NoReturn:
        """Have the function run as plain Python.

        Raises:
            Plain: always.
        """
        raise Plain("id() gives another number at each call", self.trace.place())


_TEXTS_AND_ORDER = frozenset({"__repr__", "__str__", "__format__", "__lt__", "__le__", "__gt__", "__ge__"})
for _name in {*vars(int)} - {*vars(object), "__bool__", "__getnewargs__"} | _TEXTS_AND_ORDER:
    if callable(getattr(int, _name)):
        setattr(Identity, _name, Identity.refuse)


@on_behalf
def identity(trace: Trace, thing: Any) -> Any:
    """`id(thing)`, which tells whether two things are one, and is another number at each call."""
    if is_tensor(thing):
        return trace.record("call", (id, thing))
    if is_a(thing, _THE_SAME):
        return id(thing)
    trace.renewals.check(thing)
    number = Identity(id(trace.context.aliases.watched(thing)))
    number.trace = trace
    return number


@on_behalf
def by_keys(trace: Trace, function: Callable[..., Any], items: Iterable[Any], kwargs: Mapping[str, Any]) -> Any:
    """What `sorted`, `min` or `max` gives for items, with the argument `key=` among `kwargs`.

    The keys are computed in traced code, one for each item in their order, as Python does it. If one is staged, the
    comparisons wait until the graph runs.
    """
    items, others = list(items), {name: value for name, value in kwargs.items() if name != "key"}
    keys = [kwargs["key"](item) for item in items]
    if contains_proxy(keys) or contains_proxy(others):
        return trace.record("call", (compared, function, items, keys), others)
    return compared(function, items, keys, **others)


@on_behalf
def compared(function: Callable[..., Any], items: Any, keys: list[Any], **kwargs: Any) -> Any:
    """`function` of items that have these keys."""
    remaining = iter(keys)
    return function(items, key=lambda _: next(remaining), **kwargs)
