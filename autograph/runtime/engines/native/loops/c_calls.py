"""Calls of C functions in place of Python callbacks: of Python's C API, and of methods and functions written in C.

A call of such a function takes some ten nanoseconds, a Python callback some hundred. An exception is raised at the
user's line (`raise_if`); or the code is left before the node if a function fails that has done nothing (`leave_if`),
and Python does it again. Subclasses are left to Python, and so are operations that may run code of the user's, such as
comparing items that are no numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from autograph.common.cpython_internals import CLASS, LIST_ITEMS, SIZE, TUPLE_ITEMS
from autograph.runtime.engines.native.analysis.structure import Point
from autograph.runtime.engines.native.llvm.ir import FALSE, I64, PTR, TRUE, Value
from autograph.runtime.engines.native.loops.iterators import raise_again
from autograph.runtime.engines.native.loops.lists import at_node
from autograph.runtime.engines.native.loops.python_calls import PythonCalls
from autograph.runtime.engines.native.loops.result_speculation import UNKNOWN
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.operands import Boxed, Fixed, Given, NoLowering, Number
from autograph.runtime.graph.types import BOOL, INT

PLAIN = (int, float, bool, str)    # classes of objects that are hashed and compared without code of the user's


# Operands -------------------------------------------------------------------------------------------------------------


def class_of_operand(operand: Any) -> type | None:
    """The class of an object, if it is known."""
    if isinstance(operand, (Boxed, Given)):
        return operand.of if isinstance(operand.of, type) else None
    return type(operand.value) if isinstance(operand, Fixed) else None


def integer(calls: PythonCalls, operand: Any) -> Number:
    """An operand that is an integer."""
    found = calls.flow.operand(operand)
    if not isinstance(found, Number) or found.type != INT:
        raise NoLowering
    return found


def is_plain(operand: Any) -> bool:
    """Whether an object is hashed and compared without code of the user's, as numbers, texts and tuples of them are."""
    if isinstance(operand, tuple):
        return all(map(is_plain, operand))
    return isinstance(operand, Number) or class_of_operand(operand) in (str, type(None))


def may_be_plain(operand: Any) -> bool:
    """Whether an object is plain, or is a tuple or an object of unknown class, which may be."""
    if isinstance(operand, tuple):
        return all(map(may_be_plain, operand))
    return is_plain(operand) or (isinstance(operand, (Boxed, Given)) and class_of_operand(operand) in (tuple, None))


def plain_at_run_time(calls: PythonCalls, operand: Any) -> Value | None:
    """Whether an operand is plain, if only its class or items tell, at which the code looks; None if it always is."""
    if not may_be_plain(operand):
        raise NoLowering
    if is_plain(operand):
        return None
    if isinstance(operand, tuple):
        found = [plain_at_run_time(calls, each) for each in operand]
        return reduce(calls.flow.emit.b.and_, [each for each in found if each is not None])
    ref, _ = calls.object(operand)
    return are_plain(calls, ref) if class_of_operand(operand) is tuple else is_plain_object(calls, ref)


def is_plain_object(calls: PythonCalls, thing: Value) -> Value:
    """Whether an object of unknown class is plain."""
    b, objects = calls.flow.emit.b, calls.flow.emit.objects
    kind = objects.load_at(PTR, thing, CLASS)
    is_tuple = b.icmp("eq", kind, objects.address(tuple))
    found = b.if_else(is_tuple, lambda: are_plain(calls, thing), lambda: is_plain_class(calls, kind))
    assert found is not None
    return found


def are_plain(calls: PythonCalls, thing: Value, is_list: bool = False) -> Value:
    """Whether all items of a tuple or list are plain objects, and no tuples."""
    b, objects = calls.flow.emit.b, calls.flow.emit.objects
    items = objects.load_at(PTR, thing, LIST_ITEMS) if is_list else b.gep(thing, TUPLE_ITEMS)
    with b.loop(0, objects.load_at(I64, thing, SIZE), carried=[TRUE]) as loop:
        kind = objects.load_at(PTR, b.load(PTR, b.gep(items, loop.index, PTR)), CLASS)
        loop.carry(b.and_(loop.carried[0], is_plain_class(calls, kind)))
    return loop.results[0]


def are_numbers(calls: PythonCalls, thing: Value) -> Value:
    """Whether all items of a list are Python's numbers, so that to compare or add them runs no code of the user's."""
    b, objects = calls.flow.emit.b, calls.flow.emit.objects
    items, classes = objects.load_at(PTR, thing, LIST_ITEMS), [objects.address(kind) for kind in (int, float, bool)]
    with b.loop(0, objects.load_at(I64, thing, SIZE), carried=[FALSE]) as loop:
        kind = objects.load_at(PTR, b.load(PTR, b.gep(items, loop.index, PTR)), CLASS)
        is_other = [b.icmp("ne", kind, each) for each in classes]
        loop.carry(b.or_(loop.carried[0], b.and_(b.and_(is_other[0], is_other[1]), is_other[2])))
    return b.xor(loop.results[0], TRUE)


