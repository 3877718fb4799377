"""A derivative is right, or an error says which line has none: no silent zero, and no error of another class."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import autograph as ag
from autograph.errors import DerivativeError

# Texts and keys that tell a float ------------------------------------------------------------------------------------


def through_text(x, n):
    text = ""
    for i in range(n):
        text = f"{x * i}"
    return float(text or 0) + x


def through_array_of_texts(x, n):
    return float(np.array([x]).astype(str).astype(float)[0]) * n


def out_of_keys(x, n):
    found = {}
    for i in range(n):
        found[x * i] = i
    return sum(found) + x


def out_of_items(x, n):
    found = {}
    for i in range(n):
        found[x * i] = x
    return sum(key * value for key, value in found.items())


def out_of_last_item(x, n):
    found = {}
    for i in range(n):
        found[x * i] = x
    key, value = found.popitem()
    return key * value


def largest_key(x, n):
    found = {}
    for i in range(n):
        found[x * i] = x
    return max(found) * x


def out_of_pairs(x, n):
    found = {}
    for i in range(n):
        found["a", x * i] = x
    return sum(number for _, number in found)


def out_of_text_keys(x, n):
    found = {}
    for i in range(n):
        found[str(x * i)] = x
    return sum(float(key) for key in found)


def parsed_result(x, n):
    return np.array([str(x)], float)[0] * n


LOSING = (
    through_text, through_array_of_texts, out_of_keys, out_of_items, out_of_last_item, largest_key, out_of_pairs,
    out_of_text_keys, parsed_result,
)  # fmt: skip
DERIVATIVES = {
    "grad": lambda f: ag.grad(f)(0.7, 3),
    "value_and_grad": lambda f: ag.value_and_grad(f)(0.7, 3),
    "second": lambda f: ag.grad(ag.grad(f))(0.7, 3),
    "jacobian": lambda f: ag.jacobian(f)(0.7, 3),
    "native": lambda f: ag.function(lambda x, n: ag.grad(f)(x, n), engine="native")(0.7, 3),
    "vjp": lambda f: ag.vjp(lambda x: f(x, 3), 0.7)[1](1.0),
    "checkpoint": lambda f: ag.grad(ag.checkpoint(f))(0.7, 3),
    "jvp": lambda f: ag.jvp(lambda x: f(x, 3), (0.7,), (1.0,)),
    "jvp with an unknown length": lambda f: ag.function(lambda x, n: ag.jvp(lambda x: f(x, n), (x,), (1.0,)))(0.7, 3),
}


@pytest.mark.parametrize("way", DERIVATIVES)
@pytest.mark.parametrize("function", LOSING)
def test_what_would_be_lost_is_refused(function: Callable[..., Any], way: str):
    with pytest.raises(DerivativeError) as caught:
        DERIVATIVES[way](function)
    lines, start = inspect.getsourcelines(function)
    assert caught.value.filename == __file__ or f"{__file__}:" in caught.value.message
    if caught.value.filename:
        assert start <= caught.value.lineno < start + len(lines)


def keyed_by_numbers(x, n):
    found = {}
    for i in range(n):
        found[i] = x * i
    return sum(key * value for key, value in found.items()) + sum(found) * x + list(found)[1] * x + max(found) * x


@pytest.mark.parametrize("way", DERIVATIVES)
def test_keys_that_are_no_floats_do_no_harm(way: str):
    found = DERIVATIVES[way](keyed_by_numbers)
    wanted = 11.0
    while isinstance(found, tuple):
        found = found[-1]
    assert found == pytest.approx(0.0 if way == "second" else wanted)


def test_jvp_asks_for_the_gradient_of_each_part():
    """Their sum may need none."""

    @ag.function
    def function(x, n):
        def changes(x):
            lost = through_text(x, n)
            return np.array([lost, lost, lost]) - lost, -lost, lost

        return ag.jvp(changes, (x,), (1.0,))

    with pytest.raises(DerivativeError, match="`text`, an object of class str"):
        function(0.7, 3)


@pytest.mark.parametrize("result", [None, "text", [None]], ids=str)
def test_a_result_that_is_no_float_is_refused_though_it_depends_on_nothing(result: Any):
    with pytest.raises(DerivativeError, match="has returned") as caught:
        ag.grad(lambda x: np.ravel(result)[0])(2.0)
    assert caught.value.filename == __file__


# Calls that do not fit -----------------------------------------------------------------------------------------------


def product(x, y):
    return x * y


def calls_wrongly(x):
    return product(x, 2.0, 3.0)


MISFITS = {
    "keyword": functools.partial(product, z=3.0),
    "too many": functools.partial(product, 1.0, 2.0, 3.0),
    "nested": functools.partial(functools.partial(product, z=1.0), y=2.0),
    "within": calls_wrongly,
}


@pytest.mark.parametrize("derivative", [
    ag.grad, ag.value_and_grad, ag.jacobian, ag.hessian, lambda f: ag.grad(f, argnums=(0,)),
    lambda f: lambda x: ag.jvp(f, (x,), (1.0,)), lambda f: lambda x: ag.vjp(f, x), lambda f: ag.grad(ag.checkpoint(f)),
])  # fmt: skip
@pytest.mark.parametrize("name", MISFITS)
def test_arguments_that_do_not_fit_raise_what_python_raises(name: str, derivative: Callable[..., Any]):
    with pytest.raises(TypeError) as wanted:
        MISFITS[name](2.0)
    with pytest.raises(TypeError) as caught:
        derivative(MISFITS[name])(2.0)
    assert str(caught.value) == str(wanted.value)


def test_a_call_that_does_not_fit_is_staged():
    @ag.function(strict=True)
    def function(x, n):
        for _ in range(n):
            x = product(x, y=2.0, z=x)
        return x

    assert function(2.0, 0) == 2.0
    with pytest.raises(TypeError, match=r"product\(\) got an unexpected keyword argument 'z'"):
        function(2.0, 1)


class Nothing:
    pass


def test_classes_that_take_no_arguments_raise_what_python_raises():
    with pytest.raises(TypeError, match=r"Nothing\(\) takes no arguments"):
        ag.grad(Nothing)(2.0)


@pytest.mark.parametrize("argnums", [None, 1.5, {0}])
def test_argnums_that_name_no_arguments_are_refused(argnums: Any):
    with pytest.raises(DerivativeError, match="argnums= takes a position or name"):
        ag.grad(product, argnums=argnums)(2.0, 3.0)


def test_variables_that_hold_no_floats_are_refused():
    count = ag.Variable(3)
    with pytest.raises(DerivativeError, match="a variable that holds something of"):
        ag.grad(lambda: count.value * 2.0, wrt=count)()


# Jacobians -----------------------------------------------------------------------------------------------------------


class Model:
    def __init__(self, head: Any) -> None:
        self.head = head


@pytest.mark.parametrize("head", [3.0, np.array([1.0, 2.0]), np.ones((2, 1))], ids=str)
def test_jacobians_in_a_float_that_is_multiplied_by_an_attribute(head: Any):
    model = Model(head)
    np.testing.assert_array_equal(ag.jacobian(lambda x: x * model.head)(2.0), head)
    np.testing.assert_array_equal(ag.jacobian(lambda x, model: x * model.head)(2.0, model), head)
    np.testing.assert_array_equal(ag.jacobian(lambda x: x * x * model.head)(np.float32(2)), np.multiply(4, head))
    assert ag.hessian(lambda x: x * x * np.sum(model.head))(2.0) == 2 * np.sum(head)


@pytest.mark.parametrize("function", [lambda x: None, lambda x: "text", lambda x: 3, lambda x: x > 1])
def test_jacobians_of_no_floats_are_refused_at_the_users_line(function: Callable[..., Any]):
    with pytest.raises(DerivativeError) as caught:
        ag.jacobian(function)(2.0)
    assert caught.value.filename == __file__
    assert "<lambda>" in caught.value.message


@pytest.mark.parametrize("way", ["jvp", "jacobian", "vjp"])
def test_functions_that_are_not_staged_are_called_by_their_names(way: str):
    def evaluates(x):
        return eval(repr(x))

    with pytest.raises(ag.errors.UnstagedDerivativeError, match=rf"evaluates runs as plain Python.*{__file__}:"):
        {"jvp": lambda: ag.jvp(evaluates, (2.0,), (1.0,)), "jacobian": lambda: ag.jacobian(evaluates)(2.0),
         "vjp": lambda: ag.vjp(evaluates, 2.0)[1](1.0)}[way]()  # fmt: skip


# Nested arguments ----------------------------------------------------------------------------------------------------


class Holder(NamedTuple):
    part: Any


NESTING = {"list": (lambda part: [part], 0), "tuple": (lambda part: (part,), 0), "dict": (lambda part: {0: part}, 0),
           "holder": (Holder, 0)}  # fmt: skip


def nested(kind: str, leaf: Any, depth: int) -> Any:
    for _ in range(depth):
        leaf = NESTING[kind][0](leaf)
    return leaf


def inner(structure: Any, depth: int) -> Any:
    for _ in range(depth):
        structure = structure[0]
    return structure


@pytest.mark.parametrize("kind", ["list", "tuple", "dict"])
def test_jvp_of_arguments_nested_more_deeply_than_arrays_have_dimensions(kind: str):
    value, tangent = ag.jvp(lambda s: inner(s, 80) ** 2, (nested(kind, 3.0, 80),), (nested(kind, 1.0, 80),))
    assert (value, tangent) == (9.0, 6.0)


@pytest.mark.parametrize("depth", [3, 40])
@pytest.mark.parametrize("kind", NESTING)
def test_arguments_that_are_not_read_have_gradients_of_their_form(kind: str, depth: int):
    found = ag.grad(lambda s: 3.0)(nested(kind, 2.0, depth))
    assert found == nested(kind, 0.0, depth)
    assert type(found) is type(nested(kind, 0.0, 1))


@pytest.mark.parametrize("derivative", [
    lambda f, s: ag.grad(f)(s), lambda f, s: ag.vjp(f, s)[1](1.0), lambda f, s: ag.jvp(f, (s,), (s,)),
])  # fmt: skip
def test_named_tuples_nested_too_deeply_are_refused(derivative: Callable[..., Any]):
    def parts(structure):
        for _ in range(3000):
            structure = structure.part
        return structure * 2.0

    structure = nested("holder", 3.0, 3000)
    with pytest.raises(DerivativeError, match=rf"nested too deep to be traced, {__file__}"):
        derivative(parts, structure)


def test_cotangents_nested_more_deeply_than_python_calls():
    _, pull = ag.vjp(lambda x: nested("list", x, 150), 3.0)
    assert pull(nested("list", 2.0, 150)) == (2.0,)

# Errors of what no derivative needs -----------------------------------------------------------------------------------

TALL, SQUARE, LONG = np.ones((3, 2)), np.ones((3, 3)), np.ones(4)
UNUSED = {
    "a @ b": lambda x, a, b: (a @ b, x * x)[1],
    "np.matmul": lambda x, a, b: (np.matmul(a, b), x * x)[1],
    "a @ b @ a": lambda x, a, b: (x * a @ b @ a, x * x)[1],
    "a + b": lambda x, a, b: (a + b, x * x)[1],
    "np.sum": lambda x, a, b: (np.sum(a, 1) + x, np.sum(b, 1), x * x)[2],
}


@pytest.mark.parametrize("name", UNUSED)
@pytest.mark.parametrize("a", [TALL, SQUARE, LONG], ids=["tall", "square", "long"])
@pytest.mark.parametrize("b", [TALL, SQUARE, LONG], ids=["tall", "square", "long"])
def test_operations_that_no_derivative_needs_raise_what_they_raise(name, a, b):
    """What only warns is not computed; what is wrong raises, as it does without a derivative."""
    f = UNUSED[name]
    try:
        f(2.0, a, b)
        wanted = "4.0"
    except Exception as error:
        wanted = f"{type(error).__name__}: {error}"
    for derivative in (ag.grad(f), ag.function(ag.grad(f), engine="numpy")):
        try:
            found = str(derivative(2.0, a, b))
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        assert found == wanted
