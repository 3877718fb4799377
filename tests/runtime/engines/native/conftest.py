"""The native engine needs llvmlite."""

import ctypes
from importlib.util import find_spec

import pytest

if find_spec("llvmlite") is not None:
    from autograph.runtime.engines.native.loops import region

    region.AGAIN = 0        # so that each second call goes by the fast entry

collect_ignore_glob = ["test_*.py"] if find_spec("llvmlite") is None else []


# What machine code knows of Python's own objects is tried under every Python, the rest under one.
VERSIONS = {"test_c_entry.py", "test_loops.py", "test_objects.py", "test_random_numbers.py"}
PARTLY = {"test_fusion.py"}     # has tests that are marked `versions`
FOLDER = "tests/runtime/engines/native/"


def pytest_ignore_collect(collection_path, config):
    """Import none of the files that are not for every Python where only what is for every one is wanted."""
    is_test = collection_path.name.startswith("test_") and collection_path.name not in VERSIONS | PARTLY
    return True if is_test and "not once" in config.option.markexpr else None


def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith(FOLDER) and item.path.name not in VERSIONS:
            item.add_marker(pytest.mark.once)


@pytest.fixture
def fuel():
    """An integer: so many nodes are run by machine code compiled meanwhile, before it is left."""
    from autograph.runtime.engines.native.loops import lowering

    left = ctypes.c_int64(-1)
    lowering.FUEL.append(ctypes.addressof(left))
    yield left
    lowering.FUEL.clear()
