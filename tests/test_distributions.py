"""The source distribution holds all that git tracks, and its tests run; the wheel holds the package and no more."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import autograph

pytest.importorskip("setuptools", minversion="77")
ROOT = Path(__file__).parent.parent
NAME = f"autograph_py-{autograph.__version__}"
LINKS = {"converters", "runtime"}       # to folders of the package; they are for reading only
MADE = re.compile(r"PKG-INFO|setup\.cfg|autograph_py\.egg-info/.*")


def tracked() -> set[str]:
    """What git tracks, or would if it was added."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("git is not installed")
    if found.returncode or not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    return {name for name in found.stdout.splitlines() if (ROOT / name).exists()}


def build(kind: str, folder: Path) -> Path:
    """The distribution of a folder that setuptools builds, without the network."""
    program = f"from setuptools import build_meta; build_meta.build_{kind}('dist')"
    subprocess.run([sys.executable, "-c", program], cwd=folder, check=True, capture_output=True)
    (made,) = (folder / "dist").iterdir()
    return made


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory) -> Path:
    """The folder that the source distribution unpacks to."""
    checkout = tmp_path_factory.mktemp("checkout")
    for name in tracked() - LINKS:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, checkout / name)
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(build("sdist", checkout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / NAME


@pytest.mark.once
def test_the_source_distribution(unpacked):
    found = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    assert {name for name in found if not MADE.fullmatch(name)} == tracked() - LINKS
    assert os.access(unpacked / ".ci/run", os.X_OK)


@pytest.mark.once
def test_the_wheel(unpacked, tmp_path):
    source = shutil.copytree(unpacked, tmp_path / "source")
    with zipfile.ZipFile(build("wheel", source)) as wheel:
        found = set(wheel.namelist())
        metadata = wheel.read(f"{NAME}.dist-info/METADATA").decode()
    package = {name for name in tracked() if name.startswith("autograph/")}
    assert "autograph/py.typed" in package
    assert {name for name in found if not name.startswith(f"{NAME}.dist-info/")} == package
    assert f"{NAME}.dist-info/licenses/LICENSE" in found
    assert f"\nVersion: {autograph.__version__}\n" in metadata
    assert "\nAuthor: The AutoGraph-py developers\n" in metadata


@pytest.mark.slow
def test_tests_of_the_source_distribution_run(unpacked):
    some = ["tests/syntax", "tests/test_layers.py", "tests/test_docs.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *some]
    done = subprocess.run(command, cwd=unpacked, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
