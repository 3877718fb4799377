"""Schedules: their values; the same staged, for steps that are staged, too."""

from __future__ import annotations

import pytest

from autograph import optim
from tests.comparing import compare


@pytest.mark.parametrize(
    "schedule, rates",
    [
        ("optim.Constant(0.1)", {0: 0.1, 5: 0.1}),
        ("optim.StepDecay(1.0, 2)", {0: 1.0, 1: 1.0, 2: 0.1, 5: 0.01}),
        ("optim.ExponentialDecay(1.0, 2, 0.25)", {0: 1.0, 1: 0.5, 2: 0.25}),
        ("optim.CosineDecay(1.0, 4, 0.5)", {0: 1.0, 2: 0.75, 4: 0.5, 9: 0.5}),
        ("optim.Warmup(4, optim.Constant(1.0))", {0: 0.0, 1: 0.25, 4: 1.0, 9: 1.0}),
        ("optim.Warmup(2, optim.CosineDecay(1.0, 4))", {0: 0.0, 2: 1.0, 4: 0.5, 6: 0.0}),
    ],
)
def test_rates(schedule, rates):
    made = eval(schedule, {"optim": optim})
    assert {step: pytest.approx(made(step)) for step in rates} == rates
    compare(all_rates, f"{schedule}, 9", f"{schedule}, 3", names={"optim": optim})


def all_rates(schedule, steps):
    rates = []
    for step in range(steps):
        rates.append(schedule(step))
    return rates
