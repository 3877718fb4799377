"""The programs that people asked for run under `jit`, `vmap` and `grad`, and do what their plain text does on NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import autograph as ag  # noqa: E402
from autograph.common.code_flags import OfCode  # noqa: E402
from autograph.conversion import conversions  # noqa: E402
from tests.backends.jax.asked import (  # noqa: E402
    adaptive_ode,
    bounded_loops,
    clustering,
    counting,
    library_code,
    mandelbrot,
    neurons,
    python_control_flow,
)  # fmt: skip
from tests.backends.jax.running import compare, on_numpy, run, same  # noqa: E402

jnp = jax.numpy
RANDOM = np.random.default_rng(0)


def check(module: Any, name: str, *args: Any, **fixed: Any) -> None:
    """Compare a program with its plain run on NumPy; what is `fixed` is known while tracing."""
    compare(partial(getattr(on_numpy(module), name), **fixed), partial(getattr(module, name), **fixed), *args)


def differences(f: Any, x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """The derivative of a function of one array, by central differences."""
    slopes = [(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(x.size).reshape(x.size, *x.shape)]
    return np.array(slopes).reshape(x.shape)


# jax#5273: control flow

FLOW = python_control_flow
LAYERS = [0.5 * RANDOM.standard_normal((3, 3)) for _ in range(4)]


@pytest.mark.parametrize("n", [1, 7, 27])
def test_collatz(n: int) -> None:
    check(FLOW, "collatz", n)


@pytest.mark.parametrize("x", [[1.0, 2.0], [-0.5, -0.25], [-3.0, -2.0]])
def test_branches_of_arrays(x: list[float]) -> None:
    check(FLOW, "leaky", np.array(x))


@pytest.mark.parametrize("residual", [True, False])
def test_values_of_python_stay_python(residual: bool) -> None:
    check(FLOW, "depth_by_options", np.ones((2, 3)), LAYERS, residual=residual)


def test_loops_that_collect() -> None:
    check(FLOW, "running_totals", RANDOM.standard_normal((20, 3)))


def test_loops_until_something_holds() -> None:
    check(FLOW, "square_root", 2.0)
    check(FLOW, "bisect", 0.0, 10.0, 5.0)


@pytest.mark.parametrize("length", [1, 5, 12])
def test_loops_that_write(length: int) -> None:
    check(FLOW, "bumps", np.arange(float(length)))


@pytest.mark.parametrize("stop", [0, 3, 99])
def test_decoding(stop: int) -> None:
    check(FLOW, "greedy_decode", np.roll(np.eye(6), 1, axis=1), 2, stop)


@pytest.mark.parametrize("steps", [3, 500])
def test_loops_that_say_how_they_ended(steps: int) -> None:
    check(FLOW, "double_well", 0.4, steps=steps)
    check(FLOW, "double_well", 0.4, steps)


def test_derivatives_of_branches() -> None:
    program = ag.convert(FLOW.leaky)
    x = jnp.array([0.5, 1.5])
    same(jax.grad(lambda x: program(x).sum())(x), np.array([2.0, 2.0]))
    same(jax.jit(jax.grad(lambda x: program(x).sum()))(-x / 2), np.array([0.1, 0.1]))


def test_derivatives_of_loops() -> None:
    program, plain = ag.convert(FLOW.depth_by_options), on_numpy(FLOW).depth_by_options
    x = RANDOM.standard_normal((2, 3))
    slope = jax.jit(jax.grad(lambda x: program(x, LAYERS, True).sum()))(x)
    same(slope, differences(lambda x: plain(x, LAYERS, True).sum(), x), rtol=1e-4, atol=1e-6)


# jax#24740: the Mandelbrot set

POINTS = np.array([0.1 + 0.1j, -0.75 + 0.1j, 0.5 + 0.5j, 2.0 + 2.0j, -1.0])


def test_a_return_from_a_loop_under_vmap() -> None:
    plain, program = on_numpy(mandelbrot).escape_time, ag.convert(mandelbrot.escape_time)
    wanted = np.array([plain(c, 50) for c in POINTS])
    assert len(set(wanted.tolist())) > 3
    same(jax.vmap(program, in_axes=(0, None))(jnp.array(POINTS), 50), wanted)
    same(jax.jit(jax.vmap(program, in_axes=(0, None)))(jnp.array(POINTS), 50), wanted)
    same(jax.vmap(jax.jit(program), in_axes=(0, None))(jnp.array(POINTS), 50), wanted)


@pytest.mark.parametrize("c", POINTS)
def test_escape_of_a_point(c: complex) -> None:
    check(mandelbrot, "escape_time", c, max_iter=50)
    check(mandelbrot, "escape_time", c, 50)


# jax#2469, #8239, #4473: bounded loops and their derivatives

W = np.array([[0.2, -0.4], [0.3, 0.1]])
BOUNDED = {
    "doublings": (np.array(3.0), lambda f: lambda x: f(x)[0]),
    "square_root": (np.array(2.0), lambda f: f),
    "fixed_point": (np.array([0.5, -1.0]), lambda f: lambda x: f(W, x).sum()),
    "write_until": (np.array(1.5), lambda f: lambda x: f(x, 20.0)),
    "euler_until": (np.array(1.0), lambda f: lambda y: f(y, 1.234, 0.7)),
}


def test_bounded_loops_give_what_plain_ones_do() -> None:
    check(bounded_loops, "doublings", 3.0)
    check(bounded_loops, "square_root", 2.0)
    check(bounded_loops, "fixed_point", W, np.array([0.5, -1.0]))
    check(bounded_loops, "write_until", 1.5, 20.0)
    check(bounded_loops, "euler_until", 1.0, 1.234, 0.7)


@pytest.mark.parametrize("name", BOUNDED)
def test_bounded_loops_have_derivatives(name: str) -> None:
    x, of = BOUNDED[name]
    program = of(ag.convert(getattr(bounded_loops, name)))
    wanted = differences(of(getattr(on_numpy(bounded_loops), name)), x)
    slope = jax.grad(program)
    same(slope(x), wanted, rtol=1e-4, atol=1e-6)
    same(jax.jit(slope)(x), wanted, rtol=1e-4, atol=1e-6)
    same(jax.vmap(slope)(jnp.stack([x, x])), np.stack([wanted, wanted]), rtol=1e-4, atol=1e-6)
    same(jax.jvp(program, (x,), (jnp.ones_like(x),))[1], wanted.sum(), rtol=1e-4, atol=1e-6)


def test_a_loop_without_bound_has_forward_derivatives_only() -> None:
    program = ag.convert(bounded_loops.unbounded_doublings)
    same(jax.jvp(jax.jit(program), (3.0,), (1.0,))[1], np.array(64.0))
    with pytest.raises(Exception, match=r"bounded_loops\.py.*max_trips|max_trips.*bounded_loops\.py"):
        jax.jit(jax.grad(program))(3.0)


def test_a_bounded_loop_that_is_not_done_is_an_error() -> None:
    ran = run(jax.jit(ag.convert(bounded_loops.doublings)), [jnp.array(1e-30)])
    assert ran.error is not None and "max_trips" in str(ran.error)


def test_the_derivative_of_a_bounded_loop_costs_a_few_times_the_loop() -> None:
    """#8239: it must not depend on the bound squared: the bound is 16 here, and each store costs one store."""
    slope = jax.jit(jax.grad(ag.convert(bounded_loops.write_until)))
    analysis = slope.lower(1.5, 20.0).compile().cost_analysis()
    flops = (analysis[0] if isinstance(analysis, list) else analysis)["flops"]
    assert flops < 16 * 16 * 16


