"""How NumPy takes floating-point errors, and prints arrays: set for a while, or for good."""

import warnings

import numpy as np
from numpy import errstate

from tests.corpus_staged import calls


@calls("np.array([1.0, 0, -1])", "np.array([2.0])", "np.array([0, 1])")
def ignored(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(x) / x
    return y / 0


@calls("np.array([1.0, 0, -1]), 3", "np.array([1.0]), np.int64(0)", "np.array([1.0]), 1")
def raised_in_a_loop(x, n):
    out = []
    for i in range(n):
        with errstate(all="raise"):
            out.append(x / i)
    return out


@calls("np.array([1.0, 0])", "np.array([-1.0, 0])")
def same_inside_and_outside(x):
    y = np.log(x)
    with np.errstate(divide="ignore"):
        z = np.log(x)
    return y + z + np.log(x)


@calls("np.array([1.0, 0])", "np.array([-1.0, 0])")
def returned_from_inside(x):
    with np.errstate(divide="ignore"):
        if x.sum() > 0:
            return np.log(x)
        z = np.sqrt(x)
    return z / 0


@calls("np.array([1.0])", "np.array([0.0])")
def warnings_as_errors(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return np.log(x)


@calls("np.array([1.0, 2.0])", "np.array([2 / 3])")
def printed_shorter(x):
    with np.printoptions(precision=2), np.errstate(all="ignore"):
        print(x / 3)
        text = str(x / 3)
    return text + f"{x / 3}"


@calls("np.array([0.0])", "np.array([3.0, -1.0])")
def nested(x):
    with np.errstate(divide="ignore"):
        while x.sum() < 10:
            with np.errstate(over="raise"):
                x = x + 1
            x = x * 2
        return x, 1 / (x - x)


@calls("np.array([1.0])", "np.array([0.0])")
def raises_inside(x):
    with np.errstate(divide="ignore"):
        y = 1 / x
        if y.max() == np.inf:
            raise ValueError(f"infinite: {y}")
        return y


def _safe_ratio(a, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(b == 0, 0, a / b)


@calls("np.array([1.0, 2.0]), np.array([0.0, 4.0])", "np.array([1]), np.array([2])", "1.0, np.float64(0)")
def in_a_function_that_is_called(a, b):
    total = _safe_ratio(a, b)
    return total, _safe_ratio(total, total), a / b


@calls("np.array([0.0])", "np.array([1.0])")
def set_for_good(x):
    before = np.geterr()["divide"]
    np.seterr(divide="ignore")
    y = 1 / x
    np.seterr(divide=before)
    return y + 1 / x, before


@calls("np.array([0.0])", "np.array([1.0])")
def caught(x):
    with np.errstate(divide="raise"):
        try:
            return 1 / x
        except FloatingPointError as error:
            return str(error)


@calls("np.array([0.0])", "np.array([1.0])")
def recorded(x):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        y = 1 / x
    return y, [str(each.message) for each in found]


@np.errstate(divide="ignore")
def _decorated(x):
    return 1 / x


@calls("np.array([0.0])", "np.array([1.0])")
def decorated(x):
    return _decorated(x) + 1 / x


@calls("np.array([-1.0])", "np.array([5.0])")
def warns_in_the_test(x):
    while np.log(x).sum() < 3:
        x = x * 2
    return x
