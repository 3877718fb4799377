"""Objects that only the graph knows, as items of a deque, and that traced code may know by another name.

Each program is made of a container, a way to take an item from it, a change, and a construct around them.
"""

from __future__ import annotations

import collections
import copy
import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag


class Held:
    def __init__(self) -> None:
        self.value = 0
        self.row = [0, 0, 0]
        self.table = {"k": 0}
        self.array = np.zeros(3)

    def set(self, n: int) -> None:
        self.value = self.row[1] = self.table["k"] = self.array[1] = n

    @property
    def doubled(self) -> int:
        return 2 * self.value

    @doubled.setter
    def doubled(self, n: int) -> None:
        self.value = n // 2


class Plan(list):  # type: ignore[type-arg]
    def execute(self, n: int) -> None:
        for held in self:
            held.set(n)


CONTAINERS: dict[str, Callable[[Any], Any]] = {
    "deque": lambda thing: collections.deque([thing]),
    "subclass": lambda thing: Plan([thing]),
    "UserList": lambda thing: collections.UserList([thing]),
    "long": lambda thing: [thing] + [copy.deepcopy(thing) for _ in range(299)],
    "nested": lambda thing: collections.deque([[thing]]),
}
ITEMS = {
    "index": "c = p[0]",
    "for": "for c in p:\n            break",
    "next": "c = next(iter(p))",
    "unpack": "c, *_ = p",
    "list": "c = list(p)[0]",
    "reversed": "c = list(reversed(list(p)))[-1]",
    "pop": "c = p.pop(); p.append(c)",
    "function": "c = first(p)",
}
OF_OBJECTS = {
    "attribute": ("c.value = n", "v.value"),
    "augmented": ("c.value += n", "v.value"),
    "setattr": ("setattr(c, 'value', n)", "v.value"),
    "namespace": ("c.__dict__['value'] = n", "v.value"),
    "item": ("c.row[1] = n", "v.row[1]"),
    "append": ("c.row.append(n)", "v.row[-1]"),
    "key": ("c.table['k'] = n", "v.table['k']"),
    "array": ("c.array[1] = n", "v.array[1]"),
    "method": ("c.set(n)", "v.value + v.row[1] + v.table['k'] + v.array[1]"),
    "bound": ("m = c.set; m(n)", "v.value"),
    "property": ("c.doubled = n", "v.value + v.doubled"),
}
OF_LISTS = {
    "item": ("c[1] = n", "v[1]"),
    "augmented": ("c[1] += n", "v[1]"),
    "append": ("c.append(n)", "v[-1]"),
    "extend": ("c += [n]", "v[-1]"),
}
AROUND = {
    "straight": "    if True:\n        {item}\n        {change}\n    return {read}",
    "branch": "    if n > 0:\n        {item}\n        {change}\n    return {read}",
    "loop": "    s = 0\n    for i in range(n):\n        {item}\n        {change}\n        s += {read}\n    return s",
}


def program(item: str, change: str, read: str, around: str, nested: bool) -> Callable[..., Any]:
    text = "def first(p):\n    for c in p:\n        return c\ndef f(v, p, n):\n"
    text += "    p = p[0]\n" * nested + around.format(item=item, change=change, read=read) + "\n"
    name = f"<unknown {abs(hash(text))}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    names: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, name, "exec"), names)
    f: Callable[..., Any] = names["f"]
    return f


def described(thing: Any) -> str:
    return repr(vars(thing)) if isinstance(thing, Held) else repr(thing)


def check(function: Callable[..., Any], make: Callable[[], Any], contain: Callable[[Any], Any], engine: str) -> None:
    staged = ag.function(function, engine=engine)
    for n in (3, 4):
        outcomes = []
        for each in (function, staged):
            thing = make()
            outcomes.append((repr(each(thing, contain(thing), n)), described(thing)))
        assert outcomes[0] == outcomes[1]


CHANGES = [(Held, *each) for each in OF_OBJECTS.items()] + [(list, *each) for each in OF_LISTS.items()]
CASES = [  # each change with each container, and ways to take an item and constructs in turn
    (contain, item, make, change, around)
    for ((contain, (make, name, change)), item, around) in zip(
        itertools.product(CONTAINERS, CHANGES), itertools.cycle(ITEMS), itertools.cycle(AROUND)
    )
]


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("contain, item, make, change, around", CASES)
def test_changes_show_under_other_names(
    contain: str, item: str, make: Any, change: tuple[str, str], around: str, engine: str
) -> None:
    function = program(ITEMS[item], *change, AROUND[around], contain == "nested")
    check(function, Held if make is Held else lambda: [0, 0, 0], CONTAINERS[contain], engine)


