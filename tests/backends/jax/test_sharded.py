"""Converted functions under `shard_map` on eight simulated devices, which need a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")

pytestmark = pytest.mark.once
ROOT = Path(__file__).parents[3]


def test_eight_devices() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.backends.jax.sharded"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert len(results) > 30
    failed = {name: problem for name, problem in results if problem}
    assert not failed, "\n\n".join(f"{name}: {problem}" for name, problem in failed.items())
