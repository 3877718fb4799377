"""`if`, `elif`, `else`, conditional and logical expressions, early returns."""

import jax.numpy as jnp

from tests.backends.jax.functions import example


@example(-1.3)
def absolute(x):
    if x < 0:
        return -x
    return x


@example(1.2)
def piecewise(x):
    if x < 0:
        y = x**2
    elif x < 1:
        y = jnp.sin(x)
    elif x < 2:
        y = jnp.exp(-x)
    else:
        y = jnp.log(x)
    return 3 * y


@example(-0.4)
def elu(x, alpha=1.5):
    return x if x > 0 else alpha * jnp.expm1(x)


@example([0.3, -2.0, 1.5])
def huber(x):
    total = 0.0
    for e in x:
        if abs(e) <= 1.0:
            total += 0.5 * e**2
        else:
            total += abs(e) - 0.5
    return total


@example([1.0, 2.0, 3.0])
def normalized_if_long(v):
    length = jnp.sqrt((v**2).sum())
    if length > 2.0:
        v = v / length
    return v


@example(0.5, 2.0)
def both_tests(x, y):
    if x > 0 and y > 1:
        return x * y
    if x > 0 or y > 1:
        return x + y
    return x - y


@example(0.5, 3.0)
def negated_test(x, y):
    if not (x > y):
        x = x * y
    return x**2


@example(0.25)
def chained_comparison(x):
    if 0 < x <= 0.5 < 1:
        return x**3
    return 1 - x


@example(1.5, 1)
def choice_by_integer(x, kind):
    if kind == 0:
        return jnp.sin(x)
    elif kind == 1:
        return jnp.cos(x)
    elif kind == 2:
        return jnp.tan(x)
    return x


@example(2.0, 3)
def match_on_integer(x, kind):
    match kind:
        case 0:
            return x
        case 1 | 2:
            return x**2
        case _:
            return x**3


@example(0.8)
def nested_branches(x):
    if x > 0:
        if x > 0.5:
            y = x * jnp.sin(x)
        else:
            y = x * jnp.cos(x)
        y = y + 1
    else:
        y = x
    return y * y


@example([2.0, -1.0])
def swapped(v):
    a, b = v
    if a > b:
        a, b = b, a
    return a * 2 + b * 3


@example([1.0, 4.0, 2.0])
def clipped_by_hand(v):
    low, high = 1.5, 3.0
    return jnp.stack([low * e if e < low else high * e if e > high else e**2 for e in v])


@example(0.3)
def guard_with_two_returns(x):
    if x < 0:
        return 0.0 * x
    y = jnp.sqrt(x)
    if y > 1:
        return y
    return y**3


@example(1.7)
def log_or_line(x):
    safe = x if x > 1e-3 else 1e-3 + 0 * x
    return jnp.log(safe) if x > 1e-3 else x * 1e3


@example([0.5, -0.5])
def maximum_by_builtin(v):
    return max(v[0], v[1]) ** 2 + min(v[0], v[1], 3.0)


@example(2.5)
def walrus(x):
    if (y := x**2) > 4:
        return y + x
    return y - x


@example(-0.7)
def default_by_or(x):
    weight = (x > 0 and x) or 2 * x
    return weight**2


@example([1.0, -2.0, 3.0])
def test_of_any(v):
    if (v < 0).any():
        v = v - v.min()
    if (v > 0).all():
        v = jnp.log(v)
    return (v**2).sum()


@example([0.2, 0.9])
def only_one_side_binds(v):
    if v[0] > 0:
        scale = 2.0 * v[1]
    else:
        scale = 3.0
        extra = 1.0
    if v[0] <= 0:
        scale = scale + extra
    return scale * v


@example(0.6)
def called_function_branches(x):
    def part(z):
        if z > 0.5:
            return z**2
        return z

    return part(x) + 2 * part(x - 0.3)


@example([0.4, 1.6], 0.5)
def soft_threshold(v, t):
    out = []
    for e in v:
        if e > t:
            out.append(e - t)
        elif e < -t:
            out.append(e + t)
        else:
            out.append(0 * e)
    return jnp.stack(out)
