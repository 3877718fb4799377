"""Methods, properties and operators of objects that only the graph knows: traced into, if they are these.

    for ball in balls:      # the graph gets the list `balls` as it is
        ball.move(dt)
        ball.place = ball.place + ball.speed * dt

If the balls of the traced call are of class `Ball`, the graph has an `if`. If the ball is a `Ball`, and `move` is still
that of the class, it does what `Ball.move` does; else, it calls `ball.move(dt)`. So it is right for all objects. An
operator, `len`, `in` and a call are treated like the special method that Python calls for them. An operator whose
method may return `NotImplemented` is left as it is.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from functools import cache, partial
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any, NamedTuple

from autograph.common.cpython_internals import reference_count, referents, referrers
from autograph.common.statics import class_attribute, reads_plainly
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Value, walk_blocks
from autograph.runtime.graph.object_model import is_users_object
from autograph.runtime.graph.traits import ELEMENTWISE, MAKES_OBJECTS, OVERLOADED, plain
from autograph.runtime.graph.types import ANY, TensorType
from autograph.runtime.ops.python.attributes import NAMES_OF_LAST, sets_by, special_method, takes_first
from autograph.runtime.ops.python.operators import BINARY
from autograph.runtime.tracing.calls.dispatch import Caller
from autograph.runtime.tracing.calls.graph_objects import given_away
from autograph.runtime.tracing.calls.stand_ins import Recorded
from autograph.runtime.tracing.calls.user_operators import checked_length, checked_truth
from autograph.runtime.tracing.control_flow.cond import NoState, stage_if
from autograph.runtime.tracing.control_flow.merge import Fixed
from autograph.runtime.tracing.control_flow.speculation import Checkpoint
from autograph.runtime.tracing.proxies.context import Objects
from autograph.runtime.tracing.proxies.graph_break import (
    NeedsConcrete,
    Plain,
    TooDeep,
    Unjoinable,
    Unstageable,
    handled,
)
from autograph.runtime.tracing.proxies.proxy import Tensor, is_tensor
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import PATCHED

_DEEP = 8       # methods within others
_STATEMENTS = frozenset({"__setitem__", "__delitem__", "__setattr__"})      # Python ignores their results
_SOLE = frozenset({"__getitem__", "__call__", "__neg__", "__pos__", "__invert__"})     # Python asks no other method
_CHECKED = {"__len__": checked_length, "__contains__": checked_truth}
# Signals of code that cannot be staged; then the graph calls it.
_CANNOT = (Plain, Unstageable, NeedsConcrete, Unjoinable, TooDeep)


class Member(NamedTuple):
    """A method, or the function of a property.

    Attributes:
        test: whether the object has it, in the graph.
        first: the first argument of the function; a static method gets none.
        operator: the name of a special method that an operator calls.
    """

    function: FunctionType
    test: Tensor
    first: tuple[Any, ...]
    operator: str = ""


class GuardedMethods(Objects):
    """See the module's documentation."""

    def __init__(self, trace: Trace, caller: Caller) -> None:
        self.trace = trace
        self.caller = caller
        self._methods: dict[Value, list[Member]] = {}    # by the value of `thing.name`
        self._refused: set[CodeType] = set()    # of functions that cannot be staged
        self._open: list[CodeType] = []

    def attribute(self, thing: Any, name: str) -> Any:
        read = partial(self.trace.record, "getattr", (thing, name))
        members = [*self._members(thing, name)]
        if any(is_property for _, is_property in members):
            return self._choose([member for member, is_property in members if is_property], (), {}, read)
        found = read()
        if members and is_tensor(found):
            self._methods[found._ag_value] = [member for member, _ in members]
        return found

    def set_attribute(self, thing: Any, name: str, value: Any) -> None:
        is_temporary = is_users_object(value) and self._is_temporary(value, (), "set_attribute")
        self._set_attribute(thing, name, value)
        if is_temporary:
            self.trace.context.materializer.forget(value)

    def _set_attribute(self, thing: Any, name: str, value: Any) -> None:
        members = []
        for kind in self._classes(thing):
            found = class_attribute(kind, name)
            member: Any = PATCHED.get(id(found), found)
            setter: Any = member.fset if type(member) is property and sets_by(kind, name, member) else None
            if self._may_inline(setter):
                test = self.trace.record("has_setter", (thing, name, Constant(kind), Constant(member)))
                members.append(Member(setter, test, (thing,), "__setattr__"))
        self._choose(members, (value,), {}, lambda: self.trace.record("setattr", (thing, name, value)))

    def call(self, found: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        members = self._methods.get(found._ag_value) or self._operators(found, "__call__")
        return self._choose(members, args, kwargs, lambda: found._ag_call(args, kwargs))

    def operator(self, trace: Trace, op: str, args: tuple[Any, ...]) -> Any:
        is_temporary = op in BINARY and is_users_object(args[1]) and self._is_temporary(args[1], args, "operator")
        record = partial(trace.record, op, args)
        first, *rest = reversed(args) if op in NAMES_OF_LAST else args
        members = self._operators(first, NAMES_OF_LAST.get(op, f"__{op}__"), *rest)
        if members or len(rest) != 1 or self._classes(first):
            found = self._choose(members, tuple(rest), {}, record)
            if is_temporary:
                trace.context.materializer.forget(args[1])
            return found
        return self._choose(self._operators(rest[0], f"__r{plain(op)}__", first), (first,), {}, record)

    def _is_temporary(self, value: Any, args: tuple[Any, ...], method: str) -> bool:
        """Whether an object that a method of this object got is one of traced code to which no variable refers."""
        name, known = id(value), [args, *self.trace.undo_log.noted(), *self.trace.context.registries()]
        held = sum(name in map(id, referents(each)) for each in {id(each): each for each in known}.values())
        return not weakref.getweakrefcount(value) and reference_count(value) - held == _references()[method]

    def sink(self, graph: Graph) -> None:
        """Read the methods of objects only where the graph calls them as unknown objects."""
        if not self._methods:
            return
        used = _uses(graph)
        for block in [*walk_blocks(graph.block)]:
            for at, node in enumerate(block.nodes):
                value = node.outputs[0] if node.outputs else None
                if value in self._methods:
                    tests = [member.test._ag_value for member in self._methods[value]]
                    if all(around.issuperset(tests) for around in used.get(value, ())):
                        block.nodes[at] = _unless(tests, node)

    def _members(self, thing: Any, name: str) -> Iterator[tuple[Member, bool]]:
        """The methods and properties of this name that an object probably has, and whether they are properties."""
        for kind in self._classes(thing):
            found = class_attribute(kind, name)
            member = PATCHED.get(id(found), found)
            is_property = type(member) is property
            is_bound = type(member) in (staticmethod, classmethod)
            function = member.fget if is_property else member.__func__ if is_bound else member
            if self._may_inline(function) and reads_plainly(kind):
                test = self.trace.record("has_member", (thing, name, Constant(kind), Constant(member)))
                first = () if type(member) is staticmethod else (kind if is_bound else thing,)
                yield Member(function, test, first), is_property

    def _operators(self, thing: Any, name: str, *others: Any) -> list[Member]:
        """The special methods of this name that Python probably calls for an object and perhaps another operand."""
        found = []
        for kind in self._classes(thing):
            member = special_method(kind, name)
            member = PATCHED.get(id(member), member)
            staged = [each for each in others[:1] if is_tensor(each)]
            is_first = staged or all(takes_first(kind, name, type(each)) for each in others[:1])
            if is_first and self._may_inline(member):
                args = thing, name, Constant(kind), Constant(member), *(staged or [0])
                found.append(Member(member, self.trace.record("has_operator", args), (thing,), name))
        return found

    def _classes(self, thing: Any) -> list[type]:
        """The classes that an object which only the graph knows probably has."""
        if not is_tensor(thing) or len(self._open) >= _DEEP:
            return []
        return self.trace.likely.classes(self.trace.use(thing))

    def _may_inline(self, function: Any) -> bool:
        """Whether a function is one of the user's that may be traced into, or calls itself and has a staged form."""
        if type(function) is not FunctionType or function.__code__ in self._refused:
            return False
        if function.__code__ in self._open:
            self.caller.recursion.call(function)
            return False
        replaced = self.caller.replacement(function)
        return type(replaced) is not Recorded or replaced.called is not None

    def _choose(
        self, members: list[Member], args: tuple[Any, ...], kwargs: dict[str, Any], otherwise: Callable[[], Any]
    ) -> Any:
        """Call the member that an object has, or do something else."""
        if not members:
            return otherwise()
        (function, test, first, operator), *rest = members
        go_on = partial(self._choose, rest, args, kwargs, otherwise)
        if function.__code__ in self._refused:
            return go_on()
        self._open.append(function.__code__)
        inlined = partial(self._inlined, function, (*first, *args), kwargs, operator)
        try:
            with Checkpoint(self.trace, NoState()) as checkpoint:
                try:
                    return stage_if(self.trace, test, inlined, go_on, NoState(), loose=False)
                except _CANNOT as signal:
                    handled(signal)
                    checkpoint.undo()
        finally:
            self._open.pop()
        self._refused.add(function.__code__)
        return go_on()

    def _inlined(self, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any], operator: str) -> Any:
        """The result of tracing into a function; refused if operators of user classes remain: Python is faster."""
        trace = self.trace
        block, begin = trace.block, len(trace.block.nodes)
        form = Fixed(self.caller.replacement(function)(*args, **kwargs))
        operations = [node for node in block.nodes[begin:] if node.op in ELEMENTWISE or node.op in OVERLOADED]
        if any(trace.likely.classes(value) for node in operations for value in node.inputs):
            trace.unstageable(f"{function.__qualname__} uses operators of classes of the user's")
        if operator in _STATEMENTS:
            return None
        if operator in _CHECKED:
            return _CHECKED[operator](trace, form.value)
        result = given_away(trace, form) if is_users_object(form.value) else form.value
        if operator and operator not in _SOLE and result is not args[0] and not _is_decided(result):
            trace.unstageable(f"{function.__qualname__} may return NotImplemented")
        return result


