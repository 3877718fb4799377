"""Programs as graphs: drawn at random, and run by an interpreter that knows nothing of the engine.

Everything in them can be seen: `log` tells the order in which things happen, lists are changed in place and shared,
indices are out of range and divisors zero.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from autograph.runtime.graph.graph import UNBOUND, Block, Graph, Node, Value, map_args
from autograph.runtime.graph.types import ANY, BOOL, INT, ObjectType, inexact

LIST = ObjectType("list")
NUMBER = inexact(INT)       # which may be a bool
NAMES = ["", "", "", "n", "n", "x", "total", "i", "log"]
LOG: list[Any] = []


def log(*args: Any) -> Any:
    """Something that can be seen."""
    LOG.append(repr(args))
    return len(LOG) + sum(arg for arg in args if isinstance(arg, int))


# ------------------------------------------------------------------------------------------------------ interpreter


class Break(Exception):
    pass


def interpret(graph: Graph, *args: Any) -> Any:
    """What a graph computes."""
    values = dict(zip(graph.params, args))
    run(graph.block, values)
    return evaluate(graph.block.results[0], values)


def run(block: Block, values: dict[Value, Any]) -> None:
    for node in block.nodes:
        results = OPS[node.op](node, values) if node.op in OPS else simple(node, values)
        values.update(zip(node.outputs, results))


def evaluate(args: Any, values: dict[Value, Any]) -> Any:
    return map_args(lambda leaf: values[leaf] if isinstance(leaf, Value) else leaf, args)


def simple(node: Node, values: dict[Value, Any]) -> list[Any]:
    function = FUNCTIONS.get(node.op) or getattr(operator, node.op, None) or getattr(operator, f"{node.op}_")
    args = evaluate(node.args, values)
    if node.op.startswith("i") and not node.outputs:
        raise AssertionError(node)
    return [function(*args, **evaluate(node.kwargs, values))]


def run_if(node: Node, values: dict[Value, Any]) -> list[Any]:
    block = node.blocks[0 if evaluate(node.args[0], values) else 1]
    run(block, values)
    return list(evaluate(block.results, values))


def run_while(node: Node, values: dict[Value, Any]) -> list[Any]:
    carried = list(evaluate(node.args, values))
    test, body = node.blocks
    while True:
        values.update(zip(test.params, carried))
        run(test, values)
        if not evaluate(test.results[0], values):
            return carried
        stop, carried = iteration(node, body, carried, values)
        if stop:
            return carried


def run_for(node: Node, values: dict[Value, Any]) -> list[Any]:
    iterable, *carried = evaluate(node.args, values)
    for item in iterable:
        stop, carried = iteration(node, node.blocks[0], [item, *carried], values)
        if stop:
            break
    return carried


def iteration(node: Node, body: Block, args: list[Any], values: dict[Value, Any]) -> tuple[bool, list[Any]]:
    values.update(zip(body.params, args))
    run(body, values)
    stop, *carried = [False, *evaluate(body.results, values)] if "until" not in node.kwargs else evaluate(
        body.results, values
    )
    return bool(stop), carried


def run_raise(node: Node, values: dict[Value, Any]) -> list[Any]:
    raise evaluate(node.args[0], values)


def run_bound(node: Node, values: dict[Value, Any]) -> list[Any]:
    found = evaluate(node.args[0], values)
    if found is UNBOUND:
        raise UnboundLocalError(node.kwargs["name"])
    return [found]


def run_fstring(node: Node, values: dict[Value, Any]) -> list[Any]:
    return ["".join(part if isinstance(part, str) else format(evaluate(part[0], values)) for part in node.args)]


def run_unpack(node: Node, values: dict[Value, Any]) -> list[Any]:
    first, second = evaluate(node.args[0], values)
    return [first, second]


OPS: dict[str, Callable[[Node, dict[Value, Any]], list[Any]]] = {
    "if": run_if,
    "while": run_while,
    "for": run_for,
    "raise": run_raise,
    "bound": run_bound,
    "fstring": run_fstring,
    "unpack": run_unpack,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "call": lambda function, *args, **kwargs: function(*args, **kwargs),
    "build": lambda structure: structure,
    "in": lambda element, container: element in container,
    ".append": lambda x, value: x.append(value),
    ".count": lambda x, value: x.count(value),
    "len": len,
    "range": range,
}


# ---------------------------------------------------------------------------------------------------------- drawing


class Builder:
    """Draws a program. Values are known to be numbers, lists, or anything at all."""

    def __init__(self, random: Any) -> None:
        self.random = random
        self.room = 45

    def chance(self, *weights: Any) -> Any:
        return self.random.choice(weights)

    def graph(self) -> Graph:
        graph = Graph("program")
        visible = [graph.block.add_param(INT, "n"), graph.block.add_param(INT, self.name())]
        visible.append(graph.block.add_param(LIST, "x"))
        self.fill(graph.block, visible, 3)
        graph.block.results = (tuple(self.any(visible) for _ in range(self.random.randint(1, 4))),)
        return graph

    def name(self) -> str:
        return str(self.random.choice(NAMES))

    def fill(self, block: Block, visible: list[Value], depth: int) -> None:
        for _ in range(self.random.randint(0, 7 if depth == 3 else 4)):
            if self.room <= 0:
                return
            self.room -= 1
            kinds = [self.operation] * 5 + [self.effect] * 3 + [self.in_place] * 2
            if depth:
                kinds += [self.if_, self.if_, self.while_, self.for_, self.logical]
            self.random.choice(kinds)(block, visible, depth)

    # values

    def number(self, visible: list[Value]) -> Any:
        """Mostly one of the last."""
        found = [value for value in visible if value.type in (INT, NUMBER, BOOL)]
        if self.random.random() < 0.15 or not found:
            return self.random.randint(-2, 3)
        return found[-1 - min(int(self.random.random() ** 2 * len(found)), len(found) - 1)]

    def list(self, visible: list[Value]) -> Any:
        return self.random.choice([value for value in visible if value.type == LIST])

    def any(self, visible: list[Value]) -> Any:
        return self.number(visible) if self.random.random() < 0.75 else self.random.choice(visible)

    def add(
        self, block: Block, visible: list[Value], op: str, args: tuple[Any, ...], type: Any, **kwargs: Any
    ) -> Value:
        value = block.append(Node(op, args, kwargs)).add_output(type, self.name() if self.chance(0, 0, 1) else "")
        visible.append(value)
        return value

    # nodes

    def operation(self, block: Block, visible: list[Value], depth: int) -> None:
        number, any_list = self.number, self.list
        op = self.chance("add", "sub", "mul", "floordiv", "getitem", "lt", "eq", "neg", "not", "fstring", "len", "in")
        if op == "getitem":
            self.add(block, visible, op, (any_list(visible), number(visible)), ANY)
        elif op == "fstring":
            self.add(block, visible, op, ("{", (self.any(visible), "", ""), (number(visible), "", "")), ANY)
        elif op in ("neg", "not"):
            self.add(block, visible, op, (number(visible),), BOOL if op == "not" else INT)
        elif op == "len":
            self.add(block, visible, op, (any_list(visible),), INT)
        elif op == "in":
            self.add(block, visible, op, (number(visible), any_list(visible)), BOOL)
        else:
            self.add(block, visible, op, (number(visible), number(visible)), BOOL if op in ("lt", "eq") else INT)

    def effect(self, block: Block, visible: list[Value], depth: int) -> None:
        kind = self.chance("log", "log", "log", "set", "append", "build", "unpack", "bound", "raise", "count")
        if kind == "log":
            self.add(block, visible, "call", (log, *(self.any(visible) for _ in range(self.chance(1, 2)))), INT)
        elif kind == "set":
            block.append(Node("setitem", (self.list(visible), self.number(visible), self.number(visible))))
        elif kind == "append":
            block.append(Node(".append", (self.list(visible), self.number(visible))))
        elif kind == "count":
            self.add(block, visible, ".count", (self.list(visible), self.number(visible)), INT)
        elif kind == "build":
            self.add(block, visible, "build", ([self.number(visible), self.number(visible)],), LIST)
        elif kind == "unpack":
            node = block.append(Node("unpack", (self.list(visible), 2)))
            visible += [node.add_output(ANY, self.name()), node.add_output(ANY)]
        elif kind == "bound":
            self.add(block, visible, "bound", (self.number(visible),), NUMBER, name="n")
        elif depth < 3 and self.chance(0, 0, 1):
            error = block.append(Node("call", (ValueError, self.number(visible)))).add_output(ANY)
            raising = Block()
            raising.append(Node("raise", (error,)))
            raising.results = None
            blocks = (raising, Block()) if self.chance(0, 1) else (Block(), raising)
            block.append(Node("if", (self.number(visible),), None, blocks))

    def in_place(self, block: Block, visible: list[Value], depth: int) -> None:
        kind = self.chance("number", "list", "item", "item", "item")
        if kind == "number":
            self.add(block, visible, self.chance("iadd", "isub"), (self.number(visible), self.number(visible)), INT)
        elif kind == "list":
            self.add(block, visible, "iadd", (self.list(visible), [self.number(visible)]), LIST)
        else:
            x = self.list(visible)
            index = self.add(block, visible, "add", (self.number(visible), 1), INT) if self.chance(0, 1) else 0
            got = block.append(Node("getitem", (x, index))).add_output(ANY)
            if self.chance(0, 0, 1):
                self.effect(block, visible, depth)
            added = self.number(visible)
            if self.chance(0, 1):
                added = self.add(block, visible, "call", (log, added), INT)
            done = block.append(Node("iadd", (got, added))).add_output(ANY)
            block.append(Node("setitem", (x, index, done)))
            if self.chance(0, 0, 1):
                visible.append(self.chance(got, done))

    def outputs(self, node: Node, visible: list[Value], count: int) -> None:
        visible += [node.add_output(NUMBER, self.name()) for _ in range(count)]

    def if_(self, block: Block, visible: list[Value], depth: int) -> None:
        node = Node("if", (self.number(visible),), None, (Block(), Block()))
        count = self.random.randint(0, 3)
        for branch in node.blocks:
            inside = list(visible)
            self.fill(branch, inside, depth - 1)
            branch.results = tuple(self.number(inside) for _ in range(count))
        block.append(node)
        self.outputs(node, visible, count)

    def logical(self, block: Block, visible: list[Value], depth: int) -> None:
        """`a and b`, `a or b`, `b if a else c`."""
        test = self.number(visible)
        node = Node("if", (test,), None, (Block(), Block()))
        for branch in node.blocks:
            inside = list(visible)
            if self.chance(0, 1):
                self.effect(branch, inside, 3)
            branch.results = (self.chance(test, self.number(inside), True, False),)
        block.append(node)
        visible.append(node.add_output(NUMBER))

    def carried(self, block: Block, visible: list[Value], depth: int, inits: list[Any]) -> list[Value]:
        """Fill the body of a loop but for its results; gives what is visible at its end."""
        inside = list(visible)
        inside += [block.add_param(NUMBER, self.name()) for _ in inits]
        self.fill(block, inside, depth - 1)
        return inside

    def while_(self, block: Block, visible: list[Value], depth: int) -> None:
        inits = [0, *(self.number(visible) for _ in range(self.random.randint(0, 3)))]
        test, body = Block(), Block()
        inside = self.carried(test, visible, 1, inits)
        limit = test.append(Node("lt", (test.params[0], self.random.randint(0, 3)))).add_output(BOOL)
        test.results = (limit,)
        if self.chance(0, 1):
            both = Node("if", (limit,), None, (Block(), Block()))
            both.blocks[0].results, both.blocks[1].results = (self.number(inside),), (limit,)
            test.append(both)
            test.results = (both.add_output(NUMBER),)
        inside = self.carried(body, visible, depth, inits)
        count = body.append(Node("add", (body.params[0], 1))).add_output(INT, self.name())
        self.loop(Node("while", tuple(inits), None, (test, body)), [count], inside, block, visible)

    def for_(self, block: Block, visible: list[Value], depth: int) -> None:
        inits = [self.number(visible) for _ in range(self.random.randint(0, 3))]
        iterable = block.append(Node("range", (self.random.randint(0, 4),))).add_output(ANY)
        body = Block()
        item = body.add_param(INT, self.name())
        inside = self.carried(body, [*visible, item], depth, inits)
        self.loop(Node("for", (iterable, *inits), {"target": 0}, (body,)), [], inside, block, visible)

    def loop(self, node: Node, results: list[Any], inside: list[Value], block: Block, visible: list[Value]) -> None:
        body = node.blocks[-1]
        count = len(node.args) - (node.op == "for")
        stop: list[Any] = []
        if self.chance(0, 1):
            node.kwargs["until"] = True
            stop = [self.number(inside)]
            if self.chance(0, 1):
                stop = self.breaks(body, inside, results, count)
        while len(results) < count:
            results.append(self.number(inside))
        body.results = (*stop, *results)
        block.append(node)
        self.outputs(node, visible, count)

    def breaks(self, body: Block, inside: list[Value], results: list[Any], count: int) -> list[Any]:
        """`if …: break`, as the last statement of the body."""
        node = body.append(Node("if", (self.number(inside),), None, (Block(), Block())))
        for branch, stop in zip(node.blocks, self.chance((True, False), (False, True), (True, self.number(inside)))):
            within = list(inside)
            self.fill(branch, within, self.chance(0, 1))
            branch.results = (stop, *(self.number(within) for _ in range(count)))
        stopped = node.add_output(NUMBER)
        new = [node.add_output(NUMBER, self.name()) for _ in range(count)]
        results += [self.chance(value, value, self.number(inside)) for value in new[len(results) :]]
        return [stopped]


@st.composite
def programs(draw: Any) -> Graph:
    """A program of two numbers and a list."""
    return Builder(draw(st.randoms(use_true_random=False))).graph()
