"""Stores into arrays, also through aliases and views, and in called functions."""

import numpy as np

from autograph.testing.corpus import calls


@calls("np.zeros(3), 1, 5.0")
def at_an_index(xs, i, value):
    xs[i] = value
    return xs


@calls("np.arange(3.0), 2")
def augmented(xs, i):
    xs[i] += 10
    xs[0] -= xs[i]
    return xs


@calls("np.array([1.0, 2.0])", "np.array([-1.0, 2.0])")
def in_a_branch(xs):
    if xs[0] > 0:
        xs[0] = 9.0
    else:
        xs[1] = 7.0
    return xs


@calls("np.array([1.0, 2.0, 3.0])")
def prefix_sums(xs):
    for i in range(1, len(xs)):
        xs[i] += xs[i - 1]
    return xs


@calls("np.zeros(8), 5")
def in_a_while_loop(xs, n):
    while n > 0:
        xs[n] = n * n
        n -= 2
    return xs


@calls("np.arange(6.0)")
def slices(xs):
    xs[:3] = xs[3:]
    xs[4:] = 0.0
    return xs


@calls("np.arange(6.0).reshape(2, 3), 1")
def in_two_dimensions(m, i):
    m[i, 0] = 50.0
    m[0, i] += 7.0
    return m


@calls("np.array([5, 2, 4, 1])")
def insertion_sort(xs):
    for i in range(1, len(xs)):
        j = i
        while j > 0 and xs[j - 1] > xs[j]:
            held = xs[j]
            xs[j] = xs[j - 1]
            xs[j - 1] = held
            j -= 1
    return xs


@calls("np.array([1.0, 2.0]), 3.0")
def through_an_alias(xs, value):
    ys = xs
    ys[0] = value
    return xs, ys


@calls("np.array([1.0, 2.0]), 3.0")
def into_a_copy(xs, value):
    ys = xs.copy()
    ys[0] = value
    return xs, ys


@calls("np.array([1.0, 2.0])")
def augmented_name(xs):
    ys = xs
    ys += 1
    return xs


@calls("np.array([1.0, 2.0])", "np.array([-1.0, 2.0])")
def alias_in_a_branch(xs):
    ys = xs
    if xs[0] > 0:
        ys[1] = 5.0
    return xs


@calls("np.zeros((2, 2)), 5.0")
def through_a_row(m, value):
    row = m[1]
    row[0] = value
    return m


@calls("np.ones((2, 2))")
def through_the_rows_of_a_loop(m):
    for row in m:
        row[0] = 5.0
    return m


@calls("np.zeros(5)")
def through_a_slice(xs):
    middle = xs[1:4]
    middle[0] = 1.0
    middle += 2.0
    return xs


def fill(xs, value):
    for i in range(len(xs)):
        xs[i] = value


@calls("np.zeros(3), 2.0")
def in_a_callee(xs, value):
    fill(xs, value)
    return xs


@calls("np.zeros(3), 2.0", "np.zeros(3), -2.0")
def in_a_callee_in_a_branch(xs, value):
    if value > 0:
        fill(xs, value)
    return xs


@calls("np.zeros(3), 2.0")
def held_by_a_list(xs, value):
    held = [xs, xs + 1]
    for i in range(3):
        held[1][i] = value * i
    held[0][2] = value
    return xs, held[1]


@calls("4", "2")
def into_a_new_array(n):
    counts = np.zeros(5, dtype=np.int64)
    while n > 0:
        counts[n] += 1
        n -= 1
    return counts


@calls("np.array([3.0, -1.0, 2.0])")
def into_another_array(xs):
    ys = xs * 0
    for i, x in enumerate(xs):
        if x > 0:
            ys[i] = x
    return ys
