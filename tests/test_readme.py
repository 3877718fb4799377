"""README.md is true: its programs print what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [*re.finditer(r"^```(\w+)\n((?:.*\n)*?)```$", PAGE, re.MULTILINE)]
PROGRAMS = [block[2] for block in BLOCKS if block[1] == "python"]
SAID = [block[2] for block in BLOCKS if block[1] in ("text", "console")]


def python(folder: Path, *arguments: str) -> str:
    """What Python prints, errors included, without the marks below the lines of a traceback."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return re.sub(r"^ *[\^~]+\n", "", done.stdout, flags=re.MULTILINE).replace(f"{folder}{os.sep}", "")


def test_tour(tmp_path: Path) -> None:
    (tmp_path / "tour.py").write_text(PROGRAMS[0], encoding="utf-8")
    assert python(tmp_path, "tour.py") == SAID[0]


def test_commands(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(PROGRAMS[1], encoding="utf-8")
    _, *parts = re.split(r"^\$ autograph (.*)\n", SAID[1], flags=re.MULTILINE)
    for command, said in zip(parts[::2], parts[1::2], strict=True):
        if sys.version_info < (3, 11) and "Traceback" in said:
            continue  # there, it has more lines: docs/limits.md
        assert python(tmp_path, "-m", "autograph", *command.split()) == said


def test_links_lead_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
