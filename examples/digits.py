"""A multilayer perceptron reads handwritten digits: all epochs of the training are one staged function.

    python examples/digits.py [--short] [LOGDIR]        # after: pip install "autograph-py[examples]"

The 1,797 images of 8×8 pixels come with scikit-learn. The loops over epochs and batches, the shuffling, the gradients,
Adam with a decaying rate, and the printing of the progress run in one graph; the same function is run as plain Python
for a few steps, to compare the time. With a LOGDIR, `autograph tensorboard LOGDIR` shows the losses as they fall.
"""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from typing import Any

import numpy as np
from reporting import table

import autograph as ag
from autograph import nn, optim

BATCH = 32


def data() -> tuple[Any, Any, Any, Any]:
    """Images and labels to train with, and others to test with."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    images = (images / 16 - 0.5).astype(np.float32)
    order = np.random.default_rng(0).permutation(len(images))
    train, test = order[360:], order[:360]
    return images[train], labels[train], images[test], labels[test]


def build(steps: int) -> tuple[nn.Sequential, optim.Optimizer]:
    rng = np.random.default_rng(1)
    model = nn.Sequential(
        nn.Dense(64, 128, nn.relu, init=nn.he_normal, rng=rng, dtype=np.float32),
        nn.Dropout(0.2, rng=2),
        nn.Dense(128, 64, nn.relu, init=nn.he_normal, rng=rng, dtype=np.float32),
        nn.Dense(64, 10, rng=rng, dtype=np.float32),
    )
    rate = optim.Warmup(50, optim.CosineDecay(3e-3, steps))
    return model, optim.AdamW(rate, weight_decay=1e-2).init(model.trainable_variables)


def accuracy(model: Any, images: Any, labels: Any) -> Any:
    return np.mean(np.argmax(model(images), axis=-1) == labels)


def train(model: Any, optimizer: Any, images: Any, labels: Any, epochs: int) -> Any:
    """Train for so many epochs; the losses of all."""
    variables = model.trainable_variables
    gradient = ag.value_and_grad(lambda x, y: nn.softmax_cross_entropy(model(x), y), wrt=variables)
    rng = np.random.default_rng(3)
    losses = np.zeros(epochs)
    for epoch in range(epochs):
        order = rng.permutation(len(images))
        batches = 0
        for start in range(0, len(images), BATCH):
            rows = order[start : start + BATCH]
            loss, gradients = gradient(images[rows], labels[rows])
            optimizer.update(variables, optim.clip_by_global_norm(gradients, 5.0))
            losses[epoch] += loss
            batches += 1
        losses[epoch] /= batches
        ag.summary.scalar("loss", losses[epoch], epoch)
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:3}  loss {losses[epoch]:.4f}")
    return losses


def main(short: bool = False, logdir: str | None = None) -> dict[str, float]:
    images, labels, test_images, test_labels = data()
    epochs = 10 if short else 40
    model, optimizer = build(epochs * -(-len(images) // BATCH))
    print(model.summary(), "\n")
    staged = ag.function(train)
    began = time.perf_counter()
    with ag.summary.create_file_writer(logdir) if logdir else nullcontext():
        losses = staged(model, optimizer, images, labels, epochs)
    seconds = time.perf_counter() - began
    model.eval()
    found = {
        "epochs": epochs,
        "last loss": float(losses[-1]),
        "accuracy on training images": float(accuracy(model, images, labels)),
        "accuracy on test images": float(accuracy(model, test_images, test_labels)),
        "seconds, tracing included": seconds,
        "graphs": sum(not trace.plain for trace in staged.traces),
    }
    print("\n" + table("Handwritten digits", ["", "figure"], list(found.items())))
    return found


if __name__ == "__main__":
    main("--short" in sys.argv, next((each for each in sys.argv[1:] if each != "--short"), None))
