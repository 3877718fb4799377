"""Gradients of programs as people write them, against finite differences."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import autograph as ag
from tests.runtime.autodiff.test_gradients import differences

pytestmark = pytest.mark.once

X = np.array([0.8, -0.5, 0.3])
MATRIX = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.0]])
SERIES = np.linspace(-1.0, 1.0, 24).reshape(4, 6)


def rnn(w):
    h = np.zeros(6)
    for step in range(len(SERIES)):
        h = np.tanh(w[0] * SERIES[step] + w[1] * h + w[2])
    return np.sum(h * h)


def lstm(w):
    h, c = np.zeros(6), np.zeros(6)
    for row in SERIES:
        gate = 1 / (1 + np.exp(-(w[0] * row + h)))
        c = gate * c + (1 - gate) * np.tanh(w[1] * row)
        h = gate * np.tanh(c) + w[2]
    return np.sum(h)


def rk4(p):
    def slope(y):
        return np.array([y[1], -p[0] * y[0] - p[1] * y[1]])

    y, h = np.array([1.0, p[2]]), 0.01
    for _ in range(1000):
        a = slope(y)
        b = slope(y + h / 2 * a)
        c = slope(y + h / 2 * b)
        d = slope(y + h * c)
        y = y + h / 6 * (a + 2 * b + 2 * c + d)
    return y[0]


def newton(a):
    x = 1.0
    while abs(x * x - a) > 1e-12:
        x = x - (x * x - a) / (2 * x)
    return x


def clusters(points):
    centers = points[:2].copy()
    for _ in range(3):
        sums, counts = np.zeros(2), np.zeros(2)
        for point in points:
            nearest = np.argmin((centers - point) ** 2)
            sums[nearest] += point
            counts[nearest] += 1
        for k in range(2):
            if counts[k] > 0:
                centers[k] = sums[k] / counts[k]
    return np.sum(centers**3)


def soft_dtw(x):
    y = np.array([0.1, 0.5, -0.2])
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), 1e3)
    table[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            before = np.array([table[i - 1, j], table[i, j - 1], table[i - 1, j - 1]])
            table[i, j] = (x[i - 1] - y[j - 1]) ** 2 - np.log(np.sum(np.exp(-before)))
    return table[n, m]


def double_buffer(x):
    now, after = x.copy(), np.zeros_like(x)
    for _ in range(4):
        for i in range(len(x)):
            after[i] = 0.5 * now[i] + 0.25 * (now[i - 1] + now[(i + 1) % len(x)]) ** 2
        now, after = after, now
    return np.sum(now)


def cholesky(a):
    n = a.shape[0]
    lower = np.zeros((n, n))
    for j in range(n):
        for i in range(j, n):
            s = a[i, j]
            for k in range(j):
                s -= lower[i, k] * lower[j, k]
            lower[i, j] = math.sqrt(s) if i == j else s / lower[j, j]
    return np.sum(lower * lower * lower)


def prefix(x):
    sums = np.empty(len(x) + 1)
    sums[0] = 0
    for i, v in enumerate(x):
        sums[i + 1] = sums[i] + v
    return np.sum(sums[1:] ** 2)


def horner(x):
    result = 0.0
    for c in [3.0, -2.0, 1.0, 4.0]:
        result = result * x + c
    return result


def squaring(a):
    result, n = np.eye(3), 13
    while n > 0:
        if n % 2 == 1:
            result = result @ a
        a = a @ a * 0.1
        n //= 2
    return np.trace(result)


def tree(x):
    def encode(node):
        if isinstance(node, tuple):
            left, right = encode(node[0]), encode(node[1])
            return np.tanh(left * x[0] + right * x[1])
        return node * x[2]

    return encode(((1.0, 2.0), (3.0, (4.0, 5.0))))


def maml(w):
    def loss(v, scale):
        return np.sum((v * scale - 1.0) ** 2)

    total = 0.0
    for scale in [0.5, 1.0, 2.0]:
        fast = w
        for _ in range(2):
            fast = fast - 0.1 * ag.grad(loss)(fast, scale)
        total = total + loss(fast, scale)
    return total


def jumps(x):
    total, i = 0.0, 0
    while True:
        i += 1
        if i % 2 == 0:
            continue
        total += x[i % 3] ** 2
        if total > 2:
            return total * x[0]
        if i > 20:
            break
    return total


def comprehensions(x):
    squares = [v * v for v in x]
    return sum(s * i for i, s in enumerate(squares)) + sum([2 * v for v in x if v > 0]) + max(v for v in x)


def sorting_network(x):
    x = x.copy()
    for i, j in [(0, 1), (1, 2), (0, 1)]:
        if x[i] > x[j]:
            x[i], x[j] = x[j], x[i]
    return x[0] * 1 + x[1] * 2 + x[2] ** 2


def running_max(x):
    best, out = -np.inf, []
    for v in x:
        best = max(best, v)
        out.append(best)
    return np.sum(np.array(out) ** 2)


def list_of_lists(x):
    rows = []
    for i in range(3):
        row = []
        for j in range(i + 1):
            row.append(x[i] * x[j])
        rows.append(row)
    return sum(sum(row) for row in rows)


def backwards(x):
    t = 1.0
    for v in reversed(x):
        t = t * v + v
    for i, (u, v) in enumerate(zip(x, x[1:])):
        t += i * u * v
    return t


def nonlocals(x):
    count, total = 0, 0.0

    def add(v):
        nonlocal count, total
        count += 1
        total += v * count

    for v in x:
        add(v * v)
    return total


class Momentum:
    def __init__(self):
        self.speed, self.steps = 0.0, 0

    def step(self, w, slope):
        self.speed = 0.9 * self.speed - 0.1 * slope
        self.steps += 1
        return w + self.speed


def optimizer(w):
    m = Momentum()
    for _ in range(5):
        w = m.step(w, 2 * w)
    return np.sum(w) * m.steps


def no_iterations(x):
    t = x[0]
    for i in range(0):
        t = t * x[i]
    for v in x[3:]:
        t = t + v
    return t


def beam(x):
    scores = np.zeros(1)
    for step in range(3):
        found = (scores[:, None] + x * (step + 1)).ravel()
        best = np.argsort(-found)[:2]
        scores = found[best]
    return np.sum(scores**2)


def column_written(a):
    for j in range(1, 3):
        a[:, j] -= a[:, j - 1] * a[0, j]
    return np.sum(a**2)


def zero_dimensional(x):
    s = np.zeros(())
    for v in x:
        s[...] = s + v * v
    return s * s


PROGRAMS = [
    (rnn, X), (lstm, X), (rk4, X), (newton, 2.0), (clusters, np.array([0.1, 2.0, 0.4, 1.7])), (soft_dtw, X),
    (double_buffer, X), (cholesky, MATRIX), (prefix, X), (horner, 1.5), (squaring, MATRIX), (tree, X), (maml, X),
    (jumps, X), (comprehensions, X), (sorting_network, X), (running_max, X), (list_of_lists, X), (backwards, X),
    (nonlocals, X), (optimizer, X), (no_iterations, X), (beam, X), (column_written, MATRIX), (zero_dimensional, X),
]  # fmt: skip


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case[0].__name__)
def test_program(case):
    function, x = case
    wanted = differences(lambda each: function(copy.copy(each)), x)
    value, gradient = ag.value_and_grad(function)(copy.copy(x))
    assert value == function(copy.copy(x))
    np.testing.assert_allclose(gradient, wanted, rtol=1e-4, atol=1e-6)


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass
class Layer:
    weight: Any
    bias: Any


def test_namedtuples_and_dataclasses():
    found = ag.grad(lambda p: np.sum(p.x * p.x) * p.y)(Point(X, 2.0))
    assert type(found) is Point
    np.testing.assert_allclose(found.x, 4 * X)
    assert found.y == pytest.approx(np.sum(X * X))
    layer = ag.grad(lambda layer: np.sum(layer.weight * X) * layer.bias)(Layer(X * 2, 3.0))
    assert type(layer) is Layer
    np.testing.assert_allclose(layer.weight, 3 * X)


def test_hessian_by_nesting():
    def f(x):
        t = 1.0
        for v in x:
            t = t * v
        return t + np.sum(x**3)

    rows = [ag.grad(lambda x, i=i: ag.grad(f)(x)[i])(X) for i in range(3)]
    wanted = np.array([[6 * 0.8, 0.3, -0.5], [0.3, -3.0, 0.8], [-0.5, 0.8, 1.8]])
    np.testing.assert_allclose(rows, wanted)
