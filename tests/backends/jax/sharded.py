"""Runs converted functions under `shard_map` on eight simulated devices, in a process that `test_sharded.py` starts.

It prints a line of JSON for each check: its name, and what went wrong, if anything.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import autograph as ag
from tests.backends.jax.cases import CLOSE, NAMES, Case
from tests.backends.jax.functions import THEMES
from tests.backends.jax.running import same

DEVICES = 8


def mesh() -> Any:
    return jax.make_mesh((DEVICES,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))


def split(function: Callable[..., Any], *specs: Any, out: Any = P("data"), **options: Any) -> Callable[..., Any]:
    """A function of the parts that each device has."""
    return jax.shard_map(function, mesh=mesh(), in_specs=specs or P("data"), out_specs=out, **options)


# Each function of `functions`, on a batch of which each device has one element ----------------------------------------


class Sharded:
    """A function, and a batch of its arguments: one for each device."""

    def __init__(self, theme: str, name: str) -> None:
        self.case = case = Case(theme, name)
        self.batch = np.stack([case.x * (1 + 0.007 * at) for at in range(DEVICES)])
        self.one = self.of_rows(case.program)

    def of_rows(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The function of a batch that calls a function with the row of each device."""
        return split(lambda rows: function(rows[0])[None])

    def each(self, function: Callable[[Any], Any], batch: Any = None) -> np.ndarray:
        return np.stack([function(x) for x in (self.batch if batch is None else batch)])

    def value(self) -> None:
        same(jax.jit(self.one)(self.batch), self.each(self.case.plain))

    def jvp_around(self) -> None:
        tangents = jnp.stack([self.case.direction] * DEVICES)
        along = jax.jit(lambda batch: jax.jvp(self.one, (batch,), (tangents,))[1])
        same(along(self.batch), self.each(self.case.directional), **CLOSE)

    def jvp_inside(self) -> None:
        def slope(x: Any) -> Any:
            return jax.jvp(self.case.program, (x,), (x * 0 + self.case.direction,))[1]      # varies as `x` does

        along = jax.jit(self.of_rows(slope))
        same(along(self.batch), self.each(self.case.directional), **CLOSE)

    def vmap_around(self) -> None:
        two = np.stack([self.batch, self.batch * 0.98])
        wanted = np.stack([self.each(self.case.plain, batch) for batch in two])
        same(jax.jit(jax.vmap(self.one))(two), wanted)

    def vmap_inside(self) -> None:
        batch = np.concatenate([self.batch, self.batch * 0.98])
        same(jax.jit(split(jax.vmap(self.case.program)))(batch), self.each(self.case.plain, batch))

    def grad_around(self) -> None:
        slopes = jax.jit(jax.grad(lambda batch: (self.one(batch) * self.case.weights).sum()))
        same(slopes(self.batch), self.each(self.case.slope), **CLOSE)

    def grad_inside(self) -> None:
        slopes = jax.jit(self.of_rows(jax.grad(self.case.loss)))
        same(slopes(self.batch), self.each(self.case.slope), **CLOSE)


WAYS = ("value", "jvp_around", "jvp_inside", "vmap_around", "vmap_inside", "grad_around", "grad_inside")


def checks_of(theme: str, ways: Sequence[str]) -> Iterator[tuple[str, Callable[[], None]]]:
    """The checks of a theme, by name."""
    if theme not in THEMES:
        yield from ((function.__name__, function) for function in PROGRAMS)
        return
    for name in [name for one, name in NAMES if one == theme]:
        sharded = Sharded(theme, name)
        for way in ways:
            if sharded.case.reverse or not way.startswith("grad"):
                yield f"{name}: {way}", getattr(sharded, way)


# Programs with collectives, or with more than one kind of values ------------------------------------------------------

PROGRAMS: list[Callable[[], None]] = []


def check(function: Callable[[], None]) -> Callable[[], None]:
    PROGRAMS.append(function)
    return function


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
def a_ring_of_devices_in_a_loop() -> None:
    """`ppermute` in each iteration, and a `break` on which all devices agree; with derivatives."""

    def ring(x: Any) -> Any:
        total = x
        for step in range(20):
            x = jax.lax.ppermute(x, "data", [(at, (at + 1) % DEVICES) for at in range(DEVICES)])
            if step % 2 == 0:
                continue
            total = total + x**2
            if jax.lax.pmax(jax.lax.stop_gradient(total).max(), "data") > 200:
                break
        return total

    def plain(x: Any) -> Any:
        total = x
        for step in range(20):
            x = np.roll(x, 1)
            if step % 2 == 0:
                continue
            total = total + x**2
            if total.max() > 200:
                break
        return total

    x, program = np.arange(8.0), split(ag.convert(ring))
    same(jax.jit(program)(x), plain(x))
    slope = jax.jit(jax.grad(lambda x: (program(x) * x).sum()))(x)
    steps = 1e-6 * np.eye(8)
    around = [((plain(x + step) * (x + step)).sum() - (plain(x - step) * (x - step)).sum()) / 2e-6 for step in steps]
    same(slope, np.array(around), **CLOSE)


