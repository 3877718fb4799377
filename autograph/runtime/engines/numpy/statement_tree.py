"""A graph as statements, before its variables have names.

A plan is a tree of statements, which refer to values. A value is either *nested*: its expression stands where the
value is used, or it is what a variable holds at that time. What these variables are is decided afterwards, see
`liveness` and `coalescing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from autograph.runtime.graph.graph import Node, Value, gather


@dataclass(slots=True, eq=False)
class Compute:
    """`outputs = expression`, or the expression or statement that a node without outputs is."""

    node: Node
    outputs: list[Value]


@dataclass(slots=True, eq=False)
class Update:
    """`x += v`, or `x[i] += v` if there is an item: the node that gets it."""

    node: Node
    outputs: list[Value]
    item: Node | None = None


@dataclass(slots=True, eq=False)
class Copy:
    """`targets = sources`, all at once.

    Attributes:
        lasting: whether it is the last of its block, whose outcome the targets hold.
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
        before: statements of a `while` that come before its condition is asked, in each iteration.
        condition: of a `while`.
        iterable: of a `for`; `renamed` holds for it.
        items: what a `for` sets in each iteration.
        carried: for each variable that is carried: its init, those that hold it in test and body, and what comes out.
    """

    node: Node
    before: Body
    condition: Any
    iterable: Any
    items: list[Value]
    carried: list[list[Value]]
    body: Body
    renamed: dict[Value, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Break:
    """`if condition: break`; just `break` if the condition is True."""

    condition: Any
    node: Node
    renamed: dict[Value, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Return:
    result: Any


Statement: TypeAlias = "Compute | Update | Copy | If | Loop | Break | Return"
Body: TypeAlias = "list[Statement]"


@dataclass(slots=True, eq=False)
class Plan:
    """A whole program.

    Attributes:
        body: its statements.
        nested: the values whose expressions stand where they are used.
        aliases: values that are the same object as another, and which.
        choices: the `if` nodes that are expressions: `a if c else b`.
        joins: pairs of values that must be held by one variable.
    """

    params: list[Value]
    body: Body = field(default_factory=list)
    nested: set[Value] = field(default_factory=set)
    aliases: dict[Value, Value] = field(default_factory=dict)
    choices: dict[Node, tuple[Any, Any]] = field(default_factory=dict)
    joins: list[tuple[Value, Value]] = field(default_factory=list)

    def variables_in(self, args: Any) -> Iterator[Value]:
        """The values that variables hold when an argument is computed, in the order in which they are read."""
        stack = [args]
        while stack:
            values: list[Value] = []
            gather(stack.pop(), values)
            if len(values) == 1 and (value := self.aliases.get(values[0], values[0])) not in self.nested:
                yield value
                continue
            for value in reversed(values):
                value = self.aliases.get(value, value)
                if value not in self.nested:
                    stack.append(value)
                    continue
                node = value.node
                assert node is not None
                stack.append(self.choices.get(node, ()))
                stack.append(operands(node))


def operands(node: Node) -> Any:
    """The arguments of a node in the order in which Python evaluates them where it is written down."""
    if node.op == "setitem":
        x, index, value = node.args
        return value, x, index
    if node.op == "setattr":
        x, _, value = node.args
        return value, x
    if node.op == "for":
        return *node.args[1:], node.args[0]
    return node.args, node.kwargs
