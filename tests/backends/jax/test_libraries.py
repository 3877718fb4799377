"""Converted functions with flax, equinox, optax, diffrax and haiku, whose own code is not converted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import autograph as ag  # noqa: E402
from tests.backends.jax.running import same  # noqa: E402

jnp = jax.numpy
pytestmark = pytest.mark.once


@pytest.mark.parametrize(("kind", "rate"), [("adam", 0.1), ("sgd", 0.25)])
def test_optax_stops_early(kind: str, rate: float) -> None:
    optimizer = getattr(pytest.importorskip("optax"), kind)(rate)

    def fit(w: Any) -> Any:
        state = optimizer.init(w)
        for step in range(50):
            value, slope = jax.value_and_grad(lambda w: ((w - 1) ** 2).sum())(w)
            if value < 1e-3:
                break
            updates, state = optimizer.update(slope, state)
            w = w + updates
        return w, step

    wanted, steps = fit(jnp.arange(3.0))      # Python runs it on JAX's arrays
    assert 5 < steps < 45
    same(jax.jit(ag.convert(fit))(jnp.arange(3.0)), (np.asarray(wanted), np.int64(steps)))


def test_equinox_modules_branch() -> None:
    equinox = pytest.importorskip("equinox")

    class Net(equinox.Module):  # type: ignore[misc]
        w: Any

        @ag.convert
        def __call__(self, x: Any) -> Any:
            if (self.w * x).sum() > 0:
                y = self.w * x
            else:
                y = -x
            return y.sum()

    net = Net(jnp.array([1.0, 2.0]))
    same(equinox.filter_jit(lambda net, x: net(x))(net, jnp.ones(2)), np.array(3.0))
    same(equinox.filter_grad(lambda net, x: net(x))(net, jnp.ones(2)).w, np.ones(2))
    same(equinox.filter_grad(lambda net, x: net(x))(net, -jnp.ones(2)).w, np.zeros(2))


def test_diffrax_solves_a_field_with_branches() -> None:
    diffrax = pytest.importorskip("diffrax")

    def field(t: Any, y: Any, args: Any) -> Any:
        if t < 0.5:
            return args * jnp.ones(1)
        return -args * jnp.ones(1)

    def solve(y: Any) -> Any:
        steps = diffrax.ConstantStepSize()
        return diffrax.diffeqsolve(
            diffrax.ODETerm(field), diffrax.Euler(), 0.0, 1.0, 0.125, y, args=2.0, stepsize_controller=steps).ys[-1]

    same(jax.jit(ag.convert(solve))(jnp.array([3.0])), np.array([3.0]))


def test_haiku_and_linen_layers_between_branches() -> None:
    haiku, linen = pytest.importorskip("haiku"), pytest.importorskip("flax.linen")

    def net(x: Any) -> Any:
        x = haiku.Linear(1, w_init=jnp.ones, name="one")(x)
        return x * 2 if x.sum() > 0 else -x

    class Net(linen.Module):  # type: ignore[misc]
        @linen.compact
        @ag.convert
        def __call__(self, x: Any) -> Any:
            x = linen.Dense(1, kernel_init=linen.initializers.ones, param_dtype=float)(x)
            return x * 2 if x.sum() > 0 else -x

    with_haiku, with_linen = haiku.without_apply_rng(haiku.transform(ag.convert(net))), Net()
    for made in (with_haiku, with_linen):
        params = made.init(jax.random.key(0), jnp.ones(2))
        same(jax.jit(made.apply)(params, jnp.ones(2)), np.array([4.0]))
        same(jax.jit(made.apply)(params, -jnp.ones(2)), np.array([2.0]))


def test_nnx_objects_change() -> None:
    nnx = pytest.importorskip("flax.nnx")

    class Net(nnx.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.array(3.0))
            self.calls = nnx.Variable(jnp.array(0))

    @nnx.jit
    @ag.convert
    def step(net: Any, limit: Any) -> Any:
        for _ in range(20):
            net.calls[...] += 1
            if net.calls[...] > limit:
                break
        slope = nnx.grad(lambda net: net.w[...] ** 2 if net.w[...] > 0 else net.w[...])(net)
        net.w[...] = net.w[...] - 0.25 * slope["w"][...]
        return net.calls[...]

    net = Net()
    same(step(net, 3), np.array(4))
    same((net.calls[...], net.w[...]), (np.array(4), np.array(1.5)))
