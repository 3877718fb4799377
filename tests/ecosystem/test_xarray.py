"""xarray: functions of arrays and groups, labels, and datasets."""

import numpy as np

from tests.ecosystem.probes import Probes, package

xr = package("xarray")
PROBES = Probes()

ARRAY = "xr.DataArray(np.arange(6.0).reshape(2, 3) - 2, dims=('x', 'y'), coords={'x': [10, 20]}, name='t')"


@PROBES(ARRAY)
def ufunc(stage, array):
    @stage
    def scaled(a):
        return a / a.max() if a.max() > 0 else a

    return xr.apply_ufunc(scaled, array)


@PROBES(ARRAY)
def vectorized(stage, array):
    @stage
    def spread(row):
        low, high = row[0], row[0]
        for value in row:
            low, high = min(low, value), max(high, value)
        return high - low

    return xr.apply_ufunc(spread, array, input_core_dims=[["y"]], vectorize=True)


@PROBES(ARRAY)
def groups(stage, array):
    return array.groupby("x").map(stage(lambda group: group - group.mean()))


@PROBES(ARRAY)
def labels(array):
    row = array.sel(x=20)
    return float(row.sum()) if row.max() > 0 else 0.0, row.where(row > 1, 0.0)


@PROBES(ARRAY)
def arithmetic(array):
    total = array * 0
    for k in range(3):
        total = total + array * k
    return total, total.mean("y"), np.sqrt(abs(array))


@PROBES(ARRAY)
def datasets(array):
    data = xr.Dataset({"t": array, "u": array * 2})
    data["v"] = data["t"] + data["u"]
    return data, [name for name in data.data_vars if data[name].max() > 5]


test_probe = PROBES.test()
