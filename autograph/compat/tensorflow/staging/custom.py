"""`tf.custom_gradient`: functions that say themselves what their gradient is."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from autograph.common import pytree
from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor, is_convertible
from autograph.compat.tensorflow.core.tensor import Tensor, is_handle, wrap
from autograph.compat.tensorflow.staging.tracing import call
from autograph.runtime.autodiff.custom_vjp import through


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a function that gives a pair: its result, and what takes the gradient of that to its arguments.

    The latter gets one gradient for each tensor of the result, and gives one for each argument.
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        given = [convert_to_tensor(each) if is_convertible(each) else each for each in args]
        if graphs.current() is not None:
            return _recorded(f, given, kwargs)
        value, _ = f(*given, **kwargs)
        result = pytree.map(lambda leaf: wrap(leaf._value, leaf.dtype), pytree.map(convert_to_tensor, value))
        tensors = [each for each in given if isinstance(each, Tensor)]

        def again(*others: Tensor) -> list[Tensor]:
            rest = iter(others)
            return pytree.flatten(_recorded(f, [next(rest) if isinstance(e, Tensor) else e for e in given], kwargs))

        others = [None if isinstance(each, Tensor) else each for each in given]
        world = _world(f, {})
        graphs.note(again, tensors, pytree.flatten(result), None if world is None else [f, world, others, kwargs])
        return result

    return decorated


def _world(function: Any, known: dict[Any, Any]) -> dict[Any, Any] | None:
    """What a function reads of its module, and so do those it calls; None if it looks into what may change."""
    if type(function) is not FunctionType or function.__code__ in known:
        return None
    known[function.__code__] = None
    names = {name for code in _codes(function.__code__) for name in code.co_names}
    read = {(name, function.__module__): function.__globals__.get(name) for name in sorted(names)}
    modules = [value.__name__.partition(".")[0] for value in read.values() if isinstance(value, ModuleType)]
    if not _UNCHANGING.issuperset(modules):
        return None
    called = [cell.cell_contents for cell in function.__closure__ or ()]
    for key, value in read.items():
        if key not in known and not isinstance(value, ModuleType):
            known[key] = value
            called.append(value)
    if any(type(value) is FunctionType and _world(value, known) is None for value in called):
        return None
    return known


_UNCHANGING = frozenset({"autograph", "numpy", "math", "functools"})


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _recorded(f: Callable[..., Any], args: list[Any], kwargs: Any) -> Any:
    """A call in the graph that is being made."""
    graph = graphs.current()
    assert graph is not None, "it is asked for in graphs only"
    value, gradient = call(f, tuple(args), kwargs)
    value = pytree.map(convert_to_tensor, value)
    leaves = pytree.flatten(value)
    inputs = [at for at, each in enumerate(args) if isinstance(each, Tensor) and is_handle(each._value)]

    def back(cotangents: Any, wanted: list[bool]) -> list[Any]:
        ends = [wrap(each, leaf.dtype, leaf.shape) for each, leaf in zip(cotangents, leaves)]
        found = gradient(*ends)
        parts = list(found) if isinstance(found, (tuple, list)) else [found]
        if len(parts) != len(args):
            expected, got = len(args), len(parts)
            raise ValueError(f"custom_gradient function expected to return {expected} gradients, but returned {got}")
        return [None if parts[at] is None else convert_to_tensor(parts[at])._value for at in inputs]

    handles = through(graph.trace, [leaf._value for leaf in leaves], [args[at]._value for at in inputs], back)
    results = iter([wrap(each, leaf.dtype, leaf.shape, "IdentityN") for each, leaf in zip(handles, leaves)])
    return pytree.map(lambda _: next(results), value)
