"""Saved directories that were changed at random load, or raise `LoadError`; see `hostile.py` for what is watched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent.parent
COUNT = int(os.environ.get("AUTOGRAPH_FUZZ", 400))     # changed directories; `make fuzz` tries 10,000


@pytest.mark.once
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits the memory of a process")
def test_changed_directories(tmp_path: Path) -> None:
    program = REPOSITORY / "tests/saving/hostile.py"
    seed = "1" if COUNT <= 400 else str(os.getpid())
    command = [sys.executable, str(program), str(tmp_path), seed, str(COUNT)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"seed {seed}: {done.stdout[-1000:]}{done.stderr[-3000:]}"
    outcomes = json.loads(done.stdout.splitlines()[-1])
    assert sum(outcomes.values()) == COUNT
    assert not any("late" in each for each in outcomes), outcomes
    assert sum(number for name, number in outcomes.items() if "refused" in name) > COUNT / 2
    assert outcomes["document: loaded"] > 0
