"""`while` loops over data, which have a bound on their iterations for reverse mode."""

import jax.numpy as jnp

import autograph as ag
from tests.backends.jax.functions import example


@example(3.0)
def doubled_to_hundred(x):
    while x < 100:
        ag.set_loop_options(max_trips=10)
        x = x * 2
    return x


@example(2.0)
def newton_root(a):
    x = a
    while abs(x * x - a) > 1e-10:
        ag.set_loop_options(max_trips=20)
        x = 0.5 * (x + a / x)
    return x


@example(0.7)
def cosine_fixed_point(x):
    y = x
    change = 1.0
    while change > 1e-9:
        ag.set_loop_options(max_trips=100)
        new = jnp.cos(y) * x
        change = abs(new - y)
        y = new
    return y


@example([3.0, 4.0])
def shrink(v):
    while (v**2).sum() > 1:
        ag.set_loop_options(max_trips=8)
        v = v * 0.7
    return v


@example(1.0)
def series_to_precision(x):
    term, total, k = 1.0, 1.0, 1
    while abs(term) > 1e-12:
        ag.set_loop_options(max_trips=40)
        term = term * x / k
        total = total + term
        k += 1
    return total


@example(10.0)
def while_with_break(x):
    while x > 1:
        ag.set_loop_options(max_trips=12)
        x = x * 0.8
        if x < 4:
            break
    return x**2


@example(0.9)
def while_true(x):
    n = 0
    while True:
        ag.set_loop_options(max_trips=30)
        if x < 0.1:
            break
        x = x * 0.8
        n += 1
    return x * n


@example(5.0)
def while_with_continue(x):
    total = 0.0
    while x > 0.5:
        ag.set_loop_options(max_trips=10)
        x = x - 1.0
        if total > 5:
            continue
        total = total + x**2
    return total


@example(5.0)
def while_else(x):
    while x > 0.5:
        ag.set_loop_options(max_trips=10)
        x = x / 2
        if x == 123.0:
            break
    else:
        x = x * 10
    return x


@example(20.0)
def return_from_while(x):
    y = 1.0
    while x > 1:
        ag.set_loop_options(max_trips=12)
        x = x / 2
        y = y + x
        if y > 15:
            return y**2
    return y


@example(2.5, 1.0)
def growth_until(x, y):
    steps = 0
    while y < 30 and steps < 20:
        ag.set_loop_options(max_trips=20)
        y = y * x
        steps += 1
    return y + steps


@example([1.0, 0.0])
def euler_until_time(state):
    t = 0.0
    while t < 0.95:
        ag.set_loop_options(max_trips=12)
        position, velocity = state
        state = jnp.array([position + 0.1 * velocity, velocity - 0.1 * position])
        t = t + 0.1
    return state


@example(0.5)
def bisection(target):
    low, high = 0.0, 2.0
    while high - low > 1e-3:
        ag.set_loop_options(max_trips=12)
        middle = (low + high) / 2
        if middle**2 < target:
            low = middle
        else:
            high = middle
    return low * target


@example(60.0, 35.0)
def euclid(a, b):
    while b > 5.5:
        ag.set_loop_options(max_trips=10)
        a, b = b, a - b * jnp.floor(a / b)
    return a


@example([0.3, 0.2])
def while_in_for(v):
    total = 0.0
    for i in range(3):
        j = 0
        x = v[0] + i
        while x < 4:
            ag.set_loop_options(max_trips=8)
            x = x * 1.5 + v[1]
            j += 1
        total = total + x * j
    return total


@example(0.7)
def while_in_function(x):
    def settle(y):
        while y > 0.1:
            ag.set_loop_options(max_trips=10)
            y = y * 0.6
        return y

    return settle(x) + settle(2 * x) ** 2


@example([0.5, 1.0, 1.5, 2.0])
def search_in_array(v):
    i = 0
    while i < 4 and v[i] < 1.2:
        ag.set_loop_options(max_trips=4)
        i += 1
    return v[i] ** 3


@example(0.2)
def writes_until(x):
    seen = jnp.zeros(8)
    n = 0
    while x < 1:
        ag.set_loop_options(max_trips=8)
        seen[n] = x
        x = x * 1.4
        n += 1
    return seen
