"""The guard leaves no mark: Python's own tests of tracing and generators pass with every function guarded.

They compare each event that a debugger is told of with what it should be, and jump about in frames.
"""

import importlib.util
import os
import subprocess
import sys

import pytest

# Every function of one test module gets a guard, whether or not it calls operators; trim does nothing.
SCRIPT = """
import builtins, importlib.util, sys, types, unittest
from autograph.syntax import loader, source

class Lowering(loader._Lowering):
    def region(self, node, made, region):
        inner = super().region(node, made, region)
        inner.active = True
        return inner

loader._Lowering = Lowering
builtins.ag__ = types.SimpleNamespace(trim=dict)
name = sys.argv.pop()
spec = importlib.util.find_spec(name)
module = sys.modules[name] = importlib.util.module_from_spec(spec)
read = source.parse(spec.loader.get_source(name), spec.origin)
code = loader.load_module(read.tree, spec.origin)
assert "trim" in code.co_names
exec(code, vars(module))
unittest.main(module, argv=[name], verbosity=0)
"""


@pytest.mark.slow
@pytest.mark.versions
@pytest.mark.parametrize("name", "sys_settrace generators coroutines exceptions with raise traceback".split())
def test_python_s_own(name):
    if importlib.util.find_spec(f"test.test_{name}") is None:
        pytest.skip("this Python comes without its tests")
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, f"test.test_{name}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
