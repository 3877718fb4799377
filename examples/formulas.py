"""A network that follows the structure of a formula tells whether it is true (after Tai and others' TreeLSTM, 2015).

    python examples/formulas.py [--short]

Formulas such as (a and not b) or (b xor c) are trees; here they stand in postfix notation, and are read by a loop with
a stack: what is on top of it is taken, put together by a network, and put back. Each formula is as long as it is, and
the gradient goes backwards through the loop and the writes to the stack. The whole training is one staged function.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from reporting import table

import autograph as ag
from autograph import nn, optim

FALSE, TRUE, NOT, AND, OR, XOR = range(6)
DEPTH = 8


class Reader(ag.Module):
    def __init__(self, units: int) -> None:
        rng = np.random.default_rng(0)
        self.leaves = nn.Embedding(2, units, rng=rng)
        self.one = nn.Dense(units, units, nn.tanh, rng=rng)
        self.two = ag.Variable(nn.glorot_uniform((3, 2 * units, units), rng))
        self.out = nn.Dense(units, 2, rng=rng)

    def __call__(self, tokens: Any) -> Any:
        """How likely a formula is false or true: two logits."""
        stack, top = np.zeros((DEPTH, self.two.shape[2])), 0
        for token in tokens:
            if token <= TRUE:
                stack[top] = self.leaves(token)
                top += 1
            elif token == NOT:
                stack[top - 1] = self.one(stack[top - 1])
            else:
                both = np.concatenate([stack[top - 2], stack[top - 1]])
                stack[top - 2] = np.tanh(both @ self.two[token - AND])
                top -= 1
        return self.out(stack[0])


def formula(rng: Any, depth: int) -> tuple[list[int], bool]:
    """A formula in postfix notation, and whether it is true."""
    kind = int(rng.integers(0, 6)) if depth else int(rng.integers(0, 2))
    if kind <= TRUE:
        return [kind], bool(kind)
    first, a = formula(rng, depth - 1)
    if kind == NOT:
        return [*first, NOT], not a
    second, b = formula(rng, depth - 1)
    return [*first, *second, kind], {AND: a and b, OR: a or b, XOR: a != b}[kind]


def formulas(seed: int, count: int, depth: int) -> tuple[Any, Any, Any]:
    """All tokens in one array, where each formula begins (and the last ends), and which are true."""
    rng = np.random.default_rng(seed)
    made = [formula(rng, depth) for _ in range(count)]
    starts = np.cumsum([0, *(len(tokens) for tokens, _ in made)])
    return np.concatenate([tokens for tokens, _ in made]), starts, np.array([int(truth) for _, truth in made])


def train(model: Reader, optimizer: Any, data: Any, epochs: int) -> Any:
    tokens, starts, truths = data
    variables = model.trainable_variables
    gradient = ag.value_and_grad(lambda each, truth: nn.softmax_cross_entropy(model(each), truth), wrt=variables)
    losses = np.zeros(epochs)
    for epoch in range(epochs):
        for n in range(len(truths)):
            loss, gradients = gradient(tokens[starts[n] : starts[n + 1]], truths[n])
            optimizer.update(variables, gradients)
            losses[epoch] += loss / len(truths)
        print(f"epoch {epoch + 1:2}  loss {losses[epoch]:.4f}")
    return losses


def accuracy(model: Reader, data: Any) -> Any:
    tokens, starts, truths = data
    right = 0
    for n in range(len(truths)):
        right += np.argmax(model(tokens[starts[n] : starts[n + 1]])) == truths[n]
    return right / len(truths)


def main(short: bool = False) -> dict[str, float]:
    count, epochs = (200, 3) if short else (2000, 8)
    data, deeper = formulas(0, count, 4), formulas(1, 500, 6)
    model = Reader(16)
    optimizer = optim.Adam(optim.CosineDecay(5e-3, count * epochs)).init(model.trainable_variables)
    staged, judge = ag.function(train), ag.function(accuracy)
    began = time.perf_counter()
    losses = staged(model, optimizer, data, epochs)
    figures = {
        "formulas": count,
        "last loss": float(losses[-1]),
        "accuracy": float(judge(model, data)),
        "accuracy on deeper formulas": float(judge(model, deeper)),
        "seconds": time.perf_counter() - began,
        "graphs": sum(not trace.plain for trace in staged.traces),
    }
    print("\n" + table("Formulas", ["", "figure"], list(figures.items())))
    return figures


if __name__ == "__main__":
    main("--short" in sys.argv)
