"""Looks at the text of machine code: LLVM takes it for well formed, and nothing is read before it is written.

A cell (`%c5 = alloca i64`) holds what a variable of the loop is, and may be written on some ways to a place and not on
others; what is read then is what lay in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from llvmlite import binding

_CELL = re.compile(r"^\s*(%c\d+) = alloca ")
_NAME = re.compile(r"%c\d+\b")
_LABEL = re.compile(r"^([\w.]+):")
_GOES_TO = re.compile(r"label %([\w.]+)")
_WRITES = re.compile(r"^\s*store \S.*, ptr (%c\d+)(?:,|$)")
_READS = re.compile(r" = load [^,]+, ptr (%c\d+)(?:,|$)")
_WIDE = re.compile(r"^\s*store [<\[]")
_SAVES = "suspend"          # what a frame keeps of a loop that stops are all cells, also those that nothing is in yet


def check(text: str) -> None:
    """Raise if LLVM refuses the text of a module, or if it reads a cell too early, or saves one of several slots."""
    binding.parse_assembly(text).verify()
    for function in re.findall(r"^define .*?^\}", text, re.DOTALL | re.MULTILINE):
        early = list(read_too_early(function))
        assert not early, "read before they are written:\n" + "\n".join(early) + "\n\n" + text
        saved = _blocks(function).get(_SAVES, [])
        wide = [line for line in saved if _WIDE.match(line)]
        assert not wide, "saved in one slot of the frame:\n" + "\n".join(wide) + "\n\n" + text


def read_too_early(function: str) -> Iterator[str]:
    """The places that may read a cell before it is written, as `block: line`."""
    blocks = _blocks(function)
    cells = _cells(function)
    written = {label: {found[1] for line in lines if (found := _WRITES.match(line))} for label, lines in blocks.items()}
    before = _written_before(blocks, written, cells)
    for label, lines in blocks.items():
        known = set(before[label])
        for line in lines if label != _SAVES else ():
            if (found := _READS.search(line)) and found[1] in cells - known:
                yield f"{label}: {line.strip()}"
            if found := _WRITES.match(line):
                known.add(found[1])


def _blocks(function: str) -> dict[str, list[str]]:
    """The lines of each block by its label, the first of which may be without."""
    label, blocks = "", {"": []}
    for line in function.splitlines()[1:]:
        if found := _LABEL.match(line):
            blocks.setdefault(label := found[1], [])
        else:
            blocks[label].append(line)
    return {label: lines for label, lines in blocks.items() if lines}


def _cells(function: str) -> set[str]:
    """The cells, but for those of which an address is taken, by which they may be written elsewhere."""
    found, elsewhere = set(), set()
    for line in function.splitlines():
        known = [each[1] for each in (_CELL.match(line), _WRITES.match(line), _READS.search(line)) if each]
        found.update(known)
        elsewhere.update({*_NAME.findall(line)}.difference(known))
    return found - elsewhere


def _written_before(blocks: dict[str, list[str]], written: dict[str, set[str]], cells: set[str]) -> dict[str, set[str]]:
    """The cells that are written on every way to the beginning of each block."""
    first = next(iter(blocks))
    before = {label: set(cells) for label in blocks} | {first: set()}
    waiting, seen = [first], {first}
    while waiting:
        label = waiting.pop()
        after = before[label] | written[label]
        for following in {found for line in blocks[label] for found in _GOES_TO.findall(line)}:
            if following not in seen or not before[following] <= after:
                before[following] &= after
                seen.add(following)
                waiting.append(following)
    return before
