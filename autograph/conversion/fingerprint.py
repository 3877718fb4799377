"""The cache fingerprint: a text of all that the trace of a function depends on besides its arguments.

It has the function's conversion, the globals and builtins that its code names, and the same for the user's functions
among these, whether or not they are called. The traces of a function are not kept if anything that it names has no
text that is the same in each process: an array or an object of the user's, a closure, a set (whose order differs from
process to process), an import.
"""

from __future__ import annotations

import builtins
import dis
import functools
import platform
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.lib.introspect import opt_func_info

from autograph.common import trace_rules
from autograph.common.bytecode import line_naming
from autograph.common.code_flags import code_line, codes_in, names_in
from autograph.common.statics import is_a
from autograph.conversion import cache
from autograph.conversion.conversions import conversion_of
from autograph.errors import AutographError
from autograph.operators import backend
from autograph.runtime.dispatch.persistent_traces import (
    Fingerprint,
    NotPersistent,
    described,
    module_of_ops,
    name_of_thing,
)

_VERSION = cache.version_of("backends", "runtime", "transforms")    # now, as these files have been imported
_SET = "has a set, whose order differs from process to process"
_OBSTACLES = {
    dis.opmap[name]: reason
    for names, reason in {
        "IMPORT_NAME": "imports a module when it runs",
        "STORE_GLOBAL DELETE_GLOBAL": "sets a global",
        "LOAD_BUILD_CLASS": "defines a class",
        "BUILD_SET SET_ADD SET_UPDATE": _SET,
    }.items()
    for name in names.split()
}
_OWN = frozenset({"__name__", "__file__", "__doc__"})


def fingerprint_of(function: Any) -> Fingerprint:
    """The fingerprint of a function.

    Raises:
        NotPersistent: no text describes it, so its traces are not saved.
    """
    if not _VERSION:
        raise NotPersistent("autograph itself is not in files")
    if type(function) is not FunctionType:
        raise NotPersistent(f"the function is {name_of_thing(function)}, and not a plain function")
    found = _Facts()
    try:
        found.look_around(function)
    except (AutographError, RecursionError) as error:    # of the conversion, which may not even be asked for
        raise NotPersistent(f"the function cannot be converted: {error}") from None
    backends = [type(each).__qualname__ for each in (*backend.BACKENDS, *backend.STAGED.values())]
    text = repr((_VERSION, sys.version, np.__version__, _platform(), backends, found.facts))
    return Fingerprint(text, found.functions, found.codes)


@functools.cache
def _platform() -> tuple[Any, ...]:
    """The C library, and the CPU features that NumPy uses: the last bits of folded constants depend on them."""
    found = {form["current"] for forms in opt_func_info().values() for form in forms.values()}
    return platform.machine(), platform.libc_ver(), sorted(found)


class _Facts:
    """The facts collected so far."""

    def __init__(self) -> None:
        self.functions: list[FunctionType] = []
        self.codes: list[CodeType] = []
        self.facts: list[Any] = []
        self._numbers: dict[int, int] = {}

    def look_around(self, function: FunctionType) -> None:
        """Describe a function, and those that it may call.

        Raises:
            NotPersistent: no text describes them.
        """
        self._number(function)
        for each in self.functions:         # describing one may add more
            self.facts.append(self._describe(each))

    def _describe(self, function: FunctionType) -> Any:
        code, name = function.__code__, function.__qualname__
        conversion, obstacle = conversion_of(function), _obstacle(code)
        if conversion.key is None:
            raise NotPersistent(f"the conversion of `{name}` is not kept: {conversion.unkept}", _place(code))
        if vars(function):
            raise NotPersistent(f"`{name}` has the attribute `{next(iter(vars(function)))}`", _place(code))
        if function.__closure__:
            variable = code.co_freevars[0]
            raise NotPersistent(f"`{name}` uses `{variable}` of a function around it", _place(code, variable))
        if obstacle is not None:
            raise NotPersistent(f"`{name}` {obstacle[0]}", lambda: (code.co_filename, obstacle[1]))
        self.codes += [code, *codes_in(conversion.code)]
        try:
            defaults = described(function.__defaults__), described((*(function.__kwdefaults__ or {}).items(),))
        except NotPersistent as refused:
            raise NotPersistent(f"a default of `{name}` {refused}", _place(code)) from None
        module = described(function.__globals__.get("__name__"))    # by which libraries are known
        return conversion.key, defaults, module, [*self._globals(function)]

    def _number(self, function: FunctionType) -> int:
        """The number of a function of the user's."""
        if id(function) not in self._numbers:
            self._numbers[id(function)] = len(self.functions)
            self.functions.append(function)
        return self._numbers[id(function)]

    def _globals(self, function: FunctionType) -> Iterator[str]:
        found, code = function.__globals__, function.__code__
        builtin = found.get("__builtins__", builtins)
        behind = builtin.__dict__ if isinstance(builtin, ModuleType) else builtin
        if behind is not builtins.__dict__:
            raise NotPersistent(f"the module of `{function.__qualname__}` has builtins of its own", _place(code))
        for name in names_in(code):
            if name in found:
                yield f"{name}: {self._described(function, name, found[name])}"
            elif name in behind and name not in _OWN:
                yield f"{name}: {_checked(function, name, described, behind[name])}"

    def _described(self, function: FunctionType, path: str, value: Any) -> str:
        if is_a(value, ModuleType):
            name = _checked(function, path, module_of_ops, value)
            return f"{name} {[*self._asked(function, path, value)]}"
        if type(value) is FunctionType and not trace_rules.is_plain(str(value.__globals__.get("__name__"))):
            return f"function {self._number(value)}"
        return _checked(function, path, described, value)

    def _asked(self, function: FunctionType, path: str, module: ModuleType) -> Iterator[str]:
        """The attributes of a module of NumPy's or Python's, except those that it makes when it is asked."""
        found = vars(module)
        for name in names_in(function.__code__):
            if name in found:
                yield f"{name}: {self._described(function, f'{path}.{name}', found[name])}"


def _checked(function: FunctionType, path: str, describe: Callable[[Any], str], value: Any) -> str:
    """The description of a value that a function uses by this name, such as `np.pi`."""
    try:
        return describe(value)
    except NotPersistent as refused:
        code, name = function.__code__, path.rpartition(".")[2]
        reason = f"`{function.__qualname__}` uses `{path}`, which {refused}"
        raise NotPersistent(reason, _place(code, name)) from None


def _place(code: CodeType, name: str = "") -> Callable[[], tuple[str, int]]:
    """Finds the line on which code names something, or begins."""
    return lambda: (code.co_filename, (line_naming(code, name) if name else None) or code.co_firstlineno)


def _obstacle(code: CodeType) -> tuple[str, int] | None:
    """Why code makes a function one whose traces are not kept, and on which line."""
    for each in codes_in(code):
        if not _OBSTACLES.keys().isdisjoint(each.co_code[::2]):
            offset = next(at for at, operation in enumerate(each.co_code[::2]) if operation in _OBSTACLES)
            return _OBSTACLES[each.co_code[2 * offset]], code_line(each, 2 * offset) or each.co_firstlineno
        if any(map(_has_set, each.co_consts)):
            return _SET, each.co_firstlineno
    return None


def _has_set(constant: Any) -> bool:
    return isinstance(constant, frozenset) or (type(constant) is tuple and any(map(_has_set, constant)))
