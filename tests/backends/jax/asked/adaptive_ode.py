"""pnkraemer/probdiffeq#453: simulate to a final time with adaptive steps, and fit parameters by reverse mode."""

import jax.numpy as jnp

import autograph as ag


def lotka_volterra(y, theta):
    a, b, c, d = theta
    prey, predators = y
    return jnp.array([a * prey - b * prey * predators, c * prey * predators - d * predators])


def terminal_value(y, theta, stop, tolerance=1e-2):
    """Heun's method with Euler's embedded in it; steps that err too much are tried again, shorter."""
    t, dt = 0.0, 0.1
    accepted, rejected = 0, 0
    while t < stop:
        ag.set_loop_options(max_trips=200)
        if t + dt > stop:
            dt = stop - t
        k1 = lotka_volterra(y, theta)
        k2 = lotka_volterra(y + dt * k1, theta)
        error = jnp.abs(0.5 * dt * (k2 - k1)).max() / tolerance
        if error < 1.0:
            y = y + 0.5 * dt * (k1 + k2)
            t = t + dt
            accepted += 1
        else:
            rejected += 1
        factor = 0.9 / jnp.sqrt(error + 1e-12)
        if factor > 3.0:
            factor = 3.0
        elif factor < 0.3:
            factor = 0.3
        dt = dt * factor
        if stop - t < 1e-10:
            break
    return y, accepted, rejected


def misfit(theta, y0, observed, stop):
    y, _, _ = terminal_value(y0, theta, stop)
    return ((y - observed) ** 2).sum()
