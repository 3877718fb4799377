"""The default writer, and how functions that write to it are staged."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from autograph.api import do_not_convert
from autograph.common import pytree
from autograph.runtime.graph.effects import tame
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.summary.writer import EVERYWHERE, HERE, Writer

F = TypeVar("F", bound=Callable[..., Any])


@do_not_convert
def default_writer() -> Writer | None:
    """The writer that `ag.summary.scalar` and the like write to.

    Returns:
        the innermost writer whose context is open; else the one that `set_as_default` has set; else None.

    Example:
        >>> ag.summary.default_writer() is None
        True
    """
    return HERE.get() or (EVERYWHERE[0] if EVERYWHERE else None)


def effect(function: F) -> F:
    """Let a function be called when the graph runs. Derivatives do not go through it."""
    return cast(F, functools.update_wrapper(_Effect(function), function))


class _Effect:
    __wrapped__: Callable[..., Any]

    def __init__(self, function: Callable[..., Any]) -> None:
        self._called = tame(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._called(*args, **kwargs)

    def __ag_traced__(self, trace: Any) -> Callable[..., Any]:
        def constant(part: Any) -> Any:
            return trace.record("stop_gradient", (part,)) if is_tensor(part) else part

        def record(*args: Any, **kwargs: Any) -> Any:
            args, kwargs = pytree.map(constant, (args, kwargs))
            return trace.record_function(self._called, args, kwargs)

        return record

    def __reduce__(self) -> str:
        return self.__wrapped__.__qualname__
