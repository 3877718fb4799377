"""Simplification."""

import pytest

from tests.runtime.passes.texts import becomes, stays


def graph(params, *lines):
    return f"graph f({params}):\n" + "".join(f"  {line}\n" for line in lines)


@pytest.mark.parametrize(
    "type, expression",
    [
        ("py.int", "x + 0"), ("py.int", "0 + x"), ("py.int", "x - 0"), ("py.float", "x - 0"), ("py.float", "x * 1"),
        ("f32", "1 * x"), ("i8", "x | 0"), ("f64", "x / 1"), ("u8", "x // 1"), ("py.int", "+x"),
    ],
)  # fmt: skip
def test_neutral(type, expression):
    becomes("simplify", graph(f"x: {type}", f"y: {type} = {expression}", "-> y"), graph(f"x: {type}", "-> x"))


@pytest.mark.parametrize(
    "type, expression, result",
    [
        ("py.float", "x + 0", "py.float"),      # -0.0 + 0 is 0.0
        ("py.bool", "x + 0", "py.int"),
        ("py.int", "0 - x", "py.int"),
        ("py.int", "x / 1", "py.float"),
        ("py.int", "x * 1.0", "py.float"),
        ("py.int", "x * True", "py.int"),
        ("py.complex", "x * 1", "py.complex"),  # complex(inf, 0) * 1 has a NaN in it
        ("f64[3]", "x * 1", "f64[3]"),          # a new array
        ("~f64", "x * 1", "~f64"),              # may be a bool
        ("object", "x * 1", "object"),
        ("py.bool", "+x", "py.int"),
    ],
)
def test_not_neutral(type, expression, result):
    stays("simplify", graph(f"x: {type}", f"y: {result} = {expression}", "-> y"))


def test_twice():
    becomes(
        "simplify",
        graph("x: py.float, b: py.bool", "y: py.float = -x", "z: py.float = -y", "c: py.bool = not b",
              "d: py.bool = not c", "e: py.bool = not x", "g: py.bool = not e", "h: py.bool = not g",
              "-> (z, d, g, h)"),
        graph("x: py.float, b: py.bool", "y: py.float = -x", "c: py.bool = not b",
              "e: py.bool = not x", "g: py.bool = not e", "-> (x, b, g, e)"),
    )  # fmt: skip


def test_casts():
    becomes(
        "simplify",
        graph("x: py.float, b: py.bool, s: f64", "y: py.float = float(x)", "c: py.bool = bool(b)",
              "d: py.float = float(s)", "e: py.int = int(b)", "-> (y, c, d, e)"),
        graph("x: py.float, b: py.bool, s: f64", "d: py.float = float(s)", "e: py.int = int(b)", "-> (x, b, d, e)"),
    )  # fmt: skip


def test_structures():
    becomes(
        "simplify",
        graph("x: object, y: f64", "t: tuple<object,f64> = build((x, y))", "a: object = t[0]",
              "b: object, c: f64 = unpack(t, 2)", "d: f64 = t[-1]", "-> [a, b, c, d]"),
        graph("x: object, y: f64", "t: tuple<object,f64> = build((x, y))", "-> [x, x, y, y]"),
    )  # fmt: skip


def test_lists_that_change():
    becomes(
        "simplify",
        graph("x: f64, y: f64", "t: list = build([x, y])", "s: list = build([x, y])", "s[0] = y",
              "a: object = t[0]", "b: object = s[0]", "-> (a, b)"),
        graph("x: f64, y: f64", "t: list = build([x, y])", "s: list = build([x, y])", "s[0] = y",
              "b: object = s[0]", "-> (x, b)"),
    )  # fmt: skip


def test_structures_in_structures_are_objects_of_their_own():
    stays(
        "simplify",
        graph("x: f64", "t: tuple<list> = build(([x],))", "a: list = t[0]", "b: list = t[0]", "-> (a, b)"),
    )


def test_bound():
    becomes(
        "simplify",
        graph("x: f64, y: f64?", "a: f64 = bound(x, name='x')", "b: f64 = bound(y, name='y')", "-> (a, b)"),
        graph("x: f64, y: f64?", "b: f64 = bound(y, name='y')", "-> (x, b)"),
    )


def test_what_types_say():
    becomes(
        "simplify",
        graph("x: f64[2,3], y: f64[?,3]", "a: tuple<py.int,py.int> = x.shape", "b: py.int = len(x)",
              "c: py.int = y.ndim", "d: tuple<py.int,py.int> = y.shape", "e: py.int = x.size", "-> [a, b, c, d, e]"),
        graph("x: f64[2,3], y: f64[?,3]", "d: tuple<py.int,py.int> = y.shape", "-> [(2, 3), 2, 2, d, 6]"),
    )  # fmt: skip


def test_unless_shapes_change_in_place():
    stays("simplify", graph("x: f64[2,3]", "x.shape = (3, 2)", "a: tuple<py.int,py.int> = x.shape", "-> a"))


def test_transposed_twice():
    becomes(
        "simplify",
        graph("x: f64[2,3]", "a: f64[3,2] = x.T", "b: f64[2,3] = .transpose(a)", "c: f64[2,3] = b * 2",
              "b[0, 0] = 1", "-> c"),
        graph("x: f64[2,3]", "a: f64[3,2] = x.T", "c: f64[2,3] = x * 2", "x[0, 0] = 1", "-> c"),
    )  # fmt: skip


def test_a_view_that_is_returned_is_an_object_of_its_own():
    stays("simplify", graph("x: f64[2,3]", "a: f64[3,2] = x.T", "b: f64[2,3] = a.T", "-> (x, b)"))


@pytest.mark.parametrize("call", ["np.asarray(x)", "np.asarray(x, dtype=float)", ".astype(x, np.float64, copy=False)"])
def test_the_same_array(call):
    becomes("simplify", graph("x: f64[?]", f"a: f64[?] = {call}", "-> a"), graph("x: f64[?]", "-> x"))


@pytest.mark.parametrize("call", ["np.asarray(x, dtype=int)", ".astype(x, np.float64)", "np.array(x)"])
def test_another_array(call):
    stays("simplify", graph("x: f64[?]", f"a: f64[?] = {call}", "-> a"))
