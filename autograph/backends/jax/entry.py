"""Where JAX's own traces meet those of the program: calls of converted functions, and functions handed to JAX."""

from __future__ import annotations

import builtins
import functools
import importlib.metadata
import random
import threading
import types
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax._src import core

from autograph.backends.jax import effects, python_math, views
from autograph.backends.jax.arrays import ArrayTrace, ArrayTracer, current
from autograph.backends.jax.bodies import is_users
from autograph.backends.jax.lines import SHELTERED, explained, here
from autograph.backends.jax.structures import children, is_frozen, mapped
from autograph.backends.jax.undo_log import (
    CONTAINERS,
    Globals,
    contents_of,
    globals_of,
    put_back,
    set_attribute,
    stored_globals,
)
from autograph.common.packages import package_of_module
from autograph.operators import python_builtins
from autograph.operators.backend import traced_by
from autograph.operators.calls import convert_call


class _Notes(threading.local):
    """The notes of the traces that have ended, while this thread explains a call; else None."""

    collected: list[Any] | None = None


NOTES = _Notes()
_BUFFERS = frozenset({"zeros", "ones", "empty", "full", "eye", "identity"})    # arrays that programs fill
_TEXT = frozenset({"format", "join"})
# By identity, the operators for builtin functions that the program calls by other names.
_OPERATORS = {id(getattr(builtins, name[:-1])): getattr(python_builtins, name) for name in python_builtins.__all__}


