"""Matplotlib: drawing what staged functions compute, drawing in them, and staged callbacks."""

import io

import numpy as np

from tests.ecosystem.probes import Probes, package

matplotlib = package("matplotlib")
matplotlib.use("Agg")
import matplotlib.animation
import matplotlib.pyplot as plt
import matplotlib.ticker

PROBES = Probes()


def pixels(figure):
    figure.canvas.draw()
    found = np.asarray(figure.canvas.buffer_rgba()).copy()
    plt.close(figure)
    return found.shape, int(found.sum())


@PROBES("np.linspace(0, 1, 20)")
def computed_outside(stage, x):
    f = stage(lambda x: np.sin(x) if x.max() > 0 else x)
    figure, axes = plt.subplots(figsize=(2, 2))
    axes.plot(x, f(x))
    return pixels(figure)


@PROBES("np.linspace(0, 1, 20)")
def drawn_inside(x):
    figure, axes = plt.subplots(figsize=(2, 2))
    for k in range(3):
        if k != 1:
            axes.plot(x, x * k, label=f"k={k}")
    axes.legend()
    count = len(axes.lines)
    return count, pixels(figure)


@PROBES("[1, 2, 3]")
def saved(values):
    plt.figure(figsize=(1, 1))
    plt.bar(range(len(values)), values)
    plt.title("sum %d" % sum(values))
    buffer = io.BytesIO()
    plt.savefig(buffer, format="png")
    plt.close()
    return buffer.getvalue()[:8], buffer.tell() > 100


@PROBES("3")
def formatted(stage, n):
    figure, axes = plt.subplots(figsize=(2, 2))
    axes.plot(range(n))
    label = stage(lambda value, position: "low" if value < 1 else "high")
    axes.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(label))
    figure.canvas.draw()
    texts = [each.get_text() for each in axes.get_xticklabels()]
    plt.close(figure)
    return texts


@PROBES("3")
def animated(stage, n):
    figure, axes = plt.subplots(figsize=(1, 1))
    (line,) = axes.plot([0, 1], [0, 1])
    seen = []

    @stage
    def update(k):
        seen.append(k)
        line.set_ydata([0, k * 2 if k > 1 else 1])
        return (line,)

    drawn = matplotlib.animation.FuncAnimation(figure, update, frames=n, init_func=lambda: (line,))
    for k in range(n):
        drawn._draw_frame(k)
    drawn._draw_was_started = True      # or it warns, whenever it is collected
    plt.close(figure)
    return seen, list(line.get_ydata())


test_probe = PROBES.test()