@check
def branches_by_the_number_of_the_device() -> None:
    def f(x: Any) -> Any:
        at = jax.lax.axis_index("data")
        if at == 0:
            y = x * 10
        elif at % 2 == 1:
            y = -x
        else:
            y = x + at
        return y

    wanted = [10 * 5.0, *(-v if at % 2 else v + at for at, v in list(enumerate(range(5, 13)))[1:])]
    same(jax.jit(split(ag.convert(f)))(np.arange(5.0, 13.0)), np.array(wanted, float))


@check
def collectives_in_branches_that_all_devices_take() -> None:
    def f(x: Any, flag: Any) -> Any:
        if flag > 0:
            y = jax.lax.psum(x, "data")
        else:
            y = jax.lax.psum(2 * x, "data")
        return y

    program = jax.jit(split(ag.convert(f), P("data"), P(), out=P()))
    same((program(np.arange(8.0), 1), program(np.arange(8.0), -1)), (np.array([28.0]), np.array([56.0])))


def of_shared_weights(function: Callable[..., Any]) -> None:
    """Compare the slopes of a number that all devices share, in a function that takes different ways on them."""
    x, specs = jnp.arange(8.0), (P(), P("data"))
    program = split(ag.convert(function), *specs)
    around = jax.jit(jax.grad(lambda w: program(w, x).sum()))(0.5)
    slope = (program(0.5 + 1e-6, x).sum() - program(0.5 - 1e-6, x).sum()) / 2e-6
    same(around, np.asarray(slope), **CLOSE)
    inside = jax.jit(split(lambda w, x: jax.grad(lambda w: ag.convert(function)(w, x).sum())(w), *specs, out=P()))
    same(inside(0.5, x), np.asarray(slope), **CLOSE)


@check
def shared_weights_in_a_branch_of_some_devices() -> None:
    """The sum over devices that their derivative is must not be part of the branch: the others would never come."""

    def f(w: Any, x: Any) -> Any:
        if x[0] > 3:
            y = jnp.sin(w) * x
            if x[0] > 5:
                y = jnp.clip(y * w, -2.0, 2.0)
        else:
            y = x * 2
        return y

    of_shared_weights(f)


@check
def shared_weights_in_a_loop_of_different_lengths() -> None:
    def f(w: Any, x: Any) -> Any:
        y, shift = x, jnp.ones(1)
        while y[0] < 20:
            ag.set_loop_options(max_trips=20)
            y = y * (1 + w * w) + shift
        i = 0
        while i < 12:
            y = y + w if x[0] > 3 else y
            i += 1
        return y

    of_shared_weights(f)


@check
def loops_of_known_length_in_a_branch_of_some_devices() -> None:
    def f(w: Any, x: Any) -> Any:
        y = x
        if x[0] > 3:
            i = 0
            while i < 12:
                y = y * w + jnp.zeros(1)
                i += 1
        return y

    of_shared_weights(f)


@check
def collectives_that_some_devices_would_not_reach() -> None:
    """They are refused: the program would hang."""

    def in_branch(x: Any) -> Any:
        if x[0] > 3:
            x = jax.lax.psum(x, "data")
        return x

    def in_loop(x: Any) -> Any:
        while x[0] < 100:
            x = x * 2 + jax.lax.pmax(x, "data")
        return x

    for function in (in_branch, in_loop):
        try:
            jax.jit(split(ag.convert(function)))(np.arange(8.0))
        except ag.errors.StagingError as error:
            assert "differs between the devices of the axis 'data'" in error.message, error.message
        else:
            raise AssertionError(f"{function.__name__} is not refused")


@check
def stores_into_a_gathered_array() -> None:
    def f(x: Any) -> Any:
        table = jnp.zeros(DEVICES)
        table[jax.lax.axis_index("data")] = x[0]
        table = jax.lax.psum(table, "data")
        best = table[0]
        for e in table:
            if e > best:
                best = e
        table[0] = best
        return table

    same(jax.jit(split(ag.convert(f), out=P()))(np.arange(1.0, 9.0)), np.array([8.0, *np.arange(2.0, 9.0)]))


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
    placed = jax.device_put(x, NamedSharding(mesh(), P("data")))
    same(jax.jit(ag.convert(f))(placed), x[x.sum(axis=1) > 0].sum(axis=0))
    columns = jax.device_put(np.tile(x, 2), NamedSharding(mesh(), P(None, "data")))
    same(jax.jit(ag.convert(lambda x: ag.convert(f)(x[:, :4])))(columns), x[x.sum(axis=1) > 0].sum(axis=0))


def main(theme: str, *ways: str) -> None:
    """Run the checks of a theme, in some ways or all."""
    jax.config.update("jax_enable_x64", True)
    assert len(jax.devices()) == DEVICES
    for name, run in checks_of(theme, ways or WAYS):
        problem = None
        try:
            run()
        except Exception:
            problem = traceback.format_exc()
        print(json.dumps([name, problem]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