# probdiffeq#453: adaptive steps

THETA = np.array([0.5, 0.05, 0.05, 0.5])


def test_adaptive_steps() -> None:
    check(adaptive_ode, "terminal_value", np.array([20.0, 20.0]), THETA, 5.0)
    check(adaptive_ode, "misfit", THETA, np.array([20.0, 20.0]), np.array([10.0, 10.0]), 2.0)


def test_fit_by_reverse_mode() -> None:
    rest = np.array([20.0, 20.0]), np.array([10.0, 10.0]), 2.0
    program, plain = ag.convert(adaptive_ode.misfit), on_numpy(adaptive_ode).misfit
    value, slope = jax.jit(jax.value_and_grad(program))(THETA, *rest)
    same(value, plain(THETA, *rest))
    same(slope, differences(lambda theta: plain(theta, *rest), THETA), rtol=1e-3, atol=1e-3)
    same(slope, jax.jacfwd(program)(THETA, *rest))


def test_descent_by_the_gradient() -> None:
    rest = np.array([20.0, 20.0]), np.array([15.0, 22.0]), 1.0
    slope = jax.jit(jax.value_and_grad(ag.convert(adaptive_ode.misfit)))
    theta, losses = THETA, []
    for _ in range(20):
        loss, step = slope(theta, *rest)
        theta = theta - 3e-6 * step
        losses.append(float(loss))
    assert losses[-1] < 0.5 * losses[0]


