"""Law 6: syntax knows nothing of the runtime, the runtime nothing of syntax.

The order of imports between modules is in tests/test_layers.py; here, that each tower stands alone when it is used.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = str(Path(__file__).parents[2])

# Each tower at work, without the package's own __init__, which joins them.
ALONE = """
import importlib.machinery, importlib.util, sys, types
sys.path.insert(0, {root!r})
package = types.ModuleType("autograph")
package.__path__ = [{root!r} + "/autograph"]
sys.modules["autograph"] = package
{program}
print(sorted(name.split(".")[1] for name in sys.modules if name.startswith("autograph.")
             if name.split(".")[1] in {forbidden!r}))
"""

SYNTAX = """
from autograph.converters import pipeline
from autograph.syntax import source
from autograph.common.printing import unparse
from autograph import converters
"""

RUNTIME = """
import numpy as np
from autograph.runtime.graph import graph, opdef
from autograph.runtime import ops, passes
from autograph.runtime.graph_text import printer as printing, verifier as check
from autograph.runtime.engines.numpy import engine as numpy
from autograph.runtime.graph.types import INT
program = graph.Graph("double")
x = program.block.add_param(INT, "x")
node = program.block.append(graph.Node("add", (x, x)))
program.block.results = (node.add_output(INT, "y"),)
assert "x + x" in printing.to_text(program)
"""


def modules_used(program: str, forbidden: tuple[str, ...]) -> str:
    text = ALONE.format(root=ROOT, program=program, forbidden=forbidden)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    "program, forbidden",
    [
        pytest.param(SYNTAX, ("runtime", "backends", "operators", "api"), id="syntax"),
        pytest.param(RUNTIME, ("syntax", "converters", "operators", "backends", "api"), id="runtime"),
    ],
)
def test_a_tower_stands_alone(program: str, forbidden: tuple[str, ...]) -> None:
    assert modules_used(program, forbidden) == "[]"
