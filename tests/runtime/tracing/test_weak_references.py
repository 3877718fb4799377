"""A trace keeps nothing alive that it got at by a weak reference, and notices when that is gone."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import autograph as ag


class Node:
    """An object that knows its parent weakly."""

    def __init__(self, v: Any, parent: Any = None) -> None:
        self.v, self.parent, self.children = v, None if parent is None else weakref.ref(parent), []

    def path(self) -> Any:
        found, node = 0, self
        while node is not None:
            found, node = found * 10 + node.v, None if node.parent is None else node.parent()
        return found


REFERENCE: Any = None
HOLDER = Node(0)


def of_a_global(node, x):
    node = REFERENCE()
    return (node.v if node is not None else -1) + x


def whether_it_is_there(node, x):
    return REFERENCE() is None, x


def of_an_attribute(node, x):
    node = HOLDER.parent()
    return x if node is None else node.v + x


def of_an_argument(reference, x):
    node = reference()
    return x if node is None else node.v + x


def changed(reference, x):
    node = reference()
    if node is None:
        return None
    node.v += x
    node.children.append(x)
    return node.v, len(node.children)


@pytest.mark.parametrize("engine", ["numpy", "native", "auto"])
@pytest.mark.parametrize("program", [of_a_global, whether_it_is_there, of_an_attribute, of_an_argument, changed])
def test_what_it_refers_to_goes(program: Any, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def reported(function: Any) -> Any:
        node = Node(2)
        reference = weakref.ref(node)
        monkeypatch.setitem(globals(), "REFERENCE", reference)
        monkeypatch.setattr(HOLDER, "parent", reference)
        yield function(reference, 1), function(reference, 2), function(reference, 1.5)
        node.v = 10
        yield function(reference, 1)
        del node
        gc.collect()
        yield reference() is None, function(reference, 1), function(reference, 1.5)

    assert list(reported(ag.function(program, engine=engine))) == list(reported(program))


def test_a_parent_goes() -> None:
    def reported(path: Any) -> Any:
        root = Node(1)
        child = Node(2, root)
        grandchild = Node(3, child)
        yield path(grandchild, 1), path(child, 1), path(grandchild, 0.5)
        del root
        gc.collect()
        yield path(grandchild, 1), path(child, 1)

    def path(node: Any, x: Any) -> Any:
        return node.path() + x

    assert list(reported(ag.function(path))) == list(reported(path))


def test_changes_show_by_either_way() -> None:
    def change(node: Any, x: Any) -> Any:
        parent = node.parent()
        parent.v += x
        parent.children.append(x)
        return parent.v, ROOT.v, len(ROOT.children), parent is ROOT

    def reported(function: Any) -> Any:
        ROOT.v, ROOT.children = 1, []
        return [function(Node(2, ROOT), x) for x in (1, 2, 0.5)]

    assert reported(ag.function(change)) == reported(change)


ROOT = Node(1)
