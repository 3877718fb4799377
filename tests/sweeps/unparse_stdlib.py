"""Print every file of the running Python's standard library afresh, and see that it still means the same.

    python tests/sweeps/unparse_stdlib.py [FOLDER_OR_FILE ...]

Each file is parsed, turned into a gast tree, printed by `Unparser`, and parsed again: the two trees must be
identical. Exit status 1 if any is not.
"""

from __future__ import annotations

import ast
import sys
import sysconfig
import time
import tokenize
import warnings
from collections.abc import Iterator
from pathlib import Path

import gast

from autograph.common.printing import unparse


def files(places: list[str]) -> Iterator[Path]:
    """The Python files at or below the given places, the standard library's by default."""
    for place in map(Path, places or [sysconfig.get_path("stdlib")]):
        found = sorted(place.rglob("*.py")) if place.is_dir() else [place]
        yield from (path for path in found if "site-packages" not in path.parts)


def parse(path: Path) -> ast.Module | None:
    """The file's tree, or None if this Python cannot parse it."""
    try:
        with tokenize.open(path) as file:
            return ast.parse(file.read())
    except (SyntaxError, ValueError, RecursionError):
        return None


def difference(tree: ast.Module) -> str | None:
    """What goes wrong if the tree is printed and parsed again."""
    text = ""
    try:
        text = unparse.unparse(gast.ast_to_gast(tree))
        again = ast.parse(text)
    except Exception as error:  # whatever it is, it is what we look for
        return f"{type(error).__name__}: {error}"
    was, now = ast.dump(tree), ast.dump(again)
    if was == now:
        return None
    at = next((i for i, (a, b) in enumerate(zip(was, now)) if a != b), min(len(was), len(now)))
    return f"...{was[max(at - 60, 0) : at + 80]}\n   is ...{now[max(at - 60, 0) : at + 80]}"


def main(places: list[str]) -> int:
    """Check all files; print progress, what differs, and a summary."""
    warnings.simplefilter("ignore")
    checked = differing = unparsable = 0
    start = time.perf_counter()
    for path in files(places):
        tree = parse(path)
        if tree is None:
            unparsable += 1
            continue
        checked += 1
        if trouble := difference(tree):
            differing += 1
            print(f"{path}: {trouble}", flush=True)
        if checked % 100 == 0:
            print(f"  {checked} files, {differing} differ", flush=True)
    seconds = time.perf_counter() - start
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"Python {version}: {checked} files in {seconds:.0f} s, {differing} differ, {unparsable} unparsable")
    return 1 if differing or not checked else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
