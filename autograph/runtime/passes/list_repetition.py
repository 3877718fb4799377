"""Lists of equal constants: repeat a list of one, instead of appending in a loop.

    xs = build([])
    for(range(n)):                      k = len(range(n))
      body(i):                 →        xs = [0] * k
        xs.append(0)

So `[[0 for _ in range(n)] for _ in range(m)]` costs what `[[0] * n for _ in range(m)]` costs. Either way, the items are
one object.
"""

from __future__ import annotations

from autograph.runtime.graph.graph import Block, Graph, Node, Value, used_by, walk
from autograph.runtime.graph.traits import MAKES_RANGES, ON_LIST
from autograph.runtime.graph.types import INT
from autograph.runtime.passes.rewriter import Outcome, Rewriter

_CONSTANTS = frozenset({int, float, complex, bool, str, type(None)})


def run(graph: Graph) -> Outcome:
    """Repeat lists of one constant."""
    if not any(node.op == "for" for node in walk(graph.block)):
        return Outcome()
    return _Repeating().run(graph)


class _Repeating(Rewriter):
    def node(self, node: Node, block: Block) -> None:
        append = _append_of(node)
        made = None if append is None else _new_list(append.args[0], block)
        if append is None or made is None:
            super().node(node, block)
            return
        count, repeated = Node("len", node.args, place=node.place), Node("mul", place=append.place)
        repeated.args = [append.args[1]], count.add_output(INT)
        block.nodes.remove(made)
        block.append(count)
        block.append(repeated)
        found = repeated.add_output(made.output.type, made.output.name)
        self.replace([made.output], [found], "the list is made by repetition", node.place)


def _append_of(loop: Node) -> Node | None:
    """The operation of a loop over a range that only appends a constant to a list, if it is one."""
    if loop.op != "for" or loop.outputs or len(loop.args) != 1 or loop.kwargs.get("until"):
        return None
    (items,), body = loop.args, loop.blocks[0]
    is_range = isinstance(items, Value) and items.node is not None and items.node.op in MAKES_RANGES
    if not is_range or len(body.nodes) != 1 or body.results is None:
        return None
    (node,) = body.nodes
    is_append = ON_LIST.get(node.op) == "append" and len(node.args) == 2 and not node.kwargs
    return node if is_append and type(node.args[1]) in _CONSTANTS else None


def _new_list(thing: object, block: Block) -> Node | None:
    """The node of a block that made an empty list, if nothing has used that list."""
    made = thing.node if isinstance(thing, Value) else None
    if made is None or made.op != "build" or made.args != ([],) or made not in block.nodes:
        return None
    later = block.nodes[block.nodes.index(made) + 1 :]
    inner = [each for node in later for inside in node.blocks for each in walk(inside)]
    return None if any(thing in used_by(each) for each in (*later, *inner)) else made
