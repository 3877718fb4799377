"""Methods and properties of objects that only the graph knows: traced into, under the condition that they are these.

    for ball in balls:      # the graph gets the list `balls` as it is
        ball.move(dt)

If the balls of the traced call are of class `Ball`, the graph has an `if`. If the ball is a `Ball`, and `move` is still
that of the class, it does what `Ball.move` does; else, it calls `ball.move(dt)`. So it is right for all objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from autograph.common.statics import class_attribute, reads_plainly
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Value, walk_blocks
from autograph.runtime.graph.traits import ELEMENTWISE, OVERLOADED
from autograph.runtime.graph.types import ANY
from autograph.runtime.tracing.calls.dispatch import Caller
from autograph.runtime.tracing.calls.stand_ins import Recorded
from autograph.runtime.tracing.control_flow.cond import NoState, stage_if
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
# Signals of code that cannot be staged; then the graph calls it.
_CANNOT = (Plain, Unstageable, NeedsConcrete, Unjoinable, TooDeep)


class Member(NamedTuple):
    """A method, or the function of a property.

    Attributes:
        test: whether the object has it, in the graph.
    """

    function: FunctionType
    test: Tensor


class GuardedMethods(Objects):
    """See the module's documentation."""

    def __init__(self, trace: Trace, caller: Caller) -> None:
        self.trace = trace
        self.caller = caller
        self._methods: dict[Value, tuple[Tensor, list[Member]]] = {}    # by the value of `thing.name`
        self._refused: set[CodeType] = set()    # of functions that cannot be staged
        self._open: list[CodeType] = []

    def attribute(self, thing: Any, name: str) -> Any:
        read = partial(self.trace.record, "getattr", (thing, name))
        members = [*self._members(thing, name)]
        if any(is_property for _, is_property in members):
            return self._choose([member for member, is_property in members if is_property], (thing,), {}, read)
        found = read()
        if members and is_tensor(found):
            self._methods[found._ag_value] = thing, [member for member, _ in members]
        return found

    def call(self, found: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        thing, members = self._methods.get(found._ag_value, (None, []))
        return self._choose(members, (thing, *args), kwargs, lambda: found._ag_call(args, kwargs))

    def sink(self, graph: Graph) -> None:
        """Read the methods of objects only where the graph calls them as unknown objects."""
        if not self._methods:
            return
        used = _uses(graph)
        for block in [*walk_blocks(graph.block)]:
            for at, node in enumerate(block.nodes):
                value = node.outputs[0] if node.outputs else None
                if value in self._methods:
                    tests = [member.test._ag_value for member in self._methods[value][1]]
                    if all(around.issuperset(tests) for around in used.get(value, ())):
                        block.nodes[at] = _unless(tests, node)

    def _members(self, thing: Any, name: str) -> Iterator[tuple[Member, bool]]:
        """The methods and properties of this name that an object probably has, and whether they are properties."""
        trace = self.trace
        for kind in trace.likely.classes(trace.use(thing)) if len(self._open) < _DEEP else ():
            found = class_attribute(kind, name)
            member = PATCHED.get(id(found), found)
            is_property = type(member) is property
            function = member.fget if is_property else member
            if type(function) is not FunctionType or not reads_plainly(kind):
                continue
            if function.__code__ in self._refused or function.__code__ in self._open:
                continue
            if type(self.caller.replacement(function)) is not Recorded:
                test = trace.record("has_member", (thing, name, Constant(kind), Constant(member)))
                yield Member(function, test), is_property

    def _choose(
        self, members: list[Member], args: tuple[Any, ...], kwargs: dict[str, Any], otherwise: Callable[[], Any]
    ) -> Any:
        """Call the member that the first argument has, or do something else."""
        if not members:
            return otherwise()
        (function, test), *rest = members
        go_on = partial(self._choose, rest, args, kwargs, otherwise)
        if function.__code__ in self._refused:
            return go_on()
        self._open.append(function.__code__)
        inlined = partial(self._inlined, function, args, kwargs)
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

    def _inlined(self, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of tracing into a function; refused if operators of user classes remain: Python is faster."""
        trace = self.trace
        block, begin = trace.block, len(trace.block.nodes)
        result = self.caller.replacement(function)(*args, **kwargs)
        operations = [node for node in block.nodes[begin:] if node.op in ELEMENTWISE or node.op in OVERLOADED]
        if any(trace.likely.classes(value) for node in operations for value in node.inputs):
            trace.unstageable(f"{function.__qualname__} uses operators of classes of the user's")
        return result


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
