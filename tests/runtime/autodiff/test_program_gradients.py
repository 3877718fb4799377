"""Derivatives of programs as people write them, to the second, beside differences: models, filters, solvers, games."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.common import pytree

pytestmark = pytest.mark.once

RNG = np.random.default_rng(0)


def draw(*shape: int) -> Any:
    return RNG.normal(size=shape) * 0.5


XS, YS = draw(5, 3), draw(5)
SEQ, LENGTHS, SIZES = draw(3, 6, 2), np.array([6, 2, 4]), [3, 1]
LABEL, MASK, EPS = [0, 1, 0], np.tri(5, dtype=bool), draw(5, 2)

def squashed(x):
    return 1 / (1 + np.exp(-x))


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []


def at(*args: Any) -> Callable[..., Any]:
    """Notes a program with what it is called with: it is differentiated in the first argument."""

    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append((function, args))
        return function

    return note


@at(draw(3, 3))
def rnn_lengths(w):
    total = 0.0
    for seq, length in zip(SEQ, LENGTHS):
        h = np.zeros(3)
        for t, x in enumerate(seq):
            if t >= length:
                break
            h = np.tanh(w @ h + np.concatenate([x, [1.0]]) @ w)
        total += np.sum(h**2)
    return total / len(LENGTHS)


@at(np.array([0.3, 0.8]))
def fixed_point(a):
    x = np.zeros(2)
    for _ in range(200):
        new = np.cos(a * x + 0.1) * 0.5
        if np.max(np.abs(new - x)) < 1e-13:
            x = new
            break
        x = new
    return x @ np.array([1.0, 2.0])


@at({"w": draw(3), "b": 0.1})
def per_example(p):
    losses = []
    for x, y in zip(XS, YS):
        pred = np.tanh(x @ p["w"] + p["b"])
        losses.append((pred - y)**2)
    losses = np.array(losses)
    weights = np.exp(-losses) / np.sum(np.exp(-losses))
    return np.sum(weights * losses)


@at({"e": draw(3, 4), "d": draw(2, 3), "s": 0.3})
def vae(p):
    stats = XS @ p["e"]
    mu, logvar = np.split(stats, 2, axis=1)
    logvar = np.clip(logvar, -4, 4)
    z = mu + np.exp(0.5 * logvar) * EPS
    out = z @ p["d"]
    rec = np.sum((out - XS)**2) / (2 * p["s"]**2) + XS.size * np.log(p["s"])
    kl = -0.5 * np.sum(1 + logvar - mu**2 - np.exp(logvar))
    return rec + kl


@at(np.array([0.3, 1.2]), 40)
def bounce(s, n):
    y, v = s[0], s[1]
    hits = 0
    for _ in range(n):
        v = v - 9.8 * 0.02
        y = y + v * 0.02
        if y < 0:
            y = -y
            v = -0.8 * v
            hits += 1
        elif y > 2.0:
            v = -v
    return y * y + 0.1 * v + hits


@at(draw(3, 3))
def ctc(logits):
    logp = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    count = len(LABEL)
    alpha = np.full(count, -np.inf)
    alpha[0] = logp[0, LABEL[0]]
    alpha[1] = logp[0, LABEL[1]]
    for t in range(1, len(logp)):
        new = np.full(count, -np.inf)
        for s in range(count):
            best = alpha[s]
            if s > 0:
                best = np.logaddexp(best, alpha[s - 1])
            if s > 1 and LABEL[s] != 0 and LABEL[s] != LABEL[s - 2]:
                best = np.logaddexp(best, alpha[s - 2])
            new[s] = best + logp[t, LABEL[s]]
        alpha = new
    return -np.logaddexp(alpha[-1], alpha[-2])


@at({"w": draw(5, 12), "b": draw(12)})
def lstm_packed(p):
    h, c = np.zeros((3, 3)), np.zeros((3, 3))
    outs = []
    xs = SEQ[:, :4]
    for t, size in enumerate(SIZES):
        z = np.concatenate([xs[:size, t], h[:size]], axis=1) @ p["w"] + p["b"]
        i, f, g, o = np.split(z, 4, axis=1)
        cn = squashed(f) * c[:size] + squashed(i) * np.tanh(g)
        hn = squashed(o) * np.tanh(cn)
        outs.append(hn)
        h = np.concatenate([hn, h[size:]])
        c = np.concatenate([cn, c[size:]])
    return np.sum(np.concatenate(outs)**2) + np.sum(h)


@at({"a": draw(3, 2), "b": draw(2, 3)}, draw(3, 3))
def lora_attention(lora, w):
    q = XS @ (w + 0.5 * lora["a"] @ lora["b"])
    s = q @ XS.T / math.sqrt(3)
    s = np.where(MASK, s, -np.inf)
    s = s - s.max(axis=-1, keepdims=True)
    e = np.exp(s)
    att = e / e.sum(axis=-1, keepdims=True)
    return np.sum((att @ XS)**2)


@at(draw(4, 2), draw(3, 2))
def sinkhorn(x, y):
    cost = np.sum((x[:, None] - y[None])**2, -1)
    k = np.exp(-cost / 0.5)
    u, v = np.ones(4) / 4, np.ones(3) / 3
    for _ in range(100):
        old = u
        u = (1 / 4) / (k @ v)
        v = (1 / 3) / (k.T @ u)
        if np.abs(u - old).max() < 1e-12:
            break
    return np.sum(u[:, None] * k * v * cost)


@at(draw(3, 4), draw(4, 3, 2))
def moe(gate, experts):
    out = np.zeros((5, 2))
    for i, x in enumerate(XS):
        scores = x @ gate
        top = np.argsort(scores)[-2:]
        w = np.exp(scores[top] - scores[top].max())
        w = w / w.sum()
        for j, k in enumerate(top):
            out[i] += w[j] * (x @ experts[k])
    return np.sum(out**2)


@at([draw(3, 4), draw(4)])
def maml(params):
    def loss(ps, x, y):
        return np.mean((np.tanh(x @ ps[0]) @ ps[1] - y)**2)
    total = 0.0
    for k in range(2):
        fast = params
        for _ in range(1):
            gs = ag.grad(loss)(fast, XS[:3], YS[:3] * (k + 1))
            fast = [p - 0.1 * g for p, g in zip(fast, gs)]
        total = total + loss(fast, XS[3:], YS[3:])
    return total


@at(draw(3))
def grad_penalty(w):
    f = lambda w: np.sum(np.tanh(XS @ w)**2)
    g = ag.grad(f)(w)
    return f(w) + 0.5 * np.sum(g * g)


@at(draw(3, 3))
def beam(scores):
    beams = [(0.0, 0)]
    for t in range(2):
        cand = []
        for s, last in beams:
            for k in range(3):
                cand.append((s + scores[t, k] * (1 + 0.1 * last), k))
        cand.sort(key=lambda c: -c[0])
        beams = cand[:2]
    return beams[0][0] + 0.5 * beams[1][0]


@at(draw(3))
def early_stop(w):
    best, best_loss, bad = w, np.inf, 0
    for epoch in range(20):
        r = XS @ w - YS
        loss = np.mean(r**2)
        if loss < best_loss - 1e-3:
            best, best_loss, bad = w, loss, 0
        else:
            bad += 1
            if bad >= 2:
                break
        w = w - 0.3 * XS.T @ r / 5
    return best_loss + np.sum(best)


@at(draw(6), 4)
def scan_with_history(x, k):
    hist = {}
    for i, v in enumerate(x):
        hist.setdefault(i % 2, []).append(v * v)
        if len(hist[i % 2]) > 2:
            hist[i % 2].pop(0)
    return sum(sum(v) for v in hist.values()) + hist[0][-1]


@at(draw(4), draw(4))
def line_search(x, d):
    f = lambda z: np.sum(z**4) + np.sum(z**2)
    a = 1.0
    f0 = f(x)
    while f(x + a * d) > f0 - 0.1 * a and a > 1e-3:
        a *= 0.5
    return f(x + a * d)


@at(draw(4))
def itertools_pairs(x):
    t = 0.0
    for a, b in itertools.combinations(x, 2):
        t = t + np.exp(-(a - b)**2)
    for a, b in itertools.pairwise(x):
        t += a * b
    return t + functools.reduce(operator.mul, x)


@at(draw(6))
def online_softmax(x):
    m, s, acc = -np.inf, 0.0, 0.0
    for v in x:
        new = np.maximum(m, v)
        s = s * np.exp(m - new) + np.exp(v - new)
        acc = acc * np.exp(m - new) + np.exp(v - new) * v
        m = new
    return acc / s


@at(np.array([0.5, 0.2]), 25)
def sir_model(p, days):
    s, i, r = 0.99, 0.01, 0.0
    peak = 0.0
    for day in range(days):
        lock = 0.5 if i > 0.05 else 1.0
        new = p[0] * lock * s * i
        rec = p[1] * i
        s, i, r = s - new, i + new - rec, r + rec
        peak = max(peak, i)
    return peak + r


@at(draw(2, 3), 3)
def esn_delay(w, delay):
    buf = [np.zeros(2)] * delay
    out = 0.0
    for x in XS:
        old = buf.pop(0)
        new = np.tanh(w @ x + 0.5 * old)
        buf.append(new)
        out += new[0] * old[1] + new[1]
    return out


@at(np.array([0.4, 0.8, 0.3]))
def gp(h):
    ls, amp, noise = np.exp(h)
    d = ((XS[:, None] - XS)**2).sum(-1)
    K = amp**2 * np.exp(-0.5 * d / ls**2) + noise**2 * np.eye(5)
    L = np.linalg.cholesky(K)
    al = np.linalg.solve(L.T, np.linalg.solve(L, YS))
    return 0.5 * YS @ al + np.sum(np.log(np.diag(L)))


@at(draw(4, 3), draw(3))
def ragged(emb, q):
    out = {}
    for name, ids in {"a": [0, 2], "b": [1], "c": [3, 0, 1]}.items():
        vs = [emb[i] for i in ids]
        ws = [np.exp(v @ q) for v in vs]
        z = sum(ws)
        out[name] = sum(w / z * v for w, v in zip(ws, vs))
    return sum(np.sum(v**2) for v in out.values()) + out["c"][0]


def flat(structure: Any) -> Any:
    return np.concatenate([np.ravel(leaf) for leaf in pytree.flatten(structure)])


def moved(structure: Any, by: Any) -> Any:
    """A structure of arrays and floats with a vector added to all that is in it."""
    rest = iter(by.tolist())

    def leaf(each: Any) -> Any:
        return each + np.reshape([next(rest) for _ in range(np.size(each))], np.shape(each))

    return pytree.map(leaf, structure)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case[0].__name__)
def test_program(case: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:
    function, (x, *rest) = case
    wanted, found = function(x, *rest), ag.function(function)(x, *rest)
    assert type(found) is type(wanted) and np.isclose(found, wanted, rtol=1e-12)
    gradient = ag.grad(function)
    found = flat(gradient(x, *rest))
    steps = np.eye(len(found)) * 1e-6
    wanted = [(function(moved(x, step), *rest) - function(moved(x, -step), *rest)) / 2e-6 for step in steps]
    assert np.allclose(found, wanted, rtol=1e-4, atol=1e-6)
    change = np.cos(np.arange(len(found)))
    _, second = ag.jvp(lambda x: gradient(x, *rest), (x,), (moved(pytree.map(lambda leaf: leaf * 0, x), change),))
    after, before = (flat(gradient(moved(x, step * change), *rest)) for step in (1e-5, -1e-5))
    assert np.allclose(flat(second), (after - before) / 2e-5, rtol=1e-3, atol=1e-5)
