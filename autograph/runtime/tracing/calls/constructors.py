"""Calls of classes in traced code: whose methods are traced into, which are recorded, and what makes classes."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from enum import Enum
from numbers import Number
from pathlib import PurePath
from typing import Any

import numpy as np

from autograph.common import trace_rules
from autograph.common.packages import is_opaque_class
from autograph.common.statics import class_attribute, module_of
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.object_model import is_made_anew, is_users, is_written, makes_named_tuples
from autograph.runtime.graph.opdef import op_of
from autograph.runtime.tracing.calls.stand_ins import MANAGERS, IteratorMaker, Recorded
from autograph.runtime.tracing.environment.environment import CapturedEnvironment
from autograph.runtime.tracing.proxies.context import Calls
from autograph.runtime.tracing.proxies.graph_break import Plain
from autograph.runtime.tracing.proxies.proxy import Tensor, is_tensor
from autograph.runtime.tracing.proxies.stand_in import original_of
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import PATCHED

# Of known libraries, whose classes and methods hide from traced code what they hold.
_OPAQUE_MODULES = frozenset("numpy fractions decimal datetime array calendar uuid".split())


class Constructing(Calls):
    """Decides what is called in the place of each class.

    Attributes:
        sentinels: what `object()` gave, which stands for itself in traced code, with the graph's own.
    """

    def __init__(self, trace: Trace, environment: CapturedEnvironment) -> None:
        self.trace = trace
        self.environment = environment
        self.sentinels: dict[int, tuple[object, Tensor]] = {}

    def constructor(self, kind: type) -> Any:
        """What to call for a class."""
        if kind is object:
            return self._sentinel
        if issubclass(kind, type) or (issubclass(kind, Enum) and not kind.__members__):
            return self.class_maker(kind)
        if kind in MANAGERS or is_made_anew(kind) or trace_rules.depends_on_settings(str(module_of(kind))):
            return Recorded(self.trace, kind)
        if is_opaque_class(kind) and not (issubclass(kind, Enum) or makes_named_tuples(kind.__new__)):
            return Recorded(self.trace, kind, only_staged=issubclass(kind, BaseException))
        if op_of(kind) is not None or _hides_its_state(kind) or kind is memoryview:
            return Recorded(self.trace, kind, only_staged=True)
        if module_of(kind) == "itertools" and issubclass(kind, Iterator):
            return IteratorMaker(self.trace, kind)
        if is_written(class_attribute(kind, "__del__")):
            raise Plain(f"{kind.__qualname__}.__del__ is called when an object is deleted", self.trace.place())
        init, new = (PATCHED.get(id(each), each) for each in (kind.__init__, kind.__new__))
        is_other = type(kind).__call__ is not type.__call__ and not trace_rules.is_plain(module_of(type(kind)))
        if trace_rules.is_plain(module_of(kind)) or not (is_written(init) or is_written(new) or is_other):
            return kind
        if is_other:
            raise Plain(f"calls of {kind.__qualname__} are those of {type(kind).__qualname__}", self.trace.place())

        @on_behalf
        def construct(*args: Any, **kwargs: Any) -> Any:
            if is_written(new):
                made = self.replacement(new)(kind, *args, **kwargs)
            else:
                made = new(kind) if new is object.__new__ else new(kind, *args, **kwargs)
            if is_tensor(made):
                raise Plain(f"{kind.__qualname__}.__new__ makes an object of it", self.trace.place())
            if is_written(init) and isinstance(made, kind):
                self.replacement(init)(made, *args, **kwargs)
            return made

        return construct

    @on_behalf
    def _sentinel(self, *args: Any, **kwargs: Any) -> object:
        """`object()`: one that traced code tells from others, and another one in each run."""
        made = object(*args, **kwargs)
        self.sentinels[id(made)] = made, self.trace.record_function(object, (), {})
        return made

    def class_maker(self, function: Any) -> Callable[..., Any]:
        """What to call for what makes classes, or tells that of a thing."""

        @on_behalf
        def make(*args: Any, **kwargs: Any) -> Any:
            if function is type and len(args) == 1:
                return Recorded(self.trace, type, only_staged=True)(original_of(*args), **kwargs)
            raise Plain(f"{function.__qualname__} makes a class", self.trace.place())

        return make


def makes_classes(function: Any) -> bool:
    """Whether a function of the standard library makes classes."""
    return type(function) is types.FunctionType and trace_rules.makes_classes(function.__module__, function.__name__)


def underlying(function: Any) -> Any:
    """The Python function of a staged one, or of a static method such as `__new__`; anything else as it is."""
    function = function.__func__ if isinstance(function, staticmethod) else function
    return function.__ag_inline__ if hasattr(type(function), "__ag_inline__") else function


def _hides_its_state(kind: type) -> bool:
    """Whether what a class makes of staged values is known only when the graph runs: a date, a fraction, a matrix."""
    if is_users(kind):
        return issubclass(kind, (np.ndarray, Number, str))
    module = str(module_of(kind))
    is_opaque = module.partition(".")[0] in _OPAQUE_MODULES or trace_rules.is_impure(module)
    return is_opaque and not issubclass(kind, (BaseException, PurePath))