@cache
def _references() -> dict[str, int]:
    """The number of references by code to an operand, or a new attribute, of a proxy that is no variable, by method."""
    counts = {}

    class Counting(Objects):
        def operator(self, trace: Any, op: str, args: tuple[Any, ...]) -> Any:
            self.count(args[1], args, "operator")

        def set_attribute(self, thing: Any, name: str, value: Any) -> None:
            self.count(value, (), "set_attribute")

        def count(self, value: Any, args: tuple[Any, ...], method: str) -> None:
            """Like `_is_temporary`, whose frame refers to the object."""
            counts[method] = reference_count(value) - len(referrers(value))

    trace: Any = SimpleNamespace(context=SimpleNamespace(objects=Counting()))
    proxy: Any = Tensor(Value(ANY), trace)
    _ = proxy + SimpleNamespace()
    proxy.place = SimpleNamespace()
    return counts


def _is_decided(result: Any) -> bool:
    """Whether the result of a special method is known not to be `NotImplemented`, so that Python asks no other one."""
    value = result._ag_value if is_tensor(result) else result
    if not isinstance(value, Value):
        return value is not NotImplemented
    node = value.node
    if isinstance(value.type, TensorType) or node is None:
        return isinstance(value.type, TensorType)
    if node.op == "if":
        place = node.outputs.index(value)
        return all(_is_decided(block.results[place]) for block in node.blocks if block.results is not None)
    return node.op in MAKES_OBJECTS or node.op in ELEMENTWISE or node.op in OVERLOADED


def _uses(graph: Graph) -> dict[Value, list[set[Value]]]:
    """For each use of a value in a graph, the conditions of the `if`s in whose `else` it is."""
    found: dict[Value, list[set[Value]]] = {}

    def visit(block: Block, around: set[Value]) -> None:
        for node in block.nodes:
            for value in node.inputs:
                found.setdefault(value, []).append(around)
            for number, inner in enumerate(node.blocks):
                is_else = node.op == "if" and number == 1
                visit(inner, {*around, *node.inputs} if is_else else around)
        for value in block.result_values:
            found.setdefault(value, []).append(around)

    visit(graph.block, set())
    return found


def _unless(tests: list[Value], node: Node) -> Node:
    """A node that does what another one does if no test holds, and has its output; if one holds, that is None."""
    if not tests:
        return node
    made = Node("if", (tests[0],), None, (Block(), Block()), node.place)
    (output,) = node.outputs
    node.outputs = []
    inner = node.add_output(ANY, output.name)
    made.outputs, output.node = [output], made
    made.blocks[0].results = (None,)
    made.blocks[1].append(_unless(tests[1:], node))
    made.blocks[1].results = (inner,)
    return made
