"""Iterators and functions that outlive the call they were made in."""

import functools
import itertools

import numpy as np

from tests.corpus_staged import calls


@calls("np.arange(3)", "[1, 2]")
def generator_returned(x):
    def each():
        for v in x:
            yield v * 2

    return list(each()), next(each())


@calls("np.arange(3)", "2.5")
def iterator_kept(x):
    made = [iter([x, x + 1])]
    return next(made[0]), [*made[0]]


@calls("np.arange(3)", "2.5")
def partial_made(x):
    add = functools.partial(np.add, x, dtype=float)
    return add(1), (add if x is None else add.args[0])


@calls("np.arange(3)", "[2.5, 1]")
def chained(x):
    return list(itertools.chain(x, x[:1])), list(zip(x, itertools.count(1)))
