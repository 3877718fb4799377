"""Covariances and correlations."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import Vjp
from autograph.runtime.graph.types import TensorType, Type
from autograph.runtime.ops.gradients.elementwise import column, fit_list, nonzero, row, transposed
from autograph.runtime.ops.gradients.toolkit import as_array, ndim, shape
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.shape_rules import Unknown, array_like, constant, dtype_arg


def cov(m: Any, y: Any = None, rowvar: Any = True, *args: Any, dtype: Any = None, **kwargs: Any) -> Type:
    return _covariance(m, y, rowvar, dtype, zero_dim="array")


def corrcoef(x: Any, y: Any = None, rowvar: Any = True, *args: Any, dtype: Any = None, **kwargs: Any) -> Type:
    return _covariance(x, y, rowvar, dtype, zero_dim="scalar")


def _covariance(m: Any, y: Any, rowvar: Any, dtype: Any, zero_dim: str) -> Type:
    m = array_like(m)
    y = None if y is None else array_like(y)
    common = np.result_type(m.dtype, np.float64, *([] if y is None else [y.dtype]))
    found = common if dtype is None else dtype_arg(dtype)
    count: int | None = 0
    for each in (m, y):
        if each is not None:
            by_rows = constant(rowvar) or each.ndim < 2
            if not by_rows and each.shape[0] in (1, None):
                raise Unknown           # some versions take a single row for a variable all the same
            variables = 1 if each.ndim < 2 else each.shape[0 if by_rows else 1]
            count = None if count is None or variables is None else count + variables
    if count is None:
        raise Unknown               # one variable gives a number
    if count == 1:
        return TensorType(found, (), zero_dim)
    return TensorType(found, (count, count))


# ------------------------------------------------------------------------------------------------- derivatives


def _variables(m: Any, rowvar: Any) -> Any:
    """An array of observations with a row for each variable."""
    m = as_array(m)
    return row(m) if ndim(m) < 2 else m if rowvar else transposed(m)


def _centered(m: Any, y: Any, rowvar: Any) -> Any:
    """The observations of all variables minus their means."""
    every = np.concatenate([_variables(each, rowvar) for each in (m, y) if each is not None])
    return every - np.mean(every, 1, keepdims=True)


def _of_covariance(g: Any, part: int, m: Any, y: Any, rowvar: Any, degrees: Any) -> Any:
    """The gradient of the first or second array, from that of the covariance matrix."""
    every = _centered(m, y, rowvar)
    found = np.matmul(g + transposed(g), every) / (shape(every)[1] - degrees)
    first = shape(_variables(m, rowvar))[0]
    found, x = (found[first:], y) if part else (found[:first], m)
    return fit_list(found[0] if ndim(x) < 2 else found if rowvar else transposed(found), x)


def of_cov(part: int) -> Vjp:
    """The derivative of `np.cov` in its first or second array."""

    def vjp(
        g: Any, out: Any, m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None,
        fweights: Any = None, aweights: Any = None, *, dtype: Any = None
    ) -> Any:  # fmt: skip
        if fweights is not None or aweights is not None:
            raise NotImplementedError("the derivative of np.cov with weights")
        degrees = (0 if bias else 1) if ddof is None else ddof
        return _of_covariance(np.reshape(g, (1, 1)) if ndim(g) == 0 else g, part, m, y, rowvar, degrees)

    return vjp


def of_corrcoef(part: int) -> Vjp:
    """The derivative of `np.corrcoef` in its first or second array; the degrees of freedom cancel out."""

    def vjp(g: Any, out: Any, x: Any, y: Any = None, rowvar: Any = True, *_: Any, **__: Any) -> Any:
        if ndim(out) == 0:
            return np.zeros_like(as_array(x))
        variances = nonzero(np.var(_centered(x, y, rowvar), 1))
        scale = np.sqrt(column(variances) * row(variances))
        own = np.sum((g + transposed(g)) * out, 1) / (2 * variances)
        return _of_covariance(g / scale - np.diag(own), part, x, y, rowvar, 0)

    return vjp


functions("np.cov", cov, vjp=(of_cov(0), of_cov(1)))
functions("np.corrcoef", corrcoef, vjp=(of_corrcoef(0), of_corrcoef(1)))
