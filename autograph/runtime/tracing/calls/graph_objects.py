"""Objects of the user's that only the graph knows, where traced code cannot have them.

    best = None
    for player in players:
        if best is None or player.points > best.points:
            best = player       # an object on one path, None on the other

Traced code has objects as they are, with proxies in their attributes. It cannot have one that is another object, or
none, on another path, or one that a function of the graph changes. If such an object is in the way, the function is
traced again: then the graph gets the argument, or makes the object when its `__init__` has ended, and traced code has
a proxy. What Python does with the object, the graph does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from autograph.common.statics import class_attribute, reads_plainly
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.graph import Value
from autograph.runtime.graph.object_model import is_open, is_users_object
from autograph.runtime.tracing.control_flow.merge import FORMS, Fixed
from autograph.runtime.tracing.proxies.graph_break import GIVEN, MADE, SourceKey
from autograph.runtime.tracing.state.escape import unshared
from autograph.runtime.tracing.state.trace import Trace


def keys_of(environment: Any, things: Iterable[Any]) -> set[SourceKey]:
    """The keys for tracing again so that only the graph knows some objects: arguments, or made by traced code.

    There are none if one of the objects has attributes that code of its class reads or sets.

    Args:
        environment: the `CapturedEnvironment`.
    """
    found: set[SourceKey] = set()
    for thing in things:
        kind = type(thing)
        is_plain = reads_plainly(kind) and class_attribute(kind, "__setattr__") is object.__setattr__
        if not (is_users_object(thing) and is_open(kind) and is_plain):
            return set()
        registered = environment.sources.objects.get(id(thing))
        if registered is None:
            found |= set() if environment.find(thing) else {(MADE, id(kind))}
        elif isinstance(registered[1], Value) and registered[1] in environment.sources.param_names:
            found.add((GIVEN, environment.sources.param_names[registered[1]][1]))
    return found


def maker(trace: Trace, kind: type, make: Callable[..., Any]) -> Callable[..., Any]:
    """The function to call instead of a class: if the graph keeps its objects, their proxies are what it returns."""
    if (MADE, id(kind)) not in trace.context.late:
        return make

    @functools.wraps(make, updated=())
    @on_behalf
    def made(*args: Any, **kwargs: Any) -> Any:
        form = Fixed(make(*args, **kwargs))
        return given_away(trace, form) if type(form.value) is kind else form.value

    return made


def given_away(trace: Trace, form: Fixed) -> Any:
    """The proxy for an object that traced code has made, and forgets if nothing else refers to it."""
    known = [*trace.undo_log.noted(), *trace.context.registries()]
    is_only = bool(unshared([form.value], FORMS, known))
    made = trace.lower(form.value)
    trace.likely.note(made, [form.value])
    if is_only:
        trace.context.materializer.forget(form.value)
    return trace.proxy(made)
