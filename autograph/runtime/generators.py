"""Comprehensions and generator expressions over staged values, or with staged conditions: lists that grow in a loop."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograph.runtime.branches import stage_if
from autograph.runtime.regions import State
from autograph.runtime.tensor import Tensor, iterated
from autograph.runtime.trace import Trace
from autograph.runtime.turns import as_tensor, is_staged, run_for
from autograph.runtime.types import ObjectType


@dataclass
class Generated:
    """A comprehension, or generator expression, whose elements are not computed yet.

    Attributes:
        parts: functions of the item: the element, or key and value.
        state: the variables that they reach.
        first: the condition of the first item, if it was computed already; else True.
    """

    iterable: Any
    parts: tuple[Callable[[Any], Any], ...]
    condition: Callable[[Any], Any] | None
    state: State
    first: Any = True
    trace: Trace | None = None

    def __iter__(self) -> Any:
        assert self.trace is not None
        return iterated(collect(self.trace, self, [], ".append"), sys._getframe(1))


def collect(trace: Trace, generated: Generated, done: Any, op: str, consumer: str = "") -> Any:
    """Compute all elements, into an object of the graph that begins with `done`.

    Args:
        op: how an element is added: `.append`, `.add` or `setitem`.
        consumer: the builtin that consumes them; `any` and `all` stop at the first that decides.
    """
    if isinstance(done, set):
        target = trace.record("call", (set, list(done)))
        target._value.type = ObjectType("set")
    else:
        target = trace.constant(type(done)(done))
    pending = [] if generated.first is True else [generated.first]

    def add(item: Any) -> None:
        trace.record(op, (target, *[part(item) for part in generated.parts]))

    def take(item: Any) -> None:
        if generated.condition is None:
            add(item)
            return
        accepted = pending.pop() if pending else generated.condition(item)
        if is_staged(accepted):
            stage_if(trace, as_tensor(accepted), lambda: add(item), None, generated.state)
        elif accepted:
            add(item)

    until = None
    if consumer in ("any", "all"):
        until = lambda: _decided(trace, target, consumer)  # noqa: E731
    options = {"unroll": False} if type(generated.iterable) is range else None
    run_for(trace, generated.iterable, take, generated.state, until, options)
    return target


def _decided(trace: Trace, target: Tensor, consumer: str) -> Any:
    decided = trace.record(consumer, (target,))
    return decided if consumer == "any" else trace.record("not", (decided,))
