"""Reprint every file of the running Python's standard library in four ways; tree and comments must be the same.

    python tests/sweeps/reprint_stdlib.py [FOLDER_OR_FILE ...]

1. as it was parsed;
2. with every compound statement printed afresh, from its parts;
3. with every name replaced by a new node of the same name, so that every statement is spliced;
4. with every call, operation, subscript and f-string printed afresh.

No comment may be lost; one that occurs several times counts once. Exit status 1 if anything differs.
"""

from __future__ import annotations

import ast
import io
import sys
import sysconfig
import time
import tokenize
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import gast

from autograph.syntax import source
from autograph.syntax.printing import reprint

COMPOUND = """
    If For While With Try TryStar Match FunctionDef ClassDef AsyncFor AsyncWith AsyncFunctionDef
""".split()
EXPRESSIONS = "Call Attribute Subscript BinOp UnaryOp Compare BoolOp IfExp JoinedStr keyword comprehension".split()


def as_parsed(tree: gast.AST) -> None:
    """Change nothing."""


def afresh(*kinds: str) -> Callable[[gast.AST], None]:
    """A change that makes the printer forget where nodes of some kinds came from."""

    def change(tree: gast.AST) -> None:
        for node in list(gast.walk(tree)):
            if type(node).__name__ in kinds and hasattr(node, "origin"):
                del node.origin

    return change


class NewNames(gast.NodeTransformer):
    """Replaces every name by a new node."""

    def visit_Name(self, node: gast.Name) -> gast.Name:
        self.generic_visit(node)
        return gast.Name(node.id, node.ctx, node.annotation, node.type_comment)


CHANGES: dict[str, Callable[[gast.AST], object]] = {
    "as parsed": as_parsed,
    "compound statements": afresh(*COMPOUND),
    "names": lambda tree: NewNames().visit(tree),
    "expressions": afresh(*EXPRESSIONS),
}


def files(places: list[str]) -> Iterator[Path]:
    """The Python files at or below the given places, the standard library's by default."""
    for place in map(Path, places or [sysconfig.get_path("stdlib")]):
        found = sorted(place.rglob("*.py")) if place.is_dir() else [place]
        yield from (path for path in found if "site-packages" not in path.parts)


def comments(text: str) -> set[str]:
    """The comments of a text, but for those in replacement fields of f-strings, which are not kept."""
    found, depth = set(), 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        depth += (name == "FSTRING_START") - (name == "FSTRING_END")
        if name == "COMMENT" and not depth:
            found.add(token.string.rstrip())
    return found


def difference(text: str, tree: str, change: Callable[[gast.AST], object]) -> str | None:
    """What goes wrong if a text is parsed, changed, printed, and parsed again."""
    try:
        parsed = source.parse(text, "<text>")
        change(parsed.tree)
        printed = reprint.to_text(parsed.tree, parsed)
        again = ast.dump(ast.parse(printed))
        lost = comments(text) - comments(printed)
    except Exception as error:  # whatever it is, it is what we look for
        return f"{type(error).__name__}: {error}"
    if tree != again:
        at = next((i for i, (a, b) in enumerate(zip(tree, again)) if a != b), min(len(tree), len(again)))
        return f"...{tree[max(at - 60, 0) : at + 80]}\n   is ...{again[max(at - 60, 0) : at + 80]}"
    return f"lost comments: {sorted(lost)[:4]}" if lost else None


def read(path: Path) -> tuple[str, str] | None:
    """A file's text and the dump of its tree, or None if this Python cannot parse it."""
    try:
        with tokenize.open(path) as file:
            text = file.read()
        return text, ast.dump(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return None


def main(places: list[str]) -> int:
    """Check all files; print progress, what differs, and a summary."""
    warnings.simplefilter("ignore")
    checked = differing = 0
    start = time.perf_counter()
    for path in files(places):
        if (found := read(path)) is None:
            continue
        checked += 1
        for name, change in CHANGES.items():
            if trouble := difference(*found, change):
                differing += 1
                print(f"{path} ({name}): {trouble}", flush=True)
        if checked % 100 == 0:
            print(f"  {checked} files, {differing} differ", flush=True)
    seconds = time.perf_counter() - start
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"Python {version}: {checked} files, {len(CHANGES)} ways, in {seconds:.0f} s: {differing} differ")
    return 1 if differing or not checked else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
