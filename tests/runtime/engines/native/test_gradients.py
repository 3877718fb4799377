"""Gradients of loops are the same numbers if the graph of the gradient runs as machine code."""

import numpy as np
import pytest

import autograph as ag
from tests import outcomes
from tests.runtime.engines.native.kernels.test_fusion import outcome


def power(p, n):
    found = 1.0
    for _ in range(n):
        found = found * p
    return found


def newton(p, n):
    """The square root, and when to stop depends on the number."""
    found = 1.0
    while abs(found * found - p) > 1e-9:
        found = 0.5 * (found + p / found)
    return found * n


def logistic(p, n):
    x = 0.3
    for i in range(n):
        if x > 0.5:
            x = p * x * (1 - x)
        else:
            x = x + p * 0.1
        if x > 5.0:
            break
    return x


def horner(x, n):
    found = 0.0
    for i in range(n):
        found = found * 0.5 + x[i] * x[-1 - i]
    return found


def smoothed(x, n):
    y = x.copy()
    for _ in range(n):
        for i in range(1, 5):
            y[i] = (y[i - 1] + y[i] * y[i + 1]) / 2
    return y[2] * y[3]


NUMBERS, VECTORS = ["2.5, 3", "0.5, 0", "1.25, 9"], ["np.arange(6.0), 3", "np.cos(np.arange(6.0)), 2", "np.ones(6), 0"]
EXAMPLES = {power: NUMBERS, newton: NUMBERS, logistic: NUMBERS, horner: VECTORS, smoothed: VECTORS}
ORDERS = {"gradient": ag.value_and_grad, "second": lambda f: ag.value_and_grad(lambda x, n: np.sum(ag.grad(f)(x, n)))}


def taken(plain, order, engine):
    gradient = ORDERS[order](plain)
    return ag.function(lambda x, n: gradient(x, n), engine=engine)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("plain", EXAMPLES, ids=lambda plain: plain.__name__)
def test_same_as_numpy(plain, order, fuel):
    ours, wanted = taken(plain, order, "native"), taken(plain, order, "numpy")
    for nodes in (-1, 1, 5, 17, 60):
        for arguments in EXAMPLES[plain]:
            fuel.value = nodes
            outs = [outcomes.run(each, arguments, {"np": np}) for each in (ours, wanted)]
            assert outs[0] == outs[1] and not outs[0].exception, (nodes, outs[0])


def test_there_is_machine_code(fuel):
    compiled = {}
    for plain, (example, *_) in EXAMPLES.items():
        function = taken(plain, "gradient", "native")
        outcomes.run(function, example, {"np": np})
        (trace,) = function.traces
        compiled[plain] = sum(bool(region.compiled) for region in trace.executable.native.regions)
    assert [plain for plain, count in compiled.items() if not count] in ([], [power])  # which may not be worth it


def rectified(x, y, w):
    """Of which some elements count, and what others would tell, infinities and NaNs, is lost."""
    with np.errstate(all="ignore"):
        return np.sum(np.maximum(x * y, 0.5) * w + np.minimum(x, y) * w)


SHAPES = [((3, 4), (3, 4), (3, 4)), ((3, 4), (4,), (3, 1)), ((5,), (1,), (3, 5)), ((2, 0), (2, 1), ())]
SHAPES += [((1,), (1,), (4,))]


@pytest.mark.parametrize("dtypes", ["f8 f8 f8", "f4 f4 f4", "f4 f8 f4", "c16 f8 f8"])
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_gradients_where_a_mask_is_true(shapes, order, dtypes):
    """They are those of NumPy's engine, bit by bit and in the same order."""
    draw = np.random.default_rng(0)
    args = [np.asarray(draw.normal(size=shape), dtype, order=order) for shape, dtype in zip(shapes, dtypes.split())]
    if args[2].size > 2:
        args[2].flat[:3] = np.inf, np.nan, -0.0
    found = {}
    for engine in ("numpy", "native"):
        staged = ag.function(lambda *args: ag.grad(rectified, argnums=(0, 1))(*args), engine=engine)
        for _ in range(2):
            found[engine] = outcome(staged, *args)
    assert found["native"] == found["numpy"]
    if dtypes == "f8 f8 f8" and shapes[0] == (3, 4):
        (trace,) = staged.traces
        nodes = [node.op for kernel in trace.executable.native.kernels if kernel.compiled for node in kernel.nodes]
        assert "masked" in nodes
