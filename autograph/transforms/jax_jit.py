"""`ag.jax_jit`: `jax.jit` of a converted function, with the program's own exceptions, and a report of its loops."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
from jax.experimental import checkify

from autograph.api import convert
from autograph.backends.jax import BACKEND, effects, entry
from autograph.common.trace_rules import on_behalf


class Staged(NamedTuple):
    """How JAX computes a construct.

    Attributes:
        filename, lineno: where it is.
        construct: `for`, `while`, `if` and so on.
        decision: `scan`, `while_loop`, `cond`, `select`, `unrolled` and so on.
        reason: why.
    """

    filename: str
    lineno: int
    construct: str
    decision: str
    reason: str


class Explanation:
    """How the constructs of a call are staged; `str()` of it is a table.

    Attributes:
        staged: the constructs, in the order of the first time that they were traced.
    """

    def __init__(self, staged: list[Staged]) -> None:
        self.staged = list(dict.fromkeys(staged))

    def __str__(self) -> str:
        lines: list[str] = []
        for row in sorted(self.staged, key=lambda row: (row.filename, row.lineno)):
            if f"{row.filename}" not in lines:
                lines.append(row.filename)
            why = f": {row.reason}" if row.reason else ""
            lines.append(f"{row.lineno:4}  {row.construct}  {row.decision}{why}")
        return "\n".join(lines) or "no construct depends on staged values"

    def __repr__(self) -> str:
        return f"<Explanation: {len(self.staged)} staged constructs>"


class JaxJit:
    """A function compiled by JAX; it has the attributes and methods of what `jax.jit` returns."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], checks: bool = False) -> None:
        functools.update_wrapper(self, function)
        self._converted = _checked(convert(function)) if checks else convert(function)
        self._options = options
        self._jitted = jax.jit(self._converted, **options)

    @on_behalf
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            result = self._jitted(*args, **kwargs)
            if effects.FAILURES.any and not BACKEND.tracing():
                if not jax.tree.leaves(jax.block_until_ready(result)):
                    jax.effects_barrier()       # which would raise exceptions of earlier calls, too
        except jax.errors.JaxRuntimeError as error:
            raised = effects.FAILURES.take(str(error))
            if raised is None:
                raise
            raise raised from error
        return result

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jitted, name)

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """Trace a call, and return how its constructs are staged, and why.

        Args:
            args, kwargs: of the call. Arrays may be `jax.ShapeDtypeStruct`s.
        """
        with noted() as notes:
            jax.jit(lambda *args, **kwargs: self._converted(*args, **kwargs), **self._options).trace(*args, **kwargs)
        return Explanation([Staged(*note) for note in notes])


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that returns the first failure, for checkify, and the result."""
    @functools.wraps(function)
    def with_checks(*args: Any, **kwargs: Any) -> Any:
        with effects.as_checks():
            return function(*args, **kwargs)

    checked: Callable[..., Any] = checkify.checkify(with_checks)
    return checked


@contextmanager
def noted() -> Iterator[list[Any]]:
    """Collect the notes of the traces that end within."""
    before, entry.NOTES.collected = entry.NOTES.collected, []
    try:
        yield entry.NOTES.collected
    finally:
        entry.NOTES.collected = before


def jax_jit(function: Callable[..., Any] | None = None, *, checks: bool = False, **options: Any) -> Any:
    """Compile a function in plain Python by JAX: the shorthand for `jax.jit(ag.convert(function))`.

    Args:
        function: the function or method; omitted if a decorator gets options.
        checks: let the program's exceptions be checks of `jax.experimental.checkify`, which need no callbacks: a call
            returns the error, with `throw()`, and the result.
        options: those of `jax.jit`.

    Returns:
        a `JaxJit`. Called outside of JAX's transformations, it raises the exceptions that the program raises
        (`jax.jit` raises `JaxRuntimeError` instead); for that, a call of a program that may fail waits for its end.
        `explain(*args)` says which loops became `scan` or `while_loop`, which were unrolled, and why.

    Raises:
        SourceError: there is no Python source to convert.

    Example:
        >>> import jax
        >>> jax.config.update("jax_enable_x64", True)
        >>> @ag.jax_jit
        ... def steps(n):
        ...     count = 0
        ...     while n != 1:
        ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
        ...         count += 1
        ...     return count
        >>> int(steps(27))
        111
    """
    if function is None:
        return functools.partial(jax_jit, checks=checks, **options)
    return JaxJit(function, options, checks)
