"""Reuse of memory."""

import itertools

import numpy as np
import pytest

from autograph.runtime.graph_text.parser import parse
from autograph.runtime.ops.arrays.creation import room
from autograph.runtime.passes import buffer_reuse
from tests.runtime.passes import interpreter
from tests.runtime.passes.texts import becomes, stays


def graph(params, *lines):
    return f"graph f({params}):\n" + "".join(f"  {line}\n" for line in lines)


X = "x: f64[9999], y: f64[9999]"


def test_in_place():
    becomes(
        "buffer_reuse",
        graph(X, "a: f64[9999] = x * y", "b: f64[9999] = a + 1", "c: f64[9999] = b - x",
              "d: f64[9999] = c / b", "-> d"),
        graph(X, "a: f64[9999] = x * y", "b: f64[9999] = a += 1", "c: f64[9999] = b - x",
              "d: f64[9999] = c /= b", "-> d"),
    )  # fmt: skip


def test_into_the_second_operand():
    becomes(
        "buffer_reuse",
        graph(X, "a: f64[9999] = x * y", "b: f64[9999] = x - a", "c: f64[9999] = -b",
              "d: f64[9999] = np.sqrt(c)", "-> d"),
        graph(X, "a: f64[9999] = x * y", "b: f64[9999] = np.subtract(x, a, out=a)",
              "c: f64[9999] = np.negative(b, out=b)", "d: f64[9999] = np.sqrt(c, out=c)", "-> d"),
    )  # fmt: skip


@pytest.mark.parametrize(
    "params, lines",
    [
        (X, ["a: f64[9999] = x * y", "b: f64[9999] = a + 1", "-> (a, b)"]),          # returned
        (X, ["a: f64[9999] = x * y", "b: f64[9999] = a + 1", "c: f64[9] = a[:9]", "-> (b, c)"]),   # needed later
        (X, ["a: f64[9999] = x + 1", "v: f64[9] = a[:9]", "b: f64[9999] = a + 1", "-> (v, b)"]),      # a view
        (X, ["b: f64[9999] = x + 1", "-> b"]),                                        # the caller's array
        (X, ["a: f64[9999] = x * y", "b: bool[9999] = a < 1", "-> b"]),               # another dtype
        (X, ["a: f64[9999] = x * y", "b: f64[9999] = np.exp(a)", "-> b"]),            # rounding is up to the loop
        ("x: f64[9]", ["a: f64[9] = x * 2", "b: f64[9] = a + 1", "-> b"]),            # small
        ("x: f64[?], y: f64[?]", ["a: f64[?] = x * 2", "b: f64[?] = a + y", "-> b"]),  # may be broadcast
        ("x: f64[499,9], y: f64[499,9]", ["a: f64[499,9] = x * 2", "b: f64[499,9] = a + y", "-> b"]),   # order of axes
        ("x: f64[9999,1], y: f64[9999,1]", ["a: f64[9999,1] = x * 2", "b: f64[9999,1] = a + y", "-> b"]),
        ("x: f64[99,9,9], y: f64[9,9]", ["a: f64[99,9,9] = x * 2", "b: f64[99,9,9] = a + y", "-> b"]),
        ("x: i64[9999]", ["a: i64[9999] = x * 2", "b: f64[9999] = a / 2", "-> b"]),
        ("x: f64[1,9999], z: f64[5,9999]", ["a: f64[1,9999] = x * 2", "b: f64[5,9999] = a + z", "-> b"]),
        (X, ["a: f64[9999] = x * y", "for(range(0, 3)):", "  body(i: py.int):", "    b: f64[9999] = a + 1",
             "    print(b)", "-> None"]),
    ],
)  # fmt: skip
def test_not(params, lines):
    stays("buffer_reuse", graph(params, *lines))


def test_unknown_sizes():
    becomes(
        "buffer_reuse",
        graph("x: f64[?]", "a: f64[?] = x * 2", "b: f64[?] = a + 1", "-> b"),
        graph("x: f64[?]", "a: f64[?] = x * 2", "b: f64[?] = a += 1", "-> b"),
    )


def test_the_order_of_large_arrays_is_looked_at_when_they_are_there():
    becomes(
        "buffer_reuse",
        graph("w: f64[99,99], x: f64[9,99], y: f64[9,99]", "t: f64[99,9] = x.T", "a: f64[99,99] = t @ y",
              "b: f64[99,99] = 0.1 * a", "c: f64[99,99] = w - b", "-> c"),
        graph("w: f64[99,99], x: f64[9,99], y: f64[9,99]", "t: f64[99,9] = x.T", "a: f64[99,99] = t @ y",
              "b: f64[99,99] = np.multiply(0.1, a, out=a)", "%0: f64[99,99] = room(b, w)",
              "c: f64[99,99] = np.subtract(w, b, out=%0)", "-> c"),
    )  # fmt: skip


