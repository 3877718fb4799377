"""Walks over trees."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import gast


def children(node: gast.AST) -> list[gast.AST]:
    """Return the child nodes in field order, without contexts and operators, which have no fields."""
    found: list[gast.AST] = []
    values = node.__dict__
    for name in PARTS[type(node)]:
        value = values.get(name)
        if not value:
            continue
        if type(value) is list:
            found += value if name not in _MIXED else [item for item in value if isinstance(item, gast.AST)]
        elif isinstance(value, gast.AST):
            found.append(value)
    return found


_MIXED = frozenset({"keys", "kw_defaults", "kwd_attrs", "names"})  # fields with lists of nodes and other values


def blocks(node: gast.AST) -> list[list[gast.AST]]:
    """Return the blocks of statements directly in a node, in source order."""
    inner = [part.body for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ()))]
    found = [getattr(node, "body", None), *inner, getattr(node, "orelse", None), getattr(node, "finalbody", None)]
    return [block for block in found if isinstance(block, list)]


DEFINITIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)


def own_blocks(node: gast.AST) -> list[list[gast.AST]]:
    """Return the blocks of a statement that run in the same function: none of a definition."""
    return [] if isinstance(node, DEFINITIONS) else blocks(node)


def inner_blocks(block: list[gast.AST]) -> Iterator[list[gast.AST]]:
    """Yield the blocks inside a block that run in the same function, innermost first."""
    for node in block:
        for inner in own_blocks(node):
            yield from inner_blocks(inner)
            yield inner


def own_statements(block: list[gast.AST]) -> Iterator[gast.AST]:
    """Yield the statements of a block and of its inner blocks, innermost first."""
    for inner in inner_blocks(block):
        yield from inner
    yield from block


def is_docstring(statement: gast.AST) -> bool:
    """Whether a statement is a string, which is the docstring if it is the first one."""
    return isinstance(statement, gast.Expr) and isinstance(getattr(statement.value, "value", None), str)


def dotted(node: gast.AST) -> tuple[gast.AST, list[str]]:
    """Return the base of a chain of attributes, and their names: for `f(x).a.b`, `f(x)` and a and b."""
    names: list[str] = []
    while isinstance(node, gast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return node, names


def visitors(owner: type) -> dict[type, Any]:
    """Return the methods `visit_NAME` of a class by the class of nodes that they visit."""
    return {getattr(gast, name[6:]): method for name, method in vars(owner).items() if name.startswith("visit_")}


def at_header(new: gast.AST, node: gast.AST) -> Any:
    """Place a new node on the first line of a compound statement."""
    new.lineno = new.end_lineno = node.lineno
    new.col_offset = new.end_col_offset = node.col_offset
    return new


class _Parts(dict[type, tuple[str, ...]]):
    def __missing__(self, kind: type[gast.AST]) -> tuple[str, ...]:
        own = () if kind is gast.Constant else kind._fields
        found = self[kind] = tuple(name for name in own if name not in _SIMPLE)
        return found


PARTS: Mapping[type, tuple[str, ...]] = _Parts()  # the fields of each class that may hold nodes
_SIMPLE = frozenset("id ctx op ops attr kind type_comment conversion simple is_async level module".split())


def walk(*nodes: gast.AST) -> Iterator[gast.AST]:
    """Yield every node at and below `nodes`.

    `ast.walk` does the same, but imports a module that may be under conversion.
    """
    stack = [*reversed(nodes)]
    while stack:
        node = stack.pop()
        yield node
        if below := children(node):
            stack += reversed(below)


FRAMES_PER_LEVEL = 8  # of the deepest pass


@contextlib.contextmanager
def room_for(tree: gast.AST) -> Iterator[None]:
    """While it lasts, raise the recursion limit so far that passes over `tree` can recurse."""
    depth, level = 0, [tree]
    while level:
        depth, level = depth + 1, [child for node in level for child in children(node)]
    limit, needed = sys.getrecursionlimit(), _stack_depth() + FRAMES_PER_LEVEL * depth + 200
    if needed <= limit:
        yield
        return
    sys.setrecursionlimit(needed)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _stack_depth() -> int:
    """Return the number of frames of this thread."""
    count, frame = 0, sys._getframe()
    while frame.f_back is not None:
        count, frame = count + 1, frame.f_back
    return count
