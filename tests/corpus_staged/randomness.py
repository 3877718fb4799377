"""`np.random`: functions of the module, seeded inside, and generators passed in."""

import random

import numpy as np

from tests.corpus_staged import calls


@calls("3, 0", "0, 1", "5, 42")
def seeded_globally(n, seed):
    np.random.seed(seed)
    return np.random.rand(n), np.random.randn(2, 2), np.random.randint(0, 10, n), np.random.uniform(-1, 1)


@calls("np.random.default_rng(0), 4", "np.random.default_rng(1), 0")
def generator_passed(rng, n):
    total = 0.0
    for _ in range(n):
        total += rng.normal()
    return total, rng.integers(10, size=3), rng.random()


@calls("7", "8")
def generator_made(seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(2), rng.choice([1, 2, 3], size=2), rng.permutation(4), rng.uniform(size=(1, 2))


@calls("np.random.RandomState(3), np.arange(5)", "np.random.RandomState(4), np.zeros(1)")
def shuffles(rng, x):
    rng.shuffle(x)
    return x, rng.permutation(len(x))


@calls("np.arange(5), [1, 2, 3]", "np.arange(1.0), []")
def read_before_and_after_shuffling(x, items):
    np.random.seed(3)
    random.seed(3)
    before = x[0] + 1, items[:1]
    np.random.shuffle(x)
    random.shuffle(items)
    return before, x[0] + 1, items[:1], np.sum(x * np.arange(len(x)))


@calls("np.random.default_rng(2), 5", "np.random.default_rng(2), 0")
def draws_until(rng, limit):
    draws, total = 0, 0.0
    while total < limit:
        u = rng.random()
        if u < 0.1:
            continue
        total += u
        draws += 1
    return draws, total


@calls("np.random.default_rng(5), 0.5", "np.random.default_rng(5), -1")
def draws_in_a_branch(rng, p):
    if rng.random() < p:
        x = rng.normal(size=3)
    else:
        x = rng.exponential(2.0, size=2)
    return x, rng.random()


@calls("1000, 0", "0, 0")
def estimate_pi(n, seed):
    np.random.seed(seed)
    inside = 0
    for _ in range(n // 100):
        x, y = np.random.rand(2)
        if x * x + y * y <= 1:
            inside += 1
    points = np.random.rand(max(n, 1), 2)
    return inside, 4 * np.mean((points**2).sum(axis=1) <= 1)


@calls("10, 1", "0, 2")
def with_random_module(n, seed):
    random.seed(seed)
    return [random.random() for _ in range(n)], random.randint(1, 6), random.choice("abc")


@calls("20, 3", "0, 3")
def random_walk(n, seed):
    rng = np.random.default_rng(seed)
    position, path = 0, [0]
    for _ in range(n):
        step = rng.choice([-1, 1])
        if abs(position + step) > 3:
            continue
        position += step
        path.append(position)
    return path, type(position).__name__


@calls("np.random.default_rng(0), np.zeros(3)")
def noise_in_place(rng, x):
    x += rng.normal(size=x.shape)
    x[0] = rng.random()
    rng.shuffle(x)
    return x


@calls("1, 60", "2, 0")
def blackjack(seed, games):
    random.seed(seed)
    wins = 0
    for _ in range(games):
        player = dealer = 0
        while player < 17:
            player += min(random.randint(1, 13), 10)
        while dealer < 17:
            dealer += min(random.randrange(1, 14), 10)
        if player <= 21 and (dealer > 21 or player > dealer):
            wins += 1
    return wins, random.random()


@calls("np.random.default_rng(3), 80", "np.random.default_rng(4), 1")
def walks_until_it_returns(rng, limit):
    x = y = steps = 0
    while steps < limit:
        way = rng.integers(4)
        if way == 0:
            x += 1
        elif way == 1:
            x -= 1
        elif way == 2:
            y += 1
        else:
            y -= 1
        steps += 1
        if x == y == 0:
            break
    return x, y, steps, rng.integers(100)


@calls("3, 50", "4, -1")
def prices_that_end_in_an_error(seed, n):
    draw, rng = random.Random(seed), np.random.RandomState(seed)
    price, last = 100.0, []
    try:
        for i in range(n):
            price *= 1 + 0.05 * rng.standard_normal() + draw.uniform(-0.01, 0.01)
            price += 1 // draw.randrange(20) * 0.0
            last.append(i)
    except ZeroDivisionError as error:
        last.append(str(error))
    return price, last, draw.random(), rng.normal(), rng.standard_normal()


@calls("1, 40", "2, 40")
def interval_that_may_be_empty(seed, n):
    random.seed(seed)
    total = 0
    for i in range(n):
        total += random.randint(i // 9, 5 - i // 8)
    return total


@calls("random.Random(1), 30", "random.Random(2), 0")
def draws_and_shuffles(draw, n):
    items = list(range(9))
    total = 0.0
    for _ in range(n):
        total += draw.random() * draw.getrandbits(3)
        draw.shuffle(items)
        total += items[0] + draw.gauss(0, 1)
    return total, items, draw.random()
