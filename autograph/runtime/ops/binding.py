"""Arguments of NumPy's functions by the names of their parameters, and methods as functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from autograph.runtime.ops.rules import Wrong


@cache
def signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a function of NumPy; they are costly to come by."""
    return inspect.signature(function)


def bind(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments that are given, by the names of the parameters."""
    try:
        return dict(signature(function).bind(*args, **kwargs).arguments)
    except TypeError as error:
        raise Wrong from error


def method(name: str) -> Callable[..., Any]:
    """The method of that name as a function of what it is a method of."""

    def call(value: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(value, name)(*args, **kwargs)

    return call
