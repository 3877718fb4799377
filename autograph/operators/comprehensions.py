"""List, set and dict comprehensions, and generator expressions.

If the target is more than a name, as in `[a * b for a, b in pairs]`, the functions take several parameters, and
`target` describes how to unpack each item: `(0, (1, 2))` for `a, (b, c)`; by default flat, `(0, 1)` for `a, b`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from functools import cache
from itertools import chain
from types import FunctionType
from typing import Any, cast

from autograph.operators import python_builtins
from autograph.operators.backend import (
    ACTIVE,
    BACKENDS,
    PLAIN,
    STAGED,
    Mapped,
    OneArgument,
    Several,
    owner,
    responsible,
)
from autograph.operators.loops import Resumed
from autograph.operators.unbound import rename

Element = Callable[..., Any]
Target = tuple[Any, ...] | None


def list_comp(
    iterable: Any, element: Element, condition: Element | None = None, target: Target = None, flat: bool = False
) -> Any:
    """`[element(x) for x in iterable if condition(x)]`; if `flat`, `element(x)` returns the elements for `x`."""
    try:
        make, accepts = _of_items(target, element, condition)
        if _might_be_staged(iterable, accepts):
            done: list[Any] = []
            add = done.extend if flat else done.append
            result = _collect("list_comp", iterable, (make,), accepts, done, add, flat)
            if result is not NotImplemented:
                return result
        if flat:
            return [part for item in iterable if accepts is None or accepts(item) for part in _elements(make(item))]
        if accepts is None:
            return [make(item) for item in iterable]
        return [make(item) for item in iterable if accepts(item)]
    except NameError as error:
        rename(error, element, condition)
        raise


def set_comp(
    iterable: Any, element: Element, condition: Element | None = None, target: Target = None, flat: bool = False
) -> Any:
    """`{element(x) for x in iterable if condition(x)}`."""
    try:
        make, accepts = _of_items(target, element, condition)
        if _might_be_staged(iterable, accepts):
            done: set[Any] = set()
            add = done.update if flat else done.add
            result = _collect("set_comp", iterable, (make,), accepts, done, add, flat)
            if result is not NotImplemented:
                return result
        if flat:
            return {part for item in iterable if accepts is None or accepts(item) for part in _elements(make(item))}
        if accepts is None:
            return {make(item) for item in iterable}
        return {make(item) for item in iterable if accepts(item)}
    except NameError as error:
        rename(error, element, condition)
        raise


def dict_comp(
    iterable: Any, key: Element, value: Element, condition: Element | None = None, target: Target = None
) -> Any:
    """`{key(x): value(x) for x in iterable if condition(x)}`."""
    try:
        make_key, make_value, accepts = _of_items(target, key, value, condition)
        if _might_be_staged(iterable, accepts):
            done: dict[Any, Any] = {}
            result = _collect("dict_comp", iterable, (make_key, make_value), accepts, done, done.__setitem__)
            if result is not NotImplemented:
                return result
        if accepts is None:
            return {make_key(item): make_value(item) for item in iterable}
        return {make_key(item): make_value(item) for item in iterable if accepts(item)}
    except NameError as error:
        rename(error, key, value, condition)
        raise


def gen_exp(
    iterable: Any, element: Element, condition: Element | None = None, target: Target = None, flat: bool = False
) -> Any:
    """`(element(x) for x in iterable if condition(x))`: a generator, over `iter(iterable)` taken now."""
    make, accepts = _of_items(target, element, condition)
    if _might_be_staged(iterable, accepts):
        backend = responsible(iterable)
        if backend is not None:
            result = backend.gen_exp(iterable, Several(make) if flat else make, accepts, True)
            if result is not NotImplemented:
                return result
        if accepts is not None and not flat:
            generator: Any = _generate(iter(iterable), make, accepts)
            generator.__name__ = "<genexpr>"
            return generator
    if flat:
        return (part for item in iterable if accepts is None or accepts(item) for part in make(item))
    if accepts is None:
        return (make(item) for item in iterable)
    return (make(item) for item in iterable if accepts(item))


def mapped(function: Element, iterable: Any) -> Any:
    """`map(function, iterable)`, of a function that nothing else has, for a call that takes the items."""
    if _might_be_staged(iterable, None):
        backend = responsible(iterable)
        if backend is not None and getattr(backend, "maps", False):
            result = backend.gen_exp(iterable, Mapped(function), None, True)
            if result is not NotImplemented:
                return result
    return python_builtins.run("map", (function, iterable), {})


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


def _elements(elements: Any) -> Any:
    """Return the elements for one item; of a staged value, `[*xs]` takes all elements that there will be."""
    return [*python_builtins.run("list", (elements,), {})] if ACTIVE else elements


def _might_be_staged(iterable: Any, condition: OneArgument | None) -> bool:
    return bool(ACTIVE or (condition is not None and (BACKENDS or STAGED)) or type(iterable) not in PLAIN)


def _collect(
    construct: str,
    iterable: Any,
    parts: tuple[OneArgument, ...],
    condition: OneArgument | None,
    done: Any,
    add: Callable[..., None],
    flat: bool = False,
) -> Any:
    """Return a backend's result for a comprehension, or else `done` with all elements that pass the condition.

    NotImplemented if no backend takes it and there is no condition that could be staged.
    """
    make, *more = parts
    handed = (Several(make),) if flat else parts
    backend = responsible(iterable)
    if backend is not None:
        result = getattr(backend, construct)(iterable, *handed, condition, done, True)
        if result is not NotImplemented:
            return result
    if condition is None:
        return NotImplemented
    iterator = iter(iterable)
    for item in Resumed(iterator):
        accepted = condition(item)
        backend = None if type(accepted) is bool else owner(accepted)
        if backend is not None:
            result = getattr(backend, construct)(chain((item,), iterator), *handed, condition, done, accepted)
            if result is not NotImplemented:
                return result
        if accepted:
            if more:
                add(make(item), more[0](item))
            else:
                add(_elements(make(item)) if flat else make(item))
    return done


# -- unpacking items -------------------------------------------------------------------------------------


def _of_items(target: Target, *functions: Any) -> tuple[Any, ...]:
    """Return the functions as functions of one item: those that make an element, and the condition, or None.

    The condition is called first.
    """
    if target is None:
        element = functions[0]
        count = element.__code__.co_argcount if type(element) is FunctionType else 1
        if count < 2:
            return functions
        target = tuple(range(count))
    *elements, condition = functions
    if condition is None and len(elements) == 1:
        return _unpacking(target)(elements[0]), None
    unpack = _unpacking(target)(lambda *parts: parts)
    last = _LastItem()

    def called_first(function: Element) -> OneArgument:
        def of_item(item: Any) -> Any:
            last.item, last.parts = item, unpack(item)
            return function(*last.parts)

        return of_item

    def called_later(function: Element) -> OneArgument:
        """A backend may also call this one first."""
        return lambda item: function(*(last.parts if item is last.item else unpack(item)))

    if condition is None:
        return called_first(elements[0]), *map(called_later, elements[1:]), None
    return *map(called_later, elements), called_first(condition)


class _LastItem:
    """The item that was unpacked last: it may be an iterator, so it is unpacked only once.

    This is no variable, because a trace would carry that through staged loops.
    """

    __slots__ = ("item", "parts")

    def __init__(self) -> None:
        self.item: Any = self       # no item yet
        self.parts: tuple[Any, ...] = ()


@cache
def _unpacking(target: tuple[Any, ...]) -> Callable[[Element], OneArgument]:
    """Return a decorator that makes a function of the parts of an item a function of the item.

    The item is unpacked by an assignment, which raises Python's own errors.
    """
    names: list[str] = []
    pattern, parts = _pattern(target, names), ", ".join(names)
    lines = "def unpacking(function):", " def of_item(item):", f"  {pattern} = item", f"  return function({parts})"
    namespace: dict[str, Any] = {}
    exec(compile("\n".join((*lines, " return of_item")), __file__, "exec"), namespace)
    return cast(Callable[[Element], OneArgument], namespace["unpacking"])


def _pattern(target: Any, names: list[str]) -> str:
    if isinstance(target, tuple):
        return f"({''.join(_pattern(part, names) + ',' for part in target)})"
    names.append(f"_{target}")
    return names[-1]
