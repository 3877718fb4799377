"""Random programs that make sense, and what can be seen of running one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from autograph.runtime.graph.graph import UNBOUND, Block, Graph, Node, Value
from autograph.runtime.graph.opdef import lookup
from autograph.runtime.graph.types import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NONE,
    MaybeUnbound,
    ObjectType,
    Type,
    array,
    covers,
    join,
    scalar,
    type_of,
)

VECTOR, INTS, MATRIX, SCALAR = array(float, 3), array(int, 4), array(float, 2, 3), scalar(float)
LONG, SOME, LIST = array(float, None), array(float, 2), ObjectType("list")
OPERATIONS = "add add sub mul mul lt eq not neg iadd imul np.add np.exp".split()
OPERANDS: list[tuple[Type, ...]] = [
    (INT,), (INT, BOOL), (FLOAT, INT), (FLOAT,), (SCALAR, FLOAT), (SCALAR,), (VECTOR,), (VECTOR,), (VECTOR, FLOAT),
    (INTS,), (INTS, INT), (LONG, VECTOR), (MATRIX, VECTOR),
]  # fmt: skip
METHODS = ".sum .copy np.sum T np.asarray .reshape len np.zeros_like shape .ravel real np.transpose".split()
PARAMS: dict[str, Type] = {
    "n": INT, "b": BOOL, "p": FLOAT, "s": SCALAR, "x": VECTOR, "y": VECTOR,
    "z": INTS, "m": MATRIX, "w": LONG, "xs": LIST,
}  # fmt: skip


BLOCKS = ("if", "while", "for")


class Log:
    """What a program does that can be seen at once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.kept: list[Any] = []

    def note(self, *args: Any) -> Any:
        """Take note of arguments, and give one back."""
        self.lines.append(repr(args))
        return args[0] if args else None

    def keep(self, arg: Any) -> None:
        self.kept.append(arg)

    def spoil(self, *args: Any) -> None:
        """Change whatever can be changed of what is known."""
        for arg in [*args, *self.kept]:
            if isinstance(arg, np.ndarray) and arg.size:
                arg.flat[0] += 1
            elif isinstance(arg, list):
                arg.append(0)


