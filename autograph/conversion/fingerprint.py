"""A text of all that the trace of a function depends on besides its arguments, to recognize a trace on disk.

These are the function's conversion, all that its code names among globals and builtins, and the same of the functions
of the user's among those, whether or not they come to be called. What cannot be told by text, or is not the same in
each process, makes a function one whose traces are not kept: an array or an object of the user's, a closure, a set
(the order of which is another in each process), an import.
"""

from __future__ import annotations

import builtins
import dis
import functools
import platform
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.lib.introspect import opt_func_info

from autograph.common import trace_rules
from autograph.common.code_flags import codes_in, names_in
from autograph.common.statics import is_a
from autograph.conversion import cache
from autograph.conversion.conversions import conversion_of
from autograph.errors import AutographError
from autograph.operators import backend
from autograph.runtime.dispatch.persistent_traces import Fingerprint, NotPersistent, described, module_of_ops

_VERSION = cache.version_of("backends", "runtime", "transforms")    # now, as it is what has been imported
_OBSTACLES = frozenset(
    dis.opmap[name]
    for name in "IMPORT_NAME STORE_GLOBAL DELETE_GLOBAL LOAD_BUILD_CLASS BUILD_SET SET_ADD SET_UPDATE".split()
)
_OWN = frozenset({"__name__", "__file__", "__doc__"})


def fingerprint_of(function: Any) -> Fingerprint | None:
    """The fingerprint of a function; None if its traces are not to be saved."""
    if not _VERSION or type(function) is not FunctionType:
        return None
    found = _Facts()
    try:
        found.look_around(function)
    except (NotPersistent, AutographError, RecursionError):    # of the conversion, which may not even be asked for
        return None
    backends = [type(each).__qualname__ for each in (*backend.BACKENDS, *backend.STAGED.values())]
    text = repr((_VERSION, sys.version, np.__version__, _platform(), backends, found.told))
    return Fingerprint(text, found.functions, found.codes)


@functools.cache
def _platform() -> tuple[Any, ...]:
    """What the last bits of folded functions depend on: the C library, and the CPU features that NumPy uses."""
    found = {form["current"] for forms in opt_func_info().values() for form in forms.values()}
    return platform.machine(), platform.libc_ver(), sorted(found)


class _Facts:
    """The facts collected so far."""

    def __init__(self) -> None:
        self.functions: list[FunctionType] = []
        self.codes: list[CodeType] = []
        self.told: list[Any] = []
        self._numbers: dict[int, int] = {}

    def look_around(self, function: FunctionType) -> None:
        """Tell all of a function, and of those that it may call.

        Raises:
            NotPersistent: that cannot be done.
        """
        self._number(function)
        for each in self.functions:         # which become more meanwhile
            self.told.append(self._told(each))

    def _told(self, function: FunctionType) -> Any:
        conversion = conversion_of(function)
        if conversion.key is None or vars(function) or function.__closure__ or _has_obstacle(function.__code__):
            raise NotPersistent
        self.codes += [function.__code__, *codes_in(conversion.code)]
        names = names_in(function.__code__)
        given = described(function.__defaults__), described((*(function.__kwdefaults__ or {}).items(),))
        module = described(function.__globals__.get("__name__"))    # by which libraries are known
        return conversion.key, given, module, [*self._globals(function.__globals__, names)]

    def _number(self, function: FunctionType) -> int:
        """The number of a function of the user's."""
        if id(function) not in self._numbers:
            self._numbers[id(function)] = len(self.functions)
            self.functions.append(function)
        return self._numbers[id(function)]

    def _globals(self, found: dict[str, Any], names: list[str]) -> Iterator[str]:
        builtin = found.get("__builtins__", builtins)
        behind = builtin.__dict__ if isinstance(builtin, ModuleType) else builtin
        if behind is not builtins.__dict__:
            raise NotPersistent
        for name in names:
            if name in found:
                yield f"{name}: {self._described(found[name], names)}"
            elif name in behind and name not in _OWN:
                yield f"{name}: {described(behind[name])}"

    def _described(self, value: Any, names: list[str]) -> str:
        if is_a(value, ModuleType):
            return f"{module_of_ops(value)} {[*self._asked(value, names)]}"
        if type(value) is FunctionType and not trace_rules.is_plain(str(value.__globals__.get("__name__"))):
            return f"function {self._number(value)}"
        return described(value)

    def _asked(self, module: ModuleType, names: list[str]) -> Iterator[str]:
        """The attributes of a module of NumPy's or Python's, except those that it makes when it is asked."""
        found = vars(module)
        for name in names:
            if name in found:
                yield f"{name}: {self._described(found[name], names)}"


def _has_obstacle(code: CodeType) -> bool:
    """Whether code imports, changes globals, or has sets in it."""
    return any(
        not _OBSTACLES.isdisjoint(each.co_code[::2]) or any(_has_set(constant) for constant in each.co_consts)
        for each in codes_in(code)
    )


def _has_set(constant: Any) -> bool:
    return isinstance(constant, frozenset) or (type(constant) is tuple and any(map(_has_set, constant)))
