"""Differentiated inputs: the function gets copies of their containers, with values of their own.

After the call, its changes to lists, dicts and dataclasses among them are made to the caller's objects.
"""

from __future__ import annotations

import copy
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from autograph.common import pytree
from autograph.errors import DerivativeError
from autograph.runtime.autodiff.activity import has_gradient
from autograph.runtime.graph.types import TensorType
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.mutation import ObjectRef
from autograph.runtime.tracing.state.staged_containers import staged_as

if TYPE_CHECKING:
    from autograph.runtime.tracing.state.trace import Trace


class DifferentiatedInputs:
    """The inputs of a derivative.

    Args:
        name: of the function, for errors.
    """

    def __init__(self, trace: Trace, name: str) -> None:
        self._trace = trace
        self._name = name
        self._given: list[tuple[Any, Any, Any]] = []

    def of(self, structure: Any) -> Any:
        """A copy of an argument's structure, with new values for the leaves."""
        return pytree.resolve(self._of, structure)

    def _of(self, structure: Any) -> Any:
        kind = pytree.kind_of(structure)
        if kind is None:
            return self._leaf(structure)
        return pytree.Within(zip(kind.children(structure).values()), lambda parts: self._made(kind, structure, parts))

    def _made(self, kind: pytree.Kind, structure: Any, parts: list[Any]) -> Any:
        given = kind.rebuild(structure, parts)
        if not isinstance(structure, tuple):
            self._given.append((given, structure, copy.copy(given)))
        return given

    def _leaf(self, leaf: Any) -> Any:
        if not is_differentiable(leaf):
            raise DerivativeError(
                f"the gradient of {self._name} is asked for in an argument that is {described(leaf)}, but only "
                "floats and complex numbers have gradients: pass a float or an array of floats, or choose others by "
                "argnums="
            )
        return self._trace.record("bound", (leaf,))

    def give_back(self) -> None:
        """Apply the function's changes of the copies to the arguments."""
        originals = {id(given): original for given, original, _ in self._given}
        for given, original, before in self._given:
            if isinstance(given, (list, dict)):
                if staged_as(given) is not None or not _is_same(given, before):
                    self._fill(original, given, originals)
                continue
            for name, part in vars(given).items():
                if part is not getattr(before, name, self):
                    setattr(ObjectRef(self._trace, original), name, originals.get(id(part), part))

    def _fill(self, original: Any, given: Any, originals: dict[int, Any]) -> None:
        if staged_as(given) is None:
            kind = pytree.kind_of(given)
            assert kind is not None
            given = kind.rebuild(given, [originals.get(id(part), part) for part in kind.children(given).values()])
        self._trace.context.calls.replacement(original.clear)()
        self._trace.context.calls.replacement(original.extend if isinstance(original, list) else original.update)(given)


def _is_same(given: Any, before: Any) -> bool:
    """Whether a list or dict still has the same parts in the same order."""
    if isinstance(given, dict):
        return list(given) == list(before) and _is_same(list(given.values()), list(before.values()))
    return len(given) == len(before) and all(map(operator.is_, given, before))


def is_differentiable(leaf: Any) -> bool:
    """Whether a leaf is a float or complex number, or an array of such."""
    if is_tensor(leaf):
        found = leaf._ag_value.type
        return found.dtype.kind in "fc" if isinstance(found, TensorType) else has_gradient(found)
    return isinstance(leaf, (float, complex, np.floating, np.complexfloating)) or (
        isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc"
    )


def described(leaf: Any) -> str:
    """A description of a leaf, for errors."""
    return f"of type {leaf._ag_value.type}" if is_tensor(leaf) else f"of class {type(leaf).__name__}"
