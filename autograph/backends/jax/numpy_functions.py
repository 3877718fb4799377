"""The functions of JAX that do what functions of NumPy do."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from autograph.backends.jax.lines import here
from autograph.errors import StagingError


def unknown(name: str) -> StagingError:
    return here(f"jax.numpy has no {name}, which this line calls with a staged array")


def into(out: tuple[Any, ...], result: Any) -> Any:
    for target in out:
        target[...] = result
    return out[0] if out else result


def of_jax(function: Any) -> Any:
    """The function of `jax.numpy` that does what a function of NumPy does; None if there is none."""
    found: Any = jnp
    names = [*str(getattr(function, "__module__", "")).split(".")[1:], getattr(function, "__name__", "?")]
    for name in [name for name in names if not name.startswith("_") and name not in ("lib", "core")]:
        found = getattr(found, name, None)
    return found
