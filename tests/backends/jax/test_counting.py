"""Numbers that are known while tracing are computed by NumPy, with the results that XLA has."""

import itertools

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from jax import lax  # noqa: E402

from autograph.backends.jax.counting import computing  # noqa: E402

jnp = jax.numpy
pytestmark = pytest.mark.once
BINARY = [lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min, lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge,
          lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor, jnp.floor_divide, jnp.remainder, jnp.where]
UNARY = [lax.neg, lax.abs, lax.sign, lax.bitwise_not, lambda x: x.astype(np.int8), lambda x: x.astype(bool)]


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8, np.int64])
def test_integers_are_those_of_xla(dtype):
    limits = np.iinfo(dtype)
    values = [dtype(value) for value in {limits.min, limits.max, *range(max(limits.min, -4), 5)}]
    for function in UNARY if limits.min else UNARY[3:]:
        agree(function, [(value,) for value in values])
    for function in BINARY:
        pairs = list(itertools.product(values, values))
        agree((lambda a, b: jnp.where(a < b, a, b)) if function is jnp.where else function, pairs)


def test_bools():
    both = [np.bool_(False), np.bool_(True)]
    agree(lambda a: ~a, [(a,) for a in both])
    agree(lambda a, b: (a & b) | (a ^ b), list(itertools.product(both, both)))


def test_the_rest_is_left_to_jax():
    for function in (jnp.sin, lambda x: x * 1.5, lambda x: lax.while_loop(lambda x: x < 9, lax.neg, x)):
        assert computing(jax.make_jaxpr(function)(3).jaxpr) is None


def agree(function, calls):
    jaxpr = jax.make_jaxpr(function)(*calls[0])
    compute, compiled = computing(jaxpr.jaxpr), jax.jit(function)
    for args in calls:
        with np.errstate(all="ignore"):
            (found,) = compute(*args)
        expected = compiled(*args)
        assert (found, found.dtype) == (expected, expected.dtype), (jaxpr, args)