# BrainPy#184: neurons


@pytest.mark.parametrize("a", [12.0, 10.0, 7.0, 5.0, 1.0])
def test_branches_of_several_arms(a: float) -> None:
    check(neurons, "piecewise", a, np.array([1.0, 2.0]))


def test_branches_of_several_arms_under_vmap() -> None:
    a, x = np.array([12.0, 7.0, 1.0]), np.array([1.0, 2.0, 3.0])
    same(jax.jit(jax.vmap(ag.convert(neurons.piecewise)))(a, x), np.array([10.0, 4.0, 5.0]))


def test_a_neuron_whose_state_are_attributes() -> None:
    currents = 20.0 + 10 * RANDOM.random(60)
    assert on_numpy(neurons).simulate(np.float64(-65.0), currents)[1] > 1
    check(neurons, "simulate", -65.0, currents)


def test_neurons_that_excite_each_other() -> None:
    check(neurons, "population", -60 + 5 * RANDOM.random(4), 200 * RANDOM.random((15, 4)), RANDOM.random((4, 4)))


# jax#13744: code of JAX itself


@pytest.mark.parametrize("x", [[1.0, 2.0, -3.0, 0.5], [0.1, 0.2, -0.1, 0.0]])
def test_what_the_user_wrote_is_converted_and_jax_is_not(x: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    x = jnp.array(x)
    norm = jnp.linalg.norm(x)
    y = x / norm if norm > 1.0 else x
    files, convert = set(), conversions._convert

    def recorded(function: Any, *rest: Any) -> Any:
        files.add(function.__code__.co_filename)
        return convert(function, *rest)

    monkeypatch.setattr(conversions, "_convert", recorded)
    monkeypatch.setattr(conversions, "conversions", OfCode())
    wanted = jnp.where(y > 0, y, jnp.expm1(y)), jnp.median(y), jnp.interp(0.5, jnp.arange(4.0), y)
    same(jax.jit(ag.convert(library_code.normalized))(x), wanted)
    assert files == {library_code.__file__}


def test_functions_handed_to_jax_are_converted() -> None:
    def outer(xs: Any) -> Any:
        def step(carry: Any, x: Any) -> Any:
            if x > 0:
                carry = carry + x
            else:
                carry = carry * 0.5
            return carry, carry

        total, seen = jax.lax.scan(step, jnp.zeros(()), xs)
        return total, seen, jax.vmap(lambda x: x if x > 0 else -2 * x)(xs)

    total, seen, each = jax.jit(ag.convert(outer))(jnp.array([1.0, -2.0, 3.0]))
    same((total, seen, each), (np.array(3.5), np.array([1.0, 0.5, 3.5]), np.array([1.0, 4.0, 3.0])))


# spu#148, jax#2016, #3457, #3761


def test_early_stop_of_k_means() -> None:
    points = np.concatenate([RANDOM.standard_normal((10, 2)), 5 + RANDOM.standard_normal((10, 2))])
    assert on_numpy(clustering).kmeans(points, points[:3].copy())[2] < 9
    check(clustering, "kmeans", points, points[:3])


def test_loops_that_count_down() -> None:
    check(counting, "backward_messages", np.array([[0.7, 0.3], [0.2, 0.8]]), RANDOM.random((12, 2)))


@pytest.mark.parametrize("ends", [(5, 0, -1), (0, 5, 2), (3, 3, 1), (0, -7, -3), (0, 5, -1)])
def test_ranges_that_are_data(ends: tuple[int, int, int]) -> None:
    check(counting, "countdown", *ends)


def test_a_range_whose_length_is_data() -> None:
    check(counting, "harmonic", 1000)
    check(counting, "harmonic", 0)


@pytest.mark.parametrize("x", [-0.5, 0.0, 2.0])
@pytest.mark.parametrize("y", [-0.5, 0.0, 2.0])
def test_and_or_not_between_tests(x: float, y: float) -> None:
    check(counting, "both", x, y)
