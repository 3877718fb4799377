"""The objects that values of the graph may be, as far as the arguments of the traced call tell.

    for ball in balls:      # the graph gets the list `balls` as it is
        ball.move(dt)       # which `move`?

The items of the list that this call gets tell of which class `ball` probably is. The graph has to check that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Any

from autograph.common.statics import compares_itself
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.object_model import is_open, parts_inside
from autograph.runtime.graph.traits import GIVES_PARTS, ON_ATTRIBUTE, ON_CONTAINER
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.undo_log import attributes

MOST = 64       # objects for a value, besides one of each other class
ALL = 1 << 14   # items of its containers that are looked at
CLASSES = 3     # of a value
_PLAIN = frozenset(map(id, (float, int, str, type(None), bool, complex, bytes)))


class LikelyObjects:
    """Objects of the traced call, by the values that may be these."""

    def __init__(self) -> None:
        self._of: dict[Value, list[Any]] = {}

    def classes(self, value: Value) -> list[type]:
        """The classes of the user's that a value is probably of; none if they are many."""
        found = [*{id(type(each)): type(each) for each in self.of(value)}.values()]     # whose hash may be the user's
        is_known = len(found) <= CLASSES and not any(map(compares_itself, found))
        return found if is_known and all(map(is_open, found)) else []

    def note(self, value: Value, things: Iterable[Any]) -> None:
        """Note that a value may be one of some objects."""
        self._of[value] = _some(things)

    def like(self, found: Value, thing: Any) -> Value:
        """A value, which is an object in the traced call."""
        if isinstance(found, Value):    # and no constant
            self.note(found, [thing])
        return found

    def note_items(self, item: Any, source: Any) -> None:
        """Note that a proxy, or a tuple of these, is an item of a value."""
        self._bind(item, _items(self.of(source)))

    def join(self, outputs: Sequence[Value], values: Iterable[Any]) -> None:
        """Note that a value of the graph, the only one among some outputs, is one of several on different paths."""
        for value in outputs if len(outputs) == 1 else ():
            self.note(value, [each for other in values if is_tensor(other) for each in self.of(other._ag_value)])

    def of(self, value: Any) -> list[Any]:
        """The objects that a value may be."""
        if not isinstance(value, Value):
            return []
        if value not in self._of:
            self._of[value] = []        # until it is known
            self.note(value, self._made_by(value.node, value) if value.node is not None else ())
        return self._of[value]

    def clear(self) -> None:
        """Let go of all objects."""
        self._of.clear()

    def _bind(self, item: Any, things: list[Any]) -> None:
        if is_tensor(item):
            self.note(item._ag_value, things)
            return
        for place, part in enumerate(item):
            self._bind(part, [each[place] for each in things if type(each) is tuple and len(each) > place])

    def _made_by(self, node: Node, value: Value) -> Iterable[Any]:
        """The objects that a node may return."""
        first = self.of(node.args[0]) if node.args else []
        if ON_ATTRIBUTE.get(node.op) == "get" and len(node.args) > 1:       # an object on use has none
            return self._attributes(first, node.args[1])
        if node.op in GIVES_PARTS:
            return first if type(node.args[-1]) is slice else _items(first)
        if node.op == "unpack":
            place = node.outputs.index(value)
            return [each[place] for each in first if type(each) in (list, tuple) and len(each) > place]
        made = ON_CONTAINER.get(node.op)
        if made == "enumerate":
            return [[*enumerate(_items(first))]]
        if made == "zip":
            return [[*zip(*[_items(self.of(arg)) or [None] * MOST for arg in node.args])]]
        return []

    def _attributes(self, things: list[Any], name: Any) -> Iterable[Any]:
        for thing in things:
            found: Any = attributes(thing).get(name) if is_open(type(thing)) else None
            if is_tensor(found):
                yield from self.of(found._ag_value)
            else:
                yield found


def _items(containers: list[Any]) -> list[Any]:
    sized = (thing for thing in containers if type(thing) in (list, tuple, dict))
    return [*islice(chain.from_iterable(map(parts_inside, sized)), ALL)]


def _some(things: Iterable[Any]) -> list[Any]:
    """Some of the objects that are neither numbers nor texts, among these one of each class."""
    things = [*things]
    if {*map(id, map(type, things))} <= _PLAIN:     # mostly; the hash of a class may be the user's
        return []
    things = [each for each in things if id(type(each)) not in _PLAIN]
    return [*things[:MOST], *{id(type(each)): each for each in things[MOST:]}.values()]
