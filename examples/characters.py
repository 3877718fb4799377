"""A recurrent network learns to write like Python's language reference, letter by letter.

    python examples/characters.py [--short]

The text comes with Python (`pydoc_data.topics`). An LSTM reads it in stretches of 32 characters; the gradient goes
backwards through the loop over the characters. The whole training is one staged function, and so is the writing, a loop
that draws one character after the other until the text ends with a full stop.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from reporting import table

import autograph as ag
from autograph import nn, optim

TOPICS = "for while if try with function class assignment comparisons numbers strings return break continue".split()
STRETCH, BATCH = 32, 16


class Writer(ag.Module):
    """Says for each character how likely each other is to follow, given those before."""

    def __init__(self, characters: int, units: int) -> None:
        rng = np.random.default_rng(0)
        self.embedding = nn.Embedding(characters, 16, rng=rng, dtype=np.float32)
        self.cell = nn.LSTMCell(16, units, rng=rng, dtype=np.float32)
        self.out = nn.Dense(units, characters, rng=rng, dtype=np.float32)

    def __call__(self, characters: Any, state: Any) -> tuple[Any, Any]:
        h, c = self.cell(self.embedding(characters), state)
        return self.out(h), (h, c)


def text() -> str:
    from pydoc_data.topics import topics

    return "\n".join(topics[name] for name in TOPICS)


def loss(model: Writer, stretches: Any) -> Any:
    """How unlikely the model finds what follows, for each character of stretches of shape (STRETCH + 1, BATCH)."""
    state = model.cell.initial_state(stretches.shape[1])
    total = np.float32(0)
    for at in range(len(stretches) - 1):
        logits, state = model(stretches[at], state)
        total = total + nn.softmax_cross_entropy(logits, stretches[at + 1])
    return total / (len(stretches) - 1)


def train(model: Writer, optimizer: Any, numbers: Any, steps: int) -> Any:
    variables = model.trainable_variables
    gradient = ag.value_and_grad(lambda stretches: loss(model, stretches), wrt=variables)
    rng = np.random.default_rng(1)
    losses = np.zeros(steps)
    for step in range(steps):
        starts = rng.integers(0, len(numbers) - STRETCH, BATCH)
        value, gradients = gradient(numbers[starts + np.arange(STRETCH + 1)[:, None]])
        optimizer.update(variables, optim.clip_by_global_norm(gradients, 1.0))
        losses[step] = value
        if step % 50 == 49:
            print(f"step {step + 1:4}  loss {losses[step - 49 : step + 1].mean():.3f}")
    return losses


def write(model: Writer, first: Any, stop: int, length: int, rng: Any) -> Any:
    """Characters drawn one after the other, up to `stop` or so many."""
    state = model.cell.initial_state(1)
    written = np.zeros(length, int)
    character, count = first, 0
    while count < length:
        logits, state = model(np.array([character]), state)
        chances = nn.softmax(logits[0].astype(float) / 0.7)
        character = np.searchsorted(np.cumsum(chances), rng.random())
        written[count] = character
        count += 1
        if character == stop:
            break
    return written[:count]


def main(short: bool = False) -> dict[str, float]:
    script = text()
    characters = sorted(set(script))
    numbers = np.array([characters.index(each) for each in script])
    steps = 100 if short else 1000
    model = Writer(len(characters), 32 if short else 128)
    optimizer = optim.Adam(optim.CosineDecay(5e-3, steps)).init(model.trainable_variables)
    staged, writing = ag.function(train), ag.function(write)
    began = time.perf_counter()
    losses = staged(model, optimizer, numbers, steps)
    seconds = time.perf_counter() - began
    drawn = writing(model, characters.index("T"), characters.index("."), 300, np.random.default_rng(2))
    print("\nT" + "".join(characters[each] for each in drawn), "\n")
    found = {
        "characters of text": len(script),
        "loss at first (nats a character)": float(losses[0]),
        "loss at last": float(losses[-20:].mean()),
        "seconds, tracing included": seconds,
        "graphs": sum(not trace.plain for each in (staged, writing) for trace in each.traces),
    }
    print(table("Characters", ["", "figure"], list(found.items())))
    return found


if __name__ == "__main__":
    main("--short" in sys.argv)
