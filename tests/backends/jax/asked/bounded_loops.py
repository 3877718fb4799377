"""jax-ml/jax#2469, #8239 and #4473: `while` loops with a bound on their iterations, for reverse-mode derivatives.

#2469 wants `while_loop` to take the largest number of iterations, and then to have derivatives. #8239 builds such loops
from smaller ones, and asks that the derivative cost no more than the loop. #4473 integrates for a time that is data.
"""

import jax.numpy as jnp

import autograph as ag


def doublings(x):
    n = 0
    while x < 100:
        ag.set_loop_options(max_trips=20)
        x = x * 2
        n += 1
    return x, n


def unbounded_doublings(x):
    while x < 100:
        x = x * 2
    return x


def square_root(a):
    x = a
    while jnp.abs(x * x - a) > 1e-12 * a:
        ag.set_loop_options(max_trips=40)
        x = 0.5 * (x + a / x)
    return x


def fixed_point(w, x):
    """The state at which a small network comes to rest."""
    z = jnp.zeros_like(x)
    change = 1.0
    while change > 1e-10:
        ag.set_loop_options(max_trips=200)
        new = jnp.tanh(w @ z + x)
        change = jnp.abs(new - z).max()
        z = new
    return z


def write_until(x, stop):
    """In-place writes in a bounded loop: #8239 is about their derivative."""
    seen = jnp.zeros(16)
    i = 0
    while x < stop:
        ag.set_loop_options(max_trips=16)
        seen[i] = x
        x = x * 1.5
        i += 1
    return (seen**2).sum()


def euler_until(y, stop, rate, dt=0.1):
    """Explicit Euler steps up to a time, the last one shorter."""
    t = 0.0
    while t < stop - 1e-12:
        ag.set_loop_options(max_trips=64)
        step = dt if t + dt < stop else stop - t
        y = y + step * (-rate * y)
        t = t + step
    return y