def entering(backend: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls a converted function in a trace of the program."""
    parent = core.trace_ctx.trace
    if isinstance(parent, ArrayTrace) or core.trace_ctx.is_top_level():
        return function
    return functools.partial(_entered, backend, parent, function)


def _entered(backend: Any, parent: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a converted function in a new trace of the program.

    The arrays among the arguments become arrays of the program. Those in the result, and in changed objects, become
    JAX's again.
    """
    trace = backend.new_trace(parent)
    arrays: dict[int, Any] = {}
    caught = len(SHELTERED.errors)

    def adopted(leaf: Any) -> Any:
        return trace.array(leaf) if isinstance(leaf, jax.Array) else leaf

    def released(leaf: Any) -> Any:
        return trace.read(leaf)

    with traced_by(backend), core.set_current_trace(trace):
        try:
            args, kwargs = _changed_in_place((args, kwargs), adopted, trace, arrays)
            result = _returned(trace, function, args, kwargs)
            result = mapped(result, released, lambda thing: False, {})
            if SHELTERED.errors[caught:]:
                raise SHELTERED.errors[caught]
        except BaseException as error:
            for thing, _ in trace.undo_log.before.values():
                _release(thing, functools.partial(_known, trace))
            refusal = explained(error)
            if refusal is None:
                raise
            raise refusal from error
        finally:
            del SHELTERED.errors[caught:]
        for thing, _ in trace.undo_log.before.values():
            _release(thing, released)
        if NOTES.collected is not None:
            NOTES.collected += trace.notes
        return result


def _returned(trace: ArrayTrace, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Return the result; None if the program always raises, after other effects or what is known only when it runs."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        waits = effects.is_staged(error) or (trace.callbacks and is_users(error))
        if not waits or not effects.runs_later(trace):
            raise
        effects.fail(trace, error)
        return None


def _known(trace: ArrayTrace, leaf: Any) -> Any:
    """The value of an array after an error: as far as it is known, whether it may be unbound or have changed."""
    return leaf.content if type(leaf) is ArrayTracer and leaf._trace is trace and leaf.content is not None else leaf


def _changed_in_place(value: Any, leaf: Callable[[Any], Any], trace: ArrayTrace, memo: dict[int, Any]) -> Any:
    """Replace the leaves of arguments; lists, dicts and objects that can change stay the objects that they are."""
    if isinstance(value, (list, dict)) and type(value) in (list, dict):
        if id(value) in memo:
            return value
        memo[id(value)] = value, value
        trace.undo_log.log(value)
        for key, item in list(enumerate(value) if isinstance(value, list) else value.items()):
            value[key] = _changed_in_place(item, leaf, trace, memo)
        return value
    if _is_tree(value) and hasattr(value, "__dict__") and not isinstance(value, tuple) and not is_frozen(value):
        if id(value) not in memo:       # the caller sees how the program changes it
            memo[id(value)] = value, value
            trace.undo_log.log(value)
            for name, item in list(vars(value).items()):
                new = _changed_in_place(item, leaf, trace, memo)
                if new is not item:
                    object.__setattr__(value, name, new)
        return value
    if type(value) is tuple:
        return tuple([_changed_in_place(item, leaf, trace, memo) for item in value])
    return mapped(value, leaf, lambda thing: not _is_tree(thing), memo)


def _is_tree(value: Any) -> bool:
    """Whether JAX takes a value apart, as an instance of a registered class."""
    return not jax.tree_util.all_leaves([value])


def _release(thing: Any, leaf: Callable[[Any], Any]) -> None:
    """Replace the arrays that an object holds, after the program."""
    if isinstance(thing, ArrayTracer):
        return
    if type(thing) is Globals:
        put_back(thing, {name: mapped(item, leaf, lambda _: False, {}) for name, item in contents_of(thing).items()})
        return
    if isinstance(thing, list):
        thing[:] = [mapped(item, leaf, lambda _: False, {}) for item in thing]
    elif isinstance(thing, dict):
        for key, item in thing.items():
            thing[key] = mapped(item, leaf, lambda _: False, {})
    for name, item in list(getattr(thing, "__dict__", {}).items()):
        new = mapped(item, leaf, lambda _: False, {})
        if new is not item:
            set_attribute(thing, name, new)


def handed(backend: Any, function: Any) -> Any:
    """Return the function to call instead of one that the program calls; NotImplemented for the usual conversion."""
    trace = current()
    if trace is None:
        return NotImplemented
    if id(function) in _OPERATORS:
        return _OPERATORS[id(function)]
    if isinstance(function, types.BuiltinMethodType):
        owner = function.__self__
        if isinstance(owner, CONTAINERS):
            trace.log(owner)
        elif isinstance(owner, str) and function.__name__ in _TEXT:
            return lambda *args, **kwargs: effects.formatted(trace, lambda: function(*args, **kwargs))
    _check_random(trace, function)
    if type(function) is types.FunctionType and (names := stored_globals(function.__code__)):
        trace.log(globals_of(function.__globals__, names))
    is_of_container = isinstance(function, types.MethodDescriptorType) and function.__objclass__ in CONTAINERS
    if function is setattr or function is delattr or is_of_container:
        return functools.partial(_logged, trace, function)
    if is_jax(function):
        return functools.partial(_call_jax, backend, trace, function)
    module = str(getattr(function, "__module__", None) or type(function).__module__)
    if module.partition(".")[0] == "numpy":
        return functools.partial(_call_numpy, backend, trace, function)
    if module == "math" and python_math.stages(function.__name__):
        return functools.partial(_call_math, trace, function)
    if isinstance(function, types.BuiltinFunctionType) and module not in ("builtins", "math"):
        return functools.partial(_logged, trace, function)
    return functools.partial(_call_jax, backend, trace, function) if is_built_on_jax(module) else NotImplemented


def call_with_iterators(backend: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function, which is not the user's, with iterators among its arguments."""
    iterators, to_call = backend.trace.iterators, handed(backend, function)
    iterators.check(*args, *kwargs.values())
    to_call = convert_call(function) if to_call is NotImplemented else to_call
    return iterators.made(to_call(*args, **kwargs), args)


def _check_random(trace: ArrayTrace, function: Any) -> None:
    """Refuse to draw random numbers in the body of a staged construct, which is traced once, however often it runs."""
    drawing = getattr(function, "__self__", None)
    if trace.depth and isinstance(drawing, (random.Random, np.random.Generator, np.random.RandomState)):
        raise here("this line draws random numbers of Python or NumPy in a staged `if` or loop, where JAX would draw "
                   "them once, while it traces. Use jax.random, or draw them before")


def _logged(trace: ArrayTrace, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function that may change its arguments."""
    for arg in (*args, *kwargs.values()):
        if isinstance(arg, CONTAINERS) or (hasattr(arg, "__dict__") and children(arg) is not None):
            trace.log(arg)
    return function(*args, **kwargs)


def _call_jax(backend: Any, trace: ArrayTrace, function: Any, *args: Any, **kwargs: Any) -> Any:
    convert = functools.partial(_for_jax, backend)
    return views.call(trace, function, tuple(map(convert, args)), {name: convert(arg) for name, arg in kwargs.items()})


def _call_numpy(backend: Any, trace: ArrayTrace, function: Any, *args: Any, **kwargs: Any) -> Any:
    name = getattr(function, "__name__", "")
    if isinstance(function, np.ufunc) and any(type(arg) is ArrayTracer for arg in args):
        return function(*args, **kwargs)        # NumPy asks the array
    if name in _BUFFERS or effects.contains_staged([*args, *kwargs.values()]):
        theirs = views.of_jax(function)
        if theirs is not None:
            return views.call(trace, theirs, tuple(_for_jax(backend, arg) for arg in args), kwargs)
    return function(*args, **kwargs)


def _call_math(trace: ArrayTrace, function: Any, *args: Any) -> Any:
    if effects.contains_staged([*args]):
        return python_math.call(trace, function.__name__, args)
    return function(*args)


def _for_jax(backend: Any, value: Any) -> Any:
    """Return an argument of a function of JAX; functions become ones that JAX can trace."""
    if type(value) in (list, tuple):
        return type(value)(_for_jax(backend, each) for each in value)
    if not callable(value) or isinstance(value, (type, jax.Array)) or is_jax(value) or _is_tree(value):
        return value
    if not isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
        return value
    converted = convert_call(value)

    @functools.wraps(value)
    def run(*args: Any, **kwargs: Any) -> Any:
        return entering(backend, converted)(*args, **kwargs)

    return run


def is_jax(function: Any) -> bool:
    """Whether a function is JAX's, or a transformation of one by JAX."""
    module = str(type(function).__module__)
    if isinstance(function, types.FunctionType):
        module = str(function.__globals__.get("__name__"))
    elif isinstance(function, types.MethodType):
        return is_jax(function.__func__) and not isinstance(function.__self__, jax.Array)
    elif isinstance(function, functools.partial):
        return is_jax(function.func)
    return module.partition(".")[0] in ("jax", "jaxlib")


@functools.cache
def is_built_on_jax(module: str) -> bool:
    """Whether a module belongs to a library that is built on JAX, such as flax or optax; it is never converted."""
    package = package_of_module(module)
    names = importlib.metadata.packages_distributions().get(package, []) if package else []
    needs = [need for name in names for need in importlib.metadata.requires(name) or ()]
    return any(need.startswith("jax") and not need[3:4].isalpha() for need in needs)
