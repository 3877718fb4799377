"""Listings: machine code with the lines of the user's program that it comes from.

LLVM keeps the source location of each instruction through its passes, as it does for debuggers. The locations are
numbered, and LLVM gets the numbers as the lines of a single file. Instructions with no location, or several, are below
the previous line.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Iterator, Sequence

from autograph.runtime.engines.native.llvm.target import machine
from autograph.runtime.graph.graph import Place, user_line

_OF_THE_MODULE = ("!", ";", "source_filename", "target ", "declare ", "attributes ")
_INSTRUCTION = re.compile(r"  (?![;\]])")
_DEBUG = """
!llvm.module.flags = !{{!10}}
!llvm.dbg.cu = !{{!11}}
!10 = !{{i32 2, !"Debug Info Version", i32 3}}
!11 = distinct !DICompileUnit(language: DW_LANG_C, file: !12, emissionKind: DebugDirectivesOnly)
!12 = !DIFile(filename: "program", directory: "")
!13 = !DISubroutineType(types: !14)
!14 = !{{}}
"""
_SUBPROGRAM = '!{} = distinct !DISubprogram(name: "code", file: !12, line: 1, type: !13, unit: !11, spFlags: 8)'
_LOCATION = "!{} = !DILocation(line: {}, scope: !{})"


class Annotated:
    """Machine code, with the user's lines as comments.

    Attributes:
        sign: the beginning of comments in the processor's assembly.
    """

    def __init__(self, text: str, origins: Sequence[Place], branchy: bool) -> None:
        """
        Args:
            origins: the source locations of lines of the text, see `printer`.
            branchy: see `target`.
        """
        text = re.sub(r"^define ptr @entry\(.*?^}$", "", text, flags=re.DOTALL | re.MULTILINE)   # it has no locations
        lines = [user_line(place) for place in origins]
        self._lines = dict(enumerate(filter(None, dict.fromkeys(lines)), 1))
        numbers = {line: number for number, line in self._lines.items()}
        text = _with_places(text, [numbers.get(line, 0) if line else 0 for line in lines])
        self._module = machine().optimized(text, branchy)
        self.sign = "#" if machine().traits[0].startswith(("x86_64", "i686")) else "//"

    @property
    def llvm(self) -> str:
        """LLVM's assembly."""
        text = str(self._module)
        numbers = {found[1]: int(found[2]) for found in re.finditer(r"^!(\d+) = !DILocation\(line: (\d+)", text, re.M)}

        def number(line: str) -> int:
            found = re.search(r", !dbg !(\d+)", line)
            return numbers.get(found[1], 0) if found else 0

        code = [line for line in text.splitlines() if not line.startswith(_OF_THE_MODULE)]
        return _tidied(re.sub(r",? !dbg !\d+", "", line) for line in self._annotated(code, number, "  ;"))

    @property
    def asm(self) -> str:
        """The processor's assembly."""
        code = str(machine().target.emit_assembly(self._module)).splitlines()

        def number(line: str) -> int:
            found = re.match(r"\s+\.loc\s+\d+\s+(\d+)", line)
            return int(found[1]) if found else 0

        found = self._annotated(code, number, f"\t{self.sign}")
        return _tidied(line for line in found if not re.match(r"\s*\.(loc|file|cfi_\w+)\b|\.Ltmp\d+:", line))

    def _annotated(self, code: Sequence[str], number: Callable[[str], int], sign: str) -> Iterator[str]:
        """Lines of code, with comments where the user's line changes."""
        last = 0
        for line in code:
            now = number(line)
            place = self._lines.get(now)
            if place is not None and now != last:
                last = now
                source = linecache.getline(*place).strip()
                yield f"{sign} {place[0]}:{place[1]}: {source}" if source else f"{sign} {place[0]}:{place[1]}"
            elif re.match(r"\S", line):     # a label
                last = 0
            yield line


def _with_places(text: str, numbers: Sequence[int]) -> str:
    """A text, with the number of its location at each instruction."""
    rest, found, scope = iter(numbers), [], 14
    metadata: dict[tuple[int, int], int] = {}
    now, inside = 0, False
    for line in text.splitlines():
        if line == "  ;":
            now = next(rest)
        elif line.startswith("define "):
            scope, now, inside = scope + 1, 0, True
            line = f"{line[:-1]}!dbg !{scope} {{"
        elif line == "}":
            inside = False
        elif inside and _INSTRUCTION.match(line):
            place = metadata.setdefault((now, scope), 1_000_000 + len(metadata))
            line = f"{line}, !dbg !{place}"
        found.append(line)
    found += [_SUBPROGRAM.format(each) for each in range(15, scope + 1)]
    found += [_LOCATION.format(place, number, scope) for (number, scope), place in metadata.items()]
    return "\n".join([*found, _DEBUG.format()])


def _tidied(lines: Iterator[str]) -> str:
    """Lines as text, without empty ones at the ends or in a row."""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"
