"""Where attributes and items are, as machine code has found before.

Once the code has found an attribute of an object, it needs neither check the class again nor look for the attribute
again, until something may move it: code of the user's, or the release of an object. It also knows the value that it has
read or stored there, until it stores something that may be the same attribute under another name of the object. The
code still stores each value in its place, so that a side exit finds the objects as Python would have left them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from autograph.runtime.engines.native.analysis.structure import Point
from autograph.runtime.engines.native.llvm.ir import Value as Register
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.operands import Boxed, Given, Number
from autograph.runtime.graph.types import BOOL


class Attribute(NamedTuple):
    """An attribute of an object.

    Attributes:
        address: where it is.
        owner: the dict that knows of it, or null.
        places: the classes that the object may be of, and where these have it.
        value: the operand of its value, if that is known.
    """

    address: Register
    owner: Register
    places: list[Any]
    value: Any = None

    @property
    def slots(self) -> set[int]:
        """The offsets of its slots."""
        return {place.slot for _, place in self.places if place.slot}


@dataclass(frozen=True, slots=True)
class Known:
    """Facts about objects that hold at a point of the code.

    Attributes:
        node: the last node behind which this holds, although that has an effect.
        lookup: the last lookup in a dict or set, see `dicts_and_sets`.
        attributes: by the register of the object, and the name.
    """

    node: Node | None = None
    lookup: Any = None
    attributes: Mapping[tuple[Register, str], Attribute] = field(default_factory=dict)

    def attribute(self, thing: Register, name: str, places: list[Any]) -> Attribute | None:
        """The facts about an attribute, if all classes that the object may be of are among those of `places`."""
        found = self.attributes.get((thing, name))
        return found if found is not None and all(each in places for each in found.places) else None

    def with_attribute(self, thing: Register, name: str, found: Attribute) -> Known:
        """The same, with an attribute that was read."""
        return replace(self, attributes={**self.attributes, (thing, name): found})

    def behind(self, node: Node) -> Known:
        """The same, behind a node with an effect that changes none of this."""
        return replace(self, node=node)

    def stored(self, node: Node, thing: Register, name: str, found: Attribute) -> Known:
        """The facts that hold behind a node that has stored a number in an attribute, and moved nothing."""
        others = {
            key: each._replace(value=None) if key[1] == name or each.slots & found.slots else each
            for key, each in self.attributes.items()
        }
        return replace(self, node=node, attributes={**others, (thing, name): found})

    def refers_to(self, thing: Register) -> bool:
        """Whether an attribute refers to an object, so that this stays when another reference is released."""
        values = [each.value for each in self.attributes.values()]
        return any(isinstance(each, Boxed) and each.ref is thing for each in values)


NOTHING = Known()


class Meeting:
    """Facts that hold at a point on all paths that lead there.

    Paths come before the code of the point is emitted, or else must know as much. Flags that have the same value on all
    paths, such as `break_`, stay constants.

    Attributes:
        flags: the operands of truth values that are constants.
        things: the registers of objects.
        attributes: of these objects, by their value or register, and the name.
    """

    def __init__(self) -> None:
        self.flags: dict[Any, Number] = {}
        self.things: dict[Any, Boxed] = {}
        self.attributes: dict[tuple[Any, str], Attribute] = {}
        self._is_emitted = False

    @staticmethod
    def of(at: Any, live: Mapping[Any, Any], known: Known, inputs: Mapping[Value, Any]) -> Meeting:
        """The facts of a path; none at the head of a loop, where later iterations come from.

        Args:
            live: the operands of the values that are live there.
            inputs: those of values from outside.
        """
        found = Meeting()
        if type(at) is not Point:
            return found
        found.flags = {key: each for key, each in live.items() if _is_flag(each)}
        if not known.attributes:
            return found
        given = {each.ref: each.ref for each in inputs.values() if isinstance(each, Given)}
        boxed = {each.ref: key for key, each in live.items() if isinstance(each, Boxed)}
        for (thing, name), each in known.attributes.items():
            key = given.get(thing) or boxed.get(thing)
            if key is not None:
                found.attributes[key, name] = each
        found.things = {key: live[key] for key, _ in found.attributes if key in live}
        return found

    def takes(self, path: Meeting) -> bool:
        """Whether a path may lead here, which then is known to do so."""
        flags = {key: each for key, each in self.flags.items() if _same_flag(each, path.flags.get(key))}
        things = {key: each for key, each in self.things.items() if _same_thing(each, path.things.get(key))}
        attributes = {}
        for place, each in self.attributes.items():
            other = path.attributes.get(place)
            if other is None or other.address is not each.address or (place[0] in self.things) != (place[0] in things):
                continue
            attributes[place] = each if other is each else each._replace(value=None)
        if self._is_emitted:
            return (flags, things, attributes) == (self.flags, self.things, self.attributes)
        self.flags, self.things, self.attributes = flags, things, attributes
        return True

    def begin(self, state: Any) -> None:
        """Add the facts to the state of the code at the point."""
        self._is_emitted = True
        state.env.update(self.flags)
        state.env.update(self.things)
        state.owned.update({(key, ()): each.ref for key, each in self.things.items()})
        registers = {key: each.ref for key, each in self.things.items()}
        attributes = {(registers.get(key, key), name): each for (key, name), each in self.attributes.items()}
        state.known = Known(attributes=attributes)


def _is_flag(operand: Any) -> bool:
    return type(operand) is Number and operand.type == BOOL and operand.known is not None


def _same_flag(one: Number, other: Number | None) -> bool:
    return other is not None and one.known == other.known


def _same_thing(one: Boxed, other: Boxed | None) -> bool:
    return other is not None and one.ref is other.ref
