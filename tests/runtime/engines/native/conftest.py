"""The native engine needs llvmlite."""

import ctypes

import pytest

pytest.importorskip("llvmlite")


@pytest.fixture
def fuel():
    """An integer: so many nodes are run by machine code compiled meanwhile, before it is left."""
    from autograph.runtime.engines.native import lowering

    left = ctypes.c_int64(-1)
    lowering.FUEL.append(ctypes.addressof(left))
    yield left
    lowering.FUEL.clear()
