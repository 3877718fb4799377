"""Measures the calls of staged functions. It imports little: `autograph profile` imports it before the program.

A measured function has more frames. So functions that look at the frame of their caller are not measured.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from autograph.common.trace_rules import wants_full_tracebacks
from autograph.runtime.profiling.recorder import Branch, Line, Site, Spot, Thread, begin, is_on

Key = tuple[str, str, int]  # the name of a function, its file and first line
_sites: dict[Key, Site] = {}


def measured(function: Any, call: FunctionType, active: list[Any], disguised: bool) -> Callable[..., Any]:
    """The implementation of a staged function, measured while there is a profile.

    Args:
        function: the staged function.
        call: its implementation.
        active: not empty while a function is traced; calls are then part of that.
        disguised: whether it bears the name and place of the function, since no trampoline does.
    """
    code = getattr(function.python_function, "__code__", None)
    if not is_on("functions") or code is None or function._looks_at_caller():
        return call
    site = _site_of((function.__qualname__, code.co_filename, code.co_firstlineno))
    site.functions.add(function)
    is_users = call is function.python_function or call is getattr(function._tiers, "call", None)

    def measured(*args: Any, **kwargs: Any) -> Any:
        if active or not is_on("functions"):
            return call(*args, **kwargs)
        run = begin(site)
        try:
            return call(*args, **kwargs)
        except BaseException as error:
            if not is_users:
                _leave_out(error, call)
            raise
        finally:
            run.close(run.enters_graph)

    if disguised:
        names: Any = {"co_filename": code.co_filename, "co_firstlineno": code.co_firstlineno, "co_name": code.co_name}
        measured.__code__ = measured.__code__.replace(**names)
    return measured


def _leave_out(error: BaseException, call: FunctionType) -> None:
    """Remove the dispatcher, which bears the name of the function, too, from the traceback of an error."""
    own = error.__traceback__
    behind = own.tb_next if own is not None else None
    if own is not None and behind is not None and behind.tb_frame.f_code is call.__code__:
        if not wants_full_tracebacks():
            own.tb_next = behind.tb_next


def _site_of(key: Key) -> Site:
    if key not in _sites:
        name, file, number = key
        line = Line(file, number, name)
        spots = Spot("calls", "Python", (line,)), Spot("entering", "entering", (line,))
        _sites[key] = Site("function", line, spots.__getitem__, len(spots))
    return _sites[key]


@dataclass
class Record:
    """The calls of a function; of all functions of one definition.

    Attributes:
        calls: those that are over.
        staged: those of them that have entered a graph.
        seconds: their time, that of a call within another one counted once.
        own: the same without the time in other staged functions.
        functions: the functions, as long as they are in use.
    """

    calls: int = 0
    staged: int = 0
    seconds: float = 0.0
    own: float = 0.0
    functions: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)


def records_of(threads: Iterable[Thread]) -> dict[Key, Record]:
    """The functions that were called, by name and place."""
    found: dict[Key, Record] = {}
    for thread in threads:
        for branch, times, counts in thread.branches:
            around = functions_around(branch)
            for site in dict.fromkeys(around):
                record = found.setdefault(_key(site), Record(functions=site.functions))
                record.seconds += sum(times)
            if around:
                found[_key(around[0])].own += sum(times)
            if branch.site.kind == "function":
                record = found[_key(branch.site)]
                record.calls, record.staged = record.calls + sum(counts), record.staged + counts[1]
    return {key: record for key, record in found.items() if record.calls}


def _key(site: Site) -> Key:
    return site.line.function, site.line.file, site.line.line


def functions_around(branch: Branch) -> list[Site]:
    """The functions of a branch and of those above it, the innermost first."""
    found: list[Site] = []
    each: Branch | None = branch
    while each is not None:
        if each.site.kind == "function":
            found.append(each.site)
        each = each.above
    return found
