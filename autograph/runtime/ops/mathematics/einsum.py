"""Sums of products in Einstein's notation."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import VIEW, Vjp
from autograph.runtime.graph.traits import ARRAY_PRODUCT, SHARES
from autograph.runtime.graph.types import Shape, Type
from autograph.runtime.ops.gradients.data_movement import MOST, moves
from autograph.runtime.ops.gradients.toolkit import as_array, ndim
from autograph.runtime.ops.gradients.toolkit import shape as sizes
from autograph.runtime.ops.inference import sharing
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.shape_rules import (
    Unknown,
    array_like,
    broadcast,
    broadcast_dims,
    dtype_arg,
    result,
)
from autograph.runtime.ops.mathematics.products import common


def einsum(
    subscripts: Any,
    *operands: Any,
    out: Any = None,
    optimize: Any = False,
    dtype: Any = None,
    order: Any = "K",
    casting: Any = "safe",
) -> Type:
    if not isinstance(subscripts, str):
        given = _by_letters((subscripts, *operands))
        subscripts, operands = given[0], given[1:]
    arrays = list(map(array_like, operands))
    shape = einsum_shape(subscripts, [array.shape for array in arrays])
    if not shape and optimize is not False:
        raise Unknown
    return result(common(*arrays) if dtype is None else dtype_arg(dtype), shape)


def _terms(subscripts: str) -> tuple[list[str], str]:
    """The letters of each operand and of the output; if that is not said, it has the letters that occur once."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    if not arrow:
        letters = inputs.replace(",", "").replace(".", "")
        output = "..." + "".join(letter for letter in sorted(set(letters)) if letters.count(letter) == 1)
    return inputs.split(","), output


def einsum_shape(subscripts: str, shapes: list[Shape]) -> Shape:
    """The shape of the result of `ij,jk->ik`."""
    terms, output = _terms(subscripts)
    if len(terms) != len(shapes):
        raise Unknown
    dims: dict[str, int | None] = {}
    batches: list[Shape] = []
    for term, shape in zip(terms, shapes):
        _bind(term, shape, dims, batches)
    batch = broadcast(*batches)
    before, dots, after = output.partition("...")
    rest = batch if dots else ()
    return (*(dims[letter] for letter in before), *rest, *(dims[letter] for letter in after))


def _bind(term: str, shape: Shape, dims: dict[str, int | None], batches: list[Shape]) -> None:
    """Note the dimensions of one operand for its letters and the ellipsis."""
    before, dots, after = term.partition("...")
    extra = len(shape) - len(before) - len(after)
    if extra < 0 or (extra and not dots):
        raise Unknown
    if dots:
        batches.append(shape[len(before) : len(before) + extra])
    for letter, dim in zip(before + after, (*shape[: len(before)], *shape[len(before) + extra :])):
        dims[letter] = broadcast_dims(dims[letter], dim) if letter in dims else dim


# --------------------------------------------------------------------------------------------------- derivatives


def of_operand(position: int) -> Vjp:
    """The derivative in one positional argument: the gradient times the other operands, summed to its letters."""

    def vjp(g: Any, out: Any, *args: Any, optimize: Any = False, **_: Any) -> Any:
        operands, terms, output = _parsed(args)
        which = position - 1 if isinstance(args[0], str) else position // 2
        mine, array = terms[which], operands[which]
        rest = [(operand, term) for i, (operand, term) in enumerate(zip(operands, terms)) if i != which]
        factors = [(g, output), *rest]
        wanted = "".join(dict.fromkeys(mine))
        known = set("".join(term for _, term in factors))
        alone = [letter for letter in wanted if letter not in known]        # summed over in this operand only
        if alone:
            lengths = [sizes(array)[mine.index(letter)] for letter in alone]
            factors.append((np.ones_like(g, shape=lengths), "".join(alone)))
        inputs = ",".join(term for _, term in factors)
        found = np.einsum(f"{inputs}->{wanted}", *(factor for factor, _ in factors), optimize=optimize)
        if wanted == mine:
            return found
        return moves(lambda numbers: np.einsum(f"{mine}->{wanted}", numbers))(found, out, array)

    return vjp


def _parsed(args: tuple[Any, ...]) -> tuple[list[Any], list[str], str]:
    """The operands, the letters of the axes of each, and those of the output, with letters in place of ellipses."""
    args = args if isinstance(args[0], str) else _by_letters(args)
    (terms, output), operands = _terms(args[0]), [as_array(operand) for operand in args[1:]]
    free = [letter for letter in string.ascii_letters if letter not in args[0]]
    counts = [ndim(operand) - len(term.replace("...", "")) for operand, term in zip(operands, terms)]
    batch = "".join(free[: max(counts, default=0)])
    terms = [term.replace("...", batch[len(batch) - count :]) for term, count in zip(terms, counts)]
    return operands, terms, output.replace("...", batch)


def _by_letters(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments with subscripts as text, for calls that pass lists of axes."""
    count = len(args) // 2
    inputs = ",".join(_letters(axes) for axes in args[1 : 2 * count : 2])
    output = f"->{_letters(args[-1])}" if len(args) % 2 else ""
    return (inputs + output, *args[: 2 * count : 2])


def _letters(axes: Any) -> str:
    return "".join("..." if axis is Ellipsis else string.ascii_letters[axis] for axis in axes)


functions(
    "np.einsum", einsum, effect=VIEW, vjp=tuple(map(of_operand, range(MOST))),
    traits=[ARRAY_PRODUCT, (SHARES, sharing.einsum)],
)  # fmt: skip
