"""Converted functions under JAX's transforms, in every order: against plain runs, finite differences, and `lax`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import autograph as ag  # noqa: E402
from tests.backends.jax.cases import CLOSE, NAMES, PLAIN, Case  # noqa: E402
from tests.backends.jax.functions import handwritten, module  # noqa: E402
from tests.backends.jax.running import copied, on_jax, run, same  # noqa: E402

jnp = jax.numpy
pytestmark = pytest.mark.once
every_function = pytest.mark.parametrize(("theme", "name"), NAMES, ids=[".".join(pair) for pair in NAMES])
some_functions = pytest.mark.parametrize(("theme", "name"), NAMES[::19], ids=[".".join(pair) for pair in NAMES[::19]])


@every_function
def test_all_at_once(theme: str, name: str) -> None:
    """The value, both derivatives, and a batch, in one compiled function."""
    case = Case(theme, name)

    @jax.jit
    def everything(x: Any, batch: Any) -> Any:
        slope = jax.grad(case.loss)(x) if case.reverse else None
        return case.program(x), slope, case.jvp(case.program)(x), jax.vmap(case.program)(batch)

    value, slope, directional, batch = everything(case.x, case.batch)
    same(value, case.value)
    if case.reverse:
        same(slope, case.slope(case.x), **CLOSE)
    same(directional, case.directional(), **CLOSE)
    same(batch, np.stack([case.plain(x) for x in case.batch]))


def check_orders(theme: str, name: str) -> None:
    """Each order of `jit`, `grad`, `jvp` and `vmap`, alone."""
    case = Case(theme, name)
    jit, vmap, grad, f, x, batch = jax.jit, jax.vmap, jax.grad, case.program, case.x, case.batch
    values = np.stack([case.plain(row) for row in batch])
    for mapped in (vmap(f), jit(vmap(f)), vmap(jit(f))):
        same(mapped(batch), values)
    for slope in (case.jvp(f), jit(case.jvp(f)), case.jvp(jit(f))):
        same(slope(x), case.directional(), **CLOSE)
    same(vmap(case.jvp(f))(batch)[0], case.directional(), **CLOSE)
    same(jit(jax.linearize(f, x)[1])(case.direction), case.directional(), **CLOSE)
    if not case.reverse:
        with pytest.raises(Exception, match=rf"{theme}\.py"):
            grad(case.loss)(x)
        return
    slope = case.slope(x)
    for program in (grad(case.loss), jit(grad(case.loss)), grad(jit(case.loss)), grad(jax.checkpoint(case.loss))):
        same(program(x), slope, **CLOSE)
    slopes = np.stack([case.slope(row) for row in batch])
    for program in (vmap(grad(case.loss)), jit(vmap(grad(case.loss))), vmap(jit(grad(case.loss))),
                    grad(lambda batch: vmap(case.loss)(batch).sum())):  # fmt: skip
        same(program(batch), slopes, **CLOSE)
    second = jax.jvp(grad(case.loss), (x,), (case.direction,))[1]
    step = 1e-4 * case.direction
    same(second, (grad(case.loss)(x + step) - grad(case.loss)(x - step)) / 2e-4, rtol=1e-3, atol=1e-4)


@some_functions
def test_every_order(theme: str, name: str) -> None:
    check_orders(theme, name)


@pytest.mark.slow
@every_function
def test_every_order_of_every_function(theme: str, name: str) -> None:
    check_orders(theme, name)


HAND = [(theme, name) for theme, name in NAMES if hasattr(handwritten, name)]


@pytest.mark.parametrize(("theme", "name"), HAND, ids=[".".join(pair) for pair in HAND])
def test_as_by_hand(theme: str, name: str) -> None:
    """The value, and derivatives to the last digits, as of the function that is written in terms of `lax`."""
    case = Case(theme, name)

    def everything(function: Any) -> Any:
        forward = case.jvp(function)
        slope = jax.grad(lambda x: (function(x) * case.weights).sum()) if case.reverse else function
        compiled = jax.jit(lambda x, batch: (function(x), forward(x), jax.vmap(function)(batch), slope(x)))
        return compiled(case.x, case.batch)

    same(everything(case.program), everything(case.hand), rtol=1e-9, atol=1e-12)


def test_enough_functions() -> None:
    assert len(NAMES) >= 100 and len(HAND) >= 25


# vmap where the elements of a batch go different ways

DIFFERENT_WAYS = {
    "branches.piecewise": [-1.0, 0.5, 1.5, 3.0],
    "branches.choice_by_integer": [0, 1, 2, 3, -1],
    "branches.match_on_integer": [0, 1, 2, 5],
    "loops.until_limit": [[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 1.0, 1.0, 1.0, 1.0], [0.0] * 5],
    "loops.first_above_one": [[2.0, 0.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]],
    "loops.found_or_else": [[1.0, 20.0, 30.0], [1.0, 2.0, 3.0]],
    "loops.long_loop_with_break": [[2.0] * 12, [0.1] * 12, [-1.0] * 12],
    "loops.return_from_nested_loops": [[0.9] * 10, [0.1] * 10],
    "loops.loop_to_data": [0, 1, 2, 3],
    "loops.power_of_data": [0, 1, 7],
    "whiles.doubled_to_hundred": [200.0, 99.0, 1.0, 0.5],
    "whiles.while_with_break": [0.5, 3.0, 10.0],
    "whiles.while_true": [0.05, 0.5, 5.0],
    "whiles.return_from_while": [1.0, 20.0, 100.0],
    "whiles.writes_until": [2.0, 0.5, 0.1],
    "whiles.search_in_array": [[2.0, 0.0, 0.0, 3.0], [0.0, 0.5, 2.0, 1.0]],
    "stores.gauss_with_pivot": [[[0.1, 2.0], [3.0, 4.0]], [[3.0, 4.0], [0.1, 2.0]]],
    "stores.row_of_data": [0, 1],
    "state.attribute_in_branch": [[1.0, -2.0, 3.0], [1.0, 2.0, 3.0]],
    "models.markov_chain": [[0.4, 0.6], [1.0, 0.0]],
}


@pytest.mark.parametrize("where", DIFFERENT_WAYS)
@pytest.mark.parametrize("jitted", [False, True], ids=["vmap", "jit-vmap"])
def test_batches_whose_elements_go_different_ways(where: str, jitted: bool) -> None:
    theme, name = where.split(".")
    function, plain = getattr(module(theme), name), getattr(PLAIN[theme], name)
    batch = np.array(DIFFERENT_WAYS[where])
    first, *rest = on_jax(function.example)
    args = (batch, *rest) if batch.shape[1:] == np.shape(first) and batch.dtype == first.dtype else (first, batch)
    axes = tuple(0 if arg is batch else None for arg in args)
    mapped = jax.vmap(ag.convert(function), in_axes=axes)
    each = [tuple(row if arg is batch else arg for arg in args) for row in batch]
    same((jax.jit(mapped) if jitted else mapped)(*args), np.stack([plain(*copied(row)) for row in each]))


def test_a_loop_is_not_unrolled() -> None:
    """Neither while it is traced nor in what is compiled."""
    texts = [str(jax.make_jaxpr(ag.convert(module("loops").long_loop))(jnp.ones(2)))]
    texts += [str(jax.make_jaxpr(jax.grad(ag.convert(module("loops").long_loop)))(jnp.ones(2)))]
    assert all(text.count(" sin ") < 10 for text in texts)


def test_errors_under_transforms_name_the_line() -> None:
    def f(x: Any) -> Any:
        while x < 10:
            x = x * 2
        return x

    ran = run(jax.grad(jax.jit(ag.convert(f))), [1.0])
    assert ran.error is not None and "test_transforms.py" in str(ran.error)
