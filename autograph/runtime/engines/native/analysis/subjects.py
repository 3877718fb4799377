"""The objects that operations work on which machine code leaves to Python, in the user's terms, for `explain`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograph.runtime.graph.effects import is_array
from autograph.runtime.graph.graph import Block, Node, Value, user_line, walk
from autograph.runtime.graph.signature import Event
from autograph.runtime.graph.source_text import source_text
from autograph.runtime.graph.traits import ITERATES, LENGTH, LOOP, NEGATION, TAKES_ANY
from autograph.runtime.passes.rewriter import shown

SOME = 16  # items of a list that are looked at
DEEP = 3  # levels of lists within lists that are described
TEXTS = 3  # operations that are named
_ACCESS = ("getitem", "setitem", "delitem", "getattr", "setattr")  # they look into an object
_OF_OBJECTS = ("build", "call", "fstring")  # they take any objects
_UNIFORM = re.compile(r" of (ints|floats|bools)$")

_PLURALS = {int: "ints", float: "floats", complex: "complex numbers", bool: "bools", str: "strings", bytes: "bytes"}
_PLURALS |= {list: "lists", tuple: "tuples", dict: "dicts", set: "sets", type(None): "None", np.ndarray: "arrays"}
_ITERATORS: tuple[type, ...] = (type(iter([])), type(iter(())))
_name_of, _module_of = (type.__dict__[name].__get__ for name in ("__qualname__", "__module__"))
_NUMERIC = (int, float, complex, np.ndarray, np.generic, range)


class Subject(NamedTuple):
    """An object from outside of a loop: its name, "" if it has none, and a description, "a list of ints"."""

    name: str
    kind: str


def find_subjects(operations: Iterable[Any], loop: Node, inputs: Mapping[Value, Any]) -> None:
    """Set the `subject` of each `PythonCallback`, if it works on an object from outside that is no number or array."""
    known: dict[Value, Subject] = {}
    objects = {value: thing for value, thing in inputs.items() if not issubclass(type(thing), _NUMERIC)}
    origins = _origins(loop)
    for each in operations:
        for arg, has_access in (pair for node in each.nodes for pair in _objects(node)):
            root = _root(arg, origins, objects) if each.subject is None else None
            if root is not None and root not in known:
                known[root] = Subject(root.name, described(objects[root]))
            if root is not None and (has_access or not _UNIFORM.search(known[root].kind)):
                each.subject = known[root]


def _objects(node: Node) -> list[tuple[Any, bool]]:
    """The arguments that decide whether a node has machine code, each with whether the node looks into it."""
    if node.op in _ACCESS or node.op in LENGTH or node.op in ITERATES or node.op.startswith("."):
        return [(arg, True) for arg in node.args[:1]]
    return [] if node.op in _OF_OBJECTS or node.op in TAKES_ANY else [(arg, False) for arg in node.args]


def left_to_python(operations: Iterable[Any]) -> list[Event]:
    """The report on the operations because of which a loop is no machine code, one for each line and subject.

    It names those that NumPy runs if there are no others.
    """
    found: dict[Any, list[Any]] = {}
    named = [each for each in operations if any(map(is_named, each.nodes))]
    for each in named:
        found.setdefault((each.place, each.subject and each.subject.name), []).append(each)
    others = _lines([each.nodes for each in operations]) if not named else {}
    return [*map(_event, found.values()), *_left_to_numpy(others)]


def named_operations(loop: Node) -> list[Event]:
    """The same about the operations of a loop, one for each line."""
    nodes = [node for block in loop.blocks for node in walk(block)]
    if not (named := _lines([[node] for node in nodes if is_named(node)])):
        return _left_to_numpy(_lines([[node] for node in nodes if not node.blocks]))
    texts = {place: about(nodes, None) for place, nodes in named.items()}
    return [Event("native", f"this is left to Python: {text}", place, text) for place, text in texts.items()]


def _lines(operations: Iterable[Sequence[Node]]) -> dict[Any, list[Sequence[Node]]]:
    found: dict[Any, list[Sequence[Node]]] = {}
    for nodes in operations:
        found.setdefault(user_line(nodes[0].place), []).append(nodes)
    return found


def _left_to_numpy(lines: Mapping[Any, Iterable[Sequence[Node]]]) -> list[Event]:
    texts = {place: about(nodes, None) for place, nodes in lines.items()}
    return [Event("native", f"NumPy runs {text}", place, f"{text}; NumPy runs this") for place, text in texts.items()]


def is_named(node: Node) -> bool:
    """Whether to report that a node is left to Python: not if NumPy runs it."""
    is_users = not (node.op == "raise" or node.op in NEGATION)     # the user writes no `raise` at the end of a loop
    return is_users and not (node.blocks or any(map(is_array, (*node.inputs, *node.outputs))))


def _event(operations: Sequence[Any]) -> Event:
    text = about([each.nodes for each in operations], operations[0].subject)
    return Event("native", f"this is left to Python: {text}", operations[0].place, text)


def about(operations: Iterable[Sequence[Node]], subject: Subject | None) -> str:
    """The user's text of some operations, and their subject: "`best[i][j]`; `best` is a list of lists of floats"."""
    texts = [*dict.fromkeys(map(_text, operations))]
    texts = [text for text in texts if not any(text != other and text in other for other in texts)] # without parts
    written = ", ".join(f"`{text}`" for text in texts[:TEXTS]) + ", …" * (len(texts) > TEXTS)
    if subject is None:
        return written
    name = subject.name or _name_in(texts[0])
    return f"{written}; `{name}` is {subject.kind}" if name else f"{written}; this is of {subject.kind}"


