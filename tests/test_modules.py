"""Modules: what variables they hold, under which names; what they save and load; the same plain and staged."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import NamedTuple

import numpy as np
import pytest

import autograph as ag
from autograph import Module, Variable
from tests.comparing import compare


class Dense(Module):
    def __init__(self, inputs, outputs):
        self.w = Variable(np.ones((inputs, outputs)))
        self.b = Variable(np.zeros(outputs))

    def __call__(self, x):
        return x @ self.w + self.b


@dataclasses.dataclass
class Box:
    scale: Variable
    size: int = 1


class Pair(NamedTuple):
    first: Variable
    second: Variable


class Net(Module):
    def __init__(self, name=None):
        super().__init__(name)
        self.layers = [Dense(2, 3), Dense(3, 2)]
        self.heads = {"a": Dense(2, 1), "b": (Variable(5.0), "text")}
        self.box = Box(Variable([1.0, 2.0], trainable=False))
        self.pair = Pair(Variable(1), self.layers[0].w)
        self.again = self.layers[1]
        self.nothing, self.number = None, 3

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x * self.box.scale


PATHS = (
    "layers.0.w layers.0.b layers.1.w layers.1.b heads.a.w heads.a.b heads.b.0 box.scale pair.first".split()
)  # fmt: skip


def test_variables_are_found_in_order_and_once():
    net = Net()
    assert list(net.named_variables()) == PATHS
    assert [id(each) for each in net.variables] == [id(each) for each in net.named_variables().values()]
    assert len(net.trainable_variables) == len(PATHS) - 1
    assert id(net.box.scale) not in [id(each) for each in net.trainable_variables]
    assert net.submodules == [*net.layers, net.heads["a"]]


def test_names():
    class RNNCell2D(Module):
        pass

    assert (Net().name, Net("mine").name, RNNCell2D().name) == ("net", "mine", "rnn_cell2_d")


def uses_it(net, x):
    y = net(x)
    for variable in net.trainable_variables:
        variable.assign_add(1)
    for path, variable in net.named_variables().items():
        print(path, variable.shape)
    return y, net(x), net.state_dict(), len(net.submodules), net.name


def test_the_same_staged():
    compare(uses_it, "Net(), np.ones((1, 2))", "Net('x'), np.zeros((3, 2))")


def trains(net, x):
    net.train(x[0, 0] > 0 if isinstance(x, list) else True)
    before = net.training, net.layers[0].training
    net.eval()
    return before, net.training, net.layers[1].training


def test_training_and_use():
    compare(trains, "Net(), np.ones((1, 2))")


# State ----------------------------------------------------------------------------------------------------------------


def test_state_is_saved_and_loaded(tmp_path):
    net, other = Net(), Net()
    for number, variable in enumerate(net.variables):
        variable.assign(np.full(variable.shape, number, variable.dtype))
    np.savez(tmp_path / "state.npz", **net.state_dict())
    kept = [variable.value for variable in other.variables]
    other.load_state_dict(np.load(tmp_path / "state.npz"))
    for a, b, before in zip(net.variables, other.variables, kept):
        assert np.array_equal(a, b) and b.value is before


def test_what_does_not_fit_is_named_and_nothing_is_lost():
    net = Net()
    before = net.state_dict()
    state = {name: value + 1 for name, value in before.items()}
    del state["layers.0.b"]
    state["layers.0.w"] = np.ones((2, 2))
    state["pair.first"] = np.array(0.5)
    state["other"] = 1
    with pytest.raises(ValueError) as caught:
        net.load_state_dict(state)
    assert str(caught.value) == (
        "the state does not fit Net: layers.0.b is missing; other is unexpected; layers.0.w has shape (2, 3), but "
        "shape (2, 2) was given; pair.first has dtype int64, but dtype float64 was given"
    )
    assert all(np.array_equal(a, b) for a, b in zip(before.values(), net.state_dict().values()))


def test_part_of_a_state_is_loaded_if_told_so():
    net = Net()
    net.load_state_dict({"layers.0.b": [1, 2, 3], "other": 1}, strict=False)
    assert net.layers[0].b.value.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="layers.0.b has shape"):
        net.load_state_dict({"layers.0.b": [1, 2]}, strict=False)


def test_copies_share_nothing():
    net = Net("net")
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert list(other.named_variables()) == PATHS and other.name == "net"
        assert other.again is other.layers[1] and other.pair.second is other.layers[0].w
        other.layers[0].w.assign_add(1)
    assert net.layers[0].w.value.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_a_variable_that_is_exchanged_is_noticed():
    net, staged = Net(), ag.function(lambda net, x: net(x))
    first = staged(net, np.ones((1, 2)))
    net.layers[0].w = Variable(np.zeros((2, 3)))
    assert first.tolist() == [[6, 12]] and staged(net, np.ones((1, 2))).tolist() == [[0, 0]]
    net.layers.append(Dense(2, 4))
    net.box = Box(Variable(1.0))
    assert staged(net, np.ones((1, 2))).shape == (1, 4)


# Text -----------------------------------------------------------------------------------------------------------------


def test_repr_and_summary():
    net = Module()
    net.first, net.layers, net.size = Dense(2, 1), [Dense(1, 1)], 3
    net.first.b = Variable([1.0], trainable=False)
    assert repr(net) == (
        "Module(\n"
        "  first=Dense(\n"
        "    w=Variable(shape=(2, 1), dtype=float64),\n"
        "    b=Variable(shape=(1,), dtype=float64),\n"
        "  ),\n"
        "  layers=[\n"
        "    Dense(\n"
        "      w=Variable(shape=(1, 1), dtype=float64),\n"
        "      b=Variable(shape=(1,), dtype=float64),\n"
        "    ),\n"
        "  ],\n"
        "  size=3,\n"
        ")"
    )
    assert net.summary() == (
        "variable    shape   dtype                   elements\n"
        "first.w     (2, 1)  float64                        2\n"
        "first.b     (1,)    float64, not trainable         1\n"
        "layers.0.w  (1, 1)  float64                        1\n"
        "layers.0.b  (1,)    float64                        1\n"
        "Module: 5 elements, 4 of them trainable"
    )
    assert repr(Module()) == "Module()"


def total(variables, net):
    for variable in variables:
        variable.assign_add(1)
    for layer in net.layers:
        layer.b.assign_sub(1)
    return sum(variable.value.sum() for variable in net.variables)


class Deep(Module):
    def __init__(self, depth):
        self.layers = [Dense(1, 1) for _ in range(depth)]


def test_long_lists_are_taken_apart():
    staged = compare(total, "[Variable(float(n)) for n in range(70)], Deep(70)")
    assert "variables[69]" in str(staged.traces[0].signature)
