"""Store sinking: set attributes that a counted loop only computes with after the loop, not in each iteration.

    for(r, b.x):                            for(range(0, n, 4096), b.x):
      body(i, x):                             body(lo, x):
        y = x + h                               y = for(range(lo, min(lo + 4096, n)), x):
        b.x = y                   →               body(i, x'):
        -> y                                        y' = x' + h
                                                    -> y'
                                                b.x = y
                                                -> y

So the inner loop has numbers only, and can be machine code. Nothing else in it may raise, warn or have effects, so the
program could see the difference only from another thread or a signal handler. To these it looks as if the iterations
since the last store had not begun yet; hence the outer loop, which stores often. A short loop needs none.

The value of an attribute must be known throughout: it is read or set before the loop, and carried. An attribute that no
iteration sets gets the number that it has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from autograph.runtime.graph.effects import effect_of
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Value, walk
from autograph.runtime.graph.opdef import PURE, VIEW
from autograph.runtime.graph.traits import LOOP, MAKES_RANGES
from autograph.runtime.graph.types import INT, ObjectType, TensorType, type_of
from autograph.runtime.passes import dce
from autograph.runtime.passes.rewriter import Outcome, Rewriter, known_range
from autograph.runtime.passes.speculatable import is_quiet

STRIP = 1 << 12     # iterations from one store to the next
OF_LOOPS = 1 << 6   # the same, if there are loops in them


def run(graph: Graph) -> Outcome:
    """Move stores of attributes out of loops."""
    ops = {node.op for node in walk(graph.block)}
    if "setattr" not in ops or "for" not in ops:
        return Outcome()
    outcome = _Sinking().run(graph)
    if outcome.changed:
        dce.run(graph)      # the ranges of these loops
    return outcome


class _Sinking(Rewriter):
    def node(self, node: Node, block: Block) -> None:
        stores = _sinkable(node, block.nodes) if node.op == "for" else {}
        if not stores:
            super().node(node, block)
            return
        for store in stores:
            self.changed(f"the attribute {store.args[1]} is set after {_strip(node)} iterations", store.place)
        _move(node, stores, block)


def _inside(loop: Node) -> list[Node]:
    return [node for block in loop.blocks for node in walk(block)]


def _is_store(node: Node) -> bool:
    return node.op == "setattr"


def _place_of(store: Node) -> tuple[Any, str]:
    """The object and the attribute of a store or load."""
    thing, name = store.args[:2]
    return (id(thing.value) if isinstance(thing, Constant) else thing), name


def _sinkable(loop: Node, before: Sequence[Node]) -> dict[Node, int]:
    """For each attribute that a loop sets, a store to it, and which carried value it is.

    None if one of the stores, or another effect, must stay.
    """
    inside = _inside(loop)
    stores = {_place_of(node): node for node in inside if _is_store(node)}
    others = [node for node in inside if not _is_store(node)]
    if not stores or loop.kwargs.get("until") or not _is_counted(loop) or not all(map(_is_harmless, others)):
        return {}
    own = {value for node in inside for value in node.outputs} | {param for b in loop.blocks for param in b.params}
    found: dict[Node, int] = {}
    for place, store in stores.items():
        numbers = [each for each in _numbers(loop, place) if _holds(before, stores, place, loop.inits[each])]
        if store.args[0] in own or not numbers:
            return {}
        found[store] = numbers[0]
    return found


def _is_counted(loop: Node) -> bool:
    """Whether a loop counts from one integer of Python's to another."""
    made = loop.args[0].node if isinstance(loop.args[0], Value) else None
    return made is not None and made.op in MAKES_RANGES and len(made.args) < 3 and all(map(_is_int, made.args))


def _is_int(arg: Any) -> bool:
    return (arg.type if isinstance(arg, Value) else type_of(arg)) == INT


def _is_harmless(node: Node) -> bool:
    """Whether the program cannot tell if and when a node runs."""
    return (node.op in ("if", "for") or effect_of(node).kind in (PURE, VIEW)) and is_quiet(node)


