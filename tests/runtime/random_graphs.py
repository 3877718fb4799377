"""Graphs made by hypothesis: well-formed, but of everything that can stand in one, and otherwise without sense."""

from __future__ import annotations

import collections
import datetime
import enum
import math

import numpy as np
from hypothesis import strategies as st

from autograph.runtime.graph.graph import UNBOUND, Block, Constant, Graph, Node
from autograph.runtime.graph.types import ANY, PYTHON_DTYPES, MaybeUnbound, ObjectType, TensorType
from autograph.runtime.graph_text import notation

Point = collections.namedtuple("Point", "x y")
RECORD = np.dtype([("a", "f8"), ("b", "i4")])


class Color(enum.IntEnum):
    RED = 1


def scale(x):
    return 2 * x


NAMES = st.sampled_from(
    "n n n x x y total np math sum None f32 dtype inf del it's x[0] x.1 % größe 変数 _ _1".split() + ["", ""]
)
DTYPES = st.sampled_from(
    [np.dtype(name) for name in "? i1 i8 u2 f2 f4 f8 g c8 c16 >f4 U5 S3 M8[ns] M8[25s] O".split()] + [RECORD]
)
DIMS = st.lists(st.one_of(st.none(), st.integers(0, 9)), max_size=3).map(tuple)
TENSORS = st.one_of(
    st.builds(TensorType, DTYPES, DIMS, st.just("array"), st.booleans()),
    st.builds(TensorType, DTYPES, st.just(()), st.just("scalar"), st.booleans()),
    st.builds(TensorType, st.sampled_from([*PYTHON_DTYPES.values()]), st.just(()), st.just("python"), st.booleans()),
)
CLASSES = st.sampled_from("object str list tuple NoneType Point py.int f64 bool <lambda> a.b a'b".split())
BOUND = st.recursive(
    st.one_of(TENSORS, st.builds(ObjectType, CLASSES)),
    lambda inner: st.builds(ObjectType, CLASSES, st.lists(inner, min_size=1, max_size=3).map(tuple)),
    max_leaves=4,
)
TYPES = st.one_of(BOUND, st.builds(MaybeUnbound, BOUND))

NUMBERS = st.one_of(
    st.integers(), st.floats(allow_nan=False), st.complex_numbers(allow_nan=False), st.booleans(),
    st.sampled_from([math.nan, -0.0, 1e22, 5e-324, complex(-0.0, -0.0), complex(math.inf, -0.0)]),
)  # fmt: skip
SCALARS = st.one_of(
    *[st.floats(width=width).map(kind) for width, kind in ((16, np.float16), (32, np.float32), (64, np.float64))],
    st.complex_numbers(width=64).map(np.complex64), st.complex_numbers().map(np.complex128),
    st.integers(-128, 127).map(np.int8), st.integers(0, 2**64 - 1).map(np.uint64), st.booleans().map(np.bool_),
    st.sampled_from([np.longdouble(1) / 3, np.float32(0.1), np.float16(1e-7), np.float32(3.4e38)]),
)  # fmt: skip
LITERALS = st.one_of(
    NUMBERS, SCALARS, st.text(max_size=5), st.binary(max_size=3), DTYPES, st.none(),
    st.builds(range, st.integers(-3, 3), st.integers(-3, 3), st.integers(1, 3)),
    st.sampled_from([..., UNBOUND, NotImplemented, int, float, np.float32, np.bool_, np.ndarray, ValueError, print,
                     np.sum, np.add, np.linalg.solve, np.random.normal, math.sqrt, "it's \"#\"", "\n:= ->"]),
)  # fmt: skip
OBJECTS = st.sampled_from([
    scale, Point, lambda x: x, Color.RED, RECORD, np.arange(3), np.zeros(1, RECORD)[0], {1, 2}, frozenset({3}),
    Constant([1]), Constant({}), Constant(vars(math)), Constant(scale), math, np.datetime64("2020-01-01"),
    datetime.date(2020, 1, 1), np.str_("s"), NUMBERS,
])  # fmt: skip
CONSTANTS = st.one_of(LITERALS, LITERALS, OBJECTS)
KEYS = st.one_of(st.text(max_size=3), st.integers(), st.none(), st.tuples(st.integers(), st.text(max_size=2)))

