"""CONTRIBUTING.md is true: its changes are made in a copy of the package, and its programs print what it says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CHAPTER = PAGE.partition("## Eleven changes\n")[2].partition("\n## ")[0]
MOST = 3        # files of the package


@dataclass
class Block:
    """A block of a section: a program, a text, or what a file gets."""

    language: str
    file: str
    text: str


def blocks(section: str) -> list[Block]:
    found = re.finditer(r"^```(\w+)(?: (\S+))?\n((?:.*\n)*?)```$", section, re.MULTILINE)
    return [Block(each[1], each[2] or "", each[3]) for each in found]


def sections() -> dict[str, list[Block]]:
    return {name: blocks(text) for name, _, text in (each.partition("\n") for each in CHAPTER.split("\n### ")[1:])}


SECTIONS = sections()


def change(file: Path, block: Block) -> None:
    """Do what a block says to a file: a diff, or lines at the end, or a new file."""
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    if block.language == "python":
        file.write_text(f"{before}\n\n{block.text}" if before else block.text, encoding="utf-8")
        return
    for hunk in re.split(r"^@@\n", block.text, flags=re.MULTILINE):
        lines = hunk.splitlines(keepends=True)
        old = "".join(line[1:] or "\n" for line in lines if not line.startswith("+"))
        new = "".join(line[1:] or "\n" for line in lines if not line.startswith("-"))
        assert before.count(old) == 1, f"{block.file} does not have, once:\n{old}"
        before = before.replace(old, new)
    file.write_text(before, encoding="utf-8")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the package as it is when all the changes have been made."""
    folder = tmp_path_factory.mktemp("contributed")
    shutil.copytree(ROOT / "autograph", folder / "autograph")
    for found in SECTIONS.values():
        for block in found:
            if block.file:
                change(folder / block.file, block)
    return folder


def run(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout


@pytest.mark.once
@pytest.mark.parametrize("name", SECTIONS)
def test_a_change(name: str, copy: Path) -> None:
    programs = [block.text for block in SECTIONS[name] if block.language == "python" and not block.file]
    said = [block.text for block in SECTIONS[name] if block.language == "text"]
    shown = [block.text for block in SECTIONS[name] if block.language == "console"]
    assert len(programs) == len(said) and programs + shown
    for program, text in zip(programs, said):
        (copy / "program.py").write_text(program, encoding="utf-8")
        assert run(copy, "program.py") == text
    for session in shown:
        command, _, text = session.removeprefix("$ autograph ").partition("\n")
        assert run(copy, "-m", "autograph", *shlex.split(command)) == text


@pytest.mark.parametrize("name", SECTIONS)
def test_a_change_touches_few_files(name: str) -> None:
    files = {block.file for block in SECTIONS[name] if block.file}
    assert 1 <= len(files) <= MOST


def test_the_table_lists_them() -> None:
    linked = re.findall(r"^\| \[[^]]*\]\(#([\w-]+)\) \|", CHAPTER, re.MULTILINE)
    assert linked == [name.lower().replace(" ", "-") for name in SECTIONS] and len(linked) >= 10


def test_the_copy_is_clean(copy: Path) -> None:
    """The changes are written in the style of the package."""
    files = sorted({block.file for found in SECTIONS.values() for block in found if block.file.startswith("autograph")})
    pytest.importorskip("ruff")
    assert run(copy, "-m", "ruff", "check", "-q", "--config", str(ROOT / "pyproject.toml"), *files) == ""
