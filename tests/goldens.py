"""Goldens: whole source in, whole source out, one above the other in a file of tests/golden/.

    # What the golden is about, in a line or two.
    # >>> f(1), f(2)
    def f(x):
        ...

    # ------------------------------------------------------------ becomes
    def f(x):
        ...

A test that takes the argument `golden` runs once for every such file (conftest.py sees to that; the marker
`goldens("folder")` narrows it down), and hands what it got to `golden.check`:

    def test_whole_modules(golden):
        golden.check(convert(golden.source))

To add one, write its upper part, run `pytest --update-goldens`, and read what it wrote. A first line
`# python 3.12` keeps a golden from earlier Pythons. tests/converters/test_goldens.py leaves the head out of what it
converts, and also runs the expressions behind `>>>`, converted and not. What stands below the line must come out
of every Python.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"
SEPARATOR = "# " + "-" * 60 + " becomes\n"


@dataclass
class Golden:
    """One golden file; with `update`, `check` writes instead of comparing."""

    path: Path
    update: bool = False

    @property
    def source(self) -> str:
        """The upper part: what goes in."""
        return self.path.read_text(encoding="utf-8").partition(SEPARATOR)[0].rstrip("\n") + "\n"

    @property
    def expected(self) -> str | None:
        """The lower part: what must come out; None where nothing has been written yet."""
        _, separator, below = self.path.read_text(encoding="utf-8").partition(SEPARATOR)
        return below if separator else None

    @property
    def since(self) -> tuple[int, int]:
        """The first Python that can read it."""
        found = re.match(r"# python (\d+)\.(\d+)$", self.source, re.MULTILINE)
        return (int(found[1]), int(found[2])) if found else (3, 10)

    @property
    def readable_here(self) -> bool:
        return sys.version_info >= self.since

    def check(self, actual: str) -> None:
        """Assert that `actual` is what the golden expects, down to the last blank line."""
        __tracebackhide__ = True
        actual = actual.rstrip("\n") + "\n"
        if self.update:
            if actual != self.expected:
                self.path.write_text(f"{self.source}\n{SEPARATOR}{actual}", encoding="utf-8")
            return
        name = self.path.name
        assert self.expected is not None, f"{name} has no lower part yet: run pytest --update-goldens"
        assert actual == self.expected, f"{name}: if the new text is right, run pytest --update-goldens"


def collect(folder: Path, update: bool = False) -> list[Golden]:
    return [Golden(path, update) for path in sorted(folder.rglob("*.py"))]
