"""Bind arguments of NumPy's functions to parameters, and call methods as functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from autograph.runtime.ops.inference.shape_rules import Wrong


@cache
def signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a function, cached because NumPy's are slow to get."""
    return inspect.signature(function)


def bind(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by the names of their parameters."""
    try:
        return dict(signature(function).bind(*args, **kwargs).arguments)
    except TypeError as error:
        raise Wrong from error


def method(name: str) -> Callable[..., Any]:
    """The method of that name as a function of its object."""

    def call(value: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(value, name)(*args, **kwargs)

    return call


def positional(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], moves: Callable[[Any], bool]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Move keyword arguments into their positions, up to the last one for which `moves` is true.

    Rules of derivatives are known by place, also those of parameters that can only be named.
    """
    try:
        parameters = list(signature(function).parameters.values())
    except (TypeError, ValueError):     # it is None, or a builtin without a signature
        return args, kwargs
    names = [each.name for each in parameters]
    last = max((names.index(name) for name, arg in kwargs.items() if name in names and moves(arg)), default=-1)
    between = parameters[len(args) : last + 1]
    if any(each.kind is each.VAR_POSITIONAL for each in parameters[: last + 1]):
        return args, kwargs
    rest = {name: arg for name, arg in kwargs.items() if name not in names[: last + 1]}
    return (*args, *(kwargs.get(each.name, each.default) for each in between)), rest
