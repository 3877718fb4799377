"""Random items of lists, tuples and strings: `random.choice(xs)` and `random.shuffle(xs)`, also of a `random.Random`.

The code draws as Python does, from the state of the generator, see `emit/draws.py`. It takes no side exit between the
draw and the end of the node, since Python would draw again.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from autograph.common.cpython_internals import LIST_ITEMS, TUPLE_ITEMS
from autograph.runtime.engines.native.analysis.structure import Point
from autograph.runtime.engines.native.llvm.ir import PTR
from autograph.runtime.engines.native.loops.c_calls import class_of_operand, give
from autograph.runtime.engines.native.loops.containers import is_table, table
from autograph.runtime.engines.native.loops.lists import at_node, is_list, length
from autograph.runtime.engines.native.loops.python_calls import PythonCalls
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.operands import Boxed, Fixed
from autograph.runtime.graph.traits import DRAWS_ITEMS
from autograph.runtime.graph.types import INT


def _owner_and(args: tuple[Any, ...]) -> tuple[Any, Any]:
    """The generator, and the argument of its method; `random.choice` is a method of a generator of the module."""
    return args if len(args) == 2 else (getattr(random.random, "__self__", None), *args)


def _choice(calls: PythonCalls, node: Node, *args: Any) -> bool:
    """`random.choice(xs)`"""
    emit, (owner, thing) = calls.flow.emit, _owner_and(args)
    if type(thing) in (list, tuple, str):       # the items of a string of ASCII are always the same objects
        thing = table(calls, node, tuple(thing))
    calls.flow.resume_from(at_node(calls, node))
    state, (ref, _) = emit.draws.python(owner, in_c=False), calls.object(thing)
    count = length(calls, Boxed(ref))
    emit.leave_if(emit.compare("eq", count, emit.constant(0, INT)))
    is_of_list = class_of_operand(thing) is list
    items = emit.objects.load_at(PTR, ref, LIST_ITEMS) if is_of_list else emit.b.gep(ref, TUPLE_ITEMS)
    item = emit.b.load(PTR, emit.b.gep(items, emit.draws.below(state, count).ref, PTR))
    return give(calls, node, emit.objects.another(item))


def _has_items(thing: Any) -> bool:
    is_constant = thing.isascii() if type(thing) is str else type(thing) in (list, tuple) and is_table(thing)
    return is_constant or class_of_operand(thing) in (list, tuple)


def _shuffle(calls: PythonCalls, node: Node, *args: Any) -> bool:
    """`random.shuffle(xs)` of a list, which keeps its items, and so runs no code of the user's."""
    emit, (owner, thing), at = calls.flow.emit, _owner_and(args), at_node(calls, node)
    calls.flow.resume_from(at)
    state, count = emit.draws.python(owner, in_c=False), length(calls, thing)
    emit.draws.shuffle_at(state, emit.objects.load_at(PTR, thing.ref, LIST_ITEMS), count, 8)
    for none in node.outputs:
        calls.flow.define(none, Fixed(None))
    calls.flow.resume_from(Point(at.block, at.place + 1))
    return True


_ROUTINES: dict[str, tuple[Callable[..., bool], Callable[..., bool]]] = {
    "choice": (_choice, _has_items), "shuffle": (_shuffle, is_list),
}  # fmt: skip


def on_random_items(node: Node, args: Any) -> Callable[..., bool] | None:
    """The routine that emits a node that draws items of a container of Python's, if it does."""
    routine, takes = _ROUTINES.get(DRAWS_ITEMS.get(node.op, ""), (None, None))
    return routine if takes is not None and not node.kwargs and takes(_owner_and(args)[-1]) else None
