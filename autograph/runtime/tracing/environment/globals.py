"""The globals of traced code, which stand in front of those of its module."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from types import ModuleType
from typing import Any

from autograph.common.statics import module_name
from autograph.common.trace_rules import COMPUTING, on_behalf
from autograph.runtime.graph.graph import Constant
from autograph.runtime.tracing.environment.guards import is_alike
from autograph.runtime.tracing.environment.source import Source, constant
from autograph.runtime.tracing.proxies.graph_break import Plain
from autograph.runtime.tracing.proxies.stand_in import StandIn
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import Fallback

TALKING = frozenset({"input", "open"})  # builtins that speak with the world, and that tests replace
OWN_NAMES = frozenset({"__builtins__", "__name__", "__warningregistry__"})  # which are not the module's, but Python's


class ModuleView(StandIn):
    """A module of the user's, as traced code sees it: with the globals of the traced code in it."""

    __slots__ = ("_ag_globals",)

    def __init__(self, module: ModuleType, names: Globals) -> None:
        super().__init__(module)
        object.__setattr__(self, "_ag_globals", names)

    @on_behalf
    def __getattribute__(self, name: str) -> Any:  # for `operator.__eq__` is not what compares modules
        if name == "__wrapped__":
            return object.__getattribute__(self, name)
        names: Globals = object.__getattribute__(self, "_ag_globals")
        if name == "__dict__":
            return names
        own = (base for base in type(self.__wrapped__).__mro__ if base not in (ModuleType, object))
        if any(name in base.__dict__ for base in own):
            reason = f"{name} is an attribute of the class of the module {module_name(self.__wrapped__)}"
            raise Plain(reason, names.trace.place())
        try:
            return names[name]
        except KeyError:
            if (name.startswith("__") and name.endswith("__")) or "__getattr__" not in names.real:
                return getattr(self.__wrapped__, name)
            return names.trace.context.calls.replacement(names["__getattr__"])(name)

    @on_behalf
    def __setattr__(self, name: str, value: Any) -> None:
        dict.__setitem__(object.__getattribute__(self, "_ag_globals"), name, value)


class Globals(Fallback):
    """The globals of traced code: what it wrote itself, and behind that what its module holds."""

    def __init__(
        self,
        real: dict[str, Any],
        builtins: dict[str, Any],
        see: Callable[[Any, Source], Any],
        guard: Callable[[Any, str], None],
        trace: Trace,
    ) -> None:
        """
        Args:
            see: gives what traced code gets for a value.
            guard: takes the condition of a guard, and what has changed if it does not hold.
        """
        super().__init__({"__builtins__": builtins, "__warningregistry__": {}})  # as Python itself would enter them
        if "__name__" in real:
            dict.__setitem__(self, "__name__", real["__name__"])
        self.real = real
        self.see = see
        self.guard = guard
        self.trace = trace
        self.seen: dict[str, Any] = {}
        self._view: ModuleView | None = None

    def __missing__(self, name: str) -> Any:
        if name not in self.seen:
            if name not in self.real and name not in dict.__getitem__(self, "__builtins__"):
                self.guard(("name not in module", {"name": name, "module": self.real}), f"that there is no {name}")
            elif name in TALKING and name not in self.real:
                self._guard_builtin(name)
            value = self.real[name]
            source = Source("getitem", (Constant(self.real), name), f"module[{name!r}]", (("module", self.real),), name)
            self.seen[name] = self.see(value, source)
        return self.seen[name]

    def _guard_builtin(self, name: str) -> None:
        """Guard a builtin that tests replace; to look at all of them would take each call time."""
        names = self.real.get("__builtins__", builtins)
        names = vars(names) if type(names) is ModuleType else names
        parts = {"name": name, "module": self.real, "builtins": names, "builtin": names[name]}
        self.guard(("name not in module and builtins[name] is builtin", parts), f"the builtin {name}")

    def view(self, module: ModuleType) -> ModuleView:
        """What stands for the module that has these globals."""
        if self._view is None:
            self._view = ModuleView(module, self)
            if module_name(module).partition(".")[0] not in COMPUTING:
                condition = is_alike(module, constant(module, f"module_{id(module)}", module_name(module)))
                self.guard(condition, f"the class of the module {module_name(module)}")
        return self._view

    def __getitem__(self, name: Any) -> Any:
        return dict.__getitem__(self, name) if dict.__contains__(self, name) else self.__missing__(name)

    def get(self, name: Any, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default

