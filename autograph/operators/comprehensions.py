"""List, set and dict comprehensions, and generator expressions."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from itertools import chain
from typing import Any

from autograph.operators.backend import ACTIVE, BACKENDS, PLAIN, STAGED, OneArgument, owner, responsible
from autograph.operators.for_loop import Resumed
from autograph.operators.unbound import rename


def list_comp(iterable: Any, element: OneArgument, condition: OneArgument | None = None) -> Any:
    """`[element(x) for x in iterable if condition(x)]`."""
    try:
        if _might_be_staged(iterable, condition):
            done: list[Any] = []
            result = _collect("list_comp", iterable, (element,), condition, done, done.append)
            if result is not NotImplemented:
                return result
        if condition is None:
            return [element(item) for item in iterable]
        return [element(item) for item in iterable if condition(item)]
    except NameError as error:
        rename(error, element, condition)
        raise


def set_comp(iterable: Any, element: OneArgument, condition: OneArgument | None = None) -> Any:
    """`{element(x) for x in iterable if condition(x)}`."""
    try:
        if _might_be_staged(iterable, condition):
            done: set[Any] = set()
            result = _collect("set_comp", iterable, (element,), condition, done, done.add)
            if result is not NotImplemented:
                return result
        if condition is None:
            return {element(item) for item in iterable}
        return {element(item) for item in iterable if condition(item)}
    except NameError as error:
        rename(error, element, condition)
        raise


def dict_comp(iterable: Any, key: OneArgument, value: OneArgument, condition: OneArgument | None = None) -> Any:
    """`{key(x): value(x) for x in iterable if condition(x)}`."""
    try:
        if _might_be_staged(iterable, condition):
            done: dict[Any, Any] = {}
            result = _collect("dict_comp", iterable, (key, value), condition, done, done.__setitem__)
            if result is not NotImplemented:
                return result
        if condition is None:
            return {key(item): value(item) for item in iterable}
        return {key(item): value(item) for item in iterable if condition(item)}
    except NameError as error:
        rename(error, key, value, condition)
        raise


def gen_exp(iterable: Any, element: OneArgument, condition: OneArgument | None = None) -> Any:
    """`(element(x) for x in iterable if condition(x))`: a generator, over `iter(iterable)` taken now."""
    if _might_be_staged(iterable, condition):
        backend = responsible(iterable)
        if backend is not None:
            result = backend.gen_exp(iterable, element, condition, True)
            if result is not NotImplemented:
                return result
        if condition is not None:
            generator: Any = _generate(iter(iterable), element, condition)
            generator.__name__ = "<genexpr>"
            return generator
    if condition is None:
        return (element(item) for item in iterable)
    return (element(item) for item in iterable if condition(item))


def _generate(iterator: Iterator[Any], element: OneArgument, condition: OneArgument) -> Generator[Any, Any, None]:
    for item in Resumed(iterator):
        accepted = condition(item)
        backend = None if type(accepted) is bool else owner(accepted)
        if backend is not None:
            rest = backend.gen_exp(chain((item,), iterator), element, condition, accepted)
            if rest is not NotImplemented:
                yield from rest
                return
        if accepted:
            yield element(item)


def _might_be_staged(iterable: Any, condition: OneArgument | None) -> bool:
    return bool(ACTIVE or (condition is not None and (BACKENDS or STAGED)) or type(iterable) not in PLAIN)


def _collect(
    construct: str,
    iterable: Any,
    parts: tuple[OneArgument, ...],
    condition: OneArgument | None,
    done: Any,
    add: Callable[..., None],
) -> Any:
    """What a backend makes of a comprehension, else `done` with all added to it that passes the condition.

    NotImplemented, if no backend wants it and there is no condition that could be staged.
    """
    backend = responsible(iterable)
    if backend is not None:
        result = getattr(backend, construct)(iterable, *parts, condition, done, True)
        if result is not NotImplemented:
            return result
    if condition is None:
        return NotImplemented
    iterator = iter(iterable)
    part, *more = parts
    for item in Resumed(iterator):
        accepted = condition(item)
        backend = None if type(accepted) is bool else owner(accepted)
        if backend is not None:
            result = getattr(backend, construct)(chain((item,), iterator), *parts, condition, done, accepted)
            if result is not NotImplemented:
                return result
        if accepted:
            if more:
                add(part(item), more[0](item))
            else:
                add(part(item))
    return done
