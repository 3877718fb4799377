"""The programs of docs/scaling.md with joblib, Dask and Ray print what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ecosystem.probes import package

ROOT = Path(__file__).parent.parent.parent
PROGRAM = re.compile(r"^```python\n((?:.*\n)*?)```\n\n```text\n((?:.*\n)*?)```$", re.MULTILINE)
FOUND = PROGRAM.findall((ROOT / "docs" / "scaling.md").read_text(encoding="utf-8"))
LIBRARIES = [re.match(r"(?:from|import) (\w+)", program)[1] for program, _ in FOUND]


def test_all_libraries_are_there() -> None:
    assert LIBRARIES == ["joblib", "dask", "ray"]


@pytest.mark.skipif(os.environ.get("AUTOGRAPH_TIERS", "off") != "off", reason="the programs name their engine")
@pytest.mark.parametrize("library, program, said", [(name, *each) for name, each in zip(LIBRARIES, FOUND)])
def test_program(library: str, program: str, said: str, tmp_path: Path) -> None:
    package(library), pytest.importorskip("llvmlite")
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    environment = {"PYTHONPATH": str(ROOT), "AUTOGRAPH_CACHE_DIR": str(tmp_path / "cache"), "RAY_AUTH_MODE": "disabled"}
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.stdout == said, done.stderr
