"""jax-ml/jax#5273, "Compile Python control flow syntax": `if`, `for` and `while` that compile where their values ask.

The thread wants statements whose tests are arrays to become `cond` and `while_loop`, all others to run while tracing;
also loops that collect what each step gives, and loops until something holds. jax-ml/jax#2934 asks the same for loops
that write into an array.
"""

import jax.numpy as jnp


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def leaky(x, slope=0.1):
    if x.sum() > 0:
        y = x * 2
    elif x.max() > -1:
        y = x * slope
    else:
        y = jnp.zeros_like(x)
    return y


def depth_by_options(x, layers, residual):
    """`residual` and the list of layers are Python values: only the test of the data is compiled."""
    for w in layers:
        h = jnp.tanh(x @ w)
        x = x + h if residual else h
        if jnp.abs(x).max() > 1.0:
            x = x / jnp.abs(x).max()
    return x


def running_totals(xs):
    total = jnp.zeros_like(xs[0])
    totals = []
    for x in xs:
        total = 0.5 * total + x
        totals.append(total)
    return total, jnp.stack(totals)


def square_root(a):
    x = a
    while jnp.abs(x * x - a) > 1e-9 * a:
        x = 0.5 * (x + a / x)
    return x


def bumps(arr):
    for i in range(arr.shape[0]):
        arr[i] = arr[i] + 2.0
        if i % 2 == 0:
            arr[i] += 1.0
    return arr


def bisect(low, high, target):
    """The search that jax-ml/jax#1706 shows with its sugar for loops."""
    while high - low > 1e-9:
        middle = (low + high) / 2
        if middle**3 < target:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def greedy_decode(weights, start, stop, longest=12):
    """Words until the one that stops, as a decoder of a language model has it."""
    words = jnp.zeros(longest, dtype=int)
    word = start
    length = 0
    for i in range(longest):
        word = jnp.argmax(weights[word])
        words[i] = word
        length += 1
        if word == stop:
            break
    return words, length


def double_well(position, steps, rate=0.05):
    """Gradient descent that says how it ended."""
    for step in range(steps):
        slope = 4 * position * (position**2 - 1)
        if jnp.abs(slope) < 1e-4:
            break
        position = position - rate * slope
    else:
        return position, -1
    return position, step
