"""`id(…)` in traced code: it tells whether two things are one, and is another number at each call."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, ModuleType, NoneType
from typing import Any, NoReturn

from autograph.common.statics import is_a
from autograph.common.trace_rules import on_behalf
from autograph.runtime.tracing.proxies.graph_break import Plain
from autograph.runtime.tracing.proxies.proxy import is_tensor
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
        raise Plain("the number that id() gives is another one at each call", self.trace.place())


_TEXTS_AND_ORDER = frozenset({"__repr__", "__str__", "__format__", "__lt__", "__le__", "__gt__", "__ge__"})
for _name in {*vars(int)} - {*vars(object), "__bool__", "__getnewargs__"} | _TEXTS_AND_ORDER:
    if callable(getattr(int, _name)):
        setattr(Identity, _name, Identity.refuse)


@on_behalf
def identity(trace: Trace, thing: Any) -> Any:
    """`id(thing)`."""
    if is_tensor(thing):
        return trace.record("call", (id, thing))
    if is_a(thing, _THE_SAME):
        return id(thing)
    trace.renewals.check(thing)
    number = Identity(id(trace.watched(thing)))
    number.trace = trace
    return number
