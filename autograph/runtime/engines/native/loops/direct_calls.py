"""Calls of methods and functions written in C that have no routine of their own: `queue.popleft()`, `ch.isdigit()`.

The code calls the function itself, instead of a Python callback that does. It does so only if no code of the user's can
run: if the arguments are numbers, texts or tuples of these, or if the function does not look into its arguments.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

from autograph.common.cpython_internals import CLASS, LIST_ITEMS, SIZE
from autograph.runtime.engines.native.analysis.structure import Point
from autograph.runtime.engines.native.llvm.ir import I64, PTR, TRUE, Value
from autograph.runtime.engines.native.loops.c_calls import (
    are_plain,
    call_object,
    class_of_operand,
    give,
    if_plain,
    is_plain_class,
    may_be_plain,
    plain_at_run_time,
    raise_if,
)
from autograph.runtime.engines.native.loops.lists import at_node, stored
from autograph.runtime.engines.native.loops.python_calls import PythonCalls
from autograph.runtime.engines.native.loops.result_speculation import CLASSES
from autograph.runtime.engines.native.loops.searches import FUNCTIONS
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.opdef import OPS, ORDERED
from autograph.runtime.graph.operands import NoLowering, Range
from autograph.runtime.graph.traits import CHOOSES_BY, COMPARES_ITEMS, CONSUMES, INSERTS, SEARCHES, SHALLOW

_METHOD, _HEAPS = type(list.append), (heapq.heappush, heapq.heappop, heapq.heappushpop, heapq.heapreplace)
_KINDS = frozenset(CLASSES.values())


def call_directly(calls: PythonCalls, node: Node) -> bool:
    """Emit a node as such a call. Raises `NoLowering` if it is none."""
    args = calls.flow.args(node.args)
    if node.kwargs or not args or node.op in CHOOSES_BY:
        raise NoLowering
    first, *rest = args
    op = OPS.get(node.op)
    if op is not None and op.target is None and isinstance(first, BuiltinFunctionType):
        return _function(calls, node, first, rest)
    if node.op.startswith("."):
        kind = class_of_operand(first)
        method = getattr(kind, node.op[1:], None) if kind in _KINDS else None
        searches = node.op in SEARCHES or node.op in COMPARES_ITEMS
        if type(method) is not _METHOD or (searches and kind is not str):
            raise NoLowering
        return _called(calls, node, method, [first, *rest], rest)
    function = None if op is None or op.effect == ORDERED else op.target
    if not isinstance(function, (BuiltinFunctionType, type)) or function.__module__ != "builtins":
        raise NoLowering
    return _called(calls, node, function, args, args)


def _called(calls: PythonCalls, node: Node, function: Any, args: list[Any], seen: list[Any]) -> bool:
    """Call a function with some arguments, of which it looks at those that are `seen`."""
    args, seen = ([stored(calls, arg) for arg in each] for each in (args, seen))
    calls.flow.resume_from(at_node(calls, node))
    plain: Value | None = None
    for arg in () if node.op in INSERTS else seen:
        if not (node.op in SHALLOW and _is_container(arg)) and not _is_joined(node, args, arg):
            found = plain_at_run_time(calls, arg)
            plain = found if plain is None else plain if found is None else calls.flow.emit.b.and_(plain, found)
    return _give(calls, node, if_plain(calls, node, plain, lambda: _run(calls, node, function, args)))


def _run(calls: PythonCalls, node: Node, function: Any, args: list[Any]) -> Value:
    found = call_object(calls, function, *args)
    raise_if(calls, node, calls.flow.emit.b.is_null(found))
    return found


def _give(calls: PythonCalls, node: Node, found: Value) -> bool:
    """Define the output of a node; the function may have released an object, which may run code of the user's."""
    at = at_node(calls, node)
    give(calls, node, found)
    calls.flow.resume_from(Point(at.block, at.place + 1))
    calls.look_at_arrays()
    return True


def _is_container(operand: Any) -> bool:
    """Whether an object is a container whose iterator runs no code of the user's."""
    return isinstance(operand, Range) or class_of_operand(operand) in _KINDS


def _is_joined(node: Node, args: list[Any], operand: Any) -> bool:
    """Whether an operand is a list or tuple of texts, of which a text makes one."""
    return node.op in CONSUMES and class_of_operand(args[0]) is str and class_of_operand(operand) in (list, tuple)


# Functions of the standard library ------------------------------------------------------------------------------------


def _function(calls: PythonCalls, node: Node, function: Any, args: list[Any]) -> bool:
    """Emit the call of a function for a list, of numbers or a heap."""
    if not args or class_of_operand(args[0]) is not list:
        raise NoLowering
    routine: Callable[..., bool] | None = FUNCTIONS.get(function)
    if routine is not None and len(args) == 2:
        return routine(calls, node, *args)
    if function not in _HEAPS or not all(map(may_be_plain, args[1:])):
        raise NoLowering
    heap, *items = [stored(calls, arg) for arg in args]
    calls.flow.resume_from(at_node(calls, node))
    plain = _begins_plainly(calls, heap.ref)
    for item in items:
        found = plain_at_run_time(calls, item)
        plain = plain if found is None else calls.flow.emit.b.and_(plain, found)
    return _give(calls, node, if_plain(calls, node, plain, lambda: _run(calls, node, function, [heap, *items])))


def _begins_plainly(calls: PythonCalls, heap: Value) -> Value:
    """Whether the first item of a heap, if there is one, is plain; then the others are taken to be so, too."""
    b, objects = calls.flow.emit.b, calls.flow.emit.objects

    def look() -> Value:
        item = b.load(PTR, objects.load_at(PTR, heap, LIST_ITEMS))
        kind = objects.load_at(PTR, item, CLASS)
        is_tuple = b.icmp("eq", kind, objects.address(tuple))
        found = b.if_else(is_tuple, lambda: are_plain(calls, item), lambda: is_plain_class(calls, kind))
        assert found is not None
        return found

    found = b.if_else(b.icmp("eq", objects.load_at(I64, heap, SIZE), 0), lambda: TRUE, look)
    assert found is not None
    return found
