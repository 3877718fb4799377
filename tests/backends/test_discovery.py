"""Backends are registered when the library that they serve has been imported, and not before.

Each test runs a program in a process of its own, in a folder with a library `lib`, a package `plugin` that serves it,
and the metadata that an installer leaves of the plugin's distribution.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
LIBRARY = """
class Value:
    def __init__(self, value): self.value = value
    def __gt__(self, other): return Value(self.value > other)
    def __neg__(self): return Value(-self.value)
"""
PLUGIN = """
import lib
from autograph.operators.backend import Backend
from autograph.operators import backend

class Both(Backend):
    name = "both"
    def owns(self, value): return isinstance(value, lib.Value)
    def if_exp(self, test, body, orelse): return "both", body().value, orelse().value

def register():
    print("registered")
    backend.register(Both(), types=[lib.Value])
"""
PROGRAM = """
import sys
import autograph as ag
from autograph.backends import discovery

@ag.to_graph
def absolute(x): return x if x > 0 else -x
"""
USE = "discovery.register_available()\nprint(absolute(lib.Value(2)))\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lib.py").write_text(LIBRARY)
    offer(tmp_path, "plugin", PLUGIN)
    return tmp_path


def offer(folder: Path, name: str, text: str, module: str = "lib") -> None:
    """Install a distribution, with one package of the same name, that offers a backend for a module."""
    (folder / f"{name}.py").write_text(text)
    metadata = folder / f"the_{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: the-{name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[autograph.backends]\n{module} = {name}:register\n")


def run(folder: Path, text: str, before: str = "") -> list[str]:
    """The lines that a program prints, its errors included."""
    (folder / "program.py").write_text(before + PROGRAM + text)
    paths = os.pathsep.join([str(folder), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout.splitlines()


def test_a_backend_is_registered_once_its_library_is_imported(folder: Path) -> None:
    program = """
discovery.register_available()
print(absolute(-2), "lib" in sys.modules, "plugin" in sys.modules)
import lib
"""
    said = ["2 False False", "registered", "('both', 2, -2)", "('both', 2, -2)"]
    assert run(folder, program + USE + USE) == said


def test_a_library_may_be_imported_before_this_one(folder: Path) -> None:
    assert run(folder, f"import lib\n{USE}", before="import lib\n") == ["registered", "('both', 2, -2)"]


def test_importing_this_library_searches_no_distributions(folder: Path) -> None:
    program = "print('importlib.metadata' in sys.modules, len(discovery._awaited))\n"
    assert run(folder, program) == ["False 1"]


def test_a_library_that_is_still_being_imported_is_awaited(folder: Path) -> None:
    """Its `__init__` may run converted code, when its backend cannot import all of it yet."""
    text = (folder / "lib.py").read_text()
    (folder / "lib.py").write_text("from autograph.backends import discovery\ndiscovery.register_available()\n" + text)
    assert run(folder, f"import lib\nprint('imported')\n{USE}") == ["imported", "registered", "('both', 2, -2)"]


def test_a_library_that_must_not_be_imported_is_not(folder: Path) -> None:
    program = "sys.modules['lib'] = None\ndiscovery.register_available()\nprint('plugin' in sys.modules)\n"
    assert run(folder, program) == ["False"]


def test_registering_may_run_converted_code(folder: Path) -> None:
    plugin = PLUGIN.replace('print("registered")', 'print("registered")\n    discovery.register_available()')
    (folder / "plugin.py").write_text("from autograph.backends import discovery\n" + plugin)
    assert run(folder, f"import lib\n{USE}") == ["registered", "('both', 2, -2)"]


def test_threads_wait_until_the_backend_is_registered(folder: Path) -> None:
    plugin = PLUGIN.replace('print("registered")', 'print("registered")\n    import time; time.sleep(0.2)')
    (folder / "plugin.py").write_text(plugin)
    program = """
import lib, threading
def work():
    discovery.register_available()
    said.append(absolute(lib.Value(2)))
said = []
threads = [threading.Thread(target=work) for _ in range(4)]
for each in threads: each.start()
for each in threads: each.join()
print(set(said))
"""
    assert run(folder, program) == ["registered", "{('both', 2, -2)}"]


def test_several_distributions_may_serve_one_library(folder: Path) -> None:
    """The last one, in the order of the distributions' names, gets the values."""
    offer(folder, "zeta", PLUGIN.replace('"both"', '"zeta"').replace("registered", "registered zeta"))
    assert run(folder, f"import lib\n{USE}") == ["registered", "registered zeta", "('zeta', 2, -2)"]


@pytest.mark.parametrize(
    "text, cause",
    [
        ("import missing", "ModuleNotFoundError: No module named 'missing'"),
        ("", "AttributeError: module 'broken' has no attribute 'register'"),
        ("def register(): raise ValueError('too old')", "ValueError: too old"),
    ],
)
def test_errors_name_the_distribution(folder: Path, text: str, cause: str) -> None:
    """At each call, since a program without its backend would not do what it was written for."""
    offer(folder, "broken", text, module="other")
    (folder / "other.py").write_text("")
    program = """
import other
for _ in range(2):
    try: discovery.register_available()
    except ag.errors.BackendError as error: print(error)
"""
    said = "the distribution the-broken offers the backend broken:register for other, which cannot be registered"
    assert run(folder, program) == [f"{said} ({cause}). Upgrade or uninstall that distribution"] * 2
    assert run(folder, f"import lib\n{USE}") == ["registered", "('both', 2, -2)"]


def test_backends_of_this_library_need_no_distribution(folder: Path) -> None:
    """A checkout that is not installed has no metadata."""
    (folder / "the_plugin-1.0.dist-info" / "entry_points.txt").unlink()
    program = f"discovery.OWN['lib'] = 'plugin:register'\nimport lib\n{USE}"
    assert run(folder, program) == ["registered", "('both', 2, -2)"]
