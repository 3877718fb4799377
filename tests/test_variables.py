"""Variables: arrays that are changed in place; the same plain and staged, without being traced again."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph import Variable
from tests.comparing import compare, of_expression

NAMES = {"np": np, "Variable": Variable}

LIKE_ARRAYS = """
np.asarray(v) | np.array([v, v]) | np.stack([v, x]) | x.dot(v) | np.full(2, v[0]) | np.linalg.norm(v) | np.sum(v)
np.zeros_like(v) | v.T | np.isclose(v, x) | v[x > 3] | v.value.sum() | np.array(v, dtype='f4') | np.asarray([x, v])
np.broadcast_to(v, (3, 2)) | np.shares_memory(np.asarray(v), v.value) | np.add.reduce(v) | np.outer(x, v) | sum(v)
max(v) | list(v) | np.linspace(v[0], 3, 3) | f'{v}' | str(v) | repr(v) | v.numpy() | x @ v | v @ x | v.shape == x.shape
float(v[0]) | int(v[1]) | complex(v[0]) | np.copyto(v, x) | np.argmax(v) | x.sum() * v | x[0] * v | 3 * v | v ** 2
divmod(v, 2) | v is v | np.append(v, 3) | np.concatenate([v, v]) | np.vstack((v, x)) | np.einsum('i,i', v, x) | abs(v)
np.add(x, 1, out=v) | np.add(v, 1, out=x) | np.add.outer(x, v) | np.linalg.solve(np.eye(2), v) | x[v > 1] | v[0] == 1
v == x | x < v | x > v | -v | x - v | x / v | x ** v | v % 2 | np.where(v > 0, v, x) | np.maximum(x, v) | np.exp(v)
np.fft.fft(v) | np.zeros(Variable(3)) | isinstance(v, Variable) | [a * b for a, b in zip(v, x)] | (v, v.value) | len(v)
v.dtype | v.ndim | v.size | v.trainable | v.name | [each + 1 for each in v] | np.mean(v, axis=0) | v.assign(v * 2 + x)
v.assign([3, 4]) | v.assign_add(1) | v.assign_add(np.ones(2, 'f4')) | v.assign_sub(x) | x if Variable(True) else 0
v.sum() | v.mean(axis=0) | v.reshape(2, 1).max() | v.astype(int) | v.tolist() | v.argmax() | v.clip(0, 1.5) | v.fill(7)
f'{Variable(2.5):.2f}' | f'{Variable(2.5)}'
np.meshgrid(v, x) | np.apply_along_axis(sum, 0, v) | sorted(v) | {'a': v} | v.assign(v) | 1 in v | hash(v) == hash(v)
"""


@pytest.mark.parametrize("expression", [part.strip() for part in LIKE_ARRAYS.strip().replace("\n", "|").split("|")])
def test_is_used_like_an_array(expression):
    call = "Variable([1.0, 2.0], name='v'), np.array([3.0, 4.0])"
    compare(of_expression("v, x", expression, NAMES), call, names=NAMES)


@pytest.mark.parametrize("expression", ["[*v]", "np.r_[v, x]", "next(zip(v, x))", "v.missing"])
def test_is_used_like_an_array_by_what_is_not_staged(expression):
    call = "Variable([1.0, 2.0]), np.array([3.0, 4.0])"
    compare(of_expression("v, x", expression, NAMES), call, names=NAMES, plain=True)


# Changes --------------------------------------------------------------------------------------------------------------


def every_change(v, x):
    v.assign(x)
    print(v)
    v += x
    v -= 1
    v *= 2
    v /= x
    v **= 2
    print(v, v is not None)
    v[0] = 7
    v[1:3] += x[:2]
    v[-1] *= x[0]
    x += v
    x[:2] = v[:2]
    before = v.value
    v.assign_sub(v)
    return v, before, v.numpy()


def test_changes_happen_in_program_order():
    compare(every_change, "Variable([1.0, 2.0, 3.0]), np.array([3.0, 4.0, 5.0])", names=NAMES)


def in_branches_and_loops(v, x):
    for i in range(5):
        if x[i % 2] > 0:
            v.assign_add(x)
        elif i == 3:
            break
        else:
            v -= i
    while v[0] < 100:
        v += 30
    return v


def test_changes_in_branches_and_loops():
    calls = [f"Variable([1.0, 2.0]), np.array([{a}, {b}])" for a in (1.0, -1.0) for b in (1.5, -2.0)]
    compare(in_branches_and_loops, *calls, names=NAMES)


@pytest.mark.parametrize(
    "change, variable, value, message",
    [
        ("assign", "[1.0, 2.0], name='w'", "np.ones(3)",
         "an array of shape (3,) cannot be assigned to the variable 'w' of shape (2,) and dtype float64"),
        ("assign", "[1.0, 2.0]", "1.0",
         "an array of shape () cannot be assigned to a variable of shape (2,) and dtype float64"),
        ("assign_add", "[1, 2], name='n'", "0.5",
         "values of dtype float64 cannot be added to the variable 'n' of shape (2,) and dtype int64"),
        ("assign_sub", "[1.0, 2.0], name='w'", "np.ones((3, 2))",
         "an array of shape (3, 2) cannot be subtracted from the variable 'w' of shape (2,) and dtype float64"),
        ("assign_sub", "[1.0, 2.0], name='w'", "np.ones(3)",
         "an array of shape (3,) cannot be subtracted from the variable 'w' of shape (2,) and dtype float64"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(change, variable, value, message):
    function = of_expression("v, x", f"v.{change}(x)", NAMES)
    compare(function, f"Variable({variable}), {value}", names=NAMES)
    with pytest.raises((ValueError, TypeError)) as caught:
        eval(f"function(Variable({variable}), {value})", {**NAMES, "function": function})
    assert str(caught.value) == message


def test_shapes_that_are_left_open_are_checked_when_the_graph_runs():
    function = of_expression("v, x", "v.assign(x * 2)", NAMES)
    calls = [f"Variable([1.0, 2.0], name='w'), np.ones({n})" for n in (2, 3, 4, 2)]
    compare(function, *calls, names=NAMES)


def test_unsigned_integers_and_narrow_floats_take_python_numbers():
    assert Variable([1, 2], dtype=np.uint8).assign_add(3).numpy().tolist() == [4, 5]
    assert Variable([1, 2], dtype=np.float32).assign_add(0.5).dtype == np.float32


# Where variables come from --------------------------------------------------------------------------------------------

GLOBAL = Variable(np.zeros(2), name="global")
TABLE = {"a": Variable(1.0), "b": [Variable(2.0)]}


class Model:
    count = 0

    def __init__(self):
        self.w = Variable([1.0, 2.0])
        self.layers = [Variable(1.0), {"b": Variable(2.0)}]
        self.made = None


def from_everywhere(model, x):
    inner = Variable(x)

    def update(by):
        inner.assign_add(by)
        GLOBAL.assign(inner)

    update(x)
    model.w.assign_add(x)
    for layer in (model.layers[0], model.layers[1]["b"], TABLE["a"], *TABLE["b"]):
        layer.assign(x.sum())
    return inner, GLOBAL, TABLE["a"], model


def test_from_globals_closures_attributes_and_containers():
    compare(from_everywhere, "Model(), np.array([3.0, 4.0])")


def created_once(model, x):
    if model.made is None:
        model.made = Variable(np.zeros(2), name="made")
    model.made.assign_add(x)
    return model.made


def test_created_once():
    compare(created_once, "Model(), np.array([3.0, 4.0])")
    staged, model, x = ag.function(created_once), Model(), np.ones(2)
    made = [staged(model, x) for _ in range(3)]
    assert made[0] is made[1] is made[2] is model.made
    assert model.made.value.tolist() == [3, 3]


def test_is_read_when_the_graph_runs():
    variable = Variable(np.zeros(2))

    @ag.function
    def total(x):
        return np.sum(variable * x)

    for n in range(4):
        variable.assign([n, 2 * n])
        assert total(np.ones(2)) == 3 * n
    assert len(total.traces) == 1


def test_nothing_is_left_of_the_checks_in_the_graph():
    @ag.function
    def update(v, x):
        v.assign_add(x)
        return v.value

    assert update.lower(Variable([1.0, 2.0]), np.ones(2)).source == (
        "def update(v, x):\n    t1 = v.value\n    t1 += x\n    return t1\n"
    )


# Attributes of plain objects ------------------------------------------------------------------------------------------


def keeps_in_attributes(thing, x):
    thing.count += 1
    thing.w = thing.w + x
    thing.last = x[0]
    for _ in range(3):
        thing.count += 1
        thing.w = thing.w * 2
    return thing.count


def test_attributes_persist():
    class Thing:
        def __init__(self) -> None:
            self.count, self.w = 0, np.zeros(2)

    first, second, staged = Thing(), Thing(), ag.function(keeps_in_attributes)
    for n in range(4):
        assert staged(first, np.array([n, 1.0])) == keeps_in_attributes(second, np.array([n, 1.0]))
        assert first.count == second.count and first.last == second.last
        assert first.w.tolist() == second.w.tolist()
    assert [trace.plain for trace in staged.traces if trace.plain] == []


# As an object ---------------------------------------------------------------------------------------------------------


def test_the_initial_value_is_copied_and_so_is_what_numpy_gives():
    initial = np.ones(2)
    variable = Variable(initial)
    kept = variable.numpy()
    variable.assign_add(1)
    assert (initial.tolist(), kept.tolist(), variable.value.tolist()) == ([1, 1], [1, 1], [2, 2])


def test_copies_are_variables_of_their_own():
    variable = Variable([1.0, 2.0], trainable=False, name="v", dtype=np.float32)
    for other in (copy.deepcopy(variable), pickle.loads(pickle.dumps(variable))):
        other.assign_add(1)
        assert (other.name, other.trainable, other.dtype) == ("v", False, np.float32)
        assert other.value.tolist() == [2, 3]
    assert variable.value.tolist() == [1, 2]


def test_repr():
    assert repr(Variable([1.0, 2.0])) == "Variable(array([1., 2.]))"
    made: Any = Variable(np.eye(2), False, "eye", np.float32)
    assert repr(made) == (
        "Variable(array([[1., 0.],\n                [0., 1.]], dtype=float32), name='eye', trainable=False)"
    )


def test_variables_can_be_keys():
    a, b = Variable([1.0]), Variable([1.0])
    assert {a: "a", b: "b"}[a] == "a"
