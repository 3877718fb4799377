"""Indexing of lists at staged places, and of arrays that cannot change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.backends.jax.arrays import ArrayTracer, is_number
from autograph.backends.jax.bodies import is_staged
from autograph.backends.jax.effects import of_program
from autograph.backends.jax.lines import explained, here
from autograph.backends.jax.structures import reachable


class Items:
    """A list, tuple or dict of which an item is taken or replaced; an index may be staged."""

    __slots__ = ("backend", "items")

    def __init__(self, backend: Any, items: Any) -> None:
        self.backend = backend
        self.items = items

    def __getitem__(self, index: Any) -> Any:
        if not is_staged(index) or isinstance(self.items, dict):
            with self._programs_errors():
                return self.items[index]
        leaves = [jax.tree.flatten(item) for item in self.items]
        if not leaves or any(tree != leaves[0][1] or not all(map(is_number, parts)) for parts, tree in leaves):
            raise here("JAX takes an item at a staged index only from a list of numbers, or of arrays of one shape")
        index = jnp.where(index < 0, index + len(leaves), index)
        taken = [self._taken(column, index) for column in zip(*(parts for parts, _ in leaves))]
        result = jax.tree.unflatten(leaves[0][1], taken)
        containers = [each for each in reachable([result, *self.items]) if not isinstance(each, tuple)]
        self.backend.trace.shared.update({id(each): each for each in containers})   # which one the result is
        return result

    def _taken(self, arrays: Sequence[Any], index: Any) -> Any:
        """Return the array at a staged index; it is that array, so that both change."""
        trace = self.backend.trace
        result = trace.array(trace.read(jnp.stack([*map(jnp.asarray, arrays)])[index]))
        for at, array in enumerate(arrays):
            if isinstance(array, ArrayTracer) and array.ndim:
                if array.part_of is None and array.aval.dtype == result.aval.dtype:
                    trace.link(result, array, trace.read(index == at))
                else:
                    trace.relate(result, array)
        return result

    def __setitem__(self, index: Any, value: Any) -> None:
        self.backend.trace.log(self.items)
        if not is_staged(index) or not isinstance(self.items, (list, bytearray)):
            with self._programs_errors():
                self.items[index] = value
            return
        count = len(self.items)
        index = jnp.where(index < 0, index + count, index)
        for at in range(count):
            self.items[at] = self.backend.if_exp(
                index == at, lambda: value, lambda at=at: self.items[at])

    def __delitem__(self, index: Any) -> None:
        self.backend.trace.log(self.items)
        with self._programs_errors():
            del self.items[index]

    @contextmanager
    def _programs_errors(self) -> Iterator[None]:
        """Let the errors of an item that is not there, or cannot be set, be the program's."""
        try:
            yield
        except (LookupError, TypeError) as error:
            for item in self.items if isinstance(self.items, list) else ():
                self.backend.trace.read(item)       # of a list that grows in a loop, items are not known
            if explained(error) is None:    # it is not one of JAX's
                of_program(error)
            raise

    def __iadd__(self, other: Any) -> Any:
        self.backend.trace.log(self.items)
        self.items += other
        return self.items

    def __ior__(self, other: Any) -> Any:
        self.backend.trace.log(self.items)
        self.items |= other
        return self.items

    def __imul__(self, other: Any) -> Any:
        self.backend.trace.log(self.items)
        self.items *= other
        return self.items


class Fixed:
    """An array of NumPy, or one of JAX from outside of the function: JAX cannot change these."""

    __slots__ = ("array", "backend")

    def __init__(self, backend: Any, array: Any) -> None:
        self.backend = backend
        self.array = array

    def __getitem__(self, index: Any) -> Any:
        parts: Sequence[Any] = index if isinstance(index, tuple) else (index,)
        staged = any(isinstance(part, jax.Array) for part in parts) or any(
            isinstance(each, jax.Array) for part in parts if isinstance(part, slice)
            for each in (part.start, part.stop, part.step))
        return jnp.asarray(self.array)[index] if staged else self.array[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        trace = self.backend.trace
        if isinstance(self.array, np.ndarray) and not (trace.depth or isinstance(value, jax.core.Tracer)):
            self.array[index] = value
            return
        raise here("this line stores into an array that was made outside of the function, or by NumPy. Only arrays "
                   "that the function gets as arguments, or makes with jax.numpy, can change while JAX traces")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)
