"""A graph as statements, before its variables have names.

A plan is a tree of statements, which refer to values. A value is either *nested*: its expression is where the value is
used; or it is in a variable at that time. Afterwards, `coalescing` chooses the variables, by `liveness`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from autograph.runtime.graph.graph import Node, Value, values_in


@dataclass(slots=True, eq=False)
class Compute:
    """`outputs = expression`, or the expression or statement that a node without outputs is."""

    node: Node
    outputs: list[Value]


@dataclass(slots=True, eq=False)
class Update:
    """`x += v`; or `x[i] += v`, if `item` is the node that gets the item."""

    node: Node
    outputs: list[Value]
    item: Node | None = None


@dataclass(slots=True, eq=False)
class Copy:
    """`targets = sources`, all at once.

    Attributes:
        lasting: whether it is the last of its block, so that the targets are the results of the block.
    """

    targets: list[Value]
    sources: list[Any]
    node: Node | None
    lasting: bool = False


@dataclass(slots=True, eq=False)
class If:
    node: Node
    test: Any
    then: Body
    orelse: Body


@dataclass(slots=True, eq=False)
class Loop:
    """`while` or `for`.

    Attributes:
        before: statements of a `while` that precede its condition, in each iteration.
        condition: of a `while`.
        iterable: of a `for`; `renamed` applies to it.
        items: the values that a `for` sets in each iteration.
        unpacked: the node that unpacks an item to these, if the item has no other use: `for a, b in pairs`. So Python
            can use the same tuple for all items of a dict.
        carried: for each carried variable: its init, its values in test and body, and its output.
    """

    node: Node
    before: Body
    condition: Any
    iterable: Any
    items: list[Value]
    carried: list[list[Value]]
    body: Body
    renamed: dict[Value, Value] = field(default_factory=dict)
    unpacked: Node | None = None


@dataclass(slots=True, eq=False)
class Break:
    """`if condition: break`; just `break` if the condition is True."""

    condition: Any
    node: Node
    renamed: dict[Value, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Return:
    result: Any


@dataclass(slots=True, eq=False)
class Delete:
    """`del` of the variables of values that are no longer used, after a statement of `node`."""

    node: Node | None
    values: list[Value]


Statement: TypeAlias = "Compute | Update | Copy | If | Loop | Break | Return | Delete"
Body: TypeAlias = "list[Statement]"


@dataclass(slots=True, eq=False)
class Plan:
    """A whole program.

    Attributes:
        body: its statements.
        nested: the values whose expressions are where they are used.
        aliases: for values that are the same object as another one, that other one.
        choices: the `if` nodes that are expressions, `a if c else b`, with `a` and `b`.
        joins: pairs of values that must share a variable.
    """

    params: list[Value]
    body: Body = field(default_factory=list)
    nested: set[Value] = field(default_factory=set)
    aliases: dict[Value, Value] = field(default_factory=dict)
    choices: dict[Node, tuple[Any, Any]] = field(default_factory=dict)
    joins: list[tuple[Value, Value]] = field(default_factory=list)

    def variables_in(self, args: Any) -> Iterator[Value]:
        """The values of variables that are read when an argument is computed, in order."""
        stack = [args]
        while stack:
            values = values_in(stack.pop())
            if len(values) == 1 and (value := self.aliases.get(values[0], values[0])) not in self.nested:
                yield value
                continue
            for value in reversed(values):
                value = self.aliases.get(value, value)
                stack += reversed(self.parts(value.node)) if value in self.nested else [value]

    def parts(self, node: Any) -> tuple[Any, Any]:
        """The arguments of the expression of a node: its operands, and the branches of a choice."""
        return operands(node), self.choices.get(node, ())


def operands(node: Node) -> Any:
    """The arguments of a node in the order in which Python evaluates them in its statement or expression."""
    if node.op == "setitem":
        x, index, value = node.args
        return value, x, index
    if node.op == "setattr":
        x, _, value = node.args
        return value, x
    if node.op == "for":
        return *node.args[1:], node.args[0]
    return node.args, node.kwargs
