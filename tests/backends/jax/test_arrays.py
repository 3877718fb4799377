"""Arrays that change in place: stores, views and aliases do what they do in NumPy, or are refused."""

from __future__ import annotations

import ast

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

import autograph as ag
from tests.backends.jax.agreeing import agrees, refuses
from tests.backends.jax.running import load, run, same

XS = np.arange(12.0)
SQUARE = np.arange(9.0).reshape(3, 3)


def set_all(x, value):
    for i in range(len(x)):
        x[i] = value * i


def filled_by_callee(x):
    set_all(x[1:], 2.0)
    return x, x.sum()


def row_is_a_view(m):
    row = m[1]
    row[0] = 50
    m[1, 1] = 60
    return m, row, row.sum()


def rows_in_a_loop(m):
    for row in m:
        row[0] = row[1] + row[2]
    return m


def transposed(m):
    t = m.T
    t[0, 1] = 9.0
    m[2, 0] = 8.0
    return m, t


def functions_of_views(m):
    np.swapaxes(m, 0, 1)[0, 2] = 5.0
    np.squeeze(m[None])[1] = 7.0
    np.flip(m, 0)[0] = 1.0
    return m


def reshape_is_a_view(m):
    flat = m.reshape(-1)
    flat[::4] = -1
    return m, flat


def reshape_of_transposed_is_a_copy(m):
    flat = m.T.reshape(-1)
    m[0] = 7.0
    return m, flat


def copies(m, x):
    others = x.copy(), x.astype(float), x.flatten(), +x, x * 1, m[[0, 1]], np.where(x > 0, x, x)
    x[:] = 0
    m[:] = 1
    return others


def aliases(x):
    y = x
    held = {"a": [x]}
    y[0] = 5
    held["a"][0][1] = 6
    return x, y, held


def store_by_data(x, i, n):
    x[i] += 3
    x[i : i + 1 if i is None else None] *= 2 if False else 1
    for k in range(n):
        x[k] -= i
    return x


def chosen_array(x, b):
    y = x if b else x * 2
    y[0] = 9.0
    x[1] = 8.0
    return x, y


def chosen_item(x, i):
    parts = [x, x * 2, x * 3]
    parts[i][0] = 9.0
    return parts


def swapped(x, n):
    a, b = x * 1, x * 2
    for i in range(n):
        a[0] = i
        a, b = b, a
    return a, b


def bound_in_a_loop(x, n):
    a = x * 1
    b = x * 2
    for i in range(n):
        a[0] = i
        b = a
        a[1] += 1
    return a, b


def returned_early(y, b):
    if y[1] > 0:
        if b:
            return y
    y[0] -= 1
    return y


def masks(x, limit):
    mask = x > limit
    x[mask] = x[mask] * 2 + 1
    x[x < 2] -= 5
    x[~mask] *= 2
    return x, x[mask].sum(), x[x > 100].any()


def rows_by_mask(m):
    m[m[:, 0] > 2] = [1.0, 2.0, 3.0]
    return m


def sieve(flags):
    flags[:2] = False
    i = 2
    while i * i < len(flags):
        if flags[i]:
            flags[i * i :: i] = False
        i += 1
    return flags


def chosen_again_and_again(x, y):
    a, b = x, y
    for i in range(8):
        if x[i] > 4:
            a, b = b, a
        a[i] += 1
    return a, b, x, y


@pytest.mark.parametrize("function, args", [
    (filled_by_callee, (XS,)), (row_is_a_view, (SQUARE,)), (rows_in_a_loop, (np.ones((10, 3)),)),
    (rows_in_a_loop, (SQUARE,)), (transposed, (SQUARE,)), (functions_of_views, (SQUARE,)),
    (reshape_is_a_view, (SQUARE,)), (reshape_of_transposed_is_a_copy, (SQUARE,)), (copies, (SQUARE, XS)),
    (aliases, (XS,)), (chosen_array, (XS, True)), (chosen_array, (XS, False)), (chosen_item, (XS, 1)),
    (swapped, (XS, 3)), (swapped, (XS, 0)), (bound_in_a_loop, (XS, 3)), (returned_early, (XS, False)),
    (returned_early, (XS, True)), (chosen_again_and_again, (XS, XS * 2)),
    (masks, (XS, 4.0)), (rows_by_mask, (SQUARE,)), (sieve, (np.ones(30, bool),)),
])  # fmt: skip
def test_stores_are_those_of_numpy(function, args):
    agrees(function, *args)


