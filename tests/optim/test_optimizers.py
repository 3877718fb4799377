"""Optimizers: against their formulas written out, plain and staged, on variables and on arrays."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import autograph as ag
from autograph import Variable, optim
from tests.comparing import compare

NAMES = {"np": np, "optim": optim, "Variable": Variable}
OPTIMIZERS = [
    "optim.SGD(0.1)", "optim.SGD(0.1, 0.9)", "optim.SGD(optim.CosineDecay(0.1, 10), 0.9, True, 0.01)",
    "optim.Adam(0.1)", "optim.AdamW(optim.Warmup(3, optim.StepDecay(0.1, 2)))", "optim.RMSProp(0.1)",
    "optim.RMSProp(optim.ExponentialDecay(0.1, 3), momentum=0.9)",
]  # fmt: skip
PARAMETERS = "[Variable([1.0, 2.0], name='a'), Variable(np.ones((2, 2), 'f4'))]"
GRADIENTS = "[np.array([0.1, -0.2]), np.full((2, 2), 0.5, 'f4')]"


def trains(optimizer, parameters, gradients, steps):
    for step in range(steps):
        optimizer.update(parameters, [gradient * (step - 2) for gradient in gradients])
    return parameters, optimizer.state_dict()


@pytest.mark.once
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_same_staged_in_a_loop(optimizer):
    calls = [f"{optimizer}.init({PARAMETERS}), {PARAMETERS}, {GRADIENTS}, {steps}" for steps in (3, 50)]
    compare(trains, *calls, names=NAMES)


def functional(optimizer, parameters, gradients):
    parameters = optimizer.update(parameters, gradients)
    return optimizer.update(parameters, gradients)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_arrays_are_left_as_they_are(optimizer):
    parameters = "{'a': np.ones(2), 'b': (3.0, [np.ones(2, 'f4')])}"
    call = f"{optimizer}.init({parameters}), {parameters}, {{'a': np.ones(2), 'b': (0.5, [np.ones(2, 'f4')])}}"
    compare(functional, call, names=NAMES)


def written_out(name, gradients):
    """What becomes of the number 1."""
    x, v, s = 1.0, 0.0, 0.0
    for n, g in enumerate(gradients, 1):
        if name == "SGD":
            x -= 0.1 * g
        elif name in ("momentum", "nesterov"):
            v = 0.9 * v + g
            x -= 0.1 * (v if name == "momentum" else g + 0.9 * v)
        elif name == "decay":
            x -= 0.1 * (g + 0.5 * x)
        elif name == "RMSProp":
            s = 0.9 * s + 0.1 * g * g
            x -= 0.1 * g / (s**0.5 + 1e-8)
        else:
            if name == "AdamW":
                x -= 0.1 * 0.01 * x
            v, s = 0.9 * v + 0.1 * g, 0.999 * s + 0.001 * g * g
            x -= 0.1 * v / (1 - 0.9**n) / ((s / (1 - 0.999**n)) ** 0.5 + 1e-8)
    return x


@pytest.mark.parametrize(
    "name, optimizer",
    [
        ("SGD", optim.SGD(0.1)), ("momentum", optim.SGD(0.1, 0.9)), ("nesterov", optim.SGD(0.1, 0.9, nesterov=True)),
        ("decay", optim.SGD(0.1, weight_decay=0.5)), ("RMSProp", optim.RMSProp(0.1)), ("Adam", optim.Adam(0.1)),
        ("AdamW", optim.AdamW(0.1)),
    ],
)  # fmt: skip
def test_formulas(name, optimizer):
    gradients, variable = [1.0, -0.5, 0.25, 2.0], Variable(1.0)
    for gradient in gradients:
        assert optimizer.update(variable, np.array(gradient)) is variable
    assert np.isclose(variable.value, written_out(name, gradients), rtol=1e-12)


def once(optimizer, parameters, gradients):
    optimizer.update(parameters, gradients)


def test_what_is_remembered_is_made_once_and_staged_from_then_on():
    staged, optimizer, plain = ag.function(once), optim.Adam(0.1), optim.Adam(0.1)
    ours, theirs, gradients = [Variable([1.0, 2.0])], [Variable([1.0, 2.0])], [np.array([0.5, 1.0])]
    for _ in range(4):
        staged(optimizer, ours, gradients)
        once(plain, theirs, gradients)
        assert np.array_equal(ours[0], theirs[0])
    assert [bool(trace.plain) for trace in staged.traces] == [False, False]


def test_the_state_is_saved_and_loaded():
    optimizer, variables, gradients = optim.Adam(0.1), [Variable([1.0, 2.0])], [np.array([0.5, 1.0])]
    optimizer.update(variables, gradients)
    assert list(optimizer.state_dict()) == ["steps", "slots.mean.0", "slots.square.0"]
    others = [copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer)), optim.Adam(0.1).init(variables)]
    others[2].load_state_dict(optimizer.state_dict())
    copies = [copy.deepcopy(variables) for _ in others]
    optimizer.update(variables, gradients)
    for other, mine in zip(others, copies):
        other.update(mine, gradients)
        assert np.array_equal(mine[0], variables[0])


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="there are 2 parameters, but 1 gradients"):
        optim.SGD().update([Variable(1.0), Variable(2.0)], [np.array(1.0)])
    message = r"an array of shape \(3,\) cannot be subtracted from the variable 'w' of shape \(2,\)"
    with pytest.raises(ValueError, match=message):
        optim.SGD().update([Variable([1.0, 2.0], name="w")], [np.ones(3)])


@pytest.mark.once
@pytest.mark.parametrize("optimizer", [*OPTIMIZERS[:2], *OPTIMIZERS[3:6:2]])
def test_a_bowl_is_descended(optimizer):
    made, x = eval(optimizer, NAMES), Variable([3.0, -2.0])

    @ag.function
    def descend(made, x):
        for _ in range(500):
            made.update(x, x * np.array([1.0, 2.0]))

    descend(made.init(x), x)
    assert np.abs(x).max() < 0.1


def test_updates_need_nothing_that_strict_functions_refuse():
    parameters = [Variable(np.ones(3)), Variable(np.ones((2, 3)))]
    made = optim.SGD(0.1).init(parameters)

    @ag.function(strict=True)
    def steps(count):
        for _ in range(count):
            made.update(parameters, [np.ones(3), np.ones((2, 3))])

    steps(3)
    assert np.allclose(parameters[0], 0.7)


def test_other_parameters_than_before():
    made, one = optim.Adam(0.1), Variable(1.0)
    made.update([one], [1.0])
    with pytest.raises(ValueError, match=r"there are 2 parameters, but Adam remembers 1 from before: .* init\(\)"):
        made.update([one, Variable(2.0)], [1.0, 1.0])
