"""The programs of loops.py in JAX: with its loops, and of whole arrays where that is how one writes them."""

import jax
import jax.numpy as jnp
from jax.lax import fori_loop, scan, while_loop
from loops import slope

jax.config.update("jax_enable_x64", True)


def collatz(n):
    def iteration(state):
        n, steps = state
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    return while_loop(lambda state: state[0] != 1, iteration, (n, 0))[1]


def collatz_sum(count):
    return fori_loop(1, count, lambda n, total: total + collatz(n), 0)


def edit_distance(a, b):
    def row(above, letter):
        def cell(left, at):
            up, corner, other = at
            least = jnp.minimum(jnp.minimum(up, left) + 1, corner + (letter != other))
            return least, least

        first = above[0] + 1
        _, rest = scan(cell, first, (above[1:], above[:-1], b))
        return jnp.concatenate([first[None], rest]), None

    return scan(row, jnp.arange(len(b) + 1), a)[0][-1]


def edit_rows(a, b):
    return edit_distance(a, b)


def sieve(n):
    def strike(state):
        i, prime = state
        begin = jnp.where(prime[i], i * i, n + 1)
        _, prime = while_loop(lambda s: s[0] <= n, lambda s: (s[0] + i, s[1].at[s[0]].set(False)), (begin, prime))
        return i + 1, prime

    prime = jnp.ones(n + 1, bool).at[:2].set(False)
    return while_loop(lambda state: state[0] * state[0] <= n, strike, (2, prime))[1].sum()


def lu(a):
    at = jnp.arange(len(a))

    def eliminate(k, a):
        factors = jnp.where(at > k, a[:, k] / a[k, k], 0)
        below = a - jnp.outer(factors, jnp.where(at > k, a[k], 0))
        return below.at[:, k].set(jnp.where(at > k, factors, a[:, k]))

    return fori_loop(0, len(a), eliminate, a)


def sift(x, root, end):
    def larger(x, root):
        child = 2 * root + 1
        return child + ((child + 1 < end) & (x[child] < x[child + 1]))

    def swap(state):
        x, root = state
        child = larger(x, root)
        return x.at[root].set(x[child]).at[child].set(x[root]), child

    def goes_on(state):
        x, root = state
        return (2 * root + 1 < end) & (x[root] < x[larger(x, root)])

    return while_loop(goes_on, swap, (x, root))[0]


def heap_sort(x):
    n = len(x)
    x = fori_loop(0, n // 2, lambda i, x: sift(x, n // 2 - 1 - i, n), x)

    def take(i, x):
        end = n - 1 - i
        return sift(x.at[0].set(x[end]).at[end].set(x[0]), 0, end)

    return fori_loop(0, n - 1, take, x)


def lorenz(x, y, z, steps, h):
    def step(_, state):
        x, y, z = state
        ax, ay, az = slope(x, y, z)
        bx, by, bz = slope(x + h / 2 * ax, y + h / 2 * ay, z + h / 2 * az)
        cx, cy, cz = slope(x + h / 2 * bx, y + h / 2 * by, z + h / 2 * bz)
        dx, dy, dz = slope(x + h * cx, y + h * cy, z + h * cz)
        x = x + h / 6 * (ax + 2 * bx + 2 * cx + dx)
        y = y + h / 6 * (ay + 2 * by + 2 * cy + dy)
        return x, y, z + h / 6 * (az + 2 * bz + 2 * cz + dz)

    return sum(fori_loop(0, steps, step, (x, y, z)))


def mandelbrot(height, width, iterations):
    def point(re, im):
        def iteration(state):
            x, y, n = state
            return x * x - y * y + re, 2.0 * x * y + im, n + 1

        def inside(state):
            x, y, n = state
            return (n < iterations) & (x * x + y * y <= 4.0)

        return while_loop(inside, iteration, (0.0, 0.0, 0))[2]

    re, im = -2.0 + 3.0 * jnp.arange(width) / width, -1.0 + 2.0 * jnp.arange(height) / height
    return jax.vmap(lambda im: jax.vmap(lambda re: point(re, im))(re))(im)


STATIC = {"sieve": (0,), "mandelbrot": (0, 1)}      # the arguments that say how large arrays are
PROGRAMS = (collatz, collatz_sum, edit_distance, edit_rows, sieve, lu, heap_sort, lorenz, mandelbrot)
