"""Coverage, debuggers and profilers see the same lines whether or not traces are on disk."""

import json
import os
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import pytest

from autograph.common import disk_cache

REPOSITORY = Path(__file__).parent.parent
TEXT = """
import autograph as ag
import numpy as np

def helper(x):
    if x > 100:
        return x * 2
    return x

@ag.function
def total(xs, limit):
    found = 0
    for x in xs:
        if x > limit:
            found += helper(x)
        else:
            found -= 1
    return found

@ag.function(engine=ENGINE)
def count(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps

@ag.convert
def sign(x):
    if x > 0:
        return 1
    return -1

def run():
    return [total([1, 2, 3], 1), total(np.ones(3), 0.5), count(27), sign(-2)]

if __name__ == "__main__":
    for _ in range(3):
        print(run())
"""
ENGINES = ["numpy", pytest.param("native", marks=pytest.mark.skipif(find_spec("llvmlite") is None, reason="llvmlite"))]


def recalled():
    return disk_cache.contents(disk_cache.folder()).history["R"]


def settrace(function):
    sys.settrace(function)
    return lambda: sys.settrace(None)


def threading_settrace(function):
    threading.settrace(function)
    return lambda: threading.settrace(None)


def setprofile(function):
    sys.setprofile(function)
    return lambda: sys.setprofile(None)


def monitoring(function):
    sys.monitoring.use_tool_id(4, "test")
    return lambda: sys.monitoring.free_tool_id(4)


FOLLOW = [settrace, threading_settrace, setprofile]
FOLLOW += [monitoring] * (sys.version_info >= (3, 12))


@pytest.mark.parametrize("follow", FOLLOW)
@pytest.mark.parametrize("engine", ENGINES)
def test_traces_are_not_taken_from_disk_while_somebody_follows(cached_program, follow, engine):
    text = TEXT.replace("ENGINE", repr(engine))
    expected = cached_program(text).run()
    before = sys.gettrace()
    end = follow(lambda *event: None)
    try:
        watched = cached_program(text)
        assert watched.run() == expected and recalled() == 0
    finally:
        end()
        sys.settrace(before)
    assert watched.run() == expected
    if before is None:
        assert cached_program(text).run() == expected and recalled() > 0


@pytest.mark.once
@pytest.mark.skipif(find_spec("coverage") is None, reason="coverage is not installed")
@pytest.mark.parametrize("engine", ENGINES)
def test_coverage_is_the_same_cold_and_warm(tmp_path, engine):
    (tmp_path / "program.py").write_text(TEXT.replace("ENGINE", repr(engine)))
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "AUTOGRAPH_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("AUTOGRAPH_CHECK", None)

    def run(*command, **variables):
        subprocess.run([sys.executable, *command], cwd=tmp_path, env=environment | variables, check=True)

    def covered(**variables):
        run("-m", "coverage", "run", "--branch", "program.py", **variables)
        run("-m", "coverage", "json", "-q", "--include=program.py", "-o", "report.json")
        told = json.loads((tmp_path / "report.json").read_text())["files"]["program.py"]
        return told["executed_lines"], told["missing_lines"], told["executed_branches"]

    cold = covered()
    run("program.py")
    assert any(name.endswith(".traced") for name in os.listdir(tmp_path / "cache"))
    assert covered() == covered(AUTOGRAPH_CACHE="0") == cold
    missed = {TEXT.splitlines()[number - 1].strip() for number in cold[1]}
    assert missed <= {"return 1", "return x * 2"}       # tracing takes both ways of an `if`