def _text(nodes: Sequence[Node]) -> str:
    """The text of the last node in the line of the first one."""
    node = [node for node in nodes if user_line(node.place) == user_line(nodes[0].place)][-1]
    if node.op == "setattr":
        return f".{node.args[1]} = …"
    if node.op == "build":
        return f"{type(node.args[0]).__name__}(…)"      # at the end of a loop, it has no text of its own
    return source_text(node.place) or shown(node).strip("`")


def _name_in(text: str) -> str:
    """The variable at the beginning of an expression: `best` of "best[i][j]"."""
    name = text.partition(".")[0].partition("[")[0]
    return name if name.isidentifier() else ""


def _root(root: Any, origins: Mapping[Value, Value], inputs: Mapping[Value, Any]) -> Value | None:
    """The input that an argument comes from, as it is, an item or an item of an item."""
    while isinstance(root, Value) and root not in inputs:
        if root in origins:
            root = origins[root]
        elif root.node is not None and (root.node.op == "getitem" or root.node.op in ITERATES):
            root = root.node.args[0]
        else:
            return None
    return root if isinstance(root, Value) else None


def _origins(loop: Node) -> dict[Value, Value]:
    """For the params of the bodies of loops, the value that they are at first, or the iterable that they come from."""
    found: dict[Value, Value] = {}
    for node in (loop, *(each for block in loop.blocks for each in walk(block))):
        if node.op in LOOP:
            for block in node.blocks:
                _pair(node, block, found)
    return found


def _pair(loop: Node, block: Block, found: dict[Value, Value]) -> None:
    carried = len(loop.args) - (loop.op == "for")
    items = len(block.params) - carried if loop.op == "for" else 0
    firsts = [*loop.args[:1] * items, *loop.args[loop.op == "for" :]]
    found.update((param, first) for param, first in zip(block.params, firsts) if isinstance(first, Value))


def described(value: Any) -> str:
    """An object in the user's terms: "a list of lists of ints and floats". It runs no code of the user's classes."""
    kind = type(value)
    if kind in _ITERATORS:
        value = value.__reduce__()[1][0]    # what it goes through
        kind = type(value)
    if kind in (list, tuple):
        return f"a {kind.__name__}{_of(value)}"
    if value is None or issubclass(kind, type):
        return "None" if value is None else "a class"
    name = "string" if kind is str else _name_of(kind)
    article = "an" if name[0].lower() in "aeiou" else "a"
    return f"{article} {name}" if _module_of(kind) == "builtins" else f"an object of class {name}"


def _of(items: Sequence[Any]) -> str:
    """The elements of a list or tuple, and of those in it: " of lists of ints and floats"."""
    some, text = [*items[:SOME]], ""
    for _ in range(DEEP):
        kinds = sorted({_plural(type(item)) for item in some})
        if kinds:
            text += f" of {' and '.join([', '.join(kinds[:-1])] * bool(kinds[1:]) + kinds[-1:])}"
        some = [part for item in some if type(item) in (list, tuple) for part in item[:SOME]]
        if len(kinds) != 1:
            break
    return text


def _plural(kind: type) -> str:
    return _PLURALS.get(kind) or f"{_name_of(kind)} objects"