CALLS = ["np.sum", ".sum", ".x y", ".", "call", "len", "range", "build", "two words", "f64", "None", "a.b.c", "bool"]
ACCESSES = ["getitem", "setitem", "delitem", "getattr", "setattr"]
OPS = st.sampled_from([*notation.BINARY, *notation.UNARY, *CALLS, *CALLS, *ACCESSES, *ACCESSES])
DECLARED = st.sampled_from("add sub neg not getitem setitem getattr iadd np.sum .sum .anything call len".split())

WIDE = MaybeUnbound(ANY)  # covers every type


class Builder:
    """Draws a graph."""

    def __init__(self, draw, ops) -> None:
        self.draw = draw
        self.ops = ops

    def graph(self) -> Graph:
        graph = Graph(self.draw(st.sampled_from(["f", "<lambda>", "größe", "a b"])))
        self.params(graph.block, self.draw(st.integers(0, 3)), TYPES)
        self.nodes(graph.block, list(graph.params), 2)
        if graph.block.results is not None:
            graph.block.results = (self.arg(graph.params, 2),)
        return graph

    def params(self, block, count, types) -> None:
        for _ in range(count):
            block.add_param(self.draw(types), self.draw(NAMES))

    def nodes(self, block, visible, depth) -> None:
        for _ in range(self.draw(st.integers(0, 4 if depth else 2))):
            node = block.append(self.node(visible, depth))
            visible += node.outputs
        if self.draw(st.integers(0, 5)) == 0:
            block.append(Node("raise", (self.arg(visible, 1),)))
            block.results = None

    def node(self, visible, depth) -> Node:
        if depth and self.draw(st.integers(0, 3)) == 0:
            return self.draw(st.sampled_from([self.if_, self.loop]))(visible, depth - 1)
        args = tuple(self.arg(visible, 2) for _ in range(self.draw(st.integers(0, 3))))
        keys = st.sampled_from(["axis", "out", "a b", "if"])
        kwargs = self.draw(st.dictionaries(keys, st.just(None), max_size=2))
        node = Node(self.draw(self.ops), args, {key: self.arg(visible, 1) for key in kwargs})
        for _ in range(self.draw(st.integers(0, 1))):
            node.add_output(self.draw(TYPES), self.draw(NAMES))
        return node

    def if_(self, visible, depth) -> Node:
        node = Node("if", (self.arg(visible, 1),), None, (Block(), Block()))
        count = self.draw(st.integers(0, 2))
        for block in node.blocks:
            self.inner(block, visible, depth, count)
        if any(block.results is not None for block in node.blocks):
            self.outputs(node, count)
        else:
            node.blocks[0].nodes[:], node.blocks[0].results = [], ()
        return node

    def loop(self, visible, depth) -> Node:
        inits = tuple(self.arg(visible, 1) for _ in range(self.draw(st.integers(0, 2))))
        kwargs = {"until": True} if self.draw(st.booleans()) else {}
        body, count = Block(), len(inits)
        if self.draw(st.booleans()):
            test = Block()
            self.params(test, count, st.just(WIDE))
            test.results = (self.arg([*visible, *test.params], 1),)
            node = Node("while", inits, kwargs, (test, body))
        else:
            target, items = self.draw(st.sampled_from([(0, 1), ((0,), 1), ((0, (1, 2)), 3)]))
            self.params(body, items, TYPES)
            node = Node("for", (self.arg(visible, 1), *inits), {**kwargs, "target": target}, (body,))
        self.params(body, count, st.just(WIDE))
        self.inner(body, [*visible, *body.params], depth, count + len(kwargs))
        self.outputs(node, count)
        return node

    def inner(self, block, visible, depth, count) -> None:
        visible = list(visible)
        self.nodes(block, visible, depth)
        if block.results is not None:
            block.results = tuple(self.arg(visible, 1) for _ in range(count))

    def outputs(self, node, count) -> None:
        for _ in range(count):
            node.add_output(WIDE, self.draw(NAMES))

    def arg(self, visible, depth):
        kind = self.draw(st.integers(0, 9))
        if visible and kind < 5:
            return self.draw(st.sampled_from(visible))
        if depth == 0 or kind < 8:
            return self.draw(CONSTANTS)
        parts = [self.arg(visible, depth - 1) for _ in range(self.draw(st.integers(0, 3)))]
        make = self.draw(st.sampled_from([tuple, list, dict, Point, slice]))
        if make is dict:
            return {self.draw(KEYS): part for part in parts}
        if make in (Point, slice):
            return make(*[*parts, None, None][: 2 if make is Point else 3])
        return make(parts)


@st.composite
def graphs(draw, ops=OPS):
    return Builder(draw, ops).graph()
