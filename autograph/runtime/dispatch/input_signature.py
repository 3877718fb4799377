"""Signatures that the user gives: `input_signature=`, and the arguments of `get_concrete_function`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import Parameter
from typing import Any

from autograph.common import pytree
from autograph.errors import SignatureError
from autograph.runtime.dispatch.arguments import read
from autograph.runtime.dispatch.generalize import open_dimensions
from autograph.runtime.graph.signature import Dynamic, Instance, Leaf, Policy, Signature, Static, is_within
from autograph.runtime.graph.tensor_spec import TensorSpec
from autograph.runtime.graph.types import ANY, ObjectType, TensorType, covers, python


class Specified:
    """An input signature of a function; that of a method does not describe `self`.

    Attributes:
        owner: the name of the parameter that is `self`, if there is one.
        examples: placeholders for the arguments.

    Raises:
        ValueError: it does not fit the parameters.
    """

    def __init__(
        self,
        name: str,
        parameters: Sequence[Parameter],
        bind: Callable[..., tuple[Any, ...]],
        specs: Sequence[Any],
        policy: Policy,
    ) -> None:
        self.name = name
        self.owner = ""
        self.examples = examples = [placeholders(spec, classes=True) for spec in specs]
        try:
            values = bind(*examples)
        except TypeError as error:
            try:
                values = bind(None, *examples)
            except TypeError:
                values = ()
            if not values or "." not in name:
                raise ValueError(f"input_signature does not fit the parameters: {error}") from None
            self.owner, parameters, values = parameters[0].name, parameters[1:], values[1:]
        self.signature, self.reading = read(parameters, values, policy)
        open_dimensions(policy, self.signature)

    def apply(self, signature: Signature) -> Signature:
        """The signature of a call, with the leaves of the input signature in place of its own."""
        own = len(self._of_owner(signature))  # they come first
        rest = replace(signature, paths=signature.paths[own:], leaves=signature.leaves[own:])
        problem = misfit(self.signature, rest)
        if problem:
            raise SignatureError(
                f"{self.name} takes only what its input_signature says, ({self.signature}), but in this call {problem}."
                " Pass such arguments, leave dimensions open with None, or leave input_signature= out"
            )
        specified = dict(zip(self.signature.paths, self.signature.leaves))
        leaves = tuple(specified.get(path, leaf) for path, leaf in zip(signature.paths, signature.leaves))
        return replace(signature, leaves=leaves)

    def key(self, signature: Signature) -> Any:
        """The key of the trace for a call: there is one, or one for each kind of `self`."""
        own = self._of_owner(signature)
        return ("input_signature", *own) if own else "input_signature"

    def _of_owner(self, signature: Signature) -> list[tuple[str, Leaf]]:
        leaves = zip(signature.paths, signature.leaves)
        return [(path, leaf) for path, leaf in leaves if self.owner and is_within(path, self.owner)]


def placeholders(spec: Any, classes: bool = False) -> Any:
    """`spec` with a placeholder for each TensorSpec, and for each class if `classes`.

    A structure without any is returned as it is: it may be deep, contain itself, or share parts that are changed.
    """
    kinds = (TensorSpec, type) if classes else TensorSpec
    if not any(isinstance(leaf, kinds) for leaf in pytree.different_leaves(spec)):
        return spec

    def placeholder(leaf: Any) -> Any:
        if isinstance(leaf, TensorSpec):
            return Instance(Dynamic(leaf.type))
        if classes and isinstance(leaf, type):
            numbers = (bool, int, float, complex)
            return Instance(Dynamic(python(leaf) if leaf in numbers else ObjectType(leaf.__name__), leaf))
        return leaf

    return pytree.map(placeholder, spec)


def misfit(wide: Signature, narrow: Signature) -> str:
    """Why a function for the signature `wide` cannot take arguments of `narrow`; "" if it can."""
    if wide.paths != narrow.paths:
        missing = [path for path in wide.paths if path not in narrow.paths]
        extra = [path for path in narrow.paths if path not in wide.paths]
        return f"`{(missing or extra)[0]}` is {'missing' if missing else 'there'}, and the structure is another one"
    for path, expected, leaf in zip(wide.paths, wide.leaves, narrow.leaves):
        if not _fits(expected, leaf):
            return f"`{path}` is {leaf.described}, and not {expected.described}"
    return ""


def _fits(expected: Leaf, leaf: Leaf) -> bool:
    if isinstance(expected, Static):
        return expected == leaf
    if expected.type == ANY and expected.cls is None:
        return True
    if isinstance(leaf, Static):
        return expected.cls is type(leaf.value)
    if isinstance(expected.type, TensorType):
        return covers(expected.type, leaf.type)
    return expected.cls is leaf.cls
