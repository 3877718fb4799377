"""Where the functions of `real.py` come from: public code, pinned, none of it copied into this repository.

What the package index holds as a source distribution comes from there, the rest from a commit of its repository.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from real_by_hand import CALLS
from real_examples import Example, Found, functions, of_doctests, of_npbench, of_runas, of_statements


@dataclass(frozen=True)
class Subject:
    """A function of a file, with its example calls."""

    source: str
    root: Path  # the folder to import from
    file: Path
    name: str
    examples: tuple[Example, ...]
    stubs: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.source}: {self.file.relative_to(self.root)}: {self.name}"


@dataclass(frozen=True)
class Source:
    name: str
    pin: str  # the sha256 of the distribution, or the commit
    root: str  # the folder to import from, below the unpacked one
    files: str  # a pattern below it
    find: Callable[[Path], Found]
    version: str = ""  # of the distribution
    address: str = ""  # of the repository
    leave: tuple[str, ...] = ()  # parts of paths
    stubs: tuple[str, ...] = ()  # modules to replace by ones that do nothing: decorators of theirs give the function
    most: int = 1000  # functions, picked evenly

    def folder(self, sources: Path) -> Path | None:
        """Its folder there, under its own name or that of an unpacked distribution."""
        named = [sources / self.name, sources / f"{self.name}-{self.version}"]
        return next((folder / self.root for folder in named if folder.is_dir()), None)

    def subjects(self, sources: Path, everything: bool = False) -> list[Subject]:
        root = self.folder(sources)
        if root is None:
            return []
        found: dict[tuple[Path, str], list[Example]] = {}
        for file in sorted(root.glob(self.files)):
            if not any(part in str(file.relative_to(root)) for part in self.leave):
                for name, example in self.find(file):
                    found.setdefault((file, name), []).append(example)
        subjects = [
            Subject(self.name, root, file, name, tuple(dict.fromkeys(examples)), self.stubs)
            for (file, name), examples in found.items()
        ]
        step = 1 if everything else max(1.0, len(subjects) / self.most)
        return [subjects[int(step * number)] for number in range(int(len(subjects) / step))]

    def fetch(self, sources: Path) -> None:
        """Download it, if it is not there, and check that it is what is pinned."""
        if self.folder(sources) is not None:
            return
        if self.version:
            with tempfile.TemporaryDirectory() as folder:
                _download(f"{self.name}=={self.version} --hash=sha256:{self.pin}", Path(folder))
                shutil.unpack_archive(next(Path(folder).glob("*.tar.gz")), sources, filter="data")
        else:
            git = ["git", "-C", str(sources / self.name)]
            subprocess.run(["git", "init", "-q", str(sources / self.name)], check=True)
            subprocess.run([*git, "fetch", "-q", "--depth", "1", self.address, self.pin], check=True)
            subprocess.run([*git, "checkout", "-q", self.pin], check=True)

    def differs(self, sources: Path) -> str:
        """How a checkout differs from the pinned commit, or an empty text."""
        if self.version or not (sources / self.name).is_dir():
            return ""
        git = ["git", "-C", str(sources / self.name), "rev-parse", "HEAD"]
        commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
        return "" if commit == self.pin else f"{self.name} is at {commit or 'no commit'}, not at {self.pin}"


def _download(requirement: str, folder: Path) -> None:
    listed = folder / "requirements.txt"
    listed.write_text(requirement)
    how = ["--no-deps", "--no-binary", ":all:", "--require-hashes", "-r", str(listed), "-d", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", *how], check=True)


def _by_hand(file: Path) -> Found:
    names = functions(file.read_text())
    for text in CALLS.get(f"{file.parent.name}/{file.name}", ()):
        with contextlib.suppress(StopIteration):
            *_, last = of_statements(text, names)
            yield last


def _quantecon(file: Path) -> Found:
    yield from of_doctests(file)
    yield from _by_hand(file)


SOURCES = (
    Source(
        "pythran",
        "204a3e4435cff8b815e922d69ecf91d95336e735",
        "pythran/tests/cases",
        "*.py",
        of_runas,
        address="https://github.com/serge-sans-paille/pythran",
    ),
    Source(
        "npbench",
        "f2d7f27d87ba4881991e62c18a607aa6ba52b260",
        ".",
        "npbench/benchmarks/**/*_numpy.py",
        of_npbench,
        address="https://github.com/spcl/npbench",
    ),
    Source(
        "TheAlgorithms",
        "f5988cc09713315817df6a7e327e258013a94440",
        ".",
        "**/*.py",
        of_doctests,
        address="https://github.com/TheAlgorithms/Python",
        leave=("web_programming", "file_transfer", "computer_vision", "scripts/", "docs/", "/test", "graphics/"),
        most=400,
    ),
    Source(
        "pyperformance",
        "91f74393997b604375ad5b79bf569a24076d70181c076a53abad5383a238a8aa",
        "pyperformance/data-files/benchmarks",
        "bm_*/*.py",
        _by_hand,
        version="1.14.0",
        stubs=("pyperf",),
    ),
    Source(
        "fluids",
        "42014b5f7d0ee3a5c6fea05582cdc37975e7c46d4c864feb6c7cb915df8a1972",
        ".",
        "fluids/**/*.py",
        of_doctests,
        version="1.3.1",
        leave=("units.py", "vectorized.py", "numba"),
        most=150,
    ),
    Source(
        "quantecon",
        "e6837088c3dedaf713a7998f1892db4043069cd53664cf2a48602e66cc1f3087",
        ".",
        "quantecon/**/*.py",
        _quantecon,
        version="0.11.4",
        leave=("/tests/", "timing", "notebooks"),
        stubs=("numba", "numba.extending", "numba.np", "numba.np.linalg", "numba.typed", "requests", "sympy"),
    ),
)
