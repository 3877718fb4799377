"""jax-ml/jax#24740: a function of a point that returns from within its loop, for `vmap` over a picture."""

import jax.numpy as jnp


def escape_time(c, max_iter):
    z = 0.0 * c
    for i in range(max_iter):
        z = z * z + c
        if jnp.abs(z) > 2.0:
            return i
    return max_iter
