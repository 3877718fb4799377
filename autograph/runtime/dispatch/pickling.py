"""Pickling of staged functions: by name, or as the plain function and the options.

The pickler decides, as for plain functions: pickle takes functions of modules by name; cloudpickle (joblib, Dask, Ray,
Spark) takes those of scripts and notebooks by value. Picklers decide for objects of class `FunctionType` only. So a
staged function `f` that is found under its name reduces to its *reference*: a plain function named `f._reference`. It
unpickles by name to `f`; unpickled by value, it carries the state of `f`. A staged function that is not found under its
name reduces to its state.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

from autograph.common.code_flags import names_in
from autograph.common.code_marks import is_staged
from autograph.common.statics import cell_content, names_of, own_attribute

_NAMED = ("__module__", "__name__", "__qualname__")
# Attributes that the plain function gives anew.
_COPIED = frozenset({"__wrapped__", *functools.WRAPPER_ASSIGNMENTS}.difference(_NAMED, ["__doc__"]))


def reduced(staged: Any, protocol: Any, tracer: Any) -> Any:
    """The result of `__reduce_ex__` of a staged function; the tracer is part of it, so that loading imports it."""
    name = getattr(staged, "__qualname__", "")
    if _found(getattr(staged, "__module__", None), name) is not staged:
        return blank, (type(staged), tracer), state_of(staged)
    if protocol < 4:
        return name     # earlier protocols cannot name attributes of other objects
    staged._reference.state = state_of(staged)
    return restored, (type(staged), tracer, staged._reference)


def reference_to(staged: Any) -> Any:
    """A function for picklers to find at `_reference` of a staged one."""
    made = FunctionType(_empty.__code__, {"__name__": staged.__module__}, "_reference")
    made.__qualname__ = f"{staged.__qualname__}._reference"
    return made


def _empty() -> None: ...


def blank(kind: Any, tracer: Any) -> Any:
    """A staged function without its state."""
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
    """Give an unpickled function the state that its reference carries.

    Raises:
        AttributeError: there is no reference, or it carries nothing yet.
    """
    state = object.__getattribute__(staged, "_reference").state
    del staged._reference
    staged.__setstate__(state)


def state_of(staged: Any) -> tuple[Any, ...]:
    """The plain function, the options, the attributes that the plain function lacks, and where its source is."""
    attributes = {name: value for name, value in vars(staged).items() if name not in _COPIED}
    return staged.python_function, staged._options, attributes, _Sources(staged.python_function), staged._in_front()


# Where the source is --------------------------------------------------------------------------------------------------


class _Sources:
    """The files of a function and of its helpers, looked up only if it is pickled by value."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __reduce__(self) -> Any:
        """The file of each code, and the lines of files that are not on disk, as the cells of notebooks are not."""
        files = {_key(each.__code__): each.__code__.co_filename for each in _functions(self.function)}
        lines = {name: linecache.getlines(name) for name in {*files.values()} if not os.path.exists(name)}
        return tuple, ((files, lines),)


def put_in_files(function: Any, sources: Any) -> None:
    """Set the files of a function and its helpers that were pickled by value: cloudpickle leaves them out."""
    files, lines = sources
    for name, text in lines.items():
        if text and not linecache.getlines(name):
            linecache.cache[name] = sum(map(len, text)), None, text, name
    for each in _functions(function):
        name, now = files.get(_key(each.__code__)), each.__code__.co_filename
        if name not in (None, now) and not os.path.exists(now):
            each.__code__ = _in_file(each.__code__, name)


def _in_file(code: CodeType, name: str) -> CodeType:
    inner = (_in_file(each, name) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_filename=name, co_consts=tuple(inner))


def _key(code: CodeType) -> Any:
    """A key of code that does not depend on the place of its file."""
    constants = tuple(each for each in code.co_consts if type(each) in (int, float, str, bytes))
    return code.co_name, code.co_firstlineno, code.co_code, code.co_names, constants


def _functions(root: Any) -> Iterator[FunctionType]:
    """A function that is pickled by value, and the plain functions that go with it: named, captured or wrapped ones."""
    module = getattr(root.func if type(root) is functools.partial else root, "__module__", None)
    waiting, visited = [root], {id(root): root}
    while waiting:
        thing = waiting.pop()
        if type(thing) is FunctionType and not is_staged(thing.__code__):   # that is made anew
            yield thing
        for part in _parts(thing):
            if id(part) not in visited and _goes_along(part, module):
                visited[id(part)] = part
                waiting.append(part)


def _goes_along(part: Any, module: Any) -> bool:
    """Whether a part may be pickled by value with a function of a module; other functions and classes go by name."""
    if not issubclass(type(part), (type, FunctionType)):
        return True
    return part.__module__ == module or _found(part.__module__, part.__qualname__) is not part


def _parts(thing: Any) -> list[Any]:
    """The objects that a function, class, method or the like refers to; for others, their class and what they wrap."""
    kind = type(thing)
    if kind is FunctionType:
        named = [thing.__globals__[name] for name in names_in(thing.__code__) if name in thing.__globals__]
        attributes = [*(thing.__defaults__ or ()), *(thing.__kwdefaults__ or {}).values(), *vars(thing).values()]
        return [*named, *map(cell_content, thing.__closure__ or ()), *attributes]
    if issubclass(kind, type):
        return [*names_of(thing).values(), *thing.__bases__]
    if kind is functools.partial:
        return [thing.func, *thing.args, *thing.keywords.values()]
    if kind is property:
        return [thing.fget, thing.fset, thing.fdel]
    if kind in (staticmethod, classmethod):
        return [thing.__func__]
    if kind is MethodType:
        return [thing.__func__, thing.__self__]
    return [kind, own_attribute(thing, "__dict__", {}).get("__wrapped__")]


def _found(module: str | None, qualname: str) -> Any:
    """The object with a name; None if there is none."""
    found: Any = sys.modules.get(module or "")
    for name in qualname.split("."):
        found = getattr(found, name, None)
    return found
