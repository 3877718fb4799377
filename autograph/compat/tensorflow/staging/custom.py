"""Functions that TensorFlow does not trace into: those with a gradient of their own, and Python.

`tf.custom_gradient` gives a function its gradient; `tf.py_function` and `tf.numpy_function` call Python whenever the
graph runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from autograph.common import pytree
from autograph.common.code_flags import codes_in
from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.convert import convert_leaves, convert_to_tensor, is_convertible
from autograph.compat.tensorflow.core.dtypes import as_dtype
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor, eager, effect, is_proxy, run_later, wrap
from autograph.compat.tensorflow.staging.tracing import call
from autograph.runtime.autodiff.custom_vjp import through
from autograph.runtime.graph.effects import tame
from autograph.runtime.tracing.proxies.proxy import unpack


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function that returns a pair: its result, and a function of the gradients.

    The latter gets the gradient of each tensor of the result, and returns one for each argument.
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        inputs = [convert_to_tensor(each) if is_convertible(each) else each for each in args]
        if graphs.current() is not None:
            return _recorded(f, inputs, kwargs)
        value, _ = f(*inputs, **kwargs)
        result = pytree.map(lambda leaf: wrap(leaf._value, leaf.dtype), convert_leaves(value))
        tensors = [each for each in inputs if isinstance(each, Tensor)]

        def again(*others: Tensor) -> list[Tensor]:
            rest = iter(others)
            return pytree.flatten(_recorded(f, [next(rest) if isinstance(e, Tensor) else e for e in inputs], kwargs))

        others = [None if isinstance(each, Tensor) else each for each in inputs]
        read = _globals_of(f, {})
        graphs.note(again, tensors, pytree.flatten(result), None if read is None else [f, read, others, kwargs])
        return result

    return decorated


def _globals_of(function: Any, found: dict[Any, Any]) -> dict[Any, Any] | None:
    """The globals that a function and its callees read, added to `found`; None if they can change unnoticed."""
    if type(function) is not FunctionType or function.__code__ in found:
        return None
    found[function.__code__] = None
    names = {name for code in codes_in(function.__code__) for name in code.co_names}
    read = {(name, function.__module__): function.__globals__.get(name) for name in sorted(names)}
    modules = [value.__name__.partition(".")[0] for value in read.values() if isinstance(value, ModuleType)]
    if not _UNCHANGING.issuperset(modules):
        return None
    called = [cell.cell_contents for cell in function.__closure__ or ()]
    for key, value in read.items():
        if key not in found and not isinstance(value, ModuleType):
            found[key] = value
            called.append(value)
    if any(type(value) is FunctionType and _globals_of(value, found) is None for value in called):
        return None
    return found


_UNCHANGING = frozenset({"autograph", "numpy", "math", "functools"})


def _recorded(f: Callable[..., Any], args: list[Any], kwargs: Any) -> Any:
    """Record a call in the graph that is being made."""
    graph = graphs.recording()
    value, gradient = call(f, tuple(args), kwargs)
    value = convert_leaves(value)
    leaves = pytree.flatten(value)
    inputs = [at for at, each in enumerate(args) if isinstance(each, Tensor) and is_proxy(each._value)]

    def back(cotangents: Any, wanted: list[bool]) -> list[Any]:
        ends = [wrap(each, leaf.dtype, leaf.shape) for each, leaf in zip(cotangents, leaves)]
        found = gradient(*ends)
        parts = list(found) if isinstance(found, (tuple, list)) else [found]
        if len(parts) != len(args):
            expected, got = len(args), len(parts)
            raise ValueError(f"custom_gradient function expected to return {expected} gradients, but returned {got}")
        return [None if parts[at] is None else convert_to_tensor(parts[at])._value for at in inputs]

    proxies = through(graph.trace, [leaf._value for leaf in leaves], [args[at]._value for at in inputs], back)
    results = iter([wrap(each, leaf.dtype, leaf.shape, "IdentityN") for each, leaf in zip(proxies, leaves)])
    return pytree.map(lambda _: next(results), value)


def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: str | None = None) -> Any:
    """Call a function of eager tensors when the graph runs; its results are of the dtypes `Tout`.

    Without a function it is a decorator.
    """
    if func is None:
        return lambda function: functools.wraps(function)(lambda *args: _called(function, args, Tout, eager))
    return _called(func, inp, Tout, eager)


def numpy_function(
    func: Any = None, inp: Any = None, Tout: Any = None, stateful: bool = True, name: str | None = None
) -> Any:
    """Call a function of NumPy arrays when the graph runs; its results are of the dtypes `Tout`.

    Without a function it is a decorator.
    """
    if func is None:
        return lambda function: functools.wraps(function)(lambda *args: numpy_function(function, args, Tout))
    return _called(func, inp, Tout, lambda value, _: value)


def _called(function: Callable[..., Any], inp: Any, types: Any, argument: Callable[..., Any]) -> Any:
    """Call `function` of `argument(value, dtype)` of each input, when the graph runs."""
    tensors = [convert_to_tensor(each) for each in inp]
    dtypes = [as_dtype(getattr(each, "dtype", each)) for each in pytree.flatten(types)]
    is_single = not pytree.is_nested(types)

    def run(*values: Any) -> Any:
        with graphs.building(None):
            found = function(*(argument(value, each.dtype) for value, each in zip(values, tensors)))
            leaves = [found] if is_single else pytree.flatten(found)
            parts = [eager(convert_to_tensor(leaf)._value, dtype)._value for leaf, dtype in zip(leaves, dtypes)]
        return parts[0] if is_single else tuple(parts)

    values = [each._value for each in tensors]
    graph = graphs.current()
    if not dtypes:
        effect(lambda *values: run(*values) and None, *values)
        return []
    if is_single:
        return run_later("PyFunc", run, *values, dtype=dtypes[0], shape=None)
    if graph is None:
        return [eager(part, dtype) for part, dtype in zip(run(*values), dtypes)]
    parts = unpack(graph.trace, graph.trace.record("call", (tame(run), *values)), len(dtypes))
    return [wrap(part, dtype, TensorShape(None), "PyFunc") for part, dtype in zip(parts, dtypes)]
