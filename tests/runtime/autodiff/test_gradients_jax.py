"""Gradients beside JAX's, where that is installed: of every op that both libraries have, and of programs.

The calls are those of the tables that finite differences are held against, in ops/. Where JAX has another derivative on
purpose, or another one than its own values have, `DIFFERENT` says so.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import autograph as ag  # noqa: E402
from autograph.runtime.graph.opdef import OPS  # noqa: E402
from tests.runtime.derivatives import cotangent  # noqa: E402
from tests.runtime.jax_oracle import Call, of_jax  # noqa: E402
from tests.runtime.ops.gradients import test_derivatives, test_derivatives_arrays, test_derivatives_linalg  # noqa: E402

jnp = jax.numpy
pytestmark = pytest.mark.once

# JAX has the function, but takes no derivative of it, or other arguments.
REFUSED = frozenset(
    ".choose .compress math.hypot math.nextafter math.prod np.compress np.linalg.eig np.nextafter".split()
)
# What is different with JAX:
DIFFERENT = {
    ".item": "it gives no numbers of Python that depend on anything",
    "np.arange": "it takes the ends of the range for constants",
    "np.arccosh": "of complex numbers with a negative real part it has the other sign",
    "np.linalg.eigvals": "it gives complex numbers always",
    "np.linalg.lstsq": "it gives other residuals where there are none",
    "np.nanstd": "it is NaN where one number is left, and the deviation is always 0",
    "np.sign": "it takes that of complex numbers, z / |z|, for constant",
    "np.std": "it is NaN where one number is left, and the deviation is always 0",
    "np.unique": "it takes the numbers that there are for constants",
}


def calls() -> dict[str, list[Call]]:
    """The calls of each op that JAX has, too."""
    found: dict[str, list[Call]] = {}
    cases = [case for table in test_derivatives.CASES.values() for case in table]
    linalg = test_derivatives_linalg
    rest = linalg.PRODUCTS + linalg.EINSUM + linalg.EQUATIONS + linalg.DECOMPOSITIONS + linalg.SYMMETRIC + linalg.NORMS
    for op, *args in test_derivatives_arrays.CASES + rest:
        kwargs = args.pop() if isinstance(args[-1], dict) else {}
        cases.append((op, tuple(args), kwargs))
    for op, args, kwargs in cases:
        if op in OPS and of_jax(op) is not None:
            call = Call(op, args, kwargs)
            if call.floats:
                found.setdefault(op, []).append(call)
    return found


CALLS = calls()


def leaves(structure: Any) -> list[Any]:
    return jax.tree.leaves(structure)


def to_jax(gradient: Any, like: Any) -> Any:
    """A gradient in JAX's form: that of what is an integer is of a dtype of its own."""

    def each(value: Any, array: Any) -> Any:
        if np.asarray(array).dtype.kind not in "fc":
            return np.zeros(np.shape(array), jax.dtypes.float0)
        return jnp.asarray(value, array.dtype)

    parts = [each(*pair) for pair in zip(leaves(gradient), leaves(like), strict=True)]
    return jax.tree.unflatten(jax.tree.structure(like), parts)


def assert_same(mine: Any, theirs: Any, what: str) -> None:
    for ours, wanted in zip(leaves(mine), leaves(theirs), strict=True):
        if np.asarray(wanted).dtype == jax.dtypes.float0:
            continue
        tolerance = 1e-3 if np.asarray(wanted).dtype in (np.float32, np.complex64) else 1e-6
        assert np.shape(ours) == np.shape(wanted), what
        assert np.asarray(wanted).dtype.kind in "iub" or np.asarray(ours).dtype == np.asarray(wanted).dtype, what
        np.testing.assert_allclose(ours, wanted, rtol=tolerance, atol=tolerance, err_msg=what)


def compare(call: Call) -> bool:
    """Compare the derivatives of a call, in reverse and forward; whether JAX knows any."""
    ours, theirs = call.ours(), call.jaxs()
    floats = jax.tree.map(jnp.asarray, call.floats)
    what = f"{call.op}{call.args} {call.kwargs or ''}"
    try:
        out, pullback = jax.vjp(theirs, *floats)
        g = cotangent(ours(*call.floats))
        wanted = pullback(to_jax(g, out))
    except (TypeError, ValueError, NotImplementedError, jax.errors.JAXTypeError, AttributeError):
        return False
    value, pull = ag.vjp(ours, *call.floats)
    assert_same(value, out, f"the value of {what}")
    assert_same(pull(g), wanted, f"the gradient of {what}")
    if not isinstance(value, list):  # of which jvp does not know how long they are
        changes = jax.tree.map(lambda x: np.cos(3 * np.asarray(x)) if np.ndim(x) else type(x)(0.7), call.floats)
        tangents = jax.tree.map(lambda x, change: jnp.asarray(change, x.dtype), floats, changes)
        moved = jax.jvp(theirs, tuple(floats), tuple(tangents))[1]
        assert_same(ag.jvp(ours, call.floats, changes)[1], moved, f"the change of {what}")
    return True


@pytest.fixture(autouse=True)
def quiet_and_small():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    jax.clear_caches()


@pytest.mark.parametrize("op", [op for op in CALLS if op not in DIFFERENT])
def test_gradients_of_ops(op: str) -> None:
    assert any(map(compare, CALLS[op])) or op in REFUSED


@pytest.mark.slow
@pytest.mark.parametrize("op", [op for op, found in CALLS.items() if op not in DIFFERENT and len(found) > 1])
def test_gradients_of_every_call(op: str) -> None:
    for call in CALLS[op]:
        compare(call)


SHAPES = [((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 3)), ((2, 3), ()), ((0, 3), (1, 3)), ((3,), (3,))]
DTYPES = ["f4 f4", "f8 f8", "f4 f8", "c16 f8", "f4 c8", "c16 c16"]
OF_TWO = {
    "f": "add subtract multiply divide power maximum minimum hypot arctan2 logaddexp".split(),
    "c": "add subtract multiply divide power".split(),
}


def numbers(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    """Some that no function has a kink or a cut at."""
    found = np.random.default_rng(seed).uniform(0.3, 2.0, shape)
    turned = np.exp(0.4j * found) if dtype[0] == "c" else 1
    return np.asarray(found * turned).astype(dtype)[()]


@pytest.mark.slow
@pytest.mark.parametrize("dtypes", DTYPES)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_broadcasting(shapes: Any, dtypes: str) -> None:
    args = tuple(numbers(shape, dtype, seed) for seed, (shape, dtype) in enumerate(zip(shapes, dtypes.split())))
    for name in OF_TWO["c" if "c" in dtypes else "f"]:
        assert compare(Call(f"np.{name}", args, {})), name


def test_there_is_much_to_compare() -> None:
    assert len(CALLS) > 250
