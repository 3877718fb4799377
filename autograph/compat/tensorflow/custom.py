"""`tf.custom_gradient`: functions that say themselves what their gradient is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from autograph import nest
from autograph.compat.tensorflow import graphs
from autograph.compat.tensorflow.convert import convert_to_tensor, is_convertible
from autograph.compat.tensorflow.tensor import Tensor, is_handle, wrap
from autograph.compat.tensorflow.tracing import call
from autograph.runtime.custom import through


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
        result = nest.map(lambda leaf: wrap(leaf._value, leaf.dtype), nest.map(convert_to_tensor, value))
        tensors = [each for each in given if isinstance(each, Tensor)]

        def again(*others: Tensor) -> list[Tensor]:
            rest = iter(others)
            return nest.flatten(_recorded(f, [next(rest) if isinstance(e, Tensor) else e for e in given], kwargs))

        graphs.note(again, tensors, nest.flatten(result))
        return result

    return decorated


def _recorded(f: Callable[..., Any], args: list[Any], kwargs: Any) -> Any:
    """A call in the graph that is being made."""
    graph = graphs.current()
    assert graph is not None, "it is asked for in graphs only"
    value, gradient = call(f, tuple(args), kwargs)
    value = nest.map(convert_to_tensor, value)
    leaves = nest.flatten(value)
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
    return nest.map(lambda _: next(results), value)
