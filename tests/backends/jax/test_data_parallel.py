"""Training on eight simulated devices and in two processes gives the losses of one device, and stops as early."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jax"), pytest.importorskip("sklearn")
ROOT = Path(__file__).parent.parent.parent.parent
PROGRAM = "import json, data_parallel_digits as example; print(json.dumps(example.main()))"


@pytest.fixture(scope="module")
def losses() -> dict[str, list[float]]:
    """The losses of each way of training; the process has eight devices, whatever this one has."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "examples")]),
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
    }
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_one_device_learns_and_stops_early(losses: dict[str, list[float]]) -> None:
    one = losses["one device"]
    assert 20 < len(one) < 60 and one[-1] < 0.1 < 0.8 < one[0]


@pytest.mark.parametrize("way", ["sharding", "shard_map", "two processes"])
def test_other_ways_give_its_losses(losses: dict[str, list[float]], way: str) -> None:
    assert len(losses[way]) == len(losses["one device"])
    assert np.allclose(losses[way], losses["one device"], rtol=1e-5)
