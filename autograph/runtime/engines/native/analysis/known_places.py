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

from autograph.runtime.engines.native.llvm.ir import Value as Register
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.operands import Boxed


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
    """What the code knows of objects at a point.

    Attributes:
        node: the last node behind which this holds, although that has an effect.
        lookup: the last lookup in a dict or set, see `dicts_and_sets`.
        attributes: by the register of the object, and the name.
    """

    node: Node | None = None
    lookup: Any = None
    attributes: Mapping[tuple[Register, str], Attribute] = field(default_factory=dict)

    def attribute(self, thing: Register, name: str, places: list[Any]) -> Attribute | None:
        """What is known of an attribute, if all classes that the object may be of are among those of `places`."""
        found = self.attributes.get((thing, name))
        return found if found is not None and all(each in places for each in found.places) else None

    def with_attribute(self, thing: Register, name: str, found: Attribute) -> Known:
        """The same, with an attribute that was read."""
        return replace(self, attributes={**self.attributes, (thing, name): found})

    def behind(self, node: Node) -> Known:
        """The same, behind a node with an effect that changes none of this."""
        return replace(self, node=node)

    def stored(self, node: Node, thing: Register, name: str, found: Attribute) -> Known:
        """What is known behind a node that has stored a number in an attribute, and moved nothing."""
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
