"""The files for those who work on this project agree with each other, and name what is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).parent.parent
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[0-9]-*.yml"))
YAML = [ROOT / ".pre-commit-config.yaml", *(ROOT / ".github").rglob("*.yml")]
if not (ROOT / ".github").exists():
    pytest.skip("this is no checkout", allow_module_level=True)


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def versions() -> list[str]:
    """The versions of Python under which `.ci/run` tests."""
    (tested,) = re.findall(r"^for version in (.*); do$", text(".ci/each-python"), re.MULTILINE)
    return tested.split()


def test_versions_of_python():
    project, workflow = text("pyproject.toml"), text(".github/workflows/ci.yml")
    assert re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project) == versions()
    assert f'requires-python = ">={versions()[0]}"' in project
    (matrix,) = re.findall(r"^ +python: \[(.*)\]$", workflow, re.MULTILINE)
    (allowed_to_fail,) = re.findall(r"continue-on-error: \$\{\{ matrix.python == '(.*)' \}\}", workflow)
    assert matrix == ", ".join(f'"{version}"' for version in [*versions(), allowed_to_fail])


def test_the_workflow_runs_what_is_run_here():
    commands = re.findall(r"^ +- run: (.*)$", text(".github/workflows/ci.yml"), re.MULTILINE)
    assert ".ci/run" in commands
    assert (ROOT / ".ci/run").stat().st_mode & 0o111


def test_hooks_run_what_lint_runs():
    hooks = text(".pre-commit-config.yaml")
    (lint,) = re.findall(r"^lint:.*\n((?:\t.*\n)+)", text("Makefile"), re.MULTILINE)
    for tool in re.findall(r"-m (\w+)", lint):
        assert re.search(rf"entry: \.venv/bin/python -m {tool}\b", hooks)
    for path in re.findall(r"\btests/[\w/]+\.py", hooks):
        assert (ROOT / path).exists()


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_issues_ask_for_the_doctor(form):
    asked = form.read_text(encoding="utf-8")
    assert "label: Output of `autograph doctor`" in asked
    assert len(set(re.findall(r"^ +id: (.*)$", asked, re.MULTILINE))) == asked.count("type: textarea")


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_yaml(path):
    yaml = pytest.importorskip("yaml")
    assert yaml.safe_load(path.read_text(encoding="utf-8"))


def test_every_folder_of_tests_is_on_the_map():
    rows = re.findall(r"^\| (`tests/.*?) \|", text("CONTRIBUTING.md"), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(tests/[^`]+)`", row)}
    folders = {f"tests/{path.name}" for path in (ROOT / "tests").iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    assert folders <= named
    assert [name for name in named if not [*ROOT.glob(name)]] == []


def test_commands_of_make_are_documented():
    (targets,) = re.findall(r"^\.PHONY: (.*)$", text("Makefile"), re.MULTILINE)
    pages = text("CONTRIBUTING.md") + text("README.md")
    assert {name for name in targets.split() if f"make {name}" not in pages} == {"help", "setup", "clean"}


def test_no_machine_is_named():
    """Neither folders of whoever wrote it, nor servers of packages."""
    for path in [*YAML, *(ROOT / name for name in ("pyproject.toml", "MANIFEST.in", "Makefile", "CONTRIBUTING.md"))]:
        assert not re.search(r"/(?:home|Users|root)/|index-url|extra-index", path.read_text(encoding="utf-8"))


def collected(share: str) -> list[str]:
    """The tests of a divided room and of an undivided one that a Python with this share runs."""
    files = ["tests/common/test_pytree.py", "tests/optim/test_lbfgs.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--collect-only", *files],
        cwd=ROOT, env={**os.environ, "AUTOGRAPH_SHARE": share}, capture_output=True, text=True, check=True,
    )
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_other_pythons_share_the_tests():
    everything, *shares = map(collected, ["", "0/2", "1/2"])
    both = [test for test in shares[0] if test in shares[1]]
    assert sorted(shares[0] + shares[1]) == sorted(everything + both)
    assert both == [test for test in everything if test.startswith("tests/common/")]
    assert all(len(both) < len(share) < len(everything) for share in shares)
