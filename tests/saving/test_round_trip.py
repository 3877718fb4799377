"""Functions of the corpus, saved, and loaded in a process that cannot find their source, do what they did plain."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parent.parent.parent
SOME = "branches,containers,learning_numpy,loops,mutation,numpy_programs,printing"


def process(home: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(home), str(REPOSITORY)])}
    environment |= {"AUTOGRAPH_ENGINE": "numpy", "AUTOGRAPH_TIERS": "off"}
    command = [sys.executable, str(home / "tests/saving/round_trip.py"), *arguments]
    done = subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize(
    ("themes", "equal", "refused"),
    [pytest.param(SOME, 500, 40, marks=pytest.mark.once), pytest.param("all", 3000, 420, marks=pytest.mark.slow)],
)
def test_round_trip(tmp_path: Path, themes: str, equal: int, refused: int) -> None:
    """
    Args:
        equal: how many calls have the same outcome, at least.
        refused: how many functions cannot be saved, at most.
    """
    home, bare, folder = tmp_path / "home", tmp_path / "bare", tmp_path / "saved"
    for name in ("corpus", "corpus_staged", "saving/round_trip.py", "outcomes.py"):
        source, target = REPOSITORY / "tests" / name, home / "tests" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    folder.mkdir()
    process(home, "save", str(folder), themes)
    reasons = json.loads((folder / "reasons.json").read_text())
    assert len(reasons) <= refused and all(reasons.values()), reasons
    shutil.move(home, bare)
    shutil.rmtree(bare / "tests/corpus_staged")
    for engine in ("numpy", "native", "auto"):
        found: dict[str, Any] = json.loads(process(bare, "run", str(folder), engine))
        assert found["differs"] == {}, engine
        assert found["equal"] >= equal and found["uncovered"] < found["equal"] / 20, found
