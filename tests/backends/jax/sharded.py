"""Runs converted functions under `shard_map` on eight simulated devices; a process of its own, started by its test.

It prints a line of JSON for each check: its name, and what went wrong, if anything.
"""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable
from typing import Any

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

import autograph as ag  # noqa: E402
from tests.backends.jax.functions import module  # noqa: E402
from tests.backends.jax.running import copied, on_jax, on_numpy, same  # noqa: E402

FUNCTIONS = {
    "branches": "piecewise huber normalized_if_long match_on_integer soft_threshold",
    "loops": "power_of_data running_product until_limit found_or_else long_loop_with_break return_from_nested_loops",
    "whiles": "doubled_to_hundred newton_root writes_until while_true nested_whiles",
    "stores": "cumulative through_row rows_of_loop bubble_sort gauss_with_pivot in_dict",
    "state": "attributes dict_in_loop dataclass_in_loop append_in_long_loop",
    "models": "recurrent_network bouncing_ball markov_chain kalman",
}
MESH = jax.make_mesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
CHECKS: dict[str, Callable[[], None]] = {}


def check(function: Callable[[], None]) -> Callable[[], None]:
    CHECKS[function.__name__] = function
    return function


def split(function: Callable[..., Any], *specs: Any, out: Any = P("data"), **options: Any) -> Callable[..., Any]:
    """A function of the parts that each device has."""
    return jax.shard_map(function, mesh=MESH, in_specs=specs or P("data"), out_specs=out, **options)


def of_batches(theme: str, name: str) -> Callable[[], None]:
    """A check that a function gives the same where each device has one element of a batch."""

    def run() -> None:
        function, plain = getattr(module(theme), name), getattr(on_numpy(module(theme)), name)
        x, *rest = function.example
        program, given = ag.convert(function), on_jax(rest)
        batch = np.stack([x * (1 + 0.01 * at) for at in range(8)])
        wanted = np.stack([plain(*copied((row, *rest))) for row in batch])
        one = split(lambda x: program(x[0], *given)[None])
        same(one(batch), wanted)
        same(jax.jit(one)(batch), wanted)
        if function.reverse:
            slopes = jax.jit(jax.grad(lambda batch: one(batch).sum()))(batch)
            direct = jax.vmap(jax.grad(lambda x: program(x, *given).sum()))(batch)
            same(slopes, np.asarray(direct))

    return run


for theme, names in FUNCTIONS.items():
    for name in names.split():
        CHECKS[f"{theme}.{name}"] = of_batches(theme, name)


@check
def sums_over_devices() -> None:
    """`psum` in a branch's test and in a loop: replicated values in the carry beside those that differ."""

    def fit(w: Any, xs: Any, ys: Any) -> Any:
        for step in range(20):
            error = xs @ w - ys
            slope = jax.lax.psum(xs.T @ error, "data") / 16
            if jnp.abs(slope).max() < 1e-3:
                break
            w = w - 0.1 * slope
        return w, step

    random = np.random.default_rng(0)
    xs = random.standard_normal((16, 3))
    ys = xs @ np.array([1.0, -2.0, 0.5])
    w = np.zeros(3)
    for step in range(20):
        slope = xs.T @ (xs @ w - ys) / 16
        if np.abs(slope).max() < 1e-3:
            break
        w = w - 0.1 * slope
    same(jax.jit(split(ag.convert(fit), P(), P("data"), P("data"), out=P()))(np.zeros(3), xs, ys), (w, np.int64(step)))


@check
def different_trip_counts() -> None:
    """Each device leaves its loop when its own data say so."""

    def settle(x: Any) -> Any:
        n = 0
        while x[0] > 1:
            x = x / 2
            n += 1
        return x * n

    x = np.array([1.0, 3.0, 9.0, 0.5, 100.0, 2.0, 2.5, 7.0])
    wanted = [value / 2**n * n for value in x for n in [max(0, int(np.ceil(np.log2(value))))]]
    same(jax.jit(split(ag.convert(settle)))(x), np.array(wanted))


@check
def varying_and_replicated_branches() -> None:
    """One arm gives what all devices agree on, the other what each has: the types are made equal."""

    def f(x: Any, limit: Any) -> Any:
        if x.sum() > limit:
            y = x
        else:
            y = jnp.zeros_like(x) + limit
        total = 0.0
        for e in x:
            total += e if e > limit else limit
        return y, jax.lax.psum(total, "data")

    x = np.arange(16.0)
    y = np.where((x.reshape(8, 2).sum(axis=1) > 9)[:, None], x.reshape(8, 2), 9.0).reshape(16)
    program = jax.jit(split(ag.convert(f), P("data"), P(), out=(P("data"), P())))
    same(program(x, 9.0), (y, np.maximum(x, 9.0).sum()))


@check
def stores_on_each_device() -> None:
    def f(x: Any) -> Any:
        y = jnp.zeros(3)
        for i in range(3):
            y[i] = x[0] * i
        return y

    same(jax.jit(split(ag.convert(f)))(np.arange(8.0)), np.outer(np.arange(8.0), np.arange(3.0)).reshape(-1))


@check
def sharded_arguments_of_jit() -> None:
    """Without `shard_map`: the compiler splits the work as the arguments are."""

    def f(x: Any) -> Any:
        total = jnp.zeros(4)
        for row in x:
            if row.sum() > 0:
                total = total + row
        return total

    x = np.random.default_rng(0).standard_normal((16, 4))
    placed = jax.device_put(x, NamedSharding(MESH, P("data")))
    same(jax.jit(ag.convert(f))(placed), x[x.sum(axis=1) > 0].sum(axis=0))
    columns = jax.device_put(np.tile(x, 2), NamedSharding(MESH, P(None, "data")))
    same(jax.jit(ag.convert(lambda x: ag.convert(f)(x[:, :4])))(columns), x[x.sum(axis=1) > 0].sum(axis=0))


def main() -> None:
    """Run all checks."""
    assert len(jax.devices()) == 8
    for name, run in CHECKS.items():
        problem = None
        try:
            run()
        except Exception:
            problem = traceback.format_exc()
        print(json.dumps([name, problem]), flush=True)


if __name__ == "__main__":
    main()