def _numbers(loop: Node, place: Any) -> Iterator[int]:
    """Which of the carried values an attribute has after each iteration, if it has it before the first one."""
    body, count = loop.blocks[-1], len(loop.outputs)
    carried = zip(body.params[-count:], (body.results or ())[-count:], loop.outputs) if count else ()
    for number, (param, result, output) in enumerate(carried):
        if _is_number(output) and _after(body, place, param) is result:
            yield number


def _after(block: Block, place: Any, value: Any) -> Any:
    """The value of an attribute at the end of a block; None if it is unknown."""
    for node in block.nodes:
        if _is_store(node) and _place_of(node) == place:
            value = node.args[2]
        elif any(_is_store(each) and _place_of(each) == place for each in _inside(node)):
            value = _behind(node, place, value)
    return value if isinstance(value, Value) else None


def _behind(node: Node, place: Any, value: Any) -> Any:
    """The value of an attribute behind an `if` or loop that sets it."""
    if node.op == "if":
        ends = [_after(block, place, value) for block in node.blocks]
        if None in ends:
            return None
        found = (out for out, *results in zip(node.outputs, *(b.results or () for b in node.blocks)) if results == ends)
        return next(found, None)
    return next((node.outputs[number] for number in _numbers(node, place) if node.inits[number] is value), None)


def _holds(before: Sequence[Node], places: Collection[Any], place: Any, value: Any) -> bool:
    """Whether an attribute has a value behind some nodes, as one of these reads or sets it.

    Args:
        places: the attributes that are known to be those of plain objects if this holds for all of them.
    """
    things = {thing for thing, _ in places}
    for node in reversed(before):
        for each in (node, *_inside(node)):
            is_access = each.op in ("getattr", "setattr") and len(each.args) == 2 + _is_store(each)
            if is_access and _place_of(each) == place:
                return each is node and value is (node.args[2] if _is_store(node) else node.output)
            is_plain = is_access and (_is_number(each.output) if each.outputs else _place_of(each)[0] in things)
            if effect_of(each).wild and not is_plain:
                return False
    return False


def _is_number(value: Value) -> bool:
    """Whether a value is a number of Python's: so is no attribute that code of the user's computes."""
    return isinstance(value.type, TensorType) and value.type.exact and value.type.kind == "python"


def _strip(loop: Node) -> int:
    return OF_LOOPS if any(node.op in LOOP for node in _inside(loop)) else STRIP


def _move(loop: Node, stores: dict[Node, int], block: Block) -> None:
    """Append a loop, and the stores behind it, to a block; a long loop within one that has the stores."""
    known, strip = known_range(loop.args[0]), _strip(loop)
    _drop_stores(loop.blocks[0])
    if known is None or len(known) > strip:
        block = _split(loop, block, strip)
    block.append(loop)
    for store, number in stores.items():
        block.append(Node("setattr", (*store.args[:2], loop.outputs[number]), place=store.place))


def _split(loop: Node, block: Block, strip: int) -> Block:
    """Append a loop over strips of the iterations of `loop`, which belongs into its body. Returns that."""
    made, place, outputs, kind = loop.args[0].node, loop.place, loop.outputs, ObjectType("range", (INT,))
    start, stop = made.args if len(made.args) == 2 else (0, made.args[0])
    starts = block.append(Node("range", (start, stop, strip), place=place)).add_output(kind)
    body = Block()
    outer = block.append(Node("for", (starts, *loop.inits), {"target": 0}, (body,), place))
    low = body.add_param(INT)
    end = body.append(Node("add", (low, strip), place=place)).add_output(INT)
    high = body.append(Node("min", (end, stop), place=place)).add_output(INT)
    part = body.append(Node("range", (low, high), place=place)).add_output(kind)
    loop.args = (part, *(body.add_param(output.type, output.name) for output in outputs))
    outer.outputs, loop.outputs = outputs, []
    for output in outputs:
        output.node = outer
    body.results = tuple(loop.add_output(output.type, output.name) for output in outputs)
    return body


def _drop_stores(block: Block) -> None:
    block.nodes = [node for node in block.nodes if not _is_store(node)]
    for node in block.nodes:
        for inner in node.blocks:
            _drop_stores(inner)
