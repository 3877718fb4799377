"""Places in the user's program as reports show them, relative to the file that the report is about; and times."""

from __future__ import annotations

import os
import re
import sys
from typing import Any, TypeAlias

Where: TypeAlias = tuple[str, int]      # a file and line

# A place within the text of a reason: "/home/me/model.py:12", "<ipython-input-3-0a1b2c>:4".
_IN_TEXT = re.compile(r"((?:[A-Za-z]:)?[/\\][^:\n]*?\.pyw?|<[^<>\n]+>):(\d+)")
_CELL = re.compile(r"<ipython-input-(\d+)-\w+>")


class Locations:
    """Shows places relative to a file.

    Args:
        file: the file of the function; "" if there is none.
    """

    def __init__(self, file: str) -> None:
        self._file = file

    @property
    def file(self) -> str:
        """The file itself, relative to the current folder; "" if there is none."""
        shown = shown_file(self._file, os.getcwd()) if self._file else ""
        return "" if shown.startswith("<") else shown

    def of(self, place: Where) -> str:
        """A place: "line 12", or "other.py:12" if it is in another file."""
        file, line = place
        if self._file and file == self._file:
            return f"line {line}"
        folder = os.path.dirname(self._file) if os.path.isabs(self._file) else os.getcwd()
        shown = shown_file(file, folder)
        return f"{shown}, line {line}" if shown.startswith("Cell ") else f"{shown}:{line}"

    def in_text(self, text: str) -> str:
        """A text, with the places in it shown so."""
        return _IN_TEXT.sub(lambda found: self.of((found[1], int(found[2]))), text)


def place_in(text: str) -> Where | None:
    """The place at the end of a reason."""
    found = [*_IN_TEXT.finditer(text)]
    return (found[-1][1], int(found[-1][2])) if found else None


def shown_file(file: str, folder: str) -> str:
    """A file relative to a folder, if it is below it; a cell as IPython names it."""
    if cell := _cell(file):
        return cell
    relative = os.path.relpath(file, folder) if os.path.isabs(file) else file
    return file if relative.startswith(os.pardir) else relative


def _cell(file: str) -> str:
    """IPython's name of a cell, such as "Cell In[3]"; "" if the file is none."""
    if found := _CELL.fullmatch(file):
        return f"Cell In[{found[1]}]"
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    name = getattr(getattr(shell, "compile", None), "format_code_name", lambda file: None)(file)
    return " ".join(name) if name else ""


def duration(seconds: float) -> str:
    """A time in the unit that suits it: "1.23 ms"."""
    unit, factor = ("s", 1.0) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    number = seconds * factor
    return f"{number:.3g} {unit}" if number < 99.5 else f"{number:,.0f} {unit}"
