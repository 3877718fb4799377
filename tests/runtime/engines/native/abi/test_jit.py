"""Memory is given back; LLVM is loaded before the first call."""

import gc
import os
import subprocess
import sys
import weakref

import pytest

import autograph as ag
from autograph.runtime.engines.native.abi.jit import Code


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
@pytest.mark.parametrize("branchy", (False, True))
def test_compiling_leaks_nothing(branchy, monkeypatch):
    def compile(numbers):
        for number in numbers:
            Code(f"define i64 @loop(ptr %frame) {{\n  ret i64 {number}\n}}", branchy)

    def memory():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    monkeypatch.setenv("AUTOGRAPH_CACHE", "0")
    compile(range(50))
    before = memory()
    compile(range(50, 200))
    assert memory() - before < 150 * 20_000     # llvmlite's own way leaks 60,000 bytes each time


def test_branches_are_optimized_without_vectorizing(monkeypatch):
    """Half of LLVM's passes do there."""
    monkeypatch.setenv("AUTOGRAPH_CACHE", "0")
    adding = "define i64 @loop(ptr %x) {{\n  br label %l\n{}\n{}\n  br i1 %e, label %on, label %l\non:\n  ret i64 0\n}}"
    counting = "l:\n  %i = phi i64 [ 0, %0 ], [ %j, %l ]\n  %j = add nsw i64 %i, 1\n  %e = icmp eq i64 %j, 4096"
    storing = "  %p = getelementptr i64, ptr %x, i64 %i\n  store i64 %i, ptr %p"
    text = adding.format(counting.rpartition("\n")[0], storing + "\n" + counting.rpartition("\n")[2])
    assert " x i64>" in Code(text).llvm
    assert " x i64>" not in Code(text, branchy=True).llvm
    kept = text.replace("  br label %l", "  %c = alloca i64\n  store i64 7, ptr %c\n  br label %l", 1)
    assert "alloca" not in Code(kept, branchy=True).llvm


def test_llvm_is_loaded_when_decorating():
    """Not by the first call, nor by importing this library."""
    program = """
import sys
import autograph as ag
print("llvmlite" in sys.modules)
function = ag.function(lambda n: n, engine="native")
before = set(sys.modules)
print(function(3), sys.modules["autograph.runtime.engines.native.llvm.target"].machine.cache_info().currsize)
print(set(sys.modules) - before)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert run.stdout == "False\n3 1\nset()\n"


def test_a_broken_llvmlite_is_no_error_of_the_program(tmp_path):
    """What loading it raises was taken for what the function raises, which then ran as plain Python."""
    (tmp_path / "llvmlite").mkdir()
    (tmp_path / "llvmlite/__init__.py").write_text("raise OSError('libllvm.so: cannot open')\n")
    (tmp_path / "program.py").write_text(
        "import autograph as ag\n\n@ag.function(engine='native')\ndef f(n):\n    return n + 1\n\nf(1)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    run = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True, env=environment)
    assert "EngineError: engine='native' cannot load llvmlite (libllvm.so: cannot open)" in run.stderr
