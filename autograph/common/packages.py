"""Installed packages: which code belongs to them, and which of them are traced all the same.

A package is *installed* if its files lie in an installation folder: site-packages, dist-packages, an egg, a zip or a
wheel. Editable installs, scripts and projects lie elsewhere. Code of installed packages is not traced: it is called
when the graph runs, and objects of its classes are opaque. While a function is traced, `tracing` names exceptions: the
package that the function belongs to, those that the user names, and those that a derivative goes through.
"""

from __future__ import annotations

import fnmatch
import functools
import importlib.machinery
import importlib.util
import sys
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType, ModuleType
from typing import Any

from autograph.common.statics import module_of, mro_of

# Packages that this library knows, or that do not determine the behavior of objects.
_EXEMPT = frozenset({__name__.partition(".")[0], "numpy", "typing_extensions", "__main__", "builtins"})
_FOLDERS = frozenset({"site-packages", "dist-packages"})
_ARCHIVES = (".egg", ".zip", ".whl")
_EXTENSIONS = tuple(importlib.machinery.EXTENSION_SUFFIXES)


class _Traced(threading.local):
    """The installed packages that this thread traces now."""

    packages: frozenset[str] = frozenset()
    pure: frozenset[str] = frozenset()  # those of them that are written in Python: no C code of theirs meets a proxy


_TRACED = _Traced()


@contextmanager
def tracing(packages: Collection[str]) -> Iterator[None]:
    """While it lasts, this thread traces these installed packages, too."""
    before = _TRACED.packages, _TRACED.pure
    _TRACED.packages = frozenset(packages)
    _TRACED.pure = frozenset(package for package in packages if not _has_extension(package))
    try:
        yield
    finally:
        _TRACED.packages, _TRACED.pure = before


def _has_extension(package: str) -> bool:
    """Whether a module of a package has been imported that is not written in Python."""
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == package]
    return any(str(_own(module).get("__file__") or "").endswith(_EXTENSIONS) for module in modules)


# Files, modules, functions --------------------------------------------------------------------------------------------


@functools.lru_cache(4096)
def package_of_file(filename: str) -> str:
    """The installed package that a file belongs to; "" if it belongs to none."""
    parts = filename.replace("\\", "/").split("/")
    for folder, name in zip(parts[-2::-1], parts[:0:-1]):
        if folder in _FOLDERS or folder.endswith(_ARCHIVES):
            package = name.partition(".")[0]
            return "" if package in _EXEMPT else package
    return ""


# The packages of modules, as far as they are known. To the tracer, writers of events are TensorBoard's own.
_MODULES: dict[str, str] = {"autograph.summary.writer": "tensorboard"}


def package_of_module(name: str) -> str:
    """The installed package that a module belongs to, which has been imported; "" if it belongs to none."""
    found = _MODULES.get(name)
    if found is None:
        root = name.partition(".")[0]
        if root in _EXEMPT or root in sys.stdlib_module_names:
            found = _MODULES[name] = ""
        else:
            own = _own(sys.modules.get(name)) or _own(sys.modules.get(root))
            files = (own.get("__file__"), *list(own.get("__path__") or ()))
            found = next((package_of_file(file) for file in files if isinstance(file, str)), "")
            if own:
                _MODULES[name] = found
    return found


def _own(module: Any) -> dict[str, Any]:
    return module.__dict__ if issubclass(type(module), ModuleType) else {}


def package_of_function(function: FunctionType) -> str:
    """The installed package that a Python function belongs to; "" if it belongs to none."""
    found = package_of_file(function.__code__.co_filename)
    if found or function.__code__.co_filename[:1] != "<":  # else it was made of text
        return found
    return package_of_module(str(function.__globals__.get("__name__")))


def is_called(function: FunctionType) -> str:
    """The installed package of a function that is called when the graph runs; "" if the function may be traced."""
    package = package_of_function(function)
    return "" if package in _TRACED.packages else package


# Classes --------------------------------------------------------------------------------------------------------------

_CLASSES: dict[int, tuple[weakref.ref[type], frozenset[str]]] = {}