class Program:
    """Makes a graph. Nodes get the types that their ops say, so that nothing is known that is not so."""

    def __init__(self, random: Random, log: Log, size: int = 30) -> None:
        self.random = random
        self.log = log
        self.graph = Graph("f")
        self.size = size
        visible = [self.graph.block.add_param(type, name) for name, type in PARAMS.items()]
        self.fill(self.graph.block, visible, 2, size)
        if self.graph.block.results is not None:
            self.graph.block.results = (tuple(self.some(visible) for _ in range(15)),)

    # ----------------------------------------------------------------------------------------------- arguments

    def some(self, visible: list[Value], *types: Type, unbound: bool = False) -> Any:
        """A value, of one of some types, the latest rather than others; or a constant."""
        if not unbound:
            visible = [value for value in visible if not isinstance(value.type, MaybeUnbound)]
        fitting = [value for value in visible if not types or any(covers(type, value.type) for type in types)]
        fitting = fitting[-self.random.choice([3, 8, 100]) :]
        if fitting and (self.random.random() < 0.9 or not (types and types[0] in (INT, FLOAT, BOOL))):
            return self.random.choice(fitting)
        kind = types[0] if types else INT
        if kind == BOOL:
            return self.random.choice([True, False])
        return self.random.choice([0, 1, 2, 3]) if kind == INT else self.random.choice([0.0, -0.0, 1.0, 2.5])

    def index(self, visible: list[Value]) -> Any:
        if self.random.random() < 0.1:
            return self.some(visible, INT)
        return self.random.choice([0, 1, -1, slice(1, None), slice(None, None, -1), slice(0, 2)])

    # --------------------------------------------------------------------------------------------------- nodes

    def fill(self, block: Block, visible: list[Value], depth: int, size: int) -> None:
        makers = [self.again] * 10 + [self.arithmetic] * 8 + [self.item] * 3 + [self.write] * 3 + [self.method] * 3
        makers += [self.object] * 2
        makers += [self.call] * 2 + ([self.branch, self.loop] * 2 if depth else [])
        makers += [self.random.choice(makers)] * 8
        for _ in range(self.random.randint(1, size)):
            visible.extend(self.random.choice(makers)(block, visible, depth))
        if depth < 2 and self.random.random() < 0.06:
            block.append(Node("raise", (ValueError("raised"),)))
            block.results = None

    def add(self, block: Block, op: str, *args: Any, **kwargs: Any) -> list[Value]:
        node = block.append(Node(op, args, kwargs))
        found = lookup(op).infer(*map(_as_type, args), **{key: _as_type(arg) for key, arg in kwargs.items()})
        for type in found if isinstance(found, list) else [found]:
            node.add_output(type)
        return node.outputs

    def arithmetic(self, block: Block, visible: list[Value], depth: int) -> list[Value]:
        group = self.random.choice(OPERANDS)
        a, b = self.some(visible, *group), self.some(visible, *group)
        if self.random.random() < 0.1:
            b = self.random.choice([0, 1])
        elif self.random.random() < 0.03:
            b = [b, self.some(visible, *group), 1]
        op = self.random.choice(OPERATIONS)
        if self.random.random() < 0.05:
            op = self.random.choice(["truediv", "floordiv", "and", "or"])
        if op == "not":
            return self.add(block, op, self.some(visible, BOOL, INT, FLOAT, SCALAR))
        if op in ("neg", "np.exp"):
            return self.add(block, op, a)
        if op == "np.add" and self.random.random() < 0.5:
            return self.add(block, op, a, b, out=self.some(visible, VECTOR))
        return self.add(block, op, a, b)

    def again(self, block: Block, visible: list[Value], depth: int) -> list[Value]:
        """The same once more, or the same operation on what it gave."""
        made = [value.node for value in visible if value.node is not None and value.node.op not in ("call", *BLOCKS)]
        if not made:
            return []
        node = self.random.choice(made[-self.random.choice([3, 8, 100]) :])
        args = node.args
        if self.random.random() < 0.2 and covers(_type(args[0]), node.outputs[0].type):
            args = (node.outputs[0], *args[1:])
        return self.add(block, node.op, *args, **node.kwargs)

    def item(self, block: Block, visible: list[Value], depth: int) -> list[Value]:
        return self.add(block, "getitem", self.some(visible, VECTOR, INTS, MATRIX, LONG, SOME), self.index(visible))

    def write(self, block: Block, visible: list[Value], depth: int) -> list[Value]:
        x, index = self.some(visible, VECTOR, LONG, SOME), self.index(visible)
        if not isinstance(index, slice) and self.random.random() < 0.9:
            index = self.random.choice([0, 1])
        block.append(Node("setitem", (x, index, self.some(visible, FLOAT, INT, SCALAR))))
        return []

    def method(self, block: Block, visible: list[Value], depth: int) -> list[Value]:
        x = self.some(visible, VECTOR, MATRIX, LONG, INTS)
        op = self.random.choice(METHODS)
        if self.random.random() < 0.1:
            return self.add(block, "np.stack", [x, x] if self.random.random() < 0.5 else (x, x))
        if op in ("T", "shape", "real"):
            return self.add(block, "getattr", x, op)
        return self.add(block, op, x, -1) if op == ".reshape" else self.add(block, op, x)

    def object(self, block: Block, visible: list[Value], depth: int) -> list[Value]:
        choice = self.random.randrange(6)
        if choice == 0:
            return self.add(block, "build", [self.some(visible), self.some(visible)])
        if choice == 1:
            return self.add(block, "build", (self.some(visible), self.some(visible, VECTOR)))
        if choice == 2:
            block.append(Node(".append", (self.some(visible, LIST), self.some(visible))))
            return []
        if choice == 3:
            return self.add(block, "getitem", self.some(visible, LIST), self.random.choice([0, -1]))
        if choice == 4:
            return self.add(block, "build", (self.some(visible), 3)) + self.add(
                block, "unpack", block.nodes[-1].output, 2
            )
        return self.add(block, "bound", self.some(visible, unbound=True), name="v")

    def call(self, block: Block, visible: list[Value], depth: int) -> list[Value]:
        function = self.random.choice([self.log.note, self.log.note, self.log.note, self.log.keep, self.log.spoil])
        types = () if function == self.log.note else (VECTOR, LONG, MATRIX)
        return self.add(block, "call", function, self.some(visible, *types))

    # -------------------------------------------------------------------------------------------------- blocks

    def branch(self, block: Block, visible: list[Value], depth: int) -> list[Value]:
        node = Node("if", (self.some(visible, BOOL, INT, FLOAT),), None, (Block(), Block()))
        inner = [list(visible), list(visible)]
        for each, here in zip(node.blocks, inner):
            self.fill(each, here, depth - 1, 5)
        if all(each.results is None for each in node.blocks):
            node.blocks[1].results = ()
            node.blocks[1].nodes.pop()
        results = [[], []]
        for _ in range(self.random.randint(0, 2)):
            pair = [self.some(here, unbound=True) for here in inner]
            if self.random.random() < 0.1:
                pair[self.random.randrange(2)] = UNBOUND
            types = [_type(arg) for each, arg in zip(node.blocks, pair) if each.results is not None]
            node.add_output(_joined(types))
            for found, arg in zip(results, pair):
                found.append(arg)
        for each, found in zip(node.blocks, results):
            if each.results is not None:
                each.results = tuple(found)
        block.append(node)
        return node.outputs

    def loop(self, block: Block, visible: list[Value], depth: int) -> list[Value]:
        """A loop; what it carries is of type object, unless its body only passes it on, or computes the same type."""
        body = Block()
        inits = [self.some(visible, unbound=True) for _ in range(self.random.randint(0, 2))]
        types = [self.random.choice([ANY, _type(init)]) for init in inits]
        types = [MaybeUnbound(ANY) if isinstance(_type(a), MaybeUnbound) else type for a, type in zip(inits, types)]
        count = self.random.choice([0, 1, 2, 3])
        kwargs: dict[str, Any] = {}
        if self.random.random() < 0.3:
            kwargs["until"] = True
        if self.random.random() < 0.5:
            node = self._while(body, inits, types, count, kwargs)
        else:
            iterable, item = self._iterable(block, visible, count)
            node = Node("for", (iterable, *inits), kwargs, (body,))
            body.add_param(item, "i")
        params = [body.add_param(type) for type in types]
        here = [*visible, *body.params]
        self.fill(body, here, depth - 1, 9)
        if body.results is not None:
            body.results = (
                *([self.some(here, BOOL)] if "until" in kwargs else []),
                *(self._next(here, type, param) for type, param in zip(types, params)),
            )
        self._count(node, body, count)
        for type in types:
            node.add_output(type)
        block.append(node)
        return node.outputs

    def _iterable(self, block: Block, visible: list[Value], count: int) -> tuple[Any, Type]:
        choice = self.random.randrange(4)
        if choice == 0:
            return range(count), INT
        if choice == 1:
            return self.add(block, "range", count)[0], INT
        if choice == 2:
            return self.some(visible, VECTOR), SCALAR
        return self.some(visible, MATRIX), VECTOR

    def _next(self, here: list[Value], type: Type, param: Value) -> Any:
        if self.random.random() < 0.2:
            return param
        return self.some(here, type, unbound=True) if any(covers(type, value.type) for value in here) else param

    def _while(self, body: Block, inits: list[Any], types: list[Type], count: int, kwargs: dict[str, Any]) -> Node:
        """A loop that counts its iterations."""
        test = Block()
        inits.insert(0, 0)
        types.insert(0, INT)
        number, *_ = [test.add_param(type) for type in types]
        test.results = (self.add(test, "lt", number, count)[0],)
        return Node("while", tuple(inits), kwargs, (test, body))

    def _count(self, node: Node, body: Block, count: int) -> None:
        if node.op == "while" and body.results is not None:
            at = int("until" in node.kwargs)
            (following,) = self.add(body, "add", body.params[0], 1)
            body.results = (*body.results[:at], following, *body.results[at + 1 :])


