"""jax-ml/jax#2016, #3457 and #3761: loops that count down, ranges whose length is data, and `and` between tests."""

import jax.numpy as jnp


def backward_messages(transition, evidence):
    """The backward pass of a hidden Markov model."""
    n = evidence.shape[0]
    messages = jnp.ones(evidence.shape)
    for t in reversed(range(n - 1)):
        messages[t] = transition @ (evidence[t + 1] * messages[t + 1])
        messages[t] /= messages[t].sum()
    return messages


def countdown(start, stop, step):
    total, visited = 0, 0
    for i in range(start, stop, step):
        total += i * i
        visited += 1
    return total, visited


def harmonic(n):
    total = 0.0
    for i in range(1, n + 1):
        total += 1 / i
    return total


def both(x, y):
    if x < 0 and y < 0:
        return x - 5000.0
    if not x < 0 or y == 0:
        return x + 100.0
    return y
