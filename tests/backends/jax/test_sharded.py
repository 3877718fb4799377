"""Converted functions under `shard_map` on eight simulated devices, which need a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")

from tests.backends.jax.functions import THEMES  # noqa: E402

pytestmark = pytest.mark.once
ROOT = Path(__file__).parents[3]


def check(theme: str, *ways: str) -> None:
    """Run the checks of a theme on eight devices."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
    }
    command = [sys.executable, "-m", "tests.backends.jax.sharded", theme, *ways]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert len(results) >= 9
    failed = {name: problem for name, problem in results if problem}
    assert not failed, "\n\n".join(f"{name}: {problem}" for name, problem in failed.items())


def test_collectives_and_mixed_values() -> None:
    check("programs")


@pytest.mark.parametrize("theme", THEMES)
def test_on_eight_devices(theme: str) -> None:
    check(theme, "value", "grad_around")


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
def test_transforms_on_eight_devices(theme: str) -> None:
    """The derivatives and batches inside of `shard_map` and around it."""
    check(theme)