def is_plain_class(calls: PythonCalls, kind: Value) -> Value:
    """Whether a class is one of plain objects, and not tuple."""
    b = calls.flow.emit.b
    found: Value = FALSE
    for each in PLAIN:
        found = b.or_(found, b.icmp("eq", kind, calls.flow.emit.objects.address(each)))
    return found


# Calls ----------------------------------------------------------------------------------------------------------------


def call(calls: PythonCalls, name: str, *args: Any) -> Value:
    """Call a function of the C API; operands become objects."""
    return _with_objects(calls, args, lambda refs: calls.flow.emit.objects.python(name, *refs))


def call_object(calls: PythonCalls, function: Any, *args: Any) -> Value:
    """Call a method or function written in C. Returns a new reference, or null for an exception."""
    objects = calls.flow.emit.objects
    return _with_objects(calls, args, lambda refs: objects.call(objects.address(function), refs))


def called(calls: PythonCalls, node: Node, function: Any, *args: Any) -> Value:
    """A new reference to the result of a function, whose exception is raised at the line of a node."""
    found = call_object(calls, function, *args)
    raise_if(calls, node, calls.flow.emit.b.is_null(found))
    return found


def _with_objects(calls: PythonCalls, args: Sequence[Any], function: Callable[[list[Any]], Value]) -> Value:
    made, refs = [], []
    for arg in args:
        if not isinstance(arg, (Value, int)):
            ref, is_new = calls.object(arg)
            made += [ref] * is_new
            arg = ref
        refs.append(arg)
    found = function(refs)
    for ref in made:
        calls.flow.emit.objects.forget(ref)
    return found


def leave_if(calls: PythonCalls, failed: Value) -> None:
    """Leave to the node, which Python does again, if a function has failed."""
    emit = calls.flow.emit

    def give_up() -> None:
        emit.objects.python("PyErr_Clear")
        emit.jump(emit.leave())

    emit.stop_if(Number(BOOL, failed), give_up)


def raise_if(calls: PythonCalls, node: Node, failed: Value) -> None:
    """Raise the exception of a function at the line of a node, if the function has failed."""
    calls.flow.emit.stop_if(Number(BOOL, failed), lambda: raise_again(calls, node))


# Results --------------------------------------------------------------------------------------------------------------


def give(calls: PythonCalls, node: Node, found: Value, kind: type | None = None) -> bool:
    """Define the output of a node, a new reference; the code is left behind the node if it is not as expected."""
    flow, at = calls.flow, at_node(calls, node)
    behind = Point(at.block, at.place + 1)
    if not node.outputs or node.output not in flow.structure.live(behind):
        flow.emit.objects.forget(found)
        return True
    value = node.output
    flow.define(value, Boxed(found, kind))
    flow.own((value, ()), found)
    flow.resume_from(behind)
    if kind is None and calls.expect(value, value.type) != UNKNOWN:
        calls.take([value], at.block)
    return True


def give_truth(calls: PythonCalls, node: Node, found: Value) -> bool:
    """Define the output of a node: a truth value that a function returns, or -1 for an exception."""
    b = calls.flow.emit.b
    raise_if(calls, node, b.icmp("slt", found, 0))
    calls.flow.define(node.output, Number(BOOL, b.icmp("ne", found, 0)))
    return True


def give_none(calls: PythonCalls, node: Node) -> bool:
    """Define the output of a node: None."""
    for none in node.outputs:
        calls.flow.define(none, Fixed(None))
    return True


def made(calls: PythonCalls, node: Node, kind: type | None, name: str, *args: Any) -> bool:
    """Define the output of a node: a new object that a function of the C API returns, or null."""
    calls.flow.resume_from(at_node(calls, node))
    found = call(calls, name, *args)
    raise_if(calls, node, calls.flow.emit.b.is_null(found))
    return give(calls, node, found, kind)


def if_plain(calls: PythonCalls, node: Node, plain: Value | None, direct: Callable[[], Value]) -> Value:
    """A new reference that `direct` gives if operands are plain; otherwise Python runs the node."""
    if plain is None:
        return direct()
    found = calls.flow.emit.b.if_else(plain, direct, lambda: calls.fall_back(node))
    assert found is not None
    return found


def change(calls: PythonCalls, node: Node, key: Any, direct: Callable[[], Value]) -> None:
    """Change a container by a function that returns -1 if it fails; Python runs the node if a key is not plain."""
    plain = plain_at_run_time(calls, key)

    def try_it() -> None:
        raise_if(calls, node, calls.flow.emit.b.icmp("slt", direct(), 0))

    if plain is None:
        try_it()
    else:
        calls.flow.emit.b.if_else(plain, try_it, lambda: calls.flow.emit.objects.forget(calls.fall_back(node)))
