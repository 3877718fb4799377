"""Memory is given back."""

import gc
import os
import sys
import weakref

import pytest

import autograph as ag
from autograph.runtime.engines.native.machine import Code


def total(limit):
    found = 0
    for i in range(limit):
        found += i * i
    return found


def test_code_is_freed():
    """Each has its own engine, which goes with it."""
    function = ag.function(total, engine="native")
    function(3)
    (engine,) = (
        weakref.ref(version.code._engine)
        for trace in function.traces for region in trace.executable.native.regions for version in region.compiled
    )  # fmt: skip
    assert engine() is not None
    del function
    gc.collect()
    assert engine() is None


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")
def test_compiling_leaks_nothing(monkeypatch):
    def compile(numbers):
        for number in numbers:
            Code(f"define i64 @loop(ptr %frame) {{\n  ret i64 {number}\n}}")

    def memory():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    monkeypatch.setenv("AUTOGRAPH_CACHE", "0")
    compile(range(50))
    before = memory()
    compile(range(50, 200))
    assert memory() - before < 150 * 20_000     # llvmlite's own way leaks 60,000 bytes each time
