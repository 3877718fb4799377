"""`sorted`, `min`, `max` and `list.sort` of plain items by keys that are staged.

The keys are computed in traced code, one for each item in their order, as Python does it. If one is staged, the
comparisons wait until the graph runs; otherwise all is plain Python's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from autograph.common.trace_rules import on_behalf
from autograph.runtime.tracing.state.staged_containers import may_hold
from autograph.runtime.tracing.state.trace import Trace


@on_behalf
def by_keys(trace: Trace, function: Callable[..., Any], items: Iterable[Any], kwargs: Mapping[str, Any]) -> Any:
    """What `sorted`, `min` or `max` gives for items, with the argument `key=` among `kwargs`."""
    items, others = list(items), {name: value for name, value in kwargs.items() if name != "key"}
    keys = [kwargs["key"](item) for item in items]
    if may_hold(keys) or may_hold(others):
        return trace.record("call", (compared, function, items, keys), others)
    return compared(function, items, keys, **others)


@on_behalf
def compared(function: Callable[..., Any], items: Any, keys: list[Any], **kwargs: Any) -> Any:
    """`function` of items that have these keys."""
    remaining = iter(keys)
    return function(items, key=lambda _: next(remaining), **kwargs)
