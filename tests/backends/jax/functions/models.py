"""Small models and solvers: what people differentiate."""

import jax.numpy as jnp

from tests.backends.jax.functions import example


@example([0.1, -0.2, 0.3], [0.5, 1.0, -1.0, 2.0])
def recurrent_network(w, xs):
    h = 0.0
    for x in xs:
        h = jnp.tanh(w[0] * x + w[1] * h + w[2])
    return h**2


@example([0.5, -0.3], [[1.0, 2.0], [0.5, -1.0], [-1.5, 0.2]], [1.0, 0.0, 0.0])
def logistic_loss(w, xs, ys):
    loss = 0.0
    for x, y in zip(xs, ys):
        z = x @ w
        if y > 0.5:
            loss += jnp.log1p(jnp.exp(-z))
        else:
            loss += jnp.log1p(jnp.exp(z))
    return loss / len(ys)


@example([0.5, -0.3], [[1.0, 2.0], [0.5, -1.0], [-1.5, 0.2]], [1.0, -1.0, -1.0])
def hinge_loss(w, xs, ys):
    loss = 0.01 * (w**2).sum()
    for x, y in zip(xs, ys):
        margin = y * (x @ w)
        if margin < 1:
            loss += 1 - margin
    return loss


@example([1.0, 1.0])
def rosenbrock_descent(x):
    x = x * 0.9
    for _ in range(10):
        slope = jnp.array([-400 * x[0] * (x[1] - x[0] ** 2) - 2 * (1 - x[0]), 200 * (x[1] - x[0] ** 2)])
        if (slope**2).sum() < 1e-6:
            break
        x = x - 1e-3 * slope
    return x


@example([1.0, 0.5])
def pendulum(state):
    for _ in range(20):
        angle, speed = state
        speed = speed - 0.05 * jnp.sin(angle)
        angle = angle + 0.05 * speed
        if angle > 1.2:
            speed = -0.9 * speed
        state = jnp.array([angle, speed])
    return state


@example([1.0, 0.0, 0.5])
def lorenz(state):
    for _ in range(15):
        x, y, z = state
        state = state + 0.01 * jnp.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])
    return state


@example(1.0, 0.2)
def bouncing_ball(height, speed):
    for _ in range(30):
        speed = speed - 0.0981
        height = height + 0.1 * speed
        if height < 0:
            height, speed = -height, -0.8 * speed
    return height


@example([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]])
def markov_chain(p, transition):
    steps = 0
    for _ in range(12):
        new = p @ transition
        if jnp.abs(new - p).max() < 1e-3:
            break
        p = new
        steps += 1
    return p


@example([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]], [[0.7, 0.3], [0.2, 0.8]])
def viterbi(likelihoods, transition):
    score = jnp.log(likelihoods[0])
    for t in range(1, 3):
        new = jnp.zeros(2)
        for j in range(2):
            best = score[0] + jnp.log(transition[0, j])
            other = score[1] + jnp.log(transition[1, j])
            if other > best:
                best = other
            new[j] = best + jnp.log(likelihoods[t, j])
        score = new
    return score.max()


@example([1.0, 2.0], [0.5, 3.0])
def polynomial_fit(c, targets):
    loss = 0.0
    for i, target in enumerate(targets):
        y, x = 0.0, i + 0.5
        for k in range(2):
            y += c[k] * x**k
        loss += (y - target) ** 2
    return loss


@example([5.0, 3.0, 2.0])
def option_by_tree(prices):
    strike = 3.5
    values = jnp.zeros(3)
    for i in range(3):
        values[i] = prices[i] - strike if prices[i] > strike else 0.0
    for step in range(2, 0, -1):
        for i in range(step):
            values[i] = 0.95 * (0.5 * values[i] + 0.5 * values[i + 1])
    return values[0]


@example([2.0, 1.0])
def line_search(x):
    step = 1.0
    value = (x**2).sum()
    for _ in range(6):
        new = x - step * 3 * x
        if (new**2).sum() < value:
            break
        step = step * 0.5
    return new


@example([0.2, 0.5, 0.3])
def entropy(p):
    total = 0.0
    for q in p:
        if q > 0:
            total -= q * jnp.log(q)
    return total


@example([0.5, -1.0, 0.25])
def softmax_by_hand(v):
    top = v[0]
    for e in v:
        if e > top:
            top = e
    total = 0.0
    for e in v:
        total += jnp.exp(e - top)
    return jnp.exp(v - top) / total


@example([[1.0, 0.2], [0.3, 2.0]])
def power_iteration(m):
    v = jnp.ones(2)
    for _ in range(30):
        w = m @ v
        w = w / jnp.sqrt((w**2).sum())
        if jnp.abs(w - v).max() < 1e-12:
            break
        v = w
    return v @ m @ v


@example([1.0, -0.5, 2.0])
def kalman(measured):
    x, p = 0.0, 1.0
    out = []
    for z in measured:
        p = p + 0.1
        if abs(z - x) < 2.5:
            gain = p / (p + 0.5)
            x = x + gain * (z - x)
            p = (1 - gain) * p
        out.append(x)
    return jnp.stack(out)
