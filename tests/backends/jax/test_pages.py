"""The programs with JAX in docs/backends.md print what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")
ROOT = Path(__file__).parent.parent.parent.parent
PROGRAM = re.compile(r"^```python jax\n((?:.*\n)*?)```\n\n```text jax\n((?:.*\n)*?)```$", re.MULTILINE)
FOUND = PROGRAM.findall((ROOT / "docs" / "backends.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("program, said", FOUND)
def test_program(program: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout == said, done.stderr


def test_there_are_programs() -> None:
    assert FOUND
