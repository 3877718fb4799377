"""Escape analysis: new objects that only one value refers to at a time.

There is no need to make such an object as long as only its attributes are read: machine code has them as numbers
(scalar replacement). Where something else needs the object, the code makes it then, and from there on that value is the
object. So no other value must refer to it, which would get another object: a value goes on in one other value at most,
as a result of the block in which it is defined.
"""

from __future__ import annotations

from autograph.runtime.engines.native.analysis.structure import carried
from autograph.runtime.graph.graph import Block, Node, Value, values_in
from autograph.runtime.graph.traits import MAKES_OBJECTS


def unshared(root: Node) -> set[Value]:
    """The values of new objects in the blocks of a loop to which only one value refers at a time."""
    found = _Results(root)
    return {value for value in found.made if found.is_alone(value, set())}


class _Results:
    """Where the blocks of a loop pass on values.

    Attributes:
        made: the new objects.
    """

    def __init__(self, root: Node) -> None:
        self.made: list[Value] = []
        self._home: dict[Value, Block] = {}     # where a value is defined
        self._owners: dict[Block, Node] = {}
        self._uses: dict[Value, list[tuple[Block, int]]] = {}   # as results: of which block, and at which place
        self._visit(root)

    def _visit(self, node: Node) -> None:
        for block in node.blocks:
            self._owners[block] = node
            self._home.update(dict.fromkeys(block.params, block))
            for inner in block.nodes:
                self._home.update(dict.fromkeys(inner.outputs, block))
                if inner.op in MAKES_OBJECTS:
                    self.made += inner.outputs
                self._visit(inner)
            for place, each in enumerate(block.results or ()):
                for value in values_in(each):
                    self._uses.setdefault(value, []).append((block, place if each is value else -1))

    def is_alone(self, value: Value, seen: set[Value]) -> bool:
        """Whether nothing else refers to the object of a value, nor to the same object later."""
        seen.add(value)
        uses = self._uses.get(value, [])
        if not uses or value not in self._home:
            return True
        (block, place), *more = uses
        if more or place < 0 or block is not self._home[value]:
            return False
        following = _following(self._owners[block], block, place)
        return following is not None and all(each in seen or self.is_alone(each, seen) for each in following)


def _following(node: Node, block: Block, place: int) -> list[Value] | None:
    """The values that get a result of a block, one after the other; None if it decides whether a loop goes on."""
    if node.op == "if":
        return [node.outputs[place]]
    if node.op == "while" and block is node.blocks[0]:
        return None
    place -= bool(node.kwargs.get("until"))
    if place < 0:
        return None
    params = [carried(node)[place], *([node.blocks[1].params[place]] if node.op == "while" else [])]
    return [*params, node.outputs[place]]
