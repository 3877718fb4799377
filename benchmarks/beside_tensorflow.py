"""TensorFlow's spelling beside TensorFlow: eager and graph convolution, `einsum`, integer products, `tf.data`, an MLP.

    python benchmarks/beside_tensorflow.py --tensorflow PYTHON [--busy N]

PYTHON is an interpreter that has TensorFlow. Both libraries take turns, each in a process of its own that does the same
work, and the best of several rounds counts. `--busy N` runs beside N processes that keep processors busy; then the
median counts, as what a user meets.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

HERE = "autograph.compat.tensorflow"


def workloads(tf: Any) -> dict[str, Callable[[], Any]]:
    """The programs by name; each call does the work once, and waits for it."""
    draw = tf.random.normal
    images, filters = draw([8, 32, 32, 16]), draw([3, 3, 16, 32])
    a, b = draw([64, 48, 32]), draw([64, 32, 40])
    whole = tf.cast(tf.random.uniform([200, 200], 0, 100, tf.int32), tf.int32)
    x, y = draw([64, 256]), draw([64, 10])
    first, second = tf.Variable(draw([256, 256]) * 0.05), tf.Variable(draw([256, 10]) * 0.05)

    def convolve() -> Any:
        return tf.nn.relu(tf.nn.conv2d(images, filters, 1, "SAME"))

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.nn.relu(x @ first) @ second - y))
        for variable, gradient in zip((first, second), tape.gradient(loss, (first, second))):
            variable.assign_sub(0.01 * gradient)
        return loss

    def heavy(number: Any) -> Any:
        values = tf.cast(tf.range(50_000), tf.float32) + tf.cast(number, tf.float32)
        return tf.reduce_sum(tf.sin(values) * tf.exp(-values * 1e-4))

    numbers = tf.data.Dataset.range(64)
    plain, parallel = numbers.map(heavy), numbers.map(heavy, num_parallel_calls=2)
    small = tf.data.Dataset.range(2000).map(lambda number: number * 2 + 1).batch(50)
    graph_convolution = tf.function(lambda x, w: tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME")))
    contraction = tf.function(lambda a, b: tf.einsum("bij,bjk->bik", a, b))
    return {
        "convolution, eager": lambda: convolve().numpy(),
        "convolution, graph": lambda: graph_convolution(images, filters).numpy(),
        "einsum, eager": lambda: tf.einsum("bij,bjk->bik", a, b).numpy(),
        "einsum, graph": lambda: contraction(a, b).numpy(),
        "product of integers": lambda: tf.matmul(whole, whole).numpy(),
        "tf.data: map": lambda: [float(each) for each in plain],
        "tf.data: map, 2 parallel calls": lambda: [float(each) for each in parallel],
        "tf.data: small map and batch": lambda: sum(1 for _ in small),
        "step of an MLP": lambda: float(step(x, y)),
    }


def measure(module: str, name: str, seconds: float) -> list[float]:
    """The times of calls of a program, in ms."""
    run = workloads(importlib.import_module(module))[name]
    run()
    run()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow", help="an interpreter that has TensorFlow")
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure, seconds=1.0)))
        return
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.busy)]
    summary = median if busy else min
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    try:
        print("| program | TensorFlow, ms | here, ms | ratio |\n|---|---|---|---|")
        for name in workloads(importlib.import_module(HERE)):
            times: dict[str, list[float]] = {"tensorflow": [], HERE: []}
            for _ in range(options.rounds):
                for module, python in (("tensorflow", options.tensorflow), (HERE, sys.executable)):
                    command = [python, __file__, "--measure", module, name]
                    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                    times[module] += json.loads(done.stdout.splitlines()[-1])
            theirs, ours = summary(times["tensorflow"]), summary(times[HERE])
            print(f"| {name} | {theirs:.3g} | {ours:.3g} | {ours / theirs:.2f} |", flush=True)
    finally:
        for process in busy:
            process.kill()


if __name__ == "__main__":
    main()
