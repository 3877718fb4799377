"""`isinstance` of numbers and arrays whose class hangs on the run."""

import numbers

import numpy as np

from tests.corpus_staged import calls


class Meter:
    pass


class Even(type):
    def __instancecheck__(cls, thing):
        return thing % 2 == 0


class Number(metaclass=Even):
    pass


@calls("np.arange(3), 2", "np.arange(3.0), 0", "np.arange(3), 2.5")
def of_a_class_that_hangs_on_the_run(x, n):
    state = 0
    for i in range(n if isinstance(n, int) else 1):
        state = state + x[i] if i else np.float32(1)
        if isinstance(state, tuple):
            state = state[0]
        if isinstance(state, (Meter, list)) or isinstance(state, str | dict):
            state = 5
    return state, isinstance(x, np.ndarray), isinstance(n, int), isinstance(n, (float, Meter)), isinstance(x[0], float)


@calls("3", "2", "2.5")
def of_a_class_that_decides_itself(n):
    return isinstance(n, Number), isinstance(n, numbers.Integral), isinstance(n, numbers.Number)


@calls("np.ones(2)")
def of_no_class(x):
    return isinstance(x, 5)
