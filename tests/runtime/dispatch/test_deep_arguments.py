"""Arguments that are graphs of objects: linked lists of thousands of parts, cycles, lists that contain themselves."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

import autograph as ag
from tests.aliasing_programs import shape

LONG = 3000


@dataclass
class Node:
    head: Any
    tail: Any = None
    before: Any = None
    parts: list[Any] = field(default_factory=list)


class Cell:
    def __init__(self, head: Any, tail: Any = None) -> None:
        self.head, self.tail, self.before = head, tail, None
        self.parts: Any = []


class Slots:
    __slots__ = ("head", "tail")

    def __init__(self, head: Any, tail: Any = None) -> None:
        self.head, self.tail = head, tail


class Named(NamedTuple):
    head: Any
    tail: Any = None


def chain(make: Callable[[int, Any], Any], end: Any = None, length: int = LONG) -> Any:
    for number in range(length):
        end = make(number, end)
    return end


def linked(kind: Any, is_ring: bool) -> Any:
    """The first of many that know the one before and the one behind."""
    nodes = [kind(number) for number in range(LONG)]
    for one, other in zip(nodes, nodes[1:] + nodes[:1] * is_ring):
        one.tail, other.before = other, one
    return nodes[0]


def acquainted() -> Any:
    """One of 1,600 objects that all know each other."""
    nodes = [Cell(number) for number in range(1600)]
    for node in nodes:
        node.parts, node.tail = nodes, nodes[-1]
    return nodes[0]


def family() -> Any:
    root = Node("root", None)
    root.parts = [Node(name, None, root) for name in "ab"]
    return root


def its_own(container: Any, key: Any) -> Any:
    container[key] = container
    return container


DATA: dict[str, Callable[[], Any]] = {
    "dataclasses": lambda: chain(Node),
    "objects": lambda: chain(Cell),
    "slots": lambda: chain(Slots),
    "named tuples": lambda: chain(Named),
    "tuples": lambda: chain(lambda number, end: (number, end), ()),
    "lists": lambda: chain(lambda number, end: [number, end], []),
    "dicts": lambda: chain(lambda number, end: {"head": number, "tail": end}, {}),
    "ordered dicts": lambda: chain(lambda number, end: OrderedDict(head=number, tail=end)),
    "deques": lambda: chain(lambda number, end: deque([number, end])),
    "mixed": lambda: chain(lambda number, end: [Cell(number, {"tail": (end,)})], []),
    "arrays": lambda: chain(lambda number, end: [np.full(2, number), end], []),
    "linked dataclasses": lambda: linked(Node, is_ring=False),
    "linked objects": lambda: linked(Cell, is_ring=False),
    "ring of dataclasses": lambda: linked(Node, is_ring=True),
    "ring of objects": lambda: linked(Cell, is_ring=True),
    "acquainted": acquainted,
    "parent and children": family,
    "list in itself": lambda: its_own([1, 2], 1),
    "dict in itself": lambda: its_own({"head": 1}, "tail"),
    "object in itself": lambda: chain(lambda number, end: linked(Cell, is_ring=True), None, 1),
    "shared lists": lambda: chain(lambda number, end: [end, end], [1], 60),
    "shared tuples": lambda: chain(lambda number, end: (end, end), (1,), 60),
    "shared objects": lambda: chain(lambda number, end: Cell(end, end), None, 60),
    "shared dataclasses": lambda: chain(lambda number, end: Node(end, end), None, 60),
}


def head_of(data):
    if isinstance(data, dict):
        return data.get("head")
    return data.head if hasattr(data, "head") else data[0]


def untouched(data, n):
    return n * 2


def looked_at(data, n):
    return n, type(head_of(data)).__name__, bool(data)


def given_back(data, n):
    return [data, n]


def written(data, n):
    if isinstance(data, dict):
        data["head"] = n
    elif isinstance(data, (list, deque)):
        data[0] = n
    elif not isinstance(data, tuple):
        data.head = n
    return n


def walked(data, n):
    count = 0
    while data is not None and count < 2000:
        if isinstance(data, dict):
            data = data.get("tail")
        elif hasattr(data, "tail"):
            data = data.tail
        else:
            data = data[-1] if len(data) > 1 else None
        count += 1
    return count + n


FUNCTIONS = [untouched, looked_at, given_back, written, walked]


def results(stage: Any, function: Any, data: Any) -> list[Any]:
    """What a function does with the data as an argument, in a list, as an attribute, a closure variable, a default."""

    def of_attribute(holder, n):
        holder.before = n
        return function(holder.head, n)

    def of_closure(n):
        return function(data, n)

    def of_default(n, data=data):
        return function(data, n)

    staged = stage(function)
    found = [staged(data, 3), staged(data, 4), stage(of_attribute)(Cell(data), 3), stage(of_closure)(3)]
    found += [stage(of_default)(4), stage(lambda pair, n: function(pair[1], n))([data, data], 5)]
    return [[identity(part) for part in each] if type(each) in (list, tuple) else each for each in found]


def identity(part: Any) -> Any:
    return part if isinstance(part, (int, str)) else id(part)


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_data_of_any_depth(function: Any, kind: str) -> None:
    data = DATA[kind]()
    plain = results(lambda function: function, function, data)
    assert results(ag.function, function, data) == plain


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_an_object_that_knows_its_parent(engine: str) -> None:
    def count(node):
        node.head += 1

    root = family()
    root.head = 1
    staged = ag.function(count, engine=engine)
    staged(root)
    staged(root)
    assert root.head == 3 and root.parts[0].before is root


def test_what_is_far_away_is_written_to() -> None:
    def write(cell, steps, n):
        for _ in range(steps):
            cell = cell.tail
        cell.head += n
        return cell.head

    first, second = (chain(Cell, None, 12_000) for _ in range(2))
    staged = ag.function(write, static_argnames="steps")
    for steps in (11_990, 3, 11_000):
        assert staged(first, steps, 5) == write(second, steps, 5)
    assert shape(first) == shape(second)


def test_the_reason_is_told() -> None:
    staged = ag.function(walked)
    staged(linked(Cell, False), 1)
    assert "runs as plain Python: the objects around data.tail.tail.tail" in str(staged.explain(linked(Cell, False), 1))


# Data that the function makes -----------------------------------------------------------------------------------------


def tuples(n, x):
    made = ()
    for i in range(n):
        made = (i, made)
    return made


def tuples_of_staged(n, x):
    made = ()
    for i in range(n):
        made = (x + i, made)
    return made


def lists(n, x):
    made = []
    for _ in range(n):
        made = [x, made]
    return made


def dicts(n, x):
    made = {}
    for i in range(n):
        made = {"head": x * i, "tail": made}
    return made


def dataclasses(n, x):
    made = None
    for i in range(n):
        made = Node(x + i, made)
    return made


def objects(n, x):
    made = None
    for i in range(n):
        made = Cell(x + i, made)
    return made


def while_tuples(n, x):
    made, i = None, 0
    while i < n:
        made = (i, made)
        i += 1
    return made


def from_outside_in(n, x):
    rows = inner = []
    for _ in range(n):
        new = [x]
        inner.append(new)
        inner = new
    return rows


def ring(n, x):
    first = last = Cell(x)
    for i in range(n):
        last.tail = Cell(i)
        last = last.tail
    last.tail = first
    return first


def in_itself(n, x):
    made = [x]
    made.append(made)
    return made


def many_times_shared(n, x):
    made = (x,)
    for _ in range(min(n, 40)):
        made = (made, made)
    return made


def kept_in_an_object(n, x):
    cell = Cell(x)
    cell.head = lists(n, x)
    return cell.head[0] + x


MAKERS = [tuples, tuples_of_staged, lists, dicts, dataclasses, objects, while_tuples, from_outside_in, ring, in_itself,
          many_times_shared, kept_in_an_object]  # fmt: skip


@pytest.mark.parametrize("n", [3, 100, LONG])
@pytest.mark.parametrize("function", MAKERS)
def test_data_that_is_made(function: Any, n: int) -> None:
    staged = ag.function(function)
    assert shape(staged(n, 2)) == shape(staged(n, 2)) == shape(function(n, 2))