PARTS = """
    m.T, m.mT, m.real, m.astype(float), m.astype(float, copy=False), m.astype(int), m.copy(), m.flatten(), m.ravel(),
    m.reshape(-1), m.squeeze(), m.diagonal(), m.swapaxes(0, 1), m.transpose(), m[...], m[()], m[:, None], m[[0, 1]],
    m.conj(), m.clip(0, 100), m.round(), abs(m), +m, m.sum(0), m.cumsum(), m.repeat(1), m.take([0, 1], axis=0),
    m.reshape(9)[::2], m.T.reshape(-1), m.T.ravel(), m[0].astype(float, copy=False)[1:],
    np.asarray(m), np.array(m), np.array(m, copy=False), np.array(m, copy=True), np.real(m), np.conj(m),
    np.diag(m), np.diag(m, 1), np.diag(m, k=-1), np.diag(m[0]), np.diagonal(m), np.broadcast_to(m, (2, 3, 3))[0],
    np.split(m, 3)[1], np.hsplit(m, 3)[1], np.vsplit(m, [1])[1], np.array_split(m, 2, axis=1)[0], np.unstack(m)[1],
    np.atleast_2d(m), np.atleast_2d(m, m)[1], np.nan_to_num(m), np.nan_to_num(m, copy=False), np.rot90(m), np.flip(m),
    np.moveaxis(m, 0, 1), np.rollaxis(m, 1), np.expand_dims(m, 0)[0], np.tril(m), np.roll(m, 0), np.tile(m, 1),
    np.concatenate([m]), np.stack([m])[0], np.where(True, m, 0), np.reshape(m.T, (9,)), np.ravel(m),
    list(m)[1], [*m][1], tuple(m)[0], next(iter(m)), {"a": m}["a"][0],
"""


@pytest.mark.parametrize("part", [*map(ast.unparse, ast.parse(f"({PARTS})", mode="eval").body.elts)])
def test_parts_are_views_copies_or_read_only_as_in_numpy(part):
    """Store into the array, or into its part: the other one changes, does not, or NumPy does not let one store."""
    for target in ("m", "part"):
        text = f"def program(m):\n    part = {part}\n    {target}[...] = 2 * m.sum()\n    return m, part\n"
        plain, program = load(text, f"<plain {part}>").program, load(text, f"<{target}: {part}>").program
        plain.__globals__["np"], program.__globals__["np"] = np, jnp
        wanted, actual = run(plain, [SQUARE.copy()]), run(jax.jit(ag.convert(program)), [SQUARE])
        if wanted.error is not None:
            assert (type(actual.error), str(actual.error)) == (type(wanted.error), str(wanted.error))
        else:
            assert actual.error is None, actual.error
            same(actual.value, wanted.value)


@pytest.mark.parametrize("part", ["m.T.ravel('F')", "m.reshape(-1, order='F')", "np.broadcast_arrays(m, m)[0]"])
def test_parts_that_may_be_views_are_refused_after_a_store(part):
    program = load(f"def program(m):\n    part = {part}\n    m[0] = 1\n    return m, part\n", f"<{part}>").program
    program.__globals__["np"] = jnp
    assert "may have changed" in refuses(program, SQUARE)


def test_arguments_of_the_caller_stay():
    x = jnp.zeros(3)
    jax.jit(ag.convert(set_all))(x, 1.0)
    assert x.tolist() == [0, 0, 0]


def augmented(m):
    for row in m:
        row += 1
    m[0, 0] = 5
    return m


def maybe_the_same(x, n):
    y = x * 1
    for _ in range(n):
        x, y = y, x * 1
    x[0] = 5.0
    return y.sum() + x.sum()


def test_augmented_assignment_makes_a_new_array():
    """As on JAX's arrays; but a program that JAX's arrays alone cannot run is understood as NumPy's, or refused."""

    def grown(x):
        y = x
        y += 1
        return x, y

    x, y = jax.jit(ag.convert(grown))(jnp.zeros(2))
    assert (x.tolist(), y.tolist()) == ([0, 0], [1, 1])
    assert "In NumPy this changes the array, in JAX it does not" in refuses(augmented, SQUARE)


def test_an_error_leaves_the_lists_of_the_caller_as_they_were():
    @ag.convert
    def failing(xs):
        xs[0] = xs[0] + 1
        raise KeyError("no")

    xs = [jnp.ones(2), jnp.zeros(2)]

    def traced(x):
        held = [x, x * 2]
        with pytest.raises(KeyError):
            failing(held)
        return held[0] + held[1]

    assert jax.jit(traced)(xs[0]).tolist() == [4, 4]


def test_arrays_from_outside_cannot_change():
    table = jnp.zeros(3)

    def store(x):
        table[0] = x

    assert "made outside of the function" in refuses(store, 1.0)


def test_objects_that_may_be_one_of_two_are_refused():
    def chosen(x):
        one, other = [x], [x + 1]
        either = one if x > 0 else other
        either.append(x)
        return one, other

    assert "a list that may be another list" in refuses(chosen, 1.0)
