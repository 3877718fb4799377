"""Generator expressions while JAX traces, and the builtins that take all of their elements."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from functools import partial
from typing import Any

from autograph.backends.jax.effects import of_program
from autograph.backends.jax.iterables import is_staged_iterable
from autograph.operators import comprehensions, loops
from autograph.operators.backend import OneArgument
from autograph.operators.conditionals import if_stmt
from autograph.operators.logical import not_, or_


class Generated:
    """A generator expression. Iterated over by Python, it is the generator; staged loops take it apart."""

    once = True

    def __init__(self, iterable: Any, element: OneArgument, condition: OneArgument | None) -> None:
        self.iterable = iterable
        self.element = element
        self.condition = condition
        self._iterator: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._iterator is None:
            is_staged = is_staged_iterable(self.iterable)
            self._iterator = iter(self.elements()) if is_staged else self._one_by_one()
        return next(self._iterator)

    def elements(self) -> Any:
        """The elements that have not been taken, in a list."""
        if self._iterator is not None:
            return list(self._iterator)
        condition = None if self.condition is None else partial(_computed, self.condition)
        return comprehensions.list_comp(self.iterable, partial(_computed, self.element), condition)

    def _one_by_one(self) -> Iterator[Any]:
        for item in self.iterable:
            if self.condition is None or self.condition(item):
                yield self.element(item)

    def each(self, body: OneArgument, until: Any = None) -> None:
        """Call `body` with each element, as a loop; it ends where `until()` is true.

        The loop finds the variables that `body` and `until` change as those of functions that it calls.
        """
        element, condition = self.element, self.condition
        if self._iterator is not None:
            loops.for_stmt(self._iterator, body, (), until)
            return

        def of_item(item: Any) -> None:
            if condition is None:
                body(_computed(element, item))
            else:
                if_stmt(_computed(condition, item), lambda: body(_computed(element, item)), None, ())

        loops.for_stmt(self.iterable, of_item, (), None if until is None else lambda: until())


def _computed(function: OneArgument, item: Any) -> Any:
    """The element or condition of an item, whose StopIteration does not end the iteration."""
    try:
        return function(item)
    except StopIteration as error:
        raise of_program(RuntimeError("generator raised StopIteration")) from error


def consumed(generated: Generated, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a builtin function with all elements."""
    function = globals().get(f"_{name}_of")
    if function is not None:
        return function(generated, *args, **kwargs)
    if name in ("iter", "enumerate", "zip", "map", "filter", "print", "type", "next", "repr", "str", "bool"):
        return getattr(builtins, name)(generated, *args, **kwargs)
    return getattr(builtins, name)(generated.elements(), *args, **kwargs)


def _sum_of(generated: Generated, start: Any = 0) -> Any:
    total = start

    def body(value: Any) -> None:
        nonlocal total
        total = total + value

    generated.each(body)
    return total


def _any_of(generated: Generated) -> Any:
    found: Any = False

    def body(value: Any) -> None:
        nonlocal found
        found = or_(lambda: found, lambda: value, test=True)

    generated.each(body, lambda: found)
    return found


def _all_of(generated: Generated) -> Any:
    failed: Any = False

    def body(value: Any) -> None:
        nonlocal failed
        failed = or_(lambda: failed, lambda: not_(value), test=True)

    generated.each(body, lambda: failed)
    return not_(failed)


def _extreme(generated: Generated, sign: int, options: dict[str, Any]) -> Any:
    key = options.get("key") or (lambda value: value)
    best = key_of_best = None
    is_empty: Any = True

    def body(value: Any) -> None:
        def take() -> None:
            nonlocal best, key_of_best, is_empty
            best, key_of_best, is_empty = value, new, False

        new = key(value)
        wins = or_(lambda: is_empty, lambda: new > key_of_best if sign > 0 else new < key_of_best, test=True)
        if_stmt(wins, take, None, ("best", "key_of_best", "is_empty"))

    generated.each(body)

    def fail() -> Any:
        if "default" in options:
            return options["default"]
        raise of_program(ValueError(f"{'max' if sign > 0 else 'min'}() iterable argument is empty"))

    return if_stmt(is_empty, fail, lambda: best)


def _max_of(generated: Generated, **options: Any) -> Any:
    return _extreme(generated, 1, options)


def _min_of(generated: Generated, **options: Any) -> Any:
    return _extreme(generated, -1, options)
