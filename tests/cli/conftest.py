"""What the tests of the command share."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from autograph.cli import commands

REPOSITORY = Path(__file__).parent.parent.parent


@pytest.fixture
def cli(monkeypatch, tmp_path):
    """Run a command in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])  # commands add to it
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def cli(*args: object, input: str | bytes | None = None) -> Result:
        return CliRunner().invoke(commands, list(map(str, args)), input=input, prog_name="autograph")

    return cli


@pytest.fixture
def write(tmp_path):
    """Write a file of the given text, its indentation removed."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write


@pytest.fixture
def spawn(tmp_path):
    """Run Python, or the command, in a process of its own, in an empty folder."""

    def spawn(
        *args: object,
        command: bool = True,
        flags: Sequence[str] = (),
        path: Path = REPOSITORY,
        env: Mapping[str, str] | None = None,
        input: str | None = None,
    ) -> subprocess.CompletedProcess[str]:
        program = [sys.executable, *flags, *(["-m", "autograph"] if command else [])]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "AUTOGRAPH"))}
        kept.pop("FORCE_COLOR", None)
        kept["AUTOGRAPH_CACHE_DIR"] = os.environ["AUTOGRAPH_CACHE_DIR"]
        kept["PYTHONPATH"] = os.pathsep.join({str(path): None, str(REPOSITORY): None})
        return subprocess.run(
            [*program, *map(str, args)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=kept | dict(env or {}),
            input=input,
            stdin=None if input is not None else subprocess.DEVNULL,
        )

    return spawn