def packages_behind(kind: type) -> frozenset[str]:
    """The installed packages that a class, its bases and its metaclass belong to, whether they are traced or not."""
    number = id(kind)
    found = _CLASSES.get(number)
    if found is None:
        reference = weakref.ref(kind, lambda _: _CLASSES.pop(number, None))
        modules = [str(module_of(each)) for each in (*mro_of(kind), *mro_of(type(kind)))]
        found = _CLASSES[number] = reference, frozenset(filter(None, map(package_of_module, modules)))
    return found[1]


def is_opaque_class(kind: type) -> str:
    """The installed package because of which instances of a class are opaque; "" if they are not."""
    behind = packages_behind(kind)
    return "" if not behind or behind <= _TRACED.pure else min(behind - _TRACED.pure)


def package_of(thing: Any) -> str:
    """The installed package because of which something is called when the graph runs; "" if it may be traced.

    Args:
        thing: a class, a function, or any other object that can be called.
    """
    kind = type(thing)
    if kind is FunctionType:
        return is_called(thing)
    if issubclass(kind, type):
        return is_opaque_class(thing)
    found = is_opaque_class(kind)
    if found:
        return found
    module = _name_of_module(thing)
    return package_of_module(module) if isinstance(module, str) else ""


def _name_of_module(thing: Any) -> Any:
    """The module of a function that is written in C."""
    owner = getattr(thing, "__self__", None) if type(thing) in _BOUND else None
    if owner is not None and not issubclass(type(owner), ModuleType):
        return module_of(owner if issubclass(type(owner), type) else type(owner))
    kind = getattr(thing, "__objclass__", None) if type(thing) in _UNBOUND else None
    if kind is not None:
        return module_of(kind)
    is_function = type(thing) in _BOUND or type(thing).__name__ in _COMPILED
    return getattr(thing, "__module__", None) if is_function else None


_BOUND = (type(len), type("".__len__))
_UNBOUND = (type(str.join), type(str.__len__))
_COMPILED = ("cython_function_or_method", "fused_cython_function")


def why_called(function: Any) -> tuple[frozenset[str], str]:
    """The package, if any, because of which a function that has no op is called when the graph runs; and why it is."""
    package = package_of(function.__func__ if type(function) is MethodType else function)
    return (frozenset({package}), untraced(package)) if package else (frozenset(), "it has no op")


def untraced(package: str) -> str:
    """Why code of an installed package is called, or an object of it opaque; and the option that changes that."""
    why = f"as the installed package {package} is not traced"
    return why if package in _TRACED.packages else f"{why}: trace_packages={package!r} would trace it"


def is_pure(package: str) -> bool:
    """Whether a package is written in Python, so that objects of its classes can be traced."""
    return not _has_extension(package)


# Functions that look up variables of their callers by names in a text: methods of pandas those behind an `@`.
_METHODS = frozenset({"query", "eval"})
_FUNCTIONS = frozenset({"eval", "evaluate", "re_evaluate", "sql", "dmatrix", "dmatrices", "from_formula"})


def names_variables(function: str, text: str, is_method: bool) -> bool:
    """Whether a function of an installed package, by its name, looks up variables of its caller that a text names."""
    return (function in _METHODS and "@" in text) or (not is_method and function in _FUNCTIONS)


# Names from the user --------------------------------------------------------------------------------------------------


def check_names(names: str | Iterable[str], what: str) -> tuple[str, ...]:
    """Names or globs of top-level packages, checked.

    Raises:
        TypeError: they are no texts.
        ValueError: there is no package of such a name.
    """
    found = (names,) if isinstance(names, str) or not isinstance(names, Iterable) else tuple(names)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"{what} names packages, such as 'toolz', not {name!r}")
        if not name.replace("*", "").replace("?", "").replace("[", "").replace("]", "").isidentifier() and name != "*":
            raise ValueError(f"{what} names top-level packages as they are imported, such as 'toolz', not {name!r}")
        if name.isidentifier() and name not in sys.modules and importlib.util.find_spec(name) is None:
            raise ValueError(f"{what} names {name!r}, but there is no package of this name")
    return found


def matching(patterns: Collection[str]) -> frozenset[str]:
    """The imported packages that match names or globs."""
    if not patterns:
        return frozenset()
    roots = {name.partition(".")[0] for name in list(sys.modules)}
    return frozenset(root for root in roots if any(fnmatch.fnmatchcase(root, each) for each in patterns))
