"""Dask: staged functions in delayed calls, bags, arrays and data frames, in threads and processes."""

import numpy as np  # noqa: F401  (probes name it in their arguments)

import autograph as ag
from tests.ecosystem.probes import Probes, package

dask = package("dask")
package("pandas"), package("cloudpickle")
import dask.array
import dask.bag

PROBES = Probes()


@PROBES("4")
def delayed(stage, n):
    square = dask.delayed(stage(lambda x: x * x if x > 1 else x))
    total = dask.delayed(stage(lambda xs: sum(xs) if len(xs) > 1 else 0))
    return total([square(i) for i in range(n)]).compute(scheduler="threads")


@PROBES("4")
def delayed_in_processes(stage, n):
    k = 3
    square = dask.delayed(stage(lambda x: x * k if x > 1 else x))
    return dask.compute(*[square(i) for i in range(n)], scheduler="processes", num_workers=2)


@PROBES("range(6)")
def bags(stage, xs):
    bag = dask.bag.from_sequence(xs, npartitions=2)
    odd, double = stage(lambda x: x % 2 == 1), stage(lambda x: x * 2 if x > 2 else 0)
    return bag.filter(odd).map(double).compute(scheduler="threads"), bag.map(double).sum().compute(scheduler="sync")


@PROBES("range(6)")
def folds(stage, xs):
    larger = stage(lambda a, b: a if a > b else b)
    return dask.bag.from_sequence(xs, npartitions=3).fold(larger).compute(scheduler="threads")


@PROBES("np.arange(12.0).reshape(4, 3) - 5")
def blocks(stage, values):
    array = dask.array.from_array(values, chunks=(2, 3))
    scaled = array.map_blocks(stage(lambda block: block / block.max() if block.max() > 0 else block), dtype=float)
    return scaled.compute(scheduler="threads"), array.sum().compute(scheduler="sync")


@PROBES("np.arange(6.0)")
def computed_inside(values):
    array = dask.array.from_array(values, chunks=3)
    total = (array * 2).sum().compute(scheduler="sync")
    return total if total > 0 else 0.0


test_probe = PROBES.test()


def test_functions_keep_their_names_and_tokens():
    @ag.function
    def double(x):
        return x * 2

    assert dask.delayed(double)(1).key.startswith("double-")
    assert dask.base.tokenize(double) == dask.base.tokenize(double)
