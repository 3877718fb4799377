"""`ag.grad` and its like: functions of functions, that stage what they are given and append its gradients.

A call of one is traced as a part of the function that calls it, or by itself: the function is traced into, and then
the reverse of what it did is recorded (`reverse.py`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import autograph.runtime.reverse_blocks
import autograph.runtime.reverse_writes  # noqa: F401  (both say what the reverse of their nodes is)
from autograph import nest
from autograph.errors import DerivativeError, TracingError
from autograph.runtime.activity import has_gradient
from autograph.runtime.callables import name_of
from autograph.runtime.reverse import Reverse
from autograph.runtime.tensor import Tensor, is_tensor
from autograph.runtime.trace import Trace
from autograph.runtime.types import ObjectType, TensorType


class Derivative:
    """A function that gives gradients of another; the base of all."""

    def __init__(self, function: Callable[..., Any], argnums: int | str | Sequence[int | str], has_aux: bool) -> None:
        self.function = function
        self.argnums = argnums
        self.has_aux = has_aux
        functools.update_wrapper(self, function, updated=())

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TracingError(f"the gradient of {name_of(self.function)} is known only where it is staged")

    def __ag_traced__(self, trace: Trace) -> Callable[..., Any]:
        """What a trace calls in the place of this."""
        return functools.partial(self._traced, trace)

    def _traced(self, trace: Trace, *args: Any, **kwargs: Any) -> Any:
        value, aux, gradients = value_and_gradients(trace, self, args, kwargs)
        return self._result(value, aux, gradients)

    def _result(self, value: Any, aux: Any, gradients: Any) -> Any:
        return (gradients, aux) if self.has_aux else gradients


class ValueAndGradient(Derivative):
    """A function that gives the value of another, and its gradients."""

    def _result(self, value: Any, aux: Any, gradients: Any) -> Any:
        return ((value, aux) if self.has_aux else value), gradients


def value_and_gradients(
    trace: Trace, asked: Derivative, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Any, Any]:
    """Trace a function into `trace`, and the gradients of what it gives.

    Returns:
        Its value, what it gives besides, and the gradients in the form of the arguments asked for.
    """
    places, single = _places(asked, args, kwargs)
    name = name_of(asked.function)
    all_args: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
    chosen = [nest.map(lambda leaf: _root(trace, leaf, name), all_args[place]) for place in places]
    for place, argument in zip(places, chosen):
        all_args[place] = argument
    roots = [leaf for leaf in nest.flatten(chosen) if is_tensor(leaf)]
    start = len(trace.block.nodes)
    result = trace.call(asked.function)(*(all_args[at] for at in range(len(args))), **{n: all_args[n] for n in kwargs})
    value, aux = _split(result, name) if asked.has_aux else (result, None)
    _check_scalar(value, name)
    reverse = Reverse(trace, trace.block, start, len(trace.block.nodes), [trace.use(root) for root in roots])
    if is_tensor(value):
        reverse.run([(trace.use(value), trace.record("bound", (1.0,)))])
    gradients = [nest.map(lambda leaf: _gradient(trace, reverse, leaf), part) for part in chosen]
    return value, aux, gradients[0] if single else tuple(gradients)


def _places(asked: Derivative, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[int | str], bool]:
    """Where among the arguments those are that are asked for; and whether one was, rather than several."""
    single = isinstance(asked.argnums, (int, str))
    wanted: Sequence[int | str] = [asked.argnums] if isinstance(asked.argnums, (int, str)) else asked.argnums
    names = list(asked.__signature__.parameters)
    found: list[int | str] = []
    for each in wanted:
        place: int | str = each
        if isinstance(each, str) and each not in kwargs and each in names[: len(args)]:
            place = names.index(each)
        elif isinstance(each, int):
            place = each + len(args) if each < 0 else each
        if not (place in kwargs if isinstance(place, str) else 0 <= place < len(args)):
            raise DerivativeError(
                f"the gradient of {name_of(asked.function)} is asked for in argument {each!r}, but the call has "
                f"{len(args)} positional arguments{' and ' + ', '.join(kwargs) if kwargs else ''}"
            )
        found.append(place)
    return found, single


def _root(trace: Trace, leaf: Any, name: str) -> Any:
    """A leaf of an argument as a value of its own, to be differentiated in."""
    if not _is_number(leaf):
        raise DerivativeError(
            f"the gradient of {name} is asked for in an argument that is {_described(leaf)}, but gradients are those "
            "in floats and complex numbers: pass a float or an array of floats, or choose others by argnums="
        )
    return trace.record("bound", (leaf,))


def _is_number(leaf: Any) -> bool:
    if is_tensor(leaf):
        found = leaf._value.type
        return found.dtype.kind in "fc" if isinstance(found, TensorType) else found == ObjectType()
    return isinstance(leaf, (float, complex, np.floating, np.complexfloating)) or (
        isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc"
    )


def _described(leaf: Any) -> str:
    return f"of type {leaf._value.type}" if is_tensor(leaf) else f"of class {type(leaf).__name__}"


def _split(result: Any, name: str) -> tuple[Any, Any]:
    if not isinstance(result, tuple) or len(result) != 2:
        raise DerivativeError(f"{name} is to return a pair with has_aux=True: what is differentiated, and what is not")
    return result


def _check_scalar(value: Any, name: str) -> None:
    if is_tensor(value):
        type = value._value.type
        if has_gradient(type) and not (isinstance(type, TensorType) and type.shape):
            return
    elif isinstance(value, (float, complex, np.floating)):
        return
    raise DerivativeError(
        f"the gradient is asked for of {name}, which returns something {_described(value)}; it is to return one float. "
        "Sum up what it returns, or use ag.vjp for the gradients of several"
    )


def _gradient(trace: Trace, reverse: Reverse, root: Tensor) -> Any:
    """The gradient of a root, of its class."""
    value = trace.use(root)
    found = reverse.gradient(value)
    if isinstance(value.type, TensorType) and value.type.kind == "python":
        return trace.record("complex" if value.type.dtype.kind == "c" else "float", (found,))
    return trace.record("fit", (found, root)) if isinstance(found, float) else found