@pytest.mark.parametrize("item", ITEMS)
@pytest.mark.parametrize("contain", CONTAINERS)
def test_changes_by_name_show_in_containers(contain: str, item: str) -> None:
    function = program(ITEMS[item], "v.value += n", "c.value", AROUND["loop"], contain == "nested")
    check(function, Held, CONTAINERS[contain], "numpy")


def execute(held: Held, plan: Plan, n: int) -> Any:
    plan.execute(n)
    return held.value


def test_a_method_of_an_opaque_object() -> None:
    check(execute, Held, lambda held: Plan([held]), "numpy")


class Named:
    def __init__(self, name: str, row: list[int]) -> None:
        self.name, self.row = name, row


def other_attributes(one: Any, queue: Any, n: int) -> Any:
    for each in queue:
        each.value = n
    return one.name


def own_lists(queue: Any, row: list[int], n: int) -> Any:
    found = list(queue)
    found.append(n)
    mine = [row[0]]
    mine.append(n)
    return found, mine


def test_what_cannot_be_known_is_staged() -> None:
    for engine in ("numpy", "native"):
        staged = ag.function(other_attributes, strict=("plain",), engine=engine)
        queue = collections.deque([Held(), Held()])
        assert staged(Named("a", [1]), queue, 3) == "a"
        assert [each.value for each in queue] == [3, 3]
        lists = ag.function(own_lists, strict=("plain",), engine=engine)
        assert lists(collections.deque([1, 2]), [5], 3) == ([1, 2, 3], [5, 3])


def renamed_by_a_branch(v, n, x):
    rows, others = [[0.0]], [[1.0]]
    chosen = rows if x > 0 else others
    chosen[0] = v
    rows[0][0] = n
    return v[0]


@pytest.mark.parametrize("x", [1.0, -1.0])
def test_a_container_of_the_graph_that_has_another_name(x):
    for n in (5.0, 6.0):
        assert ag.function(renamed_by_a_branch)([2.0], n, x) == renamed_by_a_branch([2.0], n, x)


ROW = [1]


@ag.do_not_convert
def shown() -> list[list[int]]:
    return [ROW]


def changed_where_it_is_returned_too(n: int) -> Any:
    for found in shown():
        found.append(n)
    return ROW[0], ROW[-1], len(ROW), ROW


def an_item_is_set(n: int) -> Any:
    for found in shown():
        found[0] = n
    return ROW[0], ROW


def another_way_to_it(n: int) -> Any:
    (found,) = shown()
    found += [n]
    return len(ROW), ROW


@pytest.mark.parametrize("function", [changed_where_it_is_returned_too, an_item_is_set, another_way_to_it])
def test_a_global_that_code_which_is_not_staged_gives_back(function: Callable[[int], Any]) -> None:
    found = []
    for call in (function, ag.function(function)):
        ROW[:] = [1]
        found.append([str(call(n)) for n in (5, 6, 7)])
    assert found[0] == found[1]


class Cell:
    """Its items are one attribute."""

    def __init__(self) -> None:
        self.x = 1.0

    def __setitem__(self, index: int, value: float) -> None:
        self.x = value

    def __iadd__(self, other: float) -> "Cell":
        self.x += other
        return self


def set_items(n: int, rows: list[Any], cell: Any) -> Any:
    for k in range(n):
        rows[k % 3][1] = k + cell.x
    return cell.x


def add_in_place(n: int, rows: list[Any], cell: Any) -> Any:
    for k in range(n):
        rows[k % 3] += k + cell.x
    return cell.x


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("function, item", [(set_items, [1.0, 2.0]), (add_in_place, 1.0)])
@pytest.mark.parametrize("length", [4, 100])
def test_methods_that_set_items_change_attributes(function: Any, item: Any, length: int, engine: str) -> None:
    for order in ((False, True), (True, False), (True, True)):
        staged = ag.function(function, engine=engine)
        for shared in order:
            found = []
            for each in (staged, function):
                cell = Cell()
                rows = [cell if shared and not i else copy.copy(item) for i in range(length)]
                found.append((each(7, rows, cell), cell.x, rows[1:]))
            assert found[0] == found[1]
