"""Pickling of staged functions: by name, or as the plain function and the options.

The pickler decides, as for plain functions: pickle takes functions of modules by name; cloudpickle (joblib, Dask, Ray,
Spark) takes those of scripts and notebooks by value. Picklers decide for objects of class `FunctionType` only. So a
staged function `f` that is found under its name reduces to its *reference*: a plain function named `f._reference`. It
unpickles by name to `f`; unpickled by value, it carries what `f` is made of. A staged function that is not found under
its name reduces to what it is made of.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
from types import CodeType, FunctionType
from typing import Any

_NAMED = ("__module__", "__name__", "__qualname__")
# Attributes that the plain function gives anew.
_COPIED = frozenset({"__wrapped__", *functools.WRAPPER_ASSIGNMENTS}.difference(_NAMED, ["__doc__"]))


def reduced(staged: Any, protocol: Any, tracer: Any) -> Any:
    """What `__reduce_ex__` of a staged function gives; the tracer goes along, so that it is imported there, too."""
    name = getattr(staged, "__qualname__", "")
    if _found(getattr(staged, "__module__", None), name) is not staged:
        return blank, (type(staged), tracer), state_of(staged)
    if protocol < 4:
        return name     # earlier protocols cannot name what is an attribute of something else
    staged._reference.state = state_of(staged)
    return restored, (type(staged), tracer, staged._reference)


def reference_to(staged: Any) -> Any:
    """A function for picklers to find at `_reference` of a staged one."""
    made = FunctionType(_empty.__code__, {"__name__": staged.__module__}, "_reference")
    made.__qualname__ = f"{staged.__qualname__}._reference"
    return made


def _empty() -> None: ...


def blank(kind: Any, tracer: Any) -> Any:
    """A staged function before it gets its state."""
    return kind.__new__(kind)


def restored(kind: Any, tracer: Any, reference: Any) -> Any:
    """The staged function of that name here; a new one if its reference was pickled by value."""
    name = reference.__qualname__
    if _found(reference.__module__, name) is reference:
        return _found(reference.__module__, name.rpartition(".")[0])
    staged = blank(kind, tracer)
    staged._reference = reference
    staged.__call__ = staged._first_call
    if hasattr(reference, "state"):     # else the function refers to itself, and is not unpickled to its end yet
        complete(staged)
    return staged


def complete(staged: Any) -> None:
    """Give a function that was unpickled what its reference carries.

    Raises:
        AttributeError: there is no reference, or it carries nothing yet.
    """
    state = object.__getattribute__(staged, "_reference").state
    del staged._reference
    staged.__setstate__(state)


def state_of(staged: Any) -> tuple[Any, ...]:
    """The plain function, the options, the attributes that the plain function has not, and where its source is."""
    attributes = {name: value for name, value in vars(staged).items() if name not in _COPIED}
    return staged.python_function, staged._options, attributes, _file_of(staged.python_function)


def _file_of(function: Any) -> tuple[str, list[str]] | None:
    """The file of a function, and its lines if it is not on disk, as the cells of notebooks are not."""
    plain = _plain(function)
    if plain is None:
        return None
    name = plain.__code__.co_filename
    return name, [] if os.path.exists(name) else linecache.getlines(name)


def put_in_file(function: Any, file: tuple[str, list[str]] | None) -> None:
    """Tell a function that was pickled by value where its source is: cloudpickle leaves that out."""
    plain = _plain(function)
    if plain is None or file is None or plain.__code__.co_filename == file[0]:
        return
    name, lines = file
    plain.__code__ = _in_file(plain.__code__, name)
    if lines and not linecache.getlines(name):
        linecache.cache[name] = sum(map(len, lines)), None, lines, name


def _in_file(code: CodeType, name: str) -> CodeType:
    inner = (_in_file(each, name) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_filename=name, co_consts=tuple(inner))


def _plain(function: Any) -> FunctionType | None:
    """The plain function within partials and the like."""
    while not (function is None or type(function) is FunctionType):
        function = getattr(function, "func", None) or getattr(function, "__wrapped__", None)
    return function


def _found(module: str | None, qualname: str) -> Any:
    """What is found under a name; None if there is nothing."""
    found: Any = sys.modules.get(module or "")
    for name in qualname.split("."):
        found = getattr(found, name, None)
    return found
