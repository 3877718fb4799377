"""Data-parallel training with JAX: a perceptron reads handwritten digits on several devices and in several processes.

    python examples/data_parallel_digits.py     # after: pip install "autograph-py[jax,examples]"

The training stops early when the loss on held-out images no longer falls. It runs four times: on one device; on eight
devices among which JAX distributes the batches by their sharding; on the same devices with `shard_map`; and in two
processes with four devices each. The devices are simulated on the CPU. The losses are equal within rounding.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

DEVICES, PROCESSES, BATCH = 8, 2, 128
if __name__ == "__main__":      # before JAX is imported
    devices = DEVICES // PROCESSES if "--worker" in sys.argv else DEVICES
    os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS=f"--xla_force_host_platform_device_count={devices}")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from digits import data  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import Mesh, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

import autograph as ag  # noqa: E402

LAYERS = (64, 128, 10)


def build() -> tuple[tuple[Any, Any], ...]:
    """The weights and biases of the layers."""
    rng = np.random.default_rng(1)
    matrices = [rng.normal(0, (2 / n) ** 0.5, (n, m)).astype(np.float32) for n, m in pairwise(LAYERS)]
    return tuple((matrix, np.zeros(matrix.shape[1], np.float32)) for matrix in matrices)


def batches() -> tuple[Any, ...]:
    """Images and labels in batches to train with, and as one batch of their own to stop by."""
    images, labels, held_images, held_labels = data()
    count = len(images) // BATCH
    images, labels = images[: count * BATCH], labels[: count * BATCH].astype(np.int32)
    shaped = images.reshape(count, BATCH, -1), labels.reshape(count, BATCH)
    return (*shaped, held_images, held_labels.astype(np.int32))


def loss_of(weights: Any, images: Any, labels: Any, axis: str | None) -> Any:
    """The mean cross entropy; over all devices, if they share an axis."""
    x = images
    for matrix, bias in weights[:-1]:
        x = jax.nn.relu(x @ matrix + bias)
    matrix, bias = weights[-1]
    logs = jax.nn.log_softmax(x @ matrix + bias)
    loss = -jnp.take_along_axis(logs, labels[:, None], axis=1).mean()
    return loss if axis is None else lax.pmean(loss, axis)


def train(weights, images, labels, held_images, held_labels, epochs, patience=3, rate=0.5, axis=None):
    """Train until the loss on the held-out images has not fallen for some epochs; these losses, and their number."""
    losses = jnp.zeros(epochs)
    best, waited = jnp.inf, 0
    for epoch in range(epochs):
        for batch, answers in zip(images, labels):
            loss, gradients = jax.value_and_grad(loss_of)(weights, batch, answers, axis)
            if not jnp.isfinite(loss):
                break
            weights = jax.tree.map(lambda w, g: w - rate * g, weights, gradients)
        held = loss_of(weights, held_images, held_labels, axis)
        losses[epoch] = held
        if held < best - 2e-3:
            best, waited = held, 0
        else:
            waited += 1
            if waited == patience:
                break
    return losses, epoch + 1


# The weights are the same on all devices. Of each batch, and of the held-out images, each device has a part.
SPECS = (P(), P(None, "data"), P(None, "data"), P("data"), P("data"))


def by_sharding(mesh: Mesh, epochs: int, arguments: Any) -> Any:
    """JAX distributes the work as the arguments are; the function knows nothing of it."""
    staged = ag.convert(partial(train, epochs=epochs))
    return jax.jit(staged)(*placed(mesh, arguments))


def by_shard_map(mesh: Mesh, epochs: int, arguments: Any) -> Any:
    """Each device runs the function on its part of the arguments; the mean over the devices is in `loss_of`."""
    staged = ag.convert(partial(train, epochs=epochs, axis="data"))
    mapped = jax.shard_map(staged, mesh=mesh, in_specs=SPECS, out_specs=P())
    return jax.jit(mapped)(*placed(mesh, arguments))


def placed(mesh: Mesh, arguments: Any) -> list[Any]:
    """Put arrays that each process has on the devices; each process contributes the parts of its own devices."""

    def put(spec: P, array: Any) -> Any:
        return jax.make_array_from_callback(array.shape, NamedSharding(mesh, spec), lambda index: array[index])

    return [jax.tree.map(partial(put, spec), each) for spec, each in zip(SPECS, arguments)]


def in_processes(epochs: int) -> list[float]:
    """The losses as the first of several processes computes them."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    command = [sys.executable, __file__, "--worker", address, str(epochs)]
    workers = [subprocess.Popen([*command, str(i)], stdout=subprocess.PIPE, text=True) for i in range(PROCESSES)]
    outputs = [worker.communicate()[0] for worker in workers]
    if any(worker.returncode for worker in workers):
        raise RuntimeError("a process failed")
    losses: list[float] = json.loads(outputs[0].splitlines()[-1])
    return losses


def worker(address: str, epochs: str, number: str) -> None:
    """What one of the processes does."""
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(address, PROCESSES, int(number))
    print(json.dumps(told(by_shard_map(mesh_of(jax.devices()), int(epochs), (build(), *batches())))))


def mesh_of(devices: Any) -> Mesh:
    return Mesh(np.array(devices), ("data",))


def told(result: Any) -> list[float]:
    """The losses of the epochs that were trained."""
    losses, epochs = result
    found: list[float] = np.asarray(losses)[: int(epochs)].tolist()
    return found


def main(epochs: int = 60) -> dict[str, list[float]]:
    arguments = build(), *batches()
    found = {
        "one device": told(by_sharding(mesh_of(jax.devices()[:1]), epochs, arguments)),
        "sharding": told(by_sharding(mesh_of(jax.devices()), epochs, arguments)),
        "shard_map": told(by_shard_map(mesh_of(jax.devices()), epochs, arguments)),
        "two processes": in_processes(epochs),
    }
    for name, losses in found.items():
        error = np.max(np.abs(np.subtract(losses, found["one device"])))
        print(f"{name:14}  {len(losses)} epochs, last loss {losses[-1]:.6f}, greatest difference {error:.1e}")
    return found


if __name__ == "__main__":
    if "--worker" in sys.argv:
        worker(*sys.argv[2:])
    else:
        main()