def _as_type(arg: Any) -> Any:
    if isinstance(arg, Value):
        return arg.type
    if isinstance(arg, (tuple, list)):
        return type(arg)(map(_as_type, arg))
    return arg


def _type(arg: Any) -> Type:
    if arg is UNBOUND:
        return MaybeUnbound(NONE)
    return arg.type if isinstance(arg, Value) else type_of(arg)


def _joined(types: list[Type]) -> Type:
    return join(types[0], types[-1])


# ------------------------------------------------------------------------------------------------------- outcomes


def inputs(random: Random) -> list[Any]:
    """Arguments for a program, some of which share memory."""
    memory = np.array([1.5, -0.0, 2.0, np.inf, 0.25, 3.0])
    x = memory[:3]
    y = random.choice([x, memory[2:5], memory[::2], np.array([4.0, 5.0, 6.0])])
    m = random.choice([memory.reshape(2, 3), np.ones((2, 3)), np.ones((3, 2)).T])
    numbers = [random.choice([0, 1, 1, 2, 2, 7]), random.random() < 0.5, random.choice([0.0, -0.0, 1.5])]
    return [*numbers, np.float64(2.5), x, y, np.arange(4), m, random.choice([memory, x, y]), [x, 1, [2]]]


def outcome(run: Callable[..., Any], log: Log, args: list[Any]) -> Any:
    """All that can be seen of a run: the result, what was raised, done and warned of; and what is the same as what."""
    log.lines.clear()
    log.kept.clear()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            ending = run(*args)
        except Exception as error:
            ending = (type(error), str(error))
    return _picture([ending, args, log.kept]), log.lines[:], {str(warning.message) for warning in warned}


def _picture(thing: Any) -> Any:
    """What something is, with objects numbered as they are met, and which arrays share memory."""
    numbers: dict[int, int] = {}
    arrays: list[Any] = []

    def see(part: Any) -> Any:
        if isinstance(part, (np.ndarray, list)):
            if id(part) in numbers:
                return numbers[id(part)]
            numbers[id(part)] = len(numbers)
        if isinstance(part, np.ndarray):
            arrays.append(part)
            return part.dtype.str, part.shape, part.strides, part.tobytes(), part.flags.writeable
        if isinstance(part, np.generic):
            return type(part), part.tobytes()
        if isinstance(part, (list, tuple)):
            return type(part), [see(inner) for inner in part]
        return type(part), repr(part)

    seen = see(thing)
    return seen, [[np.shares_memory(a, b) for a in arrays] for b in arrays]

