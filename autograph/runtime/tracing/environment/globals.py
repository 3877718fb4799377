"""The globals of traced code, in front of those of its module."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from types import ModuleType
from typing import Any

from autograph.common.statics import module_name
from autograph.common.trace_rules import COMPUTING, on_behalf
from autograph.runtime.graph.graph import Constant
from autograph.runtime.tracing.environment.guards import is_alike
from autograph.runtime.tracing.environment.object_source import Source, constant
from autograph.runtime.tracing.proxies.stand_in import ModuleStandIn
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import Fallback

MOCKED = frozenset({"input", "open"})  # builtins that do input and output, which tests replace
OWN_NAMES = frozenset({"__builtins__", "__name__", "__warningregistry__"})  # set by Python itself


class ModuleView(ModuleStandIn):
    """The stand-in for a module of the user's: its attributes are the globals of traced code."""

    __slots__ = ()

    @staticmethod
    @on_behalf
    def get(module: ModuleType, names: Globals, name: str) -> Any:
        if name == "__dict__":
            return names
        own = (base for base in type(module).__mro__ if base not in (ModuleType, object))
        if any(name in base.__dict__ for base in own):
            names.trace.graph_break(f"{name} is an attribute of the class of the module {module_name(module)}")
        try:
            return names[name]
        except KeyError:
            if (name.startswith("__") and name.endswith("__")) or "__getattr__" not in names.real:
                return getattr(module, name)
            return names.trace.context.calls.replacement(names["__getattr__"])(name)

    @staticmethod
    @on_behalf
    def set(module: ModuleType, names: Globals, name: str, value: Any) -> None:
        dict.__setitem__(names, name, value)


class Builtins(dict[str, Any]):
    """The builtins of traced code. Stand-ins are made when the code first names them.

    Args:
        names: the real builtins.
        unchanged: those that traced code uses as they are.
        make: returns the stand-in for another one.
    """

    def __init__(self, names: dict[str, Any], unchanged: dict[str, Any], make: Callable[[str, Any], Any]) -> None:
        super().__init__({name: value for name, value in names.items() if unchanged.get(name) is value})
        self._names = names
        self._make = make

    def __missing__(self, name: str) -> Any:
        value = self[name] = self._make(name, self._names[name])
        return value

    def __contains__(self, name: object) -> bool:
        return name in self._names


class Globals(Fallback):
    """The globals of traced code: the names that it assigned, then those captured from its module."""

    def __init__(self, real: dict[str, Any], builtins: dict[str, Any], trace: Trace) -> None:
        super().__init__({"__builtins__": builtins, "__warningregistry__": {}})  # as Python itself sets them
        if "__name__" in real:
            dict.__setitem__(self, "__name__", real["__name__"])
        self.real = real
        self.trace = trace
        self._environment = trace.context.environment
        self.captured: dict[str, Any] = {}
        self._view: ModuleView | None = None

    def __missing__(self, name: str) -> Any:
        if name not in self.captured:
            if name not in self.real and name not in dict.__getitem__(self, "__builtins__"):
                condition = "name not in module", {"name": name, "module": self.real}
                self._environment.guard(condition, f"that there is no {name}")
            elif name in MOCKED and name not in self.real:
                self._guard_builtin(name)
            value = self.real[name]
            source = Source("getitem", (Constant(self.real), name), f"module[{name!r}]", (("module", self.real),), name)
            self.captured[name] = self._environment.capture(value, source)
        return self.captured[name]

    def _guard_builtin(self, name: str) -> None:
        """Guard a builtin that tests replace; guards of all builtins would slow down each call."""
        names = self.real.get("__builtins__", builtins)
        names = vars(names) if type(names) is ModuleType else names
        parts = {"name": name, "module": self.real, "builtins": names, "builtin": names[name]}
        self._environment.guard(("name not in module and builtins[name] is builtin", parts), f"the builtin {name}")

    def read(self) -> set[str]:
        """The names that traced code has read or set."""
        return {name for name in self if name not in OWN_NAMES} | self.captured.keys()

    def view(self, module: ModuleType) -> ModuleView:
        """The stand-in for the module with these globals."""
        if self._view is None:
            self._view = ModuleView(module, self)
            if module_name(module).partition(".")[0] not in COMPUTING:
                condition = is_alike(module, constant(module, f"module_{id(module)}", module_name(module)))
                self._environment.guard(condition, f"the class of the module {module_name(module)}")
        return self._view

    def __getitem__(self, name: Any) -> Any:
        return dict.__getitem__(self, name) if dict.__contains__(self, name) else self.__missing__(name)

    def get(self, name: Any, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default

