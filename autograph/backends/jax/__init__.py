"""The backend that lets JAX trace ordinary Python control flow: `jax.jit(ag.convert(f))`. It needs the extra `jax`."""

from autograph.backends.jax.backend import BACKEND, register

__all__ = ["BACKEND", "register"]
