"""brainpy/BrainPy#184, "Much easier way to write control flows": branches of several arms, for models of neurons."""

import jax.numpy as jnp


def piecewise(a, x):
    if a > 10.0:
        return x * 0 + 10.0
    elif 5 < a <= 10:
        return x * 2
    return x + 2


class Neuron:
    """A leaky integrate-and-fire neuron: what it is now are attributes, which a step changes."""

    def __init__(self, v, rest=-65.0, threshold=-50.0, tau=10.0, refractory=3):
        self.v, self.spikes, self.waits = v, 0, 0
        self.rest, self.threshold, self.tau, self.refractory = rest, threshold, tau, refractory

    def step(self, current, dt=1.0):
        if self.waits > 0:
            self.waits -= 1
            return False
        self.v += dt * (self.rest - self.v + current) / self.tau
        if self.v >= self.threshold:
            self.v = self.rest
            self.spikes += 1
            self.waits = self.refractory
            return True
        return False


def simulate(v, currents):
    neuron = Neuron(v)
    trace = jnp.zeros(len(currents))
    for t, current in enumerate(currents):
        fired = neuron.step(current)
        trace[t] = 30.0 if fired else neuron.v
    return trace, neuron.spikes


def population(v, currents, weights):
    """Neurons that excite each other, one by one as a beginner would write them."""
    n = len(v)
    count = jnp.zeros(n, dtype=int)
    for current in currents:
        fired = jnp.zeros(n)
        for i in range(n):
            v[i] += 0.1 * (-65.0 - v[i] + current[i])
            if v[i] > -50.0:
                fired[i] = 1.0
                v[i] = -65.0
                count[i] += 1
        v += weights @ fired
    return v, count