def test_products_lie_in_order():
    becomes(
        "buffer_reuse",
        graph("x: f64[99,99], y: f64[99,99], b: f64[99]", "a: f64[99,99] = x @ y", "c: f64[99,99] = a + b", "-> c"),
        graph("x: f64[99,99], y: f64[99,99], b: f64[99]", "a: f64[99,99] = x @ y", "c: f64[99,99] = a += b", "-> c"),
    )


def test_gradients_are_masked_in_place():
    becomes(
        "buffer_reuse",
        graph("x: f64[99,99], m: bool[99,99]", "g: f64[99,99] = x @ x", "h: bool[99,99] = g < 1", "l: bool[99,99] = ~h",
              "a: f64[99,99] = masked(g, l)", "-> a"),
        graph("x: f64[99,99], m: bool[99,99]", "g: f64[99,99] = x @ x", "h: bool[99,99] = g < 1", "l: bool[99,99] = ~h",
              "a: f64[99,99] = masked(g, l, out=g)", "-> a"),
    )  # fmt: skip


def test_inside_of_loops():
    becomes(
        "buffer_reuse",
        graph(X, "r: f64[9999] = for(range(0, 3), x):", "  body(i: py.int, t: f64[9999]):", "    a: f64[9999] = t * y",
              "    b: f64[9999] = a + x", "    -> b", "-> r"),
        graph(X, "r: f64[9999] = for(range(0, 3), x):", "  body(i: py.int, t: f64[9999]):", "    a: f64[9999] = t * y",
              "    b: f64[9999] = a += x", "    -> b", "-> r"),
    )  # fmt: skip


def test_axes_of_length_one_may_be_anywhere_unless_the_order_is_known():
    becomes(
        "buffer_reuse",
        graph("x: f64[?,3], n: py.int", "a: f64[?,3] = x * 2", "b: f64[?,3] = a + 1", "z: f64[?,3] = np.zeros((n, 3))",
              "c: f64[?,3] = z + 1", "d: f64[?,3] = c * 2", "-> (b, d)"),
        graph("x: f64[?,3], n: py.int", "a: f64[?,3] = x * 2", "b: f64[?,3] = a + 1", "z: f64[?,3] = np.zeros((n, 3))",
              "c: f64[?,3] = z += 1", "d: f64[?,3] = c *= 2", "-> (b, d)"),
    )  # fmt: skip


@pytest.mark.parametrize("orders", ["CCC", "CCF", "CFC", "FFC", "FFF"])
def test_results_of_products_lie_in_memory_as_they_would(orders):
    text = graph("x: f64[90,99], y: f64[99,95], w: f64[90,95]", "a: f64[90,95] = x @ y", "b: f64[90,95] = a * 2",
                 "c: f64[90,95] = w - b", "d: f64[90,95] = np.matmul(x, y)", "e: f64[90,95] = c / d",
                 "-> e")  # fmt: skip
    random = np.random.default_rng(0)
    sizes = [(90, 99), (99, 95), (90, 95)]
    args = [np.asarray(random.normal(size=size), order=order) for size, order in zip(sizes, orders)]
    plain, reused = parse(text), parse(text)
    assert buffer_reuse.run(reused).changed
    first, second = interpreter.run(plain, *args), interpreter.run(reused, *args)
    assert first.strides == second.strides and first.tobytes("A") == second.tobytes("A")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("transposed", [False, True])
def test_results_lie_in_memory_as_they_would(order, transposed):
    text = graph("x: f64[60,70,2], y: f64[70,2]", "a: f64[60,70,2] = x * y", "b: f64[60,70,2] = a + 1",
                 "c: f64[60,70,2] = b * x", "d: f64[60,70,2] = np.maximum(c, 0.5)", "-> d")  # fmt: skip
    x = np.asarray(np.random.default_rng(0).normal(size=(60, 70, 2)), order=order)
    x = x.swapaxes(0, 1).copy(order="K").swapaxes(0, 1) if transposed else x
    y = np.ones((70, 2), order='F')
    plain, reused = parse(text), parse(text)
    assert buffer_reuse.run(reused).changed
    first, second = interpreter.run(plain, x, y), interpreter.run(reused, x, y)
    assert first.strides == second.strides and first.tobytes("A") == second.tobytes("A")


@pytest.mark.parametrize("axes", [*itertools.permutations(range(3))], ids=str)
@pytest.mark.parametrize("steps", [(1, 1, 1), (-1, 2, 1), (2, 1, -2)])
@pytest.mark.parametrize("shape", [(3, 4, 5), (3, 1, 5)])
def test_room_is_where_numpy_would_put_the_result(axes, steps, shape):
    whole = np.zeros([2 * shape[axis] for axis in axes]).transpose(np.argsort(axes))
    view = whole[tuple(slice(None, None, step) for step in steps)][tuple(map(slice, shape))]
    for other in (view, np.broadcast_to(view[:1], shape), np.broadcast_to(view[..., :1], shape)):
        for old in (np.ones(shape), np.ones(shape, order="F"), view.copy(order="K")):
            if room(old, other) is not None:
                assert (old + other).strides == (other - old).strides == old.strides
        if 1 not in shape:
            assert room(old := np.ones(shape), other) is old
