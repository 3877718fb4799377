"""Lets the tests of this folder compute with 64 bits, as NumPy does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def sixty_four_bits() -> Iterator[None]:
    """Let JAX compute with 64 bits for a test."""
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)
